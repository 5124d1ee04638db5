"""Anthropic's Message Batches: all requests in one body, and one file of results."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from adjudge.errors import AnswerError
from adjudge.llm.batch.dialect import (
    Frame,
    Item,
    Limits,
    Sent,
    Status,
    count_of,
    expired,
    read_id,
    refused,
)
from adjudge.llm.batch.wire import BatchWire
from adjudge.llm.body import fail_envelope
from adjudge.llm.faults import Fault

__all__ = ["MessageBatches"]

_PATH: Final = "messages/batches"
_PAGES: Final = 20
_DRIFT: Final = dt.timedelta(minutes=5)  # between the provider's clock and ours
_STATUS: Final = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_ALL: Final = ("succeeded", "errored", "canceled", "expired")


class MessageBatches:
    """The Message Batches API; satisfies `llm.batch.dialect.BatchDialect`."""

    limits = Limits(100_000, 256_000_000)
    frame = Frame(b'{"requests":[', b",\n", b"]}\n")

    def line(self, key: bytes, payload: Mapping[str, Any]) -> dict[str, Any]:
        """One of the requests."""
        return {"custom_id": key.hex(), "params": payload}

    async def submit(self, wire: BatchWire, file: Path, token: str) -> str:  # noqa: ARG002 (no place for it)
        """Send all at once; there is no place for the token."""
        return read_id(await wire.post_file_once(_PATH, file), "a batch")

    async def find(self, wire: BatchWire, sent: Sent) -> str:
        """Look for one of the same size that was made since; its results will tell whether it is ours."""
        since = dt.datetime.fromisoformat(sent.batch.time) - _DRIFT
        query = {"limit": "100"}
        for _ in range(_PAGES):
            page = await wire.get(_PATH, query)
            rows = page.get("data") if isinstance(page, dict) else None
            if not isinstance(rows, list):
                fail_envelope("a list of batches", rows)
            recent = [row for row in rows if isinstance(row, dict) and _made(row) >= since]
            for row in recent:
                if count_of(row, "processing", *_ALL) == sent.batch.count and row.get("id") not in sent.known:
                    return read_id(row, "a batch")
            if len(recent) < len(rows) or not rows or page.get("has_more") is not True:
                break
            query["after_id"] = read_id(rows[-1], "a batch")
        return ""

    async def status(self, wire: BatchWire, batch_id: str) -> Status:
        """Read the batch."""
        value = await wire.get(f"{_PATH}/{batch_id}")
        word = value.get("processing_status") if isinstance(value, dict) else None
        if not isinstance(value, dict) or word not in {"in_progress", "canceling", "ended"}:
            raise AnswerError("bad_envelope", f"{str(word)[:40]!r} is no status of a batch that we know")
        done = count_of(value, *_ALL)
        if word != "ended":
            return Status(state="running", done=done)
        place = value.get("results_url")
        if not isinstance(place, str):
            fail_envelope("the address of the results", place)
        return Status(
            state="cancelled" if count_of(value, "canceled") else "ended",
            done=done,
            results=((place, done),),
        )

    def read(self, value: Mapping[str, Any]) -> Item:
        """Read one line of results."""
        result = value.get("result")
        kind = result.get("type") if isinstance(result, dict) else None
        if not isinstance(result, dict) or kind not in _ALL:
            raise AnswerError("bad_envelope", f"{str(kind)[:40]!r} is no type of a result that we know")
        if kind == "succeeded":
            return Item(body=result.get("message"))
        return Item(fault=_fault(result.get("error")) if kind == "errored" else expired())


def _fault(error: object) -> Fault:
    """The fault of a request that was refused; a result has the type of its error in place of a status."""
    inner = error.get("error") if isinstance(error, dict) else None
    kind = inner.get("type") if isinstance(inner, dict) else None
    return refused(error, _STATUS.get(kind) if isinstance(kind, str) else None)


def _made(row: Mapping[str, Any]) -> dt.datetime:
    """When a batch was made; long ago for one that does not say."""
    try:
        when = dt.datetime.fromisoformat(str(row.get("created_at")))
    except ValueError:
        return dt.datetime.min.replace(tzinfo=dt.UTC)
    return when if when.tzinfo else when.replace(tzinfo=dt.UTC)
