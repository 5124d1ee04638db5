"""How a model's server is reached: what the user may say of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from adjudge.errors import UsageError
from adjudge.llm.providers import Effort

__all__ = ["Connection", "JsonSchema"]

JsonSchema = Literal["auto", "on", "off"]


@dataclass(frozen=True, kw_only=True)
class Connection:
    """What the user says of the server, beside the model's name.

    Args:
        base_url: address up to `/v1`; None for the provider's own.
        key_env: name of the environment variable with the key; None for the provider's own.
        key_file: file with the key.
        served_as: name that the server gives the model, where that is another one; `any` for any.
        json_schema: whether the server is asked to hold answers to a schema; `auto` where it can.
        effort: how much the model shall think, where it can be told; None for as it does by itself.
        timeout: seconds for one attempt, from connecting to the last byte.
        concurrency: calls at a time.
        needs_key: whether a key must be there; not where nothing is sent.
        in_batches: whether calls go out in batches, where a refusal of the schema would come a day later.

    Raises:
        UsageError: a deadline that never comes.
    """

    base_url: str | None = None
    key_env: str | None = None
    key_file: Path | None = None
    served_as: str | None = None
    json_schema: JsonSchema = "auto"
    effort: Effort | None = None
    timeout: float = 180.0
    concurrency: int = 20
    needs_key: bool = True
    in_batches: bool = False

    def __post_init__(self) -> None:
        """Refuse to wait for ever."""
        if not 0 < self.timeout < math.inf:
            raise UsageError(f"--timeout must be a number of seconds above 0, got {self.timeout!r}")

    @property
    def given(self) -> tuple[str, ...]:
        """Options that say where a model is and how it is let in, as far as the user gave them."""
        named = ("base_url", "key_env", "key_file", "served_as")
        return tuple(f"--{name.replace('_', '-')}" for name in named if getattr(self, name) is not None)
