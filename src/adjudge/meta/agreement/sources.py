"""Judgements of several runs and files side by side, as preferences of annotators with names of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from adjudge.core.annotation import Annotation, Failure, Preference, Record
from adjudge.core.run import Run
from adjudge.core.segment import TestSet
from adjudge.errors import DataError, UsageError
from adjudge.meta.ranking.preferences import preferences_from_annotations
from adjudge.scoring.repeats import without_repeats

__all__ = ["Source", "criteria_of", "named_apart", "preferences_of", "source_of"]


@dataclass(frozen=True, kw_only=True)
class Source:
    """What one run or file holds.

    Args:
        name: of the run or file.
        records: of it; of a translation that one annotator judged again as a filler, the first judgement.
        test_set: the texts, where it has them.
        weights: of the run's marked errors; None for the default of the protocol.
    """

    name: str
    records: tuple[Record, ...]
    test_set: TestSet | None = None
    weights: str | None = None

    @property
    def has_scores(self) -> bool:
        """Whether translations were judged, and not pairs of them."""
        return any(isinstance(r, Annotation) for r in self.records)

    @property
    def annotators(self) -> tuple[str, ...]:
        """Who judged, or was asked to, in order of first appearance."""
        return tuple(dict.fromkeys(r.annotator for r in self.records))


def source_of(name: str, judged: Run | Iterable[Record], lp: str | None = None) -> Source:
    """Take a run or records, of one language pair if one is chosen.

    Raises:
        DataError: there are none, or preferences and annotations are mixed.
        UsageError: none is of the language pair.
    """
    run = judged if isinstance(judged, Run) else None
    every = tuple(judged) if not isinstance(judged, Run) else judged.records
    records, _ = without_repeats([r for r in every if lp is None or r.lp == lp])
    if not records:
        if not every or lp is None:
            raise DataError(f"{name} has no records")
        known = ", ".join(dict.fromkeys(r.lp for r in every))
        raise UsageError(f"{name} has no records of {lp}; it has some of {known}")
    if {Annotation, Preference} <= {type(r) for r in records}:
        raise DataError(f"{name} holds preferences and annotations; give them as two files")
    return Source(
        name=name,
        records=tuple(records),
        test_set=None if run is None else run.test_set,
        weights=None if run is None else run.info.weights,
    )


def named_apart(sources: Sequence[Source]) -> list[Source]:
    """Put the source's name before annotators that stand in several sources: `run-1:fire`.

    So people asked twice and a judge sampled twice are compared with themselves.

    Raises:
        DataError: two sources of one name hold the same annotator.
    """
    found = Counter(annotator for source in sources for annotator in source.annotators)
    shared = {annotator for annotator, times in found.items() if times > 1}
    names = Counter((s.name, a) for s in sources for a in s.annotators if a in shared)
    for (name, annotator), times in names.items():
        if times > 1:
            raise DataError(f"{name!r} is given {times} times, each with judgements of {annotator!r}")
    return [
        replace(
            source,
            records=tuple(
                replace(r, annotator=f"{source.name}:{r.annotator}") if r.annotator in shared else r
                for r in source.records
            ),
        )
        for source in sources
    ]


def preferences_of(
    source: Source, *, by_criterion: bool = False, epsilon: float = 0.0
) -> list[Preference | Failure]:
    """Preferences of a source: its own, or those that its scores make.

    Args:
        source: preferences, or annotations of one protocol.
        by_criterion: make one preference a criterion of marked errors.
        epsilon: largest difference of scores that is a tie.
    """
    if source.has_scores:
        return preferences_from_annotations(
            source.records, weights=source.weights, by_criterion=by_criterion, epsilon=epsilon
        )
    return [r for r in source.records if not isinstance(r, Annotation)]


def criteria_of(records: Iterable[Preference | Failure]) -> list[str]:
    """Every criterion that something was preferred on, in order of first appearance."""
    return list(dict.fromkeys(r.criterion for r in records if isinstance(r, Preference)))
