"""Read the body of an answer, strictly: every type is checked before a word of it is believed."""

from __future__ import annotations

import json
import math
from typing import Any, Final, NoReturn

import orjson

from adjudge.core.ask import Reply, TokenLogprob, Usage
from adjudge.errors import AnswerError, FailureReason
from adjudge.llm.credentials import Redactor

__all__ = ["read_envelope", "read_json_body", "read_usage"]

_FINISHED: Final = {
    **dict.fromkeys(("stop", "eos", "eos_token", "end_turn", "stop_sequence", "tool_calls"), "stop"),
    **dict.fromkeys(
        ("length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded"),
        "length",
    ),
    **dict.fromkeys(
        ("content_filter", "sensitive", "safety", "recitation", "blocklist", "refusal", "prohibited_content"),
        "content_filter",
    ),
}
"""Words of servers for why they stopped, to ours. Any other word is none that we can trust."""

_BROKEN_OFF: Final = frozenset({"error", "abort", "network_error", "insufficient_system_resource"})


def read_json_body(body: bytes) -> object:
    """Read a body as JSON.

    Raises:
        AnswerError: not_json; encoding for bytes or characters that are no text; bad_envelope for NaN.
    """
    if not body.strip():
        raise AnswerError("not_json", "the body is empty")
    if body.strip() == b"null":
        raise AnswerError("not_json", "the body is null")
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        problem = error
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise AnswerError("encoding", f"byte {error.start} of the body is not UTF-8") from error
    try:
        value = json.loads(text, parse_constant=_no_constant)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise AnswerError("encoding", "the body holds half a surrogate pair") from error
    except (ValueError, RecursionError) as error:
        raise AnswerError("not_json", f"{problem}") from error
    raise AnswerError("bad_envelope", f"not strict JSON: {problem}")


def _no_constant(name: str) -> NoReturn:
    raise AnswerError("bad_envelope", f"{name} is no number")


def read_envelope(value: object, redactor: Redactor, *, text_parts: bool = False) -> Reply:
    """Read the reply out of a body.

    Args:
        value: the body as JSON.
        redactor: takes out the key, should the server echo it.
        text_parts: whether content may be a list of typed parts.

    Raises:
        AnswerError: bad_envelope, count, encoding, logprob or server_error.
    """
    if not isinstance(value, dict):
        _bad("an object", value)
    choices = value.get("choices")
    if not isinstance(choices, list) or not choices or not all(isinstance(c, dict) for c in choices):
        _bad("a list of choices", choices)
    if len(choices) != 1:
        raise AnswerError("count", f"one answer was asked for, {len(choices)} came")
    choice = choices[0]
    message = choice.get("message")
    if not isinstance(message, dict):
        _bad("a message", message)
    content, thought = _content(message.get("content"), text_parts=text_parts)
    refusal = message.get("refusal")
    if refusal is not None and not isinstance(refusal, str):
        _bad("a refusal as text", refusal)
    finish = "refused" if refusal else _finish(choice.get("finish_reason"))
    reasoning = _thinking(message) or thought
    name = value.get("model")
    return Reply(
        text=_words(refusal or content, redactor),
        model=_words(name, redactor) if isinstance(name, str) else "",
        finish=finish,
        usage=read_usage(value.get("usage")),
        reasoning=_words(reasoning, redactor),
        logprobs=_logprobs(choice.get("logprobs"), redactor),
    )


def _bad(wanted: str, came: object) -> NoReturn:
    raise AnswerError("bad_envelope", f"wanted {wanted}, got {_kind(came)}")


def _kind(value: object) -> str:
    """What came, without repeating it: it may be long, and it is not ours."""
    if value is None:
        return "nothing"
    return (
        f"an empty {type(value).__name__}"
        if value in ({}, [], "")
        else f"a value of type {type(value).__name__}"
    )


def _words(text: str, redactor: Redactor) -> str:
    if "\0" in text:
        raise AnswerError("encoding", "the reply holds a NUL character")
    return redactor.text(text)


def _content(value: object, *, text_parts: bool) -> tuple[str, str]:
    """Text and, where it comes as parts, thinking."""
    if value is None:
        return "", ""
    if isinstance(value, str):
        return value, ""
    if not text_parts or not isinstance(value, list):
        _bad("content as text", value)
    text = thought = ""
    for part in value:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text" and isinstance(part.get("text"), str):
            text += part["text"]
        elif kind == "thinking":
            thought += _thought(part.get("thinking"))
        else:
            _bad("parts of text", part)
    return text, thought


def _thought(value: object) -> str:
    if isinstance(value, str):
        return value
    return (
        "".join(str(p.get("text", "")) for p in value if isinstance(p, dict))
        if isinstance(value, list)
        else ""
    )


def _thinking(message: dict[str, Any]) -> str:
    """Thinking that comes apart from the answer; it is shown and never read, so its shape may be any."""
    for key in ("reasoning_content", "reasoning"):
        if isinstance(message.get(key), str) and message[key]:
            return str(message[key])
    return ""


def _finish(value: object) -> str:
    word = value.lower() if isinstance(value, str) else None
    if word in _BROKEN_OFF:
        raise AnswerError("server_error", f"the server broke off: finish_reason {word}")
    if word not in _FINISHED:
        raise AnswerError(
            "bad_envelope", f"finish_reason {str(value)[:40]!r} says not that the reply is whole"
        )
    return _FINISHED[word]


def read_usage(value: object) -> Usage:
    """Tokens; what a server does not count, or counts in no number, is 0."""
    if not isinstance(value, dict):
        return Usage()
    prompt, completion = value.get("prompt_tokens_details"), value.get("completion_tokens_details")
    cached = _count(prompt, "cached_tokens") or _count(value, "prompt_cache_hit_tokens")
    reasoning = _count(completion, "reasoning_tokens") or _count(value, "reasoning_tokens")
    return Usage(
        prompt=_count(value, "prompt_tokens"),
        completion=_count(value, "completion_tokens"),
        cached=cached,
        reasoning=reasoning,
    )


def _count(value: object, key: str) -> int:
    count = value.get(key) if isinstance(value, dict) else None
    return count if type(count) is int and 0 <= count < 2**53 else 0


def _logprobs(value: object, redactor: Redactor) -> tuple[TokenLogprob, ...]:
    if value is None:
        return ()
    tokens = value.get("content") if isinstance(value, dict) else value
    if tokens is None:
        return ()
    if not isinstance(tokens, list):
        _no_logprob(tokens)
    found = tuple(_logprob(token) for token in tokens)
    spelled = "".join(t.token for t in found)
    if redactor.text(spelled) != spelled:
        return ()  # the tokens spell the key
    return found


def _logprob(value: object) -> TokenLogprob:
    token = value.get("token") if isinstance(value, dict) else None
    logprob = value.get("logprob") if isinstance(value, dict) else None
    if not isinstance(token, str) or isinstance(logprob, bool) or not isinstance(logprob, int | float):
        _no_logprob(value)
    if not math.isfinite(logprob) or logprob > 1e-6:
        _no_logprob(logprob)
    return TokenLogprob(token, min(float(logprob), 0.0))


def _no_logprob(value: object) -> NoReturn:
    reason: FailureReason = "logprob"
    raise AnswerError(reason, f"wanted tokens with log-probabilities of at most 0, got {_kind(value)}")
