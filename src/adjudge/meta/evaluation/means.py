"""Means over the statistics of a task: of one language pair, and of several together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adjudge.meta.evaluation.eval_set import ScoreSet
from adjudge.meta.evaluation.measuring import measure
from adjudge.meta.evaluation.options import Settings
from adjudge.meta.evaluation.tasks import Task
from adjudge.meta.measures import MEASURES
from adjudge.meta.measures.result import Result

__all__ = ["mean_of_part", "mean_of_statistics", "pooled_accuracy", "task_statistics"]


def task_statistics(
    task: Task, gold: ScoreSet, metric: ScoreSet, settings: Settings, known: Mapping[str, Result]
) -> tuple[Result, ...]:
    """Value of each statistic of a task.

    Args:
        task: names measures and averages.
        gold: systems by segments.
        metric: the same.
        settings: how to measure.
        known: measures that were taken already, with the average of the settings.
    """
    found = []
    for statistic in task.statistics:
        own = MEASURES[statistic.measure].average
        wanted = statistic.average or own
        if statistic.measure in known and wanted == (settings.average or own):
            found.append(known[statistic.measure])
        else:
            found.append(measure(statistic.measure, gold, metric, settings, wanted))
    return tuple(found)


def mean_of_part(task: Task, statistics: Sequence[Result]) -> float | None:
    """Weighted mean of the statistics of one language pair; None where one of them has no value."""
    return mean_of_statistics(task, [statistics])


def mean_of_statistics(task: Task, parts: Sequence[Sequence[Result]]) -> float | None:
    """Weighted mean over the statistics of several language pairs; None where one of them has no value.

    A pooled statistic is one value over the pairs of systems of all language pairs, and weighs as much as
    that statistic of each of them would.

    Args:
        task: names the statistics.
        parts: of each language pair, the results of the task's statistics in their order.
    """
    whole = 0.0
    for place, statistic in enumerate(task.statistics):
        column = [part[place] for part in parts]
        if statistic.pooled:
            column = [pooled_accuracy(column)] * len(parts)
        for result in column:
            if result.value is None:
                return None
            whole += statistic.weight * statistic.scaled(result.value)
    return whole / (len(parts) * sum(statistic.weight for statistic in task.statistics))


def pooled_accuracy(results: Sequence[Result]) -> Result:
    """Pairwise accuracy over the pairs of systems of all language pairs together (Kocmi et al. 2021)."""
    right = sum(round(r.value * r.n) for r in results if r.value is not None)
    pairs = sum(r.n for r in results if r.value is not None)
    if not pairs or any(r.value is None for r in results):
        return Result(value=None, n=pairs, reason="one of the language pairs has no pair of systems")
    return Result(value=right / pairs, n=pairs)
