"""Which model is asked: by option, environment, file, or else the embedded rules."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from adjudge.core.ask import Reply
from adjudge.errors import UsageError
from adjudge.llm.connection import Connection
from adjudge.llm.identity import Identity
from adjudge.llm.model import Model, Request

__all__ = ["EMBEDDED", "Models", "OpenModel"]

EMBEDDED: Final = "builtin/rules"


@dataclass(frozen=True, kw_only=True)
class OpenModel:
    """A model ready to be asked.

    Args:
        identity: who it is, for store and signature.
        model: what answers.
        served: name that its server gives it, where that is another one; `any` for any.
        is_paid: whether its answers may cost something.
    """

    identity: Identity
    model: Model
    served: str | None = None
    is_paid: bool = False

    @property
    def name(self) -> str:
        """`provider/model`."""
        return self.identity.name

    async def reply(self, request: Request) -> Reply:
        """Answer one request; see `llm.model.Model`."""
        return await self.model.reply(request)

    async def drain(self) -> None:
        """Send nothing more."""

    async def close(self) -> None:
        """Let connections go."""


@dataclass(frozen=True, kw_only=True)
class Models:
    """Whom each role asks.

    Args:
        default: for every role that has no model of its own.
        roles: role, or the part of it before a dot, to its model.
    """

    default: OpenModel
    roles: Mapping[str, OpenModel] = field(default_factory=dict)

    def for_role(self, role: str) -> OpenModel:
        """The model of a role; `accuracy` serves `accuracy.omission` too."""
        while role and self.roles:
            if role in self.roles:
                return self.roles[role]
            role = role.rpartition(".")[0]
        return self.default

    @property
    def name(self) -> str:
        """All of them, as in the signature."""
        parts = [self.default.name, *(f"{role}={model.name}" for role, model in sorted(self.roles.items()))]
        return ";".join(parts)

    @property
    def all(self) -> tuple[OpenModel, ...]:
        """Every model once."""
        return tuple({id(model): model for model in (self.default, *self.roles.values())}.values())

    @property
    def is_paid(self) -> bool:
        """Whether answers may cost something."""
        return any(model.is_paid for model in self.all)

    async def drain(self) -> None:
        """Send nothing more."""
        for model in self.all:
            await model.drain()

    async def close(self) -> None:
        """Let connections go."""
        for model in self.all:
            await model.close()


def open_model(name: str, connection: Connection) -> OpenModel:
    """Open a model by its name.

    Raises:
        UsageError: no provider of that name.
    """
    if name == EMBEDDED:
        return _embedded()
    raise UsageError(f"no model {name!r}")


def _embedded() -> OpenModel:
    from adjudge.llm.rules import RulesModel

    identity = Identity(endpoint="builtin", model="rules", reads_about=True)
    return OpenModel(identity=identity, model=RulesModel(), served="any")


def choose_model() -> str | None:
    """The model that environment or working folder name, None if neither does.

    Raises:
        UsageError: `adjudge.toml` cannot be read.
    """
    if name := os.environ.get("ADJUDGE_MODEL"):
        return name
    file = Path("adjudge.toml")
    if not file.is_file():
        return None
    try:
        name = tomllib.loads(file.read_text(encoding="utf-8")).get("model")
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"cannot read adjudge.toml: {error}") from error
    if name is not None and not isinstance(name, str):
        raise UsageError(f"model in adjudge.toml must be a text, got {name!r}")
    return name


def open_models(names: Sequence[str], connection: Connection) -> Models:
    """Open the models of `--model NAME` and `--model ROLE=NAME`.

    Raises:
        UsageError: two models without a role, or an unknown one.
    """
    roles = dict(_split(name) for name in names)
    if len(roles) < len(names):
        raise UsageError(f"--model names one role twice: {', '.join(names)}")
    default = roles.pop("", None) or choose_model() or EMBEDDED
    return Models(
        default=open_model(default, connection),
        roles={r: open_model(n, connection) for r, n in roles.items()},
    )


def _split(name: str) -> tuple[str, str]:
    role, separator, model = name.partition("=")
    return (role, model) if separator and "/" not in role and ":" not in role else ("", name)
