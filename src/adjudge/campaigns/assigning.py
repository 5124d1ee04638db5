"""Who works on what: a task is given to a person for a while.

`assign_next` gives a person what they have, what they had, or another task: the next one of their batch, or
of a pool by priority; in a dynamic assignment, one of the systems of which the next judgement tells most
(`rank_systems`). As many people as a task needs have a place in it; a place that is given back is free.

Everything that changes who has what happens in one transaction that locks the person first, so that two pages
of theirs wait for each other, and then the task, so that nobody else is given the same place.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from threading import Lock
from typing import Any, Final
from weakref import WeakKeyDictionary

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    true,
    update,
)

from adjudge.analysis.preferences import VERDICTS
from adjudge.campaigns.database import Campaign, Database, Person, Statement, answer, assignment, task
from adjudge.campaigns.database import person as people
from adjudge.campaigns.items import AnyRow, State, read_state, score_of, shown_order
from adjudge.errors import NotYoursError
from adjudge.formats.campaign_export import FIRST

__all__ = [
    "TAKEN",
    "Assignment",
    "assign_next",
    "assignments",
    "close_if_full",
    "count_held_by_others",
    "expire_overdue",
    "give_back",
    "lock_person",
    "read_assignment",
    "renew",
    "take_up_again",
    "tutorial_before",
]


_Z: Final = 1.96
_OVERLAP: Final = 60.0  # seconds read again: transactions end in another order than they began
_COUNTED_EVERY: Final = 60.0  # seconds between counts of the open tasks


@dataclass(kw_only=True)
class Tally:
    """Judgements of one system, or of a pair.

    Args:
        count: how many.
        total: their sum.
        squares: sum of their squares.
    """

    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, values: Iterable[float], sign: int = 1) -> None:
        """Add judgements, or with -1 take them back."""
        for value in values:
            self.count += sign
            self.total += sign * value
            self.squares += sign * value * value

    @property
    def mean(self) -> float:
        """Mean; 0 without judgements."""
        return self.total / self.count if self.count else 0.0

    @property
    def variance(self) -> float:
        """Variance of the mean; infinite with fewer than two judgements."""
        if self.count < 2:
            return math.inf
        spread = max(0.0, self.squares - self.total * self.total / self.count)
        return spread / (self.count - 1) / self.count


@dataclass(kw_only=True)
class Ranked:
    """Systems of tasks as JSON, most telling first; empty where priorities alone decide."""

    systems: tuple[str, ...] = ()
    known: Known | None = None

    def note_exhausted(self, systems: str) -> None:
        """Leave systems without open tasks out until they are counted again."""
        if self.known is not None:
            self.known.open.pop(systems, None)


@dataclass(kw_only=True)
class Known:
    """What the answers of a campaign say so far.

    Args:
        tallies: systems of a task, as JSON, to their judgements.
        open: the same to how many of their tasks are open.
    """

    tallies: dict[str, Tally] = field(default_factory=dict)
    open: dict[str, int] = field(default_factory=dict)
    _values: dict[int, list[float]] = field(default_factory=dict)
    _read_until: float = -math.inf
    _counted_at: float = -math.inf

    def update(self, connection: Connection, campaign: Campaign, now: float) -> None:
        """Read what was finished since the last time."""
        is_new = (assignment.c.state == "done") & (assignment.c.done_at >= self._read_until - _OVERLAP)
        query = (
            select(assignment.c.id, assignment.c.seed, assignment.c.done_at, task.c.systems, answer)
            .join_from(assignment, task)
            .join(answer, answer.c.assignment_id == assignment.c.id)
            .where(is_new, task.c.campaign_id == campaign.id, task.c.kind.in_(FIRST))
        )
        found: dict[int, tuple[str, list[float]]] = {}
        for row in connection.execute(query):
            self._read_until = max(self._read_until, row.done_at)
            values = _values(campaign, read_state(row.state), row.seed, row.item_id)
            found.setdefault(row.id, (row.systems, []))[1].extend(values)
        for number, (systems, values) in found.items():
            tally = self.tallies.setdefault(systems, Tally())
            tally.add(self._values.get(number, ()), sign=-1)
            tally.add(values)
            self._values[number] = values
        if not 0 <= now - self._counted_at < _COUNTED_EVERY:
            is_open = task.c.is_closed.is_(False) & task.c.kind.in_(FIRST)
            counts = select(task.c.systems, func.count()).where(task.c.campaign_id == campaign.id, is_open)
            self.open = dict(connection.execute(counts.group_by(task.c.systems)).all())
            self._counted_at = now

    def ranked(self, leased: Counter[str], value: Callable[[Known, str], float]) -> tuple[str, ...]:
        """Systems with open tasks, most telling first; of equals, those with the fewest judgements.

        Args:
            leased: tasks under way by their systems: what they tell is on its way.
            value: how much is to be learned.
        """
        per_task = len(self._values) and sum(tally.count for tally in self.tallies.values()) / len(
            self._values
        )

        def key(systems: str) -> tuple[float, float, str]:
            tally = self.tallies.get(systems, Tally())
            coming = leased[systems] * (per_task or 1)
            share = tally.count / (tally.count + coming) if tally.count else 1.0
            return -value(self, systems) * share, tally.count + coming, systems

        return tuple(sorted(self.open, key=key))


def tied_with(known: Known, systems: str) -> float:
    """With how many others a system is tied; of a pair, 1 where its two are."""
    tally = known.tallies.get(systems, Tally())
    if len(json.loads(systems)) == 2:
        return float(not abs(tally.mean) > _Z * math.sqrt(tally.variance))
    names = (known.open.keys() | known.tallies.keys()) - {systems}
    others = [known.tallies.get(name, Tally()) for name in names]
    ties = (abs(tally.mean - o.mean) <= _Z * math.sqrt(tally.variance + o.variance) for o in others)
    return float(sum(ties))


def uncertainty(known: Known, systems: str) -> float:
    """Variance of the mean."""
    return known.tallies.get(systems, Tally()).variance


_VALUES: Final = {"ties": tied_with, "information": uncertainty}
_GUARD: Final = Lock()
_KNOWN: Final[WeakKeyDictionary[Database, dict[int, Known]]] = WeakKeyDictionary()


def rank_systems(campaign: Campaign, now: float) -> Ranked:
    """Order the systems by how much the next judgement of them tells.

    Args:
        campaign: with a dynamic assignment.
        now: seconds since 1970.
    """
    value = _VALUES.get(campaign.settings.dynamic_by)
    if value is None or campaign.protocol.shows not in {"one", "pair"}:
        return Ranked()
    with _GUARD, campaign.database.reading() as connection:
        known = _KNOWN.setdefault(campaign.database, {}).setdefault(campaign.id, Known())
        known.update(connection, campaign, now)
        is_leased = (assignment.c.state == "leased") & (task.c.campaign_id == campaign.id)
        query = select(task.c.systems, func.count()).join_from(assignment, task).where(is_leased)
        leased: Counter[str] = Counter(dict(connection.execute(query.group_by(task.c.systems)).all()))
        return Ranked(systems=known.ranked(leased, value), known=known)


def _values(campaign: Campaign, state: State, seed: int, item: int) -> list[float]:
    """An answer as numbers: ratings, penalties, or 1 for the first of a pair and -1 for the second."""
    if campaign.protocol.criteria:
        sign = 1.0 if shown_order(seed, item, 2) == (0, 1) else -1.0
        points = [sign * VERDICTS[verdict] for verdict in state.verdicts.values()]
        return [sum(points) / len(points)] if points else []
    scores = [score_of(state, shown, campaign.protocol) for shown in range(len(state.translations))]
    return [score for score in scores if score is not None]


_MOST: Final = 200  # given back in one transaction
TAKEN: Final = ("leased", "done")
"""States of assignments that hold a place, and whose answers count as progress."""
_COUNT: Final = (
    select(func.count())
    .where(assignment.c.task_id == task.c.id, assignment.c.state.in_(map(literal, TAKEN)))
    .scalar_subquery()
)
_PLACES: Final = Statement(
    select(task.c.redundancy, _COUNT.label("count")).where(task.c.id == bindparam("task"))
)

_CLOSE: Final = Statement(update(task).where(task.c.id == bindparam("task")).values(is_closed=true()))
_OPEN: Final = Statement(
    select(task.c.id)
    .where(task.c.id == bindparam("task"), task.c.is_closed.is_(False))
    .with_for_update(key_share=True)
)
_RENEW: Final = Statement(
    update(assignment)
    .where(assignment.c.id == bindparam("assignment"))
    .values(state=literal("leased"), leased_until=bindparam("until"))
)
_GIVEN: Final = select(assignment.c.id, assignment.c.task_id).order_by(assignment.c.id).limit(_MOST)
_OVERDUE: Final = Statement(
    _GIVEN.where(
        assignment.c.state == "leased", assignment.c.leased_until < bindparam("now")
    ).with_for_update(skip_locked=True, key_share=True)
)


def free_places(connection: Connection, number: int) -> int:
    """How many more people a task needs; its row is to be locked. One for everybody always needs 1."""
    redundancy, count = _PLACES.first(connection, task=number)
    return redundancy - count if redundancy else 1


def close_if_full(connection: Connection, number: int) -> None:
    """Close a task that as many people have as it needs; its row is to be locked."""
    if free_places(connection, number) <= 0:
        close(connection, number)


def close(connection: Connection, number: int) -> None:
    """Give a task to nobody else."""
    _CLOSE.run(connection, [{"task": number}])


def expire_overdue(connection: Connection, now: float) -> int:
    """Give back what was leased for longer than it was kept for; answers so far stay.

    What somebody saves at this moment is passed over.

    Returns:
        How many places became free.
    """
    return _give_back(connection, _OVERDUE.rows(connection, now=now))


def give_back(connection: Connection, chosen: ColumnElement[bool]) -> int:
    """Free the places of the chosen assignments, and open their tasks; whoever saves just now is waited for.

    Args:
        connection: that writes.
        chosen: which assignments.

    Returns:
        How many.
    """
    rows = connection.execute(_GIVEN.where(chosen).with_for_update(key_share=True)).all()
    return _give_back(connection, rows)


def _give_back(connection: Connection, rows: Sequence[Any]) -> int:
    if not rows:
        return 0
    tasks = select(task.c.id).where(task.c.id.in_({row.task_id for row in rows})).order_by(task.c.id)
    opened = connection.execute(tasks.with_for_update(key_share=True)).scalars().all()
    given = assignment.c.id.in_([row.id for row in rows])
    connection.execute(update(assignment).where(given).values(state="expired"))
    connection.execute(update(task).where(task.c.id.in_(opened)).values(is_closed=False))
    return len(rows)


def renew(connection: Connection, number: int, until: float) -> None:
    """Keep an assignment for its person until then."""
    _RENEW.run(connection, [{"assignment": number, "until": until}])


def take_up_again(connection: Connection, task_number: int, number: int, until: float) -> bool:
    """Lease a task to the person again from whom it was taken, where it still has a free place."""
    found = _OPEN.first(connection, task=task_number)
    if found is None or free_places(connection, task_number) <= 0:
        return False
    renew(connection, number, until)
    close_if_full(connection, task_number)
    return True


_GAP: Final = 4
"""A check of a pool comes 2 to 5 tasks after its original."""


def choose(
    connection: Connection, campaign: Campaign, person: AnyRow, place: int, ranked: Ranked
) -> int | None:
    """Lock a task that has a place for the person, and return its id; None where there is none.

    A task that another transaction holds is passed over at first. Where nothing else is left, its end is
    waited for, since it may leave a place.

    Args:
        connection: that writes, with the person locked.
        campaign: theirs.
        person: row of the store.
        place: how many tasks the person was given before.
        ranked: systems in the order in which they tell most; empty where that is not asked.
    """
    for waits in (False,) if campaign.database.is_sqlite else (False, True):
        choosing = _Choosing(connection=connection, campaign=campaign, person=person, waits=waits)
        if (found := choosing.find(place, ranked)) is not None:
            return found
    return None


def tutorial_before(
    connection: Connection,
    campaign: Campaign,
    person: AnyRow,
    chosen: int,
    *,
    lp: str | None = None,
) -> int:
    """The first part of the tutorial that the person was not given yet; `chosen` where there is none.

    Args:
        connection: that writes, with the person locked.
        campaign: theirs.
        person: row of the store.
        chosen: task that would come next.
        lp: language pair of the tutorial; None for the chosen task's.
    """
    if not campaign.settings.tutorial or person.tutorial_at is not None:
        return chosen
    if lp is None:
        lp = connection.execute(select(task.c.lp).where(task.c.id == chosen)).scalar_one()
    asked = {"campaign": campaign.id, "person": person.id, "lp": lp}
    found = connection.execute(_TUTORIAL, asked).scalar()
    return chosen if found is None else int(found)


# Statements are made once, since to make one takes longer than to run it.
_PERSON: Final[BindParameter[int]] = bindparam("person")
_HAD: Final = exists().where(assignment.c.task_id == task.c.id, assignment.c.person_id == _PERSON)
_NEW: Final = select(task.c.id).where(task.c.is_closed.is_(False), ~_HAD)
"""Open tasks that the person never had, found by what is theirs rather than in all of a campaign."""
_CHOOSING_OPEN: Final = _NEW.where(task.c.campaign_id == bindparam("campaign"))
_DID: Final = exists().where(assignment.c.task_id == task.c.copy_of, assignment.c.person_id == _PERSON)
_DID_ALL: Final = _DID.where(assignment.c.state == "done")

_TUTORIAL: Final = (
    _CHOOSING_OPEN.where(task.c.kind == "tutorial", task.c.lp == bindparam("lp"))
    .order_by(task.c.number)
    .limit(1)
)
_MINE: Final = _NEW.where(task.c.only_for == _PERSON).order_by(task.c.number)
_OF_KIND: Final = _CHOOSING_OPEN.where(task.c.kind == bindparam("kind"), task.c.only_for.is_(None)).order_by(
    task.c.priority.desc(), task.c.number
)
_OF_KIND_AND_SYSTEMS: Final = _OF_KIND.where(task.c.systems == bindparam("systems"))
_OF_OTHERS: Final = _OF_KIND.where(~_DID)
_OF_BATCH: Final = _CHOOSING_OPEN.where(
    task.c.batch == bindparam("batch"),
    task.c.only_for.is_(None),
    task.c.kind.in_(map(literal, (*FIRST, "check"))),
).order_by(task.c.number)
_OF_BATCH_IN_TURN: Final = _OF_BATCH.where(or_(task.c.kind != "check", _DID_ALL))
_THIS: Final = _CHOOSING_OPEN.where(task.c.id == bindparam("task"))
_DONE: Final = assignment.alias("done")
_CHECKS: Final = Statement(
    _NEW.add_columns(_DONE.c.place)
    .join(_DONE, _DONE.c.task_id == task.c.copy_of)
    .where(_DONE.c.person_id == _PERSON, _DONE.c.state == "done", task.c.kind == "check")
    .order_by(_DONE.c.place)
)


@cache
def _locking(query: Select[int], *, waits: bool) -> Statement:
    """The first task of a statement, locked; one that is locked already is passed over, or waited for."""
    return Statement(query.limit(1).with_for_update(of=task.c.id, skip_locked=not waits, key_share=True))


@dataclass(frozen=True, kw_only=True)
class _Choosing:
    connection: Connection
    campaign: Campaign
    person: AnyRow
    waits: bool

    def find(self, place: int, ranked: Ranked) -> int | None:
        if (mine := self._first(_MINE)) is not None:
            return mine
        second_looks = ("adjudication", "again") if self.person.role == "adjudicator" else ("again",)
        for kind in second_looks:
            if (found := self._first(_OF_OTHERS, kind=kind)) is not None:
                return found
        settings = self.campaign.settings
        if settings.assignment == "static" and self.person.batch is not None:
            query = _OF_BATCH if settings.checks_first else _OF_BATCH_IN_TURN
            return self._first(query, batch=self.person.batch)
        return self._due_check(place) or self._of_pool(ranked) or self._due_check(None)

    def _first(self, query: Select[int], **asked: object) -> int | None:
        """Lock the first task that has a place left."""
        locked = _locking(query, waits=self.waits)
        own = {"campaign": self.campaign.id, "person": self.person.id}
        while (found := locked.first(self.connection, **own, **asked)) is not None:
            if free_places(self.connection, found.id) > 0:
                return int(found.id)
            close(self.connection, found.id)
        return None

    def _due_check(self, place: int | None) -> int | None:
        """A check whose original the person did long enough ago; None: however long ago.

        How long is drawn, so that nobody can tell when a check comes.
        """
        seed, person = self.campaign.settings.seed, self.person.id
        for found, before in _CHECKS.rows(self.connection, person=person):
            gap = 1 + hashlib.sha256(f"{seed}/{found}/{person}".encode()).digest()[0] % _GAP
            is_due = place is None or place - before > gap
            if is_due and (chosen := self._first(_THIS, task=found)) is not None:
                return chosen
        return None

    def _of_pool(self, ranked: Ranked) -> int | None:
        for systems in ranked.systems:
            if (found := self._best(systems)) is not None:
                return found
            ranked.note_exhausted(systems)
        return self._best(None)

    def _best(self, systems: str | None) -> int | None:
        """Of originals and controls, the one with the higher priority or the lower number."""
        found = []
        for kind in FIRST:
            query = _OF_KIND if systems is None else _OF_KIND_AND_SYSTEMS
            if (number := self._first(query, kind=kind, systems=systems)) is not None:
                found.append(number)
        if len(found) < 2:
            return found[0] if found else None
        order = select(task.c.id).where(task.c.id.in_(found)).order_by(task.c.priority.desc(), task.c.number)
        return self.connection.execute(order.limit(1)).scalar()


_WORKERS: Final = {"annotator", "adjudicator"}


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """A task given to a person.

    Args:
        id: in the store.
        task: in the store.
        number: of the task.
        kind: why it is shown.
        lp: language pair.
        document: id.
        state: leased, done, or expired: given back; its answers stay, and count.
        place: the person's how manieth, from 0.
        seed: of the order in which sides are shown.
        leased_until: seconds since 1970.
        started_at: seconds since 1970.
        done_at: seconds since 1970, or None.
    """

    id: int
    task: int
    number: int
    kind: str
    lp: str
    document: str
    state: str
    place: int
    seed: int
    leased_until: float
    started_at: float
    done_at: float | None

    def is_editable(self, *, is_loud: bool) -> bool:
        """Whether work on it may go on; a loud check was told of when it was done."""
        return not (is_loud and self.kind == "check" and self.state == "done")


_SELECTED: Final = select(
    assignment, task.c.number, task.c.kind, task.c.lp, task.c.document, task.c.redundancy
).join_from(assignment, task)
_IS_THEIRS: Final = and_(
    assignment.c.person_id == bindparam("person"), task.c.campaign_id == bindparam("campaign")
)
_THEIR_ONE: Final = _SELECTED.where(assignment.c.id == bindparam("assignment"), _IS_THEIRS)
_ONE: Final = Statement(_THEIR_ONE)
_ONE_LOCKED: Final = Statement(_THEIR_ONE.with_for_update(of=assignment.c.id, key_share=True))
_FOUND: Final = Statement(_SELECTED.where(assignment.c.id == bindparam("assignment")))
_HELD: Final = Statement(
    _SELECTED.where(assignment.c.state == "leased", _IS_THEIRS).order_by(assignment.c.place).limit(1)
)
_EXPIRED: Final = Statement(
    select(assignment.c.id, assignment.c.task_id)
    .join_from(assignment, task)
    .where(assignment.c.state == "expired", _IS_THEIRS, task.c.is_closed.is_(False))
    .order_by(assignment.c.place)
    .with_for_update(of=assignment.c.id, key_share=True)
)
_HIGHEST: Final = Statement(
    select(func.max(assignment.c.place).label("place")).where(assignment.c.person_id == bindparam("person"))
)
_ADD: Final = Statement(
    insert(assignment)
    .values({c.name: bindparam(c.name) for c in assignment.c if c.name not in {"id", "done_at"}})
    .returning(assignment.c.id)
)
_ASSIGNING_PERSON: Final = Statement(
    select(people)
    .where(people.c.id == bindparam("person"), people.c.campaign_id == bindparam("campaign"))
    .with_for_update(key_share=True)
)


def _read(row: AnyRow) -> Assignment:
    names = ("id", "number", "kind", "lp", "document", "state", "place", "seed")
    times = ("leased_until", "started_at", "done_at")
    return Assignment(task=row.task_id, **{name: getattr(row, name) for name in (*names, *times)})


def assignments(campaign: Campaign, person: Person) -> tuple[Assignment, ...]:
    """Everything that a person has or had, in the order in which it was given."""
    query = _SELECTED.where(assignment.c.person_id == person.id, task.c.campaign_id == campaign.id)
    with campaign.database.reading() as connection:
        return tuple(_read(row) for row in connection.execute(query.order_by(assignment.c.place)))


def read_assignment(
    connection: Connection, campaign: Campaign, person: int, number: int, *, locks: bool = False
) -> Assignment:
    """Read what was given to a person.

    Args:
        connection: that reads, or writes.
        campaign: theirs.
        person: to whom it was given.
        number: id of the assignment.
        locks: whether others have to wait for this transaction to change it.

    Raises:
        NotYoursError: it is another person's.
    """
    query = _ONE_LOCKED if locks else _ONE
    found = query.first(connection, assignment=number, person=person, campaign=campaign.id)
    if found is None:
        raise NotYoursError(f"task {number} is not yours")
    return _read(found)


def lock_person(connection: Connection, campaign: Campaign, number: int) -> AnyRow:
    """Read a person's row; their other transactions wait for this one.

    Raises:
        NotYoursError: the person was revoked, or is none of the campaign's.
    """
    found: AnyRow | None = _ASSIGNING_PERSON.first(connection, person=number, campaign=campaign.id)
    if found is None or found.revoked_at is not None:
        raise NotYoursError("you have no access to this campaign any more; ask the organiser")
    return found


def assign_next(campaign: Campaign, person: Person, now: float) -> Assignment | None:
    """Give a person what they have to work on: what they have, what they had, or another task.

    A person has one task at a time and never gets one twice. With a tutorial to be passed, that comes first;
    a check comes after its original, and to the same person.

    Args:
        campaign: theirs.
        person: annotator or adjudicator; an organiser is given nothing.
        now: seconds since 1970.

    Returns:
        None where nothing is left for them.

    Raises:
        NotYoursError: the person was revoked.
    """
    if person.role not in _WORKERS:
        return None
    settings = campaign.settings
    ranked = rank_systems(campaign, now) if settings.assignment == "dynamic" else Ranked()

    def assign(connection: Connection) -> Assignment | None:
        known = lock_person(connection, campaign, person.id)
        until = now + settings.lease_minutes * 60
        theirs = {"person": person.id, "campaign": campaign.id}
        if (held := _HELD.first(connection, **theirs)) is not None:
            renew(connection, held.id, until)
            return _find(connection, held.id)
        expire_overdue(connection, now)
        for number, of_task in _EXPIRED.rows(connection, **theirs):
            if take_up_again(connection, of_task, number, until):
                return _find(connection, number)
        highest = _HIGHEST.first(connection, person=person.id).place
        place = 0 if highest is None else highest + 1
        chosen = choose(connection, campaign, known, place, ranked)
        if chosen is None:
            return None
        chosen = tutorial_before(connection, campaign, known, chosen)
        return _give(connection, campaign, known, chosen, place, now)

    return campaign.database.write_alone(assign)


def count_held_by_others(campaign: Campaign, person: Person) -> int:
    """How many tasks others are at work on that would come to this person if they were given back."""
    mine = assignment.alias()
    had = exists().where(mine.c.task_id == task.c.id, mine.c.person_id == person.id)
    held = (
        select(func.count())
        .select_from(assignment.join(task))
        .where(
            task.c.campaign_id == campaign.id,
            task.c.kind.in_(FIRST),
            task.c.only_for.is_(None),
            assignment.c.state == "leased",
            assignment.c.person_id != person.id,
            ~had,
            true() if person.batch is None else task.c.batch == person.batch,
        )
    )
    with campaign.database.reading() as connection:
        return int(connection.execute(held).scalar_one())


def _give(
    connection: Connection,
    campaign: Campaign,
    person: AnyRow,
    chosen: int,
    place: int,
    now: float,
) -> Assignment:
    seed = hashlib.sha256(f"{campaign.settings.seed}/{chosen}/{person.id}".encode()).digest()
    values = {
        "task_id": chosen,
        "person_id": person.id,
        "state": "leased",
        "place": place,
        "seed": int.from_bytes(seed[:4]) >> 1,
        "leased_until": now + campaign.settings.lease_minutes * 60,
        "started_at": now,
    }
    added = _ADD.first(connection, **values)
    close_if_full(connection, chosen)
    return _find(connection, added.id)


def _find(connection: Connection, number: int) -> Assignment:
    return _read(_FOUND.first(connection, assignment=number))
