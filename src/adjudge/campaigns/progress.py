"""How far a campaign is: what is done and to do, who did how much how fast, and when it will end.

Tutorials count nowhere. A task that was given back is to be done again: what was finished of it stays, and is
counted apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from adjudge.campaigns.counting import Counts
from adjudge.campaigns.leases import TAKEN
from adjudge.campaigns.noticing import noticed_by_person
from adjudge.campaigns.people import Role, select_people
from adjudge.campaigns.schema import person
from adjudge.core.score import Interval
from adjudge.meta.campaign.numbers import wilson_interval

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign
    from adjudge.campaigns.people import Person

__all__ = ["OwnProgress", "PersonProgress", "Progress", "find_own_progress", "find_progress"]

_DAY: Final = 86_400.0


@dataclass(frozen=True, kw_only=True)
class PersonProgress:
    """What one person did.

    Args:
        id: in the store.
        name: theirs.
        role: annotator, adjudicator, organiser.
        is_revoked: whether they were shut out.
        batch: of a static assignment; None where there is none.
        tasks: that they finished.
        items: that they finished, in tasks that were given back, too.
        left: items of their batch that wait for them; None where tasks come from a pool.
        active: seconds of work.
        idle: seconds of pauses on open pages.
        checks: attention checks that they finished, counted in items.
        passed: of these, where they noticed the damage.
        interval: 95 % Wilson interval of the share passed; None without checks.
        first_at: first action, seconds since 1970; None before it.
        last_at: last action.
    """

    id: int
    name: str
    role: Role
    is_revoked: bool = False
    batch: int | None = None
    tasks: int = 0
    items: int = 0
    left: int | None = None
    active: float = 0.0
    idle: float = 0.0
    checks: int = 0
    passed: int = 0
    interval: Interval | None = None
    first_at: float | None = None
    last_at: float | None = None

    @property
    def seconds_each(self) -> float | None:
        """Seconds of work an item; None before the first one is finished, and where they are not known."""
        return self.active / self.items if self.items and self.active else None


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a campaign is.

    Args:
        tasks: assignments that are needed, each task as often as people judge it.
        tasks_done: those finished.
        under_way: those that somebody has.
        items: that are needed.
        items_done: those finished.
        items_given_back: finished besides, in tasks that were given back: they count as judgements, and their
            places are to be filled again.
        kinds: number of tasks of each kind, tutorials among them.
        people: in the order in which they were added.
        an_hour: items finished an hour, over the last day or since the first action; None before the first.
        ends_at: when everything will be done at that pace; None where nothing says it.
    """

    tasks: int
    tasks_done: int
    under_way: int
    items: int
    items_done: int
    items_given_back: int
    kinds: dict[str, int]
    people: tuple[PersonProgress, ...]
    an_hour: float | None = None
    ends_at: float | None = None

    @property
    def items_left(self) -> int:
        """Items that are still to be finished."""
        return max(self.items - self.items_done, 0)

    @property
    def active(self) -> float:
        """Seconds of everybody's work."""
        return sum(one.active for one in self.people)

    @property
    def active_left(self) -> float | None:
        """Seconds of work still to be done, at what an item took so far; None where nothing says it."""
        done = sum(one.items for one in self.people)
        return self.active / done * self.items_left if done and self.active else None


def find_progress(campaign: Campaign, now: float) -> Progress:
    """Count, at one moment.

    Args:
        campaign: which.
        now: seconds since 1970.
    """
    with campaign.database.reading() as connection:
        counts = Counts(campaign, connection)
        of_tasks, states, finished = counts.tasks_by_kind(), counts.assignments(), counts.items_finished()
        needed = [row for row in of_tasks if row.kind != "tutorial"]
        found = Progress(
            tasks=int(sum(row.needed for row in needed)),
            tasks_done=states.get("done", 0),
            under_way=states.get("leased", 0),
            items=int(sum(row.items_needed or 0 for row in needed)),  # PostgreSQL sums to Decimal
            items_done=sum(finished.get(state, 0) for state in TAKEN),
            items_given_back=finished.get("expired", 0),
            kinds={row.kind: row.tasks for row in of_tasks},
            people=tuple(_people(counts)),
        )
        return _with_forecast(found, counts, now)


def _people(counts: Counts) -> Iterator[PersonProgress]:
    done, work, left = counts.tasks_done(), counts.work(), counts.left()
    checks = noticed_by_person(counts.connection, counts.campaign)
    for one in counts.connection.execute(select_people(counts.campaign).order_by(person.c.id)):
        noticed = checks[one.id]
        yield PersonProgress(
            id=one.id,
            name=one.name,
            role=one.role,
            is_revoked=one.revoked_at is not None,
            batch=one.batch,
            tasks=done.get(one.id, 0),
            left=left.get(one.id, 0) if one.batch is not None else None,
            checks=len(noticed),
            passed=sum(noticed),
            interval=wilson_interval(sum(noticed), len(noticed)) if noticed else None,
            **work.get(one.id, {}),
        )


def _with_forecast(found: Progress, counts: Counts, now: float) -> Progress:
    starts = [one.first_at for one in found.people if one.first_at is not None]
    if not starts:
        return found
    since = max(min(starts), now - _DAY)
    finished, hours = counts.finished_since(since), (now - since) / 3600
    if not finished or hours <= 0:
        return found
    pace = finished / hours
    return replace(found, an_hour=pace, ends_at=now + found.items_left / pace * 3600)


@dataclass(frozen=True, kw_only=True)
class OwnProgress:
    """What people are told of their own work, in items.

    Args:
        done: finished.
        left: of their batch, still to do; None where tasks come from a pool.
    """

    done: int
    left: int | None


def find_own_progress(campaign: Campaign, who: Person) -> OwnProgress:
    """Count one person's work alone."""
    with campaign.database.reading() as connection:
        counts = Counts(campaign, connection)
        left = None if who.batch is None else counts.left(who.id).get(who.id, 0)
        return OwnProgress(done=counts.items_finished_by(who.id), left=left)
