"""Several judgements of one translation as one number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from adjudge.errors import DataError
from adjudge.scoring.means import total

__all__ = ["Aggregate", "reciprocal_rank_mean"]

_DEVIATIONS: Final = 2.0


class Aggregate(NamedTuple):
    """One number, and how many of the samples it is made of."""

    score: float
    used: int


def reciprocal_rank_mean(scores: Sequence[float]) -> Aggregate:
    """GEMBA-V2's aggregate of repeated judgements, in which good ones weigh most.

    Scores farther than two standard deviations (of the population) from the mean are dropped, once. The
    others are ranked from the best, and score = sum(s_r / r) / sum(1 / r) over the ranks r = 1, 2, ...

    Source: Junczys-Dowmunt 2025, whose example of ten scores (-50 -11 -6 -6 -11 -6 -6 -55 -6 -11) comes to
    -8.50. Equal scores come to themselves, a single one too. Independent of the order given.

    Args:
        scores: higher is better.

    Raises:
        DataError: no scores.
    """
    if not scores:
        raise DataError("there are no samples to aggregate")
    every = sorted(scores, reverse=True)
    mean = total(every) / len(every)
    deviation = math.sqrt(total((s - mean) ** 2 for s in every) / len(every))
    ranked = [s for s in every if abs(s - mean) <= _DEVIATIONS * deviation]
    ranked = ranked or every  # the mean of equal scores may miss them by a rounding
    weights = [1 / rank for rank in range(1, len(ranked) + 1)]
    best, worst = ranked[0], ranked[-1]
    score = total(w * s for w, s in zip(weights, ranked, strict=True)) / total(weights)
    return Aggregate(min(max(score, worst), best), len(ranked))
