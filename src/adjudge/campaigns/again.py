"""Looking again: a second pass, a third person between two, and the agreement gate.

The gate is MENT's: what annotators disagree on is judged again, and dropped if they still do.

What was said before stays as it is. In a second pass and in an adjudication the marks made before are shown
as marks that were there beforehand: whoever looks again keeps, changes or deletes each, and adds others. What
was written before is one more draft, before the others. Ratings and verdicts are not shown, so that they are
given freely.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, Literal

from sqlalchemy import Connection, func, insert, select

from adjudge.analysis.study_agreement import (
    LEAST_SHARED,
    THRESHOLD,
    SegmentAgreement,
    segment_agreements,
)
from adjudge.campaigns.answers import send_segments_again
from adjudge.campaigns.assigning import deal_again
from adjudge.campaigns.database import Campaign, answer, assignment, item, person, task, verdict, write_audit
from adjudge.campaigns.database import campaign as campaigns
from adjudge.campaigns.exporting import stream_submissions
from adjudge.campaigns.items import AnyRow, State, read_state, shown_order
from adjudge.campaigns.tasks import insert_copy, item_values, items_of
from adjudge.core.record import Annotation, grouped
from adjudge.errors import UsageError
from adjudge.formats.campaign_export import FIRST, Kind

__all__ = ["GateReport", "adjudicate", "apply_gate", "second_pass", "why_no_gate"]

_AT_ONCE: Final = 20  # pieces of work sent in one transaction


def second_pass(campaign: Campaign, now: float, *, actor: str, numbers: Collection[int] | None = None) -> int:
    """Send finished work to other people, who see what was marked; what was sent so before is not sent again.

    It is dealt at once to people of its language pair, to those first who have least to do.

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
    by_task = grouped((row.task_id, row) for row in _finished(campaign, numbers))
    work = [rows for rows in by_task.values() if len(rows) > 1]
    return _send_marked(campaign, work, "adjudication", now, actor)


def _finished(campaign: Campaign, numbers: Collection[int] | None) -> Sequence[AnyRow]:
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
            copies = {}
            for rows in work[start : start + _AT_ONCE]:
                if (copy := _send_work(connection, campaign, rows, kind)) is not None:
                    copies[copy] = int(rows[0].task_id)
            role = "adjudicator" if kind == "adjudication" else "annotator"
            deal_again(connection, campaign, copies, now, role=role)
            sent += len(copies)
    with campaign.database.writing() as connection:
        write_audit(connection, campaign.id, now, actor=actor, action=kind, detail=f"tasks sent: {sent}")
    return sent


def _send_work(connection: Connection, campaign: Campaign, rows: Sequence[AnyRow], kind: Kind) -> int | None:
    """Copy one piece of work; whose it was is kept in the copies' items, so that it is sent but once."""
    number, made_by = rows[0].task_id, [row.id for row in rows]
    copies = select(item.c.check).join_from(item, task).where(task.c.copy_of == number, task.c.kind == kind)
    check = json.dumps({"what": kind, "assignments": made_by})
    if check in connection.execute(copies).scalars().all():
        return None
    edits, marks = _said(connection, rows)
    values = []
    for row in items_of(connection, number):
        drafts = json.loads(row.translations)
        if _edits_drafts(campaign):
            drafts = [*_written(edits[row.item_id], drafts), *drafts]
        else:
            for place, one in enumerate(drafts):
                one["given"] = sorted(marks[row.item_id, place], key=_order)
        values.append({**item_values(row, json.dumps(drafts, ensure_ascii=False)), "check": check})
    return insert_copy(connection, campaign, number, values, kind=kind, redundancy=1, copy_of=number)


def _edits_drafts(campaign: Campaign) -> bool:
    return campaign.protocol.shows == "candidates"


_Edits = defaultdict[int, list[str]]
"""Item to what people wrote."""
_Marks = defaultdict[tuple[int, int], list[dict[str, Any]]]
"""Item, and place of the translation among its systems, to the marks."""


def _said(connection: Connection, rows: Sequence[AnyRow]) -> tuple[_Edits, _Marks]:
    """What was written and what was marked, each text and each mark once, whoever made it."""
    edits: _Edits = defaultdict(list)
    marks: _Marks = defaultdict(list)
    for row in rows:
        said = select(answer.c.item_id, answer.c.state).where(answer.c.assignment_id == row.id)
        for number, text in connection.execute(said):
            state = read_state(text)
            if state.edited is not None and state.edited not in edits[number]:
                edits[number].append(state.edited)
            order = shown_order(row.seed, number, len(state.translations))
            for shown, place in enumerate(order):
                own = marks[number, place]
                own += [mark for mark in _marks_of(state, shown) if mark not in own]
    return edits, marks


def _marks_of(state: State, shown: int) -> Iterator[dict[str, Any]]:
    """Marks as they are given to the next person; what is missing has no place."""
    part = state.translations[shown]
    for span in part.spans:
        yield span.model_dump(mode="json", exclude={"id", "given"})
    if part.missing is not None:
        nowhere = {"side": "translation", "start": None, "end": None, "text": "", "note": ""}
        yield {**nowhere, **part.missing.model_dump(mode="json")}


def _written(texts: Sequence[str], drafts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Texts as drafts, under names that no other draft has."""
    taken = {one["system"] for one in drafts}
    names = (name for number in count(1) if (name := f"edited {number}") not in taken)
    return [
        {"system": name, "text": text, "given": None, "original": None}
        for name, text in zip(names, texts, strict=False)
    ]


def _order(mark: Mapping[str, Any]) -> tuple[bool, int, int]:
    return mark["start"] is None, mark["start"] or 0, mark["end"] or 0


Decision = Literal["kept", "again", "dropped"]
_Segment = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class GateReport:
    """What the gate decided of a campaign, so far.

    Args:
        segments: that the campaign has.
        first: that were judged as often as asked, and could be decided on.
        failed: of these, sent out again.
        second: of these, judged again as often as asked.
        dropped: of these, that failed again.
        undefined: segments with a pair whose correlation does not exist, of those decided on this time.
        unjudged: segments where no two people rated enough of the same systems, though all is done.
    """

    segments: int
    first: int
    failed: int
    second: int
    dropped: int
    undefined: int = 0
    unjudged: int = 0

    @property
    def failed_share(self) -> float | None:
        """Of all that were decided on; 22.2 % in MENT."""
        return self.failed / self.first if self.first else None

    @property
    def dropped_share(self) -> float | None:
        """Of all that were decided on; perhaps the 4.7 % of MENT."""
        return self.dropped / self.first if self.first else None

    @property
    def dropped_share_of_failed(self) -> float | None:
        """Of those that were judged again; perhaps the 4.7 % of MENT."""
        return self.dropped / self.second if self.second else None


def why_no_gate(campaign: Campaign) -> str | None:
    """Why annotators' ratings cannot be compared in a campaign; None where they can."""
    if campaign.protocol.scale is None:
        return f"the agreement gate compares ratings, and {campaign.protocol.name} has none"
    if campaign.settings.redundancy < 2:
        return "the agreement gate compares annotators: it needs 2 raters of each segment or more"
    return None


def apply_gate(
    campaign: Campaign,
    now: float,
    *,
    actor: str,
    threshold: float = THRESHOLD,
    least_shared: int = LEAST_SHARED,
    by_others: bool = False,
) -> GateReport:
    """Decide on every segment that is judged as often as asked, and send out again what failed once.

    What was decided stays decided, so that this may be called at any time and as often as one likes. A second
    judgement replaces the first in an export; what is dropped is exported as that, and counts no more.

    Args:
        campaign: one that rates.
        now: seconds since 1970.
        actor: who asks for it.
        threshold: smallest correlation that two annotators must have.
        least_shared: systems that both must have rated in a segment.
        by_others: whether only people who did not judge a segment may judge it again; they must be enough.

    Raises:
        UsageError: the protocol has no ratings, or each translation is judged by one person alone.
    """
    if reason := why_no_gate(campaign):
        raise UsageError(reason)
    agreements = [
        segment_agreements(annotations, threshold, least_shared=least_shared)
        for annotations in _annotations(campaign)
    ]
    with campaign.database.writing() as connection:
        connection.execute(select(campaigns.c.id).where(campaigns.c.id == campaign.id).with_for_update())
        decided = _decided(connection, campaign)
        new = [
            (one, number)
            for number, found in enumerate(agreements, start=1)
            for one in _undecided(found, decided, number, _ready(connection, campaign, number))
        ]
        rows = [_row(campaign, one, number, now) for one, number in new if one.passes is not None]
        if rows:
            connection.execute(insert(verdict), rows)
        failed = {(row["lp"], row["segment"]) for row in rows if row["decision"] == "again"}
        send_segments_again(connection, campaign, failed, now, by_others=by_others)
        counts = Counter(row["decision"] for row in rows)
        detail = ", ".join(f"{count} {decision}" for decision, count in counts.items())
        write_audit(connection, campaign.id, now, actor=actor, action="gate", detail=detail or "nothing new")
        return _report(connection, campaign, [one for one, _ in new])


def _annotations(campaign: Campaign) -> tuple[list[Annotation], list[Annotation]]:
    """First judgements, and those of segments that were sent out again."""
    first: list[Annotation] = []
    second: list[Annotation] = []
    for one in stream_submissions(campaign):
        found = [record for record in one.records if isinstance(record, Annotation)]
        if one.kind in FIRST:
            first += found
        elif (
            one.kind == "again" and not one.given
        ):  # marks to look at again are given, and are another matter
            second += found
    return first, second


def _decided(connection: Connection, campaign: Campaign) -> dict[tuple[str, str, int], Decision]:
    columns = (verdict.c.lp, verdict.c.segment, verdict.c["pass"], verdict.c.decision)
    rows = connection.execute(select(*columns).where(verdict.c.campaign_id == campaign.id))
    return {(lp, segment, number): decision for lp, segment, number, decision in rows}


def _undecided(
    found: Iterable[SegmentAgreement],
    decided: Mapping[tuple[str, str, int], Decision],
    number: int,
    ready: frozenset[_Segment],
) -> Iterator[SegmentAgreement]:
    """Segments whose turn it is: judged as often as asked and, the second time, sent out for it."""
    for one in found:
        is_sent = number == 1 or decided.get((one.lp, one.segment, 1)) == "again"
        if is_sent and (one.lp, one.segment) in ready and (one.lp, one.segment, number) not in decided:
            yield one


def _ready(connection: Connection, campaign: Campaign, number: int) -> frozenset[_Segment]:
    """Segments all of whose tasks were done as often as asked."""
    kinds = FIRST if number == 1 else ("again",)
    is_theirs = (task.c.campaign_id == campaign.id) & task.c.kind.in_(kinds)
    done = func.count(assignment.c.id)
    is_done = (assignment.c.task_id == task.c.id) & (assignment.c.state == "done")
    counts = select(task.c.id, task.c.redundancy, done).select_from(task.outerjoin(assignment, is_done))
    rows = connection.execute(counts.where(is_theirs).group_by(task.c.id, task.c.redundancy))
    full = {task_id for task_id, wanted, count in rows if count >= wanted}
    all_of: defaultdict[_Segment, set[int]] = defaultdict(set)
    segments = select(task.c.lp, item.c.segment, task.c.id).join_from(item, task).where(is_theirs)
    for lp, segment, task_id in connection.execute(segments):
        all_of[lp, segment].add(task_id)
    return frozenset(segment for segment, tasks in all_of.items() if tasks <= full)


def _row(campaign: Campaign, one: SegmentAgreement, number: int, now: float) -> dict[str, Any]:
    failed: Decision = "again" if number == 1 else "dropped"
    return {
        "campaign_id": campaign.id,
        "lp": one.lp,
        "segment": one.segment,
        "pass": number,
        "decision": "kept" if one.passes else failed,
        "agreement": one.lowest,
        "at": now,
    }


def _report(connection: Connection, campaign: Campaign, new: list[SegmentAgreement]) -> GateReport:
    is_theirs = (task.c.campaign_id == campaign.id) & task.c.kind.in_(FIRST)
    segments = select(task.c.lp, item.c.segment).join_from(item, task).where(is_theirs).distinct()
    total = select(func.count()).select_from(segments.subquery())
    said = _decided(connection, campaign)
    counts = Counter((number, decision) for (_, _, number), decision in said.items())
    passes = Counter(number for number, _ in counts.elements())
    return GateReport(
        segments=int(connection.execute(total).scalar_one()),
        first=passes[1],
        failed=counts[1, "again"],
        second=passes[2],
        dropped=counts[2, "dropped"],
        undefined=sum(one.undefined > 0 for one in new),
        unjudged=sum(one.passes is None for one in new),
    )
