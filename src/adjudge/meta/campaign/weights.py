"""Which weight of a major error fits people's ratings. The ESA paper, figure 8."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Final

import numpy as np

from adjudge.core.score import Interval
from adjudge.errors import AdjudgeError, UsageError
from adjudge.meta.agreement.estimate import Draws, estimate
from adjudge.meta.campaign.numbers import Number, Section
from adjudge.meta.campaign.pieces import Piece
from adjudge.meta.measures.correlation import pearson
from adjudge.meta.measures.result import Floats, Result
from adjudge.meta.ranking.comparisons import numbered

__all__ = ["WEIGHTS", "best_major_weight", "major_weight_curve", "weight_section"]

WEIGHTS = np.arange(101) / 10
"""Of a major error, where a minor one is 1: those that are tried."""
_NOTHING: Final = 1e-12  # a variance below is rounding noise


def major_weight_curve(ratings: Floats, minor: Floats, major: Floats, weights: Floats) -> Floats:
    """Pearson's r of ratings with -(minor + weight * major), for each weight. The ESA paper, figure 8.

    Args:
        ratings: of each translation.
        minor: number of minor errors.
        major: number of major errors.
        weights: of a major error, where a minor one is 1.

    Returns:
        NaN where the errors of all translations weigh the same.
    """
    found = [pearson(ratings, -(minor + weight * major)).value for weight in weights.tolist()]
    return np.array([np.nan if value is None else value for value in found])


def best_major_weight(ratings: Floats, minor: Floats, major: Floats, weights: Floats) -> float:
    """The weight with the highest correlation; the first of equal ones.

    Raises:
        UsageError: no weight has a correlation.
    """
    curve = major_weight_curve(ratings, minor, major, weights)
    if np.isnan(curve).all():
        raise UsageError("no weight of a major error fits ratings or errors that are all the same")
    return float(weights[np.nanargmax(curve)])


def drawn_major_weights(
    ratings: Floats, minor: Floats, major: Floats, weights: Floats, draws: Draws
) -> Interval | None:
    """95 % interval of `best_major_weight`: of each draw, the weight with the highest correlation.

    The correlation of a sum is one of its parts' moments, so that no draw goes through the translations once
    for every weight.
    """
    parts = [values - values.mean() for values in (ratings, minor, major)]
    pairs = list(combinations_with_replacement(range(3), 2))
    moments = np.stack([*parts, *(parts[i] * parts[j] for i, j in pairs)], axis=1)

    def statistic(counts: Floats) -> Floats:
        means = counts @ moments / counts.sum(axis=1)[:, None]
        cov = {(i, j): means[:, 3 + k] - means[:, i] * means[:, j] for k, (i, j) in enumerate(pairs)}
        above = -(cov[0, 1][:, None] + weights * cov[0, 2][:, None])
        below = cov[1, 1][:, None] + 2 * weights * cov[1, 2][:, None] + weights**2 * cov[2, 2][:, None]
        found = np.full(below.shape, -np.inf)
        np.divide(above, np.sqrt(np.clip(below, 0, None)), out=found, where=below > _NOTHING)
        best = weights[found.argmax(axis=1)]
        return np.where(np.isinf(found).all(axis=1), np.nan, best)

    every = np.ones(len(ratings), dtype=np.bool_)
    return estimate(statistic, every, draws, "").interval


def weight_section(final: Sequence[Piece], draws: Draws) -> tuple[Section, Floats]:
    """Which weight of a major error fits the ratings best. The ESA paper, figure 8."""
    title = "Which weight of a major error fits the ratings?"
    ratings = np.array([piece.score for piece in final])
    minor, major = (
        np.array([float(sum(s in kinds for s in piece.severities)) for piece in final])
        for kinds in (("minor",), ("major", "critical"))
    )
    try:
        best = best_major_weight(ratings, minor, major, WEIGHTS)
    except AdjudgeError as error:
        return Section(name="weights", title=title, notes=(f"{error}.",)), np.zeros(0)
    curve = major_weight_curve(ratings, minor, major, WEIGHTS)
    interval = drawn_major_weights(ratings, minor, major, WEIGHTS, replace(draws, groups=_groups(final)))
    n = len(final)
    numbers = [
        Number(of="all", measure="best weight", result=Result(value=best, n=n, interval=interval)),
        Number(
            of="all", measure="Pearson at the best weight", result=Result(value=float(np.nanmax(curve)), n=n)
        ),
        Number(of="all", measure="Pearson at weight 5", result=Result(value=float(curve[50]), n=n)),
    ]
    return Section(name="weights", title=title, numbers=tuple(numbers)), curve


def _groups(final: Sequence[Piece]) -> list[int]:
    return numbered([piece.key[:2] for piece in final])
