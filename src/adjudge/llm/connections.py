"""Connections on which an answer is the answer to the question before it.

An answer of HTTP/1.1 does not say what it answers. A server that sends one too many gives the next question
on that connection another one's answer, and shifts all after it. So a question goes out only where nothing
waits to be read. What comes while nothing is asked is dropped, its connection is closed, and its server
gets one question a connection from then on. An answer too many that comes after the next question went out
looks like its answer; each then is one behind until the last one is left over. Hence what stands behind no
second of silence is in doubt, and no connection gathers much of it: it is let go after so many answers, and
listened to for a second before.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import aiohttp
from aiohttp.client_proto import ResponseHandler

__all__ = ["Asked", "Connector", "NotEmptyError", "Surplus", "SurplusError"]

_SILENCE: Final = 1.0  # seconds; what is still owed would have come
_MOST: Final = 64  # answers in doubt on one connection
_ENDED: Final = (b"HTTP/1.1 408", b"HTTP/1.0 408")  # some servers say so before they close an idle connection


class NotEmptyError(aiohttp.ClientConnectionError):
    """Something waits to be read where a question should go out; it was not sent."""


class SurplusError(aiohttp.ClientPayloadError):
    """With the answer came another one; which of them it is cannot be known."""


@dataclass
class Surplus:
    """What is known of a server's answers to no question.

    Args:
        doubt: is told the key of each answer that was given out and may be another question's.
        seen: whether one came.
    """

    doubt: Callable[[bytes], None]
    seen: bool = False
    slowest: float = field(default=0.0)


class Answers(ResponseHandler):
    """What comes on one connection."""

    def __init__(self, connector: Connector, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._connector = connector
        self.keys: list[bytes] = []
        """Answers since the last silence."""
        self.is_spoiled = False
        self.is_fresh = True
        self.has_unread = False
        self.is_asked = False
        self.since = 0.0  # when it was asked, or answered

    def ask(self) -> None:
        """Say that a question goes out now.

        Raises:
            NotEmptyError: it must not.
        """
        # over TLS a fresh connection may bring tickets before any answer
        is_open = self.is_fresh and self.transport and self.transport.get_extra_info("sslcontext")
        self.has_unread = not is_open and self._waits()
        if self.is_spoiled or self.has_unread:
            raise NotEmptyError("something came before the question")
        now = self._loop.time()
        if now - self.since >= _SILENCE:
            self.keys.clear()
        self.is_asked, self.is_fresh, self.since = True, False, now

    def _waits(self) -> bool:
        """Whether the socket has something, be it the end."""
        socket = self.transport and self.transport.get_extra_info("socket")
        if not socket or socket.fileno() < 0:
            return False
        if not hasattr(select, "poll"):  # Windows
            return bool(select.select([socket], [], [], 0)[0])
        poll = select.poll()
        poll.register(socket, select.POLLIN)
        return bool(poll.poll(0))

    def data_received(self, data: bytes) -> None:
        """Take what was asked for."""
        if self.is_asked or not data:
            super().data_received(data)
            if self.is_asked or not len(self):
                return
        elif data.startswith(_ENDED):
            self.close()
            return
        self.spoil()

    def spoil(self) -> None:
        """Something came that nobody asked for."""
        self.is_spoiled = True
        self._connector.spoiled(self.keys)
        self.keys = []
        self.close()


class Asked(aiohttp.ClientRequest):
    """A question; its answer knows what it came on."""

    async def send(self, conn: Any) -> Any:  # noqa: ANN401 (aiohttp's own)
        """Send it."""
        if not self.body:
            conn.protocol.ask()
        response: Any = await super().send(conn)
        response.answers = conn.protocol
        return response

    async def write_bytes(self, writer: Any, conn: Any, *more: Any) -> None:  # noqa: ANN401 (aiohttp's own)
        """Write it, in a task of its own, whose errors nobody sees."""
        try:
            conn.protocol.ask()
        except NotEmptyError as error:
            conn.protocol.set_exception(error)
        else:
            await super().write_bytes(writer, conn, *more)


class Connector(aiohttp.TCPConnector):
    """Connections to one server; see the module."""

    def __init__(self, surplus: Surplus, **options: Any) -> None:  # noqa: ANN401 (aiohttp's own)
        super().__init__(force_close=surplus.seen, **options)
        self._surplus = surplus
        self._factory: Any = partial(Answers, self, asyncio.get_running_loop())
        self._heard: set[Answers] = set()

    def spoiled(self, keys: list[bytes]) -> None:
        """Take it that an answer came to no question, on a connection with these answers."""
        self._surplus.seen = self._force_close = True
        for key in keys:
            self._surplus.doubt(key)

    def _release(self, key: Any, protocol: Any, *, should_close: bool = False) -> None:  # noqa: ANN401
        now = self._loop.time()
        if protocol.is_asked and not should_close:
            self._surplus.slowest = max(self._surplus.slowest, now - protocol.since)
        protocol.is_asked, protocol.since = False, now
        if len(protocol) and not protocol.is_spoiled:
            protocol.spoil()
        may_owe = len(protocol.keys) >= _MOST or (self._force_close and protocol.keys)
        if protocol.has_unread or (may_owe and not should_close and not protocol.should_close):
            self._release_acquired(key, protocol)
            self._heard.add(protocol)
            self._loop.call_later(_SILENCE, self._let_go, protocol)
        else:
            super()._release(key, protocol, should_close=should_close)

    def _let_go(self, protocol: Answers) -> None:
        self._heard.discard(protocol)
        protocol.close()

    async def settle(self) -> None:
        """Wait for what may still come: as long as an answer took, a second at most."""
        pooled = (protocol for each in self._conns.values() for protocol, _ in each)
        if any(protocol.keys for protocol in (*self._heard, *pooled)):  # type: ignore[attr-defined]
            await asyncio.sleep(min(2 * self._surplus.slowest, _SILENCE))

    async def close(self, **options: Any) -> None:  # noqa: ANN401 (aiohttp's own)
        """Let all connections go."""
        for protocol in [*self._heard]:
            self._let_go(protocol)
        await super().close(**options)
