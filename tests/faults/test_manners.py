"""Rate limits are used and kept: 90 % of what is allowed, at most 1 % of calls refused, none too early."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from adjudge.core.ask import Reply
from adjudge.errors import DONE
from adjudge.llm.faults import Fault, Patience, fault_of
from adjudge.llm.limits import join
from adjudge.llm.providers import COMPATIBLE, Endpoint
from adjudge.llm.remote import RemoteModel
from adjudge.llm.wire import Wire
from adjudge.store.run_directory import read_run_info
from tests.faults import server as faults
from tests.faults.conftest import Command, call, write_set
from tests.faults.limited import (
    Figures,
    Headers,
    LimitedServer,
    Meter,
    RetryAfter,
    compare,
    drive,
    finish,
    run,
)
from tests.faults.server import Server, plain
from tests.llm.conftest import make_request

LIMITS: dict[str, Callable[[], dict[str, Any]]] = {
    "600 requests a minute": lambda: {"requests": Meter(600, 600)},
    "60 requests a minute": lambda: {"requests": Meter(60, 60)},
    "600 requests a minute, 20 at once": lambda: {"requests": Meter(600, 20), "latency": 0.5},
    "200,000 tokens a minute": lambda: {"tokens": Meter(200_000, 200_000)},
    "both": lambda: {"requests": Meter(600, 600), "tokens": Meter(400_000, 400_000)},
}

MINUTES = {"60 requests a minute": 40, "200,000 tokens a minute": 30}  # a hundred calls and more per refusal


def measure(minutes: float, runs: int = 1, cap: int = 64, **server: Any) -> Figures:
    """Figures of some runs with one key that ask a server side by side."""

    async def main() -> Figures:
        limited = LimitedServer(**server)
        shares = [join("server", cap, Patience()) for _ in range(runs)]
        found = await asyncio.gather(
            *(drive(limited, share, minutes * 60, cap, seed=n) for n, share in enumerate(shares))
        )
        assert limited.failed == {}, "a limit fails nobody"
        return found[-1]

    return run(main())


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize(
    ("headers", "retry_after"),
    [
        ("openai", "seconds"),
        ("anthropic", "seconds"),
        ("openai", "none"),
        ("none", "seconds"),
        ("none", "none"),
    ],
)
def test_what_a_server_allows_is_used_and_not_overstepped(
    headers: Headers, retry_after: RetryAfter, limits: str
) -> None:
    found = measure(MINUTES.get(limits, 15), headers=headers, retry_after=retry_after, **LIMITS[limits]())
    is_told = headers != "none"  # otherwise the first refusals might be of single calls
    assert found.used >= 0.90
    assert found.late <= 0.01
    assert found.refused <= (0.01 if is_told else 0.02)
    assert found.too_early <= (0 if is_told else 40)


@pytest.mark.parametrize("limits", LIMITS)
def test_garbage_is_as_good_as_nothing(limits: str) -> None:
    found = measure(MINUTES.get(limits, 15), headers="garbage", retry_after="garbage", **LIMITS[limits]())
    assert found.used >= 0.90
    assert found.refused <= 0.02


@pytest.mark.parametrize("retry_after", ["seconds", "none"])
def test_a_limit_on_calls_at_a_time_is_found_too(retry_after: RetryAfter) -> None:
    found = measure(20, parallel=8, retry_after=retry_after)
    assert found.calls >= 0.8 * 8 / 2.0 * 60 * 20
    assert found.refused <= 0.02


@pytest.mark.parametrize(
    ("how", "used", "refused", "too_early"),
    [
        ({"runs": 3, "headers": "none"}, 0.90, 0.01, 0),
        ({"headers": "openai", "is_fixed": True}, 0.90, 0.01, 0),
        ({"is_fixed": True}, 0.65, 0.02, None),
        ({"is_fixed": True, "retry_after": "none"}, 0.65, 0.02, None),
        # a whole second is longer than it need be, so that little tells it from a whim
        ({"cap": 8, "is_rounded": True, "latency": 0.35}, 0.90, 0.02, None),
    ],
    ids=["three runs", "fixed, told", "fixed", "fixed, no Retry-After", "whole seconds"],
)
def test_a_limit_is_kept_however_it_is_told_and_by_whomever(
    how: dict[str, Any], used: float, refused: float, too_early: int | None
) -> None:
    more = dict(how)
    meter = Meter(600, 600, is_fixed=more.pop("is_fixed", False))
    found = measure(20, requests=meter, **{"retry_after": "seconds"} | more)
    assert found.used >= used
    assert found.refused <= refused
    assert too_early is None or found.too_early == too_early


@pytest.mark.parametrize("share", [0.02, 0.06, 0.2])
@pytest.mark.parametrize("is_slow", [True, False])
@pytest.mark.parametrize("latency", [0.35, 1.0])
def test_a_short_run_is_not_held_up_by_refusals_of_single_calls(
    share: float, is_slow: bool, latency: float
) -> None:
    ratios = [compare(120, 8, seed, whims=share, latency=latency, is_slow=is_slow) for seed in range(6)]
    assert min(ratios) >= 0.8


@pytest.mark.parametrize("share", [0.02, 0.06, 0.2])
@pytest.mark.parametrize("is_slow", [True, False])
def test_refusals_of_single_calls_do_not_hold_up_the_others(share: float, is_slow: bool) -> None:
    """A plain client repeats each refused call after its Retry-After and minds nothing else."""
    ratios = [compare(1000, 8, seed, whims=share, latency=0.35, is_slow=is_slow) for seed in range(3)]
    assert sum(ratios) / 3 >= 0.8


TOO_LARGE = "Request too large for m on tokens per min (TPM): Limit 10000, Requested 12000."
OVERLOADED, BUSY = fault_of(429, "overloaded"), fault_of(503, "busy")


async def finished(calls: int, workers: int, **server: Any) -> tuple[float, dict[int, str]]:
    """Seconds for some texts, and which were given up."""
    limited = LimitedServer(**server)
    return await finish(limited, join("one", workers, Patience()), calls, workers), limited.failed


@pytest.mark.parametrize("wait", [None, 1.0])
@pytest.mark.parametrize(("message", "reason"), [("slow down", "server_error"), (TOO_LARGE, "too_long")])
def test_a_call_that_is_always_refused_fails_alone(message: str, wait: float | None, reason: str) -> None:
    broken = {5: fault_of(429, message, wait)}
    seconds, failed = run(finished(1000, 8, latency=0.35, broken=broken))
    assert failed == {5: reason}
    assert seconds < 1.5 * 1000 / 8 * 0.35


@pytest.mark.parametrize("is_slow", [True, False])
@pytest.mark.parametrize("latency", [0.25, 2.0])
@pytest.mark.parametrize("share", [0.02, 0.05, 0.06, 0.2])
def test_refusals_without_retry_after_do_not_stall_a_run(share: float, latency: float, is_slow: bool) -> None:
    ratios = [
        compare(400, 20, seed, whims=share, whim=None, latency=latency, is_slow=is_slow) for seed in range(2)
    ]
    assert min(ratios) >= 0.8
    usual, _ = run(finished(400, 20, latency=latency))
    seconds, failed = run(finished(400, 20, latency=latency, whims=share, whim=None, is_slow=is_slow))
    assert failed == {}
    assert seconds <= 3 * usual


@pytest.mark.parametrize("latency", [0.01, 0.25, 2.0])
@pytest.mark.parametrize(
    ("broken", "unreadable"),
    [
        (dict.fromkeys((30, 77, 150), OVERLOADED), 0.1),
        ({30: BUSY}, 0.0),
        ({399: BUSY}, 0.0),
        (dict.fromkeys(range(0, 400, 50), fault_of(529, "overloaded")), 0.0),
    ],
)
def test_texts_that_always_get_an_error_fail_and_hold_back_nobody(
    broken: dict[int, Fault], unreadable: float, latency: float
) -> None:
    usual, _ = run(finished(400, 20, latency=latency))
    seconds, failed = run(finished(400, 20, latency=latency, broken=broken, unreadable=unreadable))
    assert {text: failed.get(text) for text in broken} == dict.fromkeys(broken, "server_error")
    assert {failed[text] for text in failed.keys() - broken.keys()} <= {"bad_envelope"}
    assert len(failed) - len(broken) <= 400 * unreadable**2 * 4, "the others had two answers that hold none"
    assert seconds <= 3 * usual + 20


@pytest.mark.parametrize("whim", [1.0, None])
def test_where_headers_tell_of_plenty_refusals_of_single_calls_do_not_hold_up_the_others(
    whim: float | None,
) -> None:
    meter = Meter(60_000, 60_000)
    assert compare(1000, 8, headers="openai", requests=meter, whims=0.06, whim=whim, latency=0.35) >= 0.8


@pytest.mark.parametrize("retry_after", ["seconds", "none"])
@pytest.mark.parametrize(("cap", "minutes", "rate"), [(2, 120, 10), (500, 10, 600)])
def test_a_limit_is_found_by_few_and_by_many_at_a_time(
    cap: int, minutes: int, rate: int, retry_after: RetryAfter
) -> None:
    found = measure(minutes, cap=cap, retry_after=retry_after, requests=Meter(rate, rate))
    assert found.used >= 0.80
    assert found.refused <= 0.03


class Doorkeeper:
    """Lets so many calls a second through the test server, and tells the others when to come back."""

    WAIT = 1.2

    def __init__(self, server: Server, monkeypatch: pytest.MonkeyPatch, rate: float, burst: float) -> None:
        self.rate, self.burst, self.level = rate, burst, burst
        self.at = time.monotonic()
        monkeypatch.setitem(faults.FAULTS, "too many", self.refuse)
        server.play = self.play

    def play(self, number: int) -> str | None:
        now = time.monotonic()
        self.level = min(self.level + (now - self.at) * self.rate, self.burst)
        self.at = now
        if self.level < 1:
            return "too many"
        self.level -= 1
        return None

    async def refuse(self, request: web.Request, content: str) -> web.StreamResponse:
        return web.json_response({"error": "slow down"}, status=429, headers={"Retry-After": f"{self.WAIT}"})


async def test_over_a_real_wire_no_call_is_made_again_before_its_retry_after_is_over(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    Doorkeeper(server, monkeypatch, rate=20, burst=20)
    refused: dict[tuple[int, str], float] = {}
    pauses: list[float] = []
    send = Wire.exchange

    async def timed(wire: Wire, body: bytes, *more: Any) -> Reply | Fault:
        key, now = (id(wire), plain(json.loads(body))), time.monotonic()
        if key in refused:
            pauses.append(now - refused.pop(key))
        outcome = await send(wire, body, *more)
        if isinstance(outcome, Fault):
            refused[key] = time.monotonic()
        return outcome

    monkeypatch.setattr(Wire, "exchange", timed)
    endpoint = Endpoint(provider=COMPATIBLE, url=server.url, model="mock", key="k")
    one, two = RemoteModel(endpoint), RemoteModel(replace(endpoint))
    try:
        asked = [model.reply(make_request(f"{n}")) for n in range(30) for model in (one, two)]
        await asyncio.gather(*asked)
        assert one.limiter is two.limiter
    finally:
        await one.close()
        await two.close()
    assert pauses, "it was asked too fast at first"
    assert min(pauses) >= Doorkeeper.WAIT - 0.01


def test_a_run_says_how_fast_it_could_ask(server: Server, command: Command, tmp_path: Path) -> None:
    server.fails("429 soon", None)
    assert command() == DONE
    calls = read_run_info(tmp_path / "run").calls
    assert (calls["asked"], calls["refused"], calls["concurrency"]) == (4, 1, 16)


def test_units_that_share_a_segment_are_asked_close_together(
    server: Server, command: Command, tmp_path: Path
) -> None:
    server.delay = 0.002
    write_set(tmp_path / "set.jsonl", 40, systems="ABC")
    assert command("--concurrency", "6") == DONE
    places: dict[str, list[int]] = {}
    for place, payload in enumerate(server.log):
        source = str(payload["messages"]).split("Sentence ")[1].split()[0]
        places.setdefault(source, []).append(place)
    assert {len(found) for found in places.values()} == {3}
    assert max(found[-1] - found[0] for found in places.values()) < 3 + 6


def test_a_wish_to_wait_for_long_stops_the_run_and_nothing_more_is_sent(
    server: Server, command: Command, tmp_path: Path
) -> None:
    server.fails(None, "429 tomorrow", None)
    assert command("--concurrency", "4") != DONE
    assert len(server.log) <= 4
    assert call("trace", str(tmp_path / "run"), "--segment", "0", "--system", "A") == DONE
