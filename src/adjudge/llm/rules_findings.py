"""What the embedded rules find in one translation, and what it comes to: points, a rating, a certainty."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from adjudge.checks import CLEAN_PRECISION, Finding, find_errors
from adjudge.core.segment import Subject
from adjudge.core.typology import find_weights
from adjudge.errors import ModelError

__all__ = ["certainty_of", "findings_of", "points_of", "rating_of", "writable"]

_WEIGHTS: Final = find_weights("mqm-google")
_WORST: Final = 25.0  # points at which a rating is the lowest
_UNWRITABLE: Final = re.compile("[\0\ud800-\udfff]")


def findings_of(subject: Subject) -> list[Finding]:
    """What the rules find.

    Raises:
        ModelError: it is not about one translation.
    """
    if len(subject.systems) != 1:
        raise ModelError(f"the rules look at one translation at a time, got {', '.join(subject.systems)}")
    return find_errors(subject.source, subject.translation, subject.lp)


def points_of(findings: Sequence[Finding]) -> float:
    """By weights `mqm-google`."""
    return sum(_WEIGHTS.points(f.span.severity, f.span.category) for f in findings)


def rating_of(findings: Sequence[Finding], low: int, high: int) -> int:
    """Full marks less the points: 25 of them bring the lowest rating."""
    return high - round((high - low) * min(points_of(findings), _WORST) / _WORST)


def certainty_of(findings: Sequence[Finding]) -> float:
    """Log-probability that all findings are right, or that there is rightly none."""
    return sum(math.log(f.precision) for f in findings) if findings else math.log(CLEAN_PRECISION)


def writable(text: str) -> str:
    """The text with a mark for every character that no reader of answers takes."""
    return _UNWRITABLE.sub("\ufffd", text)
