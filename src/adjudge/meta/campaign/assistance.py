"""Spans that were marked beforehand: what people did with them, and what they would have marked without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

import numpy as np

from adjudge.core.annotation import ErrorSpan
from adjudge.meta.agreement.estimate import Draws
from adjudge.meta.campaign.marks import marks_of, touches
from adjudge.meta.campaign.numbers import Number, Section, difference_of, ratio_of
from adjudge.meta.campaign.pieces import Key, Piece, counted, score_name
from adjudge.meta.measures.result import Floats
from adjudge.meta.ranking.comparisons import numbered

__all__ = ["Fate", "assistance_section", "fates"]

Fate = Literal["kept", "changed", "deleted", "added"]
_OF_GIVEN: Final[tuple[Fate, ...]] = ("kept", "changed", "deleted")
_TITLE: Final = "What do people do with spans that were marked before?"
_NOTHING: Final = "nothing was marked beforehand"


def fates(given: Sequence[ErrorSpan], spans: Sequence[ErrorSpan]) -> Counter[Fate]:
    """What became of spans that were given, and how many were added.

    Kept: the same place, severity and category. Changed: another span touches it, each one once, in the order
    of the text. What is left of the given ones was deleted, what is left of the others was added.
    """
    rest = list(spans)
    lost = []
    for span in given:
        same = next((other for other in rest if _told(other) == _told(span)), None)
        if same is None:
            lost.append(span)
        else:
            rest.remove(same)
    found: Counter[Fate] = Counter({"kept": len(given) - len(lost)})
    for span in sorted(lost, key=lambda s: s.start or 0):
        near = next((other for other in rest if _is_near(span, other)), None)
        if near is None:
            found["deleted"] += 1
        else:
            found["changed"] += 1
            rest.remove(near)
    found["added"] += len(rest)
    return found


def _told(span: ErrorSpan) -> tuple[object, ...]:
    return span.side, span.start, span.end, span.severity, span.category


def _is_near(one: ErrorSpan, other: ErrorSpan) -> bool:
    if one.side != other.side or (one.start is None) != (other.start is None):
        return False
    if one.start is None or other.start is None or one.end is None or other.end is None:
        return True
    return one.start < other.end and other.start < one.end


def assistance_section(pieces: Sequence[Piece], draws: Draws) -> Section:
    """Kept, changed, deleted, added; and with marks given against without: automation bias."""
    kept = counted(pieces)
    helped = [piece for piece in kept if piece.given is not None]
    alone = [piece for piece in kept if piece.submission.kind == "control"]
    if not helped:
        notes = ["Nothing was marked beforehand."]
        return Section(name="assistance", title=_TITLE, notes=tuple(notes))
    numbers = list(_fate_numbers(helped, draws))
    notes = []
    if alone:
        numbers += _beside_control(helped, alone, draws)
        numbers += _bias(helped, alone, draws)
    else:
        notes.append("Nothing was shown without marks, so that nobody can say what help changed.")
    return Section(name="assistance", title=_TITLE, numbers=tuple(numbers), notes=tuple(notes))


def _segments(pieces: Sequence[Piece], draws: Draws) -> Draws:
    return replace(draws, groups=numbered([piece.key[:2] for piece in pieces]))


def _fate_numbers(helped: Sequence[Piece], draws: Draws) -> Iterator[Number]:
    people = sorted({piece.person for piece in helped})
    for who in ("all", *(people if len(people) > 1 else ())):
        own = [piece for piece in helped if who in {"all", piece.person}]
        counts = [fates(piece.given or (), piece.annotation.spans) for piece in own]
        given = np.array([float(len(piece.given or ())) for piece in own])
        drawing = _segments(own, draws)
        for fate in _OF_GIVEN:
            parts = np.array([float(c[fate]) for c in counts])
            result = ratio_of(parts, given, drawing, _NOTHING)
            yield Number(of=who, measure=f"share of given spans {fate}", result=result)
        added = np.array([float(c["added"]) for c in counts])
        result = ratio_of(added, np.ones(len(own)), drawing)
        yield Number(of=who, measure="spans added a translation", result=result)


def _beside_control(helped: Sequence[Piece], alone: Sequence[Piece], draws: Draws) -> Iterator[Number]:
    """Scores and errors with help less those without."""
    every = [*helped, *alone]
    is_helped = np.arange(len(every)) < len(helped)
    values = {
        score_name(every): [piece.score for piece in every],
        "errors a translation": [float(len(piece.errors)) for piece in every],
        "share without errors": [float(not piece.errors) for piece in every],
    }
    drawing = _segments(every, draws)
    for measure, known in values.items():
        array = np.array(known)
        result = difference_of(array, is_helped, drawing, "all were shown with marks, or none")
        yield Number(of="with marks less without", measure=measure, result=result)


def _bias(helped: Sequence[Piece], alone: Sequence[Piece], draws: Draws) -> Iterator[Number]:
    """How often a span that was given stays, and how often people mark its place without being shown it."""
    given: dict[Key, Sequence[ErrorSpan]] = {piece.key: piece.given or () for piece in helped}
    given |= {piece.key: spans for piece in alone if (spans := piece.withheld) is not None}
    for who, own in (("shown with the marks", helped), ("shown without", alone)):
        known = [piece for piece in own if piece.key in given]
        hits, of = _touched(known, given)
        result = ratio_of(hits, of, _segments(known, draws), "of none of them it is known what was given")
        yield Number(of=who, measure="share of given spans marked", result=result)


def _touched(pieces: Sequence[Piece], given: Mapping[Key, Sequence[ErrorSpan]]) -> tuple[Floats, Floats]:
    """Of each translation, how many of the given places are marked, and how many there are."""
    hits, of = [], []
    for piece in pieces:
        places = [mark for mark in marks_of(given[piece.key]) if mark.first is not None]
        hits.append(float(sum(any(touches(mark, place) for mark in piece.marks) for place in places)))
        of.append(float(len(places)))
    return np.array(hits), np.array(of)
