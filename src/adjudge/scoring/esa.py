"""Error Span Annotation: the rating that followed the marking, or the marked spans alone."""

from __future__ import annotations

from adjudge.core.annotation import Annotation
from adjudge.core.typology import Weights
from adjudge.errors import DataError
from adjudge.scoring.mqm import mqm_score

__all__ = ["esa_score"]


def esa_score(annotation: Annotation, weights: Weights | None = None) -> float:
    """The rating, 0 to 100, or with weights minus the points of the spans (0 and below).

    The second is ESA's "spans" variant (ESA paper, section 4): -5 for a major error, -1 for a minor one,
    named `esa-spans`. Higher is better in both.

    Raises:
        DataError: no rating.
        UsageError: an error that these weights have no rule for.
    """
    if weights is not None:
        return mqm_score(annotation, weights)
    if annotation.rating is None:
        raise DataError(f"{annotation.system} segment {annotation.segment} has no rating")
    return annotation.rating
