"""The dialect of Gemini's generateContent: contents in parts, the model in the address."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

from adjudge.core.ask import Message, Reply, TokenLogprob, Usage
from adjudge.errors import AnswerError
from adjudge.llm.credentials import Redactor
from adjudge.llm.dialect import (
    FILTERED,
    Dialect,
    fail_envelope,
    finish_of,
    object_of,
    only_of,
    read_calls,
    read_count,
    read_logprobs,
    read_model,
    read_words,
    refuse_calls,
    render_turns,
)
from adjudge.llm.envelope import Known, is_filtered
from adjudge.llm.model import Request, render_message
from adjudge.llm.providers import ROOM, Endpoint

_BY_TOKENS: Final = "gemini-2.5"
"""Models that are given a number of tokens to think; later ones are told a level."""
_OURS: Final = "call-"
"""Start of an id that we gave to a call, since the server gave none."""

_FINISHED: Final = {
    "stop": "stop",
    "max_tokens": "length",
    **dict.fromkeys(FILTERED, "content_filter"),
}
_BROKEN_OFF: Final = frozenset({"other"})
_KNOWN: Final[Known] = {
    **dict.fromkeys(("modelVersion", "responseId", "usageMetadata")),
    "candidates": {
        **dict.fromkeys(("content", "finishReason", "index", "logprobsResult", "avgLogprobs")),
        **dict.fromkeys(("citationMetadata", "groundingMetadata", "groundingAttributions")),
        "urlContextMetadata": None,
    },
}


class GeminiDialect(Dialect):
    """One Gemini model."""

    words = frozenset(
        {
            "candidates",
            "content",
            "parts",
            "text",
            "thought",
            "finishReason",
            "promptFeedback",
            "blockReason",
            "error",
        }
    )

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        name = endpoint.model if "/" in endpoint.model else f"models/{endpoint.model}"
        self.address = endpoint.at(f"{quote(name, safe='/')}:generateContent")

    def headers(self) -> dict[str, str]:
        """The key; never in the address, where logs would keep it."""
        key = self._endpoint.key
        return {"x-goog-api-key": key} if key else {}

    def payload(self, request: Request) -> dict[str, Any]:
        """The body of a request; see `llm.dialect.Dialect`."""
        payload: dict[str, Any] = {
            "contents": render_turns(request, _say, speaker="model", field="parts"),
            "generationConfig": self._generation(request),
        }
        system = [{"text": render_message(m, request.mark)} for m in request.messages if m.role == "system"]
        if system:
            payload["systemInstruction"] = {"parts": system}
        if request.tools:
            functions = [
                {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters}
                for tool in request.tools
            ]
            payload["tools"] = [{"functionDeclarations": functions}]
        return payload

    def _generation(self, request: Request) -> dict[str, Any]:
        endpoint, sampling = self._endpoint, request.sampling
        config: dict[str, Any] = {"candidateCount": 1, "maxOutputTokens": sampling.max_tokens}
        if endpoint.provider.takes_temperature(endpoint.model):
            config["temperature"] = sampling.temperature
        if sampling.stop:
            config["stopSequences"] = sampling.stop
        if endpoint.provider.seed and sampling.temperature > 0:
            config[endpoint.provider.seed] = request.draw
        if sampling.logprobs and endpoint.provider.gives_logprobs(endpoint.model):
            config["responseLogprobs"] = True
            if request.alternatives:
                config["logprobs"] = request.alternatives
        if endpoint.effort is not None and endpoint.model.startswith(_BY_TOKENS):
            config["thinkingConfig"] = {"thinkingBudget": ROOM[endpoint.effort], "includeThoughts": True}
        elif endpoint.effort is not None:
            config["thinkingConfig"] = {"thinkingLevel": endpoint.effort, "includeThoughts": True}
        if request.schema is not None and endpoint.constrained:
            config |= {"responseMimeType": "application/json", "responseJsonSchema": request.schema}
        return config

    def read(self, value: object, request: Request, redactor: Redactor) -> Reply:
        """Read a reply; see `llm.dialect.Dialect`."""
        value = object_of(value)
        model = read_model(value.get("modelVersion"), redactor)
        feedback = value.get("promptFeedback")
        told = feedback if isinstance(feedback, dict) else {}
        why = told.get("blockReason") or told.get("blockReasonMessage")
        if isinstance(why, str):
            text = read_words(f"the prompt was blocked: {why[:40]}", redactor)
            return Reply(text=text, model=model, finish="refused", usage=self.usage(value))
        candidate = only_of(value.get("candidates"), "candidates")
        if candidate.get("index") not in {None, 0}:
            fail_envelope("the first candidate", candidate["index"])
        finish = finish_of(candidate.get("finishReason"), _FINISHED, _BROKEN_OFF)
        text, thought, calls = _read_parts(_parts(candidate.get("content"), finish))
        if finish == "stop" and is_filtered(value, _KNOWN, text):
            finish = "content_filter"
        is_whole = finish == "stop"
        if is_whole and not request.tools:
            refuse_calls(calls)
        return Reply(
            text=read_words(text, redactor),
            model=model,
            finish=finish,
            usage=self.usage(value),
            reasoning=read_words(thought, redactor),
            logprobs=_logprobs(candidate.get("logprobsResult"), text, redactor) if is_whole else (),
            calls=read_calls(calls, redactor) if request.tools and is_whole else (),
        )

    def usage(self, value: object) -> Usage:
        """Tokens; the server counts thinking apart from the reply, and asks money for both."""
        usage = value.get("usageMetadata") if isinstance(value, dict) else None
        thoughts = read_count(usage, "thoughtsTokenCount")
        return Usage(
            prompt=read_count(usage, "promptTokenCount"),
            completion=read_count(usage, "candidatesTokenCount") + thoughts,
            cached=read_count(usage, self._endpoint.provider.cached),
            reasoning=thoughts,
        )


def _say(message: Message, mark: str) -> Iterator[dict[str, Any]]:
    text = render_message(message, mark)
    if message.role == "tool":
        call = message.calls[0]
        yield {"functionResponse": _id(call.id) | {"name": call.name, "response": {"result": text}}}
        return
    if text or not message.calls:
        yield {"text": text}
    for call in message.calls:
        said = {"functionCall": _id(call.id) | {"name": call.name, "args": call.arguments}}
        yield said | ({"thoughtSignature": call.state} if call.state else {})


def _id(id_: str) -> dict[str, Any]:
    return {} if id_.startswith(_OURS) else {"id": id_}


def _parts(content: object, finish: str) -> list[dict[str, Any]]:
    if content is None and finish != "stop":
        return []
    content = object_of(content, "content")
    if content.get("role") not in {None, "model"}:
        fail_envelope("content of the model", content)
    parts = content.get("parts")
    if parts is None:
        return []
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        fail_envelope("a list of parts", parts)
    return parts


def _read_parts(
    parts: list[dict[str, Any]],
) -> tuple[str, str, list[tuple[object, object, object, str]]]:
    text = thought = ""
    calls: list[tuple[object, object, object, str]] = []
    for part in parts:
        call, said = part.get("functionCall"), part.get("text")
        if isinstance(call, dict):
            id_, args, seal = call.get("id"), call.get("args"), part.get("thoughtSignature")
            id_ = f"{_OURS}{len(calls) + 1}" if id_ is None else id_
            args = {} if args is None else args
            calls.append((id_, call.get("name"), args, seal if isinstance(seal, str) else ""))
        elif not isinstance(said, str) or call is not None:
            fail_envelope("parts of text", part)
        elif part.get("thought") is True:
            thought += said
        elif part.get("thought") not in (None, False):
            raise AnswerError("bad_envelope", "a part does not say whether it is thinking")
        else:
            text += said
    return text, thought, calls


def _logprobs(value: object, text: str, redactor: Redactor) -> tuple[TokenLogprob, ...]:
    if value is None:
        return ()
    fields: dict[str, Any] = value if isinstance(value, dict) else {}
    chosen, top = fields.get("chosenCandidates"), fields.get("topCandidates")
    if top and isinstance(chosen, list):
        if not isinstance(top, list) or len(top) != len(chosen):
            raise AnswerError("logprob", "alternatives came of more tokens than were chosen, or of fewer")
        chosen = [
            object_of(token) | {"top_logprobs": object_of(others).get("candidates")}
            for token, others in zip(chosen, top, strict=True)
        ]
    return read_logprobs(chosen, text, redactor, name="logProbability")
