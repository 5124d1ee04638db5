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
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import aiohttp
from aiohttp.client_proto import ResponseHandler

_SILENCE: Final = 1.0  # seconds; what is still owed would have come
_MOST: Final = 64  # answers in doubt on one connection
_ENDED: Final = (b"HTTP/1.1 408", b"HTTP/1.0 408")  # some servers say so before they close an idle connection


class SurplusError(aiohttp.ClientConnectionError):
    """Something waits where a question should go out, or two answers came to one question."""


@dataclass
class Surplus:
    """What is known of a server's answers to no question."""

    # is told the key of each answer that was given out and may be another question's
    doubt: Callable[[bytes], None]
    seen: bool = False  # whether one came


class Answers(ResponseHandler):
    """What comes on one connection."""

    def __init__(self, surplus: Surplus, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._surplus = surplus
        self.keys: list[bytes] = []
        """Answers since the last silence."""
        self.is_spoiled = self.is_asked = False
        self.since = 0.0  # when it was asked, or answered

    def ask(self) -> None:
        """Say that a question goes out now."""
        # over TLS a fresh connection may bring tickets before any answer
        may_have = not self.since and self.transport and self.transport.get_extra_info("sslcontext")
        if not self.is_connected() or (self._has_unread() and not may_have):
            raise SurplusError
        now = self._loop.time()
        if now - self.since >= _SILENCE:
            self.keys.clear()
        self.is_asked, self.since = True, now

    def _has_unread(self) -> bool:
        socket: Any = self.transport and self.transport.get_extra_info("socket")
        if not hasattr(select, "poll"):  # Windows
            return bool(select.select([socket], (), (), 0)[0])
        poll = select.poll()
        poll.register(socket, select.POLLIN)
        return bool(poll.poll(0))

    def data_received(self, data: bytes) -> None:
        if self.is_asked or not data:
            super().data_received(data)
            if self.is_asked or not len(self):
                return
        elif data.startswith(_ENDED):
            self.close()
            return
        self.spoil()

    def spoil(self) -> None:
        self.is_spoiled = self._surplus.seen = True
        for key in self.keys:
            self._surplus.doubt(key)
        self.keys.clear()
        self.close()


class Asked(aiohttp.ClientRequest):
    """A question; its answer knows what it came on."""

    async def send(self, conn: Any) -> Any:  # noqa: ANN401 (aiohttp's own)
        if not self.body:
            conn.protocol.ask()
        response: Any = await super().send(conn)
        response.answers = conn.protocol
        return response

    async def write_bytes(self, writer: Any, conn: Any, *more: Any) -> None:  # noqa: ANN401 (aiohttp's own)
        """Write it, in a task of its own, whose errors nobody sees."""
        try:
            conn.protocol.ask()
        except SurplusError as error:
            conn.protocol.set_exception(error)
        else:
            await super().write_bytes(writer, conn, *more)


class Connector(aiohttp.TCPConnector):
    """Connections to one server; see the module."""

    def __init__(self, surplus: Surplus, **options: Any) -> None:  # noqa: ANN401 (aiohttp's own)
        super().__init__(**options)
        self._surplus = surplus
        self._factory: Any = partial(Answers, surplus, self._loop)

    @property
    def force_close(self) -> bool:
        return self._surplus.seen

    async def _get(self, *where: Any) -> Any:  # noqa: ANN401 (aiohttp's own)
        return None if self.force_close else await super()._get(*where)

    def _release(self, key: Any, protocol: Any, *, should_close: bool = False) -> None:  # noqa: ANN401
        was_asked, protocol.is_asked, protocol.since = protocol.is_asked, False, self._loop.time()
        if len(protocol):
            protocol.spoil()
        is_over = self.force_close or len(protocol.keys) >= _MOST
        close = partial(super()._release, key, protocol, should_close=should_close or is_over)
        if protocol.keys and (not was_asked if should_close else is_over):
            self._loop.call_later(_SILENCE, close)
        else:
            close()
