"""Records as JSON lines: every field comes back, and nothing that is not a record comes in."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.record import Annotation, ErrorSpan, Failure, Preference, Record
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, UsageError
from adjudge.store.json_lines import (
    read_test_set,
    record_from_json,
    record_to_json,
    write_records,
    write_test_set,
)
from adjudge.store.run_directory import read_records
from tests.formats.nasty import drawn_test_sets, records

# A test set as JSON lines.


LINE: dict[str, Any] = {
    "segment": "7",
    "document": "doc",
    "domain": "news",
    "lp": "en-de",
    "source": "Hello.",
    "references": {"refA": "Hallo."},
    "translations": {"A": "Hallo!", "B": ""},
    "meta": {"url": "x", "n": 3},
}


def write(folder: Path, *lines: dict[str, Any]) -> Path:
    path = folder / "set.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_line_is_a_segment_and_its_shape_that_of_the_design(tmp_path: Path) -> None:
    test_set = read_test_set(write(tmp_path, LINE))
    assert test_set == TestSet(name="set", segments=(Segment(**LINE),))
    write_test_set(tmp_path / "out.jsonl", test_set)
    assert json.loads((tmp_path / "out.jsonl").read_text()) == LINE


@given(test_set=drawn_test_sets())
def test_test_sets_come_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, test_set: TestSet
) -> None:
    path = tmp_path_factory.mktemp("sets") / "t.jsonl"
    write_test_set(path, test_set)
    assert read_test_set(path) == test_set


def test_several_language_pairs_stand_in_one_file(tmp_path: Path) -> None:
    path = write(tmp_path, LINE, {**LINE, "lp": "eng/fra"})
    assert read_test_set(path).lps == ("en-de", "en-fr")
    assert [s.lp for s in read_test_set(path, lp="English-French")] == ["en-fr"]
    with pytest.raises(UsageError, match="has no lp 'en-cs'; it has en-de, en-fr"):
        read_test_set(path, lp="en-cs")


def test_a_file_without_language_pairs_takes_the_one_that_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, {"segment": "1", "source": "a"})
    assert read_test_set(path, lp="en-de").segments == (Segment(segment="1", lp="en-de", source="a"),)
    with pytest.raises(DataError, match=r"'lp' is missing; .*--lp .*line 1"):
        read_test_set(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"segment": 7}, "'segment' must be text, got 7"),
        ({"segment": None}, "'segment' must be text, got None"),
        ({"source": ["a"]}, "'source' must be text"),
        ({"lp": "ende"}, "names two languages"),
        ({"lp": 3}, "'lp' must be text"),
        ({"translations": {"A": None}}, "'translations' must hold texts, got None for 'A'; leave out"),
        ({"translations": ["a"]}, "'translations' must be an object"),
        ({"references": "a"}, "'references' must be an object"),
        ({"meta": 3}, "'meta' must be an object"),
        ({"tgt": "x"}, "unknown key 'tgt'; known are .*meta"),
    ],
)
def test_what_is_no_segment_is_refused_with_its_line(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = write(tmp_path, LINE, {**LINE, **change})
    with pytest.raises(DataError, match=message) as caught:
        read_test_set(path)
    assert "set.jsonl line 2" in str(caught.value)


def test_an_id_that_occurs_twice_is_refused_with_both_lines(tmp_path: Path) -> None:
    path = write(tmp_path, LINE, {**LINE, "segment": "8"}, LINE)
    with pytest.raises(DataError, match=r"'7' of en-de stands already in line 1; .* line 3"):
        read_test_set(path)


def test_an_empty_file_is_no_test_set(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no segment"):
        read_test_set(write(tmp_path))


def test_a_packed_file_is_read_and_written(tmp_path: Path) -> None:
    test_set = TestSet(name="set", segments=(Segment(**LINE),))
    write_test_set(tmp_path / "set.jsonl.gz", test_set)
    assert read_test_set(tmp_path / "set.jsonl.gz") == test_set


PLACE = {"side": "translation", "start": 2, "end": 5, "text": "abc", "match": "exact"}
SPAN = PLACE | {"category": "accuracy/omission", "severity": "major", "note": ""}
ABOUT = {"lp": "en-de", "document": "d", "segment": "1", "annotator": "fire", "protocol": "pairwise"}
ANNOTATION: dict[str, Any] = ABOUT | {"kind": "annotation", "annotator": "people", "protocol": "esa"}
ANNOTATION |= {"system": "A", "rating": 80, "spans": [SPAN], "flags": [], "rationale": None}
PREFERENCE: dict[str, Any] = ABOUT | {"kind": "preference", "systems": ["A", "B"], "criterion": "fluency"}
PREFERENCE |= {"verdict": "E", "orders": ["A", "B"], "flags": ["position_inconsistent"], "rationale": None}
FAILURE: dict[str, Any] = ABOUT | {"kind": "failure", "system": "A", "reason": "empty", "detail": "no words"}


@pytest.mark.parametrize("value", [ANNOTATION, PREFERENCE, FAILURE])
def test_the_shape_of_a_line_is_that_of_the_design_in_records(value: dict[str, Any]) -> None:
    assert record_to_json(record_from_json(value)) == value


def test_a_failed_pair_names_both_systems_and_the_criterion() -> None:
    failure = Failure(
        lp="en-de", segment="1", systems=("A", "B"), annotator="fire", protocol="pairwise", reason="empty"
    )
    failure = replace(failure, criterion="style")
    value = record_to_json(failure)
    assert (value["systems"], value["criterion"]) == (["A", "B"], "style")
    assert record_from_json(value) == failure


@given(chosen=st.lists(records, max_size=4))
def test_records_come_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, chosen: list[Record]
) -> None:
    path = tmp_path_factory.mktemp("records") / "records.jsonl"
    write_records(path, chosen)
    assert read_records(path) == chosen


def test_records_of_a_run_directory_are_read(tmp_path: Path) -> None:
    records = [record_from_json(FAILURE)]
    write_records(tmp_path / "records.jsonl", records)
    assert read_records(tmp_path) == records
    assert read_records(str(tmp_path)) == records


@pytest.mark.parametrize(
    ("value", "change", "message"),
    [
        (ANNOTATION, {"kind": "judgement"}, "kind 'judgement'"),
        (ANNOTATION, {"score": 3}, "unknown key 'score'"),
        (ANNOTATION, {"segment": 1}, "'segment' must be text, got 1"),
        (ANNOTATION, {"system": None}, "'system' must be text, got None"),
        (ANNOTATION, {"rating": "80"}, "'rating' must be a number, got '80'"),
        (ANNOTATION, {"rating": True}, "'rating' must be a number"),
        (ANNOTATION, {"rating": 101}, "lies in 0 to 100, got 101"),
        (ANNOTATION, {"rating": None}, "needs a rating"),
        (ANNOTATION, {"protocol": "esq"}, "no protocol 'esq'"),
        (ANNOTATION, {"spans": {}}, "'spans' must be a list"),
        (ANNOTATION, {"flags": "x"}, "'flags' must be a list of texts"),
        (ANNOTATION, {"counts": {"huge": 1}}, "severity must be one of"),
        (ANNOTATION, {"counts": {"major": -1}}, "whole number from 0"),
        (ANNOTATION, {"samples": 3}, "'samples' must be a list of numbers"),
        (ANNOTATION, {"samples": ["3"]}, "'samples' must be a list of numbers"),
        (ANNOTATION, {"samples": [True]}, "'samples' must be a list of numbers"),
        (ANNOTATION, {"spans": [{**SPAN, "severity": "Major"}]}, "severity must be one of"),
        (ANNOTATION, {"spans": [{**SPAN, "category": "accuracy/hallucination"}]}, "category must be one of"),
        (ANNOTATION, {"spans": [{**SPAN, "start": 9}]}, "0 <= start <= end, got 9 and 5"),
        (ANNOTATION, {"spans": [{**SPAN, "start": -1}]}, "whole number from 0"),
        (ANNOTATION, {"spans": [{**SPAN, "start": 1.5}]}, "whole number from 0"),
        (ANNOTATION, {"spans": [{**SPAN, "end": None}]}, "both offsets or none"),
        (ANNOTATION, {"spans": [{**SPAN, "score": 5}]}, "unknown key 'score'"),
        (ANNOTATION, {"spans": ["abc"]}, "must be a JSON object"),
        (PREFERENCE, {"systems": ["A"]}, "must name two systems"),
        (PREFERENCE, {"systems": ["A", "A"]}, "two different systems"),
        (PREFERENCE, {"verdict": "C"}, "verdict must be one of A, B, E"),
        (PREFERENCE, {"orders": ["A", "tie"]}, "verdict must be one of A, B, E"),
        (FAILURE, {"reason": "unlucky"}, "reason must be one of"),
        (FAILURE, {"systems": ["A"]}, "'system', or 'systems' for a pair, and not both"),
    ],
)
def test_what_is_no_record_is_refused_with_its_line(
    tmp_path: Path, value: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps(value) + "\n\n" + json.dumps({**value, **change}) + "\n")
    with pytest.raises(DataError, match=message) as caught:
        read_records(path)
    assert str(caught.value).endswith("records.jsonl line 3)")
    assert str(caught.value).count("line 3") == 1


def test_a_missing_key_is_named_and_a_line_that_is_no_object_is_no_record() -> None:
    for key in ("lp", "segment", "system", "annotator", "protocol"):
        with pytest.raises(DataError, match=f"'{key}' is missing"):
            record_from_json({k: v for k, v in ANNOTATION.items() if k != key})
    others: list[object] = [[], "annotation", None, 3]
    for value in others:
        with pytest.raises(DataError, match="a record is an object"):
            record_from_json(value)


@pytest.mark.parametrize("protocol", ["mqm", "esa"])
def test_a_missing_list_of_errors_is_no_empty_one(protocol: str) -> None:
    value = {**ANNOTATION, "protocol": protocol, "rating": 80 if protocol == "esa" else None}
    assert record_from_json({**value, "spans": []}) == record_from_json({**value, "counts": {}, "spans": []})
    del value["spans"]
    assert isinstance(record_from_json({**value, "counts": {"minor": 1}}), Annotation)
    with pytest.raises(DataError, match=f"protocol {protocol} needs 'spans'"):
        record_from_json(value)


def test_what_has_a_default_may_be_left_out() -> None:
    kept = ("kind", "lp", "segment", "system", "annotator")
    value: dict[str, Any] = {key: ANNOTATION[key] for key in kept} | {"protocol": "mqm"}
    found = record_from_json(value | {"spans": [{"severity": "minor", "start": 0, "end": 0}]})
    spans = (ErrorSpan(severity="minor", start=0, end=0),)
    assert found == replace(METRIC, annotator="people", protocol="mqm", rating=None, spans=spans)
    optional = {"orders", "flags", "rationale", "document"}
    asked_once = record_from_json({k: v for k, v in PREFERENCE.items() if k not in optional})
    assert isinstance(asked_once, Preference)
    assert asked_once.orders == ()


METRIC = Annotation(
    lp="en-de", segment="1", system="A", annotator="x", protocol="metric", rating=np.float64(-1.5)
)
STYLE = Preference(
    lp="en-de", segment="1", systems=("a", "b"), annotator="fire", criterion="style", verdict="E"
)


def test_samples_come_back_and_are_left_out_where_there_are_none() -> None:
    record = replace(METRIC, samples=(-1.0, -2))
    assert record_to_json(record)["samples"] == [-1.0, -2]
    assert record_from_json(record_to_json(record)) == record
    assert "samples" not in record_to_json(METRIC)


def test_numbers_that_are_not_pythons_own_are_written_all_the_same(tmp_path: Path) -> None:
    huge = replace(METRIC, rating=None, protocol="mqm", counts={"minor": 10**30})
    write_records(tmp_path / "r.jsonl", [METRIC, huge])
    assert read_records(tmp_path / "r.jsonl") == [METRIC, huge]


def test_samples_and_strength_of_a_preference_come_back_and_are_left_out_where_there_are_none() -> None:
    assert not {"samples", "strength"} & record_to_json(STYLE).keys()
    full = replace(STYLE, samples=("A", "E", "B"), strength=-0.25)
    value = record_to_json(full)
    assert (value["samples"], value["strength"]) == (["A", "E", "B"], -0.25)
    assert record_from_json(value) == full
    for key, wrong in (("samples", ["C"]), ("strength", 1.5), ("strength", "high")):
        with pytest.raises(DataError):
            record_from_json(value | {key: wrong})


def test_a_plain_annotation_is_read_the_short_way_and_the_same() -> None:
    spans = (ErrorSpan(severity="minor", start=0, end=1, text="x"),)
    record = replace(METRIC, protocol="mqm", rating=None, rationale="so", spans=spans, flags=("f",))
    plain = record_to_json(record)
    assert record_from_json(plain) == record
    assert record_from_json({**plain, "samples": []}) == record  # the long way
    assert record_from_json({k: v for k, v in plain.items() if k != "flags"}) == replace(record, flags=())
    damages: dict[str, Any] = {"flags": [1], "rating": "5", "document": None, "spans": {}, "rationale": 1}
    for key, damage in damages.items():
        with pytest.raises(DataError, match=key):
            record_from_json({**plain, key: damage})
