import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from adjudge.stats.agreement_coefficients import OF_SCORES, error_recall, system_profile

X = np.nan


def test_sums_by_system_are_over_segments_that_both_judged_whole() -> None:
    first = np.array([[4, 1, X, 0], [2, 3, 4, 0], [0, 1, 2, X]])
    second = np.array([[3, 2, 1, X], [3, 4, 4, 1], [1, 0, 2, 2]])
    found = system_profile(first, second)  # segments 0 and 1
    assert found.value == pytest.approx(stats.pearsonr([5, 5, 1], [5, 7, 1])[0])
    assert (found.n, found.groups) == (2, 3)


def test_a_system_that_one_never_judged_is_no_reason_to_drop_a_segment() -> None:
    first = np.array([[1.0, 2], [3, 3], [X, X]])
    second = np.array([[2.0, 2], [4, 5], [1, 1]])
    found = system_profile(first, second)
    assert found.value == pytest.approx(1)
    assert found.groups == 2


def test_nothing_in_common_is_no_agreement() -> None:
    apart = np.array([[1.0, X], [2, X]]), np.array([[X, 1.0], [X, 2]])
    assert system_profile(*apart).reason == "no segment has all its systems judged by both"
    assert system_profile(np.ones((3, 2)), np.array([[1.0, 2], [2, 3], [3, 4]])).value is None
    assert error_recall(apart[0].ravel(), apart[1].ravel()).reason == "no translation was judged by both"


def test_recall_is_the_share_that_both_or_neither_marked() -> None:
    found = error_recall(np.array([0, 2, 1, 0, X]), np.array([0, 1, 0, 3, 1]))
    assert (found.value, found.n) == (0.5, 4)


score = st.one_of(st.integers(0, 4).map(float), st.just(X))
grid = st.lists(st.lists(score, min_size=4, max_size=4), min_size=3, max_size=3)


@given(grid, grid)
def test_by_segment_it_is_the_mean_of_the_segments_that_have_a_correlation(
    a: list[list[float]], b: list[list[float]]
) -> None:
    first, second = np.array(a), np.array(b)
    found = []
    for one, two in zip(first.T, second.T, strict=True):
        both = ~np.isnan(one) & ~np.isnan(two)
        if both.sum() > 1 and np.ptp(one[both]) and np.ptp(two[both]):
            found.append(stats.pearsonr(one[both], two[both])[0])
    value = OF_SCORES["Pearson by segment"](first, second).value
    assert value == (pytest.approx(np.mean(found)) if found else None)
