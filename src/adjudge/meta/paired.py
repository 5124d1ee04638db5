"""Tests whether one system is better than another, judged on the same segments.

None of them corrects for the number of pairs tested; WMT's clusters do not either.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ROUNDING",
    "Alternative",
    "enlarged",
    "is_exact",
    "rank_sum_p_value",
    "share_of_hits",
    "sign_flip_p_values",
    "sign_vectors",
    "signed_rank_p_value",
    "smallest_p_value",
]

Floats = NDArray[np.float64]
Alternative = Literal["greater", "two-sided"]
"""`greater`: the first is better. `two-sided`: they differ."""

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

    Args:
        differences: units by pairs of systems.
        alternative: `greater` tests whether the sum is above 0.
        resamples: random sign vectors.
        seed: of numpy's default generator.
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
    return _all_signs(units) if is_exact(units) else _random_signs(units, resamples, seed)


def share_of_hits(hits: Floats, units: int, resamples: int) -> Floats:
    """p-values of a test over `sign_vectors`: a share where all were tried, else with one hit more."""
    return hits / 2.0**units if is_exact(units) else (hits + 1) / (resamples + 1)


def is_exact(units: int) -> bool:
    """Whether the permutation test goes through all sign vectors of so many units."""
    return units <= _EXACT_UNITS


def smallest_p_value(units: int, resamples: int) -> float:
    """Lowest p-value that the one-sided permutation test can give."""
    return 2.0**-units if is_exact(units) else 1 / (resamples + 1)


def _all_signs(units: int) -> Iterator[Floats]:
    yield np.array(list(itertools.product((1.0, -1.0), repeat=units))).reshape(2**units, units)


def _random_signs(units: int, resamples: int, seed: int) -> Iterator[Floats]:
    rng = np.random.default_rng(seed)
    rows = max(1, _CELLS // units)
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        yield np.where(rng.random((size, units)) < 0.5, -1.0, 1.0)


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
