"""What differs between families of servers: where a call goes, how it is said, how its answer is read.

Retries, limits, attempts and deadlines know nothing of it; see `llm/remote.py` and `llm/wire.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, Protocol

from adjudge.core.ask import Message, Reply, Usage
from adjudge.llm.credentials import Redactor
from adjudge.llm.endpoint import Endpoint
from adjudge.llm.model import Request

__all__ = ["Dialect", "open_dialect", "render_turns"]


class Dialect(Protocol):
    """One way of speaking to one endpoint; keeps no state."""

    @property
    def method(self) -> Literal["GET", "POST"]:
        """How a request goes out: as a body, or in the address."""
        ...

    @property
    def words(self) -> frozenset[str]:
        """Keys of a body that decide what it says; one of them twice, with two values, makes it ambiguous."""
        ...

    @property
    def address(self) -> str:
        """Where calls go."""
        ...

    def headers(self) -> dict[str, str]:
        """What this dialect adds to the headers; the key is there and nowhere else."""
        ...

    def payload(self, request: Request) -> dict[str, Any]:
        """The body of a request: what the model sees, and nothing of what the call is about."""
        ...

    def read(self, value: object, request: Request, redactor: Redactor) -> Reply:
        """Read the reply out of a body, strictly.

        Raises:
            AnswerError: it is none.
        """
        ...

    def usage(self, value: object) -> Usage:
        """Tokens that a body counts, whatever else is wrong with it."""
        ...


def render_turns(
    request: Request, say: Callable[[Message, str], Iterable[dict[str, Any]]], *, speaker: str, field: str
) -> list[dict[str, Any]]:
    """All but the system's words, in turns; the results of all tools asked for at once are one turn.

    Args:
        request: what is asked.
        say: writes one message, with its delimiters, in the pieces of a dialect.
        speaker: role of the model in the dialect; whoever asks is `user`.
        field: of a turn, under which its pieces stand.
    """
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


def open_dialect(endpoint: Endpoint) -> Dialect:
    """The dialect of an endpoint."""
    if endpoint.provider.dialect == "anthropic":
        from adjudge.llm.anthropic import AnthropicDialect

        return AnthropicDialect(endpoint)
    if endpoint.provider.dialect == "gemini":
        from adjudge.llm.gemini import GeminiDialect

        return GeminiDialect(endpoint)
    if endpoint.provider.dialect == "search":
        from adjudge.llm.search_dialects import SearchDialect

        return SearchDialect(endpoint)
    from adjudge.llm.openai import ChatDialect

    return ChatDialect(endpoint)
