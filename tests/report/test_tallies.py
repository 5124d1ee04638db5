from dataclasses import replace

from adjudge.core.record import Failure, Verdict
from adjudge.reports.segments import count_errors, count_failures, count_verdicts
from tests.report.samples import SYSTEMS, failure, judge_all, judgement, preferences, small_test_set

TEST_SET = small_test_set(["en-de"])
FIRST = TEST_SET.segments[0]
SWAPPED: dict[Verdict, Verdict] = {"A": "B", "B": "A", "E": "E"}


def test_errors_are_counted_by_severity_and_category() -> None:
    errors = count_errors(judge_all(TEST_SET), SYSTEMS)
    assert errors.judged == dict.fromkeys(SYSTEMS, 2)
    assert errors.clean["Alder"] == 2
    assert errors.clean["Cedar"] == 0
    assert errors.severities == {"minor": {"Birch": 2}, "major": {"Cedar": 2}, "critical": {"Cedar": 2}}
    assert list(errors.categories) == ["accuracy/mistranslation", "fluency/grammar", "style/awkward"]
    assert (errors.total, errors.of_system("Cedar"), errors.most) == (6, 4, 2)


def test_a_failure_is_neither_judged_nor_clean() -> None:
    errors = count_errors([failure(FIRST, "Alder")], SYSTEMS)
    assert errors.total == 0
    assert not errors.judged
    assert not errors.clean


def test_errors_that_were_only_counted_count() -> None:
    record = judgement(FIRST, "Alder", counts={"major": 2, "minor": 0})
    errors = count_errors([record], SYSTEMS)
    assert errors.severities["major"]["Alder"] == 2
    assert errors.clean["Alder"] == 0


def test_failures_are_counted_by_reason_and_system_most_frequent_first() -> None:
    one = failure(FIRST, "Alder")
    both = Failure(
        lp="en-de", segment="x", systems=("Alder", "Birch"), annotator="j", protocol="mqm", reason="parse"
    )
    counts = count_failures([one, both, replace(both, segment="y")])
    assert counts == {"parse": {"Alder": 2, "Birch": 2}, "refused": {"Alder": 1}}
    assert list(counts) == ["parse", "refused"]


def test_verdicts_are_counted_whichever_system_is_called_a() -> None:
    records = preferences(TEST_SET)
    (counts,) = count_verdicts(records)
    assert (counts.pair, counts.a, counts.b, counts.equal) == (("Alder", "Birch"), 1, 0, 1)
    swapped = [replace(r, systems=("Birch", "Alder"), verdict=SWAPPED[r.verdict]) for r in records]
    assert count_verdicts(swapped) == [counts]
