"""How much better one of two systems is on the same segments: the numbers behind `compare`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from adjudge.core.score import Interval
from adjudge.meta.bootstrap import LEVEL
from adjudge.meta.comparing.bounds import (
    ENOUGH_UNITS,
    FEW_UNITS,
    DifferenceBounds,
    difference_bounds,
    effective_size,
)
from adjudge.meta.matrix import Totals
from adjudge.meta.paired import enlarged, is_exact, sign_flip_p_values, signed_rank_p_value

__all__ = [
    "PAIRED_TESTS",
    "PAIRED_TITLES",
    "Difference",
    "Effect",
    "PairedTest",
    "difference",
    "effect",
    "method_of",
]

Floats = NDArray[np.float64]
PairedTest = Literal["permutation", "bootstrap", "wilcoxon"]
PAIRED_TESTS: Final[tuple[PairedTest, ...]] = get_args(PairedTest)
PAIRED_TITLES: Final[Mapping[PairedTest, str]] = {
    "permutation": "paired permutation test",
    "bootstrap": "paired bootstrap",
    "wilcoxon": "Wilcoxon signed-rank test",
}


@dataclass(frozen=True, kw_only=True)
class Effect:
    """How large a difference is, apart from how sure it is.

    Args:
        d_z: mean difference over the standard deviation of the differences; None where they do not vary.
        superiority: share of units where the first is better, half of the ties added; 0.5 is no effect.
        cliff: Cliff's delta, chance that any score of the first is above any of the second, less the
            opposite; from -1 to 1, and unlike the others not paired.
        wins: units where the first is better.
        ties: units where both are equal.
        losses: units where the second is better.
    """

    d_z: float | None
    superiority: float
    cliff: float
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The first system less the second. Above 0 the first is better.

    Args:
        first: mean of the first.
        second: mean of the second.
        value: first less second.
        interval: 95 % interval of that, by `bounds.difference_bounds`; None for one unit.
        p: two-sided p-value.
        effect: how large it is.
        units: segments, or documents, that were drawn or flipped.
        effective: independent segments that would be worth as much; `units` where those are segments.
    """

    first: float
    second: float
    value: float
    interval: Interval | None
    p: float
    effect: Effect
    units: int
    effective: float


def difference(
    totals: Totals,
    segments: Totals | None = None,
    *,
    test: PairedTest = "permutation",
    resamples: int = 1000,
    seed: int = 0,
) -> Difference:
    """Compare the two systems of `totals`, units by two, both judged in every unit.

    permutation: `paired.sign_flip_p_values` of the unit's parts in the means; also known as approximate
        randomisation (Riezler and Maxwell 2005). All flips up to 12 units. Flips take differences for
        symmetric; p is therefore at least that of the bootstrap, which follows the skew.
    bootstrap: twice the smaller of the one-sided p-values that go with the interval, at most 1: the interval
        leaves 0 out where p is at most 0.05. Koehn 2004 draws segments likewise and takes percentiles, which
        hold 0.86 to 0.88 for 0.95 with 15 segments.
    wilcoxon: `paired.signed_rank_p_value` of the unit's means: whether differences lie around 0, which is
        not the same as whether the means differ.

    Args:
        totals: of the two systems, by segment or by document.
        segments: the same by segment, for the effective size; None where `totals` is that.
        test: that p is of.
        resamples: draws of bootstrap and permutation.
        seed: of both.
    """
    bounds = difference_bounds(totals, resamples=resamples, seed=seed)
    first, second = (float(mean) for mean in totals.shares.mean(axis=0))
    return Difference(
        first=first,
        second=second,
        value=first - second,
        interval=_interval(bounds),
        p=_p_value(totals, bounds, test, resamples, seed),
        effect=effect(totals.means),
        units=len(totals.sums),
        effective=len(totals.sums) if segments is None else effective_size(segments, totals),
    )


def _interval(bounds: DifferenceBounds) -> Interval | None:
    if bounds.units < 2:
        return None
    if not bounds.error:  # the notes say that it has no width
        return Interval(bounds.value, bounds.value)
    return Interval(bounds.low((1 - LEVEL) / 2), bounds.high((1 - LEVEL) / 2))


def _p_value(totals: Totals, bounds: DifferenceBounds, test: PairedTest, resamples: int, seed: int) -> float:
    if test == "permutation":
        shares = enlarged(totals.shares)
        gaps = shares[:, [0]] - shares[:, [1]]
        flipped = float(sign_flip_p_values(gaps, resamples=resamples, seed=seed)[0])
        return max(flipped, _two_sided(bounds)) if 0 < bounds.error < math.inf else flipped
    if test == "wilcoxon":
        means = enlarged(totals.means)
        return signed_rank_p_value(means[:, 0] - means[:, 1])
    return _two_sided(bounds)


def _two_sided(bounds: DifferenceBounds) -> float:
    return min(1.0, 2 * min(bounds.p_above(0), bounds.p_below(0)))


def effect(scores: Floats) -> Effect:
    """Size of the difference of two systems.

    d_z: Cohen 1988, on paired differences. Superiority: Grissom 1994. Delta: Cliff 1993. Scores are
    `enlarged` and rounded to ten decimals first, so that noise breaks no tie.

    Args:
        scores: units by two.
    """
    first, second = np.round(enlarged(scores), 10).T
    gaps = np.round(first - second, 10)
    wins, losses = int((gaps > 0).sum()), int((gaps < 0).sum())
    spread = float(gaps.std(ddof=1)) if len(gaps) > 1 else 0.0
    ordered = np.sort(second)
    below, upto = (np.searchsorted(ordered, first, side=side) for side in ("left", "right"))
    return Effect(
        d_z=float(gaps.mean()) / spread if spread > 0 else None,
        superiority=(wins + (len(gaps) - wins - losses) / 2) / len(gaps),
        cliff=float((below + upto).sum() / (len(gaps) * len(gaps)) - 1),
        wins=wins,
        ties=len(gaps) - wins - losses,
        losses=losses,
    )


def method_of(test: PairedTest, units: int, of: str, resamples: int, seed: int) -> str:
    """Say how p and interval came about."""
    flips = f", {'all' if is_exact(units) else f'{resamples:,}'} sign flips" if test == "permutation" else ""
    parts = [f"Student's t over {of}"]
    if units >= FEW_UNITS:
        parts.append("studentised bootstrap")
    if units < ENOUGH_UNITS:
        parts.append(f"Bayesian bootstrap with one more of the {of} like the worst seen")
    if test == "permutation":
        flips += ", at least the p of the interval"
    return (
        f"95 % interval: the widest of {', '.join(parts)} ({resamples:,} resamples); two-sided p by "
        f"{PAIRED_TITLES[test]}{flips}; seed {seed}"
    )
