"""Who may ask a server now: one limiter for all that ask one model with one key, whatever its dialect.

Calls go out in the order in which they came. A call that was refused keeps its place in the queue (`Turn`),
and each model has a `Share` in the limiter. Held back are all calls, or none: while the server asked for a
pause or cannot be reached (`Pauses`; one call at a time then tries whether it can), while its buckets are
empty, and while as many calls are under way as it seems to bear. `pacing.py` has the arithmetic. All
times are the event loop's, which no change of the wall clock moves.
"""

from __future__ import annotations

import asyncio
import heapq
import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Final, Self
from weakref import WeakKeyDictionary

from adjudge.core.ask import Reply
from adjudge.errors import ServerAwayError
from adjudge.llm.faults import Fault, Patience
from adjudge.llm.pacing import Blame, Bucket, Kind, Pace, Sizes, Window, read_allowances


class Turn:
    """A call and its place in the queue: each `async with` is one try, and ends whatever happens.

    `size`: bytes of the body.
    """

    def __init__(self, share: Share, size: int, max_tokens: int) -> None:
        self.share, self.size, self.max_tokens = share, size, max_tokens
        self.place = next(share.limiter.places)
        """Lower goes first."""
        self.costs: dict[Kind, float] = {"requests": 1.0}
        """What the try spends."""
        self.spent: dict[Kind, float] = {}
        """What all had spent when it was sent."""
        self.sent = self.before = math.inf
        """When it was sent, and when the try before was."""
        self.number, self.flying, self.was_full = 0, 0, False
        """Which call that was, how many were under way with it, and whether no more were let go."""
        self.refused = self.ahead = 0
        """How often it was refused for the server's load, and how many more answers than refusals there
        were before."""

    async def __aenter__(self) -> Self:
        await self.share.limiter.enter(self)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.share.limiter.leave()

    def heard(self, headers: Mapping[str, str]) -> None:
        """Take what the headers of the answer say."""
        self.share.limiter.heard(self, headers)

    def judged(self, outcome: Reply | Fault) -> Reply | Fault:
        """Take what became of the call for the calls to come.

        The outcome; a fault that says more of how fast we ask than of the call costs it no attempt.
        """
        return self.share.limiter.judged(self, outcome)


class Share:
    """One model's part in a limiter."""

    def __init__(self, limiter: Limiter, cap: int) -> None:
        self.limiter = limiter
        self.cap = cap
        self._closing = asyncio.Event()

    @property
    def is_closed(self) -> bool:
        return self._closing.is_set()

    def turn(self, size: int, max_tokens: int) -> Turn:
        """Stand in line with a call; see `Turn`."""
        return Turn(self, size, max_tokens)

    async def sleep(self, seconds: float) -> None:
        """Wait some seconds."""
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
        self.close()
        self.limiter.drop(self)


class Pauses:
    """The pauses of one server; times are seconds on a monotonic clock."""

    def __init__(self, patience: Patience, now: float) -> None:
        self.until = now
        self.away: float | None = None
        """Since when the server cannot be reached; None while it can."""
        self._patience = patience
        self.asked = 0.0
        """Seconds of all pauses so far, what is left of this one included."""
        self._reacted = -1.0
        self.troubles = 0
        """In turn."""

    def left(self, now: float) -> float:
        """Seconds until calls may be sent."""
        return max(self.until - now, 0.0)

    def trouble(self, now: float, sent: float, asked: float | None) -> None:
        """Pause because of one call.

        Of calls that went out together and come back in trouble only the first lengthens the pause.

        `asked`: seconds that the server asked for; None for as long as seems right.
        """
        if sent >= self._reacted:
            self._reacted = now
            self.troubles += 1
        elif not asked:
            return
        until = max(self.until, now + (asked or self._patience.pause(self.troubles)))
        self.asked += until - max(self.until, now)
        self.until = until


_TELLING: Final = 50  # answers after which a refusal of more calls at a time than ever tells a limit on these
# Refusals of one text, no more than answers to others meanwhile: it is refused for itself...
_OFTEN: Final = 4
_HOPELESS: Final = 10  # ... and given up after so many
_CLEAR: Final = (0.2, 10.0)  # seconds of a Retry-After that may be meant for one call
_OWN_PAUSE: Final = 2.0  # seconds at most before a refused text is put again while others are answered
_GREETING: Final = 2.0  # seconds for which the first call goes alone; its headers seed the buckets


@dataclass(frozen=True)
class Load:
    """How it stands with a server."""

    concurrency: int = 0  # calls that may be under way at a time now
    in_flight: int = 0
    refused: int = 0  # calls that it refused for a limit or its load (429, 503, 529)
    waited: float = 0.0  # seconds in which it asked for none, or could not be reached
    waits: str = ""  # what all calls wait for now; empty where they do not

    def __add__(self, other: Load) -> Load:
        return Load(
            concurrency=self.concurrency + other.concurrency,
            in_flight=self.in_flight + other.in_flight,
            refused=self.refused + other.refused,
            waited=max(self.waited, other.waited),
            waits=self.waits or other.waits,
        )

    @property
    def counts(self) -> dict[str, int]:
        """What a run record keeps of it; nothing where no server was asked."""
        facts = {"concurrency": self.concurrency, "refused": self.refused, "waited": round(self.waited)}
        return facts if self.concurrency else {}

    def __str__(self) -> str:
        """A few words for a line of progress."""
        words = f"{self.in_flight} of {self.concurrency} at a time"
        return f"{words}, {self.waits}" if self.waits else words


class Limiter:
    """See the module. `clock`: seconds, never going back."""

    def __init__(self, patience: Patience, clock: Callable[[], float]) -> None:
        self.places, self._numbers = count(), count()
        self._clock, self._patience = clock, patience
        self._pauses = Pauses(patience, clock())
        self.shares: list[Share] = []
        self._window = Window(1)
        self._pace = Pace()
        self._blame = Blame()
        self._sizes = Sizes()
        self._buckets: dict[Kind, Bucket] = {"requests": Bucket(), "tokens": Bucket()}
        self._queue: list[tuple[int, Turn, asyncio.Future[None]]] = []
        self._flying = 0
        self._first = math.inf
        self._met = False
        self._accepted = -1.0
        self._refused = 0
        self._answers = 0
        self._borne = 0  # calls at a time that it has taken
        self.part = 1.0
        """Of what headers allow, how much is ours; the rest is for other processes that have the same key."""
        self._timer: asyncio.TimerHandle | None = None

    @property
    def load(self) -> Load:
        """Return the current load: calls in flight, waiting, and the rate limit."""
        now = self._clock()
        waited = self._pauses.asked - self._pauses.left(now)
        return Load(self._window.size, self._flying, self._refused, waited, self._what_waits(now))

    def _what_waits(self, now: float) -> str:
        if self._pauses.away is not None:
            return f"no server for {now - self._pauses.away:.0f} s"
        if (left := self._pauses.left(now)) >= 1:
            return f"the server wants a pause, {left:.0f} s left"
        if self._pace.rate is not None:
            return f"{self._pace.rate:.2g} calls/s, for it refuses more"
        wait = max(bucket.opens_at(now, 1.0) for bucket in self._buckets.values()) - now
        return f"what it allows is used up, {wait:.0f} s left" if wait >= 1 else ""

    def join(self, cap: int) -> Share:
        self.shares.append(Share(self, cap))
        self._fit()
        return self.shares[-1]

    def drop(self, share: Share) -> None:
        """Go on without a share."""
        self.shares = [each for each in self.shares if each is not share]
        self._fit()

    def _fit(self) -> None:
        self._window.cap = min((share.cap for share in self.shares), default=1)
        self._pump()

    # In and out...

    async def enter(self, turn: Turn) -> None:
        """Wait for a turn; see `Turn`."""
        while not turn.share.is_closed:
            await self._stand_in_line(turn)
            if not self._pauses.left(self._clock()) and not turn.share.is_closed:
                return
            self._return(turn)  # between being called and going, a pause began or the run was stopped
        raise asyncio.CancelledError

    async def _stand_in_line(self, turn: Turn) -> None:
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._queue, (turn.place, turn, granted))
        self._pump()
        try:
            await granted
        except asyncio.CancelledError:
            if not granted.cancelled() and granted.exception() is None:
                self._return(turn)  # it was called meanwhile
            raise

    def leave(self) -> None:
        self._flying -= 1
        self._pump()

    def _return(self, turn: Turn) -> None:
        now = self._clock()
        for kind, bucket in self._buckets.items():
            bucket.spend(now, -turn.costs[kind])
        self._pace.give_back()
        self.leave()

    def dismiss(self, share: Share) -> None:
        """Send away who waits for this share."""
        for _, turn, granted in self._queue:
            if turn.share is share and not granted.done():
                granted.cancel()

    def _pump(self) -> None:
        if (left := self._pauses.left(self._clock())) > self._patience.longest_wait:
            self._send_all_away(f"the server asks for a pause of {left:.0f} s; resume later")
        while self._queue and self._flying < (1 if self._pauses.away else self._window.size):
            (_, turn, granted), now = self._queue[0], self._clock()
            if not granted.done():
                if (opens := self._opens_at(now, turn)) > now:
                    if self._timer is not None:
                        self._timer.cancel()
                    self._timer = asyncio.get_running_loop().call_at(opens, self._pump)
                    return
                self._let_go(now, turn)
                granted.set_result(None)
            heapq.heappop(self._queue)

    def _opens_at(self, now: float, turn: Turn) -> float:
        turn.costs["tokens"] = self._sizes.guess(turn.size, turn.max_tokens)
        opens = [bucket.opens_at(now, turn.costs[kind]) for kind, bucket in self._buckets.items()]
        opens += [self._pauses.until, self._pace.opens_at(now)]
        if self._flying and not self._met:
            opens.append(self._first + _GREETING)
        return max(opens)

    def _let_go(self, now: float, turn: Turn) -> None:
        self._first = min(self._first, now)
        self._flying += 1
        turn.number = next(self._numbers)
        self._pace.spend(now)
        for kind, bucket in self._buckets.items():
            bucket.spend(now, turn.costs[kind])
            turn.spent[kind] = bucket.spent
        turn.before, turn.sent = turn.sent, now
        turn.flying, turn.was_full = self._flying, self._flying >= self._window.size

    # What answers teach...

    def heard(self, turn: Turn, headers: Mapping[str, str]) -> None:
        self._met = True
        self._pauses.away = None
        now = self._clock()
        for kind, said in read_allowances(headers).items():
            self._buckets[kind].learn(now, said, turn.sent, turn.spent[kind], self.part)

    def judged(self, turn: Turn, outcome: Reply | Fault) -> Reply | Fault:
        """Take what became of a call; see `Turn.judged`."""
        now = self._clock()
        if isinstance(outcome, Fault) and outcome.limited:
            return (self._lost if outcome.status is None else self._refusal)(turn, outcome, now)
        if isinstance(outcome, Reply) or 0 < (outcome.status or 0) < 500:
            self._accepted = now  # the server had room for it
            self._answers += 1
        if isinstance(outcome, Reply):
            self._pauses.troubles = 0
            self._borne = max(self._borne, turn.flying)
            self._window.answered(now, was_full=turn.was_full)
            self._pace.answered(now, turn.sent)
            self._sizes.learn(turn.size, outcome.usage)
            return outcome
        if outcome.wait is not None or outcome.consequence == "stop":  # who has no quota left sends no more
            self._pauses.trouble(now, turn.sent, outcome.wait)
        if outcome.reason == "timeout":
            self._window.troubled(now)
        return outcome

    def _refusal(self, turn: Turn, fault: Fault, now: float) -> Fault:
        ahead = self._answers - self._refused
        if not turn.refused:
            turn.ahead = ahead
        turn.refused += 1
        self._refused += 1
        is_own = turn.refused >= _OFTEN and ahead > turn.ahead
        if is_own and turn.refused >= _HOPELESS and fault.status == 429:
            detail = f"{fault.detail}; refused {turn.refused} times while other calls were taken"
            return replace(fault, consequence="fail", wait=None, detail=detail)
        if self._is_ours(turn, fault, now, is_own=is_own):
            self._hold_back(turn, fault, now)
        if fault.status != 429 or fault.wait is not None or self._accepted < min(turn.before, turn.sent):
            return fault
        return replace(fault, wait=min(self._patience.pause(turn.refused), _OWN_PAUSE), is_free=True)

    def _hold_back(self, turn: Turn, fault: Fault, now: float) -> None:
        self._pauses.trouble(now, turn.sent, fault.wait)
        if self._answers >= _TELLING and turn.flying > self._borne:
            self._window.bounded(now, self._borne)
            return
        if self._pace.rate is None:
            self._window.troubled(now)
        if fault.status == 429 and not self._pace.refused(now, turn.sent, self._pauses.until):
            self._pace, self._blame = Pace(), Blame()

    def _is_ours(self, turn: Turn, fault: Fault, now: float, *, is_own: bool) -> bool:
        is_crowded, is_limit = self._blame.refused(turn.number), fault.status == 429
        if is_limit and self._pace.rate is not None:
            return True
        if is_own or is_crowded or not fault.wait:
            return is_crowded and not is_own
        is_clear = is_limit and _CLEAR[0] <= fault.wait <= _CLEAR[1]
        # Where headers say that half is left, who is refused is refused for itself.
        return not is_clear or min(bucket.left(now) for bucket in self._buckets.values()) < 0.5

    def _lost(self, turn: Turn, fault: Fault, now: float) -> Fault:
        """The server cannot be reached: nobody but one call at a time tries whether it can."""
        self._pauses.trouble(now, turn.sent, None)
        self._pauses.away = now if self._pauses.away is None else self._pauses.away
        away = now - self._pauses.away
        if away > (self._patience.longest_wait if self._met else self._patience.first_wait):
            advice = "resume later" if self._met else "start it or mend the address, then run the same again"
            detail = f"{fault.detail}, for {away:.0f} s now; {advice}"
            self._send_all_away(detail)
            return replace(fault, consequence="stop", detail=detail)
        return replace(fault, wait=0.0) if self._accepted >= 0 else fault

    def _send_all_away(self, why: str) -> None:
        for _, _, granted in self._queue:
            if not granted.done():
                granted.set_exception(ServerAwayError(why))


def load_of(limiters: Iterable[Limiter]) -> Load:
    return sum((limiter.load for limiter in set(limiters)), Load())


_LIMITERS: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, Limiter]] = WeakKeyDictionary()


def join(where: Hashable, cap: int, patience: Patience) -> Share:
    """Take part in the limiter of a server, which is made if nobody has a part in it.

    `cap`: calls at a time at most.
    """
    loop = asyncio.get_running_loop()
    limiters = _LIMITERS.setdefault(loop, {})
    for key in [key for key, limiter in limiters.items() if not limiter.shares]:
        del limiters[key]
    if where not in limiters:
        limiters[where] = Limiter(patience, loop.time)
    return limiters[where].join(cap)
