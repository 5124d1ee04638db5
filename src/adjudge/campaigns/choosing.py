"""Which task comes next for a person: a batch in its order, a pool by priority, or what tells most."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TYPE_CHECKING, Final

from sqlalchemy import BindParameter, Connection, Select, bindparam, exists, literal, or_, select

from adjudge.campaigns.dynamic import Ranked
from adjudge.campaigns.items import AnyRow
from adjudge.campaigns.leases import close, free_places
from adjudge.campaigns.schema import assignment, task
from adjudge.campaigns.statements import Statement
from adjudge.data.submissions import FIRST

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign

__all__ = ["choose", "tutorial_before"]

_GAP: Final = 4
"""A check of a pool comes 2 to 5 tasks after its original."""
_SECOND: Final = ("adjudication", "again")  # kinds that look at what others did, and come first


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
        choosing = _Choosing(connection, campaign, person, waits=waits)
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


# Statements, made once, since to make one takes longer than to run it...

_PERSON: Final[BindParameter[int]] = bindparam("person")
_HAD: Final = exists().where(assignment.c.task_id == task.c.id, assignment.c.person_id == _PERSON)
_NEW: Final = select(task.c.id).where(task.c.is_closed.is_(False), ~_HAD)
"""Open tasks that the person never had, found by what is theirs rather than in all of a campaign."""
_OPEN: Final = _NEW.where(task.c.campaign_id == bindparam("campaign"))
_DID: Final = exists().where(assignment.c.task_id == task.c.copy_of, assignment.c.person_id == _PERSON)
_DID_ALL: Final = _DID.where(assignment.c.state == "done")

_TUTORIAL: Final = (
    _OPEN.where(task.c.kind == "tutorial", task.c.lp == bindparam("lp")).order_by(task.c.number).limit(1)
)
_MINE: Final = _NEW.where(task.c.only_for == _PERSON).order_by(task.c.number)
_OF_KIND: Final = _OPEN.where(task.c.kind == bindparam("kind"), task.c.only_for.is_(None)).order_by(
    task.c.priority.desc(), task.c.number
)
_OF_KIND_AND_SYSTEMS: Final = _OF_KIND.where(task.c.systems == bindparam("systems"))
_OF_OTHERS: Final = _OF_KIND.where(~_DID)
_OF_BATCH: Final = _OPEN.where(
    task.c.batch == bindparam("batch"),
    task.c.only_for.is_(None),
    task.c.kind.in_(map(literal, (*FIRST, "check"))),
).order_by(task.c.number)
_OF_BATCH_IN_TURN: Final = _OF_BATCH.where(or_(task.c.kind != "check", _DID_ALL))
_THIS: Final = _OPEN.where(task.c.id == bindparam("task"))
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


class _Choosing:
    """One look through the tasks."""

    def __init__(self, connection: Connection, campaign: Campaign, person: AnyRow, *, waits: bool) -> None:
        self._connection = connection
        self._campaign = campaign
        self._person = person
        self._waits = waits
        self._asked = {"campaign": campaign.id, "person": person.id}

    def find(self, place: int, ranked: Ranked) -> int | None:
        if (mine := self._first(_MINE)) is not None:
            return mine
        for kind in _SECOND:
            if (found := self._second_look(kind)) is not None:
                return found
        if self._campaign.settings.assignment == "static" and self._person.batch is not None:
            return self._of_batch()
        return self._due_check(place) or self._of_pool(ranked) or self._due_check(None)

    def _first(self, query: Select[int], **asked: object) -> int | None:
        """Lock the first task that has a place left."""
        locked = _locking(query, waits=self._waits)
        while (found := locked.first(self._connection, **self._asked, **asked)) is not None:
            if free_places(self._connection, found.id) > 0:
                return int(found.id)
            close(self._connection, found.id)
        return None

    def _second_look(self, kind: str) -> int | None:
        """What others annotated, and the person did not."""
        if kind == "adjudication" and self._person.role != "adjudicator":
            return None
        return self._first(_OF_OTHERS, kind=kind)

    def _of_batch(self) -> int | None:
        """In the order of the batch; a check only once its original is done, unless it may come before."""
        query = _OF_BATCH if self._campaign.settings.checks_first else _OF_BATCH_IN_TURN
        return self._first(query, batch=self._person.batch)

    def _due_check(self, place: int | None) -> int | None:
        """A check whose original the person did long enough ago; None: however long ago."""
        for found, before in _CHECKS.rows(self._connection, **self._asked):
            if place is None or place - before > self._gap(found):
                chosen = self._first(_THIS, task=found)
                if chosen is not None:
                    return chosen
        return None

    def _gap(self, check: int) -> int:
        """Drawn, so that nobody can tell when a check comes."""
        drawn = hashlib.sha256(f"{self._campaign.settings.seed}/{check}/{self._person.id}".encode()).digest()
        return 1 + drawn[0] % _GAP

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
        return self._connection.execute(order.limit(1)).scalar()
