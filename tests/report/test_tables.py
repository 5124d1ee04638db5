"""Tables in the languages that they are written in."""

import csv
import io

import pytest

from adjudge.reports.tables import Table, TableFormat, render_table


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
        ("中文 é", "中文 é"),  # letters are the document's own affair
    ],
)
def test_latex_writes_marks_that_its_text_fonts_lack_as_commands(cell: str, written: str) -> None:
    text = render_table(Table(columns=[f">{cell}"], rows=[[cell]], notes=[cell]), "latex")
    assert text.splitlines()[3] == rf"{written} \\"
    assert text.splitlines()[5] == rf"{written} \\"
    assert text.splitlines()[0] == f"% {cell}"


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
