"""OpenAI's batches: a file of requests is uploaded, a batch made of it, and files of results come back."""

from __future__ import annotations

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

__all__ = ["FileBatches"]

_RUNNING: Final = frozenset({"validating", "in_progress", "finalizing", "cancelling"})
_PATH: Final = "/v1/chat/completions"
_PAGES: Final = 20


class FileBatches:
    """The Batch API as OpenAI has it; satisfies `llm.batch.dialect.BatchDialect`."""

    limits = Limits(50_000, 200_000_000)
    frame = Frame(b"", b"\n", b"\n")

    def line(self, key: bytes, payload: Mapping[str, Any]) -> dict[str, Any]:
        """One line of the file of requests."""
        return {"custom_id": key.hex(), "method": "POST", "url": _PATH, "body": payload}

    async def submit(self, wire: BatchWire, file: Path, token: str) -> str:
        """Upload the file, then make the batch; an upload costs nothing and may be repeated."""
        uploaded = await wire.upload("files", file, purpose="batch")
        made = {
            "input_file_id": read_id(uploaded, "an uploaded file"),
            "endpoint": _PATH,
            "completion_window": "24h",
            "metadata": {"adjudge": token},
        }
        return read_id(await wire.post_once("batches", made), "a batch")

    async def find(self, wire: BatchWire, sent: Sent) -> str:
        """Look for the token; every batch of ours carries one."""
        query = {"limit": "100"}
        for _ in range(_PAGES):
            page = await wire.get("batches", query)
            rows = page.get("data") if isinstance(page, dict) else None
            if not isinstance(rows, list):
                fail_envelope("a list of batches", rows)
            for row in rows:
                if isinstance(row, dict) and (row.get("metadata") or {}).get("adjudge") == sent.token:
                    return read_id(row, "a batch")
            if not rows or page.get("has_more") is not True:
                break
            query["after"] = read_id(rows[-1], "a batch")
        return ""

    async def status(self, wire: BatchWire, batch_id: str) -> Status:
        """Read the batch."""
        value = await wire.get(f"batches/{batch_id}")
        word = value.get("status") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(word, str):
            fail_envelope("a batch with a status", word)
        done = count_of(value, "completed", "failed")
        if word in _RUNNING:
            return Status(state="running", done=done)
        if word == "failed":
            return Status(state="failed", why=_why(value.get("errors")))
        if word not in {"completed", "expired", "cancelled"}:
            raise AnswerError("bad_envelope", f"{word[:40]!r} is no status of a batch that we know")
        answered = count_of(value, "completed")
        if answered and not value.get("output_file_id"):  # they are paid
            fail_envelope(f"a file of {answered} results", value.get("output_file_id"))
        files = (("output_file_id", answered), ("error_file_id", 0))
        return Status(
            state="cancelled" if word == "cancelled" else "ended",
            done=done,
            results=tuple(
                (wire.endpoint.at(f"files/{read_id({'id': value[name]}, 'a file')}/content"), lines)
                for name, lines in files
                if value.get(name)
            ),
            expired=word == "expired",
        )

    def read(self, value: Mapping[str, Any]) -> Item:
        """Read one line of the file of results, or of errors."""
        response, error = value.get("response"), value.get("error")
        if isinstance(response, dict):
            status = response.get("status_code")
            if status == 200:
                return Item(body=response.get("body"))
            return Item(fault=refused(response.get("body"), status if type(status) is int else None))
        code = error.get("code") if isinstance(error, dict) else None
        return Item(fault=_ended(str(code)) or refused({"error": error}, None))


def _ended(code: str) -> Fault | None:
    return expired() if code in {"batch_expired", "batch_cancelled"} else None


def _why(errors: object) -> str:
    """What the provider says of a batch that it refused as a whole."""
    rows = errors.get("data") if isinstance(errors, dict) else None
    found = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    words = [f"{row.get('code')}: {row.get('message')}" for row in found[:3]]
    return "; ".join(words) or "no reason was given"
