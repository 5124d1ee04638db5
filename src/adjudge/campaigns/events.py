"""What a page tells of a change, and what became of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from adjudge.core.protocol import is_number
from adjudge.errors import DataError

__all__ = ["Event", "Refused", "Saved", "SavedEvent", "Stale", "check_event", "check_token"]

_TOKEN: Final = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_KIND: Final = re.compile(r"[a-z_-]{1,20}")
_LONGEST: Final = 86_400.0  # seconds that one event may say it took


@dataclass(frozen=True, kw_only=True)
class Event:
    """One change, as the page tells it.

    Args:
        id: made by the page, unique to it.
        item: number of the item.
        base: revision that it was made upon; 0 before the first one.
        kind: what was done: mark, rate, undo and so on. `complete` says that all errors are marked, `reset`
            takes that back, `time` tells seconds and changes nothing else.
        at: when, by the page's clock, seconds since 1970.
        state: the whole item afterwards.
        hashes: of each text shown, the source first.
        active: seconds of work since the event before.
        idle: seconds of pause since then.
    """

    id: str
    item: int
    base: int
    kind: str
    at: float
    state: object
    hashes: Sequence[str]
    active: float = 0.0
    idle: float = 0.0


@dataclass(frozen=True, kw_only=True)
class SavedEvent:
    """A change that is on the disk, and the revision that it made."""

    id: str
    item: int
    revision: int
    complete: bool


@dataclass(frozen=True, kw_only=True)
class Stale:
    """An item that another page has changed since; nothing was written over it."""

    item: int
    revision: int
    state: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A change that cannot be, and why, for the person to read."""

    id: str
    item: int
    why: str


@dataclass(frozen=True, kw_only=True)
class Saved:
    """What became of each event."""

    saved: tuple[SavedEvent, ...] = ()
    stale: tuple[Stale, ...] = ()
    refused: tuple[Refused, ...] = ()


def check_token(whose: str, token: str) -> None:
    """Refuse an id that no page of ours makes.

    Raises:
        DataError: it is such a one.
    """
    if not _TOKEN.fullmatch(token):
        raise DataError(f"{whose} has an id of 1 to 64 letters, digits and - _ . :, got {token!r}")


def check_event(one: Event) -> None:
    """Refuse what no event says.

    Raises:
        DataError: which part, and why.
    """
    check_token("a change", one.id)
    if not _KIND.fullmatch(one.kind):
        raise DataError(f"a kind of change is a short word, got {one.kind!r}")
    for name in ("active", "idle"):
        seconds = getattr(one, name)
        if not is_number(seconds) or not 0 <= seconds <= _LONGEST:
            raise DataError(f"{name} lies in 0 to {_LONGEST:g} seconds, got {seconds!r}")
    if not is_number(one.at):
        raise DataError(f"a time is a finite number of seconds, got {one.at!r}")
