"""One table, six ways to write it down."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from adjudge.data.spreadsheet import disarm
from adjudge.errors import UsageError
from adjudge.report.invisible import name_invisible

__all__ = ["FORMATS", "Table", "TableFormat", "render_table"]

TableFormat = Literal["table", "json", "csv", "tsv", "markdown", "latex"]
FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)


@dataclass(frozen=True, kw_only=True)
class Table:
    """Cells as text, ready to be read.

    Args:
        columns: headings; one that starts with `>` is right-aligned and loses the mark.
        rows: as many cells as there are columns.
        rules: rows after which a line is drawn (clusters), counted from 0.
        title: stands above it.
        notes: stand below it, such as the signature.
        best: cells, as row and column, that stand out; a star marks them where print cannot be bold.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    rules: frozenset[int] = frozenset()
    title: str = ""
    notes: Sequence[str] = ()
    best: frozenset[tuple[int, int]] = frozenset()

    @property
    def headings(self) -> list[str]:
        """Headings without the mark of alignment."""
        return [c.removeprefix(">") for c in self.columns]

    @property
    def right(self) -> list[bool]:
        """Whether each column is right-aligned."""
        return [c.startswith(">") for c in self.columns]


def render_table(table: Table, form: TableFormat) -> str:
    """Write the table down; `json` is not a table and belongs to the caller.

    What people read has marks for characters that nobody sees, and that a terminal would obey; what programs
    read has the characters themselves.

    Raises:
        UsageError: an unknown format.
    """
    if form in {"csv", "tsv"}:
        return _separated(table, "," if form == "csv" else "\t")
    if form == "table":
        return _terminal(_visible(table))
    if form == "markdown":
        return _markdown(_visible(table))
    if form == "latex":
        return _latex(_visible(table))
    raise UsageError(f"--format must be one of {', '.join(FORMATS)}; got {form!r}")


def _visible(table: Table) -> Table:
    return replace(
        table,
        columns=[name_invisible(column) for column in table.columns],
        rows=[[name_invisible(cell) for cell in row] for row in table.rows],
        title=name_invisible(table.title),
        notes=[name_invisible(note) for note in table.notes],
    )


def _terminal(table: Table) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable(box=box.HORIZONTALS, title=table.title or None, title_justify="left", pad_edge=False)
    for heading, right in zip(table.headings, table.right, strict=True):
        grid.add_column(heading, justify="right" if right else "left", overflow="fold")
    for index, row in enumerate(_starred(table)):
        grid.add_row(*map(Text, row), end_section=index in table.rules)
    buffer = io.StringIO()
    console = Console(file=buffer, width=None if sys.stdout.isatty() else 200)
    console.print(grid)
    for note in table.notes:
        console.print(Text(note), soft_wrap=True)
    return buffer.getvalue()


def _starred(table: Table) -> Iterator[list[str]]:
    """Rows with a star behind the best cells, and room for one behind the other cells of their columns."""
    columns = {column for _, column in table.best}
    for index, row in enumerate(table.rows):
        yield [
            cell + ("*" if (index, column) in table.best else " ") if column in columns else cell
            for column, cell in enumerate(row)
        ]


def _separated(table: Table, delimiter: str) -> str:
    """Separated values. Systems are named by others, so no cell may be a formula to a spreadsheet."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    writer.writerow(map(disarm, table.headings))
    writer.writerows(map(disarm, row) for row in table.rows)
    return buffer.getvalue()


def _markdown(table: Table) -> str:
    def line(cells: Sequence[str], row: int = -1) -> str:
        written = [c.replace("|", "\\|").replace("\n", " ") for c in cells]
        marked = [f"**{c}**" if (row, column) in table.best else c for column, c in enumerate(written)]
        return "| " + " | ".join(marked) + " |"

    marks = ["---:" if right else "---" for right in table.right]
    lines = [line(table.headings), line(marks), *(line(cells, row) for row, cells in enumerate(table.rows))]
    title = [f"**{table.title}**\n"] if table.title else []
    return "\n".join(title + lines + [f"\n{note}" for note in table.notes]) + "\n"


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": "$<$",  # in its oldest text fonts, these two are other characters
    ">": "$>$",
    "−": "$-$",
    "–": "--",
    "∞": r"$\infty$",
    "ρ": r"$\rho$",
    "τ": r"$\tau$",
    **{char: "\\" + char for char in "&%$#_{}"},
}


def _latex(table: Table) -> str:
    def line(cells: Sequence[str], row: int = -1) -> str:
        written = ["".join(_LATEX.get(char, char) for char in cell) for cell in cells]
        marked = [
            rf"\textbf{{{c}}}" if (row, column) in table.best else c for column, c in enumerate(written)
        ]
        return " & ".join(marked) + r" \\"

    body = [
        line(row, index) + (r" \midrule" if index in table.rules else "")
        for index, row in enumerate(table.rows)
    ]
    columns = "".join("r" if right else "l" for right in table.right)
    notes = [f"% {line}" for line in (table.title, *table.notes) if line]
    head = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", line(table.headings), r"\midrule"]
    return "\n".join([*notes, *head, *body, r"\bottomrule", r"\end{tabular}"]) + "\n"
