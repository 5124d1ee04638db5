"""Which segments a benchmark keeps of what people rated: those on which they agree.

MENT, section 3.4, over records; in a campaign, `campaigns.gate` sends out again what fails.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from adjudge.core.annotation import Annotation, Record
from adjudge.errors import DataError
from adjudge.meta.campaign.segments import THRESHOLD, SegmentAgreement, segment_agreements

__all__ = ["Gated", "gate_ratings"]


@dataclass(frozen=True, kw_only=True)
class Gated:
    """What people's ratings come to, in one language pair.

    Args:
        lp: language pair.
        segments: all that were rated.
        passed: those on which every two people agree.
        failed: the others; they are to be rated again, or left out.
        undefined: segments with two people one of whom gave all systems one rating.
        unjudged: segments where no two people rated two systems together; nothing can be said of them.
        each: agreement of each segment, in order of first appearance.
    """

    lp: str
    segments: int
    passed: int
    failed: int
    undefined: int
    unjudged: int
    each: tuple[SegmentAgreement, ...]

    @property
    def failed_share(self) -> float | None:
        """Of those of which something can be said; 22.2 % in MENT before anything was rated again."""
        decided = self.passed + self.failed
        return self.failed / decided if decided else None


def gate_ratings(
    records: Iterable[Record], threshold: float = THRESHOLD
) -> tuple[tuple[Gated, ...], list[Annotation]]:
    """Put ratings through the gate.

    Args:
        records: of all people; what has no rating is left out.
        threshold: smallest correlation of any two people over a segment's systems.

    Returns:
        What came of each language pair, and the ratings of the segments that passed.

    Raises:
        DataError: no rating.
        UsageError: a threshold that no correlation can be.
    """
    rated = [r for r in records if isinstance(r, Annotation) and r.rating is not None]
    if not rated:
        raise DataError("there is no rating to put through the gate")
    found = segment_agreements(rated, threshold)
    passed = {(one.lp, one.segment) for one in found if one.passes}
    by_lp = {lp: [one for one in found if one.lp == lp] for lp in dict.fromkeys(one.lp for one in found)}
    kept = [record for record in rated if (record.lp, record.segment) in passed]
    return tuple(_count(lp, each) for lp, each in by_lp.items()), kept


def _count(lp: str, found: list[SegmentAgreement]) -> Gated:
    outcomes = [one.passes for one in found]
    return Gated(
        lp=lp,
        segments=len(found),
        passed=outcomes.count(True),
        failed=outcomes.count(False),
        undefined=sum(one.undefined > 0 for one in found),
        unjudged=outcomes.count(None),
        each=tuple(found),
    )
