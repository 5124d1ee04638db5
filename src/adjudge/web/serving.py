"""A campaign on a port: one process, or several where the store is a server's."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from adjudge.campaigns.campaign import open_campaign
from adjudge.errors import UsageError
from adjudge.web.app import create_app
from adjudge.web.connections import Connections, Listening, protocol_of
from adjudge.web.limits import network_of

__all__ = ["address_of", "ending_quietly", "listen", "serve"]

_GRACE: Final = 10  # seconds in which requests under way may end
_KEEP_ALIVE: Final = 75  # longer than an annotator thinks: most saves find their connection open
_PROXIES: Final = ("127.0.0.1", "::1")


def listen(host: str, port: int) -> Listening:
    """Take a port; browsers that come before the server is ready wait.

    Raises:
        UsageError: it is taken, or the host is none of this machine's.
    """
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
    """URL of a socket."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(
    folder: Path, listening: socket.socket, *, public_url: str | None, workers: int, is_logged: bool
) -> None:
    """Serve until Ctrl-C or SIGTERM; what is under way then is finished first.

    Args:
        folder: of the campaign.
        listening: the port.
        public_url: where browsers find it, if that is another address.
        workers: processes; more than one needs a store on a server.
        is_logged: whether requests are logged.
    """
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
        workers=workers,
    )
    with ending_quietly():
        if workers == 1:
            uvicorn.Server(config).run(sockets=[listening])
        else:
            Multiprocess(config, sockets=[listening]).run()


def _make_app(folder: Path, public_url: str | None, *, is_logged: bool) -> FastAPI:
    """Open the campaign in the process that serves it."""
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
