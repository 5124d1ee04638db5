"""Correlations of scores: Pearson, Spearman, the taus of Kendall and of WMT.

Each is of systems, or of segments in groups (`judged.Average`), and its docstring has formula, source and
edge cases. Functions that end in `_values` give the value of every group; p-values are computed when they
are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adjudge.stats.acc_eq import acc_eq
from adjudge.stats.judged import (
    Average,
    Floats,
    Judged,
    Result,
    judged,
    lone_group,
    nothing_compared,
    pair_counts,
    shared,
)


def tau_23(gold: Floats, metric: Floats, average: Average = "item", *, epsilon: float | None = 0.0) -> Result:
    """Tau with ties: a pair that both tie is right, one that only one of them ties is wrong.

    tau_23 = (C + T_gm - D - T_g - T_m) / (C + D + T_g + T_m + T_gm) = 2 * acc_eq - 1

    Deutsch et al. 2023. Undefined where no group has a pair. Range -1 to 1. Equal to mt-metrics-eval's
    `KendallVariants` and `KendallWithTiesOpt` with variant 23, to 1e-12.

    `gold`: systems by segments; NaN where a translation was not judged. `metric`: the same shape. `epsilon`:
    largest difference of metric scores that is a tie; None calibrates it as `acc_eq`.
    """
    found = acc_eq(gold, metric, average, epsilon=epsilon)
    if found.value is None:
        return found
    return Result(
        value=2 * found.value - 1, n=found.n, groups=found.groups, epsilon=found.epsilon, note=found.note
    )


def kendall_like(
    gold: Floats, metric: Floats, average: Average = "item", *, threshold: float = 25.0
) -> Result:
    """Kendall-like tau of WMT's direct assessment years: pairs that gold holds far enough apart.

    tau = (C - D) / (C + D) over the pairs of all groups together, |g_i - g_j| >= threshold

    Mathur et al. 2020, https://aclanthology.org/2020.wmt-1.77: relative ranks from direct assessments, 25
    points apart on a scale of 100. A tie of the metric counts as discordant; at a threshold of 0 so does a
    tie of gold, as in WMT's own script. Missing: a score that gold or metric lacks is left out in both.
    Every group weighs as many pairs as it has. Undefined where no pair is far enough apart. Range -1 to 1; a
    constant metric gets -1. The rules are those of mt-metrics-eval's `KendallLike`.

    N is the number of pairs far enough apart, groups None. `gold`: systems by segments; NaN where a
    translation was not judged. `metric`: the same shape.
    """
    scores, concordant, n = judged(gold, metric, average), 0, 0
    for i in range(len(scores.gold) - 1):
        g, m = (side[i + 1 :] - side[i] for side in scores)
        far = np.abs(g) >= threshold
        n += int(np.count_nonzero(far))
        concordant += int(np.count_nonzero(far & (g * np.sign(m) > 0)))
    if not n:
        reason = f"gold holds no two scores that are compared {threshold:g} or more apart"
        return Result(value=None, n=0, reason=reason)
    return Result(value=(2 * concordant - n) / n, n=n, note=lone_group(scores, average))


def tau_b_values(scores: Judged) -> Floats:
    """Kendall's tau-b of each group, see `kendall_b`; NaN where it is not defined."""
    c = pair_counts(scores)
    ordered = (c.pairs - side - c.both_ties for side in (c.gold_ties, c.metric_ties))
    product = math.prod(side.astype(np.float64) for side in ordered)
    with np.errstate(invalid="ignore"):  # 0 / 0: a side that ties every pair
        return np.asarray((c.concordant - c.discordant) / np.sqrt(product), dtype=np.float64)


def tau_c_values(scores: Judged) -> Floats:
    """Stuart's tau-c of each group, see `kendall_c`; NaN where it is not defined."""
    c = pair_counts(scores)
    ordered = (np.sort(side, axis=0) for side in scores)
    values = np.minimum(*(np.count_nonzero(side[1:] > side[:-1], axis=0) + 1 for side in ordered))
    with np.errstate(invalid="ignore", divide="ignore"):  # one value, or no score
        tau = 2 * (c.concordant - c.discordant) / (scores.counts**2 * ((values - 1) / values))
    return np.where(values > 1, tau, np.nan)


_EXACT: Final = 33
"""Scores without ties, up to which the p-value of Kendall's tau is exact."""


def pearson(gold: Floats, metric: Floats, average: Average = "none", *, macro: bool = True) -> Result:
    """Pearson's r.

    r = sum((g - mean(g)) * (m - mean(m))) / (norm(g - mean(g)) * norm(m - mean(m)))

    Pearson 1895. Averaged: the plain mean over the groups in which both vary. Ties play no part. Missing: a
    score that gold or metric lacks is left out in both. Undefined where either is constant or has fewer than
    two scores. Range -1 to 1. p: two-sided, for a true r of 0 and normal scores; none for an average, since
    a mean of p-values is no p-value. Equal to mt-metrics-eval's and `scipy.stats.pearsonr` to 1e-12.

    `gold`: one score a system, or systems by segments; NaN where a translation was not judged. `metric`: the
    same shape.
    """
    scores = judged(gold, metric, average)
    return _summary(
        scores, pearson_values(scores), average, lambda s, r: partial(_pearson_p, s.n, r), macro=macro
    )


def pairwise_difference_pearson(gold: Floats, metric: Floats, average: Average = "item") -> Result:
    """Pearson's r of the differences between two scores of a group, over the pairs of all groups together.

    r = sum_k n_k S_gm(k) / sqrt(sum_k n_k S_gg(k) * sum_k n_k S_mm(k)), where group k has n_k scores and
    S_gm(k) is the sum of (g - mean(g)) * (m - mean(m)) in it: the sum of (g_i - g_j) * (m_i - m_j) over its
    pairs is n_k S_gm(k).

    DiIanni and Deutsch 2025, https://arxiv.org/abs/2509.25546. Each pair counts in both directions, so that
    the mean difference is 0 and the order of the systems plays no part. A tie is a difference of 0. Missing:
    a score that gold or metric lacks is left out in both. Undefined where gold or metric varies in no group.
    Range -1 to 1; a metric that gives all translations of each segment one score has no value.

    N is the number of pairs, groups None. `gold`: systems by segments; NaN where a translation was not
    judged. `metric`: the same shape.
    """
    scores = judged(gold, metric, average)
    n = int(scores.pairs.sum())
    g, m = (_deviations(side) for side in scores)
    shared, own, other = (
        float((scores.counts * (a * b).sum(axis=0)).sum()) for a, b in ((g, m), (g, g), (m, m))
    )
    if not own or not other:
        side = "gold" if not own else "the metric"
        reason = (
            f"{side} gives the scores that are compared one value" if n else nothing_compared(scores, average)
        )
        return Result(value=None, n=n, reason=reason)
    value = min(max(shared / math.sqrt(own) / math.sqrt(other), -1.0), 1.0)
    return Result(value=value, n=n, note=lone_group(scores, average))


def _deviations(scores: Floats) -> Floats:
    varies = _varies(scores)
    filled = np.where(np.isnan(scores) | ~varies, 0.0, scores)
    counts = np.maximum(np.count_nonzero(~np.isnan(scores), axis=0), 1)
    centred = np.where(np.isnan(scores) | ~varies, 0.0, filled - filled.sum(axis=0) / counts)
    largest = float(np.abs(centred).max(initial=0.0))
    return centred / largest if largest else centred


def spearman(gold: Floats, metric: Floats, average: Average = "none", *, macro: bool = True) -> Result:
    """Spearman's rho: Pearson's r of the ranks; tied scores share their mean rank.

    Spearman 1904. Averages, missing scores and undefined cases as `pearson`. p: two-sided, from the t
    distribution with n - 2 degrees of freedom. Equal to mt-metrics-eval's and `scipy.stats.spearmanr` to
    1e-12.
    """
    scores = judged(gold, metric, average)
    return _summary(
        scores, spearman_values(scores), average, lambda s, rho: partial(_spearman_p, s.n, rho), macro=macro
    )


def kendall_b(gold: Floats, metric: Floats, average: Average = "none", *, macro: bool = True) -> Result:
    """Kendall's tau-b over pairs within a group.

    tau_b = (C - D) / sqrt((P - ties in gold) * (P - ties in metric))

    C, D: pairs that both order alike, or not; P: all pairs. Kendall 1945. Ties: equal scores only.
    Averages, missing scores and undefined cases as `pearson`. p: two-sided, exact for few scores without
    ties, else normal. Equal to mt-metrics-eval's and `scipy.stats.kendalltau` to 1e-12.
    """
    scores = judged(gold, metric, average)
    return _summary(scores, tau_b_values(scores), average, _kendall_test, macro=macro)


def kendall_c(gold: Floats, metric: Floats, average: Average = "none", *, macro: bool = True) -> Result:
    """Stuart's tau-c over pairs within a group, for scales with different numbers of values.

    tau_c = 2 * (C - D) / (n * n * (k - 1) / k)

    n: scores; k: the smaller number of different values. Stuart 1953. Otherwise as `kendall_b`, its
    p-value included. Equal to mt-metrics-eval's and `scipy.stats.kendalltau(variant="c")` to 1e-12.
    """
    scores = judged(gold, metric, average)
    return _summary(scores, tau_c_values(scores), average, _kendall_test, macro=macro)


# Values of groups


def pearson_values(scores: Judged) -> Floats:
    """Pearson's r of each group; NaN where it is not defined."""
    gold, metric = (_centred(side) for side in scores)
    shared = (gold * metric).sum(axis=0)
    norms = np.sqrt((gold * gold).sum(axis=0) * (metric * metric).sum(axis=0))
    with np.errstate(invalid="ignore"):  # 0 / 0: no score at all
        return np.asarray(np.clip(shared / norms, -1.0, 1.0), dtype=np.float64)


def spearman_values(scores: Judged) -> Floats:
    """Spearman's rho of each group; NaN where it is not defined."""
    return pearson_values(Judged(ranks(scores.gold), ranks(scores.metric)))


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


def _summary(
    scores: Judged,
    values: Floats,
    average: Average,
    test: Callable[[Judged, float], Callable[[], float]],
    *,
    macro: bool,
) -> Result:
    defined = values[~np.isnan(values)]
    if not len(defined):
        return Result(value=None, n=scores.n, reason=_reason(scores, average))
    if average != "none":
        note = lone_group(scores, average)
        weights = None if macro else scores.counts[~np.isnan(values)]
        value = float(np.average(defined, weights=weights))
        return Result(value=value, n=scores.n, groups=len(defined), note=note)
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


# P-values


def _pearson_p(n: int, r: float) -> float:
    if n == 2:
        return 1.0
    from scipy.special import betainc

    half = n / 2 - 1
    return float(2 * betainc(half, half, (1 - abs(r)) / 2))


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
    pairs = n * (n - 1) // 2
    fewer = (pairs - abs(balance)) // 2  # discordant or concordant pairs, whichever are fewer
    if not gold.pairs and not metric.pairs and (n <= _EXACT or fewer <= 1):
        return _exact_kendall_p(n, fewer)
    m = n * (n - 1.0)
    variance = (m * (2 * n + 5) - gold.weighted - metric.weighted) / 18
    variance += 2 * gold.pairs * metric.pairs / m + gold.third * metric.third / (9 * m * (n - 2))
    return math.erfc(abs(balance) / math.sqrt(2 * variance))


def _exact_kendall_p(n: int, fewer: int) -> float:
    orders = [1]
    for size in range(2, n + 1):
        sums = [*accumulate(orders + [0] * (size - 1))]
        orders = [s - (sums[k - size] if k >= size else 0) for k, s in enumerate(sums)][: fewer + 1]
    return min(1.0, float(Fraction(2 * sum(orders[: fewer + 1]), math.factorial(n))))
