"""`adjudge campaign status`: how far it is, who did how much, and when it will end."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli.output import FormatOption, print_result
from adjudge.report.tables import Table

if TYPE_CHECKING:
    from adjudge.campaigns.progress import PersonProgress, Progress

__all__ = ["command"]


def command(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Folder of the campaign.")],
    form: FormatOption = "table",
) -> None:
    """Progress, pace and checks, person by person, and what is still to do."""
    from adjudge.campaigns.campaign import open_campaign
    from adjudge.campaigns.progress import find_progress

    campaign = open_campaign(name)
    try:
        found = find_progress(campaign, time.time())
    finally:
        campaign.database.close()
    print_result(form, _table(campaign.name, found), _data(campaign.name, found))


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
        f"Still to do: {found.items_left:,} segments"
        + ("." if found.active_left is None else f", about {found.active_left / 3600:.1f} hours of work."),
    ]
    if found.ends_at is not None and found.an_hour is not None and found.items_left:
        notes.append(f"At {found.an_hour:.1f} segments an hour it ends {_moment(found.ends_at)}.")
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
