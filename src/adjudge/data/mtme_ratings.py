"""Error spans in mt-metrics-eval's `.seg.rating`: `SYSTEM<TAB>{"errors": [...]}` a line.

One line a system and segment, segments in order, `None` where nobody looked; a third column may name the
rater. Offsets are half-open code points, in the source where `is_source_error` says so. `None` is no record:
not judged is not clean. Every error states its score; it is written from named weights and compared with them
when read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeGuard

from adjudge.core.annotation import Annotation, ErrorSpan, Failure, Record, Side
from adjudge.core.segment import Segment, TestSet
from adjudge.core.typology import Weights, find_severity, find_weights
from adjudge.data.files import read_json, read_lines, write_lines
from adjudge.data.labels import read_label
from adjudge.data.mtme import find_lps, is_mtme_folder, read_mtme
from adjudge.data.shape import Fields, read_fields
from adjudge.data.text import single_lp
from adjudge.errors import DataError, UsageError

__all__ = ["RatingFile", "find_test_set", "rater_name", "read_ratings", "write_ratings"]

_ENDING: Final = ".seg.rating"
_ERROR_KEYS: Final = frozenset({"start", "end", "category", "severity", "score", "is_source_error"})
_WEIGHTS: Final = "mqm-google"


@dataclass(frozen=True, kw_only=True)
class RatingFile:
    """What one file says.

    Args:
        records: one annotation a translation that was judged, in file order.
        met: what was odd, and how often.
    """

    records: tuple[Annotation, ...]
    met: Counter[str] = field(default_factory=Counter)


def find_test_set(path: Path | str) -> TestSet | None:
    """The test set that a file in a folder's `human-scores` or `metric-scores` belongs to, if any."""
    path = Path(path).resolve()
    if path.parent.name == "human-scores":
        folder, name = path.parent.parent, path.name
    elif path.parent.parent.name == "metric-scores":
        folder, name = path.parent.parent.parent, f"{path.parent.name}."
    else:
        return None
    if not is_mtme_folder(folder):
        return None
    lp = next((lp for lp, stem in find_lps(folder).items() if name.startswith(f"{stem}.")), None)
    return None if lp is None else read_mtme(folder, lp)


def rater_name(path: Path | str, lp: str) -> str:
    """Annotator that a file's name tells: `mqm.rater1` of `zh-en.mqm.rater1.seg.rating`."""
    name = Path(path).name.removesuffix(".gz").removesuffix(_ENDING)
    return name.removeprefix(f"{lp}.") or "mqm"


def read_ratings(path: Path | str, test_set: TestSet) -> RatingFile:
    """Read a file.

    Args:
        path: the file.
        test_set: the segments that its lines are about, of one language pair.

    Raises:
        DataError: a line is no rating, or a system has not as many lines as there are segments.
        UsageError: the test set has several language pairs.
    """
    path = Path(path)
    rater = rater_name(path, single_lp(test_set))
    reader = _Reader(path, rater, find_weights(_WEIGHTS))
    lines: Counter[str] = Counter()
    records = []
    for number, line in enumerate(read_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) not in {2, 3}:
            raise DataError(f"wanted 2 or 3 columns, got {len(columns)}", path=path, line=number)
        system, rating = columns[0], columns[1]
        if lines[system] >= len(test_set):
            raise DataError(
                f"{system!r} has more lines than the {len(test_set)} segments", path=path, line=number
            )
        segment = test_set.segments[lines[system]]
        lines[system] += 1
        if rating != "None":
            named = columns[2] if len(columns) == 3 else rater
            records.append(reader.annotation(segment, system, named, rating, number))
    for system, count in lines.items():
        if count != len(test_set):
            raise DataError(f"{system!r} has {count} lines, there are {len(test_set)} segments", path=path)
    unknown = set(lines) - set(test_set.systems)
    reader.met["systems whose translations are not there, so that spans have no text"] += len(unknown)
    return RatingFile(records=tuple(records), met=+reader.met)


class _Reader:
    def __init__(self, path: Path, rater: str, weights: Weights) -> None:
        self.path = path
        self.rater = rater
        self.weights = weights
        self.met: Counter[str] = Counter()

    def annotation(self, segment: Segment, system: str, rater: str, rating: str, line: int) -> Annotation:
        """Read the rating of one translation."""
        value = read_json(rating, path=self.path, line=line)
        fields = read_fields(value, frozenset({"errors"}), "rating", self.path, line)
        errors = fields.values.get("errors")
        if not isinstance(errors, list):
            fields.fail(f"'errors' must be a list, got {errors!r}")
        texts: dict[Side, str | None] = {
            "source": segment.source,
            "translation": segment.translations.get(system),
        }
        flags: set[str] = set()
        spans = [
            self._span(read_fields(e, _ERROR_KEYS, "error", self.path, line), texts, flags) for e in errors
        ]
        return Annotation(
            lp=segment.lp,
            segment=segment.segment,
            system=system,
            annotator=rater,
            protocol="mqm",
            document=segment.document,
            spans=tuple(spans),
            flags=tuple(sorted(flags)),
        )

    def _span(self, fields: Fields, texts: dict[Side, str | None], flags: set[str]) -> ErrorSpan:
        severity = find_severity(fields.text("severity"))
        if severity is None:
            fields.fail(f"unknown severity {fields.values['severity']!r}")
        category, label = read_label(fields.optional_text("category") or "")
        if label is not None and category is None:
            flags.add("category_unknown")
            self.met["categories that no year has, kept as label"] += 1
        self._compare(fields, self.weights.points(severity, category))
        side: Side = "source" if fields.values.get("is_source_error") is True else "translation"
        start, end, text = fields.values.get("start"), fields.values.get("end"), texts[side]
        if not _is_index(start) or not _is_index(end):
            fields.fail(f"'start' and 'end' must be whole numbers, got {start!r} and {end!r}")
        placed = 0 <= start <= end and (text is None or end <= len(text))
        if not placed:
            flags.add("span_bad_offsets")
            self.met["errors whose offsets are no place in their text"] += 1
        elif start == end:
            flags.add("span_empty")
            self.met["errors recorded without marked words (start is end), which count all the same"] += 1
        return ErrorSpan(
            severity=severity,
            start=start if placed else None,
            end=end if placed else None,
            text=text[start:end] if placed and text is not None else "",
            category=category,
            side=side,
            match="exact" if placed else "unplaced",
            note="" if placed or start == end == -1 else f"offsets {start} to {end}",
            label=label,
        )

    def _compare(self, fields: Fields, points: float) -> None:
        score = fields.number("score")
        if score is not None and score != points:
            self.met[f"errors whose stated score is not that of {self.weights.name} weights"] += 1


def _is_index(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


# Writing...


def write_ratings(
    path: Path | str, records: Iterable[Record], test_set: TestSet, weights: str = _WEIGHTS
) -> Counter[str]:
    """Write the error spans of one language pair, `None` where nothing was judged.

    Args:
        path: the file; the rater that its name tells needs no column.
        records: annotations, at most one a translation.
        test_set: segments in the order of the lines; systems that nobody judged come last.
        weights: named weights that give each error its score.

    Returns:
        What the format cannot hold and how often it was left out.

    Raises:
        DataError: a translation was judged twice, or is not in the test set.
    """
    path, lp = Path(path), single_lp(test_set)
    left_out: Counter[str] = Counter()
    found: dict[tuple[str, str], Annotation] = {}
    for record in records:
        if record.lp != lp:
            left_out["records of other language pairs"] += 1
        elif not isinstance(record, Annotation):
            left_out["failures" if isinstance(record, Failure) else "preferences"] += 1
        elif found.setdefault((record.system, record.segment), record) is not record:
            what = f"{record.system!r} of segment {record.segment!r}"
            raise UsageError(
                f"{what} was judged twice; a rating file holds one judgement: choose --annotator"
            )
    systems = list(dict.fromkeys([*(system for system, _ in found), *test_set.systems]))
    known = {s.segment for s in test_set}
    for system, segment in found:
        if segment not in known:
            raise DataError(f"the test set has no segment {segment!r}, which was judged for {system!r}")
    writer = _Writer(rater_name(path, lp), find_weights(weights), left_out)
    write_lines(path, writer.lines(systems, test_set, found))
    return +left_out


class _Writer:
    def __init__(self, rater: str, weights: Weights, left_out: Counter[str]) -> None:
        self.rater = rater
        self.weights = weights
        self.left_out = left_out

    def lines(
        self, systems: list[str], test_set: TestSet, found: dict[tuple[str, str], Annotation]
    ) -> Iterator[str]:
        """Render every line."""
        for system in systems:
            if len(system.split()) != 1:
                raise DataError(f"a system in a rating file has no white space in its name, got {system!r}")
            for segment in test_set:
                annotation = found.get((system, segment.segment))
                yield f"{system}\tNone" if annotation is None else self._line(annotation)

    def _line(self, annotation: Annotation) -> str:
        rater = annotation.annotator
        self.left_out["ratings"] += annotation.rating is not None
        self.left_out["rationales"] += annotation.rationale is not None
        self.left_out["counts of errors"] += bool(annotation.counts)
        if "\t" in rater or "\n" in rater:
            raise DataError(f"a tab or a line end in the annotator's name {rater!r}")
        errors = [self._error(span) for span in annotation.spans]
        line = f"{annotation.system}\t{json.dumps({'errors': errors}, ensure_ascii=False)}"
        return line if rater == self.rater else f"{line}\t{rater}"

    def _error(self, span: ErrorSpan) -> dict[str, object]:
        self.left_out["notes on errors"] += bool(span.note)
        self.left_out["places of errors, written as -1"] += span.start is None
        points = self.weights.points(span.severity, span.category)
        return {
            "start": -1 if span.start is None else span.start,
            "end": -1 if span.end is None else span.end,
            "category": span.label or span.category,
            "severity": span.severity,
            "score": int(points) if points == int(points) else points,
            "is_source_error": span.side == "source",
        }
