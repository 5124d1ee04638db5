"""Position bias: whether a verdict depends on which translation stood first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from adjudge.core.annotation import Preference
from adjudge.meta.agreement.estimate import Draws, mean_of
from adjudge.meta.measures.result import Result
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
            second in both (recency); from -1 to 1, 0 without bias; `p` of an exact two-sided sign test.
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
    draws = replace(draws, groups=numbered([(p.lp, p.segment) for p in asked]))
    verdicts = np.array([[VERDICTS[v] for v in p.orders] for p in asked]).reshape(len(asked), 2)
    places = verdicts * [1.0, -1.0]  # 1 for the first place, -1 for the second
    both = places.sum(axis=1) / 2
    wins = np.where(np.abs(both) == 1, both, 0.0)
    lean = mean_of(wins, draws, _NOTHING)
    won = int((wins > 0).sum()), int((wins < 0).sum())
    return PositionBias(
        n=len(asked),
        consistency=mean_of((verdicts[:, 0] == verdicts[:, 1]).astype(np.float64), draws, _NOTHING),
        first=mean_of((places == 1).mean(axis=1), draws, _NOTHING),
        second=mean_of((places == -1).mean(axis=1), draws, _NOTHING),
        tie=mean_of((places == 0).mean(axis=1), draws, _NOTHING),
        lean=replace(lean, test=partial(_sign_test, *won) if asked else None),
    )


def _sign_test(first: int, second: int) -> float:
    """Exact two-sided p-value of so many of both kinds, if either were as likely; 1 of none."""
    from scipy.stats import binomtest

    return float(binomtest(first, first + second).pvalue) if first + second else 1.0
