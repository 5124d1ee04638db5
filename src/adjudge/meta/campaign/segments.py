"""Whether annotators agree on a segment: how alike any two of them rate its systems.

RATE and MENT, section 3.4: of each segment, the scores that any two annotators give to the translations of
all systems must have a Pearson correlation of 0.7 or more.

Pearson's r does not exist where one of the two gave all systems the same rating, or where they share fewer
than two systems. Two who gave every system the same rating as each other agree all the same. Of other
constant ratings nothing shows that they agree, so that they fail, and are counted. Where two share fewer than
two systems nothing can be said; a segment without any pair that can be judged is left alone, and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from adjudge.core.annotation import Annotation
from adjudge.errors import UsageError
from adjudge.meta.measures.correlation import pearson

__all__ = ["THRESHOLD", "SegmentAgreement", "segment_agreements"]

THRESHOLD: Final = 0.7

_Segment = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class SegmentAgreement:
    """How far annotators agree on one segment's systems.

    Args:
        lp: language pair.
        segment: id.
        annotators: how many rated it.
        pairs: pairs of them that share two systems or more.
        undefined: of these, pairs without a correlation, since ratings are constant.
        lowest: smallest correlation of a pair; 1 for identical constant ratings. None where no pair has one.
        passes: whether every pair reaches the threshold; None where there is no pair.
    """

    lp: str
    segment: str
    annotators: int
    pairs: int
    undefined: int
    lowest: float | None
    passes: bool | None


def segment_agreements(
    annotations: Iterable[Annotation], threshold: float = THRESHOLD
) -> list[SegmentAgreement]:
    """Agreement on each segment, in the order in which they are first met.

    Args:
        annotations: with ratings; of one annotator's several on a translation, the last counts.
        threshold: smallest correlation that two annotators must have.

    Raises:
        UsageError: a threshold that no correlation can be.
    """
    if not -1 <= threshold <= 1:
        raise UsageError(f"a correlation lies in -1 to 1, got a threshold of {threshold!r}")
    found: dict[_Segment, dict[str, dict[str, float]]] = {}
    for one in annotations:
        if one.rating is not None:
            by_annotator = found.setdefault((one.lp, one.segment), {})
            by_annotator.setdefault(one.annotator, {})[one.system] = one.rating
    return [_agreement(key, ratings, threshold) for key, ratings in found.items()]


def _agreement(
    key: _Segment, ratings: Mapping[str, Mapping[str, float]], threshold: float
) -> SegmentAgreement:
    pairs = [pair for pair in combinations(ratings.values(), 2) if len(pair[0].keys() & pair[1].keys()) >= 2]
    known = [_correlation(*pair) for pair in pairs]
    agreed = [1.0 if r is None and _is_same(*pair) else r for r, pair in zip(known, pairs, strict=True)]
    return SegmentAgreement(
        lp=key[0],
        segment=key[1],
        annotators=len(ratings),
        pairs=len(pairs),
        undefined=known.count(None),
        lowest=min((r for r in agreed if r is not None), default=None),
        passes=all(r is not None and r >= threshold for r in agreed) if pairs else None,
    )


def _correlation(one: Mapping[str, float], other: Mapping[str, float]) -> float | None:
    shared = sorted(one.keys() & other.keys())
    first, second = (np.array([ratings[system] for system in shared]) for ratings in (one, other))
    return pearson(first, second).value


def _is_same(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    return all(one[system] == other[system] for system in one.keys() & other.keys())
