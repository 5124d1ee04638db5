"""The forty-two faults by number: seeded runs of each, and none of them turns a fault into a number.

A row says what the server does and how many calls of one request it may spoil before the judgement
fails. A seed chooses which texts are hit, how often, with how many calls at a time and how late answers are.
Whatever it is, every record is that of the undisturbed run, or a failure with the reason of the row.

Cases that are no answer of a server have tests of their own below the table; 41 also has test_kill.py,
test_disk.py and test_store.py, where processes die, disks fill up and processes meet.
"""

import asyncio
import datetime as dt
import email.utils
import json
import os
import random
import socket
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web

from adjudge.errors import ModelError
from tests.faults.seeded import Bench, Disturbed, Rows, chance_of, check, quick_folder, text_of
from tests.faults.server import Fault, Server, envelope, raw, says, wrap

pytestmark = pytest.mark.usefixtures("_quick", "_unpaced")

SEEDS = int(os.environ.get("ADJUDGE_CHAOS_SEEDS", "5"))
ALWAYS = 10**6


@dataclass(frozen=True)
class Row:
    """One fault.

    Args:
        number: of the case.
        fault: by name, or itself.
        reason: of the failure it ends in; empty where there is none.
        calls: so many calls in all, then it is a failure; None where it is waited for as long as it takes.
        stops: the run, which goes on when the server is well again.
        flag: on the record that comes of it, where it is read all the same.
        judge: whose run it is.
        timeout: seconds for a call.
    """

    number: int
    fault: str | Fault
    reason: str = ""
    calls: int | None = 1
    stops: bool = False
    flag: str = ""
    judge: str = "gemba-mqm"
    timeout: float = 20.0

    @property
    def is_counted(self) -> bool:
        """Whether the number of calls is known; a 429 costs no attempt while other calls get through."""
        is_known = self.calls is not None and not self.stops and not self.flag
        return is_known and self.timeout > 5 and self.number != 2

    def __str__(self) -> str:
        name = self.fault if isinstance(self.fault, str) else self.fault.__name__
        return f"{self.number} {name}"


def named(name: str, fault: Fault) -> Fault:
    fault.__name__ = name
    return fault


async def a_date(request: web.Request, content: str) -> web.StreamResponse:
    """A date is meant by the server's clock, which here is years off."""
    then = email.utils.formatdate(1e9, usegmt=True)
    headers = {"Date": then, "Retry-After": then}
    return web.json_response({"error": {"message": "slow"}}, status=429, headers=headers)


async def cut_chunk(request: web.Request, content: str) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(json.dumps(envelope(content)).encode()[:-9])
    assert request.transport is not None
    request.transport.abort()
    return response


async def comments(request: web.Request, content: str) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for _ in range(600):
        await response.write(b": keep-alive\n\n")
        await asyncio.sleep(0.05)
    return response


async def blank_lines(request: web.Request, content: str) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    for _ in range(3):
        await response.write(b"\n\n")
        await asyncio.sleep(0.002)
    await response.write(json.dumps(envelope(content)).encode())
    return response


async def fenced(request: web.Request, content: str) -> web.StreamResponse:
    return web.json_response(envelope(f"Here it is:\n```json\n{content}\n```"))


async def twice_the_same(request: web.Request, content: str) -> web.StreamResponse:
    return web.json_response(envelope(content[:-1] + "," + content[1:]))


async def foreign_span(request: web.Request, content: str) -> web.StreamResponse:
    error = {"span": "Nirgendwo", "category": "other", "severity": "minor", "side": "translation"}
    return web.json_response(envelope(json.dumps({"errors": [error]})))


CHUNK = b'data: {"choices": [{"index": 0, "delta": {"content": "{\\"errors\\": []}"}}]}\n\n'
STREAM = named("stream without end", raw(CHUNK, "text/event-stream"))
STREAM_ERROR = named("stream error", raw(b'data: {"error": {"code": 503}}\n\n', "text/event-stream"))


def rated(number: int, value: str, reason: str = "range") -> Row:
    fault = named(f"rating {value}", says(f'{{"rating": {value}}}'))
    return Row(number, fault, reason, 2, judge="gemba-da")


def labelled(name: str, **changes: str) -> Fault:
    error = {"span": "von", "category": "other", "severity": "minor", "side": "translation"} | changes
    return named(name, says(json.dumps({"errors": [error]})))


TABLE = [
    Row(1, "429 soon", calls=None),
    Row(1, a_date, calls=None),
    Row(1, "429 tomorrow", stops=True),
    Row(2, "429", "server_error", 6),
    Row(2, "429 garbage", "server_error", 6),
    Row(3, "429 quota", stops=True),
    *(Row(4, name, "server_error", 6) for name in ("500", "502", "503", "504", "529", "500 html")),
    *(Row(5, name, "server_error", 6) for name in ("408", "409", "425")),
    Row(6, "400 context", "too_long"),
    Row(7, "400", "server_error"),
    Row(7, "422", "server_error"),
    *(Row(8, name, stops=True) for name in ("401", "403", "404")),
    Row(9, "413", "too_long"),
    Row(10, "redirect", stops=True),
    Row(13, "reset", "connection", 6),
    Row(14, "cut", "connection", 6),
    Row(14, cut_chunk, "connection", 6),
    Row(15, "stall", "timeout", 3, timeout=1.5),
    Row(16, "drip", "timeout", 3, timeout=1.5),
    Row(17, comments, "timeout", 3, timeout=1.5),
    Row(17, blank_lines, calls=None),
    Row(18, STREAM, "not_json", 3),
    Row(19, STREAM_ERROR, "not_json", 3),
    Row(20, "endless", "oversize"),
    *(Row(21, name, "not_json", 3) for name in ("html", "cut json", "deep", "gzip")),
    *(Row(22, name, "not_json", 3) for name in ("empty", "null")),
    Row(23, "error 200", "server_error", 6),
    Row(23, "error 200 quota", stops=True),
    Row(23, "error 200 context", "too_long"),
    *(
        Row(24, name, "bad_envelope", 2)
        for name in ("no choices", "choices []", "choices text", "content 87", "content list")
    ),
    *(Row(24, name, "bad_envelope", 2) for name in ("message null", "finish null", "finish odd", "nan")),
    Row(25, "content null", "empty", 2),
    Row(26, "content empty", "empty", 2),
    Row(27, "length", "truncated", 2),
    *(Row(28, name, "refused") for name in ("filter", "refusal", "400 filter")),
    Row(28, "refusal prose", "parse", 2),
    Row(29, "thinking only", "no_answer", 2),
    Row(30, "prose", "parse", 2),
    Row(31, fenced, flag="extracted"),
    Row(31, "two objects", "ambiguous", 2),
    Row(32, "missing key", "schema", 2),
    Row(32, "extra key", "schema", 2),
    Row(33, "unknown severity", "label", 2),
    Row(33, labelled("unknown category", category="vibes"), "label", 2),
    Row(33, labelled("blank in a severity", severity="Major\u00a0Major"), "label", 2),
    *(rated(34, value) for value in ("101", "-1", "true", "null", '"eighty"', '"८७"', "95.5", "1e999")),
    *(rated(34, value, "parse") for value in ("NaN", "-Infinity")),
    Row(35, "duplicate keys", "ambiguous", 2),
    Row(35, twice_the_same, calls=None),
    Row(36, foreign_span, flag="span_unmatched"),
    *(Row(37, name, "encoding") for name in ("utf-8", "surrogate", "nul")),
    Row(
        38, named("NaN logprob", wrap(logprobs={"content": [{"token": "a", "logprob": None}]})), "logprob", 2
    ),
    Row(39, "other model", "model_mismatch"),
    Row(40, "two choices", "count", 2),
]

ELSEWHERE = {
    11: "no answer at all: test_a_server_that_goes_and_comes_..., test_a_name_that_is_not_known_yet_...",
    12: "test_a_connection_that_is_not_secure_stops_the_run",
    41: "test_a_run_that_is_stopped_anywhere_goes_on, and test_kill.py, test_disk.py, test_store.py",
    42: "test_no_jump_of_the_clock_moves_a_record_or_a_deadline",
}


@pytest.fixture
def bench(server: Server) -> Iterator[Bench]:
    with quick_folder() as folder:
        yield Bench(server, folder)


def test_every_case_has_a_row() -> None:
    assert sorted({row.number for row in TABLE} | set(ELSEWHERE)) == list(range(1, 43))


async def side_by_side(one: Callable[[int], Awaitable[None]]) -> None:
    """All seeds at once, in one event loop; the first error counts, and it names its seed."""
    await asyncio.gather(*(one(seed) for seed in range(SEEDS)))


@pytest.mark.parametrize("row", TABLE, ids=str)
async def test_a_fault_is_waited_out_or_a_failure_with_its_reason(bench: Bench, row: Row) -> None:
    bench.judge = row.judge
    undisturbed = await bench.undisturbed()

    async def one(seed: int) -> None:
        chance = chance_of(row, seed)
        plan = draw(row, chance, bench.texts)
        said = f"seed {seed} of {row}: {plan}"
        disturbed = Disturbed(said, spoil(row, dict(plan)))
        bench.join(f"run{seed}", disturbed)
        width = chance.randint(1, 6) if row.timeout > 5 else 6
        rows, stops = await bench.run_to_the_end(f"run{seed}", concurrency=width, timeout=row.timeout)
        assert stops == row.stops, said
        hits = [(bench.texts.index(text), times) for text, times in plan.items()]
        compare(row, rows, undisturbed, hits, said)
        assert set(disturbed.answered.values()) <= {1}, f"{said}: a good answer was asked for again"
        if row.is_counted:
            expected = {text: calls_of(row, times) for text, times in plan.items()}
            assert {text: disturbed.asked[text] for text in plan} == expected, said

    await side_by_side(one)


def draw(row: Row, chance: random.Random, texts: list[str]) -> dict[str, int]:
    """Which texts are hit and how often; `ALWAYS` for those that must fail."""
    if row.stops:
        return {chance.choice(texts): ALWAYS}
    most = 2 if row.number in {7, 15, 16, 17, 39} else 4  # 7, 39: three in a row would be a wrong setting
    hit = chance.sample(texts, chance.randint(1, most))
    if row.calls is None:
        return {text: chance.randint(1, 8) for text in hit}
    return {text: chance.choice([*range(1, row.calls), ALWAYS]) for text in hit}


def spoil(row: Row, plan: dict[str, int]) -> Callable[[dict[str, Any]], str | Fault | None]:
    def choose(payload: dict[str, Any]) -> str | Fault | None:
        text = text_of(payload)
        left = plan.get(text, 0)
        plan[text] = left - 1
        return row.fault if left > 0 else None

    return choose


def calls_of(row: Row, times: int) -> int:
    return (row.calls or 0) if times == ALWAYS else times + 1


def compare(row: Row, rows: Rows, undisturbed: Rows, hits: list[tuple[int, int]], said: str) -> None:
    """The oracle; what is read all the same carries its flag, and differs in nothing but what it says."""
    if row.flag:
        rows = list(rows)
        for index, _ in hits:
            assert rows[index]["kind"] == "annotation", said
            assert row.flag in rows[index]["flags"], said
            if row.flag == "span_unmatched":
                assert [span["match"] for span in rows[index]["spans"]] == ["unmatched"], said
                rows[index] = {**rows[index], "spans": undisturbed[index]["spans"]}
            rows[index] = {**rows[index], "flags": []}
    failing = {index: row.reason for index, times in hits if times == ALWAYS and row.reason}
    check(rows, undisturbed, failing, said)


class Gate:
    """A place where a server can be reached, and sometimes not; connections break when it shuts.

    A socket that does not listen holds the port for it meanwhile.
    """

    def __init__(self, behind: int) -> None:
        self._behind = behind
        self._holder = socket.socket()
        self._holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._holder.bind(("127.0.0.1", 0))
        self.port = int(self._holder.getsockname()[1])
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._pumps: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, reuse_port=True)

    async def shut(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._open:
            writer.transport.abort()
        await asyncio.gather(*self._pumps, return_exceptions=True)

    def close(self) -> None:
        self._holder.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner, outer = await asyncio.open_connection("127.0.0.1", self._behind)
        self._open |= {writer, outer}
        for pair in ((reader, outer), (inner, writer)):
            task = asyncio.create_task(self._pump(*pair))
            self._pumps.add(task)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                writer.write(data)
        writer.close()


async def test_a_server_that_goes_and_comes_costs_nothing(bench: Bench) -> None:
    undisturbed = await bench.undisturbed()

    async def one(seed: int) -> None:
        chance = chance_of("gate", seed)
        gate = Gate(bench.server.port)
        bench.join(f"run{seed}", Disturbed(str(seed), lambda payload: None))
        url = f"http://127.0.0.1:{gate.port}/v1"
        running = asyncio.create_task(bench.run(f"run{seed}", base_url=url, concurrency=chance.randint(1, 6)))
        for _ in range(chance.randint(1, 3)):
            await asyncio.sleep(chance.uniform(0.0, 0.05))
            await gate.open()
            await asyncio.sleep(chance.uniform(0.0, 0.05))
            await gate.shut()
        await gate.open()
        check(await running, undisturbed, {}, f"seed {seed}")
        await gate.shut()
        gate.close()

    await side_by_side(one)


async def test_a_name_that_is_not_known_yet_is_asked_for_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = await bench.undisturbed()
    loop, chance = asyncio.get_running_loop(), chance_of("names")
    known = loop.getaddrinfo

    async def unsure(host: Any, *rest: Any, **more: Any) -> Any:
        if str(host).endswith(".test"):
            if chance.random() < 0.7:
                raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
            host = "127.0.0.1"
        return await known(host, *rest, **more)

    monkeypatch.setattr(loop, "getaddrinfo", unsure)

    async def one(seed: int) -> None:
        bench.join(f"run{seed}", Disturbed(str(seed), lambda payload: None))
        url = f"http://judge{seed}.test:{bench.server.port}/v1"
        check(await bench.run(f"run{seed}", base_url=url), undisturbed, {}, f"seed {seed}")

    await side_by_side(one)


async def test_a_connection_that_is_not_secure_stops_the_run_and_it_goes_on_over_one_that_is_right(
    bench: Bench,
) -> None:
    undisturbed = await bench.undisturbed()

    async def one(seed: int) -> None:
        bench.join(f"run{seed}", Disturbed(str(seed), lambda payload: None))
        with pytest.raises(ModelError, match="no secure connection"):
            await bench.run(f"run{seed}", base_url=bench.server.url.replace("http:", "https:"))
        assert not (bench.folder / f"run{seed}" / "records.jsonl").exists()
        check(await bench.run(f"run{seed}"), undisturbed, {}, f"seed {seed}")

    await side_by_side(one)


async def test_a_run_that_is_stopped_anywhere_goes_on_and_pays_nothing_twice(bench: Bench) -> None:
    undisturbed = await bench.undisturbed()

    async def one(seed: int) -> None:
        chance = chance_of("stop", seed)
        disturbed = Disturbed(str(seed), lambda payload: None)
        bench.join(f"run{seed}", disturbed)
        for _ in range(chance.randint(1, 3)):
            running = asyncio.create_task(bench.run(f"run{seed}", concurrency=chance.randint(1, 6)))
            await asyncio.wait([running], timeout=chance.uniform(0.0, 0.2))
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        check(await bench.run(f"run{seed}"), undisturbed, {}, f"seed {seed}")
        assert set(disturbed.answered.values()) == {1}, f"seed {seed}: paid twice"

    await side_by_side(one)


async def test_no_jump_of_the_clock_moves_a_record_or_a_deadline(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = await bench.undisturbed()
    chance, real = chance_of("clock"), time.time

    class Jumping(dt.datetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> Any:
            return dt.datetime.fromtimestamp(time.time(), tz)

    monkeypatch.setattr(time, "time", lambda: real() + chance.choice([-1e8, -3600, 0, 3600, 86400, 1e8]))
    for name, module in list(sys.modules.items()):
        if name.startswith("adjudge.") and getattr(module, "dt", None) is dt:
            monkeypatch.setattr(module, "dt", SimpleNamespace(**{**vars(dt), "datetime": Jumping}))

    async def one(seed: int) -> None:
        own = chance_of("clock", seed)
        plan = {own.choice(bench.texts): own.randint(1, 2)}
        faults: list[str | Fault] = ["500", "reset", a_date, "stall"]
        row = Row(42, own.choice(faults), calls=6)
        bench.join(f"run{seed}", Disturbed(str(seed), spoil(row, plan)))
        began = time.monotonic()
        rows = await bench.run(f"run{seed}", timeout=0.5)
        check(rows, undisturbed, {}, f"seed {seed}")
        assert time.monotonic() - began < 300, f"seed {seed}"  # clocks jump by an hour, a day, three years

    await side_by_side(one)


async def test_what_is_no_text_is_kept_as_it_came(bench: Bench) -> None:
    bench.join("bytes", Disturbed("bytes", lambda payload: "utf-8"))
    await bench.run("bytes")
    connection = sqlite3.connect(bench.folder / "bytes" / "calls.sqlite")
    bodies = connection.execute("SELECT body FROM attempts").fetchall()
    connection.close()
    assert len(bodies) == len(bench.texts)
    assert all(b"\xff" in held for (held,) in bodies)


async def test_a_stream_is_never_asked_for(bench: Bench) -> None:
    await bench.undisturbed()
    assert bench.server.log
    assert not any("stream" in payload for payload in bench.server.log)
    assert all(headers["Accept"] == "application/json" for headers in bench.server.headers)
