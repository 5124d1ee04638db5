"""Who works on what: tasks are dealt to a person, who is given one after another.

An assignment says who has a task. It is dealt (the person's, to be given later), leased (being worked on),
done, or expired (given back). In a static campaign a plan deals everything beforehand. Else, and where
something was given back, `assign_next` deals the next document with all its systems to who asks for it, in a
language pair of theirs: by priority, or in a dynamic assignment the task whose next judgement tells most
(`rank_systems`). As many people as a task needs have a place in it. Checks are dealt to whom their share is
due. `deal_again` deals what is to be looked at again, and `share_work` gives somebody new a part of what is
dealt and not begun.

Everything that changes who has what happens in one transaction that locks the person first, so that two pages
of theirs wait for each other, and then, to deal, the campaign, so that nobody else is dealt the same place.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from threading import Lock
from typing import Any, Final
from weakref import WeakKeyDictionary

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    and_,
    bindparam,
    delete,
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
from adjudge.campaigns.database import (
    Campaign,
    Database,
    Person,
    Statement,
    answer,
    assignment,
    item,
    lps_of,
    task,
)
from adjudge.campaigns.database import campaign as campaigns
from adjudge.campaigns.database import person as people
from adjudge.campaigns.items import AnyRow, State, read_state, score_of, shown_order
from adjudge.campaigns.planning import due_checks, place_of_check
from adjudge.campaigns.settings import CampaignSettings
from adjudge.campaigns.stopping import did_fail, had_enough
from adjudge.core.frozen import frozen
from adjudge.errors import NotYoursError
from adjudge.formats.campaign_export import FIRST

_Z: Final = 1.96
_OVERLAP: Final = 60.0  # seconds read again: transactions end in another order than they began
_COUNTED_EVERY: Final = 60.0  # seconds between counts of the open tasks


@dataclass(kw_only=True)
class Tally:
    """Judgements of one system, or of a pair."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, values: Iterable[float], sign: int = 1) -> None:
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
    """What the answers of a campaign say so far."""

    tallies: dict[str, Tally] = field(default_factory=dict)  # systems of a task, as JSON, to their judgements
    open: dict[str, int] = field(default_factory=dict)  # the same to how many of their tasks are open
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
        """Systems with open tasks, most telling first; of equals, those with the fewest judgements."""
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
    return known.tallies.get(systems, Tally()).variance


_GUARD: Final = Lock()
_KNOWN: Final[WeakKeyDictionary[Database, dict[int, Known]]] = WeakKeyDictionary()


def rank_systems(campaign: Campaign, now: float) -> Ranked:
    """Order the systems by how much the next judgement of them tells. `now`: seconds since 1970."""
    value = {"ties": tied_with, "information": uncertainty}.get(campaign.settings.dynamic_by)
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
HELD: Final = ("dealt", "leased")
"""States of assignments that a person has and did not finish."""
TAKEN: Final = (*HELD, "done")
"""States of assignments that hold a place, and whose answers count as progress."""
FOREVER: Final = 1e11
"""Until when a person keeps what was dealt beforehand, seconds since 1970: nobody else is given it."""
_COUNT: Final = (
    select(func.count())
    .where(assignment.c.task_id == task.c.id, assignment.c.state.in_(map(literal, TAKEN)))
    .scalar_subquery()
)
_PLACES: Final = Statement(select(task.c.raters, _COUNT.label("count")).where(task.c.id == bindparam("task")))

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
_LIVE: Final = assignment.alias("live")
_IS_AT_WORK: Final = exists().where(
    _LIVE.c.person_id == assignment.c.person_id,
    _LIVE.c.state == "leased",
    _LIVE.c.leased_until >= bindparam("now"),
)
_OVERDUE: Final = Statement(
    _GIVEN.where(
        assignment.c.state.in_(map(literal, HELD)),
        assignment.c.leased_until < bindparam("now"),
        or_(assignment.c.state == "leased", ~_IS_AT_WORK),
    ).with_for_update(of=assignment.c.id, skip_locked=True, key_share=True)
)


def lease_end(campaign: Campaign, now: float) -> float:
    """Until when a task is kept for who begins it now: what was dealt beforehand stays theirs."""
    return FOREVER if campaign.settings.assignment == "static" else now + campaign.settings.lease_minutes * 60


def free_places(connection: Connection, number: int) -> int:
    """How many more people a task needs; its row is to be locked. One for everybody always needs 1."""
    raters, count = _PLACES.first(connection, task=number)
    return raters - count if raters else 1


def close_if_full(connection: Connection, number: int) -> None:
    """Close a task that as many people have as it needs; its row is to be locked."""
    if free_places(connection, number) <= 0:
        close(connection, number)


def close(connection: Connection, number: int) -> None:
    """Give a task to nobody else."""
    _CLOSE.run(connection, [{"task": number}])


def expire_overdue(connection: Connection, now: float) -> int:
    """Give back what was leased for longer than it was kept for, and what was dealt to who works no more.

    Answers so far stay. What somebody saves at this moment is passed over.

    How many places became free.
    """
    return _give_back(connection, _OVERDUE.rows(connection, now=now))


def give_back(connection: Connection, chosen: ColumnElement[bool]) -> int:
    """Free the places of the chosen assignments, and open their tasks; whoever saves just now is waited for.

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
    connection.execute(delete(assignment).where(given, assignment.c.state == "dealt"))
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


def _tutorial_before(connection: Connection, campaign: Campaign, person: AnyRow, chosen: int) -> int:
    if not campaign.settings.tutorial or person.tutorial_at is not None:
        return chosen
    lp = connection.execute(select(task.c.lp).where(task.c.id == chosen)).scalar_one()
    found = _TUTORIAL.first(connection, campaign=campaign.id, person=person.id, lp=lp)
    return chosen if found is None else int(found.id)


# Statements are made once, since to make one takes longer than to run it.
_PERSON: Final[BindParameter[int]] = bindparam("person")
_HAD: Final = exists().where(assignment.c.task_id == task.c.id, assignment.c.person_id == _PERSON)
_NEW: Final = select(task.c.id).where(task.c.is_closed.is_(False), ~_HAD)
"""Open tasks that the person never had, found by what is theirs rather than in all of a campaign."""
_CHOOSING_OPEN: Final = _NEW.where(task.c.campaign_id == bindparam("campaign"))
_ORIGINAL: Final = assignment.alias("original")
_DID: Final = exists().where(_ORIGINAL.c.task_id == task.c.copy_of, _ORIGINAL.c.person_id == _PERSON)

_TUTORIAL: Final = Statement(
    _CHOOSING_OPEN.where(task.c.kind == "tutorial", task.c.lp == bindparam("lp"))
    .order_by(task.c.number)
    .limit(1)
)
_MINE: Final = Statement(_NEW.where(task.c.only_for == _PERSON).order_by(task.c.number).limit(1))
_OF_KIND: Final = (
    _CHOOSING_OPEN.where(
        task.c.kind == bindparam("kind"), task.c.lp == bindparam("lp"), task.c.only_for.is_(None)
    )
    .add_columns(task.c.number, task.c.priority, task.c.batch)
    .order_by(task.c.priority.desc(), task.c.number)
    .limit(1)
)
_FIRST_OF_KIND: Final = Statement(_OF_KIND)
_FIRST_OF_SYSTEMS: Final = Statement(_OF_KIND.where(task.c.systems == bindparam("systems")))
_FIRST_OF_OTHERS: Final = Statement(_OF_KIND.where(~_DID))
_OF_BATCH: Final = Statement(
    _CHOOSING_OPEN.where(
        task.c.batch == bindparam("batch"), task.c.only_for.is_(None), task.c.kind.in_(map(literal, FIRST))
    ).order_by(task.c.number)
)
_SIZE: Final = select(func.count()).where(item.c.task_id == task.c.id).scalar_subquery()
_SIZES: Final = Statement(
    select(task.c.kind, func.sum(_SIZE).label("size"))
    .join_from(assignment, task)
    .where(
        assignment.c.person_id == _PERSON,
        assignment.c.state.in_(map(literal, TAKEN)),
        task.c.kind.in_(map(literal, (*FIRST, "check"))),
    )
    .group_by(task.c.kind)
)
_WAITING: Final = Statement(
    _NEW.add_columns(task.c.raters, _SIZE.label("size"), _ORIGINAL.c.place)
    .join(_ORIGINAL, _ORIGINAL.c.task_id == task.c.copy_of)
    .where(
        _ORIGINAL.c.person_id == _PERSON, _ORIGINAL.c.state.in_(map(literal, TAKEN)), task.c.kind == "check"
    )
    .order_by(task.c.number)
)
"""Checks of what a person has, which they were not dealt."""
_LAST: Final = Statement(
    select(func.max(assignment.c.place).label("place"))
    .join_from(assignment, task)
    .where(assignment.c.person_id == _PERSON, task.c.kind != "check")
)
_DEALT: Final = Statement(
    select(
        assignment.c.id,
        assignment.c.task_id,
        assignment.c.place,
        task.c.kind,
        exists()
        .where(
            _ORIGINAL.c.task_id == task.c.copy_of,
            _ORIGINAL.c.person_id == _PERSON,
            _ORIGINAL.c.state.in_(map(literal, TAKEN)),
        )
        .label("has_original"),
        exists()
        .where(
            _ORIGINAL.c.task_id == task.c.copy_of,
            _ORIGINAL.c.person_id == _PERSON,
            _ORIGINAL.c.state == "done",
        )
        .label("did_original"),
    )
    .join_from(assignment, task)
    .where(assignment.c.person_id == _PERSON, assignment.c.state == "dealt")
    .order_by(assignment.c.place, assignment.c.id)
    .limit(50)
)
_LOCK_CAMPAIGN: Final = Statement(
    select(campaigns.c.id).where(campaigns.c.id == bindparam("campaign")).with_for_update(key_share=True)
)
_BEGIN: Final = Statement(
    update(assignment)
    .where(assignment.c.id == bindparam("assignment"))
    .values(
        state=literal("leased"),
        place=bindparam("at"),
        leased_until=bindparam("until"),
        started_at=bindparam("now"),
    )
)


def deal_rows(seed: int, person: int, tasks: Iterable[tuple[int, int]], until: float) -> list[dict[str, Any]]:
    return [
        {
            "task_id": number,
            "person_id": person,
            "state": "dealt",
            "place": place,
            "seed": _seed(seed, number, person),
            "leased_until": until,
            "started_at": 0.0,
        }
        for number, place in tasks
    ]


def _seed(seed: int, number: int, person: int) -> int:
    digest = hashlib.sha256(f"{seed}/{number}/{person}".encode()).digest()
    return int.from_bytes(digest[:4]) >> 1


@frozen
class _Dealing:
    """Deals a person what comes next; the campaign is locked."""

    connection: Connection
    campaign: Campaign
    person: AnyRow
    now: float

    @property
    def _asked(self) -> dict[str, int]:
        return {"campaign": self.campaign.id, "person": self.person.id}

    def next_dealt(self, place: int, *, is_due: bool) -> Any:  # noqa: ANN401 (a row)
        may_be_first = self.campaign.settings.checks_first
        for row in _DEALT.rows(self.connection, **self._asked):
            if row.kind != "check":
                return row
            if not row.has_original:  # given back, and another person's by now
                self.connection.execute(delete(assignment).where(assignment.c.id == row.id))
            elif (row.did_original or may_be_first) and (row.place <= place or not is_due):
                return row
        return None

    def deal(self, ranked: Ranked) -> None:
        if (mine := self._free(_MINE)) is not None:
            self._insert([(mine.id, -1)])
            return
        second_looks = ("adjudication", "again") if self.person.role == "adjudicator" else ("again",)
        for kind in second_looks:
            for lp in lps_of(self.campaign, self.person.lps):
                if (found := self._free(_FIRST_OF_OTHERS, kind=kind, lp=lp)) is not None:
                    self._insert([(found.id, -1)])
                    return
        if (chosen := self._of_pool(ranked)) is not None:
            last = _LAST.first(self.connection, person=self.person.id).place
            start = 0 if last is None else last + 1
            batch = [chosen.id]
            if chosen.batch is not None:
                rows = _OF_BATCH.rows(self.connection, batch=chosen.batch, **self._asked)
                batch = [row.id for row in rows if self._has_place(row.id)]
                Random(f"{self.campaign.settings.seed}/{chosen.batch}/{self.person.id}").shuffle(batch)
            self._insert([(number, start + step) for step, number in enumerate(batch)])
        if self.campaign.settings.checks:
            waiting = _WAITING.rows(self.connection, **self._asked)
            places = {row.id: row.place for row in waiting}
            sizes = {row.kind: int(row.size) for row in _SIZES.rows(self.connection, **self._asked)}
            given, share = sizes.pop("check", 0), self.campaign.settings.checks
            free = [(row.id, row.size) for row in waiting if not row.raters]
            due = due_checks(share, sum(sizes.values()), given, free)
            due += [row.id for row in waiting if row.raters and self._has_place(row.id)]
            draws = {
                number: Random(f"{_seed(self.campaign.settings.seed, number, self.person.id)}")
                for number in due
            }
            self._insert([(number, place_of_check(places[number], draws[number])) for number in due])

    def _insert(self, tasks: Sequence[tuple[int, int]]) -> None:
        if tasks:
            rows = deal_rows(
                self.campaign.settings.seed, self.person.id, tasks, lease_end(self.campaign, self.now)
            )
            self.connection.execute(insert(assignment), rows)
        for number, _ in tasks:
            close_if_full(self.connection, number)

    def _free(self, query: Statement, **asked: object) -> Any:  # noqa: ANN401 (a row)
        while (found := query.first(self.connection, **self._asked, **asked)) is not None:
            if self._has_place(found.id):
                return found
        return None

    def _has_place(self, number: int) -> bool:
        if free_places(self.connection, number) > 0:
            return True
        close(self.connection, number)
        return False

    def _of_pool(self, ranked: Ranked) -> Any:  # noqa: ANN401 (a row)
        lps = lps_of(self.campaign, self.person.lps)
        for systems in ranked.systems:
            if (found := self._best(lps, _FIRST_OF_SYSTEMS, systems=systems)) is not None:
                return found
            if lps == self.campaign.settings.lps:
                ranked.note_exhausted(systems)
        return self._best(lps, _FIRST_OF_KIND)

    def _best(self, lps: Sequence[str], query: Statement, **asked: str) -> Any:  # noqa: ANN401 (a row)
        for lp in lps:
            found = [self._free(query, kind=kind, lp=lp, **asked) for kind in FIRST]
            known = [row for row in found if row is not None]
            if known:
                return min(known, key=lambda row: (-row.priority, row.number))
        return None


@frozen
class Assignment:
    """A task given to a person."""

    id: int
    task: int
    number: int
    kind: str  # why it is shown
    lp: str  # language pair
    document: str
    state: str  # dealt, leased, done, or expired: given back; its answers stay, and count
    place: int  # the person's how manieth, from 0
    seed: int  # of the order in which sides are shown
    leased_until: float  # seconds since 1970
    started_at: float  # seconds since 1970
    done_at: float | None  # seconds since 1970, or None

    def is_editable(self, settings: CampaignSettings) -> bool:
        """Whether work on it may go on; a loud check was told of when it was done, and a test is over."""
        ends = {"check": settings.is_loud, "tutorial": settings.pass_mark is not None}
        return not (self.state == "done" and ends.get(self.kind, False))


_SELECTED: Final = select(
    assignment, task.c.number, task.c.kind, task.c.lp, task.c.document, task.c.raters
).join_from(assignment, task)
_IS_THEIRS: Final = and_(
    assignment.c.person_id == bindparam("person"), task.c.campaign_id == bindparam("campaign")
)
_THEIR_ONE: Final = _SELECTED.where(
    assignment.c.id == bindparam("assignment"), _IS_THEIRS, assignment.c.state != "dealt"
)
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
_GIVEN_STATES: Final = ("leased", "done", "expired")
_HIGHEST: Final = Statement(
    select(func.max(assignment.c.place).label("place")).where(
        assignment.c.person_id == bindparam("person"), assignment.c.state.in_(map(literal, _GIVEN_STATES))
    )
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
    """Everything that a person was given, in that order; what is dealt to be given later is left out."""
    is_given = (assignment.c.person_id == person.id) & (assignment.c.state != "dealt")
    query = _SELECTED.where(is_given, task.c.campaign_id == campaign.id)
    with campaign.database.reading() as connection:
        return tuple(_read(row) for row in connection.execute(query.order_by(assignment.c.place)))


def read_assignment(
    connection: Connection, campaign: Campaign, person: int, number: int, *, locks: bool = False
) -> Assignment:
    query = _ONE_LOCKED if locks else _ONE
    found = query.first(connection, assignment=number, person=person, campaign=campaign.id)
    if found is None:
        raise NotYoursError(f"task {number} is not yours")
    return _read(found)


def lock_person(connection: Connection, campaign: Campaign, number: int) -> AnyRow:
    """Read a person's row; their other transactions wait for this one."""
    found: AnyRow | None = _ASSIGNING_PERSON.first(connection, person=number, campaign=campaign.id)
    if found is None or found.revoked_at is not None:
        raise NotYoursError("you have no access to this campaign any more; ask the organiser")
    return found


def assign_next(campaign: Campaign, person: Person, now: float) -> Assignment | None:
    """Give a person what they have to work on: what they have, what is dealt to them, or another document.

    A person has one task at a time and never gets one twice. With a tutorial to be passed, that comes first;
    a check comes after its original, and to the same person.

    None where nothing is left for them, or nothing more today, or they failed the test (`why_nothing`).
    `now`: seconds since 1970.
    """
    if person.role not in {"annotator", "adjudicator"}:
        return None
    settings = campaign.settings
    ranked = rank_systems(campaign, now) if settings.assignment == "dynamic" else Ranked()

    def assign(connection: Connection) -> Assignment | None:
        known = lock_person(connection, campaign, person.id)
        until = lease_end(campaign, now)
        theirs = {"person": person.id, "campaign": campaign.id}
        if (held := _HELD.first(connection, **theirs)) is not None:
            renew(connection, held.id, until)
            return _find(connection, held.id)
        if did_fail(connection, campaign, known):
            return None
        highest = _HIGHEST.first(connection, person=person.id).place
        place = 0 if highest is None else highest + 1
        dealing = _Dealing(connection=connection, campaign=campaign, person=known, now=now)
        found = dealing.next_dealt(place, is_due=True)
        if found is None:
            _LOCK_CAMPAIGN.rows(connection, campaign=campaign.id)
            expire_overdue(connection, now)
            for number, of_task in _EXPIRED.rows(connection, **theirs):
                if take_up_again(connection, of_task, number, until):
                    return _find(connection, number)
            dealing.deal(ranked)
            found = dealing.next_dealt(place, is_due=True) or dealing.next_dealt(place, is_due=False)
        if found is None or had_enough(connection, campaign, person.id, now):
            return None
        chosen = _tutorial_before(connection, campaign, known, found.task_id)
        if chosen != found.task_id:
            (row,) = deal_rows(campaign.settings.seed, known.id, [(chosen, place)], lease_end(campaign, now))
            values = {**row, "state": "leased", "started_at": now}
            added = _ADD.first(connection, **values)
            close_if_full(connection, chosen)
            return _find(connection, added.id)
        _BEGIN.run(connection, [{"assignment": found.id, "at": place, "until": until, "now": now}])
        return _find(connection, found.id)

    return campaign.database.write_alone(assign)


def count_held_by_others(campaign: Campaign, person: Person) -> int:
    """How many tasks others have that would come to this person if they were given back.

    Where all was dealt beforehand there are none: what is another person's stays theirs.
    """
    if campaign.settings.assignment == "static":
        return 0
    mine, before = assignment.alias(), assignment.alias()
    had = exists().where(mine.c.task_id == task.c.id, mine.c.person_id == person.id)
    did = exists().where(before.c.task_id == task.c.copy_of, before.c.person_id == person.id)
    held = (
        select(func.count(task.c.id.distinct()))
        .select_from(assignment.join(task))
        .where(
            task.c.campaign_id == campaign.id,
            task.c.kind.in_((*FIRST, "again")),
            task.c.lp.in_(person.lps or campaign.settings.lps),
            task.c.only_for.is_(None),
            assignment.c.state.in_(HELD),
            assignment.c.person_id != person.id,
            ~had,
            ~did,
        )
    )
    with campaign.database.reading() as connection:
        return int(connection.execute(held).scalar_one())


def _find(connection: Connection, number: int) -> Assignment:
    return _read(_FOUND.first(connection, assignment=number))


def deal_again(
    connection: Connection,
    campaign: Campaign,
    tasks: Mapping[int, int],
    now: float,  # seconds since 1970
    *,
    role: str = "annotator",
    by_same: bool = False,
) -> None:
    """Deal copies of tasks to people of their language pair, all of one document to the same people.

    They go to those who have least to do, of those who did none of the originals; where these are too few,
    the rest waits for somebody who is added.
    """
    _LOCK_CAMPAIGN.rows(connection, campaign=campaign.id)
    is_one = (people.c.campaign_id == campaign.id) & (people.c.role == role) & people.c.revoked_at.is_(None)
    known = connection.execute(select(people.c.id, people.c.lps).where(is_one).order_by(people.c.id)).all()
    left = _left_by_person(connection, campaign)
    documents: dict[tuple[str, str], list[AnyRow]] = {}
    columns = (task.c.id, task.c.lp, task.c.document, task.c.raters, _SIZE.label("size"))
    numbers = [*tasks]
    for start in range(0, len(numbers), _MOST):
        chosen = select(*columns).where(task.c.id.in_(numbers[start : start + _MOST])).order_by(task.c.id)
        for row in connection.execute(chosen):
            documents.setdefault((row.lp, row.document or f"#{row.id}"), []).append(row)
    for (lp, _), rows in documents.items():
        originals = [tasks[row.id] for row in rows]
        query = select(assignment.c.person_id).where(assignment.c.task_id.in_(originals))
        did = set(connection.execute(query).scalars())
        fit = [one.id for one in known if lp in lps_of(campaign, one.lps) and (by_same or one.id not in did)]
        fit.sort(key=lambda one: (by_same and one not in did, left[one]))
        for one in fit[: rows[0].raters]:
            left[one] += sum(row.size for row in rows)
            places = [(row.id, -1) for row in rows]
            connection.execute(
                insert(assignment), deal_rows(campaign.settings.seed, one, places, lease_end(campaign, now))
            )
        for row in rows:
            close_if_full(connection, row.id)


def _left_by_person(connection: Connection, campaign: Campaign) -> Counter[int]:
    query = (
        select(assignment.c.person_id, func.sum(_SIZE))
        .join_from(assignment, task)
        .where(task.c.campaign_id == campaign.id, assignment.c.state.in_(HELD))
        .group_by(assignment.c.person_id)
    )
    return Counter({number: int(size) for number, size in connection.execute(query)})


def share_work(connection: Connection, campaign: Campaign, person: int, lps: Sequence[str]) -> None:
    """Give somebody new documents that are dealt to others and not begun, until loads are alike.

    From who has most, the last document first; loads differ then by no more than a document, or nothing that
    is not begun is left. What was dealt with its checks moves with them.

    `campaign`: with a static assignment; in others the next document comes by itself.
    """
    _LOCK_CAMPAIGN.rows(connection, campaign=campaign.id)
    columns = (assignment.c.person_id, assignment.c.state, assignment.c.place, assignment.c.id.label("given"))
    query = (
        select(*columns, task.c.id, task.c.batch, task.c.kind, task.c.lp, _SIZE.label("size"))
        .join_from(assignment, task)
        .where(task.c.campaign_id == campaign.id, task.c.kind.in_((*FIRST, "check")), task.c.lp.in_(lps))
        .order_by(assignment.c.place, assignment.c.id)
    )
    rows: list[AnyRow] = [*connection.execute(query)]
    place = 0
    for lp in lps:
        own = [row for row in rows if row.lp == lp]
        left: Counter[int] = Counter({person: 0})
        documents: dict[tuple[int, int | None], list[AnyRow]] = {}
        for row in own:
            left[row.person_id] += row.size if row.state in HELD else 0
            documents.setdefault((row.person_id, row.batch), []).append(row)
        free = {key: of for key, of in documents.items() if all(row.state == "dealt" for row in of)}
        while free:
            key = max(free, key=lambda one: (left[one[0]], max(row.place for row in free[one])))
            of = free.pop(key)
            size = sum(row.size for row in of)
            if left[key[0]] - left[person] <= size:
                break
            left[key[0]] -= size
            left[person] += size
            free = {other: rest for other, rest in free.items() if other[1] != key[1]}
            connection.execute(delete(assignment).where(assignment.c.id.in_([row.given for row in of])))
            places = [(row.id, place + step) for step, row in enumerate(of)]
            connection.execute(insert(assignment), deal_rows(campaign.settings.seed, person, places, FOREVER))
            place += len(of)
