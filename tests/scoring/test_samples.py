"""Aggregates of repeated judgements."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import DataError
from adjudge.judges.gemba_v2 import reciprocal_rank_mean

SCORES = st.lists(st.floats(-500, 0), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("scores", "score", "used"),
    [
        ([-50, -11, -6, -6, -11, -6, -6, -55, -6, -11], -8.4961, 9),  # the appendix of the paper: -8.50
        ([-3], -3, 1),
        ([-3, -3, -3], -3, 3),
        ([0, -6], -2, 2),  # (0 + -6/2) / (1 + 1/2)
        ([0, -3, -6], (-3 / 2 - 6 / 3) / (11 / 6), 3),
        ([-0.1] * 10, -0.1, 10),
        ([0] * 9 + [-25], 0, 9),
        ([-25] * 9 + [0], -25, 9),
        ([-1, -101], (-1 - 101 / 2) / 1.5, 2),  # two scores are never farther than one deviation
    ],
)
def test_known_scores_come_to_known_numbers(scores: list[float], score: float, used: int) -> None:
    aggregate = reciprocal_rank_mean(scores)
    assert aggregate.score == pytest.approx(score, abs=5e-5)
    assert aggregate.used == used


@given(SCORES, st.randoms())
def test_the_order_of_samples_makes_no_difference(scores: list[float], chance: random.Random) -> None:
    shuffled = list(scores)
    chance.shuffle(shuffled)
    assert reciprocal_rank_mean(shuffled) == reciprocal_rank_mean(scores)


@given(SCORES)
def test_the_aggregate_lies_between_the_plain_mean_of_those_used_and_the_best(scores: list[float]) -> None:
    score, used = reciprocal_rank_mean(scores)
    assert min(scores) <= score <= max(scores)
    assert 1 <= used <= len(scores)
    if used == len(scores):
        assert score >= math.fsum(scores) / len(scores) - 1e-9


def test_no_samples_have_no_aggregate() -> None:
    with pytest.raises(DataError, match="no samples"):
        reciprocal_rank_mean([])
