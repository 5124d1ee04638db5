"""kill -9 of the server while sixteen browsers save: what was acknowledged is there, once."""

import asyncio
import json
import os
import random
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text

from adjudge.campaigns.campaign import open_campaign
from adjudge.campaigns.database import answer, event
from adjudge.campaigns.people import Link
from adjudge.cli.main import main
from adjudge.web import app
from adjudge.web.app import Listening, listen
from tests.campaigns.conftest import make_test_set, opener
from tests.web.test_api import change, items_of

KILLS = int(os.environ.get("ADJUDGE_CHAOS_KILLS", "50"))
CLIENTS = 16
FORKS = get_context("forkserver")  # a copy of a process that has everything imported: quicker than a new one
OURS = ["adjudge.web.app", "adjudge.cli.people_commands", "adjudge.campaigns.migrations"]
LATE = ["uvicorn.loops.auto", "uvicorn.protocols.http.auto", "uvicorn.protocols.websockets.auto", "h11"]
FORKS.set_forkserver_preload([*OURS, *LATE, "tests.web.test_kills"])


class GoneError(Exception):
    """The server was killed, or is not back yet."""


def run(folder: str, listening: Listening) -> None:
    """What the process does: the command itself, on a port that is kept for it."""
    app.listen = lambda host, port: listening
    main(["campaign", "serve", folder])


@dataclass
class Server:
    """`adjudge campaign serve` in a process of its own, always on the same port."""

    folder: Path
    listening: Listening
    process: ForkServerProcess | None = None

    def start(self) -> None:
        """Start it; clients find it when it listens."""
        self.process = FORKS.Process(target=run, args=(str(self.folder), self.listening))
        self.process.start()

    def kill(self) -> None:
        """End it as a power cut of the process would."""
        assert self.process is not None
        self.process.kill()
        self.process.join(60)


@dataclass
class Browser:
    """One annotator's page: it sends a change until it is acknowledged, then the next."""

    port: int
    link: Link
    cookie: str = ""
    assignment: int = 0
    acknowledged: dict[str, tuple[int, int]] = field(default_factory=dict)  # id: item, revision

    async def post(self, path: str, body: object) -> tuple[int, Any]:
        """One request on a connection of its own."""
        content = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nConnection: close\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
            f"Cookie: adjudge={self.cookie}\r\n\r\n"
        )
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            try:
                writer.write(head.encode() + content)
                answer_ = await reader.read()
            finally:
                writer.close()
        except OSError as error:
            raise GoneError from error
        return self.read(answer_)

    def read(self, raw: bytes) -> tuple[int, Any]:
        """Status and JSON; an answer that was cut off is none."""
        start, _, content = raw.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", start)
        if length is None or len(content) != int(length[1]):
            raise GoneError
        if cookie := re.search(rb"set-cookie: adjudge=([\w-]+)", start):
            self.cookie = cookie[1].decode()
        return int(start.split()[1]), json.loads(content)

    async def insist(self, path: str, body: object) -> Any:
        """Send until it is answered."""
        while True:
            try:
                status, content = await self.post(path, body)
            except GoneError:
                await asyncio.sleep(0.1)  # as a browser does; nothing says when a server is back
                continue
            assert status == 200, content
            return content

    async def enter(self) -> None:
        """Open the link, and get a task."""
        await self.insist("/api/enter", {"secret": self.link.secret})
        self.assignment = (await self.insist("/api/next", {}))["assignment"]

    async def work(self, rows: list[Any], until: asyncio.Event) -> None:
        """Rate one segment after another."""
        revisions = {row.id: 0 for row in rows}
        while not until.is_set():
            row = random.choice(rows)
            one = change(row, rating=random.randrange(101), base=revisions[row.id], id=str(uuid.uuid4()))
            body = {"assignment": self.assignment, "page": f"page-{self.link.name}", "events": [one]}
            (saved,) = (await self.insist("/api/events", body))["saved"]
            revisions[row.id] = saved["revision"]
            self.acknowledged[saved["id"]] = (saved["item"], saved["revision"])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[Server, list[Browser], Any]]:
    """A server, and a browser for each of sixteen annotators."""
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        for make in opener(tmp_path, make_test_set("en-de"), None):
            campaign, links = make(annotators=CLIENTS, assignment="pool", raters=CLIENTS)
            browsers = [Browser(port, link) for link in links if link.role == "annotator"]
            server = Server(campaign.folder, listening)
            server.start()
            try:
                yield server, browsers, campaign
            finally:
                server.kill()


async def storm(server: Server, browsers: list[Browser], house: Any, kills: int) -> None:
    """Everybody works while the server is killed again and again."""
    await asyncio.gather(*(browser.enter() for browser in browsers))
    until = asyncio.Event()
    tasks = [asyncio.create_task(one.work(items_of(house, one.assignment), until)) for one in browsers]
    for _ in range(kills):
        before = total(browsers)
        goal = before + random.randrange(CLIENTS, 4 * CLIENTS)
        while total(browsers) < goal:
            await asyncio.sleep(0.005)
            for task in tasks:
                if task.done():
                    task.result()
        server.kill()
        server.start()
    until.set()
    await asyncio.gather(*tasks)


def total(browsers: list[Browser]) -> int:
    return sum(len(one.acknowledged) for one in browsers)


@dataclass
class Opened:
    """What `items_of` reads."""

    campaign: Any


@pytest.mark.exhaustive
@pytest.mark.slow
def test_nothing_acknowledged_is_lost_or_doubled(server: tuple[Server, list[Browser], Any]) -> None:
    process, browsers, campaign = server
    asyncio.run(storm(process, browsers, Opened(campaign), KILLS))
    process.kill()
    found = open_campaign(campaign.folder)
    with found.database.reading() as connection:
        events = connection.execute(select(event.c.client_id, event.c.item_id, event.c.revision)).all()
        answers = connection.execute(select(answer.c.item_id, answer.c.revision)).all()
        assert connection.execute(text("PRAGMA integrity_check")).scalar() == "ok"
    stored = {row.client_id: (row.item_id, row.revision) for row in events}
    assert len(stored) == len(events)
    acknowledged = {key: value for one in browsers for key, value in one.acknowledged.items()}
    assert {key: stored.get(key) for key in acknowledged} == acknowledged
    assert sum(row.revision for row in answers) == len(events)
    assert len(acknowledged) >= KILLS * CLIENTS
    told = f"{KILLS} kills: {len(acknowledged):,} saves acknowledged, each of them stored once"
    print(f"\n{told}")  # noqa: T201 (the figures of docs/benchmark-tables.md)
    found.database.close()
    process.start()
