"""Tasks that show items of another one again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, func, insert, select

from adjudge.campaigns.items import ITEM_COLUMNS, AnyRow
from adjudge.campaigns.schema import item, task
from adjudge.data.submissions import Kind

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign

__all__ = ["insert_copy", "item_values", "items_of"]


def items_of(connection: Connection, number: int) -> Sequence[AnyRow]:
    """Items of a task, in order."""
    query = select(*ITEM_COLUMNS).where(item.c.task_id == number).order_by(item.c.place)
    return connection.execute(query).all()


def item_values(row: AnyRow, translations: str) -> dict[str, Any]:
    """An item's columns as a copy has them, with translations as JSON; it expects nothing."""
    return {
        "segment": row.segment,
        "media": row.media,
        "source": row.source,
        "translations": translations,
        "check": None,
    }


def insert_copy(  # noqa: PLR0913 (a task has so many columns)
    connection: Connection,
    campaign: Campaign,
    number: int,
    items: Sequence[Mapping[str, Any]],
    *,
    kind: Kind,
    redundancy: int,
    copy_of: int | None,
) -> None:
    """Append a task with some of another one's items.

    Args:
        connection: that writes.
        campaign: theirs.
        number: id of the other task.
        items: their columns, as `item_values` has them.
        kind: why it is shown.
        redundancy: how many people it needs.
        copy_of: task whose people may not have it; None where they may.
    """
    highest = select(func.max(task.c.number)).where(task.c.campaign_id == campaign.id)
    first = connection.execute(select(task).where(task.c.id == number)).one()
    values = {
        "campaign_id": campaign.id,
        "number": connection.execute(highest).scalar_one() + 1,
        "kind": kind,
        "lp": first.lp,
        "document": first.document,
        "systems": first.systems,
        "copy_of": copy_of,
        "redundancy": redundancy,
        "priority": first.priority,
        "is_closed": False,
    }
    added = connection.execute(insert(task).values(**values)).inserted_primary_key
    (created,) = added or (0,)
    connection.execute(
        insert(item), [{"task_id": created, "place": at, **one} for at, one in enumerate(items)]
    )
