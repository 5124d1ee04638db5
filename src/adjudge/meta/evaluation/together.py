"""Several language pairs, or several golds, of one meta-evaluation together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adjudge.meta.evaluation.means import means_of_parts, pooled_accuracy
from adjudge.meta.evaluation.options import Settings
from adjudge.meta.evaluation.results import MetaEvaluation, MetricResults
from adjudge.meta.evaluation.tasks import Task, task_of
from adjudge.meta.measures.result import Result

__all__ = ["put_together"]


def put_together(parts: Sequence[MetaEvaluation], settings: Settings) -> MetaEvaluation:
    """Put language pairs and golds together: pooled accuracy, and the task's mean over all language pairs."""
    names = [m.name for m in parts[0].metrics if all(m.name in {o.name for o in p.metrics} for p in parts)]
    task = _task_of_all(parts, settings)
    rows = [_row_of_all(parts, name, task) for name in names]
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
        notes=tuple(_notes_together(parts, names, settings)),
        parts=tuple(parts),
        settings=settings.unusual,
    )


def _task_of_all(parts: Sequence[MetaEvaluation], settings: Settings) -> Task | None:
    """The one task of all language pairs; None where they have several, or a language pair has two golds."""
    tasks = {part.task for part in parts}
    if len(tasks) > 1 or tasks == {""} or _has_several_golds(parts):
        return None
    return settings.task or task_of(parts[0].test_set, parts[0].lp)


def _has_several_golds(parts: Sequence[MetaEvaluation]) -> bool:
    return len({part.lp for part in parts}) < len(parts)


def _row_of_all(parts: Sequence[MetaEvaluation], name: str, task: Task | None) -> MetricResults:
    each = [metric for part in parts for metric in part.metrics if metric.name == name]
    results: dict[str, Result] = {}
    if "sys_accuracy" in each[0].results and not _has_several_golds(parts):
        results["sys_accuracy"] = pooled_accuracy([metric.results["sys_accuracy"] for metric in each])
    return MetricResults(
        name=name,
        results=results,
        meta=None if task is None else means_of_parts(task, parts, name),
        n=sum(metric.n for metric in each),
        failed=sum(metric.failed for metric in each),
        partial=any(metric.partial for metric in each),
    )


def _notes_together(
    parts: Sequence[MetaEvaluation], names: Sequence[str], settings: Settings
) -> Iterator[str]:
    lost = {m.name for part in parts for m in part.metrics} - set(names)
    if lost:
        yield f"Not in every part, and so not in the whole: {', '.join(sorted(lost))}."
    wanted = {"intervals": settings.intervals, "clusters": settings.clusters}
    if any(wanted.values()):
        yield f"{' and '.join(w for w, asked in wanted.items() if asked).capitalize()} are of each part only."
