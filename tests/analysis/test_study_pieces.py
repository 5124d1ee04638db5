"""Kinds of estimates, each beside a tool that computes the same."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, kendalltau, linregress, pearsonr, t

from adjudge.analysis.study_agreement import _drawn_pearson, _drawn_tau_c, score_agreement
from adjudge.analysis.study_pieces import (
    Mark,
    covered_share,
    difference_of,
    marks_of,
    mean_by_student,
    pooled_share,
    ratio_of,
    repeated_share,
    share_of,
    slope_of,
    starts_or_ends_within,
    touches,
    wilson_interval,
)
from adjudge.core.record import ErrorSpan
from adjudge.errors import UsageError
from adjudge.stats.bootstrap import Draws
from adjudge.stats.judged import Floats

# How much of one annotation's errors another one has: the ESA paper's tables 3 and 5 in small.


NOWHERE = Mark(None, None)


@pytest.mark.parametrize(
    ("one", "other", "touch", "within"),
    [
        (Mark(2, 4), Mark(4, 6), True, True),
        (Mark(2, 3), Mark(4, 6), False, False),
        (Mark(2, 8), Mark(4, 6), True, False),  # strictly around the other one
        (Mark(4, 6), Mark(2, 8), True, True),
        (NOWHERE, Mark(0, 9), False, False),
        (NOWHERE, NOWHERE, False, True),
    ],
)
def test_marks_that_meet(one: Mark, other: Mark, touch: bool, within: bool) -> None:
    assert touches(one, other) == touches(other, one) == touch
    assert starts_or_ends_within(one, other) == within


def test_half_open_spans_become_inclusive_marks() -> None:
    spans = (
        ErrorSpan(start=2, end=5, severity="major", category="accuracy/addition"),
        ErrorSpan(start=2, end=5, severity="minor", side="source"),
        ErrorSpan(severity="minor", match="unplaced"),
        ErrorSpan(start=3, end=3, severity="minor"),
    )
    first, *others = marks_of(spans)
    assert first == Mark(2, 4, "major", "accuracy", "addition")
    assert all(mark.first is mark.last is None for mark in others)


def test_a_translation_without_marks_is_covered_whole_and_counts_nothing_when_pooled() -> None:
    by = [[Mark(0, 3)], [], []]
    marked = [[Mark(3, 5), Mark(3, 5), Mark(7, 8), NOWHERE], [Mark(1, 1)], []]
    assert covered_share(by, marked) == pytest.approx((1 / 2 + 0 + 1) / 3)
    assert pooled_share(by, marked) == pytest.approx(1 / 3)
    assert math.isnan(pooled_share(by, [[], [], []]))
    with pytest.raises(UsageError):
        covered_share([], [])


def test_every_mark_counts_that_meets_one_alike() -> None:
    ones = [[Mark(0, 3, "major", "style", "awkward"), Mark(9, 9, "minor", "accuracy", "addition")], []]
    others = [[Mark(3, 5, "major", "style", "other"), Mark(0, 0, "minor", "style", "awkward")], [Mark(9, 9)]]
    for same in ("any", "severity", "category", "severity and category"):
        assert repeated_share(ones, others, same) == 0.5, same
    assert repeated_share(ones, others, "severity and subcategory") == 0
    assert math.isnan(repeated_share([[]], [[Mark(0, 1)]]))


@given(st.integers(1, 500), st.data())
def test_an_interval_of_a_share_is_wilsons(n: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, n))
    wanted = binomtest(hits, n).proportion_ci(method="wilson")
    assert wilson_interval(hits, n) == pytest.approx((wanted.low, wanted.high), abs=1e-12)


def test_a_share_of_nothing_has_no_value() -> None:
    assert wilson_interval(0, 0) == (0, 1)
    found = share_of([])
    assert (found.value, found.n, found.reason) == (None, 0, "nothing to count")


def test_a_ratio_rests_on_what_is_below() -> None:
    found = ratio_of(np.array([1.0, 0.0]), np.array([3.0, 1.0]), Draws(resamples=50))
    assert (found.value, found.n) == (0.25, 4)
    assert found.interval == pytest.approx((0, 1 / 3))
    assert ratio_of(np.zeros(2), np.zeros(2)).value is None
    assert ratio_of(np.zeros(0), np.zeros(0)).value is None


def test_a_difference_needs_both_groups() -> None:
    values, none = np.array([4.0, 6.0, 1.0]), np.zeros(3, dtype=bool)
    found = difference_of(values, np.array([True, True, False]), Draws(), "")
    assert found.value == 4
    assert difference_of(values, none, Draws(), "only one").reason == "only one"


def test_a_slope_and_a_mean_have_students_intervals() -> None:
    x, y = np.arange(6.0), np.array([1.0, 3.0, 2.0, 5.0, 4.0, 6.0])
    wanted = linregress(x, y)
    found = slope_of(x, y, "")
    half = t.ppf(0.975, 4) * wanted.stderr
    assert found.value == pytest.approx(wanted.slope)
    assert found.interval == pytest.approx((wanted.slope - half, wanted.slope + half))
    assert slope_of(np.zeros(3), np.ones(3), "constant").reason == "constant"
    mean = mean_by_student([1.0, 2.0, 3.0])
    assert mean.interval == pytest.approx(t.interval(0.95, 2, loc=2, scale=1 / np.sqrt(3)))
    assert mean_by_student([5.0]).interval is None


def test_a_draw_of_one_score_alone_has_no_correlation() -> None:
    """Rounding leaves equal scores a spread of some 1e-16, which is none."""
    first, second = np.repeat([0.1, 0.7, 3.3], 20), np.random.default_rng(5).normal(40, 13, size=60)
    equal = np.kron(np.eye(3), np.full(20, 3.0))
    for correlation in (_drawn_pearson(first, second), _drawn_tau_c(first, second)):
        assert correlation is not None
        assert np.isnan(correlation(equal)).all()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 100)), min_size=3, max_size=12))
def test_intervals_of_correlations_are_of_what_the_draws_hold(pairs: list[tuple[int, int]]) -> None:
    """Each draw's value is that of the drawn pairs, one by one: the ends are values of such draws."""
    first, second = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    found = score_agreement(first, second, Draws(resamples=3, seed=1))
    rng = np.random.default_rng(1)
    index = rng.integers(0, len(pairs), size=(3, len(pairs)))
    tools: dict[str, Callable[[Floats, Floats], float]] = {
        "Pearson": lambda a, b: float(pearsonr(a, b).statistic),
        "Kendall tau-c": lambda a, b: float(kendalltau(a, b, variant="c").statistic),
    }
    for name, tool in tools.items():
        if found[name].value is None:
            continue
        rows = [row for row in index if np.ptp(first[row]) > 0 and np.ptp(second[row]) > 0]
        drawn = [tool(first[row], second[row]) for row in rows]
        if found[name].interval is None:
            assert not drawn
        else:
            low, high = np.quantile(drawn, [0.025, 0.975])
            assert found[name].interval == pytest.approx((low, high), abs=1e-6)
