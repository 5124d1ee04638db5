"""Looking again: a second pass, a third person between two, and the agreement gate.

The gate is MENT's: what annotators disagree on is judged again, and dropped if they still do.

What was said before stays as it is. In a second pass the marks made before are shown as marks that were
there beforehand: whoever looks again keeps, changes or deletes each, and adds others. What was written before
is one more draft, before the others. Ratings and verdicts are not shown, so that they are given freely.

An adjudicator gets the segments alone in which people differ by a `Measure`, and sees what each of them said.
The decision is a judgement of its own, which keeps what it decided between.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, count
from typing import Any, Final, Literal, NamedTuple

from sqlalchemy import Connection, func, insert, select

from adjudge.analysis.span_matching import mark_of, partial_credit, quality
from adjudge.analysis.study_agreement import LEAST_SHARED, THRESHOLD, SegmentAgreement, segment_agreements
from adjudge.campaigns.answers import send_segments_again
from adjudge.campaigns.assigning import deal_again
from adjudge.campaigns.database import Campaign, answer, assignment, item, person, task, verdict, write_audit
from adjudge.campaigns.database import campaign as campaigns
from adjudge.campaigns.exporting import stream_submissions
from adjudge.campaigns.items import AnyRow, Said, State, in_systems_order, read_state, shown_order
from adjudge.campaigns.settings import CampaignProtocol
from adjudge.campaigns.tasks import insert_copy, item_values, items_of
from adjudge.core.frozen import frozen
from adjudge.core.protocol import INSTRUCTION_FAULT
from adjudge.core.record import Annotation, Preference, grouped
from adjudge.errors import UsageError
from adjudge.formats.campaign_export import FIRST, Kind, Submission

_AT_ONCE: Final = 20  # pieces of work sent in one transaction


def second_pass(campaign: Campaign, now: float, *, actor: str, numbers: Collection[int] | None = None) -> int:
    """Send finished work to other people, who see what was marked; what was sent so before is not sent again.

    It is dealt at once to people of its language pair, to those first who have least to do.

    How many new tasks; where several people did a task, each one's work is looked at. `now`: seconds since
    1970. `numbers`: of tasks; None for all that are finished.
    """
    if not campaign.protocol.severities and not _edits_drafts(campaign):
        raise UsageError(
            f"a second look is for marks and edits, and protocol {campaign.protocol.name} has neither"
        )
    work = [_Work([row], None) for row in _finished(campaign, numbers)]
    return _send_work(campaign, work, "again", now, actor)[0]


MARKS_AGREE: Final = 0.5
"""F1 of two people's marks below which they differ, where nothing else is said and nothing is rated."""
_PART: Final = 0.25  # of the range of the ratings: so far apart they differ
_PART_OF_SEVERAL: Final = (
    0.5  # where any one of several translations is enough: docs/campaigns.md has the figures
)
_STEPS: Final = 2  # at least: neighbouring choices are none


@frozen
class Measure:
    """From when on two people's judgements of a segment differ. Any one translation or criterion is enough.

    Verdicts on which of two is better, and texts that people wrote, differ where they are not the same.
    """

    protocol: CampaignProtocol
    # in points of the protocol's scale; ratings so far apart or farther differ. None where ratings are not
    # compared.
    min_difference: float | None
    # from 0 to 1; marks with a lower F1 differ. F1 is that of `analysis.span_matching`'s `partial_credit`:
    # matched marks earn the part of themselves that the other one holds, and nothing with another severity.
    # None where marks are not compared.
    min_f1: float | None

    def __str__(self) -> str:
        scale = self.protocol.scale
        parts = []
        if scale is not None and self.min_difference is not None:
            span = f"{scale.low:g} to {scale.high:g}"
            parts.append(f"ratings {self.min_difference:g} or more apart, on the scale from {span}")
        if self.min_f1 is not None:
            parts.append(f"marks with an F1 below {self.min_f1:g}")
        if self.protocol.criteria:
            parts.append("another verdict on a criterion")
        if self.protocol.shows == "candidates":
            parts.append("another text written")
        return ", or ".join(parts)


def find_measure(
    protocol: CampaignProtocol, min_difference: float | None = None, min_f1: float | None = None
) -> Measure:
    """The measure that was asked for.

    Where neither is given, ratings are compared, and marks where there are no ratings. Ratings differ by a
    quarter of their scale, or by half of it where several translations stand on a page, two steps at least:
    25 or 50 of 0 to 100, 2 of 0 to 4. Marks differ below `MARKS_AGREE`.
    """
    scale, has_marks = protocol.scale, bool(protocol.severities) and not protocol.criteria
    if min_difference is not None:
        if scale is None:
            raise UsageError(f"--min-difference compares ratings, and {protocol.name} has none")
        if not 0 <= min_difference <= scale.high - scale.low:
            most = scale.high - scale.low
            raise UsageError(f"--min-difference lies in 0 to {most:g} points, got {min_difference:g}")
    if min_f1 is not None:
        if not has_marks:
            raise UsageError(f"--min-f1 compares marks of errors, and {protocol.name} has none")
        if not 0 <= min_f1 <= 1:
            raise UsageError(f"--min-f1 lies in 0 to 1, got {min_f1:g}")
    if min_difference is None and min_f1 is None:
        if scale is not None:
            part = _PART_OF_SEVERAL if protocol.shows == "several" else _PART
            min_difference = max((scale.high - scale.low) * part, scale.step * _STEPS)
        elif has_marks:
            min_f1 = MARKS_AGREE
    return Measure(protocol=protocol, min_difference=min_difference, min_f1=min_f1)


def differ(said: Iterable[Submission], measure: Measure) -> bool:
    """Whether any two of these judgements of one segment differ."""
    return any(_are_apart(one, other, measure) for one, other in combinations(said, 2))


def _are_apart(one: Submission, other: Submission, measure: Measure) -> bool:
    if (one.edited or "").strip() != (other.edited or "").strip():
        return True
    theirs = {_about(record): record for record in other.records}
    return any(
        _records_differ(record, theirs[_about(record)], measure)
        for record in one.records
        if _about(record) in theirs
    )


def _about(record: Annotation | Preference) -> tuple[str, ...]:
    return (*record.systems, record.criterion or "")


def _records_differ(one: Annotation | Preference, other: Annotation | Preference, measure: Measure) -> bool:
    if isinstance(one, Preference) or isinstance(other, Preference):
        return one.verdict != other.verdict  # type: ignore[union-attr] # of one campaign: both are preferences
    least, lowest = measure.min_difference, measure.min_f1
    ratings = [each.rating for each in (one, other) if each.rating is not None]
    if least is not None and len(ratings) > 1 and max(ratings) - min(ratings) >= least:
        return True
    if lowest is None:
        return False
    marks = ([mark_of(span, "characters") for span in each.spans] for each in (one, other))
    return quality(partial_credit(*marks, penalty=1.0)).f1 < lowest


@frozen
class Adjudications:
    """What was sent to adjudicators."""

    measure: Measure  # by which people differ
    segments: int  # that two or more people finished, each system's by itself where systems stand alone
    differing: int  # of these, in which people differ
    sent: int  # of these, that were sent now; others were sent before
    tasks: int  # new ones, which hold them


def adjudicate(
    campaign: Campaign,
    now: float,  # seconds since 1970
    *,
    actor: str,
    measure: Measure | None = None,
    numbers: Collection[int] | None = None,  # of tasks; None for all that two or more finished
) -> Adjudications:
    """Send segments in which people differ to an adjudicator, who sees what each of them said.

    `measure`: by which people differ; None for the protocol's, as `find_measure` has it.
    """
    measure = measure or find_measure(campaign.protocol)
    is_one = (person.c.campaign_id == campaign.id) & (person.c.role == "adjudicator")
    with campaign.database.reading() as connection:
        if (
            connection.execute(select(person.c.id).where(is_one, person.c.revoked_at.is_(None))).first()
            is None
        ):
            raise UsageError("adjudications are for adjudicators, and this campaign has none; add one first")
    by_task = grouped((row.number, row) for row in _finished(campaign, numbers))
    shared = {number: rows for number, rows in by_task.items() if len(rows) > 1}
    done = {(number, row.name) for number, rows in shared.items() for row in rows}
    said = grouped(
        ((one.task, one.item), one) for one in stream_submissions(campaign) if (one.task, one.person) in done
    )
    several = {place: each for place, each in said.items() if len(each) > 1}
    apart = [place for place, each in several.items() if differ(each, measure)]
    places = grouped(apart)
    work = [_Work(rows, frozenset(places[number])) for number, rows in shared.items() if number in places]
    tasks, sent = _send_work(campaign, work, "adjudication", now, actor)
    return Adjudications(measure=measure, segments=len(several), differing=len(apart), sent=sent, tasks=tasks)


class _Work(NamedTuple):
    """Assignments of one task, and places of the items that are looked at again; None for all."""

    done: Sequence[AnyRow]
    places: Collection[int] | None


def _finished(campaign: Campaign, numbers: Collection[int] | None) -> Sequence[AnyRow]:
    is_done = (task.c.campaign_id == campaign.id) & task.c.kind.in_(FIRST) & (assignment.c.state == "done")
    columns = (
        assignment.c.id,
        assignment.c.person_id,
        assignment.c.seed,
        assignment.c.task_id,
        task.c.number,
        person.c.name,
    )
    joined = select(*columns).join_from(assignment, task).join(person, person.c.id == assignment.c.person_id)
    query = joined.where(is_done).order_by(task.c.number, assignment.c.id)
    with campaign.database.reading() as connection:
        rows = connection.execute(query).all()
    return [row for row in rows if numbers is None or row.number in numbers]


def _send_work(
    campaign: Campaign, work: Sequence[_Work], kind: Kind, now: float, actor: str
) -> tuple[int, int]:
    sent = segments = 0
    for start in range(0, len(work), _AT_ONCE):
        with campaign.database.writing() as connection:
            copies = {}
            for one in work[start : start + _AT_ONCE]:
                if values := _copied(connection, campaign, one, kind):
                    number = int(one.done[0].task_id)
                    copy = insert_copy(
                        connection, campaign, number, values, kind=kind, raters=1, copy_of=number
                    )
                    copies[copy] = number
                    segments += len(values)
            role = "adjudicator" if kind == "adjudication" else "annotator"
            deal_again(connection, campaign, copies, now, role=role)
            sent += len(copies)
    with campaign.database.writing() as connection:
        write_audit(connection, campaign.id, now, actor=actor, action=kind, detail=f"tasks sent: {sent}")
    return sent, segments


def _copied(connection: Connection, campaign: Campaign, work: _Work, kind: Kind) -> list[dict[str, Any]]:
    """Items of one piece of work; whose it was is kept in them, so that each is sent but once."""
    number, made_by = work.done[0].task_id, [row.id for row in work.done]
    copies = select(item.c.segment, item.c.check).join_from(item, task)
    sent = connection.execute(copies.where(task.c.copy_of == number, task.c.kind == kind)).all()
    known = {segment for segment, check in sent if json.loads(check or "{}").get("assignments") == made_by}
    edits, marks = _said(connection, work.done)
    between = _between(connection, work.done) if kind == "adjudication" else {}
    values = []
    for row in items_of(connection, number):
        if row.segment in known or (work.places is not None and row.item_place not in work.places):
            continue
        check = {"what": kind, "assignments": made_by}
        drafts = json.loads(row.translations)
        if kind == "adjudication":
            check["between"] = between[row.item_id]
        elif _edits_drafts(campaign):
            drafts = [*_written(edits[row.item_id], drafts), *drafts]
        else:
            for place, one in enumerate(drafts):
                one["given"] = sorted(
                    marks[row.item_id, place],
                    key=lambda mark: (mark["start"] is None, mark["start"] or 0, mark["end"] or 0),
                )
        texts = json.dumps(drafts, ensure_ascii=False)
        values.append({**item_values(row, texts), "check": json.dumps(check, ensure_ascii=False)})
    return values


def _between(connection: Connection, rows: Sequence[AnyRow]) -> dict[int, list[Said]]:
    found: defaultdict[int, list[Said]] = defaultdict(list)
    for row in rows:
        said = select(answer.c.item_id, answer.c.state).where(answer.c.assignment_id == row.id)
        for number, text in connection.execute(said.where(answer.c.is_complete.is_(True))):
            state = read_state(text)
            order = shown_order(row.seed, number, len(state.translations))
            ordered = in_systems_order(state, order).model_dump(mode="json")
            found[number].append({"person": row.name, "state": ordered})
    return found


def _edits_drafts(campaign: Campaign) -> bool:
    return campaign.protocol.shows == "candidates"


_Edits = defaultdict[int, list[str]]
"""Item to what people wrote."""
_Marks = defaultdict[tuple[int, int], list[dict[str, Any]]]
"""Item, and place of the translation among its systems, to the marks."""


def _said(connection: Connection, rows: Sequence[AnyRow]) -> tuple[_Edits, _Marks]:
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
    part = state.translations[shown]
    for span in part.spans:
        yield span.model_dump(mode="json", exclude={"id", "given"})
    nowhere = {"side": "translation", "start": None, "end": None, "text": "", "note": ""}
    if part.missing is not None:
        yield {**nowhere, **part.missing.model_dump(mode="json")}
    if part.instruction_fault is not None:
        yield {**nowhere, "severity": part.instruction_fault, "category": INSTRUCTION_FAULT}


def _written(texts: Sequence[str], drafts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    taken = {one["system"] for one in drafts}
    names = (name for number in count(1) if (name := f"edited {number}") not in taken)
    return [
        {"system": name, "text": text, "given": None, "original": None}
        for name, text in zip(names, texts, strict=False)
    ]


Decision = Literal["kept", "again", "dropped"]
_Segment = tuple[str, str]


@frozen
class GateReport:
    """What the gate decided of a campaign, so far."""

    segments: int
    first: int  # that were judged as often as asked, and could be decided on
    failed: int  # of these, sent out again
    second: int  # of these, judged again as often as asked
    dropped: int  # of these, that failed again
    undefined: int = 0  # segments with a pair whose correlation does not exist, of those decided on this time
    unjudged: int = 0  # segments where no two people rated enough of the same systems, though all is done

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
    if campaign.settings.raters < 2:
        return "the agreement gate compares annotators: it needs 2 raters of each segment or more"
    return None


def apply_gate(
    campaign: Campaign,
    now: float,  # seconds since 1970
    *,
    actor: str,
    threshold: float = THRESHOLD,
    least_shared: int = LEAST_SHARED,
    by_others: bool = False,
) -> GateReport:
    """Decide on every segment that is judged as often as asked, and send out again what failed once.

    What was decided stays decided, so that this may be called at any time and as often as one likes. A second
    judgement replaces the first in an export; what is dropped is exported as that, and counts no more.
    """
    if reason := why_no_gate(campaign):
        raise UsageError(reason)
    first: list[Annotation] = []
    second: list[Annotation] = []
    for one in stream_submissions(campaign):
        found = [record for record in one.records if isinstance(record, Annotation)]
        if one.kind in FIRST:
            first += found
        elif one.kind == "again" and not one.given:  # marks given to look at again are another matter
            second += found
    agreements = [
        segment_agreements(annotations, threshold, least_shared=least_shared)
        for annotations in (first, second)
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
    kinds = FIRST if number == 1 else ("again",)
    is_theirs = (task.c.campaign_id == campaign.id) & task.c.kind.in_(kinds)
    done = func.count(assignment.c.id)
    is_done = (assignment.c.task_id == task.c.id) & (assignment.c.state == "done")
    counts = select(task.c.id, task.c.raters, done).select_from(task.outerjoin(assignment, is_done))
    rows = connection.execute(counts.where(is_theirs).group_by(task.c.id, task.c.raters))
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
