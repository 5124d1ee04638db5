"""Looking again: a second pass over what was annotated, a third person between two.

What was said before stays as it is. In a second pass and in an adjudication the marks made before are shown
as marks that were there beforehand: whoever looks again keeps, changes or deletes each, and adds others. What
was written before is one more draft, before the others. Ratings and verdicts are not shown, so that they are
given freely.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, select

from adjudge.campaigns.audit import write_audit
from adjudge.campaigns.copies import insert_copy, item_values, items_of
from adjudge.campaigns.items import AnyRow
from adjudge.campaigns.schema import answer, assignment, item, person, task
from adjudge.campaigns.state import State, read_state, shown_order
from adjudge.data.submissions import FIRST, Kind
from adjudge.errors import UsageError

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign

__all__ = ["adjudicate", "second_pass"]

_AT_ONCE: Final = 20  # pieces of work sent in one transaction


def second_pass(campaign: Campaign, now: float, *, actor: str, numbers: Collection[int] | None = None) -> int:
    """Send finished work to other people, who see what was marked; what was sent so before is not sent again.

    Args:
        campaign: one that marks errors or edits drafts.
        now: seconds since 1970.
        actor: who asks for it.
        numbers: of tasks; None for all that are finished.

    Returns:
        How many new tasks; where several people did a task, each one's work is looked at.

    Raises:
        UsageError: the protocol marks and edits nothing.
    """
    work = [[row] for row in _finished(campaign, numbers)]
    return _send_marked(campaign, work, "again", now, actor)


def adjudicate(campaign: Campaign, now: float, *, actor: str, numbers: Collection[int] | None = None) -> int:
    """Send tasks that two or more people finished to an adjudicator, who sees what each of them marked.

    Args:
        campaign: one that marks errors or edits drafts, with an adjudicator among its people.
        now: seconds since 1970.
        actor: who asks for it.
        numbers: of tasks; None for all that two or more finished.

    Returns:
        How many new tasks.

    Raises:
        UsageError: the protocol marks and edits nothing, or the campaign has no adjudicator.
    """
    is_one = (person.c.campaign_id == campaign.id) & (person.c.role == "adjudicator")
    with campaign.database.reading() as connection:
        if (
            connection.execute(select(person.c.id).where(is_one, person.c.revoked_at.is_(None))).first()
            is None
        ):
            raise UsageError("adjudications are for adjudicators, and this campaign has none; add one first")
    by_task: defaultdict[int, list[AnyRow]] = defaultdict(list)
    for row in _finished(campaign, numbers):
        by_task[row.task_id].append(row)
    work = [rows for rows in by_task.values() if len(rows) > 1]
    return _send_marked(campaign, work, "adjudication", now, actor)


def _finished(campaign: Campaign, numbers: Collection[int] | None) -> Sequence[AnyRow]:
    """Finished assignments of first judgements: id, person, seed and task."""
    is_done = (task.c.campaign_id == campaign.id) & task.c.kind.in_(FIRST) & (assignment.c.state == "done")
    columns = (
        assignment.c.id,
        assignment.c.person_id,
        assignment.c.seed,
        assignment.c.task_id,
        task.c.number,
    )
    query = (
        select(*columns).join_from(assignment, task).where(is_done).order_by(task.c.number, assignment.c.id)
    )
    with campaign.database.reading() as connection:
        rows = connection.execute(query).all()
    return [row for row in rows if numbers is None or row.number in numbers]


def _send_marked(
    campaign: Campaign, work: Sequence[Sequence[AnyRow]], kind: Kind, now: float, actor: str
) -> int:
    if not campaign.protocol.severities and not _edits_drafts(campaign):
        raise UsageError(
            f"what was marked or edited is looked at again, and {campaign.protocol.name} does neither"
        )
    sent = 0
    for start in range(0, len(work), _AT_ONCE):
        with campaign.database.writing() as connection:
            for rows in work[start : start + _AT_ONCE]:
                sent += _send_work(connection, campaign, rows, kind)
    with campaign.database.writing() as connection:
        write_audit(connection, campaign.id, now, actor=actor, action=kind, detail=f"tasks sent: {sent}")
    return sent


def _send_work(connection: Connection, campaign: Campaign, rows: Sequence[AnyRow], kind: Kind) -> int:
    """Send one piece of work; whose it was is kept in the copies' items, so that it is sent but once."""
    number, made_by = rows[0].task_id, [row.id for row in rows]
    copies = select(item.c.check).join_from(item, task).where(task.c.copy_of == number, task.c.kind == kind)
    check = json.dumps({"what": kind, "assignments": made_by})
    if check in connection.execute(copies).scalars().all():
        return 0
    if _edits_drafts(campaign):
        said = _Said(edits=_edits(connection, rows))
    else:
        said = _Said(marks=_marks(connection, rows))
    values = [{**item_values(row, said.shown(row)), "check": check} for row in items_of(connection, number)]
    insert_copy(connection, campaign, number, values, kind=kind, redundancy=1, copy_of=number)
    return 1


def _edits_drafts(campaign: Campaign) -> bool:
    return campaign.protocol.shows == "candidates"


_Edits = Mapping[int, Sequence[str]]
"""Item to what people wrote."""


def _edits(connection: Connection, rows: Sequence[AnyRow]) -> _Edits:
    """What was written, each text once."""
    found: defaultdict[int, list[str]] = defaultdict(list)
    for row in rows:
        said = select(answer.c.item_id, answer.c.state).where(answer.c.assignment_id == row.id)
        for number, text in connection.execute(said):
            edited = read_state(text).edited
            if edited is not None and edited not in found[number]:
                found[number].append(edited)
    return found


_Marks = dict[tuple[int, int], list[dict[str, Any]]]
"""Item, and place of the translation among its systems, to the marks."""


def _marks(connection: Connection, rows: Sequence[AnyRow]) -> _Marks:
    """What was marked, each mark once; one that several people made alike stays one."""
    found: _Marks = defaultdict(list)
    for row in rows:
        said = select(answer.c.item_id, answer.c.state).where(answer.c.assignment_id == row.id)
        for number, text in connection.execute(said):
            state = read_state(text)
            order = shown_order(row.seed, number, len(state.translations))
            for shown, place in enumerate(order):
                own = found[number, place]
                own += [mark for mark in _marks_of(state, shown) if mark not in own]
    return found


def _marks_of(state: State, shown: int) -> Iterator[dict[str, Any]]:
    """Marks as they are given to the next person; what is missing has no place."""
    part = state.translations[shown]
    for span in part.spans:
        yield span.model_dump(mode="json", exclude={"id", "given"})
    if part.missing is not None:
        nowhere = {"side": "translation", "start": None, "end": None, "text": "", "note": ""}
        yield {**nowhere, **part.missing.model_dump(mode="json")}


@dataclass(frozen=True)
class _Said:
    """What people wrote, or marked."""

    edits: _Edits = field(default_factory=dict)
    marks: _Marks | None = None

    def shown(self, row: AnyRow) -> str:
        """Translations of an item, as JSON, with what was marked in them, and behind what was written."""
        drafts = json.loads(row.translations)
        if self.marks is not None:
            for place, one in enumerate(drafts):
                one["given"] = sorted(self.marks[row.item_id, place], key=_order)
        taken = {one["system"] for one in drafts}
        names = (name for number in count(1) if (name := f"edited {number}") not in taken)
        edited = [
            {"system": name, "text": text, "given": None, "original": None}
            for name, text in zip(names, self.edits.get(row.item_id, ()), strict=False)
        ]
        return json.dumps([*edited, *drafts], ensure_ascii=False)


def _order(mark: Mapping[str, Any]) -> tuple[bool, int, int]:
    return mark["start"] is None, mark["start"] or 0, mark["end"] or 0
