"""The closed form against the resampling that it replaces, and against all swaps of tiny data."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.stats.judged import AVERAGES, Average, Floats
from adjudge.stats.permutation import accuracy_p_values, group_rows


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
