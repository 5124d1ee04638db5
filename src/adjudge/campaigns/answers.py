"""Saving what a person does: every change is an event that is kept, and the newest one is the answer.

An event has an id that the page made, so that one sent twice counts once. It names the revision that it was
made upon: where another page has changed the item since, nothing is written, and the page gets the newer
state to choose from. A page may send several changes at once, or again after a dead network: it need not know
the revisions that its own changes got. A time makes no revision: it adds seconds, whoever changed what.

Besides `save`: what a page is shown of a task (`task_view`), how a task ends (`finish`, `release`), and how
segments are judged anew (`send_segments_again`).
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, and_, bindparam, insert, literal, select, update

from adjudge.campaigns.assigning import (
    Assignment,
    deal_again,
    give_back,
    lease_end,
    lock_person,
    read_assignment,
    renew,
    take_up_again,
)
from adjudge.campaigns.database import (
    Campaign,
    Person,
    Statement,
    answer,
    assignment,
    event,
    item,
    task,
    write_audit,
)
from adjudge.campaigns.database import person as people
from adjudge.campaigns.items import (
    IS_ITS_ANSWER,
    ITEM_COLUMNS,
    ITEMS_AND_ANSWERS,
    AnyRow,
    ItemShown,
    State,
    faults,
    feedback,
    first_state,
    lacks,
    read_item,
    read_state,
)
from adjudge.campaigns.stopping import tutorials_done
from adjudge.campaigns.tasks import insert_copy, item_values, items_of
from adjudge.core.frozen import frozen
from adjudge.core.protocol import is_number
from adjudge.errors import DataError, NotYoursError, UnfinishedError, UsageError
from adjudge.formats.campaign_export import FIRST

_TOKEN: Final = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_KIND: Final = re.compile(r"[a-z_-]{1,20}")
_LONGEST: Final = 86_400.0  # seconds that one event may say it took


@frozen
class Event:
    """One change, as the page tells it."""

    id: str  # made by the page, unique to it
    item: int
    base: int  # revision that it was made upon; 0 before the first one
    # what was done: mark, rate, undo and so on. `complete` says that all errors are marked, `reset` takes
    # that back, `time` tells seconds and changes nothing else.
    kind: str
    at: float  # when, by the page's clock, seconds since 1970
    state: object  # the whole item afterwards
    hashes: Sequence[str]  # of each text shown, the source first
    active: float = 0.0  # seconds of work since the event before
    idle: float = 0.0  # seconds of pause since then
    language: str = ""  # of the page, as HTML writes it; empty where that is unknown


@frozen
class SavedEvent:
    """A change that is on the disk, and the revision that it made; a time has that of its base."""

    id: str
    item: int
    revision: int
    complete: bool


@frozen
class Stale:
    """An item that another page has changed since; nothing was written over it."""

    item: int
    revision: int
    state: Mapping[str, Any]


@frozen
class Refused:
    """A change that cannot be, and why, for the person to read."""

    id: str
    item: int
    why: str


@frozen
class Saved:
    """What became of each event."""

    saved: tuple[SavedEvent, ...] = ()
    stale: tuple[Stale, ...] = ()
    refused: tuple[Refused, ...] = ()


def check_token(whose: str, token: str) -> None:
    """Refuse an id that no page of ours makes."""
    if not _TOKEN.fullmatch(token):
        raise DataError(f"{whose} has an id of 1 to 64 letters, digits and - _ . :, got {token!r}")


def check_event(one: Event) -> None:
    """Refuse what no event says."""
    check_token("a change", one.id)
    if one.language:
        check_token("a language", one.language)
    if not _KIND.fullmatch(one.kind):
        raise DataError(f"a kind of change is a short word, got {one.kind!r}")
    for name in ("active", "idle"):
        seconds = getattr(one, name)
        if not is_number(seconds) or not 0 <= seconds <= _LONGEST:
            raise DataError(f"{name} lies in 0 to {_LONGEST:g} seconds, got {seconds!r}")
    if not is_number(one.at):
        raise DataError(f"a time is a finite number of seconds, got {one.at!r}")


_MOST_EVENTS: Final = 500  # of one request


_IS_NEWEST: Final = and_(
    event.c.assignment_id == answer.c.assignment_id,
    event.c.item_id == answer.c.item_id,
    event.c.revision == answer.c.revision,
)
_ANSWERS: Final = (
    select(*ITEM_COLUMNS, answer, event.c.page)
    .select_from(item.outerjoin(answer, IS_ITS_ANSWER).outerjoin(event, _IS_NEWEST))
    .where(item.c.task_id == bindparam("task"))
)
_NAMED: Final = select(
    event.c.client_id, event.c.assignment_id, event.c.item_id, event.c.revision, event.c.state
).where(event.c.person_id == bindparam("person"))
_KEPT: Final = ("state", "revision", "is_complete", "active", "idle", "first_at", "last_at", "language")
"""What of an answer changes."""
_UPDATE: Final = Statement(
    update(answer)
    .where(answer.c.assignment_id == bindparam("of_assignment"), answer.c.item_id == bindparam("of_item"))
    .values({name: bindparam(name) for name in _KEPT})
)
_INSERT: Final = Statement(insert(answer).inline())
_APPEND: Final = Statement(
    insert(event).inline().values({c.name: bindparam(c.name) for c in event.c if c is not event.c.id})
)


@cache
def _answers(count: int) -> Statement:
    return Statement(_ANSWERS.where(item.c.id.in_([bindparam(f"item_{i}") for i in range(count)])))


@cache
def _named(count: int) -> Statement:
    return Statement(_NAMED.where(event.c.client_id.in_([bindparam(f"name_{i}") for i in range(count)])))


def save(
    campaign: Campaign, person: Person, assignment_id: int, page: str, events: Sequence[Event], now: float
) -> Saved:
    """Save changes in one transaction: on the disk when this returns.

    Items are independent of each other: what one is refused for does not touch the next. Work on a task that
    was done may go on. A task whose lease ran out is taken up again where nobody else has its place.

    `events`: in the order in which they were made. `now`: seconds since 1970.
    """
    if len(events) > _MOST_EVENTS:
        raise DataError(f"a request may have {_MOST_EVENTS} events, this one has {len(events)}")
    check_token("a page", page)

    def work(connection: Connection) -> Saved:
        lock_person(connection, campaign, person.id)
        given = read_assignment(connection, campaign, person.id, assignment_id, locks=True)
        if not given.is_editable(campaign.settings):
            raise NotYoursError(f"task {given.number} is done and can no longer be changed")
        until = lease_end(campaign, now)
        if given.state == "expired":
            if not take_up_again(connection, given.task, given.id, until):
                lost = f"task {given.number} was not worked on for so long that others were given it"
                raise NotYoursError(f"{lost}; what you saved of it is kept")
        elif given.state == "leased" and given.leased_until < (now + until) / 2:
            renew(connection, given.id, until)
        saving = _Saving(connection, campaign, given, person.id, page, now)
        saving.read(events)
        for one in events:
            saving.take(one)
        saving.write()
        stale = tuple(saving.stale.values())
        return Saved(saved=tuple(saving.saved), stale=stale, refused=tuple(saving.refused))

    return campaign.database.write(work)


class _Before(NamedTuple):
    """An event that was saved earlier; a time has no revision."""

    assignment: int
    item: int
    revision: int | None
    state: str


@dataclass(kw_only=True)
class _Answer:
    shown: ItemShown
    is_new: bool
    revision: int
    state: State
    page: str | None
    is_complete: bool
    active: float | None
    idle: float
    first_at: float
    last_at: float
    language: str | None
    is_changed: bool = False


@dataclass
class _Saving:
    connection: Connection
    campaign: Campaign
    given: Assignment
    person: int
    page: str
    now: float
    answers: dict[int, _Answer] = field(default_factory=dict)
    before: dict[str, _Before] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    saved: list[SavedEvent] = field(default_factory=list)
    stale: dict[int, Stale] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)

    def read(self, events: Sequence[Event]) -> None:
        items = {f"item_{i}": number for i, number in enumerate({one.item for one in events})}
        found = _answers(len(items)).rows(
            self.connection, assignment=self.given.id, task=self.given.task, **items
        )
        self.answers = {row.item_id: self._answer(row) for row in found}
        names = {f"name_{i}": one.id for i, one in enumerate(events)}
        before = _named(len(names)).rows(self.connection, person=self.person, **names)
        self.before = {name: _Before(*rest) for name, *rest in before}

    def _answer(self, row: AnyRow) -> _Answer:
        shown = read_item(self.campaign, row, self.given.seed)
        is_new = row.revision is None
        return _Answer(
            shown=shown,
            is_new=is_new,
            revision=row.revision or 0,
            state=first_state(shown.asked) if is_new else read_state(row.state),
            page=row.page,
            is_complete=bool(row.is_complete),
            active=0.0 if is_new else row.active,
            idle=row.idle or 0.0,
            first_at=self.now if is_new else row.first_at,
            last_at=0.0 if is_new else row.last_at,
            language=row.language,
        )

    def take(self, one: Event) -> None:
        """Save one event, or say why not."""
        try:
            self._take(one)
        except DataError as error:
            self.refused.append(Refused(id=one.id, item=one.item, why=str(error)))

    def _take(self, one: Event) -> None:
        if one.item not in self.answers:
            raise DataError(f"task {self.given.number} has no item {one.item}")
        found = self.answers[one.item]
        state = self._read(one, found)
        is_behind = one.base < found.revision and found.page != self.page and one.kind != "time"
        if one.id in self.before:
            before = self.before[one.id]
            is_same = (before.assignment, before.item) == (self.given.id, one.item)
            if not is_same or (one.kind != "time" and read_state(before.state) != state):
                raise DataError(f"a change with the id {one.id} was saved before, and it was another one")
            if before.revision == found.revision:
                found.page = self.page
            self._acknowledge(one, before.revision, found)
        elif one.item in self.stale or is_behind:
            fields = found.state.model_dump(mode="json")
            self.stale[one.item] = Stale(item=one.item, revision=found.revision, state=fields)
        else:
            self._write(one, found, state)

    def _read(self, one: Event, found: _Answer) -> State:
        check_event(one)
        if one.kind == "time":
            return found.state
        if list(one.hashes) != found.shown.asked.hashes:
            raise DataError("the page shows other texts than this item has; load it again")
        state = read_state(one.state)
        if wrong := faults(state, found.shown.asked):
            raise DataError("; ".join(wrong[:5]))
        return state

    def _write(self, one: Event, found: _Answer, state: State) -> None:
        is_declared = one.kind == "complete" or (found.is_complete and one.kind != "reset")
        found.is_complete = not lacks(state, found.shown.asked, is_declared=is_declared)
        found.state, found.is_changed = state, True
        revision = None
        if one.kind != "time":
            revision = found.revision = found.revision + 1
            found.page = self.page
        if found.active is not None:  # else a part of it would be taken for all
            found.active += one.active
        found.idle += one.idle
        found.language = one.language or found.language
        at = one.at if self.given.started_at <= one.at <= self.now else self.now
        found.first_at, found.last_at = min(found.first_at, at), max(found.last_at, at)
        text = state.model_dump_json()
        self.before[one.id] = _Before(self.given.id, one.item, revision, text)
        self.rows.append(
            {
                "assignment_id": self.given.id,
                "item_id": one.item,
                "person_id": self.person,
                "client_id": one.id,
                "page": self.page,
                "revision": revision,
                "kind": one.kind,
                "state": text,
                "client_at": one.at,
                "at": self.now,
            }
        )
        self._acknowledge(one, revision, found)

    def _acknowledge(self, one: Event, revision: int | None, found: _Answer) -> None:
        known = one.base if revision is None else revision
        self.saved.append(SavedEvent(id=one.id, item=one.item, revision=known, complete=found.is_complete))

    def write(self) -> None:
        if self.rows:
            _APPEND.run(self.connection, self.rows)
        changed = [(number, found) for number, found in self.answers.items() if found.is_changed]
        key = {"assignment_id": self.given.id}
        added = [{**key, "item_id": number, **_values(found)} for number, found in changed if found.is_new]
        if added:
            _INSERT.run(self.connection, added)
        key = {"of_assignment": self.given.id}
        kept = [{**key, "of_item": number, **_values(found)} for number, found in changed if not found.is_new]
        if kept:
            _UPDATE.run(self.connection, kept)


def _values(found: _Answer) -> dict[str, Any]:
    return {name: getattr(found, name) for name in _KEPT} | {"state": found.state.model_dump_json()}


@frozen
class Finished:
    """A task that was finished; `notes`: item to what a person who did not pass a loud check is told."""

    assignment: int
    notes: dict[int, tuple[str, ...]]


_END: Final = Statement(
    update(assignment)
    .where(assignment.c.id == bindparam("assignment"))
    .values(state=literal("done"), done_at=bindparam("at"))
)


def finish(campaign: Campaign, person: Person, assignment_id: int, now: float) -> Finished:
    """Finish a task; what was finished before stays finished when it is changed and finished again.

    Where it is the last task of a test that was not passed, what was dealt to the person is free for others.

    `now`: seconds since 1970.
    """
    with campaign.database.writing() as connection:
        lock_person(connection, campaign, person.id)
        given = read_assignment(connection, campaign, person.id, assignment_id, locks=True)
        if given.state == "expired":
            raise NotYoursError(f"task {given.number} is not yours any more; go on with the next one")
        notes = _check_finished(connection, campaign, given)
        _END.run(connection, [{"assignment": assignment_id, "at": given.done_at or now}])
        if given.kind == "tutorial" and given.lp in tutorials_done(connection, person.id):
            if _is_passed(connection, campaign, person.id, given.lp):
                connection.execute(update(people).where(people.c.id == person.id).values(tutorial_at=now))
            else:
                give_back(connection, (assignment.c.person_id == person.id) & (assignment.c.state == "dealt"))
        return Finished(assignment=assignment_id, notes=notes if campaign.settings.is_loud else {})


def _check_finished(
    connection: Connection, campaign: Campaign, given: Assignment
) -> dict[int, tuple[str, ...]]:
    rows = ITEMS_AND_ANSWERS.rows(connection, assignment=given.id, task=given.task)
    shown = [(read_item(campaign, row, given.seed), row) for row in rows]
    todo = {one.id: _todo(one, row) for one, row in shown if not row.is_complete}
    if todo:
        raise UnfinishedError("this task is not finished", todo)
    notes = {
        one.id: tuple(f"segment {one.place + 1}: {why}" for why in found)
        for one, row in shown
        if one.check is not None and (found := feedback(read_state(row.state), one.check))
    }
    if given.kind == "tutorial" and notes and campaign.settings.pass_mark is None:
        raise UnfinishedError("not quite yet", notes)
    return notes


def _is_passed(connection: Connection, campaign: Campaign, person: int, lp: str) -> bool:
    if (mark := campaign.settings.pass_mark) is None:
        return True
    is_part = (task.c.campaign_id == campaign.id) & (task.c.kind == "tutorial") & (task.c.lp == lp)
    query = select(assignment.c.id, assignment.c.task_id, assignment.c.seed).join_from(assignment, task)
    right = []
    for part in connection.execute(query.where(is_part, assignment.c.person_id == person)):
        for row in ITEMS_AND_ANSWERS.rows(connection, assignment=part.id, task=part.task_id):
            check = read_item(campaign, row, part.seed).check
            right.append(check is None or not feedback(read_state(row.state), check))
    return sum(right) / len(right) >= mark


def _todo(one: ItemShown, row: AnyRow) -> list[str]:
    if row.state is None:
        return [f"segment {one.place + 1} was not looked at"]
    reasons = lacks(read_state(row.state), one.asked, is_declared=False)
    return [f"segment {one.place + 1}: {why}" for why in reasons]


def release(campaign: Campaign, number: int, now: float, *, actor: str) -> int:
    """Take a task back from everybody who has not finished it; their answers so far stay and count.

    From how many.
    """
    with campaign.database.writing() as connection:
        query = select(task.c.id).where(task.c.campaign_id == campaign.id, task.c.number == number)
        found = connection.execute(query).scalar()
        if found is None:
            raise UsageError(f"campaign {campaign.name!r} has no task {number}")
        count = give_back(connection, (assignment.c.task_id == found) & (assignment.c.state == "leased"))
        detail = f"task {number}: {count} given back"
        write_audit(connection, campaign.id, now, actor=actor, action="release", detail=detail)
        return count


@frozen
class ItemView:
    """One item, in the order in which it is shown."""

    id: int  # number, for events
    place: int  # within the task, from 0
    media: str  # text, image, audio or video
    source: str  # text, or the address of the media file below the campaign's folder
    texts: Sequence[str]
    given: Sequence[Sequence[dict[str, Any]]]  # of each translation, the marks that were there beforehand
    hashes: Sequence[str]  # of each text shown, the source first
    revision: int  # how many changes were saved; 0 before the first one
    state: State  # after the newest of them
    is_complete: bool  # whether the item has all that the protocol asks for
    says: str  # in a tutorial, what the person is told of it; else the instruction of the translation, if any
    marks_instruction: bool  # whether it can be marked that the instruction is not followed
    active: float  # seconds of work so far
    # in an adjudication, what each person said before, in the order shown, without names
    between: Sequence[State]


@frozen
class TaskView:
    """A task given to a person, without anything that would tell whose translations these are.

    `lp` is the task's, `lp_shown` that of its texts: a tutorial may be in other languages, and a test tells
    nothing.
    """

    assignment: int
    number: int
    lp: str
    lp_shown: str
    is_tutorial: bool
    is_adjudication: bool
    is_test: bool
    is_done: bool
    is_editable: bool
    leased_until: float
    items: tuple[ItemView, ...]


def task_view(campaign: Campaign, person: Person, assignment_id: int) -> TaskView:
    """Show a task to the person to whom it was given; what is done may be read, and changed, again."""
    with campaign.database.reading() as connection:
        given = read_assignment(connection, campaign, person.id, assignment_id)
        rows = ITEMS_AND_ANSWERS.rows(connection, assignment=given.id, task=given.task)
    items = [read_item(campaign, row, given.seed) for row in rows]
    return TaskView(
        assignment=given.id,
        number=given.number,
        lp=given.lp,
        lp_shown=next((one.check["lp"] for one in items if one.check and "lp" in one.check), given.lp),
        is_tutorial=given.kind == "tutorial",
        is_adjudication=any(one.between for one in items),
        is_test=campaign.settings.pass_mark is not None and given.kind == "tutorial",
        is_done=given.state == "done",
        is_editable=given.is_editable(campaign.settings),
        leased_until=given.leased_until,
        items=tuple(_item_view(campaign, given, one, row) for one, row in zip(items, rows, strict=True)),
    )


def _item_view(campaign: Campaign, given: Assignment, shown: ItemShown, row: AnyRow) -> ItemView:
    check = shown.check if shown.check is not None and campaign.settings.pass_mark is None else {}
    return ItemView(
        id=shown.id,
        place=shown.place,
        media=shown.media,
        source=shown.asked.source,
        texts=shown.asked.texts,
        given=[[dict(span) for span in spans if span["start"] is not None] for spans in shown.asked.given],
        hashes=shown.asked.hashes,
        revision=row.revision or 0,
        state=first_state(shown.asked) if row.state is None else read_state(row.state),
        is_complete=bool(row.is_complete),
        says=check.get("says", "") if given.kind == "tutorial" else shown.asked.instruction,
        marks_instruction=shown.asked.marks_instruction,
        active=row.active or 0.0,
        between=[state for _, state in shown.between],
    )


def send_segments_again(
    connection: Connection,
    campaign: Campaign,
    segments: Collection[tuple[str, str]],
    now: float,  # seconds since 1970
    *,
    by_others: bool,
) -> int:
    """Have segments judged anew by as many people as before, who see nothing of the first judgements.

    They are dealt to those who judged them before or, where that is asked, to others, all systems of a
    document to the same people.

    How many new tasks: one for each task of the first pass that holds any of the segments.
    """
    wanted: defaultdict[int, set[int]] = defaultdict(set)
    is_first = (task.c.campaign_id == campaign.id) & task.c.kind.in_(FIRST)
    query = select(task.c.id, task.c.lp, item.c.segment, item.c.id.label("item_id")).join_from(item, task)
    for row in connection.execute(query.where(is_first)) if segments else ():
        if (row.lp, row.segment) in segments:
            wanted[row.id].add(row.item_id)
    raters = campaign.settings.raters
    copies: dict[int, int] = {}
    for number, chosen in sorted(wanted.items()):
        rows = [row for row in items_of(connection, number) if row.item_id in chosen]
        values = [item_values(row, _bare(row)) for row in rows]
        origin = number if by_others else None
        copy = insert_copy(connection, campaign, number, values, kind="again", raters=raters, copy_of=origin)
        copies[copy] = number
    deal_again(connection, campaign, copies, now, by_same=not by_others)
    return len(wanted)


def _bare(row: AnyRow) -> str:
    shown = [{**one, "given": None} for one in json.loads(row.translations)]
    return json.dumps(shown, ensure_ascii=False)
