"""One HTTP exchange with a server: whatever comes back becomes a reply or a fault.

What a library promises of deadlines and sizes is not relied on: the total deadline runs on the monotonic
clock, a body is read up to a cap and no further, and no redirect is followed, since a key would go with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import orjson

from adjudge.core.ask import Reply
from adjudge.core.scores import VERSION
from adjudge.errors import AnswerError, ModelError
from adjudge.llm.connections import Asked, Connector, Surplus, SurplusError
from adjudge.llm.credentials import Redactor
from adjudge.llm.dialect import Dialect, read_json_body, refuse_duplicate_keys
from adjudge.llm.envelope import refuse_counts
from adjudge.llm.faults import Fault, fault_of, read_error, read_retry_after, read_retry_delay, retried
from adjudge.llm.model import Request
from adjudge.llm.providers import Endpoint

T = TypeVar("T")

Heard = Callable[[Mapping[str, str]], None]
_CONNECT_SECONDS: Final = 10.0
_ERROR_BYTES: Final = 64 * 1024
_ALTERNATIVE: Final = 128  # bytes of a token that might have come, with its probability
_BLANK: Final = b"\xef\xbb\xbf \t\r\n"
_WHOLE: Final = frozenset({200, 201, 203})
"""Statuses of an answer that is whole: 202 comes before it, 204 and 205 without it, 206 with a part."""
JSON_BODY: Final[Mapping[str, str]] = {"Content-Type": "application/json"}


def open_dialect(endpoint: Endpoint) -> Dialect:
    """The dialect of an endpoint whose models are asked; search engines have one of their own."""
    if endpoint.provider.dialect == "anthropic":
        from adjudge.llm.anthropic import AnthropicDialect

        return AnthropicDialect(endpoint)
    if endpoint.provider.dialect == "gemini":
        from adjudge.llm.gemini import GeminiDialect

        return GeminiDialect(endpoint)
    from adjudge.llm.openai import ChatDialect

    return ChatDialect(endpoint)


class Wire:
    """The connections to one endpoint, in a dialect; where none is given, in that of its provider."""

    def __init__(self, endpoint: Endpoint, dialect: Dialect | None = None) -> None:
        self.endpoint = endpoint
        self.redactor = Redactor([endpoint.key])
        self._session: aiohttp.ClientSession | None = None
        self.surplus = Surplus(lambda _: None)
        self.dialect = dialect or open_dialect(endpoint)
        self._url = self.dialect.address
        self._words = [b'"%s"' % word.encode() for word in self.dialect.words]
        parts = urlsplit(endpoint.url)
        host = parts.hostname or ""
        is_near = host in {"localhost", "127.0.0.1", "::1"} or proxy_bypass(host)
        self._proxy = None if is_near else getproxies().get(parts.scheme)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def exchange(self, body: bytes, request: Request, heard: Heard | None = None) -> Reply | Fault:
        """Send one request and receive, within the deadline."""
        fault = await self.guarded(self._send(body, request, heard), self.endpoint.timeout)
        return replace(fault, detail=self.redactor.error(fault.detail)) if isinstance(fault, Fault) else fault

    async def guarded(self, sending: Coroutine[Any, Any, T], seconds: float) -> T | Fault:
        """Send within a deadline; what a connection can do becomes a fault."""
        try:
            async with asyncio.timeout(seconds):
                return await sending
        except (aiohttp.ClientSSLError, aiohttp.ClientConnectorCertificateError) as error:
            raise ModelError(f"no secure connection: {self.redactor.error(str(error))}") from error
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            cause = getattr(error, "os_error", None)
            why = getattr(cause, "strerror", None) or cause or "timed out"
            away = f"no server at {_host(self._url)}: {why}"
            return retried("connection", away, limited=True, is_free=True)
        except TimeoutError:
            return retried("timeout", f"no whole answer within {seconds:g} s")
        except aiohttp.InvalidURL as error:
            raise ModelError(f"{_host(self._url)} is no address that can be called") from error
        except (aiohttp.ClientError, ConnectionError) as error:
            return retried("connection", f"the connection broke: {type(error).__name__}")

    async def _send(self, body: bytes, request: Request, heard: Heard | None) -> Reply | Fault:
        said: dict[str, Any] = {"data": body, "headers": JSON_BODY}
        if self.dialect.method != "POST":
            said = {"params": orjson.loads(body)}
        async with self.request(self.dialect.method, self._url, **said) as response:
            if heard is not None:
                heard(response.headers)
            if (refusal := await self.refusal(response)) is not None:
                return refusal
            if response.status not in _WHOLE or "Content-Range" in response.headers:
                detail = f"status {response.status} says that the answer is not there, or not whole"
                return retried("bad_envelope", detail, response.status)
            cap = self.endpoint.body_cap
            if request.sampling.logprobs:
                cap += request.sampling.max_tokens * request.alternatives * _ALTERNATIVE
            raw = await read_body(response, cap)
            if raw is None:
                return retried("oversize", f"the body is longer than {cap} bytes")
            response.answers.keys.append(request.key)
            kind = response.headers.get("Content-Type", "application/json").lower()
            is_json = "json" in kind or (kind.startswith("text/plain") and raw.lstrip(_BLANK)[:1] == b"{")
            if not is_json or response.headers.get("Content-Encoding", "identity") != "identity":
                return retried(
                    "not_json", f"status {response.status} with content type {kind[:60]!r}", response.status
                )
            return self.read(raw, request, response.status)

    def read(self, raw: bytes, request: Request, status: int = 200) -> Reply | Fault:
        """Read a body, whatever it came in."""
        value: object = None
        try:
            value = read_json_body(raw)
            if (error := read_error(value)) is not None:
                return fault_of(error[0], self.redactor.error(error[1]))
            reply = self.dialect.read(value, request, self.redactor)
            refuse_counts(reply.usage, request)
            # To look for sure whether a key stands twice takes as long as to read the body again.
            if b"\\u00" in raw or any(raw.count(word) > 1 for word in self._words):
                refuse_duplicate_keys(raw, self.dialect.words)
            if self.reads_objects(request):
                refuse_duplicate_keys(raw)
        except AnswerError as error:
            usage = self.dialect.usage(value)
            body = self.redactor.raw(raw) if error.reason == "encoding" else None
            fault = retried(error.reason, error.detail, status)
            return replace(fault, usage=usage, body=body)
        return reply

    def reads_objects(self, request: Request) -> bool:
        """Whether what is judged may be an object of the body itself, in which a key could stand twice."""
        held = request.schema is not None and self.endpoint.constrained
        return bool(request.tools) or (held and self.endpoint.provider.dialect == "anthropic")

    def request(self, method: str, url: str, **said: Any) -> Any:  # noqa: ANN401 (aiohttp's own context)
        """Begin a request, to be used in `async with`; redirects are not followed."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                headers={
                    "Accept": "application/json",
                    "Accept-Encoding": "identity",  # the cap is on what we read, not on what it unpacks to
                    "User-Agent": f"adjudge/{VERSION}",
                    **self.dialect.headers(),
                },
                connector=Connector(self.surplus, limit=0, ttl_dns_cache=60),
                request_class=Asked,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
            )
        return self._session.request(method, url, **said, allow_redirects=False, proxy=self._proxy)

    async def refusal(self, response: aiohttp.ClientResponse) -> Fault | None:
        """What a status other than success means; None for success."""
        if 300 <= response.status < 400:
            where = _host(response.headers.get("Location", "")) or "nowhere"
            raise ModelError(f"the server redirects to {where}; give the right address with --base-url")
        return None if 200 <= response.status < 300 else await self._refusal(response)

    async def _refusal(self, response: aiohttp.ClientResponse) -> Fault:
        raw = await read_body(response, _ERROR_BYTES) or b""
        message, delay = "", None
        if "json" in response.headers.get("Content-Type", ""):
            with suppress(orjson.JSONDecodeError):
                value = orjson.loads(raw)
                found, delay = read_error(value), read_retry_delay(value)
                message = found[1] if found is not None else ""
        elif "text/plain" in response.headers.get("Content-Type", ""):
            message = raw.decode(errors="replace")
        headers = response.headers
        wait = read_retry_after(
            headers.get("Retry-After"), headers.get("retry-after-ms"), headers.get("Date")
        )
        return fault_of(response.status, self.redactor.error(message), delay if wait is None else wait)


async def read_body(response: Any, cap: int) -> bytes | None:  # noqa: ANN401 (an answer to `Asked`)
    """The whole body, or None if it is longer than the cap; no more than that is read."""
    length = response.content_length
    if length is not None and length > cap:
        return None
    parts, size = [], 0
    while part := await response.content.readany():
        size += len(part)
        if size > cap:
            response.close()
            return None
        parts.append(part)
    if response.answers.is_spoiled:
        raise SurplusError
    return b"".join(parts)


def _host(url: str) -> str:
    parts = urlsplit(url)
    try:
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        port = ""
    return f"{parts.scheme}://{parts.hostname}{port}" if parts.hostname else ""
