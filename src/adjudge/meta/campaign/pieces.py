"""Judgements of translations as a campaign saw them: who, why, with what marked before, in which text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adjudge.core.annotation import Annotation, ErrorSpan
from adjudge.core.protocol import find_protocol
from adjudge.core.typology import Weights, find_weights
from adjudge.data.records import span_from_json
from adjudge.data.submissions import PASSES, Submission, of_latest_pass
from adjudge.meta.campaign.marks import Mark, marks_of
from adjudge.meta.measures.result import Floats
from adjudge.meta.ranking.comparisons import numbered
from adjudge.scoring.mqm import mqm_score

__all__ = [
    "Key",
    "Piece",
    "by_translation",
    "counted",
    "final_pieces",
    "has_marks",
    "has_ratings",
    "left_out",
    "matrix_of",
    "pieces_of",
    "score_name",
]

Key = tuple[str, str, str]
"""Language pair, segment, system: one translation."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One person's judgement of one translation.

    Args:
        submission: that it was part of.
        annotation: what was said.
        text: of the translation that was shown.
        weights: of marked errors.
    """

    submission: Submission
    annotation: Annotation
    text: str
    weights: Weights

    @property
    def person(self) -> str:
        """Who judged."""
        return self.submission.person

    @property
    def key(self) -> Key:
        """What was judged; of a damaged copy, the original."""
        return self.annotation.lp, self.annotation.segment, self.annotation.system

    @property
    def rating(self) -> float | None:
        """The number given; None where none was asked for."""
        return self.annotation.rating

    @cached_property
    def points(self) -> float:
        """Minus the points of the marked errors."""
        return mqm_score(self.annotation, self.weights)

    @property
    def score(self) -> float:
        """The rating, or the points where nothing is rated; higher is better."""
        return self.points if self.rating is None else self.rating

    @cached_property
    def errors(self) -> tuple[ErrorSpan, ...]:
        """Marks that cost something: neutral ones are no errors."""
        return tuple(span for span in self.annotation.spans if span.severity != "neutral")

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """The errors, as they are compared."""
        return marks_of(self.errors)

    @property
    def severities(self) -> list[str]:
        """Of the errors."""
        return [span.severity for span in self.errors]

    @property
    def has_marks(self) -> bool:
        """Whether errors could be marked."""
        return find_protocol(self.annotation.protocol).has_spans

    @property
    def given(self) -> tuple[ErrorSpan, ...] | None:
        """Spans that were marked beforehand; None where it was shown without any."""
        if self.submission.kind == "control":
            return None
        return self.submission.given.get(self.annotation.system)

    @property
    def withheld(self) -> tuple[ErrorSpan, ...] | None:
        """Spans that a control did not show; None where they are not known.

        Raises:
            DataError: the campaign's file holds what is no span.
        """
        known = self.submission.more.get("withheld")
        spans = known.get(self.annotation.system) if isinstance(known, Mapping) else None
        return tuple(map(span_from_json, spans)) if isinstance(spans, list) else None


def pieces_of(submissions: Iterable[Submission], weights: str | None = None) -> tuple[Piece, ...]:
    """Judgements of translations, of the last submission of each item; no tutorials.

    Args:
        submissions: of a campaign.
        weights: of marked errors; None for `esa-spans` with ESA, `mqm-google` with MQM.
    """
    found = []
    for submission in submissions:
        if submission.is_last and submission.kind != "tutorial":
            for record in submission.records:
                if isinstance(record, Annotation):
                    name = weights or ("mqm-google" if record.protocol == "mqm" else "esa-spans")
                    text = submission.texts.get(record.system, "")
                    piece = Piece(
                        submission=submission, annotation=record, text=text, weights=find_weights(name)
                    )
                    found.append(piece)
    return tuple(found)


def counted(pieces: Iterable[Piece]) -> list[Piece]:
    """Those that judge a translation as it is, which damaged copies do not, and were not dropped."""
    return [p for p in pieces if p.submission.kind in PASSES and not p.submission.is_dropped]


def final_pieces(pieces: Iterable[Piece]) -> list[Piece]:
    """Those that decide: of each translation, the ones of its latest pass.

    An adjudication decides over a second pass, and that over the first one. Several people of one pass all
    count; of one person's several judgements in a pass, the one that ended last.
    """
    last: dict[tuple[Key, str], Piece] = {}
    for piece in of_latest_pass(counted(pieces), lambda p: p.submission.kind, lambda p: p.key):
        known = last.get((piece.key, piece.person))
        if known is None or piece.submission.ended >= known.submission.ended:
            last[piece.key, piece.person] = piece
    return list(last.values())


def left_out(submissions: Sequence[Submission]) -> Iterator[str]:
    """Say what is in no number about translations, and how much of it there is."""
    again = sum(not s.is_last for s in submissions)
    kinds = Counter(s.kind for s in submissions if s.is_last)
    if again:
        yield f"{again:,} submissions were replaced by a later one of the same person, and count nowhere."
    if kinds["tutorial"]:
        yield f"{kinds['tutorial']:,} submissions belong to a tutorial, and count nowhere."
    if kinds["check"]:
        yield f"{kinds['check']:,} submissions are of damaged copies: they count in checks and times alone."
    if dropped := sum(s.is_last and s.is_dropped and s.kind in PASSES for s in submissions):
        what = "are of segments that the agreement gate dropped"
        yield f"{dropped:,} submissions {what}: they count in times alone."


def score_name(pieces: Sequence[Piece]) -> str:
    """What `Piece.score` is: `rating`, or `points` where nothing is rated."""
    return "points" if pieces and pieces[0].rating is None else "rating"


def has_marks(pieces: Iterable[Piece]) -> bool:
    """Whether errors could be marked in any of them."""
    return any(piece.has_marks for piece in pieces)


def has_ratings(pieces: Iterable[Piece]) -> bool:
    """Whether any of them was rated."""
    return any(piece.rating is not None for piece in pieces)


def matrix_of(pieces: Sequence[Piece], values: Sequence[float]) -> tuple[tuple[str, ...], Floats, int]:
    """Mean values of translations, systems by the segments of which every system has one.

    Returns:
        Systems by name; the matrix; how many segments were dropped because a system lacks there.
    """
    systems = sorted({piece.annotation.system for piece in pieces})
    columns = numbered([piece.key[:2] for piece in pieces])
    rows = [systems.index(piece.annotation.system) for piece in pieces]
    sums = np.zeros((len(systems), max(columns, default=-1) + 1))
    sizes = np.zeros_like(sums)
    np.add.at(sums, (rows, columns), values)
    np.add.at(sizes, (rows, columns), 1)
    whole = (sizes > 0).all(axis=0)
    return tuple(systems), sums[:, whole] / sizes[:, whole], int((~whole).sum())


def by_translation(pieces: Iterable[Piece]) -> Mapping[Key, list[Piece]]:
    """Judgements of each translation."""
    found: dict[Key, list[Piece]] = {}
    for piece in pieces:
        found.setdefault(piece.key, []).append(piece)
    return found
