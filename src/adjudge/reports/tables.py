"""One table, five ways to write it down, and how numbers are written in its cells.

`table_of` lays out rows by the columns that a result declares. Characters that nobody sees have names here,
so that tables and pages show them.
"""

from __future__ import annotations

import csv
import io
import math
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, Final, Literal, TypeVar, get_args

from adjudge.core.columns import Column, Kind, as_html
from adjudge.core.frozen import frozen
from adjudge.core.scores import Interval
from adjudge.core.wording import count, unfit_first
from adjudge.errors import UsageError
from adjudge.formats.spreadsheet import disarm

# Invisible characters


RANGES: Final[tuple[tuple[int, int], ...]] = (
    (0x0000, 0x0008),  # C0 controls; tab and line feed are white space
    (0x000B, 0x001F),
    (0x007F, 0x009F),  # C1 controls
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x180E, 0x180E),
    (0x200B, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xD800, 0xDFFF),  # surrogates that stand alone
    (0xFE00, 0xFE0E),  # variation selectors; the next one only asks for the emoji form
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF9, 0xFFFB),
    (0xE0000, 0xE007F),  # tags: a second, hidden ASCII
    (0xE0100, 0xE01EF),
)
"""First and last code point of each stretch of invisible characters."""

NAMES: Final[dict[int, str]] = {
    0x0000: "NUL",
    0x000D: "CR",
    0x001B: "ESC",
    0x00AD: "SHY",
    0x034F: "CGJ",
    0x061C: "ALM",
    0x200B: "ZWSP",
    0x200C: "ZWNJ",
    0x200D: "ZWJ",
    0x200E: "LRM",
    0x200F: "RLM",
    0x2028: "LS",
    0x2029: "PS",
    0x202A: "LRE",
    0x202B: "RLE",
    0x202C: "PDF",
    0x202D: "LRO",
    0x202E: "RLO",
    0x2060: "WJ",
    0x2066: "LRI",
    0x2067: "RLI",
    0x2068: "FSI",
    0x2069: "PDI",
    0xFEFF: "BOM",
}
"""Short names as Unicode gives them; every other one is shown as U+ and its number."""

_INVISIBLE: Final = re.compile(
    "(?!\u200d[\U0001f000-\U0010ffff])"  # a joiner inside an emoji
    f"[{''.join(f'{re.escape(chr(low))}-{re.escape(chr(high))}' for low, high in RANGES)}]"
)


def is_invisible(char: str) -> bool:
    """Whether a reader would not see the character."""
    code = ord(char)
    return any(low <= code <= high for low, high in RANGES)


def name_of(char: str) -> str:
    return NAMES.get(ord(char), f"U+{ord(char):04X}")


def name_invisible(text: str) -> str:
    """Write the names of invisible characters in their place; a joiner inside an emoji is left alone.

    For names, reasons and terminals, from which nobody copies back into a test set. `text.js` keeps the
    characters themselves in texts, and sets a mark before each.
    """
    return _INVISIBLE.sub(lambda found: f"[{name_of(found[0])}]", text)


R = TypeVar("R")
TableFormat = Literal["table", "json", "csv", "tsv", "markdown", "latex"]
FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)

_WIDTH: Final = 200  # columns of a table that is not for a terminal


@frozen
class Table:
    """Cells as text, ready to be read."""

    columns: Sequence[str]  # headings; one that starts with `>` is right-aligned and loses the mark
    rows: Sequence[Sequence[str]]  # as many cells as there are columns
    rules: frozenset[int] = frozenset()  # rows after which a line is drawn (clusters), counted from 0
    title: str = ""  # stands above it
    notes: Sequence[str] = ()  # stand below it, such as the signature
    # cells, as row and column, that stand out; a star marks them where print cannot be bold
    best: frozenset[tuple[int, int]] = frozenset()

    _repr_html_ = as_html

    @property
    def headings(self) -> list[str]:
        return [c.removeprefix(">") for c in self.columns]

    @property
    def right(self) -> list[bool]:
        return [c.startswith(">") for c in self.columns]


def render_table(table: Table, form: TableFormat) -> str:
    """Write the table down; `json` is not a table and belongs to the caller.

    Characters that nobody sees, and that a terminal would obey, are shown as marks such as `[ESC]`.
    """
    table = replace(
        table,
        columns=[name_invisible(column) for column in table.columns],
        rows=[[name_invisible(cell) for cell in row] for row in table.rows],
        title=name_invisible(table.title),
        notes=[name_invisible(note) for note in table.notes],
    )
    if form in {"csv", "tsv"}:
        delimiter = "," if form == "csv" else "\t"
        buffer = io.StringIO()
        writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
        writer.writerow(map(disarm, table.headings))
        writer.writerows(map(disarm, row) for row in table.rows)
        return buffer.getvalue()
    if form == "table":
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH
        first, rest = unfit_first(table.notes)
        grid = _aligned(table, width) or _folded(table, width)
        return "".join([*(f"{note}\n" for note in first), grid, *(f"{note}\n" for note in rest)])
    if form == "markdown":
        return _markdown(table)
    if form == "latex":

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
        notes = [f"% {line}" for text in (table.title, *table.notes) for line in text.splitlines() if line]
        head = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", line(table.headings), r"\midrule"]
        return "\n".join([*notes, *head, *body, r"\bottomrule", r"\end{tabular}"]) + "\n"
    raise UsageError(f"--format must be one of {', '.join(FORMATS)}; got {form!r}")


def _aligned(table: Table, width: int) -> str:
    from rich.cells import cell_len

    rows = [table.headings, *_starred(table)]
    if not table.columns or any(
        "\n" in cell or "\t" in cell for row in (*rows, [table.title]) for cell in row
    ):
        return ""
    sizes = [[cell_len(cell) for cell in row] for row in rows]
    widths = list(map(max, zip(*sizes, strict=True)))
    inner = sum(widths) + 3 * (len(widths) - 1)
    if inner + 2 > width or cell_len(table.title) > inner + 2 or not inner:
        return ""
    rule = f" {'─' * inner} "
    title = [table.title + " " * (inner + 2 - cell_len(table.title))] if table.title else []
    heading, *lines = [
        " "
        + "   ".join(
            " " * (wide - length) * right + cell + " " * (wide - length) * (not right)
            for cell, length, wide, right in zip(row, lengths, widths, table.right, strict=True)
        )
        + " "
        for row, lengths in zip(rows, sizes, strict=True)
    ]
    for index in sorted(table.rules & set(range(len(lines) - 1)), reverse=True):
        lines.insert(index + 1, rule)
    return "\n".join([*title, rule, heading, rule, *lines, rule, ""])


def _folded(table: Table, width: int) -> str:
    """The table with long cells on several lines, so that the columns fit."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable(
        box=box.HORIZONTALS,
        title=Text(table.title) if table.title else None,
        title_justify="left",
        pad_edge=False,
    )
    for heading, right in zip(table.headings, table.right, strict=True):
        grid.add_column(Text(heading), justify="right" if right else "left", overflow="fold")
    for index, row in enumerate(_starred(table)):
        grid.add_row(*map(Text, row), end_section=index in table.rules)
    buffer = io.StringIO()
    Console(file=buffer, width=width, force_terminal=False).print(grid)
    return buffer.getvalue()


def _starred(table: Table) -> Iterator[list[str]]:
    columns = {column for _, column in table.best}
    for index, row in enumerate(table.rows):
        yield [
            cell + ("*" if (index, column) in table.best else " ") if column in columns else cell
            for column, cell in enumerate(row)
        ]


def _markdown(table: Table) -> str:
    def line(cells: Sequence[str], row: int = -1) -> str:
        written = [c.replace("|", "\\|").replace("\n", " ") for c in cells]
        marked = [f"**{c}**" if (row, column) in table.best else c for column, c in enumerate(written)]
        return "| " + " | ".join(marked) + " |"

    marks = ["---:" if right else "---" for right in table.right]
    lines = [line(table.headings), line(marks), *(line(cells, row) for row, cells in enumerate(table.rows))]
    title = [f"**{table.title}**\n"] if table.title else []
    first, rest = unfit_first(table.notes)
    return "\n".join([f"**{n}**\n" for n in first] + title + lines + [f"\n{n}" for n in rest]) + "\n"


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
    "\n": " ",  # two would end the paragraph, which no cell may
    **{char: "\\" + char for char in "&%$#_{}"},
}


# Numbers


NOTHING: Final = "–"
_MINUS: Final = "−"
_MOST_DIGITS: Final = 4
_LONG: Final = 5400  # seconds
_EXACT: Final = 1e15  # from here on, a float has fewer digits than would be written


def digits_for(scores: Iterable[float | None], intervals: Iterable[Interval | None]) -> int:
    """Digits after the point that a column can bear: two significant ones of its usual interval."""
    widths = sorted(i.high - i.low for i in intervals if i is not None and i.high > i.low)
    if widths:
        scale = widths[len(widths) // 2]
    else:
        known = [abs(s) for s in scores if s]
        scale = max(known, default=1.0) / 10
    if not math.isfinite(scale) or scale <= 0:
        return 2
    return min(max(1 - math.floor(math.log10(scale)), 1), _MOST_DIGITS)


def number(value: float | None, digits: int) -> str:
    """Write a score; None is a dash, for it is no number."""
    if value is None or math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "∞" if value > 0 else f"{_MINUS}∞"
    text = f"{value:.{digits}f}" if abs(value) < _EXACT else f"{value:.4g}"
    negative = text.startswith("-") and any(digit in text for digit in "123456789")
    return (_MINUS if negative else "") + text.lstrip("-")


def interval(value: Interval | None, digits: int) -> str:
    if value is None:
        return NOTHING
    return f"{number(value.low, digits)} to {number(value.high, digits)}"


def p_value(value: float) -> str:
    """Write a p-value; never 0, for none is."""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def rank_range(best: int | None, worst: int | None) -> str:
    """Write the ranks that a system may have."""
    if best is None:
        return NOTHING
    return f"{best}" if best == worst else f"{best} to {worst}"


def exact_cells(*values: object) -> list[str]:
    """Write numbers for programs: every digit, and nothing where there is none."""
    return ["" if value is None else value if isinstance(value, str) else repr(value) for value in values]


def table_of(
    columns: Iterable[Column],
    groups: Mapping[str, Sequence[R]],
    *,
    exact: bool,
    digits: int | None = None,
    **more: Any,  # noqa: ANN401 (fields of Table)
) -> Table:
    """Lay out rows by their columns; a line ends each language pair."""
    shown = [column for column in columns if (column.names if exact else column.heading)]
    every = [row for rows in groups.values() for row in rows]
    if digits is None:
        measured = [[c for c in shown if c.kind == kind][:1] for kind in ("score", "interval")]
        digits = digits_for(*([c.value(row) for c in first for row in every] for first in measured))
    headings = [
        name if column.kind == "text" else f">{name}"
        for column in shown
        for name in (column.names if exact else (column.heading,))
    ]
    rows = [
        exact_cells(*(value for column in shown for value in column.values(row)))
        if exact
        else [_cell(column, column.value(row), digits) for column in shown]
        for row in every
    ]
    if "" not in groups:
        headings = ["lp", *headings]
        lps = [lp for lp, of_lp in groups.items() for _ in of_lp]
        rows = [[lp, *cells] for lp, cells in zip(lps, rows, strict=True)]
    ends = frozenset(end - 1 for end in accumulate(map(len, groups.values()))) - {-1, len(rows) - 1}
    return Table(columns=headings, rows=rows, rules=ends | more.pop("rules", frozenset()), **more)


def _cell(column: Column, value: Any, digits: int) -> str:  # noqa: ANN401 (of any column)
    if value is None:
        return column.none
    if column.words is not None:
        return column.words(value)
    written: dict[Kind, Callable[[], str]] = {
        "text": lambda: str(value),
        "count": lambda: whole(value),
        "score": lambda: number(value, digits),
        "decimal": lambda: number(value, column.digits),
        "p": lambda: p_value(value),
        "interval": lambda: interval(value, digits),
        "percent": lambda: f"{100 * value:.0f} %",
        "chance": lambda: share(min(round(value * 10_000), 9_999 if value < 1 else 10_000), 10_000),
        "rank": lambda: rank_range(*value),
    }
    return written[column.kind]()


def share(part: int, whole: int) -> str:
    """Write a share in per cent; neither 0 nor 100 unless it is exactly that."""
    if whole == 0:
        return NOTHING
    percent = 100 * part / whole
    if 0 < percent < 1:
        return "<1 %"
    if 99 < percent < 100:
        return ">99 %"
    return f"{percent:.0f} %"


def duration(seconds: float) -> str:
    """Write roughly how long something takes: in minutes up to an hour and a half, then in hours."""
    if seconds < _LONG:
        return count(math.ceil(seconds / 60), "minute")
    return f"{seconds / 3600:,.1f} hours"


def whole(amount: int, *, exact: bool = False) -> str:
    """Write an amount in a cell: thousands apart for people, plain digits (exact) for programs."""
    return str(amount) if exact else f"{amount:,}"


CHECKLIST_NOTE: Final = (
    "passed: verdicts that are a pass, of the verdicts that were read. missing: verdicts that failed, and "
    "are neither a pass nor a fail. all pass: share of the settled translations that pass every criterion. A "
    "translation is settled if all of its verdicts were read, or if one of them is a fail."
)
"""Explanation of the columns of a checklist."""


_MANY: Final = 20_000


def draws_for(translations: int) -> int:
    """A thousand; two hundred where so many translations were judged that intervals are narrow anyway."""
    return 1000 if translations <= _MANY else 200
