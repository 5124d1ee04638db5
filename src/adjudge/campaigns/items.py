"""An item as one person sees it: its translations in that person's order, and what is asked of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Row, and_, bindparam, select

from adjudge.campaigns.schema import answer, item
from adjudge.campaigns.shown import Expected, Shown
from adjudge.campaigns.state import Asked, shown_order
from adjudge.campaigns.statements import Statement
from adjudge.core.annotation import Verdict

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign

__all__ = ["ITEMS_AND_ANSWERS", "ITEM_COLUMNS", "TURNED", "AnyRow", "ItemShown", "read_item"]

AnyRow = Row[*tuple[Any, ...]]
ITEM_COLUMNS: Final = (
    item.c.id.label("item_id"),
    item.c.place.label("item_place"),
    item.c.segment,
    item.c.media,
    item.c.source,
    item.c.translations,
    item.c.check,
)
"""What `read_item` reads."""
_IS_ITS: Final = and_(answer.c.item_id == item.c.id, answer.c.assignment_id == bindparam("assignment"))
ITEMS_AND_ANSWERS: Final = Statement(
    select(*ITEM_COLUMNS, answer.c.revision, answer.c.state, answer.c.is_complete, answer.c.active)
    .select_from(item.outerjoin(answer, _IS_ITS))
    .where(item.c.task_id == bindparam("task"))
    .order_by(item.c.place)
)
"""All of a `task` as an `assignment` has it, in order; what was not looked at has no answer."""
TURNED: Final[Mapping[Verdict, Verdict]] = {"A": "B", "B": "A", "E": "E"}
"""A verdict on two sides that change places."""


@dataclass(frozen=True, kw_only=True)
class ItemShown:
    """One item in one person's order.

    Args:
        id: in the store.
        place: within its task, from 0.
        segment: id.
        media: text, image, audio or video.
        translations: in the order shown; they name their systems, which no annotator may see.
        order: of each translation shown, its place among the item's systems.
        check: what a tutorial or a check expects, its translation and its verdicts by the order shown.
        asked: what may be said of it.
    """

    id: int
    place: int
    segment: str
    media: str
    translations: tuple[Shown, ...]
    order: tuple[int, ...]
    check: Expected | None
    asked: Asked


def read_item(campaign: Campaign, row: AnyRow, seed: int) -> ItemShown:
    """Read an item in the order that a seed gives.

    Args:
        campaign: the item's.
        row: with `ITEM_COLUMNS`.
        seed: of the assignment.
    """
    stored: list[Shown] = json.loads(row.translations)
    order = shown_order(seed, row.item_id, len(stored))
    translations = tuple(stored[index] for index in order)
    return ItemShown(
        id=row.item_id,
        place=row.item_place,
        segment=row.segment,
        media=row.media,
        translations=translations,
        order=order,
        check=None if row.check is None else _in_order(json.loads(row.check), order),
        asked=Asked(
            protocol=campaign.protocol,
            source=row.source,
            texts=[shown["text"] for shown in translations],
            given=[shown["given"] or () for shown in translations],
            categories=campaign.categories,
        ),
    )


def _in_order(check: Expected, order: tuple[int, ...]) -> Expected:
    """Count the translations of an expectation, and name its sides, as they are shown."""
    if "translation" in check:
        check["translation"] = order.index(check["translation"])
    if "chosen" in check:
        check["chosen"] = order.index(check["chosen"])
    if "verdicts" in check and order == (1, 0):
        check["verdicts"] = {name: TURNED[verdict] for name, verdict in check["verdicts"].items()}
    return check
