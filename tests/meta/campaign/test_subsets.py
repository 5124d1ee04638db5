"""Rankings by some of the segments, weights of errors, and cuts between systems."""

import numpy as np
import pytest

from adjudge.analysis.study_systems import (
    best_major_weight,
    cluster_cuts,
    major_weight_curve,
    subset_agreement,
)
from adjudge.errors import UsageError


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
