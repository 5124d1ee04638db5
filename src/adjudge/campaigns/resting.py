"""What is costly to compute and may be a little old: it rests ten times as long as it took."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Final, Generic, TypeVar
from weakref import WeakKeyDictionary

from adjudge.campaigns.database import Database

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign

__all__ = ["Resting"]

T = TypeVar("T")

_REST: Final = 10.0  # what took a second is made every ten seconds at most


@dataclass
class _Made(Generic[T]):
    """What was made last of a campaign, when, and how much work that took; times in seconds.

    The first one reads the store and imports libraries, which the next ones do not: it took nothing.
    """

    lock: Lock = field(default_factory=Lock)
    value: T | None = None
    at: float = 0.0
    took: float = 0.0


class Resting(Generic[T]):
    """Makes something of a campaign anew when it is older than ten times what it took.

    So nothing that organisers look at slows down those who work; who asks meanwhile gets the last one.

    Args:
        make: from a campaign, and the seconds since 1970.
        timer: seconds of work so far; those of this thread alone do not count the waiting for others.
    """

    def __init__(self, make: Callable[[Campaign, float], T], timer: Callable[[], float]) -> None:
        self._make = make
        self._timer = timer
        self._kept: WeakKeyDictionary[Database, dict[int, _Made[T]]] = WeakKeyDictionary()

    def of(self, campaign: Campaign, now: float) -> T:
        """The last one, or a new one; one thread at a time makes it."""
        made = self._kept.setdefault(campaign.database, {}).setdefault(campaign.id, _Made())
        with made.lock:
            if made.value is None or not made.at <= now <= made.at + _REST * made.took:
                start, is_first = self._timer(), made.value is None
                made.value = self._make(campaign, now)
                made.at, made.took = now, 0.0 if is_first else self._timer() - start
            return made.value
