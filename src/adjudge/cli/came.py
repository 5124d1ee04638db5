"""What typer refuses, in the words of the other messages: what is wanted, and what came instead."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from typer import BadParameter

__all__ = ["saying_what_came"]

_WANTED: Final = "Input should be "
_OUR_OWN: Final = "Value error, "


@contextmanager
def saying_what_came() -> Iterator[None]:
    """Say of a value that is refused what it was, where the words of pydantic do not."""
    try:
        yield
    except BadParameter as error:
        error.message = _plain(error.message, error.__cause__)
        raise


def _plain(message: str, cause: BaseException | None) -> str:
    from pydantic import ValidationError

    if message.startswith(_WANTED) and isinstance(cause, ValidationError):
        return f"must be {message.removeprefix(_WANTED)}; got {cause.errors()[0]['input']!r}"
    return message.removeprefix(_OUR_OWN)
