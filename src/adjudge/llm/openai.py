"""The OpenAI-compatible chat dialect: a request in its words. Answers are read in `llm/envelope.py`."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import orjson

from adjudge.core.ask import Message, Reply, Usage
from adjudge.llm.credentials import Redactor
from adjudge.llm.delimiters import render_message
from adjudge.llm.endpoint import Endpoint
from adjudge.llm.envelope import read_envelope, read_usage
from adjudge.llm.model import Request

__all__ = ["ChatDialect"]


class ChatDialect:
    """One model of an OpenAI-compatible server; satisfies `llm.dialect.Dialect`."""

    method: ClassVar[Literal["POST"]] = "POST"
    words: ClassVar[frozenset[str]] = frozenset(
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
        """The key as a bearer token."""
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
        if provider.seed and sampling.temperature > 0:
            payload[provider.seed] = request.draw
        if sampling.logprobs and provider.gives_logprobs(self._endpoint.model):
            payload["logprobs"] = True
        if self._endpoint.effort is not None:
            payload["reasoning_effort"] = self._endpoint.effort
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
        return read_envelope(value, redactor, self._endpoint.provider, with_calls=bool(request.tools))

    def usage(self, value: object) -> Usage:
        """Tokens; see `llm.dialect.Dialect`."""
        usage = value.get("usage") if isinstance(value, dict) else None
        return read_usage(usage, self._endpoint.provider.cached)
