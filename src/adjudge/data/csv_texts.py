"""A table of texts as CSV or TSV, whatever its delimiter; `tables` says what its columns are."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from adjudge.core.segment import TestSet
from adjudge.data.files import read_text
from adjudge.data.tables import has_source, read_table
from adjudge.errors import DataError

__all__ = ["is_csv_of_texts", "read_csv_texts"]

_DELIMITERS: Final = ",;\t|"
_ENDINGS: Final = (".csv", ".tsv")


def is_csv_of_texts(first: str, path: Path) -> bool:
    """Whether a first line is the heading of a table; one column will do in a file that is called a table."""
    cells = _cells(first, _delimiter(first))
    is_named = path.name.lower().removesuffix(".gz").endswith(_ENDINGS)
    return (len(cells) > 1 or is_named) and has_source(cells)


def read_csv_texts(path: Path, lp: str | None = None) -> TestSet:
    """Read a test set; cells may hold line ends where they are quoted.

    Raises:
        DataError: it is no such table; see `tables.read_table`.
        UsageError: no language pair.
    """
    text = read_text(path)
    return read_table(_rows(text, _delimiter(text.partition("\n")[0]), path), path, lp)


def _rows(text: str, delimiter: str, path: Path) -> Iterator[list[str]]:
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        yield from (row for row in lines if row)
    except csv.Error as error:
        raise DataError(f"not CSV: {error}", path=path, line=lines.line_num) from error


def _delimiter(first: str) -> str:
    """What makes most columns of a heading, with a source among them."""
    return max(_DELIMITERS, key=lambda d: (has_source(cells := _cells(first, d)), len(cells)))


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line.rstrip("\r")], delimiter=delimiter), [])
    except csv.Error:
        return []
