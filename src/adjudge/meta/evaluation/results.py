"""What a meta-evaluation comes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from adjudge.core.score import Interval, Signature
from adjudge.core.version import VERSION
from adjudge.meta.evaluation.eval_set import EvalSet
from adjudge.meta.measures.result import Floats, Result

__all__ = ["MetaEvaluation", "MetricResults", "Stratum", "base_name", "named_gold"]


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
