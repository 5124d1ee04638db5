"""The dialect of Anthropic's Messages API: system text apart, content in typed blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from adjudge.core.ask import Message, Reply, Usage
from adjudge.errors import AnswerError
from adjudge.llm.credentials import Redactor
from adjudge.llm.dialect import (
    Dialect,
    fail_envelope,
    finish_of,
    object_of,
    read_calls,
    read_count,
    read_model,
    read_words,
    refuse_calls,
    render_turns,
)
from adjudge.llm.envelope import Known, is_filtered
from adjudge.llm.model import Request, render_message
from adjudge.llm.providers import ROOM, Endpoint

_VERSION: Final = "2023-06-01"
_ADAPTIVE: Final = re.compile(r"claude-((opus|sonnet)-4-[6-9]|(opus|sonnet|haiku)-[5-9]|fable|mythos)")
"""Models that are told an effort; older ones get a number of tokens to think."""
_FORMAT: Final = re.compile(r"claude-((opus|sonnet|haiku)-(4-[5-9]|[5-9])|fable|mythos)")
"""Models that are held to a schema by their output format; older ones by a tool that they must call."""
_ANSWER: Final = "answer"

_FINISHED: Final = {
    **dict.fromkeys(("end_turn", "stop_sequence", "tool_use"), "stop"),
    **dict.fromkeys(("max_tokens", "model_context_window_exceeded"), "length"),
    "refusal": "refused",
}
_KNOWN: Final[Known] = dict.fromkeys(
    ("id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage")
)
_THINKING: Final = frozenset({"thinking", "redacted_thinking"})
_SEALED: Final = ("type", "thinking", "signature", "data")
"""Fields of thinking; all that comes back with the tool calls that followed it."""
_UNCHECKED: Final = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"}
    | {"minItems", "maxItems", "uniqueItems"}
)
"""Words of JSON schema that the server refuses; our readers check what they say in any case."""


class AnthropicDialect(Dialect):
    """One model of Anthropic."""

    words = frozenset({"content", "type", "text", "stop_reason", "stop_details", "error", "model"})

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.address = endpoint.at("messages")

    def headers(self) -> dict[str, str]:
        """The key, and the version of the dialect."""
        key = self._endpoint.key
        return {"anthropic-version": _VERSION} | ({"x-api-key": key} if key else {})

    def payload(self, request: Request) -> dict[str, Any]:
        """The body of a request; see `llm.dialect.Dialect`."""
        endpoint, sampling = self._endpoint, request.sampling
        payload: dict[str, Any] = {
            "model": endpoint.model,
            "max_tokens": sampling.max_tokens,
            "messages": render_turns(request, _blocks, speaker="assistant", field="content"),
        }
        system = [render_message(m, request.mark) for m in request.messages if m.role == "system"]
        if system:
            payload["system"] = "\n\n".join(system)
        if endpoint.provider.takes_temperature(endpoint.model) and endpoint.effort is None:
            payload["temperature"] = sampling.temperature
        if sampling.stop:
            payload["stop_sequences"] = sampling.stop
        effort = endpoint.effort
        if effort is not None and _ADAPTIVE.match(endpoint.model):
            payload |= {"thinking": {"type": "adaptive"}, "output_config": {"effort": effort}}
        elif effort is not None:
            payload["thinking"] = {"type": "enabled", "budget_tokens": ROOM[effort]}
        if request.tools:
            payload["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
                for tool in request.tools
            ]
        if request.schema is not None and endpoint.constrained:
            if _FORMAT.match(self._endpoint.model):
                form = {"type": "json_schema", "schema": _without_limits(request.schema)}
                payload["output_config"] = payload.get("output_config", {}) | {"format": form}
            elif self._is_forced:
                tool = {"name": _ANSWER, "description": "Give the answer.", "input_schema": request.schema}
                payload["tools"] = [*payload.get("tools", []), tool]
                payload["tool_choice"] = {"type": "tool", "name": _ANSWER}
        return payload

    @property
    def _is_forced(self) -> bool:
        """Whether a schema is a tool that must be called; one that thinks cannot be forced."""
        return not _FORMAT.match(self._endpoint.model) and self._endpoint.effort is None

    def read(self, value: object, request: Request, redactor: Redactor) -> Reply:
        """Read a reply; see `llm.dialect.Dialect`."""
        value = object_of(value)
        content = value.get("content")
        if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
            fail_envelope("a list of blocks", content)
        if value.get("type") != "message" or value.get("role") not in {None, "assistant"}:
            fail_envelope("a message of the assistant", value.get("type"))
        text, thought, asked = _read_blocks(content)
        finish = finish_of(value.get("stop_reason"), _FINISHED, frozenset())
        details = value.get("stop_details")
        if finish == "stop" and isinstance(details, dict) and details.get("type") == "refusal":
            finish = "refused"
        if finish == "stop" and is_filtered(value, _KNOWN, text):
            finish = "content_filter"
        if value.get("stop_reason") == "tool_use" and not asked:
            fail_envelope("the call of a tool", content)
        calls = read_calls(asked, redactor) if finish == "stop" else ()
        if request.schema is not None and self._endpoint.constrained and self._is_forced:
            answers = [call for call in calls if call.name == _ANSWER]
            if len(answers) > 1:
                raise AnswerError("ambiguous", f"one answer was asked for, {len(answers)} came")
            if answers:
                text = orjson.dumps(answers[0].arguments).decode()
                calls = tuple(call for call in calls if call.name != _ANSWER)
        if not request.tools:
            refuse_calls(calls)
        return Reply(
            text=read_words(text, redactor),
            model=read_model(value.get("model"), redactor),
            finish=finish,
            usage=self.usage(value),
            reasoning=read_words(thought, redactor),
            calls=calls,
        )

    def usage(self, value: object) -> Usage:
        """Tokens; the server counts what it read from its cache, and wrote to it, apart from the prompt."""
        usage = value.get("usage") if isinstance(value, dict) else None
        cached = read_count(usage, self._endpoint.provider.cached)
        written = read_count(usage, "cache_creation_input_tokens")
        details = usage.get("output_tokens_details") if isinstance(usage, dict) else None
        return Usage(
            prompt=read_count(usage, "input_tokens") + cached + written,
            completion=read_count(usage, "output_tokens"),
            cached=cached,
            reasoning=read_count(details, "thinking_tokens"),
        )


def _blocks(message: Message, mark: str) -> Iterator[dict[str, Any]]:
    text = render_message(message, mark)
    if message.role == "tool":
        yield {"type": "tool_result", "tool_use_id": message.calls[0].id, "content": text}
        return
    sealed = [orjson.loads(call.state) if call.state else [] for call in message.calls]
    yield from sealed[0] if sealed else ()
    if text or not message.calls:
        yield {"type": "text", "text": text}
    for number, call in enumerate(message.calls):
        if number:
            yield from sealed[number]
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}


def _read_blocks(
    content: list[dict[str, Any]],
) -> tuple[str, str, list[tuple[object, object, object, str]]]:
    """Text, thinking, and calls with the thinking before them, which must come back unread."""
    text = thought = ""
    calls: list[tuple[object, object, object, str]] = []
    sealed: list[dict[str, Any]] = []
    for block in content:
        kind = block.get("type")
        if kind == "text" and isinstance(block.get("text"), str):
            text += block["text"]
        elif isinstance(kind, str) and kind in _THINKING:
            kept = {key: value for key in _SEALED if isinstance(value := block.get(key), str)}
            thought += kept.get("thinking", "")
            sealed.append(kept)
        elif kind == "tool_use":
            state = orjson.dumps(sealed).decode() if sealed else ""
            calls.append((block.get("id"), block.get("name"), block.get("input"), state))
            sealed = []
        else:
            fail_envelope("a block of text, thinking or tool use", block)
    return text, thought, calls


def _without_limits(schema: object) -> Any:  # noqa: ANN401 (any JSON)
    if isinstance(schema, Mapping):
        return {
            key: {name: _without_limits(inner) for name, inner in value.items()}
            if key == "properties" and isinstance(value, Mapping)
            else _without_limits(value)
            for key, value in schema.items()
            if key not in _UNCHECKED
        }
    if isinstance(schema, list | tuple):
        return [_without_limits(inner) for inner in schema]
    return schema
