"""PERM-BOTH against a plain transcription of its definition."""

import itertools
import math
import warnings
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from adjudge.stats.judged import AVERAGES, Average, Floats
from adjudge.stats.permutation import Correlation, correlation_p_values

CORRELATIONS: list[Correlation] = ["pearson", "spearman"]


def groups_of(gold: Floats, average: Average) -> list[list[tuple[int, int]]]:
    """Cells of each group, in the order in which a sign is drawn for each of them."""
    systems, segments = gold.shape
    cells = [[(a, n) for n in range(segments)] for a in range(systems)]
    if average == "item":
        cells = [[(a, n) for a in range(systems)] for n in range(segments)]
    return [list(itertools.chain(*cells))] if average == "none" else cells


def slow_mean(gold: Floats, metric: Floats, groups: list[list[tuple[int, int]]]) -> float | None:
    found = []
    for cells in groups:
        g, m = [gold[c] for c in cells], [metric[c] for c in cells]
        if np.ptp(g) > 0 and np.ptp(m) > 1e-9:
            found.append(stats.pearsonr(g, m)[0])
    return float(np.mean(found)) if found else None


def slow_p_value(
    gold: Floats, a: Floats, b: Floats, statistic: Correlation, average: Average, draws: Iterable[Floats]
) -> float:
    """p-value of "a correlates better than b", draw by draw."""
    judged = ~np.isnan(gold) & ~np.isnan(a) & ~np.isnan(b)
    groups = [[c for c in cells if judged[c]] for cells in groups_of(gold, average)]
    groups = [cells for cells in groups if len(cells) > 1]
    g, u, v = gold.copy(), a.copy(), b.copy()
    if statistic == "pearson":
        for x in (u, v):
            if judged.any() and np.ptp(x[judged]) > 0:
                x[judged] = stats.zscore(x[judged])
            else:
                x[judged] = 0
    else:
        for cells, x in itertools.product(groups, (g, u, v)):
            ranks = stats.rankdata([x[c] for c in cells])
            for cell, rank in zip(cells, ranks, strict=True):
                x[cell] = rank
    whole = [slow_mean(g, x, groups) for x in (u, v)]
    if whole[0] is None or whole[1] is None:
        return math.nan
    order = [cell for cells in groups for cell in cells]
    hits = drawn = 0
    for signs in draws:
        h, rest = u.copy(), v.copy()
        for sign, cell in zip(signs, order, strict=True):
            if sign < 0:
                h[cell], rest[cell] = v[cell], u[cell]
        delta = (slow_mean(g, h, groups) or 0) - (slow_mean(g, rest, groups) or 0)
        hits += delta >= whole[0] - whole[1] - 1e-10
        drawn += 1
    return hits / drawn if len(order) <= 12 else (hits + 1) / (drawn + 1)


cells = st.one_of(st.none(), st.integers(0, 3))


@st.composite
def tables(draw: st.DrawFn, most: int = 4) -> tuple[Floats, Floats]:
    """Gold and three metrics, with ties and gaps."""
    systems, segments = draw(st.integers(2, 3)), draw(st.integers(1, most))
    size = systems * segments
    rows = draw(st.lists(st.lists(cells, min_size=size, max_size=size), min_size=4, max_size=4))
    filled = np.array([[math.nan if v is None else v for v in row] for row in rows], dtype=float)
    shaped = filled.reshape(4, systems, segments)
    return shaped[0], shaped[1:]


@settings(max_examples=25)
@given(tables(2), st.sampled_from(CORRELATIONS), st.sampled_from(AVERAGES))
def test_few_entries_are_tested_over_all_swaps(
    given_tables: tuple[Floats, Floats], statistic: Correlation, average: Average
) -> None:
    gold, metrics = given_tables
    fast = correlation_p_values(gold, metrics, statistic=statistic, average=average)
    for i, j in itertools.permutations(range(3), 2):
        judged = ~np.isnan(gold) & ~np.isnan(metrics[i]) & ~np.isnan(metrics[j])
        sizes = [sum(bool(judged[c]) for c in cells) for cells in groups_of(gold, average)]
        units = sum(size for size in sizes if size > 1)
        draws = (np.array(s) for s in itertools.product((1.0, -1.0), repeat=units))
        slow = slow_p_value(gold, metrics[i], metrics[j], statistic, average, draws)
        assert fast[i, j] == pytest.approx(slow, abs=1e-12, nan_ok=True)
    assert (np.diag(fast) == 1).all()


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("statistic", CORRELATIONS)
def test_many_entries_are_tested_over_the_drawn_swaps(statistic: Correlation, average: Average) -> None:
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 5, (4, 7)).astype(float)
    metrics = np.stack([gold + rng.normal(0, s, gold.shape).round() for s in (1, 2)])
    gold[0, 2] = math.nan
    units = 27
    draws = np.where(np.random.default_rng(3).random((60, units)) < 0.5, -1.0, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        slow = slow_p_value(gold, metrics[0], metrics[1], statistic, average, draws)
    fast = correlation_p_values(gold, metrics, statistic=statistic, average=average, resamples=60, seed=3)
    assert fast[0, 1] == pytest.approx(slow, abs=1e-12)


def test_systems_are_swapped_whole_at_system_level() -> None:
    gold = np.array([1.0, 2, 3, 4, 5])
    metrics = np.array([[1.0, 2, 3, 5, 4], [3.0, 1, 2, 5, 4]])
    table = correlation_p_values(gold, metrics)
    draws = [np.array(s) for s in itertools.product((1.0, -1.0), repeat=5)]
    slow = slow_p_value(gold[:, None], metrics[0][:, None], metrics[1][:, None], "pearson", "none", draws)
    assert table[0, 1] == pytest.approx(slow)


def test_a_constant_metric_has_no_p_value() -> None:
    rng = np.random.default_rng(0)
    gold = rng.normal(size=(3, 9))
    metrics = np.stack([gold, np.ones_like(gold), rng.normal(size=gold.shape)])
    table = correlation_p_values(gold, metrics)
    assert np.isnan(table[1, [0, 2]]).all()
    assert np.isnan(table[[0, 2], 1]).all()
    assert table[0, 2] < 0.01
    assert table[2, 0] > 0.9


def test_two_equal_metrics_are_never_told_apart() -> None:
    gold = np.random.default_rng(0).normal(size=(3, 20))
    metric = gold + np.random.default_rng(1).normal(size=gold.shape)
    assert (correlation_p_values(gold, np.stack([metric, metric])) == 1).all()
