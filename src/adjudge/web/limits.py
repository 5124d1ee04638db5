"""Limits of how often something may happen in a while, counted in this process alone."""

from __future__ import annotations

import ipaddress
import math
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from adjudge.errors import AccessError, AdjudgeError

__all__ = ["Guesses", "TooOftenError", "Window", "network_of"]

_MOST_KEYS: Final = 10_000  # who is forgotten first was seen longest ago


class TooOftenError(AdjudgeError):
    """Something happened too often.

    Args:
        seconds: until it may happen again.
    """

    def __init__(self, seconds: float) -> None:
        """Keep the seconds for Retry-After."""
        super().__init__(f"Too many tries. Wait {math.ceil(seconds)} seconds, then try again.")
        self.seconds = seconds


@dataclass(kw_only=True)
class Window:
    """At most so many in any stretch of time, for each key.

    Args:
        most: how many.
        seconds: the stretch.
    """

    most: int
    seconds: float
    _times: OrderedDict[str, deque[float]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def wait(self, key: str, now: float) -> float:
        """Seconds until one more may happen; 0 where it may now."""
        with self._lock:
            times = self._recent(key, now)
            return 0.0 if len(times) < self.most else times[-self.most] + self.seconds - now

    def count(self, key: str, now: float) -> None:
        """Count one."""
        with self._lock:
            times = self._recent(key, now)
            times.append(now)
            self._times[key] = times
            self._times.move_to_end(key)
            if len(self._times) > _MOST_KEYS:
                self._times.popitem(last=False)

    def take(self, key: str, now: float) -> float:
        """Count one if it may happen; the seconds to wait otherwise."""
        wait = self.wait(key, now)
        if not wait:
            self.count(key, now)
        return wait

    def _recent(self, key: str, now: float) -> deque[float]:
        """Times that still count; a clock that was set back must not lock anybody out."""
        times = self._times.get(key, deque(maxlen=self.most))
        while times and not 0 <= now - times[0] < self.seconds:
            times.popleft()
        return times


def network_of(address: str) -> str:
    """Who guesses: an IPv4 address, or the /64 of an IPv6 address, all of which is one customer's."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if found.version == 4:
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((int(found) >> 64 << 64, 64)))


@dataclass(frozen=True, kw_only=True)
class Guesses:
    """Wrong secrets: few from one address, and few in all.

    Somebody with many addresses could shut everybody out by being wrong all the time. So a secret that is too
    long to be guessed is looked at as long as its own address was not wrong too often.

    Args:
        by_address: from one address.
        in_all: on the campaign.
    """

    by_address: Window = field(default_factory=lambda: Window(most=10, seconds=60.0))
    in_all: Window = field(default_factory=lambda: Window(most=10, seconds=60.0))
    _lock: Lock = field(default_factory=Lock)

    def attempt(self, address: str, now: float, enter: Callable[[], str], *, is_guessable: bool) -> str:
        """Try a secret; one at a time, so that guesses sent at once are counted like others.

        Args:
            address: of who tries.
            now: seconds since 1970.
            enter: makes the cookie, or raises AccessError where the secret is wrong.
            is_guessable: a password, which people make up; not a link's 128 random bits.

        Raises:
            TooOftenError: there were too many wrong ones; one from this address is not even looked at, and
                neither is a password.
            AccessError: it is wrong.
        """
        network = network_of(address)
        with self._lock:
            wait = self.in_all.wait("", now)
            if here := max(self.by_address.wait(network, now), wait if is_guessable else 0.0):
                raise TooOftenError(here)
            try:
                return enter()
            except AccessError:
                self.by_address.count(network, now)
                if wait:
                    raise TooOftenError(wait) from None
                self.in_all.count("", now)
                raise
