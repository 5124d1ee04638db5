"""How sure the numbers of a meta-evaluation are: intervals of every value, and clusters of metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from adjudge.meta.bootstrap import percentile_intervals
from adjudge.meta.evaluation.eval_set import ScoreSet
from adjudge.meta.evaluation.measuring import arguments
from adjudge.meta.evaluation.options import Settings
from adjudge.meta.evaluation.results import MetricResults
from adjudge.meta.evaluation.tasks import Task
from adjudge.meta.measures import MEASURES
from adjudge.meta.measures.result import Average, Floats
from adjudge.meta.significance.corrections import holm, significance_ranks
from adjudge.meta.significance.draws import Drawing, bootstrap_p_values, measure_draws
from adjudge.meta.significance.metric_tests import metric_p_values

__all__ = ["META", "Compared", "compared_value", "with_clusters", "with_intervals"]

META: Final = "meta"


@dataclass(frozen=True, kw_only=True)
class Compared:
    """The scores behind a table.

    Args:
        gold: systems by segments.
        metrics: in the order of the table's rows, of the same systems and segments.
        documents: of each segment.
        task: whose mean `meta` is; None for none.
        settings: how to measure.
        drawn: draws that were made, by measure and average.
    """

    gold: ScoreSet
    metrics: Sequence[ScoreSet]
    documents: Sequence[str]
    task: Task | None
    settings: Settings
    drawn: dict[tuple[str, Average | None], Floats] = field(default_factory=dict)

    @property
    def drawing(self) -> Drawing:
        """The draws that all measures and all metrics share."""
        documents = self.documents if self.settings.by_document else ()
        return Drawing(resamples=self.settings.resamples, seed=self.settings.seed, documents=documents)

    def draws(self, name: str, average: Average | None = None) -> Floats:
        """Draws by metrics, values of a measure."""
        options = self._options(name, average)
        key = name, options.pop("average", None)
        if key not in self.drawn:
            metrics = np.stack([metric.segments for metric in self.metrics])
            self.drawn[key] = measure_draws(
                name, self.gold.segments, metrics, self.drawing, average=key[1], options=options
            )
        return self.drawn[key]

    def meta_draws(self) -> Floats:
        """Draws by metrics, means of the task.

        Statistics of segments draw what gold judged, those of systems all segments: these two do not share
        their draws, so that what they have in common does not widen the interval.
        """
        statistics = () if self.task is None else self.task.statistics
        drawn = [s.weight * s.scaled(self.draws(s.measure, s.average)) for s in statistics]
        return np.asarray(sum(drawn) / sum(s.weight for s in statistics), dtype=np.float64)

    def p_values(self, name: str) -> Floats:
        """Metrics by metrics: is the first better than the second?"""
        if name == META:
            return bootstrap_p_values(self.meta_draws())
        method = self.settings.method(name)
        if method == "bootstrap":
            draws = self.draws(name)
            return bootstrap_p_values(draws if MEASURES[name].higher_is_better else -draws)
        if MEASURES[name].takes == "systems":
            gold, metrics = self.gold.systems, [metric.systems for metric in self.metrics]
        else:
            gold, metrics = self.gold.segments, [metric.segments for metric in self.metrics]
        return metric_p_values(
            name, gold, np.stack(metrics), self.drawing, options=self._options(name), method=method
        )

    def _options(self, name: str, average: Average | None = None) -> dict[str, Any]:
        """Arguments of the measure; the ranges of all metrics are those of the first one."""
        found = arguments(name, self.gold, self.metrics[0], self.settings, average)
        return {key: value for key, value in found.items() if key != "compat"}


def with_intervals(rows: Sequence[MetricResults], compared: Compared) -> list[MetricResults]:
    """Give every value its 95 % interval: percentiles of a bootstrap over segments, or documents."""
    drawn = {name: percentile_intervals(compared.draws(name)) for name in compared.settings.measures}
    with_meta = any(row.meta is not None for row in rows)
    means = percentile_intervals(compared.meta_draws()) if with_meta else [None] * len(rows)
    return [
        replace(
            row,
            results={
                name: replace(r, interval=None if r.value is None else drawn[name][place])
                for name, r in row.results.items()
            },
            meta_interval=None if row.meta is None else means[place],
        )
        for place, row in enumerate(rows)
    ]


def with_clusters(
    rows: Sequence[MetricResults], compared: Compared
) -> tuple[list[MetricResults], dict[str, Floats]]:
    """Give every value the cluster that its metric is in.

    Returns:
        The rows, and by measure the p-values that the clusters come from: metrics by metrics.
    """
    columns = [*compared.settings.measures, *([META] if any(row.meta is not None for row in rows) else [])]
    clusters: list[dict[str, int]] = [{} for _ in rows]
    tables = {}
    for name in columns:
        values = [compared_value(row, name) for row in rows]
        table = compared.p_values(name)
        tables[name] = _corrected(values, table) if compared.settings.holm else table
        for place, rank in enumerate(significance_ranks(values, tables[name], compared.settings.alpha)):
            if rank is not None:
                clusters[place][name] = rank
    return [replace(row, clusters=found) for row, found in zip(rows, clusters, strict=True)], tables


def compared_value(row: MetricResults, name: str) -> float | None:
    """Value of a row, larger for the better; None for one that cannot be compared with the others."""
    if row.partial:
        return None
    value = row.meta if name == META else row.results[name].value
    return value if value is None or name == META or MEASURES[name].higher_is_better else -value


def _corrected(values: Sequence[float | None], table: Floats) -> Floats:
    """Holm's correction over the tests that are asked: the better metric against the worse one."""
    asked = np.array([[_is_better(a, b) for b in values] for a in values])
    found = np.ones_like(table)
    found[asked] = holm(table[asked])
    return found


def _is_better(a: float | None, b: float | None) -> bool:
    return a is not None and b is not None and a > b
