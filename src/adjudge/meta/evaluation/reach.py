"""Which tests between metrics could find a difference at all: too few draws, or too few systems, cannot."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from adjudge.meta.evaluation.eval_set import ScoreSet
from adjudge.meta.evaluation.options import Settings
from adjudge.meta.evaluation.results import MetricResults
from adjudge.meta.evaluation.sureness import META, compared_value
from adjudge.meta.measures import MEASURES
from adjudge.meta.paired import is_exact, smallest_p_value

__all__ = ["out_of_reach"]

_DRAWN: Final = sys.maxsize
"""Units where there are too many to try all swaps."""

_ROUNDING: Final = 1e-9


def out_of_reach(rows: Sequence[MetricResults], gold: ScoreSet, settings: Settings) -> Iterator[str]:
    """Say of which measures no test can be significant, whatever the scores, and what would be needed."""
    told: dict[tuple[int, int], list[str]] = {}
    for name in [*settings.measures, *([META] if any(row.meta is not None for row in rows) else [])]:
        units = _units(name, gold, settings)
        tests = _tests([compared_value(row, name) for row in rows]) if settings.holm else 1
        if units and tests and smallest_p_value(units, settings.resamples) * tests > settings.alpha:
            told.setdefault((tests, units if is_exact(units) else _DRAWN), []).append(name)
    for (tests, units), names in told.items():
        yield f"No metric can be better than another by {', '.join(names)}: {_why(tests, units, settings)}"


def _why(tests: int, units: int, settings: Settings) -> str:
    corrected = f", corrected for {tests:,} tests," if settings.holm else ""
    smallest = min(1.0, smallest_p_value(units, settings.resamples) * tests)
    least = f"the smallest possible p{corrected} is {smallest:.2g}"
    if is_exact(units):
        return f"{units} scores can be swapped in {2**units:,} ways, and {least}; more draws do not help."
    draws = math.ceil(tests / settings.alpha - 1 - _ROUNDING)
    return f"with {settings.resamples:,} draws {least}; it takes {draws:,} draws or more."


def _units(name: str, gold: ScoreSet, settings: Settings) -> int:
    """What the test of a measure swaps; 0 where its p-values have no lower bound to speak of."""
    if name == META or (method := settings.method(name)) == "bootstrap":
        return _DRAWN
    if method != "perm-both":
        return 0
    scores = gold.systems if MEASURES[name].takes == "systems" else gold.segments
    return int(np.count_nonzero(~np.isnan(scores)))


def _tests(values: Sequence[float | None]) -> int:
    """Tests that are asked: each better metric against each worse one."""
    known = [value for value in values if value is not None]
    return sum(a > b for a in known for b in known)
