"""Rankings by some of the segments, weights of errors, and cuts between systems."""

import numpy as np
import pytest

from adjudge.analysis.study_systems import (
    best_major_weight,
    cluster_cuts,
    find_standing,
    major_weight_curve,
    subset_agreement,
)
from adjudge.errors import UsageError

# Which systems still differ while a campaign is under way.


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
def test_a_difference_must_be_larger_when_looked_at_early(
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


def test_all_segments_agree_with_themselves_and_one_may_not() -> None:
    scores = np.array([[3.0, 0, 3], [1, 1, 1]])
    assert subset_agreement(scores, 3, draws=5) == 1
    assert subset_agreement(scores, 9, draws=5) == 1
    one = subset_agreement(scores, 1, draws=3000)
    assert one == pytest.approx(2 / 3, abs=0.03)
    assert one == subset_agreement(scores, 1, draws=3000)  # the same seed draws the same
    assert subset_agreement(scores, 1, draws=3000, as_paper=True) == pytest.approx((2 + 2 * one) / 4)


def test_a_tie_is_wrong_and_for_the_paper_a_win_of_the_first() -> None:
    scores = np.array([[1.0, 2], [1, 1]])
    shares = [subset_agreement(scores, 1, draws=4000, as_paper=as_paper) for as_paper in (False, True)]
    assert shares == [pytest.approx(0.5, abs=0.03), 1]


def test_a_gap_or_a_lone_system_is_refused() -> None:
    with pytest.raises(UsageError):
        subset_agreement(np.array([[1.0, 2]]), 1)
    with pytest.raises(UsageError):
        subset_agreement(np.array([[1.0, 2], [1, np.nan]]), 1)


def test_the_weight_that_made_the_ratings_fits_best() -> None:
    rng = np.random.default_rng(1)
    minor, major = rng.integers(0, 5, size=(2, 60)).astype(float)
    weights = np.arange(101) / 10
    ratings = 100 - minor - 3.2 * major
    assert best_major_weight(ratings, minor, major, weights) == pytest.approx(3.2)
    assert major_weight_curve(ratings, minor, major, weights)[32] == pytest.approx(1)
    with pytest.raises(UsageError, match="all the same"):
        best_major_weight(np.ones(60), minor, major, weights)


def test_a_cut_falls_where_a_system_is_better_than_every_lower_one() -> None:
    rng = np.random.default_rng(2)
    level = np.array([[50.0], [90], [50], [20]])
    scores = level + rng.normal(size=(4, 80))
    cuts = cluster_cuts(scores)
    assert cuts == [pytest.approx(70, abs=0.5), pytest.approx(35, abs=0.5)]
    assert cluster_cuts(np.ones((3, 10))) == []
