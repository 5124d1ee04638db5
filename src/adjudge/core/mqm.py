"""MQM: the named weights of errors, and the score of a translation: its weighted errors, negated."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from adjudge.core.record import Annotation, Record
from adjudge.core.typology import CATEGORIES, SEVERITIES, Severity
from adjudge.core.wording import count, form
from adjudge.errors import DataError, UsageError

__all__ = [
    "WEIGHTS",
    "Weights",
    "find_weights",
    "mean",
    "mqm_range",
    "mqm_score",
    "total",
    "unknown_categories_note",
]


@dataclass(frozen=True, kw_only=True)
class Weights:
    """How much each error costs; named data that every signature shows.

    Args:
        name: the word on the command line.
        rules: `severity`, `severity/category` or `*/category` to points; the most specific rule wins.
        first: only so many errors count, in the order they were given; None for all.
        cap: no translation loses more than this; None for no cap.
        source: where the numbers come from.
    """

    name: str
    rules: Mapping[str, float]
    source: str
    first: int | None = None
    cap: float | None = None

    def points(self, severity: Severity, category: str | None) -> float:
        """Points that one error costs, 0 or more.

        Raises:
            DataError: no such category; a severity without a name is one that no rule knows.
            UsageError: these weights say nothing of such an error; that is never weight 0.
        """
        known = self._known.get((severity, category))
        if known is None:
            known = self._known[severity, category] = self._find(severity, category)
        return known

    @cached_property
    def _known(self) -> dict[tuple[Severity, str | None], float]:
        """Points that were looked up before: a test set has few kinds of errors, and each of them often."""
        return {}

    def _find(self, severity: Severity, category: str | None) -> float:
        if category is not None and category not in CATEGORIES:
            raise DataError(f"category must be one of {', '.join(CATEGORIES)}; got {category!r}")
        for key in self._keys(severity, category):
            if key in self.rules:
                return self.rules[key]
        what = severity if category is None else f"{severity} {category}"
        raise UsageError(
            f"weights {self.name!r} have no rule for a {what} error; choose others of {_names()}"
        )

    @staticmethod
    def _keys(severity: Severity, category: str | None) -> list[str]:
        if category is None:
            return [severity]
        core = category.split("/", 1)[0]
        names = [category, core]
        return [f"{s}/{name}" for name in names for s in (severity, "*")] + [severity]


_NO_POINTS: Final[Mapping[str, float]] = {"*/source error": 0, "*/accuracy/creative reinterpretation": 0}
"""Marked in the WMT data but not held against a system."""

_GOOGLE: Final[Mapping[str, float]] = {
    "critical": 25,
    "major": 5,
    "minor": 1,
    "neutral": 0,
    "minor/fluency/punctuation": 0.1,
    "*/non-translation": 25,
}

_M_MAD: Final[Mapping[str, float]] = {
    "major": 5,
    "minor": 1,
    "neutral": 0,
    "*/non-translation": 25,
    "*/source error": 0,
}

WEIGHTS: Final[Mapping[str, Weights]] = {
    w.name: w
    for w in (
        Weights(
            name="mqm-google",
            source="Freitag et al. 2021, as WMT23 applies it; critical as in the ESA paper's MQM campaigns",
            rules={**_GOOGLE, **_NO_POINTS},
        ),
        Weights(
            name="mqm-google-2021",
            source="fits the published scores of WMT21's TED files, where errors of the source cost too",
            rules=_GOOGLE,
        ),
        Weights(
            name="gemba",
            source="GEMBA-MQM, Kocmi and Federmann 2023: the first five errors, at most 25 points",
            rules={"critical": 25, "major": 5, "minor": 1, "neutral": 0, "*/non-translation": 25},
            first=5,
            cap=25,
        ),
        Weights(
            name="himate",
            source="HiMATE, table 6",
            rules={"major": 5, "minor": 1, "neutral": 0, "minor/fluency/punctuation": 0.1},
        ),
        Weights(
            name="m-mad",
            source="M-MAD, section 3",
            rules=_M_MAD,
        ),
        Weights(
            name="m-mad-capped",
            source="M-MAD, section 2.1: no segment is worse than 25",
            rules=_M_MAD,
            cap=25,
        ),
        Weights(
            name="m-mad-published",
            source="fits M-MAD's published score files, which differ from the paper in punctuation",
            rules={**_M_MAD, "minor/fluency/punctuation": 0.1},
        ),
        Weights(name="ea-prompt", source="EAPrompt, Lu et al. 2024", rules={"major": 5, "minor": 1}),
        Weights(
            name="ea-prompt-published",
            source="fits the published EAPrompt files, where a major error costs 6",
            rules={"major": 6, "minor": 1},
        ),
        Weights(
            name="esa-spans",
            source="ESA paper, section 4; 4.8 is the scanned optimum for a major error",
            rules={"critical": 5, "major": 5, "minor": 1, "neutral": 0},
        ),
    )
}


def _names() -> str:
    return ", ".join(WEIGHTS)


def find_weights(name: str) -> Weights:
    """Look weights up by their name.

    Raises:
        UsageError: there are none of that name.
    """
    if name not in WEIGHTS:
        raise UsageError(f"no weights {name!r}; there are {_names()}")
    return WEIGHTS[name]


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
