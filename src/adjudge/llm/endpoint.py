"""One model on one server, as the wire needs to know it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from adjudge.llm.providers import Effort, Provider
from adjudge.llm.retry import Patience

__all__ = ["Endpoint"]

_MEGABYTE: Final = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One model on one server.

    Args:
        provider: what the server is and can do.
        url: base URL.
        model: name of the model there.
        key: sent in the header and nowhere else.
        constrained: whether the JSON schema is sent.
        tries_schema: whether it is left out once the server refuses it.
        effort: how much the model shall think; None for as much as it does by itself.
        timeout: seconds for one attempt, from connecting to the last byte.
        concurrency: attempts at a time.
        body_cap: bytes of a body that are read at most.
        patience: limits of trying again.
    """

    provider: Provider
    url: str
    model: str
    key: str = field(default="", repr=False)
    constrained: bool = False
    tries_schema: bool = False
    effort: Effort | None = None
    timeout: float = 180.0
    concurrency: int = 20
    body_cap: int = _MEGABYTE
    patience: Patience = field(default_factory=Patience)

    def at(self, path: str) -> str:
        """The address of a path below the base URL, whose query stays."""
        parts = urlsplit(self.url)
        return parts._replace(path=f"{parts.path.rstrip('/')}/{path}").geturl()

    @property
    def limited_as(self) -> tuple[str, str, bytes]:
        """Host, model and digest of the key: who has the same shares one limiter."""
        return urlsplit(self.url).netloc, self.model, hashlib.sha256(self.key.encode()).digest()
