import itertools
import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from adjudge.stats.bounds import (
    Bounds,
    Totals,
    Unseen,
    bounds_of_difference,
    bounds_of_means,
    cautious_bounds,
)
from adjudge.stats.judged import Floats


def totals(*units: tuple[float, float]) -> Totals:
    """Sum and size of each unit of one system."""
    sums, sizes = np.array(units, dtype=float).T
    return Totals(sums=sums[:, None], sizes=sizes[:, None])


def bounds_of(*units: tuple[float, float]) -> Bounds:
    (found,) = bounds_of_means(totals(*units))
    assert found is not None
    return found


def plain_interval(units: list[tuple[float, float]]) -> tuple[float, float]:
    """The same written down by hand: pure Python, Hall's transformation turned round by halving."""
    count, whole = len(units), sum(size for _, size in units)
    mean = sum(total for total, _ in units) / whole
    rests = [total - size * mean for total, size in units]
    second, third = (sum(rest**power for rest in rests) / count for power in (2, 3))
    error = math.sqrt(count / (count - 1) * sum(rest**2 for rest in rests)) / whole
    skew = third / second**1.5 * math.sqrt(count * (count - 1)) / (count - 2)

    def transformed(step: float) -> float:
        a = skew / math.sqrt(count)
        return float(step + a * step**2 / 3 + a**2 * step**3 / 27 + a / 6)

    def step_of(wanted: float) -> float:
        low, high = -1e6, 1e6
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if transformed(middle) < wanted else (low, middle)
        return high

    t = float(stats.t.ppf(0.975, count - 1))
    return mean - max(t, step_of(t)) * error, mean - min(-t, step_of(-t)) * error


@pytest.mark.parametrize("count", [3, 10, 30, 100])
def test_the_interval_of_a_mean_is_that_of_a_plain_computation(count: int) -> None:
    rng = random.Random(count)
    units = [(-(rng.expovariate(1) ** 3), float(rng.randint(1, 9))) for _ in range(count)]
    assert bounds_of(*units).interval == pytest.approx(plain_interval(units), abs=1e-9)
    turned = [(-total, size) for total, size in units]
    assert bounds_of(*turned).interval == pytest.approx(plain_interval(turned), abs=1e-9)


def test_an_interval_in_known_numbers() -> None:
    """Two of ten units are bad: the lower end is by Hall, the upper one by Student."""
    found: Any = bounds_of(*[(0.0, 1)] * 8, (-3.0, 1), (-6.0, 1))
    assert found.value == pytest.approx(-0.9)
    assert found.units == 10
    assert found.error == pytest.approx(0.640312)
    assert found.skew == pytest.approx(stats.skew([0] * 8 + [-3, -6], bias=False))
    t = stats.t.ppf(0.975, 9)
    assert found.interval.high == pytest.approx(-0.9 + t * found.error)
    assert found.interval.low == pytest.approx(-5.954166)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 1 - 0.95, 0.1, 1 - 0.9, 0.2, 0.5005])
def test_draws_give_a_bound_above_a_value_where_their_p_is_at_most_alpha(alpha: float) -> None:
    found = Bounds(value=0.0, error=0.0, units=5, lows=(np.arange(1999.0),))
    low = found.low(alpha)
    for value in (low - 1, low - 0.5, low, low + 0.5, low + 1):
        assert (found.p_above(value) <= alpha) == (low > value)


def test_units_alike_in_shape_have_student_s_interval() -> None:
    scores = [-2.0, -1, 0, 1, 2]
    found = bounds_of(*[(score, 1) for score in scores])
    reference = stats.ttest_1samp(scores, 0).confidence_interval(0.95)
    assert found.interval == pytest.approx((reference.low, reference.high))
    assert found.p == pytest.approx(1)


def test_the_interval_of_a_difference_is_that_of_the_mean_of_differences_where_units_are_alike() -> None:
    rng = np.random.default_rng(0)
    sums = -(rng.exponential(size=(20, 2)) ** 2)
    found = bounds_of_difference(Totals(sums=sums, sizes=np.ones_like(sums)))
    gaps = sums[:, 0] - sums[:, 1]
    alone = bounds_of(*[(float(gap), 1) for gap in gaps])
    assert found.interval == pytest.approx(alone.interval)
    assert found.p == pytest.approx(alone.p)


def test_one_unit_has_no_interval_units_alike_have_one_without_width_and_nothing_has_no_bounds() -> None:
    assert bounds_of((-3, 2)).interval is None
    assert bounds_of((-3, 2)).p == 1
    assert bounds_of(*[(0.1, 1), (0.3, 3), (0.2, 2)]).interval == pytest.approx((0.1, 0.1))
    assert bounds_of(*[(0.1, 1)] * 3).error == 0
    assert bounds_of_means(totals((0, 0), (0, 0))) == [None]
    held = bounds_of((-3, 2), (-1, 1), (0, 0))
    assert held == bounds_of((-3, 2), (-1, 1))


@given(
    st.lists(st.tuples(st.integers(-9, 0), st.integers(1, 4)), min_size=2, max_size=30),
    st.sampled_from([0.001, 0.025, 0.05, 0.2]),
)
def test_a_bound_is_where_its_p_value_is_alpha(units: list[tuple[int, int]], alpha: float) -> None:
    found = bounds_of(*units)
    if found.error:
        assert found.p_above(found.low(alpha)) == pytest.approx(alpha, rel=1e-6)
        assert found.p_below(found.high(alpha)) == pytest.approx(alpha, rel=1e-6)
        assert found.low(alpha) < found.value < found.high(alpha)


@given(st.integers(2, 30), st.integers(0, 99))
def test_the_unit_of_scores_moves_no_p_value(count: int, seed: int) -> None:
    sums = -(np.random.default_rng(seed).exponential(size=(count, 2)) ** 3)
    whole, tiny = (
        bounds_of_difference(Totals(sums=unit * sums, sizes=np.ones_like(sums))) for unit in (1, 1e-60)
    )
    assert tiny.p == pytest.approx(whole.p)


def test_a_p_value_counts_one_draw_more_than_there_are() -> None:
    draws = np.array([1.0, 2, 3, 4])
    still = Bounds(value=2.5, error=0.0, units=9, lows=(draws,), highs=(draws,))
    assert [still.p_above(v) for v in (0, 1, 4)] == [1 / 5, 2 / 5, 1]
    assert [still.p_below(v) for v in (5, 4, 1)] == [1 / 5, 2 / 5, 1]


def test_a_bound_is_the_draw_at_which_its_p_value_begins() -> None:
    draws = np.arange(1.0, 40)  # two of 40 are 5 %
    still = Bounds(value=20.0, error=0.0, units=9, lows=(draws,), highs=(draws,))
    assert (still.low(0.05), still.high(0.05)) == (2, 38)
    assert (still.p_above(1.9), still.p_below(38.1)) == (0.05, 0.05)


def skewed(units: int, seed: int) -> Totals:
    sums: Floats = -(np.random.default_rng(seed).exponential(size=(units, 2)) ** 3)
    return Totals(sums=sums, sizes=np.ones_like(sums))


def test_caution_widens_below_a_hundred_units_and_is_nothing_from_there_on() -> None:
    for units, seed in itertools.product((8, 30, 90), range(5)):
        plain, careful = (make(skewed(units, seed)) for make in (bounds_of_difference, cautious_bounds))
        assert careful.low(0.05) <= plain.low(0.05) < plain.high(0.05) <= careful.high(0.05)
        assert careful.p_above(0) >= plain.p_above(0)
    assert cautious_bounds(skewed(100, 0)) == bounds_of_difference(skewed(100, 0))


def test_without_a_catastrophe_in_n_units_one_in_so_many_may_be_one() -> None:
    """Gaffke's bound of 0 and 1 is that of Clopper and Pearson: 1 - alpha^(1/n)."""
    found = cautious_bounds(
        Totals(sums=np.zeros((50, 2)), sizes=np.ones((50, 2))),
        Unseen(low=-1, high=0, size=1),
        resamples=20_000,
    )
    assert found.low(0.05) == pytest.approx(-(1 - 0.05 ** (1 / 50)), rel=0.05)
