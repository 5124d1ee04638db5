"""The chat dialect of OpenAI, which most servers speak.

`ChatDialect` writes a request in its words. `read_envelope` reads an answer strictly: every type is checked
before a word of the answer is believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import orjson

from adjudge.core.ask import Message, Reply, TokenLogprob, ToolCall, Usage
from adjudge.errors import AnswerError
from adjudge.llm.credentials import Redactor
from adjudge.llm.dialect import (
    FILTERED,
    Dialect,
    fail_envelope,
    finish_of,
    object_of,
    only_of,
    read_arguments,
    read_calls,
    read_count,
    read_logprobs,
    read_model,
    read_words,
    refuse_calls,
)
from adjudge.llm.envelope import Known, is_filtered
from adjudge.llm.model import Request, render_message
from adjudge.llm.providers import COMPATIBLE, ROOM, Endpoint, Provider

_CALLING: Final = ("tool_calls", "function_call")
_FINISHED: Final = {
    **dict.fromkeys(("stop", "eos", "eos_token", "end_turn", "stop_sequence"), "stop"),
    **dict.fromkeys(_CALLING, "stop"),
    **dict.fromkeys(
        ("length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded"),
        "length",
    ),
    **dict.fromkeys(("content_filter", "sensitive", "refusal", *FILTERED), "content_filter"),
}
"""Words of servers for why they stopped, to ours. Any other word is none that we can trust."""

_SAID: Final = ("content", "reasoning", "reasoning_content", "reasoning_details", "refusal", "tool_calls")
_KNOWN: Final[Known] = {
    **dict.fromkeys(("id", "object", "created", "model", "provider", "system_fingerprint", "usage")),
    **dict.fromkeys(("citations", "search_results")),
    "choices": {
        **dict.fromkeys(("index", "finish_reason", "logprobs", "delta")),
        "message": dict.fromkeys((*_SAID, "role", "annotations")),
    },
}
_BROKEN_OFF: Final = frozenset({"error", "abort", "network_error", "insufficient_system_resource"})


def read_envelope(
    value: object,
    redactor: Redactor,
    provider: Provider = COMPATIBLE,
    *,
    with_calls: bool = False,
    may_lack: bool = False,
) -> Reply:
    """Read the reply out of a body.

    `may_lack`: whether log-probabilities that are not those of the answer are left out, and no fault.
    """
    value = object_of(value)
    choice = only_of(value.get("choices"), "choices")
    message = object_of(choice.get("message"), "a message")
    content, thought = _content(message.get("content"))
    _refuse_other(value, choice, message)
    if choice.get("error"):
        raise AnswerError("server_error", "the choice holds an error")
    refusal = message.get("refusal")
    if refusal is not None and not isinstance(refusal, str):
        fail_envelope("a refusal as text", refusal)
    text = read_words(refusal or content, redactor)
    why = choice.get("finish_reason")
    if isinstance(why, str) and why.lower().startswith("content_filter:"):
        why = "content_filter"  # Gemini's compatible endpoint adds which filter it was
    finish = "refused" if refusal else finish_of(why, _FINISHED, _BROKEN_OFF)
    if finish == "stop" and is_filtered(value, _KNOWN, text):
        finish = "content_filter"
    if finish == "stop" and not with_calls:
        refuse_calls(message.get("tool_calls"))
    if str(choice["finish_reason"]).lower() in _CALLING and not message.get("tool_calls"):
        fail_envelope("the call of a tool", message.get("tool_calls"))
    is_whole = finish == "stop"
    # Thinking that comes apart from the answer is shown and never read, so its shape may be any.
    said = (message.get(key) for key in ("reasoning_content", "reasoning"))
    apart = (words for words in said if isinstance(words, str) and words)
    return Reply(
        text=text,
        model=read_model(value.get("model"), redactor),
        fingerprint=read_model(value.get("system_fingerprint"), redactor),
        finish=finish,
        usage=read_usage(value.get("usage"), provider.cached),
        reasoning=read_words(next(apart, thought), redactor),
        logprobs=_logprobs(choice.get("logprobs"), text, redactor, may_lack=may_lack) if is_whole else (),
        calls=_calls(message, provider.state, redactor) if with_calls and is_whole else (),
    )


def _refuse_other(value: dict[str, Any], choice: dict[str, Any], message: dict[str, Any]) -> None:
    if not isinstance(value.get("model"), str | None):
        fail_envelope("the model's name as text", value["model"])
    if not re.match(r"(chat|text)([\W_]|$)|$", str(value.get("object") or "")):
        fail_envelope("a chat completion", value["object"])
    if message.get("role") not in {None, "", "assistant"}:
        fail_envelope("a message of the assistant", message["role"])
    if choice.get("index") not in {None, 0}:
        fail_envelope("the first choice", choice["index"])
    if (other := choice.get("delta")) and other != message.get("content"):
        fail_envelope("one answer in a choice", other)


def _content(value: object) -> tuple[str, str]:
    if value is None:
        return "", ""
    if isinstance(value, str):
        return value, ""
    if not isinstance(value, list):
        fail_envelope("content as text", value)
    text = thought = ""
    for part in value:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text" and isinstance(part.get("text"), str):
            text += part["text"]
        elif kind == "thinking":
            thinking = part.get("thinking")
            if isinstance(thinking, list):
                thinking = "".join(str(p.get("text", "")) for p in thinking if isinstance(p, dict))
            thought += thinking if isinstance(thinking, str) else ""
        else:
            raise AnswerError("bad_envelope", f"wanted parts of text, got one of type {str(kind)[:40]!r}")
    return text, thought


def _calls(message: dict[str, Any], state: str, redactor: Redactor) -> tuple[ToolCall, ...]:
    calls = message.get("tool_calls")
    if calls is None:
        return ()
    if not isinstance(calls, list):
        fail_envelope("a list of tool calls", calls)
    sealed = message.get(state) if state else None
    return read_calls(_open_calls(calls, sealed if isinstance(sealed, str) else ""), redactor)


def _open_calls(calls: list[object], state: str) -> Iterator[tuple[object, object, object, str]]:
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(call, dict) or not isinstance(function, dict):
            fail_envelope("a tool call with a function", call)
        yield call.get("id"), function.get("name"), read_arguments(function.get("arguments")), state


def read_usage(value: object, cached: str = COMPATIBLE.cached) -> Usage:
    """Tokens; what a server does not count, or counts in no number, is 0.

    A server that counts thinking apart from the reply, as xAI's, counts it in the total.

    `cached`: where the count of prompt tokens stands that the server had kept; see `Provider`.
    """
    if not isinstance(value, dict):
        return Usage()
    place, _, field = cached.rpartition(".")
    details = value.get("completion_tokens_details")
    prompt = read_count(value, "prompt_tokens")
    apart = read_count(value, "total_tokens") - prompt if prompt else 0
    return Usage(
        prompt=prompt,
        completion=max(read_count(value, "completion_tokens"), apart),
        cached=read_count(value.get(place) if place else value, field),
        reasoning=read_count(details, "reasoning_tokens") or read_count(value, "reasoning_tokens"),
    )


def _logprobs(value: object, text: str, redactor: Redactor, *, may_lack: bool) -> tuple[TokenLogprob, ...]:
    tokens = value.get("content") if isinstance(value, dict) else value
    if tokens is None:
        return ()
    try:
        return read_logprobs(tokens, text, redactor)
    except AnswerError:
        if may_lack:
            return ()
        raise


class ChatDialect(Dialect):
    """One model of an OpenAI-compatible server."""

    words = frozenset(
        {
            "choices",
            "message",
            "content",
            "finish_reason",
            "error",
            "refusal",
            "tool_calls",
            "model",
            "status",
        }
    )

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.address = endpoint.at("chat/completions")
        self._takes_temperature = endpoint.provider.takes_temperature(endpoint.model)

    def headers(self) -> dict[str, str]:
        key = self._endpoint.key
        return {"Authorization": f"Bearer {key}"} if key else {}

    def payload(self, request: Request) -> dict[str, Any]:
        """The body of a request; see `llm.dialect.Dialect`."""
        provider, sampling = self._endpoint.provider, request.sampling
        payload: dict[str, Any] = {
            "model": self._endpoint.model,
            "messages": [self._message(message, request.mark) for message in request.messages],
        }
        if self._takes_temperature:
            payload["temperature"] = sampling.temperature
        payload[provider.max_tokens] = sampling.max_tokens
        if sampling.stop:
            payload["stop"] = sampling.stop
        if provider.seed and sampling.temperature > 0:
            payload[provider.seed] = request.draw
        if sampling.logprobs and provider.gives_logprobs(self._endpoint.model):
            payload["logprobs"] = True
            if request.alternatives:
                payload["top_logprobs"] = request.alternatives
        if (effort := self._endpoint.effort) is not None:
            in_tokens = provider.effort_field == "thinking_budget"
            payload[provider.effort_field] = ROOM[effort] if in_tokens else effort
            if in_tokens:
                payload["enable_thinking"] = True
        if request.schema is not None and self._endpoint.constrained:
            schema = {"name": "answer", "schema": request.schema, "strict": True}
            payload["response_format"] = {"type": "json_schema", "json_schema": schema}
        if request.tools:
            payload["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.parameters,
                    },
                }
                for tool in request.tools
            ]
            payload["tool_choice"] = "auto"
        return payload

    def _message(self, message: Message, mark: str) -> dict[str, Any]:
        content = render_message(message, mark)
        if message.role == "tool":
            return {"role": "tool", "tool_call_id": message.calls[0].id, "content": content}
        said: dict[str, Any] = {"role": message.role, "content": content}
        if message.calls:
            said["content"] = content or None
            said["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": orjson.dumps(call.arguments).decode()},
                }
                for call in message.calls
            ]
            if self._endpoint.provider.state and message.calls[0].state:
                said[self._endpoint.provider.state] = message.calls[0].state
        return said

    def read(self, value: object, request: Request, redactor: Redactor) -> Reply:
        """Read a reply; see `llm.dialect.Dialect`."""
        return read_envelope(
            value,
            redactor,
            self._endpoint.provider,
            with_calls=bool(request.tools),
            may_lack=request.sampling.logprobs == "try",
        )

    def usage(self, value: object) -> Usage:
        """Tokens; see `llm.dialect.Dialect`."""
        usage = value.get("usage") if isinstance(value, dict) else None
        return read_usage(usage, self._endpoint.provider.cached)
