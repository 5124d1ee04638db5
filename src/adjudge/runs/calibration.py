"""Calibrate a judge: how sure it must be of a finding that it does not look at again.

The judge runs over a validation set into a run directory of its own, so that a calibration goes on where it
was stopped; the confidences are gathered on the way.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, cast, runtime_checkable

from adjudge.core.ask import Ask
from adjudge.core.judge import Judge
from adjudge.core.protocol import SUBTYPES
from adjudge.core.record import Annotation
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError, DataError, UsageError
from adjudge.runs.job import Job, check_logprobs
from adjudge.runs.run import execute
from adjudge.runs.session import Outcome
from adjudge.runs.units import Annotator
from adjudge.store.run_directory import Calibration, LpThreshold

ENOUGH: Final = 20
"""Confidences of a subtype, or of a core type, below which it has no threshold of its own."""


@runtime_checkable
class Calibrated(Protocol):
    """A judge that looks again at what it is not sure of."""

    @property
    def confidence(self) -> str:
        """How it measures its confidence, such as `logprobs`."""

    @property
    def measured_roles(self) -> Sequence[str]:
        """Roles whose confidence is read from log-probabilities."""

    def for_calibration(self) -> Judge:
        """The judge with the stages that give confidences, and no more."""

    async def measure(self, subject: Subject, ask: Ask) -> tuple[Annotation, tuple[tuple[str, float], ...]]:
        """Judge one translation as far as confidences go.

        The judgement so far, and the confidences, from 0 to 1, each with the subtype of its error.
        """


@dataclass(frozen=True)
class _Gathering:
    """A judge that runs as it is, and whose confidences are kept."""

    judge: Calibrated
    confidences: defaultdict[str, list[tuple[str, float]]] = field(default_factory=lambda: defaultdict(list))
    judged: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    failed: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    failures: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    async def annotate(self, subject: Subject, ask: Ask) -> Annotation:
        try:
            annotation, confidences = await self.judge.measure(subject, ask)
        except AnswerError as error:
            self.failed[subject.lp] += 1
            self.failures[subject.lp][f"{error.reason}, {error.detail}"] += 1
            raise
        self.judged[subject.lp] += 1
        self.confidences[subject.lp] += confidences
        return annotation

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (whatever the judge has)
        return getattr(self.judge, name)


def for_calibration(annotator: Annotator) -> Judge:
    if not isinstance(annotator, Calibrated):
        raise UsageError(f"{annotator.name} has no threshold to calibrate; himate has one")
    return annotator.for_calibration()


async def acalibrate(job: Job, percentile: float) -> tuple[Calibration, Outcome]:
    """Run a job whose judge comes from `for_calibration`, and take a percentile of its confidences by lp.

    `percentile`: above 0, at most 100.
    """
    if not 0 < percentile <= 100:
        raise UsageError(f"the percentile must be above 0 and at most 100, got {percentile:g}")
    judge = job.annotator
    if not isinstance(judge, Calibrated) or job.models is None:
        raise UsageError(f"{judge.name} has no threshold to calibrate")
    check_logprobs(job.models, judge.measured_roles)
    gathering = _Gathering(judge)
    outcome = await execute(replace(job, annotator=cast(Judge, gathering)))
    thresholds = {lp: _threshold(gathering, lp, percentile) for lp in job.plan.test_set.lps}
    calibration = Calibration(
        judge=judge.name,
        model=job.models.name,
        confidence=judge.confidence,
        prompts=cast(Judge, judge).prompts_digest,
        percentile=float(percentile),
        thresholds=thresholds,
        renormalised=bool(outcome.tally.with_alternatives) and not outcome.tally.without_alternatives,
    )
    return calibration, outcome


def percentile_of(numbers: Sequence[float], percentile: float) -> float:
    """The smallest of the numbers that so many per cent of them do not exceed; the nearest rank."""
    rank = math.ceil(len(numbers) * percentile / 100)
    return sorted(numbers)[max(rank, 1) - 1]


def _threshold(gathering: _Gathering, lp: str, percentile: float) -> LpThreshold:
    found = gathering.confidences[lp]
    judged, failed = gathering.judged[lp], gathering.failed[lp]
    if not found:
        why = "; ".join(f"{number} failed: {told}" for told, number in gathering.failures[lp].most_common(3))
        raise DataError(
            f"{lp}: no confidence to take a percentile of; nothing was found in {judged} translations"
            + (f", and {why}" if failed else "")
        )
    values = [confidence for _, confidence in found]
    threshold = percentile_of(values, percentile)
    return LpThreshold(
        threshold=threshold,
        confidences=len(found),
        below=sum(confidence <= threshold for confidence in values),
        judged=judged,
        failed=failed,
        subtypes=_by_subtype(found, percentile),
    )


def _by_subtype(found: Sequence[tuple[str, float]], percentile: float) -> dict[str, float]:
    thresholds: dict[str, float] = {}
    for subtype in SUBTYPES:
        core = subtype.partition("/")[0]
        own = [confidence for name, confidence in found if name == subtype]
        pooled = [confidence for name, confidence in found if name.partition("/")[0] == core]
        if len(seen := own if len(own) >= ENOUGH else pooled) >= ENOUGH:
            thresholds[subtype] = percentile_of(seen, percentile)
    return thresholds
