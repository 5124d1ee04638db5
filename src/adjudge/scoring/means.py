"""Sums and means that are the same on every machine and in every Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["mean", "total"]


def total(values: Iterable[float]) -> float:
    """Add from left to right, each step rounded: bit for bit what the public score files hold.

    `sum` rounds otherwise since Python 3.12; see docs/decisions/020-plain-sums.md. Empty: 0.
    """
    result = 0.0
    for value in values:
        result += value
    return result


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean; None of no values."""
    if len(values) == 1:
        return 0.0 + values[0]
    return total(values) / len(values) if values else None
