"""What kind of error people marked: ESA asks them for none, and a model says it afterwards.

Here are also the questions of curation in general (`Question`, `SourceQuestion`, `gather`). They are put as a
judge's are: stored, limited, paid and resumed alike.

Paper    ESA, Limitations (what is marked can be classified further where that is needed)
Code     none public
Prompt   curation/prompts/classify, in our own words
Differs  1. Place, severity and rating stay what the person gave; only marks without a category get one.
         2. All people's marks of one translation are asked about together, equal ones once, so that one
            mark has one category. An answer that leaves a mark out or names a category that is not offered
            is no answer: it is asked for once more, then all these marks stay without a category, and the
            failure is counted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, NamedTuple, TypeVar, cast

from adjudge.core.ask import About, Ask, Message, Quoted, Reply
from adjudge.core.judge import Calls, Judge, Profile, annotation_of
from adjudge.core.protocol import CATEGORIES, SUBTYPES, find_category
from adjudge.core.record import Annotation, ErrorSpan, Failure, Record
from adjudge.core.segment import Segment, Subject, TestSet
from adjudge.errors import AnswerError, DataError
from adjudge.judges._prompts import (
    Part,
    Parts,
    Prompts,
    joined,
    judged_texts,
    language_names,
    load_prompts,
    render_terms,
    render_texts,
)
from adjudge.judges._reading import Reading, object_schema, shown
from adjudge.runs.job import Job
from adjudge.runs.run import execute
from adjudge.runs.session import Outcome
from adjudge.store.json_lines import span_from_json, span_to_json
from adjudge.store.run_directory import read_run

__all__ = [
    "AskCategories",
    "Gathered",
    "Key",
    "Question",
    "SourceQuestion",
    "blank",
    "gather",
    "marked_set",
    "with_categories",
]


T = TypeVar("T")


class Key(NamedTuple):
    """What a value belongs to."""

    lp: str
    segment: str
    system: str


@dataclass(frozen=True, kw_only=True)
class Question(ABC, Generic[T]):
    """What a model is asked of each source. Subclasses are frozen dataclasses, their fields the settings.

    Args:
        prompts: folder with files that stand in for ours.
    """

    name: ClassVar[str]
    files: ClassVar[tuple[str, ...]]
    protocol: ClassVar[str] = "curation"
    weights: ClassVar[None] = None
    profile: ClassVar[Profile] = "recommended"
    with_reference: ClassVar[bool] = False
    calls: ClassVar[Calls] = Calls(1, 1, 1)

    prompts: Path | None = None

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
    def prompts_digest(self) -> str:
        """Six hexadecimal digits over its prompts."""
        return self._loaded.digest

    @cached_property
    def _loaded(self) -> Prompts:
        return load_prompts(self.name, self.files, self.prompts, package=__package__)

    def calls_for(self, subject: Subject) -> Calls:
        """One for each system."""
        systems = len(subject.systems)
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
    """A question about a source alone: what is wanted, then the source."""

    files: ClassVar[tuple[str, ...]] = (
        *("system.md", "markers.md", "source.md"),
        *("before.md", "terms.md", "term.md"),
    )

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


@dataclass(frozen=True)
class _Gathering(Generic[T]):
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
    texts = dict.fromkeys(names, "")
    blanks = (replace(segment, translations=dict(texts), references={}, meta={}) for segment in test_set)
    return TestSet(name=test_set.name, segments=tuple(blanks))


CLASSIFIED: Final = "category_by_model"
"""Flag of an annotation with marks whose category a model gave afterwards."""
UNCLASSIFIED: Final = "category_missing"
"""Flag of an annotation with marks for which it was asked and not obtained."""

OFFERED: Final = (*SUBTYPES, "source error", "non-translation", "other")
"""Categories that a mark may get."""

_PLACE: Final = "marked"
_MARKS: Final = "marks"
_AROUND: Final = 40  # code points before and after a mark
_SCHEMA: Final = object_schema(
    categories={
        "type": "array",
        "items": object_schema(
            number={"type": "integer"}, category={"type": "string", "enum": list(OFFERED)}
        ),
    }
)

Categories = tuple[str, ...]
"""One for each mark, in the order of the marks."""


@dataclass(frozen=True, kw_only=True)
class AskCategories(Question[Categories]):
    """One question about all marks of a translation."""

    name: ClassVar[str] = "classify"
    files: ClassVar[tuple[str, ...]] = ("system.md", "marked.md", "mark.md", "markers.md", "texts.md")

    async def obtain(self, subject: Subject, ask: Ask) -> Sequence[Categories | AnswerError]:
        """Put the one question."""
        marks = _marks_of(subject.segment)
        facts = {"marks": marks, "categories": OFFERED}
        answer = await ask(
            self.messages(subject),
            about=About(
                judge=self.name, stage="categories", subject=subject, wants="categories", facts=facts
            ),
            read=partial(read_categories, count=len(marks), subject=subject),
            schema=_SCHEMA,
        )
        return [answer.value]

    def messages(self, subject: Subject) -> list[Message]:
        """The categories, then the texts and the marks."""
        files = self._loaded
        listed = "\n".join(f"- {name}: {CATEGORIES[name]}" for name in OFFERED)
        names = language_names(subject.lp)
        system = files.message("system", "system", **names, markers=files.piece("markers"), categories=listed)
        marks: list[Part] = []
        for number, mark in enumerate(_marks_of(subject.segment), start=1):
            text = subject.source if mark.side == "source" else subject.translation
            marks += [*_render_mark(files, number, mark, text), "\n\n"]
        texts = render_texts(files, subject)
        return [system, Message("user", files.piece("marked", texts=texts, marks=tuple(marks[:-1])))]


def _render_mark(files: Prompts, number: int, mark: ErrorSpan, text: str) -> Sequence[Part]:
    around: Part = "(no place)"
    if mark.start is not None and mark.end is not None:
        around = Quoted("around", text[max(0, mark.start - _AROUND) : mark.end + _AROUND])
    return files.piece(
        "mark",
        number=str(number),
        severity=mark.severity,
        side=mark.side,
        marked=Quoted("mark", mark.text),
        around=around,
    )


def read_categories(reply: Reply, count: int, subject: Subject) -> Categories:
    """Read the answer: exactly one category for each number.

    Raises:
        AnswerError: anything else.
    """
    reading = Reading(reply, judged_texts(subject))
    found: dict[int, str] = {}
    for entry in reading.items(reading.answer("categories")["categories"], "categories"):
        answer = reading.fields(entry, ("number", "category"), "a category")
        number = reading.integer(answer["number"], 1, count, "the number of a mark")
        if number in found:
            raise AnswerError("ambiguous", f"mark {number} has two categories")
        named = answer["category"]
        category = find_category(named) if isinstance(named, str) else None
        if category not in OFFERED:
            raise AnswerError("label", f"a category must be one of those offered, got {shown(named)}")
        found[number] = reading.leaf(category)
    reading.settle()
    if len(found) != count:
        raise AnswerError("count", f"{count} marks, and categories for {len(found)} of them")
    return tuple(found[number] for number in range(1, count + 1))


def marked_set(records: Sequence[Record], test_set: TestSet) -> TestSet:
    """One segment for each translation with marks that lack a category: its texts, and these marks in `meta`.

    Raises:
        DataError: a marked translation that the test set has not, or a mark that is not in its text.
    """
    segments = {(s.lp, s.segment): s for s in test_set}
    marks: dict[Key, dict[ErrorSpan, None]] = {}
    for record in records:
        if isinstance(record, Annotation):
            for span in filter(_lacks, record.spans):
                marks.setdefault(_key(record), {})[_bare(span)] = None
    return TestSet(
        name=test_set.name,
        segments=tuple(_marked(key, segments.get(key[:2]), tuple(spans)) for key, spans in marks.items()),
    )


def with_categories(
    records: Sequence[Record], asked: TestSet, found: Mapping[Key, Categories]
) -> list[Record]:
    """The records with the categories that were found; nothing else of them changes but their flags.

    Args:
        records: as they were.
        asked: what `marked_set` made of them.
        found: answers by the keys of `asked`.
    """
    known: dict[tuple[Key, ErrorSpan], str] = {}
    for segment in asked:
        categories = found.get(Key(segment.lp, segment.segment, _PLACE), ())
        of = Key(segment.lp, str(segment.meta["segment"]), str(segment.meta["system"]))
        known |= {(of, mark): name for mark, name in zip(_marks_of(segment), categories, strict=False)}
    return [_with(record, known) if isinstance(record, Annotation) else record for record in records]


def _with(record: Annotation, known: Mapping[tuple[Key, ErrorSpan], str]) -> Annotation:
    lacking = [span for span in record.spans if _lacks(span)]
    if not lacking:
        return record
    key = _key(record)
    spans = tuple(
        replace(span, category=known.get((key, _bare(span)))) if span in lacking else span
        for span in record.spans
    )
    flags = [CLASSIFIED] if any((key, _bare(span)) in known for span in lacking) else []
    flags += [UNCLASSIFIED] if any(_lacks(span) for span in spans) else []
    return replace(record, spans=spans, flags=tuple(dict.fromkeys((*record.flags, *flags))))


def _lacks(span: ErrorSpan) -> bool:
    return span.category is None


def _bare(span: ErrorSpan) -> ErrorSpan:
    """A mark without what only its annotator said of it, so that equal ones are equal."""
    return replace(span, note="", label=None)


def _key(record: Annotation) -> Key:
    return Key(record.lp, record.segment, record.system)


def _marked(key: Key, segment: Segment | None, spans: Sequence[ErrorSpan]) -> Segment:
    where = f"{key.system} segment {key.segment} of {key.lp}"
    if segment is None or key.system not in segment.translations:
        raise DataError(f"{where} is marked, and the test set lacks it")
    translation = segment.translations[key.system]
    for span in spans:
        text = segment.source if span.side == "source" else translation
        if span.start is not None and (there := text[span.start : span.end]) != span.text:
            raise DataError(
                f"{where}: {span.text!r} is marked at {span.start}, and {there!r} stands there; "
                "is this the test set that was annotated?"
            )
    return Segment(
        segment=f"{key.segment}/{key.system}",
        lp=key.lp,
        source=segment.source,
        document=segment.document,
        translations={_PLACE: translation},
        meta={"segment": key.segment, "system": key.system, _MARKS: [span_to_json(span) for span in spans]},
    )


def _marks_of(segment: Segment) -> tuple[ErrorSpan, ...]:
    listed: Any = segment.meta[_MARKS]
    return tuple(span_from_json(value) for value in listed)
