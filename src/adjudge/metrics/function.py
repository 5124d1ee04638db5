"""A Python function as a metric: `@adjudge.metric`, and the functions that a file of yours decorates."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import InitVar, field
from pathlib import Path
from typing import Any, Final, Literal, overload

from adjudge.core.frozen import frozen
from adjudge.core.judge import annotation_of, failure_of
from adjudge.core.protocol import is_number
from adjudge.core.record import Record
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError, UsageError, blamed
from adjudge.metrics.bridge import read_number

_TEXTS: Final = ("source", "translation", "reference")


@frozen
class FunctionMetric:
    """A function that scores a translation, or several at a call; `adjudge.metric` makes it."""

    # the function; its parameters are some of `source`, `translation`, `reference` (with `batch`: `sources`,
    # `translations`, `references`), and it is called with them by name
    of: InitVar[Callable[..., Any]]
    name: str  # of the metric, in records, signatures and on the command line
    # lowest and highest score that it gives, None for no bound; a score outside is a failure
    range: tuple[float | None, float | None] = (None, None)
    # `lower` for scores that are better when lower; they are negated, and the signature says so
    direction: Literal["higher", "lower"] = "higher"
    batch: int | None = None  # how many translations a call gets at most, as lists; None for one, as texts
    function: Callable[..., Any] = field(init=False, repr=False)

    def __post_init__(self, of: Callable[..., Any]) -> None:
        object.__setattr__(self, "function", of)
        if not inspect.isfunction(self.function) or inspect.iscoroutinefunction(self.function):
            raise UsageError(f"@adjudge.metric stands above a plain function, got {_shown(self.function)}")
        from adjudge.metrics import METRICS

        if self.name == _LAMBDA:
            raise UsageError(
                "name of a metric: a lambda has none; give name=, as adjudge.metric(name='length')"
            )
        if (
            not self.name.strip()
            or not self.name.isprintable()
            or {*self.name} & {"/", "\\"}
            or self.name in {".", ".."}
        ):
            raise UsageError(
                f"name of a metric must be a word or words without / and \\, got {self.name!r}; give another "
                "name="
            )
        if self.name in METRICS:
            raise UsageError(f"{self.name!r} is a metric of ours; give the function another name=")
        what = f"metric {self.name!r}"
        if self.direction not in {"higher", "lower"}:
            raise UsageError(f"{what}: direction must be 'higher' or 'lower', got {self.direction!r}")
        if self.batch is not None and (not is_number(self.batch) or self.batch < 1 or self.batch % 1):
            raise UsageError(f"{what}: batch must be a number of translations from 1, got {self.batch!r}")
        _check_range(what, self.range)
        known = [self._parameter(text) for text in _TEXTS]
        given = inspect.signature(self.function).parameters.values()
        wanted = [each.name for each in given if each.default is each.empty]
        if known[1] not in wanted or not {*wanted} <= {*known}:
            raise UsageError(
                f"{what}: its parameters must be {known[1]} and, if it needs them, {known[0]} and "
                f"{known[2]}; they are {', '.join(each.name for each in given) or 'none'}"
            )

    def __call__(self, *args: Any, **keywords: Any) -> Any:  # noqa: ANN401 (of any function)
        return self.function(*args, **keywords)

    @property
    def protocol(self) -> str:
        """It only rates."""
        return "metric"

    @property
    def weights(self) -> None:
        """None: it marks no errors."""

    @property
    def with_reference(self) -> bool:
        """Whether it needs a reference: whether it has a parameter of that name."""
        return self._parameter("reference") in inspect.signature(self.function).parameters

    @property
    def low(self) -> float | None:
        return self._bounds[0]

    @property
    def high(self) -> float | None:
        return self._bounds[1]

    @property
    def block(self) -> int:
        """Translations between two moments at which a run can be stopped."""
        return self.batch or 16

    def stop(self) -> None:
        """Do nothing: a call that has begun comes to its end."""

    def settings(self, lp: str) -> Mapping[str, str]:  # noqa: ARG002 (the function is not told)
        ends = ["" if end is None else f"{end:g}" for end in self.range]
        turned = {"direction": "lower, negated"} if self.direction == "lower" else {}
        return turned | ({"range": "..".join(ends)} if any(ends) else {})

    def annotate(self, subjects: Sequence[Subject]) -> list[Record]:
        """Score translations. What the function raises, and what is no number in its range, is a failure."""
        size = self.batch or 1
        parts = [subjects[at : at + size] for at in range(0, len(subjects), size)]
        return [record for part in parts for record in map(self._record, part, self._values(part))]

    def corpus_score(self, subjects: Sequence[Subject]) -> None:  # noqa: ARG002 (a mean needs no more)
        """None: the score of a system is the mean of its segments."""
        return

    def _parameter(self, text: str) -> str:
        return text if self.batch is None else f"{text}s"

    @property
    def _bounds(self) -> tuple[float | None, float | None]:
        low, high = self.range
        if self.direction == "higher":
            return low, high
        return (None if high is None else 0.0 - high), (None if low is None else 0.0 - low)

    def _values(self, subjects: Sequence[Subject]) -> Sequence[object]:
        taken = inspect.signature(self.function).parameters
        texts = {
            name: [getattr(subject, text) for subject in subjects]
            for text in _TEXTS
            if (name := self._parameter(text)) in taken
        }
        failure: AnswerError
        try:
            if self.batch is None:
                return [self.function(**{name: value for name, (value,) in texts.items()})]
            found = self.function(**texts)
            is_list = isinstance(found, Iterable) and getattr(found, "shape", None) != ()
            if is_list and not isinstance(found, str | bytes | Mapping | AbstractSet):  # these have no order
                values = list(found)
                if len(values) == len(subjects):
                    return values
                failure = AnswerError("count", f"{len(values)} scores for {len(subjects)} translations")
            else:
                failure = AnswerError("schema", f"a list of scores was wanted, got {_shown(found)}")
        except Exception as error:  # noqa: BLE001 (whatever the user's function does)
            failure = AnswerError("raised", blamed(error))
        return [failure] * len(subjects)

    def _record(self, subject: Subject, value: object) -> Record:
        try:
            number = _score(value, *self.range)
        except AnswerError as error:
            return failure_of(self, subject, error.reason, error.detail)
        return annotation_of(self, subject, rating=(-1 if self.direction == "lower" else 1) * number + 0.0)


def _shown(value: object) -> str:
    return f"{value!r:.80}, of type {type(value).__name__}"


def _score(value: Any, low: float | None, high: float | None) -> float:  # noqa: ANN401 (what a function gives)
    if isinstance(value, AnswerError):
        raise value
    number = None
    with suppress(Exception):  # whatever a value does that is no number
        number = None if isinstance(value, str | bytes) else float(value)
    if number is None:
        raise AnswerError("schema", f"a score must be a number, got {_shown(value)}")
    return read_number({"score": number if math.isfinite(number) else value}, low, high)


_LAMBDA: Final = "<lambda>"


def _check_range(what: str, found: object) -> None:
    if isinstance(found, tuple | list) and len(found) == 2:
        low, high = found
        if all(end is None or is_number(end) for end in found) and (None in found or low < high):
            return
    raise UsageError(f"{what}: range must be two rising numbers, None for no bound, got {found!r}")


@overload
def metric(function: Callable[..., Any], /) -> FunctionMetric: ...
@overload
def metric(
    *,
    name: str = "",
    range: tuple[float | None, float | None] = (None, None),
    direction: Literal["higher", "lower"] = "higher",
    batch: int | None = None,
) -> Callable[[Callable[..., Any]], FunctionMetric]: ...
def metric(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str = "",
    range: tuple[float | None, float | None] = (None, None),  # noqa: A002 (what it is)
    direction: Literal["higher", "lower"] = "higher",
    batch: int | None = None,
) -> FunctionMetric | Callable[[Callable[..., Any]], FunctionMetric]:
    """Make a function a metric: `@adjudge.metric`, or `@adjudge.metric(range=(0, 1))`.

    The function has a parameter `translation` and, if it needs them, `source` and `reference`, which are
    texts; with `batch` they are `translations`, `sources`, `references`, lists of so many texts at most, and
    it gives a list of as many numbers. What it raises, and what is no number in its range, is a `Failure`.

    Args:
        function: what scores a translation; the more the better, unless `direction` is `lower`.
        name: of the metric, without slashes, and none of ours; the function's where left out, but a lambda
            has none.
        range: lowest and highest score, None for no bound.
        direction: `lower` where lower is better; scores are then negated.
        batch: how many translations a call gets at most; None for one.

    Raises:
        UsageError: this cannot be a metric; says what is wrong.
    """

    def made(function: Callable[..., Any]) -> FunctionMetric:
        own = name or str(getattr(function, "__name__", ""))
        return FunctionMetric(of=function, name=own, range=range, direction=direction, batch=batch)

    return made if function is None else made(function)


_BROUGHT: Final[set[str]] = set()
"""Modules that lie beside a plugin and were imported by it."""


@contextmanager
def _finding_beside(folder: Path) -> Iterator[None]:
    for name in _BROUGHT:
        sys.modules.pop(name, None)
    _BROUGHT.clear()
    importlib.invalidate_caches()
    before = {*sys.modules}
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in sys.modules.keys() - before:
            top = getattr(sys.modules.get(name.partition(".")[0]), "__spec__", None)
            file = Path(getattr(top, "origin", None) or folder)
            if folder in {file.parent, file.parent.parent if file.name == "__init__.py" else None}:
                _BROUGHT.add(name)


def read_plugin(path: Path) -> dict[str, FunctionMetric]:
    """Import a Python file; name to each function that is decorated in it.

    While it is imported it finds the modules that lie beside it, which are imported anew each time.
    """
    spec = importlib.util.spec_from_file_location(f"plugin_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise UsageError(f"--plugin: {path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        with _finding_beside(path.resolve().parent):
            spec.loader.exec_module(module)
    except UsageError as error:
        raise UsageError(f"--plugin {path}: {error}") from error
    except Exception as error:
        raise UsageError(f"--plugin {path} cannot be imported: {blamed(error)}") from error
    found: dict[str, FunctionMetric] = {}
    for each in vars(module).values():
        if isinstance(each, FunctionMetric) and found.setdefault(each.name, each) is not each:
            raise UsageError(f"--plugin {path} has two metrics with the name {each.name!r}")
    if not found:
        raise UsageError(f"--plugin {path} has no function with @adjudge.metric above it")
    return found
