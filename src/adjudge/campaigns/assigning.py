"""Who works on what: a task is given to a person for a while.

Everything that changes who has what happens in one transaction that locks the person first, so that two pages
of theirs wait for each other, and then the task, so that nobody else is given the same place.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, and_, bindparam, func, insert, select

from adjudge.campaigns.choosing import choose, tutorial_before
from adjudge.campaigns.dynamic import Ranked, rank_systems
from adjudge.campaigns.items import AnyRow
from adjudge.campaigns.leases import close_if_full, expire_overdue, renew, take_up_again
from adjudge.campaigns.schema import assignment, task
from adjudge.campaigns.schema import person as people
from adjudge.campaigns.statements import Statement
from adjudge.errors import NotYoursError

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign
    from adjudge.campaigns.people import Person

__all__ = [
    "Assignment",
    "assign_next",
    "assignments",
    "lock_person",
    "read_assignment",
]

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
_PERSON: Final = Statement(
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
    found: AnyRow | None = _PERSON.first(connection, person=number, campaign=campaign.id)
    if found is None or found.revoked_at is not None:
        raise NotYoursError("you have no access to this campaign any more; ask the organiser")
    return found


def _current(connection: Connection, campaign: Campaign, person: int) -> Assignment | None:
    found = _HELD.first(connection, person=person, campaign=campaign.id)
    return None if found is None else _read(found)


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
    with campaign.database.writing() as connection:
        known = lock_person(connection, campaign, person.id)
        until = now + settings.lease_minutes * 60
        if (held := _current(connection, campaign, person.id)) is not None:
            renew(connection, held.id, until)
            return _find(connection, held.id)
        expire_overdue(connection, now)
        if (again := _taken_up(connection, campaign, person.id, until)) is not None:
            return _find(connection, again)
        place = _places(connection, person.id)
        chosen = choose(connection, campaign, known, place, ranked)
        if chosen is None:
            return None
        chosen = tutorial_before(connection, campaign, known, chosen)
        return _give(connection, campaign, known, chosen, place, now)


def _places(connection: Connection, person: int) -> int:
    highest: int | None = _HIGHEST.first(connection, person=person).place
    return 0 if highest is None else highest + 1


def _taken_up(connection: Connection, campaign: Campaign, person: int, until: float) -> int | None:
    """What was taken from the person for want of time, where a place is still free."""
    for number, task_number in _EXPIRED.rows(connection, person=person, campaign=campaign.id):
        if take_up_again(connection, task_number, number, until):
            return int(number)
    return None


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
