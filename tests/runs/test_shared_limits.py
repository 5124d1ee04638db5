"""What workers borrow never exceeds what one process alone would have, and comes back."""

import asyncio
import datetime as dt
import threading
from collections.abc import Awaitable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.ask import Usage
from adjudge.errors import BudgetError
from adjudge.llm.faults import Patience
from adjudge.llm.limits import Limiter
from adjudge.llm.model_choice import open_models
from adjudge.llm.money import Budget, Price
from adjudge.llm.providers import Connection
from adjudge.runs import shared_limits
from adjudge.runs.shared_limits import Broker, Calls, LeasedCalls, Loans, Money, Purse, Report, divide
from tests.faults.server import patient

WHERE = ("host", "model", b"key")
NAMES = ("a", "b", "c")


@pytest.mark.parametrize(
    ("total", "wanted", "given"),
    [
        (20, [40, 40], [10, 10]),
        (20, [40, 4], [16, 4]),
        (20, [0, 0], [10, 10]),
        (10, [2, 30, 4, 30], [2, 2, 3, 3]),
        (3, [9, 9, 9], [1, 1, 1]),
        (7, [1, 1, 1], [3, 2, 2]),
    ],
)
def test_nobody_has_more_than_wanted_while_another_lacks(
    total: int, wanted: list[int], given: list[int]
) -> None:
    assert sorted(divide(total, dict(zip("abcd", wanted, strict=False))).values()) == sorted(given)


@given(st.integers(3, 50), st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 99)), max_size=30))
def test_calls_lent_never_exceed_the_total_and_all_of_it_is_lent_in_the_end(
    total: int, says: list[tuple[str, int]]
) -> None:
    calls = Calls(total, NAMES)
    for name, wanted in says:
        calls.lend(name, wanted, min(wanted, calls.lent[name]))
        assert sum(calls.lent.values()) <= total
        assert min(calls.lent.values()) >= 1
    for _ in range(3):  # one round to say what is wanted, one to give back, one to take
        for name in NAMES:
            calls.lend(name, 99, 0)
    assert sum(calls.lent.values()) == total
    assert max(calls.lent.values()) - min(calls.lent.values()) <= 1


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.integers(1, 400), st.booleans()), max_size=60))
def test_what_is_lent_and_paid_never_exceeds_the_budget(loans: list[tuple[str, int, bool]]) -> None:
    purse = Purse(Budget(tokens=5_000, amount=Decimal("0.5")), Money(Decimal("0.1"), 1_000), 3)
    for name, need, is_settled in loans:
        lent = purse.borrow(name, Money(Decimal(need) / 10_000, need))
        if lent is not None:
            assert lent.tokens >= need
            if is_settled:
                purse.settle(name, Money(Decimal(need) / 10_000, need), Money(Decimal(), lent.tokens - need))
        gone = purse.paid.plus(purse.lent)
        assert gone.tokens <= 5_000
        assert gone.amount <= Decimal("0.5")


def test_a_loan_of_one_that_died_counts_as_paid() -> None:
    purse = Purse(Budget(tokens=1_000), Money(Decimal(), 0), 2)
    lent = purse.borrow("a", Money(Decimal(), 50))
    assert lent is not None
    assert lent.tokens > 50, "in blocks"
    purse.write_off("a")
    assert (purse.paid.tokens, purse.lent.tokens) == (lent.tokens, 0)


class Room:
    """A broker and who borrows of it, in one event loop."""

    def __init__(self, budget: Budget, workers: int) -> None:
        self.broker = Broker(20, budget, (Decimal(), 0), tuple(f"w{n}" for n in range(workers)))
        self.loans = [Loans(f"w{n}", self.call, budget) for n in range(workers)]
        self.borrowed = 0

    def call(self, method: str, *arguments: Any, **named: Any) -> Awaitable[Any]:
        self.borrowed += method == "borrow"
        found: Awaitable[Any] = getattr(self.broker, method)(*arguments, **named)
        return found

    async def spread(self) -> None:
        """As `LeasedCalls.keep` does."""
        while True:
            await asyncio.sleep(0)
            if self.broker.is_scarce:
                for loans in self.loans:
                    loans.note_scarce()


PRICE = Price(
    names=("m",), prompt=Decimal(10), completion=Decimal(10), currency="USD", as_of=dt.date(2026, 1, 1)
)  # a million tokens


@pytest.mark.parametrize("budget", [Budget(tokens=100_000), Budget(amount=Decimal(1))])
async def test_meters_of_several_workers_spend_a_budget_to_its_end_and_not_beyond(budget: Budget) -> None:
    room = Room(budget, 3)
    meters = [loans.open_meter({"m": PRICE}, budget, {}) for loans in room.loans]
    sent, at_once = 0, asyncio.Semaphore(6)

    async def ask(number: int) -> None:
        nonlocal sent
        meter = meters[number % 3]
        async with at_once:
            hold = await meter.reserve("m", Usage(prompt=600, completion=400))
            sent += 1
            await asyncio.sleep(0)
            meter.settle("m", hold, Usage(prompt=80, completion=20), answered=True)

    spreading = asyncio.create_task(room.spread())
    found = await asyncio.gather(*(ask(number) for number in range(1_500)), return_exceptions=True)
    spreading.cancel()
    stopped = [error for error in found if error is not None]
    assert all(isinstance(error, BudgetError) for error in stopped)
    assert str(stopped[0]).startswith("the budget of 1")
    assert sent == 991, "the next call may cost 1,000 tokens, and 900 are left"
    assert room.borrowed < sent / 3, "in blocks"


async def test_a_pause_that_one_is_told_holds_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_limits, "PERIOD", 600.0)
    broker = Broker(20, Budget(), (Decimal(), 0), ("a", "b"))
    waiting = asyncio.create_task(broker.renew("b", {WHERE: Report(5, 5)}))
    await asyncio.sleep(0)
    leases, _ = await broker.renew("a", {WHERE: Report(5, 5, pause=3000.0)}, wait=False)
    assert 2900 < leases[WHERE].pause <= 3000
    async with asyncio.timeout(60):  # it is woken, and does not sleep to the end of its period
        leases, _ = await waiting
    assert 2900 < leases[WHERE].pause <= 3000
    assert leases[WHERE].part == pytest.approx(0.5)


async def test_a_limiter_that_is_held_lets_nothing_go_and_says_how_long() -> None:
    now = 100.0
    limiter = Limiter(Patience(), lambda: now)
    assert (limiter.pause, limiter.wanted) == (0.0, 0)
    limiter.hold(7.0)
    assert limiter.pause == 7.0
    limiter.hold(3.0)
    assert limiter.pause == 7.0, "the longer one holds"
    now = 104.0
    assert limiter.load.waited == 4.0


class Process:
    """A worker's side in an event loop of its own, as it has in a process of its own."""

    def __init__(self, name: str, broker: Broker, home: asyncio.AbstractEventLoop) -> None:
        self.loop = asyncio.new_event_loop()
        self.home = home
        self.broker = broker
        self.calls = LeasedCalls(name, self.call, open_models(["mock"], Connection(base_url="http://h/v1")))
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    async def call(self, method: str, *arguments: Any, **named: Any) -> Any:
        sent = asyncio.run_coroutine_threadsafe(getattr(self.broker, method)(*arguments, **named), self.home)
        return await asyncio.wrap_future(sent)

    def start(self) -> None:
        self.thread.start()
        asyncio.run_coroutine_threadsafe(self.calls.begin(), self.loop).result()
        self.keeping = asyncio.run_coroutine_threadsafe(self.calls.keep(), self.loop)

    @property
    def limiter(self) -> Limiter:
        (share,) = self.calls._shares.values()
        return share.limiter

    def stop(self) -> None:
        self.keeping.cancel()
        self.loop.call_soon_threadsafe(self.calls.end)
        patient(5, lambda: not asyncio.all_tasks(self.loop))
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


def test_limiters_of_several_processes_keep_one_limit_and_one_pause() -> None:
    home = asyncio.new_event_loop()
    serving = threading.Thread(target=home.run_forever, daemon=True)
    serving.start()
    broker = Broker(15, Budget(), (Decimal(), 0), ("a", "b"))
    processes = [Process(name, broker, home) for name in ("a", "b")]
    for process in processes:
        process.start()
    try:
        limiters = [process.limiter for process in processes]
        assert sorted(limiter.load.concurrency for limiter in limiters) == [7, 8], "15 in all"
        assert sum(limiter.part for limiter in limiters) == pytest.approx(1)
        processes[0].loop.call_soon_threadsafe(limiters[0].hold, 30.0)
        assert patient(5, lambda: limiters[1].pause > 25), "what one is told holds the other"
    finally:
        for process in processes:
            process.stop()
        home.call_soon_threadsafe(home.stop)
        serving.join()
        home.close()
