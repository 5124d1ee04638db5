"""Envelopes of twelve kinds of servers are read, and whatever else an envelope says is held to a rule.

The generator puts a state under a key in one of its spellings into a place of a sound envelope: each of
thousands must be refused, or filtered, and what servers add to a whole answer must harm none.
"""

import json
import random
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest

from adjudge.core.ask import Reply
from adjudge.errors import AnswerError
from adjudge.llm.faults import Fault
from adjudge.llm.providers import PROVIDERS, Endpoint
from adjudge.llm.wire import Wire
from tests.faults.dialects import anthropic, gemini
from tests.faults.server import Server, envelope, raw
from tests.faults.server import body as with_body
from tests.llm.conftest import make_request, remote_at

pytestmark = pytest.mark.usefixtures("_quick")

ANSWER = '{"rating": 87}'
WIRES = {
    name: Wire(Endpoint(provider=PROVIDERS[name], url=PROVIDERS[name].base_url, model="mock"))
    for name in ("openai", "anthropic", "gemini")
}


def chat(choice: dict[str, Any], message: dict[str, Any], **body: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": ANSWER, **message}
    first = {"index": 0, "message": said, "finish_reason": "stop", **choice}
    usage = {"prompt_tokens": 41, "completion_tokens": 6, "total_tokens": 47}
    return {
        "id": "chatcmpl-9f1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "m",
        "choices": [first],
        "usage": usage,
        **body,
    }


UNHARMED = {kind: {"filtered": False, "severity": "safe"} for kind in ("hate", "self_harm", "violence")}
SERVERS: dict[str, tuple[str, dict[str, Any]]] = {
    "OpenAI": (
        "openai",
        chat(
            {"logprobs": None},
            {"refusal": None, "annotations": []},
            service_tier="default",
            system_fingerprint="fp_44709d6fcb",
            usage={
                "prompt_tokens": 41,
                "completion_tokens": 6,
                "total_tokens": 47,
                "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
                "completion_tokens_details": {"reasoning_tokens": 0, "rejected_prediction_tokens": 0},
            },
        ),
    ),
    "Azure": (
        "openai",
        chat(
            {"content_filter_results": UNHARMED, "logprobs": None},
            {"refusal": None},
            prompt_filter_results=[
                {
                    "prompt_index": 0,
                    "content_filter_results": {
                        **UNHARMED,
                        "jailbreak": {"filtered": False, "detected": False},
                    },
                }
            ],
        ),
    ),
    "vLLM": (
        "openai",
        chat(
            {"logprobs": None, "stop_reason": None, "token_ids": None},
            {"refusal": None, "audio": None, "function_call": None, "tool_calls": [], "reasoning": None},
            prompt_logprobs=None,
            prompt_token_ids=None,
            kv_transfer_params=None,
            service_tier=None,
        ),
    ),
    "llama.cpp": (
        "openai",
        chat(
            {},
            {"reasoning_content": ""},
            system_fingerprint="b6123-79c1160b",
            timings={
                "cache_n": 0,
                "prompt_n": 41,
                "prompt_ms": 120.4,
                "prompt_per_second": 340.5,
                "predicted_n": 6,
                "predicted_ms": 88.1,
            },
        ),
    ),
    "Ollama": ("openai", chat({}, {}, system_fingerprint="fp_ollama")),
    "SGLang": (
        "openai",
        chat(
            {"logprobs": None, "matched_stop": 151_645},
            {"reasoning_content": None, "tool_calls": None},
            metadata={"weight_version": "default"},
        ),
    ),
    "TGI": ("openai", chat({"logprobs": None}, {}, system_fingerprint="3.3.4-sha-9f38d93", id="")),
    "OpenRouter": (
        "openai",
        chat(
            {"native_finish_reason": "STOP", "logprobs": None},
            {
                "refusal": None,
                "reasoning": "It is fine.",
                "reasoning_details": [
                    {"type": "reasoning.text", "text": "It is fine.", "format": "unknown", "index": 0}
                ],
            },
            provider="Google AI Studio",
            id="gen-1790000000-Qx",
        ),
    ),
    "Mistral": (
        "openai",
        chat(
            {}, {"tool_calls": None, "prefix": False, "content": [{"type": "text", "text": ANSWER}]}, id="c5"
        ),
    ),
    "DeepSeek": (
        "openai",
        chat(
            {"logprobs": None},
            {"reasoning_content": "Short and right."},
            usage={
                "prompt_tokens": 41,
                "completion_tokens": 60,
                "total_tokens": 101,
                "prompt_cache_hit_tokens": 0,
                "prompt_cache_miss_tokens": 41,
            },
            system_fingerprint="fp_8802369eaa_prod0425fp8",
        ),
    ),
    "Anthropic": (
        "anthropic",
        {
            "id": "msg_01X",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [
                {"type": "thinking", "thinking": "Fine.", "signature": "EqQB"},
                {"type": "text", "text": ANSWER, "citations": None},
            ],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "container": None,
            "context_management": {"applied_edits": []},
            "usage": {
                "input_tokens": 41,
                "output_tokens": 30,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                "service_tier": "standard",
            },
        },
    ),
    "Gemini": (
        "gemini",
        {
            "candidates": [
                {
                    "content": {"parts": [{"text": ANSWER, "thoughtSignature": "Cg=="}], "role": "model"},
                    "finishReason": "STOP",
                    "index": 0,
                    "avgLogprobs": -0.01,
                    "safetyRatings": [
                        {"category": "HARM_CATEGORY_HATE_SPEECH", "probability": "NEGLIGIBLE"},
                        {"category": "HARM_CATEGORY_HARASSMENT", "probability": "LOW", "blocked": False},
                    ],
                }
            ],
            "modelVersion": "m",
            "responseId": "Zs4Xaf",
            "usageMetadata": {
                "promptTokenCount": 41,
                "candidatesTokenCount": 6,
                "totalTokenCount": 47,
                "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 41}],
            },
        },
    ),
}


def read(wire: str, body: dict[str, Any]) -> Reply | Fault:
    return WIRES[wire].read(json.dumps(body).encode(), make_request())


@pytest.mark.parametrize("server", SERVERS)
def test_whole_answers_of_servers_are_read(server: str) -> None:
    found = read(*SERVERS[server])
    assert isinstance(found, Reply), found
    assert (found.text, found.finish) == (ANSWER, "stop")


OTHER = '{"rating": 3}'
UNSOUND: list[tuple[str, Any]] = [
    *(("status", word) for word in ("error", "incomplete", "cancelled", "in_progress", "queued", 500)),
    *((key, "The service is overloaded.") for key in ("message", "msg", "detail", "description", "note")),
    *(("code", code) for code in ("rate_limited", "internal_error", 502, "1013")),
    *((key, True) for key in ("truncated", "is_partial", "aborted", "blocked", "flagged", "refused")),
    *((key, False) for key in ("success", "is_end", "done", "completed", "ok")),
    *((key, "length") for key in ("done_reason", "finish_details", "native_finish_reason", "stop_reason")),
    *((key, "SAFETY") for key in ("end_reason", "outcome", "verdict_of_filter", "guard")),
    *((key, "INTERVENED") for key in ("guardrail_action", "action", "amazon-bedrock-guardrailAction")),
    *((key, OTHER) for key in ("output_text", "response", "completion", "answer", "note", "draft")),
    *((key, {"rating": 3}) for key in ("parsed", "output", "result")),
    *((key, {"transcript": OTHER}) for key in ("audio", "voice")),
    *((key, "I cannot help with that.") for key in ("refusal_text", "explanation", "remark", "comment")),
    *((key, "我不能回答这个问题") for key in ("remark", "info")),
    *(("warnings", words) for words in (["The answer was cut."], ["deprecated"], [{"text": "cut"}])),
    *(("error", error) for error in ({"code": 502}, {"message": "late"}, "late", ["late"])),
    *(("incomplete_details", {"reason": word}) for word in ("max_output_tokens", "content_filter")),
    *(("content_filter_results", {"hate": {"filtered": True}}), ("moderation", {"flagged": True})),
    *(("trace", {"steps": [{"state": word}]}) for word in ("failed", "timeout", "expired")),
]
HARMLESS: list[tuple[str, Any]] = [
    *((key, "req-8f3a91c2") for key in ("request_id", "trace_id", "session", "x_request", "deployment")),
    *(
        (key, 12.25)
        for key in ("latency_ms", "queue_time", "total_time", "load_duration", "cost", "finish_time")
    ),
    *((key, 7) for key in ("attempt", "shard", "eval_count", "cached_tokens", "created_at", "seed")),
    *((key, None) for key in ("error", "warnings", "parsed", "audio", "refusal", "incomplete_details")),
    *((key, "2026-11-27T10:00:00.25Z") for key in ("created_at", "started", "completed_at")),
    *((key, {"prompt_ms": 1.5, "n": 3}) for key in ("timings", "perf", "time_info", "metrics")),
    *((key, True) for key in ("success", "is_end", "cached", "done")),
    *((key, False) for key in ("truncated", "flagged", "is_byok", "stream")),
    *((key, "eu-west-1") for key in ("region", "zone", "host", "gpu")),
    *((key, [1, 2, 3]) for key in ("token_ids", "timings_list", "lanes")),
    *((key, ANSWER) for key in ("output_text", "response")),
    *(("parsed", json.loads(ANSWER)), ("status", "completed"), ("code", 200), ("msg", "success")),
]
SPELLINGS: list[Callable[[str], str]] = [
    str,
    str.upper,
    lambda key: re.sub("_(.)", lambda found: found[1].upper(), key),
    lambda key: key.replace("_", "-"),
    lambda key: "".join(word.capitalize() for word in key.split("_")),
]


def objects(value: Any, known: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Objects of an envelope into which a server could write something about the answer."""
    yield value
    for key in known:
        inner = value.get(key)
        for one in inner if isinstance(inner, list) else [inner]:
            if isinstance(one, dict):
                yield from objects(one, known)


def places(server: str) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    wire, body = SERVERS[server]
    count = len(list(objects(body, ("choices", "message", "candidates"))))
    found = []
    for number in range(count + 1):
        copy = deepcopy(body)
        every = list(objects(copy, ("choices", "message", "candidates")))
        found.append((wire, copy, every[number] if number < count else copy.setdefault("extra", {})))
    return found


@pytest.mark.parametrize("seed", range(3))
def test_a_state_that_is_not_whole_is_refused_wherever_and_however_it_is_spelled(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(700):
        key, value = draw.choice(UNSOUND)
        wire, body, place = draw.choice(places(draw.choice(list(SERVERS))))
        for harmless, said in draw.sample(HARMLESS, draw.choice((0, 3))):
            place.setdefault(harmless, said)
        spelled = draw.choice(SPELLINGS)(key)
        if place.get(spelled):
            continue
        place[spelled] = value
        found = read(wire, body)
        assert isinstance(found, Fault) or found.finish != "stop", (wire, spelled, value)


@pytest.mark.parametrize("seed", range(3))
def test_what_servers_add_to_a_whole_answer_harms_none(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(300):
        wire, body, place = draw.choice(places(draw.choice(list(SERVERS))))
        for key, value in draw.sample(HARMLESS, 4):
            place.setdefault(draw.choice(SPELLINGS)(key), value)
        found = read(wire, body)
        assert isinstance(found, Reply), (found, place)
        assert found.finish == "stop", place


@pytest.mark.parametrize(
    ("server", "change"),
    [
        ("OpenAI", lambda body: body["choices"][0].update(index=7)),
        ("Gemini", lambda body: body["candidates"][0].update(index=7)),
        ("OpenAI", lambda body: body["choices"][0].update(finish_reason="tool_calls")),
        ("OpenAI", lambda body: body["usage"].update(completion_tokens=10**6)),
        ("OpenAI", lambda body: body["usage"].update(prompt_tokens=10**6)),
        ("Anthropic", lambda body: body["usage"].update(output_tokens=10**6)),
        ("Gemini", lambda body: body["usageMetadata"].update(promptTokenCount=10**6)),
        ("Anthropic", lambda body: body.update(stop_details={"type": "paused"})),
        ("Anthropic", lambda body: body["content"].append({"type": "image", "source": {}})),
    ],
    ids=[
        *("another choice", "another candidate", "a call that is none", "tokens", "tokens of the prompt"),
        *("tokens of Anthropic", "tokens of Gemini", "a pause", "an image"),
    ],
)
def test_what_cannot_be_the_one_answer_is_none(server: str, change: Callable[[dict[str, Any]], None]) -> None:
    wire, body = SERVERS[server]
    change(body := deepcopy(body))
    assert isinstance(read(wire, body), Fault)


WHOLE = dict(SERVERS[name] for name in ("OpenAI", "Anthropic", "Gemini"))
Place = Callable[[dict[str, Any]], dict[str, Any]]


PLACES: dict[str, dict[str, Place]] = {
    "openai": {
        "body": lambda body: body,
        "choice": lambda body: body["choices"][0],
        "message": lambda body: body["choices"][0]["message"],
        "extra": lambda body: body.setdefault("x_server", {}),
    },
    "anthropic": {"body": lambda body: body, "extra": lambda body: body.setdefault("x_server", {})},
    "gemini": {
        "body": lambda body: body,
        "candidate": lambda body: body["candidates"][0],
        "extra": lambda body: body.setdefault("xServer", {}),
    },
}


CUT: list[dict[str, Any]] = [
    *({key: False} for key in ("success", "completed", "done")),
    {"succeeded": "no"},
    *({"status": word} for word in ("error", "incomplete", "in_progress", 500)),
    {"state": "cancelled"},
    {"errors": ["overloaded"]},
    {"errors": [{"code": 502}]},
    {"errorMessage": "the worker was killed"},
    {"base_resp": {"status_code": 1013, "status_msg": "internal"}},
    {"incomplete_details": {"reason": "max_output_tokens"}},
    {"incompleteDetails": {"reason": "limit"}},
    *({key: True} for key in ("truncated", "aborted", "partial")),
    {"is_truncated": "true"},
    {"finish_details": {"type": "max_tokens"}},
    {"stop_details": {"type": "length"}},
    {"native_finish_reason": "MAX_TOKENS"},
    {"native_finish_reason": "something new"},
    {"finishMessage": "The model stopped early."},
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
    *({"status": word} for word in ("completed", "Success.", 200)),
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
    *({"native_finish_reason": word} for word in ("end_turn", "stop", "eos", None)),
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


def placed(said: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name, places in PLACES.items():
        for where, find in places.items():
            body = deepcopy(WHOLE[name])
            find(body).update(deepcopy(said))
            yield name, where, body


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


OTHERS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "an error object": ("openai", lambda body: body.update(object="error")),
    "a number for a name": ("openai", lambda body: body.update(model=3)),
    "of the user": ("openai", lambda body: body["choices"][0]["message"].update(role="user")),
    "another delta": ("openai", lambda body: body["choices"][0].update(delta={"content": "3"})),
    "another text": ("openai", lambda body: body["choices"][0].update(text='{"rating": 3}')),
    "another reason": ("openai", lambda body: body["choices"][0].update(stop_reason="length")),
    "a tool without a call": ("anthropic", lambda body: body.update(stop_reason="tool_use")),
    "an error of the choice": ("openai", lambda body: body["choices"][0].update(error={"code": 502})),
    "a call of a tool": (
        "openai",
        lambda body: body["choices"][0]["message"].update(tool_calls=[{"id": "1"}]),
    ),
    "of the user, natively": ("anthropic", lambda body: body.update(role="user")),
    "of the user at Google": ("gemini", lambda body: body["candidates"][0]["content"].update(role="user")),
}


@pytest.mark.parametrize("what", OTHERS)
def test_what_is_no_answer_of_the_assistant_is_none(what: str) -> None:
    name, change = OTHERS[what]
    change(body := deepcopy(WHOLE[name]))
    found = read(name, body)
    assert isinstance(found, Fault), found
    reasons = {"an error of the choice": "server_error", "a call of a tool": "schema"}
    assert found.reason == reasons.get(what, "bad_envelope")


@pytest.mark.parametrize(
    "change", [{"object": ""}, {"object": "chat.completions"}, {"object": "text_completion"}]
)
def test_other_names_of_a_completion_are_taken(change: dict[str, Any]) -> None:
    assert isinstance(read("openai", WHOLE["openai"] | change), Reply)


def test_the_reason_of_a_blocked_prompt_may_be_words_alone() -> None:
    found = read("gemini", WHOLE["gemini"] | {"promptFeedback": {"blockReasonMessage": "not allowed"}})
    assert isinstance(found, Reply)
    assert (found.finish, found.text) == ("refused", "the prompt was blocked: not allowed")


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
    wire = WIRES["openai"]
    fault = wire.read((ONE % twice).encode(), make_request())
    assert isinstance(fault, Fault)
    assert fault.reason == "ambiguous"
    assert isinstance(wire.read((ONE % (',"content":"a"', "", "")).encode(), make_request()), Reply)


async def ask(server: Server) -> Reply:
    async with remote_at(server.url) as remote:
        return await remote.reply(make_request())


@pytest.mark.parametrize("status", [202, 205, 206])
async def test_an_answer_that_is_not_there_or_not_whole_is_none(server: Server, status: int) -> None:
    server.fails(with_body(envelope("ok"), status))
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


def test_geminis_thinking_is_said_by_a_boolean_and_a_block_counts_beside_a_candidate() -> None:
    fault = read("gemini", gemini([{"text": "x", "thought": "true"}]))
    assert isinstance(fault, Fault)
    assert fault.reason == "bad_envelope"
    blocked = read("gemini", gemini("x", promptFeedback={"blockReason": "SAFETY"}))
    assert isinstance(blocked, Reply)
    assert blocked.finish == "refused"
    assert isinstance(fine := read("gemini", gemini([{"text": "x", "thought": False}])), Reply)
    assert (fine.text, fine.finish) == ("x", "stop")


def test_a_refusal_in_anthropics_details_is_a_refusal() -> None:
    reply = read("anthropic", anthropic("x", stop_details={"type": "refusal"}))
    assert isinstance(reply, Reply)
    assert reply.finish == "refused"
