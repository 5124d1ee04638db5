import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.stats.paired import significance_clusters


def upper(values: list[list[float]]) -> np.ndarray:
    return np.array(values, dtype=float)


N = 0.5  # not significant

TABLE = [
    # p-values of "row better than column", clusters
    ([[1, 0.01], [1, 1]], [1, 2]),
    ([[1, 0.05], [1, 1]], [1, 1]),  # below alpha, not at it
    ([[1, 0.01, 0.01], [1, 1, 0.01], [1, 1, 1]], [1, 2, 3]),
    ([[1, N, 0.01], [1, 1, 0.01], [1, 1, 1]], [1, 1, 2]),
    ([[1, 0.01, 0.01], [1, 1, N], [1, 1, 1]], [1, 2, 2]),
    # first and last differ, but the middle one is told from neither: one cluster
    ([[1, N, 0.01], [1, 1, N], [1, 1, 1]], [1, 1, 1]),
    # the second does not beat the last: no cluster starts at the third
    ([[1, N, 0.01, 0.01], [1, 1, 0.01, N], [1, 1, 1, 0.01], [1, 1, 1, 1]], [1, 1, 1, 1]),
]


@pytest.mark.parametrize(("p_values", "clusters"), TABLE)
def test_a_cluster_starts_where_all_above_beat_all_below(
    p_values: list[list[float]], clusters: list[int]
) -> None:
    means = [-float(k) for k in range(len(clusters))]
    assert significance_clusters(means, upper(p_values), 0.05) == clusters


def test_no_cluster_starts_between_equal_means() -> None:
    assert significance_clusters([-1.0, -1.0], upper([[1, 0.001], [1, 1]]), 0.05) == [1, 1]


def test_one_system_is_one_cluster_and_none_is_none() -> None:
    assert significance_clusters([3.0], np.ones((1, 1)), 0.05) == [1]
    assert significance_clusters([], np.ones((0, 0)), 0.05) == []


@given(st.integers(1, 6), st.data())
def test_the_clusters_are_those_of_a_plain_loop(systems: int, data: st.DataObject) -> None:
    p_values = np.ones((systems, systems))
    for i in range(systems):
        for j in range(i + 1, systems):
            p_values[i, j] = data.draw(st.sampled_from([0.01, 0.01, 0.5]))
    slow, cluster = [], 1
    for k in range(systems):
        beaten = [p_values[above, below] < 0.05 for above in range(k) for below in range(k, systems)]
        if beaten and all(beaten):
            cluster += 1
        slow.append(cluster)
    assert significance_clusters([-float(k) for k in range(systems)], p_values, 0.05) == slow
