"""Attention checks in the store: whether people noticed what was damaged."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, Select, and_, select

from adjudge.campaigns.feedback import feedback
from adjudge.campaigns.items import ITEM_COLUMNS, read_item
from adjudge.campaigns.schema import answer, assignment, item, task
from adjudge.campaigns.state import read_state

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign
    from adjudge.campaigns.people import Person

__all__ = ["checks_noticed", "noticed_by_person"]


def checks_noticed(campaign: Campaign, person: Person) -> list[bool]:
    """Of each attention check that a person finished, whether they noticed the damage."""
    with campaign.database.reading() as connection:
        return _noticed(connection, campaign, _checks(campaign).where(assignment.c.person_id == person.id))[
            person.id
        ]


def noticed_by_person(connection: Connection, campaign: Campaign) -> defaultdict[int, list[bool]]:
    """The same of everybody, by their ids; nothing of who met no check."""
    return _noticed(connection, campaign, _checks(campaign))


def _noticed(connection: Connection, campaign: Campaign, checks: Select[Any]) -> defaultdict[int, list[bool]]:
    found: defaultdict[int, list[bool]] = defaultdict(list)
    for row in connection.execute(checks):
        found[row.person_id].append(_is_noticed(campaign, row))
    return found


def _checks(campaign: Campaign) -> Select[Any]:
    """Finished items of checks, beside what the same person said of the original."""
    theirs, first, before = assignment.alias("theirs"), item.alias("first"), answer.alias("before")
    of_original = and_(theirs.c.task_id == task.c.copy_of, theirs.c.person_id == assignment.c.person_id)
    said_before = and_(before.c.assignment_id == theirs.c.id, before.c.item_id == first.c.id)
    is_check = and_(task.c.kind == "check", item.c.check.is_not(None), answer.c.is_complete)
    return (
        select(
            *ITEM_COLUMNS,
            assignment.c.person_id,
            assignment.c.seed,
            answer.c.state,
            before.c.state.label("before"),
        )
        .select_from(answer)
        .join(assignment, answer.c.assignment_id == assignment.c.id)
        .join(task, assignment.c.task_id == task.c.id)
        .join(item, answer.c.item_id == item.c.id)
        .outerjoin(theirs, of_original)
        .outerjoin(first, and_(first.c.task_id == task.c.copy_of, first.c.segment == item.c.segment))
        .outerjoin(before, said_before)
        .where(task.c.campaign_id == campaign.id, is_check)
    )


def _is_noticed(campaign: Campaign, row: Row[Any]) -> bool:
    """Whether what a check expects was done; where nothing can be marked, whether it was rated lower."""
    shown, state = read_item(campaign, row, row.seed), read_state(row.state)
    if shown.check is None:
        return False
    if campaign.protocol.severities or "rating" in shown.check or row.before is None:
        return not feedback(state, shown.check)
    rating, before = (said.translations[0].rating for said in (state, read_state(row.before)))
    return rating is not None and before is not None and rating < before
