"""Tables in the languages that they are written in."""

import csv
import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.scores import Interval
from adjudge.reports import tables
from adjudge.reports.tables import (
    NAMES,
    NOTHING,
    RANGES,
    Table,
    TableFormat,
    digits_for,
    duration,
    interval,
    is_invisible,
    name_invisible,
    number,
    render_table,
    share,
    whole,
)


def test_what_nobody_sees_is_named() -> None:
    shown = {
        "a\u200bb": "a[ZWSP]b",
        "\u202egnp.exe": "[RLO]gnp.exe",
        "\ud800": "[U+D800]",
        "\U000e0041": "[U+E0041]",
        "\0": "[NUL]",
        "👩\u200d🚀": "👩\u200d🚀",  # one emoji
        "\u200d": "[ZWJ]",
        "می\u200cروم": "می[ZWNJ]روم",
        "Größe\t日本\n": "Größe\t日本\n",
        "": "",
    }
    assert {text: name_invisible(text) for text in shown} == shown


@given(st.text())
def test_nothing_invisible_is_left_but_joiners_in_emoji(text: str) -> None:
    assert not [char for char in name_invisible(text) if is_invisible(char) and char != "\u200d"]


def test_ranges_are_in_order_and_apart() -> None:
    flat = [code for pair in RANGES for code in pair]
    assert flat == sorted(flat)


def test_a_number_has_a_real_minus_and_no_false_zero() -> None:
    texts = {
        (-1.256, 2): "−1.26",
        (0.0, 1): "0.0",
        (-0.04, 1): "0.0",  # a minus before zero says nothing
        (87.0, 0): "87",
        (None, 2): NOTHING,
        (math.nan, 2): NOTHING,
        (-math.inf, 0): "−∞",
        (math.inf, 0): "∞",
        (-2.0123456e90, 1): "−2.012e+90",  # a float has no ninety digits
    }
    assert {given: number(*given) for given in texts} == texts


def test_a_column_has_the_digits_that_its_intervals_bear() -> None:
    widths = {60.0: 1, 6.0: 1, 0.6: 2, 0.06: 3, 0.006: 4, 0.0000006: 4}
    assert {width: digits_for([0.5], [Interval(0.0, width)]) for width in widths} == widths
    intervals = [Interval(0.0, 0.0), Interval(0.0, 0.006), Interval(0.0, 6.0), Interval(0.0, 8.0)]
    assert digits_for([1.0] * 4, intervals) == 1  # the usual one decides, and not the narrowest


def test_an_interval_reads_from_low_to_high_and_thousands_stand_apart_for_people_only() -> None:
    assert interval(Interval(-2.0, -1.0), 1) == "−2.0 to −1.0"
    assert interval(None, 1) == NOTHING
    assert [whole(19569), whole(19569, exact=True), whole(999)] == ["19,569", "19569", "999"]


def test_a_column_without_intervals_goes_by_its_scores() -> None:
    digits = {(): 2, (None, None): 2, (0.0,): 2, (87.0,): 1, (0.02,): 4}
    assert {scores: digits_for([*scores], [None]) for scores in digits} == digits


def test_a_share_is_0_or_100_only_where_it_is() -> None:
    shares = {
        "0 %": [(0, 9)],
        "100 %": [(9, 9)],
        "<1 %": [(1, 300), (8, 1000)],
        ">99 %": [(299, 300), (992, 1000)],
        "33 %": [(1, 3)],
        NOTHING: [(0, 0)],
    }
    assert {text: {share(*of) for of in parts} for text, parts in shares.items()} == {t: {t} for t in shares}


def test_a_duration_is_never_rounded_to_nothing() -> None:
    texts = {0: "0 minutes", 34: "1 minute", 61: "2 minutes", 5399: "90 minutes", 5400: "1.5 hours"}
    assert {seconds: duration(seconds) for seconds in texts} == texts
    assert duration(7.2e6) == "2,000.0 hours"


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("−0.06", "$-$0.06"),
        ("<0.001", "$<$0.001"),
        (">99 %", r"$>$99 \%"),
        ("0.1 – 0.2", "0.1 -- 0.2"),
        ("ρ", r"$\rho$"),
        ("τ-b", r"$\tau$-b"),
        ("∞", r"$\infty$"),
        ("a|b", r"a\textbar{}b"),
        ("GPT4-5shot_x", r"GPT4-5shot\_x"),
        ("#1 & {2} $3", r"\#1 \& \{2\} \$3"),
        ("~a^b\\c", r"\textasciitilde{}a\textasciicircum{}b\textbackslash{}c"),
        ("中文 é", "中文 é"),  # letters are the document's own affair
    ],
)
def test_latex_writes_marks_that_its_text_fonts_lack_as_commands(cell: str, written: str) -> None:
    text = render_table(Table(columns=[f">{cell}"], rows=[[cell]], notes=[cell]), "latex")
    assert text.splitlines()[3] == rf"{written} \\"
    assert text.splitlines()[5] == rf"{written} \\"
    assert text.splitlines()[0] == f"% {cell}"


def test_a_line_end_in_a_text_stays_in_its_cell_or_its_comment() -> None:
    table = Table(columns=["a\n\nb"], rows=[["c\n\nd"]], title="e\n\\f", notes=["g\n\\h"])
    lines = render_table(table, "latex").splitlines()
    assert lines[:4] == ["% e", r"% \f", "% g", r"% \h"]
    assert lines[6::2] == [r"a  b \\", r"c  d \\", r"\end{tabular}"]


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_no_cell_is_a_formula_and_each_is_given_back(form: TableFormat) -> None:
    cells = ["=1+1", "+SUM(A1)", "-2+3", "@x", "'quoted", "\uff1d1", "| calc", "Alder", "O'Neil"]
    numbers = ["-1.5", "+2", "-1e-05", "12.5%", "-", "—", "nan", "-inf", "1,234.5"]
    table = Table(columns=(*cells, *map(str, range(9))), rows=[(*cells, *numbers)])
    text = render_table(table, form)
    heading, row = csv.reader(io.StringIO(text), delimiter="," if form == "csv" else "\t")
    assert not [cell for cell in row[:9] if cell.startswith(("=", "+", "-", "@", "|", "\uff1d"))]
    assert row[9:] == numbers
    assert [cell.removeprefix("'") for cell in (*heading[:9], *row[:9])] == [*cells, *cells]


@pytest.mark.parametrize("form", ["table", "csv", "tsv", "markdown", "latex"])
@given(st.lists(st.text(st.sampled_from("aé\t,'=[]" + "".join(map(chr, NAMES)))), min_size=3, max_size=3))
def test_no_name_is_written_with_a_character_that_nobody_sees(form: TableFormat, names: list[str]) -> None:
    heading, cell, note = names
    text = render_table(Table(columns=[heading], rows=[[cell]], notes=[note]), form)
    assert not [char for char in text if is_invisible(char)]
    if form in {"csv", "tsv"}:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter="," if form == "csv" else "\t")
        for row, name in zip(rows, (heading.removeprefix(">"), cell), strict=True):
            assert "".join(row) in {name_invisible(name), f"'{name_invisible(name)}"}


_CELL = st.text(alphabet=st.sampled_from("ab-[]x日本😀א–%"), max_size=8)


@st.composite
def _tables(draw: st.DrawFn) -> Table:
    wide = draw(st.integers(1, 5))
    cells = st.lists(_CELL, min_size=wide, max_size=wide)
    return Table(
        columns=[draw(st.sampled_from(["", ">"])) + cell for cell in draw(cells)],
        rows=draw(st.lists(cells, max_size=5)),
        rules=frozenset(draw(st.sets(st.integers(0, 5)))),
        title=draw(_CELL),
    )


@given(_tables())
def test_a_table_that_fits_is_as_the_one_with_folded_cells(table: Table) -> None:
    assert (tables._aligned(table, 200) or tables._folded(table, 200)) == tables._folded(table, 200)


@pytest.mark.parametrize("width", [30, 200])
def test_a_heading_in_brackets_is_no_command_to_the_terminal(width: int) -> None:
    table = Table(columns=["[red]", ">n"], rows=[["x" * 20, "1"]], title="[b]title[/b]")
    shown = tables._aligned(table, width) or tables._folded(table, width)
    assert "[red]" in shown
    assert "[b]title[/b]" in shown


def test_a_star_leaves_the_digits_of_its_column_in_line() -> None:
    table = Table(columns=["name", ">r"], rows=[["a", "0.25"], ["b", "0.75"]], best=frozenset({(1, 1)}))
    assert render_table(table, "table").splitlines()[3:5] == [" a      0.25  ", " b      0.75* "]


def test_a_table_wider_than_the_output_folds_its_cells() -> None:
    table = Table(columns=["name", "text"], rows=[["a", "word " * 60]], notes=["a note"])
    lines = render_table(table, "table").splitlines()
    assert max(map(len, lines)) <= 200
    assert len(lines) > 6
    assert lines[-1] == "a note"
