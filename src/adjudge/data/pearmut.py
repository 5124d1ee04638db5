"""Pearmut's campaigns: one JSON with what is shown, from which a campaign there starts.

`data` holds documents, each a list of items with a source and a text of each model; in a task-based campaign
tasks hold the documents, by number or, once it runs, by user. Ends of spans are inclusive and offsets count
UTF-16 units of the whole text; an offset behind the text is one of the words shown after it, `[missing]`
usually.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from adjudge.core.annotation import ErrorSpan
from adjudge.core.language import canonical_lp
from adjudge.core.segment import Segment, TestSet
from adjudge.core.typology import find_severity
from adjudge.data.appraise_records import UNDECIDED_MARK
from adjudge.data.files import read_json_file, write_text
from adjudge.data.labels import read_label, render_label
from adjudge.data.shape import Fields
from adjudge.data.units import code_points, code_units
from adjudge.errors import DataError, UsageError

__all__ = [
    "PearmutCampaign",
    "PearmutItem",
    "find_lp",
    "pearmut_campaign_of",
    "pearmut_test_set",
    "read_item",
    "read_pearmut",
    "read_spans",
    "render_spans",
    "write_pearmut",
]

_PART: Final = "_#_"
_OMISSION: Final = "accuracy/omission"


@dataclass(frozen=True, kw_only=True)
class PearmutItem:
    """One source with its translations.

    Args:
        segment: its `item_id`, or a digest of its source where it has none.
        document: what its id says of it; empty where it says nothing.
        source: text; empty where there is none.
        reference: text, or None.
        texts: model to text.
        is_check: whether it says what a careful person would answer.
        values: everything that the file says.
    """

    segment: str
    document: str
    source: str
    reference: str | None
    texts: Mapping[str, str]
    is_check: bool
    values: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class PearmutCampaign:
    """One campaign: `values` is the whole file, `documents` the items that are to be judged."""

    name: str
    values: Mapping[str, Any]
    documents: tuple[tuple[PearmutItem, ...], ...]


def read_pearmut(path: Path | str) -> PearmutCampaign:
    """Read a campaign.

    Raises:
        DataError: it is none; says what is wrong with it.
    """
    path = Path(path)
    found = read_json_file(path)
    if not isinstance(found, dict) or "campaign_id" not in found or "data" not in found:
        raise DataError("wanted a JSON object with campaign_id, info and data", path=path)
    fields = Fields(found, "campaign", path)
    documents = _documents(found["data"], fields)
    return PearmutCampaign(
        name=fields.text("campaign_id"),
        values=found,
        documents=tuple(tuple(read_item(item, path) for item in items) for items in documents),
    )


def _documents(data: object, fields: Fields) -> list[list[object]]:
    """Documents, whether they stand in tasks or not; forms that ask for something else are passed over."""
    parts: deque[object] = deque(data.values() if isinstance(data, dict) else [data])
    found: list[list[object]] = []
    while parts:
        part = parts.popleft()
        if not isinstance(part, list):
            fields.fail(f"'data' must hold lists of documents, got {part!r:.80}")
        if any(isinstance(item, list) for item in part):
            parts.extendleft(reversed(part))
        elif part and not all(isinstance(item, dict) and "form" in item for item in part):
            found.append(part)
    return found


def read_item(value: object, path: Path | None = None, line: int | None = None) -> PearmutItem:
    """Read an item.

    Raises:
        DataError: it is none.
    """
    if not isinstance(value, dict):
        raise DataError(f"an item must be a JSON object, got {value!r:.80}", path=path, line=line)
    fields = Fields(value, "item", path, line)
    texts = fields.text_mapping("tgt")
    if not texts:
        fields.fail("'tgt' must say a text of one model at least")
    segment = fields.optional_text("item_id") or _digest(value)
    before, _, _ = segment.rpartition(_PART)
    return PearmutItem(
        segment=segment,
        document=fields.optional_text("doc_id") or before,
        source=fields.optional_text("src") or "",
        reference=fields.optional_text("ref"),
        texts=texts,
        is_check=bool(fields.mapping("validation")),
        values=value,
    )


def _digest(item: Mapping[str, Any]) -> str:
    """A name for an item without one: the same for the same source, whatever its translations."""
    kept = {key: item.get(key) for key in ("src", "ref", "instructions")}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:12]


def find_lp(name: str, wanted: str | None = None) -> str:
    """The language pair: the one wanted, or the part of a campaign's name that is one.

    Raises:
        UsageError: neither says it.
    """
    for part in [wanted] if wanted is not None else reversed(name.split(_PART)):
        try:
            return canonical_lp(part)
        except UsageError:
            if part == wanted:
                raise
    raise UsageError(f"campaign {name!r} does not say its language pair: add --lp, such as --lp en-de")


def pearmut_test_set(campaign: PearmutCampaign, lp: str | None = None) -> TestSet:
    """The texts of a campaign, one segment an item, without those that are checks.

    Raises:
        DataError: an item's source or translation is another one elsewhere.
        UsageError: neither the name of the campaign nor `lp` says the language pair.
    """
    lp = find_lp(campaign.name, lp)
    found: dict[str, Segment] = {}
    for number, items in enumerate(campaign.documents, start=1):
        for item in items:
            if not item.is_check:
                document = item.document or str(number)
                found[item.segment] = _joined(found.get(item.segment), item, lp, document)
    return TestSet(name=campaign.name, segments=tuple(found.values()))


def _joined(before: Segment | None, item: PearmutItem, lp: str, document: str) -> Segment:
    texts = {**item.texts, **(before.translations if before else {})}
    is_same = before is None or before.source == item.source
    if not is_same or any(texts[model] != text for model, text in item.texts.items()):
        raise DataError(f"item {item.segment!r} stands in the campaign with two different texts")
    return Segment(
        segment=item.segment,
        lp=lp,
        source=item.source,
        translations=texts,
        references={} if item.reference is None else {"ref": item.reference},
        document=before.document if before else document,
    )


def write_pearmut(path: Path | str, values: Mapping[str, Any]) -> None:
    """Write a campaign: everything that `read_pearmut` found, or what `pearmut_campaign_of` made.

    Raises:
        DataError: it cannot be written.
    """
    write_text(Path(path), [json.dumps(values, indent=2, ensure_ascii=False), "\n"])


def pearmut_campaign_of(test_set: TestSet) -> dict[str, Any]:
    """A campaign that shows every document of every system, whatever is next to each person (ESA).

    Raises:
        UsageError: several language pairs.
    """
    if len(test_set.lps) != 1:
        raise UsageError(f"a campaign of Pearmut has one language pair, got {', '.join(test_set.lps)}")
    documents: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for segment in test_set:
        for system, text in segment.translations.items():
            item = {"item_id": segment.segment, "doc_id": segment.document, "src": segment.source}
            reference = next(iter(segment.references.values()), None)
            refs = {} if reference is None else {"ref": reference}
            documents.setdefault((segment.document or segment.segment, system), []).append(
                {**item, **refs, "tgt": {system: text}}
            )
    info = {"assignment": "single-stream", "protocol": "ESA"}
    name = f"{test_set.name}{_PART}{test_set.lps[0]}"
    return {"info": info, "campaign_id": name, "data": [*documents.values()]}


# Spans...


def read_spans(values: object, text: str, where: Fields) -> tuple[ErrorSpan, ...]:
    """Read spans.

    Args:
        values: list as the file has it, or None for an empty one.
        text: that they mark.
        where: for errors.

    Raises:
        DataError: it is no list of spans.
    """
    if values is not None and not isinstance(values, list):
        where.fail(f"'error_spans' must be a list, got {values!r:.80}")
    return tuple(_spans(values or (), text, where))


def _spans(values: Sequence[Any], text: str, where: Fields) -> Iterator[ErrorSpan]:
    units = code_units(text, len(text))
    for value in values:
        if not isinstance(value, dict):
            where.fail(f"a span must be a JSON object, got {value!r:.80}")
        fields = Fields(value, "span", where.path, where.line)
        first, last = fields.whole("start_i"), fields.whole("end_i")
        if first is None or last is None or last < first:
            fields.fail(f"wanted 'start_i' and an 'end_i' not before it, got {first!r} and {last!r}")
        named = fields.optional_text("severity")
        severity = "neutral" if named is None else find_severity(named)
        if severity is None:
            fields.fail(f"severity must be one of neutral, minor, major, critical; got {named!r}")
        category, label = read_label(fields.optional_text("category") or "")
        is_missing = first >= units
        if is_missing and category is None and label is None:
            category = _OMISSION
        start, end = (None, None) if is_missing else code_points(text, first, min(last + 1, units))
        yield ErrorSpan(
            severity=severity,
            start=start,
            end=end,
            text="" if start is None else text[start:end],
            category=category,
            match="unplaced" if start is None else "exact",
            note="" if named else UNDECIDED_MARK,
            label=label,
        )


def render_spans(spans: Sequence[ErrorSpan], text: str, *, has_categories: bool) -> list[dict[str, Any]]:
    """Spans as Pearmut has them; what it cannot hold (marks of the source or of nothing) is left out."""
    return [
        _rendered(span, text, has_categories=has_categories)
        for span in spans
        if span.side == "translation" and (span.start is None or span.start != span.end)
    ]


def _rendered(span: ErrorSpan, text: str, *, has_categories: bool) -> dict[str, Any]:
    units = code_units(text, len(text))
    at = (units, units)
    if span.start is not None and span.end is not None:
        at = code_units(text, span.start), code_units(text, span.end) - 1
    is_plain = span.start is None and span.category == _OMISSION and span.label is None
    label = render_label(span.category, span.label) if has_categories or not is_plain else ""
    severity = None if span.note == UNDECIDED_MARK else span.severity
    return {"start_i": at[0], "end_i": at[1], "category": label or None, "severity": severity}
