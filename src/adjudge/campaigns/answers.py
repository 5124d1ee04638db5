"""Saving what a person does: every change is an event that is kept, and the newest one is the answer.

An event has an id that the page made, so that one sent twice counts once. It names the revision that it was
made upon: where another page has changed the item since, nothing is written, and the page gets the newer
state to choose from. A page may send several changes at once, or again after a dead network: it need not know
the revisions that its own changes got.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy import Connection, and_, bindparam, insert, select, update

from adjudge.campaigns.assigning import Assignment, lock_person, read_assignment
from adjudge.campaigns.events import Event, Refused, Saved, SavedEvent, Stale, check_event, check_token
from adjudge.campaigns.faults import faults, lacks
from adjudge.campaigns.items import ITEM_COLUMNS, AnyRow, ItemShown, read_item
from adjudge.campaigns.leases import renew, take_up_again
from adjudge.campaigns.schema import answer, event, item
from adjudge.campaigns.state import State, first_state, read_state
from adjudge.campaigns.statements import Statement
from adjudge.errors import DataError, NotYoursError

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign
    from adjudge.campaigns.people import Person

__all__ = ["save"]

_MOST_EVENTS: Final = 500  # of one request


_IS_NEWEST: Final = and_(
    event.c.assignment_id == answer.c.assignment_id,
    event.c.item_id == answer.c.item_id,
    event.c.revision == answer.c.revision,
)
_IS_MINE: Final = and_(answer.c.item_id == item.c.id, answer.c.assignment_id == bindparam("assignment"))
_ANSWERS: Final = (
    select(*ITEM_COLUMNS, answer, event.c.page)
    .select_from(item.outerjoin(answer, _IS_MINE).outerjoin(event, _IS_NEWEST))
    .where(item.c.task_id == bindparam("task"))
)
_NAMED: Final = select(
    event.c.client_id, event.c.assignment_id, event.c.item_id, event.c.revision, event.c.state
).where(event.c.person_id == bindparam("person"))
_KEPT: Final = ("state", "revision", "is_complete", "active", "idle", "first_at", "last_at")
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

    Args:
        campaign: theirs.
        person: who works.
        assignment_id: the task given to them.
        page: id of the open page, made by it.
        events: in the order in which they were made.
        now: seconds since 1970.

    Raises:
        NotYoursError: the assignment is another person's, or not theirs any more.
        DataError: too many events, or a page without an id.
    """
    if len(events) > _MOST_EVENTS:
        raise DataError(f"a request may have {_MOST_EVENTS} events, this one has {len(events)}")
    check_token("a page", page)

    def work(connection: Connection) -> Saved:
        given = _lock(connection, campaign, person, assignment_id)
        _keep_lease(connection, campaign, given, now)
        saving = _Saving(connection, campaign, given, person.id, page, now)
        saving.read(events)
        for one in events:
            saving.take(one)
        saving.write()
        return saving.result()

    return campaign.database.write(work)


def _lock(connection: Connection, campaign: Campaign, person: Person, assignment_id: int) -> Assignment:
    """Lock the person, so that their saves wait for each other, and the assignment."""
    lock_person(connection, campaign, person.id)
    found = read_assignment(connection, campaign, person.id, assignment_id, locks=True)
    if not found.is_editable(is_loud=campaign.settings.is_loud):
        raise NotYoursError(f"task {found.number} is done, and was one whose result you were told")
    return found


def _keep_lease(connection: Connection, campaign: Campaign, given: Assignment, now: float) -> None:
    """Work keeps the task for another while; half of it may go by before that is written."""
    until = now + campaign.settings.lease_minutes * 60
    if given.state == "expired":
        if not take_up_again(connection, given.task, given.id, until):
            lost = f"task {given.number} was not worked on for so long that others were given it"
            raise NotYoursError(f"{lost}; what you saved of it is kept")
    elif given.state == "leased" and given.leased_until < (now + until) / 2:
        renew(connection, given.id, until)


class _Before(NamedTuple):
    """An event that was saved earlier."""

    assignment: int
    item: int
    revision: int
    state: str


@dataclass(kw_only=True)
class _Answer:
    """An item's answer while its events are taken."""

    shown: ItemShown
    is_new: bool
    revision: int
    state: State
    page: str | None
    is_complete: bool
    active: float
    idle: float
    first_at: float
    last_at: float
    is_changed: bool = False


@dataclass
class _Saving:
    """One request."""

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
        """Read the items and their answers, and which of the events were saved earlier."""
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
            active=row.active or 0.0,
            idle=row.idle or 0.0,
            first_at=self.now if is_new else row.first_at,
            last_at=0.0 if is_new else row.last_at,
        )

    def take(self, one: Event) -> None:
        """Save one event, or say why not."""
        try:
            self._take(one, self._item(one.item))
        except DataError as error:
            self.refused.append(Refused(id=one.id, item=one.item, why=str(error)))

    def _item(self, number: int) -> _Answer:
        if number not in self.answers:
            raise DataError(f"task {self.given.number} has no item {number}")
        return self.answers[number]

    def _take(self, one: Event, found: _Answer) -> None:
        state = self._read(one, found)
        if one.id in self.before:
            self._repeat(one, found, state)
        elif one.item in self.stale or self._is_stale(one, found):
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

    def _repeat(self, one: Event, found: _Answer, state: State) -> None:
        """Answer as before; a page that sends the newest change again knows it."""
        before = self.before[one.id]
        is_same = (before.assignment, before.item) == (self.given.id, one.item)
        if not is_same or (one.kind != "time" and before.state != state.model_dump_json()):
            raise DataError(f"a change with the id {one.id} was saved before, and it was another one")
        if before.revision == found.revision:
            found.page = self.page
        self._acknowledge(one, before.revision, found)

    def _is_stale(self, one: Event, found: _Answer) -> bool:
        return one.base < found.revision and found.page != self.page and one.kind != "time"

    def _write(self, one: Event, found: _Answer, state: State) -> None:
        is_declared = one.kind == "complete" or (found.is_complete and one.kind != "reset")
        found.is_complete = not lacks(state, found.shown.asked, is_declared=is_declared)
        found.revision, found.state, found.page, found.is_changed = found.revision + 1, state, self.page, True
        found.active, found.idle = found.active + one.active, found.idle + one.idle
        at = one.at if self.given.started_at <= one.at <= self.now else self.now
        found.first_at, found.last_at = min(found.first_at, at), max(found.last_at, at)
        text = state.model_dump_json()
        self.before[one.id] = _Before(self.given.id, one.item, found.revision, text)
        self.rows.append(
            {
                "assignment_id": self.given.id,
                "item_id": one.item,
                "person_id": self.person,
                "client_id": one.id,
                "page": self.page,
                "revision": found.revision,
                "kind": one.kind,
                "state": text,
                "client_at": one.at,
                "at": self.now,
            }
        )
        self._acknowledge(one, found.revision, found)

    def _acknowledge(self, one: Event, revision: int, found: _Answer) -> None:
        done = SavedEvent(id=one.id, item=one.item, revision=revision, complete=found.is_complete)
        self.saved.append(done)

    def write(self) -> None:
        """Append the events, and keep the newest state of each item."""
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

    def result(self) -> Saved:
        """Every event's fate."""
        return Saved(saved=tuple(self.saved), stale=tuple(self.stale.values()), refused=tuple(self.refused))


def _values(found: _Answer) -> dict[str, Any]:
    return {name: getattr(found, name) for name in _KEPT} | {"state": found.state.model_dump_json()}
