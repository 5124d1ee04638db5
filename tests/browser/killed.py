"""A server of a campaign in a process of its own, which is killed and started again on the same port."""

import socket
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import uvicorn

from adjudge.campaigns.campaign import open_campaign
from adjudge.web.app import create_app
from tests.web.test_kills import FORKS


@contextmanager
def taken_port() -> Iterator[int]:
    """A port that is taken, where nobody listens: nobody else gets it while a server is dead."""
    with bound(0) as taken:
        yield taken.getsockname()[1]


def bound(port: int) -> socket.socket:
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    found.bind(("127.0.0.1", port))
    return found


def run(folder: Path, port: int) -> None:
    """What the process does."""
    app = create_app(open_campaign(folder))
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[bound(port)])


class KilledServer:
    """It serves once it is made."""

    def __init__(self, folder: Path, port: int) -> None:
        self.process = FORKS.Process(target=run, args=(folder, port))
        self.process.start()
        while True:
            assert self.process.is_alive()
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/health"):
                break
            time.sleep(0.02)

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.join()
        self.process.close()


@contextmanager
def serve_alone(folder: Path, port: int) -> Iterator[None]:
    """A server that is killed in the end."""
    server = KilledServer(folder, port)
    try:
        yield
    finally:
        server.kill()
