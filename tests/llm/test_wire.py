"""The wire against a server that answers, refuses, breaks off, drips, lies and echoes."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import aiohttp
import orjson
import pytest

from adjudge.core.ask import Reply, Sampling, Usage
from adjudge.errors import AnswerError, ModelError, ServerStopError
from adjudge.llm.faults import Patience
from adjudge.llm.model import Request
from adjudge.llm.providers import COMPATIBLE, PROVIDERS, Endpoint
from adjudge.llm.remote import RemoteModel
from adjudge.store.call_file import Attempt
from tests.faults.limited import run
from tests.faults.server import Server, status
from tests.llm.conftest import make_request, pause_of

pytestmark = pytest.mark.usefixtures("_quick")

ERRORS = (
    '{"errors": [{"span": "Guten", "category": "accuracy/mistranslation", '
    '"severity": "minor", "side": "translation"}]}'
)


@asynccontextmanager
async def opened(url: str, **changes: Any) -> AsyncIterator[RemoteModel]:
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


async def ask(
    server: Server, asked: Request | None = None, notes: list[Attempt] | None = None, **changes: Any
) -> Reply:
    async with opened(**{"url": server.url} | changes) as remote:
        if notes is not None:
            remote.observe(notes.append)
        return await remote.reply(asked or make_request())


async def test_a_good_answer_comes_back_with_model_and_tokens(server: Server) -> None:
    reply = await ask(server)
    assert reply.text == ERRORS
    assert (reply.model, reply.finish) == ("mock", "stop")
    assert reply.usage == Usage(prompt=100, completion=20, cached=40, reasoning=5)


async def test_the_request_holds_our_words_and_the_quoted_text_between_its_delimiters(server: Server) -> None:
    await ask(server, make_request('Er sagte: "Nein"\u2028</source>'))
    payload = server.log[-1]
    assert payload == {
        "model": "mock",
        "messages": [
            {"role": "system", "content": "Judge."},
            {
                "role": "user",
                "content": "This: <<translation 0000000000000000>>\n"
                '"Er sagte: \\"Nein\\"\u2028</source>"\n<</translation 0000000000000000>>',
            },
        ],
        "temperature": 0.0,
        "max_tokens": 2048,
    }
    assert server.headers[-1]["Authorization"] == "Bearer canary-key-1234567890"


async def test_without_a_key_no_header_is_sent(server: Server) -> None:
    await ask(server, key="")
    assert "Authorization" not in server.headers[-1]


async def test_what_a_call_is_about_never_reaches_the_server(server: Server) -> None:
    await ask(server)
    assert "wants" not in json.dumps(server.log[-1])


@pytest.mark.parametrize(
    ("provider", "model", "asked", "sent", "unsent"),
    [
        ("openai", "gpt-4o", {}, {"max_completion_tokens": 2048, "temperature": 0.0}, ["max_tokens", "seed"]),
        ("openai", "o3", {}, {"max_completion_tokens": 2048}, ["temperature"]),
        ("openai", "gpt-5-mini", {}, {}, ["temperature"]),
        (
            "vllm",
            "m",
            {"sampling": Sampling(temperature=1, logprobs=True)},
            {"seed": 0, "logprobs": True, "top_logprobs": 20},
            [],
        ),
        ("vllm", "m", {"sampling": Sampling(temperature=1), "seed": 7, "sample": 2}, {"seed": 9}, []),
        ("vllm", "m", {"sampling": Sampling(temperature=1), "again": 1}, {"seed": 1000}, []),
        ("mistral", "m", {"sampling": Sampling(temperature=1)}, {"random_seed": 0}, ["seed"]),
        ("mistral", "m", {"sampling": Sampling(logprobs=True)}, {}, ["logprobs"]),
        ("openai", "o3", {"sampling": Sampling(logprobs=True)}, {}, ["logprobs"]),
        ("glm", "m", {"sampling": Sampling(temperature=1, logprobs=True)}, {}, ["seed", "logprobs"]),
        ("vllm", "m", {"seed": 7}, {"temperature": 0.0}, ["seed"]),
    ],
)
async def test_each_server_gets_the_fields_it_knows(
    server: Server, provider: str, model: str, asked: dict[str, Any], sent: dict[str, Any], unsent: list[str]
) -> None:
    await ask(server, make_request(**asked), provider=PROVIDERS[provider], model=model)
    payload = server.log[-1]
    assert sent.items() <= payload.items()
    assert not set(unsent) & payload.keys()


@pytest.mark.parametrize("constrained", [True, False])
async def test_a_schema_is_sent_where_the_server_can_hold_an_answer_to_it(
    server: Server, constrained: bool
) -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    await ask(server, make_request(schema=schema), constrained=constrained)
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}
    assert server.log[-1].get("response_format") == (wanted if constrained else None)


# Faults that pass...


@pytest.mark.parametrize(
    "name",
    [
        *("408", "409", "425", "429", "429 soon", "429 garbage", "500", "502", "503", "504", "529"),
        *("reset", "cut", "html", "empty", "null", "cut json", "nan", "gzip", "error 200"),
        *("no choices", "choices []", "choices text", "two choices", "content 87", "content list"),
        *("message null", "finish null", "finish odd", "500 html"),
    ],
)
async def test_a_fault_that_passes_costs_one_more_try(server: Server, name: str) -> None:
    server.fails(name, None)
    notes: list[Attempt] = []
    reply = await ask(server, notes=notes)
    assert reply.text == ERRORS
    assert len(server.log) == 2
    assert len(notes) == 1
    assert notes[0].reason


# Faults that stay...


@pytest.mark.parametrize(
    ("name", "reason", "tries"),
    [
        ("408", "server_error", 6),
        ("429", "server_error", 6),
        ("429 garbage", "server_error", 6),
        ("500", "server_error", 6),
        ("502", "server_error", 6),
        ("503", "server_error", 6),
        ("529", "server_error", 6),
        ("500 html", "server_error", 6),
        ("error 200", "server_error", 6),
        ("400 context", "too_long", 1),
        ("413", "too_long", 1),
        ("error 200 context", "too_long", 1),
        ("400 filter", "refused", 1),
        ("400", "server_error", 1),
        ("422", "server_error", 1),
        ("405", "server_error", 1),
        ("reset", "connection", 6),
        ("cut", "connection", 6),
        ("html", "not_json", 3),
        ("empty", "not_json", 3),
        ("null", "not_json", 3),
        ("cut json", "not_json", 3),
        ("deep", "not_json", 3),
        ("gzip", "not_json", 3),
        ("nan", "bad_envelope", 2),
        ("no choices", "bad_envelope", 2),
        ("choices []", "bad_envelope", 2),
        ("choices text", "bad_envelope", 2),
        ("content 87", "bad_envelope", 2),
        ("content list", "bad_envelope", 2),
        ("message null", "bad_envelope", 2),
        ("finish null", "bad_envelope", 2),
        ("finish odd", "bad_envelope", 2),
        ("two choices", "count", 2),
        ("utf-8", "encoding", 1),
        ("surrogate", "encoding", 1),
        ("nul", "encoding", 1),
        ("endless", "oversize", 1),
    ],
)
async def test_a_fault_that_stays_fails_with_its_reason_after_so_many_tries(
    server: Server, name: str, reason: str, tries: int
) -> None:
    server.fails(name)
    notes: list[Attempt] = []
    with pytest.raises(AnswerError) as caught:
        await ask(server, notes=notes)
    assert caught.value.reason == reason
    assert len(server.log) == tries
    assert [note.reason for note in notes] == [reason] * tries


@pytest.mark.parametrize("name", ["401", "402", "403", "404", "429 quota", "error 200 quota", "429 tomorrow"])
async def test_no_key_no_money_no_model_stop_the_run_at_once(server: Server, name: str) -> None:
    server.fails(name)
    with pytest.raises(ServerStopError):
        await ask(server)
    assert len(server.log) == 1


async def test_the_same_refusal_three_times_is_a_wrong_setting(server: Server) -> None:
    server.fails("422")
    async with opened(server.url, constrained=True) as remote:
        for _ in range(2):
            with pytest.raises(AnswerError):
                await remote.reply(make_request())
        with pytest.raises(ModelError, match="--json-schema off"):
            await remote.reply(make_request())


async def test_an_answer_between_them_means_that_the_refusals_were_about_their_texts(server: Server) -> None:
    server.fails("422", "422", None, "422", "422")
    async with opened(server.url) as remote:
        for number in range(5):
            if number == 2:
                await remote.reply(make_request())
            else:
                with pytest.raises(AnswerError):
                    await remote.reply(make_request())


async def test_a_redirect_is_refused_since_the_key_would_go_with_it(server: Server) -> None:
    server.fails("redirect")
    with pytest.raises(ModelError, match=r"http://other\.example"):
        await ask(server)
    assert len(server.log) == 1


@pytest.mark.parametrize("name", ["stall", "drip"])
async def test_the_deadline_is_total_and_holds_within_a_tenth(server: Server, name: str) -> None:
    server.fails(name)
    began = time.monotonic()
    with pytest.raises(AnswerError) as caught:
        await ask(server, timeout=0.2)
    assert caught.value.reason == "timeout"
    assert len(server.log) <= 3
    assert 0.6 <= time.monotonic() - began < 25, "a drip would last for minutes"


async def test_a_server_that_is_not_there_is_waited_for_until_the_deadline(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = SimpleNamespace(monotonic=count().__next__)  # each look at the clock takes one
    monkeypatch.setattr("adjudge.llm.faults.time", seconds)
    notes: list[Attempt] = []
    with pytest.raises(AnswerError) as caught:
        await ask(server, notes=notes, url="http://127.0.0.1:9/v1", timeout=30)
    assert caught.value.reason == "connection"
    assert "127.0.0.1:9" in caught.value.detail
    assert len(notes) == 30, "a server that is away costs no attempt"


async def refuse(*_: object) -> None:
    """Nobody listens at the port; it takes a thousandth of a second to learn of it."""
    await asyncio.sleep(0.001)
    raise aiohttp.ClientConnectorError(MagicMock(), ConnectionRefusedError(111, "Connection refused"))


def test_a_server_that_stays_away_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adjudge.llm.wire.Wire._send", refuse)

    async def ask_twice() -> None:
        loop, patience = asyncio.get_running_loop(), Patience(longest_wait=5.0, first_wait=5.0)
        monkeypatch.setattr("adjudge.llm.faults.time", SimpleNamespace(monotonic=loop.time))
        async with opened("http://127.0.0.1:9/v1", timeout=2.0, patience=patience) as remote:
            with pytest.raises(AnswerError):
                await remote.reply(make_request())
            await asyncio.sleep(5.0)
            with pytest.raises(ServerStopError, match=r"127\.0\.0\.1:9.*run the same again"):
                await remote.reply(make_request())

    run(ask_twice())


async def test_retry_after_is_waited_for_and_costs_no_attempt(server: Server) -> None:
    server.fails(*["429 soon"] * 8, None)
    began = time.monotonic()
    await ask(server)
    assert time.monotonic() - began >= 8 * 0.05
    assert len(server.log) == 9


@pytest.mark.parametrize(
    "headers", [{}, {"x-ratelimit-limit-requests": "9", "x-ratelimit-remaining-requests": "9"}]
)
async def test_one_call_told_to_wait_makes_all_wait_where_headers_say_what_is_left(
    server: Server, headers: dict[str, str]
) -> None:
    wait = "300" if headers else "0.5"
    server.fails(status(429, "slow down", **{"Retry-After": wait}, **headers), None)
    async with opened(server.url) as remote, asyncio.TaskGroup() as group:
        first = group.create_task(remote.reply(make_request("one")))
        while remote.limiter is None or not remote.limiter.load.refused:  # noqa: ASYNC110 (no event tells)
            await asyncio.sleep(0.01)
        assert (pause_of(remote.limiter) > 0) == bool(headers)
        second = group.create_task(remote.reply(make_request("two")))
        await asyncio.wait([second], timeout=0.1 if headers else None)
        assert second.done() != bool(headers)
        first.cancel()
        second.cancel()


async def test_no_more_calls_are_on_the_wire_than_allowed(server: Server) -> None:
    flying = peak = 0
    async with opened(server.url, concurrency=3) as remote:
        exchange = remote.wire.exchange

        async def counted(*arguments: Any) -> object:
            nonlocal flying, peak
            flying += 1
            peak = max(peak, flying)
            try:
                return await exchange(*arguments)
            finally:
                flying -= 1

        remote.wire.exchange = counted  # type: ignore[method-assign,assignment]
        await asyncio.gather(*(remote.reply(make_request(str(n))) for n in range(12)))
        assert peak == 3


async def test_after_draining_nothing_is_sent(server: Server) -> None:
    async with opened(server.url) as remote:
        await remote.drain()
        with pytest.raises(asyncio.CancelledError):
            await remote.reply(make_request())
        assert not server.log


# Answers that are answers, but none that can be read, come back as they are...


@pytest.mark.parametrize(
    ("name", "finish", "text", "reasoning"),
    [
        ("length", "length", ERRORS, ""),
        ("filter", "content_filter", ERRORS, ""),
        ("refusal", "refused", "I cannot help with that", ""),
        ("content null", "stop", "", ""),
        ("thinking only", "stop", "", "Let me think"),
    ],
)
async def test_what_was_paid_for_is_brought_back(
    server: Server, name: str, finish: str, text: str, reasoning: str
) -> None:
    server.fails(name)
    reply = await ask(server)
    assert (reply.finish, reply.text, reply.reasoning) == (finish, text, reasoning)
    assert len(server.log) == 1


# Keys...


async def test_a_key_that_the_server_echoes_is_taken_out_of_the_error(server: Server) -> None:
    server.fails("echo key")
    notes: list[Attempt] = []
    with pytest.raises(AnswerError) as caught:
        await ask(server, notes=notes)
    said = str(caught.value) + repr(notes)
    assert "canary" not in said
    assert "[key]" in said


async def test_a_key_that_the_model_tells_is_taken_out_of_the_reply(server: Server) -> None:
    server.fails("tell key")
    reply = await ask(server)
    assert "canary" not in repr(reply)
    assert "[key]" in reply.text


async def test_a_key_among_broken_bytes_is_taken_out_of_what_is_kept(server: Server) -> None:
    server.fails("break key")
    notes: list[Attempt] = []
    with pytest.raises(AnswerError):
        await ask(server, notes=notes)
    assert notes[0].body is not None
    assert b"canary" not in notes[0].body


async def test_no_representation_of_an_endpoint_shows_its_key(server: Server) -> None:
    async with opened(server.url) as remote:
        assert "canary" not in repr(remote.endpoint)
        assert orjson.dumps(remote.wire.dialect.payload(make_request())).find(b"canary") == -1
