"""PERM-BOTH of measures that count ordered pairs, against the measures themselves, hybrid by hybrid."""

import itertools
import math
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from adjudge.stats.correlation import kendall_b, kendall_c, spearman
from adjudge.stats.judged import Floats, Result
from adjudge.stats.permutation import OrderStatistic, order_p_values
from adjudge.stats.spa import pairwise_accuracy

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
