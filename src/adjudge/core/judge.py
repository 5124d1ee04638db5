"""What a judge and a metric are, so that `runs/` can drive any of them, and the records they give.

There is one protocol for each kind of judge. `find_class` and `read_settings` make a judge or a metric by its
name, with settings that came as text.
"""

from __future__ import annotations

import importlib
import math
import types
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib.metadata import entry_points
from typing import (
    Any,
    Final,
    Literal,
    NamedTuple,
    Protocol,
    TypeGuard,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    runtime_checkable,
)

from adjudge.core.ask import Ask, SearchEngine
from adjudge.core.protocol import Severity
from adjudge.core.record import Annotation, ErrorSpan, Failure, Preference, Record, Verdict
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError, FailureReason, SettingError, UsageError, blamed

Profile = Literal["recommended", "paper", "code"]
PROFILES: tuple[Profile, ...] = ("recommended", "paper", "code")

_DETAIL: Final = 500  # characters


class Calls(NamedTuple):
    """Model calls for one unit of work, re-asked answers excluded."""

    min: int
    typical: int
    max: int


class Judge(Protocol):
    """Asks a language model. A frozen dataclass; its fields are its settings.

    What it is asked about at once, its unit of work, is one translation, a pair of them, or all translations
    of a source: the three kinds below.
    """

    @property
    def name(self) -> str:
        """Word on the command line, and the annotator in records."""

    @property
    def protocol(self) -> str:
        """Protocol of its annotations."""

    @property
    def weights(self) -> str | None:
        """Weights that its paper scores with; None where it rates."""

    @property
    def profile(self) -> Profile:
        """Recommended, paper or code."""

    @property
    def with_reference(self) -> bool:
        """Whether it is shown a reference."""

    @property
    def prompts_digest(self) -> str:
        """Six hexadecimal digits over the prompt files it uses, for the signature."""

    @property
    def calls(self) -> Calls:
        """Calls per unit of work under its settings."""


class TranslationJudge(Judge, Protocol):
    """Judges one translation at a time."""

    async def annotate(self, subject: Subject, ask: Ask) -> Annotation:
        """Judge one translation.

        Raises:
            AnswerError: an answer could not be had; the engine records a `Failure`.
        """


class CriteriaJudge(Judge, Protocol):
    """Says of one translation whether it passes each criterion of its segment. `calls` are those for one."""

    def calls_for(self, subject: Subject) -> Calls:
        """Calls for all criteria of the segment."""

    async def check(self, subject: Subject, ask: Ask) -> Sequence[Annotation | AnswerError]:
        """Check one translation.

        Returns:
            For each criterion (`core.segment.read_criteria`), in order, the verdict or why there is none.

        Raises:
            AnswerError: there is none on any criterion.
        """


class PairJudge(Judge, Protocol):
    """Compares two translations of a source."""

    @property
    def criteria(self) -> tuple[str, ...]:
        """What it gives a verdict on, such as fluency or overall."""

    async def compare(self, subject: Subject, ask: Ask) -> Sequence[Preference | AnswerError]:
        """Compare the two translations of `subject.systems`, which are A and B.

        Returns:
            For each of `criteria`, in their order, the verdict or why there is none.

        Raises:
            AnswerError: there is none on any criterion.
        """


class SourceJudge(Judge, Protocol):
    """Judges all translations of a source together. `calls` are those for a single system."""

    def calls_for(self, subject: Subject) -> Calls:
        """Calls for a source with its translations."""

    async def annotate_all(self, subject: Subject, ask: Ask) -> Sequence[Annotation | AnswerError]:
        """Judge the translations of `subject.systems`.

        Returns:
            For each system, in their order, its annotation or why there is none.

        Raises:
            AnswerError: there is none for any system.
        """


class SearchingJudge(Judge, Protocol):
    """Judges all translations of a source, and may look things up on the way."""

    @property
    def search(self) -> str:
        """Its search engine; `none` where it has none."""

    def calls_for(self, subject: Subject) -> Calls:
        """As `SourceJudge`."""

    def fitted(self, *, search: str, takes_tools: bool) -> SearchingJudge:
        """The same judge with what it is given to work with.

        Args:
            search: name of the engine as it was opened, which is what its signature says; or `none`.
            takes_tools: whether the model of its role `core` can be offered tools.

        Raises:
            UsageError: it was told to work in another way.
        """

    async def annotate_all(
        self, subject: Subject, ask: Ask, engine: SearchEngine | None = None
    ) -> Sequence[Annotation | AnswerError]:
        """As `SourceJudge`; the engine is there where `search` names one."""


def is_criteria_judge(judge: Judge) -> TypeGuard[CriteriaJudge]:
    """Whether it checks the criteria of a segment."""
    return hasattr(judge, "check")


def is_pair_judge(judge: Judge) -> TypeGuard[PairJudge]:
    return hasattr(judge, "compare")


def is_source_judge(judge: Judge) -> TypeGuard[SourceJudge]:
    """Whether it judges all translations of a source together."""
    return hasattr(judge, "annotate_all")


def is_searching_judge(judge: object) -> TypeGuard[SearchingJudge]:
    """Whether it looks things up on the way."""
    return hasattr(judge, "fitted")


class Metric(Protocol):
    """Scores translations without a language model."""

    @property
    def name(self) -> str:
        """Word on the command line, and the annotator in records."""

    @property
    def with_reference(self) -> bool:
        """Whether it needs a reference."""

    @property
    def protocol(self) -> str:
        """`metric` for one that only rates, `mqm` for one that marks errors, `pairwise` for one of pairs."""

    @property
    def weights(self) -> str | None:
        """Weights of its spans; None where it rates."""

    @property
    def low(self) -> float | None:
        """Lowest score it can give; None without a bound, or where it marks errors."""

    @property
    def high(self) -> float | None:
        """Highest score it can give; None without a bound, or where it marks errors."""

    def settings(self, lp: str) -> Mapping[str, str]:
        """What its signature says for this language pair, such as the tokenizer."""

    def annotate(self, subjects: Sequence[Subject]) -> Sequence[Record]:
        """Judge each translation on its own, in order. Higher is better; what was not to be had fails.

        Under protocol `pairwise` a subject is a pair, and what it comes to a preference on `criterion`.
        """

    def corpus_score(self, subjects: Sequence[Subject]) -> float | None:
        """Score of one system over a whole lp where that is not the mean of its segments, else None."""


@runtime_checkable
class Stoppable(Protocol):
    """A metric that waits for something outside; it runs beside the event loop and can be stopped."""

    @property
    def block(self) -> int:
        """Translations that it wants at a time."""

    def stop(self) -> None:
        """End what it waits for."""


def annotation_of(  # noqa: PLR0913 (what an annotation has)
    annotator: Judge | Metric,
    subject: Subject,
    *,
    rating: float | None = None,
    spans: tuple[ErrorSpan, ...] = (),
    counts: Mapping[Severity, int] | None = None,
    flags: tuple[str, ...] = (),
    rationale: str | None = None,
    samples: tuple[float, ...] = (),
    steps: tuple[str, ...] = (),
    criterion: str | None = None,
) -> Annotation:
    """What was found, with the names of what was judged and by whom; each flag once.

    Raises:
        DataError: as `Annotation`.
        UsageError: flags that are one text.
    """
    return Annotation(
        lp=subject.lp,
        segment=subject.segment.segment,
        document=subject.segment.document,
        system=subject.system,
        annotator=annotator.name,
        protocol=annotator.protocol,
        rating=rating,
        spans=spans,
        counts=counts or {},
        flags=_each_once(flags),
        rationale=rationale,
        samples=samples,
        steps=steps,
        criterion=criterion,
        digests=subject.digests,
    )


def preference_of(
    annotator: Judge | Metric,
    subject: Subject,
    *,
    criterion: str,
    verdict: Verdict,
    orders: tuple[Verdict, ...] = (),
    flags: tuple[str, ...] = (),
    rationale: str | None = None,
    strength: float | None = None,
) -> Preference:
    """Which of a pair is better, with the names of what was compared and by whom; each flag once.

    Raises:
        DataError: as `Preference`.
        UsageError: flags that are one text.
    """
    first, second = subject.systems
    return Preference(
        lp=subject.lp,
        segment=subject.segment.segment,
        document=subject.segment.document,
        systems=(first, second),
        annotator=annotator.name,
        criterion=criterion,
        verdict=verdict,
        orders=orders,
        flags=_each_once(flags),
        rationale=rationale,
        strength=strength,
        digests=subject.digests,
    )


def _each_once(flags: Iterable[str]) -> tuple[str, ...]:
    if isinstance(flags, str):
        raise UsageError(f"flags are several words, such as ({flags!r},); got {flags!r}")
    return tuple(dict.fromkeys(flags))


def failure_of(
    annotator: Judge | Metric,
    subject: Subject,
    reason: FailureReason,
    detail: str,
    criterion: str | None = None,
) -> Failure:
    """What was asked for and not obtained; of the detail, its beginning."""
    return Failure(
        lp=subject.lp,
        segment=subject.segment.segment,
        document=subject.segment.document,
        systems=subject.systems,
        annotator=annotator.name,
        protocol=annotator.protocol,
        reason=reason,
        detail=detail[:_DETAIL],
        criterion=criterion,
        digests=subject.digests,
    )


_NUMBERS: Final[Mapping[type, str]] = {int: "a whole number", float: "a number"}
_TRUTH: Final = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False}


def find_class(kind: str, name: str, ours: Mapping[str, str]) -> type[Any]:
    """Import the class that stands behind a name."""
    places = ours
    if name not in ours:  # to look for those of other packages takes time
        places = {entry.name: entry.value for entry in entry_points(group=f"adjudge.{kind}s")} | dict(ours)
    if name not in places:
        raise UsageError(f"no {kind} {name!r}; there are {', '.join(places)}")
    module, _, attribute = places[name].partition(":")
    try:
        found: object = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # whatever the module of another package does
        why = str(error) if isinstance(error, ImportError | AttributeError) else blamed(error)
        raise UsageError(f"{kind} {name!r} cannot be loaded from {places[name]!r}: {why}") from error
    if not is_dataclass(found):
        raise UsageError(f"{kind} {name!r} must be a dataclass, whose fields are its settings; got {found!r}")
    return cast(type[Any], found)


def find_attribute(room: str, name: str, ours: Mapping[str, str]) -> object:
    """Import one of our classes by its own name, for a room's `__getattr__`."""
    for place in ours.values():
        module, _, attribute = place.partition(":")
        if attribute == name:
            return getattr(importlib.import_module(module), attribute)
    raise AttributeError(f"module {room!r} has no attribute {name!r}")


def read_settings(
    what: str, make: type[Any], settings: Mapping[str, str], *, reserved: Iterable[str] = ()
) -> dict[str, object]:
    """Turn texts into values of a dataclass's fields.

    `what`: kind and name, such as `judge 'ea-prompt'`, for messages.
    """
    known = [field.name for field in fields(make) if field.init and field.name not in set(reserved)]
    types_of = get_type_hints(make)
    values: dict[str, object] = {}
    for key, text in settings.items():
        field = key.replace("-", "_")
        if field not in known:
            raise SettingError(what, key, known)
        values[field] = _convert(text, types_of[field], f"setting {key!r} of {what}")
    return values


def choices_of(make: type[Any]) -> dict[str, tuple[str, ...]]:
    """What may be given for each field of a dataclass that has a choice, as a command line spells it."""
    found = {field: _choices(wanted) for field, wanted in get_type_hints(make).items()}
    return {field: choices for field, choices in found.items() if choices}


def _choices(wanted: Any) -> tuple[str, ...]:  # noqa: ANN401 (any type of a field)
    if get_origin(wanted) is Literal:
        return tuple(map(str, get_args(wanted)))
    if wanted is bool:
        return "yes", "no"
    kinds = get_args(wanted) if get_origin(wanted) in {Union, types.UnionType} else ()
    return tuple(choice for kind in kinds for choice in _choices(kind))


def fits(value: object, wanted: Any) -> bool:  # noqa: ANN401 (any type of a field)
    """Whether a value is of the type of a field; of a type with parameters, only whether the rest is."""
    origin = get_origin(wanted)
    if origin is Literal:
        return value in get_args(wanted)
    if origin in {Union, types.UnionType}:
        return any(fits(value, kind) for kind in get_args(wanted))
    kind = origin or wanted
    if kind in _NUMBERS and isinstance(value, bool):
        return False
    return not isinstance(kind, type) or isinstance(value, (int, float) if kind is float else kind)


def _convert(text: str, wanted: Any, what: str) -> object:  # noqa: ANN401 (any type of a field)
    if get_origin(wanted) is Literal:
        choices = {str(choice): choice for choice in get_args(wanted)}
    elif wanted is bool:
        choices = _TRUTH
        text = text.lower()
    else:
        return _construct(text, wanted, what)
    if text not in choices:
        raise UsageError(f"{what} must be one of {', '.join(choices)}; got {text!r}")
    return choices[text]


def _construct(text: str, wanted: Any, what: str) -> object:  # noqa: ANN401 (any type of a field)
    if get_origin(wanted) in {Union, types.UnionType}:
        if str in get_args(wanted):
            return text
        (inner,) = (one for one in get_args(wanted) if one is not types.NoneType)
        return _convert(text, inner, what)
    kind = get_origin(wanted) or wanted
    if isinstance(kind, type) and issubclass(kind, Collection) and kind is not str:
        raise UsageError(f"{what} is a {kind.__name__}, which a text cannot give; it must be a single value")
    try:
        value = wanted(text)
    except (TypeError, ValueError) as error:
        if wanted in _NUMBERS:
            raise UsageError(f"{what} must be {_NUMBERS[wanted]}, got {text!r}") from None
        raise UsageError(f"{what} must be of type {wanted.__name__}: {error}") from None
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{what} must be a number, got {text!r}")
    return cast(object, value)
