"""Krippendorff's alpha: agreement beyond chance of any number of annotators on labels, ranks or numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from adjudge.errors import UsageError
from adjudge.meta.agreement.estimate import NO_INTERVAL, Draws, estimate
from adjudge.meta.measures.result import Floats, Result

__all__ = ["LEVELS", "Level", "krippendorff_alpha"]

Level = Literal["nominal", "ordinal", "interval"]
"""How far two values differ: all alike, by the values that lie between them, by their difference."""
LEVELS: Final[tuple[Level, ...]] = get_args(Level)


def krippendorff_alpha(labels: Floats, level: Level = "nominal", draws: Draws = NO_INTERVAL) -> Result:
    """Krippendorff's alpha.

    alpha = 1 - D_o / D_e; D_o the mean difference within units over pairs of values, each unit with m
    values weighing its pairs by 1 / (m - 1); D_e the mean difference of all pairs of values put together

    Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", whose example with missing values comes
    to 0.743 nominal, 0.815 ordinal and 0.849 interval; the `krippendorff` package to rounding. Units with
    fewer than two values are left out; `n` counts the others. No value where all values are equal.

    Args:
        labels: units by annotators, NaN where not judged.
        level: how far two values differ.
        draws: of the interval; units are drawn, and D_e is computed anew in each draw.

    Raises:
        UsageError: no such level.
    """
    if level not in LEVELS:
        raise UsageError(f"level must be one of {', '.join(LEVELS)}; got {level!r}")
    kept = (~np.isnan(labels)).sum(axis=1) >= 2
    if not kept.any():
        return Result(value=None, n=0, reason="no unit was judged twice")
    known, places = np.unique(labels[kept], return_inverse=True)
    places = places.reshape(-1, labels.shape[1])
    units, columns = np.nonzero(~np.isnan(labels[kept]))
    values = _Values(known=known[~np.isnan(known)], units=units, places=places[units, columns])

    def statistic(counts: Floats) -> Floats:
        return np.array([values.alpha(drawn, level) for drawn in counts])

    return estimate(statistic, kept, draws, "all values are equal, so nothing could have differed")


@dataclass(frozen=True, kw_only=True)
class _Values:
    """All values of the units that have two or more.

    Args:
        known: the values that occur, in their order.
        units: of each value, the unit that it is in.
        places: of each value, its place in `known`.
    """

    known: Floats
    units: NDArray[np.intp]
    places: NDArray[np.intp]

    @cached_property
    def sizes(self) -> Floats:
        """How many values each unit has."""
        return np.bincount(self.units).astype(np.float64)

    @cached_property
    def unlike(self) -> Floats:
        """How many ordered pairs of unlike values each unit has."""
        pairs, times = np.unique(self.units * len(self.known) + self.places, return_counts=True)
        return self.sizes**2 - np.bincount(pairs // len(self.known), weights=times.astype(np.float64) ** 2)

    def alpha(self, drawn: Floats, level: Level) -> float:
        """Alpha of one draw, in time linear in the values; NaN where all are equal.

        With squared differences of places p, all pairs of m values come to 2 (m sum p^2 - (sum p)^2).

        Args:
            drawn: how often each unit was drawn.
            level: how far two values differ.
        """
        often = drawn[self.units]
        totals = np.bincount(self.places, weights=often, minlength=len(self.known))
        if np.count_nonzero(totals) < 2:
            return np.nan
        n, weights = float(totals.sum()), drawn / (self.sizes - 1)
        if level == "nominal":
            return 1 - (n - 1) * float(weights @ self.unlike) / (n**2 - float(totals @ totals))
        at = self.known if level == "interval" else np.cumsum(totals) - totals / 2
        at = at - float(totals @ at) / n  # so that squares of large places lose no digits
        each = at[self.places]
        sums = np.bincount(self.units, weights=each)
        squares = np.bincount(self.units, weights=each**2)
        observed = float(weights @ (self.sizes * squares - sums**2))
        return 1 - (n - 1) * observed / (n * float(totals @ at**2))
