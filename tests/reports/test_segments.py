import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.record import ErrorSpan, Verdict
from adjudge.core.segment import Segment, TestSet
from adjudge.reports.annotators import judged_annotators
from adjudge.reports.page import make_page
from adjudge.reports.segments import (
    count_errors,
    count_failures,
    count_verdicts,
    merge_segments,
    page_facts,
    spread_by_translation,
    to_script_json,
)
from tests.analysis.records import checked, rated
from tests.reports.samples import (
    SYSTEMS,
    failure,
    judge_all,
    judgement,
    make_run,
    many_segments,
    preferences,
    small_test_set,
)

TEST_SET = small_test_set(["en-de"])
FIRST, SECOND = TEST_SET.segments


def said_of_first(*records: object) -> list[dict[str, object]]:
    run = make_run(TEST_SET, records)  # type: ignore[arg-type]
    said: list[dict[str, object]] = make_page([run]).data["segments"][0]["said"]
    return said


@given(st.recursive(st.text(st.characters(codec=None)), st.lists, max_leaves=5))
def test_json_for_a_script_says_the_same_and_cannot_end_it(value: object) -> None:
    text = to_script_json(value)
    assert json.loads(text) == value
    assert not set("<>&\u2028\u2029") & set(text)
    text.encode()  # no surrogate is left


def test_every_translation_comes_with_what_was_said_of_it() -> None:
    data = make_page([make_run(TEST_SET)]).data
    assert data["systems"] == list(SYSTEMS)
    assert data["segments"][0]["texts"] == list(FIRST.translations.values())
    assert [said["of"] for said in data["segments"][0]["said"]] == [0, 1, 2]
    assert [said["score"] for said in data["segments"][0]["said"]] == [0.0, -1.0, -30.0]


def test_places_are_code_points() -> None:
    segment = Segment(segment="1", lp="en-de", source="x", translations={"A": "😀😀 falsch"})
    test_set = replace(TEST_SET, segments=(segment,))
    record = judgement(segment, "A", spans=(ErrorSpan(severity="major", start=3, end=9, text="falsch"),))
    (said,) = make_page([make_run(test_set, [record])]).data["segments"][0]["said"]
    assert said["errors"] == [{"severity": "major", "at": [3, 9]}]


@pytest.mark.parametrize(
    ("span", "shown"),
    [
        (ErrorSpan(severity="minor", match="unplaced"), {"severity": "minor"}),
        (
            ErrorSpan(severity="minor", match="unmatched", text="nirgends"),
            {"severity": "minor", "quote": "nirgends"},
        ),
        (
            ErrorSpan(severity="major", start=0, end=3, side="source", match="ambiguous"),
            {"severity": "major", "side": "source", "at": [0, 3], "ambiguous": True},
        ),
        (
            ErrorSpan(severity="major", start=0, end=9999, text="zu lang"),  # a place that the text lacks
            {"severity": "major", "quote": "zu lang"},
        ),
    ],
)
def test_an_error_without_a_place_is_still_told(span: ErrorSpan, shown: dict[str, object]) -> None:
    (said,) = said_of_first(judgement(FIRST, "Alder", spans=(span,)))
    assert said["errors"] == [shown]


def test_every_verdict_on_a_criterion_says_whose_it_is_and_one_has_their_score() -> None:
    criteria = {"criteria": ["Sie"]}
    segment = Segment(segment="1", lp="en-de", source="x", translations={"A": "y"}, meta=criteria)
    records = [checked("A", "1", "1", passed=by == "eve", annotator=by) for by in ("eve", "bob")]
    texts = TestSet(name="t", segments=(segment,))
    told = make_page([make_run(texts, records, annotator="people", protocol="criteria")]).data["segments"][0]
    assert told["said"] == [
        {"by": 0, "of": 0, "criterion": "1: Sie", "passed": True, "score": 0.5, "who": "eve"},
        {"by": 0, "of": 0, "criterion": "1: Sie", "passed": False, "who": "bob"},
    ]


def test_a_failure_has_a_reason_and_no_score() -> None:
    (said,) = said_of_first(failure(FIRST, "Birch"))
    assert said == {"by": 0, "of": 1, "failed": "refused", "detail": "Sorry, no."}


def test_a_preference_names_both_systems() -> None:
    run = make_run(TEST_SET, preferences(TEST_SET), protocol="pairwise")
    (said,) = make_page([run]).data["segments"][1]["said"]
    assert said == {"by": 0, "pair": [0, 1], "criterion": "faithfulness", "verdict": "A"}


def test_runs_of_one_test_set_share_its_segments() -> None:
    half = replace(FIRST, translations={"Alder": FIRST.translations["Alder"]})
    merged = merge_segments([[half], [FIRST, SECOND]])
    assert list(merged) == [("en-de", "en-de-0"), ("en-de", "en-de-1")]
    assert merged["en-de", "en-de-0"].translations == FIRST.translations


def test_the_spread_compares_ranks_and_not_scales() -> None:
    strict = make_run(TEST_SET, judge_all(TEST_SET))
    records = [judgement(s, n, "k", spans=()) for s in TEST_SET for n in SYSTEMS]
    lenient = make_run(TEST_SET, records, annotator="k")
    same = spread_by_translation(judged_annotators([strict, strict], ["en-de"], {}))
    apart = spread_by_translation(judged_annotators([strict, lenient], ["en-de"], {}))
    assert set(same.values()) == {0.0}
    assert apart[("en-de", "en-de-0"), "Alder"] == pytest.approx(1 / 3)  # 5/6 against 3/6
    assert not spread_by_translation(judged_annotators([strict], ["en-de"], {}))


def test_annotators_disagree_on_one_segment_in_ten_where_many_are_half_apart() -> None:
    texts = many_segments(100)
    ratings = {"a": range(100), "b": [place * 37 % 100 for place in range(100)]}
    runs = []
    for who, own in ratings.items():
        scores = [
            rated("Alder", s.segment, r, annotator=who, protocol="metric")
            for s, r in zip(texts, own, strict=True)
        ]
        runs.append(make_run(texts, scores, annotator=who, protocol="metric"))
    segments = merge_segments([texts])
    both = judged_annotators(runs, ["en-de"], {})
    apart = page_facts(segments, both, SYSTEMS)["apart"]
    spreads = spread_by_translation(both).values()
    assert sum(spread >= 0.5 for spread in spreads) > 20
    assert 9 <= sum(round(spread, 2) >= apart for spread in spreads) <= 12
    assert page_facts(segments, both[:1], SYSTEMS)["apart"] == 0.5


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
    both = replace(one, segment="x", systems=("Alder", "Birch"), reason="parse")
    counts = count_failures([one, both, replace(both, segment="y")])
    assert counts == {"parse": {"Alder": 2, "Birch": 2}, "refused": {"Alder": 1}}
    assert list(counts) == ["parse", "refused"]


def test_verdicts_are_counted_whichever_system_is_called_a() -> None:
    records = preferences(TEST_SET)
    (counts,) = count_verdicts(records)
    assert (counts.pair, counts.a, counts.b, counts.equal) == (("Alder", "Birch"), 1, 0, 1)
    swapped = [replace(r, systems=("Birch", "Alder"), verdict=SWAPPED[r.verdict]) for r in records]
    assert count_verdicts(swapped) == [counts]
