"""Means over the statistics of a task: of one language pair, and of several together."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, TypedDict, TypeVar, get_args

import numpy as np

from adjudge.analysis.eval_set import EvalSet, ScoreSet, row_means
from adjudge.analysis.shared_tasks import Task, Wishes, find_task
from adjudge.core.scores import VERSION, Interval, Signature
from adjudge.errors import UsageError
from adjudge.stats.acc_eq import Compat
from adjudge.stats.judged import AVERAGES, Average, Floats, Result
from adjudge.stats.measures import MEASURES, Scale
from adjudge.stats.resampling import Method, default_method, methods_of

__all__ = [
    "MetaEvaluation",
    "MetricResults",
    "Options",
    "Settings",
    "Stratum",
    "StratumKind",
    "annotated_only",
    "arguments",
    "base_name",
    "mean_of_part",
    "mean_of_statistics",
    "measure",
    "named_gold",
    "names",
    "pooled_accuracy",
    "task_statistics",
    "within",
]


# What a meta-evaluation may be asked for: one set of options for the command line and for Python.


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

Segments = Literal["all", "annotated"]
Name = TypeVar("Name", bound=str)
StratumKind = Literal["domain", "document", "length", "severity"]
STRATA: Final[tuple[StratumKind, ...]] = get_args(StratumKind)


class Options(TypedDict, total=False):
    """Options of `adjudge.meta`. Where several names may be given, one alone may be a text.

    Args:
        gold: name of a gold of the folder, or a file (`NAME=FILE`); several for several.
        scores: further metrics: name to run or file, or to language pair to run or file; or `[NAME=]PATH`, as
            on the command line, where a path may be a folder of score files.
        task: name of a task, or a TOML file; else the one that the test set was made for.
        measures: names of `adjudge list measures`.
        average: of all segment measures; else each one's own.
        compat: `mtme` for the rounding of mt-metrics-eval, where it differs.
        metrics: of the test set's own only these, whose files alone are read; else all. `COMET` is the metric
            with the reference that the task compares: `COMET-refA` or `COMET-refB`.
        exclude: systems to leave out.
        include_human: compare references that were scored as systems; None as the task says.
        include_outliers: compare the task's outliers.
        reference: that metrics were shown.
        segments: `all`: scores of systems as their files have them; `annotated`: means over what gold judged.
        weights: of marked errors, wherever gold or metrics have any; else the run's, else `mqm-google`.
        scale: of mean errors, `range` of the protocol or `minmax` of the scores.
        threshold: of `seg_kendall_like`, smallest difference of gold scores that counts; 25 if left out.
        strata: also by domain, document, length of the source or worst severity.
        length_bins: where a longer source begins, in tokens.
        smallest: judged translations that a stratum needs to have numbers.
        intervals: give every value its 95 % bootstrap interval.
        clusters: give every value the significance cluster of its metric.
        test: behind the clusters, for every measure; else each one's own; asks for clusters too. The task's
            mean always has the bootstrap.
        significance: draws of intervals and tests, 1,000 if left out; asks for clusters too.
        holm: correct the tests of each measure for their number.
        alpha: bound of the clusters' tests.
        by_document: draw whole documents for intervals; clusters are then by bootstrap too.
        seed: of all draws.
    """

    gold: str | Sequence[str]
    scores: Mapping[str, Path | str | Mapping[str, Path | str]] | Sequence[str]
    task: str
    measures: str | Sequence[str]
    average: Average
    compat: Compat
    metrics: str | Sequence[str]
    exclude: str | Sequence[str]
    include_human: bool | None
    include_outliers: bool
    reference: str
    segments: Segments
    weights: str
    scale: Scale
    threshold: float | None
    strata: StratumKind | Sequence[StratumKind]
    length_bins: Sequence[int]
    smallest: int
    intervals: bool
    clusters: bool
    test: Method | None
    significance: int | None
    holm: bool
    alpha: float
    by_document: bool
    seed: int


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Options, checked.

    Raises:
        UsageError: a name that there is not, or a number out of its range.
    """

    task: Task | None = None
    measures: tuple[str, ...] = DEFAULT_MEASURES
    average: Average | None = None
    compat: Compat | None = None
    wishes: Wishes = field(default_factory=Wishes)
    segments: Segments = "all"
    weights: str | None = None
    scale: Scale = "range"
    threshold: float | None = None
    strata: tuple[StratumKind, ...] = ()
    length_bins: tuple[int, ...] = (12, 27)
    smallest: int = 30
    intervals: bool = False
    clusters: bool = False
    test: Method | None = None
    resamples: int = 1000
    holm: bool = False
    alpha: float = 0.05
    by_document: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        """Check every name and number."""
        for name in self.measures:
            _one_of("measure", name, tuple(MEASURES))
        for kind in self.strata:
            _one_of("stratum", kind, STRATA)
        _one_of("segments", self.segments, get_args(Segments))
        _one_of("scale", self.scale, get_args(Scale))
        if self.average is not None:
            _one_of("average", self.average, AVERAGES)
        if self.compat is not None:
            _one_of("compat", self.compat, get_args(Compat))
        if not self.measures:
            raise UsageError("name at least one measure")
        if list(self.length_bins) != sorted(set(self.length_bins)):
            raise UsageError(f"bins of length must rise, got {', '.join(map(str, self.length_bins))}")
        if self.smallest < 2:
            raise UsageError(f"a stratum needs 2 translations or more, got {self.smallest}")
        self._check_threshold()
        self._check_draws()

    def _check_threshold(self) -> None:
        if self.threshold is None:
            return
        if not 0 <= self.threshold < math.inf:
            raise UsageError(f"threshold is a difference of gold scores, 0 or more; got {self.threshold}")
        if not any("threshold" in MEASURES[name].options for name in self.measures):
            having = ",".join(name for name, measure in MEASURES.items() if "threshold" in measure.options)
            raise UsageError(f"no measure here takes a threshold; one that does: --measures {having}")

    def _check_draws(self) -> None:
        if self.resamples < 1:
            raise UsageError(f"significance is of 1 draw or more, got {self.resamples}")
        if not 0 < self.alpha < 1:
            raise UsageError(f"alpha must lie between 0 and 1, got {self.alpha}")
        if self.seed < 0:
            raise UsageError(f"seed must be 0 or more, got {self.seed}")
        if self.by_document and not (self.intervals or self.clusters):
            raise UsageError("documents are drawn for intervals and clusters: ask for one of them")
        if self.holm and not self.clusters:
            raise UsageError("Holm's correction is of the tests behind clusters: ask for clusters")
        if self.test is not None:
            self._check_test(self.test)

    def _check_test(self, test: Method) -> None:
        _one_of("test", test, get_args(Method))
        if self.by_document and test != "bootstrap":
            raise UsageError(f"{test} cannot draw documents; the bootstrap can")
        if without := [name for name in self.measures if test not in methods_of(name)]:
            having = ",".join(name for name in MEASURES if test in methods_of(name))
            raise UsageError(f"{', '.join(without)} has no test {test}; those that do: --measures {having}")

    def method(self, measure: str) -> Method:
        """The test of a measure."""
        return self.test or ("bootstrap" if self.by_document else default_method(measure))

    @property
    def unusual(self) -> dict[str, str]:
        """Settings that move a number and are not the usual ones, name to value."""
        names = ["average", "compat", "segments", "weights", "scale"]
        found = {n: str(getattr(self, n)) for n in names if getattr(self, n) != getattr(Settings, n)}
        found |= {} if self.threshold is None else {"threshold": f"{self.threshold:g}"}
        if self.intervals or self.clusters:
            found |= {"resamples": str(self.resamples), "seed": str(self.seed)}
            found |= {"units": "documents"} if self.by_document else {}
        if self.clusters:
            found |= {"alpha": f"{self.alpha:g}"} | ({"correction": "holm"} if self.holm else {})
            found |= {} if self.test is None else {"test": self.test}
        return found

    @classmethod
    def of(cls, options: Options) -> Settings:
        """Check options; a task that is named is found.

        Raises:
            UsageError: an option that there is not, such as one that is misspelt.
        """
        for name in options:
            _one_of("option", name, tuple(sorted(Options.__optional_keys__)))
        draws, test = options.get("significance"), options.get("test")
        wishes = Wishes(
            exclude=names(options.get("exclude", ())),
            include_human=options.get("include_human"),
            include_outliers=options.get("include_outliers", False),
            reference=options.get("reference"),
        )
        return cls(
            task=find_task(options["task"]) if options.get("task") else None,
            measures=names(options.get("measures") or DEFAULT_MEASURES),
            average=options.get("average"),
            compat=options.get("compat"),
            wishes=wishes,
            segments=options.get("segments", "all"),
            weights=options.get("weights"),
            scale=options.get("scale", "range"),
            threshold=options.get("threshold"),
            strata=names(options.get("strata", ())),
            length_bins=tuple(options.get("length_bins", (12, 27))),
            smallest=options.get("smallest", 30),
            intervals=options.get("intervals", False),
            clusters=options.get("clusters", False) or draws is not None or test is not None,
            test=test,
            resamples=1000 if draws is None else draws,
            holm=options.get("holm", False),
            alpha=options.get("alpha", 0.05),
            by_document=options.get("by_document", False),
            seed=options.get("seed", 0),
        )


def names(given: Name | Sequence[Name]) -> tuple[Name, ...]:
    """Names that were given, of which one alone may be a text."""
    return (given,) if isinstance(given, str) else tuple(given)


def _one_of(what: str, name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(f"no {what} {name!r}; there are {', '.join(known)}{hint}")


# What a meta-evaluation comes to.


@dataclass(frozen=True, kw_only=True)
class MetricResults:
    """How one metric agrees with gold.

    Args:
        name: stem of its score file, or the name that it was given.
        results: measure to result, in the order asked for.
        n: translations that gold and the metric both judged.
        meta: mean as the task defines it; None where no task does, or one of its statistics has no value.
        meta_interval: 95 % bootstrap interval of `meta`, where asked for.
        statistics: result of each statistic of the task, in its order; empty where there is no task.
        failed: judgements asked for and not obtained, of the systems compared.
        clusters: measure, and `meta`, to significance cluster, 1 is best; where asked for.
        partial: it lacks a system that gold judged and another metric scored, so that its numbers are over
            fewer than those of that one: it has no cluster and is never the best.
        reference: that the metric was shown, `src` for none; empty where that is not known.
    """

    name: str
    results: Mapping[str, Result]
    n: int = 0
    meta: float | None = None
    meta_interval: Interval | None = None
    statistics: tuple[Result, ...] = ()
    failed: int = 0
    clusters: Mapping[str, int] = field(default_factory=dict)
    partial: bool = False
    reference: str = ""

    @property
    def base(self) -> str:
        """Name without the reference that the metric was shown: `COMET` of `COMET-refA`."""
        return base_name(self.name, self.reference)


def base_name(name: str, reference: str) -> str:
    """Name of a metric without its reference; one that was shown none keeps its whole name.

    Args:
        name: such as `COMET-refA`.
        reference: such as `refA`; `src` or empty for none.
    """
    return name if reference in {"", "src"} else name.removesuffix(f"-{reference}")


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """The same for a part of the translations.

    Args:
        kind: what they have in common: domain, document, length, severity.
        name: such as `news`, `12 to 26 tokens`, `major`.
        n_segments: segments with a judged translation.
        n: judged translations.
        metrics: without results where there are too few.
        reason: why there are none; empty where there are.
    """

    kind: str
    name: str
    n_segments: int
    n: int
    metrics: tuple[MetricResults, ...] = ()
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class MetaEvaluation:
    """How well metrics agree with gold. Every measure is higher for the better, but for errors.

    Args:
        test_set: its name.
        lp: language pair; several, separated by commas, where `parts` are theirs.
        gold: what the metrics are compared with.
        systems: compared.
        excluded: system to the reason why it is not compared.
        n_segments: segments that gold judged, of one system at the least.
        n_all: segments of the test set.
        reference: that metrics were shown; empty for none.
        measures: names, in order.
        metrics: in the order of their names, those of the folder first.
        task: whose mean `meta` is; empty for none.
        notes: what a reader must know: which systems, which segments, which reference, what looks wrong.
        strata: parts of the translations, where asked for.
        parts: each language pair and gold on its own, where there are several; else empty.
        p_values: measure, and `meta`, to a table, metrics by metrics in their order: the p-value of "the
            first agrees better with gold than the second"; where clusters were asked for.
        scores: what was compared, as arrays; None where `parts` have theirs.
        settings: that move a number and are not the usual ones, name to value.
    """

    test_set: str
    lp: str
    gold: str
    systems: tuple[str, ...]
    excluded: Mapping[str, str]
    n_segments: int
    n_all: int
    reference: str
    measures: tuple[str, ...]
    metrics: tuple[MetricResults, ...]
    task: str = ""
    notes: tuple[str, ...] = ()
    strata: tuple[Stratum, ...] = ()
    parts: tuple[MetaEvaluation, ...] = ()
    p_values: Mapping[str, Floats] = field(default_factory=dict, compare=False)
    scores: EvalSet | None = field(default=None, compare=False, repr=False)
    settings: Mapping[str, str] = field(default_factory=dict)

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


def named_gold(name: str, word: str = "gold") -> str:
    """Call gold by its name, after a word that says what it is where the name does not: gold mqm, gold.mqm.

    Args:
        name: of the gold.
        word: `Gold` where a sentence begins.
    """
    return name if name.casefold().startswith("gold") else f"{word} {name}"


# Apply measures to a gold and a metric of an eval set.


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
