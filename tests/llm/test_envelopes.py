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
from adjudge.llm.faults import Fault
from adjudge.llm.providers import PROVIDERS, Endpoint
from adjudge.llm.wire import Wire
from tests.llm.conftest import make_request

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
