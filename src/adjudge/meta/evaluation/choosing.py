"""Which systems are compared and which metrics belong beside each other, and why the others are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from adjudge.errors import DataError, UsageError
from adjudge.meta.evaluation.eval_set import EvalSet, ScoreSet
from adjudge.meta.evaluation.tasks import LpRule

__all__ = ["Choice", "Wishes", "choose", "references_in"]

_NO_REFERENCE = frozenset({"", "src"})


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What a user says of metrics and systems, where it is not what the task says.

    Args:
        exclude: systems to leave out by name.
        include_human: compare references that were scored as systems; None as the task says.
        include_outliers: compare the task's outliers.
        reference: of the metrics that were shown one; None as the task says.
    """

    exclude: Sequence[str] = ()
    include_human: bool | None = None
    include_outliers: bool = False
    reference: str | None = None


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What is compared.

    Args:
        systems: in the order of their names.
        excluded: system to the reason why it is not compared.
        metrics: names of those that are compared.
        reference: that they were shown; several are separated by commas; empty for none.
        notes: what was left out.
    """

    systems: tuple[str, ...]
    excluded: Mapping[str, str]
    metrics: tuple[str, ...]
    reference: str
    notes: tuple[str, ...]


def choose(eval_set: EvalSet, gold: ScoreSet, rule: LpRule, wishes: Wishes) -> Choice:
    """Choose systems and metrics.

    A reference that metrics are shown is never compared as a system: they would see it beside itself. Other
    references are, if the task or the user wants people compared. Systems without gold cannot be.

    Raises:
        UsageError: a system or a reference that is not there.
        DataError: nothing is left.
    """
    reference = wishes.reference or rule.reference
    used = {part for metric in eval_set.metrics.values() for part in references_in(metric.reference)}
    there = used | {*eval_set.shown}
    if wishes.reference is not None and wishes.reference not in {*there, *eval_set.references}:
        known = ", ".join(sorted(there)) or "no reference"
        raise UsageError(f"no metric was shown reference {wishes.reference!r}; they were shown {known}")
    shown = {reference} if reference is not None and (reference in there or not there) else used
    metrics = tuple(n for n, m in eval_set.metrics.items() if references_in(m.reference) <= shown)
    notes = list(_left_out(eval_set, metrics, shown))
    standing = shown if reference is None else shown | {reference}
    excluded = _excluded(eval_set, gold, rule, wishes, standing)
    systems = tuple(s for s in eval_set.systems if s not in excluded)
    if not systems:
        raise DataError(f"no system of {eval_set.name} {eval_set.lp} is left to compare: {_told(excluded)}")
    return Choice(
        systems=systems,
        excluded=excluded,
        metrics=metrics,
        reference=", ".join(sorted(shown)),
        notes=tuple(notes),
    )


def references_in(shown: str) -> set[str]:
    """References that a metric was shown: `refA.refB` are two, `src` is none."""
    return {*shown.split(".")} - _NO_REFERENCE


def _left_out(eval_set: EvalSet, kept: Sequence[str], shown: set[str]) -> list[str]:
    others = [name for name in eval_set.metrics if name not in kept]
    if not others:
        return []
    names = ", ".join(sorted(shown))
    return [f"Metrics that were shown another reference than {names} are left out: {', '.join(others)}."]


def _excluded(
    eval_set: EvalSet, gold: ScoreSet, rule: LpRule, wishes: Wishes, shown: set[str]
) -> dict[str, str]:
    """Systems that are not compared, each with the first reason that holds."""
    for name in wishes.exclude:
        if name not in eval_set.systems:
            raise UsageError(f"no system {name!r} to exclude; there are {', '.join(eval_set.systems)}")
    people = rule.include_human if wishes.include_human is None else wishes.include_human
    reasons = {
        "excluded by name": set(wishes.exclude),
        "outlier of the task": set() if wishes.include_outliers else set(rule.outliers),
        "reference that metrics were shown": set(eval_set.references) & shown,
        "human translation": set() if people else set(eval_set.references),
        "not judged by gold": _unjudged(eval_set, gold),
    }
    return {
        system: reason
        for system in eval_set.systems
        if (reason := next((r for r, names in reasons.items() if system in names), None)) is not None
    }


def _unjudged(eval_set: EvalSet, gold: ScoreSet) -> set[str]:
    nothing = np.isnan(gold.segments).all(axis=1) & np.isnan(gold.systems)
    return {system for system, none in zip(eval_set.systems, nothing, strict=True) if none}


def _told(excluded: Mapping[str, str]) -> str:
    return ", ".join(f"{system} ({reason})" for system, reason in excluded.items())
