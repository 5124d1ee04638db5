"""What a server says of its rate limits in the headers of an answer.

Two spellings: OpenAI's (`x-ratelimit-limit-requests`, resets as durations such as `6m0s`), which most
compatible servers have taken over, and Anthropic's (`anthropic-ratelimit-requests-limit`, resets as times).
Whatever else stands there is as good as nothing: a header may slow us down or let us go, never stop us.
"""

from __future__ import annotations

import datetime as dt
import email.utils
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

__all__ = ["Allowance", "Kind", "read_allowances", "read_duration", "server_time"]

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
