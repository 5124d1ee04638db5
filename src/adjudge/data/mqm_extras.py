"""What an MQM TSV has no column for, kept in its metadata under `adjudge`; other readers leave it alone.

On the first row of a judgement, what is not a span: protocol, rating, counts, flags, rationale. On any row,
the whole span where tags and labels would not say it all: no place, a quote, a label that hides a category.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from adjudge.core.annotation import Annotation, ErrorSpan
from adjudge.data.labels import read_label, render_label
from adjudge.data.records import counts_from_json, span_from_json, span_to_json
from adjudge.data.shape import read_fields

__all__ = ["read_judgement", "read_partner", "read_span", "render_extras"]

_KEY: Final = "adjudge"
_KEYS: Final = frozenset(
    {"span", "with", "document", "protocol", "rating", "counts", "flags", "rationale", "first"}
)


def read_span(metadata: Mapping[str, object], path: Path, line: int) -> ErrorSpan | None:
    """The span of a row, if it is stated in whole."""
    ours = metadata.get(_KEY)
    span = ours.get("span") if isinstance(ours, dict) else None
    return None if span is None else span_from_json(span, path, line)


def read_partner(metadata: Mapping[str, object]) -> str | None:
    """Whom a system was judged beside, empty for nobody; None where the file does not say."""
    ours = metadata.get(_KEY)
    if not isinstance(ours, dict):
        return None
    partner = ours.get("with", "")
    return partner if isinstance(partner, str) else None


def read_judgement(metadata: Mapping[str, object], annotation: Annotation) -> Annotation:
    """Give an annotation what its first row states beside the spans; that replaces what was found out."""
    ours = metadata.get(_KEY)
    if not isinstance(ours, dict) or not ours.get("first"):
        return annotation
    fields = read_fields(ours, _KEYS, "metadata of adjudge")
    return replace(
        annotation,
        protocol=fields.text("protocol", "mqm"),
        document=fields.text("document", annotation.document),
        rating=fields.number("rating"),
        counts=counts_from_json(fields),
        flags=fields.texts("flags"),
        rationale=fields.optional_text("rationale"),
    )


def render_extras(
    annotation: Annotation, span: ErrorSpan | None, text: str, *, first: bool, partner: str, document: str
) -> dict[str, Any]:
    """Metadata of one row.

    Args:
        annotation: what the row belongs to.
        span: its error, or None for a row that says there is none.
        text: what the span is in.
        first: whether it is the first row of the annotation.
        partner: whom the system was judged beside, if that is part of its name.
        document: what the row's document column says.
    """
    ours: dict[str, Any] = {"with": partner} if partner else {}
    if span is not None and not _is_plain(span, text):
        ours["span"] = span_to_json(span)
    if first:
        ours |= {"first": True, **_judgement(annotation, document)}
    note = {"note": span.note} if span is not None and span.note else {}
    return {**note, **({_KEY: ours} if ours else {})}


def _judgement(annotation: Annotation, document: str) -> dict[str, Any]:
    values = {
        "document": None if annotation.document == document else annotation.document,
        "protocol": None if annotation.protocol == "mqm" else annotation.protocol,
        "rating": annotation.rating,
        "counts": dict(annotation.counts) or None,
        "flags": list(annotation.flags) or None,
        "rationale": annotation.rationale,
    }
    return {key: value for key, value in values.items() if value is not None}


def _is_plain(span: ErrorSpan, text: str) -> bool:
    """Whether columns, tags and note say all of a span."""
    label = render_label(span.category, span.label)
    return (
        span.match == "exact"
        and span.end is not None
        and span.end <= len(text)
        and span.text == text[span.start : span.end]
        and read_label(label.strip()) == (span.category, span.label)
    )
