"""What every measure gives back: a number with what it rests on, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from adjudge.core.score import Interval

__all__ = ["AVERAGES", "Average", "Floats", "Result"]

Floats = NDArray[np.float64]

Average = Literal["item", "sys", "none"]
"""Over what a segment measure is averaged.

`item`: one value for each segment, over its systems. `sys`: one for each system, over its segments.
`none`: one value over all scores of all systems together.
"""

AVERAGES: Final[tuple[Average, ...]] = get_args(Average)


@dataclass(frozen=True, kw_only=True)
class Result:
    """Value of one measure.

    Args:
        value: the number; None where it is not defined, and then `reason` says why.
        n: what it rests on: systems, pairs of systems, scores or segments, as the measure says.
        test: gives the p-value of the measure's own test, where it has one.
        groups: values that were averaged; None where nothing was.
        epsilon: largest difference of two scores that counts as a tie, where it was calibrated.
        chance: what a metric without knowledge reaches, where that is known.
        interval: 95 % bootstrap interval, where it was asked for.
        reason: why there is no value; empty where there is one.
        note: what a reader must know of a value that may not be what it looks like; usually empty.
    """

    value: float | None
    n: int
    test: Callable[[], float] | None = field(default=None, repr=False, compare=False)
    groups: int | None = None
    epsilon: float | None = None
    chance: float | None = None
    interval: Interval | None = None
    reason: str = ""
    note: str = ""

    @cached_property
    def p(self) -> float | None:
        """p-value of the measure's own test; None where it has none. Found when it is first asked for."""
        return None if self.test is None else self.test()
