import itertools
import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from adjudge.errors import UsageError
from adjudge.stats.acc_eq import acc_eq
from adjudge.stats.correlation import kendall_b, kendall_c, spearman
from adjudge.stats.judged import AVERAGES, Average, Floats, Result
from adjudge.stats.permutation import (
    Correlation,
    OrderStatistic,
    accuracy_p_values,
    correlation_p_values,
    group_rows,
    joint_p_values,
    metric_differences,
    order_p_values,
    pooled_differences,
    soft_p_values,
    swapped_correlations,
    williams_p_value,
    williams_p_values,
)
from adjudge.stats.resampling import metric_p_values, swapped_differences
from adjudge.stats.spa import pairwise_accuracy, soft_pairwise_accuracy

# PERM-BOTH of measures that count ordered pairs, against the measures themselves, hybrid by hybrid.


MEASURES: Mapping[OrderStatistic, Callable[[Floats, Floats], Result]] = {
    "accuracy": pairwise_accuracy,
    "kendall_b": kendall_b,
    "kendall_c": kendall_c,
    "spearman": spearman,
}


def z(scores: Floats) -> Floats:
    return np.zeros(len(scores)) if np.ptp(scores) == 0 else stats.zscore(scores)


def slow_p_value(gold: Floats, a: Floats, b: Floats, statistic: OrderStatistic, draws: Floats) -> float:
    measure = MEASURES[statistic]
    judged = ~np.isnan(gold) & ~np.isnan(a) & ~np.isnan(b)
    if judged.sum() < 2:
        return math.nan
    g, u, v = gold[judged], z(a[judged]), z(b[judged])
    first, second = measure(g, u).value, measure(g, v).value
    if first is None or second is None:
        return math.nan
    hits = 0
    for signs in draws:
        h, rest = np.where(signs > 0, u, v), np.where(signs > 0, v, u)
        values = [measure(g, x).value for x in (h, rest)]
        delta = 0 if None in values else (values[0] or 0) - (values[1] or 0)
        hits += delta >= first - second - 1e-10
    return hits / len(draws) if judged.sum() <= 12 else (hits + 1) / (len(draws) + 1)


@settings(max_examples=25)
@given(
    st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=18, max_size=18),
    st.sampled_from(sorted(MEASURES)),
)
def test_few_systems_are_tested_over_all_swaps(values: list[int | None], statistic: OrderStatistic) -> None:
    filled = np.array([math.nan if v is None else v for v in values], dtype=float).reshape(3, 6)
    gold, metrics = filled[0], filled[1:]
    units = int((~np.isnan(filled)).all(axis=0).sum())
    draws = np.array(list(itertools.product((1.0, -1.0), repeat=units))).reshape(2**units, units)
    fast = order_p_values(gold, metrics, statistic=statistic)
    for i, j in ((0, 1), (1, 0)):
        slow = slow_p_value(gold, metrics[i], metrics[j], statistic, draws)
        assert fast[i, j] == pytest.approx(slow, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("statistic", sorted(MEASURES))
def test_many_systems_are_tested_over_the_drawn_swaps(statistic: OrderStatistic) -> None:
    rng = np.random.default_rng(2)
    gold = rng.integers(0, 9, 15).astype(float)
    metrics = np.stack([gold + rng.normal(0, s, 15).round() for s in (1, 3)])
    draws = np.where(np.random.default_rng(8).random((200, 15)) < 0.5, -1.0, 1.0)
    fast = order_p_values(gold, metrics, statistic=statistic, resamples=200, seed=8)
    slow = slow_p_value(gold, metrics[0], metrics[1], statistic, draws)
    assert fast[0, 1] == pytest.approx(slow, abs=1e-12)


def test_a_pair_is_tested_as_if_it_were_alone() -> None:
    rng = np.random.default_rng(4)
    gold, metrics = rng.normal(size=14), rng.normal(size=(4, 14))
    metrics[2, 3] = math.nan
    table = order_p_values(gold, metrics, resamples=99)
    for i, j in itertools.permutations(range(4), 2):
        assert order_p_values(gold, metrics[[i, j]], resamples=99)[0, 1] == table[i, j]


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


def perm_both_slow_p_value(
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
        slow = perm_both_slow_p_value(gold, metrics[i], metrics[j], statistic, average, draws)
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
        slow = perm_both_slow_p_value(gold, metrics[0], metrics[1], statistic, average, draws)
    fast = correlation_p_values(gold, metrics, statistic=statistic, average=average, resamples=60, seed=3)
    assert fast[0, 1] == pytest.approx(slow, abs=1e-12)


def test_systems_are_swapped_whole_at_system_level() -> None:
    gold = np.array([1.0, 2, 3, 4, 5])
    metrics = np.array([[1.0, 2, 3, 5, 4], [3.0, 1, 2, 5, 4]])
    table = correlation_p_values(gold, metrics)
    draws = [np.array(s) for s in itertools.product((1.0, -1.0), repeat=5)]
    slow = perm_both_slow_p_value(
        gold[:, None], metrics[0][:, None], metrics[1][:, None], "pearson", "none", draws
    )
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


def slow_decisions(gold: Floats, metric: Floats, epsilon: float, average: Average) -> list[list[bool]]:
    """For every group: whether each pair of translations is decided rightly."""
    found = []
    for g, m in zip(group_rows(gold, average), group_rows(metric, average), strict=True):
        pairs = [p for p in itertools.combinations(range(len(g)), 2) if not np.isnan(g[list(p)]).any()]
        decided = [0 if abs(m[x] - m[y]) <= epsilon else np.sign(m[x] - m[y]) for x, y in pairs]
        found.append([bool(d == np.sign(g[x] - g[y])) for d, (x, y) in zip(decided, pairs, strict=True)])
    return [group for group in found if group]


def gap(a: list[list[bool]], b: list[list[bool]]) -> float:
    return float(np.mean([np.mean(x) - np.mean(y) for x, y in zip(a, b, strict=True)]))


def swapped(
    a: list[list[bool]], b: list[list[bool]], swaps: list[bool]
) -> tuple[list[list[bool]], list[list[bool]]]:
    flags = iter(swaps)
    first, second = [], []
    for x, y in zip(a, b, strict=True):
        chosen = [(v, u) if next(flags) else (u, v) for u, v in zip(x, y, strict=True)]
        first.append([u for u, _ in chosen])
        second.append([v for _, v in chosen])
    return first, second


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 3), min_size=18, max_size=18),
    st.sampled_from([0.0, 1.0]),
    st.sampled_from([(3, 2), (2, 3)]),
    st.sampled_from(AVERAGES[:2]),
)
def test_equal_groups_of_tiny_data_are_enumerated(
    values: list[int], epsilon: float, shape: tuple[int, int], average: Average
) -> None:
    gold, first, second = np.array(values, dtype=float).reshape(3, *shape)
    a, b = (slow_decisions(gold, m, e, average) for m, e in ((first, epsilon), (second, 0.0)))
    pairs = sum(map(len, a))
    hits = sum(
        gap(*swapped(a, b, list(swaps))) >= gap(a, b) - 1e-9
        for swaps in itertools.product((False, True), repeat=pairs)
    )
    table = accuracy_p_values(gold, np.stack([first, second]), [epsilon, 0.0], average=average)
    assert table[0, 1] == pytest.approx(hits / 2**pairs, abs=1e-12)


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("has_gaps", [False, True])
def test_the_closed_form_is_the_resampling_within_its_error(average: Average, *, has_gaps: bool) -> None:
    rng = np.random.default_rng(11)
    gold = rng.integers(0, 4, (5, 12)).astype(float)
    metrics = np.stack([gold + rng.normal(0, s, gold.shape) for s in (0.9, 1.3)])
    if has_gaps:
        gold[rng.random(gold.shape) < 0.2] = math.nan
    a, b = (slow_decisions(gold, m, 0.3, average) for m in metrics)
    pairs, draws = sum(map(len, a)), 4000
    hits = sum(gap(*swapped(a, b, list(rng.random(pairs) < 0.5))) >= gap(a, b) - 1e-9 for _ in range(draws))
    table = accuracy_p_values(gold, metrics, [0.3, 0.3], average=average, resamples=20_000)
    error = math.sqrt(0.25 / draws)
    assert table[0, 1] == pytest.approx(hits / draws, abs=4 * error)


def test_both_directions_share_the_cases_that_are_equal() -> None:
    gold = np.array([[1.0], [2], [3]])
    metrics = np.array([[[1.0], [2], [3]], [[1.0], [3], [2]]])
    table = accuracy_p_values(gold, metrics, [0.0, 0.0])
    assert table.tolist() == [[1, 0.5], [1, 1]]


def test_nothing_to_compare_is_no_p_value() -> None:
    gold = np.array([[1.0, math.nan], [math.nan, 2.0]])
    assert math.isnan(accuracy_p_values(gold, np.zeros((2, 2, 2)), [0.0, 0.0])[0, 1])


def test_metrics_with_gaps_are_compared_on_what_both_scored() -> None:
    rng = np.random.default_rng(2)
    gold = rng.normal(size=(4, 30))
    metrics = np.stack([gold + rng.normal(size=gold.shape) for _ in range(3)])
    metrics[1, :, :10] = math.nan
    epsilons = [0.0, 0.1, 0.2]
    table = accuracy_p_values(gold, metrics, epsilons)
    part = accuracy_p_values(gold[:, 10:], metrics[:2, :, 10:], epsilons[:2])
    whole = accuracy_p_values(gold, metrics[[0, 2]], [0.0, 0.2])
    assert (table[0, 1], table[0, 2]) == (part[0, 1], whole[0, 1])


Inner = Literal["normal", "signs"]
"""How sure a metric is of two systems: by the normal law of the sign test, or by drawn signs as MTME."""


def value(gold: Floats, metric: Floats, inner: Inner) -> float:
    if inner == "signs":
        return soft_pairwise_accuracy(gold, metric).value or 0
    errors = []
    for a, b in itertools.combinations(range(len(gold)), 2):
        d, e = gold[a] - gold[b], metric[a] - metric[b]
        p, q = (1.0 if not x.any() else stats.norm.sf(x.sum() / math.sqrt((x * x).sum())) for x in (d, e))
        errors.append(abs(p - q))
    return 1 - float(np.mean(errors))


def soft_slow_p_value(gold: Floats, a: Floats, b: Floats, inner: Inner, draws: Floats) -> float:
    u, v = (stats.zscore(x, axis=None) for x in (a, b))
    observed = value(gold, u, inner) - value(gold, v, inner)
    hits = 0
    for signs in draws.reshape(-1, *gold.shape) > 0:
        delta = value(gold, np.where(signs, u, v), inner) - value(gold, np.where(signs, v, u), inner)
        hits += delta >= observed - 1e-5
    return hits / len(draws) if gold.size <= 12 else (hits + 1) / (len(draws) + 1)


def test_the_test_is_the_measure_of_every_hybrid() -> None:
    rng = np.random.default_rng(3)
    gold = rng.integers(-5, 0, (3, 20)).astype(float)
    metrics = np.stack([gold + rng.normal(0, s, gold.shape).round() for s in (2, 5)])
    draws = np.where(np.random.default_rng(6).random((40, 60)) < 0.5, -1.0, 1.0)
    fast = soft_p_values(gold, metrics, resamples=40, seed=6)
    assert fast[0, 1] == pytest.approx(
        soft_slow_p_value(gold, metrics[0], metrics[1], "normal", draws), abs=1e-9
    )


def test_few_translations_are_tested_over_all_swaps() -> None:
    rng = np.random.default_rng(1)
    gold, metrics = rng.normal(size=(2, 3)), rng.normal(size=(2, 2, 3))
    draws = np.array(list(itertools.product((1.0, -1.0), repeat=6)))
    fast = soft_p_values(gold, metrics)
    assert fast[0, 1] == pytest.approx(
        soft_slow_p_value(gold, metrics[0], metrics[1], "normal", draws), abs=1e-9
    )


def test_the_normal_law_gives_the_p_values_of_drawn_signs() -> None:
    rng = np.random.default_rng(9)
    gold = rng.normal(size=(5, 150)) + np.linspace(0, 0.4, 5)[:, None]
    metrics = np.stack([gold + rng.normal(0, s, gold.shape) for s in (2, 2.5)])
    draws = np.where(np.random.default_rng(0).random((200, gold.size)) < 0.5, -1.0, 1.0)
    by_law = soft_p_values(gold, metrics, resamples=200)[0, 1]
    by_signs = soft_slow_p_value(gold, metrics[0], metrics[1], "signs", draws)
    assert by_law == pytest.approx(by_signs, abs=0.06)


def test_segments_that_lack_a_judgement_are_left_out() -> None:
    rng = np.random.default_rng(9)
    gold, metrics = rng.normal(size=(3, 30)), rng.normal(size=(2, 3, 30))
    whole = soft_p_values(gold[:, :25], metrics[:, :, :25])
    gold[0, 25:] = math.nan
    assert (soft_p_values(gold, metrics) == whole).all()
    gold[:] = math.nan
    assert math.isnan(soft_p_values(gold, metrics)[0, 1])


def test_williams_is_the_published_formula() -> None:
    r1, r2, r12, n = 0.9, 0.7, 0.6, 12
    k = 1 - r1**2 - r2**2 - r12**2 + 2 * r1 * r2 * r12
    t = (r1 - r2) * math.sqrt((n - 1) * (1 + r12))
    t /= math.sqrt(2 * k * (n - 1) / (n - 3) + (r1 + r2) ** 2 / 4 * (1 - r12) ** 3)
    assert williams_p_value(r1, r2, r12, n) == pytest.approx(stats.t.sf(t, n - 3))
    assert williams_p_value(r2, r1, r12, n) == pytest.approx(stats.t.cdf(t, n - 3))


@pytest.mark.parametrize(("between", "n"), [(0.5, 3), (1.0, 9)])
def test_williams_has_no_answer_where_its_formula_has_none(between: float, n: int) -> None:
    assert williams_p_value(0.6, 0.6, between, n) is None or between < 1


def test_under_the_null_williams_rejects_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    found = []
    for _ in range(600):
        gold = rng.normal(size=30)
        a, b = (gold + rng.normal(size=30) for _ in range(2))
        r = np.corrcoef([gold, a, b])
        found.append(williams_p_value(r[0, 1], r[0, 2], r[1, 2], 30) or 0)
    assert np.mean(np.array(found) < 0.05) == pytest.approx(0.05, abs=0.03)


def test_a_table_has_the_test_of_each_pair_on_what_all_judged() -> None:
    rng = np.random.default_rng(2)
    gold = rng.normal(size=(3, 20))
    metrics = np.stack([gold + rng.normal(size=gold.shape) * s for s in (1, 2, 3)])
    gold[0, 0], metrics[1, 1, 1] = math.nan, math.nan
    table = williams_p_values(gold, metrics)
    assert (np.diag(table) == 1).all()
    for i, j in ((0, 1), (1, 2), (0, 2), (2, 0)):
        known = ~np.isnan(gold) & ~np.isnan(metrics[i]) & ~np.isnan(metrics[j])
        r = np.corrcoef([gold[known], metrics[i][known], metrics[j][known]])
        n = 59 if {i, j} == {0, 2} else 58
        assert table[i, j] == pytest.approx(williams_p_value(r[0, 1], r[0, 2], r[1, 2], n))
        assert table[i, j] + table[j, i] == pytest.approx(1)
    assert (metric_p_values("seg_pearson", gold, metrics, method="williams") == table)[~np.isnan(table)].all()


def test_twins_and_constants_have_no_test() -> None:
    gold = np.arange(12.0)
    noisy = gold + np.tile([0.0, 1.0, 0.5], 4)
    table = williams_p_values(gold, np.stack([noisy, 3 * noisy + 1, np.ones(12)]))
    assert np.isnan(table[~np.eye(3, dtype=bool)]).all()


def test_systems_are_few_scores() -> None:
    gold = np.array([1.0, 2, 3, 4, 5, 6])
    good, poor = np.array([1.1, 2, 3, 4.1, 5, 6]), np.array([3.0, 1, 4, 1, 5, 2])
    table = williams_p_values(gold, np.stack([good, poor]))
    assert table[0, 1] < 0.05 < table[1, 0]


APART = np.random.default_rng(5).normal(size=(6, 9))
HOLES = np.where(np.arange(54).reshape(6, 9) % 7 == 0, np.nan, APART)


@pytest.mark.parametrize(
    "p_values",
    [
        lambda: order_p_values(
            APART.ravel()[:14], np.stack([APART, -APART]).reshape(2, -1)[:, :14], resamples=99
        ),
        lambda: correlation_p_values(APART, np.stack([APART, -APART]), resamples=99),
        lambda: soft_p_values(APART, np.stack([APART, -APART]), resamples=99),
        lambda: accuracy_p_values(HOLES, np.stack([HOLES, -HOLES]), [0.0, 0.0], resamples=99),
    ],
    ids=["order", "correlation", "soft", "accuracy of unequal groups"],
)
def test_what_no_draw_reaches_has_a_p_value_of_one_in_all_draws_and_one_more(
    p_values: Callable[[], Floats],
) -> None:
    assert p_values().tolist() == [[1.0, 0.01], [1.0, 1.0]]


def test_a_mean_of_several_values_is_tested_by_the_mean_of_their_swaps() -> None:
    rng = np.random.default_rng(3)
    gold = rng.normal(size=(4, 30))
    metrics = np.stack([gold + noise * rng.normal(size=gold.shape) for noise in (0.5, 0.7, 2.0)])
    swapping = partial(swapped_correlations, statistic="pearson", average="none")
    one, other = (metric_differences(gold, metrics, swapping, 400, (7, n)) for n in (0, 1))
    r = [np.corrcoef(gold.ravel(), metric.ravel())[0, 1] for metric in metrics]
    assert one.observed[0, 1] == pytest.approx(r[0] - r[1])
    assert np.allclose(one.drawn, -one.drawn.swapaxes(1, 2))
    assert not np.allclose(one.drawn, other.drawn)
    table = joint_p_values([(2.0, one), (1.0, other)])
    for i, j in itertools.permutations(range(3), 2):
        drawn = 2 * one.drawn[:, i, j] + other.drawn[:, i, j]
        hits = np.count_nonzero(drawn >= 2 * one.observed[i, j] + other.observed[i, j] - 1e-9)
        assert table[i, j] == (hits + 1) / 401
    alone = joint_p_values([(1.0, one)])
    assert np.abs(alone - correlation_p_values(gold, metrics, resamples=4000)).max() < 0.08
    assert list(np.diag(table)) == [1.0, 1.0, 1.0]


def test_a_pooled_accuracy_is_that_of_all_pairs_of_systems() -> None:
    rng = np.random.default_rng(5)
    golds = [rng.normal(size=n) for n in (7, 13)]
    metrics = [np.stack([g + s * rng.normal(size=g.size) for s in (0.2, 1.5)]) for g in golds]
    metrics = [metrics[0] + 3, metrics[1] - 3]  # a metric whose scores are others in another language pair
    found = pooled_differences(golds, metrics, 500, (1,))
    rights = [
        sum(
            (gold[a] > gold[b]) == (metric[k][a] > metric[k][b])
            for gold, metric in zip(golds, metrics, strict=True)
            for a, b in itertools.combinations(range(gold.size), 2)
        )
        for k in (0, 1)
    ]
    assert found.observed[0, 1] == pytest.approx((rights[0] - rights[1]) / (21 + 78))
    assert found.drawn.shape == (500, 2, 2)
    assert abs(found.drawn[:, 0, 1].mean()) < 0.02


def test_acc_eq_has_the_same_differences_as_its_values() -> None:
    rng = np.random.default_rng(9)
    gold = rng.integers(0, 5, size=(5, 12)).astype(float)
    metrics = np.stack([gold + noise * rng.normal(size=gold.shape) for noise in (0.3, 1.0)])
    found = swapped_differences("seg_acc_eq", gold, metrics, {"average": "item"}, resamples=2000, seed=0)
    values = [acc_eq(gold, metric, "item").value or 0.0 for metric in metrics]
    assert found.observed[0, 1] == pytest.approx(values[0] - values[1])
    p = metric_p_values("seg_acc_eq", gold, metrics, options={"average": "item"})
    assert joint_p_values([(1.0, found)])[0, 1] == pytest.approx(p[0, 1], abs=0.03)
    with pytest.raises(UsageError, match="no test that swaps scores"):
        swapped_differences("seg_kendall_b", gold, metrics, {}, resamples=10, seed=0)
