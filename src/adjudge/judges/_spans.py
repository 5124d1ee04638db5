"""From listed errors to spans: labels checked, and every quotation in its place, in code points.

A quotation is found as it is, or with white space and quotation marks made equal, or not at all. Where it
stands in several places it gets the first that no earlier error has, and says so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from adjudge.core.annotation import ErrorSpan, Match, Side
from adjudge.core.segment import Subject
from adjudge.core.typology import Severity, find_category, find_severity
from adjudge.errors import AnswerError
from adjudge.judges._read import shown

__all__ = ["Listed", "Marked", "Place", "either", "find_place", "place_errors"]

_MAY_BE_EMPTY: Final = {"accuracy/omission", "non-translation"}
"""Errors that may have no words to point at."""

_IN_SOURCE: Final = {"accuracy/omission", "source error"}
"""Errors that MQM marks in the source: their words may be missing from the translation."""

_QUOTES: Final = str.maketrans("“”„‟«»″「」『』〝〞＂‘’‚‛‹›′`´＇", '"' * 14 + "'" * 10)
_SPACE: Final = re.compile(r"\s+")


class Listed(NamedTuple):
    """One error as an annotator listed it. Text forms do not say the side."""

    span: str
    category: str
    severity: str
    side: Side | None = None
    note: str = ""


class Marked(NamedTuple):
    """The errors of one reply with their places, and the flags that go on the annotation."""

    spans: tuple[ErrorSpan, ...]
    flags: tuple[str, ...]


class Place(NamedTuple):
    """Where a quotation stands; no offsets where it stands nowhere."""

    side: Side
    start: int | None
    end: int | None
    match: Match


def place_errors(
    listed: Sequence[Listed], subject: Subject, severities: Sequence[Severity], flags: tuple[str, ...] = ()
) -> Marked:
    """Check labels and find every quotation in its text.

    Raises:
        AnswerError: label for a severity or a category that nobody asked for or knows; schema for an error
            that points at nothing and must point at something.
    """
    spans: list[ErrorSpan] = []
    taken: set[Place] = set()
    for error in listed:
        severity, category = find_severity(error.severity), find_category(error.category)
        if severity is None or severity not in severities:
            raise AnswerError("label", f"severity must be {either(severities)}; got {shown(error.severity)}")
        if category is None:
            raise AnswerError("label", f"{shown(error.category)} is no category of the typology")
        if not error.span and category not in _MAY_BE_EMPTY:
            raise AnswerError("schema", f"an error of {category} must quote the text, got an empty span")
        place = _place(error, subject, category, taken)
        taken.add(place)
        spans.append(_span(error, place, severity, category, subject))
    unmatched = any(span.match == "unmatched" for span in spans)
    return Marked(tuple(spans), (*flags, "span_unmatched") if unmatched else flags)


def either(names: Sequence[str]) -> str:
    """Names as an English choice."""
    return " or ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} or {names[-1]}"


def find_place(
    quote: str, subject: Subject, *, said: Side | None, category: str | None, taken: Collection[Place]
) -> Place:
    """Find a quotation in the translation or the source.

    The side that the annotator named comes first, the translation where none was named. The other one comes
    second: the translation always, the source only for errors that are marked there.

    Args:
        quote: words that the annotator copied, not empty.
        subject: whose translation and source are searched.
        said: side that the annotator named.
        category: of the error.
        taken: places of the annotator's earlier errors.
    """
    first: Side = said or "translation"
    sides: list[Side] = [first]
    if first == "source":
        sides.append("translation")
    elif category in _IN_SOURCE:
        sides.append("source")
    for side in sides:
        text = subject.translation if side == "translation" else subject.source
        found, match = _ranges(quote, text)
        if len(found) == 1:
            return Place(side, *found[0], match)
        if found:
            used = {(place.start, place.end) for place in taken if place.side == side}
            free = [place for place in found if place not in used]
            return Place(side, *(free or found)[0], "ambiguous")
    return Place(first, None, None, "unmatched")


def _ranges(quote: str, text: str) -> tuple[list[tuple[int, int]], Match]:
    if exact := _occurrences(quote, text):
        return [(start, start + len(quote)) for start in exact], "exact"
    flat, origin = _flat(text)
    for wanted in dict.fromkeys((_flat(quote)[0].strip(), _flat(quote)[0].strip(" \"'"))):
        if wanted and (starts := _occurrences(wanted, flat)):
            return [(origin[s], origin[s + len(wanted) - 1] + 1) for s in starts], "normalised"
    return [], "unmatched"


def _occurrences(quote: str, text: str) -> list[int]:
    found, start = [], text.find(quote)
    while start >= 0:
        found.append(start)
        start = text.find(quote, start + 1)
    return found


def _flat(text: str) -> tuple[str, list[int]]:
    """The text with one blank for white space and straight quotation marks, and each character's origin."""
    flat: list[str] = []
    origin: list[int] = []
    position = 0
    for space in [*_SPACE.finditer(text), None]:
        end = len(text) if space is None else space.start()
        flat.append(text[position:end].translate(_QUOTES))
        origin += range(position, end)
        if space is not None:
            flat.append(" ")
            origin.append(space.start())
            position = space.end()
    return "".join(flat), origin


def _place(error: Listed, subject: Subject, category: str, taken: Collection[Place]) -> Place:
    if not error.span:
        return Place(error.side or "translation", None, None, "unplaced")
    place = find_place(error.span, subject, said=error.side, category=category, taken=taken)
    if place.match == "unmatched" and error.side is None and re.search(r'["“”]', error.span):
        raise AnswerError("parse", f"wanted one quotation a line, got {shown(error.span)}")
    return place


def _span(error: Listed, place: Place, severity: Severity, category: str, subject: Subject) -> ErrorSpan:
    text = subject.translation if place.side == "translation" else subject.source
    return ErrorSpan(
        start=place.start,
        end=place.end,
        text=error.span if place.start is None else text[place.start : place.end],
        severity=severity,
        category=category,
        side=place.side,
        match=place.match,
        note=error.note,
        label=None if error.category == category else error.category,
    )
