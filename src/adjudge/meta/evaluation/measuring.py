"""Apply measures to a gold and a metric of an eval set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from adjudge.meta.evaluation.eval_set import ScoreSet
from adjudge.meta.evaluation.frame import row_means
from adjudge.meta.evaluation.options import Settings
from adjudge.meta.measures import MEASURES
from adjudge.meta.measures.result import Average, Floats, Result

__all__ = ["annotated_only", "arguments", "measure", "within"]


def measure(
    name: str, gold: ScoreSet, metric: ScoreSet, settings: Settings, average: Average | None = None
) -> Result:
    """Apply one measure.

    Args:
        name: in `MEASURES`.
        gold: systems by segments.
        metric: the same systems and segments.
        settings: how.
        average: of a segment measure, where it is not that of the settings.
    """
    found, options = MEASURES[name], arguments(name, gold, metric, settings, average)
    if found.takes == "systems":
        return found.function(gold.systems, metric.systems, **options)
    return found.function(gold.segments, metric.segments, **options)


def arguments(
    name: str, gold: ScoreSet, metric: ScoreSet, settings: Settings, average: Average | None = None
) -> dict[str, Any]:
    """What a measure's function is called with beside the scores; as `measure`."""
    found = MEASURES[name]
    options: dict[str, Any] = {}
    average = average or settings.average or found.average
    if average in found.averages:
        options["average"] = average
    if settings.compat is not None and "compat" in found.options:
        options["compat"] = settings.compat
    if settings.threshold is not None and "threshold" in found.options:
        options["threshold"] = settings.threshold
    if "scale" in found.options:
        options |= {"scale": settings.scale, "gold_range": gold.range, "metric_range": metric.range}
    return options


def within(scores: ScoreSet, cells: Floats) -> ScoreSet:
    """Keep some translations; scores of systems become means over them.

    Args:
        scores: systems by segments.
        cells: the same shape, NaN where a translation is left out.
    """
    segments = np.where(np.isnan(cells), np.nan, scores.segments)
    return replace(scores, segments=segments, systems=row_means(segments))


def annotated_only(gold: ScoreSet, metric: ScoreSet) -> tuple[ScoreSet, ScoreSet]:
    """Keep the translations that gold judged, in both."""
    return within(gold, gold.segments), within(metric, gold.segments)
