"""A call's turn to be sent, and one model's share in the limiter that gives it; see `llm/limits.py`."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from adjudge.core.ask import Reply
from adjudge.llm.faults import Fault
from adjudge.llm.rate_headers import Kind

if TYPE_CHECKING:
    from adjudge.llm.limits import Limiter

__all__ = ["Place", "Share", "Turn"]


@dataclass
class Place:
    """A call's place in the queue, kept from one try to the next.

    Args:
        number: lower goes first.
        size: bytes of the body.
        max_tokens: of the reply.
        refused: how often it was refused because there were too many (429).
        alone: how often of them a call was taken that was sent after the time before.
        last: when it was sent when it was refused last.
        before: refusals of all calls before its first.
    """

    number: int
    size: int
    max_tokens: int
    refused: int = 0
    alone: int = 0
    last: float = math.inf
    before: int = 0


class Turn:
    """One try of a call: `async with` waits for it, and ends it whatever happens."""

    def __init__(self, share: Share, place: Place) -> None:
        self.share = share
        self.place = place
        self.sent = 0.0
        self.tokens = 0.0
        self.spent: dict[Kind, float] = {}
        self.is_probe = False
        self.flying = 0
        self.was_full = False

    async def __aenter__(self) -> Self:
        """Wait until the call may be sent.

        Raises:
            asyncio.CancelledError: nothing is sent any more.
            ServerStopError: the wait would be too long.
        """
        await self.share.limiter.enter(self)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Make room."""
        self.share.limiter.leave(self)

    def heard(self, headers: Mapping[str, str]) -> None:
        """Take what the headers of the answer say."""
        self.share.limiter.heard(self, headers)

    def judged(self, outcome: Reply | Fault) -> Reply | Fault:
        """Take what became of the call for the calls to come.

        Returns:
            The outcome; a fault that says more of how fast we ask than of the call costs it no attempt.
        """
        if isinstance(outcome, Fault):
            return self.share.limiter.failed(self, outcome)
        self.share.limiter.answered(self, outcome)
        return outcome


class Share:
    """One model's part in a limiter."""

    def __init__(self, limiter: Limiter, cap: int) -> None:
        self.limiter = limiter
        self.cap = cap
        self._closing = asyncio.Event()

    @property
    def is_closed(self) -> bool:
        """Whether nothing is sent any more."""
        return self._closing.is_set()

    def place(self, size: int, max_tokens: int) -> Place:
        """Stand in line."""
        return Place(next(self.limiter.numbers), size, max_tokens)

    def turn(self, place: Place) -> Turn:
        """The next try of a call; to be used in `async with`."""
        return Turn(self, place)

    async def sleep(self, seconds: float) -> None:
        """Wait some seconds.

        Raises:
            asyncio.CancelledError: the share was closed meanwhile.
        """
        try:
            async with asyncio.timeout(seconds):
                await self._closing.wait()
        except TimeoutError:
            return
        raise asyncio.CancelledError

    def close(self) -> None:
        """Send nothing more, and wake whoever waits; what is under way may come back."""
        self._closing.set()
        self.limiter.dismiss(self)

    def leave(self) -> None:
        """Have no part any more."""
        self.close()
        self.limiter.drop(self)
