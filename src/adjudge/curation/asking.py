"""Questions of curation to a model, put as a judge's are: stored, limited, paid and resumed alike.

A question is driven by `runs` like a judge of all translations of a source. What comes back is no
judgement, so that its records have protocol `curation`, which nothing scores; the values themselves are
gathered on the way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, NamedTuple, TypeVar, cast

from adjudge.core.annotation import Annotation, Failure
from adjudge.core.ask import Ask, Message, Quoted
from adjudge.core.judge import Calls, Judge, Profile, annotation_of
from adjudge.core.segment import Segment, Subject, TestSet
from adjudge.data.run_dir import read_run
from adjudge.errors import AnswerError
from adjudge.judges._prompts import Parts, Prompts, joined, load_prompts
from adjudge.judges._subject import language_names, render_terms
from adjudge.runs.job import Job
from adjudge.runs.local import execute
from adjudge.runs.session import Outcome

__all__ = ["Gathered", "Key", "Question", "SourceQuestion", "blank", "gather", "load_files"]

T = TypeVar("T")

_FILES: Final = ("system.md", "markers.md", "source.md", "before.md", "terms.md", "term.md")
"""Prompt files of a question about a source alone."""


class Key(NamedTuple):
    """What a value belongs to."""

    lp: str
    segment: str
    system: str


class Question(ABC, Generic[T]):
    """What a model is asked of each source. Subclasses are frozen dataclasses, their fields the settings."""

    name: ClassVar[str]
    protocol: ClassVar[str] = "curation"
    weights: ClassVar[None] = None
    profile: ClassVar[Profile] = "recommended"
    with_reference: ClassVar[bool] = False
    calls: ClassVar[Calls] = Calls(1, 1, 1)

    @abstractmethod
    async def obtain(self, subject: Subject, ask: Ask) -> Sequence[T | AnswerError]:
        """Ask.

        Returns:
            For each of the subject's systems, in their order, the value or why there is none.

        Raises:
            AnswerError: there is none at all.
        """
        ...

    @property
    @abstractmethod
    def prompts_digest(self) -> str:
        """Six hexadecimal digits over its prompts."""
        ...

    def calls_for(self, systems: int) -> Calls:
        """One for each system."""
        return Calls(systems, systems, systems)

    async def annotate_all(self, subject: Subject, ask: Ask) -> Sequence[Annotation | AnswerError]:
        """Ask, and say of each system what came."""
        return self.records(subject, await self.obtain(subject, ask))

    def records(
        self, subject: Subject, values: Sequence[T | AnswerError]
    ) -> Sequence[Annotation | AnswerError]:
        """The values as records, in words."""
        return [
            value
            if isinstance(value, AnswerError)
            else annotation_of(cast("Judge", self), subject.of(system), rationale=str(value))
            for system, value in zip(subject.systems, values, strict=True)
        ]


@dataclass(frozen=True, kw_only=True)
class SourceQuestion(Question[T]):
    """A question about a source alone: what is wanted, then the source.

    Args:
        prompts: folder with files that stand in for ours.
    """

    prompts: Path | None = None

    def messages(self, subject: Subject) -> list[Message]:
        """What is put to the model."""
        markers = self._files.piece("markers")
        system = self._files.message("system", "system", **language_names(subject.lp), markers=markers)
        return [system, Message("user", _render_source(self._files, subject))]

    @property
    def prompts_digest(self) -> str:
        """Six hexadecimal digits over its prompts."""
        return self._files.digest

    @cached_property
    def _files(self) -> Prompts:
        return load_files(self.name, _FILES, self.prompts)


@dataclass(frozen=True)
class _Gathering(Generic[T]):
    """A question that is put as it is, and whose values are kept."""

    question: Question[T]
    found: dict[Key, T] = field(default_factory=dict)

    async def annotate_all(self, subject: Subject, ask: Ask) -> Sequence[Annotation | AnswerError]:
        """Ask, and keep the values."""
        values = await self.question.obtain(subject, ask)
        for system, value in zip(subject.systems, values, strict=True):
            if not isinstance(value, AnswerError):
                self.found[Key(subject.lp, subject.segment.segment, system)] = value
        return self.question.records(subject, values)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (whatever the question has)
        """Everything else is the question's own."""
        return getattr(self.question, name)


@dataclass(frozen=True, kw_only=True)
class Gathered(Generic[T]):
    """What came of a question.

    Args:
        found: value of each place.
        failures: what was asked for and not obtained.
        outcome: how the session went.
    """

    found: dict[Key, T]
    failures: tuple[Failure, ...]
    outcome: Outcome


async def gather(job: Job, question: Question[T]) -> Gathered[T]:
    """Put a question to its end; it goes on where it was stopped.

    Args:
        job: ready to go, with the question for its judge.
        question: with its settings.

    Raises:
        AdjudgeError: something stopped it.
    """
    gathering = _Gathering(question)
    outcome = await execute(replace(job, annotator=cast("Judge", gathering)))
    failures = tuple(r for r in read_run(job.out).records if isinstance(r, Failure))
    return Gathered(found=gathering.found, failures=failures, outcome=outcome)


def blank(test_set: TestSet, names: Sequence[str]) -> TestSet:
    """The sources alone, with an empty text under each of these names: a place for what is asked for."""
    return TestSet(name=test_set.name, segments=tuple(_blank(s, names) for s in test_set))


def _blank(segment: Segment, names: Sequence[str]) -> Segment:
    return replace(segment, translations=dict.fromkeys(names, ""), references={}, meta={})


def load_files(question: str, names: Iterable[str], folder: Path | None) -> Prompts:
    """The prompt files of a question: the user's where there are any, else ours."""
    return load_prompts(question, names, folder, package=__package__)


def _render_source(prompts: Prompts, subject: Subject) -> Parts:
    """Sources before this one and the glossary, where there are any, then the source itself."""
    name = language_names(subject.lp)["source_language"]
    shown = prompts.piece("source", source_language=name, source=Quoted("source", subject.source))
    before: Parts = ()
    if subject.context:
        quoted = [part for s in subject.context for part in (Quoted("context-source", s.source), "\n\n")]
        before = (*prompts.piece("before", sources=tuple(quoted[:-1])), "\n\n")
    return joined((*before, *render_terms(prompts, subject), *shown))
