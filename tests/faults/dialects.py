"""The fault server in the two native dialects: the same judge, the same plans, other words.

`NativeServer` answers the chat dialect as `Server` does, and beside it Anthropic's and Gemini's. A fault of
status, connection or bytes is the chat server's; what an envelope can have wrong with it stands here.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.faults.server import FAULTS, Server, judge, plain

HEADERS = {"chat": "Authorization", "anthropic": "x-api-key", "gemini": "x-goog-api-key"}

Json = dict[str, Any]


def anthropic(content: object, **changes: object) -> Json:
    """A good body of the Messages API around some words, or around blocks."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    usage = {
        "input_tokens": 50,
        "cache_creation_input_tokens": 10,
        "cache_read_input_tokens": 40,
        "output_tokens": 20,
        "output_tokens_details": {"thinking_tokens": 5},
    }
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "mock",
        "content": blocks,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": usage,
    } | changes


def gemini(content: object, *, finish: object = "STOP", **changes: object) -> Json:
    """A good body of generateContent around some words, or around parts."""
    parts = [{"text": content}] if isinstance(content, str) else content
    usage = {
        "promptTokenCount": 100,
        "candidatesTokenCount": 15,
        "thoughtsTokenCount": 5,
        "totalTokenCount": 120,
        "cachedContentTokenCount": 40,
    }
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "mock"} | changes


def _text(block: Json) -> str:
    return str(block.get("text") or block.get("content") or "")


def chat_of_anthropic(payload: Json) -> Json:
    """What was asked, as the judge of the chat server understands it."""
    messages = [{"role": "system", "content": payload["system"]}] if "system" in payload else []
    for turn in payload["messages"]:
        messages += [{"role": turn["role"], "content": "".join(map(_text, turn["content"]))}]
    return {"messages": messages}


def chat_of_gemini(payload: Json) -> Json:
    """What was asked, as the judge of the chat server understands it."""
    system = payload.get("systemInstruction", {}).get("parts", [])
    messages = [{"role": "system", "content": _text(part)} for part in system]
    for turn in payload["contents"]:
        messages += [{"role": turn["role"], "content": "".join(map(_text, turn["parts"]))}]
    return {"messages": messages}


def forced(payload: Json, content: str) -> Json:
    """A good body, by the tool that must be called if there is one."""
    name = payload.get("tool_choice", {}).get("name")
    if name is None:
        return anthropic(content)
    block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": json.loads(content)}
    return anthropic([block], stop_reason="tool_use")


@dataclass(frozen=True)
class Native:
    """One dialect of the server."""

    name: str
    path: str
    chat_of: Callable[[Json], Json]
    good: Callable[[Json, str], Json]
    faults: dict[str, Json]


ANTHROPIC = Native(
    "anthropic",
    "/v1/messages",
    chat_of_anthropic,
    forced,
    {
        "error 200": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        "no choices": {"id": "x"},
        "choices []": anthropic([]) | {"content": None},
        "choices text": anthropic(None) | {"content": "oops"},
        "content 87": anthropic([{"type": "text", "text": 87}]),
        "content list": anthropic([{"type": "image"}]),
        "message null": anthropic("a", type=None),
        "finish null": anthropic("a", stop_reason=None),
        "finish odd": anthropic("a", stop_reason="pause_turn"),
        "content null": anthropic([]),
        "content empty": anthropic("  \n"),
        "thinking only": anthropic([{"type": "thinking", "thinking": "Let me think", "signature": "s"}]),
        "length": anthropic('{"errors": []}', stop_reason="max_tokens"),
        "filter": anthropic('{"errors": []}', stop_reason="refusal"),
        "refusal": anthropic("I cannot help with that", stop_reason="refusal"),
        "prose": anthropic("The translation is good."),
        "other model": anthropic('{"errors": []}', model="another-model"),
    },
)

GEMINI = Native(
    "gemini",
    "/v1beta/models/{model}:generateContent",
    chat_of_gemini,
    lambda payload, content: gemini(content),
    {
        "error 200": {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}},
        "no choices": {"usageMetadata": {}},
        "choices []": gemini("a", candidates=[]),
        "choices text": gemini("a", candidates="oops"),
        "two choices": gemini("a", candidates=[gemini("a")["candidates"][0]] * 2),
        "content 87": gemini([{"text": 87}]),
        "content list": gemini([{"inlineData": {}}]),
        "message null": gemini("a", candidates=[{"content": None, "finishReason": "STOP"}]),
        "finish null": gemini("a", finish=None),
        "finish odd": gemini("a", finish="MALFORMED_FUNCTION_CALL"),
        "content null": gemini(None),
        "content empty": gemini("  \n"),
        "thinking only": gemini([{"text": "Let me think", "thought": True}]),
        "length": gemini('{"errors": []}', finish="MAX_TOKENS"),
        "filter": gemini('{"errors": []}', finish="SAFETY"),
        "refusal": {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "modelVersion": "mock"},
        "prose": gemini("The translation is good."),
        "other model": gemini('{"errors": []}', modelVersion="another-model"),
    },
)

NATIVE = {native.name: native for native in (ANTHROPIC, GEMINI)}


class NativeServer(Server):
    """Three dialects at once."""

    def route(self, router: web.UrlDispatcher) -> None:
        super().route(router)
        for native in NATIVE.values():
            router.add_post(native.path, self._speak(native))

    def base(self, dialect: str) -> str:
        """Base URL of a dialect."""
        return self.url + ("beta" if dialect == "gemini" else "")

    def _speak(self, native: Native) -> Callable[[web.Request], Any]:
        async def answer(request: web.Request) -> web.StreamResponse:
            payload = json.loads(await request.read())
            number = len(self.log)
            self.log.append(payload)
            self.headers.append(dict(request.headers))
            asked = native.chat_of(payload)
            self.requests[plain(asked)] += 1
            if self.delay:
                await asyncio.sleep(self.delay)
            name, content = self.play(number), self.answer(asked)
            if name is None:
                return web.json_response(native.good(payload, content))
            if callable(name):
                return await name(request, content)
            if name in {"echo key", "tell key", "break key"}:
                return with_key(native, name, request.headers.get(HEADERS[native.name], ""))
            if name in native.faults:
                return web.json_response(native.faults[name])
            return await FAULTS[name](request, content)

        return answer


def with_key(native: Native, name: str, key: str) -> web.Response:
    """An answer that says the key aloud."""
    if name == "echo key":
        error = {"type": "authentication_error", "message": f"invalid x-api-key: {key}"}
        return web.json_response({"type": "error", "error": error}, status=500)
    if name == "break key":
        return web.Response(body=b'{"content": "\xff' + key.encode() + b'"}', content_type="application/json")
    field = "model" if native is ANTHROPIC else "modelVersion"
    good = anthropic(f"Your key is {key}") if native is ANTHROPIC else gemini(f"Your key is {key}")
    return web.json_response(good | {field: key})


@contextmanager
def speaking() -> Iterator[NativeServer]:
    """A server of three dialects for as long as the block lasts."""
    server = NativeServer(judge)
    server.start()
    try:
        yield server
    finally:
        server.stop()
