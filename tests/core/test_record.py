from typing import Any

import pytest

from adjudge.core.record import Annotation, ErrorSpan, Failure, Preference
from adjudge.errors import FAILURE_REASONS, DataError

WHO: dict[str, Any] = {"lp": "en-de", "segment": "1", "annotator": "ann"}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"severity": "Major"}, "severity must be one of neutral, minor, major, critical; got 'Major'"),
        ({"severity": "no-error"}, "severity"),
        ({"severity": "major", "category": "nonsense"}, "category must be one of"),
        ({"severity": "major", "side": "target"}, "side must be one of translation, source"),
        ({"severity": "major", "start": 3}, "both offsets or none"),
        ({"severity": "major", "start": 4, "end": 3}, "0 <= start <= end"),
        ({"severity": "major", "start": -1, "end": 3}, "0 <= start <= end"),
        ({"severity": "major", "match": "exact"}, "exact cannot have start None"),
        ({"severity": "major", "match": "unmatched", "start": 1, "end": 2}, "unmatched cannot have start 1"),
    ],
)
def test_a_span_that_could_not_be_scored_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        ErrorSpan(**fields)


def test_an_empty_span_and_an_unplaced_error_are_spans() -> None:
    assert ErrorSpan(severity="minor", start=0, end=0).end == 0
    assert ErrorSpan(severity="minor", match="unplaced").start is None


@pytest.mark.parametrize(
    ("protocol", "rating"), [("esa", None), ("esa", 101), ("sqm", 5), ("mqm", 0), ("da-sqm", float("nan"))]
)
def test_an_annotation_needs_the_rating_of_its_protocol(protocol: str, rating: float | None) -> None:
    with pytest.raises(DataError):
        Annotation(**WHO, system="a", protocol=protocol, rating=rating)


@pytest.mark.parametrize("counts", [{"major": -1}, {"Major": 1}, {"no-error": 1}])
def test_counts_that_are_none_are_refused(counts: Any) -> None:
    with pytest.raises(DataError):
        Annotation(**WHO, system="a", protocol="mqm", counts=counts)


def test_an_annotation_without_spans_says_clean() -> None:
    assert Annotation(**WHO, system="a", protocol="mqm").spans == ()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"systems": ("a", "b"), "verdict": "A>B"}, "verdict must be one of A, B, E"),
        ({"systems": ("a", "b"), "verdict": "A", "orders": ("A", "tie")}, "verdict"),
        ({"systems": ("a", "a"), "verdict": "A"}, "two different systems, got 'a' twice"),
    ],
)
def test_a_preference_that_prefers_nothing_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Preference(**WHO, criterion="overall", **fields)


def test_a_failure_has_one_of_the_reasons_and_no_number() -> None:
    for reason in FAILURE_REASONS:
        failure = Failure(**WHO, systems=("a",), protocol="mqm", reason=reason)
        assert not hasattr(failure, "rating")
        assert not hasattr(failure, "spans")
    with pytest.raises(DataError, match="reason must be one of"):
        Failure(**WHO, systems=("a",), protocol="mqm", reason="unlucky")  # type: ignore[arg-type]


@pytest.mark.parametrize("sample", [float("nan"), float("-inf"), True, "3"])
def test_a_sample_that_is_no_number_is_refused(sample: Any) -> None:
    with pytest.raises(DataError, match="a sample must be a finite number"):
        Annotation(lp="en-de", segment="1", system="A", annotator="x", protocol="mqm", samples=(sample,))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"protocol": "criteria", "rating": 1}, "criteria needs the criterion of each record"),
        ({"protocol": "da-sqm", "rating": 1, "criterion": "x"}, "da-sqm has no criterion"),
        ({"protocol": "criteria", "rating": 0.5, "criterion": "x"}, "1 for pass or 0 for fail, got 0.5"),
        ({"protocol": "criteria", "rating": 2, "criterion": "x"}, "lies in 0 to 1, got 2"),
        ({"protocol": "criteria", "criterion": "x"}, "got None|needs a rating"),
    ],
)
def test_a_verdict_names_its_criterion_and_is_a_pass_or_a_fail(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Annotation(**WHO, system="a", **fields)
    assert Annotation(**WHO, system="a", protocol="criteria", rating=0, criterion="x").criterion == "x"
