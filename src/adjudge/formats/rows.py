"""Rows with named columns: data frames, lists of dictionaries, Parquet, and data sets of Hugging Face.

The columns say what they are: those of records (`kind`), of a table of scores (`system` and `score`), or of
texts (`source` and a column for each system), as the same columns do in JSON lines and CSV.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Protocol

from adjudge.core.columns import Column, Framed
from adjudge.core.extras import import_extra
from adjudge.core.frozen import frozen
from adjudge.core.record import Record
from adjudge.core.scores import record_columns
from adjudge.core.segment import TestSet
from adjudge.core.verb import argument_of
from adjudge.errors import DataError, UsageError
from adjudge.formats.file_content import Content, as_read
from adjudge.formats.score_file import SCORE_COLUMNS, read_score_rows
from adjudge.formats.tabular import has_source, read_table
from adjudge.store.json_lines import record_from_json, with_digests

Rows = Sequence[Mapping[str, Any]]


class Frame(Protocol):
    """A data frame of polars or pandas, or a table of Arrow."""

    @property
    def columns(self) -> Any:  # noqa: ANN401 (each library has its own)
        """Its columns."""


HUB: Final = "hf:"
"""Begins the name of a data set of Hugging Face."""
_HUB: Final = re.compile(r"hf:(?P<name>[\w.-]+/[\w.-]+)(?:@(?P<revision>[^#]+))?(?:#(?P<split>.+))?")


def rows_in(source: object) -> Rows | None:
    """Rows of a frame of polars, pandas or Arrow, of a list of dictionaries, or of `hf:owner/name@revision`.

    None for anything else.
    """
    if isinstance(source, str | Path):
        return _hub_rows(str(source)) if str(source).startswith(HUB) else None
    if isinstance(source, list | tuple):
        return source if source and all(isinstance(row, Mapping) for row in source) else None
    if isinstance(source, Framed) or not hasattr(type(source), "columns"):
        return None
    table: Any = source.collect() if hasattr(source, "collect") else source
    if hasattr(table, "to_dicts"):  # polars
        return list(table.to_dicts())
    if hasattr(table, "to_pylist"):  # Arrow
        return list(table.to_pylist())
    return [{name: _pandas_cell(cell) for name, cell in row.items()} for row in table.to_dict("records")]


def place_of(source: object) -> str:
    """What messages call rows that are in memory: what they are, and which argument."""
    if isinstance(source, str | Path):
        return str(source)
    argument = argument_of(source)
    what = "list of dictionaries" if isinstance(source, list | tuple) else "frame"
    return f"the {what}{argument and f' given as {argument}'}"


def _hub_rows(place: str) -> Rows:
    found = _HUB.fullmatch(place)
    if found is None or found["revision"] is None:
        raise UsageError(
            f"{place}: write hf:OWNER/NAME@REVISION, where a tag or a commit keeps the data from changing; "
            "#SPLIT behind it chooses one of several splits"
        )
    datasets = import_extra("datasets")
    try:
        splits = datasets.load_dataset(found["name"], revision=found["revision"])
    except Exception as error:
        raise DataError(f"{place} cannot be had: {type(error).__name__}: {error}") from error
    names = [*splits]
    chosen = found["split"] or (names[0] if len(names) == 1 else None)
    if chosen not in names:
        raise UsageError(f"{place}: choose one of its splits with #SPLIT: {', '.join(names)}")
    return list(splits[chosen].to_list())


def content_of_rows(
    rows: Rows, lp: str | None, texts: TestSet | None, place: Path | str = "the frame"
) -> Content[Any]:
    """Texts or judgements of rows, as their columns say.

    `rows`: column to value; None and NaN are empty, but NaN in the column of scores is no score.
    """
    with _in_rows(place):
        return as_read(_content(rows, lp, texts, place), lp, place)


@contextmanager
def _in_rows(place: Path | str) -> Iterator[None]:
    """Say in an error which row is meant, where the reader of a table would say its line."""
    try:
        yield
    except DataError as error:
        row = "" if error.line is None else f", row {error.line}"
        raise DataError(error.message, path=f"{place}{row}") from None


def _content(rows: Rows, lp: str | None, texts: TestSet | None, place: Path | str) -> Content[Any]:
    filled = [_filled(row) for row in rows]
    columns = dict.fromkeys(str(column) for row in rows for column in row)
    if "kind" in columns:
        stated = [{name: cell for name, cell in row.items() if not _is_nan(cell)} for row in filled]
        records = [record_from_json(row, line=number) for number, row in enumerate(stated, start=1)]
        return Content(records=records, test_set=texts)
    if {"system", "score"} <= {SCORE_COLUMNS.get(column.lower()) for column in columns}:
        numbers = {column for column in columns if SCORE_COLUMNS.get(column.lower()) == "score"}
        table = (
            [_text(row.get(column), is_number=column in numbers) for column in columns] for row in filled
        )
        return read_score_rows([*columns], table, place, lp, texts)
    if not columns:
        raise DataError("the table has no rows")
    if not has_source([*columns]):
        raise DataError(
            "the table has no column 'source' of texts, no 'system' and 'score' of scores, and no 'kind' of "
            f"records; it has {', '.join(columns)!r:.200}"
        )
    cells = [[_text(row.get(column)) for column in columns] for row in filled]
    name = place.stem if isinstance(place, Path) else "frame"
    found = read_table([[*columns], *cells], place, lp, name=name)
    named = (
        replace(s, references={key.removeprefix("reference "): text for key, text in s.references.items()})
        for s in found
    )
    return Content(test_set=TestSet(name=found.name, segments=tuple(named)))


def _filled(row: Mapping[str, Any]) -> dict[str, Any]:
    found = {str(name): _plain(value) for name, value in row.items()}
    return {name: value for name, value in found.items() if value is not None}


def _plain(value: Any) -> Any:  # noqa: ANN401 (a cell of any frame)
    """A cell as JSON has it: numbers of numpy as Python's, arrays as lists, gaps as None."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return _filled(value)
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, str) or str(value) not in _NOTHING else None


_NOTHING: Final = frozenset({"None", "<NA>", "NaT"})
"""What libraries of data frames print where a cell is empty."""


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _pandas_cell(value: Any) -> Any:  # noqa: ANN401 (a cell of any frame)
    """A cell of pandas, whose sign for an empty one is NaN; in the arrays in its cells, too."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list):
        return [_pandas_cell(each) for each in value]
    return None if _is_nan(value) else value


def _text(value: object, *, is_number: bool = False) -> str:
    """A cell as text: a whole number of a column with gaps, which pandas makes a float, without its point.

    NaN is empty, but not where a number belongs, which then is none.
    """
    if value is None or (not is_number and _is_nan(value)):
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


@frozen
class _Records(Framed):
    records: Sequence[Record]

    def groups(self) -> Mapping[str, Sequence[Record]]:
        return {"": self.records}

    def columns(self) -> Sequence[Column]:
        told = Column(
            "digests", "as in records.jsonl", "text", of=lambda r: r.digests and r.digests._asdict()
        )
        return [*record_columns(self.records), *([told] if any(r.digests for r in self.records) else [])]


def read_parquet(path: Path, lp: str | None, texts: TestSet | None) -> Content[Any]:
    """Read texts or judgements, as the columns say."""
    polars = import_extra("polars")
    try:
        rows = polars.read_parquet(path).to_dicts()
    except Exception as error:
        raise DataError(f"not Parquet: {error}", path=path) from error
    return content_of_rows(rows, lp, texts, path)


def write_parquet(path: Path, content: Content[Record]) -> Counter[str]:
    """Write the judgements; without any, the texts, and count what a table of texts cannot hold."""
    if str(path) == "-":
        raise UsageError("parquet is a binary format: give a file in place of -")
    framed: Framed = _Records(records=[*with_digests(content.records, content.test_set or ())])
    left_out: Counter[str] = Counter()
    if not content.records and content.test_set is not None:
        framed = content.test_set
        left_out["segments with meta"] = sum(bool(segment.meta) for segment in content.test_set)
    try:
        framed.to_polars().write_parquet(path)
    except OSError as error:
        raise DataError(f"cannot be written: {error}", path=path) from error
    return +left_out
