"""Mean gold score where another annotator's scores are low or high: what its scores are worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.core.score import Interval
from adjudge.errors import UsageError
from adjudge.meta.measures.correlation import ranks
from adjudge.meta.measures.result import Floats

__all__ = ["Bin", "binned_means", "clustered_mean"]

_QUANTILE = 1.959964  # of the normal distribution, two-sided 95 %


@dataclass(frozen=True, kw_only=True)
class Bin:
    """Translations whose scores by one annotator are alike.

    Args:
        score: their mean score by that annotator.
        percentile: the mean of their ranks by it, 0 to 100.
        gold: their mean score by gold.
        interval: 95 % interval of `gold`; None where there is one segment only.
        n: translations in it.
    """

    score: float
    percentile: float
    gold: float
    interval: Interval | None
    n: int


def binned_means(gold: Floats, scores: Floats, bins: int = 10) -> list[Bin]:
    """Mean gold score of translations in bins of equal size by another annotator, worst bin first.

    Equal scores share their mean rank and so their bin; a bin that nothing falls into is left out. What one
    of them did not judge is in none. Intervals as `clustered_mean`.

    Args:
        gold: systems by segments, NaN where not judged.
        scores: the same shape.
        bins: how many.

    Raises:
        UsageError: the shapes differ.
    """
    if gold.shape != scores.shape:
        raise UsageError(f"gold and scores must have the same shape, got {gold.shape} and {scores.shape}")
    both = ~np.isnan(gold) & ~np.isnan(scores)
    if not both.any():
        return []
    share = np.full(gold.shape, np.nan)
    share[both] = ranks(scores[both][:, None])[:, 0] / both.sum()
    number = np.full(gold.shape, -1)
    number[both] = np.minimum((share[both] * bins).astype(int), bins - 1)
    return [_bin(gold, scores, share, number == place) for place in range(bins) if (number == place).any()]


def _bin(gold: Floats, scores: Floats, share: Floats, inside: NDArray[np.bool_]) -> Bin:
    mean, interval = clustered_mean(gold, inside)
    return Bin(
        score=float(scores[inside].mean()),
        percentile=float(100 * share[inside].mean()),
        gold=mean,
        interval=interval,
        n=int(inside.sum()),
    )


def clustered_mean(scores: Floats, inside: NDArray[np.bool_]) -> tuple[float, Interval | None]:
    """Mean of some cells, and its 95 % interval over segments, whose translations are not independent.

    m +- 1.96 * sqrt(k / (k - 1) * sum over segments of (sum of its cells - m * number of its cells)^2) / n

    k: segments with a cell; n: cells. The linearised variance of a ratio (Cochran 1977, section 6.4, without
    the finite correction); for many segments it is what a bootstrap over segments gives, at no cost. No
    interval where all cells are of one segment.

    Args:
        scores: systems by segments.
        inside: the same shape; at least one cell, and none of them NaN.
    """
    sizes = inside.sum(axis=0)
    sums = np.where(inside, scores, 0.0).sum(axis=0)
    kept = sizes > 0
    total, amount = float(sizes.sum()), int(kept.sum())
    mean = float(sums.sum()) / total
    if amount < 2:
        return mean, None
    residuals = (sums - mean * sizes)[kept]
    reach = _QUANTILE * float(np.sqrt(amount / (amount - 1) * (residuals**2).sum())) / total
    return mean, Interval(mean - reach, mean + reach)
