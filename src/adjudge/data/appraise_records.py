"""Appraise's exports as annotations: inclusive UTF-16 ends become half-open code points, once, here.

What is no judgement of a translation is left out and counted: tutorials, damaged copies, earlier submissions
of an item. Of several submissions the one that ended last counts, and of those that ended together the later
row. A mark that was being removed (`undecided`) costs nothing: it is neutral and its note says so.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from adjudge.core.annotation import DUPLICATE, Annotation, ErrorSpan
from adjudge.core.segment import Segment, TestSet
from adjudge.core.typology import Severity, find_severity
from adjudge.data.appraise import AppraiseRow, AppraiseSpan, read_appraise
from adjudge.data.appraise_batches import ITEMS, batches_test_set, read_batches
from adjudge.data.appraise_places import Place, place_of
from adjudge.data.labels import read_label
from adjudge.errors import AdjudgeError, DataError

__all__ = [
    "UNDECIDED_MARK",
    "AppraiseRecords",
    "annotation_of",
    "find_batch_file",
    "find_batches",
    "last_submissions",
    "names_items",
    "not_shown",
    "protocol_of",
    "read_appraise_records",
    "read_span",
    "row_error",
    "shown_twice",
]

UNDECIDED_MARK: Final = "undecided"
"""Severity of a mark that was being removed when it was stored; the note of the neutral span made of it."""

_OMISSION: Final = "accuracy/omission"

_Item = tuple[int, int, str]
"""Batch, number and document."""


@dataclass(frozen=True, kw_only=True)
class AppraiseRecords:
    """What one export says of translations.

    Args:
        records: one annotation a person and item, in file order.
        met: what was left out or odd, and how often.
    """

    records: tuple[Annotation, ...]
    met: Counter[str] = field(default_factory=Counter)


def find_batch_file(path: Path | str) -> Path | None:
    """The batches of an export: `batches-STEM.json` beside it, or the only `batches*.json` there."""
    own = Path(path).with_name(f"batches-{Path(path).stem}.json")
    found = [own] if own.exists() else [*Path(path).parent.glob("batches*.json")]
    return found[0] if len(found) == 1 else None


def find_batches(path: Path | str) -> TestSet | None:
    """The texts of an export's batches; None where `find_batch_file` finds none."""
    found = find_batch_file(path)
    return None if found is None else batches_test_set(read_batches(found), found.stem)


def names_items(test_set: TestSet) -> bool:
    """Whether a test set was made of batches, and says which item shows which segment."""
    return any(ITEMS in segment.meta for segment in test_set)


def last_submissions(rows: Iterable[AppraiseRow]) -> list[AppraiseRow]:
    """The last submission of each item of each login, by its end; of equal ends the later row."""
    last: dict[tuple[str, int, str, str, str], AppraiseRow] = {}
    for row in rows:
        key = (row.login, row.item, row.document, row.target, row.kind)
        if key not in last or row.end >= last[key].end:
            last[key] = row
    return list(last.values())


def read_appraise_records(path: Path | str, test_set: TestSet) -> AppraiseRecords:
    """Read an export as annotations.

    Args:
        path: the export.
        test_set: of its batches, as `batches_test_set` makes it.

    Raises:
        DataError: a row is none, or about an item that the batches do not have.
    """
    path = Path(path)
    rows = read_appraise(path).rows
    shown = _items(test_set)
    met: Counter[str] = Counter()
    met["rows of tutorials, left out"] = sum(row.is_tutorial for row in rows)
    met["rows of damaged translations, left out"] = sum(row.kind == "BAD" for row in rows)
    judged = [row for row in rows if row.kind == "TGT" and not row.is_tutorial]
    last = last_submissions(judged)
    met["earlier submissions of an item, left out"] = len(judged) - len(last)
    protocol = protocol_of(judged)
    records = []
    for row in last:
        try:
            segment, system = _find(shown, row)
            records.append(annotation_of(row, segment, system, protocol, met))
        except AdjudgeError as error:
            raise row_error(row, error, path) from error
    return AppraiseRecords(records=tuple(records), met=+met)


def row_error(row: AppraiseRow, error: AdjudgeError, path: Path) -> DataError:
    """What is wrong with a row, with whose it is."""
    return DataError(f"{row.login!r}, item {row.item}: {error}", path=path)


def not_shown(row: AppraiseRow) -> DataError:
    """That no batch has the item of a row."""
    what = f"item {row.item} of batch {row.batch}, document {row.document!r}, by {row.target!r}"
    return DataError(f"no batch shows {what}")


def shown_twice(batch: int, item: int, document: str) -> DataError:
    """That two batches of one number have an item, so that nobody knows which of the two was judged."""
    what = f"item {item} of batch {batch}, document {document!r}, is shown by two batches"
    return DataError(f"{what}: give each batch a batchNo of its own")


def protocol_of(rows: Iterable[AppraiseRow]) -> str:
    """Mqm where every score is 0, as Appraise writes it, unless no mark that people made has a type."""
    judged = [row for row in rows if not row.is_tutorial]
    marks = [span for row in judged for span in row.spans if not span.is_given]
    has_no_types = bool(marks) and not any(span.error_type for span in marks)
    return "esa" if has_no_types or any(row.score for row in judged) else "mqm"


def _items(test_set: TestSet) -> Mapping[_Item, Mapping[str, Segment]]:
    """What is shown where, by system."""
    found: defaultdict[_Item, dict[str, Segment]] = defaultdict(dict)
    for segment in test_set:
        shown = cast("Mapping[str, Sequence[Sequence[Any]]]", segment.meta.get(ITEMS, {}))
        for system, places in shown.items():
            for batch, item, document in places:
                if found[batch, item, document].setdefault(system, segment) is not segment:
                    raise shown_twice(batch, item, document)
    if not found:
        raise DataError(
            f"{test_set.name!r} does not say which item shows which segment: give the campaign's batches"
        )
    return found


def _find(shown: Mapping[_Item, Mapping[str, Segment]], row: AppraiseRow) -> tuple[Segment, str]:
    """Segment and system of a row, whose target may name a test set before the system."""
    here = shown.get((row.batch, row.item, row.document), {})
    named = [system for system in here if f".{row.target}".endswith(f".{system}")]
    if not named:
        raise not_shown(row)
    system = max(named, key=len)
    return here[system], system


def annotation_of(
    row: AppraiseRow, about: Segment, system: str, protocol: str, met: Counter[str]
) -> Annotation:
    """What a row says of a translation.

    Args:
        row: the row.
        about: segment with the translation as it was shown.
        system: whose translation it is.
        protocol: esa or mqm.
        met: counts what is odd.
    """
    flags = {DUPLICATE} if row.is_duplicate else set()
    spans = []
    for span in row.spans:
        found, odd = read_span(span, about.translations[system])
        spans.append(found)
        if odd:
            flags.add(odd)
            met[f"spans with the flag {odd}"] += 1
    return Annotation(
        lp=about.lp,
        segment=about.segment,
        system=system,
        annotator=row.login,
        protocol=protocol,
        document=about.document,
        rating=row.score if protocol == "esa" else None,
        spans=tuple(spans),
        flags=tuple(sorted(flags)),
    )


def read_span(span: AppraiseSpan, text: str) -> tuple[ErrorSpan, str]:
    """An error span, and what was odd about its place; empty where nothing was.

    Args:
        span: as the file has it.
        text: the translation that it marks.

    Returns:
        Also `span_clipped` where a part of it lies beyond the text, `span_bad_offsets` where all of it does.
    """
    severity: Severity | None = find_severity(span.severity)
    note = UNDECIDED_MARK if span.severity == UNDECIDED_MARK else ""
    if severity is None and not note:
        raise DataError(f"a severity must be minor, major, critical or undecided, got {span.severity!r}")
    category, label = read_label("/".join(span.error_type))
    if span.is_missing and category is None and label is None:
        category = _OMISSION
    start, end, odd = Place(None, None)
    if span.start is not None and span.end is not None:
        start, end, odd = place_of(text, span.start, span.end)
    return ErrorSpan(
        severity=severity or "neutral",
        start=start,
        end=end,
        text="" if start is None else text[start:end],
        category=category,
        match="unplaced" if start is None else "exact",
        note=note,
        label=label,
    ), odd
