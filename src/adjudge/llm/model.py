"""What a model is to the engine: one request in, one reply out.

`call_key` says when two calls are the same call: it is the key of the call store. `render_message` writes a
message out, with judged text as data between delimiters that the text cannot know.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, Protocol

import orjson

from adjudge.core.ask import About, Message, Quoted, Reply, Sampling, Tool
from adjudge.core.frozen import frozen
from adjudge.core.segment import Segment
from adjudge.llm.providers import COMPATIBLE, PROVIDERS
from adjudge.store.call_file import StoredRequest, message_to_json, tools_to_json

GROWING: Final = (8192, 16_384, 32_768)
"""Tokens for thinking, beside those of the answer, of a model whose replies are cut; one after the other."""


class NotYetError(Exception):
    """The answer comes later: the question goes out with others; its unit of work is done again then."""


@frozen
class Request:
    """One call."""

    messages: tuple[Message, ...]  # with quoted texts, before delimiters are put in
    about: About  # what the call serves; never sent to a remote model
    schema: Mapping[str, object] | None  # JSON schema of the answer, or None
    sampling: Sampling  # how the reply is drawn
    sample: int = 0  # which of several replies to the same messages, from 0
    again: int = 0  # how often this sample was asked for before, because its reply could not be read
    seed: int = 0  # of sampling, for models that take one
    mark: str = ""  # the delimiters of quoted texts; see `llm/model.py`
    key: bytes = b""  # under which the call is stored
    tools: tuple[Tool, ...] = ()  # that the model may ask for
    alternatives: int = 20  # how many of each token are asked for with log-probabilities; no part of the key

    def __post_init__(self) -> None:
        for message in self.messages:
            if not isinstance(message, Message):
                raise TypeError(f"a question is a list of Message, got {message!r:.80}")
            parts: object = message.parts
            if not isinstance(parts, tuple) or not all(isinstance(part, str | Quoted) for part in parts):
                raise TypeError(f"a Message has a tuple of texts and Quoted, got {parts!r:.80}")

    def but(self, **changes: object) -> Request:
        """The same request with some fields changed; `dataclasses.replace` takes four times as long."""
        changed = object.__new__(Request)
        changed.__dict__.update(self.__dict__, **changes)
        return changed

    @property
    def draw(self) -> int:
        """The seed of just this reply, for models that take one."""
        return self.seed + self.sample + 1000 * self.again


@dataclass(frozen=True)
class SchemaUse:
    """What became of the JSON schema with one model."""

    # `on`, `off`, `refused` by the server and left out since, or `tried`, where no answer has told
    how: Literal["on", "off", "tried", "refused"]
    why: str = ""  # words of the server that refused it


class Model(Protocol):
    """A model that can be asked: remote, embedded or replayed."""

    @property
    def name(self) -> str:
        """`provider/model`, as in the signature."""

    async def reply(self, request: Request) -> Reply:
        """Answer one request."""


@frozen
class Identity:
    """Who is asked."""

    endpoint: str  # alias of the server, such as `openai`; never an address with credentials
    model: str
    constrained: bool = False  # whether a JSON schema reaches it
    # whether the schema is left out where the server refuses it. Answers to such questions have keys of their
    # own, the same with and without the schema, so that a run finds them again whatever the server does by
    # then, and nobody who insists on a schema gets one of them.
    is_tried: bool = False
    seeded: bool = False  # whether a seed reaches it
    reads_about: bool = False  # whether it answers by `Request.about`, as the embedded model does
    effort: str = ""  # how much it was told to think; empty for as much as it does by itself
    room: int = 0  # tokens that it may think beside those of its answer
    # tokens of a reply in all, if the user has said so; 0 for what is asked for, and more if needed
    most: int = 0

    def takes_seed(self, request: Request) -> bool:
        """Whether the seed makes a difference: it is sent, and the reply is drawn at random."""
        return self.seeded and request.sampling.temperature > 0

    @property
    def name(self) -> str:
        """`provider/model`, as in the signature."""
        return self.model if self.endpoint == COMPATIBLE.name else f"{self.endpoint}/{self.model}"

    def to_json(self) -> dict[str, Any]:
        """As the store keeps it."""
        return {
            "endpoint": self.endpoint,
            "model": self.model,
            "constrained": self.constrained,
            "seeded": self.seeded,
            "reads_about": self.reads_about,
            **({"effort": self.effort, "room": self.room} if self.effort or self.room else {}),
            **({"most": self.most} if self.most else {}),
            **({"is_tried": True} if self.is_tried else {}),
        }

    @property
    def gives_logprobs(self) -> bool:
        """Whether it is not known to give none."""
        return PROVIDERS.get(self.endpoint, COMPATIBLE).gives_logprobs(self.model)

    def limits(self, answer: int) -> tuple[int, ...]:
        """Tokens that a reply may have, thinking included: at first, and whenever it was cut.

        `answer`: tokens of the reply without thinking.
        """
        if self.most:
            return (self.most,)
        first = answer + self.room
        return (first, *(answer + room for room in GROWING if room > self.room))


def question_digest(identity: Identity, request: Request) -> bytes:
    """Digest of what is asked of whom, whatever the sampling; it is the dear part of a key.

    SHA-256 of the JSON list of endpoint, model, messages, schema and facts, with effort and tools where there
    are any. What the messages begin with comes again and again, so that its part of the digest is kept.
    """
    before, rest = request.messages[:-1], request.messages[-1:]
    if (begun := _begins.get(_name(identity, before))) is None:
        before, rest = _split(request.messages)
        begun = before, _begun(identity, before)
    digest = begun[1].copy()
    digest.update(b",".join([_json(message_to_json(message)) for message in rest]))
    more: list[object] = [_schema(identity, request), None]
    if identity.reads_about:
        about = request.about
        more[1] = [about.judge, about.stage, about.role, about.wants, _plain(about.facts)]
    if identity.effort or request.tools:
        more += [identity.effort, tools_to_json(request.tools)]
    digest.update(b"]," + _json(more)[1:])
    return digest.digest()


def _schema(identity: Identity, request: Request) -> object:
    if not identity.constrained or request.schema is None:
        return None
    return {"tried": request.schema} if identity.is_tried else request.schema


def _split(messages: tuple[Message, ...]) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    for place, message in enumerate(messages[:-1]):
        if message.calls or len(message.parts) != 1 or not isinstance(message.parts[0], str):
            return messages[:place], messages[place:]
    return messages[:-1], messages[-1:]


_KEPT: Final = 64
_begins: Final[dict[tuple[object, ...], tuple[tuple[Message, ...], hashlib._Hash]]] = {}


def _begun(identity: Identity, first: tuple[Message, ...]) -> hashlib._Hash:
    """The digest up to these messages.

    It is kept under the identities of the objects, which costs less than to compare them; as long as it is
    kept the objects are too, so that no other can have their identities.
    """
    key = _name(identity, first)
    if (kept := _begins.get(key)) is not None:
        return kept[1]
    digest = hashlib.sha256(_json([identity.endpoint, identity.model])[:-1] + b",[")
    for message in first:
        digest.update(_json(message_to_json(message)) + b",")
    if len(_begins) >= _KEPT:
        _begins.clear()
    _begins[key] = first, digest
    return digest


def _name(identity: Identity, first: tuple[Message, ...]) -> tuple[object, ...]:
    return (identity.endpoint, identity.model, *map(id, first))


def _json(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def call_key(identity: Identity, request: Request, question: bytes | None = None) -> bytes:
    """Key of a call, 32 bytes."""
    question = question_digest(identity, request) if question is None else question
    s = request.sampling
    seed = request.seed if identity.takes_seed(request) else None
    drawn = [s.temperature, s.max_tokens, bool(s.logprobs), seed, request.sample, request.again, *s.stop]
    return hashlib.sha256(question + orjson.dumps(drawn)).digest()


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        inner = [_plain(v) for v in value]
        return inner if isinstance(value, list | tuple) else sorted(map(repr, inner))
    return value if isinstance(value, str | int | float | None) else repr(value)


def stored_request(identity: Identity, request: Request, *, is_held: bool = True) -> StoredRequest:
    """What the store keeps of a request; `is_held`: the server did not refuse its schema."""
    return StoredRequest(
        model=identity.to_json(),
        messages=request.messages,
        sampling=request.sampling,
        schema=request.schema if identity.constrained and is_held else None,
        sample=(request.sample, request.again),
        tools=request.tools,
    )


def mark_of(segment: Segment, secret: bytes) -> str:
    """Sixteen hexadecimal digits for the delimiters of a segment."""
    return _mark(secret, segment.lp, segment.segment, segment.source)


@lru_cache(maxsize=256)
def _mark(secret: bytes, *named: str) -> str:
    return hmac.digest(secret, json.dumps(named).encode(), "sha256").hex()[:16]


def render_message(message: Message, mark: str) -> str:
    """Write one message out; our words as they are, quoted texts between delimiters."""
    parts = message.parts
    if len(parts) == 1 and isinstance(parts[0], str):
        return parts[0]
    return "".join([part if isinstance(part, str) else part.render(mark) for part in parts])
