"""A budget is never crossed, whatever is in flight and whatever fails; what was answered stays answered."""

import asyncio
import datetime as dt
import json
import random
import zlib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.core.ask import Reply, Usage
from adjudge.core.scores import Run
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import BudgetError, UsageError
from adjudge.llm.faults import Fault
from adjudge.llm.money import Account, Budget, Meter, Price, find_prices, most_of, render_price
from adjudge.runs import session
from adjudge.runs.engines import arun, run
from adjudge.store.calls import Spent
from adjudge.store.run_directory import read_run_info
from tests.faults.server import Server, envelope
from tests.llm.conftest import make_request
from tests.runs.conftest import Rater, small_set

PRICES = """
currency = "EUR"
[[model]]
names = ["mock"]
as_of = 2026-11-01
prompt = 100
cached = 10
completion = 1000
"""
SIZE = 16


@pytest.fixture
def server(server: Server, _quick: None) -> Server:
    server.answer = lambda payload: "7"
    server.delay = 0.01
    return server


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    file = tmp_path / "prices.toml"
    file.write_text(PRICES)
    return file


@pytest.fixture
def bills(server: Server) -> list[Usage]:
    """What the server asks money for: anything up to the longest that the call allows."""
    found: list[Usage] = []
    draw = random.Random(4)

    async def dear(request: web.Request, content: str) -> web.StreamResponse:
        payload = json.loads(await request.read())
        text = "".join(message["content"] for message in payload["messages"])
        prompt = sum(1 + zlib.crc32(word.encode()) % len(word.encode()) for word in text.split())
        completion = draw.randint(1, payload["max_tokens"])
        usage = Usage(prompt=prompt, completion=completion, cached=draw.randint(0, prompt))
        found.append(usage)
        finish = draw.choice(["stop", "stop", "banana"])  # one in three is paid and cannot be used
        body = envelope(content, finish=finish)
        kept = {"cached_tokens": usage.cached}
        paid = {"prompt_tokens": usage.prompt, "completion_tokens": usage.completion}
        body["usage"] = paid | {"prompt_tokens_details": kept}
        return web.json_response(body)

    server.fails(dear)
    return found


def judge(server: Server, out: Path, questions: int = 1, **options: Any) -> Run:
    settings: Any = {"base_url": server.url, "model": "mock", "concurrency": 32} | options
    return run(Rater(questions=questions), small_set(SIZE), out=out, **settings)


def price_of(file: Path) -> Price:
    price = find_prices(["mock"], file)["mock"]
    assert price is not None
    return price


def test_a_run_records_what_it_paid_to_the_cent(server: Server, tmp_path: Path, prices: Path) -> None:
    done = judge(server, tmp_path / "run", prices=prices)
    assert done.info.tokens == {"prompt": 3200, "cached": 1280, "completion": 640, "reasoning": 160}
    assert Decimal(str(done.info.price)) == 32 * (60 * 100 + 40 * 10 + 20 * 1000) / Decimal(1_000_000)
    assert done.info.currency == "EUR"
    assert done.info.settings["price_date"] == "2026-11-01"


def test_an_unknown_price_is_recorded_as_unknown(server: Server, tmp_path: Path) -> None:
    done = judge(server, tmp_path / "run")
    assert done.info.price is None
    assert done.info.tokens["prompt"] == 3200


def test_rules_and_replays_cost_nothing(server: Server, tmp_path: Path, prices: Path) -> None:
    judge(server, tmp_path / "run", prices=prices)
    again = run(
        Rater(), small_set(SIZE), out=tmp_path / "again", model=f"replay:{tmp_path / 'run'}", budget=0
    )
    assert again.info.price == 0.0
    assert again.info.counts["judged"] == 32
    rules = run("gemba-da", small_set(2), out=tmp_path / "rules", model="builtin/rules", budget=0)
    assert rules.info.price == 0.0


def test_attempts_that_failed_are_paid_too(server: Server, tmp_path: Path, prices: Path) -> None:
    server.fails("finish odd", None)
    done = judge(server, tmp_path / "run", prices=prices, concurrency=1)
    assert done.info.calls["attempts"] == 33
    assert Decimal(str(done.info.price)) == 33 * Decimal("0.0264")


@pytest.mark.parametrize("budget", ["3", "5.5", "20", "40"])
def test_no_more_is_paid_than_the_budget_however_many_calls_are_in_flight(
    server: Server, tmp_path: Path, prices: Path, bills: list[Usage], budget: str
) -> None:
    with pytest.raises(BudgetError, match="--budget goes on"):
        judge(server, tmp_path / "run", prices=prices, budget=budget, questions=2)
    paid = sum((price_of(prices).cost(usage) for usage in bills), Decimal())
    assert Decimal(budget) * 2 / 10 < paid <= Decimal(budget)
    info = read_run_info(tmp_path / "run")
    assert Decimal(str(info.price)) == paid
    assert info.counts["pending"] > 0
    assert not (tmp_path / "run" / "records.jsonl").exists()


def test_no_more_tokens_are_used_than_the_budget(server: Server, tmp_path: Path, bills: list[Usage]) -> None:
    with pytest.raises(BudgetError, match="--budget-tokens goes on"):
        judge(server, tmp_path / "run", budget_tokens=20_000, questions=2)
    assert 10_000 < sum(usage.prompt + usage.completion for usage in bills) <= 20_000


def test_a_higher_budget_goes_on_and_counts_what_was_paid_before(
    server: Server, tmp_path: Path, prices: Path, bills: list[Usage]
) -> None:
    for budget in (5, 10, 20):
        with pytest.raises(BudgetError):
            judge(server, tmp_path / "run", prices=prices, budget=budget)
        assert sum(price_of(prices).cost(usage) for usage in bills) <= budget
    server.fails(None)
    done = judge(server, tmp_path / "run", prices=prices, budget=100)
    assert done.info.counts == {"judged": 32, "failed": 0, "pending": 0}
    assert max(server.requests.values()) == 1
    whole = judge(server, tmp_path / "whole")
    assert done.records == whole.records


def test_a_budget_that_is_not_enough_for_one_call_sends_nothing(
    server: Server, tmp_path: Path, prices: Path
) -> None:
    with pytest.raises(
        BudgetError, match=r"budget of 0\.01 EUR is reached: 0\.00 EUR are paid at most, .* up to 0\.\d+ EUR"
    ):
        judge(server, tmp_path / "run", prices=prices, budget="0.01")
    assert not server.log


@pytest.mark.parametrize("name", ["reset", "cut", "html"])
def test_an_attempt_that_may_have_been_paid_counts_with_the_most_it_can_have_cost(
    server: Server, tmp_path: Path, prices: Path, name: str
) -> None:
    server.fails(name)
    with pytest.raises(BudgetError):
        judge(server, tmp_path / "run", prices=prices, budget="10")
    first = len(server.log)
    assert 4 <= first <= 8  # each may have cost more than 2 EUR, the last ones less, for they had less room
    with pytest.raises(BudgetError):
        judge(server, tmp_path / "run", prices=prices, budget="10")
    assert len(server.log) == first
    assert read_run_info(tmp_path / "run").price == 0.0  # the server counted nothing


async def test_a_call_that_a_stop_cut_off_counts_with_the_most_it_can_have_cost(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_GRACE", 0.0)
    server.delay = 60.0
    words: Any = {"base_url": server.url, "model": "mock", "out": tmp_path / "run", "budget_tokens": 5000}
    going = asyncio.create_task(arun(Rater(), small_set(1, systems=("A",)), **words))
    while not server.log:  # noqa: ASYNC110 (no event tells)
        await asyncio.sleep(0.01)
    going.cancel()
    with pytest.raises(asyncio.CancelledError):
        await going
    server.delay = 0.0
    with pytest.raises(BudgetError, match=r"[1-4],\d\d\d tokens are paid"):
        await arun(Rater(), small_set(1, systems=("A",)), **words | {"budget_tokens": 2400})
    assert len(server.log) == 1


def test_a_budget_counts_what_a_session_without_one_may_have_paid(
    server: Server, tmp_path: Path, prices: Path
) -> None:
    server.fails("reset")
    first = judge(server, tmp_path / "run", prices=prices, max_failed=1)
    assert first.info.counts["failed"] == 32
    server.log.clear()
    with pytest.raises(BudgetError):
        judge(server, tmp_path / "run", prices=prices, budget="10")
    assert not server.log


def test_a_budget_without_a_price_is_refused_before_anything_is_sent(server: Server, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the price of mock is not known; give it with --prices FILE"):
        judge(server, tmp_path / "run", budget=5)
    assert not server.log
    assert not (tmp_path / "run").exists()
    assert judge(server, tmp_path / "run", budget_tokens=10**6).info.price is None


@pytest.mark.parametrize("budget", ["lots", "-1", "nan", "inf", ""])
def test_a_budget_that_is_no_amount_is_refused(
    server: Server, tmp_path: Path, prices: Path, budget: str
) -> None:
    with pytest.raises(UsageError, match="--budget must be an amount"):
        judge(server, tmp_path / "run", prices=prices, budget=budget)


def test_a_server_that_counts_no_tokens_has_no_price(server: Server, tmp_path: Path, prices: Path) -> None:
    async def silent(request: web.Request, content: str) -> web.StreamResponse:
        body = envelope(content)
        del body["usage"]
        return web.json_response(body)

    server.fails(silent)
    assert judge(server, tmp_path / "run", prices=prices).info.price is None
    assert judge(server, tmp_path / "run", prices=prices).info.price is None  # known from the store
    server.log.clear()
    with pytest.raises(BudgetError):
        judge(server, tmp_path / "other", prices=prices, budget="10")
    assert 4 <= len(server.log) <= 8


def meter(budget: Budget, **before: Spent) -> Meter:
    known: Any = {"names": ("m",), "as_of": dt.date(2026, 1, 1), "currency": "USD"}
    price = Price(prompt=Decimal(1), completion=Decimal(10), **known)
    return Meter({"m": price}, budget, before)


@settings(max_examples=60, deadline=None)
@given(
    calls=st.lists(
        st.tuples(st.integers(1, 500), st.integers(1, 500), st.floats(0, 1), st.booleans()), max_size=40
    ),
    limit=st.integers(0, 20_000),
    width=st.integers(1, 12),
)
def test_what_is_paid_and_what_may_have_been_paid_never_pass_the_limit(
    calls: list[tuple[int, int, float, bool]], limit: int, width: int
) -> None:
    async def play() -> None:
        tested = meter(Budget(tokens=limit))
        queue, used = iter(calls), 0

        async def worker() -> None:
            nonlocal used
            for prompt, completion, share, is_unsure in queue:
                most = Usage(prompt=prompt, completion=completion)
                number, _ = await tested.reserve("m", most, 10**9)
                await asyncio.sleep(0)
                paid = Usage() if is_unsure else Usage(prompt=int(prompt * share), completion=completion)
                used += prompt + completion if is_unsure else paid.prompt + paid.completion
                tested.settle("m", number, paid, unsure=most if is_unsure else Usage())
                assert used <= limit

        done = await asyncio.gather(*(worker() for _ in range(width)), return_exceptions=True)
        assert all(error is None or isinstance(error, BudgetError) for error in done)
        if sum(prompt + completion for prompt, completion, *_ in calls) <= limit:
            assert done == [None] * width

    asyncio.run(play())


async def test_a_call_waits_for_those_in_flight_before_it_gives_up() -> None:
    tested = meter(Budget(tokens=100))
    first, _ = await tested.reserve("m", Usage(prompt=80), 1)
    second = asyncio.ensure_future(tested.reserve("m", Usage(prompt=80), 1))
    await asyncio.sleep(0)
    assert not second.done()
    tested.settle("m", first, Usage(prompt=10))
    tested.settle("m", (await second)[0], Usage(prompt=80))
    with pytest.raises(BudgetError, match=r"90 tokens are paid at most, and the next .* up to 11 tokens"):
        await tested.reserve("m", Usage(prompt=11), 1)
    with pytest.raises(BudgetError):  # and then nothing more is sent, however small
        await tested.reserve("m", Usage(prompt=1), 1)


@pytest.mark.parametrize("source", ["The harbour is closed {}.", "Порт {} закрыт.", "港口{}关闭了。"])
def test_most_of_a_small_budget_is_used_and_none_of_it_passed(
    server: Server, tmp_path: Path, source: str
) -> None:
    """Its first call may cost more than all of it, by the most that is possible; it does not."""

    async def counted(request: web.Request, content: str) -> web.StreamResponse:
        payload = json.loads(await request.read())
        text = "".join(message["content"] for message in payload["messages"])
        body = envelope(content)
        body["usage"] = {"prompt_tokens": len(text) // 3, "completion_tokens": 40}
        return web.json_response(body)

    server.fails(counted)
    server.answer = lambda payload: '{"rating": 70}'
    segments = tuple(
        Segment(segment=f"{n}", lp="en-de", source=source.format(n), translations={"A": f"{n}"})
        for n in range(40)
    )

    def judged(out: str, **options: Any) -> None:
        settings: Any = {"base_url": server.url, "model": "mock", "concurrency": 8} | options
        run("gemba-da", TestSet(name="t", segments=segments), out=tmp_path / out, **settings)

    def paid(out: str) -> int:
        tokens = read_run_info(tmp_path / out).tokens
        return tokens["prompt"] + tokens["completion"]

    judged("whole")
    with pytest.raises(BudgetError):
        judged("part", budget_tokens=paid("whole") // 4)
    assert 0.7 * paid("whole") / 4 <= paid("part") <= paid("whole") / 4


def test_a_call_costs_at_most_a_token_a_byte_and_its_longest_reply() -> None:
    small, large = most_of(make_request("a")), most_of(make_request("\U0001f600" * 100))
    assert large.prompt - small.prompt == 4 * 100 - 1
    assert small.completion == large.completion == 2048
    assert most_of(make_request("a", schema={"type": "object"})).prompt > small.prompt


@pytest.mark.parametrize(
    ("outcome", "counts"),
    [
        (Reply(text="", usage=Usage(prompt=1)), False),
        (Reply(text=""), True),
        (None, False),
        (Fault(consequence="retry", reason="timeout", detail=""), True),
        (Fault(consequence="retry", reason="connection", detail=""), True),
        (Fault(consequence="retry", reason="connection", detail="", is_free=True), False),
        (Fault(consequence="retry", reason="bad_envelope", detail="", status=200), True),
        (
            Fault(consequence="retry", reason="bad_envelope", detail="", status=200, usage=Usage(prompt=1)),
            False,
        ),
        (Fault(consequence="retry", reason="server_error", detail="", status=503), False),
        (Fault(consequence="fail", reason="refused", detail="", status=400), False),
        (Fault(consequence="stop", reason="server_error", detail=""), False),
    ],
)
async def test_only_what_may_have_been_paid_uncounted_goes_on_counting(
    outcome: Reply | Fault | None, counts: bool
) -> None:
    account = Account("m", meter(Budget(tokens=10**6)))
    request = make_request()
    unsure = account.settle(request, (await account.reserve(request))[0], outcome)
    assert bool(unsure.prompt) == counts


@pytest.mark.parametrize(
    ("price", "words"),
    [
        (None, "price unknown"),
        (Decimal(), "0.00 USD"),
        (Decimal("0.0000004"), "0.0000004 USD"),
        (Decimal("0.0123456"), "0.01235 USD"),
        (Decimal("1234.5"), "1234.50 USD"),
        (0.5, "0.50 USD"),
    ],
)
def test_a_price_reads_well_and_is_never_0_for_nothing_known(
    price: Decimal | float | None, words: str
) -> None:
    assert render_price(price, "USD") == words
