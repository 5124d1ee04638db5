"""What a measure may look at: scores that gold and metric both have, arranged in groups."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adjudge.errors import UsageError
from adjudge.meta.measures.result import AVERAGES, Average, Floats
from adjudge.meta.measures.sharing import shared

__all__ = ["Judged", "judged", "lone_group", "nothing_compared"]


class Judged(NamedTuple):
    """Scores in groups: pairs and correlations are taken within a column, never across.

    Args:
        gold: members by groups; NaN where gold or metric has no score.
        metric: the same for the metric, NaN in the same places.
    """

    gold: Floats
    metric: Floats

    @property
    def counts(self) -> NDArray[np.int64]:
        """Scores of each group that both have."""
        return np.asarray(np.count_nonzero(~np.isnan(self.gold), axis=0), dtype=np.int64)

    @property
    def pairs(self) -> NDArray[np.int64]:
        """Pairs of scores in each group."""
        return self.counts * (self.counts - 1) // 2

    @property
    def n(self) -> int:
        """Scores that both have."""
        return int(self.counts.sum())


def judged(gold: Floats, metric: Floats, average: Average = "none") -> Judged:
    """Arrange two arrays of scores; a score that either lacks is left out in both.

    Args:
        gold: systems by segments, or one score a system; NaN where a translation was not judged.
        metric: the same shape.
        average: `item` makes a group of each segment, `sys` of each system, `none` one of everything.

    Raises:
        UsageError: the shapes differ or do not allow the average, or a score is no number or infinite.
    """
    return shared("judged", (gold, metric), average, lambda: _judged(gold, metric, average))


def _judged(gold: Floats, metric: Floats, average: Average) -> Judged:
    gold, metric = _numbers("gold", gold), _numbers("metric", metric)
    _check(gold, metric, average)
    missing = np.isnan(gold) | np.isnan(metric)
    if missing.any():
        gold, metric = (np.where(missing, np.nan, scores) for scores in (gold, metric))
    if average == "none":
        return Judged(gold.reshape(-1, 1), metric.reshape(-1, 1))
    return Judged(gold, metric) if average == "item" else Judged(gold.T, metric.T)


def _numbers(name: str, scores: object) -> Floats:
    try:
        return np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name} scores are an array of numbers, NaN for none: {error}") from error


def _check(gold: Floats, metric: Floats, average: Average) -> None:
    if average not in AVERAGES:
        raise UsageError(f"a measure is averaged by {', '.join(AVERAGES)}; got {average!r}")
    if gold.shape != metric.shape:
        raise UsageError(f"gold and metric must have the same shape, got {gold.shape} and {metric.shape}")
    if gold.ndim not in {1, 2}:
        raise UsageError(f"scores are systems by segments, got {gold.ndim} dimensions")
    if gold.ndim == 1 and average != "none":
        raise UsageError(
            f"an average by {average} needs systems by segments, got a flat array of {len(gold)} scores: "
            "which score is whose system's is lost; pass the array in its shape"
        )
    for name, scores in (("gold", gold), ("metric", metric)):
        if np.isinf(scores).any():
            raise UsageError(f"a {name} score is infinite; a score is a finite number, or NaN for none")


_MEMBERS: Final[dict[Average, str]] = {"item": "systems", "sys": "segments"}
_GROUP: Final[dict[Average, str]] = {"item": "segment", "sys": "system"}


def nothing_compared(scores: Judged, average: Average) -> str:
    """Why no group holds two scores to compare."""
    if average == "none":
        return "there are no two scores that gold and metric both have"
    members, group = _MEMBERS[average], _GROUP[average]
    if len(scores.gold) < 2:
        return (
            f"the {members} of a {group} are compared with each other, and there is {len(scores.gold)} only"
        )
    return f"no {group} has two {members} that gold and metric both scored"


def lone_group(scores: Judged, average: Average) -> str:
    """What to say of an average over one group, which is none; empty where there are more."""
    if average == "none" or scores.gold.shape[1] != 1:
        return ""
    return f"one {_GROUP[average]} only, so nothing is averaged; was a flat array passed?"
