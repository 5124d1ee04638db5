"""Rows of an MQM TSV: the columns of every year, under the names of the latest one.

Columns: system, doc, doc_id or docSegId, seg_id or globalSegId, rater, source, target, category, severity,
and perhaps `comment`, `metadata` (JSON) or `misc` (JSON, Unbabel). Google's files do not quote; the 2020 ones
and Unbabel's quote as CSV does. Which it is is decided for the whole file: it is quoted if every field that
holds a quotation mark is one correctly quoted field, and if somewhere that mark must be one: a mark inside is
doubled, or whatever is no number is quoted. In `mqm_newstest2020_zhen.source-errors.tsv` rows are
shorter than the heading: their last fields are read from the end.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from adjudge.data.files import read_json, read_lines
from adjudge.errors import DataError

__all__ = ["COLUMNS", "Row", "read_rows"]

COLUMNS: Final = (
    "system",
    "doc",
    "docSegId",
    "globalSegId",
    "rater",
    "source",
    "target",
    "category",
    "severity",
    "metadata",
)
_WANTED: Final = ("source", "target", "category", "severity")
_ALIASES: Final = {"doc_id": "docSegId", "seg_id": "globalSegId", "misc": "metadata"}
_QUOTED: Final = re.compile(r'"(?:[^"]|"")*"')


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line: one error, or the word that there is none.

    Args:
        line: in the file, from 1.
        system: name, in side-by-side files with the partner in it.
        document: name.
        position: id of the segment within its document.
        segment: id of the segment in the file; empty where there is none.
        rater: empty where there is none.
        source: with tags.
        target: with tags.
        category: as spelled.
        severity: as spelled.
        metadata: the JSON object of that column.
        comment: text of a comment column, or of metadata that is no JSON.
    """

    line: int
    system: str
    document: str
    position: str
    segment: str
    rater: str
    source: str
    target: str
    category: str
    severity: str
    metadata: Mapping[str, object] = field(default_factory=dict)
    comment: str = ""


def read_rows(path: Path) -> tuple[list[Row], Counter[str]]:
    """Read all rows, and count what was met in columns that nobody reads.

    Raises:
        DataError: no MQM TSV, or a row that fits no known layout; says which.
    """
    table = _read_table(path)
    _, heading = next(table, (1, [""]))
    if heading[:2] != ["system", "doc"]:
        raise DataError("an MQM TSV starts with a line of column names, system, doc, ...", path=path, line=1)
    names = [_ALIASES.get(name, name) for name in heading]
    for wanted in _WANTED:
        if wanted not in names:
            raise DataError(f"the heading has no column {wanted!r}", path=path, line=1)
    met: Counter[str] = Counter()
    return [_read_row(names, fields, path, line, met) for line, fields in table], met


def _read_table(path: Path) -> Iterator[tuple[int, list[str]]]:
    lines = read_lines(path)
    rows = [line.split("\t") for line in lines]
    if not _is_quoted({cell for row in rows for cell in row}):
        yield from enumerate(rows, start=1)
        return
    reader = csv.reader((line + "\n" for line in lines), delimiter="\t", strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise DataError(f"quoted fields are broken: {error}", path=path, line=reader.line_num) from error


def _is_quoted(cells: Collection[str]) -> bool:
    """Whether quotation marks are CSV's, and not a text's own."""
    quoted = {cell for cell in cells if '"' in cell}
    if not all(_QUOTED.fullmatch(cell) for cell in quoted):
        return False
    is_doubled = any('""' in cell[1:-1] for cell in quoted)
    return is_doubled or all(cell in quoted or not cell.strip("0123456789") for cell in cells)


def _read_row(names: list[str], fields: list[str], path: Path, line: int, met: Counter[str]) -> Row:
    if len(fields) > len(names) and any(fields[len(names) :]):
        raise DataError(f"{len(fields)} fields under {len(names)} column names", path=path, line=line)
    filled = len(fields)
    while filled and not fields[filled - 1]:
        filled -= 1
    if filled < 9 and len(fields) < len(names):
        cells = _align_short(fields[:filled], path, line)
        met["rows shorter than the heading, read from their end"] += 1
    else:
        cells = dict(zip(names, fields, strict=False))
        if lacking := [name for name in _WANTED if name not in cells]:
            raise DataError(f"a row of {len(fields)} fields has no {lacking[0]!r}", path=path, line=line)
    metadata, note = _read_metadata(cells.get("metadata", ""), path, line)
    for name, cell in cells.items():
        if name not in COLUMNS and name != "comment" and cell:
            met[f"cells of a column {name!r} that nobody reads"] += 1
    return Row(
        line=line,
        system=cells["system"],
        document=cells["doc"],
        position=cells.get("docSegId", ""),
        segment=cells.get("globalSegId", ""),
        rater=cells.get("rater", ""),
        source=cells["source"],
        target=cells["target"],
        category=cells["category"].strip(),
        severity=cells["severity"].strip(),
        metadata=metadata,
        comment=cells.get("comment", "") or note,
    )


def _align_short(fields: list[str], path: Path, line: int) -> dict[str, str]:
    """Read a row that lacks columns: system and document first, four known fields last, ids between."""
    ids = fields[2:-4]
    if not 1 <= len(ids) <= 3:
        raise DataError(f"a row of {len(fields)} fields fits no known layout", path=path, line=line)
    cells = dict(zip(("docSegId", "globalSegId", "rater"), ids, strict=False))
    cells |= dict(zip(("source", "target", "category", "severity"), fields[-4:], strict=True))
    return {"system": fields[0], "doc": fields[1], **cells}


def _read_metadata(cell: str, path: Path, line: int) -> tuple[Mapping[str, object], str]:
    """Read the metadata of a row; text that is no object is a rater's note, as in older files."""
    if not cell.startswith("{"):
        return {}, cell
    value = read_json(cell, path=path, line=line)
    return (value, "") if isinstance(value, dict) else ({}, cell)
