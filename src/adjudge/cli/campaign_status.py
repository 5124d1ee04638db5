"""`adjudge campaign status`: how far it is, who did how much, and when it will end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli.output import FormatOption, print_result
from adjudge.core.wording import count
from adjudge.report.numbers import duration
from adjudge.report.tables import Table

if TYPE_CHECKING:
    from adjudge.campaigns.audit import AuditLine
    from adjudge.campaigns.progress import PersonProgress, Progress

__all__ = ["command"]


def command(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Folder of the campaign.")],
    *,
    log: Annotated[
        bool, typer.Option("--log", help="Who did what to it and when, in place of its progress.")
    ] = False,
    form: FormatOption = "table",
) -> None:
    """Progress, pace and checks, person by person, and what is still to do."""
    from adjudge.campaigns.audit import read_audit
    from adjudge.campaigns.campaign import open_campaign
    from adjudge.campaigns.progress import find_progress

    with open_campaign(name) as campaign:
        if log:
            lines = read_audit(campaign)
            data = {"campaign": campaign.name, "log": [asdict(line) for line in lines]}
            print_result(form, _log_table(campaign.name, lines), data)
            return
        found = find_progress(campaign, time.time())
    print_result(form, _table(campaign.name, found), _data(campaign.name, found))


def _log_table(name: str, lines: Sequence[AuditLine]) -> Table:
    rows = [[_moment(line.at), line.actor, line.action, line.detail] for line in lines]
    return Table(title=f"What was done to {name}", columns=("when", "who", "what", "detail"), rows=rows)


def _table(name: str, found: Progress) -> Table:
    return Table(
        title=f"{name}: {found.items_done:,} of {found.items:,} segments",
        columns=("person", ">tasks", ">segments", ">left", ">hours", ">s a segment", ">checks", "last seen"),
        rows=[_row(person) for person in found.people if person.role != "organiser"],
        notes=_notes(found),
    )


def _row(person: PersonProgress) -> list[str]:
    interval = person.interval
    checks = "" if interval is None else f"{person.passed}/{person.checks}"
    return [
        person.name + (" (revoked)" if person.is_revoked else ""),
        f"{person.tasks:,}",
        f"{person.items:,}",
        "" if person.left is None else f"{person.left:,}",
        f"{person.active / 3600:.1f}",
        "" if person.seconds_each is None else f"{person.seconds_each:.0f}",
        checks if interval is None else f"{checks} [{interval.low:.0%}, {interval.high:.0%}]",
        "" if person.last_at is None else _moment(person.last_at),
    ]


def _notes(found: Progress) -> list[str]:
    notes = [
        f"Tasks: {found.tasks_done:,} of {found.tasks:,} done, {found.under_way:,} under way.",
        f"Still to do: {count(found.items_left, 'segment')}"
        + ("." if found.active_left is None else f", about {duration(found.active_left)} of work."),
    ]
    if found.ends_at is not None and found.an_hour is not None and found.items_left:
        notes.append(f"At {found.an_hour:.1f} segments an hour it ends {_moment(found.ends_at)}.")
    if found.items_given_back:
        notes.append(
            f"Finished besides, in tasks that were given back: {count(found.items_given_back, 'segment')}. "
            "These judgements count, and the tasks are done again."
        )
    if any(person.checks for person in found.people):
        notes.append("Checks: noticed of done, with the 95 % Wilson interval.")
    return notes


def _moment(seconds: float) -> str:
    """Local time, to the minute."""
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def _data(name: str, found: Progress) -> dict[str, Any]:
    return {
        "campaign": name,
        "tasks": found.tasks,
        "tasks_done": found.tasks_done,
        "under_way": found.under_way,
        "segments": found.items,
        "segments_done": found.items_done,
        "segments_given_back": found.items_given_back,
        "segments_left": found.items_left,
        "kinds": found.kinds,
        "active_seconds": found.active,
        "active_seconds_left": found.active_left,
        "segments_an_hour": found.an_hour,
        "ends_at": found.ends_at,
        "people": [_person(person) for person in found.people],
    }


def _person(person: PersonProgress) -> dict[str, Any]:
    interval = person.interval
    return {
        "person": person.name,
        "role": person.role,
        "revoked": person.is_revoked,
        "batch": person.batch,
        "tasks_done": person.tasks,
        "segments_done": person.items,
        "segments_left": person.left,
        "active_seconds": person.active,
        "idle_seconds": person.idle,
        "seconds_each": person.seconds_each,
        "checks": person.checks,
        "checks_passed": person.passed,
        "interval": None if interval is None else [interval.low, interval.high],
        "first_at": person.first_at,
        "last_at": person.last_at,
    }
