import itertools
import math

import numpy as np
import pytest
from hypothesis import given

from adjudge.errors import UsageError
from adjudge.stats.judged import Floats
from adjudge.stats.spa import pairwise_accuracy
from tests.meta.measures.scores import groups, score_pairs


@given(score_pairs(8, 1))
def test_pairwise_accuracy_is_the_share_of_pairs_in_the_right_order(scores: tuple[Floats, Floats]) -> None:
    gold, metric = (side[:, 0] for side in scores)
    (both,) = groups(gold[:, None], metric[:, None], "none")
    right = [
        (g1 > g2) - (g1 < g2) == (m1 > m2) - (m1 < m2)
        for (g1, m1), (g2, m2) in itertools.combinations(both, 2)
    ]
    found = pairwise_accuracy(gold, metric)
    assert (found.value, found.n) == (sum(right) / len(right) if right else None, len(right))


@pytest.mark.parametrize(
    ("gold", "metric", "value", "n"),
    [
        ([1, 2, 3], [1, 2, 3], 1.0, 3),
        ([1, 2, 3], [1, 1, 3], 2 / 3, 3),  # a tie of the metric is wrong
        ([1, 1, 3], [1, 2, 3], 2 / 3, 3),  # so is an order where gold ties
        ([1, 1, 3], [2, 2, 3], 1.0, 3),  # what both tie is right
        ([1, 2, math.nan], [2, 1, 3], 0.0, 1),
    ],
)
def test_what_ties_are_worth(gold: list[float], metric: list[float], value: float, n: int) -> None:
    found = pairwise_accuracy(np.array(gold, dtype=float), np.array(metric, dtype=float))
    assert (found.value, found.n) == (value, n)


@pytest.mark.parametrize("systems", [0, 1])
def test_one_system_has_nothing_to_compare(systems: int) -> None:
    found = pairwise_accuracy(np.ones(systems), np.ones(systems))
    assert found.value is None
    assert (
        found.reason
        == f"systems are compared with each other, and scores of both are there for {systems} only"
    )


def test_scores_of_segments_are_refused() -> None:
    with pytest.raises(UsageError, match=r"takes one score a system, got an array of shape \(2, 3\)"):
        pairwise_accuracy(np.zeros((2, 3)), np.zeros((2, 3)))


def test_what_accuracy_is_worth_where_gold_ties_all_is_said() -> None:
    assert "gold ties all systems" in pairwise_accuracy(np.zeros(3), np.arange(3.0)).note
    assert not pairwise_accuracy(np.array([0.0, 0, 1]), np.arange(3.0)).note
