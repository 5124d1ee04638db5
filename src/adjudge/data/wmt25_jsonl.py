"""Segments of WMT25's general task with what people said of them: `wmt25-genmt-humeval.jsonl`.

A line is one segment: `doc_id` is `LP_#_DOMAIN_#_DOCUMENT_#_NUMBER`, `src_text` the source, `tgt_text` maps
systems to translations, references among them. `scores` maps systems to one object with `human1 errors1
annotator1` and the same of a second round, or, in the file of control tasks, to a list of `human errors
annotator`. Ratings are those of ESA. A place is UTF-16 units as Appraise's page counted them, its end
inclusive; `missing` has none. The task's description: https://github.com/wmt-conference/wmt25-general-mt.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from adjudge.core.annotation import Annotation, ErrorSpan
from adjudge.core.language import canonical_lp
from adjudge.core.segment import Segment, TestSet
from adjudge.core.typology import find_severity
from adjudge.data.appraise import MISSING
from adjudge.data.appraise_places import place_of
from adjudge.data.appraise_records import UNDECIDED_MARK
from adjudge.data.files import read_json_lines
from adjudge.data.shape import Fields
from adjudge.data.wmt25 import OMISSION
from adjudge.errors import DataError, UsageError

__all__ = ["Wmt25Judged", "read_wmt25_jsonl"]

_REFERENCE: Final = re.compile(r"ref[A-Z]?")
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
        segment = _segment(fields)
        segments.append(segment)
        if wanted in {None, segment.lp}:
            records += _annotations(fields, segment, met)
    test_set = TestSet(name=path.name.split(".")[0], segments=tuple(segments))
    if wanted is not None:
        test_set = test_set.select(lp=wanted)
    return Wmt25Judged(test_set=test_set, records=tuple(records) or None, met=+met)


def _segment(fields: Fields) -> Segment:
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
        references={key: text for key, text in texts.items() if _REFERENCE.fullmatch(key)},
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
