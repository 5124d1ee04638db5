"""Systems by criterion: a radar of the points that comparisons on each criterion give."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Final

from adjudge.core.annotation import Failure
from adjudge.errors import DataError, UsageError
from adjudge.meta.agreement.sources import Source
from adjudge.meta.ranking.criterion_ranking import rank_by_criterion
from adjudge.meta.ranking.rank import rank
from adjudge.report.annotators import Annotator
from adjudge.report.parts.beside import Beside
from adjudge.report.parts.part import Part, file_stem
from adjudge.report.radar_figure import radar_figure

__all__ = ["criteria_part"]

_MOST: Final = 20_000  # comparisons that one radar is drawn from; more take longer than the rest of a page
_MOST_RECORDS: Final = 2000
_RESAMPLES: Final = 500
_METHOD: Final = (
    "Each two translations of a source are compared by the criterion’s errors, or as was preferred."
)
_MOST_SYSTEMS: Final = 14
_CRITERIA: Final = 4  # of marked errors, the overall one among them


def criteria_part(found: Beside) -> Part | None:
    """A radar of each annotator that prefers on three criteria, or marks errors of three; else None."""
    figures, notes = [], [_METHOD]
    for annotator in found.annotators:
        source = _source(annotator, found.lp)
        if source is None:
            continue
        kept, step = _thinned(source)
        try:
            rankings = rank_by_criterion(kept, partial(rank, method="copeland", resamples=_RESAMPLES))
            name = f"criteria.{found.lp}.{file_stem(annotator.label)}"
            figures.append(radar_figure(name, rankings, by=annotator.label))
        except (DataError, UsageError):  # fewer than three criteria, or nothing to compare
            continue
        if step > 1:
            notes.append(
                f"{annotator.label}: drawn from one in {step} segments, `adjudge rank --radar` takes all."
            )
    if not figures:
        return None
    return Part(
        name="criteria",
        title="By criterion",
        finding=figures[0].title,
        figures=tuple(figures),
        notes=tuple(notes),
    )


def _thinned(source: Source) -> tuple[Source, int]:
    """One in so many segments, in page order, that the comparisons are not too many; and in how many."""
    step = max(-(-_comparisons(source) // _MOST), -(-len(source.records) // _MOST_RECORDS))
    if step <= 1:
        return source, 1
    places = {name: place for place, name in enumerate(dict.fromkeys(r.segment for r in source.records))}
    kept = tuple(r for r in source.records if places[r.segment] % step == 0)
    return replace(source, records=kept), step


def _source(annotator: Annotator, lp: str) -> Source | None:
    """What can be compared by criterion: preferences, or errors of categories."""
    if annotator.protocol not in {"mqm", "pairwise"}:
        return None
    records = annotator.of_lp(lp)
    systems = {name for r in records for name in r.systems}
    if not 2 <= len(systems) <= _MOST_SYSTEMS or not any(not isinstance(r, Failure) for r in records):
        return None
    weights = None if annotator.info is None else annotator.info.weights
    return Source(name=annotator.label, records=records, weights=weights)


def _comparisons(source: Source) -> int:
    """How many comparisons there will be."""
    if not source.has_scores:
        return len(source.records)
    judged = Counter((r.annotator, r.segment) for r in source.records)
    return _CRITERIA * sum(n * (n - 1) // 2 for n in judged.values())
