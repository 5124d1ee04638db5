"""A task as its annotator sees it: texts, what was said so far, and never the name of a system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.campaigns.assigning import Assignment, read_assignment
from adjudge.campaigns.items import ITEMS_AND_ANSWERS, AnyRow, ItemShown, read_item
from adjudge.campaigns.state import State, first_state, read_state

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign
    from adjudge.campaigns.people import Person

__all__ = ["ItemView", "TaskView", "task_view"]


@dataclass(frozen=True, kw_only=True)
class ItemView:
    """One item, in the order in which it is shown.

    Args:
        id: number, for events.
        place: within the task, from 0.
        media: text, image, audio or video.
        source: text, or the address of the media file below the campaign's folder.
        texts: translations.
        given: of each translation, the marks that were there beforehand.
        hashes: of each text shown, the source first.
        revision: how many changes were saved; 0 before the first one.
        state: after the newest of them.
        is_complete: whether the item has all that the protocol asks for.
        says: in a tutorial, what the person is told of it.
        active: seconds of work so far.
    """

    id: int
    place: int
    media: str
    source: str
    texts: Sequence[str]
    given: Sequence[Sequence[dict[str, Any]]]
    hashes: Sequence[str]
    revision: int
    state: State
    is_complete: bool
    says: str
    active: float


@dataclass(frozen=True, kw_only=True)
class TaskView:
    """A task given to a person, without anything that would tell whose translations these are.

    `lp` is the task's, `lp_shown` that of its texts: a tutorial may be in other languages.
    """

    assignment: int
    number: int
    lp: str
    lp_shown: str
    is_tutorial: bool
    is_done: bool
    is_editable: bool
    leased_until: float
    items: tuple[ItemView, ...]


def task_view(campaign: Campaign, person: Person, assignment_id: int) -> TaskView:
    """Show a task to the person to whom it was given; what is done may be read, and changed, again.

    Raises:
        NotYoursError: it is another person's.
    """
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
        is_done=given.state == "done",
        is_editable=given.is_editable(is_loud=campaign.settings.is_loud),
        leased_until=given.leased_until,
        items=tuple(_item_view(given, one, row) for one, row in zip(items, rows, strict=True)),
    )


def _item_view(given: Assignment, shown: ItemShown, row: AnyRow) -> ItemView:
    check = shown.check or {}
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
        says=check.get("says", "") if given.kind == "tutorial" else "",
        active=row.active or 0.0,
    )
