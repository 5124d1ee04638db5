"""`adjudge report`: one self-contained HTML page about runs, campaigns and metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.options import LpOption, existing
from adjudge.cli.output import print_note
from adjudge.errors import UsageError

if TYPE_CHECKING:
    from adjudge.core.annotation import Record
    from adjudge.core.segment import TestSet
    from adjudge.report.given import Given, Judged

__all__ = [
    "Asked",
    "GoldOption",
    "JudgedArgument",
    "TextsOption",
    "command",
    "read_given",
    "read_gold",
]

_CAMPAIGN = "campaign.json"

JudgedArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN|FILE|CAMPAIGN...",
        callback=existing,
        help="Run directories, records, campaigns and their exports, MQM TSV, .seg.rating, .seg.score.",
    ),
]
GoldOption = Annotated[
    Path | None, typer.Option(callback=existing, help="What the others are measured by: any of these.")
]
TextsOption = Annotated[
    Path | None, typer.Option("--test-set", metavar="PATH", help="Texts of what carries none.")
]


def command(
    judged: JudgedArgument,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="The HTML file.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="Of the page; else the name of the test set.")] = None,
    lp: LpOption = None,
    gold: GoldOption = None,
    test_set: TextsOption = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write its figures there too, as PDF, SVG and PNG.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write one HTML file: who leads, how sure that is, who agrees, every error in its place, what failed.

    Judges, people and metrics stand side by side, each an annotator. It opens without a server and asks
    nothing of any.
    """
    from adjudge.report.collecting import uncollected

    if out.exists() and not force:
        raise UsageError(f"--out {out} exists; --force replaces it")
    with uncollected():
        _write(judged, Asked(gold=gold, test_set=test_set, title=title, lp=lp), out, figures)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a page was asked for with, by the names of the options."""

    gold: Path | None
    test_set: Path | None
    title: str | None
    lp: str | None


def _write(judged: Sequence[Path], asked: Asked, out: Path, figures: Path | None) -> None:
    from adjudge.core.language import canonical_lp
    from adjudge.data.files import write_text
    from adjudge.data.load import load
    from adjudge.report.drawer import drawer_for
    from adjudge.report.html import render_page
    from adjudge.report.page import make_page
    from adjudge.report.repeat import page_commands

    lp = None if asked.lp is None else canonical_lp(asked.lp)
    texts = None if asked.test_set is None else load(asked.test_set, lp)
    found = read_given(judged, lp, texts)
    with drawer_for(found) as drawer:
        gold = read_gold(asked.gold, lp, found, texts)
        page = make_page(found, title=asked.title, gold=gold, lp=lp, test_set=texts)
        options = {**vars(asked), "out": out, "figures": figures, "force": True}
        again = page_commands("report", found, judged, options)
        write_text(out, [render_page(page, again, drawer=drawer)])
    print_note(f"{page.headline}.")
    for figure in page.figures if figures is not None else []:
        figure.write(figures or Path())
    print_note(f"The report: {out}" + ("" if figures is None else f"; its figures: {figures}"))


def read_given(paths: Sequence[Path], lp: str | None, texts: TestSet | None) -> list[Judged]:
    """Read everything in the order given; folders of campaigns are opened, the rest are files and runs."""
    from adjudge.report.given import read_judged

    campaigns = {index: _campaign(path) for index, path in enumerate(paths) if _is_campaign(path)}
    files = [path for index, path in enumerate(paths) if index not in campaigns]
    beside = next((c.test_set for c in campaigns.values()), None)
    rest = iter(read_judged(files, lp, texts, beside))
    return [campaigns[index] if index in campaigns else next(rest) for index in range(len(paths))]


def _is_campaign(path: Path) -> bool:
    return (path / _CAMPAIGN).is_file()


def _campaign(path: Path) -> Given:
    """What counts of a campaign's judgements; it may still be going on."""
    from adjudge.campaigns.campaign import open_campaign
    from adjudge.campaigns.exporting import export_campaign
    from adjudge.data.convert import content_of
    from adjudge.report.given import Given

    campaign = open_campaign(path)
    try:
        content = content_of(export_campaign(campaign))
    finally:
        campaign.database.close()
    for what, amount in content.met.items():
        print_note(f"adjudge: {path}: left out {amount} {what}")
    records = tuple(content.records or ())
    return Given(name=path.resolve().name, records=records, test_set=content.test_set, by_people=True)


def read_gold(
    path: Path | None, lp: str | None, judged: Sequence[Judged], texts: TestSet | None
) -> Sequence[Record]:
    """What the others are measured by; lines without ids are those of the test set, or of the runs' texts."""
    from adjudge.report.given import read_judged

    if path is None:
        return ()
    if _is_campaign(path):
        return _campaign(path).records
    beside = next((each.test_set for each in judged if each.test_set is not None), None)
    (found,) = read_judged([path], lp, texts, beside)
    return found.records
