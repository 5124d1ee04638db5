"""What guards the server: what every request and response passes, limits in time, and who may ask.

`Guard` looks at host, origin, size and headers, whatever the route, and knows no campaign: a request that
does not pass gets a message and never reaches a route. `Window` and `Guesses` count how often something
happens, in this process alone. `SignedIn`, `Annotator` and `Organiser` are who asks, for the routes.
`AccessLog` writes a line for each request: who, what, how it ended, how long it took; no query, no header,
no body.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import math
import re
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlsplit

from fastapi import Depends, Path, Request, Response, Security
from fastapi.concurrency import run_in_threadpool
from fastapi.security import APIKeyCookie
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adjudge.campaigns.database import Campaign, Person
from adjudge.campaigns.people import LONGEST, who
from adjudge.core.frozen import frozen
from adjudge.errors import AccessError, AdjudgeError, NotYoursError, UsageError
from adjudge.web.catalogues import Words

if TYPE_CHECKING:
    from fastapi.telemetry import TelemetryConfig

NO_TELEMETRY: Final[TelemetryConfig] = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
"""FastAPI reports to OpenTelemetry where that is installed; with FASTAPI_OTEL_AUTO_CONFIGURE=true in the
environment it even sends to other machines. Our servers report nothing, whatever the environment says."""

_LOG: Final = logging.getLogger("adjudge.web")
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_HOST: Final = re.compile(r"(?P<name>[a-z0-9.-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_DEFAULT_PORT: Final = {"http": ":80", "https": ":443"}

_LARGEST: Final = 64 * 1024
_LARGEST_BY_PATH: Final[Mapping[str, int]] = {"/api/events": 4 * 1024 * 1024}
_PATIENCE: Final = 30.0  # seconds that a body may take to arrive

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Our own files and nothing else: no inline script or style, no foreign address, no text turned to markup."""


@frozen
class Site:
    """Where browsers find the server."""

    origin: str = ""  # such as `https://judge.example.org`; empty: found by address or as localhost alone

    @property
    def is_secure(self) -> bool:
        return self.origin.startswith("https://")

    @property
    def cookie(self) -> str:
        """The session's cookie: on https the browser itself refuses one that another host or path set."""
        return "__Host-adjudge" if self.is_secure else "adjudge"

    @property
    def host(self) -> str:
        return urlsplit(self.origin).netloc

    def is_ours(self, host: str) -> bool:
        """Whether a Host header names this server: its public name, localhost, or any bare IP address.

        A name of someone else that points here (DNS rebinding) is none of these.
        """
        host = host.lower()
        return bool(host) and (host == self.host or _is_local(host))

    def is_origin(self, origin: str, host: str) -> bool:
        """Whether an Origin header names the page's own server, given its Host header."""
        host = host.lower()
        own = {self.origin} if host == self.host else {f"http://{host}", f"https://{host}"}
        return origin.lower() in own


def _is_local(host: str) -> bool:
    match = _HOST.fullmatch(host)
    if match is None:
        return False
    name = match["name"]
    if name == "localhost":
        return True
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def read_site(url: str | None) -> Site:
    """Read the address that an organiser gives as the public one."""
    if url is None:
        return Site()
    parts = urlsplit(url.lower().rstrip("/"))
    host = parts.netloc.removesuffix(_DEFAULT_PORT.get(parts.scheme, ""))
    rest = parts.path or parts.query or parts.fragment
    if parts.scheme not in _DEFAULT_PORT or rest or not _HOST.fullmatch(host):
        raise UsageError(f"the public URL must look like https://judge.example.org, got {url!r}")
    return Site(origin=f"{parts.scheme}://{host}")


@frozen
class Refusal:
    """A request that no route sees."""

    status: int
    message: str


def refusal_of(method: str, path: str, headers: Headers, site: Site) -> Refusal | None:
    """Say why a request is refused before its body is read; None where it may go on."""
    hosts = headers.getlist("host")
    if len(hosts) != 1 or not site.is_ours(hosts[0]):
        return Refusal(status=400, message="This server is not known by that name: check the address.")
    if method in _SAFE:
        return None
    if _is_cross_site(headers, hosts[0], site):
        return Refusal(status=403, message="Another site asked for this change. Open the page itself.")
    length = headers.get("content-length", "0")
    if not re.fullmatch("[0-9]{1,18}", length) or int(length) > _largest(path):
        return _too_large(path)
    return None


def _is_cross_site(headers: Headers, host: str, site: Site) -> bool:
    if fetched := headers.getlist("sec-fetch-site"):
        return not set(fetched) <= {"same-origin", "none"}
    return not all(site.is_origin(origin, host) for origin in headers.getlist("origin"))


def _largest(path: str) -> int:
    return _LARGEST_BY_PATH.get(path, _LARGEST)


def _too_large(path: str) -> Refusal:
    return Refusal(status=413, message=f"That is too large: at most {_largest(path):,} bytes at once.")


def security_headers(path: str, site: Site) -> dict[str, str]:
    """Headers of every response; what a route has set itself stays."""
    headers = {
        "Content-Security-Policy": _POLICY,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    if not path.startswith(("/static/", "/media/")):
        headers["Cache-Control"] = "no-store"
    if site.is_secure:
        headers["Strict-Transport-Security"] = "max-age=63072000"
    return headers


@dataclass(frozen=True)
class Guard:
    """The server behind the checks of this file (ASGI)."""

    app: ASGIApp  # what answers the requests that pass
    site: Site  # where browsers find it

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        is_started = False

        async def send_guarded(message: Message) -> None:
            nonlocal is_started
            if message["type"] == "http.response.start":
                is_started = True
                headers = MutableHeaders(scope=message)
                for name, value in security_headers(scope["path"], self.site).items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self._answer(scope, receive, send_guarded)
        except Exception:
            _LOG.exception("%s %s failed", scope["method"], scope["raw_path"].decode("latin-1"))
            if is_started:
                raise
            refusal = Refusal(status=500, message="Something went wrong here. What was saved is not lost.")
            await _refuse(refusal, scope, receive, send_guarded)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        method, path, headers = scope["method"], scope["path"], Headers(scope=scope)
        refusal = refusal_of(method, path, headers, self.site)
        if refusal is None and method not in _SAFE:
            body = await _read_body(receive, path)
            if isinstance(body, Refusal):
                refusal = body
            else:
                kind = headers.get("content-type", "").partition(";")[0].strip().lower()
                if body and kind != "application/json":  # a form of another site cannot send JSON
                    wanted = "Send JSON, with Content-Type: application/json."
                    refusal = Refusal(status=415, message=wanted)
                receive = _replay(body, receive)
        if refusal is None:
            await self.app(scope, receive, send)
        else:
            await _refuse(refusal, scope, receive, send)


async def _read_body(receive: Receive, path: str) -> bytes | Refusal:
    body = bytearray()
    try:
        async with asyncio.timeout(_PATIENCE):
            while True:
                message = await receive()
                body += message.get("body", b"")
                if len(body) > _largest(path):
                    return _too_large(path)
                if message["type"] == "http.disconnect":
                    return Refusal(status=400, message="The browser went away.")
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        return Refusal(status=408, message="That took too long to arrive. Try again.")


def _replay(body: bytes, receive: Receive) -> Receive:
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return left.pop() if left else await receive()

    return replay


async def _refuse(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    close = {"Connection": "close"} if refusal.status in {408, 413} else {}  # the rest is not read
    response = JSONResponse({"message": refusal.message}, status_code=refusal.status, headers=close)
    await response(scope, receive, send)


_MOST_KEYS: Final = 10_000  # who is forgotten first was seen longest ago


class TooOftenError(AdjudgeError):
    """Something happened too often."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Too many tries. Wait {math.ceil(seconds)} seconds, then try again.")
        self.seconds = seconds


@dataclass(kw_only=True)
class Window:
    """At most so many in any stretch of time, for each key."""

    most: int
    seconds: float
    _times: OrderedDict[str, deque[float]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def wait(self, key: str, now: float) -> float:
        """Seconds until one more may happen; 0 where it may now."""
        with self._lock:
            times = self._recent(key, now)
            return 0.0 if len(times) < self.most else times[-self.most] + self.seconds - now

    def count(self, key: str, now: float) -> None:
        with self._lock:
            times = self._recent(key, now)
            times.append(now)
            self._times[key] = times
            self._times.move_to_end(key)
            if len(self._times) > _MOST_KEYS:
                self._times.popitem(last=False)

    def take(self, key: str, now: float) -> float:
        """Count one if it may happen; the seconds to wait otherwise."""
        wait = self.wait(key, now)
        if not wait:
            self.count(key, now)
        return wait

    def _recent(self, key: str, now: float) -> deque[float]:
        """Times that still count; a clock that was set back must not lock anybody out."""
        times = self._times.get(key, deque(maxlen=self.most))
        while times and not 0 <= now - times[0] < self.seconds:
            times.popleft()
        return times


def network_of(address: str) -> str:
    """Who guesses: an IPv4 address, or the /64 of an IPv6 address, all of which is one customer's."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if found.version == 4:
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((int(found) >> 64 << 64, 64)))


@frozen
class Guesses:
    """Wrong secrets: few from one address, and few in all.

    Somebody with many addresses could shut everybody out by being wrong all the time. So a secret that is too
    long to be guessed is looked at as long as its own address was not wrong too often.
    """

    by_address: Window = field(default_factory=lambda: Window(most=10, seconds=60.0))
    in_all: Window = field(default_factory=lambda: Window(most=10, seconds=60.0))
    _lock: Lock = field(default_factory=Lock)

    def attempt(self, address: str, now: float, enter: Callable[[], str], *, is_guessable: bool) -> str:
        """Try a secret; one at a time, so that guesses sent at once are counted like others.

        `now`: seconds since 1970.
        """
        network = network_of(address)
        with self._lock:
            wait = self.in_all.wait("", now)
            if here := max(self.by_address.wait(network, now), wait if is_guessable else 0.0):
                raise TooOftenError(here)
            try:
                return enter()
            except AccessError:
                self.by_address.count(network, now)
                if wait:
                    raise TooOftenError(wait) from None
                self.in_all.count("", now)
                raise


Id = Annotated[int, Path(ge=1, le=2**63 - 1)]
"""A key of the store."""


@frozen
class Served:
    """What all routes of a server share."""

    campaign: Campaign
    site: Site  # where browsers find it
    clock: Callable[[], float]  # seconds since 1970
    words: Mapping[str, Words]  # languages of annotators' pages by their codes
    guesses: Guesses = field(default_factory=Guesses)  # wrong secrets so far
    # requests of each person that change something; far more than a page sends
    changes: Window = field(default_factory=lambda: Window(most=1200, seconds=60.0))


async def _served(request: Request) -> Served:
    served: Served = request.app.state.served
    return served


ServedHere = Annotated[Served, Depends(_served)]

_COOKIE: Final = APIKeyCookie(name="adjudge", auto_error=False, description="A session")


def _person_of(request: Request, served: Served) -> Person:
    cookie = request.cookies.get(served.site.cookie, "")
    now = served.clock()
    person = who(served.campaign, cookie, now) if cookie else None
    if person is None:
        raise AccessError("You are not signed in (any more). Open your link again.")
    if request.method not in {"GET", "HEAD"} and (wait := served.changes.take(str(person.id), now)):
        raise TooOftenError(wait)
    return person


async def _signed_in(
    request: Request, served: ServedHere, _: Annotated[str | None, Security(_COOKIE)] = None
) -> Person:
    return await run_in_threadpool(_person_of, request, served)


SignedIn = Annotated[Person, Depends(_signed_in)]


async def _organiser(person: SignedIn) -> Person:
    if person.role != "organiser":
        raise NotYoursError("This is for the organiser of the campaign.")
    return person


def _as_annotator(person: Person) -> Person:
    if person.role == "organiser":
        raise NotYoursError("Organisers do not annotate: open an annotator's link for that.")
    return person


async def _annotator(person: SignedIn) -> Person:
    return _as_annotator(person)


def annotator_of(request: Request, served: Served) -> Person:
    """The annotator who asks, for a route that is in a thread already."""
    return _as_annotator(_person_of(request, served))


Organiser = Annotated[Person, Depends(_organiser)]
Annotator = Annotated[Person, Depends(_annotator)]


def give_cookie(response: Response, site: Site, cookie: str) -> None:
    """Start a session in the browser: no script reads it, no other site sends it."""
    response.set_cookie(
        site.cookie, cookie, max_age=int(LONGEST), secure=site.is_secure, httponly=True, samesite="strict"
    )


def drop_cookie(response: Response, site: Site) -> None:
    response.delete_cookie(site.cookie, secure=site.is_secure, httponly=True, samesite="strict")


_ACCESS_LOG: Final = logging.getLogger("adjudge.access")


@dataclass(frozen=True)
class AccessLog:
    """A server whose requests are logged (ASGI)."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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
            _ACCESS_LOG.info("%s %s %s %s %.1f ms", address, scope["method"], path, status, spent)
