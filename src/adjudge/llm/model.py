"""What a model is to the engine: one request in, one reply out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from adjudge.core.ask import About, Message, Reply, Sampling, Tool

__all__ = ["Model", "NotYetError", "Request", "SchemaUse"]


class NotYetError(Exception):
    """The answer comes later: the question goes out with others; its unit of work is done again then."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """One call.

    Args:
        messages: with quoted texts, before delimiters are put in.
        about: what the call serves; never sent to a remote model.
        schema: JSON schema of the answer, or None.
        sampling: how the reply is drawn.
        sample: which of several replies to the same messages, from 0.
        again: how often this sample was asked for before, because its reply could not be read.
        seed: of sampling, for models that take one.
        mark: the delimiters of quoted texts; see `llm/delimiters.py`.
        key: under which the call is stored.
        tools: that the model may ask for.
    """

    messages: tuple[Message, ...]
    about: About
    schema: Mapping[str, object] | None
    sampling: Sampling
    sample: int = 0
    again: int = 0
    seed: int = 0
    mark: str = ""
    key: bytes = b""
    tools: tuple[Tool, ...] = ()

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
    """What became of the JSON schema with one model.

    Args:
        how: `on`, `off`, `refused` by the server and left out since, or `tried`, where no answer has told.
        why: words of the server that refused it.
    """

    how: Literal["on", "off", "tried", "refused"]
    why: str = ""


class Model(Protocol):
    """A model that can be asked: remote, embedded or replayed."""

    @property
    def name(self) -> str:
        """`provider/model`, as in the signature."""
        ...

    async def reply(self, request: Request) -> Reply:
        """Answer one request.

        Raises:
            AnswerError: this call brought no usable reply, after the retries that its fault allows.
            ServerStopError: no call will bring one: quota, key, or an unknown model.
            NotYetError: it goes out with others.
        """
        ...
