"""What adjudge says of a judgement in XLIFF beside ITS, so that nothing is lost, and what of it still holds.

ITS has no place for flags, counts, the order of errors, errors across tags or numbers to the last digit. All
of a record stands in one attribute of our own, where what is said of the whole translation stands. What ITS
says comes first: an error is where its mark is now, as severe as it is said to be now, and gone where it is
not enabled. One whose mark was lost stays: a tool that drops marks must not make a translation clean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from adjudge.core.annotation import Annotation, ErrorSpan
from adjudge.core.protocol import find_protocol
from adjudge.data.files import read_json, render_json_line
from adjudge.data.its import confidence_of, issue_attributes
from adjudge.data.records import record_from_json, record_to_json
from adjudge.errors import AdjudgeError, DataError

if TYPE_CHECKING:
    from adjudge.data.xliff_marks import Issue

__all__ = ["STATED", "STATED_NAMESPACE", "keep_rating", "keep_spans", "read_stated", "render_stated"]

STATED_NAMESPACE: Final = "urn:adjudge:xliff"
STATED: Final = f"{{{STATED_NAMESPACE}}}record"

_PLACE: Final = frozenset({"kind", "lp", "segment", "system", "annotator"})
_UNWRITABLE: Final = str.maketrans({"\ufffe": "\\ufffe", "\uffff": "\\uffff"})


def render_stated(annotation: Annotation) -> str:
    """An annotation as an attribute, without what the file says anyway: JSON."""
    value = {key: value for key, value in record_to_json(annotation).items() if key not in _PLACE}
    return render_json_line(value).decode().removesuffix("\n").translate(_UNWRITABLE)


def read_stated(raw: str, place: dict[str, str], path: Path, line: int) -> Annotation:
    """Read the attribute.

    Args:
        raw: its text.
        place: `lp`, `segment`, `system` and `annotator`.
        path: for errors.
        line: for errors.

    Raises:
        DataError: it is no annotation.
    """
    value = read_json(raw, path=path, line=line)
    if not isinstance(value, dict):
        raise DataError("adjudge:record must be a JSON object", path=path, line=line)
    try:
        record = record_from_json({**value, **place, "kind": "annotation"})
    except AdjudgeError as error:
        raise DataError(f"adjudge:record: {error}", path=path, line=line) from error
    if not isinstance(record, Annotation):
        raise DataError("adjudge:record must be an annotation", path=path, line=line)
    return record


def keep_spans(stated: Annotation, issues: Sequence[Issue], text: str) -> tuple[list[ErrorSpan], list[Issue]]:
    """Those of the errors stated that still hold, where ITS says they are now.

    Args:
        stated: what adjudge said.
        issues: what ITS says by the same annotator.
        text: the translation as it is now.

    Returns:
        Also the issues that adjudge did not state, or not so.
    """
    rest, spans, lost = [*issues], [], []
    for span in stated.spans:
        says = issue_attributes(span, stated.protocol)
        same = [issue for issue in rest if issue.says == says]
        if same:
            own = _place(span)
            issue = min(same, key=lambda each: (each.place != own, each.place is not None))
            rest.remove(issue)
            spans += [_placed(span, issue.place, text)] if issue.is_enabled else []
        else:
            lost.append(span)
    there = [issue.place for issue in rest]
    for span in lost:
        if _place(span) in there:
            there.remove(_place(span))  # said otherwise by now
        else:
            spans.append(_placed(span, None, text))
    return spans, [issue for issue in rest if issue.is_enabled]


def _place(span: ErrorSpan) -> tuple[int, int] | None:
    return None if span.start is None or span.end is None else (span.start, span.end)


def _placed(span: ErrorSpan, place: tuple[int, int] | None, text: str) -> ErrorSpan:
    """An error where its mark is; one without a mark where it was, unless the text there has changed."""
    if span.side == "source":
        return span
    if place is None:
        if span.start is None or _fits(span, text):
            return span
        return replace(span, start=None, end=None, match="unmatched")
    if place == _place(span) and _fits(span, text):
        return span
    start, end = place
    return replace(span, start=start, end=end, text=text[start:end], match="exact")


def _fits(span: ErrorSpan, text: str) -> bool:
    found = text[span.start : span.end]
    within = span.end is not None and span.end <= len(text)
    return within and (found == span.text or not span.text or span.match != "exact")


def keep_rating(stated: Annotation, confidence: float | None) -> float | None:
    """The rating stated, or that of the confidence where it says another one.

    Args:
        stated: what adjudge said.
        confidence: 0 to 1 along the protocol's scale; None where there is none.
    """
    protocol, said = find_protocol(stated.protocol), confidence_of(stated)
    if confidence is None or said is None or float(said) == confidence:
        return stated.rating
    low, high = protocol.low or 0.0, protocol.high or 0.0
    return low + confidence * (high - low)
