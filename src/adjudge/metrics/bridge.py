"""Any program as a metric: it reads JSON lines and writes JSON lines, in an environment of its own.

Neural metrics pin what we could not live with, so they are called and never imported. How to write such a
program, and examples for the well-known ones, stand in docs/bridge.md.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

from adjudge.core.annotation import Annotation, Preference, Record
from adjudge.core.judge import annotation_of, failure_of, preference_of
from adjudge.core.protocol import Protocol, find_protocol
from adjudge.core.segment import Subject
from adjudge.core.typology import find_weights
from adjudge.errors import AnswerError, DataError, UsageError
from adjudge.metrics.answers import (
    Answered,
    read_answers,
    read_flags,
    read_number,
    read_refusal,
    read_spans,
    read_strength,
    read_verdict,
)
from adjudge.metrics.command import Command, find_program, split_command

__all__ = ["Bridge"]

_ROOM: Final = 4 * 2**20  # bytes that any number of answers may have
_ROOM_EACH: Final = 16 * 2**10
_KEYS: Final = {"id", "score", "spans", "flags", "rationale"}
_PAIR_KEYS: Final = {"id", "verdict", "strength", "flags", "rationale"}


class _Bounds(NamedTuple):
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class Bridge:
    """Any command that reads JSON lines and answers with JSON lines: COMET, MetricX, a script of yours.

    Args:
        command: the program and its arguments; a text is split as a shell would, and no shell runs it.
        name: of the metric, in records and signature.
        protocol: what it gives: `metric` a score and, if it likes, spans; `mqm` spans; `esa` both;
            `da-sqm` and `sqm` a score on their scale; `pairwise` a verdict on every pair of systems.
        criterion: of the verdicts under `pairwise`.
        weights: of the spans under `mqm`.
        direction: `lower` for scores that are better when lower; they are negated, and the signature says so.
        range: lowest and highest score that the program can give, `0..25`; either may be left out. A score
            outside is a failure.
        with_reference: whether it needs a reference.
        batch: translations that one start of the program gets.
        time_limit: seconds for one start.

    Raises:
        UsageError: a setting that cannot be.
    """

    command: str | tuple[str, ...] = ""
    name: str = "bridge"
    protocol: str = "metric"
    criterion: str = "overall"
    weights: str | None = None
    direction: Literal["higher", "lower"] = "higher"
    range: str = ""
    with_reference: bool = False
    batch: int = 20_000
    time_limit: float = 3600.0

    def __post_init__(self) -> None:
        """Refuse what cannot be before anything is started."""
        if not self.name.strip() or not self.name.isprintable():
            raise UsageError(f"name of the metric must be a word or words, got {self.name!r}")
        rates = find_protocol(self.protocol).name == "metric"
        if not rates and (self.direction == "lower" or self.range):
            raise UsageError(
                f"protocol {self.protocol} has its own scale; direction and range are for 'metric'"
            )
        if self.weights is not None and self.protocol != "mqm":
            raise UsageError(f"weights are for protocol mqm; {self.name} has {self.protocol}")
        if self.criterion != "overall" and self.protocol != "pairwise":
            raise UsageError(f"a criterion is for protocol pairwise; {self.name} has {self.protocol}")
        if self.protocol == "mqm":
            object.__setattr__(self, "weights", find_weights(self.weights or "mqm-google").name)
        if self.batch < 1 or not 0 < self.time_limit < math.inf:
            raise UsageError("batch must be 1 or more, and time_limit a number of seconds above 0")
        _ = self._arguments, self._bounds

    def settings(self, lp: str) -> Mapping[str, str]:  # noqa: ARG002 (the program knows what it can do)
        """The command, and what was said of its scores.

        Raises:
            UsageError: there is no command, or no such program.
        """
        if not self._arguments:
            raise UsageError('a bridge needs a command, such as --command "python my_metric.py"')
        find_program(self._arguments[0])
        turned = {"direction": "lower, negated"} if self.direction == "lower" else {}
        limits = {"range": self.range} if self.range else {}
        return {"command": shlex.join(self._arguments), **turned, **limits}

    def annotate(self, subjects: Sequence[Subject]) -> list[Record]:
        """Judge translations, or pairs of them, `batch` at a start of the program.

        Raises:
            UsageError: the program cannot be started.
        """
        records: list[Record] = []
        for first in range(0, len(subjects), self.batch):
            records += self._annotate(subjects[first : first + self.batch])
        return records

    def corpus_score(self, subjects: Sequence[Subject]) -> None:  # noqa: ARG002 (a mean needs no more)
        """None: the score of a system is the mean of its segments."""
        return

    def stop(self) -> None:
        """Kill the program, if it is running."""
        self._program.stop()

    @property
    def block(self) -> int:
        """Translations that it wants at a time."""
        return self.batch

    @property
    def low(self) -> float | None:
        """Lowest score, after negation."""
        return self._bounds.low if self.direction == "higher" else _negated(self._bounds.high)

    @property
    def high(self) -> float | None:
        """Highest score, after negation."""
        return self._bounds.high if self.direction == "higher" else _negated(self._bounds.low)

    def _annotate(self, subjects: Sequence[Subject]) -> list[Record]:
        """One start of the program. If it does not end well, nothing that it said is believed."""
        asked = {f"u{number}": subject for number, subject in enumerate(subjects, start=1)}
        answers: Mapping[str, Answered | AnswerError]
        try:
            lines = (self._line(name, subject) for name, subject in asked.items())
            raw = self._program.run(lines, most=_ROOM + _ROOM_EACH * len(asked))
            answers = read_answers(raw, asked.keys())
        except AnswerError as error:
            answers = dict.fromkeys(asked, error)
        return [self._record(subject, answers[name]) for name, subject in asked.items()]

    def _line(self, name: str, subject: Subject) -> str:
        unit = {
            "id": name,
            "lp": subject.lp,
            "document": subject.segment.document,
            "segment": subject.segment.segment,
            "source": subject.source,
            **self._judged(subject),
        }
        if self.with_reference:
            unit["reference"] = subject.reference or ""
        return json.dumps(unit, ensure_ascii=False)

    def _judged(self, subject: Subject) -> Mapping[str, object]:
        """What is judged, and whose it is."""
        if self.protocol != "pairwise":
            return {"system": subject.system, "translation": subject.translation}
        texts = [subject.segment.translations[name] for name in subject.systems]
        return {"systems": subject.systems, "translations": texts}

    def _record(self, subject: Subject, answer: Answered | AnswerError) -> Record:
        try:
            if isinstance(answer, AnswerError):
                raise answer
            if (refusal := read_refusal(answer)) is not None:
                raise refusal
            return (self._compare if self.protocol == "pairwise" else self._read)(subject, answer)
        except AnswerError as error:
            criterion = self.criterion if self.protocol == "pairwise" else None
            return failure_of(self, subject, error.reason, error.detail, criterion)

    def _compare(self, subject: Subject, answer: Answered) -> Preference:
        return preference_of(
            self,
            subject,
            criterion=self.criterion,
            verdict=read_verdict(answer),
            flags=read_flags(answer),
            rationale=_rationale(answer, _PAIR_KEYS),
            strength=read_strength(answer),
        )

    def _read(self, subject: Subject, answer: Answered) -> Annotation:
        rates = self._scale.needs_rating
        marks = self._scale.has_spans or self.protocol == "metric"
        rationale = _rationale(
            answer, _KEYS - (set() if rates else {"score"}) - (set() if marks else {"spans"})
        )
        number = read_number(answer, self._bounds.low, self._bounds.high) if rates else None
        sign = -1 if self.direction == "lower" else 1
        try:
            return annotation_of(
                self,
                subject,
                rating=None if number is None else sign * number + 0.0,
                spans=read_spans(answer, subject, wanted=self._scale.has_spans),
                flags=read_flags(answer),
                rationale=rationale,
            )
        except DataError as error:
            raise AnswerError("schema", str(error)) from error

    @cached_property
    def _arguments(self) -> tuple[str, ...]:
        return split_command(self.command) if isinstance(self.command, str) else tuple(self.command)

    @cached_property
    def _program(self) -> Command:
        return Command(arguments=self._arguments, seconds=self.time_limit)

    @cached_property
    def _bounds(self) -> _Bounds:
        """As the program has them."""
        if self.protocol != "metric":
            return _Bounds(self._scale.low, self._scale.high)
        if not self.range:
            return _Bounds(None, None)
        low, dots, high = self.range.partition("..")
        try:
            bounds = _Bounds(float(low) if low else None, float(high) if high else None)
        except ValueError:
            bounds, dots = _Bounds(None, None), ""
        if not dots or any(bound is not None and not math.isfinite(bound) for bound in bounds):
            raise UsageError(f"range must look like 0..25, 0.. or ..0, got {self.range!r}")
        if bounds.low is not None and bounds.high is not None and bounds.low >= bounds.high:
            raise UsageError(f"range must rise, got {self.range!r}")
        return bounds

    @property
    def _scale(self) -> Protocol:
        return find_protocol(self.protocol)


def _rationale(answer: Answered, known: Collection[str]) -> str | None:
    """The rationale of an answer that has no key but the known ones.

    Raises:
        AnswerError: schema.
    """
    if unknown := sorted(answer.keys() - set(known)):
        raise AnswerError("schema", f"an answer can have {', '.join(sorted(known))}; got {unknown[0]!r}")
    rationale = answer.get("rationale")
    if rationale is not None and not isinstance(rationale, str):
        raise AnswerError("schema", "rationale must be a text")
    return rationale


def _negated(bound: float | None) -> float | None:
    return None if bound is None else 0.0 - bound
