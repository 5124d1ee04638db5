"""`adjudge campaign again`: look again at what was judged: a second pass, a third person, the gate."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from adjudge.cli.output import FormatOption, print_result
from adjudge.errors import UsageError
from adjudge.report.tables import Table, TableFormat

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign
    from adjudge.campaigns.gate import GateReport

__all__ = ["command"]

How = Literal["marks", "adjudicate", "gate"]
_ACTOR = "command"


def command(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Folder of the campaign.")],
    *,
    how: Annotated[
        How,
        typer.Option(
            help="marks: others look at what was marked; adjudicate: a third person decides between two; "
            "gate: what annotators rate too differently is judged again, then dropped."
        ),
    ],
    tasks: Annotated[
        str | None, typer.Option(metavar="NUMBERS", help="Of tasks, commas between; else all that are done.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Of the gate: smallest correlation of two annotators; 0.7.")
    ] = None,
    by_others: Annotated[
        bool, typer.Option("--by-others", help="Of the gate: people who did not judge it before.")
    ] = False,
    form: FormatOption = "table",
) -> None:
    """Send what was judged out again; what was said before stays, and nothing is sent twice."""
    from adjudge.campaigns.campaign import open_campaign

    if how != "gate" and (threshold is not None or by_others):
        raise UsageError(f"--threshold and --by-others are for --how gate, not {how}")
    if how == "gate" and tasks is not None:
        raise UsageError("the gate decides on all segments: --tasks is for marks and adjudicate")
    with open_campaign(name) as campaign:
        if how == "gate":
            _print_gate(form, campaign, _gate(campaign, threshold, by_others=by_others))
        else:
            _print_sent(form, campaign, how, _send(campaign, how, tasks))


def _send(campaign: Campaign, how: How, tasks: str | None) -> int:
    from adjudge.campaigns.again import adjudicate, second_pass

    send = second_pass if how == "marks" else adjudicate
    return send(campaign, time.time(), actor=_ACTOR, numbers=None if tasks is None else _numbers(tasks))


def _numbers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() for part in parts):
        raise UsageError(f"--tasks takes numbers with commas between, got {text!r}")
    return [int(part) for part in parts]


def _gate(campaign: Campaign, threshold: float | None, *, by_others: bool) -> GateReport:
    from adjudge.campaigns.gate import apply_gate
    from adjudge.meta.campaign.segments import THRESHOLD

    least = THRESHOLD if threshold is None else threshold
    return apply_gate(campaign, time.time(), actor=_ACTOR, threshold=least, by_others=by_others)


def _print_sent(form: TableFormat, campaign: Campaign, how: How, sent: int) -> None:
    table = Table(columns=["campaign", "sent for", ">tasks"], rows=[[campaign.name, how, str(sent)]])
    print_result(form, table, {"campaign": campaign.name, "how": how, "tasks": sent})


def _print_gate(form: TableFormat, campaign: Campaign, found: GateReport) -> None:
    rows = [
        ["segments", str(found.segments), ""],
        ["judged as often as asked", str(found.first), ""],
        ["failed and sent out again", str(found.failed), _share(found.failed_share)],
        ["judged again", str(found.second), ""],
        ["dropped", str(found.dropped), _share(found.dropped_share)],
        ["dropped, of those judged again", "", _share(found.dropped_share_of_failed)],
    ]
    left = (
        f"Of those decided on now, {found.undefined} have ratings without a correlation; {found.unjudged} "
        "have no two people who rated two systems and are left alone."
    )
    table = Table(
        title=f"Agreement gate of {campaign.name}", columns=["", ">n", ">share"], rows=rows, notes=[left]
    )
    shares = {
        "failed_share": found.failed_share,
        "dropped_share": found.dropped_share,
        "dropped_share_of_failed": found.dropped_share_of_failed,
    }
    print_result(form, table, {"campaign": campaign.name, **asdict(found), **shares})


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"
