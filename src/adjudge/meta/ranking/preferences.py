"""Preferences made of scores: which of two translations an annotator's numbers prefer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from adjudge.core.annotation import Annotation, ErrorSpan, Failure, Preference, Record, Verdict
from adjudge.core.score import SegmentScore
from adjudge.core.typology import Weights, find_category
from adjudge.errors import DataError, UsageError
from adjudge.scoring.score import score

__all__ = [
    "CRITERIA",
    "OVERALL",
    "criterion_annotations",
    "preferences_from_annotations",
    "preferences_from_scores",
]

OVERALL: Final = "overall"

CRITERIA: Final[Mapping[str, frozenset[str]]] = {
    "faithfulness": frozenset({"accuracy", "terminology", "non-translation"}),
    "fluency": frozenset({"fluency", "locale convention"}),
    "style": frozenset({"style"}),
}
"""Criterion to the core types of its errors: FiRE's table 13, which has no locale convention.

`other` and errors of the source belong to none.
"""

_DIGITS: Final = 10  # so that rounding noise prefers nothing


def preferences_from_annotations(
    records: Iterable[Record],
    *,
    weights: str | Weights | None = None,
    by_criterion: bool = False,
    epsilon: float = 0.0,
) -> list[Preference | Failure]:
    """Every pair of systems of every segment, as each annotator's scores prefer them.

    A where score(A) - score(B) > epsilon, B where it is < -epsilon, else E. Systems stand in the order of
    their names. A pair of which one judgement failed is a failure; a translation that was not judged is in
    no pair. Scores are those of `scoring.score`: MQM by weights, the others by their rating.

    FiRE, section 4.1, with `by_criterion`: the errors of each criterion (`CRITERIA`) are scored on their own,
    and `overall` is scored by the errors of all three, which is the sum of their scores.

    Args:
        records: annotations of one protocol, of any number of annotators; preferences are an error.
        weights: of marked errors; as `scoring.score` takes them.
        by_criterion: one preference a criterion and one overall, where errors have categories.
        epsilon: largest difference of scores that is a tie, in units of the scores.

    Raises:
        DataError: records that are preferences already, or errors counted and not marked.
        UsageError: epsilon below 0, or criteria without categories of errors.
    """
    if not epsilon >= 0:
        raise UsageError(f"epsilon must be 0 or more, got {epsilon}")
    by_annotator: dict[str, list[Record]] = {}
    for record in records:
        if isinstance(record, Preference):
            raise DataError("these records are preferences already; scores are wanted")
        by_annotator.setdefault(record.annotator, []).append(record)
    return [
        preference
        for own in by_annotator.values()
        for criterion, chosen in _by_criterion(own, by_criterion=by_criterion)
        for preference in _preferences(chosen, weights, criterion, epsilon)
    ]


def _preferences(
    records: Sequence[Record], weights: str | Weights | None, criterion: str, epsilon: float
) -> Iterator[Preference | Failure]:
    """Preferences of one annotator on one criterion."""
    segments = score(records, weights=weights).segments
    yield from preferences_from_scores(
        segments, epsilon=epsilon, annotator=records[0].annotator, criterion=criterion
    )
    failures = {(f.lp, f.segment, s): f for f in records if isinstance(f, Failure) for s in f.systems}
    for a, b in _pairs(segments):
        if a.score is None or b.score is None:
            failed = failures[a.lp, a.segment, a.system if a.score is None else b.system]
            yield replace(failed, systems=(a.system, b.system), protocol="pairwise", criterion=criterion)


def preferences_from_scores(
    segments: Iterable[SegmentScore],
    *,
    epsilon: float = 0.0,
    annotator: str = "scores",
    criterion: str = OVERALL,
) -> list[Preference]:
    """Every pair of judged systems of every segment, in the order of their names.

    Args:
        segments: scores of one annotator.
        epsilon: largest difference that is a tie.
        annotator: whose preferences they are.
        criterion: what the scores are of.
    """
    return [
        Preference(
            lp=a.lp,
            segment=a.segment,
            systems=(a.system, b.system),
            annotator=annotator,
            criterion=criterion,
            verdict=_verdict(a.score, b.score, epsilon),
            document=a.document,
        )
        for a, b in _pairs(segments)
        if a.score is not None and b.score is not None
    ]


def _by_criterion(records: Sequence[Record], *, by_criterion: bool) -> Iterator[tuple[str, Sequence[Record]]]:
    if not by_criterion:
        yield OVERALL, records
        return
    for criterion in CRITERIA:
        yield criterion, criterion_annotations(records, criterion)
    yield OVERALL, criterion_annotations(records, OVERALL)


def criterion_annotations(records: Iterable[Record], criterion: str) -> list[Record]:
    """Keep the errors of one criterion; `overall` keeps those of all three.

    Raises:
        DataError: errors that were counted and not marked, or a category of a core type that adjudge does not
            know: it may belong to any criterion.
        UsageError: a protocol without categories, or no such criterion.
    """
    if criterion not in {*CRITERIA, OVERALL}:
        raise UsageError(f"criterion must be one of {', '.join([*CRITERIA, OVERALL])}; got {criterion!r}")
    core = frozenset().union(*CRITERIA.values()) if criterion == OVERALL else CRITERIA[criterion]
    return [_kept(r, core) if isinstance(r, Annotation) else r for r in records]


def _kept(record: Annotation, core: frozenset[str]) -> Annotation:
    if record.protocol != "mqm":
        raise UsageError(f"criteria need categories of errors; protocol {record.protocol} has none")
    if record.counts:
        where = f"{record.system} segment {record.segment} of {record.lp}"
        raise DataError(f"errors of {where} are counted and not marked, so that none has a category")
    spans = tuple(s for s in record.spans if (own := _core_type(s, record)) is None or own in core)
    return replace(record, spans=spans)


def _core_type(span: ErrorSpan, record: Annotation) -> str | None:
    """Core type of an error, by its label where the subtype is unknown; None where it has no category."""
    if span.category is None and span.label:
        core = find_category(span.label.split("/")[0])
        if core is None:
            where = f"{record.system} segment {record.segment} of {record.lp}, by {record.annotator}"
            raise DataError(f"category {span.label!r} belongs to no criterion that adjudge knows: {where}")
        return core.split("/")[0]
    return None if span.category is None else span.category.split("/")[0]


def _pairs(segments: Iterable[SegmentScore]) -> Iterator[tuple[SegmentScore, SegmentScore]]:
    by_segment: dict[tuple[str, str], list[SegmentScore]] = {}
    for s in segments:
        by_segment.setdefault((s.lp, s.segment), []).append(s)
    for rows in by_segment.values():
        yield from combinations(sorted(rows, key=lambda s: s.system), 2)


def _verdict(a: float, b: float, epsilon: float) -> Verdict:
    difference = round(a - b, _DIGITS)
    if abs(difference) <= epsilon:
        return "E"
    return "A" if difference > 0 else "B"
