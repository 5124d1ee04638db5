"""Translations of a test set's sources: systems to be judged, or drafts to be edited.

A language model makes them (`AskTranslation`), or any program (`CommandTranslator`), which reads JSON lines
and writes JSON lines, as the bridge of metrics has it. Each line that it reads has `id`, `lp`, `document`,
`segment`, `system` and `source`; each that it writes `id` and `translation`, or `id` and `error`, with
`detail` if it likes.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Annotated, ClassVar, Final

from annotated_types import Ge

from adjudge.core.ask import About, Ask, Reply, Sampling
from adjudge.core.frozen import frozen
from adjudge.core.judge import annotation_of, failure_of
from adjudge.core.language import target_language
from adjudge.core.record import Annotation, Failure
from adjudge.core.segment import Subject, TestSet
from adjudge.core.verb import Option, settings
from adjudge.curation.questions import Key, Question
from adjudge.errors import AnswerError, UsageError
from adjudge.judges._prompts import judged_texts
from adjudge.judges._reading import Reading, object_schema, or_error, shown
from adjudge.metrics.bridge import Answered, Program, accepted, find_program

_SCHEMA: Final = object_schema(translation={"type": "string"})
_ROOM: Final = 2048  # tokens of a reply at least
_ROOM_EACH: Final = 4  # tokens a code point of the source: scripts differ, and JSON escapes


@frozen
class AskTranslation(Question[str]):
    """One translation, or several, of each source."""

    name: ClassVar[str] = "translate"
    by_rules: ClassVar[str] = "builtin/rules translate nothing: they copy the source behind a mark"

    temperature: float = 0.0  # at which they are drawn; above 0 where several are wanted

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < math.inf:
            raise UsageError(f"--temperature must be 0 or more, got {self.temperature!r}")

    async def obtain(self, subject: Subject, ask: Ask) -> Sequence[str | AnswerError]:
        """Ask for one after the other: which is which does not depend on who answers first."""
        facts = {"language": target_language(subject.lp)}
        about = About(judge=self.name, stage="translation", subject=subject, wants="translation", facts=facts)
        room = max(_ROOM, _ROOM_EACH * len(subject.source))
        put = partial(
            ask,
            self.messages(subject),
            about=about,
            read=partial(read_reply, subject=subject),
            schema=_SCHEMA,
            sampling=Sampling(temperature=self.temperature, max_tokens=room),
        )
        answers = [await or_error(put()) for _ in subject.systems]
        return [answer if isinstance(answer, AnswerError) else answer.value for answer in answers]


def read_reply(reply: Reply, subject: Subject) -> str:
    """Read the answer of a model."""
    reading = Reading(reply, judged_texts(subject))
    translation = read_translation(reading.answer("translation")["translation"], subject.source)
    reading.leaf(translation)
    reading.settle()
    return translation


def read_translation(value: object, source: str) -> str:
    """A translation that has words in it; white space around it is dropped unless the source has some."""
    if not isinstance(value, str):
        raise AnswerError("schema", f"a translation must be a text, got {shown(value)}")
    if not value.strip() and source.strip():
        raise AnswerError("empty", "wanted a translation, got no words")
    return value if source != source.strip() else value.strip()


@settings
class DraftSettings:
    """What translates, and how often."""

    name: Annotated[
        str | None, Option(help="Name of the new system; default: the model's, without provider.")
    ] = None
    candidates: Annotated[
        int, Ge(1), Option(help="Translations of each source, as systems NAME-1, NAME-2, ...")
    ] = 1
    temperature: Annotated[
        float | None, Ge(0), Option(help="Sampling temperature; default: 0 for one candidate, else 0.7.")
    ] = None
    command: Annotated[
        str | None, Option(help="Program that translates JSON lines, in place of a model.", metavar="COMMAND")
    ] = None


def candidate_names(name: str, candidates: int) -> tuple[str, ...]:
    """What the candidates of one system are called: its name, or NAME-1, NAME-2 and so on."""
    if candidates < 1:
        raise UsageError(f"--candidates must be 1 or more, got {candidates}")
    if not name.strip() or re.search(r"[/\\\t,:\x00-\x1f]", name):
        raise UsageError(f"--name must be a word without / \\ : , or tab, got {name!r}")
    return (name,) if candidates == 1 else tuple(f"{name}-{number}" for number in range(1, candidates + 1))


def with_translations(test_set: TestSet, found: Mapping[Key, str], names: Sequence[str]) -> TestSet:
    """The test set with these systems besides its own; what failed is absent, never an empty text."""
    check_names(test_set, names)
    segments = []
    for segment in test_set:
        keys = {name: Key(segment.lp, segment.segment, name) for name in names}
        new = {name: found[key] for name, key in keys.items() if key in found}
        segments.append(replace(segment, translations={**segment.translations, **new}))
    return TestSet(name=test_set.name, segments=tuple(segments))


def check_names(test_set: TestSet, names: Sequence[str]) -> None:
    """Refuse names that are taken, before anything is paid."""
    if taken := [name for name in names if name in {*test_set.systems, *test_set.references}]:
        raise UsageError(f"{test_set.name!r} has {taken[0]!r} already; give another --name")


_ROOM_OF_ANSWER: Final = 64 * 2**10  # bytes
_KEYS: Final = {"id", "translation"}


@frozen
class CommandTranslator(Program):
    """Any command that translates JSON lines; `runs` drives it like a metric."""

    name: ClassVar[str] = "translate"
    protocol: ClassVar[str] = "curation"
    weights: ClassVar[None] = None
    low: ClassVar[None] = None
    high: ClassVar[None] = None
    with_reference: ClassVar[bool] = False

    command: str  # the program and its arguments, split as a shell would; no shell runs it
    batch: int = 20_000  # sources that one start of the program gets
    time_limit: float = 3600.0  # seconds for one start
    found: dict[Key, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._check_limits()
        if not self._arguments:
            raise UsageError('--command needs a program, such as --command "python translate.py"')
        find_program(self._arguments[0])

    def settings(self, lp: str) -> Mapping[str, str]:  # noqa: ARG002 (the program knows what it can do)
        return {"command": shlex.join(self._arguments)}

    def annotate(self, subjects: Sequence[Subject]) -> list[Annotation | Failure]:
        """Translate; one start of the program. If it does not end well, nothing that it said is believed."""
        asked = self._ask(subjects, _line, _ROOM_OF_ANSWER)
        return [self._record(subject, answer) for subject, answer in asked]

    def _record(self, subject: Subject, answer: Answered | AnswerError) -> Annotation | Failure:
        try:
            text = _read(answer, subject)
        except AnswerError as error:
            return failure_of(self, subject, error.reason, error.detail)
        self.found[Key(subject.lp, subject.segment.segment, subject.system)] = text
        return annotation_of(self, subject, rationale=text)


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
    value = accepted(answer)
    if unknown := sorted(value.keys() - _KEYS):
        raise AnswerError("schema", f"an answer has id and translation; got {unknown[0]!r}")
    return read_translation(value.get("translation"), subject.source)
