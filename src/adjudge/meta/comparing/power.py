"""How small a difference a number of judgements can show, and how many are needed to show one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from adjudge.errors import UsageError

__all__ = ["MOST_UNITS", "Plan", "simulated_power", "units_needed", "variance_parts"]

Floats = NDArray[np.float64]
MOST_UNITS: Final = 1_000_000
"""Above that many segments nothing is simulated: such a difference is none for people."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A paired comparison of two systems: n segments, each translation judged by m annotators.

    The mean difference varies as sd(n, m) = sqrt((sd^2 + annotator_sd^2 / m) / n), and a two-sided test at
    alpha finds a true difference D with the chance Phi(D / sd(n, m) - z(1 - alpha / 2)) and, hardly ever, the
    wrong way round. Normal law: good from some thirty segments on.

    Args:
        sd: standard deviation, over segments, of the difference of the two systems.
        segments: how many are judged, for both systems.
        annotators: of each translation.
        annotator_sd: standard deviation, over annotators, of that difference on one segment. 0 where it is in
            `sd` already, as it is in data with one annotator a translation.
        alpha: of the two-sided test.
        power: chance to be reached.

    Raises:
        UsageError: a value out of its range.
    """

    sd: float
    segments: int
    annotators: int = 1
    annotator_sd: float = 0.0
    alpha: float = 0.05
    power: float = 0.8

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if not (0 <= self.sd < math.inf and 0 <= self.annotator_sd < math.inf):
            raise UsageError(f"a standard deviation is 0 or more, got {self.sd} and {self.annotator_sd}")
        if self.segments < 1 or self.annotators < 1:
            raise UsageError(
                f"at least one segment and one annotator, got {self.segments}, {self.annotators}"
            )
        if not (0 < self.alpha < 1 and 0 < self.power < 1):
            raise UsageError(f"alpha and power lie between 0 and 1, got {self.alpha} and {self.power}")

    @property
    def spread(self) -> float:
        """Standard deviation of the difference on one segment, with all its annotators."""
        return math.sqrt(self.sd**2 + self.annotator_sd**2 / self.annotators)

    @property
    def detectable(self) -> float:
        """Smallest true difference that is found with the wanted chance.

        D = (z(1 - alpha / 2) + z(power)) sd(n, m)
        """
        from scipy.special import ndtri  # scipy.stats takes seconds to import

        return float(ndtri(self.power) - ndtri(self.alpha / 2)) * self.spread / math.sqrt(self.segments)

    def power_for(self, difference: float) -> float:
        """Chance to find a true difference, in whichever direction."""
        from scipy.stats import norm

        error = self.spread / math.sqrt(self.segments)
        if error == 0:
            return 1.0 if difference else self.alpha
        bound = norm.isf(self.alpha / 2)
        return float(norm.sf(bound - abs(difference) / error) + norm.cdf(-bound - abs(difference) / error))

    def needed_for(self, difference: float) -> int | None:
        """Segments needed to find a true difference with the wanted chance; None where it is 0."""
        if difference == 0:
            return None
        one = replace(self, segments=1).detectable
        return max(1, math.ceil((one / difference) ** 2 * (1 - 1e-12)))


def variance_parts(differences: Floats) -> tuple[float, float] | None:
    """Standard deviations of the difference of two systems, over segments and over annotators.

    One-way analysis of variance with segments as groups (Searle et al. 1992): over annotators, the pooled
    spread within segments; over segments, what is left of the spread of segment means, 0 at least.

    Args:
        differences: segments by annotators, first system less second; NaN where an annotator did not judge
            both.

    Returns:
        None where no segment has two annotators, or fewer than two segments have any.
    """
    counts = np.count_nonzero(~np.isnan(differences), axis=1)
    kept, counts = differences[counts > 0], counts[counts > 0]
    free = int((counts - 1).sum())
    if len(kept) < 2 or not free:
        return None
    means = np.nanmean(kept, axis=1)
    within = float(np.nansum((kept - means[:, None]) ** 2)) / free
    total = counts.sum()
    between = float(counts @ (means - counts @ means / total) ** 2) / (len(kept) - 1)
    size = (total - (counts**2).sum() / total) / (len(kept) - 1)
    return math.sqrt(max(0.0, (between - within) / size)), math.sqrt(within)


def simulated_power(
    differences: Floats, units: int, *, alpha: float = 0.05, resamples: int = 1000, seed: int = 0
) -> float:
    """Chance that so many units like those at hand show a difference, whichever way it points.

    Units are drawn with replacement, and the permutation test's normal law (p = 2 Phi(-|sum| / sqrt(sum of
    squares))) is applied to each draw. It takes the difference at hand for the true one.

    Args:
        differences: of each unit, a segment or a document: its part in the difference of means.
        units: how many are drawn.
        alpha: of the two-sided test.
        resamples: draws.
        seed: of numpy's default generator.
    """
    from scipy.stats import norm

    rng = np.random.default_rng(seed)
    values, times = np.unique(np.round(differences, 10), return_counts=True)
    found = 0
    for start in range(0, resamples, 100):
        counts = rng.multinomial(units, times / times.sum(), size=min(100, resamples - start))
        sums, squares = counts @ values, counts @ (values * values)
        found += int(np.count_nonzero(np.abs(sums) > norm.isf(alpha / 2) * np.sqrt(squares)))
    return found / resamples


def units_needed(
    differences: Floats, *, alpha: float = 0.05, power: float = 0.8, resamples: int = 1000, seed: int = 0
) -> int | None:
    """Units, like those at hand, after which a difference is found with the wanted chance.

    By simulation, to within three digits; None where more than `MOST_UNITS` would be needed.
    """

    def is_enough(units: int) -> bool:
        found = simulated_power(differences, units, alpha=alpha, resamples=resamples, seed=seed)
        return found >= power

    return _least(is_enough)


def _least(is_enough: Callable[[int], bool]) -> int | None:
    low, high = 0, 1
    while not is_enough(high):
        low, high = high, high * 2
        if low >= MOST_UNITS:
            return None
    while high - low > max(1, high // 1000):
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
