"""What a reader of a meta-evaluation must know of its numbers, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from adjudge.meta.bootstrap import lone_unit_note
from adjudge.meta.evaluation.choosing import Choice
from adjudge.meta.evaluation.eval_set import EvalSet, ScoreSet
from adjudge.meta.evaluation.options import Settings
from adjudge.meta.evaluation.results import named_gold
from adjudge.meta.evaluation.suspicious import suspicious
from adjudge.meta.evaluation.tasks import Task
from adjudge.meta.measures import MEASURES

__all__ = ["averages_notes", "metric_notes", "notes_of"]


def notes_of(eval_set: EvalSet, choice: Choice, gold: ScoreSet, settings: Settings) -> Iterator[str]:
    """Which systems, which segments, which reference: what a number that differs may be due to."""
    yield from eval_set.notes
    yield from _systems(choice)
    yield from choice.notes
    if choice.reference:
        yield f"Metrics with a reference were shown {choice.reference}."
    yield from _coverage(eval_set, gold, settings)
    if settings.average is not None:
        yield f"Measures of segments are averaged by: {settings.average}."
    yield from _sureness(settings)
    if settings.intervals:
        yield from lone_unit_note(int((~np.isnan(gold.segments)).any(axis=0).sum()), "segments")


def _systems(choice: Choice) -> Iterator[str]:
    n, told = len(choice.systems), ", ".join(f"{s} ({reason})" for s, reason in choice.excluded.items())
    if told:
        yield f"{f'{n} systems are' if n > 1 else 'One system is'} compared; left out: {told}."
    elif n > 1:
        yield f"All {n} systems are compared."
    if n == 1:
        yield "One system only: measures that compare systems, and averages by segment, have no value."


def _coverage(eval_set: EvalSet, gold: ScoreSet, settings: Settings) -> Iterator[str]:
    judged, total = ~np.isnan(gold.segments), len(eval_set.segments)
    name = named_gold(gold.name, "Gold")
    n = int(judged.any(axis=0).sum())
    holes = int(judged.any(axis=0).sum() * len(judged) - judged.sum())
    if n < total:
        over = "their files give, over all segments" if settings.segments == "all" else "the judged ones give"
        yield (
            f"{name} judged {n:,} of {total:,} segments, and measures of segments are over these; "
            f"scores of systems are what {over}."
        )
    known = gold.segments[judged]
    if len(known) > 1 and np.ptp(known) == 0:
        yield (
            f"{name} gives every translation {known[0]:g}: there is no order to agree with. acc_eq "
            "reaches 1 where it is calibrated to tie all, and SPA rests on the order in which systems stand."
        )
    if holes:
        yield f"{name} lacks {holes:,} translations of the segments that it judged otherwise."
    if failed := sum(gold.failed.values()):
        yield f"{name} has {failed:,} failed judgements, which have no score."


def _sureness(settings: Settings) -> Iterator[str]:
    """How intervals and clusters are made."""
    if settings.intervals:
        units = "documents" if settings.by_document else "segments"
        yield (
            f"Intervals: 95 %, bootstrap over {units}, {settings.resamples:,} draws; scores of systems are "
            "drawn as means over segments, whatever their files say."
        )
    if settings.clusters:
        corrected = ", corrected by Holm" if settings.holm else ""
        yield f"Clusters: {_test(settings)}, p <= {settings.alpha:g}{corrected}."


def _test(settings: Settings) -> str:
    if settings.test == "williams":
        return (
            "Williams' test, for which all scores are independent (those of one system, or document, are not)"
        )
    if settings.by_document:
        name = "bootstrap over documents"
    else:
        name = settings.test or "each measure's own test of metrics"
    return f"{name}, {settings.resamples:,} draws"


def averages_notes(task: Task | None, settings: Settings) -> Iterator[str]:
    """Where the mean takes another average of a measure than its column shows."""
    for statistic in () if task is None else task.statistics:
        own = MEASURES[statistic.measure].average
        shown, wanted = settings.average or own, statistic.average or own
        if statistic.measure in settings.measures and shown != wanted:
            yield f"meta takes {statistic.measure} with average {wanted}; its column has average {shown}."


def metric_notes(choice: Choice, gold: ScoreSet, metrics: Mapping[str, ScoreSet]) -> Iterator[str]:
    """Which judgements of metrics failed, and what looks wrong in their scores."""
    for name, metric in metrics.items():
        if failed := sum(metric.failed.values()):
            yield f"{name} has {failed:,} failed judgements, which have no score."
        yield from suspicious(name, metric, gold, choice.systems)
