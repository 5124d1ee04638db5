"""Score files: strict numbers and whole tables."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import DataError, DataWarning
from adjudge.formats import score_file
from adjudge.formats.score_file import AVERAGES, Level, ScoreTable, read_score_file, write_score_file
from tests.data.nasty import words

NAN = float("nan")


def write(folder: Path, text: str, name: str = "m.seg.score") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


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
    [
        "nan",
        "NaN",
        "inf",
        "-Infinity",
        "1_0",
        "९५",
        "１",
        "0x1p3",
        "1e999",
        "--1",
        "1,5",
        "none",
        "null",
        "true",
        "false",
        '"1"',
        "[1]",
        "{}",
        "",
    ],
)
def test_what_is_no_plain_finite_number_is_refused_with_its_line(tmp_path: Path, number: str) -> None:
    with pytest.raises(DataError, match=r"m\.seg\.score line 2\)"):
        read_score_file(write(tmp_path, f"A\t1\nA\t{number}\n"))


@pytest.mark.parametrize("line", ["A", "A\t1\t2", "\t1", "A\t", "", "A 1", "A 1 2", "A\u20281", " \t1"])
def test_a_line_that_is_no_score_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    with pytest.raises(DataError, match=r"wanted SYSTEM<TAB>SCORE, with a tab between, got .* line 2\)"):
        read_score_file(write(tmp_path, f"A\t1\n{line}\nA\t2\n"))


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
    ],
)
def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path, text: str, name: str) -> None:
    with pytest.warns(DataWarning, match=r"starts with U\+FEFF"):
        table = read_score_file(write(tmp_path, "\ufeff" + text, name))
    assert (table.systems, table.units[0]) == (("A", "B"), table.units[0].lstrip("\ufeff"))
    np.testing.assert_array_equal(table.values, read_score_file(write(tmp_path, text, name)).values)


def test_a_line_separator_in_a_name_is_text(tmp_path: Path) -> None:
    assert read_score_file(write(tmp_path, "A\u2028B\t1\nA\u2028B\t2\n")).systems == ("A\u2028B",)


def test_names_that_contain_none_or_nan_stay_what_they_are(tmp_path: Path) -> None:
    table = read_score_file(write(tmp_path, "None-nan\tNone\nNone-nan\t1\nnull\t2\nnull\t3\n"))
    assert table.systems == ("None-nan", "null")
    np.testing.assert_array_equal(table.values, [[NAN, 1], [2, 3]])


def test_a_name_that_starts_another_one_is_its_own_system(tmp_path: Path) -> None:
    table = read_score_file(write(tmp_path, "A\t1\nA\t2\nA-2\t3\nA-2\t4\nAA\t5\nAA\t6\n"))
    assert table.systems == ("A", "A-2", "AA")


def test_bytes_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.seg.score"
    path.write_bytes(b"A\t1\n\xff\t2\n")
    with pytest.raises(DataError, match=r"not UTF-8: byte 1 of the line is 0xff.*line 2"):
        read_score_file(path)


def test_systems_of_unequal_length_are_refused_with_both_counts(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'B' has 1 scores, 'A' has 2"):
        read_score_file(write(tmp_path, "A\t1\nA\t2\nB\t3\n"))


def test_a_file_that_is_shorter_than_the_test_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match="2 scores a system, one for each segment, where the test set has 3 segments"
    ):
        read_score_file(write(tmp_path, "A\t1\nA\t2\n"), units=3)


def test_the_level_is_told_by_the_name_and_never_guessed(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="told by its name"):
        read_score_file(write(tmp_path, "A\t1\n", "scores.txt"))
    assert read_score_file(write(tmp_path, "A\t1\n", "scores.txt"), level="doc").level == "doc"


def test_a_system_score_file_has_one_score_a_system(tmp_path: Path) -> None:
    table = read_score_file(write(tmp_path, "A\t1\nB\tNone\n", "m.sys.score"))
    assert (table.units, table.values.shape) == (("",), (2, 1))
    with pytest.raises(DataError, match="'A' has 2 scores; a system has one"):
        read_score_file(write(tmp_path, "A\t1\nA\t2\n", "m.sys.score"))


def test_a_domain_score_file_has_the_domain_first(tmp_path: Path) -> None:
    text = "news\tA\t1\nnews\tB\t2\nspeech\tA\tNone\nspeech\tB\t4\n"
    table = read_score_file(write(tmp_path, text, "m.domain.score"))
    assert (table.systems, table.units) == (("A", "B"), ("news", "speech"))
    np.testing.assert_array_equal(table.values, [[1, NAN], [2, 4]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("news\tA\t1\nspeech\tB\t2\n", "2 scores for 2 systems and 2 domains"),
        ("news\tA\t1\nnews\tA\t2\n", "'A' has two scores for 'news'"),
        ("A\t1\n", "wanted DOMAIN<TAB>SYSTEM<TAB>SCORE"),
        ("", "is empty"),
    ],
)
def test_a_domain_score_file_with_holes_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_score_file(write(tmp_path, text, "m.domain.score"))


@pytest.mark.parametrize("text", ["", "\n", "\r\n \n"])
def test_an_empty_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError, match="empty"):
        read_score_file(write(tmp_path, text))


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


def test_average_scores_have_no_byte_order_mark_in_their_heading(tmp_path: Path) -> None:
    with pytest.warns(DataWarning, match=r"starts with U\+FEFF"):
        table = read_score_file(write(tmp_path, "\ufeffsystem score seg\nA -1 1\n", f"a{AVERAGES}"))
    assert table.systems == ("A",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A -0.5 1\n", "wanted the heading"),
        ("", "wanted the heading"),
        ("system score seg\n", "no score"),
        ("system score seg\nA -0.5\n", "line 2"),
        ("system score seg\nA nan 1\n", "plain finite number"),
        ("system score seg\nA 1 1\nA 1 2\nB 1 1\n", "3 scores for 2 systems and 2 segments"),
    ],
)
def test_broken_average_scores_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_score_file(write(tmp_path, text, f"a{AVERAGES}"))
