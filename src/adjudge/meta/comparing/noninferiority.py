"""Whether a system may take another one's place: not worse by more than a margin."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from adjudge.meta.comparing.bounds import Unseen, difference_bounds, effective_size
from adjudge.meta.comparing.power import MOST_UNITS, least_enough
from adjudge.meta.matrix import Totals
from adjudge.meta.paired import sign_flip_p_values

__all__ = ["NonInferiority", "critical_p_value", "more_segments", "non_inferiority"]

_NUISANCE = 0.005  # what `critical_p_value` spends on how many segments differ


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
        error: standard error of the difference; infinite for one unit.
        units: segments, or documents, that vary independently.
        effective: independent segments that are worth as much as these.
        reach: points that one more unit at the end of the scale would cost all segments together; 0 where no
            such unit is reckoned with.
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
    effective: float
    reach: float


def non_inferiority(
    totals: Totals,
    margin: float,
    *,
    alpha: float = 0.05,
    segments: Totals | None = None,
    scale: tuple[float, float] | None = None,
) -> NonInferiority:
    """Test a candidate against a baseline, both judged in every unit; one unit alone shows nothing.

    Two one-sided tests, of "the difference is above -margin" (Schuirmann 1987, one half of it) and of the
    opposite, by `bounds.difference_bounds`. With a scale, one more unit at its end is counted. By segment it
    weighs as a segment; by document as many segments as the design effect says go wrong together, from one to
    the mean length of a document. Where the units do not differ at all, only the scale says what another one
    may bring; without it both p are 1.

    Args:
        totals: units by two, candidate and then baseline, by segment or by document.
        margin: in the units of the scores, 0 or more: so much worse is still as good.
        alpha: of the bounds.
        segments: the same by segment; None where `totals` is that.
        scale: lowest and highest score; None where it has no ends, or they are not to count.
    """
    alone = totals if segments is None else segments
    n, units = len(alone.sums), len(totals.sums)
    candidate, baseline = (totals.sums.sum(axis=0) / totals.sizes.sum(axis=0)).tolist()
    effective = effective_size(alone, totals)
    together = min(max(n / effective, 1.0), n / units)  # segments that go wrong together
    unseen = None
    if scale is not None:
        unseen = Unseen(low=scale[0], high=scale[1], size=together * float(alone.sizes.mean()))
    found = difference_bounds(totals, unseen)
    return NonInferiority(
        candidate=candidate,
        baseline=baseline,
        difference=candidate - baseline,
        low=found.low(alpha),
        high=found.high(alpha),
        p_as_good=found.p_above(-margin),
        p_worse=found.p_below(-margin),
        error=found.error,
        units=units,
        effective=effective,
        reach=0.0 if scale is None else together * (scale[1] - scale[0]),
    )


def more_segments(
    found: NonInferiority, n: int, margin: float, *, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """Segments still needed to decide, if the difference at hand is the true one; None where out of reach.

    The least N with |d + margin| - reach / N >= (z(1 - alpha) + z(power)) sqrt(n se^2 / N + (reach / N)^2),
    normal law, whichever way the decision will fall.

    Args:
        found: at hand.
        n: segments at hand.
        margin: of the test.
        alpha: of the one-sided test.
        power: chance to decide with so many.
    """
    from scipy.special import ndtri  # scipy.stats takes seconds to import

    distance, spread = abs(found.difference + margin), n * found.error**2
    if not distance or math.isinf(found.error) or not (spread or found.reach):
        return None
    steps = float(ndtri(1 - alpha) + ndtri(power))

    def is_enough(segments: int) -> bool:
        reach = found.reach / segments
        return distance - reach >= steps * math.sqrt(spread / segments + reach * reach)

    needed = least_enough(is_enough, exact=True)
    return None if needed is None or needed > MOST_UNITS else max(needed - n, 1)


def critical_p_value(
    new: np.ndarray[tuple[int], np.dtype[np.bool_]],
    gone: np.ndarray[tuple[int], np.dtype[np.bool_]],
    allowed: int = 0,
    documents: np.ndarray[tuple[int], np.dtype[np.int64]] | None = None,
) -> float:
    """One-sided p-value behind "the candidate has critical errors in more segments than it may".

    McNemar's exact test: of the segments in which one side alone has critical errors, k in all, the
    candidate's are binomial with chance 1/2 where both are alike (McNemar 1947; `statsmodels`
    `mcnemar(exact=True)`, one-sided). With `allowed` segments more, the chance is (1 + allowed / K) / 2, K
    being the expected k; its lower bound at 0.005 (Clopper and Pearson) takes its place, and 0.005 is added
    (Berger and Boos 1994). With documents, the larger of that and of the test that flips whole documents
    (`paired.sign_flip_p_values`). No such segment: 1.

    Args:
        new: segments in which the candidate alone has critical errors.
        gone: segments in which the baseline alone has.
        allowed: so many segments more are as good.
        documents: number of the document of each segment; None where segments are independent.
    """
    from scipy.special import bdtrc, betaincinv

    n, more, fewer = len(new), int(new.sum()), int(gone.sum())
    differing = more + fewer
    if more - fewer <= allowed:
        return 1.0
    chance, spent = 0.5, 0.0
    if allowed:
        expected = n * float(betaincinv(differing, n - differing + 1, _NUISANCE))
        chance, spent = (1 + allowed / max(expected, allowed)) / 2, _NUISANCE
    p = min(1.0, float(bdtrc(more - 1, differing, chance)) + spent)
    if documents is None:
        return p
    gaps = np.bincount(documents, new.astype(np.float64) - gone - allowed / n).astype(np.float64)
    return max(p, float(sign_flip_p_values(gaps[:, None], alternative="greater")[0]))
