"""A line for each request: who, what, how it ended, how long it took; no query, no header, no body."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["AccessLog"]

_LOG: Final = logging.getLogger("adjudge.access")


@dataclass(frozen=True)
class AccessLog:
    """A server whose requests are logged (ASGI).

    Args:
        app: what answers.
    """

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, then log it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status, start = 0, time.perf_counter()

        async def send_noted(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self.app(scope, receive, send_noted)
        finally:
            address = (scope["client"] or ("-",))[0]
            path = scope["raw_path"].decode("latin-1")  # percent-encoded: no line end, no terminal escape
            spent = 1000 * (time.perf_counter() - start)
            _LOG.info("%s %s %s %s %.1f ms", address, scope["method"], path, status, spent)
