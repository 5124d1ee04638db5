"""The checks of `adjudge.checks` as a metric that marks errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from adjudge.checks import find_errors
from adjudge.core.annotation import Annotation
from adjudge.core.segment import Subject

__all__ = ["Rules"]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Errors that fixed rules find: numbers, tags, scripts, sentences lost; no reference needed."""

    name: ClassVar[str] = "rules"
    with_reference: ClassVar[bool] = False
    protocol: ClassVar[str] = "mqm"
    weights: ClassVar[str] = "mqm-google"

    def settings(self, lp: str) -> Mapping[str, str]:  # noqa: ARG002 (the same for all languages)
        """Nothing: the rules are fixed, and belong to the version."""
        return {}

    def annotate(self, subjects: Sequence[Subject]) -> list[Annotation]:
        """Mark the errors of each translation."""
        return [self._annotate(subject) for subject in subjects]

    def corpus_score(self, subjects: Sequence[Subject]) -> None:
        """None: a system's score is the mean of its segments."""

    def _annotate(self, subject: Subject) -> Annotation:
        findings = find_errors(subject.source, subject.translation, subject.lp)
        return Annotation(
            lp=subject.lp,
            segment=subject.segment.segment,
            system=subject.system,
            annotator=self.name,
            protocol=self.protocol,
            document=subject.segment.document,
            spans=tuple(finding.span for finding in findings),
        )
