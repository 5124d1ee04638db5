"""Score files: strict numbers and whole tables."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.record import Annotation
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, DataWarning, UsageError
from adjudge.formats import score_file
from adjudge.formats.read import detect, read_content, read_judgements
from adjudge.formats.score_file import (
    AVERAGES,
    Level,
    ScoreTable,
    name_and_lp,
    read_plain_scores,
    read_score_file,
    write_score_file,
)
from tests.cli.calling import call
from tests.formats.nasty import words

# Scores of other programs: COMET's JSON, tables, and numbers alone.


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


def write(folder: Path, text: str, name: str = "m.seg.score") -> Path:
    (path := folder / name).parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
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
    path = write(tmp_path, text, name)
    assert detect(path) == form
    found = read_content(path, lp="en-de").records or ()
    assert cells(found) == wanted
    assert {r.annotator for r in found} == {annotator}


def test_marks_of_comet_are_counted_and_left_out(tmp_path: Path) -> None:
    found = read_content(write(tmp_path, json.dumps(COMET), "c.json"), lp="en-de")
    assert found.met == {"errors that COMET marked, of which the score alone is read": 1}


def test_files_of_one_stem_keep_their_folders(tmp_path: Path) -> None:
    one = [{"mt": "b", "COMET": 1}]
    path = write(tmp_path, json.dumps({"a/out.txt": one, "b/out.txt": one}), "c.json")
    assert [r.system for r in read_plain_scores(path, "comet", "en-de").records] == ["a/out.txt", "b/out.txt"]


def test_lines_are_the_segments_of_a_test_set(tmp_path: Path) -> None:
    path = write(tmp_path, LINES, "Alder.txt")
    assert cells(read_plain_scores(path, "score-lines", None, TEXTS).records) == [
        ("Alder", "s0", 0.5),
        ("Alder", "s1", 1.0),
    ]
    with pytest.raises(DataError, match="3 scores a system, where the test set has 2 segments"):
        read_plain_scores(write(tmp_path, LINES + "2\n", "Alder.txt"), "score-lines", "en-de", TEXTS)


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
        read_content(write(tmp_path, text, name), lp="en-de")


def test_a_file_that_does_not_say_its_language_pair_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not say its language pair: add --lp"):
        read_content(write(tmp_path, json.dumps(COMET), "c.json"))
    told = read_content(write(tmp_path, json.dumps(COMET), "en-de.c.json")).records or ()
    assert {r.lp for r in told} == {"en-de"}
    told = read_content(write(tmp_path, json.dumps(COMET), "tr-en-de.c.json"), lp="en-de").records or ()
    assert {r.lp for r in told} == {"en-de"}
    with pytest.raises(UsageError, match="has no lp 'en-de'; it has en-fr"):
        read_content(write(tmp_path, json.dumps(COMET), "en-fr.c.json"), lp="en-de")


def test_the_texts_beside_scores_are_those_that_were_judged(tmp_path: Path) -> None:
    rows = "A,1,3,en-de,one,eins\nB,1,4,en-de,one,ein\nA,2,5,en-de,two,zwei\n"
    table = write(tmp_path, f"system,segment,score,lp,source,translation\n{rows}", "t.csv")
    texts = read_judgements(table).test_set or ()
    found = [(s.segment, s.source, dict(s.translations)) for s in texts]
    assert found == [("1", "one", {"A": "eins", "B": "ein"}), ("2", "two", {"A": "zwei"})]
    assert call("report", table, "--out", tmp_path / "page.html") == 0
    assert "eins" in (tmp_path / "page.html").read_text("utf-8")
    write(tmp_path, f"{table.read_text()}B,2,5,en-de,three,drei\n", "t.csv")
    with pytest.raises(DataError, match="segment '2' of en-de has two sources"):
        read_judgements(table)


NO_PAIRS = ("tr-en-de", "en-de-2", "en_de", "en-DE", "base-new", "new-base", "English-German")
"""Names, no component of which is two codes of languages with a hyphen between and nothing else."""


@pytest.mark.parametrize(
    ("path", "lp", "wanted"),
    [
        ("en-de/COMET-refA.seg.score", None, ("COMET-refA", "en-de")),
        ("en-de.COMET.seg.score", None, ("COMET", "en-de")),
        ("en-de/COMET.seg.score", "zh-en", ("COMET", "en-de")),
        ("x/COMET.v2.seg.score", "zh-en", ("COMET.v2", "zh-en")),
        ("x/Alder.v2.txt", None, ("Alder.v2", None)),
        ("x/en-cs_CZ.chrF.csv", None, ("chrF", "en-cs_CZ")),
        ("x/en-de.chrF.csv", "en-fr", ("chrF", "en-de")),  # what names its own pair keeps it
        *((f"x/{name}.chrF.csv", None, (f"{name}.chrF", None)) for name in NO_PAIRS),
        *((f"{name}/chrF.csv", None, ("chrF", None)) for name in NO_PAIRS),
    ],
)
def test_name_and_language_pair_are_told_by_the_place_of_a_file(
    path: str, lp: str | None, wanted: tuple[str, str | None]
) -> None:
    assert name_and_lp(Path(path), lp) == wanted


NAN = float("nan")


def test_a_table_has_systems_by_segments_and_nan_for_none(tmp_path: Path) -> None:
    table = read_score_file(write(tmp_path, "A\t1\nA\tNone\nB\t-2.5e-3\nB\t0.1\n"))
    assert (table.level, table.systems, table.units) == ("seg", ("A", "B"), ("1", "2"))
    np.testing.assert_array_equal(table.values, [[1, NAN], [-2.5e-3, 0.1]])


@pytest.mark.parametrize(
    "text",
    [
        "A\t1\nA\t2\nB\t3\nB\t4",
        "A\t1\r\nA\t2\r\nB\t3\r\nB\t4\r\n",
        "A\t1\r\nA\t2\r\nB\t3\r\nB\t4",
        "A\t1\nA\t2\r\nB\t3\nB\t4\r",
        "A\t1\nB\t3\nA\t2\nB\t4\n",
        "A\t1.\nA\t+2\nB\t03\nB\t.4e1\n",
    ],
)
def test_every_honest_spelling_gives_the_same_table(tmp_path: Path, text: str) -> None:
    table = read_score_file(write(tmp_path, text))
    assert table.systems == ("A", "B")
    np.testing.assert_array_equal(table.values, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    "number",
    ["nan", "-Infinity", "1_0", "९५", "１", "0x1p3", "1e999", "--1", "1,5", "none", "true", '"1"', ""],
)
def test_what_is_no_plain_finite_number_is_refused_with_its_line(tmp_path: Path, number: str) -> None:
    with pytest.raises(DataError, match=r"m\.seg\.score line 2\)"):
        read_score_file(write(tmp_path, f"A\t1\nA\t{number}\n"))


@pytest.mark.parametrize("line", ["A", "A\t1\t2", "A\t", "", "A 1", "A 1 2", "A\u20281"])
def test_a_line_that_is_no_score_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    with pytest.raises(DataError, match=r"wanted SYSTEM<TAB>SCORE, with a tab between, got .* line 2\)"):
        read_score_file(write(tmp_path, f"A\t1\n{line}\nA\t2\n"))


@pytest.mark.parametrize("name", ["", " ", "\u200b"])
def test_a_score_of_no_system_is_refused_with_its_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=r"the system is empty: .* line 2\)"):
        read_score_file(write(tmp_path, f"A\t1\n{name}\t2\n"))


@pytest.mark.parametrize("text", ["A" * 100_000, "A\t" + "1" * 100_000 + "x"])
def test_of_a_line_without_end_the_beginning_is_shown(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError) as caught:
        read_score_file(write(tmp_path, text))
    assert len(str(caught.value)) < 300 + len(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("A\t1\nA\t2\nB\t3\nB\t4\n", "m.seg.score"),
        ("A\t1\r\nA\t2\r\nB\t3\r\nB\t4\r\n", "m.seg.score"),
        ("A\t1\nB\t3\n", "m.sys.score"),
        ("1\tA\t1\n1\tB\t3\n", "m.domain.score"),
        ("system score seg\nA -1 1\nB 2 1\n", f"a{AVERAGES}"),
    ],
)
def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path, text: str, name: str) -> None:
    with pytest.warns(DataWarning, match=r"starts with U\+FEFF"):
        table = read_score_file(write(tmp_path, "\ufeff" + text, name))
    assert (table.systems, table.units[0]) == (("A", "B"), table.units[0].lstrip("\ufeff"))
    np.testing.assert_array_equal(table.values, read_score_file(write(tmp_path, text, name)).values)


def test_names_that_could_be_something_else_stay_what_they_are(tmp_path: Path) -> None:
    names = ("None-nan", "null", "A\u2028B", "A", "A-2", "AA")
    table = read_score_file(write(tmp_path, "".join(f"{name}\tNone\n{name}\t1\n" for name in names)))
    assert table.systems == names
    np.testing.assert_array_equal(table.values, [[NAN, 1]] * 6)


def test_a_file_that_is_shorter_than_the_test_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match="2 scores a system, one for each segment, where the test set has 3 segments"
    ):
        read_score_file(write(tmp_path, "A\t1\nA\t2\n"), units=3)


def test_the_level_of_another_name_may_be_said(tmp_path: Path) -> None:
    assert read_score_file(write(tmp_path, "A\t1\n", "scores.txt"), level="doc").level == "doc"


def test_a_system_score_file_has_one_score_a_system(tmp_path: Path) -> None:
    table = read_score_file(write(tmp_path, "A\t1\nB\tNone\n", "m.sys.score"))
    assert (table.units, table.values.shape) == (("",), (2, 1))


def test_a_domain_score_file_has_the_domain_first(tmp_path: Path) -> None:
    text = "news\tA\t1\nnews\tB\t2\nspeech\tA\tNone\nspeech\tB\t4\n"
    table = read_score_file(write(tmp_path, text, "m.domain.score"))
    assert (table.systems, table.units) == (("A", "B"), ("news", "speech"))
    np.testing.assert_array_equal(table.values, [[1, NAN], [2, 4]])


SEG, SYS, DOMAIN, AVERAGE = "m.seg.score", "m.sys.score", "m.domain.score", f"a{AVERAGES}"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (SEG, "A\t1\nA\t2\nB\t3\n", "'B' has 1 scores, 'A' has 2"),
        (SEG, "A\t1\n\udcff\t2\n", r"not UTF-8: byte 1 of the line is 0xff.*line 2"),
        *((SEG, text, "empty") for text in ("", "\n", "\r\n \n")),
        (SYS, "A\t1\nA\t2\n", "'A' has 2 scores; a system has one"),
        (DOMAIN, "news\tA\t1\nspeech\tB\t2\n", "2 scores for 2 systems and 2 domains"),
        (DOMAIN, "news\tA\t1\nnews\tA\t2\n", "'A' has two scores for 'news'"),
        (DOMAIN, "A\t1\n", "wanted DOMAIN<TAB>SYSTEM<TAB>SCORE"),
        (DOMAIN, "", "is empty"),
        (AVERAGE, "A -0.5 1\n", "wanted the heading"),
        (AVERAGE, "", "wanted the heading"),
        (AVERAGE, "system score seg\n", "no score"),
        (AVERAGE, "system score seg\nA -0.5\n", "line 2"),
        (AVERAGE, "system score seg\nA nan 1\n", "plain finite number"),
        (AVERAGE, "system score seg\nA 1 1\nA 1 2\nB 1 1\n", "3 scores for 2 systems and 2 segments"),
        ("scores.txt", "A\t1\n", "told by its name"),
    ],
)
def test_a_score_file_with_holes_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError, match=message):
        read_score_file(path)


numbers = st.floats(allow_nan=False, allow_infinity=False) | st.just(NAN)


@given(
    systems=st.lists(words, min_size=1, max_size=4, unique=True),
    values=st.lists(numbers, min_size=4, max_size=12),
    level=st.sampled_from(["seg", "doc", "domain"]),
)
def test_numbers_come_back_to_the_last_bit(
    tmp_path_factory: pytest.TempPathFactory, systems: list[str], values: list[float], level: Level
) -> None:
    columns = len(values) // len(systems)
    table = ScoreTable(
        level=level,
        systems=tuple(systems),
        units=tuple(str(n + 1) for n in range(columns)),
        values=np.array(values[: columns * len(systems)]).reshape(len(systems), columns),
    )
    path = tmp_path_factory.mktemp("scores") / f"m.{level}.score"
    write_score_file(path, table)
    back = read_score_file(path)
    assert (back.systems, back.units) == (table.systems, table.units)
    assert [math.copysign(1, v) for v in back.values.flat] == [math.copysign(1, v) for v in table.values.flat]
    np.testing.assert_array_equal(back.values, table.values)


@given(st.lists(st.tuples(st.sampled_from("ABC"), numbers), min_size=1, max_size=20))
def test_the_fast_way_never_reads_what_the_strict_way_would_not(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, float]]
) -> None:
    path = tmp_path_factory.mktemp("scores") / "m.seg.score"
    path.write_text("".join(f"{name}\t{'None' if math.isnan(v) else v}\n" for name, v in rows))
    results = []
    for slow in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            if slow:
                patch.setattr(score_file, "_read_blocks", lambda raw: None)
            try:
                table = read_score_file(path)
                results.append((table.systems, table.values.tobytes()))
            except DataError as error:
                results.append(str(error))  # type: ignore[arg-type]
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (ScoreTable(level="seg", systems=("a b",), units=("1",), values=np.ones((1, 1))), "no white space"),
        (ScoreTable(level="domain", systems=("a",), units=("",), values=np.ones((1, 1))), "no white space"),
        (ScoreTable(level="seg", systems=("a",), units=("1",), values=np.full((1, 1), np.inf)), "infinite"),
    ],
)
def test_what_no_reader_would_get_back_is_not_written(
    tmp_path: Path, table: ScoreTable, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        write_score_file(tmp_path / "m.seg.score", table)


@pytest.mark.parametrize(
    "text", ["A -0.5 1\nA None 2\nB -1 1\nB -0.0 2\n", "A\t-0.5 1\nA\tNone 2\nB\t-1 1\nB\t-0.0 2\n"]
)
def test_average_scores_of_every_year_are_read(tmp_path: Path, text: str) -> None:
    table = read_score_file(write(tmp_path, "system mqm_avg_score seg_id\n" + text, "a.avg_seg_scores.tsv"))
    assert (table.systems, table.units) == (("A", "B"), ("1", "2"))
    np.testing.assert_array_equal(table.values, [[-0.5, NAN], [-1, 0]])
