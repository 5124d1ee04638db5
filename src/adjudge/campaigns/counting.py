"""What the store has of a campaign's work, counted. Tutorials are no work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, func, or_, select

from adjudge.campaigns.schema import answer, assignment, item, person, task

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign

__all__ = ["Counts"]


@dataclass(frozen=True)
class Counts:
    """Counts of one campaign, at one moment.

    Args:
        campaign: which.
        connection: that reads.
    """

    campaign: Campaign
    connection: Connection

    def _all(self, query: Select[Any]) -> list[Row[Any]]:
        return list(self.connection.execute(query.where(task.c.campaign_id == self.campaign.id)))

    def tasks_by_kind(self) -> list[Row[Any]]:
        """Of each kind, tutorials too: `tasks`, assignments `needed`, and `items_needed`."""
        sizes = select(item.c.task_id, func.count().label("size")).group_by(item.c.task_id).subquery()
        return self._all(
            select(
                task.c.kind,
                func.count().label("tasks"),
                func.sum(task.c.redundancy).label("needed"),
                func.sum(task.c.redundancy * sizes.c.size).label("items_needed"),
            )
            .outerjoin_from(task, sizes, sizes.c.task_id == task.c.id)
            .group_by(task.c.kind)
        )

    def assignments(self) -> dict[str, int]:
        """Assignments by their state."""
        query = select(assignment.c.state, func.count()).join_from(assignment, task)
        return dict(map(tuple, self._all(query.where(_is_work()).group_by(assignment.c.state))))

    def items_finished(self) -> dict[str, int]:
        """Finished items by the state of the assignments that they are of."""
        query = _finished(select(assignment.c.state, func.count())).group_by(assignment.c.state)
        return dict(map(tuple, self._all(query)))

    def finished_since(self, since: float) -> int:
        """Items whose last change came then or later."""
        (row,) = self._all(_finished(select(func.count())).where(answer.c.last_at >= since))
        return int(row[0])

    def items_finished_by(self, number: int) -> int:
        """Items that one person finished."""
        (row,) = self._all(_finished(select(func.count())).where(assignment.c.person_id == number))
        return int(row[0])

    # By person...

    def tasks_done(self) -> dict[int, int]:
        """Tasks that each person finished."""
        query = select(assignment.c.person_id, func.count()).join_from(assignment, task)
        chosen = query.where(_is_work(), assignment.c.state == "done").group_by(assignment.c.person_id)
        return dict(map(tuple, self._all(chosen)))

    def work(self) -> dict[int, dict[str, Any]]:
        """Finished items, seconds and times of each person, by the names of `progress.PersonProgress`."""
        query = (
            select(
                assignment.c.person_id,
                func.count().filter(answer.c.is_complete).label("items"),
                func.sum(answer.c.active).label("active"),
                func.sum(answer.c.idle).label("idle"),
                func.min(answer.c.first_at).label("first_at"),
                func.max(answer.c.last_at).label("last_at"),
            )
            .join_from(answer, assignment)
            .join(task)
            .where(_is_work())
            .group_by(assignment.c.person_id)
        )
        rows = [dict(row._mapping) for row in self._all(query)]  # noqa: SLF001 (public in SQLAlchemy)
        return {row.pop("person_id"): row for row in rows}

    def left(self, only: int | None = None) -> dict[int, int]:
        """Items of each person's batch that nobody finished in their place, and they themselves did not.

        Args:
            only: person of whom alone it is counted.
        """
        mine = and_(assignment.c.task_id == task.c.id, assignment.c.person_id == person.c.id)
        is_answered = and_(
            answer.c.item_id == item.c.id, answer.c.assignment_id == assignment.c.id, answer.c.is_complete
        )
        query = (
            select(person.c.id, func.count())
            .join_from(person, task, and_(task.c.batch == person.c.batch, _is_work()))
            .join(item, item.c.task_id == task.c.id)
            .outerjoin(assignment, mine)
            .outerjoin(answer, is_answered)
            .where(person.c.campaign_id == self.campaign.id, answer.c.item_id.is_(None))
            .where(or_(task.c.only_for.is_(None), task.c.only_for == person.c.id))
            .where(or_(task.c.is_closed.is_(False), assignment.c.state == "leased"))
            .group_by(person.c.id)
        )
        chosen = query if only is None else query.where(person.c.id == only)
        return dict(map(tuple, self._all(chosen)))


def _is_work() -> ColumnElement[bool]:
    return task.c.kind != "tutorial"


def _finished(columns: Select[Any]) -> Select[Any]:
    """Complete answers of work, with their assignments and tasks."""
    joined = columns.select_from(answer).join(assignment, answer.c.assignment_id == assignment.c.id)
    return joined.join(task, assignment.c.task_id == task.c.id).where(_is_work(), answer.c.is_complete)
