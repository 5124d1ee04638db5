"""Bounds and one-sided tests of the difference of two means, which hold for few units and skewed scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from adjudge.meta.bootstrap import unit_draws
from adjudge.meta.matrix import Totals

__all__ = ["ENOUGH_UNITS", "FEW_UNITS", "DifferenceBounds", "Unseen", "difference_bounds", "effective_size"]

Floats = NDArray[np.float64]

ENOUGH_UNITS: Final = 100
"""From so many units on the studentised bootstrap needs no help."""
FEW_UNITS: Final = 20
"""With fewer units the studentised bootstrap is left out: draws that hardly vary give it no ends."""

_CELLS: Final = 2**21  # of one block of weights: 16 MB
_ROUNDING: Final = 1e-12


@dataclass(frozen=True, kw_only=True)
class Unseen:
    """One more unit, as bad for either side as the scale of the scores allows.

    Args:
        low: lowest score of the scale.
        high: highest score.
        size: how much it weighs, in the unit of `Totals.sizes`.
    """

    low: float
    high: float
    size: float


@dataclass(frozen=True, kw_only=True)
class DifferenceBounds:
    """What the data say of the difference of two means, first less second.

    Args:
        value: the difference.
        error: its standard error; infinite for one unit, 0 where all units differ alike.
        units: segments or documents that vary independently.
        steps: set of draws of the studentised difference, sorted; none for few units.
        lows: sets of draws of the difference with one more unit that is bad for the first, each sorted.
        highs: the same, with one more unit that is bad for the second.
    """

    value: float
    error: float
    units: int
    steps: tuple[Floats, ...]
    lows: tuple[Floats, ...]
    highs: tuple[Floats, ...]

    def low(self, alpha: float) -> float:
        """Lower bound of the difference, one-sided at level 1 - alpha; minus infinity where there is none."""
        if math.isinf(self.error):
            return -math.inf
        bounds = [_nth(draws, alpha) for draws in self.lows]
        if self.error:
            steps = [self._student(alpha), *(-_nth(-draws[::-1], alpha) for draws in self.steps)]
            bounds.append(self.value - max(steps) * self.error)
        return min(bounds, default=-math.inf)

    def high(self, alpha: float) -> float:
        """Upper bound of the difference, one-sided at level 1 - alpha; infinity where there is none."""
        if math.isinf(self.error):
            return math.inf
        bounds = [-_nth(-draws[::-1], alpha) for draws in self.highs]
        if self.error:
            steps = [self._student(alpha), *(float(-_nth(draws, alpha)) for draws in self.steps)]
            bounds.append(self.value + max(steps) * self.error)
        return max(bounds, default=math.inf)

    def p_above(self, value: float) -> float:
        """p-value behind "the difference is above `value`"; at most alpha where `low(alpha)` is above it."""
        if math.isinf(self.error):
            return 1.0
        found = [_share(draws <= value, draws) for draws in self.lows]
        if self.error:
            step = (self.value - value) / self.error
            found.append(self._tail(step))
            found += [_share(draws >= step, draws) for draws in self.steps]
        return max(found, default=1.0)

    def p_below(self, value: float) -> float:
        """p-value behind "the difference is below `value`"."""
        if math.isinf(self.error):
            return 1.0
        found = [_share(draws >= value, draws) for draws in self.highs]
        if self.error:
            step = (self.value - value) / self.error
            found.append(self._tail(-step))
            found += [_share(draws <= step, draws) for draws in self.steps]
        return max(found, default=1.0)

    def _student(self, alpha: float) -> float:
        from scipy.special import stdtrit  # scipy.stats takes seconds to import

        return float(-stdtrit(self.units - 1, alpha))

    def _tail(self, step: float) -> float:
        from scipy.special import stdtr

        return float(stdtr(self.units - 1, -step))


def _nth(draws: Floats, alpha: float) -> float:
    """The draw that so large a share lies below; `draws` are sorted."""
    place = max(1, math.floor(alpha * (len(draws) + 1) * (1 + 1e-12)))
    return float(draws[place - 1])


def _share(hits: NDArray[np.bool_], draws: Floats) -> float:
    return (int(hits.sum()) + 1) / (len(draws) + 1)


def difference_bounds(
    totals: Totals, unseen: Unseen | None = None, *, resamples: int = 1999, seed: int = 0
) -> DifferenceBounds:
    """Bound the difference of the means of two systems, both judged in every unit.

    Each bound is the widest, each p-value the largest, of these:

    - Student's t with units - 1 degrees of freedom. The standard error is that of two ratios of sums over
      units, linearised, so that documents may differ in length.
    - From 20 units on, the studentised bootstrap (Efron and Tibshirani 1993, chapter 12): units are drawn
      with replacement, and the draws' own t takes the place of Student's. It follows the skew of the scores.
    - With fewer than 100 units: a Bayesian bootstrap (Rubin 1981) in which the unit that is worst for the one
      side counts once more, with the weight 2 (1 - units / 100). Few units seldom show the tail.
    - With `unseen`: a Bayesian bootstrap with one more unit at the end of the scale. With units of one size
      this is Gaffke's bound (Gaffke 2005; Learned-Miller and Thomas 2020), which for 0 and 1 is that of
      Clopper and Pearson; no case is known in which it fails, though a proof is missing. It alone sees what
      no unit shows: where n units are without a catastrophe, up to 1 - alpha^(1/n) of all may be one.

    The errors of all this on WMT23's data are in docs/coverage.md.

    Args:
        totals: units by two.
        unseen: one more unit; None where the scale has no ends.
        resamples: draws.
        seed: of numpy's default generator.
    """
    units = len(totals.sums)
    means = totals.sums.sum(axis=0) / totals.sizes.sum(axis=0)
    value = float(means[0] - means[1])
    if units < 2:
        return DifferenceBounds(value=value, error=math.inf, units=units, steps=(), lows=(), highs=())
    rest = _rest(totals)
    error = float(np.sqrt((rest @ rest) * units / (units - 1)))
    lows, highs = list[Floats](), list[Floats]()
    if error and units < ENOUGH_UNITS:
        weight = 2 * (1 - units / ENOUGH_UNITS)
        more = [_unit(totals, int(place), weight) for place in (rest.argmin(), rest.argmax())]
        low, high = _with_one_more(totals, more, resamples, seed)
        lows.append(low)
        highs.append(high)
    if unseen is not None:
        ends = np.array([[unseen.low, unseen.high], [unseen.high, unseen.low]]) * unseen.size
        more = [(end, np.full(2, unseen.size)) for end in ends]
        low, high = _with_one_more(totals, more, resamples, seed)
        lows.append(low)
        highs.append(high)
    return DifferenceBounds(
        value=value,
        error=error,
        units=units,
        steps=(_studentised(totals, resamples, seed),) if error and units >= FEW_UNITS else (),
        lows=tuple(lows),
        highs=tuple(highs),
    )


def _rest(totals: Totals) -> Floats:
    """Each unit's part in the deviation of the difference; what is rounding is 0."""
    whole = totals.sizes.sum(axis=0)
    parts = (totals.sums - totals.sums.sum(axis=0) / whole * totals.sizes) / whole
    rest = parts[:, 0] - parts[:, 1]
    size = float(np.abs(totals.sums / whole).max(initial=0.0))
    return np.where(np.abs(rest) <= _ROUNDING * size, 0.0, rest)


def _studentised(totals: Totals, resamples: int, seed: int) -> Floats:
    """Draws of (difference in the draw less the difference) / standard error in the draw, sorted.

    With x = (sums and sizes of both systems) of a unit, a unit's residual in a draw is v'x, and the sum of
    their squares v'Qv, Q = sum of counts x x': ten products of units by draws, whatever the draw's means are.
    """
    center = totals.sums.sum(axis=0) / totals.sizes.sum(axis=0)
    sums = totals.sums - center * totals.sizes  # so that the difference to be drawn is 0
    size = float(np.abs(sums).max()) or 1.0
    x = np.stack([sums[:, 0] / size, totals.sizes[:, 0], sums[:, 1] / size, totals.sizes[:, 1]], axis=1)
    above = np.triu_indices(4)
    products = x[:, above[0]] * x[:, above[1]] * np.where(above[0] == above[1], 1.0, 2.0)
    units, found = len(x), list[Floats]()
    for counts in unit_draws(units, resamples, seed):
        drawn = counts @ x
        means = drawn[:, [0, 2]] / drawn[:, [1, 3]]
        parts = 1 / drawn[:, [1, 3]]
        v = np.stack(
            [parts[:, 0], -parts[:, 0] * means[:, 0], -parts[:, 1], parts[:, 1] * means[:, 1]], axis=1
        )
        squares = ((counts @ products) * v[:, above[0]] * v[:, above[1]]).sum(axis=1)
        gaps, errors = means[:, 0] - means[:, 1], np.sqrt(np.maximum(squares, 0) * units / (units - 1))
        still = errors <= 1e-7 * np.abs(parts).max(axis=1)  # all units drawn differ alike
        steps = np.where(gaps == 0, 0.0, np.copysign(np.inf, gaps))
        np.divide(gaps, errors, out=steps, where=~still)
        found.append(steps)
    return np.sort(np.concatenate(found))


_More = tuple[Floats, Floats]
"""Sums and sizes of both systems that one more unit has."""


def _unit(totals: Totals, place: int, weight: float) -> _More:
    return weight * totals.sums[place], weight * totals.sizes[place]


def _with_one_more(totals: Totals, more: Sequence[_More], resamples: int, seed: int) -> list[Floats]:
    """Draws of the difference in a Bayesian bootstrap with one more unit, sorted; one set for each."""
    found: list[list[Floats]] = [[] for _ in more]
    for weights in _weights(len(totals.sums) + 1, resamples, seed):
        sums, sizes, last = weights[:, :-1] @ totals.sums, weights[:, :-1] @ totals.sizes, weights[:, [-1]]
        for draws, (sum_, size) in zip(found, more, strict=True):
            means = (sums + last * sum_) / (sizes + last * size)
            draws.append(means[:, 0] - means[:, 1])
    return [np.sort(np.concatenate(draws)) for draws in found]


def _weights(units: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Exponential weights, draws by units, in blocks."""
    rng = np.random.default_rng(seed)
    rows = max(1, _CELLS // units)
    for start in range(0, resamples, rows):
        yield rng.standard_exponential((min(rows, resamples - start), units))


def effective_size(segments: Totals, units: Totals) -> float:
    """Independent segments that would give the same standard error as these documents, at most all segments.

    n se(segments)^2 / se(documents)^2, Kish's design effect turned round; the number of documents where no
    difference varies.
    """
    within, between = (_rest(totals) for totals in (segments, units))
    n, m = len(within), len(between)
    alone, together = (float(rest @ rest) for rest in (within, between))
    return float(min(n, n * alone / together)) if together else float(m)
