"""Translations by any program: it reads JSON lines and writes JSON lines, as the bridge of metrics has it.

Each line that it reads has `id`, `lp`, `document`, `segment`, `system` and `source`; each that it writes
`id` and `translation`, or `id` and `error`, with `detail` if it likes.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Final

from adjudge.core.annotation import Annotation, Failure
from adjudge.core.judge import annotation_of, failure_of
from adjudge.core.segment import Subject
from adjudge.curation.asking import Key
from adjudge.curation.translating import read_translation
from adjudge.errors import AnswerError, UsageError
from adjudge.metrics.answers import Answered, read_answers, read_refusal
from adjudge.metrics.command import Command, find_program, split_command

__all__ = ["CommandTranslator"]

_ROOM: Final = 4 * 2**20  # bytes that any number of answers may have
_ROOM_EACH: Final = 64 * 2**10
_KEYS: Final = {"id", "translation"}


@dataclass(frozen=True, kw_only=True)
class CommandTranslator:
    """Any command that translates JSON lines; `runs` drives it like a metric.

    Args:
        command: the program and its arguments, split as a shell would; no shell runs it.
        batch: sources that one start of the program gets.
        time_limit: seconds for one start.
        found: the translations so far.

    Raises:
        UsageError: no command, no such program, or a number that cannot be.
    """

    name: ClassVar[str] = "translate"
    protocol: ClassVar[str] = "curation"
    weights: ClassVar[None] = None
    low: ClassVar[None] = None
    high: ClassVar[None] = None
    with_reference: ClassVar[bool] = False

    command: str
    batch: int = 20_000
    time_limit: float = 3600.0
    found: dict[Key, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be before anything is started."""
        if self.batch < 1 or not 0 < self.time_limit < math.inf:
            raise UsageError("batch must be 1 or more, and time_limit a number of seconds above 0")
        if not self._arguments:
            raise UsageError('--command needs a program, such as --command "python translate.py"')
        find_program(self._arguments[0])

    @property
    def block(self) -> int:
        """Sources that it wants at a time."""
        return self.batch

    def settings(self, lp: str) -> Mapping[str, str]:  # noqa: ARG002 (the program knows what it can do)
        """The command."""
        return {"command": shlex.join(self._arguments)}

    def corpus_score(self, subjects: Sequence[Subject]) -> None:  # noqa: ARG002 (nothing is scored)
        """None."""
        return

    def stop(self) -> None:
        """Kill the program, if it is running."""
        self._program.stop()

    def annotate(self, subjects: Sequence[Subject]) -> list[Annotation | Failure]:
        """Translate; one start of the program. If it does not end well, nothing that it said is believed."""
        asked = {f"u{number}": subject for number, subject in enumerate(subjects, start=1)}
        answers: Mapping[str, Answered | AnswerError]
        try:
            lines = (_line(name, subject) for name, subject in asked.items())
            raw = self._program.run(lines, most=_ROOM + _ROOM_EACH * len(asked))
            answers = read_answers(raw, asked.keys())
        except AnswerError as error:
            answers = dict.fromkeys(asked, error)
        return [self._record(subject, answers[name]) for name, subject in asked.items()]

    def _record(self, subject: Subject, answer: Answered | AnswerError) -> Annotation | Failure:
        try:
            text = _read(answer, subject)
        except AnswerError as error:
            return failure_of(self, subject, error.reason, error.detail)
        self.found[Key(subject.lp, subject.segment.segment, subject.system)] = text
        return annotation_of(self, subject, rationale=text)

    @cached_property
    def _arguments(self) -> tuple[str, ...]:
        return split_command(self.command)

    @cached_property
    def _program(self) -> Command:
        return Command(arguments=self._arguments, seconds=self.time_limit)


def _line(name: str, subject: Subject) -> str:
    unit = {
        "id": name,
        "lp": subject.lp,
        "document": subject.segment.document,
        "segment": subject.segment.segment,
        "system": subject.system,
        "source": subject.source,
    }
    return json.dumps(unit, ensure_ascii=False)


def _read(answer: Answered | AnswerError, subject: Subject) -> str:
    """The translation of an answer.

    Raises:
        AnswerError: there is none.
    """
    if isinstance(answer, AnswerError):
        raise answer
    if (refusal := read_refusal(answer)) is not None:
        raise refusal
    if unknown := sorted(answer.keys() - _KEYS):
        raise AnswerError("schema", f"an answer has id and translation; got {unknown[0]!r}")
    return read_translation(answer.get("translation"), subject.source)
