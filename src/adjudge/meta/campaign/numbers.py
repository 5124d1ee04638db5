"""One number about a campaign, with what it rests on; and the kinds of estimates that such numbers are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from adjudge.core.score import Interval
from adjudge.meta.agreement.estimate import NO_INTERVAL, Draws, estimate, mean_of
from adjudge.meta.measures.result import Floats, Result

__all__ = [
    "Definition",
    "Number",
    "Section",
    "difference_of",
    "mean_by_student",
    "ratio_of",
    "share_of",
    "slope_of",
    "wilson_interval",
]

Definition = Literal["", "paper", "mended"]
"""Whose definition it is, where the ESA paper's has a flaw: the paper's, or ours without it."""

_LEVEL: Final = 0.95
_NOTHING: Final = "nothing to count"


@dataclass(frozen=True, kw_only=True)
class Number:
    """One number.

    Args:
        of: whom or what it is about: a person, a system, `all`, two people.
        measure: what it is.
        result: value, n, interval; or why there is none.
        definition: whose.
    """

    of: str
    measure: str
    result: Result
    definition: Definition = ""


@dataclass(frozen=True, kw_only=True)
class Section:
    """Numbers that answer one question.

    Args:
        name: one word, such as `attention`.
        title: the question, for people.
        numbers: in the order in which they are read; empty where nothing can be said, and `notes` say why.
        notes: what was left out, how many and why; what a reader must know.
    """

    name: str
    title: str
    numbers: tuple[Number, ...] = ()
    notes: tuple[str, ...] = ()


# Estimates...


def wilson_interval(hits: int, n: int) -> Interval:
    """95 % interval of a share by Wilson's score method, which stays within 0 and 1.

    Wilson 1927; `scipy.stats.binomtest(hits, n).proportion_ci(method="wilson")`. Whatever the share is, where
    n is 0.
    """
    from scipy.special import ndtri  # scipy.stats takes seconds to import

    if n == 0:
        return Interval(0.0, 1.0)
    z = -float(ndtri((1 - _LEVEL) / 2))
    share, weight = hits / n, z * z / n
    middle = (share + weight / 2) / (1 + weight)
    half = z / (1 + weight) * float(np.sqrt(share * (1 - share) / n + weight / (4 * n)))
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


def share_of(hits: Sequence[bool] | NDArray[np.bool_], nothing: str = _NOTHING) -> Result:
    """Share of what holds, with Wilson's interval: each of them counts as independent of the others."""
    n, found = len(hits), int(np.count_nonzero(hits))
    if not n:
        return Result(value=None, n=0, reason=nothing)
    return Result(value=found / n, n=n, interval=wilson_interval(found, n))


def ratio_of(parts: Floats, wholes: Floats, draws: Draws = NO_INTERVAL, nothing: str = _NOTHING) -> Result:
    """Sum of parts by sum of wholes, such as minor errors by all errors; `n` is the sum of the wholes.

    Args:
        parts: of each unit.
        wholes: of each unit.
        draws: of the interval, over units.
        nothing: why there is no value where the wholes are 0.
    """
    if not len(wholes):
        return Result(value=None, n=0, reason=nothing)

    def statistic(counts: Floats) -> Floats:
        below = counts @ wholes
        found = np.full(len(counts), np.nan)
        np.divide(counts @ parts, below, out=found, where=below > 0)
        return found

    found = estimate(statistic, np.ones(len(wholes), dtype=np.bool_), draws, nothing)
    return replace(found, n=int(wholes.sum()))


def difference_of(values: Floats, is_first: NDArray[np.bool_], draws: Draws, nothing: str) -> Result:
    """Mean of some units less the mean of the others, with its interval.

    Args:
        values: of each unit.
        is_first: which ones are the some.
        draws: over units.
        nothing: why there is no value where one of both groups is empty.
    """
    if not is_first.any() or is_first.all():
        return Result(value=None, n=len(values), reason=nothing)
    first = is_first.astype(np.float64)

    def statistic(counts: Floats) -> Floats:
        sums = [(counts @ (values * part), counts @ part) for part in (first, 1 - first)]
        found = [np.divide(s, n, out=np.full(len(counts), np.nan), where=n > 0) for s, n in sums]
        return np.asarray(found[0] - found[1])

    return estimate(statistic, np.ones(len(values), dtype=np.bool_), draws, nothing)


def mean_by_student(values: Sequence[float], nothing: str = _NOTHING) -> Result:
    """Mean of few values, one a person, with Student's interval; none around a single value."""
    known = np.asarray(values, dtype=np.float64)
    found = mean_of(known, NO_INTERVAL, nothing)
    if found.value is None or found.n < 2:
        return found
    error = float(known.std(ddof=1)) / found.n**0.5
    return replace(found, interval=_by_student(found.value, error, found.n - 1))


def slope_of(x: Floats, y: Floats, nothing: str) -> Result:
    """Least-squares slope of y on x, with Student's interval; needs three points and an x that varies."""
    n = len(x)
    spread = float(((x - x.mean()) ** 2).sum()) if n else 0.0
    if n < 3 or spread == 0:
        return Result(value=None, n=n, reason=nothing)
    slope = float((x - x.mean()) @ (y - y.mean())) / spread
    rest = y - y.mean() - slope * (x - x.mean())
    error = float(np.sqrt(rest @ rest / (n - 2) / spread))
    return Result(value=slope, n=n, interval=_by_student(slope, error, n - 2))


def _by_student(middle: float, error: float, freedom: int) -> Interval:
    from scipy.special import stdtrit

    half = -float(stdtrit(freedom, (1 - _LEVEL) / 2)) * error
    return Interval(middle - half, middle + half)
