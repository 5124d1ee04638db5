"""How fast a server lets itself be asked: plain arithmetic, on a clock that is given.

`read_allowances` reads what the headers of an answer say of rate limits. `Window` is how many calls are under
way at a time, `Bucket` what the headers say is left, `Pace` what refusals teach where headers say nothing,
`Blame` whether refusals come of our speed at all, `Sizes` what a call is likely to count in tokens.
Times are seconds on a monotonic clock.
"""

from __future__ import annotations

import datetime as dt
import email.utils
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from adjudge.core.ask import Usage

__all__ = [
    "Allowance",
    "Blame",
    "Bucket",
    "Kind",
    "Pace",
    "Sizes",
    "Window",
    "read_allowances",
    "read_duration",
    "server_time",
]


Kind = Literal["requests", "tokens"]

_KINDS: Final[tuple[Kind, ...]] = ("requests", "tokens")
_FIELDS: Final = ("limit", "remaining", "reset")
_NAMES: Final = {  # in both spellings, made once: every answer is asked for them
    kind: (
        tuple(f"x-ratelimit-{field}-{kind}" for field in _FIELDS),
        tuple(f"anthropic-ratelimit-{kind}-{field}" for field in _FIELDS),
    )
    for kind in _KINDS
}
_MOST: Final = 10**12
_UNITS: Final = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6}
_PART: Final = r"(\d{1,9}(?:\.\d{1,9})?)(ms|us|µs|d|h|m|s)"
_PARTS: Final = re.compile(_PART, re.ASCII)
_DURATION: Final = re.compile(rf"(?:{_PART})+", re.ASCII)
_SECONDS: Final = re.compile(r"\d{1,9}(?:\.\d{1,9})?", re.ASCII)
_COUNT: Final = re.compile(r"\d{1,12}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """What one answer says of one limit.

    Args:
        limit: units that the server lets through at once after a rest; over 0.
        remaining: of these when it took the call; at most `limit`.
        reset: seconds until all of them are there again; None where it does not say.
    """

    limit: int
    remaining: int
    reset: float | None = None

    def share(self, part: float) -> Allowance:
        """So much of it as belongs to one of several processes; at least one unit."""
        return replace(self, limit=max(int(self.limit * part), 1), remaining=int(self.remaining * part))


def read_allowances(headers: Mapping[str, str]) -> dict[Kind, Allowance]:
    """What the headers say of requests and of tokens; nothing where they say nothing that makes sense.

    Args:
        headers: of an answer; names in any case if the mapping takes them so.
    """
    found: dict[Kind, Allowance] = {}
    for kind, spellings in _NAMES.items():
        names = next((names for names in spellings if names[0] in headers), None)
        if names is None:
            continue
        limit, remaining = _read_count(headers.get(names[0])), _read_count(headers.get(names[1]))
        if limit and remaining is not None:
            reset = _read_reset(headers.get(names[2]), headers.get("Date"))
            found[kind] = Allowance(limit=limit, remaining=min(remaining, limit), reset=reset)
    return found


def _read_count(text: str | None) -> int | None:
    if text is None or not _COUNT.fullmatch(text.strip()):
        return None
    return min(int(text), _MOST)


def _read_reset(text: str | None, date: str | None) -> float | None:
    if text is None:
        return None
    seconds = read_duration(text)
    return _seconds_until(text, date) if seconds is None else seconds


def read_duration(text: str) -> float | None:
    """Seconds of `6m0s`, `20ms`, `1h2m3.5s` or `59.8`; None for anything else."""
    text = text.strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    if not _DURATION.fullmatch(text):
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in _PARTS.findall(text))


def _seconds_until(text: str, date: str | None) -> float | None:
    """Seconds until a time such as `2026-11-20T20:28:27Z`."""
    try:
        when = dt.datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return None if when.tzinfo is None else max(when.timestamp() - server_time(date), 0.0)


def server_time(date: str | None) -> float:
    """Seconds since 1970 by the `Date` header, so that a time that a server names is on the server's clock.

    Our own clock serves where the header is missing or no date.
    """
    try:
        when = email.utils.parsedate_to_datetime(date or "")
    except ValueError:
        when = dt.datetime.now(dt.UTC)
    return when.timestamp()


_START: Final = 20
_GROWTH: Final = 0.05  # a round
_SHRINK: Final = 0.8
_BOUND: Final = 300.0
_REST: Final = 15.0  # seconds between two times that the window shrinks

_WINDOWS: Final = (1.0, 60.0, 3600.0, 86400.0)  # seconds to which servers count
_NEAR: Final = 0.25
_SPARE: Final = 0.01  # of a bucket that is left in it: others may ask too, and we count tokens by estimate
_TINY: Final = 1e-6
_TRUST: Final = 60.0  # seconds that a header holds us back at most; then one call asks how things are


class Window:
    """Calls at a time: fewer when the server has trouble, slowly more when it has none.

    It starts with 20 and doubles each round until the first trouble. Then it grows by a twentieth a round,
    and each trouble takes a fifth of it, though not twice within 15 seconds, since calls that were under way
    together fail together. A round is as many answers as the window is wide.

    Args:
        cap: that it never exceeds.
    """

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._size = float(min(_START, cap))
        self._rests_until = -1.0
        self._is_new = True
        self._most = cap
        self._most_until = -1.0
        self._ramp: float | None = None
        self._before = self._size

    @property
    def size(self) -> int:
        """Calls at a time; 1 or more."""
        return self.width if self._ramp is None else min(self.width, int(self._ramp))

    @property
    def width(self) -> int:
        """Calls at a time once it has opened again after a pause; 1 or more."""
        return int(self._size)

    def cap(self, cap: int) -> None:
        """Set another cap."""
        self._size = min(self._size, float(cap))
        self._cap = cap

    def answered(self, now: float, *, was_full: bool) -> None:
        """One call came back well; only a window that was full has shown that it could be wider."""
        if self._ramp is not None:
            self._ramp = self._ramp + 1.0 if self._ramp + 1.0 < self._size else None
        if was_full and now >= self._rests_until:
            most = min(self._most, self._cap) if now < self._most_until else self._cap
            self._size = min(self._size + (1.0 if self._is_new else _GROWTH), float(most))

    def bounded(self, now: float, most: int) -> None:
        """The server takes so many at a time and no more; believed for five minutes."""
        self._is_new = False
        self._most, self._most_until = max(most, 1), now + _BOUND
        self._size = min(self._size, float(self._most))

    def troubled(self, now: float) -> None:
        """One call was refused for the server's load, or never came back."""
        self._is_new = False
        if now >= self._rests_until:
            self._before = self._size
            self._size = max(self._size * _SHRINK, 1.0)
            self._rests_until = now + _REST

    def reopen(self) -> None:
        """After a pause that was asked for, begin with four calls at a time, and double that each round."""
        self._ramp = 4.0

    def excuse(self) -> None:
        """The last trouble was none of ours: be as wide as before."""
        self._size = min(max(self._size, self._before), float(self._cap))
        self._rests_until, self._ramp = -1.0, None


class Bucket:
    """What is left of one of the server's limits, by its headers and by what was sent since.

    Servers count in two ways: what was used comes back steadily, or all of it at the end of a minute. They do
    not say in which; but where it comes back steadily, what is gone and the time until all is back have the
    ratio of the limit and its window, which is a second, a minute, an hour or a day, or at least is always
    the same.
    """

    def __init__(self) -> None:
        self._capacity = 0.0  # 0: the server has not said
        self._level = 0.0
        self._rate = 0.0
        self._at = 0.0
        self._full_at: float | None = None
        self._heard = -1.0
        self._asked = -1.0
        self._ratio = (0.0, 0)
        self._steady = False
        self.spent = 0.0

    @property
    def is_known(self) -> bool:
        """Whether the server has said anything."""
        return self._capacity > 0

    def is_half_full(self, now: float) -> bool:
        """Whether the server says that there is plenty."""
        return self.level(now) >= self._capacity / 2

    def level(self, now: float) -> float:
        """Units left; 0 or more."""
        if self._full_at is not None and now >= self._full_at:
            return self._capacity
        return min(self._level + self._rate * (now - self._at), self._capacity)

    def opens_at(self, now: float, units: float) -> float:
        """When so many units may be spent: now, or later."""
        if not self._capacity:
            return now
        missing = self._wanted(units) - self.level(now)
        if missing <= 0:
            return now
        opens = self._heard + _TRUST
        if self._full_at is not None:
            opens = min(opens, self._full_at)
        if self._rate:
            opens = min(opens, now + missing / self._rate)
        return max(opens, now)

    def _wanted(self, units: float) -> float:
        """More than fits in waits for a full bucket and no longer."""
        return min(units + _SPARE * self._capacity, self._capacity)

    def spend(self, now: float, units: float) -> None:
        """Take units out."""
        self.spent += units
        if not self._capacity:
            return
        left = self.level(now)
        if left + _TINY < self._wanted(units):
            self._heard = now  # this call asks how things are; the next one waits again
        self._set(now, left - units)

    def give_back(self, now: float, units: float) -> None:
        """Put back what was taken for a call that was not sent."""
        self.spent -= units
        if self._capacity:
            self._set(now, self.level(now) + units)

    def learn(self, now: float, said: Allowance, sent: float, spent: float) -> None:
        """Take what an answer says for what is left.

        It was true when the server took the call. What was sent later is taken off and what came back since
        is added. An answer to an earlier call than the last one tells nothing new.

        Args:
            now: when it came.
            said: by its headers.
            sent: when its call was sent.
            spent: `self.spent` then, that call included.
        """
        if sent < self._asked:
            return
        self._asked, self._heard = sent, now
        self._capacity = float(said.limit)
        self._rate, self._full_at = self._refill(now, said)
        age = now - sent if self._rate else 0.0
        self._set(now, said.remaining - (self.spent - spent) + self._rate * age)

    def _refill(self, now: float, said: Allowance) -> tuple[float, float | None]:
        """Units a second that come back, or the time at which all of them will."""
        used = said.limit - said.remaining
        if not said.reset or not used:
            return self._rate or said.limit / 60.0, None
        window = said.limit * said.reset / used
        if window < 1:
            return said.limit / max(window, 1e-3), None  # nobody counts to less than a second
        for usual in _WINDOWS:
            if abs(window - usual) <= _NEAR * usual:
                return said.limit / usual, None
        # The window counts once the ratio has stayed the same while what is gone has changed by half.
        before, gone = self._ratio
        if not gone or not gone / 1.5 < used < gone * 1.5:
            self._steady = bool(gone) and abs(window - before) <= _NEAR * before
            self._ratio = (window, used)
        if self._steady:
            return said.limit / window, None
        return 0.0, now + said.reset

    def _set(self, now: float, level: float) -> None:
        if self._full_at is not None and now >= self._full_at:
            self._full_at = None
            self._rate = self._rate or self._capacity / 60.0
        self._at, self._level = now, min(max(level, 0.0), self._capacity)


_CAUTION: Final = 0.95
_SLOWEST: Final = 4.0  # calls a second, while the rate is not known
_SEARCH: Final = 8  # answers a round, while the rate is not known
_STEADY: Final = 100  # answers a round, once it is well known
_LONGEST: Final = 1000  # answers a round, with a server that goes on refusing
_QUIET: Final = 4  # rounds without a refusal, after which the rate grows faster and faster
_FASTEST: Final = 0.5
_TOLD: Final = 3  # refusals with a time to come back at, after which we do no more than come back then
_FLOOR: Final = 1 / 20  # calls a second: no server that answers at all allows less than three a minute


class Pace:
    """Calls a second, where a server says nothing of its limits and refuses.

    When it refuses, it has nothing left. So what it took between two refusals is what it allows in that time,
    whatever it had saved up before the first. We go a twentieth slower than that, and then gradually faster,
    until it refuses again. Before the second refusal we know nothing and search: slowly, then twice as fast,
    and so on.
    """

    def __init__(self) -> None:
        self.rate: float | None = None
        self._next = 0.0
        self._mark: float | None = None  # the last refusal; before it, the first call
        self._taken = 0  # calls since then that were not refused
        self._changed = -1.0
        self._answers = 0
        self._rounds = 0
        self._round = float(_SEARCH)
        self._most = float(_STEADY)
        self._is_searching = False
        self._has_held = False
        self._measured = 0.0
        self._events = 0

    @property
    def governs(self) -> bool:
        """Whether it is this rate that our speed depends on at present."""
        return self.rate is not None and self._has_held and not self._is_searching

    @property
    def is_below_what_was_taken(self) -> bool:
        """Whether we ask no faster than the server allowed when it was measured last."""
        return self.governs and self.rate is not None and self.rate <= self._measured

    def opens_at(self, now: float) -> float:
        """When the next call may be sent: now, or later."""
        if self.rate is None or self._next <= now:
            return now
        self._has_held = True
        return self._next

    def spend(self, now: float) -> None:
        """Count a call that is sent."""
        if self._mark is None:
            self._mark = now
        self._taken += 1
        if self.rate is not None:
            self._next = max(self._next, now - 0.05) + 1.0 / self.rate

    def give_back(self) -> None:
        """Take back a call that was not sent."""
        self._taken = max(self._taken - 1, 0)

    def answered(self, now: float, sent: float) -> None:
        """One call was taken; a rate grows only if it has held calls back."""
        if self.rate is None or sent < self._changed:
            return
        self._answers += 1
        if self._answers < self._round or not self._has_held:
            return
        self._rounds += 1
        faster = min(_GROWTH * 2.0 ** max(self._rounds - _QUIET, 0), _FASTEST)
        self._change(now, self.rate * (2.0 if self._is_searching else 1.0 + faster))

    def refused(self, now: float, sent: float, until: float, *, is_told: bool = False) -> None:
        """One call was refused.

        Args:
            now: when we learnt of it.
            sent: when it was sent; of calls that went out together, one teaches.
            until: when calls may be sent again.
            is_told: whether the server said when; then there is no need to search for a rate from below.
        """
        if sent <= self._changed or self._mark is None:
            self._mark, self._taken = now, 0
        else:
            self._learn(now, max(self._taken - 1, 0), is_told=is_told)
        self._next = max(self._next, until)

    def _learn(self, now: float, taken: int, *, is_told: bool) -> None:
        elapsed = max(now - self._mark, 1e-3) if self._mark is not None else 1.0
        self._rounds = 0
        self._events += 1
        if is_told and self._events <= _TOLD:
            self._changed = now
        elif self._changed < 0:
            self._is_searching = True
            self._change(now, max(taken / elapsed / 8.0, _SLOWEST))
        elif taken:
            self._is_searching = False
            self._round = min(5.0 * taken, self._most)
            self._measured = taken / elapsed
            self._change(now, max(_CAUTION * self._measured, _FLOOR))
        else:  # still nothing left: the time goes on counting, and the next refusal will be as dear
            self._most = min(1.5 * self._most, _LONGEST)
            self._taken = 0
            return
        self._mark, self._taken = now, 0

    def _change(self, now: float, rate: float) -> None:
        self.rate = rate
        self._next = min(self._next, now + 1.0 / rate)
        self._changed = now
        self._answers = 0
        self._has_held = False


_TOO_MANY: Final = {20: 12, 400: 106}  # of so many calls sent in turn, so many refused are no accident
_REFUSED: Final = 200  # refusals that are kept, for they come back in any order
_SLOW: Final = 3  # refusals in turn of calls that went no faster than before, after which speed is not why


class Blame:
    """Whether refusals come of how fast we ask, or hit single texts while others are answered.

    A server whose capacity is used up refuses everybody until it has some again. A gateway, a key that others
    use too, or one machine of several refuses a call and takes the next; and some texts are always refused.
    So a refusal is its text's own until more calls were refused than such accidents explain: 12 of 20, or 106
    of 400, in the order in which they were sent, for an answer takes longer than a refusal and says nothing
    of calls that were sent later. From then on every 429 is taken for a limit on our speed, until three in
    turn come one by one though we ask no faster than what was taken before.
    """

    def __init__(self) -> None:
        self.is_crowded = False
        """Whether too many of the last calls were refused for an accident."""
        self.is_ours = False
        """Whether a 429 comes of our speed."""
        self._sent = 0
        self._refused: deque[int] = deque(maxlen=_REFUSED)
        self._slow = 0

    @property
    def is_sparing(self) -> bool:
        """Whether texts were refused of late that wait by themselves."""
        is_late = bool(self._refused) and self._refused[-1] > self._sent - min(_TOO_MANY)
        return is_late and not self.is_crowded and not self.is_ours

    @property
    def is_excused(self) -> bool:
        """Whether calls were refused though we asked no faster than before."""
        return self._slow >= _SLOW

    def sending(self) -> int:
        """Count a call that is sent; its number."""
        self._sent += 1
        return self._sent

    def refused(self, number: int, *, is_limit: bool, is_slow: bool) -> None:
        """Take a refusal.

        Args:
            number: of the call.
            is_limit: whether the server speaks of a limit (429), and not of its load (503, 529).
            is_slow: whether we asked no faster than the server took calls before, and it answered calls
                that were sent since the refusal before; or whether headers say that there is plenty.
        """
        self._refused.append(number)
        self.is_crowded = any(self._holds(number, *rule) for rule in _TOO_MANY.items())
        if not is_limit:
            return
        self._slow = self._slow + 1 if is_slow else 0
        if not self.is_ours:
            self.is_ours = self.is_crowded
            self._slow = 0 if self.is_ours else self._slow
        elif self.is_excused:
            self.is_ours = self.is_crowded = False
            self._refused.clear()

    def _holds(self, number: int, calls: int, most: int) -> bool:
        """Whether so many of so many calls in turn were refused, near one of them."""
        near = sorted(other for other in self._refused if abs(other - number) < calls)
        return any(last - first < calls for first, last in zip(near, near[most - 1 :], strict=False))


class Sizes:
    """How many tokens a call is likely to count, learnt from those that were counted."""

    def __init__(self) -> None:
        self._per_byte = 1 / 3
        self._reply: float | None = None
        self._spread = 0.0
        self.counts_most = False
        """Whether the server seems to count the longest reply that we allow, not the one it gave."""

    def guess(self, size: int, max_tokens: int) -> float:
        """Tokens of a call.

        Args:
            size: bytes of its body.
            max_tokens: of the reply.
        """
        reply = float(max_tokens)
        if self._reply is not None and not self.counts_most:
            reply = min(self._reply + 2 * self._spread, reply)
        return size * self._per_byte + reply

    def learn(self, size: int, usage: Usage) -> None:
        """Take a call that was counted into account."""
        if not usage.prompt or not size:
            return
        self._per_byte += (usage.prompt / size - self._per_byte) / 8
        if self._reply is None:
            self._reply, self._spread = float(usage.completion), usage.completion / 2
            return
        error = usage.completion - self._reply
        self._reply += error / 8
        self._spread += (abs(error) - self._spread) / 4
