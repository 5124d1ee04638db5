"""What the workers of a run share: the calls at a time that a server takes, and the budget.

`divide` and `Purse` are the plain arithmetic. The `Broker` of a run lends both to its workers. On a worker's
side `LeasedCalls` keeps the limiters, and `LeasedMeter` the budget, within what was lent.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Decimal
from typing import Any, Final, NamedTuple

from adjudge.core.ask import Usage
from adjudge.llm.limits import Load, Share, join, load_of
from adjudge.llm.model_choice import Models
from adjudge.llm.money import NOTHING as MONEY_NOTHING
from adjudge.llm.money import Budget, Meter, Price
from adjudge.llm.providers import Endpoint
from adjudge.store.calls import Spent

__all__ = ["Broker", "Call", "Calls", "LeasedCalls", "Loans", "Money", "Purse", "Report", "divide"]


_BLOCK: Final = 4  # a lease takes at most so small a part of what is left, divided by the number of workers
_STEP: Final = Decimal("1e-9")


def divide(total: int, wanted: Mapping[str, int]) -> dict[str, int]:
    """Divide so that nobody has more than wanted while another has less than that: max-min fairness.

    Args:
        total: to be divided; at least as much as there are who want it.
        wanted: by whom, how much.

    Returns:
        To each at least 1; more than `total` is given only where there are more than that.
    """
    left, given = total, dict.fromkeys(wanted, 1)
    left -= len(given)
    hungry = [name for name in wanted if wanted[name] > 1]
    while left > 0 and hungry:
        share = max(left // len(hungry), 1)
        for name in hungry[:left]:
            more = min(share, wanted[name] - given[name])
            given[name] += more
            left -= more
        hungry = [name for name in hungry if given[name] < wanted[name]]
    for place, name in enumerate(given):  # nobody wants the rest: it lies where it is quickly used
        given[name] += max(left, 0) // len(given) + (place < max(left, 0) % len(given))
    return given


@dataclass
class Calls:
    """Calls at a time with one server, lent to workers.

    Args:
        total: in all; at least one for each worker.
        workers: who borrow.
    """

    total: int
    workers: tuple[str, ...]
    lent: dict[str, int] = field(init=False)
    wanted: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        """Lend to all alike, until they say what they want."""
        self.wanted = dict.fromkeys(self.workers, 1)
        self.lent = divide(self.total, self.wanted)

    def lend(self, worker: str, wanted: int, flying: int) -> int:
        """Say anew how many a worker may have.

        What others have is taken from nobody: they give it back when they say anew, and so the total holds.

        Args:
            worker: who asks.
            wanted: calls that it has under way or waiting.
            flying: of them, those under way; they cannot be taken back.
        """
        self.wanted[worker] = max(wanted, 1)
        target = divide(self.total, self.wanted)[worker]
        others = sum(lent for name, lent in self.lent.items() if name != worker)
        self.lent[worker] = max(min(target, self.total - others), min(flying, self.lent.get(worker, 0)), 1)
        return self.lent[worker]

    def take_back(self, worker: str) -> None:
        """Take back what a worker had that is no more, but for what its successor begins with."""
        self.lent[worker] = self.wanted[worker] = 1


class Money(NamedTuple):
    """A part of a budget: an amount, and tokens."""

    amount: Decimal
    tokens: int

    def plus(self, other: Money) -> Money:
        """Both together."""
        return Money(self.amount + other.amount, self.tokens + other.tokens)

    def minus(self, other: Money) -> Money:
        """What is left without the other."""
        return Money(self.amount - other.amount, self.tokens - other.tokens)


NOTHING: Final = Money(Decimal(), 0)


class Purse:
    """A budget, lent to workers in blocks that get smaller as it ends.

    Args:
        budget: what the run directory may cost in all.
        paid: by earlier sessions.
        workers: so many borrow.
    """

    def __init__(self, budget: Budget, paid: Money, workers: int) -> None:
        self.budget = budget
        self.paid = paid
        self.is_scarce = False
        self._workers = max(workers, 1)
        self._lent: defaultdict[str, Money] = defaultdict(lambda: NOTHING)

    @property
    def lent(self) -> Money:
        """What workers hold that is neither paid nor given back."""
        total = NOTHING
        for money in self._lent.values():
            total = total.plus(money)
        return total

    def borrow(self, worker: str, need: Money) -> Money | None:
        """Lend at least what is needed; None where that is not left, and from then on it is scarce."""
        left = self._left()
        if not _covers(left, need):
            self.is_scarce = True
            return None
        parts = _BLOCK * self._workers
        amount = (left.amount / parts).quantize(_STEP, ROUND_DOWN)  # or sums would not come out even
        block = Money(amount, left.tokens // parts)
        if self.is_scarce or not _covers(block, need):
            self.is_scarce = True
            block = need
        self._lent[worker] = self._lent[worker].plus(block)
        return block

    def settle(self, worker: str, paid: Money, back: Money) -> None:
        """Take what a worker has paid of its loan, and what it gives back."""
        self.paid = self.paid.plus(paid)
        self._lent[worker] = self._lent[worker].minus(paid).minus(back)

    def write_off(self, worker: str) -> None:
        """Count all that a worker held as paid which is no more: it may have been."""
        self.paid = self.paid.plus(self._lent.pop(worker, NOTHING))

    def _left(self) -> Money:
        """What can be lent; nothing of what has no limit, since nobody needs it."""
        gone = self.paid.plus(self.lent)
        amount, tokens = self.budget.amount, self.budget.tokens
        return Money(
            Decimal() if amount is None else amount - gone.amount,
            0 if tokens is None else tokens - gone.tokens,
        )


def _covers(left: Money, need: Money) -> bool:
    return left.amount >= need.amount and left.tokens >= need.tokens


PERIOD: Final = 0.2  # seconds after which a worker says anew how it stands
Where = tuple[str, str, bytes]
"""Host, model and digest of the key, as `llm.providers.Endpoint.limited_as`."""


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
            with suppress(TimeoutError):
                async with asyncio.timeout(PERIOD):
                    await self._news.wait()
        return {
            where: self._lease(worker, where, report) for where, report in reports.items()
        }, self.is_scarce

    @property
    def is_scarce(self) -> bool:
        """Whether the budget comes to its end."""
        return self._purse.is_scarce

    def _tell(self) -> None:
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
            await self._returned.wait()
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
        self._shares: dict[Where, Share] = {}
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
            renewal.add_done_callback(_hear)
            while not (await asyncio.wait([renewal], timeout=_LOOK))[0]:
                now = self._reports()
                if any(
                    report.pause > before[where].pause for where, report in now.items() if where in before
                ):
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

    def _reports(self) -> dict[Where, Report]:
        limiters = {where: share.limiter for where, share in self._shares.items()}
        return {where: Report(one.wanted, one.load.in_flight, one.pause) for where, one in limiters.items()}

    def _take(self, leases: Mapping[Where, Lease], is_scarce: bool) -> None:  # noqa: FBT001 (as the broker answers)
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
        sending.add_done_callback(_hear)

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
            while not (self._is_refused or self.fits(model, most)):
                await self._borrow(model, most)
            return await super().reserve(model, most)

    def settle(
        self,
        model: str,
        number: int | None,
        paid: Usage,
        *,
        unsure: Usage = MONEY_NOTHING,
        answered: bool = False,
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
        limit = self._loans.limit
        amount = Decimal() if limit.amount is None else paid[0]
        self._loans.settle((amount, 0 if limit.tokens is None else paid[1]), back)

    def _have(self, amount: Decimal, tokens: int) -> None:
        limit = self._loans.limit
        self._budget = Budget(
            amount=None if limit.amount is None else amount, tokens=None if limit.tokens is None else tokens
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


def _hear(told: asyncio.Future[object]) -> None:
    """What the broker could not be told is no error of whoever told it: its death ends the run elsewhere."""
    if not told.cancelled():
        told.exception()
