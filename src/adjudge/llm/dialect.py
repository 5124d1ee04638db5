"""What differs between families of servers: the address of a call, its body, and how an answer is read.

`Dialect` is what each of them implements. The functions check what all of them check in the same way: bodies,
words, counts, log-probabilities and the arguments of tools. Retries, limits, attempts and deadlines know
nothing of a dialect; see `llm/remote.py` and `llm/wire.py`.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from itertools import accumulate
from typing import Any, Final, Literal, NoReturn, Protocol

import orjson

from adjudge.core.ask import Message, Reply, TokenLogprob, ToolCall, Usage
from adjudge.errors import AnswerError
from adjudge.llm.credentials import Redactor
from adjudge.llm.envelope import SPECIAL
from adjudge.llm.model import Request


class Dialect(Protocol):
    """One way of speaking to one endpoint; keeps no state."""

    method: Literal["GET", "POST"] = "POST"
    """How a request goes out: in the address, or as a body."""
    words: frozenset[str]
    """Keys of a body that decide what it says; one of them twice, with two values, makes it ambiguous."""
    address: str
    """Where calls go."""

    def headers(self) -> dict[str, str]:
        """What this dialect adds to the headers; the key is there and nowhere else."""

    def payload(self, request: Request) -> dict[str, Any]:
        """The body of a request: what the model sees, and nothing of what the call is about."""

    def read(self, value: object, request: Request, redactor: Redactor) -> Reply:
        """Read the reply out of a body, strictly."""

    def usage(self, value: object) -> Usage:
        """Tokens that a body counts, whatever else is wrong with it."""


def render_turns(
    request: Request, say: Callable[[Message, str], Iterable[dict[str, Any]]], *, speaker: str, field: str
) -> list[dict[str, Any]]:
    """All but the system's words, in turns; the results of all tools asked for at once are one turn."""
    turns: list[dict[str, Any]] = []
    for message in request.messages:
        if message.role == "system":
            continue
        role = speaker if message.role == "assistant" else "user"
        pieces = say(message, request.mark)
        if turns and turns[-1]["role"] == role:
            turns[-1][field] += pieces
        else:
            turns.append({"role": role, field: list(pieces)})
    return turns


FILTERED: Final = (
    *("safety", "recitation", "blocklist", "prohibited_content"),
    *("spii", "language", "model_armor"),
)
"""Gemini's words for a filter that ended a reply; its compatible endpoint says them, too."""

_DEPTH: Final = 32
_FENCE: Final = re.compile(rb"\s*```\w*\s*(.*\S)\s*```\s*", re.DOTALL)
_ENDING: Final = 8  # special tokens that may follow an answer; each is looked at with all before it
_UNLIKELY: Final = -9999.0
"""What servers write for a token whose probability they do not know, and for minus infinity."""


def read_json_body(body: bytes) -> object:
    body = body.removeprefix(b"\xef\xbb\xbf")
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


def refuse_duplicate_keys(text: str | bytes, keys: Collection[str] | None = None) -> None:
    """Refuse JSON in which one object gives a key two values; the last would silently win.

    `keys`: those that matter; None for all.
    """
    if isinstance(text, bytes):
        text = text.removeprefix(b"\xef\xbb\xbf")

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in pairs:
            is_meant = keys is None or key in keys
            if is_meant and key in found and not _is_same(found[key], value):
                raise AnswerError("ambiguous", f"the key {key[:40]!r} stands twice, with two values")
            found[key] = value
        return found

    try:
        json.loads(text, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise AnswerError("parse", f"JSON that cannot be read strictly: {error}") from error


def _is_same(one: object, other: object) -> bool:
    return json.dumps(one) == json.dumps(other)


def fail_envelope(wanted: str, came: object) -> NoReturn:
    """Say what of a body is not as it must be."""
    raise AnswerError("bad_envelope", f"wanted {wanted}, got {_kind(came)}")


def object_of(value: object, wanted: str = "an object") -> dict[str, Any]:
    if not isinstance(value, dict):
        fail_envelope(wanted, value)
    return value


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    return (
        f"an empty {type(value).__name__}"
        if value in ({}, [], "")
        else f"a value of type {type(value).__name__}"
    )


def only_of(value: object, what: str) -> dict[str, Any]:
    """The one answer of a body, which brings it in a list."""
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
        fail_envelope(f"a list of {what}", value)
    if len(value) != 1:
        raise AnswerError("count", f"one answer was asked for, {len(value)} came")
    only: dict[str, Any] = value[0]
    return only


def read_words(text: str, redactor: Redactor) -> str:
    """Words of a server: without NUL, without the key."""
    if "\0" in text:
        raise AnswerError("encoding", "the reply holds a NUL character")
    return redactor.text(text)


def read_model(value: object, redactor: Redactor) -> str:
    """The name, or the fingerprint, of the model that answered; empty where the server does not say it."""
    return read_words(value, redactor) if isinstance(value, str) else ""


def finish_of(value: object, known: Mapping[str, str], broken: frozenset[str]) -> str:
    """Our word for why the model stopped."""
    word = value.lower() if isinstance(value, str) else ""
    if word in broken:
        raise AnswerError("server_error", f"the server broke off: {word}")
    if word not in known:
        raise AnswerError(
            "bad_envelope", f"finish reason {str(value)[:40]!r} says not that the reply is whole"
        )
    return known[word]


def read_count(value: object, key: str) -> int:
    """A number of tokens; what a server does not count, or counts in no number, is 0."""
    count = value.get(key) if isinstance(value, dict) else None
    return count if type(count) is int and 0 <= count < 2**53 else 0


def read_logprobs(
    value: object, text: str, redactor: Redactor, *, name: str = "logprob"
) -> tuple[TokenLogprob, ...]:
    """The tokens of a text with their log-probabilities; none where they spell the key.

    A few special tokens at the end, such as `<|im_end|>`, are no part of the text, nor is a code fence
    around it that a server has taken off, as llama.cpp's does where answers are held to a schema. Tokens
    that spell something else are refused: their probability is that of other words, those of thinking for
    example.

    `value`: a list of objects with `token`, perhaps `bytes`, the number, and perhaps `top_logprobs`, a list
    of such objects. One of these without a number, or with minus infinity, could not come: it is left out.
    """
    if not isinstance(value, list):
        _fail_logprob(value)
    tokens = [_logprob(token, name) for token in value]
    pieces = [_bytes(token) for token in value]
    spelled = _decode(pieces)
    if redactor.text(spelled) != spelled:
        return ()
    for last in reversed(tokens[-_ENDING:]):
        if spelled.strip() == text.strip() or not SPECIAL.fullmatch(last.token):
            break
        pieces.pop()
        spelled = _decode(pieces)
    if (fence := _FENCE.fullmatch(b"".join(pieces))) and not text.lstrip().startswith("```"):
        ends = [*accumulate(map(len, pieces))]
        inside = slice(bisect_right(ends, fence.start(1)), bisect_left(ends, fence.end(1)) + 1)
        tokens, pieces = tokens[inside], pieces[inside]
        spelled = _decode(pieces)
    if spelled.strip() != text.strip() and not _may_spell(spelled.strip(), text.strip()):
        raise AnswerError("logprob", f"{len(tokens)} tokens spell another text than the answer")
    told = "\n".join(other for token in tokens for other, _ in token.alternatives)
    if redactor.text(told) != told:
        tokens = [replace(token, alternatives=()) for token in tokens]
    return tuple(tokens[: len(pieces)])


def _may_spell(spelled: str, text: str) -> bool:
    pieces = re.split("\ufffd+", spelled)
    if len(pieces) == 1:
        return False
    gaps = [len(gap) for gap in re.findall("\ufffd+", spelled)]
    pattern = re.escape(pieces[0])
    for gap, piece in zip(gaps, pieces[1:], strict=True):
        pattern += rf"[^\x00-\x7f]{{1,{gap}}}" + re.escape(piece)
    return re.fullmatch(pattern, text) is not None


def _logprob(value: object, name: str, *, is_chosen: bool = True) -> TokenLogprob:
    fields: dict[str, Any] = value if isinstance(value, dict) else {}
    token, logprob = fields.get("token"), fields.get(name)
    if not isinstance(token, str) or isinstance(logprob, bool) or not isinstance(logprob, int | float):
        _fail_logprob(value)
    if not math.isfinite(logprob) or logprob > 1e-6 or logprob <= _UNLIKELY:
        _fail_logprob(logprob)
    others = (fields.get("top_logprobs") or []) if is_chosen else []
    if not isinstance(others, list) or not all(isinstance(other, dict) for other in others):
        _fail_logprob(others)
    possible = [
        _logprob(other, name, is_chosen=False)
        for other in others
        if (number := other.get(name)) is not None
        and not (isinstance(number, int | float) and number <= _UNLIKELY)
    ]
    return TokenLogprob(token, min(float(logprob), 0.0), tuple((one.token, one.logprob) for one in possible))


def _bytes(value: dict[str, Any]) -> bytes:
    numbers = value.get("bytes")
    if isinstance(numbers, list) and all(type(n) is int and 0 <= n < 256 for n in numbers):
        return bytes(numbers)
    return str(value["token"]).encode(errors="replace")


def _decode(pieces: list[bytes]) -> str:
    return b"".join(pieces).decode(errors="replace")


def _fail_logprob(value: object) -> NoReturn:
    raise AnswerError("logprob", f"wanted tokens with log-probabilities of at most 0, got {_kind(value)}")


def read_arguments(text: object) -> dict[str, object]:
    """Arguments of a tool as a JSON object, read strictly; no text is no arguments."""
    if isinstance(text, str) and not text.strip():
        return {}
    try:
        value = orjson.loads(text if isinstance(text, str) else b"")
    except ValueError as error:
        raise AnswerError("parse", f"the arguments of a tool are no JSON: {error}") from error
    refuse_duplicate_keys(str(text))
    return _object(value)


def _object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise AnswerError("schema", f"the arguments of a tool must be an object, got {_kind(value)}")
    return value


def read_calls(calls: Iterable[tuple[Any, Any, object, str]], redactor: Redactor) -> tuple[ToolCall, ...]:
    """Calls of tools, each under an id of its own; one that stands there twice in the same words is one."""
    found: dict[str, ToolCall] = {}
    for id_, name, arguments, state in calls:
        if not isinstance(id_, str) or not id_ or not isinstance(name, str) or not name:
            fail_envelope("a tool call with id and name", id_ if isinstance(name, str) else name)
        call = ToolCall(
            id=read_words(id_, redactor),
            name=read_words(name, redactor),
            arguments=_object(_clean(arguments, redactor)),
            state=read_words(state, redactor),
        )
        before = found.setdefault(call.id, call)
        if not _is_same([before.name, before.arguments], [call.name, call.arguments]):
            raise AnswerError("ambiguous", f"two tool calls have the id {call.id[:40]!r}")
    return tuple(found.values())


def refuse_calls(calls: object) -> None:
    """Refuse a reply that calls a tool though none was offered."""
    if calls:
        raise AnswerError("schema", "the reply calls a tool, and none was offered")


def _clean(value: object, redactor: Redactor, depth: int = 0) -> object:
    if depth > _DEPTH:
        raise AnswerError("schema", f"the arguments of a tool are nested more than {_DEPTH} deep")
    if isinstance(value, str):
        return read_words(value, redactor)
    if isinstance(value, list):
        return [_clean(inner, redactor, depth + 1) for inner in value]
    if isinstance(value, dict):
        return {read_words(k, redactor): _clean(inner, redactor, depth + 1) for k, inner in value.items()}
    return value
