"""Records for tests, short to write: fields that a test does not name are the usual ones."""

from typing import Any

from adjudge.core.protocol import Severity
from adjudge.core.record import Annotation, ErrorSpan, Failure, Preference, Verdict

USUAL: dict[str, Any] = {"lp": "en-de", "annotator": "ann"}


def error(severity: Severity, category: str | None = None, label: str | None = None) -> ErrorSpan:
    return ErrorSpan(severity=severity, category=category, label=label, match="unplaced")


def mqm(system: str, segment: str, *errors: ErrorSpan, **fields: Any) -> Annotation:
    made = {**USUAL, "protocol": "mqm", **fields}
    return Annotation(system=system, segment=segment, spans=errors, **made)


def rated(system: str, segment: str, rating: float, **fields: Any) -> Annotation:
    made = {**USUAL, "protocol": "da-sqm", **fields}
    return Annotation(system=system, segment=segment, rating=rating, **made)


def failed(*systems: str, segment: str, **fields: Any) -> Failure:
    made = {**USUAL, "protocol": "da-sqm", "reason": "refused", **fields}
    return Failure(systems=systems, segment=segment, **made)


def preferred(a: str, b: str, verdict: Verdict, segment: str = "1", **fields: Any) -> Preference:
    made = {**USUAL, "criterion": "overall", **fields}
    return Preference(systems=(a, b), verdict=verdict, segment=segment, **made)


def checked(
    system: str, segment: str, criterion: str, *, passed: bool | None, **fields: Any
) -> Annotation | Failure:
    """A verdict on one criterion; None for one that is missing."""
    asked = {"protocol": "criteria", "criterion": criterion, **fields}
    if passed is None:
        return failed(system, segment=segment, **asked)
    return rated(system, segment, int(passed), **asked)
