"""MENT as a folder of JSON lines and as JSONL."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, UsageError
from adjudge.formats.ment import read_ment_file, read_ment_folder, read_ment_ratings, write_ment_folder
from adjudge.formats.read import detect, load, read_content
from tests.formats.nasty import drawn_test_sets, texts


@given(test_set=drawn_test_sets(text=texts, segment_ids=None, complete=True, lps=("zh-en",)))
def test_a_folder_comes_back_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, test_set: TestSet
) -> None:
    path = tmp_path_factory.mktemp("ment")
    write_ment_folder(path, test_set)
    back = read_ment_folder(path)
    assert [(s.segment, s.source, s.translations, list(s.references.values())) for s in back] == [
        (s.segment, s.source, s.translations, list(s.references.values())) for s in test_set
    ]


def test_a_folder_is_told_from_one_of_mt_metrics_eval(tmp_path: Path) -> None:
    segment = Segment(segment="1", lp="zh-en", source="甲\n乙", translations={"system_0": "a"})
    write_ment_folder(tmp_path, TestSet(name="t", segments=(segment,)))
    assert (tmp_path / "system-outputs" / "zh-en" / "system_0").read_text() == '{"trans": "a"}\n'
    assert detect(tmp_path) == "ment"
    assert load(tmp_path).segments == (segment,)


def test_json_lines_as_text_are_no_ment(tmp_path: Path) -> None:
    for name in ("sources/zh-en.txt", "system-outputs/zh-en/A.txt"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text('{"src": "a"}\n')
    assert detect(tmp_path) == "mtme"


def test_files_that_do_not_fit_each_other_are_refused(tmp_path: Path) -> None:
    segment = Segment(segment="1", lp="zh-en", source="甲", translations={"A": "a"})
    write_ment_folder(tmp_path, TestSet(name="t", segments=(segment,)))
    output = tmp_path / "system-outputs" / "zh-en" / "A"
    output.write_text('{"trans": "a"}\n{"trans": "b"}\n')
    with pytest.raises(DataError, match=r"A has 2 lines, .*sources/zh-en\.txt has 1"):
        read_ment_folder(tmp_path)
    output.write_text('{"src": "a"}\n')
    with pytest.raises(DataError, match="unknown key 'src'"):
        read_ment_folder(tmp_path)


@pytest.mark.parametrize(
    ("segments", "message"),
    [
        ([{"references": {"a": "", "b": ""}}], "MENT has one reference, the test set has a, b"),
        ([{"references": {"A": ""}}, {}], "'A' lacks 1 segments, the first is '1'"),
    ],
)
def test_what_the_folder_cannot_hold_is_refused_or_counted(
    tmp_path: Path, segments: list[dict[str, Any]], message: str
) -> None:
    def test_set(*segments: dict[str, Any]) -> TestSet:
        made = (Segment(segment=str(n), lp="zh-en", source="", **s) for n, s in enumerate(segments))
        return TestSet(name="t", segments=tuple(made))

    with pytest.raises(DataError, match=message):
        write_ment_folder(tmp_path, test_set(*segments))
    assert not list(tmp_path.iterdir())
    odd = test_set({"domain": "d", "references": {"refA": ""}, "meta": {"a": 1}})
    assert write_ment_folder(tmp_path, odd) == {
        "segment ids became line numbers": 1,
        "segments lost document or domain": 1,
        "segments lost what stood in meta": 1,
        "names of references became 'ref'": 1,
    }


# The JSONL form...

ROW: dict[str, Any] = {
    "qid": 7,
    "src_lang": "zh",
    "trans_lang": "English",
    "src": "甲",
    "ref": "A",
    "trans_0": "a",
    "trans_1": "b",
    "avg_trans_0_score": 3.5,
    "avg_trans_1_score": None,
    "domain": "SNS",
}


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "ment.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_row_is_a_segment_and_its_ratings(tmp_path: Path) -> None:
    path = write(tmp_path, ROW)
    assert load(path).segments == (
        Segment(
            segment="7",
            lp="zh-en",
            source="甲",
            translations={"system_0": "a", "system_1": "b"},
            references={"ref": "A"},
            meta={"domain": "SNS"},
        ),
    )
    (rating,) = read_ment_ratings(path)
    assert (rating.system, rating.segment, rating.rating, rating.protocol) == ("system_0", "7", 3.5, "sqm")


def test_both_directions_may_stand_in_one_file(tmp_path: Path) -> None:
    path = write(tmp_path, ROW, {**ROW, "src_lang": "en", "trans_lang": "zh"})
    assert read_ment_file(path).lps == ("zh-en", "en-zh")
    assert load(path, "en-zh").lps == ("en-zh",)
    assert {r.lp for r in read_content(path, lp="en-zh").records} == {"en-zh"}
    with pytest.raises(UsageError, match="has no lp"):
        load(path, "en-de")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"avg_trans_0_score": 5}, "lies in 0 to 4, got 5"),
        ({"avg_trans_0_score": "3"}, "'avg_trans_0_score' must be a number"),
        ({"trans_1": None}, "'trans_1' must be text"),
        ({"qid": None}, "'qid' must be text"),
        ({"src_lang": "Klingonese"}, "no language code"),
    ],
)
def test_a_row_that_is_none_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = write(tmp_path, {**ROW, **change})
    with pytest.raises(DataError, match=re.escape(message)):
        read_ment_ratings(path) and read_ment_file(path)
