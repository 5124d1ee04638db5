"""Intervals: what few and skewed units say of a mean, or of the difference of two means.

One rule for every verb, Student's t with Hall's correction for skew (`Bounds`): of the means of systems
(`bounds_of_means`), and of a difference (`bounds_of_difference`). `cautious_bounds` adds what the units do
not show, for a verdict. A unit is a document or a segment: what varies independently.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np

from adjudge.core.frozen import frozen
from adjudge.core.scores import Interval
from adjudge.stats.bootstrap import LEVEL
from adjudge.stats.judged import Floats, divided

_LEAST_FLIPPED: Final = 6  # all flips of five documents give p >= 0.0625
METHOD: Final = "Student's t with Hall's correction for skew"

ENOUGH_UNITS: Final = 100
"""From so many units on a verdict needs no worst unit twice."""

_CELLS: Final = 2**21  # of one block of weights: 16 MB
_ROUNDING: Final = 1e-12


@frozen
class Totals:
    """What each unit, a segment or a document, holds of each system."""

    sums: Floats  # units by systems, weighted sum of the unit's scores; 0 where there is none
    sizes: Floats  # units by systems, sum of their weights; 0 where there is none

    @property
    def means(self) -> Floats:
        """Units by systems, mean score; NaN where there is none."""
        return divided(self.sums, self.sizes)

    @property
    def shares(self) -> Floats:
        """Units by systems, the unit's part in the system's mean; the mean of a column is that mean."""
        shares, mean_size = np.zeros(self.sums.shape), self.sizes.mean(axis=0)
        np.divide(self.sums, mean_size, out=shares, where=mean_size > 0)
        return shares


@frozen
class Bounds:
    """What the data say of a mean, or of a difference of two.

    Each bound is the widest, each p-value the largest, of Student's t with units - 1 degrees of freedom, of
    the same after Hall's transformation, and of the draws, where there are some. With T = (value - truth) /
    error and a = skew / sqrt(units),

    g(T) = T + a T^2 / 3 + a^2 T^3 / 27 + a / 6

    takes the first order of the skew out of T and always rises (Hall 1992, On the removal of skewness by
    transformation, JRSS B 54). Means of scores are skewed to the left: few units hold most of the errors.
    """

    value: float  # the mean or difference
    error: float  # its standard error; infinite for one unit, 0 where all units are alike
    units: int  # segments or documents that vary independently
    # of the units' parts in the value (Fisher and Pearson's coefficient, adjusted); 0 for two units
    skew: float = 0.0
    lows: tuple[Floats, ...] = ()  # sets of draws of the value with one more unit that lowers it, each sorted
    highs: tuple[Floats, ...] = ()  # the same, with one more unit that raises it

    @property
    def interval(self) -> Interval | None:
        """95 %, both ends by a one-sided bound at 97.5 %; None for one unit, no width where all are alike."""
        if self.units < 2:
            return None
        if not self.error:
            return Interval(self.value, self.value)
        return Interval(self.low((1 - LEVEL) / 2), self.high((1 - LEVEL) / 2))

    def low(self, alpha: float) -> float:
        """Lower bound, one-sided at level 1 - alpha; minus infinity where there is none."""
        from scipy.special import stdtrit  # scipy.stats takes seconds to import

        if math.isinf(self.error):
            return -math.inf
        # the last rank of which p_above is at most alpha, in its own arithmetic
        ranks = [int((np.arange(1, len(d) + 1) / (len(d) + 1) <= alpha).sum()) for d in self.lows]
        bounds = [float(d[max(1, rank) - 1]) for d, rank in zip(self.lows, ranks, strict=True)]
        if self.error:
            step = float(stdtrit(self.units - 1, 1 - alpha))
            shifted = step - self._tilt / 6
            root = math.cbrt(1 + self._tilt * shifted)
            back = 3 * shifted / (root * root + root + 1)  # g(back) = step
            bounds.append(self.value - max(step, back) * self.error)
        return min(bounds, default=-math.inf)

    def high(self, alpha: float) -> float:
        """Upper bound, one-sided at level 1 - alpha; infinity where there is none."""
        return 0.0 - self._turned.low(alpha)  # no minus before a zero

    def p_above(self, value: float) -> float:
        """p-value behind "it is above `value`"; at most alpha where `low(alpha)` is above it."""
        from scipy.special import stdtr

        if math.isinf(self.error):
            return 1.0
        found = [(int((draws <= value).sum()) + 1) / (len(draws) + 1) for draws in self.lows]
        if self.error:
            step, tilt = (self.value - value) / self.error, self._tilt
            transformed = step + tilt * step**2 / 3 + tilt**2 * step**3 / 27 + tilt / 6
            found.append(float(stdtr(self.units - 1, -min(step, transformed))))
        return max(found, default=1.0)

    def p_below(self, value: float) -> float:
        return self._turned.p_above(-value)

    @property
    def p(self) -> float:
        """Two-sided p-value of "it is not 0", at most 0.05 where the interval leaves 0 out."""
        return min(1.0, 2 * min(self.p_above(0), self.p_below(0)))

    @property
    def _tilt(self) -> float:
        return self.skew / math.sqrt(self.units)

    @property
    def _turned(self) -> Bounds:
        lows, highs = (tuple(-draws[::-1] for draws in each) for each in (self.highs, self.lows))
        return replace(self, value=-self.value, skew=-self.skew, lows=lows, highs=highs)


def bounds_of_means(totals: Totals) -> list[Bounds | None]:
    """Bound the mean of each system, over the units that hold something of it; None where none does.

    A mean is a ratio of sums over units, for documents differ in length (Cochran 1977, chapter 6):

    se^2 = G / (G - 1) * sum over units (s_g - n_g m)^2 / (sum over units n_g)^2
    """
    found: list[Bounds | None] = []
    for sums, sizes in zip(totals.sums.T, totals.sizes.T, strict=True):
        held = sizes > 0
        if not held.any():
            found.append(None)
            continue
        whole = sizes.sum()
        mean = sums.sum() / whole
        mean += (sums - mean * sizes).sum() / whole  # equal scores have their own mean, to the last bit
        own = Totals(sums=sums[held, None], sizes=sizes[held, None])
        found.append(_bounds(float(mean), linearised(own)))
    return found


def bounds_of_difference(totals: Totals) -> Bounds:
    """Bound the difference of the means of two systems, first less second, both judged in every unit."""
    first, second = (totals.sums.sum(axis=0) / totals.sizes.sum(axis=0)).tolist()
    return _bounds(first - second, linearised(totals))


def has_flips(units: int, *, by_document: bool) -> bool:
    """Whether the permutation test flips signs: of fewer than six documents no flips can show a difference.

    Then its p-value is that of the bounds alone, which erred in 3 to 5 % of samples of two to five documents
    of WMT23. Of so few segments they erred in up to 7 %, and none is believed.
    """
    return not by_document or not 1 < units < _LEAST_FLIPPED


def permutation_p_value(flipped: float, bound: float, bounds: Bounds, *, by_document: bool) -> float:
    """p-value of the permutation test: the larger one of sign flips and of the bounds.

    Flips take differences for symmetric, and bounds follow the skew. Differences that do not vary have no
    bounds: the flips alone.
    """
    if not 0 < bounds.error < math.inf:
        return flipped
    return max(flipped, bound) if has_flips(bounds.units, by_document=by_document) else bound


def permutation_p_values(flipped: Floats, ordered: Totals, *, by_document: bool) -> Floats:
    """Systems by systems: the same of every pair, one-sided, above the diagonal; `flipped` below.

    `flipped`: of all pairs, systems by systems.
    """
    found = flipped.copy()
    for pair in combinations(range(len(flipped)), 2):
        bounds = bounds_of_difference(Totals(sums=ordered.sums[:, pair], sizes=ordered.sizes[:, pair]))
        found[pair] = permutation_p_value(
            float(flipped[pair]), bounds.p_above(0), bounds, by_document=by_document
        )
    return found


def linearised(totals: Totals) -> Floats:
    """Each unit's part in the deviation of one system's mean, or of the difference of two; rounding is 0."""
    whole = totals.sizes.sum(axis=0)
    parts = (totals.sums - totals.sums.sum(axis=0) / whole * totals.sizes) / whole
    found = parts @ np.array([1.0, -1.0])[: parts.shape[1]]
    size = float(np.abs(totals.sums / whole).max(initial=0.0))
    return np.where(np.abs(found) <= _ROUNDING * size, 0.0, found)


def _bounds(value: float, parts: Floats) -> Bounds:
    units = len(parts)
    if units < 2:
        return Bounds(value=value, error=math.inf, units=units)
    spread = float(np.sqrt(parts @ parts / units))
    skew = 0.0
    if spread and units > 2:
        skew = float(((parts / spread) ** 3).mean()) * math.sqrt(units * (units - 1)) / (units - 2)
    return Bounds(value=value, error=spread * units / math.sqrt(units - 1), units=units, skew=skew)


@frozen
class Unseen:
    """One more unit, as bad for either side as the scale of the scores allows."""

    low: float  # lowest score of the scale
    high: float
    size: float  # how much it weighs, in the unit of `Totals.sizes`


def cautious_bounds(
    totals: Totals, unseen: Unseen | None = None, *, resamples: int = 1999, seed: int = 0
) -> Bounds:
    """`bounds_of_difference`, and as bad as what few units seldom show.

    - With fewer than 100 units: a Bayesian bootstrap (Rubin 1981) in which the unit that is worst for the one
      side counts once more, with the weight 2 (1 - units / 100). Few units seldom show the tail.
    - With `unseen`: a Bayesian bootstrap with one more unit at the end of the scale. With units of one size
      this is Gaffke's bound (Gaffke 2005; Learned-Miller and Thomas 2020), which for 0 and 1 is that of
      Clopper and Pearson; no case is known in which it fails, though a proof is missing. It alone sees what
      no unit shows: where n units are without a catastrophe, up to 1 - alpha^(1/n) of all may be one.

    `unseen`: one more unit; None where the scale has no ends.
    """
    found = bounds_of_difference(totals)
    units = found.units
    if units < 2:
        return found
    ones: list[Sequence[_More]] = []
    if found.error and units < ENOUGH_UNITS:
        weight = 2 * (1 - units / ENOUGH_UNITS)
        parts = linearised(totals)
        worst = (int(parts.argmin()), int(parts.argmax()))
        ones.append([(weight * totals.sums[place], weight * totals.sizes[place]) for place in worst])
    if unseen is not None:
        ends = np.array([[unseen.low, unseen.high], [unseen.high, unseen.low]]) * unseen.size
        ones.append([(end, np.full(2, unseen.size)) for end in ends])
    drawn = [_with_one_more(totals, more, resamples, seed) for more in ones]
    return replace(found, lows=tuple(low for low, _ in drawn), highs=tuple(high for _, high in drawn))


_More = tuple[Floats, Floats]
"""Sums and sizes of both systems that one more unit has."""


def _with_one_more(totals: Totals, more: Sequence[_More], resamples: int, seed: int) -> list[Floats]:
    found: list[list[Floats]] = [[] for _ in more]
    for weights in _weights(len(totals.sums) + 1, resamples, seed):
        sums, sizes, last = weights[:, :-1] @ totals.sums, weights[:, :-1] @ totals.sizes, weights[:, [-1]]
        for draws, (sum_, size) in zip(found, more, strict=True):
            means = (sums + last * sum_) / (sizes + last * size)
            draws.append(means[:, 0] - means[:, 1])
    return [np.sort(np.concatenate(draws)) for draws in found]


def _weights(units: int, resamples: int, seed: int) -> Iterator[Floats]:
    rng = np.random.default_rng(seed)
    rows = max(1, _CELLS // units)
    for start in range(0, resamples, rows):
        yield rng.standard_exponential((min(rows, resamples - start), units))
