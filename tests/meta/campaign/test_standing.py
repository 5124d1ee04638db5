"""Which systems still differ while a campaign is under way."""

import numpy as np
import pytest

from adjudge.analysis.study_systems import find_standing


def gaps(mean: float, n: int, sd: float = 10.0) -> np.ndarray:
    """Scores of two systems whose differences have exactly this mean and spread."""
    rest = np.tile([-1.0, 1.0], n // 2)
    rest = rest / rest.std(ddof=1) * sd
    return np.stack([rest + mean, np.zeros(n)], axis=1)


@pytest.mark.parametrize(
    ("mean", "n", "done", "state"),
    [
        (1.0, 100, 1.0, "tied"),  # z = 1
        (2.5, 100, 1.0, "apart"),  # z = 2.5
        (2.5, 100, 0.25, "leaning"),  # the bound is 3.92
        (4.5, 100, 0.25, "apart"),
        (50.0, 8, 1.0, "tied"),  # too few to say more
        (0.0, 100, 1.0, "tied"),
    ],
)
def test_a_difference_must_be_larger_the_earlier_it_is_looked_at(
    mean: float, n: int, done: float, state: str
) -> None:
    (pair,) = find_standing(["A", "B"], gaps(mean, n), done).pairs
    assert (pair.state, pair.n, pair.first) == (state, n, "A")


def test_what_is_needed_is_what_the_plan_of_a_paired_test_needs() -> None:
    """(1.960 + 0.842)² · 10² = 785 segments for a difference of 1, and 2 more for Student's t."""
    (pair,) = find_standing(["A", "B"], gaps(1.0, 100), 1.0).pairs
    assert pair.needed == 787 - 100
    (alike,) = find_standing(["A", "B"], gaps(0.0, 100), 1.0).pairs
    assert alike.needed is None


def test_ranks_leave_open_what_is_not_told_apart() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal([90, 60, 60, 10], 5, size=(50, 4))
    found = find_standing(["A", "B", "C", "D"], scores, 1.0)
    ranks = {row.system: (row.best, row.worst) for row in found.systems}
    assert ranks == {"A": (1, 1), "B": (2, 3), "C": (2, 3), "D": (4, 4)}
    assert [{pair.first, pair.second} for pair in found.open] == [{"B", "C"}]
    assert found.is_over


def test_a_half_done_matrix_is_read_as_far_as_it_goes() -> None:
    scores = np.array([[1.0, np.nan, np.nan], [2.0, 1.0, np.nan]])
    found = find_standing(["A", "B", "C"], scores, 0.1)
    assert [(row.system, row.mean, row.n) for row in found.systems] == [
        ("A", 1.5, 2),
        ("B", 1.0, 1),
        ("C", None, 0),
    ]
    assert {pair.state for pair in found.pairs} == {"unknown"}
    assert not found.is_over


def test_it_is_over_when_all_are_apart_or_all_is_done() -> None:
    assert find_standing(["A", "B"], gaps(5.0, 100), 0.5).is_over
    assert not find_standing(["A", "B"], gaps(0.1, 100), 0.5).is_over
    assert find_standing(["A", "B"], gaps(0.1, 100), 1.0).is_over
    assert not find_standing(["A"], np.ones((3, 1)), 0.5).is_over
