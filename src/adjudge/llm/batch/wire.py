"""HTTP with a provider of batches: small questions, a large file up, a large file down."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn
from urllib.parse import urlsplit

import aiohttp
import orjson

from adjudge.errors import AnswerError, ModelError, ServerAwayError, ServerStopError, StoreError
from adjudge.llm.body import read_json_body
from adjudge.llm.endpoint import Endpoint
from adjudge.llm.faults import Fault, fault_of, read_error, retried
from adjudge.llm.retry import Tries
from adjudge.llm.wire import JSON_BODY, Wire, read_body

__all__ = ["BatchWire", "UnsureError"]

_TRANSFER: Final = 3600.0  # seconds for a file
_CHUNK: Final = 1 << 20
_LONGEST_LINE: Final = 64 << 20  # bytes that are held in memory

Said = Callable[[BinaryIO | None], dict[str, Any]]


class UnsureError(Exception):
    """The provider may have taken what was sent, and may not have; it must be looked for."""


class BatchWire(Wire):
    """The connections to one provider of batches."""

    def __init__(self, endpoint: Endpoint, name: str) -> None:
        """Connect on first use.

        Args:
            endpoint: the model on its server.
            name: of the model, for messages.
        """
        super().__init__(endpoint)
        self.name = name
        self._met = False

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401 (any JSON)
        """Read something; tried again where that can help."""
        return await self._ask("GET", path, lambda _: {"params": dict(query or {})})

    async def upload(self, path: str, file: Path, **fields: str) -> Any:  # noqa: ANN401 (any JSON)
        """Send a file as a form; tried again where that can help."""

        def said(content: BinaryIO | None) -> dict[str, Any]:
            form = aiohttp.FormData(fields)
            form.add_field("file", content, filename=file.name, content_type="application/jsonl")
            return {"data": form}

        return await self._ask("POST", path, said, file=file)

    async def post_once(self, path: str, value: object) -> Any:  # noqa: ANN401 (any JSON)
        """Make something that must not be made twice.

        Raises:
            UnsureError: it may have been made.
        """
        body = orjson.dumps(value)
        return await self._ask("POST", path, lambda _: {"data": body, "headers": JSON_BODY}, once=True)

    async def post_file_once(self, path: str, file: Path) -> Any:  # noqa: ANN401 (any JSON)
        """The same with a file as the body."""
        return await self._ask(
            "POST", path, lambda content: {"data": content, "headers": JSON_BODY}, file=file, once=True
        )

    async def download(self, url: str, file: Path, most: int) -> None:
        """Fetch a file, whole or not at all; keys in it are taken out.

        Args:
            url: must be of the provider, for the key goes there.
            file: is written under this name once it is whole.
            most: bytes that it may have.

        Raises:
            ModelError: the address is of another server.
            ServerStopError: it cannot be had now.
        """
        ours, place = urlsplit(self.endpoint.url), urlsplit(url)
        if (place.scheme, place.netloc) != (ours.scheme, ours.netloc):
            raise ModelError(
                f"{self.name}: the results are at {place.scheme}://{place.hostname}, another server than "
                f"{ours.scheme}://{ours.hostname}; the key is not sent there"
            )
        tries = self._tries()
        while True:
            fault = await self.guarded(self._save(url, file, most), _TRANSFER)
            if fault is None:
                return
            await asyncio.sleep(self._pause(fault, tries))

    async def _ask(
        self, method: str, path: str, said: Said, *, file: Path | None = None, once: bool = False
    ) -> Any:  # noqa: ANN401 (any JSON)
        tries = self._tries()
        seconds = self.endpoint.timeout if file is None else _TRANSFER
        url = self.endpoint.at(path)
        while True:
            outcome = await self.guarded(self._call(method, url, said, file), seconds)
            if not isinstance(outcome, Fault):
                self._met = True
                return outcome
            if once and outcome.consequence == "retry" and not outcome.is_free and outcome.status != 429:
                raise UnsureError(self.redactor.error(outcome.detail))
            await asyncio.sleep(self._pause(outcome, tries))

    async def _call(self, method: str, url: str, said: Said, file: Path | None) -> Any:  # noqa: ANN401
        with ExitStack() as stack:
            content = None if file is None else stack.enter_context(file.open("rb"))
            async with self.request(method, url, **said(content)) as response:
                if (refusal := await self.refusal(response)) is not None:
                    return refusal
                raw = await read_body(response, self.endpoint.body_cap)
        if raw is None:
            return retried("oversize", f"the body is longer than {self.endpoint.body_cap} bytes")
        try:
            value = read_json_body(raw)
        except AnswerError as error:
            return retried(error.reason, error.detail)
        error_ = read_error(value)
        return value if error_ is None else fault_of(*error_)

    async def _save(self, url: str, file: Path, most: int) -> Fault | None:
        part = file.with_suffix(".part")
        async with self.request("GET", url) as response:
            if (refusal := await self.refusal(response)) is not None:
                return refusal
            if response.headers.get("Content-Encoding", "identity") != "identity":
                return retried("not_json", "the results came packed")
            try:
                with part.open("wb") as out:
                    if too_much := await self._copy(response.content, out, most):
                        return retried("oversize", f"the results have {too_much}")
                    out.flush()
                    os.fsync(out.fileno())
                part.replace(file)
            except OSError as error:
                if isinstance(error, ConnectionError | TimeoutError):
                    raise
                raise StoreError(f"cannot keep the results of a batch: {error.strerror}") from error
        return None

    async def _copy(self, content: aiohttp.StreamReader, out: BinaryIO, most: int) -> str:
        """Copy line by line, for a key could stand across two pieces; what was too much, in words."""
        rest, size = b"", 0
        async for piece in content.iter_chunked(_CHUNK):
            size += len(piece)
            if size > most:
                return f"more than {most} bytes"
            lines, newline, rest = (rest + piece).rpartition(b"\n")
            if len(rest) > _LONGEST_LINE:
                return f"a line of more than {_LONGEST_LINE} bytes"
            out.write(self.redactor.raw(lines + newline))
        out.write(self.redactor.raw(rest))
        return ""

    def _tries(self) -> Tries:
        """The tries of one question; a server that was never there may have a wrong address."""
        patience = self.endpoint.patience
        return Tries(patience, patience.longest_wait if self._met else patience.first_wait)

    def _pause(self, fault: Fault, tries: Tries) -> float:
        """Seconds until the next try.

        Raises:
            ModelError: no try will ever help.
            ServerStopError: none will help now.
        """
        detail = self.redactor.error(fault.detail)
        if fault.consequence == "stop":
            hint = "; does this server take batches?" if fault.status == 404 and not self._met else ""
            raise ServerStopError(f"{self.name}: {detail}{hint}")
        if fault.consequence != "retry":
            raise ModelError(f"{self.name} refuses the batch: {detail}")
        try:
            return tries.next_pause(fault)
        except AnswerError:
            self.away(detail)

    def away(self, detail: str) -> NoReturn:
        """Stop until later.

        Raises:
            ServerAwayError: always.
        """
        raise ServerAwayError(f"{self.name}: {detail}; the same command goes on later")
