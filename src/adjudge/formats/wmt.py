"""Marked errors as WMT25's table, `predictions.tsv` of its second task; read back, they are equal."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from adjudge.core.language import canonical_lp
from adjudge.core.record import Annotation, ErrorSpan, Failure, Record
from adjudge.core.segment import Segment, TestSet
from adjudge.core.typology import find_severity
from adjudge.errors import DataError, UsageError
from adjudge.formats.appraise import MISSING, UNDECIDED_MARK, place_of
from adjudge.store.files import Fields, read_json_lines, read_text, write_text

__all__ = ["MARKS", "TEXTS", "read_wmt25", "read_wmt25_jsonl", "write_wmt25"]


# WMT25's table of texts and marked errors, as its evaluation tasks give it out and take it in.


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


# Segments of WMT25's general task with what people said of them: `wmt25-genmt-humeval.jsonl`.


_REFERENCE_KEY: Final = re.compile(r"ref[A-Z]?")
_ROUND: Final = re.compile(r"human([0-9]+)")
_PARTS: Final = 4
_TEXTS: Final = frozenset({"doc_id", "src_text", "tgt_text", "scores"})


@dataclass(frozen=True, kw_only=True)
class Wmt25Judged:
    """All that one file says.

    Args:
        test_set: the texts; a reference is a translation, too, since people judged it as one.
        records: one annotation a translation and annotator, in file order; None where nobody judged.
        met: what was odd, and how often.
    """

    test_set: TestSet
    records: tuple[Annotation, ...] | None = None
    met: Counter[str] = field(default_factory=Counter)


def read_wmt25_jsonl(path: Path | str, lp: str | None = None) -> Wmt25Judged:
    """Read a file; somebody who judged a translation in a second round, too, is `NAME:2` there.

    Args:
        path: the file.
        lp: keep this language pair only.

    Raises:
        DataError: a line is no such object, or a rating or a mark is none; says which line.
        UsageError: no such language pair.
    """
    path, wanted = Path(path), None if lp is None else canonical_lp(lp)
    segments: list[Segment] = []
    records: list[Annotation] = []
    met: Counter[str] = Counter()
    for line, value in read_json_lines(path):
        if not isinstance(value, dict):
            raise DataError(f"wanted an object, got {value!r}", path=path, line=line)
        fields = Fields(value, "WMT25", path, line)
        segment = _segment_of_line(fields)
        segments.append(segment)
        if wanted in {None, segment.lp}:
            records += _annotations(fields, segment, met)
    test_set = TestSet(name=path.name.split(".")[0], segments=tuple(segments))
    if wanted is not None:
        test_set = test_set.select(lp=wanted)
    return Wmt25Judged(test_set=test_set, records=tuple(records) or None, met=+met)


def _segment_of_line(fields: Fields) -> Segment:
    name = fields.text("doc_id")
    parts = name.split("_#_")
    if len(parts) < _PARTS:
        fields.fail(f"'doc_id' is LP_#_DOMAIN_#_DOCUMENT_#_NUMBER, got {name!r}")
    try:
        lp = canonical_lp(parts[0])
    except UsageError as error:
        fields.fail(str(error))
    texts = fields.text_mapping("tgt_text")
    return Segment(
        segment=name,
        lp=lp,
        source=fields.text("src_text"),
        translations=texts,
        references={key: text for key, text in texts.items() if _REFERENCE_KEY.fullmatch(key)},
        document="_#_".join(parts[2:-1]),
        domain=parts[1],
        meta={key: value for key, value in fields.values.items() if key not in _TEXTS},
    )


def _annotations(fields: Fields, segment: Segment, met: Counter[str]) -> Iterator[Annotation]:
    """What everybody said of every translation of a segment."""
    for system, said in fields.mapping("scores").items():
        if system not in segment.translations:
            fields.fail(f"{system!r} has scores and no translation")
        taken: Counter[str] = Counter()
        for judged, number in _rounds(said, fields):
            if not judged.has(f"human{number}"):
                met["judgements without a rating, left out"] += 1
                continue
            person = judged.text(f"annotator{number}")
            taken[person] += 1
            spans = [
                _span(mark, segment.translations[system], judged, met) for mark in _marks(judged, number)
            ]
            try:
                yield Annotation(
                    lp=segment.lp,
                    segment=segment.segment,
                    system=system,
                    annotator=person if taken[person] == 1 else f"{person}:{taken[person]}",
                    protocol="esa",
                    document=segment.document,
                    rating=judged.number(f"human{number}"),
                    spans=tuple(span for span, _ in spans),
                    flags=tuple(sorted({odd for _, odd in spans if odd})),
                )
            except DataError as error:
                judged.fail(str(error))


def _rounds(said: object, fields: Fields) -> Iterator[tuple[Fields, str]]:
    """Each judgement of a translation, and the number behind its keys."""
    if isinstance(said, dict):
        judged = Fields(said, "scores", fields.path, fields.line)
        yield from ((judged, found[1]) for key in said if (found := _ROUND.fullmatch(key)))
    elif isinstance(said, list) and all(isinstance(each, dict) for each in said):
        yield from ((Fields(each, "scores", fields.path, fields.line), "") for each in said)
    else:
        fields.fail(f"scores of a system are an object, or a list of them; got {said!r}")


def _marks(judged: Fields, number: str) -> list[dict[str, Any]]:
    marks = judged.values.get(f"errors{number}", [])
    if not isinstance(marks, list) or not all(isinstance(mark, dict) for mark in marks):
        judged.fail(f"'errors{number}' must be a list of objects, got {marks!r}")
    return marks


def _span(mark: dict[str, Any], text: str, judged: Fields, met: Counter[str]) -> tuple[ErrorSpan, str]:
    """One error, and what is odd about its place."""
    start, end, kind = (mark.get(key) for key in ("start_i", "end_i", "severity"))
    severity = find_severity(kind) if isinstance(kind, str) else None
    note = UNDECIDED_MARK if kind == UNDECIDED_MARK else ""
    if severity is None and not note:
        judged.fail(f"a severity must be minor, major, critical or undecided, got {kind!r}")
    severity = severity or "neutral"
    if MISSING in {start, end}:
        return ErrorSpan(severity=severity, category=OMISSION, match="unplaced", note=note), ""
    if type(start) is not int or type(end) is not int or start < 0:
        judged.fail(f"a place is two whole numbers from 0, or {MISSING!r}; got {start!r} and {end!r}")
    place = place_of(text, start, end)
    if place.start is None or place.end is None:
        met["marks beyond the translation, without a place"] += 1
        return ErrorSpan(severity=severity, match="unplaced", note=note), place.odd
    marked = text[place.start : place.end]
    return ErrorSpan(severity=severity, start=place.start, end=place.end, text=marked, note=note), place.odd


_SET: Final = "official"

Key = tuple[str, str, str]


def write_wmt25(path: Path | str, records: Iterable[Record], test_set: TestSet) -> Counter[str]:
    """Write what one annotator marked, a row each translation, system by system.

    Args:
        path: the file.
        records: annotations; a translation without one has empty cells.
        test_set: the texts.

    Returns:
        What the table cannot hold and how often it was left out.

    Raises:
        DataError: a judgement of a text that is not there, or two of the same translation.
        UsageError: several annotators.
    """
    left_out: Counter[str] = Counter()
    judged = _by_translation(records, left_out)
    text = io.StringIO(newline="")
    table = csv.writer(text, delimiter="\t", lineterminator="\n")
    table.writerow([*TEXTS, *MARKS])
    for segment, system in ((s, name) for name in test_set.systems for s in test_set):
        if system in segment.translations:
            found = judged.pop((segment.lp, segment.segment, system), None)
            table.writerow([*_texts(segment, system), *_written_marks(found, left_out)])
    if judged:
        lp, name, system = next(iter(judged))
        raise DataError(f"the records judge segment {name!r} of {lp} by {system!r}, which is not there")
    write_text(Path(path), [text.getvalue()])
    left_out["further references"] += sum(max(len(s.references) - 1, 0) for s in test_set)
    left_out["segments whose meta"] += sum(bool(s.meta.keys() - set(META)) for s in test_set)
    return +left_out


def _by_translation(records: Iterable[Record], left_out: Counter[str]) -> dict[Key, Annotation]:
    found: dict[Key, Annotation] = {}
    annotators: set[str] = set()
    for record in records:
        if not isinstance(record, Annotation):
            left_out["failures" if isinstance(record, Failure) else "preferences"] += 1
            continue
        annotators.add(record.annotator)
        if len(annotators) > 1:
            both = " and ".join(map(repr, sorted(annotators)))
            raise UsageError(f"a table of WMT25 is by one annotator, got {both}: add --annotator")
        if found.setdefault((record.lp, record.segment, record.system), record) is not record:
            what = f"segment {record.segment!r} by {record.system!r}"
            raise DataError(f"{record.annotator!r} judged {what} twice; the table holds one judgement")
    return found


def _texts(segment: Segment, system: str) -> Iterator[str]:
    source, _, target = segment.lp.partition("-")
    said: Mapping[str, object] = {
        "doc_id": segment.document,
        "segment_id": segment.segment,
        "source_lang": source,
        "target_lang": target,
        "set_id": segment.meta.get("set_id", _SET),
        "system_id": system,
        "source_segment": segment.source,
        "hypothesis_segment": segment.translations[system],
        "reference_segment": next(iter(segment.references.values()), NO_REFERENCE),
        "domain_name": segment.domain,
        "method": segment.meta.get("method", ""),
    }
    return (str(said[name]) for name in TEXTS)


def _written_marks(annotation: Annotation | None, left_out: Counter[str]) -> tuple[str, str, str]:
    if annotation is None:
        left_out["translations that nobody judged, their cells are empty"] += 1
        return "", "", ""
    left_out["ratings"] += annotation.rating is not None
    kept = [mark for span in annotation.spans if (mark := _mark(span, left_out)) is not None]
    starts, ends, kinds = zip(*kept, strict=True) if kept else ((NOWHERE,), (NOWHERE,), (CLEAN,))
    return " ".join(starts), " ".join(ends), " ".join(kinds)


def _mark(span: ErrorSpan, left_out: Counter[str]) -> tuple[str, str, str] | None:
    """Start, end and type of an error; None where the table has no place for it."""
    kind = UNDECIDED_MARK if span.note == UNDECIDED_MARK else span.severity
    if kind == "neutral":
        left_out["neutral marks"] += 1
    elif span.side == "source":
        left_out["errors of the source"] += 1
    elif span.start is not None:
        left_out["categories of errors"] += span.category is not None or span.label is not None
        return str(span.start), str(span.end), kind
    elif span.category == OMISSION:
        return MISSING, MISSING, kind
    else:
        left_out["errors without a place"] += 1
    return None
