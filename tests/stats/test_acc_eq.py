from contextlib import ExitStack
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adjudge.errors import UsageError
from adjudge.stats import acc_eq as acc_eq_module
from adjudge.stats import judged
from adjudge.stats.acc_eq import acc_eq
from adjudge.stats.judged import Average
from tests.stats.scores import Both, averages, groups, pairs, score_pairs

Group = list[tuple[float, float]]


def right(gold: float, metric: float, epsilon: float) -> bool:
    if abs(metric) <= epsilon:
        return gold == 0
    return gold != 0 and (gold > 0) == (metric > 0)  # a product of small ones would be 0


def share(group: Group, epsilon: float) -> Fraction:
    found = [right(g, m, epsilon) for g, m, _ in pairs(group)]
    return Fraction(sum(found), len(found))


def slow(compared: list[Group]) -> tuple[float, float]:
    """The definition: every epsilon is tried, in fractions."""
    candidates = sorted({0.0, *(size for group in compared for _, _, size in pairs(group))})
    values = [sum(share(group, e) for group in compared) / len(compared) for e in candidates]
    best = values.index(max(values))
    return float(values[best]), candidates[best]


def running_sum(compared: dict[int, Group]) -> tuple[float, float]:
    """mt-metrics-eval's way: one pair after the other becomes a tie, in floats."""
    listed = [(size, row, g, m) for row, group in compared.items() for g, m, size in pairs(group)]
    seen: set[int] = set()
    for _, row, _, _ in listed:
        seen.add(row)
    counts = {row: [right(g, m, 0.0) for g, m, _ in pairs(compared[row])] for row in seen}
    sizes = {row: len(found) for row, found in counts.items()}
    won = {row: sum(found) for row, found in counts.items()}
    total = 0.0
    for row in seen:
        total += won[row] / sizes[row]
    epsilons, values = [0.0], [total / len(seen)]
    for size, row, g, m in sorted(listed, key=lambda pair: pair[0]):
        total -= won[row] / sizes[row]
        won[row] += (g == 0) - right(g, m, 0.0)
        total += won[row] / sizes[row]
        if epsilons[-1] == size:
            values[-1] = total / len(seen)
        else:
            epsilons.append(size)
            values.append(total / len(seen))
    best = int(np.argmax(values))
    return values[best], epsilons[best]


@given(score_pairs(), averages)
def test_the_sweep_finds_what_trying_every_epsilon_finds(scores: Both, average: Average) -> None:
    compared = [group for group in groups(*scores, average) if len(group) > 1]
    found = acc_eq(*scores, average)
    if not compared:
        assert (found.value, found.n) == (None, 0)
        assert found.reason
    else:
        assert (found.value, found.epsilon) == slow(compared)
        assert found.n == sum(len(list(pairs(group))) for group in compared)


@given(score_pairs(6, 8), averages, st.integers(0, 12), st.integers(1, 40), st.integers(1, 9))
def test_passes_over_blocks_find_the_same(
    scores: Both, average: Average, held: int, cells: int, bits: int
) -> None:
    whole = acc_eq(*scores, average)
    with ExitStack() as stack:
        for module in (acc_eq_module, judged):
            stack.enter_context(patch.object(module, "SHORT", 0))
        stack.enter_context(patch.object(acc_eq_module, "_SORTED", held))
        stack.enter_context(patch.object(acc_eq_module, "_CELLS", cells))
        stack.enter_context(patch.object(acc_eq_module, "_BINS", bits))
        assert acc_eq(*scores, average) == whole


@given(score_pairs(6, 8), averages, st.integers(1, 40))
def test_groups_looked_at_some_at_a_time_find_the_same(scores: Both, average: Average, held: int) -> None:
    whole = acc_eq(*scores, average)
    with patch.object(acc_eq_module, "_PAIRS", held):
        assert acc_eq(*scores, average) == whole


@example((np.zeros((2, 1)), np.array([[0.0], [-0.0]])), "item")
@given(score_pairs(8, 8), averages)
def test_weights_that_64_bits_do_not_hold_change_nothing(scores: Both, average: Average) -> None:
    whole = acc_eq(*scores, average)
    with patch.object(acc_eq_module, "_LARGEST", 0):
        assert acc_eq(*scores, average) == whole
        with patch.object(acc_eq_module, "SHORT", 0):
            assert acc_eq(*scores, average) == whole


@given(score_pairs(), averages)
def test_compat_repeats_the_running_sum_of_mt_metrics_eval(scores: Both, average: Average) -> None:
    compared = {row: group for row, group in enumerate(groups(*scores, average)) if len(group) > 1}
    if compared:
        found = acc_eq(*scores, average, compat="mtme")
        assert (found.value, found.epsilon) == running_sum(compared)


@given(score_pairs(), averages, st.sampled_from([0.0, 0.1, 1.0, 5.0]))
def test_an_epsilon_that_is_given_is_taken(scores: Both, average: Average, epsilon: float) -> None:
    compared = [group for group in groups(*scores, average) if len(group) > 1]
    if compared:
        found = acc_eq(*scores, average, epsilon=epsilon)
        wanted = float(sum(share(group, epsilon) for group in compared) / len(compared))
        assert found.value == pytest.approx(wanted, abs=1e-15)
        assert found.epsilon == epsilon


def test_rows_far_apart_are_summed_in_the_order_of_a_python_set() -> None:
    rng = np.random.default_rng(3)
    gold = np.full((3, 3000), np.nan)
    rows = np.sort(rng.choice(3000, 280, replace=False))  # their set has room for 512 numbers, and wraps
    gold[:, rows] = rng.integers(0, 3, (3, 280))
    gold[0, rows[::3]] = np.nan
    metric = rng.normal(size=gold.shape)
    compared = {row: group for row, group in enumerate(groups(gold, metric, "item")) if len(group) > 1}
    found = acc_eq(gold, metric, compat="mtme")
    assert (found.value, found.epsilon) == running_sum(compared)


@pytest.mark.parametrize(
    ("gold", "metric", "value", "epsilon", "chance"),
    [
        ([[1, 1], [2, 2]], [[1, 1], [2, 2]], 1.0, 0.0, 0.5),  # no ties
        ([[1, 1], [1, 1]], [[1, 5], [2, 9]], 1.0, 4.0, 1.0),  # gold ties everything
        ([[1, 1], [2, 1]], [[3, 3], [3, 3]], 0.5, 0.0, 0.5),  # a constant metric ties everything
        ([[1, 1], [1, 2]], [[1, 1], [2, 2]], 0.5, 0.0, 0.5),  # 0 and 1 are as good: the smaller
    ],
)
def test_what_ties_are_worth(
    gold: list[list[float]], metric: list[list[float]], value: float, epsilon: float, chance: float
) -> None:
    found = acc_eq(np.array(gold, dtype=float), np.array(metric, dtype=float))
    assert (found.value, found.epsilon, found.chance, found.groups, found.n) == (value, epsilon, chance, 2, 2)


@pytest.mark.parametrize("values", [2, 3, 12])
def test_chance_is_what_the_better_metric_without_knowledge_reaches(values: int) -> None:
    rng = np.random.default_rng(1)
    gold = rng.integers(0, values, (10, 2000)).astype(float)
    found = [acc_eq(gold, metric) for metric in (rng.normal(size=gold.shape), np.zeros(gold.shape))]
    assert found[0].chance == found[1].chance
    assert max(result.value or 0 for result in found) == pytest.approx(found[0].chance, abs=0.01)


def test_one_system_has_nothing_to_compare() -> None:
    found = acc_eq(np.array([[1.0, 2.0]]), np.array([[1.0, 2.0]]))
    assert found.value is None
    assert found.reason == "the systems of a segment are compared with each other, and there is 1 only"


def test_scores_of_one_segment_are_warned_of() -> None:
    found = acc_eq(np.array([[1.0], [2.0], [4.0]]), np.array([[1.0], [2.0], [3.0]]))
    assert found.value == 1.0
    assert found.note == "one segment only, so nothing is averaged; was a flat array passed?"


def test_a_flat_array_is_refused() -> None:
    with pytest.raises(UsageError, match=r"needs systems by segments, got a flat array of 3 scores"):
        acc_eq(np.zeros(3), np.zeros(3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": -1.0}, "0 or more; got -1.0"),
        ({"epsilon": np.nan}, "0 or more; got nan"),
        ({"epsilon": 1.0, "compat": "mtme"}, "leave out one"),
        ({"compat": "mtm"}, "'mtme' or left out, got 'mtm'"),
        ({"average": "items"}, "averaged by item, sys, none; got 'items'"),
    ],
)
def test_a_wrong_option_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        acc_eq(np.zeros((2, 2)), np.zeros((2, 2)), **options)  # type: ignore[arg-type]


def test_more_pairs_than_compat_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acc_eq_module, "_MOST_PAIRS", 20_000)
    scores = np.zeros((2, 101))
    with pytest.raises(UsageError, match="compat mtme holds every pair, and 20301 are more than 20000"):
        acc_eq(scores, scores, "none", compat="mtme")
    assert acc_eq(scores, scores, "none").value == 1.0
    assert acc_eq(scores[:, 1:], scores[:, 1:], "none", compat="mtme").value == 1.0
