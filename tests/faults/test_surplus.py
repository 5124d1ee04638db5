"""An answer is the answer to its question, whatever else a server sends on the connection."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from orjson import dumps

from adjudge.core.ask import Query, Reply
from adjudge.core.record import Annotation
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DONE
from adjudge.llm.connections import Connector
from adjudge.llm.faults import Fault
from adjudge.llm.providers import COMPATIBLE, PROVIDERS, Endpoint
from adjudge.llm.remote import query_message
from adjudge.llm.search import SearchDialect
from adjudge.llm.wire import Wire
from adjudge.store.json_lines import write_test_set
from adjudge.store.run_directory import RECORDS, read_run, read_run_info
from tests.faults.conftest import call
from tests.faults.surplus import SurplusServer, certified, every_fortieth
from tests.llm.conftest import make_request

DIALECTS = ("chat", "anthropic", "gemini", "http", "searxng")


def words(number: int) -> str:
    return f"Q{number}"


def wire_to(server: SurplusServer, dialect: str) -> Wire:
    base = f"http{'s' if server.tls else ''}://127.0.0.1:{server.port}"
    if dialect in {"http", "searxng"}:
        provider = COMPATIBLE
        model, url = f"{dialect}:x", base
    else:
        provider = PROVIDERS[dialect] if dialect != "chat" else COMPATIBLE
        model, url = "mock", base + {"chat": "/v1", "anthropic": "/v1", "gemini": "/v1beta"}[dialect]
    endpoint = Endpoint(provider=provider, url=url, model=model, key="k" * 20, timeout=20.0)
    return Wire(endpoint, SearchDialect(endpoint) if dialect in {"http", "searxng"} else None)


def question(wire: Wire, number: int) -> Any:
    request = make_request(f"Q{number}", key=number.to_bytes(32, "big"))
    if isinstance(wire.dialect, SearchDialect):
        request = request.but(messages=(query_message(Query(text=f"Q{number}")),))
    return request


async def ask(wire: Wire, number: int, found: dict[int, str]) -> None:
    """Ask one question; a fault is asked again."""
    request = question(wire, number)
    body = dumps(wire.dialect.payload(request))
    for _ in range(8):
        outcome = await wire.exchange(body, request)
        if isinstance(outcome, Reply):
            found[number] = outcome.text
            return
        assert isinstance(outcome, Fault)
        assert outcome.reason in {"connection", "bad_envelope"}, outcome  # asked anew either way
    raise AssertionError("asked too often")


async def ask_all(wire: Wire, size: int, width: int, rest: float) -> dict[int, str]:
    """Ask in rounds of `width`, with a rest after each."""
    found: dict[int, str] = {}

    try:
        for start in range(0, size, width):
            await asyncio.gather(*(ask(wire, n, found) for n in range(start, min(start + width, size))))
            await asyncio.sleep(rest)
        await asyncio.sleep(0.05)
    finally:
        await wire.close()
    return found


def foreign(found: dict[int, str]) -> list[int]:
    return [number for number, text in found.items() if f"Q{number}" not in Counter(words_of(text))]


def words_of(text: str) -> list[str]:
    return [word.strip('"') for word in text.replace(",", " ").replace(":", " ").split()]


@pytest.mark.parametrize("width", [1, 8, 64])
@pytest.mark.parametrize("kind", ["together", "split", "idle", "unasked"])
def test_no_answer_is_anothers_where_a_surplus_comes_before_the_next_question(kind: str, width: int) -> None:
    rest = 0.0 if kind in {"together", "split"} else 0.015
    with SurplusServer(kind, every_fortieth, words).running() as server:
        found = asyncio.run(ask_all(wire_to(server, "chat"), 1000, width, rest))
        assert server.surplus >= 25
    assert len(found) == 1000
    assert foreign(found) == []


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kind", ["together", "split", "idle", "early", "unasked"])
def test_so_in_every_dialect_and_with_search_engines(dialect: str, kind: str) -> None:
    at: Callable[[int], bool] = (lambda n: n in {1, 3}) if kind == "early" else every_fortieth
    with SurplusServer(kind, at, words).running() as server:
        wire = wire_to(server, dialect)
        suspects: list[bytes] = []
        wire.surplus.doubt = suspects.append
        found = asyncio.run(ask_all(wire, 120, 8, 0.01))
        assert server.surplus
    assert len(found) == 120
    wrong = {number.to_bytes(32, "big") for number in foreign(found)}
    # a server that is slow to begin may be early with its answer and late for the question
    assert wrong <= {*suspects} if kind == "early" else not wrong


async def keep_asking(wire: Wire, size: int, width: int) -> dict[int, str]:
    """Ask `width` at a time, without a rest."""
    numbers, found = iter(range(size)), dict[int, str]()

    async def worker() -> None:
        for number in numbers:
            await ask(wire, number, found)

    await asyncio.gather(*(worker() for _ in range(width)))
    await asyncio.sleep(0.05)
    await wire.close()
    return found


@pytest.mark.parametrize("width", [1, 64])
@pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])
def test_an_honest_server_is_asked_on_connections_that_stay(
    secure: bool, width: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server = SurplusServer("late", lambda number: False, words)
    server.delay = 0.01
    if secure:
        server.tls, trusted = certified(tmp_path)
        monkeypatch.setattr("adjudge.llm.wire.Connector", partial(Connector, ssl=trusted))
    size = 40 * width
    with server.running():
        found = asyncio.run(keep_asking(wire_to(server, "chat"), size, width))
    assert foreign(found) == []
    assert len(found) == server.questions == size
    assert server.connections <= size / 20, "95 % of the calls reuse a connection"


@pytest.mark.parametrize("width", [1, 8, 64])
def test_what_an_answer_that_comes_later_may_have_displaced_is_known(width: int) -> None:
    """It looks like the answer to the question that was written meanwhile."""
    with SurplusServer("late", every_fortieth, words).running() as server:
        server.delay = 0.01
        wire = wire_to(server, "chat")
        suspects: list[bytes] = []
        wire.surplus.doubt = suspects.append
        found = asyncio.run(keep_asking(wire, 1000, width))
    assert wire.surplus.seen
    wrong = {number.to_bytes(32, "big") for number in foreign(found)}
    assert len(wrong - {*suspects}) == 0
    assert len(found) == 1000


def rated(number: int) -> str:
    return json.dumps({"rating": number % 101})


def run_over(server: SurplusServer, folder: Path, *options: str) -> int:
    """`adjudge run gemba-da` over segments whose rating follows from their number."""
    segments = (
        Segment(segment=str(n), lp="en-de", source=f"Q{n}", translations={"A": f"Q{n}"}) for n in range(SIZE)
    )
    write_test_set(folder / "set.jsonl", TestSet(name="small", segments=tuple(segments)))
    wire = ("--base-url", f"http://127.0.0.1:{server.port}/v1", "--model", "mock")
    where = (str(folder / "set.jsonl"), "--out", str(folder / "run"))
    return call("run", "gemba-da", *where, *wire, *options)


SIZE = 200


@pytest.mark.parametrize("kind", ["together", "split", "late"])
@pytest.mark.parametrize("width", [1, 8])
def test_a_run_has_no_record_of_another_segment_without_its_flag(
    kind: str, width: int, tmp_path: Path
) -> None:
    at: Callable[[int], bool] = (lambda n: n in {30, 50, 90}) if kind == "late" else every_fortieth
    with SurplusServer(kind, at, rated).running() as server:
        server.delay = 0.01
        assert run_over(server, tmp_path, "--concurrency", str(width)) == DONE
        asked = server.questions
        recorded = (tmp_path / "run" / RECORDS).read_bytes()
        assert run_over(server, tmp_path) == DONE
        assert server.questions == asked, "nothing is asked again"
        assert run_over(server, tmp_path, "--reparse") == DONE
    read = read_run(tmp_path / "run")
    records = [record for record in read.records if isinstance(record, Annotation)]
    wrong = {record.segment for record in records if record.rating != int(record.segment) % 101}
    flagged = {record.segment for record in records if "connection_suspect" in record.flags}
    assert len(records) == SIZE
    assert wrong <= flagged
    assert len(flagged) <= 65
    assert kind == "late" or not wrong
    assert (tmp_path / "run" / RECORDS).read_bytes() == recorded
    assert read_run_info(tmp_path / "run").calls.get("suspect", 0) == len(flagged)
