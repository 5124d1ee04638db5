"""Questions of curation: what a model is asked of each source.

They are put as a judge's questions are: stored, limited, paid and resumed alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, cast

from adjudge.core.ask import Ask, Message, Quoted
from adjudge.core.frozen import frozen
from adjudge.core.judge import Calls, Judge, Profile, annotation_of
from adjudge.core.record import Annotation, Failure
from adjudge.core.segment import Subject, TestSet
from adjudge.errors import AnswerError
from adjudge.judges._prompts import (
    Parts,
    Prompts,
    joined,
    language_names,
    load_prompts,
    render_terms,
)
from adjudge.runs.job import Job
from adjudge.runs.run import execute
from adjudge.runs.session import Outcome
from adjudge.store.run_directory import read_run

T = TypeVar("T")


class Key(NamedTuple):
    """What a value belongs to."""

    lp: str
    segment: str
    system: str


@frozen
class Question(ABC, Generic[T]):
    """What a model is asked of each source. Subclasses are frozen dataclasses, their fields the settings."""

    name: ClassVar[str]
    files: ClassVar[tuple[str, ...]] = (
        *("system.md", "markers.md", "source.md"),
        *("before.md", "terms.md", "term.md"),
    )
    protocol: ClassVar[str] = "curation"
    weights: ClassVar[None] = None
    profile: ClassVar[Profile] = "recommended"
    with_reference: ClassVar[bool] = False
    calls: ClassVar[Calls] = Calls(1, 1, 1)

    prompts: Path | None = None  # folder with files that stand in for ours

    @abstractmethod
    async def obtain(self, subject: Subject, ask: Ask) -> Sequence[T | AnswerError]:
        """Ask. For each of the subject's systems, in their order, the value or why there is none."""
        ...

    @property
    def prompts_digest(self) -> str:
        """Six hexadecimal digits over its prompts."""
        return self._loaded.digest

    @cached_property
    def _loaded(self) -> Prompts:
        return load_prompts(self.name, self.files, self.prompts, package=__package__)

    def messages(self, subject: Subject) -> list[Message]:
        """Sources before this one and the glossary, where there are any, then the source itself."""
        markers = self._loaded.piece("markers")
        system = self._loaded.message("system", "system", **language_names(subject.lp), markers=markers)
        name = language_names(subject.lp)["source_language"]
        shown = self._loaded.piece("source", source_language=name, source=Quoted("source", subject.source))
        before: Parts = ()
        if subject.context:
            quoted = [part for s in subject.context for part in (Quoted("context-source", s.source), "\n\n")]
            before = (*self._loaded.piece("before", sources=tuple(quoted[:-1])), "\n\n")
        parts = joined((*before, *render_terms(self._loaded, subject), *shown))
        return [system, Message("user", parts)]

    def calls_for(self, subject: Subject) -> Calls:
        systems = len(subject.systems)
        return Calls(systems, systems, systems)

    async def annotate_all(self, subject: Subject, ask: Ask) -> Sequence[Annotation | AnswerError]:
        """Ask, and say of each system what came."""
        return self.records(subject, await self.obtain(subject, ask))

    def records(
        self, subject: Subject, values: Sequence[T | AnswerError]
    ) -> Sequence[Annotation | AnswerError]:
        return [
            value
            if isinstance(value, AnswerError)
            else annotation_of(cast("Judge", self), subject.of(system), rationale=str(value))
            for system, value in zip(subject.systems, values, strict=True)
        ]


@dataclass(frozen=True)
class _Gathering(Generic[T]):
    question: Question[T]
    found: dict[Key, T] = field(default_factory=dict)

    async def annotate_all(self, subject: Subject, ask: Ask) -> Sequence[Annotation | AnswerError]:
        values = await self.question.obtain(subject, ask)
        for system, value in zip(subject.systems, values, strict=True):
            if not isinstance(value, AnswerError):
                self.found[Key(subject.lp, subject.segment.segment, system)] = value
        return self.question.records(subject, values)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (whatever the question has)
        return getattr(self.question, name)


@frozen
class Gathered(Generic[T]):
    """What came of a question."""

    found: dict[Key, T]  # value of each place
    failures: tuple[Failure, ...]  # what was asked for and not obtained
    outcome: Outcome  # how the session went


async def gather(job: Job, question: Question[T]) -> Gathered[T]:
    """Put a question to its end; it goes on where it was stopped."""
    gathering = _Gathering(question)
    outcome = await execute(replace(job, annotator=cast("Judge", gathering)))
    failures = tuple(r for r in read_run(job.out).records if isinstance(r, Failure))
    return Gathered(found=gathering.found, failures=failures, outcome=outcome)


def blank(test_set: TestSet, names: Sequence[str]) -> TestSet:
    """The sources alone, with an empty text under each of these names: a place for what is asked for."""
    texts = dict.fromkeys(names, "")
    blanks = (replace(segment, translations=dict(texts), references={}, meta={}) for segment in test_set)
    return TestSet(name=test_set.name, segments=tuple(blanks))
