"""What the tests of models share."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from adjudge.core.ask import About, Message, Quoted, Reply, Sampling
from adjudge.core.segment import Segment, Subject
from adjudge.llm.asking import Asker
from adjudge.llm.limits import Limiter
from adjudge.llm.model import Identity, Request
from adjudge.llm.model_choice import Models, OpenModel
from adjudge.llm.providers import COMPATIBLE, Endpoint
from adjudge.llm.remote import RemoteModel
from adjudge.store.call_file import Exchange, run_name, unit_name
from adjudge.store.calls import CallReader, CallStore
from tests.faults.limited import run


def make_subject(translation: str = "Guten Morgen", system: str = "A") -> Subject:
    segment = Segment(segment="1", lp="en-de", source="Good morning", translations={system: translation})
    return Subject(segment=segment, systems=(system,))


def make_request(text: str = "Guten Morgen", **changes: object) -> Request:
    about = About(judge="test", stage="errors", subject=make_subject(text), wants="errors")
    messages = (Message("system", ("Judge.",)), Message("user", ("This: ", Quoted("translation", text))))
    values = {"schema": None, "sampling": Sampling(), "mark": "0" * 16, "key": b"k" * 32} | changes
    return Request(messages=messages, about=about, **values)  # type: ignore[arg-type]


def pause_of(limiter: Limiter) -> float:
    """Seconds for which nothing is sent."""
    return limiter._pauses.left(limiter._clock())


def virtual(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test where time is virtual and nobody sleeps."""

    @wraps(test)
    def begun(*arguments: Any, **named: Any) -> None:
        run(test(*arguments, **named))

    return begun


RUN = run_name("00")


Script = Callable[[Request], Reply]


class Scripted:
    """A model that answers by a function and counts what it was asked."""

    name = "test/scripted"

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[Request] = []

    async def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        await asyncio.sleep(0)
        return self.script(request)


class Bench:
    """An asker over a store, with one scripted model."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.model = Scripted(lambda request: Reply(text="yes"))
        self.store = CallStore(path, RUN)

    def asker(self, *, offline: bool = False, seed: int = 0, explains: bool = True) -> Asker:
        return Asker(
            Models(default=opened(self.model)),
            self.store,
            secret=b"secret",
            seed=seed,
            offline=offline,
            explains=explains,
        )

    def conversation(self, subject: Subject) -> list[Exchange]:
        reader = CallReader(self.path)
        self.store.totals()
        try:
            return reader.conversation(RUN, unit_name(subject.lp, subject.segment.segment, subject.systems))
        finally:
            reader.close()


def opened(model: Scripted) -> OpenModel:
    identity = Identity(endpoint="test", model="scripted", seeded=True)
    return OpenModel(identity=identity, model=model, served="any")


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    bench = Bench(tmp_path / "calls.sqlite")
    yield bench
    bench.store.close()


@asynccontextmanager
async def remote_at(url: str, **changes: Any) -> AsyncIterator[RemoteModel]:
    """A model that is closed whatever happens."""
    values: dict[str, Any] = {
        "provider": COMPATIBLE,
        "url": url,
        "model": "mock",
        "key": "canary-key-1234567890",
        "timeout": 5.0,
        "body_cap": 200_000,
    } | changes
    remote = RemoteModel(Endpoint(**values))
    try:
        yield remote
    finally:
        await remote.close()
