"""Browsers that annotate, without a browser: what their pages ask for and send, and how long it takes."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import numpy as np

__all__ = ["Annotator", "Times", "work_together"]

Json = dict[str, Any]
_DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)
_AT_ONCE = 16  # links that are opened at the same time, before anything is measured


@dataclass
class Times:
    """Seconds that each kind of request took, and what went wrong."""

    taken: dict[str, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def add(self, kind: str, seconds: float) -> None:
        """Note one."""
        self.taken.setdefault(kind, []).append(seconds)

    def quantiles(self, kind: str) -> list[float]:
        """Count, then median, 95th and 99th percentile in milliseconds."""
        seconds = self.taken.get(kind, [])
        return [len(seconds), *(1000 * np.quantile(seconds or [np.nan], [0.5, 0.95, 0.99])).tolist()]


@dataclass
class Annotator:
    """One person's browser, with connections and a cookie of its own.

    Args:
        url: of the server.
        secret: of the person's link.
        times: where what is measured goes.
    """

    url: str
    secret: str
    times: Times
    session: aiohttp.ClientSession = field(init=False)
    page: str = ""
    task: Json = field(default_factory=dict)

    async def enter(self) -> None:
        """Open the link and the first task."""
        await self.connect()
        await self.ask("enter", "/api/enter", {"secret": self.secret})
        await self.open((await self.ask("next", "/api/next", {}))["assignment"])

    async def connect(self) -> None:
        """Begin as a browser that was just opened."""
        timeout, cookies = aiohttp.ClientTimeout(60), aiohttp.CookieJar(unsafe=True)
        self.session = aiohttp.ClientSession(self.url, cookie_jar=cookies, timeout=timeout)

    async def ask(self, kind: str, path: str, body: object = None) -> Any:  # noqa: ANN401 (what the server says)
        """Send one request and note how long its answer took; JSON comes back read."""
        start = time.perf_counter()
        method = "GET" if body is None else "POST"
        async with self.session.request(method, path, json=body) as response:
            text = await response.text()
        self.times.add(kind, time.perf_counter() - start)
        if response.status != 200:
            self.times.errors.append(f"{kind}: {response.status} {text[:200]}")
        return json.loads(text) if body is not None else text

    async def open(self, assignment: int) -> None:
        """Open the page of a task."""
        found = _DATA.search(await self.ask("page", f"/work/{assignment}"))
        assert found is not None
        self.task, self.page = json.loads(found[1]), str(uuid.uuid4())

    async def save(self, item: Json, *kinds: str) -> None:
        """Send changes of one item in one request."""
        await self.send([self.change(item, kind) for kind in kinds])

    async def send(self, events: list[Json]) -> None:
        """Send changes in one request."""
        body = {"assignment": self.task["assignment"], "page": self.page, "events": events}
        done = await self.ask("save", "/api/events", body)
        if len(done.get("saved", ())) != len(events):
            self.times.errors.append(f"not saved: {done}")

    def change(self, item: Json, kind: str) -> Json:
        """Mark a word, change its severity, or rate."""
        (state,) = item["state"]["translations"]
        if kind == "mark":
            end = max(1, len(item["translations"][0]["text"].split(" ")[0]))
            word = item["translations"][0]["text"][:end]
            span = {"side": "translation", "start": 0, "end": end, "text": word, "severity": "minor"}
            state["spans"] = [{"id": "c1", **span, "category": None, "note": "", "given": None}]
        elif kind == "severity":
            state["spans"][0]["severity"] = "major"
        else:
            state["rating"] = random.randrange(101)
        item["revision"] += 1
        return {
            "id": str(uuid.uuid4()),
            "item": item["id"],
            "base": item["revision"] - 1,
            "kind": kind,
            "at": time.time(),
            "state": json.loads(json.dumps(item["state"])),
            "hashes": item["hashes"],
            "active": 5.0,
            "idle": 0.0,
        }

    async def finish(self) -> None:
        """Finish the task and open the next one."""
        done = await self.ask("finish", f"/api/work/{self.task['assignment']}/done", {})
        if done["next"] is None:
            raise RuntimeError("nothing is left to do: make the campaign larger")
        self.task = done["next"]

    def steps(self) -> Iterator[Callable[[], Awaitable[None]]]:
        """All that a person does, each step after some thought: mark, choose a severity, rate; finish."""
        while True:
            for item in self.task["items"]:
                for kind in ("mark", "severity", "rate"):
                    yield lambda item=item, kind=kind: self.save(item, kind)  # type: ignore[misc]
            yield self.finish

    async def work(self, think: float, until: float) -> None:
        """Work until then, by the monotonic clock; thinking takes `think` seconds, more or less by half."""
        await asyncio.sleep(random.uniform(0, think))
        for step in self.steps():
            if time.monotonic() > until:
                return
            try:
                await step()
            except (aiohttp.ClientError, TimeoutError) as error:
                self.times.errors.append(repr(error))
            await asyncio.sleep(random.uniform(0.5, 1.5) * think)


async def work_together(
    url: str, secrets: list[str], think: float, seconds: float, begun: Callable[[], None]
) -> Times:
    """Let everybody open their link, then work; what is measured is the work."""
    people = [Annotator(url, secret, Times()) for secret in secrets]
    gate = asyncio.Semaphore(_AT_ONCE)

    async def enter(one: Annotator) -> None:
        async with gate:
            await one.enter()

    await asyncio.gather(*map(enter, people))
    times = Times()
    for one in people:
        one.times = times
    begun()
    try:
        await asyncio.gather(*(one.work(think, time.monotonic() + seconds) for one in people))
    finally:
        await asyncio.gather(*(one.session.close() for one in people))
    return times
