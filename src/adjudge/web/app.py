"""The server of one campaign: its app, its connections, and the port that it listens on.

`create_app` puts pages, API and guards together. `Connections` and `protocol_of` limit how many connections
are open, how long a client may take, and how large a request's head is. `serve` runs one process, or several
where the store is on a server.
"""

from __future__ import annotations

import asyncio
import errno
import http
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import Any, Final, Literal, cast

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors import Multiprocess

from adjudge.campaigns.campaign import open_campaign
from adjudge.campaigns.database import Campaign
from adjudge.core.frozen import frozen
from adjudge.core.scores import VERSION
from adjudge.errors import UsageError
from adjudge.web.api import ANNOTATOR_ROUTER, ENTRY_ROUTER, ORGANISER_ROUTER
from adjudge.web.catalogues import read_words
from adjudge.web.pages import FILE_ROUTER, PAGE_ROUTER
from adjudge.web.requests import add_messages
from adjudge.web.security import NO_TELEMETRY, AccessLog, Guard, Served, network_of, read_site


def create_app(
    campaign: Campaign, *, public_url: str | None = None, clock: Callable[[], float] = time.time
) -> FastAPI:
    """Make the server of a campaign (ASGI).

    `public_url`: such as `https://judge.example.org`; None where browsers use its address. `clock`: seconds
    since 1970.
    """
    site = read_site(public_url)
    app = FastAPI(
        title=f"Campaign {campaign.name}",
        version=VERSION,
        openapi_url=None,  # a route of the organiser's instead
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=NO_TELEMETRY,
    )
    app.state.served = Served(campaign=campaign, site=site, clock=clock, words=read_words(campaign.folder))
    for router in (ANNOTATOR_ROUTER, PAGE_ROUTER, FILE_ROUTER, ENTRY_ROUTER, ORGANISER_ROUTER):
        app.include_router(router)  # the one asked most is found first
    add_messages(app)
    app.add_middleware(Guard, site=site)
    app.add_middleware(AccessLog)
    return app


_MOST: Final = 2_000
_MOST_BY_ADDRESS: Final = 256  # a class room behind one address: 40 browsers with 6 connections each
_OTHER_FILES: Final = 256  # files that the store, its threads and the program itself may have open
_HEAD: Final = 16 * 1024  # bytes of a request line with all headers
_MOST_HEADERS: Final = 100
_LINGER: Final = 2.0  # seconds in which a client may read why it was refused
_PAUSE: Final = 0.5  # seconds; less than the second after which asyncio accepts again

_Stage = Literal["head", "body", "answer", "idle", "refused"]


@frozen
class Patience:
    """Seconds that a client may take."""

    head: float = 10.0  # for the headers, from their first byte or from the start of the connection
    # for a body; longer than the 30 seconds after which the server answers that it took too long
    body: float = 40.0
    reading: float = 60.0  # until an answer that does not fit into the buffers is read on


@dataclass(kw_only=True)
class Connections:
    """The open connections of one process."""

    most: int = _MOST  # how many may be open
    most_by_address: int = _MOST_BY_ADDRESS  # how many of them from one address (of IPv6: one /64)
    proxies: frozenset[str] = frozenset()  # addresses to which `most_by_address` does not apply
    patience: Patience = field(default_factory=Patience)  # how long a client may take
    _open: dict[str, set[object]] = field(default_factory=dict, init=False)
    _waiting: dict[str, dict[object, Callable[[], None]]] = field(default_factory=dict, init=False)

    def __len__(self) -> int:
        return sum(map(len, self._open.values()))

    def open(self, connection: object, address: str, close: Callable[[], None]) -> None:
        """Count a new connection, which waits for its client; close another one if there are too many."""
        self._open.setdefault(address, set()).add(connection)
        self.wait(connection, address, close)
        if len(self._open[address]) > self.most_by_address and address not in self.proxies:
            self._close_one(address)
        elif len(self) > self.most:
            self._close_one(max(self._waiting, key=lambda waiting: len(self._open[waiting])))

    def wait(self, connection: object, address: str, close: Callable[[], None]) -> None:
        """Note that from now on a connection waits for its client."""
        if connection in self._open.get(address, ()):
            waiting = self._waiting.setdefault(address, {})
            waiting.pop(connection, None)
            waiting[connection] = close

    def work(self, connection: object, address: str) -> None:
        """Note that the client of a connection waits for the server."""
        waiting = self._waiting.get(address, {})
        waiting.pop(connection, None)
        if not waiting:
            self._waiting.pop(address, None)

    def closed(self, connection: object, address: str) -> None:
        """Forget a connection, if it is not forgotten already."""
        self.work(connection, address)
        still = self._open.get(address, set())
        still.discard(connection)
        if not still:
            self._open.pop(address, None)

    def _close_one(self, address: str) -> None:
        connection, close = next(iter(self._waiting[address].items()))
        self.closed(connection, address)  # now: many may come before the event loop has closed one
        close()

    @classmethod
    def that_fit(cls, *, proxies: frozenset[str] = frozenset()) -> Connections:
        """Return the limits that leave enough open files to the rest of the program.

        The soft limit of open files (`ulimit -n`) is raised first, as far as is needed and allowed.
        """
        return cls(most=max(min(_MOST, _raise_open_files() - _OTHER_FILES), 16), proxies=proxies)


def _raise_open_files() -> int:
    wanted = _MOST + _OTHER_FILES
    try:
        import resource
    except ImportError:  # Windows knows no such limit
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    top = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft == resource.RLIM_INFINITY or soft >= top:
        return wanted if soft == resource.RLIM_INFINITY else soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (top, hard))
    except (OSError, ValueError):  # macOS refuses more than a limit of its own
        return soft
    return top


class _Refused(h11.RemoteProtocolError):
    """A request whose head breaks our rules; the message is for a person."""


class _Reader(h11.Connection):
    """h11 with a limit for heads that arrive in one piece too, and for HTTP/1 requests of paths alone."""

    reason: tuple[int, str] = (400, "This is no valid HTTP request.")

    def next_event(self) -> Any:  # noqa: ANN401 (h11 has no name for all of them)
        try:
            event = super().next_event()
        except h11.RemoteProtocolError as error:
            if error.error_status_hint == 431:
                self.reason = _TOO_LARGE
            raise
        if isinstance(event, h11.Request):
            self._check(event)
        return event

    def _check(self, request: h11.Request) -> None:
        names = [name for name, _ in request.headers]
        size = len(request.target) + sum(len(name) + len(value) + 4 for name, value in request.headers)
        if size > _HEAD or len(names) > _MOST_HEADERS:
            self.reason = _TOO_LARGE
        elif b"content-length" in names and b"transfer-encoding" in names:
            self.reason = 400, "A request has either Content-Length or Transfer-Encoding, not both."
        elif not request.http_version.startswith(b"1."):
            self.reason = 505, "This server speaks HTTP/1.1."
        elif request.method == b"CONNECT" or not request.target.startswith(b"/"):
            self.reason = 400, "A request asks for a path of this server, which begins with /."
        else:
            return
        raise _Refused(self.reason[1], error_status_hint=self.reason[0])


_TOO_LARGE: Final = (431, f"The headers are too large: at most {_HEAD:,} bytes and {_MOST_HEADERS} headers.")


class GuardedProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 on one connection, with our limits."""

    conn: _Reader

    def __init__(self, *, connections: Connections, **arguments: Any) -> None:  # noqa: ANN401 (uvicorn's)
        super().__init__(**arguments)
        self.conn = _Reader(h11.SERVER, _HEAD)
        self._connections = connections
        self._stage: _Stage = "idle"
        self._timer: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None
        self._address = ""
        self._has_begun = False  # whether a part of the next request is there

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn
        """Count the connection, and wait for its first request."""
        super().connection_made(transport)
        self._address = network_of(self.client[0]) if self.client else ""
        self._enter("head")
        self._connections.open(self, self._address, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._timer, self._reading):
            if timer is not None:
                timer.cancel()
        self._connections.closed(self, self._address)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._stage == "refused":
            return
        self._has_begun = True
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._has_begun = bool(self.conn.trailing_data[0])
        self._look()

    def pause_writing(self) -> None:
        """Stop an answer that its client does not read fast enough, for a while."""
        super().pause_writing()
        self._reading = self.loop.call_later(self._connections.patience.reading, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._reading is not None:
            self._reading.cancel()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 (uvicorn's words)
        """Refuse what was sent, and close the connection once the client has read why."""
        status, message = self.conn.reason
        head = h11.Response(
            status_code=status,
            headers=[("content-type", "text/plain; charset=utf-8"), ("connection", "close")],
            reason=http.HTTPStatus(status).phrase.encode(),
        )
        try:
            parts = [self.conn.send(part) for part in (head, h11.Data(message.encode()), h11.EndOfMessage())]
        except h11.LocalProtocolError:  # an earlier request is being answered
            self.transport.abort()
            return
        self.transport.write(b"".join(part for part in parts if part))
        try:
            self.transport.write_eof()  # closing would take the answer away from a client that still sends
        except OSError:  # the client has gone
            self.transport.abort()
        self._enter("refused")

    def _look(self) -> None:
        if self._stage == "refused":
            return
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            self._enter("body")
        elif state is h11.IDLE:
            self._enter("head" if self._has_begun else "idle")
        else:
            self._enter("answer")

    def _enter(self, stage: _Stage) -> None:
        if stage == self._stage:
            return
        self._stage = stage
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if stage == "answer":
            self._connections.work(self, self._address)
        elif not self.transport.is_closing():
            self._connections.wait(self, self._address, self.transport.abort)
        patience = self._connections.patience
        seconds = {"head": patience.head, "body": patience.body, "refused": _LINGER}.get(stage)
        if seconds is not None:  # uvicorn itself closes what is idle
            self._timer = self.loop.call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        if self._stage == "head" and self._has_begun:
            self.conn.reason = 408, "The headers took too long to arrive."
            self.send_400_response("")
        else:
            self.transport.abort()


def protocol_of(connections: Connections) -> type[asyncio.Protocol]:
    return cast("type[asyncio.Protocol]", partial(GuardedProtocol, connections=connections))


class Listening(socket.socket):
    """A listening socket on which a lack of files is one error a second.

    asyncio tries as often as the backlog is long, and logs each error (Python 3.11 to 3.13).
    """

    _until = 0.0

    def accept(self) -> tuple[socket.socket, Any]:
        if time.monotonic() < self._until:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        try:
            return super().accept()
        except OSError as error:
            if error.errno in {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}:
                self._until = time.monotonic() + _PAUSE
            raise

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (DupFd(self.fileno()), self.family, self.type, self.proto)


def _rebuild(number: Any, family: int, kind: int, protocol: int) -> Listening:  # noqa: ANN401 (no public name)
    return Listening(family, kind, protocol, fileno=number.detach())


_GRACE: Final = 10  # seconds in which requests under way may end
_KEEP_ALIVE: Final = 75  # longer than an annotator thinks: most saves find their connection open
_STARTING: Final = 60  # seconds until a process that does not answer is replaced: it may still be starting
_PROXIES: Final = ("127.0.0.1", "::1")


def listen(host: str, port: int) -> Listening:
    """Take a port; browsers that come before the server is ready wait."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.create_server((host, port), family=family, backlog=2048) as made:
            listening = Listening(made.family, made.type, made.proto, fileno=made.detach())
    except OSError as error:
        number = error.errno or 0
        why = os.strerror(number) if number > 0 else error.strerror  # names of hosts have other numbers
        raise UsageError(f"cannot listen on {host} port {port}: {why}; try another --port") from error
    # Connections inherit it; else each answer waits 40 ms until its first part is acknowledged.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def address_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(
    folder: Path, listening: socket.socket, *, public_url: str | None, workers: int, is_logged: bool
) -> None:
    """Serve until Ctrl-C or SIGTERM; what is under way then is finished first."""
    proxies = frozenset(map(network_of, _PROXIES)) if public_url is not None else frozenset[str]()
    config = uvicorn.Config(
        partial(_make_app, folder, public_url, is_logged=is_logged),
        factory=True,
        http=protocol_of(Connections.that_fit(proxies=proxies)),
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=public_url is not None,  # a proxy of this machine says for whom it asks
        forwarded_allow_ips=",".join(_PROXIES),
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_GRACE,
        timeout_worker_healthcheck=_STARTING,
        workers=workers,
    )
    with ending_quietly():
        if workers == 1:
            uvicorn.Server(config).run(sockets=[listening])
        else:
            Multiprocess(config, sockets=[listening]).run()


def _make_app(folder: Path, public_url: str | None, *, is_logged: bool) -> FastAPI:
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(message)s", level=logging.WARNING)
    if is_logged:
        logging.getLogger("adjudge.access").setLevel(logging.INFO)
    return create_app(open_campaign(folder), public_url=public_url)


@contextmanager
def ending_quietly() -> Iterator[None]:
    """Take SIGTERM for Ctrl-C; uvicorn repeats the signal when it has finished, and that is no error."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)
