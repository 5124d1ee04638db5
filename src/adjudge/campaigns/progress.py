"""How far a campaign is: what is done and to do, who did how much how fast, and when it will end.

Tutorials count nowhere. What was taken from a person and given to others counts once it is done again.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, func, or_, select

from adjudge.campaigns.feedback import feedback
from adjudge.campaigns.items import ITEM_COLUMNS, read_item
from adjudge.campaigns.leases import TAKEN
from adjudge.campaigns.people import Role
from adjudge.campaigns.schema import answer, assignment, item, person, task
from adjudge.campaigns.state import read_state
from adjudge.core.score import Interval
from adjudge.meta.campaign.numbers import wilson_interval

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign
    from adjudge.campaigns.people import Person

__all__ = ["PersonProgress", "Progress", "checks_noticed", "find_progress"]

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
        items: that they finished.
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
        return _Counting(campaign, connection, now).progress()


def checks_noticed(campaign: Campaign, person: Person) -> list[bool]:
    """Of each attention check that a person finished, whether they noticed the damage."""
    with campaign.database.reading() as connection:
        return _Counting(campaign, connection, now=0.0).checks(person.id)[person.id]


@dataclass
class _Counting:
    campaign: Campaign
    connection: Connection
    now: float

    def progress(self) -> Progress:
        of_tasks = self._of_tasks()
        kinds = {row.kind: row.tasks for row in of_tasks}
        needed = [row for row in of_tasks if row.kind != "tutorial"]
        states = self._states()
        people = tuple(self._people())
        found = Progress(
            tasks=int(sum(row.needed for row in needed)),
            tasks_done=states.get("done", 0),
            under_way=states.get("leased", 0),
            items=int(sum(row.items_needed or 0 for row in needed)),  # PostgreSQL sums to Decimal
            items_done=self._items_done(),
            kinds=kinds,
            people=people,
        )
        return self._with_forecast(found)

    def _all(self, query: Select[Any]) -> list[Row[Any]]:
        return list(self.connection.execute(query.where(task.c.campaign_id == self.campaign.id)))

    def _of_tasks(self) -> list[Row[Any]]:
        sizes = select(item.c.task_id, func.count().label("size")).group_by(item.c.task_id).subquery()
        return self._all(
            select(
                task.c.kind,
                func.count().label("tasks"),
                func.sum(task.c.redundancy).label("needed"),
                func.sum(task.c.redundancy * sizes.c.size).label("items_needed"),
            )
            .outerjoin_from(task, sizes, sizes.c.task_id == task.c.id)
            .group_by(task.c.kind)
        )

    def _states(self) -> dict[str, int]:
        query = select(assignment.c.state, func.count()).join_from(assignment, task)
        return dict(map(tuple, self._all(query.where(_is_work()).group_by(assignment.c.state))))

    def _items_done(self) -> int:
        (row,) = self._all(_finished(select(func.count())).where(assignment.c.state.in_(TAKEN)))
        return int(row[0])

    # People...

    def _people(self) -> list[PersonProgress]:
        columns = (person.c.id, person.c.name, person.c.role, person.c.batch, person.c.revoked_at)
        mine = select(*columns).where(person.c.campaign_id == self.campaign.id).order_by(person.c.id)
        done, work, checks, left = self._tasks_done(), self._work(), self.checks(), self._left()
        return [
            PersonProgress(
                id=row.id,
                name=row.name,
                role=row.role,
                is_revoked=row.revoked_at is not None,
                batch=row.batch,
                tasks=done.get(row.id, 0),
                left=left.get(row.id, 0) if row.batch is not None else None,
                checks=len(checks[row.id]),
                passed=sum(checks[row.id]),
                interval=wilson_interval(sum(checks[row.id]), len(checks[row.id]))
                if checks[row.id]
                else None,
                **work.get(row.id, {}),
            )
            for row in self.connection.execute(mine)
        ]

    def _tasks_done(self) -> dict[int, int]:
        query = select(assignment.c.person_id, func.count()).join_from(assignment, task)
        chosen = query.where(_is_work(), assignment.c.state == "done").group_by(assignment.c.person_id)
        return dict(map(tuple, self._all(chosen)))

    def _work(self) -> dict[int, dict[str, Any]]:
        """Items, seconds and times of each person."""
        query = (
            select(
                assignment.c.person_id,
                func.count().filter(answer.c.is_complete).label("items"),
                func.sum(answer.c.active).label("active"),
                func.sum(answer.c.idle).label("idle"),
                func.min(answer.c.first_at).label("first_at"),
                func.max(answer.c.last_at).label("last_at"),
            )
            .join_from(answer, assignment)
            .join(task)
            .where(_is_work())
            .group_by(assignment.c.person_id)
        )
        rows = [dict(row._mapping) for row in self._all(query)]  # noqa: SLF001 (public in SQLAlchemy)
        return {row.pop("person_id"): row for row in rows}

    def _left(self) -> dict[int, int]:
        """Items of each person's batch that nobody finished in their place, and they themselves did not."""
        mine = and_(assignment.c.task_id == task.c.id, assignment.c.person_id == person.c.id)
        is_answered = and_(
            answer.c.item_id == item.c.id, answer.c.assignment_id == assignment.c.id, answer.c.is_complete
        )
        query = (
            select(person.c.id, func.count())
            .join_from(person, task, and_(task.c.batch == person.c.batch, _is_work()))
            .join(item, item.c.task_id == task.c.id)
            .outerjoin(assignment, mine)
            .outerjoin(answer, is_answered)
            .where(person.c.campaign_id == self.campaign.id, answer.c.item_id.is_(None))
            .where(or_(task.c.only_for.is_(None), task.c.only_for == person.c.id))
            .where(or_(task.c.is_closed.is_(False), assignment.c.state == "leased"))
            .group_by(person.c.id)
        )
        return dict(map(tuple, self._all(query)))

    def checks(self, only: int | None = None) -> defaultdict[int, list[bool]]:
        """Of each person, or of one alone, whether each check was noticed."""
        theirs, first, before = assignment.alias("theirs"), item.alias("first"), answer.alias("before")
        of_original = and_(theirs.c.task_id == task.c.copy_of, theirs.c.person_id == assignment.c.person_id)
        said_before = and_(before.c.assignment_id == theirs.c.id, before.c.item_id == first.c.id)
        query = (
            _finished(
                select(
                    *ITEM_COLUMNS,
                    assignment.c.person_id,
                    assignment.c.seed,
                    answer.c.state,
                    before.c.state.label("before"),
                )
            )
            .outerjoin(theirs, of_original)
            .outerjoin(first, and_(first.c.task_id == task.c.copy_of, first.c.segment == item.c.segment))
            .outerjoin(before, said_before)
            .where(task.c.kind == "check", item.c.check.is_not(None))
        )
        if only is not None:
            query = query.where(assignment.c.person_id == only)
        found: defaultdict[int, list[bool]] = defaultdict(list)
        for row in self._all(query):
            found[row.person_id].append(self._is_noticed(row))
        return found

    def _is_noticed(self, row: Row[Any]) -> bool:
        """Whether what a check expects was done; where nothing can be marked, whether it was rated lower."""
        shown, state = read_item(self.campaign, row, row.seed), read_state(row.state)
        if shown.check is None:
            return False
        if self.campaign.protocol.severities or "rating" in shown.check or row.before is None:
            return not feedback(state, shown.check)
        rating, before = (said.translations[0].rating for said in (state, read_state(row.before)))
        return rating is not None and before is not None and rating < before

    # The end...

    def _with_forecast(self, found: Progress) -> Progress:
        starts = [one.first_at for one in found.people if one.first_at is not None]
        if not starts:
            return found
        since = max(min(starts), self.now - _DAY)
        (row,) = self._all(_finished(select(func.count())).where(answer.c.last_at >= since))
        hours = (self.now - since) / 3600
        if not row[0] or hours <= 0:
            return found
        pace = row[0] / hours
        return replace(found, an_hour=pace, ends_at=self.now + found.items_left / pace * 3600)


def _is_work() -> ColumnElement[bool]:
    return task.c.kind != "tutorial"


def _finished(columns: Select[Any]) -> Select[Any]:
    """Complete answers of work, with their items, assignments and tasks."""
    joined = columns.select_from(answer).join(assignment, answer.c.assignment_id == assignment.c.id)
    return (
        joined.join(task, assignment.c.task_id == task.c.id)
        .join(item, answer.c.item_id == item.c.id)
        .where(_is_work(), answer.c.is_complete)
    )
