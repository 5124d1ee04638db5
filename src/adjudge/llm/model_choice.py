"""Which model is asked: by option, environment or file. Nothing stands in for a model that nobody named."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final
from urllib.parse import urlsplit

from adjudge.core.ask import Reply
from adjudge.core.frozen import frozen
from adjudge.errors import UsageError
from adjudge.llm.credentials import check_address, read_key
from adjudge.llm.limits import Load, load_of
from adjudge.llm.model import Identity, Model, Request, SchemaUse
from adjudge.llm.money import Account, Meter
from adjudge.llm.providers import COMPATIBLE, PROVIDERS, Connection, Endpoint, Provider
from adjudge.llm.remote import RemoteModel, ReplayModel, open_recorded
from adjudge.store.call_file import Attempt
from adjudge.store.settings_files import find_default

EMBEDDED: Final = "builtin/rules"
_REPLAY: Final = "replay:"


@frozen
class OpenModel:
    """A model ready to be asked."""

    identity: Identity  # who it is, for store and signature
    model: Model
    served: str | None = None  # name that its server gives it, where that is another one; `any` for any
    # the model again, where it stands behind a wire and its answers may cost something
    remote: RemoteModel | None = None
    takes_tools: bool = True  # whether it can be offered tools
    billed_as: str = ""  # name that its calls are charged under, where it is not its own

    @property
    def name(self) -> str:
        return self.identity.name

    @property
    def billed(self) -> str:
        """Name that its calls are charged under; what they cost depends on it."""
        return self.billed_as or self.name

    @property
    def schema(self) -> SchemaUse:
        """What became of the JSON schema: `tried` until a server that may refuse it has answered."""
        if self.remote is not None:
            return self.remote.schema
        return SchemaUse("tried" if self.identity.is_tried else "on" if self.identity.constrained else "off")

    async def reply(self, request: Request) -> Reply:
        """Answer one request; see `llm.model.Model`."""
        return await self.model.reply(request)


@frozen
class Models:
    """Whom each role asks."""

    default: OpenModel  # for every role that has no model of its own
    roles: Mapping[str, OpenModel] = field(default_factory=dict)
    search: OpenModel | None = None  # what judges look things up with; None where they cannot

    def for_role(self, role: str) -> OpenModel:
        """The model of a role; that of `accuracy` serves `accuracy.omission` too."""
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
        return (self.default, *self.roles.values())

    @property
    def is_paid(self) -> bool:
        """Whether answers may cost something."""
        return bool(self.paid)

    def observe(
        self, note: Callable[[Attempt], None], depart: Callable[[Attempt], Awaitable[None]] | None = None
    ) -> None:
        """Have every failed attempt written down, and every request before it is sent."""
        for remote in self._remotes:
            remote.observe(note, depart)

    def charge(self, meter: Meter) -> None:
        """Have every attempt counted, and none made that could cross the budget."""
        for opened in self.all:
            if opened.remote is not None:
                opened.remote.charge(Account(opened.billed, meter))

    @property
    def paid(self) -> frozenset[str]:
        """Names of the models whose answers may cost something."""
        return frozenset(model.name for model in self.all if model.remote is not None)

    @property
    def load(self) -> Load:
        remotes = (model.remote for model in self.all if model.remote is not None)
        return load_of(remote.limiter for remote in remotes if remote.limiter is not None)

    @property
    def schemas(self) -> dict[str, str]:
        """What became of the JSON schema, by model; see `SchemaUse`."""
        return {model.name: model.schema.how for model in self.all}

    def leave_schemas(self, used: Mapping[str, str]) -> None:
        """Send no schema to the models whose server has refused it in an earlier session, by name."""
        for model in self.all:
            if model.remote is not None and model.identity.is_tried and used.get(model.name) == "refused":
                model.remote.leave_schema("it did so in an earlier session")

    async def drain(self) -> None:
        """Send nothing more; what is on its way may come back."""
        for remote in self._remotes:
            await remote.drain()

    async def close(self) -> None:
        for remote in self._remotes:
            await remote.close()
        for opened in self._with_search:
            if isinstance(opened.model, ReplayModel):
                opened.model.close()

    @property
    def _with_search(self) -> tuple[OpenModel, ...]:
        return self.all if self.search is None else (*self.all, self.search)

    @property
    def _remotes(self) -> list[RemoteModel]:
        return [opened.remote for opened in self._with_search if opened.remote is not None]


def open_models(names: Sequence[str], connection: Connection) -> Models:
    """Find the models of `--model NAME` and `--model ROLE=NAME`; each opens nothing before it is asked."""
    roles = dict(map(_split, names))
    if len(roles) < len(names):
        raise UsageError(f"--model names one role twice: {', '.join(names)}")
    for role, name in roles.items():
        if not name:
            raise UsageError(f"--model{f' {role}=' if role else ''} names no model; `adjudge list models`")
    default = roles.pop("", None) or chosen_outside()
    if default is None:
        who = "every other role needs" if roles else "a judge needs"
        raise UsageError(
            f"{who} a model: add --model provider/model (`adjudge list models`), or --model NAME with the "
            f"--base-url of a server of your own; --model {EMBEDDED} has fixed rules answer, offline"
        )
    connection.refuse_strangers({default, *roles.values()})
    models = Models(
        default=open_model(default, connection),
        roles={role: open_model(name, connection) for role, name in roles.items()},
    )
    servers = sorted({model.identity.endpoint for model in models.all if model.remote is not None})
    if (connection.key_env or connection.key_file) and connection.base_url is None and len(servers) > 1:
        raise UsageError(f"one key is named for {' and '.join(servers)}: leave --key-env and --key-file out")
    return models


def _split(name: str) -> tuple[str, str]:
    role, separator, model = name.partition("=")
    return (role, model) if separator and "/" not in role and ":" not in role else ("", name)


def chosen_outside() -> str | None:
    """The model that the environment or a settings file names, None if neither does."""
    if name := os.environ.get("ADJUDGE_MODEL"):
        return name
    found, place = find_default("model")
    if found is not None and (not isinstance(found, str) or not found):
        raise UsageError(f"model in {place} must be a name, got {found!r}")
    return found


def open_model(name: str, connection: Connection) -> OpenModel:
    if name == EMBEDDED:
        if connection.effort is not None:
            raise UsageError(f"--effort: {EMBEDDED} is not a language model")
        from adjudge.llm.embedded_rules import RulesModel

        identity = Identity(endpoint="builtin", model="rules", reads_about=True)
        return OpenModel(identity=identity, model=RulesModel(), served="any")
    if name.startswith(_REPLAY):
        place = name.removeprefix(_REPLAY)
        identity, model = open_recorded(place, connection.effort)
        served = "any" if identity.reads_about else connection.served_as
        takes_tools = PROVIDERS.get(identity.endpoint, COMPATIBLE).takes_tools(identity.model)
        return OpenModel(identity=identity, model=model, served=served, takes_tools=takes_tools)
    prefix, _, rest = name.partition("/")
    if prefix in PROVIDERS and rest:
        return _remote(PROVIDERS[prefix], rest, connection)
    if connection.base_url is None:
        known = ", ".join(PROVIDERS)
        raise UsageError(
            f"no model {name!r}: say provider/model with one of {known}; any other server with --base-url"
        )
    return _remote(COMPATIBLE, name, connection)


def _remote(provider: Provider, model: str, connection: Connection) -> OpenModel:
    row, url = provider, provider.base_url
    if connection.base_url is not None:
        version = "/v1" if provider.dialect == "chat" else urlsplit(provider.base_url).path
        url = check_address(connection.base_url, version)
        if provider.name == "openai" and urlsplit(url).hostname != urlsplit(provider.base_url).hostname:
            row = COMPATIBLE  # the dialect of many, and not all of them keep up with OpenAI's own
    key = ""
    if connection.needs_key:
        key = read_key(
            connection.key_env,
            connection.key_file,
            default=provider.key_env,
            needed=provider.needs_key and connection.base_url is None,
        )
    is_tried = connection.json_schema == "auto" and row is COMPATIBLE
    constrained = (
        (row.schema or is_tried) if connection.json_schema == "auto" else connection.json_schema == "on"
    )
    effort = connection.effort
    if effort is not None and not row.takes_effort(model):
        raise UsageError(f"--effort: {provider.name}/{model} has no setting for reasoning effort")
    identity = Identity(
        endpoint=provider.name,
        model=model,
        constrained=constrained,
        is_tried=is_tried,
        seeded=bool(row.seed),
        effort=effort or "",
        room=row.room_for(model, effort),
        most=connection.most_tokens(f"{provider.name}/{model}"),
    )
    remote = RemoteModel(
        Endpoint(
            provider=row,
            url=url,
            model=model,
            key=key,
            constrained=constrained and not (is_tried and connection.in_batches),
            tries_schema=is_tried and not connection.in_batches,
            effort=effort,
            timeout=connection.timeout,
            concurrency=connection.concurrency,
        )
    )
    return OpenModel(
        identity=identity,
        model=remote,
        served=connection.served_as,
        remote=remote,
        takes_tools=row.takes_tools(model),
    )


def describe_models() -> Iterator[tuple[str, str, str, str]]:
    """Model, base URL, key variable and what it is, for every name that can be given."""
    yield EMBEDDED, "", "", "fixed rules in this package, no language model; the floor to beat"
    for row in PROVIDERS.values():
        yield f"{row.name}/MODEL", row.base_url, row.key_env, row.title
    yield "MODEL", "--base-url", "--key-env", COMPATIBLE.title
    yield "replay:RUN", "", "", "the answers that a run or a call store holds, and nothing else"
