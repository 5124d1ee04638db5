"""What tutorials and checks expect, beside what a person did: said in words, or counted as passed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from adjudge.campaigns.shown import Expected
from adjudge.campaigns.state import MarkedSpan, State, TranslationState

__all__ = ["TOLERANCE", "feedback"]

TOLERANCE: Final = 3
"""Characters by which the ends of a mark may miss those of a tutorial's."""


def feedback(state: State, expected: Expected) -> list[str]:
    """What is missing or wrong in the eyes of who made the item; empty where it was passed.

    In a tutorial every expected mark must be there, within `TOLERANCE` and with its severity, and no other.
    In a check any mark that touches the damage will do.

    Args:
        state: without faults.
        expected: by the order shown, as `items.read_item` gives it.
    """
    part = state.translations[expected.get("translation", 0)]
    found = [*_span_faults(part, expected), *_missing_faults(part, expected), *_rating_faults(part, expected)]
    for criterion, verdict in expected.get("verdicts", {}).items():
        if state.verdicts.get(criterion) != verdict:
            found.append(f"{criterion}: {_SAID[verdict]}")
    if state.chosen != expected.get("chosen", state.chosen):
        found.append("another draft is better")
    return found


_SAID: Final = {"A": "the first one is better", "B": "the second one is better", "E": "both are as good"}


def _span_faults(part: TranslationState, expected: Expected) -> Iterator[str]:
    if "spans" not in expected:
        return
    marked = [span for span in part.spans if span.side == "translation"]
    if expected.get("what") != "tutorial":
        if not any(_touches(span, wanted) for span in marked for wanted in expected["spans"]):
            yield "some words were exchanged, and they are not marked"
        return
    left = list(marked)
    for wanted in expected["spans"]:
        fitting = next((span for span in left if _is_near(span, wanted)), None)
        if fitting is None:
            yield _not_marked(wanted)
            continue
        left.remove(fitting)
        if wanted.get("severity") not in {None, fitting.severity}:
            yield f"{fitting.text!r} is {wanted['severity']}, and marked as {fitting.severity}"
    yield from (f"{span.text!r} is marked, and is no error" for span in left)


def _not_marked(wanted: dict[str, Any]) -> str:
    text = wanted.get("text")
    return f"{text!r} is not marked" if text else "an error is not marked"


def _touches(span: MarkedSpan, wanted: dict[str, Any]) -> bool:
    return bool(span.start < wanted["end"] and wanted["start"] < span.end)


def _is_near(span: MarkedSpan, wanted: dict[str, Any]) -> bool:
    start, end = abs(span.start - wanted["start"]), abs(span.end - wanted["end"])
    return max(start, end) <= TOLERANCE and _touches(span, wanted)


def _missing_faults(part: TranslationState, expected: Expected) -> Iterator[str]:
    wanted = expected.get("missing")
    if wanted and part.missing is None and not any(span.side == "source" for span in part.spans):
        yield "something is missing, and not marked as missing"
    elif wanted is False and part.missing is not None:
        yield "nothing is missing, and it is marked"


def _rating_faults(part: TranslationState, expected: Expected) -> Iterator[str]:
    if "rating" in expected:
        low, high = expected["rating"]
        if part.rating is None or not low <= part.rating <= high:
            yield f"a rating from {low:g} to {high:g} would fit"
