"""What a meta-evaluation may be asked for: one set of options for the command line and for Python."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypedDict, TypeVar, get_args

from adjudge.errors import UsageError
from adjudge.meta.evaluation.choosing import Wishes
from adjudge.meta.evaluation.tasks import Task, find_task
from adjudge.meta.measures import MEASURES
from adjudge.meta.measures.acc_eq import Compat
from adjudge.meta.measures.error import Scale
from adjudge.meta.measures.result import AVERAGES, Average
from adjudge.meta.significance.metric_tests import Method, default_method, methods_of

__all__ = ["DEFAULT_MEASURES", "STRATA", "Options", "Segments", "Settings", "StratumKind", "names"]

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
