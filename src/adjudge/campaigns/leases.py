"""Places of a task: how many people have it, and what becomes of a place that is given back.

A task is closed while as many people as it needs have it or have done it. Every change of a place goes
through here, so that both always agree.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, bindparam, func, literal, select, update

from adjudge.campaigns.schema import assignment, task
from adjudge.campaigns.statements import Statement

__all__ = ["TAKEN", "close_if_full", "expire_overdue", "free_places", "give_back", "renew", "take_up_again"]

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


def free_places(connection: Connection, number: int) -> int:
    """How many more people a task needs; its row is to be locked. One for everybody always needs 1."""
    redundancy, count = _PLACES.first(connection, task=number)
    return redundancy - count if redundancy else 1


def close_if_full(connection: Connection, number: int) -> None:
    """Close a task that as many people have as it needs; its row is to be locked."""
    if free_places(connection, number) <= 0:
        connection.execute(update(task).where(task.c.id == number).values(is_closed=True))


def expire_overdue(connection: Connection, now: float) -> int:
    """Give back what was leased for longer than it was kept for; answers so far stay.

    Returns:
        How many places became free.
    """
    is_overdue = and_(assignment.c.state == "leased", assignment.c.leased_until < now)
    return give_back(connection, is_overdue, waits=False)


def give_back(
    connection: Connection, chosen: ColumnElement[bool], state: str = "expired", *, waits: bool = True
) -> int:
    """Free the places of the chosen assignments, and open their tasks.

    Args:
        connection: that writes.
        chosen: which assignments.
        state: that they get: expired or dropped.
        waits: for those that somebody saves at this moment; else they are passed over.

    Returns:
        How many.
    """
    query = select(assignment.c.id, assignment.c.task_id).where(chosen).order_by(assignment.c.id).limit(_MOST)
    rows = connection.execute(query.with_for_update(skip_locked=not waits, key_share=True)).all()
    if not rows:
        return 0
    tasks = select(task.c.id).where(task.c.id.in_({row.task_id for row in rows})).order_by(task.c.id)
    opened = connection.execute(tasks.with_for_update(key_share=True)).scalars().all()
    given = assignment.c.id.in_([row.id for row in rows])
    connection.execute(update(assignment).where(given).values(state=state))
    connection.execute(update(task).where(task.c.id.in_(opened)).values(is_closed=False))
    return len(rows)


def renew(connection: Connection, number: int, until: float) -> None:
    """Keep an assignment for its person until then."""
    chosen = update(assignment).where(assignment.c.id == number)
    connection.execute(chosen.values(state="leased", leased_until=until))


def take_up_again(connection: Connection, task_number: int, number: int, until: float) -> bool:
    """Lease a task to the person again from whom it was taken, where it still has a free place."""
    locked = select(task.c.id).where(task.c.id == task_number, task.c.is_closed.is_(False))
    found = connection.execute(locked.with_for_update(key_share=True)).first()
    if found is None or free_places(connection, task_number) <= 0:
        return False
    renew(connection, number, until)
    close_if_full(connection, task_number)
    return True
