"""A client that speaks to an ASGI app directly: nothing is tidied, and nothing is followed."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Message


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The server's loop, in a thread of its own, so that many browsers may send at once."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


@dataclass(frozen=True)
class Response:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    cookies: SimpleCookie

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass
class Client:
    """One browser: it keeps its cookies; its pages are the server's own unless its headers say otherwise."""

    app: ASGIApp
    host: str = "127.0.0.1:8000"
    address: str = "192.0.2.7"
    cookies: dict[str, str] = field(default_factory=dict)
    headers: Mapping[str, str | None] = field(default_factory=dict)

    def request(
        self,
        method: str,
        target: str,
        *,
        body: bytes | Iterable[bytes] = b"",
        headers: Mapping[str, str | None] | None = None,
    ) -> Response:
        """Send a request; a header that is None is not sent. Chunks of a body are sent one by one."""
        chunks = [body] if isinstance(body, bytes) else list(body)
        named: dict[str, str | None] = {"host": self.host, "sec-fetch-site": "same-origin"}
        if any(chunks):
            named["content-type"] = "application/json"
        if self.cookies:
            named["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        named |= {**self.headers, **(headers or {})}
        answer = _answer(self.app, method, target, chunks, named, self.address)
        response = asyncio.run_coroutine_threadsafe(answer, _loop()).result(60)
        for name, morsel in response.cookies.items():
            self.cookies[name] = morsel.value
            if morsel["max-age"] == "0":
                del self.cookies[name]
        return response

    def get(self, target: str, **named: Any) -> Response:
        """GET."""
        return self.request("GET", target, **named)

    def post(self, target: str, content: object = None, **named: Any) -> Response:
        """POST JSON, or nothing."""
        body = b"" if content is None else json.dumps(content).encode()
        return self.request("POST", target, body=body, **named)


async def _answer(
    app: ASGIApp,
    method: str,
    target: str,
    chunks: list[bytes],
    headers: Mapping[str, str | None],
    address: str,
) -> Response:
    raw_path, _, query = target.encode("utf-8", "surrogatepass").partition(b"?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote_to_bytes(raw_path).decode("utf-8", "replace"),
        "raw_path": raw_path,
        "query_string": query,
        "root_path": "",
        "headers": [(k.lower().encode(), v.encode("latin-1")) for k, v in headers.items() if v is not None],
        "client": (address, 50000),
        "server": ("127.0.0.1", 8000),
    }
    left: list[Message] = [
        {"type": "http.request", "body": chunk, "more_body": number < len(chunks)}
        for number, chunk in enumerate(chunks, 1)
    ]
    sent: list[Message] = []
    is_done = asyncio.Event()

    async def receive() -> Message:
        if left:
            return left.pop(0)
        await is_done.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            is_done.set()

    await app(scope, receive, send)
    return _read_response(sent)


def _read_response(sent: list[Message]) -> Response:
    start = sent[0]
    pairs = [(name.decode(), value.decode("latin-1")) for name, value in start["headers"]]
    cookies: SimpleCookie = SimpleCookie()
    for name, value in pairs:
        if name.lower() == "set-cookie":
            cookies.load(value)
    body = b"".join(message.get("body", b"") for message in sent[1:])
    headers = {name.lower(): value for name, value in pairs}
    return Response(status=start["status"], headers=headers, body=body, cookies=cookies)
