"""Tools, log-probabilities and effort on their way through `ask`, the store and the trace."""

from dataclasses import replace
from typing import Any

import pytest

from adjudge.core.ask import About, Answer, Message, Quoted, Reply, Sampling, Tool, ToolCall, Usage
from adjudge.errors import AnswerError, UsageError
from adjudge.llm.asking import check_reply, cut_error
from adjudge.llm.model import Identity, call_key
from adjudge.llm.model_choice import EMBEDDED, Models, OpenModel, open_model
from adjudge.llm.money import estimate_messages, most_of
from adjudge.llm.providers import Connection
from adjudge.llm.remote import RemoteModel
from adjudge.runs.conversation import exchange_to_json, render_exchange
from adjudge.store.call_file import (
    Exchange,
    StoredRequest,
    Use,
    reply_from_json,
    reply_to_json,
    request_from_json,
    request_to_json,
)
from tests.llm.conftest import Bench, Scripted, make_request, make_subject, opened

SEARCH = Tool(name="search", description="Look it up.", parameters={"type": "object", "properties": {}})
FINISH = Tool(name="finish", description="End.", parameters={"type": "object"})
CALL = ToolCall(id="a", name="search", arguments={"q": "Hafen"}, state="sealed")
RESULT = Message("tool", (Quoted("note", "ein Ort"),), (CALL,))


def read_anything(reply: Reply) -> Reply:
    return reply


async def put(
    bench: Bench, *messages: Message, model: OpenModel | None = None, **options: Any
) -> Answer[Reply]:
    asker = bench.asker()
    if model is not None:
        asker.models = Models(default=model)
    unit = asker.for_unit(make_subject())
    about = About(judge="test", stage="act", subject=make_subject(), wants="errors")
    said = messages or (Message("user", ("Go.",)),)
    return await unit(said, about=about, read=read_anything, **options)


async def test_a_call_is_an_answer_and_is_found_again_with_its_state(bench: Bench) -> None:
    bench.model.script = lambda request: Reply(text="", calls=(CALL,))
    assert (await put(bench, tools=(SEARCH,))).reply.calls == (CALL,)
    assert (await put(bench, tools=(SEARCH,))).reply.calls == (CALL,)
    assert len(bench.model.requests) == 1
    assert bench.model.requests[0].tools == (SEARCH,)


async def test_other_tools_or_another_result_are_another_question(bench: Bench) -> None:
    said = Message("assistant", (), (CALL,))
    for tools in ((), (SEARCH,), (SEARCH, FINISH), (replace(SEARCH, description="Other."),)):
        await put(bench, tools=tools)
    for result in (RESULT, replace(RESULT, parts=("nothing",))):
        await put(bench, Message("user", ("Go.",)), said, result)
    await put(bench, Message("user", ("Go.",)), replace(said, calls=(replace(CALL, state=""),)), RESULT)
    assert len(bench.model.requests) == 7


async def test_a_tool_that_was_not_offered_is_for_the_judge_to_answer(bench: Bench) -> None:
    wrong = replace(CALL, name="rm")
    bench.model.script = lambda request: Reply(text="", calls=(wrong,))
    assert (await put(bench, tools=(SEARCH,))).reply.calls == (wrong,)


async def test_a_model_without_tools_is_not_offered_any(bench: Bench) -> None:
    model = replace(opened(bench.model), takes_tools=False)
    with pytest.raises(UsageError, match="takes no tools"):
        await put(bench, model=model, tools=(SEARCH,))
    assert not bench.model.requests


def test_requests_and_replies_come_back_as_they_were_stored() -> None:
    request = StoredRequest(
        model={},
        messages=(Message("user", ("Go.", Quoted("x", "y"))), Message("assistant", (), (CALL,)), RESULT),
        sampling=Sampling(),
        tools=(SEARCH, FINISH),
    )
    assert request_from_json(request_to_json(request)) == request
    reply = Reply(text="", calls=(CALL, replace(CALL, id="b")))
    assert reply_from_json(reply_to_json(reply)) == reply
    assert b"tools" not in request_to_json(replace(request, tools=()))
    assert b"calls" not in reply_to_json(Reply(text="x"))


def test_tools_and_calls_are_shown() -> None:
    messages = (Message("assistant", ("I look.",), (CALL,)), RESULT)
    request = StoredRequest(model={}, messages=messages, sampling=Sampling(), tools=(SEARCH,))
    exchange = Exchange(use=Use(b"", "act", ""), request=request, reply=Reply(text="", calls=(CALL,)))
    text = render_exchange(exchange, 1, "0")
    assert text.count('[calls search a] {"q":"Hafen"}') == 2
    assert "[tool search a]" in text
    assert "[tool search] Look it up." in text
    shown = exchange_to_json(exchange, "0")
    call = {"id": "a", "name": "search", "arguments": {"q": "Hafen"}}
    assert shown["tools"] == [{"name": "search", "parameters": SEARCH.parameters}]
    assert [m["calls"] for m in shown["messages"]] == [[call], [call]]  # type: ignore[attr-defined]
    assert shown["reply"]["calls"] == [call]  # type: ignore[index]
    assert "sealed" not in text + repr(shown)


def test_tools_and_calls_count_among_what_a_call_may_cost() -> None:
    bare = make_request()
    with_tools = most_of(replace(bare, tools=(SEARCH,))).prompt - most_of(bare).prompt
    assert with_tools > len(SEARCH.description)
    said = replace(bare, messages=(*bare.messages, Message("assistant", (), (CALL,))))
    assert most_of(said).prompt > most_of(bare).prompt + len(CALL.state)


def identity_of(name: str, **connection: Any) -> Identity:
    return open_model(name, Connection(needs_key=False, **connection)).identity


@pytest.mark.parametrize(
    ("name", "effort", "room"),
    [
        ("vllm/m", None, 0),
        ("openai/gpt-4o", None, 0),
        ("openai/gpt-5.4", None, 8192),
        ("openai/gpt-5.4", "low", 2048),
        ("openai/gpt-5-chat-latest", None, 0),
        ("openai/o3", "high", 24_576),
        ("anthropic/claude-haiku-4-5", None, 0),
        ("anthropic/claude-haiku-4-5", "medium", 8192),
        ("anthropic/claude-opus-5-5", None, 8192),
        ("gemini/gemini-2.5-flash", None, 8192),
        ("gemini/gemini-2.5-flash-lite", None, 0),
        ("gemini/gemini-2.0-flash", None, 0),
    ],
)
def test_a_model_that_thinks_has_room_beside_its_answer(name: str, effort: Any, room: int) -> None:
    identity = identity_of(name, effort=effort)
    assert (identity.room, identity.effort) == (room, effort or "")
    assert Identity(**identity.to_json()) == identity


@pytest.mark.parametrize(
    "name", [EMBEDDED, "openai/gpt-4o", "openai/gpt-5-chat-latest", "mistral/m", "anthropic/claude-3-5-haiku"]
)
def test_effort_is_refused_where_it_would_not_arrive(name: str) -> None:
    with pytest.raises(UsageError, match="--effort"):
        identity_of(name, effort="low")


def test_the_user_knows_what_an_unknown_server_understands() -> None:
    model = open_model("m", Connection(base_url="http://h", effort="low")).model
    assert isinstance(model, RemoteModel)
    assert model.wire.dialect.payload(make_request())["reasoning_effort"] == "low"


async def test_the_room_is_asked_for_and_effort_makes_another_question(bench: Bench) -> None:
    model = opened(Scripted(lambda request: Reply(text=str(request.sampling.max_tokens))))
    thinking = replace(model, identity=replace(model.identity, room=1000, effort="low"))
    assert (await put(bench, model=thinking, sampling=Sampling(max_tokens=24))).reply.text == "1024"
    keys = {
        call_key(replace(model.identity, effort=effort), make_request()) for effort in ("", "low", "high")
    }
    assert len(keys) == 3


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(text="", reasoning="hm", finish="length"), "no_answer"),
        (Reply(text="", usage=Usage(completion=50, reasoning=50), finish="length"), "no_answer"),
        (Reply(text="", usage=Usage(completion=50, reasoning=20), finish="length"), "truncated"),
        (Reply(text="{", reasoning="hm", finish="length"), "truncated"),
        (Reply(text="", finish="length"), "truncated"),
    ],
)
def test_a_reply_that_was_cut_while_thinking_says_so(reply: Reply, reason: str) -> None:
    error = cut_error(reply, 50)
    assert error.reason == reason
    assert ("--effort" in error.detail) == (reason == "no_answer")


def test_a_reply_of_thinking_alone_is_no_answer_and_one_of_calls_is() -> None:
    with pytest.raises(AnswerError, match=r"no_answer.*--effort"):
        check_reply(Reply(text=" ", usage=Usage(completion=9, reasoning=9)), "m", None)
    check_reply(Reply(text="", reasoning="hm", calls=(CALL,)), "m", None)
    with pytest.raises(AnswerError, match="truncated"):
        check_reply(Reply(text='{"errors": []}', finish="length"), "m", None)


def test_calls_and_their_results_count_among_the_tokens_of_a_prompt() -> None:
    said = Message("assistant", ("I look.",), (CALL,))
    assert estimate_messages([said], "0").typical > estimate_messages([replace(said, calls=())], "0").typical
