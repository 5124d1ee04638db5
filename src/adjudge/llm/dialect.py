"""What differs between families of servers: where a call goes, how it is said, how its answer is read.

Retries, limits, attempts and deadlines know nothing of it; see `llm/remote.py` and `llm/wire.py`.
"""

from __future__ import annotations

from typing import Any, Protocol

from adjudge.core.ask import Reply, Usage
from adjudge.llm.credentials import Redactor
from adjudge.llm.endpoint import Endpoint
from adjudge.llm.model import Request

__all__ = ["Dialect", "open_dialect"]


class Dialect(Protocol):
    """One way of speaking to one endpoint; keeps no state."""

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


def open_dialect(endpoint: Endpoint) -> Dialect:
    """The dialect of an endpoint."""
    if endpoint.provider.dialect == "anthropic":
        from adjudge.llm.anthropic import AnthropicDialect

        return AnthropicDialect(endpoint)
    if endpoint.provider.dialect == "gemini":
        from adjudge.llm.gemini import GeminiDialect

        return GeminiDialect(endpoint)
    from adjudge.llm.openai import ChatDialect

    return ChatDialect(endpoint)
