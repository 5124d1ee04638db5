"""How a task ends for a person: finished, or taken back by an organiser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, bindparam, literal, select, update

from adjudge.campaigns.assigning import Assignment, lock_person, read_assignment
from adjudge.campaigns.audit import write_audit
from adjudge.campaigns.choosing import tutorial_before
from adjudge.campaigns.faults import lacks
from adjudge.campaigns.feedback import feedback
from adjudge.campaigns.items import ITEMS_AND_ANSWERS, AnyRow, ItemShown, read_item
from adjudge.campaigns.leases import give_back
from adjudge.campaigns.schema import assignment, task
from adjudge.campaigns.schema import person as people
from adjudge.campaigns.state import read_state
from adjudge.campaigns.statements import Statement
from adjudge.errors import NotYoursError, UnfinishedError, UsageError

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign
    from adjudge.campaigns.people import Person

__all__ = ["Finished", "finish", "release"]


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A task that was finished; `notes`: item to what a person who did not pass a loud check is told."""

    assignment: int
    notes: dict[int, tuple[str, ...]]


_END: Final = Statement(
    update(assignment)
    .where(assignment.c.id == bindparam("assignment"))
    .values(state=literal("done"), done_at=bindparam("at"))
)


def finish(campaign: Campaign, person: Person, assignment_id: int, now: float) -> Finished:
    """Finish a task; what was finished before stays finished when it is changed and finished again.

    Args:
        campaign: theirs.
        person: who worked.
        assignment_id: the task given to them.
        now: seconds since 1970.

    Raises:
        NotYoursError: the assignment is another person's, or not theirs any more.
        UnfinishedError: something is still to do; or, in a tutorial, to be done otherwise.
    """
    with campaign.database.writing() as connection:
        known = lock_person(connection, campaign, person.id)
        given = read_assignment(connection, campaign, person.id, assignment_id, locks=True)
        if given.state == "expired":
            raise NotYoursError(f"task {given.number} is not yours any more; go on with the next one")
        notes = _check_finished(connection, campaign, given)
        _END.run(connection, [{"assignment": assignment_id, "at": given.done_at or now}])
        if given.kind == "tutorial" and tutorial_before(connection, campaign, known, -1, lp=given.lp) == -1:
            connection.execute(update(people).where(people.c.id == person.id).values(tutorial_at=now))
        return Finished(assignment=assignment_id, notes=notes if campaign.settings.is_loud else {})


def _check_finished(
    connection: Connection, campaign: Campaign, given: Assignment
) -> dict[int, tuple[str, ...]]:
    """Refuse what is not finished; say what a check or a tutorial expected otherwise."""
    rows = ITEMS_AND_ANSWERS.rows(connection, assignment=given.id, task=given.task)
    shown = [(read_item(campaign, row, given.seed), row) for row in rows]
    todo = {one.id: _todo(one, row) for one, row in shown if not row.is_complete}
    if todo:
        raise UnfinishedError("this task is not finished", todo)
    notes = {
        one.id: tuple(f"segment {one.place + 1}: {why}" for why in found)
        for one, row in shown
        if one.check is not None and (found := feedback(read_state(row.state), one.check))
    }
    if given.kind == "tutorial" and notes:
        raise UnfinishedError("not quite yet", notes)
    return notes


def _todo(one: ItemShown, row: AnyRow) -> list[str]:
    """What is to do, each with the item's place for people, who count from 1."""
    if row.state is None:
        return [f"segment {one.place + 1} was not looked at"]
    reasons = lacks(read_state(row.state), one.asked, is_declared=False)
    return [f"segment {one.place + 1}: {why}" for why in reasons]


def release(campaign: Campaign, number: int, now: float, *, actor: str) -> int:
    """Take a task back from everybody who has not finished it; their answers so far stay and count.

    Returns:
        From how many.

    Raises:
        UsageError: there is no task of that number.
    """
    with campaign.database.writing() as connection:
        query = select(task.c.id).where(task.c.campaign_id == campaign.id, task.c.number == number)
        found = connection.execute(query).scalar()
        if found is None:
            raise UsageError(f"campaign {campaign.name!r} has no task {number}")
        count = give_back(connection, (assignment.c.task_id == found) & (assignment.c.state == "leased"))
        detail = f"task {number}: {count} given back"
        write_audit(connection, campaign.id, now, actor=actor, action="release", detail=detail)
        return count
