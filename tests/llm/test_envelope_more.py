"""What a server says beside its words: that they are not all, or not to be used."""

from collections.abc import Callable
from typing import Any

import pytest

from adjudge.core.ask import Reply
from adjudge.errors import AnswerError
from adjudge.llm.credentials import Redactor
from adjudge.llm.dialect import read_logprobs
from adjudge.llm.faults import Fault, read_error
from adjudge.llm.openai import read_envelope
from adjudge.llm.providers import COMPATIBLE, PROVIDERS, Endpoint
from adjudge.llm.remote import RemoteModel
from adjudge.llm.wire import Wire
from tests.faults.server import Server, body, envelope, raw
from tests.llm.conftest import make_request

pytestmark = pytest.mark.usefixtures("_quick")


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    value = envelope("ok")
    change(value)
    return value


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda v: v.update(status="incomplete"), "bad_envelope"),
        (lambda v: v["choices"][0].update(error={"code": 502}), "server_error"),
        (lambda v: v["choices"][0].update(native_finish_reason="SAFETY"), "bad_envelope"),
        (lambda v: v["choices"][0].update(native_finish_reason="max_tokens"), "bad_envelope"),
        (lambda v: v["choices"][0]["message"].update(tool_calls=[{"id": "1"}]), "schema"),
    ],
    ids=["incomplete", "error in the choice", "filtered behind", "cut behind", "tool call"],
)
def test_a_reply_that_says_that_it_is_none_is_refused(change: Any, reason: str) -> None:
    with pytest.raises(AnswerError) as caught:
        read_envelope(changed(change), Redactor())
    assert caught.value.reason == reason


def test_a_reply_that_a_filter_has_cut_is_refused_and_one_that_it_let_through_is_not() -> None:
    def filtered(is_cut: bool) -> Reply:
        results = {"hate": {"filtered": is_cut, "severity": "low"}}
        return read_envelope(
            changed(lambda v: v["choices"][0].update(content_filter_results=results)), Redactor()
        )

    assert filtered(True).finish == "content_filter"
    assert filtered(False).finish == "stop"


@pytest.mark.parametrize("word", ["stop", "STOP", "end_turn", "eos", None])
def test_what_stood_behind_a_gateway_may_say_stop_in_its_own_word(word: str | None) -> None:
    value = changed(lambda v: v["choices"][0].update(native_finish_reason=word, error=None))
    assert read_envelope(value, Redactor()).finish == "stop"


ONE = '{"model":"mock","choices":[{"message":{"content":"a"%s},"finish_reason":"stop"%s}]%s}'


@pytest.mark.parametrize(
    "twice",
    [
        (',"content":"b"', "", ""),
        (',"refusal":"no","refusal":null', "", ""),
        ("", ',"finish_reason":"length"', ""),
        ("", "", ',"error":{"code":500},"error":null'),
        (',"\\u0063ontent":"b"', "", ""),
    ],
)
def test_a_key_with_two_values_is_ambiguous(twice: tuple[str, str, str]) -> None:
    wire = Wire(Endpoint(provider=COMPATIBLE, url="http://localhost/v1", model="mock"))
    fault = wire.read((ONE % twice).encode(), make_request())
    assert isinstance(fault, Fault)
    assert fault.reason == "ambiguous"
    assert isinstance(wire.read((ONE % (',"content":"a"', "", "")).encode(), make_request()), Reply)


async def ask(server: Server) -> Reply:
    remote = RemoteModel(Endpoint(provider=COMPATIBLE, url=server.url, model="mock"))
    try:
        return await remote.reply(make_request())
    finally:
        await remote.close()


@pytest.mark.parametrize("status", [202, 205, 206])
async def test_an_answer_that_is_not_there_or_not_whole_is_none(server: Server, status: int) -> None:
    server.fails(body(envelope("ok"), status))
    with pytest.raises(AnswerError, match="bad_envelope"):
        await ask(server)


GOOD = b'{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}],"error":""}'


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (GOOD, "text/plain; charset=utf-8"),
        (b"\xef\xbb\xbf" + GOOD, "application/json"),
        (b"\xef\xbb\xbf" + GOOD, "text/plain"),
    ],
)
async def test_what_is_json_all_the_same_is_read_at_once(server: Server, content: bytes, kind: str) -> None:
    server.fails(raw(content, kind))
    assert (await ask(server)).text == "ok"
    assert len(server.log) == 1


def test_an_error_that_is_empty_is_none() -> None:
    assert read_error({"choices": [], "error": ""}) is None


def native(name: str, value: dict[str, Any]) -> Reply | Fault:
    row = PROVIDERS[name]
    from orjson import dumps

    return Wire(Endpoint(provider=row, url=row.base_url, model="m")).read(dumps(value), make_request())


def gemini(part: dict[str, Any], **more: Any) -> Reply | Fault:
    candidate = {"content": {"parts": [part]}, "finishReason": "STOP"}
    return native("gemini", {"candidates": [candidate], **more})


def test_geminis_thinking_is_said_by_a_boolean_and_a_block_counts_beside_a_candidate() -> None:
    fault = gemini({"text": "x", "thought": "true"})
    assert isinstance(fault, Fault)
    assert fault.reason == "bad_envelope"
    blocked = gemini({"text": "x"}, promptFeedback={"blockReason": "SAFETY"})
    assert isinstance(blocked, Reply)
    assert blocked.finish == "refused"
    assert isinstance(fine := gemini({"text": "x", "thought": False}), Reply)
    assert (fine.text, fine.finish) == ("x", "stop")


def test_a_refusal_in_anthropics_details_is_a_refusal() -> None:
    said = {"type": "message", "content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn"}
    reply = native("anthropic", said | {"stop_details": {"type": "refusal"}})
    assert isinstance(reply, Reply)
    assert reply.finish == "refused"


@pytest.mark.parametrize(
    ("text", "pieces", "is_same"),
    [
        ("é", ["\ufffd", "\ufffd"], True),
        ("ein é hier", ["ein ", "\ufffd", "\ufffd", " hier"], True),
        ("yes", ["no", "\ufffd"], False),
        ("yes", ["\ufffd"], False),
        ("né", ["no ", "\ufffd"], False),
    ],
)
def test_a_part_of_a_character_stands_for_that_character_and_no_other_words(
    text: str, pieces: list[str], is_same: bool
) -> None:
    tokens = [{"token": piece, "logprob": -1.0} for piece in pieces]
    if is_same:
        assert len(read_logprobs(tokens, text, Redactor())) == len(pieces)
    else:
        with pytest.raises(AnswerError, match="logprob"):
            read_logprobs(tokens, text, Redactor())
