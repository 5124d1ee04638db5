"""Marked errors as WMT25's table, `predictions.tsv` of its second task; read back, they are equal."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from adjudge.core.annotation import Annotation, ErrorSpan, Failure, Record
from adjudge.core.segment import Segment, TestSet
from adjudge.data.appraise import MISSING
from adjudge.data.appraise_records import UNDECIDED_MARK
from adjudge.data.files import write_text
from adjudge.data.wmt25 import CLEAN, MARKS, META, NO_REFERENCE, NOWHERE, OMISSION, TEXTS
from adjudge.errors import DataError, UsageError

__all__ = ["write_wmt25"]

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
            table.writerow([*_texts(segment, system), *_marks(found, left_out)])
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


def _marks(annotation: Annotation | None, left_out: Counter[str]) -> tuple[str, str, str]:
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
