"""How well a part of the segments ranks systems as all of them do; which weight of errors fits ratings."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Final

import numpy as np

from adjudge.core.score import Interval
from adjudge.errors import UsageError
from adjudge.meta.agreement.estimate import Draws, estimate
from adjudge.meta.measures.correlation import pearson
from adjudge.meta.measures.result import Floats

__all__ = ["best_major_weight", "drawn_major_weights", "major_weight_curve", "subset_agreement"]

_NOTHING: Final = 1e-12  # a variance below is rounding noise


def subset_agreement(
    scores: Floats, size: int, draws: int = 1000, seed: int = 0, *, as_paper: bool = False
) -> float:
    """Mean share of pairs of systems that random segments order as all segments do.

    agreement = mean over draws of |{i < j: sign(s_i - s_j) = sign(m_i - m_j)}| / |{i < j}|

    m: means over all segments; s: over the drawn ones, without replacement, at most all of them. A tie among
    the drawn ones is wrong. The ESA paper's figure 9 differs in two ways, which `as_paper` follows: each
    system's pair with itself counts, and always agrees, so that 13 systems start from 7.7 % and not from 0;
    and of tied systems the first one is ahead.

    Args:
        scores: systems by segments, without gaps.
        size: segments in a draw.
        draws: how many.
        seed: of the draws.
        as_paper: whether to count as the paper does.

    Raises:
        UsageError: fewer than two systems, or a gap.
    """
    systems, segments = scores.shape
    if systems < 2 or np.isnan(scores).any():
        raise UsageError(f"a subset's ranking needs two systems and every score, got {systems} systems")
    rng = np.random.default_rng(seed)
    chosen = np.zeros((segments, draws))
    for draw in range(draws):
        chosen[rng.permutation(segments)[:size], draw] = 1.0
    means = scores @ chosen / min(size, segments)
    whole = scores.mean(axis=1)
    first, second = np.triu_indices(systems, 1)
    signs = np.sign(np.round(means[first] - means[second], 10))  # rounding noise is no order
    order = np.sign(whole[first] - whole[second])[:, None]
    if not as_paper:
        return float((signs == order).mean())
    right = float(((signs >= 0) == (order >= 0)).mean())
    return float((systems + 2 * right * len(first)) / systems**2)


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
