"""Keywords of the public functions: an unknown one is refused, and the nearest name is proposed."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar, get_type_hints

__all__ = ["checks_keywords", "keywords_of"]

P = ParamSpec("P")
T = TypeVar("T")


def checks_keywords(options: type | None = None) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make a function refuse keywords that it does not have, before it does anything.

    Python itself accepts every keyword where a function takes `**options`, and names no other keyword where
    it refuses one.

    Args:
        options: `TypedDict` of the function's `**options`; None where it has none.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        known = keywords_of(function, options)

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> T:
            for name in kwargs:
                if name not in known:
                    near = difflib.get_close_matches(name, known, n=1)
                    hint = f"did you mean {near[0]}?" if near else f"it takes {', '.join(sorted(known))}"
                    raise TypeError(f"{function.__name__}() has no keyword {name!r}; {hint}")
            return function(*args, **kwargs)

        checked.__keywords__ = frozenset(known)  # type: ignore[attr-defined]
        return checked

    return decorate


def keywords_of(function: Callable[..., object], options: type | None = None) -> tuple[str, ...]:
    """Return the names that a function takes as keywords, those of its `TypedDict` of options included."""
    named = [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}
    ]
    return (*named, *(() if options is None else get_type_hints(options)))
