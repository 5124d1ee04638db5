"""The wire against a server that answers, refuses, breaks off, drips, lies and echoes."""

import asyncio
import json
from typing import Any

import orjson
import pytest

from adjudge.core.ask import Reply, Sampling, Usage
from adjudge.errors import AnswerError
from adjudge.llm.model import Request
from adjudge.llm.providers import PROVIDERS
from adjudge.store.call_file import Attempt
from tests.faults.server import Server, status
from tests.llm.conftest import make_request, pause_of, remote_at

pytestmark = pytest.mark.usefixtures("_quick")

ERRORS = (
    '{"errors": [{"span": "Guten", "category": "accuracy/mistranslation", '
    '"severity": "minor", "side": "translation"}]}'
)


async def ask(
    server: Server, asked: Request | None = None, notes: list[Attempt] | None = None, **changes: Any
) -> Reply:
    async with remote_at(**{"url": server.url} | changes) as remote:
        if notes is not None:
            remote.observe(notes.append)
        return await remote.reply(asked or make_request())


async def test_a_good_answer_comes_back_with_model_and_tokens(server: Server) -> None:
    reply = await ask(server)
    assert reply.text == ERRORS
    assert (reply.model, reply.finish) == ("mock", "stop")
    assert reply.usage == Usage(prompt=100, completion=20, cached=40, reasoning=5)
    assert "wants" not in json.dumps(server.log[-1]), "what a call is about never reaches the server"


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


async def test_each_attempt_is_noted_with_its_reason(server: Server) -> None:
    server.fails("500", "html", None)
    notes: list[Attempt] = []
    reply = await ask(server, notes=notes)
    assert reply.text == ERRORS
    assert [note.reason for note in notes] == ["server_error", "not_json"]


async def test_an_answer_between_them_means_that_the_refusals_were_about_their_texts(server: Server) -> None:
    server.fails("422", "422", None, "422", "422")
    async with remote_at(server.url) as remote:
        for number in range(5):
            if number == 2:
                await remote.reply(make_request())
            else:
                with pytest.raises(AnswerError):
                    await remote.reply(make_request())


@pytest.mark.parametrize(
    "headers", [{}, {"x-ratelimit-limit-requests": "9", "x-ratelimit-remaining-requests": "9"}]
)
async def test_one_call_told_to_wait_makes_all_wait_where_headers_say_what_is_left(
    server: Server, headers: dict[str, str]
) -> None:
    wait = "300" if headers else "0.5"
    server.fails(status(429, "slow down", **{"Retry-After": wait}, **headers), None)
    async with remote_at(server.url) as remote, asyncio.TaskGroup() as group:
        first = group.create_task(remote.reply(make_request("one")))
        while remote.limiter is None or not remote.limiter.load.refused:  # noqa: ASYNC110 (no event tells)
            await asyncio.sleep(0.01)
        assert (pause_of(remote.limiter) > 0) == bool(headers)
        second = group.create_task(remote.reply(make_request("two")))
        await asyncio.wait([second], timeout=0.1 if headers else None)
        assert second.done() != bool(headers)
        first.cancel()
        second.cancel()


async def test_after_draining_nothing_is_sent(server: Server) -> None:
    async with remote_at(server.url) as remote:
        await remote.drain()
        with pytest.raises(asyncio.CancelledError):
            await remote.reply(make_request())
        assert not server.log


async def test_no_representation_of_an_endpoint_shows_its_key(server: Server) -> None:
    async with remote_at(server.url) as remote:
        assert "canary" not in repr(remote.endpoint)
        assert orjson.dumps(remote.wire.dialect.payload(make_request())).find(b"canary") == -1
