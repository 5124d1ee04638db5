"""What the tests of all pairs say of each system: whom it is better than, its ranks, its cluster."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["rank_ranges", "significance_clusters", "significantly_better"]

Bools = NDArray[np.bool_]


def significantly_better(means: Sequence[float], p_values: NDArray[np.float64], alpha: float) -> Bools:
    """Return systems by systems: whether the row's system is significantly better than the column's.

    p < alpha and a higher mean: systems of equal means are in chance order. p-values are not corrected for
    their number.

    Args:
        means: of the systems, best first.
        p_values: systems by systems in the same order; [i, j] is that of the difference of i and j.
        alpha: bound, strict.
    """
    values = np.asarray(means, dtype=np.float64)
    return np.asarray((p_values < alpha) & (values[:, None] > values[None, :]))


def rank_ranges(better: Bools) -> list[tuple[int, int]]:
    """Return the best and the worst rank of each system that the tests of its pairs allow.

    best = 1 + number of systems significantly better; worst = n - number of systems significantly worse

    The rank ranges of WMT24's findings (Kocmi et al. 2024), whose tests are one-sided. They are no interval
    with a coverage: each rests on n - 1 tests that are not corrected for their number.

    Args:
        better: systems by systems, whether the row's is better than the column's.
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

    Args:
        means: of the systems, best first.
        p_values: systems by systems in the same order; [i, j] is that of "i is better than j".
        alpha: bound, strict.
    """
    clusters: list[int] = []
    for k in range(len(means)):
        starts = k > 0 and means[k - 1] > means[k] and bool((p_values[:k, k:] < alpha).all())
        clusters.append(clusters[-1] + starts if clusters else 1)
    return clusters
