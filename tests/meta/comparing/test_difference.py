import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from adjudge.analysis.compare import PAIRED_TESTS, PairedTest, difference, effect
from adjudge.analysis.segment_scores import Totals


def totals(first: list[float], second: list[float]) -> Totals:
    sums = np.array([first, second], dtype=float).T
    return Totals(sums=sums, sizes=np.ones_like(sums))


@pytest.mark.parametrize("test", PAIRED_TESTS)
def test_the_unit_of_scores_moves_neither_p_nor_effect(test: PairedTest) -> None:
    sums = np.random.default_rng(3).integers(-9, 12, size=(40, 2)).astype(float) + np.array([2, 0])
    whole, tiny = (
        difference(Totals(sums=unit * sums, sizes=np.ones_like(sums)), test=test, resamples=200)
        for unit in (1.0, 1e-14)
    )
    assert tiny.p == whole.p < 1
    assert (tiny.effect.wins, tiny.effect.ties) == (whole.effect.wins, whole.effect.ties)
    assert tiny.effect.cliff == whole.effect.cliff


def test_a_difference_is_the_first_mean_less_the_second() -> None:
    found = difference(totals([3, 4, 5, 6], [1, 2, 2, 2]))
    assert (found.first, found.second, found.value, found.units) == (4.5, 1.75, 2.75, 4)
    assert found.interval is not None
    assert (0 < found.interval.low < 1.5, 4 < found.interval.high < 10) == (True, True)
    assert 2 / 16 <= found.p < 0.2


@pytest.mark.parametrize("test", PAIRED_TESTS)
def test_exchanging_the_two_turns_the_sign_and_nothing_else(test: str) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.3, 1, 40).tolist(), rng.normal(0, 1, 40).tolist()
    one, other = (difference(totals(*pair), test=test) for pair in ((a, b), (b, a)))  # type: ignore[arg-type]
    assert one.value == pytest.approx(-other.value)
    assert one.p == pytest.approx(other.p)
    assert one.interval is not None
    assert other.interval is not None
    assert one.interval.low == pytest.approx(-other.interval.high)
    assert one.effect.d_z == pytest.approx(-(other.effect.d_z or 0))
    assert one.effect.superiority == pytest.approx(1 - other.effect.superiority)
    assert one.effect.cliff == pytest.approx(-other.effect.cliff)
    assert (one.effect.wins, one.effect.losses) == (other.effect.losses, other.effect.wins)


@pytest.mark.parametrize("test", PAIRED_TESTS)
def test_two_equal_systems_do_not_differ(test: str) -> None:
    found = difference(totals([1, 2, 3] * 9, [1, 2, 3] * 9), test=test)  # type: ignore[arg-type]
    assert (found.value, found.p, found.effect.d_z, found.effect.superiority) == (0, 1, None, 0.5)
    assert found.interval == (0, 0)


def test_all_tests_agree_on_a_plain_case() -> None:
    gaps = np.random.default_rng(1).normal(0.4, 1, 100)
    reference = stats.ttest_1samp(gaps, 0).pvalue
    for test in PAIRED_TESTS:
        found = difference(totals(gaps.tolist(), [0.0] * 100), test=test, resamples=20_000)
        assert found.p == pytest.approx(reference, abs=0.002)


def test_units_count_as_much_as_they_hold() -> None:
    sums = np.array([[10.0, 8.0], [1.0, 0.0]])
    found = difference(Totals(sums=sums, sizes=np.array([[10.0, 10.0], [1.0, 1.0]])))
    assert found.first == pytest.approx(1)
    assert found.second == pytest.approx(8 / 11)
    assert found.effect.wins == 2


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12))
def test_effects_are_counted_pair_by_pair(scores: list[tuple[int, int]]) -> None:
    found = effect(np.array(scores, dtype=float))
    first, second = zip(*scores, strict=True)
    every = [np.sign(a - b) for a, b in itertools.product(first, second)]
    assert found.cliff == pytest.approx(np.mean(every))
    gaps = np.array(first) - np.array(second)
    assert found.superiority == pytest.approx(np.mean((gaps > 0) + (gaps == 0) / 2))
    assert found.wins + found.ties + found.losses == len(scores)
    if len(scores) > 1 and np.ptp(gaps):
        assert found.d_z == pytest.approx(gaps.mean() / gaps.std(ddof=1))
    else:
        assert found.d_z is None


def test_rounding_noise_is_a_tie() -> None:
    found = effect(np.array([[0.1 + 0.2, 0.3], [1.0, 1.0]]))
    assert (found.ties, found.d_z) == (2, None)
    assert not math.isnan(found.cliff)
