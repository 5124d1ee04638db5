"""Tables of texts in, as CSV and XLSX."""

import csv
import datetime as dt
import io
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.analysis.gate import gate
from adjudge.analysis.rank import rank
from adjudge.analysis.score import score
from adjudge.core.segment import Segment
from adjudge.errors import DataError, DataWarning, UsageError
from adjudge.formats.read import detect, load, read_judgements

Rows = Sequence[Sequence[object]]


def write_csv(folder: Path, rows: Rows, delimiter: str = ",") -> Path:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(rows)
    path = folder / "x.csv"
    path.write_bytes(text.getvalue().encode())
    return path


def write_xlsx(folder: Path, rows: Rows) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.worksheets[0].append(list(row))
    book.save(folder / "x.xlsx")
    return folder / "x.xlsx"


WRITERS: list[Callable[[Path, Rows], Path]] = [write_csv, write_xlsx]
WHOLE = [
    ["ID", " Doc_ID ", "Source Text", "Acme MT", "Baker", "REF", "Domain", "LP", "Comment"],
    ["k1", "d", "Hello", "Hallo", "Tag", "Guten Tag", "shop", "en-de", "short"],
]


@pytest.mark.parametrize("write", WRITERS)
def test_columns_are_known_in_any_case_and_every_other_is_a_system(
    tmp_path: Path, write: Callable[[Path, Rows], Path]
) -> None:
    path = write(tmp_path, WHOLE)
    assert detect(path) == path.suffix[1:]
    assert list(load(path)) == [
        Segment(
            segment="k1",
            lp="en-de",
            source="Hello",
            translations={"Acme MT": "Hallo", "Baker": "Tag"},
            references={"REF": "Guten Tag"},
            document="d",
            domain="shop",
            meta={"Comment": "short"},
        )
    ]


@pytest.mark.parametrize("write", WRITERS)
def test_rows_without_ids_are_numbered_and_empty_cells_are_no_translations(
    tmp_path: Path, write: Callable[[Path, Rows], Path]
) -> None:
    path = write(tmp_path, [["source", "A", "B"], ["a", "b", ""], ["", "", ""], ["c", "", "d"]])
    with pytest.warns(DataWarning, match="2 empty cells are read as not translated"):
        found = list(load(path, "en-de"))
    assert [(s.segment, dict(s.translations)) for s in found] == [("1", {"A": "b"}), ("3", {"B": "d"})]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["source", "A", "A"], ["a", "b", "c"]], "two columns are 'A'"),
        ([["source", "src"], ["a", "b"]], "two columns are 'source'"),
        ([["source", "A"], ["a", "b", "c"]], "row 1: 3 cells, and the heading has 2"),
        ([["source", "A"]], "no row"),
        ([["source", "A", "score"], ["a", "b", 0.5]], "a column 'score' is of a table of scores"),
        ([["source", "id", "A"], ["a", "1", "x"], ["b", "1", "x"]], "'1' occurs twice"),
    ],
)
def test_a_table_that_could_be_read_in_two_ways_is_refused(
    tmp_path: Path, write: Callable[[Path, Rows], Path], rows: Rows, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        load(write(tmp_path, rows), "en-de")


@pytest.mark.parametrize("write", WRITERS)
def test_a_table_does_not_say_its_languages(tmp_path: Path, write: Callable[[Path, Rows], Path]) -> None:
    with pytest.raises(UsageError, match="does not say its language pair: add --lp"):
        load(write(tmp_path, [["source", "A"], ["a", "b"]]))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_of_a_csv_is_found_in_its_heading(tmp_path: Path, delimiter: str) -> None:
    path = write_csv(tmp_path, [["id", "source", "A"], ["1", "a,b;c|d", "e\tf"]], delimiter)
    assert detect(path) == "csv"
    (segment,) = load(path, "en-de")
    assert (segment.source, segment.translations) == ("a,b;c|d", {"A": "e\tf"})


def test_a_csv_of_a_spreadsheet_has_a_mark_and_windows_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes('\ufeffsource;A\r\n"a\r\nb";=1+1\r\n'.encode())
    assert detect(path) == "csv"
    with pytest.warns(DataWarning, match="byte-order mark"):
        (segment,) = load(path, "en-de")
    assert (segment.source, segment.translations) == ("a\r\nb", {"A": "=1+1"})


def test_text_that_only_begins_like_a_table_is_none(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("source\nHello.\n")
    with pytest.raises(DataError, match="no known format"):
        detect(tmp_path / "x.txt")


@pytest.mark.parametrize("name", ["x.csv", "x.TSV"])
def test_a_file_called_a_table_may_have_its_sources_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("source\nHello.\n")
    (segment,) = load(tmp_path / name, "en-de")
    assert (segment.source, segment.translations) == ("Hello.", {})


def test_cells_of_a_workbook_are_texts_and_formulas_are_not_run(tmp_path: Path) -> None:
    values = ["=1+1", 5, 2.0, 2.5, True, dt.date(2026, 5, 1), "_x000D_a_x005F_x_xD83D__xDE00_"]
    path = write_xlsx(tmp_path, [["source", *"ABCDEFG"], ["s", *values]])
    (segment,) = load(path, "en-de")
    assert list(segment.translations.values()) == [
        *("=1+1", "5", "2", "2.5", "TRUE", "2026-05-01T00:00:00", "\ra_x😀"),
    ]


@pytest.mark.parametrize("write", WRITERS)
def test_a_last_cell_of_white_space_is_a_translation(
    tmp_path: Path, write: Callable[[Path, Rows], Path]
) -> None:
    (segment,) = load(write(tmp_path, [["source", "A", "B"], ["a", "b", " "]]), "en-de")
    assert segment.translations == {"A": "b", "B": " "}


def test_only_the_first_sheet_is_read_and_the_others_are_named(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.worksheets[0].append(["source", "A"])
    book.worksheets[0].append(["a", "b"])
    book.create_sheet("Other")
    book.save(tmp_path / "x.xlsx")
    with pytest.warns(DataWarning, match="only the first sheet is read, not Other"):
        assert len(load(tmp_path / "x.xlsx", "en-de")) == 1


cells = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=20)


@given(source=cells, translation=cells, delimiter=st.sampled_from(",;\t|"))
def test_any_text_comes_through_a_csv(
    tmp_path_factory: pytest.TempPathFactory, source: str, translation: str, delimiter: str
) -> None:
    folder = tmp_path_factory.mktemp("x")
    (segment,) = load(write_csv(folder, [["source", "A"], [source, translation]], delimiter), "en-de")
    assert (segment.source, segment.translations) == (source, {"A": translation})


@pytest.mark.parametrize("write", [write_csv, write_xlsx])
def test_a_column_of_criteria_has_one_a_line(tmp_path: Path, write: Callable[[Path, Rows], Path]) -> None:
    rows = [["source", "Alder", "Criteria"], ["A", "B", "The pun survives.\n\n It rhymes. "], ["C", "D", ""]]
    first, second = load(write(tmp_path, rows), lp="en-de")
    assert first.meta == {"criteria": ["The pun survives.", "It rhymes."]}
    assert second.meta == {}
    assert first.translations == {"Alder": "B"}


@pytest.mark.filterwarnings("ignore:.*empty cell")
@pytest.mark.parametrize("write", WRITERS)
def test_a_column_without_any_translation_is_named(
    tmp_path: Path, write: Callable[[Path, Rows], Path]
) -> None:
    path = write(tmp_path, [["source", "A", "B"], ["a", "b", ""], ["c", "d", ""]])
    with pytest.warns(DataWarning, match="no translation stands in column 'B', so that it is no system"):
        assert load(path, "en-de").systems == ("A",)


SCORED = {
    "x.csv": "source,target,score\na,b,0.5\n",
    "y.csv": "Source;System;SCORE\na;A;0.5\n",
    "x.tsv": "src\tref\tmt\tRating\na\tb\tc\t4\n",
    "z.tsv": "source\tAlder\tannotator\na\tb\tme\n",
}


@pytest.mark.parametrize("name", SCORED)
def test_a_column_of_a_table_of_scores_is_no_system(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(SCORED[name])
    for read in (detect, lambda path: load(path, "en-de"), lambda path: read_judgements(path, "en-de")):
        with pytest.raises(DataError, match=r"is of a table of scores.*the heading has '(source|Source|src)"):
            read(tmp_path / name)


def test_scores_beside_sources_are_read_where_their_segments_are_said(tmp_path: Path) -> None:
    (path := tmp_path / "x.csv").write_text("segment,source,system,score\n2,a,A,0.5\n1,b,A,0.25\n")
    assert detect(path) == "score-table"
    found = read_judgements(path, "en-de").records
    assert [(r.segment, getattr(r, "rating", None)) for r in found] == [("2", 0.5), ("1", 0.25)]


@pytest.mark.parametrize("column", ["metric", "Metric", "annotator"])
def test_scores_of_several_metrics_have_no_mean_and_those_of_people_have(tmp_path: Path, column: str) -> None:
    rows = [f"{system},{n},{who},{n}" for system in "AB" for n in (1, 2) for who in "xy"]
    (path := tmp_path / "x.csv").write_text("\n".join([f"system,segment,{column},score", *rows]))
    if column == "annotator":
        assert [row.score for row in score(path, lp="en-de").systems] == [1.5, 1.5]
        return
    for judge in (score, rank, partial(gate, systems=("A", "B"), margin=1)):
        with pytest.raises(DataError, match=r"scores of 2 metrics \(x, y\), whose mean says nothing"):
            judge(path, lp="en-de")
    path.write_text("system,metric,score\nA,x,1\nB,y,2\n")
    with pytest.raises(DataError, match="2 metrics"):  # also where each system has its own
        score(path, lp="en-de")


def test_a_broken_csv_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text('source,A\na,"b"c\n')
    with pytest.raises(DataError, match=r"not CSV: .*line 2"):
        load(tmp_path / "x.csv", "en-de")


def test_a_system_may_have_translations_that_are_numbers(tmp_path: Path) -> None:
    (path := tmp_path / "x.csv").write_text("source,Alder\nnull,0\n")
    assert load(path, "en-de").segments[0].translations == {"Alder": "0"}
