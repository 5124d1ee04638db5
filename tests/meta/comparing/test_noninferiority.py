import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from adjudge.analysis.gate import more_segments, non_inferiority
from adjudge.analysis.segment_scores import Totals

RNG = np.random.default_rng(5)


def totals(candidate: list[float], baseline: list[float], sizes: list[float] | None = None) -> Totals:
    weights = np.ones(len(candidate)) if sizes is None else np.array(sizes)
    return Totals(
        sums=np.stack([np.array(candidate) * weights, np.array(baseline) * weights], axis=1),
        sizes=np.stack([weights, weights], axis=1),
    )


numbers = st.lists(
    st.tuples(st.floats(-50, 0, width=16), st.floats(-50, 0, width=16)), min_size=3, max_size=30
)


def test_one_unit_shows_nothing() -> None:
    found = non_inferiority(totals([-1.0], [-2.0]), 3.0)
    assert (found.low, found.high, found.p_as_good, found.p_worse) == (-math.inf, math.inf, 1, 1)
    assert more_segments(found, 1, 3.0) is None


@given(numbers, st.sampled_from([0.0, 0.5, 3.0]))
def test_of_few_segments_it_is_at_least_the_paired_t_test_that_scipy_has(
    pairs: list[tuple[float, float]], margin: float
) -> None:
    candidate, baseline = (list(side) for side in zip(*pairs, strict=True))
    gaps = np.array(candidate) - np.array(baseline)
    found = non_inferiority(totals(candidate, baseline), margin)
    assert found.difference == pytest.approx(gaps.mean(), abs=1e-9)
    if gaps.std() < 1e-6:
        return
    expected = stats.ttest_1samp(gaps, -margin, alternative="greater")
    assert found.p_as_good >= expected.pvalue - 1e-9
    assert found.p_worse >= 1 - expected.pvalue - 1e-9
    assert found.low <= expected.confidence_interval(0.95).low + 1e-6


def test_of_many_segments_without_skew_it_is_the_paired_t_test_that_scipy_has() -> None:
    gaps = stats.norm.ppf((np.arange(400) + 0.5) / 400)
    found = non_inferiority(totals(gaps.tolist(), [0.0] * 400), 0.1)
    expected = stats.ttest_1samp(gaps, -0.1, alternative="greater")
    assert found.p_as_good == pytest.approx(expected.pvalue, abs=0.006)
    assert found.low == pytest.approx(expected.confidence_interval(0.95).low, abs=0.006)


@given(numbers, st.floats(0, 5), st.sampled_from([0.01, 0.05, 0.2]))
def test_bounds_and_tests_agree(pairs: list[tuple[float, float]], margin: float, alpha: float) -> None:
    candidate, baseline = (list(side) for side in zip(*pairs, strict=True))
    found = non_inferiority(totals(candidate, baseline), margin, alpha=alpha)
    if found.error and abs(found.low + margin) > 1e-9:
        assert (found.p_as_good < alpha) == (found.low > -margin)
    if found.error and abs(found.high + margin) > 1e-9:
        assert (found.p_worse < alpha) == (found.high < -margin)


def test_documents_of_different_lengths_count_by_their_lengths() -> None:
    found = non_inferiority(totals([1.0, 2.0, 6.0], [1.0, 2.0, 0.0], [4.0, 4.0, 2.0]), 0.0)
    assert found.difference == pytest.approx(12 / 10)
    rest = np.array([-1.2 * 4, -1.2 * 4, 12 - 1.2 * 2]) / (10 / 3)
    assert found.error == pytest.approx(math.sqrt((rest @ rest) / 6))


@pytest.mark.parametrize("shift", [0.0, -1.0, -0.5])
def test_where_all_units_differ_alike_nothing_is_shown_without_a_scale(shift: float) -> None:
    scores = [10.0, 20.0, 30.0, 40.0]
    found = non_inferiority(totals([s + shift for s in scores], scores), 0.5)
    assert (found.error, found.p_as_good, found.p_worse) == (0.0, 1.0, 1.0)
    assert more_segments(found, 4, 0.5) is None


@pytest.mark.parametrize("successes", [0, 3, 20])
def test_of_zeros_and_ones_on_a_scale_the_bound_is_clopper_and_pearsons(successes: int) -> None:
    values = [1.0] * successes + [0.0] * (60 - successes)
    found = non_inferiority(totals([-v for v in values], [0.0] * 60), 0.0, scale=(-1.0, 0.0))
    exact = stats.beta.ppf(0.95, successes + 1, 60 - successes)
    assert -found.low == pytest.approx(exact, abs=0.02)
    assert -found.low >= exact - 0.005


def test_so_many_more_segments_do_decide() -> None:
    gaps = RNG.normal(0.1, 2.0, 100)
    found = non_inferiority(totals(list(gaps), [0.0] * 100), 0.2)
    more = more_segments(found, 100, 0.2)
    assert more is not None
    n, distance = 100 + more, abs(found.difference + 0.2)
    reached = stats.norm.sf(stats.norm.isf(0.05) - distance / (found.error * math.sqrt(100 / n)))
    assert reached == pytest.approx(0.8, abs=0.01)


def test_at_the_margin_itself_no_number_of_segments_decides() -> None:
    found = non_inferiority(totals([1.0, -1.0, 1.0, -1.0], [0.0] * 4), 0.0)
    assert more_segments(found, 4, 0.0) is None
