"""MQM: the weighted errors of one translation, negated."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from adjudge.core.record import Annotation, Record
from adjudge.core.typology import SEVERITIES, Severity, Weights
from adjudge.core.wording import count, form

__all__ = ["mean", "mqm_range", "mqm_score", "total", "unknown_categories_note"]


# Sums and means that are the same on every machine and in every Python.


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


_Error = tuple[Severity, str | None]

_MOST_NAMES: Final = 5


def mqm_score(annotation: Annotation, weights: Weights) -> float:
    """Minus the points of the errors; 0 is a clean translation, higher is better.

    score = -min(cap, sum of points(severity, category) over the errors that count)

    The form is that of Freitag et al. 2021; the points are those of `weights`. With `mqm-google` it equals
    the published segment scores of WMT23 en-de bit for bit. Errors on the source and errors without a
    place count like all others. With `weights.first`, only so many count: critical ones first, then major,
    minor, neutral, and within a severity in the order given. Where the annotator counted the errors
    (`annotation.counts`), the count is scored and the spans are not, as in EAPrompt's paper. An error whose
    category adjudge does not know costs what its severity costs; `unknown_categories_note` counts these.

    Raises:
        UsageError: an error that these weights have no rule for; it is never free.
    """
    errors = _counted(annotation) if annotation.counts else _marked(annotation)
    if weights.first is not None:
        errors = sorted(errors, key=lambda error: -SEVERITIES.index(error[0]))[: weights.first]
    points = total(weights.points(severity, category) for severity, category in errors)
    if weights.cap is not None:
        points = min(points, weights.cap)
    return 0.0 - points  # not -points: a clean translation has 0, not -0


def mqm_range(weights: Weights) -> tuple[float, float]:
    """Lowest and highest score: minus the cap, or minus infinity, to 0."""
    return (-math.inf if weights.cap is None else 0.0 - weights.cap, 0.0)


def _counted(annotation: Annotation) -> list[_Error]:
    return [(severity, None) for severity, count in annotation.counts.items() for _ in range(count)]


def _marked(annotation: Annotation) -> list[_Error]:
    return [(span.severity, span.category) for span in annotation.spans]


def unknown_categories_note(records: Iterable[Record]) -> list[str]:
    """Count the errors whose category adjudge does not know, and name their categories, most frequent first.

    Args:
        records: that were scored by weights.
    """
    found = Counter(
        span.label
        for record in records
        if isinstance(record, Annotation) and not record.counts
        for span in record.spans
        if span.category is None and span.label
    )
    if not found:
        return []
    named = ", ".join(f"{label!r} {times:,}" for label, times in found.most_common(_MOST_NAMES))
    rest = len(found) - _MOST_NAMES
    more = f" and {count(rest, 'other category', 'other categories')}" if rest > 0 else ""
    n = found.total()
    subject = f"{count(n, 'error')} {form(n, 'has a category', 'have categories')} that adjudge does not know"
    return [f"{subject} ({named}{more}): each costs what its severity costs."]
