"""Appraise's export of a campaign: CSV without a heading, one submission a row.

Twelve columns: login, target (test set and system), item, `TGT` or `BAD`, both languages, score, document
with its marks, whether a whole document was rated, spans as JSON, start and end in seconds since 1970; with
`--batch-info` also batch and database id. What is submitted again is a new row, so that one item of one login
may stand in several. Rows of one file come newest first or oldest first: never rely on it. In MQM campaigns
the score column says 0 for everything.

A span's offsets count UTF-16 units of the trimmed translation, and its end is *inclusive*; an omission has
the word `missing` in place of both. A severity is minor, major, or undecided: a mark that was being removed.
The key `error_type` is null where no type was asked for, and absent in spans that a machine marked before.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

from adjudge.data.files import read_json, read_text, write_text
from adjudge.data.shape import Fields, read_fields
from adjudge.errors import DataError

__all__ = [
    "MISSING",
    "AppraiseFile",
    "AppraiseRow",
    "AppraiseSpan",
    "Kind",
    "appraise_span_from_json",
    "appraise_span_to_json",
    "read_appraise",
    "render_columns",
    "write_appraise",
    "write_columns",
]

MISSING: Final = "missing"

Kind = Literal["TGT", "BAD"]
"""A translation as it is, or one that was damaged to see whether people notice."""

_SPAN_KEYS: Final = frozenset({"start_i", "end_i", "severity", "error_type"})
_COLUMNS: Final = (12, 14)
_BATCH: Final = re.compile(r"[0-9a-fA-F]{2}$")


@dataclass(frozen=True, kw_only=True, slots=True)
class AppraiseSpan:
    """One mark as the file has it.

    Args:
        start: first UTF-16 unit, from 0; None for an omission.
        end: last UTF-16 unit, inclusive; None for an omission.
        severity: minor, major, critical or undecided.
        error_type: category and subcategory; empty where none was asked for.
        is_given: whether a machine marked it and nobody touched it: the file has no `error_type` at all.
    """

    start: int | None
    end: int | None
    severity: str
    error_type: tuple[str, ...] = ()
    is_given: bool = False

    @property
    def is_missing(self) -> bool:
        """Whether it says that something is missing."""
        return self.start is None


@dataclass(frozen=True, kw_only=True, slots=True)
class AppraiseRow:
    """One submission of one person.

    Args:
        login: of the person; its last two characters are the batch in hexadecimal digits.
        target: as its batch has it: test set and system, such as `wmt23.ONLINE-A`, or the system alone.
        item: number within the batch.
        kind: whether the translation was damaged.
        languages: codes of source and target, three letters each.
        score: what the slider said; 0 for everything in an MQM campaign.
        document: `DOC#SYSTEM` or `DOC`, then `#badN` and `#duplicateN` where it is one.
        is_complete: whether the row rates a whole document.
        spans: what was marked.
        start: first action, seconds since 1970.
        end: last action.
        batch_columns: batch and database id as `--batch-info` writes them.
    """

    login: str
    target: str
    item: int
    kind: Kind
    languages: tuple[str, str]
    score: float
    document: str
    is_complete: bool
    spans: tuple[AppraiseSpan, ...]
    start: float
    end: float
    batch_columns: tuple[str, str] | None = None

    @property
    def batch(self) -> int:
        """Number of the batch, from its column or else from the login.

        Raises:
            DataError: neither has one.
        """
        if self.batch_columns is not None and self.batch_columns[0].isdecimal():
            return int(self.batch_columns[0])
        found = _BATCH.search(self.login)
        if found is None:
            raise DataError(
                f"login {self.login!r} does not end in the batch's two hexadecimal digits, and there is no "
                "column with the batch: export with --batch-info"
            )
        return int(found.group(), 16)

    @property
    def is_tutorial(self) -> bool:
        """Whether it belongs to the tutorial."""
        return "tutorial" in self.document

    @property
    def is_duplicate(self) -> bool:
        """Whether it fills a batch up with what stands in another one, too."""
        return "#duplicate" in self.document


@dataclass(frozen=True, kw_only=True)
class AppraiseFile:
    """One export.

    Args:
        rows: every submission, in file order.
        line_end: between rows.
    """

    rows: tuple[AppraiseRow, ...]
    line_end: str = "\n"


def read_appraise(path: Path | str) -> AppraiseFile:
    """Read an export; every submission is kept.

    Raises:
        DataError: a row is not what Appraise writes; says where.
    """
    path = Path(path)
    text = read_text(path)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        rows = [_read_row(columns, path, reader.line_num) for columns in reader if columns]
    except csv.Error as error:
        raise DataError(f"not CSV: {error}", path=path, line=reader.line_num) from error
    return AppraiseFile(rows=tuple(rows), line_end="\r\n" if "\r\n" in text else "\n")


def _read_row(columns: list[str], path: Path, line: int) -> AppraiseRow:
    if len(columns) not in _COLUMNS:
        raise DataError(
            f"wanted the 12 columns of Appraise, or 14 with its batches; got {len(columns)}",
            path=path,
            line=line,
        )
    read = _Reader(columns, path, line)
    return AppraiseRow(
        login=columns[0],
        target=columns[1],
        item=read.whole(2, "item"),
        kind=cast("Kind", read.one_of(3, "kind of item", get_args(Kind))),
        languages=(columns[4], columns[5]),
        score=read.number(6, "score"),
        document=columns[7],
        is_complete=read.one_of(8, "whether it is a whole document", ("False", "True")) == "True",
        spans=tuple(read.spans(9)),
        start=read.number(10, "start time"),
        end=read.number(11, "end time"),
        batch_columns=(columns[12], columns[13]) if len(columns) == _COLUMNS[1] else None,
    )


@dataclass(frozen=True)
class _Reader:
    columns: list[str]
    path: Path
    line: int

    def fail(self, wanted: str, got: object) -> DataError:
        return DataError(f"{wanted}, got {got!r}", path=self.path, line=self.line)

    def one_of(self, column: int, what: str, known: Iterable[str]) -> str:
        if self.columns[column] not in known:
            raise self.fail(f"{what} must be {' or '.join(known)}", self.columns[column])
        return self.columns[column]

    def whole(self, column: int, what: str) -> int:
        if not re.fullmatch("[0-9]{1,9}", self.columns[column]):
            raise self.fail(f"{what} must be a whole number", self.columns[column])
        return int(self.columns[column])

    def number(self, column: int, what: str) -> float:
        if not re.fullmatch(r"-?[0-9]{1,12}(\.[0-9]{1,9})?", self.columns[column]):
            raise self.fail(f"{what} must be a plain number", self.columns[column])
        return float(self.columns[column])

    def spans(self, column: int) -> Iterator[AppraiseSpan]:
        found = read_json(self.columns[column], path=self.path, line=self.line)
        if not isinstance(found, list):
            raise self.fail("spans must be a list", found)
        return (appraise_span_from_json(span, self.path, self.line) for span in found)


def appraise_span_from_json(value: object, path: Path | None = None, line: int | None = None) -> AppraiseSpan:
    """Make a mark of its JSON object.

    Raises:
        DataError: it is none.
    """
    fields = read_fields(value, _SPAN_KEYS, "span", path, line)
    start, end = fields.values.get("start_i"), fields.values.get("end_i")
    is_missing = start == end == MISSING
    kinds = fields.values.get("error_type")
    if kinds is not None and not (isinstance(kinds, list) and all(isinstance(kind, str) for kind in kinds)):
        fields.fail(f"'error_type' must be null or a list of names, got {kinds!r}")
    return AppraiseSpan(
        start=None if is_missing else _offset(fields, "start_i"),
        end=None if is_missing else _offset(fields, "end_i"),
        severity=fields.name("severity"),
        error_type=tuple(kinds or ()),
        is_given="error_type" not in fields.values,
    )


def _offset(fields: Fields, key: str) -> int:
    """One of two offsets; whether they are a place in a text is for those who have the text."""
    found = fields.whole(key)
    if found is None:
        fields.fail(f"{key!r} must be a whole number, or {MISSING!r} in both offsets; got {fields.values!r}")
    return found


# Writing...


def write_appraise(path: Path | str, file: AppraiseFile) -> None:
    """Write an export, equal to Appraise's own byte for byte.

    Raises:
        DataError: it cannot be written.
    """
    write_columns(path, map(render_columns, file.rows), file.line_end)


def write_columns(path: Path | str, rows: Iterable[Sequence[str]], line_end: str = "\n") -> None:
    """Write rows whose columns are text already.

    Raises:
        DataError: they cannot be written.
    """
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=line_end).writerows(rows)
    write_text(Path(path), [text.getvalue()])


def render_columns(row: AppraiseRow) -> list[str]:
    """The columns of a row as Appraise writes them."""
    return [
        *(row.login, row.target, str(row.item), row.kind, *row.languages),
        *(_render_number(row.score), row.document, str(row.is_complete)),
        json.dumps([*map(appraise_span_to_json, row.spans)], separators=(",", ":"), ensure_ascii=False),
        *(_render_number(row.start, "0.0"), _render_number(row.end, "0.0")),
        *(row.batch_columns or ()),
    ]


def _render_number(value: float, least: str = "0") -> str:
    """A score without needless digits; a time with one digit after the point at least, as Python has it."""
    return str(int(value)) if value == int(value) and least == "0" else repr(value)


def appraise_span_to_json(span: AppraiseSpan) -> Mapping[str, Any]:
    """The JSON object of a mark; one that a machine made has no type at all."""
    places = [MISSING if place is None else place for place in (span.start, span.end)]
    found: dict[str, Any] = {"start_i": places[0], "end_i": places[1], "severity": span.severity}
    return found if span.is_given else {**found, "error_type": list(span.error_type) or None}
