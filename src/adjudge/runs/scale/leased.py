"""A worker's side of what it shares with the other workers of its run: its limiters and its budget."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from adjudge.core.ask import Usage
from adjudge.data.calls import Spent
from adjudge.llm.budget import NOTHING, Budget, Meter
from adjudge.llm.endpoint import Endpoint
from adjudge.llm.limits import Load, join, load_of
from adjudge.llm.models import Models
from adjudge.llm.prices import Price
from adjudge.llm.turns import Share
from adjudge.runs.scale.broker import Lease, Report

__all__ = ["Call", "LeasedCalls", "LeasedMeter", "Loans", "endpoints_of"]

Call = Callable[..., Awaitable[Any]]
"""Calls a method of the broker: its name, then its arguments."""

_LOOK: Final = 0.02  # seconds after which a pause that a server asked for is passed on


def endpoints_of(models: Models) -> Iterator[Endpoint]:
    """Where calls go that others of the run may send as well."""
    from adjudge.llm.remote import RemoteModel

    opened = (*models.all, *([] if models.search is None else [models.search]))
    return (model.remote.endpoint for model in opened if isinstance(model.remote, RemoteModel))


class LeasedCalls:
    """Keeps the limiters of a worker within what the broker lends.

    It has a share of its own in each, so that what they have learnt of a server outlives one block of units.

    Args:
        worker: name.
        call: of the broker.
        models: of the worker; their limiters belong to the running event loop.
    """

    def __init__(self, worker: str, call: Call, models: Models) -> None:
        self._worker = worker
        self._call = call
        self._endpoints = {endpoint.limited_as: endpoint for endpoint in endpoints_of(models)}
        self._shares: dict[tuple[str, str, bytes], Share] = {}
        self.is_scarce = False
        self.on_scarce: Callable[[], None] = lambda: None

    async def begin(self) -> None:
        """Take the first leases."""
        reports = {where: Report(1, 0) for where in self._endpoints}
        self._take(*await self._call("renew", self._worker, reports, wait=False))

    async def keep(self) -> None:
        """Renew the leases again and again; a pause that a server asks for is passed on at once."""
        while True:
            before = self._reports()
            renewal = asyncio.ensure_future(self._call("renew", self._worker, before))
            while not (await asyncio.wait([renewal], timeout=_LOOK))[0]:
                if self._has_news(before):
                    before = self._reports()
                    self._take(*await self._call("renew", self._worker, before, wait=False))
            self._take(*renewal.result())

    @property
    def load(self) -> Load:
        """How it stands with the servers."""
        return load_of(share.limiter for share in self._shares.values())

    def end(self) -> None:
        """Have no part in the limiters any more."""
        for share in self._shares.values():
            share.leave()
        self._shares.clear()

    def _reports(self) -> dict[tuple[str, str, bytes], Report]:
        limiters = {where: share.limiter for where, share in self._shares.items()}
        return {where: Report(one.wanted, one.load.in_flight, one.pause) for where, one in limiters.items()}

    def _has_news(self, before: Mapping[tuple[str, str, bytes], Report]) -> bool:
        now = self._reports()
        return any(report.pause > before[where].pause for where, report in now.items() if where in before)

    def _take(self, leases: Mapping[tuple[str, str, bytes], Lease], is_scarce: bool) -> None:  # noqa: FBT001 (as the broker answers)
        for where, lease in leases.items():
            old = self._shares.get(where)
            if old is None or old.cap != lease.calls:
                self._shares[where] = join(where, lease.calls, self._endpoints[where].patience)
                if old is not None:
                    old.leave()
            limiter = self._shares[where].limiter
            limiter.part = lease.part
            if lease.pause > limiter.pause:
                limiter.hold(lease.pause)
        self.is_scarce = is_scarce
        if is_scarce:
            self.on_scarce()


@dataclass
class Loans:
    """How the meters of a worker borrow.

    Args:
        worker: name.
        call: of the broker.
        limit: of the whole run.
    """

    worker: str
    call: Call
    limit: Budget

    def __post_init__(self) -> None:
        """Begin with no meter."""
        self.meters: list[LeasedMeter] = []
        self.is_scarce = False
        self._sending: set[asyncio.Future[Any]] = set()

    def open_meter(
        self, prices: Mapping[str, Price | None], budget: Budget, before: Mapping[str, Spent]
    ) -> Meter:
        """A meter for one block of units; see `runs.job.Job.open_meter`."""
        if not budget.is_set:
            return Meter(prices, budget, before)
        meter = LeasedMeter(prices, before, self)
        self.meters.append(meter)
        return meter

    def note_scarce(self) -> None:
        """The budget comes to its end: nobody keeps what it does not need."""
        self.is_scarce = True
        for meter in self.meters:
            meter.give_back()

    async def borrow(self, amount: Decimal, tokens: int) -> tuple[Decimal, int] | None:
        """See `Broker.borrow`."""
        if self._sending:
            await asyncio.wait(self._sending)
        found: tuple[Decimal, int] | None = await self.call("borrow", self.worker, amount, tokens)
        return found

    def settle(self, paid: tuple[Decimal, int], back: tuple[Decimal, int]) -> None:
        """Tell the broker; nobody waits for it."""
        sending = asyncio.ensure_future(self.call("settle", self.worker, paid, back))
        self._sending.add(sending)
        sending.add_done_callback(self._sending.discard)

    async def close(self, meter: Meter) -> None:
        """Give back what a meter has left, and wait until all that was told has arrived."""
        if isinstance(meter, LeasedMeter) and meter in self.meters:
            meter.give_back()
            self.meters.remove(meter)
        if self._sending:
            with suppress(Exception):
                await asyncio.gather(*self._sending)


class LeasedMeter(Meter):
    """A meter whose budget grows by what it borrows.

    Args:
        prices: as of a `Meter`.
        before: as of a `Meter`; that was paid out of no loan.
        loans: of the worker.
    """

    def __init__(self, prices: Mapping[str, Price | None], before: Mapping[str, Spent], loans: Loans) -> None:
        super().__init__(prices, loans.limit, before)
        self._loans = loans
        self._told = (self._amount, self._tokens)
        self._have(self._amount, self._tokens)
        self._borrowing = asyncio.Lock()
        self._is_refused = False

    async def reserve(self, model: str, most: Usage) -> int:
        """Set aside what an attempt can cost at most; borrow where that is not at hand.

        Raises:
            BudgetError: nobody has anything left to lend.
        """
        async with self._borrowing:
            while not (self._is_refused or self._fits(model, most)):
                await self._borrow(model, most)
            return await super().reserve(model, most)

    def settle(
        self, model: str, number: int | None, paid: Usage, *, unsure: Usage = NOTHING, answered: bool = False
    ) -> None:
        """Take what an attempt did cost; what is not needed goes back where it is scarce."""
        super().settle(model, number, paid, unsure=unsure, answered=answered)  # type: ignore[arg-type,unused-ignore]
        if self._loans.is_scarce:
            self.give_back()

    def give_back(self) -> None:
        """Tell what was paid, and keep only what is set aside for calls under way."""
        budget = self._budget
        paid = (self._amount - self._told[0], self._tokens - self._told[1])
        needed = (self._amount + self._held_amount, self._tokens + self._held_tokens)
        back = (
            Decimal() if budget.amount is None else budget.amount - needed[0],
            0 if budget.tokens is None else budget.tokens - needed[1],
        )
        if self._is_refused or not (any(paid) or any(back)):
            return
        self._told = (self._amount, self._tokens)
        self._have(*needed)
        self._loans.settle(self._limited(paid), back)

    def _have(self, amount: Decimal, tokens: int) -> None:
        limit = self._loans.limit
        self._budget = Budget(
            amount=None if limit.amount is None else amount, tokens=None if limit.tokens is None else tokens
        )

    def _limited(self, money: tuple[Decimal, int]) -> tuple[Decimal, int]:
        """Nothing of what has no limit."""
        limit = self._loans.limit
        return (
            Decimal() if limit.amount is None else money[0],
            0 if limit.tokens is None else money[1],
        )

    async def _borrow(self, model: str, most: Usage) -> None:
        amount, tokens = self._budget.amount, self._budget.tokens
        used = self._amount + self._held_amount + self._cost(model, most)
        size = self._tokens + self._held_tokens + most.prompt + most.completion
        lent = await self._loans.borrow(
            Decimal() if amount is None else max(used - amount, Decimal()),
            0 if tokens is None else max(size - tokens, 0),
        )
        if lent is not None:  # what was settled meanwhile has changed the budget's use, not the loan
            budget = self._budget
            self._have((budget.amount or Decimal()) + lent[0], (budget.tokens or 0) + lent[1])
            return
        self._is_refused = True  # nobody holds anything any more: what all have paid stands against the limit
        self._budget = self._loans.limit
        self._amount, self._tokens = await self._loans.call("paid")
