"""Who is stricter than others, and who becomes stricter or milder on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from adjudge.meta.campaign.numbers import Number, Section, mean_by_student, slope_of
from adjudge.meta.campaign.pieces import Piece, final_pieces, score_name
from adjudge.meta.measures.result import Floats, Result

__all__ = ["FEWEST", "drift_section", "means_by_system", "strictness"]

FEWEST: Final = 10
"""Judgements of a person of whom anything is told."""
_HUNDRED: Final = 100
_TOO_FEW: Final = "too few judgements"


def means_by_system(scores: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Mean score of each system over everybody: what a person's scores are held against."""
    known: dict[str, list[float]] = {}
    for system, score in scores:
        known.setdefault(system, []).append(score)
    return {system: float(np.mean(values)) for system, values in known.items()}


def strictness(above: Sequence[float]) -> tuple[Result, Result]:
    """How far a person's scores lie above others', and by how much that changes in a hundred judgements.

    Least squares with Student's intervals, which take a person's judgements as independent of one another.

    Args:
        above: their scores in the order of work, each less the mean of its system, so that who was shown
            better systems is not milder for it.
    """
    return mean_by_student(above), slope_of(_hundreds(above), np.array(above), _TOO_FEW)


def _hundreds(own: Sequence[object]) -> Floats:
    return np.arange(len(own), dtype=np.float64) / _HUNDRED


def drift_section(pieces: Sequence[Piece]) -> Section:
    """Strictness of each person, and whether they mark more or fewer errors on the way."""
    kept = final_pieces(pieces)
    means = means_by_system((piece.annotation.system, piece.score) for piece in kept)
    people: dict[str, list[Piece]] = {}
    for piece in kept:
        people.setdefault(piece.person, []).append(piece)
    numbers: list[Number] = []
    few = 0
    for person, own in sorted(people.items()):
        if len(own) < FEWEST:
            few += 1
            continue
        own.sort(key=lambda p: (p.submission.started, p.submission.place))
        numbers += _numbers(person, own, means)
    notes = [f"People left out, with fewer than {FEWEST} judgements: {few}."] if few else []
    title = "Who is stricter than others, and does it change on the way?"
    return Section(name="drift", title=title, numbers=tuple(numbers), notes=tuple(notes))


def _numbers(person: str, own: Sequence[Piece], means: Mapping[str, float]) -> Iterator[Number]:
    what = score_name(own)
    above, change = strictness([piece.score - means[piece.annotation.system] for piece in own])
    yield Number(of=person, measure=f"{what} above others", result=above)
    yield Number(of=person, measure=f"change of {what} in 100 translations", result=change)
    if own[0].has_marks:
        marks = np.array([float(len(piece.errors)) for piece in own])
        slope = slope_of(_hundreds(own), marks, _TOO_FEW)
        yield Number(of=person, measure="change of errors a translation in 100", result=slope)
