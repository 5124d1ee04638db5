"""Position bias: whether a verdict depends on which translation stood first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from adjudge.core.annotation import Preference
from adjudge.meta.agreement.estimate import Draws, mean_of
from adjudge.meta.measures.result import Floats, Result
from adjudge.meta.ranking.comparisons import VERDICTS, numbered

__all__ = ["PositionBias", "position_bias"]

_NOTHING: Final = "nothing was asked in both orders"


@dataclass(frozen=True, kw_only=True)
class PositionBias:
    """Verdicts of one annotator that was asked in both orders.

    Args:
        n: comparisons asked in both orders.
        consistency: share of them with the same verdict in both orders; 1 is without bias.
        first: share of all answers that chose what stood first.
        second: share of all answers that chose what stood second.
        tie: share of all answers that chose neither.
        lean: share of comparisons won by the first place in both orders (primacy), less those won by the
            second in both (recency); from -1 to 1, 0 without bias. `p` is that of an exact two-sided test
            that flips the signs of whole segments, as the interval draws whole segments: comparisons of one
            segment share its source and are not independent. With one comparison a segment it is the sign
            test.
    """

    n: int
    consistency: Result
    first: Result
    second: Result
    tie: Result
    lean: Result


def position_bias(preferences: Iterable[Preference], draws: Draws) -> PositionBias:
    """Position consistency and fairness.

    consistency = share of comparisons whose two orders have the same verdict, of A, B and E
    fairness = distribution of the answers of both orders over first place, second place and tie

    FiRE, section 4.3 and table 5. `orders` holds verdicts mapped back to (A, B): the first was asked with A
    in the first place, the second with B. Preferences asked once, or more than twice, are left out.

    Args:
        preferences: of one annotator on one criterion.
        draws: of the intervals; segments are drawn whole, and the groups are set here.
    """
    asked = [p for p in preferences if len(p.orders) == 2]
    segments = numbered([(p.lp, p.segment) for p in asked])
    draws = replace(draws, groups=segments)
    verdicts = np.array([[VERDICTS[v] for v in p.orders] for p in asked]).reshape(len(asked), 2)
    places = verdicts * [1.0, -1.0]  # 1 for the first place, -1 for the second
    both = places.sum(axis=1) / 2
    wins = np.where(np.abs(both) == 1, both, 0.0)
    lean = mean_of(wins, draws, _NOTHING)
    return PositionBias(
        n=len(asked),
        consistency=mean_of((verdicts[:, 0] == verdicts[:, 1]).astype(np.float64), draws, _NOTHING),
        first=mean_of((places == 1).mean(axis=1), draws, _NOTHING),
        second=mean_of((places == -1).mean(axis=1), draws, _NOTHING),
        tie=mean_of((places == 0).mean(axis=1), draws, _NOTHING),
        lean=replace(
            lean,
            test=partial(_flip_p_value, np.bincount(segments, wins).astype(np.float64)) if asked else None,
        ),
    )


def _flip_p_value(sums: Floats) -> float:
    """Return the exact two-sided p-value of a total, if the sign of every part is chance; 1 where all are 0.

    p = share of all sign vectors s with |sum(s * d)| >= |sum(d)|, counted over the values that sums can take.

    Args:
        sums: whole numbers, one a segment.
    """
    sizes = np.abs(sums).round().astype(np.int64)
    reach, total = int(sizes.sum()), abs(int(sums.sum()))
    chances = np.zeros(2 * reach + 1)  # of each total, from -reach on
    chances[reach] = 1.0
    for size in sizes[sizes > 0].tolist():
        flipped = np.zeros_like(chances)
        flipped[size:] += chances[:-size] / 2
        flipped[:-size] += chances[size:] / 2
        chances = flipped
    return min(1.0, float(chances[np.abs(np.arange(-reach, reach + 1)) >= total].sum()))
