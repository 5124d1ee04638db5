"""How fast a server lets itself be asked: plain arithmetic, on a clock that is given.

`read_allowances` reads what the headers of an answer say of rate limits. `Window` is how many calls are under
way at a time, `Bucket` what the headers say is left, `Pace` what refusals teach where headers say nothing,
`Blame` whether refusals come of our speed at all, `Sizes` what a call is likely to count in tokens.
Times are seconds on a monotonic clock.
"""

from __future__ import annotations

import datetime as dt
import email.utils
import math
import re
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal, get_args

from adjudge.core.ask import Usage

Kind = Literal["requests", "tokens"]

_FIELDS: Final = ("limit", "remaining", "reset")
_NAMES: Final = [  # in both spellings, made once: every answer is asked for them
    (kind, tuple(names))
    for kind in get_args(Kind)
    for names in (
        [f"x-ratelimit-{field}-{kind}" for field in _FIELDS],
        [f"anthropic-ratelimit-{kind}-{field}" for field in _FIELDS],
    )
]
_UNITS: Final = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "": 1.0}
_PARTS: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|us|µs|d|h|m|s|)", re.ASCII)
_COUNT: Final = re.compile(r"\s*\d{1,12}\s*", re.ASCII)


@dataclass(frozen=True)
class Allowance:
    """What one answer says of one limit."""

    limit: int  # units that the server lets through at once after a rest; over 0
    remaining: int  # of these when it took the call; at most `limit`
    reset: float | None = None  # seconds until all of them are there again; None where it does not say


def read_allowances(headers: Mapping[str, str]) -> dict[Kind, Allowance]:
    """What the headers say of requests and of tokens; nothing where they say nothing that makes sense."""
    found: dict[Kind, Allowance] = {}
    for kind, names in _NAMES:
        limit, remaining, reset = (headers.get(name, "") for name in names)
        if _COUNT.fullmatch(limit) and _COUNT.fullmatch(remaining) and int(limit):
            left = min(int(remaining), int(limit))
            found[kind] = Allowance(int(limit), left, read_wait(reset, headers.get("Date")))
    return found


def read_wait(text: str, date: str | None) -> float | None:
    """Seconds of `6m0s`, `20ms`, `59.8`, or until a time; None for anything else."""
    text = text.strip()
    parts = _PARTS.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        return sum(float(number) * _UNITS[unit] for number, unit in parts)
    when = _read_time(text)
    if when is None or when.tzinfo is None:
        return None
    server = _read_time(date or "")
    if server is None or server.tzinfo is None:
        server = dt.datetime.now(dt.UTC)
    return max((when - server).total_seconds(), 0.0)


def _read_time(text: str) -> dt.datetime | None:
    for read in (dt.datetime.fromisoformat, email.utils.parsedate_to_datetime):
        with suppress(ValueError):
            return read(text)
    return None


_START: Final = 20
_GROWTH: Final = 0.05  # a round
_SHRINK: Final = 0.8
_BOUND: Final = 300.0
_REST: Final = 15.0  # seconds between two times that the window shrinks

_SPARE: Final = 0.01  # of a bucket that is left in it: others may ask too, and we count tokens by estimate
_TINY: Final = 1e-6
_TRUST: Final = 60.0  # seconds that a header holds us back at most; then one call asks how things are


class Window:
    """Calls at a time: fewer when the server has trouble, slowly more when it has none.

    It starts with 20 and doubles each round until the first trouble. Then it grows by a twentieth a round,
    and each trouble takes a fifth of it, though not twice within 15 seconds, since calls that were under way
    together fail together. A round is as many answers as the window is wide.
    """

    def __init__(self, cap: int) -> None:
        self.cap = cap
        self._size = float(_START)
        self._rests_until = self._bound_until = -1.0
        self._is_new = True

    @property
    def size(self) -> int:
        """Calls at a time; 1 or more."""
        return min(int(self._size), self.cap)

    def answered(self, now: float, *, was_full: bool) -> None:
        """One call came back well; only a window that was full has shown that it could be wider."""
        if was_full and self._size < self.cap and now >= max(self._rests_until, self._bound_until):
            self._size += 1.0 if self._is_new else _GROWTH

    def bounded(self, now: float, most: int) -> None:
        """The server takes so many at a time and no more; believed for five minutes."""
        self._is_new = False
        self._size, self._bound_until = float(max(most, 1)), now + _BOUND

    def troubled(self, now: float) -> None:
        """One call was refused for the server's load, or never came back."""
        self._is_new = False
        if now >= self._rests_until:
            self._size = max(min(self._size, self.cap) * _SHRINK, 1.0)
            self._rests_until = now + _REST


class Bucket:
    """What is left of one of the server's limits, by its headers and by what was sent since.

    Servers count in two ways: what was used comes back steadily, or all of it at the end of a minute. They do
    not say in which; but where it comes back steadily, what is gone and the time until all is back have one
    ratio, that of the limit and its window.
    """

    def __init__(self) -> None:
        self.spent = 0.0
        self._capacity = 0.0  # 0: the server has not said
        self._level = self._rate = self._at = self._back = 0.0
        self._full_at = math.inf  # when `_back` comes back at once
        self._heard = self._asked = -1.0
        self._shortest, self._longest = math.inf, 0.0

    def left(self, now: float) -> float:
        """Share that is left, 0 to 1; infinite where the server has not said."""
        return self._units(now) / self._capacity if self._capacity else math.inf

    def _units(self, now: float) -> float:
        back = self._back if now >= self._full_at else 0.0
        return min(self._level + back + self._rate * (now - self._at), self._capacity)

    def _missing(self, now: float, units: float) -> float:
        return min(units + _SPARE * self._capacity, self._capacity) - self._units(now) - _TINY

    def opens_at(self, now: float, units: float) -> float:
        """When so many units may be spent: now, or later; more than fits in waits for a full bucket."""
        if (missing := self._missing(now, units)) <= 0:
            return now
        return max(now, min(self._heard + _TRUST, self._full_at, now + missing / max(self._rate, _TINY)))

    def spend(self, now: float, units: float) -> None:
        """Take units out; fewer than 0 give back what was taken for a call that was not sent."""
        if self._missing(now, units) > 0:
            self._heard = now  # this call asks how things are; the next one waits again
        self.spent += units
        self._set(now, self._units(now) - units)

    def learn(self, now: float, said: Allowance, sent: float, spent: float, part: float = 1.0) -> None:
        """Take what an answer says for what is left.

        It was true when the server took the call. What was sent later is taken off and what came back since
        is added. An answer to an earlier call than the last one tells nothing new.
        """
        if sent < self._asked:
            return
        self._asked, self._heard = sent, now
        self._capacity, remaining = max(said.limit * part, 1.0), said.remaining * part
        self._back = self._capacity - remaining
        self._rate, self._full_at = self._refill(now, said.reset)
        self._set(now, remaining - (self.spent - spent) + self._rate * (now - sent))

    def _refill(self, now: float, reset: float | None) -> tuple[float, float]:
        if not reset or not self._back:
            return self._rate or self._capacity / 60.0, math.inf
        window = max(self._capacity * reset / self._back, _TINY)
        if self._back >= self._capacity / 2:  # a smaller ratio is one of rounded seconds
            self._shortest, self._longest = min(self._shortest, window), max(self._longest, window)
        if self._longest <= 3 * self._shortest:
            return self._capacity / window, math.inf
        return 0.0, now + reset

    def _set(self, now: float, units: float) -> None:
        if now >= self._full_at:
            self._full_at, self._rate = math.inf, self._rate or self._capacity / 60.0
        self._at, self._level = now, min(max(units, 0.0), self._capacity)


_CAUTION: Final = 0.95
_ROUND: Final = 100  # answers
_TELLING: Final = 50  # calls before the first refusal that tell how fast is too fast
_SAMPLE: Final = 3  # calls taken, of which a rate is measured
_FLOOR: Final = 0.05  # calls a second: no server that answers at all allows less than three a minute
_VAIN: Final = 3  # refusals in turn of calls that went no faster than before, after which speed is not why


class Pace:
    """Calls a second, where a server says nothing of its limits and refuses.

    When it refuses, it has nothing left. So what it took between two refusals is what it allows in that time,
    whatever it had saved up before the first. We go a twentieth slower than that, and a twentieth faster
    after each round of answers, until it refuses again.
    """

    def __init__(self) -> None:
        self.rate: float | None = None
        self._next = 0.0
        self._mark = 0.0  # the last refusal; before it, the first call
        self._taken = 0  # calls since then that were not refused
        self._changed = math.inf
        self._answers = 0
        self._round = _ROUND
        self._has_held = False
        self._measured = 0.0
        self._vain = 0

    def opens_at(self, now: float) -> float:
        """When the next call may be sent: now, or later."""
        if self.rate is None or self._next <= now:
            return now
        self._has_held = True
        return self._next

    def spend(self, now: float) -> None:
        self._mark = self._mark or now
        self._taken += 1
        if self.rate is not None:
            self._next = max(self._next, now - 0.05) + 1.0 / self.rate

    def give_back(self) -> None:
        """Take back a call that was not sent."""
        self._taken -= 1

    def answered(self, now: float, sent: float) -> None:
        """One call was taken; a rate grows only if it has held calls back."""
        if self.rate is None or sent < self._changed:
            return
        self._answers += 1
        if self._answers >= self._round and self._has_held:
            self._change(now, self.rate * (1.0 + _GROWTH))

    def refused(self, now: float, sent: float, until: float) -> bool:
        """One call was refused.

        Whether our speed may be why: not if we went no faster than before, again and again.
        """
        self._taken -= 1
        if sent <= self._changed:
            if self.rate is None and self._taken >= _TELLING:  # no faster than so far, until it is measured
                self._change(now, max(self._taken / max(now - self._mark, 1e-3), _FLOOR))
            self._mark, self._changed, self._taken = now, min(self._changed, now), 0
        elif self._taken >= _SAMPLE:
            is_slow = self._has_held and (self.rate or math.inf) <= self._measured
            self._vain = self._vain + 1 if is_slow else 0
            self._measured = self._taken / max(now - self._mark, 1e-3)
            self._round = min(5 * self._taken, _ROUND)
            self._change(now, max(_CAUTION * self._measured, _FLOOR))
            self._mark, self._taken = now, 0
        self._next = max(self._next, until)
        return self._vain < _VAIN

    def _change(self, now: float, rate: float) -> None:
        self.rate = rate
        self._next = min(self._next, now + 1.0 / rate)
        self._changed = now
        self._answers = 0
        self._has_held = False


_TOO_MANY: Final = {20: 12, 400: 106}  # of so many calls sent in turn, so many refused are no accident
_REFUSED: Final = 200  # refusals that are kept, for they come back in any order


class Blame:
    """Whether refusals come of how fast all ask, or hit single texts while others are answered.

    A server whose capacity is used up refuses everybody until it has some again. A gateway, a key that others
    use too, or one machine of several refuses a call and takes the next; and some texts are always refused.
    So a refusal is its text's own until more calls were refused than such accidents explain: 12 of 20, or 106
    of 400, in the order in which they were sent, for an answer takes longer than a refusal and says nothing
    of calls that were sent later.
    """

    def __init__(self) -> None:
        self._refused: deque[int] = deque(maxlen=_REFUSED)

    def refused(self, number: int) -> bool:
        """Take a refusal of the call with that number: whether too many were refused for an accident."""
        self._refused.append(number)
        last = max(self._refused)
        return any(
            sum(last - other < calls for other in self._refused) >= most for calls, most in _TOO_MANY.items()
        )


class Sizes:
    """How many tokens a call is likely to count, learnt from those that were counted."""

    def __init__(self) -> None:
        self._per_byte = 1 / 3
        self._reply: float | None = None

    def guess(self, size: int, max_tokens: int) -> float:
        """Tokens of a call. `size`: bytes of its body."""
        reply = max_tokens if self._reply is None else min(self._reply, max_tokens)
        return size * self._per_byte + reply

    def learn(self, size: int, usage: Usage) -> None:
        """Take a call that was counted into account."""
        if usage.prompt and size:
            self._per_byte += (usage.prompt / size - self._per_byte) / 8
            before = usage.completion if self._reply is None else self._reply
            self._reply = before + (usage.completion - before) / 8
