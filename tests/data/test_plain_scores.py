"""Scores of other programs: COMET's JSON, tables, and numbers alone."""

import json
from pathlib import Path

import pytest

from adjudge.core.record import Annotation
from adjudge.core.segment import (
    Segment,
    TestSet,
)
from adjudge.errors import DataError, UsageError
from adjudge.formats.convert import read_content
from adjudge.formats.read import detect
from adjudge.formats.score_file import name_and_lp, read_plain_scores

TEXTS = TestSet(name="t", segments=tuple(Segment(segment=f"s{n}", lp="en-de", source="x") for n in range(2)))
COMET = {
    "out/Alder.txt": [{"src": "a", "mt": "b", "COMET": 0.5}, {"src": "c", "mt": "d", "COMET": 1}],
    "Birch": [
        {"src": "a", "mt": "b", "COMET": -0.25, "errors": [{"text": "b"}]},
        {"src": "c", "mt": "d", "COMET": 0.5},
    ],
}
ALDER_AND_BIRCH = [("Alder", "1", 0.5), ("Alder", "2", 1.0), ("Birch", "1", -0.25), ("Birch", "2", 0.5)]
TABLE = "system,score\nAlder,0.5\nAlder,1\nBirch,-.25\nBirch,5e-1\n"
LINES = "0.5\n1\n"


def write(folder: Path, name: str, text: str) -> Path:
    (path := folder / name).parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def cells(records: object) -> list[tuple[str, str, float | None]]:
    assert isinstance(records, list | tuple)
    assert all(isinstance(r, Annotation) and r.protocol == "metric" for r in records)
    return [(r.system, r.segment, r.rating) for r in records]


@pytest.mark.parametrize(
    ("name", "text", "form", "annotator", "wanted"),
    [
        ("comet.json", json.dumps(COMET, indent=4), "comet", "COMET", ALDER_AND_BIRCH),
        ("chrF.csv", TABLE, "score-table", "chrF", ALDER_AND_BIRCH),
        ("chrF.tsv", TABLE.replace(",", "\t"), "score-table", "chrF", ALDER_AND_BIRCH),
        (
            "x.csv",
            TABLE.replace(",", ";").replace("system;score", "System;SCORE"),
            "score-table",
            "x",
            ALDER_AND_BIRCH,
        ),
        ("Alder.txt", LINES, "score-lines", "scores", ALDER_AND_BIRCH[:2]),
        ("Alder.scores", "0.5\r\n1", "score-lines", "scores", ALDER_AND_BIRCH[:2]),
        ("Alder.txt", "None\n1\n", "score-lines", "scores", ALDER_AND_BIRCH[1:2]),
        ("x.csv", "system,score\nAlder,0.5\nAlder,\n", "score-table", "x", ALDER_AND_BIRCH[:1]),
        (
            "x.csv",
            "lp,seg_id,system,metric,score,more\nen-de,s9,A,BLEU,3,z\nen-de,s9,B,BLEU,,z\n",
            "score-table",
            "BLEU",
            [("A", "s9", 3.0)],
        ),
    ],
)
def test_scores_of_other_programs_are_read(
    tmp_path: Path, name: str, text: str, form: str, annotator: str, wanted: list[tuple[str, str, float]]
) -> None:
    path = write(tmp_path, name, text)
    assert detect(path) == form
    found = read_content(path, lp="en-de").records or ()
    assert cells(found) == wanted
    assert {r.annotator for r in found} == {annotator}


def test_marks_of_comet_are_counted_and_left_out(tmp_path: Path) -> None:
    found = read_content(write(tmp_path, "c.json", json.dumps(COMET)), lp="en-de")
    assert found.met == {"errors that COMET marked, of which the score alone is read": 1}


def test_files_of_one_stem_keep_their_folders(tmp_path: Path) -> None:
    one = [{"mt": "b", "COMET": 1}]
    path = write(tmp_path, "c.json", json.dumps({"a/out.txt": one, "b/out.txt": one}))
    assert [r.system for r in read_plain_scores(path, "comet", "en-de").records] == ["a/out.txt", "b/out.txt"]


def test_lines_are_the_segments_of_a_test_set(tmp_path: Path) -> None:
    path = write(tmp_path, "Alder.txt", LINES)
    assert cells(read_plain_scores(path, "score-lines", None, TEXTS).records) == [
        ("Alder", "s0", 0.5),
        ("Alder", "s1", 1.0),
    ]
    with pytest.raises(DataError, match="3 scores a system, where the test set has 2 segments"):
        read_plain_scores(write(tmp_path, "Alder.txt", LINES + "2\n"), "score-lines", "en-de", TEXTS)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("Alder.txt", "1\nnan\n", "plain finite number or None, got 'nan'"),
        ("Alder.txt", "1\n\n2\n", "the line is empty: write None for a missing score"),
        ("Alder.txt", "1\n1_0\n", "got '1_0'"),
        ("Alder.txt", "None\nNone\n", "every one is missing"),
        ("x.csv", "system,score\nA,1\nA,2\nB,1\n", "'B' has 1 scores, 'A' has 2"),
        ("x.csv", "system,score\nA,inf\n", "got 'inf'"),
        ("x.csv", "system,score\nA\n", "1 cells under 2 column names"),
        ("x.csv", "system,score\n,1\n", "the system is empty"),
        ("x.csv", "system,segment,score\nA,,1\n", "the segment is empty"),
        ("x.csv", "system,score,score\nA,1,2\n", "two columns say the score"),
        ("x.csv", "system,score\n", "there is no score in this file"),
        (
            "c.json",
            '{"A": [{"mt": "x", "COMET": "high"}]}',
            "A, segment 1: 'COMET' must be a number, got 'high'",
        ),
        ("c.json", '{"A": [{"mt": "x", "COMET": true}]}', "must be a number, got True"),
        (
            "c.json",
            '{"A": [{"mt": "x", "COMET": 1}, {"mt": "y"}]}',
            "A, segment 2: 'COMET' must be a number, got None",
        ),
        ("c.json", '{"A": {"mt": "x", "COMET": 1}}', "wanted a list of segments under 'A'"),
    ],
)
def test_what_is_no_score_is_an_error(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_content(write(tmp_path, name, text), lp="en-de")


def test_a_file_that_does_not_say_its_language_pair_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not say its language pair: add --lp"):
        read_content(write(tmp_path, "c.json", json.dumps(COMET)))
    told = read_content(write(tmp_path, "en-de.c.json", json.dumps(COMET))).records or ()
    assert {r.lp for r in told} == {"en-de"}


@pytest.mark.parametrize(
    ("path", "lp", "wanted"),
    [
        ("en-de/COMET-refA.seg.score", None, ("COMET-refA", "en-de")),
        ("en-de.COMET.seg.score", None, ("COMET", "en-de")),
        ("en-de/COMET.seg.score", "zh-en", ("COMET", "zh-en")),
        ("x/COMET.v2.seg.score", "zh-en", ("COMET.v2", "zh-en")),
        ("x/Alder.v2.txt", None, ("Alder.v2", None)),
    ],
)
def test_name_and_language_pair_are_told_by_the_place_of_a_file(
    path: str, lp: str | None, wanted: tuple[str, str | None]
) -> None:
    assert name_and_lp(Path(path), lp) == wanted
