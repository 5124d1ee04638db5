import pytest

from adjudge.core.protocol import PROTOCOLS, find_protocol, is_number
from adjudge.errors import DataError, UsageError


def test_the_protocols_have_the_names_of_the_design() -> None:
    assert set(PROTOCOLS) == {"esa", "mqm", "da-sqm", "sqm", "criteria", "pairwise", "curation", "metric"}


@pytest.mark.parametrize(("protocol", "low", "high"), [("esa", 0, 100), ("da-sqm", 0, 100), ("sqm", 0, 4)])
def test_a_rating_lies_within_its_protocol_s_range(protocol: str, low: float, high: float) -> None:
    found = find_protocol(protocol)
    for rating in (low, high, (low + high) / 2):
        found.check_rating(rating)
    for rating in (low - 0.001, high + 0.001):
        with pytest.raises(DataError, match=f"lies in {low:g} to {high:g}"):
            found.check_rating(rating)


@pytest.mark.parametrize("rating", [float("nan"), float("inf"), -float("inf"), True, "87", None, [87]])
def test_what_is_no_finite_number_is_no_rating(rating: object) -> None:
    assert not is_number(rating)
    for name in ("esa", "metric"):
        with pytest.raises(DataError):
            find_protocol(name).check_rating(rating)


def test_a_metric_may_score_below_zero() -> None:
    find_protocol("metric").check_rating(-1e9)


@pytest.mark.parametrize("name", ["mqm", "pairwise"])
def test_a_protocol_without_rating_refuses_one(name: str) -> None:
    with pytest.raises(DataError, match="has no rating"):
        find_protocol(name).check_rating(1)


def test_an_unknown_protocol_names_those_that_exist() -> None:
    with pytest.raises(UsageError, match="no protocol 'DA'; there are esa, mqm"):
        find_protocol("DA")
