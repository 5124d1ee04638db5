"""Steps that measures share, and the p-values that are found when they are asked for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from adjudge.stats import judged as judged_module
from adjudge.stats.correlation import kendall_b, kendall_c
from adjudge.stats.judged import judged, shared, sharing
from adjudge.stats.measures import MEASURES

RNG = np.random.default_rng(1)


def test_a_step_is_made_once_within_a_block_and_every_time_outside() -> None:
    made: list[int] = []
    inputs, other = (np.zeros(3),), (np.zeros(3),)
    for _ in range(2):
        shared("step", inputs, 0, lambda: made.append(0))
    assert len(made) == 2
    with sharing():
        for _ in range(3):
            shared("step", inputs, 0, lambda: made.append(0))
        assert len(made) == 3
        shared("step", inputs, 1, lambda: made.append(0))
        shared("step", other, 0, lambda: made.append(0))
        shared("other", inputs, 0, lambda: made.append(0))
        assert len(made) == 6
    shared("step", inputs, 0, lambda: made.append(0))
    assert len(made) == 7


@pytest.mark.parametrize("name", MEASURES)
def test_sharing_moves_no_number(name: str) -> None:
    gold, metric = RNG.integers(-9, 0, (7, 90)).astype(float), RNG.normal(size=(7, 90))
    gold[2, 5] = metric[3, 8] = np.nan
    measure = MEASURES[name]
    if measure.takes == "systems":
        gold, metric = (np.nan_to_num(side).mean(axis=1) for side in (gold, metric))
    alone = measure.function(gold, metric)
    with sharing():
        for each in MEASURES.values():
            if each.takes == measure.takes:
                each.function(gold, metric)
        assert measure.function(gold, metric) == alone


@given(st.integers(65, 400), st.integers(1, 60), st.integers(1, 60), st.integers(0, 2**20))
def test_pairs_of_a_long_column_are_counted_as_by_looking(
    n: int, golds: int, metrics: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    gold, metric = rng.integers(0, golds, n).astype(float), rng.integers(0, metrics, n).astype(float)
    found = judged_module.pair_counts(judged(gold, metric))
    wanted = judged_module._count(gold[:, None], metric[:, None], 0.0)
    for name, count in zip(
        ("concordant", "discordant", "gold_ties", "metric_ties", "both_ties"), wanted, strict=True
    ):
        assert getattr(found, name).tolist() == count.tolist()


@given(st.integers(3, 200), st.integers(2, 10**6), st.integers(2, 10**6), st.integers(0, 2**20))
def test_p_of_kendall_is_that_of_scipy(n: int, golds: int, metrics: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    gold, metric = rng.integers(0, golds, n).astype(float), rng.integers(0, metrics, n).astype(float)
    if seed % 3 == 0:
        metric = gold + rng.integers(0, 2, n)
    wanted = kendalltau(gold, metric).pvalue
    for measure in (kendall_b, kendall_c):
        found = measure(gold, metric)
        assert found.value is None or found.p == pytest.approx(wanted, rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("n", [3, 12, 33, 34, 100, 200])
def test_p_of_a_perfect_order_is_exact(n: int) -> None:
    order = np.arange(float(n))
    swapped = order.copy()
    swapped[[0, 1]] = swapped[[1, 0]]
    for metric in (order, -order, swapped):
        wanted = kendalltau(order, metric).pvalue
        assert kendall_b(order, metric).p == pytest.approx(wanted, rel=1e-12, abs=1e-300)
