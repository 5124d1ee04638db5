"""Steps that several measures of the same scores share, such as the pairs that tau-b and tau-c count."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar, cast

__all__ = ["shared", "sharing"]

T = TypeVar("T")

_Known = dict[Hashable, tuple[tuple[object, ...], object]]
_known: Final[ContextVar[_Known | None]] = ContextVar("known", default=None)


@contextmanager
def sharing() -> Iterator[None]:
    """Keep what `shared` makes until the block ends; the arrays in it must not be written to meanwhile."""
    token = _known.set({})
    try:
        yield
    finally:
        _known.reset(token)


def shared(step: str, inputs: tuple[object, ...], setting: Hashable, make: Callable[[], T]) -> T:
    """Return what a step makes of its inputs; made once within `sharing`, and every time outside of it.

    Args:
        step: its name.
        inputs: objects that are told apart by identity, such as arrays; kept alive while they are known.
        setting: whatever else the step depends on.
        make: the step.
    """
    known = _known.get()
    if known is None:
        return make()
    key = (step, setting, *map(id, inputs))
    if key not in known:
        known[key] = (inputs, make())
    return cast("T", known[key][1])
