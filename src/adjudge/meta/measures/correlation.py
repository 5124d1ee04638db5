"""Correlations of scores: Pearson, Spearman, Kendall b and c; of systems, or of segments in groups."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adjudge.meta.measures.judged import Judged, judged, lone_group, nothing_compared
from adjudge.meta.measures.pair_counts import pair_counts
from adjudge.meta.measures.result import Average, Floats, Result
from adjudge.meta.measures.sharing import shared
from adjudge.meta.measures.tau import tau_b_values, tau_c_values

__all__ = ["kendall_b", "kendall_c", "pearson", "pearson_values", "ranks", "spearman"]

_EXACT: Final = 33
"""Scores without ties, up to which the p-value of Kendall's tau is exact."""


def pearson(gold: Floats, metric: Floats, average: Average = "none") -> Result:
    """Pearson's r.

    r = sum((g - mean(g)) * (m - mean(m))) / (norm(g - mean(g)) * norm(m - mean(m)))

    Pearson 1895. Averaged: the plain mean over the groups in which both vary. Ties play no part. Missing: a
    score that gold or metric lacks is left out in both. Undefined where either is constant or has fewer than
    two scores. Range -1 to 1. p: two-sided, for a true r of 0 and normal scores; none for an average, since
    a mean of p-values is no p-value. Equal to mt-metrics-eval's and `scipy.stats.pearsonr` to 1e-12.

    Args:
        gold: one score a system, or systems by segments; NaN where a translation was not judged.
        metric: the same shape.
        average: what a group is.
    """
    scores = judged(gold, metric, average)
    return _summary(scores, pearson_values(scores), average, _pearson_test)


def spearman(gold: Floats, metric: Floats, average: Average = "none") -> Result:
    """Spearman's rho: Pearson's r of the ranks; tied scores share their mean rank.

    Spearman 1904. Averages, missing scores and undefined cases as `pearson`. p: two-sided, from the t
    distribution with n - 2 degrees of freedom. Equal to mt-metrics-eval's and `scipy.stats.spearmanr` to
    1e-12.
    """
    scores = judged(gold, metric, average)
    values = pearson_values(Judged(ranks(scores.gold), ranks(scores.metric)))
    return _summary(scores, values, average, _spearman_test)


def kendall_b(gold: Floats, metric: Floats, average: Average = "none") -> Result:
    """Kendall's tau-b over pairs within a group.

    tau_b = (C - D) / sqrt((P - ties in gold) * (P - ties in metric))

    C, D: pairs that both order alike, or not; P: all pairs. Kendall 1945. Ties: equal scores only.
    Averages, missing scores and undefined cases as `pearson`. p: two-sided, exact for few scores without
    ties, else normal. Equal to mt-metrics-eval's and `scipy.stats.kendalltau` to 1e-12.
    """
    scores = judged(gold, metric, average)
    return _summary(scores, tau_b_values(scores), average, _kendall_test)


def kendall_c(gold: Floats, metric: Floats, average: Average = "none") -> Result:
    """Stuart's tau-c over pairs within a group, for scales with different numbers of values.

    tau_c = 2 * (C - D) / (n * n * (k - 1) / k)

    n: scores; k: the smaller number of different values. Stuart 1953. Otherwise as `kendall_b`, its
    p-value included. Equal to mt-metrics-eval's and `scipy.stats.kendalltau(variant="c")` to 1e-12.
    """
    scores = judged(gold, metric, average)
    return _summary(scores, tau_c_values(scores), average, _kendall_test)


# Values of every group...


def pearson_values(scores: Judged) -> Floats:
    """Pearson's r of each group; NaN where it is not defined."""
    gold, metric = (_centred(side) for side in scores)
    shared = (gold * metric).sum(axis=0)
    norms = np.sqrt((gold * gold).sum(axis=0) * (metric * metric).sum(axis=0))
    with np.errstate(invalid="ignore"):  # 0 / 0: no score at all
        return np.asarray(np.clip(shared / norms, -1.0, 1.0), dtype=np.float64)


def _centred(scores: Floats) -> Floats:
    """Each group with mean 0 and largest size about 1, absent scores 0; one that does not vary is all NaN.

    Scaled by powers of two, which rounds nothing and lets no square overflow or vanish. Centred twice: the
    mean of scores that differ in their last digits is rounded to one of them.
    """
    present = ~np.isnan(scores)
    varies = _varies(scores)
    if not varies.all():
        scores = np.where(varies, scores, np.nan)
    if not present.all():
        scores = np.where(present | ~varies, scores, 0.0)
    sizes = np.maximum(np.count_nonzero(present, axis=0), 1)
    for _ in range(2):
        scores = _scaled(scores)
        scores = scores - scores.sum(axis=0) / sizes
        if not present.all():
            scores = np.where(present | ~varies, scores, 0.0)
    return _scaled(scores)


def _varies(scores: Floats) -> NDArray[np.bool_]:
    """Whether each group has two different scores."""
    present = ~np.isnan(scores)
    low = np.min(scores, axis=0, initial=np.inf, where=present)
    return np.asarray(np.max(scores, axis=0, initial=-np.inf, where=present) > low, dtype=np.bool_)


def _scaled(scores: Floats) -> Floats:
    _, exponent = np.frexp(np.abs(scores).max(axis=0, initial=0.0))
    return np.asarray(np.ldexp(scores, -exponent), dtype=np.float64)


def ranks(scores: Floats) -> Floats:
    """Rank of each score within its group, from 1, ties sharing the mean; NaN stays NaN."""
    order = np.argsort(scores, axis=0, kind="stable")  # NaN last
    ordered = np.take_along_axis(scores, order, axis=0)
    position = np.arange(1.0, len(scores) + 1)[:, None]
    starts = np.ones(scores.shape, dtype=bool)
    starts[1:] = ordered[1:] != ordered[:-1]
    ends = np.ones(scores.shape, dtype=bool)
    ends[:-1] = starts[1:]
    first = np.maximum.accumulate(np.where(starts, position, 0.0), axis=0)
    last = np.minimum.accumulate(np.where(ends, position, np.inf)[::-1], axis=0)[::-1]
    found = np.empty_like(scores)
    np.put_along_axis(found, order, (first + last) / 2, axis=0)
    found[np.isnan(scores)] = np.nan
    return found


# What is said of them...


def _summary(
    scores: Judged,
    values: Floats,
    average: Average,
    test: Callable[[Judged, float], Callable[[], float]],
) -> Result:
    """Mean over the groups where there is a value, or why there is none."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return Result(value=None, n=scores.n, reason=_reason(scores, average))
    if average != "none":
        note = lone_group(scores, average)
        return Result(value=float(defined.mean()), n=scores.n, groups=len(defined), note=note)
    value = float(defined[0])
    note = "of two scores, which correlate fully whatever they are" if scores.n == 2 else ""
    return Result(value=value, n=scores.n, test=test(scores, value), note=note)


def _reason(scores: Judged, average: Average) -> str:
    if not (scores.pairs > 0).any():
        return nothing_compared(scores, average)
    names = zip(scores._fields, scores, strict=True)
    constant = [name for name, side in names if not _varies(side).any()]
    group = {"item": " of a segment", "sys": " of a system", "none": ""}[average]
    if not constant:
        return f"gold and metric scores{group} never both vary"
    return f"all {' and all '.join(constant)} scores{group} are equal, and a correlation needs them to vary"


# p-values: a few numbers are kept of the scores, and scipy is imported when one is asked for...


def _pearson_test(scores: Judged, r: float) -> Callable[[], float]:
    return partial(_pearson_p, scores.n, r)


def _pearson_p(n: int, r: float) -> float:
    if n == 2:
        return 1.0
    from scipy.special import betainc

    half = n / 2 - 1
    return float(2 * betainc(half, half, (1 - abs(r)) / 2))


def _spearman_test(scores: Judged, rho: float) -> Callable[[], float]:
    return partial(_spearman_p, scores.n, rho)


def _spearman_p(n: int, rho: float) -> float:
    from scipy.special import stdtr

    if n == 2:
        return 1.0
    if abs(rho) == 1.0:
        return 0.0
    freedom = n - 2
    t = rho * np.sqrt(freedom / ((rho + 1.0) * (1.0 - rho)))
    return float(2 * stdtr(freedom, -abs(t)))


class _Ties(NamedTuple):
    """Sums over the t scores of each size of tie that the variance of Kendall's statistic needs."""

    pairs: int
    third: int
    weighted: int


def _kendall_test(scores: Judged, _: float) -> Callable[[], float]:
    counts = pair_counts(scores)
    ties = shared("ties", (scores.gold, scores.metric), None, lambda: [_ties(side[:, 0]) for side in scores])
    return partial(_kendall_p, scores.n, int(counts.concordant[0] - counts.discordant[0]), *ties)


def _ties(scores: Floats) -> _Ties:
    ordered = np.sort(scores[~np.isnan(scores)])
    bounds = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1], [True]]))
    sizes, times = np.unique(np.diff(bounds), return_counts=True)
    each = [*zip(sizes.tolist(), times.tolist(), strict=True)]
    return _Ties(
        pairs=sum(k * t * (t - 1) for t, k in each) // 2,
        third=sum(k * t * (t - 1) * (t - 2) for t, k in each),
        weighted=sum(k * t * (t - 1) * (2 * t + 5) for t, k in each),
    )


def _kendall_p(n: int, balance: int, gold: _Ties, metric: _Ties) -> float:
    """Two-sided p-value of C - D; the exact one for few scores without ties, else the normal one.

    Kendall 1970, Rank Correlation Methods, chapters 4 and 5. Equal to `scipy.stats.kendalltau`'s to 1e-12.
    """
    pairs = n * (n - 1) // 2
    fewer = (pairs - abs(balance)) // 2  # discordant or concordant pairs, whichever are fewer
    if not gold.pairs and not metric.pairs and (n <= _EXACT or fewer <= 1):
        return _exact_kendall_p(n, fewer)
    m = n * (n - 1.0)
    variance = (m * (2 * n + 5) - gold.weighted - metric.weighted) / 18
    variance += 2 * gold.pairs * metric.pairs / m + gold.third * metric.third / (9 * m * (n - 2))
    return math.erfc(abs(balance) / math.sqrt(2 * variance))


def _exact_kendall_p(n: int, fewer: int) -> float:
    """Twice the share of orders of n scores with so many discordant pairs or less."""
    orders = [1]
    for size in range(2, n + 1):
        sums = [*accumulate(orders + [0] * (size - 1))]
        orders = [s - (sums[k - size] if k >= size else 0) for k, s in enumerate(sums)][: fewer + 1]
    return min(1.0, float(Fraction(2 * sum(orders[: fewer + 1]), math.factorial(n))))
