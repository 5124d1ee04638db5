"""Tasks into the store: many rows at once, in transactions so short that nobody who annotates notices.

Between two of them the store is left alone for a moment: whoever saves in another process gets their turn.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from time import monotonic, sleep
from typing import Any, Final

from sqlalchemy import Connection, func, insert, select

from adjudge.campaigns.database import Database
from adjudge.campaigns.schema import item, task
from adjudge.campaigns.tasks import Item, Task

__all__ = ["insert_tasks"]

_ITEMS: Final = 200  # of a transaction: some ten milliseconds
_PAUSE: Final = 0.02  # seconds at least: longer than a writer that waits looks away
_SHARE: Final = 2.0  # times as long as a transaction took: on a slow machine, those who save need longer too


def insert_tasks(database: Database, campaign: int, tasks: Sequence[Task]) -> int:
    """Append tasks to a campaign, whose first task of these gets the next free number.

    Args:
        database: of the campaign; not within a transaction.
        campaign: id.
        tasks: in order; `copy_of` is a place in them, before or after the copy.

    Returns:
        The number of the first one.
    """
    with database.reading() as connection:
        highest = select(func.max(task.c.number)).where(task.c.campaign_id == campaign)
        first = (connection.execute(highest).scalar() or 0) + 1
    ids: list[int] = []
    for start, chunk in _chunks(tasks):
        rows = [_task_row(campaign, first + start + at, one) for at, one in enumerate(chunk)]
        items = [[_item_row(place, shown) for place, shown in enumerate(one.items)] for one in chunk]
        with database.writing() as connection:
            began = monotonic()
            added = _insert(connection, rows)
            owned = zip(added, items, strict=True)
            connection.execute(insert(item), [{"task_id": i, **row} for i, own in owned for row in own])
        ids += added
        if len(ids) < len(tasks):
            sleep(max(_PAUSE, _SHARE * (monotonic() - began)))
    _link_copies(database, tasks, ids)
    return first


def _chunks(tasks: Sequence[Task]) -> Iterator[tuple[int, Sequence[Task]]]:
    start, items = 0, 0
    for place, one in enumerate(tasks, start=1):
        items += len(one.items)
        if items >= _ITEMS or place == len(tasks):
            yield start, tasks[start:place]
            start, items = place, 0


def _insert(connection: Connection, rows: list[dict[str, Any]]) -> list[int]:
    added = insert(task).returning(task.c.id, sort_by_parameter_order=True)
    return list(connection.execute(added, rows).scalars())


def _task_row(campaign: int, number: int, one: Task) -> dict[str, Any]:
    return {
        "campaign_id": campaign,
        "number": number,
        "kind": one.kind,
        "lp": one.lp,
        "document": one.document,
        "systems": json.dumps(one.systems, ensure_ascii=False),
        "batch": one.batch,
        "redundancy": one.redundancy,
        "priority": one.priority,
        "is_closed": False,
    }


def _item_row(place: int, shown: Item) -> dict[str, Any]:
    return {
        "place": place,
        "segment": shown.segment,
        "media": shown.media,
        "source": shown.source,
        "translations": json.dumps(shown.translations, ensure_ascii=False),
        "check": None if shown.check is None else json.dumps(shown.check, ensure_ascii=False),
    }


def _link_copies(database: Database, tasks: Sequence[Task], ids: Sequence[int]) -> None:
    copies = [(ids[at], ids[one.copy_of]) for at, one in enumerate(tasks) if one.copy_of is not None]
    for start in range(0, len(copies), _ITEMS):
        with database.writing() as connection:
            for copy, original in copies[start : start + _ITEMS]:
                connection.execute(task.update().where(task.c.id == copy).values(copy_of=original))
