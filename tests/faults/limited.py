"""A server with rate limits, and time that passes as fast as it is computed.

`LimitedServer` counts requests and tokens as providers do, in buckets that fill steadily or all at once at
the end of a minute, and tells of it in headers or not, with a Retry-After or not. It is called directly,
where the engine would send. `run` runs a coroutine in a loop whose clock jumps from one event to the next, so
that an hour of it takes seconds.
"""

import asyncio
import datetime as dt
import email.utils
import math
import random
import selectors
from collections.abc import Coroutine, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from adjudge.core.ask import Reply, Usage
from adjudge.errors import AnswerError
from adjudge.llm.faults import Fault, Patience, Tries, fault_of, read_retry_after, retried
from adjudge.llm.limits import Share, Turn, join

T = TypeVar("T")

Headers = Literal["none", "openai", "anthropic", "garbage"]
RetryAfter = Literal["none", "seconds", "garbage"]


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop that sleeps in no time at all."""

    def __init__(self) -> None:
        self.now = 1000.0
        super().__init__(_Idle(self))

    def time(self) -> float:
        return self.now


class _Idle(selectors.DefaultSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise AssertionError("everybody waits, and nothing will ever happen: a wake-up was lost")
        self._loop.now += timeout
        return super().select(0)


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run to the end in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(coroutine)


@dataclass
class Meter:
    """One limit as the server counts it."""

    a_minute: float
    burst: float
    is_fixed: bool = False
    level: float = field(init=False)
    at: float = 1000.0

    def __post_init__(self) -> None:
        self.level = self.burst

    def refill(self, now: float) -> None:
        if self.is_fixed:
            if now // 60 > self.at // 60:
                self.level = self.burst
        else:
            self.level = min(self.level + (now - self.at) * self.a_minute / 60, self.burst)
        self.at = now

    def wait(self, units: float) -> float:
        """Seconds until so many are there."""
        if self.is_fixed:
            return 60 - self.at % 60
        return max(units - self.level, 0.0) * 60 / self.a_minute

    def reset(self) -> float:
        """Seconds until all are there."""
        return self.wait(self.burst) if self.level < self.burst else 0.0


@dataclass
class LimitedServer:
    """See the module; `latency` is how long an answer takes, a refusal a fiftieth of it."""

    requests: Meter | None = None
    tokens: Meter | None = None
    headers: Headers = "none"
    retry_after: RetryAfter = "none"
    latency: float = 2.0
    parallel: int = 10**9
    whims: float = 0.0  # share of calls that it refuses whatever is left, for `whim` seconds
    whim: float | None = 1.0
    is_rounded: bool = False  # Retry-After in whole seconds
    is_slow: bool = False  # a whim takes as long as an answer
    unreadable: float = 0.0  # share of answers that hold none
    broken: Mapping[int, Fault] = field(default_factory=dict)  # texts that always get this
    seed: int = 0
    accepted: int = 0
    refused: int = 0
    late: int = 0  # of them, those ten seconds after the first and more
    used: float = 0.0
    too_early: int = 0
    in_flight: int = 0
    peak: int = 0
    failed: dict[int, str] = field(default_factory=dict)  # texts that were given up, and why

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)
        self._first = math.inf  # refusal
        self._closed_until = -1.0  # by a Retry-After that has arrived

    async def call(self, turn: Turn, prompt: int, completion: int, text: int = -1) -> Reply | Fault:
        """Send one request."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        self.too_early += now < self._closed_until - 1e-9
        fault = self.broken.get(text)
        if fault is None and self._chance.random() < self.whims:
            fault = fault_of(429, "not now", self.whim)
        if fault is not None:
            self.refused += 1
            await asyncio.sleep(self.latency * (1.0 if self.is_slow else 0.02))
            turn.heard({})
            return fault
        headers, is_taken, wait = self._admit(now, prompt + completion)
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            factor = self._chance.uniform(0.5, 1.5) if is_taken else 0.02
            await asyncio.sleep(self.latency * factor)
        finally:
            self.in_flight -= 1
        turn.heard(headers)
        if is_taken and self.unreadable and self._chance.random() < self.unreadable:
            return retried("bad_envelope", "choices is empty", 200)
        if is_taken:
            return Reply(text="", usage=Usage(prompt=prompt, completion=completion))
        if self.retry_after == "seconds":
            self._closed_until = max(self._closed_until, now + wait)
        return fault_of(429, "slow down", read_retry_after(headers.get("Retry-After")))

    def _admit(self, now: float, size: float) -> tuple[dict[str, str], bool, float]:
        meters = [(m, n) for m, n in ((self.requests, 1.0), (self.tokens, size)) if m is not None]
        for meter, _ in meters:
            meter.refill(now)
        wait = max((m.wait(n) for m, n in meters if m.level < n), default=0.0)
        wait = math.ceil(wait) if self.is_rounded else wait
        is_taken = all(m.level >= n for m, n in meters) and self.in_flight < self.parallel
        if is_taken:
            self.accepted += 1
            self.used += size
            for meter, units in meters:
                meter.level -= units
        else:
            self.refused += 1
            self._first = min(self._first, now)
            self.late += now >= self._first + 10
        return self._say(is_taken, wait), is_taken, wait

    def _say(self, is_taken: bool, wait: float) -> dict[str, str]:
        said: dict[str, str] = {}
        for kind, meter in (("requests", self.requests), ("tokens", self.tokens)):
            if meter is None or self.headers == "none":
                continue
            values = (str(int(meter.burst)), str(int(meter.level)), f"{meter.reset() * 1000:.0f}ms")
            if self.headers == "garbage":
                values = ("-1", "lots", "soon")
            if self.headers == "anthropic":
                reset = dt.datetime.fromtimestamp(math.ceil(meter.at + meter.reset()), dt.UTC)
                values = (*values[:2], reset.isoformat().replace("+00:00", "Z"))
                said["Date"] = email.utils.formatdate(meter.at, usegmt=True)
            for name, value in zip(("limit", "remaining", "reset"), values, strict=True):
                spelled = f"x-ratelimit-{name}-{kind}"
                said[f"anthropic-ratelimit-{kind}-{name}" if self.headers == "anthropic" else spelled] = value
        if not is_taken and self.retry_after != "none":
            said["Retry-After"] = f"{wait:.3f}" if self.retry_after == "seconds" else "in a while"
        return said


@dataclass(frozen=True)
class Figures:
    """What came of it.

    Args:
        used: share of what the server allowed.
        refused: share of the calls that it refused.
        late: share that it refused more than ten seconds after its first refusal.
        too_early: calls before a Retry-After that had been received was over.
        calls: answered.
    """

    used: float
    refused: float
    late: float
    too_early: int
    calls: int


def sizes(chance: random.Random) -> tuple[int, int]:
    """Tokens of a question and of its answer."""
    return chance.randint(400, 1200), chance.randint(20, 300)


async def ask(
    server: LimitedServer, share: Share, prompt: int, completion: int, end: float, text: int = -1
) -> None:
    """One call as the engine makes it: through the limiter, and again after a fault until it is given up."""
    loop = asyncio.get_running_loop()
    place, tries = share.turn(size=3 * prompt, max_tokens=2048), Tries(Patience(), 180.0)
    while loop.time() < end:
        async with place as turn:
            outcome = turn.judged(await server.call(turn, prompt, completion, text))
        if isinstance(outcome, Reply):
            return
        if outcome.consequence == "fail":
            server.failed[text] = outcome.reason
            return
        try:
            await share.sleep(tries.next_pause(outcome))
        except AnswerError as error:
            server.failed[text] = error.reason
            return


async def ask_plainly(
    server: LimitedServer, share: Share, prompt: int, completion: int, end: float, text: int = -1
) -> None:
    """One call as a plain client makes it: at once, and again after its Retry-After, or after a second."""
    loop = asyncio.get_running_loop()
    turn = share.turn(size=3 * prompt, max_tokens=2048)
    turn.spent = {"requests": 0.0, "tokens": 0.0}
    while loop.time() < end:
        outcome = await server.call(turn, prompt, completion, text)
        if isinstance(outcome, Reply):
            return
        await asyncio.sleep(1.0 if outcome.wait is None else outcome.wait)


async def drive(
    server: LimitedServer, share: Share, seconds: float, workers: int, seed: int = 0, call: Any = ask
) -> Figures:
    """Ask for so many seconds, as a run would: each worker one call after the other, refused ones again."""
    loop = asyncio.get_running_loop()
    chance = random.Random(seed)
    end = loop.time() + seconds

    async def worker() -> None:
        while loop.time() < end:
            await call(server, share, *sizes(chance), end)

    await asyncio.gather(*(worker() for _ in range(workers)))
    return figures(server, loop.time() - (end - seconds))


async def finish(server: LimitedServer, share: Share, calls: int, workers: int, call: Any = ask) -> float:
    """Seconds for so many calls, asked by so many workers."""
    loop, chance = asyncio.get_running_loop(), random.Random(0)
    began, left = loop.time(), iter(range(calls))

    async def worker() -> None:
        for text in left:
            await call(server, share, *sizes(chance), began + 1e6, text)

    await asyncio.gather(*(worker() for _ in range(workers)))
    return loop.time() - began


def compare(calls: int, workers: int, seed: int = 0, **server: Any) -> float:
    """How fast we are with such a server, as a share of how fast a plain client is."""

    async def seconds(call: Any) -> float:
        share = join("server", workers, Patience())
        return await finish(LimitedServer(seed=seed, **deepcopy(server)), share, calls, workers, call)

    return run(seconds(ask_plainly)) / run(seconds(ask))


def figures(server: LimitedServer, seconds: float) -> Figures:
    """How well the server's limits were used."""
    shares = []
    for meter, used in ((server.requests, float(server.accepted)), (server.tokens, server.used)):
        if meter is not None:
            saved = 0.0 if meter.is_fixed else meter.burst
            shares.append(used / (saved + meter.a_minute * seconds / 60))
    sent = server.accepted + server.refused
    refused = (server.refused / max(sent, 1), server.late / max(sent, 1))
    return Figures(max(shares, default=1.0), *refused, server.too_early, server.accepted)
