"""The checks as a metric: `Rules` marks the errors that `checks.find_errors` finds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import ClassVar

from adjudge.checks import RULES, find_errors
from adjudge.core.frozen import frozen
from adjudge.core.judge import annotation_of
from adjudge.core.record import Annotation
from adjudge.core.segment import Subject
from adjudge.errors import UsageError


@frozen
class Rules:
    """Deterministic checks: numbers, names, scripts, tags, repetition, length, punctuation; no reference.

    Args:
        min_precision: findings of rules that are right less often are left out, 0 to 1.

    Raises:
        UsageError: a precision that is no probability.
    """

    name: ClassVar[str] = "rules"
    with_reference: ClassVar[bool] = False
    protocol: ClassVar[str] = "mqm"
    weights: ClassVar[str] = "mqm-google"
    low: ClassVar[float | None] = None
    high: ClassVar[float | None] = None

    min_precision: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.min_precision <= 1:
            raise UsageError(f"min_precision of metric 'rules' lies in 0 to 1, got {self.min_precision!r}")

    def settings(self, lp: str) -> Mapping[str, str]:  # noqa: ARG002 (the rules know every language pair)
        """The table of rules, as six hexadecimal digits, and which of them count."""
        kept = {} if self.min_precision == 0 else {"min-precision": f"{self.min_precision:g}"}
        table = "\n".join(map(repr, RULES.values()))
        return {"rules": hashlib.sha256(table.encode()).hexdigest()[:6], **kept}

    def annotate(self, subjects: Sequence[Subject]) -> list[Annotation]:
        """Mark the errors of each translation."""
        annotations = []
        for subject in subjects:
            findings = find_errors(subject.source, subject.translation, subject.lp)
            spans = tuple(f.span for f in findings if f.precision >= self.min_precision)
            annotations.append(annotation_of(self, subject, spans=spans))
        return annotations

    def corpus_score(self, subjects: Sequence[Subject]) -> None:  # noqa: ARG002 (a mean needs no more)
        """None: the score of a system is the mean of its segments."""
        return
