"""A test set as JSON lines."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from adjudge.core.segment import (
    Segment,
    TestSet,
)
from adjudge.errors import DataError, UsageError
from adjudge.store.json_lines import read_test_set, write_test_set
from tests.data.nasty import drawn_test_sets

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


def test_a_line_is_a_segment(tmp_path: Path) -> None:
    test_set = read_test_set(write(tmp_path, LINE))
    assert test_set.name == "set"
    assert test_set.segments == (Segment(**LINE),)


def test_the_shape_of_a_line_is_that_of_the_design(tmp_path: Path) -> None:
    write_test_set(tmp_path / "out.jsonl", TestSet(name="t", segments=(Segment(**LINE),)))
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


def test_the_same_id_in_another_language_pair_is_another_segment(tmp_path: Path) -> None:
    assert len(read_test_set(write(tmp_path, LINE, {**LINE, "lp": "en-cs"}))) == 2


def test_a_translation_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text('{"segment": "1", "lp": "en-de", "source": "", "translations": {"A": "x", "A": "y"}}\n')
    with pytest.raises(DataError, match="'A' stands twice"):
        read_test_set(path)


def test_an_empty_file_is_no_test_set(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no segment"):
        read_test_set(write(tmp_path))


def test_a_packed_file_is_read_and_written(tmp_path: Path) -> None:
    test_set = TestSet(name="set", segments=(Segment(**LINE),))
    write_test_set(tmp_path / "set.jsonl.gz", test_set)
    assert read_test_set(tmp_path / "set.jsonl.gz") == test_set
