"""Whether a system may take another one's place: not worse by more than a margin."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.meta.comparing.power import MOST_UNITS
from adjudge.meta.matrix import Totals

__all__ = ["NonInferiority", "more_segments", "non_inferiority"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class NonInferiority:
    """What the data say of a candidate against a baseline.

    Args:
        candidate: mean score.
        baseline: mean score.
        difference: candidate less baseline; above 0 the candidate is better.
        low: lower bound of the difference: one-sided, at level 1 - alpha.
        high: upper bound, likewise; both together hold 1 - 2 alpha.
        p_as_good: p-value behind "not worse by more than the margin"; small is good.
        p_worse: p-value behind "worse by more than the margin"; small is bad.
        error: standard error of the difference.
        units: segments, or documents, that vary independently.
    """

    candidate: float
    baseline: float
    difference: float
    low: float
    high: float
    p_as_good: float
    p_worse: float
    error: float
    units: int


def non_inferiority(totals: Totals, margin: float, *, alpha: float = 0.05) -> NonInferiority:
    """Test a candidate against a baseline, both judged in every unit; one unit alone shows nothing.

    t = (d + margin) / se(d), Student's t with units - 1 degrees of freedom, one test to each side; the first
    is the usual test of non-inferiority (Schuirmann 1987, one half of it). se(d) is that of a difference of
    two means, each a ratio of sums over units, so that documents may differ in length. Paired differences of
    two systems are close to symmetric, for which t keeps its level from some ten units on; a bootstrap of t
    does not, at that size. Where the units do not differ at all, p is 0 or 1, by which side d lies on.

    Args:
        totals: units by two, candidate and then baseline.
        margin: in the units of the scores, 0 or more: so much worse is still as good.
        alpha: of the bounds.
    """
    from scipy.stats import t as student

    units = len(totals.sums)
    candidate, baseline = (totals.sums.sum(axis=0) / totals.sizes.sum(axis=0)).tolist()
    difference, error = candidate - baseline, _error(totals) if units > 1 else math.inf
    free = max(units - 1, 1)
    reach = float(student.isf(alpha, free)) * error
    distance = difference + margin
    step = distance / error if error else math.copysign(math.inf, distance) if distance else 0.0
    return NonInferiority(
        candidate=candidate,
        baseline=baseline,
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        p_as_good=float(student.sf(step, free)),
        p_worse=float(student.cdf(step, free)),
        error=error,
        units=units,
    )


def _error(totals: Totals) -> float:
    """Standard error of the difference of the two means, linearised.

    se^2 = sum over units of (e1 - e2)^2 / (units (units - 1)), e = (sum - mean size) / mean of all sizes
    """
    means = totals.sums.sum(axis=0) / totals.sizes.sum(axis=0)
    rest = (totals.sums - means * totals.sizes) / totals.sizes.mean(axis=0)
    gaps = np.round(rest[:, 0] - rest[:, 1], 12)  # rounding is no difference between units
    units = len(gaps)
    return float(np.sqrt((gaps @ gaps) / (units * (units - 1))))


def more_segments(
    found: NonInferiority, n: int, margin: float, *, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """Segments still needed to decide, if the difference at hand is the true one; None where out of reach.

    n = ((z(1 - alpha) + z(power)) sd / (d + margin))^2, normal law, whichever way the decision will fall.

    Args:
        found: at hand.
        n: segments at hand.
        margin: of the test.
        alpha: of the one-sided test.
        power: chance to decide with so many.
    """
    from scipy.stats import norm

    distance = abs(found.difference + margin)
    if not distance or math.isinf(found.error):
        return None
    steps = float(norm.isf(alpha) + norm.ppf(power)) * found.error / distance
    needed = math.ceil(n * steps * steps)
    return max(needed - n, 1) if needed <= MOST_UNITS else None
