"""Records for tests, short to write."""

from adjudge.core.protocol import Severity
from adjudge.core.record import Annotation, ErrorSpan, Failure, Preference, Verdict
from adjudge.errors import FailureReason


def error(severity: Severity, category: str | None = None, label: str | None = None) -> ErrorSpan:
    return ErrorSpan(severity=severity, category=category, label=label, match="unplaced")


def mqm(
    system: str,
    segment: str,
    *errors: ErrorSpan,
    annotator: str = "ann",
    lp: str = "en-de",
    document: str = "",
) -> Annotation:
    return Annotation(
        lp=lp,
        segment=segment,
        system=system,
        annotator=annotator,
        protocol="mqm",
        spans=errors,
        document=document,
    )


def rated(
    system: str,
    segment: str,
    rating: float,
    *,
    protocol: str = "da-sqm",
    annotator: str = "ann",
    lp: str = "en-de",
    document: str = "",
) -> Annotation:
    return Annotation(
        lp=lp,
        segment=segment,
        system=system,
        annotator=annotator,
        protocol=protocol,
        rating=rating,
        document=document,
    )


def failed(
    *systems: str,
    segment: str,
    protocol: str = "da-sqm",
    annotator: str = "ann",
    lp: str = "en-de",
    criterion: str | None = None,
    reason: FailureReason = "refused",
) -> Failure:
    return Failure(
        lp=lp,
        segment=segment,
        systems=systems,
        annotator=annotator,
        protocol=protocol,
        reason=reason,
        criterion=criterion,
    )


def preferred(
    a: str,
    b: str,
    verdict: Verdict,
    segment: str = "1",
    *,
    criterion: str = "overall",
    annotator: str = "ann",
    lp: str = "en-de",
) -> Preference:
    return Preference(
        lp=lp, segment=segment, systems=(a, b), annotator=annotator, criterion=criterion, verdict=verdict
    )


def checked(
    system: str,
    segment: str,
    criterion: str,
    *,
    passed: bool | None,
    annotator: str = "ann",
    lp: str = "en-de",
) -> Annotation | Failure:
    """A verdict on one criterion; None for one that is missing."""
    if passed is None:
        return failed(
            system, segment=segment, protocol="criteria", annotator=annotator, lp=lp, criterion=criterion
        )
    return Annotation(
        lp=lp,
        segment=segment,
        system=system,
        annotator=annotator,
        protocol="criteria",
        criterion=criterion,
        rating=int(passed),
    )
