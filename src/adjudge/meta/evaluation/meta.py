"""`meta`: every measure of every metric of a test set, as its year's task has it or as a user wants it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import numpy as np

from adjudge.core.keywords import checks_keywords
from adjudge.core.language import canonical_lp
from adjudge.errors import DataError, UsageError
from adjudge.meta.evaluation.choosing import choose
from adjudge.meta.evaluation.eval_set import EvalSet, ScoreSet
from adjudge.meta.evaluation.eval_sets import find_set_lps, known_name, read_eval_set
from adjudge.meta.evaluation.means import mean_of_part, task_statistics
from adjudge.meta.evaluation.measuring import annotated_only, measure, within
from adjudge.meta.evaluation.notes import averages_notes, metric_notes, notes_of
from adjudge.meta.evaluation.options import Options, Settings, names
from adjudge.meta.evaluation.reach import out_of_reach
from adjudge.meta.evaluation.results import MetaEvaluation, MetricResults, Stratum, named_gold
from adjudge.meta.evaluation.score_sources import OwnScores, find_own_scores
from adjudge.meta.evaluation.strata import strata
from adjudge.meta.evaluation.sureness import Compared, with_clusters, with_intervals
from adjudge.meta.evaluation.tasks import Task, task_of
from adjudge.meta.evaluation.together import put_together
from adjudge.meta.measures.result import Floats
from adjudge.meta.measures.sharing import sharing

__all__ = ["evaluate", "meta"]


@checks_keywords(Options)
def meta(
    test_set: Path | str, lp: str | Sequence[str] | None = None, **options: Unpack[Options]
) -> MetaEvaluation:
    """Judge metrics and judges by how well they agree with gold.

    Args:
        test_set: folder of mt-metrics-eval or MENT, any other test set, or a public name.
        lp: language pair; several, or several separated by commas, are also taken together. None for the
            only one, else for those of the task.
        options: as `adjudge.meta.evaluation.options.Options` describes them.

    Raises:
        DataError: a file is not what it should be, or nothing is left to compare.
        UsageError: a name or an option that there is not.
    """
    settings = Settings.of(options)
    golds = names(options.get("gold", ()))
    lps = _lps(test_set, lp, settings.task)
    own = find_own_scores(options.get("scores", {}), lps)
    parts: list[MetaEvaluation] = []
    for each in lps:
        parts += _each_gold(test_set, each, golds, own, options, settings)
    judged = {metric.name for part in parts for metric in part.metrics}
    if nowhere := [name for name in own if name not in judged]:
        there = ", ".join(part.lp for part in parts)
        raise DataError(f"{', '.join(nowhere)} has no score of {there}")
    return parts[0] if len(parts) == 1 else put_together(parts, settings)


def _lps(test_set: Path | str, lp: str | Sequence[str] | None, task: Task | None) -> list[str | None]:
    """Language pairs that are meant."""
    if lp is not None:
        wanted = lp.split(",") if isinstance(lp, str) else lp
        return list(dict.fromkeys(canonical_lp(each) for each in wanted))
    there = find_set_lps(test_set)
    if len(there) == 1:
        return [there[0]]
    name = known_name(test_set)
    of_task = [lp for lp in there if (task_of(name, lp) if task is None else lp in task.lps)]
    return [*of_task] or [None]


def _each_gold(
    test_set: Path | str,
    lp: str | None,
    golds: Sequence[str],
    own: Mapping[str, OwnScores],
    options: Options,
    settings: Settings,
) -> Iterator[MetaEvaluation]:
    task = settings.task or (None if lp is None else task_of(known_name(test_set), lp))
    rule = None if task is None or lp is None else task.rule(lp)
    eval_set = read_eval_set(
        test_set,
        lp,
        gold=golds,
        scores=own,
        metrics=names(options.get("metrics", ())),
        preferred=None if task is None or lp is None else task.gold_of(lp),
        weights=settings.weights,
        reference=settings.wishes.reference or (None if rule is None else rule.reference),
    )
    for gold in eval_set.golds:
        yield evaluate(eval_set, gold, settings)


def evaluate(eval_set: EvalSet, gold: str, settings: Settings) -> MetaEvaluation:
    """Apply every measure to every metric of one language pair.

    Args:
        eval_set: all that was read.
        gold: name of one of its golds.
        settings: what to do; its task is the one that the test set was made for if None.
    """
    task = settings.task or task_of(eval_set.known_as, eval_set.lp)
    if task is not None and settings.task is None and task.gold_of(eval_set.lp) != gold:
        task = None
    rule = (task or _NO_TASK).rule(eval_set.lp)
    choice = choose(eval_set, eval_set.golds[gold], rule, settings.wishes)
    chosen = eval_set.select(choice.systems)
    truth = chosen.golds[gold]
    if np.isnan(truth.segments).all() and np.isnan(truth.systems).all():
        raise DataError(f"{named_gold(gold)} judges nothing of {eval_set.name} {eval_set.lp}")
    metrics = {name: chosen.metrics[name] for name in choice.metrics}
    if not metrics:
        raise UsageError(f"{eval_set.name} {eval_set.lp} has no metric to judge: add --scores NAME=RUN|FILE")
    judged = ~np.isnan(truth.segments)
    rows, tables = _rows(truth, metrics, chosen.documents, task, settings)
    return MetaEvaluation(
        test_set=eval_set.name,
        lp=eval_set.lp,
        gold=gold,
        systems=choice.systems,
        excluded=choice.excluded,
        n_segments=int(judged.any(axis=0).sum()),
        n_all=len(eval_set.segments),
        reference=choice.reference,
        measures=settings.measures,
        metrics=tuple(rows),
        task="" if task is None else task.name,
        notes=(
            *notes_of(eval_set, choice, truth, settings),
            *averages_notes(task, settings),
            *(out_of_reach(rows, truth, settings) if settings.clusters and len(rows) > 1 else ()),
            *metric_notes(choice, truth, metrics),
        ),
        strata=tuple(_strata(chosen, truth, metrics, settings)),
        p_values=tables,
        scores=replace(chosen, golds={gold: truth}, metrics=metrics),
        settings=settings.unusual,
    )


_NO_TASK = Task(name="", title="", source="", statistics=())


def _rows(
    gold: ScoreSet,
    metrics: Mapping[str, ScoreSet],
    documents: Sequence[str],
    task: Task | None,
    settings: Settings,
) -> tuple[list[MetricResults], dict[str, Floats]]:
    """One row a metric, with intervals and clusters where asked for, and the p-values behind these."""
    pairs = {name: _sides(gold, metric, settings) for name, metric in metrics.items()}
    rows = [_metric(truth, metric, settings, task) for truth, metric in pairs.values()]
    rows = _marked(rows, gold, metrics)
    if not settings.intervals and not settings.clusters:
        return rows, {}
    compared = Compared(
        gold=next(truth for truth, _ in pairs.values()),
        metrics=[metric for _, metric in pairs.values()],
        documents=documents,
        task=task,
        settings=settings,
    )
    rows = with_intervals(rows, compared) if settings.intervals else rows
    return with_clusters(rows, compared) if settings.clusters and len(rows) > 1 else (rows, {})


def _sides(gold: ScoreSet, metric: ScoreSet, settings: Settings) -> tuple[ScoreSet, ScoreSet]:
    return annotated_only(gold, metric) if settings.segments == "annotated" else (gold, metric)


def _metric(gold: ScoreSet, metric: ScoreSet, settings: Settings, task: Task | None) -> MetricResults:
    with sharing():
        results = {name: measure(name, gold, metric, settings) for name in settings.measures}
        statistics = () if task is None else task_statistics(task, gold, metric, settings, results)
    return MetricResults(
        name=metric.name,
        results=results,
        n=int((~np.isnan(gold.segments) & ~np.isnan(metric.segments)).sum()),
        meta=None if task is None else mean_of_part(task, statistics),
        statistics=statistics,
        failed=sum(metric.failed.values()),
        reference=metric.reference,
    )


def _marked(
    rows: Sequence[MetricResults], gold: ScoreSet, metrics: Mapping[str, ScoreSet]
) -> list[MetricResults]:
    """Mark metrics that lack a system which gold judged and another metric scored."""
    wanted = ~gold.unscored & np.any([~metric.unscored for metric in metrics.values()], axis=0)
    return [replace(row, partial=bool((wanted & metrics[row.name].unscored).any())) for row in rows]


# Strata...


def _strata(
    chosen: EvalSet, gold: ScoreSet, metrics: Mapping[str, ScoreSet], settings: Settings
) -> Iterator[Stratum]:
    for kind in settings.strata:
        for name, cells in strata(kind, chosen, gold, settings.length_bins):
            yield _stratum(kind, name, cells, (gold, metrics, settings))


def _stratum(
    kind: str, name: str, cells: Floats, whole: tuple[ScoreSet, Mapping[str, ScoreSet], Settings]
) -> Stratum:
    gold, metrics, settings = whole
    judged = ~np.isnan(cells)
    n, n_segments = int(judged.sum()), int(judged.any(axis=0).sum())
    if n < settings.smallest:
        reason = f"{n} judged translations, {settings.smallest} are needed"
        return Stratum(kind=kind, name=name, n_segments=n_segments, n=n, reason=reason)
    part = within(gold, cells)
    parts = {key: within(metric, cells) for key, metric in metrics.items()}
    found = _marked([_metric(part, each, settings, None) for each in parts.values()], part, parts)
    return Stratum(kind=kind, name=name, n_segments=n_segments, n=n, metrics=tuple(found))
