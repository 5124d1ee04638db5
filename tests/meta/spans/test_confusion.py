"""Which severity a run gives to what gold marks."""

from typing import Any

import pytest

from adjudge.analysis.spans import severity_confusion
from adjudge.core.record import Record
from adjudge.core.typology import Severity
from adjudge.errors import UsageError
from tests.meta.spans.judged import marked, run_of, span
from tests.scoring.records import failed, rated

GOLD: list[Record] = [
    marked("a", "1", span("old lab", "major"), span("today", "minor")),
    marked("a", "2", span("closed", "critical")),
    marked("a", "3", span("The", "minor")),
    marked("b", "1", span("lab", "major")),
]
PRED: list[Record] = [
    marked("a", "1", span("lab", "minor"), span("closed today", "minor")),
    marked("a", "2", span("closed", "critical"), span("closed today", "major")),
    marked("a", "3", span("old", "neutral")),
    failed("b", segment="1", protocol="mqm", lp="de-en"),
]


def test_marks_that_meet_are_counted_by_both_severities_and_the_rest_by_one() -> None:
    found = severity_confusion(run_of(PRED), GOLD)
    assert found.counts == {
        ("major", "minor"): 1,
        ("minor", "minor"): 1,
        ("critical", "critical"): 1,  # of two that meet it, the one that shares most
        (None, "major"): 1,
        ("minor", None): 1,  # the neutral mark of the run is none, and stands elsewhere
    }
    assert found.severities == ("critical", "major", "minor")
    assert found.same.value == pytest.approx(2 / 3)
    assert found.same.n == 3
    assert found.kappa.value == pytest.approx((2 / 3 - 1 / 3) / (1 - 1 / 3))
    assert (found.n_segments, found.failed) == (3, 1)


def test_neutral_marks_count_where_they_are_asked_for() -> None:
    every: Any = ["neutral", "minor", "major", "critical"]
    found = severity_confusion(run_of(PRED), GOLD, severities=every)
    assert found.counts[None, "neutral"] == 1
    assert found.severities[-1] == "neutral"


def test_where_no_mark_meets_another_there_is_no_agreement() -> None:
    found = severity_confusion(run_of([marked("a", "1")]), GOLD[:1])
    assert found.counts == {("major", None): 1, ("minor", None): 1}
    assert (found.same.value, found.kappa.value) == (None, None)
    assert found.kappa.reason == "no mark of gold meets one of the run"


def test_intervals_draw_whole_segments() -> None:
    given: tuple[Severity, ...] = ("major", "minor", "major", "major")
    gold: list[Record] = [marked("a", str(n), span("lab", "major")) for n in range(1, 5)]
    pred: list[Record] = [marked("a", str(n), span("lab", each)) for n, each in enumerate(given, start=1)]
    found = severity_confusion(run_of(pred), gold, resamples=200)
    assert found.same.value == 0.75
    assert found.same.interval is not None
    assert found.same.interval.low < 0.75 < found.same.interval.high


def test_judgements_that_mark_nothing_are_refused() -> None:
    with pytest.raises(UsageError, match="marks no errors"):
        severity_confusion(run_of(PRED), [rated("a", "1", 80, lp="de-en")])
