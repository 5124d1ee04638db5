"""What an organiser sees while people judge: which systems still differ, how far it is, how people do.

`find_progress` counts what the store has. `watched` keeps the answers as numbers in memory: it reads all of
them once, and then only what changed. `dashboard` computes the rest from them, seldom enough that nobody who
works feels it (`Resting`); `adjudge campaign analyse` says more.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from threading import Lock
from time import thread_time
from typing import Any, Final, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from sqlalchemy import ColumnElement, Connection, Row, Select, and_, case, func, or_, select

from adjudge.analysis.agreement import agreement_of_all, pair_table
from adjudge.analysis.preferences import VERDICTS, numbered, tabulate
from adjudge.analysis.study_agreement import met_by_both, score_agreement
from adjudge.analysis.study_people import FEWEST, means_by_system, strictness
from adjudge.analysis.study_pieces import Mark, wilson_interval
from adjudge.analysis.study_systems import Standing, find_standing
from adjudge.campaigns.assigning import HELD, TAKEN
from adjudge.campaigns.attention_checks import noticed_by_person
from adjudge.campaigns.database import (
    Campaign,
    Database,
    Person,
    Role,
    answer,
    assignment,
    event,
    item,
    lps_of,
    person,
    task,
)
from adjudge.campaigns.exporting import dropped_segments
from adjudge.campaigns.items import TranslationState, read_state, score_of, shown_order
from adjudge.campaigns.people import select_people
from adjudge.campaigns.stopping import did_fail
from adjudge.core.frozen import frozen
from adjudge.core.record import Preference, Verdict, by_pair, grouped
from adjudge.core.scores import Interval
from adjudge.formats.campaign_export import FIRST, PASSES, Kind, of_latest_pass
from adjudge.stats.bootstrap import Draws
from adjudge.stats.correlation import pearson
from adjudge.stats.judged import Result


@dataclass(frozen=True)
class Counts:
    """Counts of one campaign's work, at one moment; tutorials are no work."""

    campaign: Campaign
    connection: Connection

    def _all(self, query: Select[Any]) -> list[Row[Any]]:
        return list(self.connection.execute(query.where(task.c.campaign_id == self.campaign.id)))

    def tasks_by_kind(self) -> list[Row[Any]]:
        """By kind and language pair, but not of `checks_dealt`: `tasks`, `needed`, and `items_needed`."""
        sizes = select(item.c.task_id, func.count().label("size")).group_by(item.c.task_id).subquery()
        return self._all(
            select(
                task.c.kind,
                task.c.lp,
                func.count().label("tasks"),
                func.sum(task.c.raters).label("needed"),
                func.sum(task.c.raters * sizes.c.size).label("items_needed"),
            )
            .outerjoin_from(task, sizes, sizes.c.task_id == task.c.id)
            .where(or_(task.c.kind != "check", task.c.raters > 0))
            .group_by(task.c.kind, task.c.lp)
        )

    def assignments(self) -> dict[str, int]:
        query = select(assignment.c.state, func.count()).join_from(assignment, task)
        return dict(map(tuple, self._all(query.where(_IS_WORK).group_by(assignment.c.state))))

    def items_finished(self) -> list[Row[Any]]:
        """Finished `items` by `lp`, `kind` and `raters` of tasks, and by the `state` of assignments."""
        columns = (task.c.lp, task.c.kind, task.c.raters, assignment.c.state)
        return self._all(_finished(select(*columns, func.count().label("items"))).group_by(*columns))

    def finished(self, chosen: ColumnElement[bool]) -> int:
        """Finished items of the chosen answers or assignments."""
        (row,) = self._all(_finished(select(func.count())).where(chosen))
        return int(row[0])

    def tasks_done(self) -> dict[int, int]:
        query = select(assignment.c.person_id, func.count()).join_from(assignment, task)
        chosen = query.where(_IS_WORK, assignment.c.state == "done").group_by(assignment.c.person_id)
        return dict(map(tuple, self._all(chosen)))

    def work(self) -> dict[int, dict[str, Any]]:
        """Finished items, seconds and times of each person, by the names of `PersonProgress`."""
        query = (
            select(
                assignment.c.person_id,
                func.count().filter(answer.c.is_complete).label("items"),
                func.count().filter(answer.c.is_complete, answer.c.active.is_not(None)).label("timed"),
                func.sum(answer.c.active).label("active"),
                func.sum(answer.c.idle).label("idle"),
                func.min(answer.c.first_at).label("first_at"),
                func.max(answer.c.last_at).label("last_at"),
            )
            .join_from(answer, assignment)
            .join(task)
            .where(_IS_WORK)
            .group_by(assignment.c.person_id)
        )
        rows = [dict(row._mapping) for row in self._all(query)]  # noqa: SLF001 (public in SQLAlchemy)
        return {row.pop("person_id"): row for row in rows}

    def left(self, only: int | None = None) -> dict[int, int]:
        """Items that each person has and did not finish; what is to be looked at again, too."""
        is_answered = and_(
            answer.c.item_id == item.c.id, answer.c.assignment_id == assignment.c.id, answer.c.is_complete
        )
        query = (
            select(assignment.c.person_id, func.count())
            .join_from(assignment, task)
            .join(item, item.c.task_id == task.c.id)
            .outerjoin(answer, is_answered)
            .where(assignment.c.state.in_(HELD), answer.c.item_id.is_(None), _IS_WORK)
            .group_by(assignment.c.person_id)
        )
        chosen = query if only is None else query.where(assignment.c.person_id == only)
        return dict(map(tuple, self._all(chosen)))

    def held(self) -> dict[int, tuple[int, int]]:
        """Documents that each person has or did, and all items, of checks and second looks, too."""
        query: Select[Any] = (
            select(
                assignment.c.person_id,
                func.count(_DOCUMENT.distinct()).filter(task.c.kind.in_(FIRST)),
                func.count(item.c.id),
            )
            .join_from(assignment, task)
            .join(item, item.c.task_id == task.c.id)
            .where(assignment.c.state.in_(TAKEN), _IS_WORK)
            .group_by(assignment.c.person_id)
        )
        return {number: (documents, segments) for number, documents, segments in map(tuple, self._all(query))}

    def checks_dealt(self) -> tuple[int, int, int]:
        """Checks that are due to people one by one: tasks, assignments and items, so far."""
        columns: Any = (
            func.count(task.c.id.distinct()),
            func.count(assignment.c.id.distinct()),
            func.count(),
        )
        joined = select(*columns).join_from(assignment, task).join(item, item.c.task_id == task.c.id)
        is_dealt = assignment.c.state.in_(TAKEN) & (task.c.kind == "check") & (task.c.raters == 0)
        query = joined.where(is_dealt)
        tasks, assignments, items = map(int, self._all(query)[0])
        return tasks, assignments, items


_DOCUMENT: Final = case(
    (task.c.document != "", "document " + task.c.lp + " " + task.c.document),
    else_="segment " + task.c.lp + " " + item.c.segment,
)
"""What a task is of; a segment without a document stands alone."""
_IS_WORK: Final[ColumnElement[bool]] = task.c.kind != "tutorial"


def _finished(columns: Select[Any]) -> Select[Any]:
    joined = columns.select_from(answer).join(assignment, answer.c.assignment_id == assignment.c.id)
    return joined.join(task, assignment.c.task_id == task.c.id).where(_IS_WORK, answer.c.is_complete)


_DAY: Final = 86_400.0


@frozen
class PersonProgress:
    """What one person did."""

    id: int
    name: str
    role: Role  # annotator, adjudicator, organiser
    is_revoked: bool = False  # whether they were shut out
    # whether they did not pass the test before work; others get what was dealt to them
    is_failed: bool = False
    lps: tuple[str, ...] = ()  # language pairs
    documents: int = 0  # that they have or did, with all systems
    held: int = 0  # items that they have or did, of checks and second looks, too
    tasks: int = 0
    items: int = 0  # that they finished, in tasks that were given back, too
    # items that they have and did not finish; None where the next document comes when they ask
    left: int | None = None
    timed: int = 0  # of the finished items, those whose seconds of work are known
    # seconds of work, as far as they are known; None where they are known of nothing that was done
    active: float | None = 0.0
    idle: float = 0.0  # seconds of pauses on open pages
    checks: int = 0  # attention checks that they finished, counted in items
    passed: int = 0  # of these, where they noticed the damage
    interval: Interval | None = None  # 95 % Wilson interval of the share passed; None without checks
    first_at: float | None = None  # first action, seconds since 1970; None before it
    last_at: float | None = None

    @property
    def seconds_each(self) -> float | None:
        """Seconds of work an item; None before the first one is finished, and where they are not known."""
        return self.active / self.timed if self.timed and self.active else None


@frozen
class Progress:
    """How far a campaign is."""

    tasks: int  # assignments that are needed, each task as often as people judge it
    tasks_done: int  # those finished
    under_way: int  # those that somebody has
    items: int
    items_done: int  # those finished
    # finished besides, in tasks that were given back: they count as judgements, and their places are to be
    # filled again
    items_given_back: int
    kinds: dict[str, int]  # number of tasks of each kind, tutorials among them
    done_by_lp: dict[str, float]  # language pair to the part of its items that is finished, 0 to 1
    people: tuple[PersonProgress, ...]  # in the order in which they were added
    # items finished an hour, over the last day or since the first action, until the work ended; None before
    # the first
    an_hour: float | None = None
    # when everything will be done at that pace, or was done; None where nothing says it
    ends_at: float | None = None

    @property
    def items_left(self) -> int:
        return max(self.items - self.items_done, 0)

    @property
    def active(self) -> float | None:
        """Seconds of everybody's work, as far as they are known; None where they are known of nothing."""
        known = [one.active for one in self.people if one.active is not None]
        return sum(known) if sum(known) or len(known) == len(self.people) else None

    @property
    def active_left(self) -> float | None:
        """Seconds of work still to be done, at what an item took so far; None where nothing says it."""
        timed = sum(one.timed for one in self.people)
        return self.active / timed * self.items_left if timed and self.active else None


def find_progress(campaign: Campaign, now: float) -> Progress:
    """Count, at one moment. `now`: seconds since 1970."""
    with campaign.database.reading() as connection:
        counts = Counts(campaign, connection)
        of_tasks, states, finished = counts.tasks_by_kind(), counts.assignments(), counts.items_finished()
        needed = [row for row in of_tasks if row.kind != "tutorial"]
        items: Counter[str] = Counter()  # by language pair
        for row in needed:
            items[row.lp] += int(row.items_needed or 0)  # PostgreSQL sums to Decimal
        done: Counter[str] = Counter()
        kinds: Counter[str] = Counter()
        for row in finished:
            is_dealt = row.kind == "check" and not row.raters  # needed by nobody beforehand
            done["" if is_dealt else row.lp] += row.items if row.state in TAKEN else 0
        for row in of_tasks:
            kinds[row.kind] += row.tasks
        checks, check_assignments, check_items = counts.checks_dealt()
        kinds["check"] += checks
        found = Progress(
            tasks=int(sum(row.needed for row in needed)) + check_assignments,
            tasks_done=states.get("done", 0),
            under_way=states.get("leased", 0),
            items=items.total() + check_items,
            items_done=done.total(),
            items_given_back=sum(row.items for row in finished if row.state == "expired"),
            kinds=dict(+kinds),
            done_by_lp={lp: min(done[lp] / size, 1.0) for lp, size in items.items() if size},
            people=tuple(_people(counts)),
        )
        return _with_forecast(found, counts, now)


def count_first_pass(campaign: Campaign) -> tuple[int, int, int]:
    """Items of the first pass, the segments that they are of, and the judgements that they need."""
    columns = (
        func.count(),
        func.count((task.c.lp + " " + item.c.segment).distinct()),
        func.coalesce(func.sum(task.c.raters), 0),
    )
    chosen = (task.c.campaign_id == campaign.id) & task.c.kind.in_(FIRST)
    with campaign.database.reading() as connection:
        row = connection.execute(select(*columns).join_from(item, task).where(chosen)).one()
    items, segments, needed = map(int, row)
    return items, segments, needed


def _people(counts: Counts) -> Iterator[PersonProgress]:
    done, work, left, held = counts.tasks_done(), counts.work(), counts.left(), counts.held()
    none_left = 0 if counts.campaign.settings.assignment == "static" else None
    checks = noticed_by_person(counts.connection, counts.campaign)
    for one in counts.connection.execute(select_people(counts.campaign).order_by(person.c.id)):
        noticed = checks[one.id]
        documents, segments = held.get(one.id, (0, 0))
        yield PersonProgress(
            id=one.id,
            name=one.name,
            role=one.role,
            is_revoked=one.revoked_at is not None,
            is_failed=did_fail(counts.connection, counts.campaign, one),
            lps=() if one.role == "organiser" else lps_of(counts.campaign, one.lps),
            documents=documents,
            held=segments,
            tasks=done.get(one.id, 0),
            left=left.get(one.id, none_left if one.role != "organiser" else None),
            checks=len(noticed),
            passed=sum(noticed),
            interval=wilson_interval(sum(noticed), len(noticed)) if noticed else None,
            **work.get(one.id, {}),
        )


def _with_forecast(found: Progress, counts: Counts, now: float) -> Progress:
    starts = [one.first_at for one in found.people if one.first_at is not None]
    if not starts:
        return found
    until = now if found.items_left else max(one.last_at or 0.0 for one in found.people)
    since = max(min(starts), until - _DAY)
    finished, hours = counts.finished(answer.c.last_at >= since), (until - since) / 3600
    if not finished or hours <= 0:
        return found
    pace = finished / hours
    return replace(found, an_hour=pace, ends_at=until + found.items_left / pace * 3600)


@frozen
class OwnProgress:
    """What people are told of their own work, in items."""

    done: int
    left: int | None  # of what they have, still to do; None where the next document comes when they ask


def find_own_progress(campaign: Campaign, who: Person) -> OwnProgress:
    """Count one person's work alone."""
    with campaign.database.reading() as connection:
        counts = Counts(campaign, connection)
        is_all = campaign.settings.assignment == "static"  # else more comes
        left = counts.left(who.id).get(who.id, 0) if is_all else None
        return OwnProgress(done=counts.finished(assignment.c.person_id == who.id), left=left)


_OVERLAP: Final = 1000  # events read again: transactions end in another order than their numbers were given
_MOST_CHANGED: Final = 10_000  # assignments that are asked for by their numbers; of more, all are read


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What one person said of one translation, or of a pair."""

    person: int  # key in the store
    kind: Kind
    is_independent: bool  # whether the person was shown nothing that others said of it
    unit: tuple[str, str]  # language pair and segment
    system: str  # that was judged; of a pair, the first
    score: float  # rating, or minus the points of marks; of a pair, 1 for the first, 0 a tie, -1 the second
    seconds: float | None  # of work on the item; None where nobody measured them
    at: float  # when it was begun
    ended: float  # when it was last changed
    about: tuple[str, ...]  # what was judged: the unit and its systems in the order of their names
    other: str = ""  # of a pair, the second
    criterion: str = ""  # of a pair, what it was compared by
    marks: tuple[Mark, ...] | None = None  # with both ends inclusive; None where nothing can be marked

    @property
    def lp(self) -> str:
        return self.unit[0]


@dataclass
class Watched:
    """All finished answers of a campaign."""

    newest: int = 0  # number of the newest event that is in here
    answers: dict[tuple[int, int], tuple[Seen, ...]] = field(default_factory=dict)
    # language pair and id of the segments that the agreement gate dropped
    dropped: frozenset[tuple[str, str]] = frozenset()
    lock: Lock = field(default_factory=Lock)  # who reads on, reads alone

    @property
    def seen(self) -> list[Seen]:
        return [one for said in self.answers.values() for one in said if one.unit not in self.dropped]


_KEPT: WeakKeyDictionary[Database, dict[int, Watched]] = WeakKeyDictionary()


def watched(campaign: Campaign) -> Watched:
    """The answers of a campaign, as new as its store."""
    kept = _KEPT.setdefault(campaign.database, {}).setdefault(campaign.id, Watched())
    with kept.lock, campaign.database.reading() as connection:
        _read_on(campaign, connection, kept)
        kept.dropped = dropped_segments(connection, campaign)
    return kept


def _read_on(campaign: Campaign, connection: Connection, kept: Watched) -> None:
    newest = int(connection.execute(select(func.max(event.c.id))).scalar() or 0)
    if newest == kept.newest:
        return
    rows: Select[Any] = (
        select(
            answer.c.assignment_id,
            answer.c.item_id,
            answer.c.state,
            answer.c.is_complete,
            answer.c.active,
            answer.c.first_at,
            answer.c.last_at,
            assignment.c.person_id,
            assignment.c.seed,
            task.c.kind,
            task.c.lp,
            task.c.systems,
            item.c.segment,
            item.c.check,
        )
        .select_from(answer)
        .join(assignment, answer.c.assignment_id == assignment.c.id)
        .join(task, assignment.c.task_id == task.c.id)
        .join(item, answer.c.item_id == item.c.id)
        .where(task.c.campaign_id == campaign.id, task.c.kind.in_(tuple(PASSES)))
    )
    if kept.newest:
        changed = select(event.c.assignment_id).where(event.c.id > kept.newest - _OVERLAP).distinct()
        numbers = connection.execute(changed.limit(_MOST_CHANGED + 1)).scalars().all()
        if len(numbers) <= _MOST_CHANGED:
            rows = rows.where(answer.c.assignment_id.in_(numbers))
    for row in connection.execute(rows):
        key = (row.assignment_id, row.item_id)
        if row.is_complete:
            kept.answers[key] = tuple(_read(campaign, row))
        else:
            kept.answers.pop(key, None)
    kept.newest = newest


def _read(campaign: Campaign, row: Row[Any]) -> Iterator[Seen]:
    state, systems = read_state(row.state), json.loads(row.systems)
    order = shown_order(row.seed, row.item_id, len(systems))
    shown = [systems[index] for index in order]
    unit = (row.lp, row.segment)
    whose = {
        "person": row.person_id,
        "kind": row.kind,
        "is_independent": row.kind in FIRST or row.check is None,
        "unit": unit,
        "seconds": row.active,
        "at": row.first_at,
        "ended": row.last_at,
    }
    protocol = campaign.protocol
    if protocol.shows == "pair":
        one, other = shown
        about = (*unit, *sorted(shown))
        whose |= {"about": about, "system": one, "other": other}
        for criterion, verdict in state.verdicts.items():
            yield Seen(**whose, criterion=criterion, score=VERDICTS[verdict])
    elif protocol.shows != "candidates":
        for place, system in enumerate(shown):
            if (score := score_of(state, place, protocol)) is not None:
                marks = _marks(state.translations[place]) if protocol.severities else None
                yield Seen(**whose, about=(*unit, system), system=system, score=score, marks=marks)


def _marks(said: TranslationState) -> tuple[Mark, ...]:
    errors = [span for span in said.spans if span.severity != "neutral" and span.side == "translation"]
    found = [Mark(span.start, span.end - 1, span.severity) for span in errors]
    nowhere = (said.missing and said.missing.severity, said.instruction_fault)
    return (*found, *(Mark(None, None, severity) for severity in nowhere if severity))


T = TypeVar("T")

_REST: Final = 10.0  # what took a second is made every ten seconds at most


@dataclass
class _Made(Generic[T]):
    """What was made last of a campaign, when, and how much work that took; times in seconds.

    The first one reads the store and imports libraries, which the next ones do not: it took nothing.
    """

    lock: Lock = field(default_factory=Lock)
    value: T | None = None
    at: float = 0.0
    took: float = 0.0


class Resting(Generic[T]):
    """Makes something of a campaign anew when it is older than ten times what it took.

    So nothing that organisers look at slows down those who work; who asks meanwhile gets the last one.

    `make`: from a campaign, and the seconds since 1970. `timer`: seconds of work so far; those of this thread
    alone do not count the waiting for others.
    """

    def __init__(self, make: Callable[[Campaign, float], T], timer: Callable[[], float]) -> None:
        self._make = make
        self._timer = timer
        self._kept: WeakKeyDictionary[Database, dict[int, _Made[T]]] = WeakKeyDictionary()

    def of(self, campaign: Campaign, now: float) -> T:
        """The last one, or a new one; one thread at a time makes it."""
        made = self._kept.setdefault(campaign.database, {}).setdefault(campaign.id, _Made())
        with made.lock:
            if made.value is None or not made.at <= now <= made.at + _REST * made.took:
                start, is_first = self._timer(), made.value is None
                made.value = self._make(campaign, now)
                made.at, made.took = now, 0.0 if is_first else self._timer() - start
            return made.value


_MOST_PAIRS: Final = 200  # of systems that are listed
_DRAWS: Final = Draws(resamples=200)


def dashboard(campaign: Campaign, now: float) -> dict[str, Any]:
    """Everything on the dashboard, as JSON.

    It rests between two times, as `Resting` says; `now` in it says of when it is.

    `now`: seconds since 1970.
    """
    return _NUMBERS.of(campaign, now)


def _dashboard(campaign: Campaign, now: float) -> dict[str, Any]:
    progress = find_progress(campaign, now)
    protocol, lps = campaign.protocol, campaign.settings.lps
    every = watched(campaign).seen
    seen = _deciding(every)
    groups = grouped(((one.lp, one.criterion), one) for one in seen)
    apart = _deciding([one for one in every if one.is_independent])
    alone = grouped(((one.lp, one.criterion), one) for one in apart)
    order = [(lp, criterion) for lp in lps for criterion in protocol.criteria or ("",)]
    first, *_ = protocol.criteria or ("",)
    once = [one for one in seen if one.criterion == first]
    names = {one.id: one.name for one in progress.people}
    return {
        "campaign": campaign.name,
        "protocol": protocol.title,
        "now": now,
        "rankings": [_ranking(*key, groups[key], progress) for key in order if key in groups],
        "unjudged": [lp for lp in lps if not any(lp == key[0] for key in groups)],
        "progress": {name: getattr(progress, name) for name in _PROGRESS},
        "agreement": [
            {"lp": lp, "criterion": criterion, **_result(name, result)}
            for lp, criterion in order
            for name, result in _agreement(alone.get((lp, criterion), ()), names)
        ],
        "shown": sum(one.criterion == first and not one.is_independent for one in every),
        "people": _dashboard_people(once, [one for one in apart if one.criterion == first], progress),
    }


_NUMBERS: Final = Resting(_dashboard, thread_time)


def _deciding(seen: list[Seen]) -> list[Seen]:
    last: dict[tuple[tuple[str, ...], int, str], Seen] = {}
    for one in of_latest_pass(seen, lambda one: one.kind, lambda one: one.about):
        key = (one.about, one.person, one.criterion)
        if one.ended > last.setdefault(key, one).ended:
            last[key] = one
    return list(last.values())


def _ranking(lp: str, criterion: str, seen: Sequence[Seen], progress: Progress) -> dict[str, Any]:
    standing = _standing(seen, progress.done_by_lp.get(lp, 0.0))
    left = standing.open
    return {
        "lp": lp,
        "criterion": criterion,
        "n": len({one.unit for one in seen}),
        "rows": [{**asdict(row), "interval": _listed(row.interval)} for row in standing.systems],
        "pairs": len(standing.pairs),
        "apart": len(standing.pairs) - len(left),
        "open": [asdict(pair) for pair in left[:_MOST_PAIRS]],
        "is_over": standing.is_over,
        "done": standing.done,
    }


def _standing(seen: Sequence[Seen], done: float) -> Standing:
    systems = sorted({name for one in seen for name in (one.system, one.other) if name})
    columns = {name: place for place, name in enumerate(systems)}
    is_compared = any(one.other for one in seen)
    rows = numbered([one.about if is_compared else one.unit for one in seen])
    sums = np.zeros((max(rows, default=-1) + 1, len(systems)))
    sizes = np.zeros_like(sums)
    for row, one in zip(rows, seen, strict=True):
        points = [(one.system, one.score)]
        if is_compared:
            points = [(one.system, (1 + one.score) / 2), (one.other, (1 - one.score) / 2)]
        for system, value in points:
            sums[row, columns[system]] += value
            sizes[row, columns[system]] += 1
    scores = np.full(sums.shape, np.nan)
    np.divide(sums, sizes, out=scores, where=sizes > 0)
    return find_standing(systems, scores, done)


_PROGRESS: Final = (
    *("tasks", "tasks_done", "under_way", "items", "items_done", "items_given_back"),
    *("an_hour", "ends_at", "active", "active_left"),
)


def _twice(seen: Sequence[Seen]) -> list[tuple[Seen, Seen]]:
    groups: dict[tuple[str, ...], dict[int, Seen]] = {}
    for one in seen:
        if not one.other:
            groups.setdefault(one.about, {})[one.person] = one
    return [
        (own[a], own[b]) for own in groups.values() if len(own) > 1 for a, b in combinations(sorted(own), 2)
    ]


_SAID: Final[Mapping[float, Verdict]] = {score: verdict for verdict, score in VERDICTS.items()}


def _agreement(seen: Sequence[Seen], names: Mapping[int, str]) -> Iterator[tuple[str, Result]]:
    if any(one.other for one in seen):
        yield from _of_comparisons(seen, names)
        return
    pairs = _twice(seen)
    if len(pairs) < 2:
        return
    draws = replace(_DRAWS, groups=numbered([one.unit for one, _ in pairs]))
    first, second = (np.array([pair[side].score for pair in pairs]) for side in (0, 1))
    yield "scores, Pearson", score_agreement(first, second, draws)["Pearson"]
    marked = [(a.marks, b.marks) for a, b in pairs if a.marks is not None and b.marks is not None]
    if len(marked) == len(pairs):
        sides = [a for a, _ in marked], [b for _, b in marked]
        yield "marks that the other has, too", met_by_both(*sides, draws, nothing="nothing is marked yet")


def _of_comparisons(seen: Sequence[Seen], names: Mapping[int, str]) -> Iterator[tuple[str, Result]]:
    compared = [
        Preference(
            lp=one.lp,
            segment=one.unit[1],
            annotator=names[one.person],
            systems=(one.system, one.other),
            criterion=one.criterion,
            verdict=_SAID[one.score],
        )
        for one in seen
    ]
    if len({(one.about, one.person) for one in seen}) == len({one.about for one in seen}):
        return  # nothing is judged by two people
    table = pair_table(tabulate(compared, compared[0].criterion), list(names.values()), {})
    for row in agreement_of_all(table, replace(_DRAWS, groups=table.groups)):
        yield row.measure, row.result


def _result(name: str, result: Result) -> dict[str, Any]:
    return {
        "name": name,
        "value": result.value,
        "interval": _listed(result.interval),
        "n": result.n,
        "reason": result.reason,
    }


def _listed(ends: Interval | None) -> list[float] | None:
    return None if ends is None else list(ends)


def _dashboard_people(
    seen: Sequence[Seen], apart: Sequence[Seen], progress: Progress
) -> list[dict[str, Any]]:
    own = by_pair(seen)
    alone = by_pair(apart)
    pairs = {lp: _judging(lp, own[lp], alone.get(lp, ())) for lp in own}
    return [
        {
            **{name: getattr(one, name) for name in _PERSON},
            "interval": _listed(one.interval),
            "judged": [told[one.id] for told in pairs.values() if one.id in told],
        }
        for one in progress.people
    ]


_PERSON: Final = (
    *("id", "name", "role", "lps", "documents", "held", "is_revoked", "is_failed"),
    *("items", "left", "active", "last_at", "checks", "passed"),
)


def _judging(lp: str, seen: Sequence[Seen], apart: Sequence[Seen]) -> dict[int, dict[str, Any]]:
    means = means_by_system((one.system, one.score) for one in seen if not one.other)
    alike, usual = _alike(_twice(apart)), _median_seconds(seen)
    return {
        person: {
            "lp": lp,
            "seconds": _median_seconds(own),
            "usual_seconds": usual,
            "agreement": _result("with others", alike[person]) if person in alike else None,
            **_drift(own, means),
        }
        for person, own in grouped((one.person, one) for one in seen).items()
    }


def _median_seconds(seen: Sequence[Seen]) -> float | None:
    known = [one.seconds for one in seen if one.seconds is not None]
    return float(np.median(known)) if known else None


def _alike(twice: Sequence[tuple[Seen, Seen]]) -> dict[int, Result]:
    sides: dict[int, list[tuple[float, float]]] = {}
    for a, b in twice:
        sides.setdefault(a.person, []).append((a.score, b.score))
        sides.setdefault(b.person, []).append((b.score, a.score))
    return {person: pearson(*np.array(pairs).T) for person, pairs in sides.items() if len(pairs) >= FEWEST}


def _drift(own: Sequence[Seen], means: Mapping[str, float]) -> dict[str, Any]:
    rated = sorted((one for one in own if not one.other), key=lambda one: one.at)
    if len(rated) < FEWEST:
        return {"above": None, "drift": None}
    above, change = strictness([one.score - means[one.system] for one in rated])
    return {"above": _result("above others", above), "drift": _result("change in 100", change)}
