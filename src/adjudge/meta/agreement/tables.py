"""Labels of annotators side by side: verdicts on pairs, or scores of translations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from adjudge.core.annotation import Annotation, Record
from adjudge.core.protocol import find_protocol
from adjudge.meta.agreement.sources import Source
from adjudge.meta.measures.result import Floats
from adjudge.meta.ranking.comparisons import Comparisons
from adjudge.scoring.score import score

__all__ = ["LabelTable", "pair_table", "score_table"]


@dataclass(frozen=True, kw_only=True)
class LabelTable:
    """Labels of people and judges on the same units.

    Args:
        criterion: of verdicts; empty for scores.
        annotators: columns.
        people: those that are no judges.
        labels: units by annotators, NaN where there is none.
        groups: segment of each unit, numbered from 0.
        grid: of scores: annotators by systems by segments; None for verdicts.
        errors: of scores with marked errors: `any`, `minor`, `major` to how many were marked, shaped as the
            grid.
        scales: of scores: annotator to what the scale is called; only values on one scale can be compared.
    """

    criterion: str
    annotators: tuple[str, ...]
    people: tuple[str, ...]
    labels: Floats
    groups: Sequence[int]
    grid: Floats | None = None
    errors: Mapping[str, Floats] = field(default_factory=dict)
    scales: Mapping[str, str] = field(default_factory=dict)

    @property
    def judges(self) -> tuple[str, ...]:
        """Annotators that are compared with people."""
        return tuple(a for a in self.annotators if a not in self.people)

    def is_on_one_scale(self, names: Iterable[str]) -> bool:
        """Whether labels of these annotators are values that can be compared."""
        return len({self.scales.get(name) for name in names}) <= 1

    def labels_of(self, names: Sequence[str]) -> Floats:
        """Units by these annotators."""
        return np.asarray(self.labels[:, [self.annotators.index(name) for name in names]])


def pair_table(comparisons: Comparisons, people: Sequence[str]) -> LabelTable:
    """Verdicts on one criterion.

    Args:
        comparisons: of people and judges.
        people: who is no judge.
    """
    return LabelTable(
        criterion=comparisons.criterion,
        annotators=comparisons.annotators,
        people=tuple(a for a in comparisons.annotators if a in people),
        labels=comparisons.labels,
        groups=comparisons.segments,
    )


def score_table(sources: Sequence[Source], people: Sequence[str]) -> LabelTable:
    """Scores and marked errors of every translation by every annotator.

    Scores are those of `scoring.score`: MQM by weights, the others by their rating.

    Args:
        sources: annotations, no annotator in two of them.
        people: who is no judge.
    """
    by_annotator: dict[str, tuple[Source, list[Record]]] = {}
    for source in sources:
        for record in source.records:
            by_annotator.setdefault(record.annotator, (source, []))[1].append(record)
    every = [r for _, records in by_annotator.values() for r in records if isinstance(r, Annotation)]
    segments = {key: place for place, key in enumerate(dict.fromkeys((r.lp, r.segment) for r in every))}
    systems = {key: place for place, key in enumerate(sorted({r.system for r in every}))}
    grid = np.full((len(by_annotator), len(systems), len(segments)), np.nan)
    errors = {kind: grid.copy() for kind in ("any", "minor", "major")}
    scales = {}
    for row, (name, (source, records)) in enumerate(by_annotator.items()):
        scored = score(records, weights=source.weights if _has_weights(records) else None)
        scales[name] = _scale(scored.range)
        for s in scored.segments:
            if s.score is not None:
                grid[row, systems[s.system], segments[s.lp, s.segment]] = s.score
        for record in records:
            if isinstance(record, Annotation) and find_protocol(record.protocol).has_spans:
                place = (row, systems[record.system], segments[record.lp, record.segment])
                for kind, n in _marked(record).items():
                    errors[kind][place] = n
    has_errors = not np.isnan(errors["any"]).all()
    return LabelTable(
        criterion="",
        annotators=tuple(by_annotator),
        people=tuple(a for a in by_annotator if a in people),
        labels=grid.reshape(len(grid), -1).T,
        groups=list(range(len(segments))) * len(systems),
        grid=grid,
        errors=errors if has_errors else {},
        scales=scales,
    )


def _scale(bounds: tuple[float, float]) -> str:
    """What a scale is called; points of errors are one scale, whether or not they are capped."""
    low, high = bounds
    if high == 0:
        return "points of errors"
    return "no stated range" if math.isinf(low) and math.isinf(high) else f"{low:g} to {high:g}"


def _has_weights(records: Sequence[Record]) -> bool:
    return records[0].protocol == "mqm"


def _marked(record: Annotation) -> dict[str, int]:
    """How many errors are marked: any, minor, major with critical; neutral marks are no errors."""
    counts = record.counts or {}
    severities = [s for s, n in counts.items() for _ in range(n)] or [s.severity for s in record.spans]
    minor = severities.count("minor")
    major = severities.count("major") + severities.count("critical")
    return {"any": minor + major, "minor": minor, "major": major}
