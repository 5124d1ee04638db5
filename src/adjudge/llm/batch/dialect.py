"""What differs between providers of batches: how one is sent, how it stands, what its results say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Protocol

from adjudge.errors import AnswerError
from adjudge.llm.batch.ledger import Batch
from adjudge.llm.batch.wire import BatchWire
from adjudge.llm.body import fail_envelope
from adjudge.llm.faults import Fault, fault_of, read_error

__all__ = [
    "BatchDialect",
    "Frame",
    "Item",
    "Limits",
    "Sent",
    "Status",
    "count_of",
    "expired",
    "open_batch_dialect",
    "read_id",
    "read_key",
    "refused",
]

_ID: Final = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
_KEY: Final = re.compile(r"[0-9a-f]{64}")


class Limits(NamedTuple):
    """What one batch may hold at most: requests, and bytes of all."""

    requests: int
    size: int


class Frame(NamedTuple):
    """What stands before, between and after the requests in what is sent."""

    head: bytes
    between: bytes
    tail: bytes


@dataclass(frozen=True, kw_only=True)
class Status:
    """How a batch stands.

    Args:
        state: still running; ended, with a result for what was answered; cancelled, with those until then;
            or failed as a whole.
        done: requests that are answered or failed.
        results: addresses of the results, once it has ended, each with the lines that it has at least.
        expired: whether it ended because its time was over.
        why: it failed.
    """

    state: Literal["running", "ended", "cancelled", "failed"]
    done: int = 0
    results: tuple[tuple[str, int], ...] = ()
    expired: bool = False
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Item:
    """One result: a body as a live call would have brought it, or what came instead."""

    body: object = None
    fault: Fault | None = None


class Sent(NamedTuple):
    """What is known of a batch that may have got there.

    Args:
        batch: as the ledger has it.
        token: that it was sent with, where there is a place for it.
        known: ids of other batches.
    """

    batch: Batch
    token: str
    known: frozenset[str]


class BatchDialect(Protocol):
    """One provider; keeps no state."""

    limits: Limits
    frame: Frame

    def line(self, key: bytes, payload: Mapping[str, Any]) -> dict[str, Any]:
        """One request, under the key that its call is stored under."""
        ...

    async def submit(self, wire: BatchWire, file: Path, token: str) -> str:
        """Send a file of requests, with a token where there is a place for it; the id of the batch.

        Raises:
            UnsureError: it may or may not have got there.
        """
        ...

    async def find(self, wire: BatchWire, sent: Sent) -> str:
        """The id of a batch that may have got there; empty if it did not.

        Args:
            wire: to the provider.
            sent: what is known of it.
        """
        ...

    async def status(self, wire: BatchWire, batch_id: str) -> Status:
        """How a batch stands."""
        ...

    def read(self, value: Mapping[str, Any]) -> Item:
        """Read one line of results.

        Raises:
            AnswerError: it is none.
        """
        ...


def read_id(value: object, what: str) -> str:
    """The id in an answer of the provider; it becomes a part of an address.

    Raises:
        AnswerError: there is none, or one that no address should hold.
    """
    found = value.get("id") if isinstance(value, dict) else None
    if not isinstance(found, str) or not _ID.fullmatch(found):
        fail_envelope(f"the id of {what}", found)
    return found


def read_key(value: Mapping[str, Any]) -> bytes | None:
    """The key in a line of results; None for what is none of ours."""
    found = value.get("custom_id")
    return bytes.fromhex(found) if isinstance(found, str) and _KEY.fullmatch(found) else None


def count_of(value: Mapping[str, Any], *names: str) -> int:
    """The sum of some counts of requests; what the provider does not count is 0."""
    counts = value.get("request_counts")
    found = [counts.get(name) for name in names] if isinstance(counts, dict) else []
    return sum(number for number in found if type(number) is int and number > 0)


def expired() -> Fault:
    """The fault of a request that was never answered; nobody pays for it."""
    return Fault(
        consequence="retry", reason="timeout", detail="the batch ended before its turn", is_free=True
    )


def refused(value: object, status: int | None) -> Fault:
    """The fault of a request that the provider refused or could not answer; nobody pays for it.

    Raises:
        AnswerError: it says not why.
    """
    error = read_error(value)
    if error is None:
        if status is None:
            raise AnswerError("bad_envelope", "a result has neither an answer nor an error")
        error = status, ""
    return fault_of(status or error[0], error[1])


def open_batch_dialect(name: str) -> BatchDialect:
    """The dialect of a provider by its `Provider.batch`."""
    if name == "anthropic":
        from adjudge.llm.batch.anthropic import MessageBatches

        return MessageBatches()
    from adjudge.llm.batch.openai import FileBatches

    return FileBatches()
