"""What a server says beside its words, wherever it says it: an answer is whole if every state says so."""

import json
import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest

from adjudge.core.ask import Reply
from adjudge.llm.faults import Fault
from adjudge.llm.providers import PROVIDERS, Endpoint
from adjudge.llm.wire import Wire
from tests.faults.server import envelope
from tests.llm.conftest import make_request

WHOLE: dict[str, dict[str, Any]] = {
    "openai": envelope('{"rating": 87}'),
    "anthropic": {
        "type": "message",
        "role": "assistant",
        "model": "mock",
        "content": [{"type": "text", "text": '{"rating": 87}'}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    "gemini": {
        "candidates": [
            {"content": {"parts": [{"text": '{"rating": 87}'}], "role": "model"}, "finishReason": "STOP"}
        ],
        "modelVersion": "mock",
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1},
    },
}
WIRES = {
    name: Wire(Endpoint(provider=PROVIDERS[name], url=PROVIDERS[name].base_url, model="mock"))
    for name in WHOLE
}

Place = Callable[[dict[str, Any]], dict[str, Any]]
PLACES: dict[str, dict[str, Place]] = {
    "openai": {
        "body": lambda body: body,
        "choice": lambda body: body["choices"][0],
        "message": lambda body: body["choices"][0]["message"],
        "extra": lambda body: body.setdefault("x_server", {}),
    },
    "anthropic": {"body": lambda body: body, "extra": lambda body: body.setdefault("container", {})},
    "gemini": {
        "body": lambda body: body,
        "candidate": lambda body: body["candidates"][0],
        "extra": lambda body: body.setdefault("xServer", {}),
    },
}

CUT: list[dict[str, Any]] = [
    {"success": False},
    {"succeeded": "no"},
    {"status": "error"},
    {"status": "incomplete"},
    {"status": "in_progress"},
    {"status": 500},
    {"state": "cancelled"},
    {"errors": ["overloaded"]},
    {"errors": [{"code": 502}]},
    {"errorMessage": "the worker was killed"},
    {"base_resp": {"status_code": 1013, "status_msg": "internal"}},
    {"incomplete_details": {"reason": "max_output_tokens"}},
    {"incompleteDetails": {"reason": "limit"}},
    {"truncated": True},
    {"is_truncated": "true"},
    {"aborted": True},
    {"partial": True},
    {"finish_details": {"type": "max_tokens"}},
    {"stop_details": {"type": "length"}},
    {"native_finish_reason": "MAX_TOKENS"},
    {"native_finish_reason": "something new"},
    {"finishMessage": "The model stopped early."},
    {"completed": False},
    {"done": False},
    {"failed": 1},
    {"result": {"status": {"type": "failed"}}},
]
FILTERED: list[dict[str, Any]] = [
    {"content_filter_results": {"hate": {"filtered": True, "severity": "high"}}},
    {"prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {"hate": {"filtered": True}}}]},
    {"moderation": {"flagged": True}},
    {"flagged": True},
    {"safetyRatings": [{"category": "HARM", "probability": "HIGH", "blocked": True}]},
    {"blocked": 1},
]
SOUND: list[dict[str, Any]] = [
    {"success": True},
    {"status": "completed"},
    {"status": "Success."},
    {"status": 200},
    {"errors": []},
    {"error": {}},
    {"error": None},
    {"error_code": 0},
    {"base_resp": {"status_code": 0, "status_msg": "success"}},
    {"incomplete_details": None},
    {"truncated": False},
    {"finish_details": {"type": "stop"}},
    {"finish_details": {"type": "stop", "stop": "<|im_end|>"}},
    {"native_finish_reason": "STOP"},
    {"native_finish_reason": "end_turn"},
    {"matched_stop": 151645},
    {"matched_stop": "<|im_end|>"},
    {"stop_details": None},
    {"completed_at": 1_700_000_000},
    {"content_filter_results": {"hate": {"filtered": False, "severity": "low"}, "custom_blocklists": []}},
    {"prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {"hate": {"filtered": False}}}]},
    {"moderation": {"flagged": False, "categories": {"hate": False}}},
    {"safetyRatings": [{"category": "HARM", "probability": "NEGLIGIBLE"}]},
    {"block_reason": None},
    {"finish_reason_type": "FINISH_REASON_STOP"},
    {"service_tier": "default", "system_fingerprint": "fp_1", "timings": {"predicted_ms": 12.5}},
    {"provider": "Somebody", "warnings": []},
]


def read(name: str, body: dict[str, Any]) -> Reply | Fault:
    return WIRES[name].read(json.dumps(body).encode(), make_request())


def placed(said: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name, places in PLACES.items():
        for where, find in places.items():
            body = deepcopy(WHOLE[name])
            find(body).update(deepcopy(said))
            yield name, where, body


@pytest.mark.parametrize("name", WHOLE)
def test_a_plain_answer_is_whole(name: str) -> None:
    reply = read(name, WHOLE[name])
    assert isinstance(reply, Reply)
    assert (reply.text, reply.finish) == ('{"rating": 87}', "stop")


@pytest.mark.parametrize("said", CUT, ids=json.dumps)
def test_an_answer_that_is_not_said_to_be_whole_is_none(said: dict[str, Any]) -> None:
    for name, where, body in placed(said):
        found = read(name, body)
        assert isinstance(found, Fault), (name, where)
        assert found.reason in {"bad_envelope", "server_error"}, (name, where, found)


@pytest.mark.parametrize("said", FILTERED, ids=json.dumps)
def test_an_answer_that_a_filter_touched_is_none(said: dict[str, Any]) -> None:
    for name, where, body in placed(said):
        found = read(name, body)
        assert isinstance(found, Reply), (name, where, found)
        assert found.finish == "content_filter", (name, where)


@pytest.mark.parametrize("said", SOUND, ids=json.dumps)
def test_what_servers_say_of_whole_answers_harms_none(said: dict[str, Any]) -> None:
    for name, where, body in placed(said):
        found = read(name, body)
        assert isinstance(found, Reply), (name, where, found)
        assert found.finish == "stop", (name, where)


@pytest.mark.parametrize("seed", range(5))
def test_one_bad_state_among_many_sound_ones_is_enough(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(60):
        name = draw.choice(list(WHOLE))
        body = deepcopy(WHOLE[name])
        for said in draw.sample(SOUND, 6):
            draw.choice(list(PLACES[name].values()))(body).update(deepcopy(said))
        sound = read(name, body)
        assert isinstance(sound, Reply), (body, sound)
        assert sound.finish == "stop", body
        bad = draw.choice([*CUT, *FILTERED])
        draw.choice(list(PLACES[name].values()))(body).update(deepcopy(bad))
        found = read(name, body)
        assert isinstance(found, Fault) or found.finish != "stop", (bad, body)


OTHERS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "an error object": ("openai", lambda body: body.update(object="error")),
    "a number for a name": ("openai", lambda body: body.update(model=3)),
    "of the user": ("openai", lambda body: body["choices"][0]["message"].update(role="user")),
    "another delta": ("openai", lambda body: body["choices"][0].update(delta={"content": "3"})),
    "another text": ("openai", lambda body: body["choices"][0].update(text='{"rating": 3}')),
    "another reason": ("openai", lambda body: body["choices"][0].update(stop_reason="length")),
    "a tool without a call": ("anthropic", lambda body: body.update(stop_reason="tool_use")),
    "of the user, natively": ("anthropic", lambda body: body.update(role="user")),
    "of the user at Google": ("gemini", lambda body: body["candidates"][0]["content"].update(role="user")),
}


@pytest.mark.parametrize("what", OTHERS)
def test_what_is_no_answer_of_the_assistant_is_none(what: str) -> None:
    name, change = OTHERS[what]
    change(body := deepcopy(WHOLE[name]))
    found = read(name, body)
    assert isinstance(found, Fault), found
    assert found.reason == "bad_envelope"


@pytest.mark.parametrize(
    "change", [{"object": ""}, {"object": "chat.completions"}, {"object": "text_completion"}]
)
def test_other_names_of_a_completion_are_taken(change: dict[str, Any]) -> None:
    assert isinstance(read("openai", WHOLE["openai"] | change), Reply)


def test_the_reason_of_a_blocked_prompt_may_be_words_alone() -> None:
    found = read("gemini", WHOLE["gemini"] | {"promptFeedback": {"blockReasonMessage": "not allowed"}})
    assert isinstance(found, Reply)
    assert (found.finish, found.text) == ("refused", "the prompt was blocked: not allowed")
