"""Places of a task: how many people have it, and what becomes of a place that is given back.

A task is closed while as many people as it needs have it or have done it. Every change of a place goes
through here, so that both always agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, bindparam, func, literal, select, true, update

from adjudge.campaigns.schema import assignment, task
from adjudge.campaigns.statements import Statement

__all__ = [
    "TAKEN",
    "close",
    "close_if_full",
    "expire_overdue",
    "free_places",
    "give_back",
    "renew",
    "take_up_again",
]

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
