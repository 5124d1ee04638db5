"""Several language pairs, or several golds, of one meta-evaluation together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from adjudge.meta.evaluation.means import mean_of_statistics, pooled_accuracy
from adjudge.meta.evaluation.options import Settings
from adjudge.meta.evaluation.results import MetaEvaluation, MetricResults
from adjudge.meta.evaluation.tasks import Task, task_of
from adjudge.meta.measures.result import Result

__all__ = ["put_together"]


def put_together(parts: Sequence[MetaEvaluation], settings: Settings) -> MetaEvaluation:
    """Put language pairs and golds together: pooled accuracy, and the task's mean over all language pairs.

    A metric that was shown different references in different language pairs is one, as in mt-metrics-eval:
    `COMET-refA` of one and `COMET-refB` of another are `COMET`.
    """
    joined = _joined(parts)
    task = _task_of_all(parts, settings)
    rows = [_row_of_all(parts, name, each, task) for name, each in joined.items()]
    measures = tuple(rows[0].results) if rows else ()
    return MetaEvaluation(
        test_set=parts[0].test_set,
        lp=",".join(dict.fromkeys(part.lp for part in parts)),
        gold=",".join(dict.fromkeys(part.gold for part in parts)),
        systems=(),
        excluded={},
        n_segments=sum(part.n_segments for part in parts),
        n_all=sum(part.n_all for part in parts),
        reference="",
        measures=measures,
        metrics=tuple(rows) if measures or task is not None else (),
        task="" if task is None else task.name,
        notes=tuple(_notes_together(parts, joined, settings)),
        parts=tuple(parts),
        settings=settings.unusual,
    )


def _joined(parts: Sequence[MetaEvaluation]) -> dict[str, list[MetricResults]]:
    """Name and results of each metric that every part has: under one name, else under one name's base."""
    each = [{metric.name: metric for metric in part.metrics} for part in parts]
    same = {name for name in each[0] if all(name in found for found in each)}
    bases = [
        Counter(m.base for n, m in found.items() if n not in same and _has_reference(m)) for found in each
    ]
    rows: dict[str, list[MetricResults]] = {}
    for name, metric in each[0].items():
        if name in same:
            rows[name] = [found[name] for found in each]
        elif _has_reference(metric) and all(found[metric.base] == 1 for found in bases):
            variants = [
                next(
                    m
                    for n, m in found.items()
                    if n not in same and _has_reference(m) and m.base == metric.base
                )
                for found in each
            ]
            references = dict.fromkeys(m.reference for m in variants)
            taken = metric.base in same
            rows[f"{metric.base}-{'/'.join(references)}" if taken else metric.base] = variants
    return rows


def _has_reference(metric: MetricResults) -> bool:
    return metric.base != metric.name


def _task_of_all(parts: Sequence[MetaEvaluation], settings: Settings) -> Task | None:
    """The one task of all language pairs; None where they have several, or a language pair has two golds."""
    tasks = {part.task for part in parts}
    if len(tasks) > 1 or tasks == {""} or _has_several_golds(parts):
        return None
    return settings.task or task_of(parts[0].test_set, parts[0].lp)


def _has_several_golds(parts: Sequence[MetaEvaluation]) -> bool:
    return len({part.lp for part in parts}) < len(parts)


def _row_of_all(
    parts: Sequence[MetaEvaluation], name: str, each: Sequence[MetricResults], task: Task | None
) -> MetricResults:
    results: dict[str, Result] = {}
    if "sys_accuracy" in each[0].results and not _has_several_golds(parts):
        results["sys_accuracy"] = pooled_accuracy([metric.results["sys_accuracy"] for metric in each])
    return MetricResults(
        name=name,
        results=results,
        meta=None if task is None else mean_of_statistics(task, [metric.statistics for metric in each]),
        n=sum(metric.n for metric in each),
        failed=sum(metric.failed for metric in each),
        partial=any(metric.partial for metric in each),
        reference="/".join(dict.fromkeys(metric.reference for metric in each)),
    )


def _notes_together(
    parts: Sequence[MetaEvaluation], joined: Mapping[str, Sequence[MetricResults]], settings: Settings
) -> Iterator[str]:
    shown: dict[str, dict[str, None]] = {}
    for each in joined.values():
        if len({metric.name for metric in each}) > 1:
            for part, metric in zip(parts, each, strict=True):
                shown.setdefault(metric.reference, {})[part.lp] = None
    if shown:
        which = ", ".join(f"{reference} in {' and '.join(lps)}" for reference, lps in shown.items())
        yield f"Metrics with a reference are joined by their names without it; they were shown {which}."
    kept = {metric.name for each in joined.values() for metric in each}
    if lost := {m.name for part in parts for m in part.metrics} - kept:
        yield f"Not in every part, and so not in the whole: {', '.join(sorted(lost))}."
    wanted = {"intervals": settings.intervals, "clusters": settings.clusters}
    if any(wanted.values()):
        yield f"{' and '.join(w for w, asked in wanted.items() if asked).capitalize()} are of each part only."
