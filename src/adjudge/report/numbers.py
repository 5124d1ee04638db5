"""Numbers as people read them: the same digits in a column, a real minus sign, never a false zero."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from adjudge.core.score import Interval
from adjudge.core.wording import count

__all__ = [
    "NOTHING",
    "digits_for",
    "duration",
    "exact_cells",
    "interval",
    "number",
    "p_value",
    "rank_range",
    "share",
    "whole",
]

NOTHING: Final = "–"
_MINUS: Final = "−"
_MOST_DIGITS: Final = 4
_LONG: Final = 5400  # seconds
_EXACT: Final = 1e15  # from here on, a float has fewer digits than would be written


def digits_for(scores: Iterable[float | None], intervals: Iterable[Interval | None]) -> int:
    """Digits after the point that a column can bear: two significant ones of its usual interval."""
    widths = sorted(i.high - i.low for i in intervals if i is not None and i.high > i.low)
    if widths:
        scale = widths[len(widths) // 2]
    else:
        known = [abs(s) for s in scores if s]
        scale = max(known, default=1.0) / 10
    if not math.isfinite(scale) or scale <= 0:
        return 2
    return min(max(1 - math.floor(math.log10(scale)), 1), _MOST_DIGITS)


def number(value: float | None, digits: int) -> str:
    """Write a score; None is a dash, for it is no number."""
    if value is None or math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "∞" if value > 0 else f"{_MINUS}∞"
    text = f"{value:.{digits}f}" if abs(value) < _EXACT else f"{value:.4g}"
    negative = text.startswith("-") and any(digit in text for digit in "123456789")
    return (_MINUS if negative else "") + text.lstrip("-")


def interval(value: Interval | None, digits: int) -> str:
    """Write an interval, its lower end first."""
    if value is None:
        return NOTHING
    return f"{number(value.low, digits)} to {number(value.high, digits)}"


def p_value(value: float) -> str:
    """Write a p-value; never 0, for none is."""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def rank_range(best: int | None, worst: int | None) -> str:
    """Write the ranks that a system may have."""
    if best is None:
        return NOTHING
    return f"{best}" if best == worst else f"{best} to {worst}"


def exact_cells(*values: object) -> list[str]:
    """Write numbers for programs: every digit, and nothing where there is none."""
    return ["" if value is None else repr(value) for value in values]


def share(part: int, whole: int) -> str:
    """Write a share in per cent; neither 0 nor 100 unless it is exactly that."""
    if whole == 0:
        return NOTHING
    percent = 100 * part / whole
    if 0 < percent < 1:
        return "<1 %"
    if 99 < percent < 100:
        return ">99 %"
    return f"{percent:.0f} %"


def duration(seconds: float) -> str:
    """Write roughly how long something takes: in minutes up to an hour and a half, then in hours."""
    if seconds < _LONG:
        return count(math.ceil(seconds / 60), "minute")
    return f"{seconds / 3600:,.1f} hours"


def whole(amount: int, *, exact: bool = False) -> str:
    """Write an amount in a cell: thousands apart for people, plain digits (exact) for programs."""
    return str(amount) if exact else f"{amount:,}"
