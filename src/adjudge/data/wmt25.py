"""WMT25's table of texts and marked errors, as its evaluation tasks give it out and take it in.

A row is one translation: `doc_id segment_id source_lang target_lang set_id system_id source_segment
hypothesis_segment reference_segment domain_name method`, by tabs, cells quoted where they must be. Gold and
predictions add `start_indices end_indices error_types`, each a list by blanks: half-open code points of the
translation, or `missing` for what the translation lacks. `-1 -1 no-error` was judged and found clean; empty
cells were not judged. A mark that was being removed (`undecided`) costs nothing: it is neutral, and its note
says so. The file names no annotator: it is called as the file.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from adjudge.core.annotation import Annotation, ErrorSpan
from adjudge.core.language import canonical_lp
from adjudge.core.segment import Segment, TestSet
from adjudge.core.typology import find_severity
from adjudge.data.appraise import MISSING
from adjudge.data.appraise_records import UNDECIDED_MARK
from adjudge.data.files import read_text
from adjudge.errors import DataError

__all__ = [
    "CLEAN",
    "MARKS",
    "META",
    "NOWHERE",
    "NO_REFERENCE",
    "OMISSION",
    "TEXTS",
    "Wmt25File",
    "read_wmt25",
]

TEXTS: Final = (
    *("doc_id", "segment_id", "source_lang", "target_lang", "set_id", "system_id"),
    *("source_segment", "hypothesis_segment", "reference_segment", "domain_name", "method"),
)
MARKS: Final = ("start_indices", "end_indices", "error_types")
CLEAN: Final = "no-error"
NOWHERE: Final = "-1"
NO_REFERENCE: Final = "NaN"
META: Final = ("set_id", "method")
"""Columns that go to `meta`."""
_REFERENCE: Final = "ref"
OMISSION: Final = "accuracy/omission"


@dataclass(frozen=True, kw_only=True)
class Wmt25File:
    """All that one file says.

    Args:
        test_set: the texts; `set_id` and `method` go to `meta`.
        records: one annotation a translation that was judged, in file order; None where nothing is marked.
        met: what was odd, and how often.
    """

    test_set: TestSet
    records: tuple[Annotation, ...] | None = None
    met: Counter[str] = field(default_factory=Counter)


def read_wmt25(path: Path | str, lp: str | None = None) -> Wmt25File:
    """Read a file.

    Args:
        path: the file; without its endings, its name is that of the annotator, too.
        lp: keep this language pair only.

    Raises:
        DataError: a column is missing, a translation is there twice, two rows say different things of one
            segment, or a mark is none; says which line.
        UsageError: no such language pair.
    """
    path = Path(path)
    name = path.name.split(".")[0]
    rows = _rows(path)
    _, first = next(rows)
    has_marks, unread = _check_heading(list(first), path)
    reader = _Reader(path, name)
    for line, row in rows:
        reader.add(row, line, has_marks=has_marks)
    test_set = TestSet(name=name, segments=tuple(reader.segments.values()))
    if lp is not None:
        test_set = test_set.select(lp=canonical_lp(lp))
    records = tuple(r for r in reader.records if r.lp in test_set.lps) if has_marks else None
    return Wmt25File(test_set=test_set, records=records, met=+(reader.met + unread))


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The heading, then every row, by the names of the columns; with the line where it ends."""
    lines = csv.reader(io.StringIO(read_text(path), newline=""), delimiter="\t", strict=True)
    try:
        heading = next(lines, [])
        yield 1, dict.fromkeys(heading, "")
        for row in lines:
            if len(row) != len(heading):
                what = f"wanted {len(heading)} columns, got {len(row)}"
                raise DataError(what, path=path, line=lines.line_num)
            yield lines.line_num, dict(zip(heading, row, strict=True))
    except csv.Error as error:
        raise DataError(f"not a table by tabs: {error}", path=path, line=lines.line_num) from error


def _check_heading(heading: Sequence[str], path: Path) -> tuple[bool, Counter[str]]:
    """Whether errors are marked, and the columns that nobody reads."""
    marked = [name for name in MARKS if name in heading]
    wanted = (*TEXTS, *(MARKS if marked else ()))
    if lacking := [name for name in wanted if name not in heading]:
        raise DataError(f"a table of WMT25 without the columns {', '.join(lacking)}", path=path)
    others = [name for name in heading if name not in wanted]
    return bool(marked), Counter({f"columns that are not read: {', '.join(others)}": len(others)})


class _Reader:
    """Reads the rows of one file."""

    def __init__(self, path: Path, name: str) -> None:
        self.segments: dict[tuple[str, str], Segment] = {}
        self.records: list[Annotation] = []
        self.met: Counter[str] = Counter()
        self._path = path
        self._name = name

    def add(self, row: Mapping[str, str], line: int, *, has_marks: bool) -> None:
        """Read one translation."""
        lp = canonical_lp(f"{row['source_lang']}-{row['target_lang']}")
        alone = _segment(row, lp)
        known = self.segments.setdefault((lp, alone.segment), alone)
        system, text = row["system_id"], row["hypothesis_segment"]
        where = f"segment {alone.segment!r} of {lp}"
        if replace(known, translations={}) != alone:
            raise DataError(f"{where} is not the same in two rows", path=self._path, line=line)
        if system in known.translations:
            raise DataError(f"{where} by {system!r} is there twice", path=self._path, line=line)
        self.segments[lp, alone.segment] = replace(known, translations={**known.translations, system: text})
        if has_marks and row["error_types"].strip():
            self.records.append(
                Annotation(
                    lp=lp,
                    segment=alone.segment,
                    system=system,
                    annotator=self._name,
                    protocol="mqm",
                    document=alone.document,
                    spans=tuple(self._spans(row, text, line)),
                )
            )

    def _spans(self, row: Mapping[str, str], text: str, line: int) -> Iterator[ErrorSpan]:
        starts, ends, kinds = (row[name].split() for name in MARKS)
        if kinds == [CLEAN]:
            return
        if not len(starts) == len(ends) == len(kinds):
            counts = f"{len(starts)} starts, {len(ends)} ends and {len(kinds)} types"
            raise DataError(f"a row has {counts} of errors", path=self._path, line=line)
        for start, end, kind in zip(starts, ends, kinds, strict=True):
            yield self._span(text, (start, end), kind, line)

    def _span(self, text: str, place: tuple[str, str], kind: str, line: int) -> ErrorSpan:
        severity = find_severity(kind)
        note = UNDECIDED_MARK if kind == UNDECIDED_MARK else ""
        if severity is None and not note:
            what = f"an error is minor, major, critical or undecided, got {kind!r}"
            raise DataError(what, path=self._path, line=line)
        if place == (MISSING, MISSING):
            return ErrorSpan(severity=severity or "neutral", category=OMISSION, match="unplaced", note=note)
        if not all(number.isdecimal() for number in place):
            what = f"a place is two numbers, or {MISSING} twice, got {' and '.join(place)}"
            raise DataError(what, path=self._path, line=line)
        start, end = int(place[0]), int(place[1])
        if start > end or end > len(text):
            self.met["marks beyond the translation, without a place"] += 1
            return ErrorSpan(severity=severity or "neutral", match="unplaced", note=note)
        return ErrorSpan(
            severity=severity or "neutral", start=start, end=end, text=text[start:end], note=note
        )


def _segment(row: Mapping[str, str], lp: str) -> Segment:
    """The segment of a row, without its translation."""
    reference = row["reference_segment"]
    return Segment(
        segment=row["segment_id"],
        lp=lp,
        source=row["source_segment"],
        references={} if reference in {"", NO_REFERENCE} else {_REFERENCE: reference},
        document=row["doc_id"],
        domain=row["domain_name"],
        meta={name: row[name] for name in META if row[name]},
    )
