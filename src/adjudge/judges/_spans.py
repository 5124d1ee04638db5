"""From listed errors to spans: labels checked, and every quotation in its place, in code points.

A quotation is found as it is, or with white space, dashes and quotation marks made equal and without an
ellipsis or
a mark at its ends, or not at all. Where it stands in several places it gets the first that no earlier error
has, and
says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from adjudge.core.annotation import ErrorSpan, Match, Side
from adjudge.core.segment import Subject
from adjudge.core.typology import Severity, find_category, find_severity
from adjudge.errors import AnswerError
from adjudge.judges._prose import check_reasons
from adjudge.judges._read import shown

__all__ = [
    "MOST_ERRORS",
    "MOST_REPEATS",
    "Listed",
    "Marked",
    "Place",
    "either",
    "find_place",
    "place_errors",
    "stands_in",
]

_MAY_BE_EMPTY: Final = {"accuracy/omission", "non-translation"}
"""Errors that may have no words to point at."""

_IN_SOURCE: Final = {"accuracy/omission", "source error"}
"""Errors that MQM marks in the source: their words may be missing from the translation."""

_NO_CORE: Final = {"other", "non-translation", "source error"}

MOST_ERRORS: Final = 500
"""Errors that one answer may list; a longer list is a model that does not stop."""
MOST_REPEATS: Final = 10
"""Times that errors of one answer may be listed again."""

_QUOTES: Final = str.maketrans("“”„‟«»″「」『』〝〞＂‘’‚‛‹›′`´＇‐‑‒–—−", '"' * 14 + "'" * 10 + "-" * 6)
_DOTS: Final = " .…"
_ELLIPSIS: Final = re.compile(r"\s*(?:…|\.{3,}|\[\.{3}\]|\[…\])\s*")
_MARKER: Final = re.compile(r"<</?[a-z][a-z -]*|\$\{?[a-z_]+|\{[a-z_]+\}")
_SEPARATOR: Final = re.compile(r"\s*(?:/|::?|>|→|–|—|\.|\||\(|\s-\s|(?<!non)-)\s*")
_OTHER_CORE: Final = re.compile(
    r"\b(?:accuracy|fluency|terminology|style|locale|non-translation|no[- ]error|none)\b", re.IGNORECASE
)
_ERROR: Final = re.compile(r"\s+errors?\b", re.IGNORECASE)
_WAYS: Final[tuple[Match, ...]] = ("exact", "normalised")
_SPACE: Final = re.compile(r"\s+")


class Listed(NamedTuple):
    """One error as an annotator listed it. Text forms do not say the side.

    Args:
        span: words that were copied.
        category: as it was spelled.
        severity: as it was spelled.
        side: that was named.
        note: explanation.
        is_normalised: whether something about it had to be normalised to be read.
        is_side_open: whether the side was left out where it is asked for, so that both texts are searched.
    """

    span: str
    category: str
    severity: str
    side: Side | None = None
    note: str = ""
    is_normalised: bool = False
    is_side_open: bool = False


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

    One error listed twice, with no second place for it, is one error (flag `repeated_errors`).

    Raises:
        AnswerError: label for a severity or a category that nobody asked for or knows; schema for an error
            that points at nothing and must point at something; count for more than `MOST_ERRORS`, or for one
            error
            more than `MOST_REPEATS` times too often; refused for words that decline in place of a quotation.
    """
    if len(listed) > MOST_ERRORS:
        raise AnswerError("count", f"{len(listed)} errors were listed, more than {MOST_ERRORS}")
    spans: dict[ErrorSpan, None] = {}
    taken: dict[Place, None] = {}
    repeats, is_normalised = 0, False
    for error in listed:
        severity, category = _find_severity(error.severity), _find_category(error.category)
        if severity is None or severity not in severities:
            raise AnswerError("label", f"severity must be {either(severities)}; got {shown(error.severity)}")
        if category is None:
            raise AnswerError("label", f"{shown(error.category)} is no category of the typology")
        quote = "" if not error.span.strip(_DOTS) and error.span not in subject.translation else error.span
        if not quote and category not in _MAY_BE_EMPTY:
            raise AnswerError("schema", f"an error of {category} must quote the text, got an empty span")
        place = _place(error._replace(span=quote), subject, category, taken)
        span = _span(error, place, severity, category, subject)
        is_normalised = is_normalised or error.is_normalised or _is_respelled(error, severity, category)
        if span in spans:
            repeats += 1
        spans[span] = taken[place] = None
    if repeats > MOST_REPEATS:
        raise AnswerError("count", f"the same errors were listed again {repeats} times")
    unmatched = any(span.match == "unmatched" for span in spans)
    found = (
        *(flag for flag in flags if flag != "normalised"),
        *(["normalised"] if is_normalised or "normalised" in flags else []),
        *(["repeated_errors"] if repeats else []),
        *(["span_unmatched"] if unmatched else []),
    )
    return Marked(tuple(spans), found)


def stands_in(subject: Subject) -> Callable[[str], bool]:
    """Whether a quotation stands in the translation or the source of a subject."""
    return lambda quote: any(_first_places(quote, text)[0] for text in (subject.translation, subject.source))


def _is_respelled(error: Listed, severity: str, category: str) -> bool:
    return error.severity != severity or error.category != category


def _find_severity(label: str) -> Severity | None:
    """A severity, also as `major error`."""
    return find_severity(_ERROR.sub("", label.strip().rstrip(".")))


def _find_category(label: str) -> str | None:
    """A category of the typology; of an unknown subtype its core type, where that is clear."""
    plain = _ERROR.sub("", label.strip().rstrip(".").strip("\"'*`").replace("_", " "))
    for known in (label, plain):
        if category := find_category(known):
            return category
    parts = [part.strip() for part in _SEPARATOR.split(plain, maxsplit=1)]
    if len(parts) < 2 or not any(map(str.isalnum, parts[1])):
        return None
    core = find_category(parts[0])
    if core is None or "/" in core or core in _NO_CORE or _OTHER_CORE.search(parts[1]):
        return None
    for subtype in (parts[1], parts[1].replace("-", " ")):
        if category := find_category(f"{core}/{subtype}"):
            return category
    return core


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
        found, match = _first_places(quote, text)
        if len(found) == 1:
            return Place(side, *found[0], match)
        if found:
            used = {(place.start, place.end) for place in taken if place.side == side}
            free = next((place for place in _all_places(quote, text, match) if place not in used), found[0])
            return Place(side, *free, "ambiguous")
    return Place(first, None, None, "unmatched")


def _first_places(quote: str, text: str) -> tuple[list[tuple[int, int]], Match]:
    """The first two places of a quotation: as it is, else with its spelling made equal."""
    for match in _WAYS:
        if found := list(islice(_all_places(quote, text, match), 2)):
            return found, match
    if place := _around_ellipsis(quote, text):
        return [place], "normalised"
    return [], "unmatched"


def _all_places(quote: str, text: str, match: Match) -> Iterator[tuple[int, int]]:
    """Every place of a quotation, overlapping ones too, found one by one."""
    if match == "exact":
        yield from ((start, start + len(quote)) for start in _occurrences(quote, text))
        return
    flat, origin = _flat(text)
    for wanted in _loosened(quote):
        is_found = False
        for start in _occurrences(wanted, flat):
            is_found = True
            yield origin[start], origin[start + len(wanted) - 1] + 1
        if is_found:
            return


def _loosened(quote: str) -> Iterator[str]:
    """A quotation as it may stand in a flat text, each spelling looser than the one before."""
    flat = _flat(quote)[0].strip()
    spellings = (flat, flat.strip(" \"'"), flat.strip(_DOTS), flat.strip(_DOTS).strip(" \"'.,;:!?()"))
    yield from filter(None, dict.fromkeys(spellings))


def _around_ellipsis(quote: str, text: str) -> tuple[int, int] | None:
    """The place of words with an ellipsis between them, if each part stands in the text once."""
    parts = [part.strip() for part in _ELLIPSIS.split(_flat(quote)[0])]
    if len(parts) != 2 or not all(parts):
        return None
    flat, origin = _flat(text)
    first, last = ([*islice(_occurrences(part, flat), 2)] for part in parts)
    if len(first) != 1 or len(last) != 1 or first[0] + len(parts[0]) > last[0]:
        return None
    return origin[first[0]], origin[last[0] + len(parts[1]) - 1] + 1


def _occurrences(quote: str, text: str) -> Iterator[int]:
    start = text.find(quote)
    while start >= 0:
        yield start
        start = text.find(quote, start + 1)


@lru_cache(maxsize=16)
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
    place = find_place(
        *(error.span, subject),
        said=error.side,
        category="source error" if error.is_side_open else category,
        taken=taken,
    )
    if place.match == "unmatched":
        if _MARKER.search(error.span):
            raise AnswerError("schema", f"an error must quote the text, got a marker: {shown(error.span)}")
        check_reasons(error.span, "an error")
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
