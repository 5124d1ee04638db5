"""One test for every pair of systems."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from adjudge.meta.matrix import Totals
from adjudge.meta.paired import (
    ROUNDING,
    enlarged,
    rank_sum_p_value,
    sign_flip_p_values,
    signed_rank_p_value,
    smallest_p_value,
)

__all__ = ["TESTS", "TITLES", "Test", "better_p_values"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Test = Literal["permutation", "wilcoxon", "rank-sum", "t"]
TESTS: Final[tuple[Test, ...]] = get_args(Test)
TITLES: Final[Mapping[Test, str]] = {
    "permutation": "paired permutation test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "rank-sum": "Wilcoxon rank-sum test",
    "t": "paired t-test",
}
_CELLS: Final = 2**22  # of one block of differences: 32 MB


def better_p_values(ordered: Totals, test: Test, *, resamples: int, seed: int) -> Floats:
    """Systems by systems: [i, j] is the one-sided p-value of "i is better than j", for j after i; else 1.

    Args:
        ordered: judged for all systems, best first.
        test: `permutation` and `t` compare means, the others the ranks of segments or documents.
        resamples: random sign flips of the permutation test, the same for every pair.
        seed: of those.
    """
    systems = ordered.sums.shape[1]
    p_values = np.ones((systems, systems))
    pairs = list(combinations(range(systems), 2))
    size = max(1, _CELLS // max(1, len(ordered.sums)))
    for start in range(0, len(pairs), size):
        first, second = np.array(pairs[start : start + size]).T
        p_values[first, second] = _better(ordered, first, second, test, (resamples, seed))
    return p_values


def _better(ordered: Totals, first: Ints, second: Ints, test: Test, drawing: tuple[int, int]) -> Floats:
    if test == "permutation":
        shares, (resamples, seed) = enlarged(ordered.shares), drawing
        differences = shares[:, first] - shares[:, second]
        return sign_flip_p_values(differences, alternative="greater", resamples=resamples, seed=seed)
    if test == "t":
        shares = enlarged(ordered.shares)
        return _t_p_values(shares[:, first] - shares[:, second])
    means = enlarged(ordered.means)
    a, b = means[:, first], means[:, second]
    if test == "wilcoxon":
        return np.array([signed_rank_p_value(d, "greater") for d in (a - b).T])
    return np.array([rank_sum_p_value(x, y, "greater") for x, y in zip(a.T, b.T, strict=True)])


def _t_p_values(differences: Floats) -> Floats:
    """One-sided paired t-test of each column; a constant difference gets what all sign flips give it."""
    from scipy.special import stdtr

    units = len(differences)
    means = differences.mean(axis=0)
    errors = differences.std(axis=0, ddof=1) / np.sqrt(units) if units > 1 else np.zeros_like(means)
    is_flat = errors <= ROUNDING * np.abs(differences).max(axis=0, initial=0.0)
    found = stdtr(units - 1, -means / np.where(is_flat, 1.0, errors))
    constant = np.where(means > 0, smallest_p_value(units, 1000), 1.0)
    return np.asarray(np.where(is_flat, constant, found), dtype=np.float64)
