"""Options of `adjudge.spans`."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypedDict

from adjudge.core.segment import TestSet
from adjudge.core.typology import SEVERITIES, Severity
from adjudge.errors import UsageError
from adjudge.meta.spans.credit import AVERAGES, Average
from adjudge.meta.spans.marks import UNITS, Unit
from adjudge.meta.spans.rules import RULES, THRESHOLD, Rule, find_rule
from adjudge.meta.spans.views import GROUPS, Group

__all__ = ["COUNTED", "MarkOptions", "Settings", "SpanOptions"]

COUNTED: Final[tuple[Severity, ...]] = ("minor", "major", "critical")
"""Severities that count where nothing else is asked for: neutral marks are no errors."""


class MarkOptions(TypedDict, total=False):
    """Options of everything that puts marks of a run beside those of gold.

    Args:
        severities: marks that count, on both sides; all but neutral if left out.
        lp: language pair to keep, and that of files which do not say it.
        annotator: of the run, to keep.
        gold_annotator: of gold, to keep.
        test_set: texts of ratings that lie outside of their folder, and of records; a run has its own.
        resamples: draws of bootstrap intervals over segments; 0 for none.
        seed: of those draws.
    """

    severities: Sequence[Severity]
    lp: str | None
    annotator: str | None
    gold_annotator: str | None
    test_set: TestSet | Path | str | None
    resamples: int
    seed: int


class SpanOptions(MarkOptions, total=False):
    """Options of `spans`, those of `MarkOptions` among them.

    Args:
        rule: matching rule, several, or `all`; `mpp` if left out.
        threshold: of `himate`, one or several, above 0 and at most 1.
        average: `micro` (every mark counts alike) or `macro` (every translation does).
        by: also each severity, category, side, system or lp on its own.
        unit: `characters` or `words`; if left out, what the rule's source counts in.
        penalty: of `em`, `mp` and `mpp`: part of the credit that a pair of different severities loses.
        weights: of `mpp`: severity to weight.
    """

    rule: str | Sequence[str]
    threshold: float | Sequence[float] | None
    average: Average
    by: Group | None
    unit: Unit | None
    penalty: float
    weights: Mapping[Severity, float] | None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The options of `spans`, checked when they are made.

    Raises:
        UsageError: one is out of its range, or no chosen rule has it.
    """

    rule: str | Sequence[str] = "mpp"
    threshold: float | Sequence[float] | None = None
    average: Average = "micro"
    by: Group | None = None
    unit: Unit | None = None
    severities: Sequence[Severity] = COUNTED
    penalty: float = 0.0
    weights: Mapping[Severity, float] | None = None
    lp: str | None = None
    annotator: str | None = None
    gold_annotator: str | None = None
    test_set: TestSet | Path | str | None = None
    resamples: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be computed."""
        _one_of("average", self.average, AVERAGES)
        _one_of("by", self.by, (None, *GROUPS))
        _one_of("unit", self.unit, (None, *UNITS))
        for severity in (*self.severities, *(self.weights or {})):
            _one_of("severity", severity, SEVERITIES)
        if not self.severities:
            raise UsageError(f"severities must name one or more of {', '.join(SEVERITIES)}")
        self._check_numbers()
        for name in ("threshold", "penalty", "weights"):
            if getattr(self, name) and not any(name in rule.takes for rule in self.rules):
                takers = ", ".join(rule.name for rule in RULES.values() if name in rule.takes)
                chosen = ", ".join(rule.name for rule in self.rules)
                raise UsageError(f"{chosen} takes no {name}; it is a setting of {takers}")

    def _check_numbers(self) -> None:
        if not all(0 < threshold <= 1 for threshold in self.thresholds):
            raise UsageError(f"a threshold lies above 0 and is at most 1, got {self.threshold}")
        if not 0 <= self.penalty <= 1:
            raise UsageError(f"the severity penalty lies in 0 to 1, got {self.penalty}")
        if self.penalty and self.weights is not None:
            raise UsageError("give either a severity penalty or severity weights, not both")
        if not all(0 <= weight < math.inf for weight in (self.weights or {}).values()):
            raise UsageError(f"severity weights are finite and 0 or more, got {dict(self.weights or {})}")
        if self.resamples < 0 or self.seed < 0:
            raise UsageError(f"resamples and seed are 0 or more, got {self.resamples} and {self.seed}")

    @property
    def rules(self) -> list[Rule]:
        """Rules chosen, each once."""
        names = [self.rule] if isinstance(self.rule, str) else list(self.rule)
        return (
            list(RULES.values()) if names == ["all"] else [find_rule(name) for name in dict.fromkeys(names)]
        )

    @property
    def thresholds(self) -> tuple[float, ...]:
        """Thresholds of the rules that take one."""
        if self.threshold is None:
            return (THRESHOLD,)
        return (self.threshold,) if isinstance(self.threshold, int | float) else tuple(self.threshold)

    @property
    def told(self) -> dict[str, object]:
        """What a signature says: what the numbers depend on, and the rows do not say."""
        weights = self.weights or {}
        return {
            "rule": ",".join(rule.name for rule in self.rules),
            "average": self.average,
            "severities": ",".join(self.severities),
            "unit": self.unit,
            "penalty": f"{self.penalty:g}" if self.penalty else None,
            "weights": ",".join(f"{name}={weight:g}" for name, weight in weights.items()),
            "resamples": self.resamples or None,
            "seed": self.seed if self.resamples else None,
        }

    def variants(self, rule: Rule) -> Iterator[dict[str, Any]]:
        """Settings with which a rule is applied, one after the other."""
        both: dict[str, Any] = {"penalty": self.penalty, "weights": self.weights}
        shared = {name: value for name, value in both.items() if name in rule.takes}
        if "threshold" not in rule.takes:
            yield shared
            return
        for threshold in self.thresholds:
            yield {**shared, "threshold": threshold}


def _one_of(what: str, value: object, known: Collection[object]) -> None:
    if value not in known:
        names = ", ".join(str(name) for name in known if name is not None)
        raise UsageError(f"{what} must be one of {names}; got {value!r}")
