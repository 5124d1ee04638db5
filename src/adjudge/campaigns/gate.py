"""The agreement gate of MENT: what annotators disagree on is judged again, and dropped if they still do.

`meta.campaign.segments` has the rule. In the paper (RATE and MENT, section 3.4), 22.2 % of segments failed
and were judged again; 4.7 % still failed and were dropped. Both are shares of all segments if 790 were
judged, since 753 were kept (175 failed, 37 dropped); if the second one is of those that failed, 761 were
judged (169 failed, 8 dropped). We report both.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import Connection, func, insert, select

from adjudge.campaigns.anew import send_segments_again
from adjudge.campaigns.audit import write_audit
from adjudge.campaigns.exporting import stream_submissions
from adjudge.campaigns.schema import assignment, item, task, verdict
from adjudge.campaigns.schema import campaign as campaigns
from adjudge.core.annotation import Annotation
from adjudge.data.submissions import FIRST
from adjudge.errors import UsageError
from adjudge.meta.campaign.segments import THRESHOLD, SegmentAgreement, segment_agreements

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign

__all__ = ["GateReport", "apply_gate", "why_no_gate"]

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
        unjudged: segments where no two people rated two systems, though all is done.
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
        return "the agreement gate compares annotators: it needs a redundancy of 2 or more"
    return None


def apply_gate(
    campaign: Campaign, now: float, *, actor: str, threshold: float = THRESHOLD, by_others: bool = False
) -> GateReport:
    """Decide on every segment that is judged as often as asked, and send out again what failed once.

    What was decided stays decided, so that this may be called at any time and as often as one likes. A second
    judgement replaces the first in an export; what is dropped is exported as that, and counts no more.

    Args:
        campaign: one that rates.
        now: seconds since 1970.
        actor: who asks for it.
        threshold: smallest correlation that two annotators must have.
        by_others: whether only people who did not judge a segment may judge it again; they must be enough.

    Raises:
        UsageError: the protocol has no ratings, or each translation is judged by one person alone.
    """
    if reason := why_no_gate(campaign):
        raise UsageError(reason)
    agreements = [segment_agreements(annotations, threshold) for annotations in _annotations(campaign)]
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
        send_segments_again(connection, campaign, failed, by_others=by_others)
        counts = Counter(row["decision"] for row in rows)
        detail = ", ".join(f"{count} {decision}" for decision, count in counts.items())
        write_audit(connection, campaign.id, now, actor=actor, action="gate", detail=detail or "nothing new")
        said = _decided(connection, campaign)
        return _report(_count_segments(connection, campaign), said, [one for one, _ in new])


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


def _count_segments(connection: Connection, campaign: Campaign) -> int:
    is_theirs = (task.c.campaign_id == campaign.id) & task.c.kind.in_(FIRST)
    found = select(task.c.lp, item.c.segment).join_from(item, task).where(is_theirs).distinct()
    return int(connection.execute(select(func.count()).select_from(found.subquery())).scalar_one())


def _report(
    segments: int, said: Mapping[tuple[str, str, int], Decision], new: list[SegmentAgreement]
) -> GateReport:
    counts = Counter((number, decision) for (_, _, number), decision in said.items())
    passes = Counter(number for number, _ in counts.elements())
    return GateReport(
        segments=segments,
        first=passes[1],
        failed=counts[1, "again"],
        second=passes[2],
        dropped=counts[2, "dropped"],
        undefined=sum(one.undefined > 0 for one in new),
        unjudged=sum(one.passes is None for one in new),
    )
