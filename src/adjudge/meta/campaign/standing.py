"""Which systems still differ, seen while a campaign is under way: ranks, pairs still tied, when to stop.

Whoever looks again and again finds differences by chance. So a pair counts as told apart only where its
difference is more than z / sqrt(t) standard errors, t the part of the work that is done and z the two-sided
bound at the end (1.96 at 5 %). These are about O'Brien and Fleming's bounds (1979), which take hardly
anything from the last look.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal

import numpy as np

from adjudge.core.score import Interval
from adjudge.meta.bootstrap import bootstrap_means, percentile_intervals
from adjudge.meta.comparing.power import Plan
from adjudge.meta.measures.result import Floats

__all__ = ["PairStanding", "Standing", "SystemStanding", "find_standing"]

State = Literal["apart", "leaning", "tied", "unknown"]
"""Told apart for good; apart if nobody had looked before; not apart; fewer than two units for both."""

_FEWEST: Final = 10  # units of both systems before anything is called more than tied


@dataclass(frozen=True, kw_only=True)
class PairStanding:
    """Two systems, the one ahead first.

    Args:
        first: ahead by the mean over what both share.
        second: the other one.
        n: units judged for both: segments, or comparisons of the two.
        difference: of their means over these.
        p: two-sided, by the normal law; None with fewer than two units.
        state: what can be said.
        needed: units still needed to tell them apart, with a chance of 80 %, if the difference at hand is the
            true one; 0 where they are apart, None where nothing says it.
    """

    first: str
    second: str
    n: int
    difference: float
    p: float | None
    state: State
    needed: int | None


@dataclass(frozen=True, kw_only=True)
class SystemStanding:
    """One system.

    Args:
        system: its name.
        mean: over its units; None before the first.
        interval: 95 %, by bootstrap over units.
        n: units.
        best: rank if everything that is not told apart fell its way, from 1.
        worst: if nothing did.
    """

    system: str
    mean: float | None
    interval: Interval | None
    n: int
    best: int
    worst: int


@dataclass(frozen=True, kw_only=True)
class Standing:
    """All systems, best first, and every pair of them.

    Args:
        systems: those without a judgement last.
        pairs: ahead first, in the order of the systems.
        done: part of the work that is done, 0 to 1.
        is_over: whether every pair is apart, or all the work is done.
    """

    systems: tuple[SystemStanding, ...]
    pairs: tuple[PairStanding, ...]
    done: float
    is_over: bool

    @property
    def open(self) -> tuple[PairStanding, ...]:
        """Pairs that are not told apart."""
        return tuple(pair for pair in self.pairs if pair.state != "apart")


def find_standing(
    systems: Sequence[str], scores: Floats, done: float, *, resamples: int = 500, alpha: float = 0.05
) -> Standing:
    """Say which systems differ so far.

    Args:
        systems: names, one a column.
        scores: units by systems, NaN where not judged. Of comparisons, the points of both.
        done: part of the work that is done, 0 to 1.
        resamples: draws of the intervals.
        alpha: two-sided bound of all the work.
    """
    judged = ~np.isnan(scores)
    sizes = judged.astype(np.float64)
    drawn = bootstrap_means(np.nan_to_num(scores), sizes, resamples=resamples)
    intervals = percentile_intervals(drawn)
    amounts = judged.sum(axis=0)
    means = [float(np.nanmean(scores[:, k])) if amounts[k] else None for k in range(len(systems))]
    order = sorted(range(len(systems)), key=lambda k: (means[k] is None, -(means[k] or 0.0), systems[k]))
    pairs = tuple(_pairs(systems, scores, order, done, alpha))
    apart = [pair for pair in pairs if pair.state == "apart"]
    rows = [
        SystemStanding(
            system=systems[k],
            mean=means[k],
            interval=intervals[k],
            n=int(amounts[k]),
            best=1 + sum(pair.second == systems[k] for pair in apart),
            worst=len(systems) - sum(pair.first == systems[k] for pair in apart),
        )
        for k in order
    ]
    is_over = done >= 1 or (bool(pairs) and len(apart) == len(pairs))
    return Standing(systems=tuple(rows), pairs=pairs, done=done, is_over=is_over)


def _pairs(
    systems: Sequence[str], scores: Floats, order: Sequence[int], done: float, alpha: float
) -> Iterator[PairStanding]:
    for one, other in combinations(order, 2):
        gaps = scores[:, one] - scores[:, other]
        gaps = gaps[~np.isnan(gaps)]
        ahead, behind = (one, other) if not len(gaps) or gaps.mean() >= 0 else (other, one)
        yield _pair(systems[ahead], systems[behind], gaps, done, alpha)


def _pair(first: str, second: str, gaps: Floats, done: float, alpha: float) -> PairStanding:
    from scipy.special import ndtr, ndtri  # scipy.stats takes seconds to import

    n = len(gaps)
    difference = abs(float(gaps.mean())) if n else 0.0
    if n < 2:
        return PairStanding(
            first=first, second=second, n=n, difference=difference, p=None, state="unknown", needed=None
        )
    plan = Plan(sd=float(gaps.std(ddof=1)), segments=n, alpha=alpha)
    error = plan.spread / math.sqrt(n)
    z = difference / error if error else (math.inf if difference else 0.0)
    usual = -float(ndtri(alpha / 2))
    bound = usual / math.sqrt(min(max(done, 1e-9), 1.0))
    state: State = "tied"
    if n >= _FEWEST and z > usual:
        state = "apart" if z > bound else "leaning"
    least = plan.needed_for(difference) if error else _FEWEST
    return PairStanding(
        first=first,
        second=second,
        n=n,
        difference=difference,
        p=float(2 * ndtr(-z)),
        state=state,
        needed=0 if state == "apart" else None if least is None else max(1, least - n),
    )
