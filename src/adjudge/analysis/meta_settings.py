"""What a meta-evaluation may be asked for, what it comes to, and how measures are applied to an eval set.

`MetaSettings` are the options of the command line and of Python, `MetaEvaluation` is the result. Below them:
applying one measure (`measure`), and the means over a task's statistics, of one language pair or several.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

import numpy as np
from annotated_types import Ge, Lt
from pydantic import BeforeValidator, SkipValidation

from adjudge.analysis.eval_set import EvalSet, InMemory, Level, ScoreSet, row_means
from adjudge.analysis.shared_tasks import Role, Task, Wishes, find_task
from adjudge.core.columns import Column, Framed
from adjudge.core.frozen import frozen
from adjudge.core.scores import INTERVAL, VERSION, Interval, Signature
from adjudge.core.verb import (
    Alpha,
    Name,
    Names,
    OfMismatched,
    Option,
    Seed,
    settings,
    split_names,
    split_numbers,
)
from adjudge.core.wording import nearest
from adjudge.errors import UsageError
from adjudge.stats.acc_eq import Compat
from adjudge.stats.judged import Average, Floats, Result
from adjudge.stats.measures import MEASURES, Scale
from adjudge.stats.resampling import Method, default_method, methods_of

DEFAULT_MEASURES: Final = (
    "sys_accuracy",
    "sys_pearson",
    "sys_spearman",
    "sys_kendall",
    "spa",
    "seg_acc_eq",
    "seg_pearson",
    "seg_spearman",
    "seg_kendall_b",
    "seg_kendall_c",
)

PRIMARY: Final = "primary"
"""In place of names of metrics: those that the task compared."""

PEOPLE: Final = "people: "
"""Before the name of a second annotation by people, in tables of metrics."""

Segments = Literal["all", "annotated"]
StratumKind = Literal["domain", "document", "length", "severity"]


def _one_or_several(value: object) -> object:
    return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Sequence) else value


def _golds(value: Any) -> object:  # noqa: ANN401 (whatever a user gives)
    """Take one name as several; what is in memory goes by its name, or by that of gold."""
    if isinstance(value, Mapping):
        return tuple(f"{k}={v}" if isinstance(v, str | Path) else (k, InMemory(v)) for k, v in value.items())
    several = _one_or_several(str(value) if isinstance(value, Path) else value)
    if isinstance(several, tuple) and all(isinstance(each, str | Path) for each in several):
        return tuple(map(str, several))
    return (("gold", InMemory(value)),)


def _read_bins(value: object) -> object:
    return split_numbers(value, int, "whole numbers with commas between")


@settings
class MetaSettings:
    """What a meta-evaluation compares, by which measures, and what it says of each value."""

    gold: Annotated[
        SkipValidation[Any],
        BeforeValidator(_golds),
        Option(
            help="Gold: a name in the test set, or a file; repeat for more.",
            repeats=True,
            metavar="NAME|[NAME=]FILE",
            kind=Sequence[str],
        ),
    ] = ()
    mismatched: OfMismatched = "refuse"
    better: Annotated[
        Name | None,
        Option(help="System with the correct translations of a challenge set.", metavar="SYSTEM"),
    ] = None
    scores: Annotated[
        SkipValidation[Mapping[str, Any] | Sequence[str]],
        Option(
            help="Run, records, scores or score folder to evaluate; repeat for more.",
            repeats=True,
            metavar="[NAME=]RUN|FILE|DIR",
        ),
    ] = ()
    metrics: Annotated[
        Names,
        Option(help="Use only these metrics of the test set; `primary`: the task's primary metrics."),
    ] = ()
    people: Annotated[
        bool,
        Option(help="Add a row for other human scores of the test set.", off="no-people"),
    ] = True
    measures: Annotated[Names, Option(help="Compute only these measures, separated by commas.")] = ()
    task: Annotated[
        SkipValidation[Task | str | None],
        Option(
            help="Shared task from `adjudge list tasks` or a TOML file; default: the test set's.",
            metavar="NAME|FILE",
            kind=str,
        ),
    ] = None
    average: Annotated[
        Average | None,
        Option(help="Group the scores of segment measures by item, system or not."),
    ] = None
    macro: Annotated[
        bool,
        Option(
            help="Weight groups equally (macro) or by their number of scores (micro).",
            off="micro",
        ),
    ] = True
    exclude: Annotated[
        Sequence[str],
        BeforeValidator(_one_or_several),
        Option(help="Exclude this system; repeat for more.", repeats=True, metavar="SYSTEM"),
    ] = ()
    include_human: Annotated[
        bool | None,
        Option(
            help="Include or exclude human references as systems; default: as the task.", off="exclude-human"
        ),
    ] = None
    include_outliers: Annotated[bool, Option(help="Include the task's outlier systems.")] = False
    reference: Annotated[
        str | None, Option(help="Use metric scores computed with this reference, such as refA.")
    ] = None
    level: Annotated[
        Level, Option(help="Level of segment measures: segments, or means of documents or domains.")
    ] = "segment"
    segments: Annotated[
        Segments, Option(help="Average system scores over all segments, or only gold's segments.")
    ] = "all"
    strata: Annotated[
        Sequence[StratumKind],
        BeforeValidator(split_names),
        Option(help="Also print results by domain, document, length or severity."),
    ] = ()
    length_bins: Annotated[
        Sequence[int],
        BeforeValidator(_read_bins),
        Option(help="Bounds of the length strata in source tokens."),
    ] = (12, 27)
    smallest: Annotated[int, Ge(2), Option(help="Smallest number of translations in a stratum.")] = 30
    scale: Annotated[
        Scale,
        Option(help="Scale the scores of mean-error measures by protocol range or by minimum and maximum."),
    ] = "range"
    threshold: Annotated[
        Annotated[float, Ge(0), Lt(math.inf)] | None,
        Option(help="Smallest gold difference for seg_kendall_like; default: 25."),
    ] = None
    compat: Annotated[Compat | None, Option(help="Round as mt-metrics-eval does.")] = None
    intervals: Annotated[bool, Option(help="Print 95 % bootstrap intervals.")] = False
    clusters: Annotated[bool, Option(help="Print significance clusters of metrics.")] = False
    test: Annotated[
        Method | None, Option(help="Significance test for clusters; default: each measure's own test.")
    ] = None
    significance: Annotated[
        Annotated[int, Ge(1)] | None,
        Option(help="Print clusters and intervals from K draws; default: 1000.", metavar="K"),
    ] = None
    holm: Annotated[bool, Option(help="Correct the p-values for the number of tests (Holm).")] = False
    alpha: Annotated[Alpha, Option(help="Significance level of the clusters.")] = 0.05
    by_document: Annotated[bool, Option(help="Resample whole documents.")] = False
    seed: Seed = 0
    weights: Annotated[
        str | None,
        Option(
            help="Error weights from `adjudge list weights` or a .toml; default: the run's, else mqm-google.",
            metavar="NAME|FILE",
            short="w",
        ),
    ] = None

    def __post_init__(self) -> None:
        for name in self.measures:
            if name not in MEASURES:
                raise UsageError(
                    f"no measure {name!r}; there are {', '.join(MEASURES)}{nearest(name, MEASURES, most=1)}"
                )
        if PRIMARY in self.metrics and not self.of_task:
            raise UsageError(
                f"{PRIMARY} stands for all primary metrics of the task: name no other metric with it"
            )
        if self.better is not None and self.gold:
            raise UsageError("better and gold exclude each other: leave out gold")
        if list(self.length_bins) != sorted(set(self.length_bins)):
            raise UsageError(f"bins of length must rise, got {', '.join(map(str, self.length_bins))}")
        asked = {"threshold": self.threshold is not None, "macro": not self.macro}
        for option in (option for option, is_asked in asked.items() if is_asked):
            if not any(option in MEASURES[name].options for name in self.chosen_measures):
                having = ",".join(name for name, measure in MEASURES.items() if option in measure.options)
                raise UsageError(f"no measure here takes a {option}; one that does: --measures {having}")
        if asked["macro"] and (self.intervals or self.has_clusters):
            raise UsageError(
                "intervals and clusters weight all groups equally: leave out --micro (macro=False)"
            )
        if self.by_document and not (self.intervals or self.has_clusters):
            raise UsageError("documents are resampled for intervals and clusters only: ask for one of them")
        if self.holm and not self.has_clusters:
            raise UsageError("Holm's correction applies to the tests of clusters: ask for clusters")
        if self.test is not None:
            if self.by_document and self.test != "bootstrap":
                raise UsageError(f"{self.test} cannot draw documents; the bootstrap can")
            if without := [name for name in self.chosen_measures if self.test not in methods_of(name)]:
                tested = ",".join(name for name in MEASURES if self.test in methods_of(name))
                raise UsageError(
                    f"{', '.join(without)} has no test {self.test}; those that do: --measures {tested}"
                )
        if isinstance(self.task, str):
            object.__setattr__(self, "task", find_task(self.task) if self.task else None)

    @property
    def chosen_measures(self) -> tuple[str, ...]:
        """Measures asked for, else the usual ones."""
        return tuple(self.measures) or (DEFAULT_MEASURES if self.better is None else ("seg_contrastive",))

    @property
    def of_task(self) -> bool:
        """Whether only the primary submissions and baselines of the task are asked for."""
        return tuple(self.metrics) == (PRIMARY,)

    @property
    def chosen_task(self) -> Task | None:
        return None if self.task is None or isinstance(self.task, str) else self.task

    @property
    def has_clusters(self) -> bool:
        """Whether clusters are wanted: a test or a number of draws asks for them, too."""
        return self.clusters or self.significance is not None or self.test is not None

    @property
    def resamples(self) -> int:
        return self.significance or 1000

    @property
    def wishes(self) -> Wishes:
        """What is said of metrics and systems, where it is not what the task says."""
        return Wishes(
            exclude=self.exclude,
            include_human=self.include_human,
            include_outliers=self.include_outliers,
            reference=self.reference,
        )

    def method(self, measure: str) -> Method:
        return self.test or ("bootstrap" if self.by_document else default_method(measure))

    @property
    def unusual(self) -> dict[str, str]:
        """Settings that move a number and are not the usual ones, name to value."""
        plain = {"average": None, "compat": None, "segments": "all", "weights": None, "scale": "range"}
        plain |= {"level": "segment"}
        found = {n: str(getattr(self, n)) for n, usual in plain.items() if getattr(self, n) != usual}
        found |= {"metrics": PRIMARY} if self.of_task else {}
        found |= {} if self.macro else {"macro": "false"}
        found |= {} if self.threshold is None else {"threshold": f"{self.threshold:g}"}
        if self.intervals or self.has_clusters:
            found |= {"resamples": str(self.resamples), "seed": str(self.seed)}
            found |= {"units": "documents"} if self.by_document else {}
        if self.has_clusters:
            found |= {"alpha": f"{self.alpha:g}"} | ({"correction": "holm"} if self.holm else {})
            found |= {} if self.test is None else {"test": self.test}
        return found


@frozen
class MetricResults:
    """How one metric agrees with gold."""

    name: str  # stem of its score file, or the name that it was given
    results: Mapping[str, Result]  # measure to result, in the order asked for
    n: int = 0  # translations that gold and the metric both judged
    # mean as the task defines it; None where no task does, or one of its statistics has no value
    meta: float | None = None
    meta_interval: Interval | None = None  # 95 % bootstrap interval of `meta`, where asked for
    # result of each statistic of the task, in its order; empty where there is no task
    statistics: tuple[Result, ...] = ()
    failed: int = 0  # judgements asked for and not obtained, of the systems compared
    # measure, and `meta`, to significance cluster, 1 is best; where asked for
    clusters: Mapping[str, int] = field(default_factory=dict)
    # measures, and `meta`, of which more draws may tell otherwise whether a cluster begins with this metric
    open_clusters: tuple[str, ...] = ()
    # it lacks a system that gold judged and another metric scored, so that its numbers are over fewer than
    # those of that one: it has no cluster and is never the best
    partial: bool = False
    reference: str = ""  # that the metric was shown, `src` for none; empty where that is not known
    # mean of its places by the statistics of the task, see `average_ranks`, 1 is best; None where there is no
    # task, or no place
    average_rank: float | None = None
    role: Role = ""

    @property
    def base(self) -> str:
        """Name without the reference that the metric was shown: `COMET` of `COMET-refA`."""
        return base_name(self.name, self.reference)


def base_name(name: str, reference: str) -> str:
    """Name of a metric without its reference; one that was shown none keeps its whole name.

    `name`: such as `COMET-refA`. `reference`: such as `refA`; `src` or empty for none.
    """
    return name if reference in {"", "src"} else name.removesuffix(f"-{reference}")


@frozen
class Stratum:
    """The same for a part of the translations."""

    kind: str  # what they have in common: domain, document, length, severity
    name: str  # such as `news`, `12 to 26 tokens`, `major`
    n_segments: int  # segments with a judged translation
    n: int  # judged translations
    metrics: tuple[MetricResults, ...] = ()  # without results where there are too few
    reason: str = ""  # why there are none; empty where there are


CHANCE: Final = "seg_acc_eq"
"""The measure whose chance level stands beside it: it is no round number, as 0 or 0.5 are."""


class MetaRow(NamedTuple):
    """One metric on one part of the translations; the stratum is empty where that is all of them."""

    lp: str
    gold: str
    stratum: str
    n_segments: int
    metric: MetricResults

    def result(self, measure: str) -> Result:
        """What a measure found; nothing where this part was not measured by it."""
        return self.metric.results.get(measure, Result(value=None, n=0))


@frozen
class MetaEvaluation(Framed):
    """How well metrics agree with gold. Every measure is higher for the better, but for errors."""

    test_set: str
    lp: str  # language pair; several, separated by commas, where `parts` are theirs
    gold: str  # what the metrics are compared with
    systems: tuple[str, ...]
    excluded: Mapping[str, str]  # system to the reason why it is not compared
    n_segments: int  # segments that gold judged, of one system at the least
    n_all: int  # segments of the test set
    reference: str  # that metrics were shown; empty for none
    measures: tuple[str, ...]  # names, in order
    metrics: tuple[MetricResults, ...]  # in the order of their names, those of the folder first
    # second annotations of the test set by people, and one rater of gold against the others, measured as
    # metrics are: the human ceiling. They have no place among the metrics, and no cluster.
    people: tuple[MetricResults, ...] = ()
    task: str = ""  # whose mean `meta` is; empty for none
    # what a reader must know: which systems, which segments, which reference, what looks wrong
    notes: tuple[str, ...] = ()
    strata: tuple[Stratum, ...] = ()  # parts of the translations, where asked for
    # each language pair and gold on its own, where there are several; else empty
    parts: tuple[MetaEvaluation, ...] = ()
    # measure, and `meta`, to a table, metrics by metrics in their order: the p-value of "the first agrees
    # better with gold than the second"; where clusters were asked for
    p_values: Mapping[str, Floats] = field(default_factory=dict, compare=False)
    # what was compared, as arrays; None where `parts` have theirs
    scores: EvalSet | None = field(default=None, compare=False, repr=False)
    # that move a number and are not the usual ones, name to value
    settings: Mapping[str, str] = field(default_factory=dict)

    def groups(self) -> dict[str, list[MetaRow]]:
        """Each metric on each part and each stratum of it."""
        rows = []
        for part in (*(self.parts or (self,)), *((self,) if self.parts and self.has_numbers else ())):
            people = [replace(row, name=f"{PEOPLE}{row.name}") for row in part.people]
            every = (*part.metrics, *people)
            rows += [MetaRow(part.lp, part.gold, "", part.n_segments, metric) for metric in every]
            for stratum in part.strata:
                name = f"{stratum.kind}: {stratum.name}"
                rows += [MetaRow(part.lp, part.gold, name, stratum.n_segments, m) for m in stratum.metrics]
        return {"": rows}

    def columns(self) -> list[Column]:
        rows = self.groups()[""]
        whole = [row.metric for row in rows if not row.stratum]
        measures = dict.fromkeys(name for part in (*(self.parts or (self,)), self) for name in part.measures)
        extra = _Extra(
            intervals=any(r.interval is not None for m in whole for r in m.results.values()),
            clusters=any(m.clusters for m in whole),
        )
        return [
            Column("lp", "language pair"),
            Column("gold", "what the metrics are compared with"),
            Column("stratum", "part of the translations, empty for all"),
            Column("metric", "its name", of="metric.name"),
            Column("n_segments", "segments that gold judged", "count"),
            Column("n", "translations that both judged", "count", of="metric.n"),
            Column("meta", "mean as the task defines it", "decimal", of="metric.meta"),
            *extra.columns("meta", lambda row: row.metric.meta_interval),
            Column("average_rank", "mean of the places by the task's statistics", of="metric.average_rank"),
            *(column for name in measures for column in _measure_columns(name, extra)),
            Column("failed", "judgements not obtained", "count", of="metric.failed"),
        ]

    @property
    def has_numbers(self) -> bool:
        """Whether there are numbers besides those of the parts; several golds have none together."""
        return not self.parts or bool(self.measures or self.task)

    @property
    def signature(self) -> Signature:
        """What makes every number in here repeatable."""
        fields = {
            "test_set": self.test_set,
            "lp": self.lp,
            "gold": self.gold,
            "reference": self.reference,
            "excluded": ",".join(self.excluded),
            "segments": f"{self.n_segments}/{self.n_all}" if self.has_numbers else "",
            "task": self.task,
            **self.settings,
            "version": VERSION,
        }
        return Signature("meta", {key: value for key, value in fields.items() if value})


class _Extra(NamedTuple):
    """Which columns stand beside a value."""

    intervals: bool
    clusters: bool

    def columns(self, name: str, interval: Callable[[MetaRow], Interval | None]) -> list[Column]:
        ends = (f"{name}_low", f"{name}_high")
        around = replace(INTERVAL, name=f"{name}_interval", of=interval, ends=ends)
        cluster = Column(
            f"{name}_cluster", "significance cluster", "count", of=lambda row: row.metric.clusters.get(name)
        )
        is_open = Column(
            f"{name}_open",
            "1 where more draws may move the beginning of a cluster, else 0",
            "count",
            of=lambda row: int(name in row.metric.open_clusters) if row.metric.clusters else None,
        )
        return [*([around] if self.intervals else []), *([cluster, is_open] if self.clusters else [])]


def _measure_columns(name: str, extra: _Extra) -> list[Column]:
    found = [
        Column(name, MEASURES[name].title, "decimal", of=lambda row: row.result(name).value),
        Column(f"{name}_n", "units", "count", of=lambda row: row.result(name).n),
    ]
    if name == CHANCE:
        found += [
            Column(f"{name}_epsilon", "tie threshold", "decimal", of=lambda row: row.result(name).epsilon),
            Column(f"{name}_chance", "of constant scores", "decimal", of=lambda row: row.result(name).chance),
        ]
    return [*found, *extra.columns(name, lambda row: row.result(name).interval)]


def named_gold(name: str, word: str = "gold") -> str:
    """Call gold by its name, after a word that says so where the name does not: gold mqm, gold.mqm."""
    return name if name.casefold().startswith("gold") else f"{word} {name}"


def measure(
    name: str, gold: ScoreSet, metric: ScoreSet, settings: MetaSettings, average: Average | None = None
) -> Result:
    """Apply one measure. `gold`: systems by segments."""
    found, options = MEASURES[name], arguments(name, gold, metric, settings, average)
    of_systems = found.takes == "systems"
    sides = [each.systems if of_systems else each.segments for each in (gold, metric)]
    return found.function(*sides, **options)


def arguments(
    name: str, gold: ScoreSet, metric: ScoreSet, settings: MetaSettings, average: Average | None = None
) -> dict[str, Any]:
    """What a measure's function is called with beside the scores; as `measure`."""
    found = MEASURES[name]
    options: dict[str, Any] = {}
    average = average or settings.average or found.average
    if average in found.averages:
        options["average"] = average
    if settings.compat is not None and "compat" in found.options:
        options["compat"] = settings.compat
    if not settings.macro and "macro" in found.options:
        options["macro"] = False
    if settings.threshold is not None and "threshold" in found.options:
        options["threshold"] = settings.threshold
    if "scale" in found.options:
        options |= {"scale": settings.scale, "gold_range": gold.range, "metric_range": metric.range}
    return options


def within(scores: ScoreSet, cells: Floats) -> ScoreSet:
    """Keep some translations; scores of systems become means over them.

    `scores`: systems by segments. `cells`: the same shape, NaN where a translation is left out.
    """
    segments = np.where(np.isnan(cells), np.nan, scores.segments)
    return replace(scores, segments=segments, systems=row_means(segments))


def annotated_only(gold: ScoreSet, metric: ScoreSet) -> tuple[ScoreSet, ScoreSet]:
    """Keep the translations that gold judged, in both."""
    return within(gold, gold.segments), within(metric, gold.segments)


def task_statistics(
    task: Task, gold: ScoreSet, metric: ScoreSet, settings: MetaSettings, known: Mapping[str, Result]
) -> tuple[Result, ...]:
    """Value of each statistic of a task. `gold`: systems by segments."""
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

    `parts`: of each language pair, the results of the task's statistics in their order.
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


def average_ranks(task: Task, parts: Sequence[Sequence[MetricResults]]) -> list[float | None]:
    """Weighted mean of each metric's places, over the statistics of a task and all language pairs; 1 is best.

    A place is 1 more than the number of metrics that are better; equally good metrics share it. Weights are
    those of the task's mean, a pooled statistic included. As `AverageRanks` of mt-metrics-eval without
    resampling, which gives equally good metrics different places.

    None for a metric that lacks the value of a statistic, or a system that others have.
    """
    total = np.zeros(len(parts[0]))
    for place, statistic in enumerate(task.statistics):
        nothing = Result(value=None, n=0)
        columns = [
            [m.statistics[place] if m.statistics and not m.partial else nothing for m in part]
            for part in parts
        ]
        if statistic.pooled:
            columns = [[pooled_accuracy(each) for each in zip(*columns, strict=True)]] * len(parts)
        sign = 1 if MEASURES[statistic.measure].higher_is_better else -1
        for column in columns:
            values = np.array([np.nan if r.value is None else sign * round(r.value, 12) for r in column])
            places = 1.0 + (values[None, :] > values[:, None]).sum(axis=1)
            total += statistic.weight * np.where(np.isnan(values), np.nan, places)
    total /= len(parts) * sum(statistic.weight for statistic in task.statistics)
    return [None if math.isnan(value) else value for value in total.tolist()]
