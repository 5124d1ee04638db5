"""MQM: the weighted errors of one translation, negated."""

from __future__ import annotations

import math

from adjudge.core.annotation import Annotation
from adjudge.core.typology import SEVERITIES, Severity, Weights
from adjudge.errors import DataError
from adjudge.scoring.means import total

__all__ = ["mqm_range", "mqm_score"]

_Error = tuple[Severity, str | None]


def mqm_score(annotation: Annotation, weights: Weights) -> float:
    """Minus the points of the errors; 0 is a clean translation, higher is better.

    score = -min(cap, sum of points(severity, category) over the errors that count)

    The form is that of Freitag et al. 2021; the points are those of `weights`. With `mqm-google` it equals
    the published segment scores of WMT23 en-de bit for bit. Errors on the source and errors without a
    place count like all others. With `weights.first`, only so many count: critical ones first, then major,
    minor, neutral, and within a severity in the order given. Where the annotator counted the errors
    (`annotation.counts`), the count is scored and the spans are not, as in EAPrompt's paper.

    Raises:
        DataError: a category that could not be read when the record was made.
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
    for span in annotation.spans:
        if span.category is None and span.label:
            raise DataError(
                f"category {span.label!r} is none that adjudge knows and has no weight: {annotation.system} "
                f"segment {annotation.segment} of {annotation.lp}, by {annotation.annotator}"
            )
    return [(span.severity, span.category) for span in annotation.spans]
