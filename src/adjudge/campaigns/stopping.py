"""Why a person is given no more work while there is some: a day's portion is done, or the test was failed.

A day's portion is `ratings_a_day` of the settings. The test is the tutorial where the settings have a
`pass_mark`: nothing is told in it, it is done once, and who does less of it right, all its tasks
together, gets no work: what was dealt to them is free for others.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Final, Literal

from sqlalchemy import Connection, bindparam, exists, literal, select

from adjudge.campaigns.database import Campaign, Person, Statement, assignment, item, task
from adjudge.campaigns.database import person as people
from adjudge.campaigns.items import AnyRow

WhyNothing = Literal["", "tomorrow", "test"]

_OF_TODAY: Final = Statement(
    select(item.c.translations)
    .select_from(assignment.join(task).join(item, item.c.task_id == task.c.id))
    .where(
        assignment.c.person_id == bindparam("person"),
        assignment.c.state == literal("done"),
        assignment.c.done_at >= bindparam("since"),
        task.c.kind != literal("tutorial"),
    )
)


def had_enough(connection: Connection, campaign: Campaign, person: int, now: float) -> bool:
    """Whether a person finished a day's portion since the last midnight where the server is."""
    if (most := campaign.settings.ratings_a_day) is None:
        return False
    today = datetime.fromtimestamp(now).astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    rows = _OF_TODAY.rows(connection, person=person, since=today.timestamp())
    is_each = campaign.protocol.shows in {"one", "several"}
    return sum(len(json.loads(row.translations)) if is_each else 1 for row in rows) >= most


_ASSIGNED: Final = assignment.alias("assigned")
_PART: Final = task.alias("part")
_DID_PART: Final = exists().where(
    _ASSIGNED.c.task_id == _PART.c.id,
    _ASSIGNED.c.person_id == bindparam("person"),
    _ASSIGNED.c.state == literal("done"),
)
_IS_LEFT: Final = exists().where(
    _PART.c.campaign_id == task.c.campaign_id,
    _PART.c.kind == literal("tutorial"),
    _PART.c.lp == task.c.lp,
    ~_DID_PART,
)
_TUTORIALS_DONE: Final = Statement(
    select(task.c.lp)
    .join_from(assignment, task)
    .where(
        assignment.c.person_id == bindparam("person"),
        assignment.c.state == literal("done"),
        task.c.kind == literal("tutorial"),
        ~_IS_LEFT,
    )
)


def tutorials_done(connection: Connection, person: int) -> set[str]:
    """Language pairs of whose tutorial a person finished every task."""
    return {row.lp for row in _TUTORIALS_DONE.rows(connection, person=person)}


def did_fail(connection: Connection, campaign: Campaign, person: AnyRow) -> bool:
    """Whether a person did the test before work, all tasks of it, and did not pass it."""
    if campaign.settings.pass_mark is None or person.tutorial_at is not None:
        return False
    return bool(tutorials_done(connection, person.id))


def why_nothing(campaign: Campaign, person: Person, now: float) -> WhyNothing:
    """Why `assign_next` gives somebody nothing: the test was failed, a day's portion is done, or all is."""
    with campaign.database.reading() as connection:
        known = connection.execute(select(people).where(people.c.id == person.id)).one()
        if did_fail(connection, campaign, known):
            return "test"
        is_left = (assignment.c.person_id == person.id) & (assignment.c.state == "dealt")
        is_more = connection.execute(select(assignment.c.id).where(is_left).limit(1)).first() is not None
        return "tomorrow" if is_more and had_enough(connection, campaign, person.id, now) else ""
