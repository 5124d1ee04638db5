"""What all workers of a run share: who may ask how much of a server now, and what is left of the budget.

One object for a run, in a process of its own; workers borrow from it in blocks and say now and then how it
stands with them. It knows nothing of Ray, which only carries the messages.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from adjudge.llm.budget import Budget
from adjudge.runs.scale.leases import Calls, Money, Purse

__all__ = ["PERIOD", "Broker", "Lease", "Report"]

PERIOD: Final = 0.2  # seconds after which a worker says anew how it stands
Where = tuple[str, str, bytes]
"""Host, model and digest of the key, as `llm.endpoint.Endpoint.limited_as`."""


@dataclass(frozen=True)
class Report:
    """How it stands between one worker and one server.

    Args:
        wanted: calls that are under way or wait.
        flying: of them, those under way.
        pause: seconds for which the server asked for a pause.
    """

    wanted: int
    flying: int
    pause: float = 0.0


@dataclass(frozen=True)
class Lease:
    """What one worker may do with one server.

    Args:
        calls: at a time.
        part: of what the server's headers allow.
        pause: seconds for which nothing may be sent.
    """

    calls: int
    part: float
    pause: float = 0.0


class Broker:
    """See the module.

    Args:
        concurrency: calls at a time with each server.
        budget: what the run directory may cost.
        paid: by earlier sessions.
        workers: names of those who borrow.
        clock: seconds, never going back.
    """

    def __init__(
        self,
        concurrency: int,
        budget: Budget,
        paid: tuple[Decimal, int],
        workers: tuple[str, ...],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._concurrency = concurrency
        self._workers = workers
        self._purse = Purse(budget, Money(*paid), len(workers))
        self._calls: dict[Where, Calls] = {}
        self._until: dict[Where, float] = {}
        self._news = asyncio.Event()
        self._returned = asyncio.Event()
        self._clock = clock

    async def renew(
        self, worker: str, reports: Mapping[Where, Report], *, wait: bool = True
    ) -> tuple[dict[Where, Lease], bool]:
        """Say how it stands, and learn what may be done from now on.

        Args:
            worker: who says it.
            reports: of each server.
            wait: answer only after `PERIOD`, or once there is something that cannot wait.

        Returns:
            A lease for each server, and whether what is lent of the budget should come back at once.
        """
        if self._tell_pauses(reports):
            self._tell()
        if wait:
            news = self._news
            try:
                async with asyncio.timeout(PERIOD):
                    await news.wait()
            except TimeoutError:
                pass
        return {
            where: self._lease(worker, where, report) for where, report in reports.items()
        }, self.is_scarce

    @property
    def is_scarce(self) -> bool:
        """Whether the budget comes to its end."""
        return self._purse.is_scarce

    def _tell(self) -> None:
        """Wake everybody who waits for news."""
        self._news.set()
        self._news = asyncio.Event()

    def _tell_pauses(self, reports: Mapping[Where, Report]) -> bool:
        """Take pauses that others do not know of yet; whether there is one."""
        now, is_new = self._clock(), False
        for where, report in reports.items():
            until = now + report.pause
            if report.pause > 0 and until > self._until.get(where, now) + PERIOD:
                self._until[where] = until
                is_new = True
        return is_new

    def _lease(self, worker: str, where: Where, report: Report) -> Lease:
        calls = self._calls.get(where)
        if calls is None:
            calls = self._calls[where] = Calls(self._concurrency, self._workers)
        lent = calls.lend(worker, report.wanted, report.flying)
        pause = max(self._until.get(where, 0.0) - self._clock(), 0.0)
        return Lease(lent, lent / sum(calls.lent.values()), pause)

    async def borrow(self, worker: str, amount: Decimal, tokens: int) -> tuple[Decimal, int] | None:
        """Lend from the budget, once it can; None where it never will.

        It waits while others hold what they may not need.

        Args:
            worker: who needs it.
            amount: at least so much, 0 where the amount is not limited.
            tokens: at least so many, 0 where they are not limited.
        """
        need = Money(amount, tokens)
        while (lent := self._purse.borrow(worker, need)) is None:
            if not any(self._purse.lent):
                return None
            self._tell()
            returned = self._returned
            await returned.wait()
        return lent

    async def settle(self, worker: str, paid: tuple[Decimal, int], back: tuple[Decimal, int]) -> None:
        """Take what a worker has paid of what it borrowed, and what it gives back."""
        self._purse.settle(worker, Money(*paid), Money(*back))
        self._wake_borrowers()

    async def bury(self, worker: str) -> None:
        """Go on without a worker that died; what it had borrowed may have been paid."""
        self._purse.write_off(worker)
        for calls in self._calls.values():
            calls.take_back(worker)
        self._wake_borrowers()

    async def paid(self) -> tuple[Decimal, int]:
        """What the run has paid in all."""
        return self._purse.paid

    def _wake_borrowers(self) -> None:
        self._returned.set()
        self._returned = asyncio.Event()
