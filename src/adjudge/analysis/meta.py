"""`meta`: every measure of every metric of a test set, as its year's task has it or as a user wants it.

`evaluate` does one language pair with one gold, `put_together` several. Beside the values stand intervals
and significance clusters (`with_intervals`, `with_clusters`), parts of the translations (`strata`), and
notes on what a number that differs may be due to.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from adjudge.analysis.eval_set import (
    CLEAN,
    EvalSet,
    InMemory,
    OwnScores,
    ScoreSet,
    find_own_scores,
    golds_by_lp,
    length_names,
    over_units,
)
from adjudge.analysis.eval_set_files import (
    find_metrics,
    find_references,
    find_set_lps,
    known_name,
    read_eval_set,
    read_one,
)
from adjudge.analysis.meta_settings import (
    PRIMARY,
    MetaEvaluation,
    MetaSettings,
    MetricResults,
    Stratum,
    StratumKind,
    annotated_only,
    arguments,
    average_ranks,
    mean_of_part,
    mean_of_statistics,
    measure,
    named_gold,
    pooled_accuracy,
    task_statistics,
    within,
)
from adjudge.analysis.shared_tasks import (
    Choice,
    LpRule,
    Statistic,
    Task,
    check_lps,
    check_metrics,
    check_systems,
    choose,
    suspicious,
    task_of,
)
from adjudge.core.frozen import frozen
from adjudge.core.language import canonical_lp, coded_lp
from adjudge.core.protocol import SEVERITIES
from adjudge.core.scores import Interval
from adjudge.core.segment import TestSet
from adjudge.core.verb import takes
from adjudge.errors import DataError, UsageError
from adjudge.formats.read import load
from adjudge.formats.rows import HUB, Frame, Rows
from adjudge.stats.bootstrap import lone_unit_note, percentile_intervals
from adjudge.stats.judged import Average, Floats, Result, sharing
from adjudge.stats.measures import MEASURES
from adjudge.stats.paired import (
    deciding_draws,
    holm,
    is_exact,
    monte_carlo_bounds,
    open_ranks,
    significance_ranks,
    smallest_p_value,
)
from adjudge.stats.permutation import Differences, joint_p_values, pooled_differences
from adjudge.stats.resampling import (
    Drawing,
    bootstrap_p_values,
    default_method,
    measure_draws,
    metric_p_values,
    swapped_differences,
)


def notes_of(eval_set: EvalSet, choice: Choice, gold: ScoreSet, settings: MetaSettings) -> Iterator[str]:
    """Which systems, which segments, which reference: what a number that differs may be due to."""
    yield from eval_set.notes
    n, told = len(choice.systems), ", ".join(f"{s} ({reason})" for s, reason in choice.excluded.items())
    if told:
        yield f"{f'{n} systems are' if n > 1 else 'One system is'} compared; left out: {told}."
    elif n > 1:
        yield f"All {n} systems are compared."
    if n == 1:
        yield "One system only: measures that compare systems, and averages by segment, have no value."
    yield from choice.notes
    if choice.reference:
        yield f"Metrics with a reference were shown {choice.reference}."
    judged, total = ~np.isnan(gold.segments), len(eval_set.segments)
    name = named_gold(gold.name, "Gold")
    covered = int(judged.any(axis=0).sum())
    holes = int(judged.any(axis=0).sum() * len(judged) - judged.sum())
    if covered < total:
        over = "their files give, over all segments" if settings.segments == "all" else "the judged ones give"
        yield (
            f"{name} judged {covered:,} of {total:,} segments, and measures of segments are over these; "
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
    if settings.level != "segment":
        judged_only = settings.segments == "annotated"
        of = "the segments that gold judged" if judged_only else "those of its segments that have one"
        yield (
            f"Measures of segments compare {settings.level}s, {gold.segments.shape[1]:,} of them; the score "
            f"of one is the mean of {of}. A task's mean is of segments: there is none here."
        )
    if settings.average is not None:
        yield f"Measures of segments are averaged by: {settings.average}."
    if not settings.macro:
        yield "Averages of correlations weigh each segment, or system, by the scores that it has."
    if settings.intervals:
        units = "documents" if settings.by_document else "segments"
        yield (
            f"Intervals: 95 %, bootstrap over {units}, {settings.resamples:,} draws; scores of systems are "
            "drawn as means over segments, whatever their files say."
        )
    if settings.has_clusters:
        corrected = ", corrected by Holm" if settings.holm else ""
        yield f"Clusters: {_test(settings)}, p <= {settings.alpha:g}{corrected}."
    if settings.intervals:
        yield from lone_unit_note(int((~np.isnan(gold.segments)).any(axis=0).sum()), "segments")


def _test(settings: MetaSettings) -> str:
    if settings.test == "williams":
        return (
            "Williams' test, for which all scores are independent (those of one system, or document, are not)"
        )
    if settings.by_document:
        name = "bootstrap over documents"
    else:
        name = settings.test or "each measure's own test of metrics"
    return f"{name}, {settings.resamples:,} draws"


def averages_notes(task: Task | None, settings: MetaSettings) -> Iterator[str]:
    """Where the mean takes another average of a measure than its column shows."""
    for statistic in () if task is None else task.statistics:
        own = MEASURES[statistic.measure].average
        shown, wanted = settings.average or own, statistic.average or own
        if statistic.measure in settings.chosen_measures and shown != wanted:
            yield f"meta takes {statistic.measure} with average {wanted}; its column has average {shown}."


def metric_notes(choice: Choice, gold: ScoreSet, metrics: Mapping[str, ScoreSet]) -> Iterator[str]:
    """Which judgements of metrics failed, and what looks wrong in their scores."""
    for name, metric in metrics.items():
        if failed := sum(metric.failed.values()):
            yield f"{name} has {failed:,} failed judgements, which have no score."
        yield from suspicious(name, metric, gold, choice.systems)


def put_together(parts: Sequence[MetaEvaluation], settings: MetaSettings) -> MetaEvaluation:
    """Put language pairs and golds together: pooled accuracy, and the task's mean over all language pairs.

    A metric that was shown different references in different language pairs is one, as in mt-metrics-eval:
    `COMET-refA` of one and `COMET-refB` of another are `COMET`.
    """
    by_name = [{metric.name: metric for metric in part.metrics} for part in parts]
    same = {name for name in by_name[0] if all(name in found for found in by_name)}
    bases = [
        Counter(m.base for n, m in found.items() if n not in same and _has_reference(m)) for found in by_name
    ]
    joined: dict[str, list[MetricResults]] = {}
    for name, metric in by_name[0].items():
        if name in same:
            joined[name] = [found[name] for found in by_name]
        elif _has_reference(metric) and all(found[metric.base] == 1 for found in bases):
            variants = [
                next(
                    m
                    for n, m in found.items()
                    if n not in same and _has_reference(m) and m.base == metric.base
                )
                for found in by_name
            ]
            references = dict.fromkeys(m.reference for m in variants)
            taken = metric.base in same
            joined[f"{metric.base}-{'/'.join(references)}" if taken else metric.base] = variants
    tasks = {part.task for part in parts}
    task = (
        None
        if len(tasks) > 1 or tasks == {""} or _has_several_golds(parts)
        else settings.chosen_task or task_of(parts[0].test_set, parts[0].lp)
    )
    rows = [_row_of_all(parts, name, each, task) for name, each in joined.items()]
    if task is not None and rows:
        places = average_ranks(task, [[*each] for each in zip(*joined.values(), strict=True)])
        rows = [replace(row, average_rank=place) for row, place in zip(rows, places, strict=True)]
    measures = tuple(rows[0].results) if rows else ()
    tables: dict[str, Floats] = {}
    if settings.has_clusters and len(rows) > 1 and settings.test is None and not settings.by_document:
        tables = _joint_tables(parts, [*joined.values()], task, settings)
        rows = _clustered(rows, tables, settings)
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
        people=tuple(
            _row_of_all(parts, name, each, task)
            for name in dict.fromkeys(row.name for part in parts for row in part.people)
            if len(each := [row for part in parts for row in part.people if row.name == name]) == len(parts)
        )
        if measures or task is not None
        else (),
        task="" if task is None else task.name,
        notes=(*_notes_together(parts, joined, settings, tables), *open_note(rows, settings)),
        parts=tuple(parts),
        p_values=tables,
        settings=settings.unusual,
    )


def _joint_tables(
    parts: Sequence[MetaEvaluation],
    joined: Sequence[Sequence[MetricResults]],
    task: Task | None,  # whose mean is tested; None for none
    settings: MetaSettings,
) -> dict[str, Floats]:
    sides = [
        _compared(part, [each[place].name for each in joined], settings) for place, part in enumerate(parts)
    ]
    asked: dict[str, tuple[Statistic, ...]] = {}
    if "sys_accuracy" in settings.chosen_measures and not _has_several_golds(parts):
        asked["sys_accuracy"] = (Statistic(measure="sys_accuracy", pooled=True),)
    statistics = () if task is None else task.statistics
    if statistics and all(s.pooled or default_method(s.measure) != "bootstrap" for s in statistics):
        asked[META] = statistics
    return {name: joint_p_values(_differences(each, sides, settings)) for name, each in asked.items()}


def _differences(
    statistics: Sequence[Statistic], sides: Sequence[Compared], settings: MetaSettings
) -> list[tuple[float, Differences]]:
    found = []
    for number, statistic in enumerate(statistics):
        low, high = statistic.range or (0.0, 1.0)
        weight = statistic.weight / (high - low)
        if statistic.pooled:
            metrics = [np.stack([metric.systems for metric in one.metrics]) for one in sides]
            golds, seed = [one.gold.systems for one in sides], (settings.seed, number)
            pooled = pooled_differences(golds, metrics, settings.resamples, seed)
            found.append((weight * len(sides), pooled))
        else:
            found += [(weight, one.differences(statistic, (number, n))) for n, one in enumerate(sides)]
    return found


def _compared(part: MetaEvaluation, names: Sequence[str], settings: MetaSettings) -> Compared:
    scores = part.scores
    if scores is None:
        raise ValueError("a part has no scores")
    gold = scores.golds[part.gold]
    sides = [_sides(gold, scores.metrics[name], settings) for name in names]
    return Compared(
        gold=sides[0][0],
        metrics=[metric for _, metric in sides],
        documents=scores.documents,
        task=None,
        settings=settings,
    )


def _has_reference(metric: MetricResults) -> bool:
    return metric.base != metric.name


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
        role=each[0].role,
    )


def _notes_together(
    parts: Sequence[MetaEvaluation],
    joined: Mapping[str, Sequence[MetricResults]],
    settings: MetaSettings,
    tables: Mapping[str, Floats],
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
    wanted = {"intervals": settings.intervals, "clusters": settings.has_clusters and not tables}
    if any(wanted.values()):
        yield f"{' and '.join(w for w, asked in wanted.items() if asked).capitalize()} are of each part only."
    if tables:
        corrected = ", corrected by Holm" if settings.holm else ""
        yield (
            f"Clusters of the whole ({', '.join(tables)}): scores of each measure and language pair are "
            f"swapped at random, {settings.resamples:,} draws, and their differences are averaged as the "
            f"values are; "
            f"p <= {settings.alpha:g}{corrected}."
        )


def strata(
    kind: StratumKind, eval_set: EvalSet, gold: ScoreSet, length_bins: Sequence[int]
) -> Iterator[tuple[str, Floats]]:
    """Name of each part, and its translations: systems by segments, NaN for those that are not in it."""
    if kind == "severity":
        if gold.worst is None:
            raise UsageError(
                f"{named_gold(gold.name)} has no marked errors; give records, MQM TSV or .seg.rating with "
                "marks"
            )
        for name, place in (("clean", CLEAN), *((s, i) for i, s in enumerate(SEVERITIES))):
            cells = gold.worst == place
            if cells.any():
                yield name, np.where(cells, gold.segments, np.nan)
        return
    labels = _labels(kind, eval_set, length_bins)
    for label in dict.fromkeys(labels) if kind != "length" else length_names(eval_set.lp, length_bins):
        columns = np.array([each == label for each in labels])
        yield label, np.where(columns[None, :], gold.segments, np.nan)


def _labels(kind: StratumKind, eval_set: EvalSet, length_bins: Sequence[int]) -> list[str]:
    if kind == "length":
        names = length_names(eval_set.lp, length_bins)
        return [names[sum(length >= start for start in length_bins)] for length in eval_set.lengths]
    labels = eval_set.domains if kind == "domain" else eval_set.documents
    if not any(labels):
        raise UsageError(f"{eval_set.name} does not name the {kind} of each segment")
    return [label or f"no {kind}" for label in labels]


META: Final = "meta"


@frozen
class Compared:
    """The scores behind a table."""

    gold: ScoreSet  # systems by segments
    metrics: Sequence[ScoreSet]  # in the order of the table's rows, of the same systems and segments
    documents: Sequence[str]
    task: Task | None  # whose mean `meta` is; None for none
    settings: MetaSettings
    drawn: dict[tuple[str, Average | None], Floats] = field(default_factory=dict)

    @property
    def drawing(self) -> Drawing:
        """The draws that all measures and all metrics share."""
        documents = self.documents if self.settings.by_document else ()
        return Drawing(resamples=self.settings.resamples, seed=self.settings.seed, documents=documents)

    @cached_property
    def segments(self) -> Floats:
        """Metrics by systems by segments."""
        return np.stack([metric.segments for metric in self.metrics])

    def draws(self, name: str, average: Average | None = None) -> Floats:
        """Draws by metrics, values of a measure."""
        options = self._options(name, average)
        key = name, options.pop("average", None)
        if key not in self.drawn:
            self.drawn[key] = measure_draws(
                name, self.gold.segments, self.segments, self.drawing, average=key[1], options=options
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
        sides = self._sides(name)
        return metric_p_values(name, *sides, self.drawing, options=self._options(name), method=method)

    def differences(self, statistic: Statistic, place: tuple[int, int]) -> Differences:
        """Differences of a statistic between metrics, and those after swaps.

        `place`: numbers of their own for the seed, so that no two statistics share their draws.
        """
        name, resamples, seed = statistic.measure, self.settings.resamples, (self.settings.seed, *place)
        options = self._options(name, statistic.average)
        return swapped_differences(name, *self._sides(name), options, resamples=resamples, seed=seed)

    def _sides(self, name: str) -> tuple[Floats, Floats]:
        """Gold and all metrics: one score a system, or systems by segments, as the measure takes."""
        if MEASURES[name].takes == "systems":
            return self.gold.systems, np.stack([metric.systems for metric in self.metrics])
        return self.gold.segments, self.segments

    def _options(self, name: str, average: Average | None = None) -> dict[str, Any]:
        found = arguments(name, self.gold, self.metrics[0], self.settings, average)
        return {key: value for key, value in found.items() if key != "compat"}


def with_intervals(rows: Sequence[MetricResults], compared: Compared) -> list[MetricResults]:
    """Give every value its 95 % interval: percentiles of a bootstrap over segments, or documents."""

    def intervals(name: str) -> list[Interval | None]:
        return percentile_intervals(compared.meta_draws() if name == META else compared.draws(name))

    drawn = {name: intervals(name) for name in compared.settings.chosen_measures}
    with_meta = any(row.meta is not None for row in rows)
    means = intervals(META) if with_meta else [None] * len(rows)
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

    The rows, and by measure the p-values that the clusters come from: metrics by metrics.
    """
    columns = [
        *compared.settings.chosen_measures,
        *([META] if any(row.meta is not None for row in rows) else []),
    ]
    tables = {name: compared.p_values(name) for name in columns}
    swapped = {name: _units(name, compared.gold, compared.settings) for name in columns}
    exact = [name for name, units in swapped.items() if units and is_exact(units)]
    return _clustered(rows, tables, compared.settings, exact), tables


def _clustered(
    rows: Sequence[MetricResults],
    tables: dict[str, Floats],
    settings: MetaSettings,
    exact: Collection[str] = (),
) -> list[MetricResults]:
    clusters: list[dict[str, int]] = [{} for _ in rows]
    unsure: list[list[str]] = [[] for _ in rows]
    for name, table in tables.items():
        values = [compared_value(row, name) for row in rows]
        ends = (table, table) if name in exact else monte_carlo_bounds(table, settings.resamples)
        drawn = [table, *ends]
        tables[name], low, high = [_corrected(values, p) for p in drawn] if settings.holm else drawn
        ranks = significance_ranks(values, table, settings.alpha)
        is_open = open_ranks(values, ranks, (low, high), settings.alpha)
        for place, rank in enumerate(ranks):
            clusters[place] |= {} if rank is None else {name: rank}
            unsure[place] += [name] if is_open[place] else []
    return [
        replace(row, clusters=found, open_clusters=tuple(names))
        for row, found, names in zip(rows, clusters, unsure, strict=True)
    ]


def open_note(rows: Sequence[MetricResults], settings: MetaSettings) -> Iterator[str]:
    """Say by which measures more draws may move a cluster, and how to draw more."""
    if names := dict.fromkeys(name for row in rows for name in row.open_clusters):
        tests = math.comb(len(rows), 2) if settings.holm else 1
        draws = max(10 * settings.resamples, deciding_draws(settings.alpha / tests))
        yield (
            f"Open (marked ?): whether a cluster begins at a metric, by {', '.join(names)}. With "
            f"{settings.resamples:,} draws the 99 % interval of the p-value holds {settings.alpha:g}, so "
            f"that another seed may tell otherwise; more draws may decide: --significance {draws}."
        )


def compared_value(row: MetricResults, name: str) -> float | None:
    """Value of a row, larger for the better; None for one that cannot be compared with the others."""
    if row.partial:
        return None
    value = row.meta if name == META else row.results[name].value
    return value if value is None or name == META or MEASURES[name].higher_is_better else -value


def _corrected(values: Sequence[float | None], table: Floats) -> Floats:
    asked = np.array([[a is not None and b is not None and a > b for b in values] for a in values])
    found = np.ones_like(table)
    found[asked] = holm(table[asked])
    return found


_DRAWN: Final = sys.maxsize
"""Units where there are too many to try all swaps."""

_ROUNDING: Final = 1e-9


def out_of_reach(rows: Sequence[MetricResults], gold: ScoreSet, settings: MetaSettings) -> Iterator[str]:
    """Say of which measures no test can be significant, whatever the scores, and what would be needed."""
    told: dict[tuple[int, int], list[str]] = {}
    for name in [*settings.chosen_measures, *([META] if any(row.meta is not None for row in rows) else [])]:
        units = _units(name, gold, settings)
        known = [value for row in rows if (value := compared_value(row, name)) is not None]
        tests = sum(a > b for a in known for b in known) if settings.holm else 1
        if units and tests and smallest_p_value(units, settings.resamples) * tests > settings.alpha:
            told.setdefault((tests, units if is_exact(units) else _DRAWN), []).append(name)
    for (tests, units), measures in told.items():
        yield f"No metric can be better than another by {', '.join(measures)}: {_why(tests, units, settings)}"


def _why(tests: int, units: int, settings: MetaSettings) -> str:
    corrected = f", corrected for {tests:,} tests," if settings.holm else ""
    smallest = min(1.0, smallest_p_value(units, settings.resamples) * tests)
    least = f"the smallest possible p{corrected} is {smallest:.2g}"
    if is_exact(units):
        return f"{units} scores can be swapped in {2**units:,} ways, and {least}; more draws do not help."
    draws = math.ceil(tests / settings.alpha - 1 - _ROUNDING)
    return f"with {settings.resamples:,} draws {least}; it takes {draws:,} draws or more."


def _units(name: str, gold: ScoreSet, settings: MetaSettings) -> int:
    if name == META or (method := settings.method(name)) == "bootstrap":
        return _DRAWN
    if method != "perm-both":
        return 0
    scores = gold.systems if MEASURES[name].takes == "systems" else gold.segments
    return int(np.count_nonzero(~np.isnan(scores)))


@takes(MetaSettings)
def meta(
    test_set: TestSet | Frame | Rows | Path | str, lp: str | Sequence[str] | None, settings: MetaSettings
) -> MetaEvaluation:
    """Judge metrics and judges by how well they agree with gold.

    A task that is not named is that which the test set was made for. `gold` and the values of `scores` may be
    in memory: a run, records, a data frame, or an array of systems by segments in the order of the test set,
    higher is better, NaN for a failure.

    Args:
        test_set: folder of mt-metrics-eval or MENT, any other test set, a loaded one, or a public name.
        lp: language pair; several, or several separated by commas, are also taken together. None for the
            only one, else for those of the task.
        settings: what is compared, by which measures.

    Raises:
        DataError: a file is not what it should be, or nothing is left to compare.
        UsageError: a name or an option that there is not.
    """
    if not isinstance(test_set, Path | str | TestSet) or str(test_set).startswith(HUB):
        test_set = load(test_set, lp if isinstance(lp, str) and "," not in lp else None)
    lps = _lps(test_set, lp, settings.chosen_task)
    own = find_own_scores(settings.scores, lps)
    task = settings.chosen_task
    if task is not None and task.file is not None:  # a misspelt name would be left out of the table
        asked = (canonical_lp(each) for each in lps if each and lp is not None)
        check_lps(task, asked, find_set_lps(test_set))
        if known := find_metrics(test_set):
            check_metrics(task, {*known, *own, *(name.rpartition("-")[0] for name in own)} - {""})
    golds = golds_by_lp(settings.gold, lps)
    parts = [part for each in lps for part in _each_gold(test_set, each, golds[each], own, settings)]
    judged = {metric.name for part in parts for metric in part.metrics}
    if nowhere := [name for name in own if name not in judged]:
        there = ", ".join(part.lp for part in parts)
        raise DataError(f"{', '.join(nowhere)} has no score of {there}")
    return parts[0] if len(parts) == 1 else put_together(parts, settings)


def _lps(
    test_set: Path | str | TestSet, lp: str | Sequence[str] | None, task: Task | None
) -> list[str | None]:
    if lp is not None:
        wanted = lp.split(",") if isinstance(lp, str) else lp
        return list(dict.fromkeys(coded_lp(each) for each in wanted))
    there = find_set_lps(test_set)
    if len(there) == 1:
        return [there[0]]
    name = known_name(test_set)
    tasks = {lp: task_of(name, lp) if task is None else task for lp in there}
    meant = [lp for lp, each in tasks.items() if each and lp in each.lps and not each.rule(lp).beside]
    return [*meant] or [None]


def _each_gold(
    test_set: Path | str | TestSet,
    lp: str | None,
    golds: Sequence[str | tuple[str, InMemory]],
    own: Mapping[str, OwnScores],
    settings: MetaSettings,
) -> Iterator[MetaEvaluation]:
    task = settings.chosen_task or (None if lp is None else task_of(known_name(test_set), lp))
    rule = None if task is None or lp is None else task.rule(lp)
    eval_set = read_eval_set(
        test_set,
        lp,
        gold=golds if settings.better is None else None,
        scores=own,
        metrics=() if settings.of_task else settings.metrics,
        preferred=None if task is None or lp is None else task.gold_of(lp),
        weights=settings.weights,
        reference=settings.reference or (None if rule is None else rule.reference),
        people=settings.people and settings.better is None,
        mismatched=settings.mismatched,
    )
    if task is not None and task.file is not None:
        check_systems(task, eval_set.lp, find_references(test_set, eval_set.lp), eval_set.systems)
    if settings.better is not None:
        if settings.better not in eval_set.systems:
            there = ", ".join(eval_set.systems)
            raise UsageError(f"no system {settings.better!r} whose translations are right; there are {there}")
        right = np.array([1.0 if system == settings.better else 0.0 for system in eval_set.systems])
        segments = np.repeat(right[:, None], len(eval_set.segments), axis=1)
        made = ScoreSet(name=f"{settings.better} right", segments=segments, systems=right)
        eval_set = replace(eval_set, golds={made.name: made})
    if settings.of_task:
        if task is None or not task.primary:
            which = f"task {task.name}" if task else f"{eval_set.name} {eval_set.lp}, which has no task,"
            raise UsageError(f"{which} does not list primary submissions: name --metrics one by one")
        kept = {
            name: metric
            for name, metric in eval_set.metrics.items()
            if name in {*own, *eval_set.people} or task.role(eval_set.lp, name, metric.reference)
        }
        left = len(eval_set.metrics) - len(kept)
        note = f"{left} metrics were neither primary submissions nor baselines, and are left out."
        eval_set = replace(eval_set, metrics=kept, notes=(*eval_set.notes, *([note] if left else [])))
    for gold in eval_set.golds:
        of_task = task is not None and gold == task.gold and gold == task.gold_of(eval_set.lp)
        beside = task.system_gold if task is not None and of_task else None
        yield evaluate(
            eval_set if beside is None else with_systems_of(eval_set, gold, beside, test_set), gold, settings
        )


def with_systems_of(eval_set: EvalSet, gold: str, systems: str, test_set: Path | str | TestSet) -> EvalSet:
    """Take the scores of systems from another gold, where the task says so and the folder has it."""
    try:
        other = read_one(test_set, eval_set.lp, "gold", systems).golds[systems]
    except UsageError:
        return eval_set
    golds = {**eval_set.golds, gold: replace(eval_set.golds[gold], systems=other.systems)}
    note = f"Gold scores of systems are {systems}, of segments {gold}, as the task has them."
    return replace(eval_set, golds=golds, notes=(*eval_set.notes, note))


def evaluate(eval_set: EvalSet, gold: str, settings: MetaSettings) -> MetaEvaluation:
    """Apply every measure to every metric of one language pair.

    `settings`: what to do; its task is the one that the test set was made for if None.
    """
    task = settings.chosen_task or task_of(eval_set.known_as, eval_set.lp)
    rule = LpRule() if task is None else task.rule(eval_set.lp)
    if settings.level != "segment" or (
        task is not None and settings.chosen_task is None and task.gold_of(eval_set.lp) != gold
    ):
        task = None
    choice = choose(eval_set, eval_set.golds[gold], rule, settings.wishes)
    chosen = eval_set.select(choice.systems)
    if settings.level != "segment":
        own, of_segments = chosen.golds[gold], replace(settings, level="segment")
        sides = {name: _sides(own, metric, of_segments)[1] for name, metric in chosen.metrics.items()}
        chosen = replace(chosen, golds={gold: _sides(own, own, of_segments)[0]}, metrics=sides)
        chosen = over_units(chosen, settings.level)
    truth = chosen.golds[gold]
    if np.isnan(truth.segments).all() and np.isnan(truth.systems).all():
        raise DataError(f"{named_gold(gold)} judges nothing of {eval_set.name} {eval_set.lp}")
    metrics = {name: chosen.metrics[name] for name in choice.metrics if name not in eval_set.people}
    people = {name: chosen.metrics[name] for name in eval_set.people}
    if not metrics:
        raise UsageError(f"{eval_set.name} {eval_set.lp} has no metric to judge: add --scores NAME=RUN|FILE")
    judged = ~np.isnan(truth.segments)
    people_rows = tuple(_people_rows(truth, people.values(), settings, task))
    rows, tables = _rows(truth, metrics, chosen.documents, task, settings)
    if task is not None:
        rows = [replace(row, role=task.role(eval_set.lp, row.name, row.reference)) for row in rows]
    return MetaEvaluation(
        test_set=eval_set.name,
        lp=eval_set.lp,
        gold=gold,
        systems=choice.systems,
        excluded=choice.excluded,
        n_segments=int(judged.any(axis=0).sum()),
        n_all=len(chosen.segments),
        reference=choice.reference,
        measures=settings.chosen_measures,
        metrics=tuple(rows),
        people=people_rows,
        task="" if task is None else task.name,
        notes=(
            *_known_note(eval_set, task, settings),
            *notes_of(chosen, choice, truth, settings),
            *_role_notes(rows, settings),
            *averages_notes(task, settings),
            *(out_of_reach(rows, truth, settings) if settings.has_clusters and len(rows) > 1 else ()),
            *open_note(rows, settings),
            *_people_notes(people, people_rows[len(people) :], truth),
            *metric_notes(choice, truth, metrics | people),
        ),
        strata=tuple(
            _stratum(kind, name, cells, truth, metrics, settings)
            for kind in settings.strata
            for name, cells in strata(kind, chosen, truth, settings.length_bins)
        ),
        p_values=tables,
        scores=replace(chosen, golds={gold: truth}, metrics=metrics),
        settings=settings.unusual,
    )


def _people_notes(people: Collection[str], rows: Sequence[MetricResults], gold: ScoreSet) -> Iterator[str]:
    if people:
        yield (
            f"People: {', '.join(people)}, another annotation of the translations, measured as a metric is, "
            "the human ceiling of this gold. It has no place and no cluster."
        )
    for row in rows:
        rest = int((~np.isnan(gold.segments)).sum()) - row.n
        yield (
            f"People: {row.name}, one person's scores against the mean of the others who judged the same "
            f"translation, without that person's. It is over the {row.n:,} that two or more people judged; "
            f"{rest:,} others of this gold are left out: one person judged them, or who did is not known."
        )


def _people_rows(
    gold: ScoreSet, people: Iterable[ScoreSet], settings: MetaSettings, task: Task | None
) -> Iterator[MetricResults]:
    pairs = [(gold, each) for each in people]
    if settings.people and gold.raters is not None and (~np.isnan(gold.raters[0].segments)).any():
        pairs.append((gold.raters[1], gold.raters[0]))
    for truth, each in pairs:
        yield _metric(*_sides(truth, each, settings), settings, task)


def _role_notes(rows: Sequence[MetricResults], settings: MetaSettings) -> Iterator[str]:
    if baselines := [row.name for row in rows if row.role == "baseline"]:
        yield f"Baselines of the task: {', '.join(baselines)}."
    others = sum(not row.role for row in rows)
    if 0 < others < len(rows) and not settings.metrics:
        yield (
            f"{others} of {len(rows)} metrics here were not compared in the task, and take part in places "
            f"and clusters: --metrics {PRIMARY} leaves out those of the test set."
        )


def _known_note(eval_set: EvalSet, task: Task | None, settings: MetaSettings) -> Iterator[str]:
    if task is not None and settings.chosen_task is None and eval_set.known_as not in {"ment", eval_set.name}:
        yield (
            f"{eval_set.name} is taken for {eval_set.known_as}, most of whose primary metrics it has; "
            "--task names another task."
        )


def _rows(
    gold: ScoreSet,
    metrics: Mapping[str, ScoreSet],
    documents: Sequence[str],
    task: Task | None,
    settings: MetaSettings,
) -> tuple[list[MetricResults], dict[str, Floats]]:
    pairs = {name: _sides(gold, metric, settings) for name, metric in metrics.items()}
    rows = [_metric(truth, metric, settings, task) for truth, metric in pairs.values()]
    rows = _marked(rows, gold, metrics)
    if task is not None:
        places = average_ranks(task, [rows])
        rows = [replace(row, average_rank=place) for row, place in zip(rows, places, strict=True)]
    if not settings.intervals and not settings.has_clusters:
        return rows, {}
    compared = Compared(
        gold=next(truth for truth, _ in pairs.values()),
        metrics=[metric for _, metric in pairs.values()],
        documents=documents,
        task=task,
        settings=settings,
    )
    with sharing():
        rows = with_intervals(rows, compared) if settings.intervals else rows
        return with_clusters(rows, compared) if settings.has_clusters and len(rows) > 1 else (rows, {})


def _sides(gold: ScoreSet, metric: ScoreSet, settings: MetaSettings) -> tuple[ScoreSet, ScoreSet]:
    judged_only = settings.segments == "annotated" and settings.level == "segment"
    return annotated_only(gold, metric) if judged_only else (gold, metric)


def _metric(gold: ScoreSet, metric: ScoreSet, settings: MetaSettings, task: Task | None) -> MetricResults:
    with sharing():
        results = {name: measure(name, gold, metric, settings) for name in settings.chosen_measures}
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
    wanted = ~gold.unscored & np.any([~metric.unscored for metric in metrics.values()], axis=0)
    return [replace(row, partial=bool((wanted & metrics[row.name].unscored).any())) for row in rows]


def _stratum(
    kind: str,
    name: str,
    cells: Floats,
    gold: ScoreSet,
    metrics: Mapping[str, ScoreSet],
    settings: MetaSettings,
) -> Stratum:
    judged = ~np.isnan(cells)
    n, n_segments = int(judged.sum()), int(judged.any(axis=0).sum())
    if n < settings.smallest:
        reason = f"{n} judged translations, {settings.smallest} are needed"
        return Stratum(kind=kind, name=name, n_segments=n_segments, n=n, reason=reason)
    part = within(gold, cells)
    parts = {key: within(metric, cells) for key, metric in metrics.items()}
    found = _marked([_metric(part, each, settings, None) for each in parts.values()], part, parts)
    return Stratum(kind=kind, name=name, n_segments=n_segments, n=n, metrics=tuple(found))
