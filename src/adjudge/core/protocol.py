"""Protocols: what an annotator marks and rates, and on which scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, TypeGuard

from adjudge.core.typology import SEVERITIES, Severity
from adjudge.errors import DataError, UsageError

__all__ = ["PROTOCOLS", "Protocol", "find_protocol", "is_number"]


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """One way to annotate. Higher ratings are better in every protocol.

    Args:
        name: the word on the command line and in records.
        title: for people.
        low: worst rating, or None where nothing is rated.
        high: best rating, or None where nothing is rated.
        has_spans: whether errors are marked.
        has_categories: whether a marked error has a category.
        severities: severities that an annotator may choose.
        has_criteria: whether a record is of one criterion of its segment, rated 1 for pass or 0 for fail.
        needs_translation: whether a record is about a translation, and not about a source alone.
    """

    name: str
    title: str
    low: float | None = None
    high: float | None = None
    has_spans: bool = False
    has_categories: bool = False
    severities: tuple[Severity, ...] = ()
    has_criteria: bool = False
    needs_translation: bool = True

    @property
    def needs_rating(self) -> bool:
        """Whether a record of this protocol must have a rating."""
        return self.low is not None

    def check_rating(self, rating: object) -> None:
        """Refuse a rating that is no finite number within the range.

        Raises:
            DataError: it is not.
        """
        if self.low is None or self.high is None:
            raise DataError(f"protocol {self.name} has no rating, got {rating!r}")
        if not is_number(rating) or not self.low <= rating <= self.high:
            raise DataError(f"a rating of {self.name} lies in {self.low:g} to {self.high:g}, got {rating!r}")
        if self.has_criteria and rating not in {self.low, self.high}:
            raise DataError(f"a rating of {self.name} is 1 for pass or 0 for fail, got {rating!r}")


PROTOCOLS: Final[dict[str, Protocol]] = {
    p.name: p
    for p in (
        Protocol(
            name="esa",
            title="Error Span Annotation",
            low=0,
            high=100,
            has_spans=True,
            severities=("minor", "major"),
        ),
        Protocol(
            name="mqm",
            title="Multidimensional Quality Metrics",
            has_spans=True,
            has_categories=True,
            severities=SEVERITIES,
        ),
        Protocol(name="da-sqm", title="Direct Assessment with SQM labels", low=0, high=100),
        Protocol(name="sqm", title="Scalar Quality Metric, 0 to 4", low=0, high=4),
        Protocol(
            name="criteria",
            title="Pass or fail on each criterion of a segment",
            low=0,
            high=1,
            has_criteria=True,
        ),
        Protocol(name="pairwise", title="Pairwise preference"),
        Protocol(
            name="curation",
            title="Answer to a question of curation: no judgement, never a score",
            needs_translation=False,
        ),
        Protocol(name="metric", title="Score of a metric", low=float("-inf"), high=float("inf")),
    )
}


def find_protocol(name: str) -> Protocol:
    """Look a protocol up by its name.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in PROTOCOLS:
        raise UsageError(f"no protocol {name!r}; there are {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]


def is_number(value: object) -> TypeGuard[float]:
    """Whether the value is a finite int or float, and not a bool."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
