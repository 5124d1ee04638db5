"""A paper's tables beside ours, as tables for people and as one row a cell for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any, Final

from adjudge.core.wording import count
from adjudge.meta.reproduce.reproduction import Cell, Reproduction
from adjudge.report.numbers import NOTHING, number
from adjudge.report.tables import Table

__all__ = ["reproduction_data", "reproduction_rows", "reproduction_tables", "summary"]

_COLUMNS: Final = ("row", "column", ">paper", ">ours", ">difference", "verdict", "reason")

_DIGITS: Final = 4  # of a number that the paper does not print


def reproduction_tables(found: Reproduction) -> list[Table]:
    """One table for each of the paper's; cells of a row that want the same file share a line."""
    tables = [
        Table(columns=_COLUMNS, rows=list(_lines(list(cells))), title=name)
        for name, cells in groupby(found.cells, key=lambda cell: cell.table)
    ]
    notes = [f"{found.title} ({found.source})", *found.notes, str(found.signature), summary(found)]
    return [*tables[:-1], Table(columns=_COLUMNS, rows=tables[-1].rows, title=tables[-1].title, notes=notes)]


def _lines(cells: Sequence[Cell]) -> Iterator[list[str]]:
    for _, group in groupby(cells, key=lambda cell: (cell.row, cell.ours is None and cell.reason)):
        same = list(group)
        first = same[0]
        if first.ours is not None:
            yield from (_line(cell, cell.ours) for cell in same if cell.ours is not None)
            continue
        paper = first.paper if len(same) == 1 else " ".join(cell.paper for cell in same)
        columns = first.column if len(same) == 1 else count(len(same), "column")
        yield [first.row, columns, paper, NOTHING, NOTHING, first.verdict, first.reason]


def _line(cell: Cell, ours: float) -> list[str]:
    if cell.is_unprinted:
        digits = 0 if ours == int(ours) else _DIGITS
        return [cell.row, cell.column, NOTHING, number(ours, digits), NOTHING, NOTHING, cell.reason]
    digits = 1 - int(Decimal(cell.paper).as_tuple().exponent)
    difference = ours - float(cell.paper)
    return [
        cell.row,
        cell.column,
        cell.paper,
        number(ours, digits),
        number(difference, digits),
        cell.verdict,
        cell.reason,
    ]


def reproduction_rows(found: Reproduction) -> Table:
    """One row a cell, every digit, for programs."""
    rows = [
        [
            cell.table,
            cell.row,
            cell.column,
            cell.paper,
            "" if cell.ours is None else repr(cell.ours),
            cell.verdict,
            cell.reason,
        ]
        for cell in found.cells
    ]
    return Table(columns=["table", "row", "column", ">paper", ">ours", "verdict", "reason"], rows=rows)


def reproduction_data(found: Reproduction) -> dict[str, Any]:
    """The same as one JSON object."""
    return {
        "signature": str(found.signature),
        "paper": found.paper,
        "title": found.title,
        "source": found.source,
        "cells": [
            {
                "table": cell.table,
                "row": cell.row,
                "column": cell.column,
                "paper": None if cell.is_unprinted else float(cell.paper),
                "ours": cell.ours,
                "verdict": cell.verdict,
                "reason": cell.reason or None,
            }
            for cell in found.cells
        ],
        "counts": dict(found.counts),
        "notes": list(found.notes),
    }


def summary(found: Reproduction) -> str:
    """How many cells have which verdict, in one line."""
    counts = found.counts
    alone = sum(cell.is_unprinted and cell.ours is not None for cell in found.cells)
    computed = len(found.cells) - counts["missing-input"]
    unprinted = f"; {alone:,} have no number in the paper" if alone else ""
    return (
        f"{found.paper}: {count(len(found.cells), 'cell')}; of {computed:,} computed "
        f"{counts['match']:,} match, "
        f"{counts['rounding']:,} are apart by rounding, {counts['differs']:,} differ; "
        f"{counts['missing-input'] - alone:,} lack an input{unprinted}."
    )
