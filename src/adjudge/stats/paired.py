"""Tests whether one system is better than another, judged on the same segments, and what they come to.

A table of p-values becomes corrected ones (`holm`), ranges of ranks and clusters. No test corrects for the
number of pairs by itself; WMT's clusters do not either.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from adjudge.stats.bounds import Totals

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Seed = int | Sequence[int]
"""Of numpy's default generator; several numbers are one seed."""

Alternative = Literal["greater", "two-sided"]
"""`greater`: the first is better. `two-sided`: they differ."""

Test = Literal["permutation", "wilcoxon", "rank-sum"]
TITLES: Final[Mapping[Test, str]] = {
    "permutation": "paired permutation test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "rank-sum": "Wilcoxon rank-sum test",
}
"""Of every pair of systems."""

_EXACT_UNITS = 12  # 4,096 ways to flip signs: quicker than drawing
_CELLS = 2**21  # of one block of signs: 16 MB
ROUNDING = 1e-10
"""Sums that differ by less, relative to the sum of all sizes, are equal."""

_EXACT_RANKS = 50


def enlarged(scores: Floats) -> Floats:
    """Scores times the power of ten that brings the largest to 1 or more; larger ones stay as they are.

    No p-value depends on the unit of scores, but the ten decimals that differences are rounded to do: scores
    below them would all be tied. Tests of differences are given those of scores that were enlarged together.
    """
    size = float(np.nanmax(np.abs(scores), initial=0.0))
    return scores * 10.0 ** min(300, math.ceil(-math.log10(size))) if 0 < size < 1 else scores


def _rounded(scores: Floats) -> Floats:
    """Without the noise of sums such as 0.1 + 0.2, which would break ties."""
    return np.asarray(np.round(scores, 10), dtype=np.float64)


def sign_flip_p_values(
    differences: Floats, *, alternative: Alternative = "two-sided", resamples: int = 1000, seed: int = 0
) -> Floats:
    """Paired permutation test of each column: p-value of the sum of differences when signs are chance.

    p = share of sign vectors s with sum(s * d) >= sum(d); two-sided: |sum(s * d)| >= |sum(d)|

    Fisher 1935; "approximate randomization" in Riezler and Maxwell 2005. Up to 12 units: exact, over all
    sign vectors, as `scipy.stats.permutation_test(permutation_type="samples")`. More units: `resamples`
    random vectors, the same for all columns, and p = (hits + 1) / (resamples + 1), never 0 (Phipson and
    Smyth 2010). Ties: differences are rounded to ten decimals first, and sums are equal where they differ
    by rounding only. NaN (not judged): the unit does not count. All differences 0, or none at all: p = 1.

    `differences`: units by pairs of systems.
    """
    differences = _rounded(np.nan_to_num(differences, nan=0.0))
    units = len(differences)
    observed = differences.sum(axis=0)
    if alternative == "two-sided":
        observed = np.abs(observed)
    bound = observed - ROUNDING * np.abs(differences).sum(axis=0)
    hits = np.zeros(differences.shape[1])
    for signs in sign_vectors(units, resamples, seed):
        sums = signs @ differences
        hits += ((np.abs(sums) if alternative == "two-sided" else sums) >= bound).sum(axis=0)
    return share_of_hits(hits, units, resamples)


def sign_vectors(units: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Blocks of sign vectors, draws by units, of -1 and 1: all there are for few units, else random ones."""
    if is_exact(units):
        yield np.array(list(itertools.product((1.0, -1.0), repeat=units))).reshape(2**units, units)
        return
    yield from random_signs(units, resamples, seed)


def random_signs(units: int, resamples: int, seed: Seed) -> Iterator[Floats]:
    """Blocks of random sign vectors, draws by units, of -1 and 1."""
    rng = np.random.default_rng(seed)
    rows = max(1, _CELLS // max(units, 1))
    for start in range(0, resamples, rows):
        yield np.where(rng.random((min(rows, resamples - start), units)) < 0.5, -1.0, 1.0)


def share_of_hits(hits: Floats, units: int, resamples: int) -> Floats:
    """p-values of a test over `sign_vectors`: a share where all were tried, else with one hit more."""
    return hits / 2.0**units if is_exact(units) else (hits + 1) / (resamples + 1)


def is_exact(units: int) -> bool:
    """Whether the permutation test goes through all sign vectors of so many units."""
    return units <= _EXACT_UNITS


def smallest_p_value(units: int, resamples: int) -> float:
    """Lowest p-value that the one-sided permutation test can give."""
    return 2.0**-units if is_exact(units) else 1 / (resamples + 1)


def too_few(units: int, of: str, least: Callable[[int], float], alpha: float) -> str:
    """Say that no difference of so few units can be significant, and how many are needed; else nothing."""
    if least(units) < alpha:
        return ""
    needed = next((n for n in range(units + 1, 10 * _EXACT_UNITS) if least(n) < alpha), None)
    if needed is None:
        return f"Too few resamples to test {units:,} {of}"
    return f"Too few {of} to test: {units:,}, and {needed:,} are needed"


def signed_rank_p_value(differences: Floats, alternative: Alternative = "two-sided") -> float:
    """Wilcoxon signed-rank test of paired differences.

    Wilcoxon 1945. Differences of 0 are left out, tied sizes share their mean rank. Up to 12 differences:
    exact, over all signs of the ranks, with ties too. More: `scipy.stats.wilcoxon`, exact up to 50
    without ties, else its normal approximation. Differences are rounded to ten decimals first, so that
    rounding noise breaks no tie. NaN (not judged): left out. All differences 0, or none at all: p = 1.
    """
    from scipy.stats import rankdata, wilcoxon

    found = _rounded(differences[~np.isnan(differences)])
    found = found[found != 0]
    sizes = np.abs(found)
    if is_exact(len(found)):
        signed = np.sign(found) * rankdata(sizes)
        return float(sign_flip_p_values(signed[:, None], alternative=alternative)[0])
    has_ties = len(np.unique(sizes)) < len(sizes)
    method: Literal["approx", "exact"] = "approx" if has_ties or len(found) > _EXACT_RANKS else "exact"
    return float(wilcoxon(found, alternative=alternative, method=method).pvalue)


def rank_sum_p_value(first: Floats, second: Floats, alternative: Alternative = "two-sided") -> float:
    """Wilcoxon rank-sum test (Mann-Whitney U), which ignores that the same segments were judged.

    Mann and Whitney 1947; `scipy.stats.mannwhitneyu` with its defaults: tied scores share their mean
    rank, exact for few scores without ties, else the normal approximation with continuity correction.
    What WMT's clusters are made with. Scores are `enlarged` and rounded to ten decimals first. NaN (not
    judged): left out. All scores equal, or none of one system: p = 1.
    """
    both = _rounded(enlarged(np.concatenate([first, second])))
    a, b = (x[~np.isnan(x)] for x in (both[: len(first)], both[len(first) :]))
    if not len(a) or not len(b) or np.ptp(np.concatenate([a, b])) == 0:
        return 1.0
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(a, b, alternative=alternative).pvalue)


_PAIR_CELLS = 2**22  # of one block of differences: 32 MB


def better_p_values(ordered: Totals, test: Test, *, resamples: int, seed: int) -> Floats:
    """Systems by systems: [i, j] is the one-sided p-value of "i is better than j", for j after i; else 1."""
    systems = ordered.sums.shape[1]
    p_values = np.ones((systems, systems))
    pairs = list(itertools.combinations(range(systems), 2))
    size = max(1, _PAIR_CELLS // max(1, len(ordered.sums)))
    for start in range(0, len(pairs), size):
        first, second = np.array(pairs[start : start + size]).T
        p_values[first, second] = _better(ordered, first, second, test, resamples, seed)
    return p_values


def unit_differences(totals: Totals, first: Ints, second: Ints) -> Floats:
    """Units by pairs of systems: the unit's part in the difference of two means, for tests that flip signs.

    A unit that holds more judgements of one system favours neither: both are taken around the mean of their
    two means, which changes nothing where a unit holds as much of both.
    """
    shares, sizes = enlarged(totals.shares), replace(totals, sums=totals.sizes).shares
    middle = (shares[:, first] + shares[:, second]).mean(axis=0) / 2
    return np.asarray(shares[:, first] - shares[:, second] - middle * (sizes[:, first] - sizes[:, second]))


def _better(ordered: Totals, first: Ints, second: Ints, test: Test, resamples: int, seed: int) -> Floats:
    if test == "permutation":
        differences = unit_differences(ordered, first, second)
        return sign_flip_p_values(differences, alternative="greater", resamples=resamples, seed=seed)
    means = enlarged(ordered.means)
    a, b = means[:, first], means[:, second]
    if test == "wilcoxon":
        return np.array([signed_rank_p_value(d, "greater") for d in (a - b).T])
    return np.array([rank_sum_p_value(x, y, "greater") for x, y in zip(a.T, b.T, strict=True)])


def holm(p_values: Floats) -> Floats:
    """Holm's step-down correction: the chance of any false finding among all tests stays below alpha.

    adjusted (k-th smallest of m) = max over j <= k of min(1, (m - j + 1) p_(j))

    Holm 1979; `statsmodels` "holm". NaN (no test) stays and does not count. Any shape: each entry is a test,
    so that of a table with both directions only what was asked should be given.
    """
    flat = p_values.ravel()
    order = np.argsort(flat, kind="stable")
    order = order[: np.count_nonzero(~np.isnan(flat))]  # NaN is sorted last
    adjusted = flat.astype(np.float64)
    adjusted[order] = np.maximum.accumulate(np.minimum(flat[order] * np.arange(len(order), 0, -1), 1))
    return adjusted.reshape(p_values.shape)


def significance_ranks(values: Sequence[float | None], p_values: Floats, alpha: float) -> list[int | None]:
    """Rank of each metric, from 1; metrics of one rank are one cluster.

    From the best down: a metric opens the next rank where any metric of the current rank is better than it
    with p <= alpha. This is the rule of WMT's metrics tasks and of MTME, whose p is hits / k; ours are a
    little larger, so that a p of exactly alpha there may be above it here. WMT's rule for systems
    (`stats.paired`) is stricter: all above must be better than all below.

    `values`: of the measure, in the order of the table, larger is better; None has no rank. `p_values`:
    metrics by metrics; [i, j] is that of "i is better than j".
    """
    found: list[tuple[float, int]] = sorted((-v, i) for i, v in enumerate(values) if v is not None)
    ranks: list[int | None] = [None] * len(values)
    rank, current = 1, list[int]()
    for _, metric in found:
        if any(p_values[better, metric] <= alpha for better in current):
            rank, current = rank + 1, []
        ranks[metric] = rank
        current.append(metric)
    return ranks


_BOTH_TAILS = 0.01


def monte_carlo_bounds(p_values: Floats, resamples: int) -> tuple[Floats, Floats]:
    """99 % intervals of the p-values that no end of draws would give (Clopper and Pearson 1934).

    p = (hits + 1) / (resamples + 1). A p-value that is no such share was not drawn but computed, over all
    swaps or by a law, and both of its ends are itself. NaN (no test) stays.

    Their lower ends and their upper ends. `p_values`: of any shape.
    """
    from scipy.special import betaincinv

    hits = np.rint(p_values * (resamples + 1)) - 1
    was_drawn = (np.abs(p_values * (resamples + 1) - 1 - hits) < _SHARE) & (hits >= 0)
    misses = resamples - hits
    with np.errstate(invalid="ignore"):
        low = np.where(hits <= 0, 0.0, betaincinv(hits, misses + 1, _BOTH_TAILS / 2))
        high = np.where(misses <= 0, 1.0, betaincinv(hits + 1, misses, 1 - _BOTH_TAILS / 2))
    return np.where(was_drawn, low, p_values), np.where(was_drawn, high, p_values)


_SHARE = 1e-6  # of a hit


def deciding_draws(alpha: float) -> int:
    """The fewest draws that put an interval of `monte_carlo_bounds` below alpha, if none is a hit."""
    return math.ceil(math.log(_BOTH_TAILS / 2) / math.log1p(-alpha))


def open_ranks(
    values: Sequence[float | None],
    ranks: Sequence[int | None],
    bounds: tuple[Floats, Floats],
    alpha: float,
) -> list[bool]:
    """Whether other draws may decide otherwise, for each metric, if it opens a rank of `significance_ranks`.

    So it is where the interval of a p-value that it rests on holds alpha, and none of them is surely below.
    Ranks of two seeds first differ at a metric that is open by one of them (but for one time in thousands,
    as the intervals hold 99 %), and from there on until both open one at the same metric.
    """
    order = [i for _, i in sorted((-v, i) for i, v in enumerate(values) if v is not None)]
    found = [False] * len(values)
    for place, metric in enumerate(order[1:], 1):
        above = [i for i in order[:place] if ranks[i] == ranks[order[place - 1]]]
        low, high = (end[above, metric] for end in bounds)
        found[metric] = bool((low <= alpha).any() and not (high <= alpha).any())
    return found


Bools = NDArray[np.bool_]


def significantly_better(means: Sequence[float], p_values: NDArray[np.float64], alpha: float) -> Bools:
    """Return systems by systems: whether the row's system is significantly better than the column's.

    p < alpha and a higher mean: systems of equal means are in chance order.

    `p_values`: systems by systems in the same order; [i, j] is that of the difference of i and j.
    """
    values = np.asarray(means, dtype=np.float64)
    return np.asarray((p_values < alpha) & (values[:, None] > values[None, :]))


def rank_ranges(better: Bools) -> list[tuple[int, int]]:
    """Return the best and the worst rank of each system that the tests of its pairs allow.

    best = 1 + number of systems significantly better; worst = n - number of systems significantly worse

    The rank ranges of WMT24's findings (Kocmi et al. 2024), whose tests are one-sided. Of tests that `holm`
    corrected for all pairs they hold at once with 1 - alpha, since none is wrong unless some test is. Of
    uncorrected ones they are no interval with a coverage.

    `better`: systems by systems, whether the row's is better than the column's.
    """
    n = len(better)
    losses, wins = better.sum(axis=0).tolist(), better.sum(axis=1).tolist()
    return [(1 + lost, n - won) for lost, won in zip(losses, wins, strict=True)]


def significance_clusters(means: Sequence[float], p_values: NDArray[np.float64], alpha: float) -> list[int]:
    """Return the cluster of each system, counted from 1.

    A new cluster starts where every system above is better than every system from there on with
    p < alpha. That is WMT's habit: systems of one cluster are better than all of every lower cluster
    (Findings of WMT23, Kocmi et al. 2023, with the one-sided rank-sum test and alpha 0.05). p-values are
    not corrected for their number. No cluster starts between equal means, whose order is chance.

    A cluster is no statement of equality. One pair without a significant difference joins two groups, and
    clusters chain: its best and its worst system may differ with any p-value.

    `p_values`: systems by systems in the same order; [i, j] is that of "i is better than j".
    """
    clusters: list[int] = []
    for k in range(len(means)):
        starts = k > 0 and means[k - 1] > means[k] and bool((p_values[:k, k:] < alpha).all())
        clusters.append(clusters[-1] + starts if clusters else 1)
    return clusters
