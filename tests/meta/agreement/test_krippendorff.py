from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import UsageError
from adjudge.stats.agreement_coefficients import LEVELS, Level, krippendorff_alpha
from adjudge.stats.bootstrap import Draws

X = np.nan
# Krippendorff 2011, example C: four observers, twelve units, values missing.
EXAMPLE = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, X, X, X],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, X, 3],
        [X, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, X],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, X],
    ]
).T


@pytest.mark.parametrize(("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_the_example_of_the_manual_comes_to_its_numbers(level: Level, value: float) -> None:
    found = krippendorff_alpha(EXAMPLE, level)
    assert found.value == pytest.approx(value, abs=5e-4)
    assert found.n == 11  # the last unit has one value


def slow_alpha(units: list[list[float]], level: Level) -> float | None:
    units = [unit for unit in units if len(unit) > 1]
    every = [value for unit in units for value in unit]

    def difference(a: float, b: float) -> float:
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        between = sum(low <= value <= high for value in every)
        return float(a != b) * (between - (every.count(a) + every.count(b)) / 2) ** 2

    observed = sum(difference(*pair) / (len(unit) - 1) for unit in units for pair in permutations(unit, 2))
    expected = sum(difference(*pair) for pair in permutations(every, 2))
    return 1 - (len(every) - 1) * observed / expected if expected else None


value = st.one_of(st.integers(0, 4).map(float), st.just(X))
tables = st.lists(st.lists(value, min_size=3, max_size=3), min_size=1, max_size=8)


@given(tables, st.sampled_from(LEVELS))
def test_alpha_equals_its_definition(rows: list[list[float]], level: Level) -> None:
    known = [[value for value in row if not np.isnan(value)] for row in rows]
    assert krippendorff_alpha(np.array(rows), level).value == pytest.approx(slow_alpha(known, level))


def test_no_difference_or_no_pair_has_no_alpha() -> None:
    assert krippendorff_alpha(np.ones((3, 2))).reason.startswith("all values are equal")
    assert krippendorff_alpha(np.array([[1, X], [X, 2]])).reason == "no unit was judged twice"


def test_an_unknown_level_is_an_error() -> None:
    with pytest.raises(UsageError, match="level must be one of nominal, ordinal, interval; got 'ratio'"):
        krippendorff_alpha(EXAMPLE, "ratio")  # type: ignore[arg-type]


def test_the_interval_holds_the_value() -> None:
    found = krippendorff_alpha(EXAMPLE, "ordinal", Draws(resamples=300))
    assert found.value is not None
    assert found.interval is not None
    assert found.interval.low < found.value <= found.interval.high <= 1


def test_many_values_that_all_differ_need_no_matrix_of_values() -> None:
    """A matrix of 60,000 by 60,000 values would need 29 GB."""
    first = np.arange(30_000.0)
    found = krippendorff_alpha(np.stack([first, first + 0.5], axis=1), "interval", Draws(resamples=5))
    assert found.value == pytest.approx(1, abs=1e-6)
