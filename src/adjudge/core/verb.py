"""The settings of a verb: one frozen dataclass gives Python's keywords, the command line's options.

A verb is a function whose last parameter is its settings. `takes` makes their fields its keywords, and
`cli.options` makes them options, so that a default, a bound and a line of help stand once.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import MISSING, fields
from pathlib import Path
from types import NoneType
from typing import (
    Annotated,
    Any,
    Final,
    Generic,
    Literal,
    ParamSpec,
    Protocol,
    Self,
    TypeVar,
    cast,
    dataclass_transform,
    get_args,
    get_type_hints,
    overload,
)

from annotated_types import Ge, Gt, Lt
from pydantic import AfterValidator, BeforeValidator, ConfigDict, SkipValidation, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass

from adjudge.core.frozen import frozen
from adjudge.core.language import coded_lp
from adjudge.core.mqm import Weights, find_weights
from adjudge.core.names import as_name
from adjudge.core.segment import TestSet
from adjudge.core.wording import nearest, read_share
from adjudge.errors import UsageError


@frozen
class Option:
    """How the command line and the documentation present a field of settings."""

    help: str  # what it does, in one line
    name: str = ""  # spelling on the command line, if not the field's name
    alias: str = ""  # another spelling
    off: str = ""  # spelling of its opposite, for a switch that can also be left open
    short: str = ""
    metavar: str = ""  # what stands for the value in the help
    # type of the value on the command line, else the field's; None where only Python has the field
    kind: Any = ...
    repeats: bool = False  # whether the option is given once for each value, in place of commas
    exists: bool = False  # whether the value is a path that must exist


def option_of(kind: Any) -> Option | None:  # noqa: ANN401 (an annotation)
    """Return what an annotation says of the option; the last word counts."""
    said = [each for each in getattr(kind, "__metadata__", ()) if isinstance(each, Option)]
    return said[-1] if said else None


C = TypeVar("C")


@dataclass_transform(kw_only_default=True, frozen_default=True)
def settings(cls: type[C]) -> type[C]:
    """Make a class a frozen keyword-only dataclass that checks the types and the bounds of its fields.

    Its constructor raises `UsageError`, which names the first field that does not fit, what it must be and
    what came.
    """
    config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", strict=True)
    made = checked_dataclass(frozen=True, kw_only=True, config=config)(cls)
    check = made.__init__

    @functools.wraps(check)
    def refuse_plainly(self: Any, **values: Any) -> None:  # noqa: ANN401 (any settings)
        try:
            check(self, **values)
        except ValidationError as error:
            raise UsageError(_complaint(error, made)) from None

    made.__init__ = refuse_plainly  # type: ignore[method-assign]
    return cast("type[C]", made)


_WANTED: Final = "Input should be "


def _complaint(error: ValidationError, model: type) -> str:
    first, *_ = problems = error.errors()
    name = str(first["loc"][0]) if first["loc"] else "a setting"
    option = option_of(get_type_hints(model, include_extras=True).get(name))
    name = option.name if option is not None and option.name else name
    if first["type"] == "missing":
        return f"{name} is missing"
    if first["type"] == "unexpected_keyword_argument":
        return f"there is no setting {name!r}"
    said = [each["msg"] for each in problems if each["loc"][:1] == first["loc"][:1]]
    wanted = " or ".join(
        dict.fromkeys(each.removeprefix(_WANTED).removeprefix("Value error, ") for each in said)
    )
    hint = nearest(str(first["input"]), re.findall(r"'([^']+)'", wanted), most=1)
    return f"{name} must be {wanted}; got {first['input']!r}{hint}"


_GIVEN: ContextVar[tuple[Mapping[str, object], ...]] = ContextVar("given", default=())


@contextmanager
def _given(arguments: Mapping[str, object]) -> Iterator[None]:
    token = _GIVEN.set((*_GIVEN.get(), arguments))
    try:
        yield
    finally:
        _GIVEN.reset(token)


def argument_of(value: object) -> str:
    """Which argument of the verb that the user called a value is, such as `gold` or `scores['chrF']`.

    Empty where it is none.
    """
    for arguments in _GIVEN.get():
        for name, given in arguments.items():
            if given is value:
                return name
            parts = dict(enumerate(given)) if isinstance(given, list | tuple) else given
            if isinstance(parts, Mapping):
                for key, part in parts.items():
                    if part is value:
                        return f"{name}[{key!r}]"
    return ""


A_contra = TypeVar("A_contra", contravariant=True)
B_contra = TypeVar("B_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)
A = TypeVar("A")
B = TypeVar("B")
R = TypeVar("R")
S = TypeVar("S")
P = ParamSpec("P")


class OfOne(Protocol[A_contra, P, R_co]):
    """A verb of one source and its settings as keywords."""

    def __call__(self, source: A_contra, /, *args: P.args, **keywords: P.kwargs) -> R_co:
        """Do it."""

    @property
    def by(self) -> Callable[[A_contra, Any], R_co]:
        """The same with settings that were made already."""


class OfOneOrNone(Protocol[A_contra, P, R_co]):
    """The same with a source that may be left out."""

    def __call__(self, source: A_contra | None = ..., /, *args: P.args, **keywords: P.kwargs) -> R_co:
        """Do it."""

    @property
    def by(self) -> Callable[[A_contra | None, Any], R_co]:
        """The same with settings that were made already."""


class OfTwo(Protocol[A_contra, B_contra, P, R_co]):
    """A verb of two sources, the second of which may be left out, and its settings as keywords."""

    def __call__(
        self, first: A_contra, second: B_contra = ..., /, *args: P.args, **keywords: P.kwargs
    ) -> R_co:
        """Do it."""

    @property
    def by(self) -> Callable[[A_contra, B_contra, Any], R_co]:
        """The same with settings that were made already."""


class takes(Generic[P, S]):  # noqa: N801 (a decorator)
    """Make the fields of settings the keywords of a verb, whose last parameter is these settings.

    A source that may be None may be left out. A keyword that is none of them is refused before anything is
    done, and the nearest name is proposed.
    """

    def __init__(self, model: Callable[P, S]) -> None:
        self.model = cast("type[Any]", model)

    @overload
    def __call__(self, function: Callable[[A | None, S], R]) -> OfOneOrNone[A, P, R]: ...
    @overload
    def __call__(self, function: Callable[[A, S], R]) -> OfOne[A, P, R]: ...
    @overload
    def __call__(self, function: Callable[[A, B, S], R]) -> OfTwo[A, B, P, R]: ...
    def __call__(self, function: Callable[..., Any]) -> Any:
        *sources, _ = inspect.signature(function).parameters.values()
        kinds = get_type_hints(function)
        sources = [
            each.replace(default=None) if NoneType in get_args(kinds[each.name]) else each for each in sources
        ]
        chosen = {field.name: field for field in fields(self.model)}
        known = (*(each.name for each in sources), *chosen)

        @functools.wraps(function)
        def verb(*args: Any, **keywords: Any) -> Any:  # noqa: ANN401 (any verb's)
            _refuse_unknown(function.__name__, keywords, known)
            if len(args) > len(sources):
                raise TypeError(
                    f"{function.__name__}() takes {', '.join(each.name for each in sources)}; the others by "
                    f"name: {', '.join(f'{name}=' for name in chosen)}"
                )
            named = {name: keywords.pop(name) for name in chosen if name in keywords}
            made = self.model(**named)
            given = inspect.Signature(sources).bind(*args, **keywords)
            given.apply_defaults()
            with _given({**given.arguments, **named}):
                return function(*given.args, made)

        own, hints = get_type_hints(function), get_type_hints(self.model)
        parameters = [each.replace(annotation=_Words.of(own[each.name])) for each in sources]
        for each in fields(self.model):
            default = inspect.Parameter.empty if each.default is MISSING else each.default
            words = _Words.of(hints[each.name])
            parameters.append(
                inspect.Parameter(
                    each.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=words
                )
            )
        verb.__signature__ = inspect.Signature(parameters, return_annotation=_Words.of(own["return"]))  # type: ignore[attr-defined]
        verb.__doc__ = f"{inspect.getdoc(function)}\n\n{_keywords_text(self.model)}"
        verb.__keywords__ = frozenset(known)  # type: ignore[attr-defined]
        verb.by = function  # type: ignore[attr-defined]
        return verb


class _Words(str):
    """A type as a person writes it: without the modules that its names come from."""

    __slots__ = ()
    __repr__ = str.__str__

    @classmethod
    def of(cls, kind: Any) -> Self:  # noqa: ANN401 (an annotation)
        plain = re.sub(r"\b[\w.]+\.(?=\w)", "", inspect.formatannotation(kind))
        return cls(re.sub(r"^Optional\[(.*)\]$", r"\1 | None", plain))


def _keywords_text(model: type) -> str:
    hints = get_type_hints(model, include_extras=True)
    said = {field.name: option_of(hints[field.name]) for field in fields(model)}
    return "Keywords:\n" + "\n".join(f"    {name}: {each.help}" for name, each in said.items() if each)


def checks_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function refuse keywords that it does not have, and propose the nearest name."""
    known = tuple(inspect.signature(function).parameters)

    @functools.wraps(function)
    def checked(*args: P.args, **keywords: P.kwargs) -> R:
        _refuse_unknown(function.__name__, keywords, known)
        with _given({**dict(zip(known, args, strict=False)), **keywords}):
            return function(*args, **keywords)

    checked.__keywords__ = frozenset(known)  # type: ignore[attr-defined]
    return checked


def _refuse_unknown(verb: str, keywords: Mapping[str, object], known: Collection[str]) -> None:
    for name in keywords:
        if name not in known:
            hint = nearest(name, known, most=1) or f"; it takes {', '.join(sorted(known))}"
            raise TypeError(f"{verb}() has no keyword {name!r}{hint}")


def split_names(value: object) -> object:
    """Split a text at its commas; every other value is left to the check of its type."""
    if isinstance(value, str):
        parts = tuple(name.strip() for name in value.split(",") if name.strip())
        if not parts:
            raise ValueError("one name or more, with commas between")
        return parts
    return tuple(value) if isinstance(value, Sequence) else value


def split_numbers(value: object, kind: type[float], wanted: str) -> object:
    """Split a text at its commas and read each part as a number; every other value as `split_names`."""
    split = split_names(value)
    if not isinstance(value, str) or not isinstance(split, tuple):
        return split
    try:
        return tuple(map(kind, split))
    except ValueError:
        raise ValueError(wanted) from None


def _read_numbers(value: object) -> object:
    if isinstance(value, int | float):
        return (value,)
    return split_numbers(value, float, "numbers with commas between, such as 0.1,0.5")


Name = Annotated[str, AfterValidator(as_name)]
"""One name, however it is spelled."""

Names = Annotated[Sequence[Name], BeforeValidator(split_names)]
"""Names as a sequence; one text has commas between them, as on the command line."""

Numbers = Annotated[Sequence[float] | float, BeforeValidator(_read_numbers)]
"""Numbers as a sequence, one number, or one text with commas between them."""

LanguagePair = Annotated[
    Annotated[str, AfterValidator(coded_lp)] | None, Option(help="Language pair, such as en-de.", short="l")
]
Alpha = Annotated[float, Gt(0), Lt(1)]
Resamples = Annotated[int, Ge(1), Option(help="Draws of the bootstrap and of the permutation test.")]
IntervalDraws = Annotated[int, Ge(0), Option(help="Draws of the intervals; 0 for none.")]
Seed = Annotated[int, Ge(0), Option(help="Seed of all draws.")]
Share = Annotated[float | str, AfterValidator(read_share)]
MaxFailed = Annotated[
    Share,
    Option(
        help="Exit with code 3 if a larger share of judgements fails; 1: go on even if all fail.",
        metavar="SHARE",
        kind=str,
    ),
]
ByDocument = Annotated[
    bool | None,
    Option(help="Treat documents or segments as independent; default: documents if known.", off="by-segment"),
]
Mismatched = Literal["refuse", "leave-out"]
OfMismatched = Annotated[
    Mismatched, Option(help="Refuse inputs whose texts differ, or leave these segments out.")
]
Texts = Annotated[
    SkipValidation[TestSet | Path | str | None],
    Option(
        help="Test set with the texts, for files without texts such as .seg.rating.",
        kind=Path,
        metavar="PATH",
    ),
]


@settings
class Scoring:
    """Which judgements are scored, and how."""

    weights: Annotated[
        SkipValidation[str | Weights | None],
        Option(
            help="Error weights from `adjudge list weights` or a .toml; default: the run's, else mqm-google.",
            metavar="NAME|FILE",
            short="w",
            kind=str,
        ),
    ] = None
    lp: LanguagePair = None
    criterion: Annotated[
        str | None,
        Option(
            help="Criterion to score; default for preferences: overall; `all-pass`: every criterion of"
            " a segment."
        ),
    ] = None
    test_set: Texts = None
    mismatched: OfMismatched = "refuse"

    @property
    def is_card(self) -> bool:
        """Whether errors are weighed by a scorecard, which counts the words of the texts."""
        points = find_weights(self.weights) if isinstance(self.weights, str) else self.weights
        return points is not None and points.passing is not None


@settings
class OneAnnotator(Scoring):
    """The same, or the scores that one gold or one metric of a test set gave."""

    gold: Annotated[
        str | None, Option(help="Use the scores of this gold: a name in the test set, or a file.")
    ] = None
    metric: Annotated[
        str | None, Option(help="Use the scores of this metric: a name in the test set, or a file.")
    ] = None
    documents: Annotated[
        Path | str | None,
        Option(
            help="File with the document name of each line of a score file.",
            kind=Path,
            metavar="FILE",
        ),
    ] = None

    @property
    def is_of_test_set(self) -> bool:
        """Whether a test set is scored, and not judgements."""
        return self.gold is not None or self.metric is not None

    def __post_init__(self) -> None:
        if self.gold is not None and self.metric is not None:
            raise UsageError("scores come from one annotator: give --gold or --metric, not both")
        self.refuse_beside_gold(criterion=self.criterion, test_set=self.test_set, documents=self.documents)

    def refuse_beside_gold(self, **given: object) -> None:
        """Refuse settings that are about judgements where gold or metric of a test set is scored."""
        for name, value in given.items() if self.is_of_test_set else ():
            if value is not None:
                option = name.replace("_", "-")
                raise UsageError(f"--{option} is for judgements: leave it out with --gold or --metric")
