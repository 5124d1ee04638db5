"""A server on bare sockets that answers twice, early, late or out of order, in every dialect.

An answer says which question it answers: `answer` makes it of the last number of the question. Every socket
speaks HTTP/1.1 and keeps its connection; a question that comes before the last one is answered waits.
"""

import asyncio
import json
import re
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

from tests.faults.dialects import anthropic, gemini
from tests.faults.server import envelope

NUMBER = re.compile(r"Q(\d+)\b")
KINDS = ("together", "split", "idle", "late", "early", "unasked")
"""How a surplus answer comes: with the answer; its head with the answer's end; while nothing is asked; after
the next question was written; before any question; before the question, with statuses 100 and 103."""


def body_for(path: str, words: str) -> bytes:
    """A good body of the dialect of an address."""
    if "/v1/messages" in path:
        value: Any = anthropic(words)
    elif ":generateContent" in path:
        value = gemini(words)
    elif "/chat/completions" in path:
        value = envelope(words)
    else:
        value = {"results": [{"title": words, "content": words, "url": "x"}]}
    return json.dumps(value).encode()


def framed(body: bytes) -> bytes:
    """A whole answer."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class SurplusServer:
    """Counts connections and questions; `kind` says how the answers numbered in `at` come twice."""

    def __init__(self, kind: str, at: Callable[[int], bool], answer: Callable[[int], str]) -> None:
        self.kind = kind
        self.at = at
        self.answer = answer
        self.delay = 0.0
        self.questions = self.connections = self.surplus = 0
        self.port = 0
        self.tls: ssl.SSLContext | None = None
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            if self.kind == "early" and self.at(self.connections):
                self.surplus += 1
                writer.write(framed(body_for("/v1/chat/completions", self.answer(10**6))))
            while True:
                await self._exchange(reader, writer)
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
        said = (await reader.readexactly(int(length[1]) if length else 0)).decode()
        path = head.split()[1]
        (found,) = NUMBER.findall(said or unquote_plus(path))[-1:]
        self.questions += 1
        comes_twice = self.at(self.questions)
        self.surplus += comes_twice and self.kind != "early"
        if self.delay:
            await asyncio.sleep(self.delay)
        answer = framed(body_for(path, self.answer(int(found))))
        if not comes_twice or self.kind == "early":
            writer.write(answer)
        elif self.kind == "together":
            writer.write(answer * 2)
        elif self.kind == "split":
            writer.write(answer[:-20])
            await writer.drain()
            await asyncio.sleep(0.002)
            writer.write(answer[-20:] + answer)
        elif self.kind == "unasked":
            writer.write(answer)
            await asyncio.sleep(0.002)
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n" + answer)
        else:
            writer.write(answer)
            await writer.drain()
            await asyncio.sleep(0.003)
            writer.write(answer)
        await writer.drain()

    async def _start(self) -> asyncio.Server:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.tls, backlog=512)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def _end(self, server: asyncio.Server) -> None:
        server.close()
        for task in [*self._tasks]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)

    @contextmanager
    def running(self) -> Iterator["SurplusServer"]:
        """For as long as the block lasts."""
        thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        thread.start()
        server = asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        try:
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(self._end(server), self._loop).result(10)
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join(10)
            self._loop.close()


def every_fortieth(number: int) -> bool:
    """Of 1,000 questions 25."""
    return number % 40 == 7


def certified(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A context for a server at 127.0.0.1, and one for who trusts it."""
    key, certificate = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
            *("-nodes", "-keyout", str(key), "-out", str(certificate), "-days", "2"),
            *("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"),
        ],
        check=True,
        capture_output=True,
    )
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(certificate, key)
    return server, ssl.create_default_context(cafile=str(certificate))
