"""How far the judgements at hand are from telling systems apart: power, from the data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from adjudge.core.score import Scores
from adjudge.errors import UsageError
from adjudge.meta.comparing.power import Plan, units_needed, variance_parts
from adjudge.meta.comparing.two_systems import are_documents_known, side_by_side
from adjudge.meta.matrix import score_matrix
from adjudge.meta.paired import enlarged, sign_flip_p_values

__all__ = ["Separation", "SeparationSettings", "separations"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class SeparationSettings:
    """What is asked.

    Args:
        segments: of the plan; None for as many as there are.
        annotators: of each translation in the plan; None for those there are.
        alpha: of the two-sided test.
        power: chance to be reached.
        by_document: documents vary as wholes, since their segments are not independent; None for documents
            where they are known.
        resamples: draws of the simulation, and of the permutation test.
        seed: of both.
    """

    segments: int | None = None
    annotators: int | None = None
    alpha: float = 0.05
    power: float = 0.8
    by_document: bool | None = None
    resamples: int = 1000
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Separation:
    """Two systems, and what it takes to tell them apart.

    Args:
        first: the better one at hand.
        second: the other one.
        n: segments judged for both.
        difference: of their means.
        p: two-sided, by the paired permutation test.
        plan: spread, segments and annotators that what follows is for.
        detectable: smallest true difference that the plan finds with the wanted chance.
        power: chance of the plan to find the difference at hand, if that is the true one.
        needed: segments needed to find it with the wanted chance; None where that is out of reach.
        more: translations still to be judged, of both systems, by all annotators; None likewise.
        annotator_sd: spread over annotators; None where it cannot be told from that over segments.
        units: segments, or documents, that vary independently.
    """

    first: str
    second: str
    n: int
    difference: float
    p: float
    plan: Plan
    detectable: float
    power: float
    needed: int | None
    more: int | None
    annotator_sd: float | None
    units: int


def separations(
    scores: Scores,
    systems: Sequence[str] | None = None,
    *,
    settings: SeparationSettings | None = None,
    by_annotator: Mapping[str, Scores] | None = None,
) -> tuple[Separation, ...]:
    """Say what it takes to tell two systems apart, or each system from the next best.

    Segments needed: by simulation from the differences at hand (`power.units_needed`); by the formula of
    `power.Plan` where another number of annotators is planned than there is.

    Args:
        scores: of one annotator, or means over several.
        systems: two of them; None for each system and the next one by mean.
        settings: what is asked.
        by_annotator: scores of each annotator alone, where there are several.

    Raises:
        DataError: nothing is judged for both.
        UsageError: no such system, fewer than two, or a number of annotators that nothing can be said of.
    """
    settings = settings or SeparationSettings()
    names = list(dict.fromkeys(s.system for s in scores.segments))
    if systems is not None and (unknown := [name for name in systems if name not in names]):
        raise UsageError(f"there is no system {unknown[0]!r}; there are {', '.join(names)}")
    if systems is None:
        means = {s.system: s.score for s in scores.systems if s.score is not None}
        systems = sorted(means, key=lambda name: (-means[name], name))
    if len(systems) < 2:
        raise UsageError(f"two systems are told apart, and there is {', '.join(systems) or 'none'}")
    if len(set(systems)) < len(systems):
        raise UsageError(f"{systems[0]!r} cannot be told from itself")
    return tuple(_separation(scores, pair, settings, by_annotator or {}) for pair in pairwise(systems))


def _gaps(shares: Floats) -> Floats:
    return shares[:, 0] - shares[:, 1]


def _separation(
    scores: Scores,
    pair: tuple[str, str],
    settings: SeparationSettings,
    by_annotator: Mapping[str, Scores],
) -> Separation:
    _, matrix, _ = side_by_side(scores, scores, [pair])
    if settings.by_document is None:  # annotators are told apart by segment alone
        known = settings.annotators is None and are_documents_known(matrix)
        settings = replace(settings, by_document=known)
    totals = matrix.totals(by_document=bool(settings.by_document))
    n, units = len(matrix.scores), len(totals.sums)
    gaps = _gaps(totals.shares)
    difference = float(gaps.mean())
    parts = variance_parts(_by_annotator(pair, by_annotator))
    plan = _plan(gaps, n, settings, parts)
    if settings.annotators is None:
        drawn = units_needed(
            gaps,
            alpha=settings.alpha,
            power=settings.power,
            resamples=settings.resamples,
            seed=settings.seed,
        )
        needed = None if drawn is None else math.ceil(drawn * n / units)
    else:
        needed = plan.needed_for(difference)
    tested = _gaps(enlarged(totals.shares))[:, None]
    flips = sign_flip_p_values(tested, resamples=settings.resamples, seed=settings.seed)
    return Separation(
        first=pair[0],
        second=pair[1],
        n=n,
        difference=difference,
        p=float(flips[0]),
        plan=plan,
        detectable=plan.detectable,
        power=plan.power_for(difference),
        needed=needed,
        more=None if needed is None else 2 * plan.annotators * max(0, needed - n),
        annotator_sd=None if parts is None else parts[1],
        units=units,
    )


def _plan(gaps: Floats, n: int, settings: SeparationSettings, parts: tuple[float, float] | None) -> Plan:
    """Spread of one segment: that of a unit, scaled to one segment where units are documents."""
    if len(gaps) < 2:
        raise UsageError("a spread needs two segments, or documents, that are judged for both systems")
    spread, segments = float(gaps.std(ddof=1)) * math.sqrt(n / len(gaps)), settings.segments or n
    if settings.annotators is None:
        return Plan(
            sd=spread,
            segments=segments,
            alpha=settings.alpha,
            power=settings.power,
            per_unit=n / len(gaps),
            pilot=len(gaps),
        )
    if parts is None:
        raise UsageError(
            "what more annotators bring can be told only where some translations have several; "
            "here every one has one: leave out --annotators, or give --sd and --annotator-sd"
        )
    if settings.by_document:
        raise UsageError("--annotators and --by-document are not for one plan: choose one")
    return Plan(
        sd=parts[0],
        annotator_sd=parts[1],
        annotators=settings.annotators,
        segments=segments,
        alpha=settings.alpha,
        power=settings.power,
        pilot=len(gaps),
    )


def _by_annotator(pair: tuple[str, str], by_annotator: Mapping[str, Scores]) -> Floats:
    """Segments by annotators, first system less second; NaN where an annotator did not judge both."""
    rows: dict[tuple[str, str], int] = {}
    cells: list[tuple[int, int, float]] = []
    for column, scores in enumerate(by_annotator.values()):
        both = [s for s in scores.segments if s.system in pair]
        matrix = score_matrix(both)
        if set(matrix.systems) != set(pair):
            continue
        one, other = (matrix.scores[:, matrix.systems.index(name)] for name in pair)
        places = dict.fromkeys((s.lp, s.segment) for s in both)
        for place, gap in zip(places, (one - other).tolist(), strict=True):
            cells.append((rows.setdefault(place, len(rows)), column, gap))
    found = np.full((len(rows), len(by_annotator)), np.nan)
    for row, column, gap in cells:
        found[row, column] = gap
    return found
