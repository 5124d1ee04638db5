import math

import pytest

from adjudge.core.scores import Interval
from adjudge.reports.tables import NOTHING, digits_for, duration, interval, number, share, whole


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (-1.256, 2, "−1.26"),
        (0.0, 1, "0.0"),
        (-0.04, 1, "0.0"),  # a minus before zero says nothing
        (87.0, 0, "87"),
        (None, 2, NOTHING),
        (math.nan, 2, NOTHING),
        (-math.inf, 0, "−∞"),
        (math.inf, 0, "∞"),
        (-2.0123456e90, 1, "−2.012e+90"),  # a float has no ninety digits
    ],
)
def test_a_number_has_a_real_minus_and_no_false_zero(value: float | None, digits: int, text: str) -> None:
    assert number(value, digits) == text


@pytest.mark.parametrize(
    ("width", "digits"), [(60.0, 1), (6.0, 1), (0.6, 2), (0.06, 3), (0.006, 4), (0.0000006, 4)]
)
def test_a_column_has_the_digits_that_its_intervals_bear(width: float, digits: int) -> None:
    assert digits_for([0.5], [Interval(0.0, width)]) == digits


@pytest.mark.parametrize(
    ("scores", "digits"), [([], 2), ([None, None], 2), ([0.0], 2), ([87.0], 1), ([0.02], 4)]
)
def test_a_column_without_intervals_goes_by_its_scores(scores: list[float | None], digits: int) -> None:
    assert digits_for(scores, [None]) == digits


def test_an_interval_reads_from_low_to_high() -> None:
    assert interval(Interval(-2.0, -1.0), 1) == "−2.0 to −1.0"
    assert interval(None, 1) == NOTHING


@pytest.mark.parametrize(
    ("part", "total", "text"),
    [(0, 9, "0 %"), (9, 9, "100 %"), (1, 300, "<1 %"), (299, 300, ">99 %"), (1, 3, "33 %"), (0, 0, NOTHING)],
)
def test_a_share_is_0_or_100_only_where_it_is(part: int, total: int, text: str) -> None:
    assert share(part, total) == text


def test_thousands_stand_apart_for_people_only() -> None:
    assert [whole(19569), whole(19569, exact=True), whole(999)] == ["19,569", "19569", "999"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 minutes"),
        (34, "1 minute"),
        (61, "2 minutes"),
        (5399, "90 minutes"),
        (5400, "1.5 hours"),
        (7.2e6, "2,000.0 hours"),
    ],
)
def test_a_duration_is_never_rounded_to_nothing(seconds: float, text: str) -> None:
    assert duration(seconds) == text
