"""Servers that can be asked: where they are, which key, which dialect, what they can do.

A row says what its server's documentation said at `checked`. Where a row and a server disagree, the options
`--base-url`, `--key-env` and `--json-schema` say otherwise. A pattern is matched at the start of a name.
`Connection` is what the user says of a server, `Endpoint` one model on one server, as the wire needs to know
it.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from adjudge.core.frozen import frozen
from adjudge.errors import UsageError
from adjudge.llm.faults import Patience

Effort = Literal["low", "medium", "high"]

ROOM: Final[Mapping[Effort, int]] = {"low": 2048, "medium": 8192, "high": 24_576}
"""Tokens for thinking, beside those of the answer: servers count both against one limit."""


@frozen
class Provider:
    """One row."""

    name: str  # the part of a model's name before the slash
    title: str
    checked: str = "2026-11"  # year and month of the documentation read
    dialect: Literal["chat", "anthropic", "gemini"] = "chat"
    base_url: str = ""  # address up to the version; empty where the user must say it
    key_env: str = ""  # environment variable of the key; empty where there is none
    needs_key: bool = True  # whether it answers nobody without
    schema: bool = False  # whether it holds answers to a JSON schema
    max_tokens: str = "max_tokens"  # field for the length of the reply
    seed: str = "seed"  # field for the seed; empty where it takes none
    no_logprobs: str = ""  # pattern of models that give no log-probabilities of their tokens
    alternatives: int = 20  # how many of each token it is asked for at most, with log-probabilities
    no_tools: str = ""  # pattern of models that take no tools
    thinks: str = ""  # pattern of models that think unless told otherwise; they are given room for it
    fixed_temperature: str = ""  # pattern of models that refuse a temperature
    effort: str = ""  # pattern of models that can be told how much to think
    # how they are told: `reasoning_effort`, or tokens in `thinking_budget`
    effort_field: Literal["reasoning_effort", "thinking_budget"] = "reasoning_effort"
    # where in its usage the prompt tokens are counted that the server had kept
    cached: str = "prompt_tokens_details.cached_tokens"
    # field of a message in which thinking must come back with the tool calls that followed it
    state: str = ""
    # how it takes questions in batches; empty where it does not
    batch: Literal["", "openai", "anthropic"] = ""

    def takes_temperature(self, model: str) -> bool:
        return not _matches(self.fixed_temperature, model)

    def takes_tools(self, model: str) -> bool:
        return not _matches(self.no_tools, model)

    def takes_effort(self, model: str) -> bool:
        """Whether the model can be told how much to think."""
        return _matches(self.effort, model)

    def gives_logprobs(self, model: str) -> bool:
        """Whether the model gives log-probabilities of its tokens."""
        return not _matches(self.no_logprobs, model)

    def room_for(self, model: str, effort: Effort | None) -> int:
        """Tokens that the model may think, beside those of its answer."""
        if effort is not None:
            return ROOM[effort]
        return ROOM["medium"] if _matches(self.thinks, model) else 0


def _matches(pattern: str, model: str) -> bool:
    return bool(pattern) and re.match(pattern, model) is not None


_GPT_THINKS: Final = r"o\d|gpt-5(?!.*-chat)"
_CLAUDE_5: Final = r"claude-((opus|sonnet|haiku)-[5-9]|fable|mythos)"
_DEEPSEEK: Final = r"deepseek-(?!chat)"
_OPEN_THINKS: Final = (
    r"(?i:.*(qwq|qwen-?3(?!.*(instruct|embed))|glm-(4\.[5-9]|4\.1v|z1|[5-9])|deepseek-?(r\d|reason|v3\.[1-9]|v[4-9])"
    r"|magistral|gpt-oss|minimax-m\d|kimi-k\d.*think|phi-4.*reason|nemotron|[-_]r1\b|think|reason))"
)
"""Open models that think, whoever serves them."""

COMPATIBLE: Final = Provider(
    name="compatible",
    title="any other OpenAI-compatible server, with --base-url",
    needs_key=False,
    thinks=_OPEN_THINKS,
    effort=".*",
    batch="openai",
)

_ROWS: Final = (
    Provider(
        name="openai",
        title="OpenAI",
        base_url="https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
        schema=True,
        max_tokens="max_completion_tokens",
        thinks=_GPT_THINKS,
        no_logprobs=_GPT_THINKS,
        fixed_temperature=_GPT_THINKS,
        effort=_GPT_THINKS,
        no_tools=r"o1-(mini|preview)|gpt-5.*-chat",
        batch="openai",
    ),
    Provider(
        name="vllm",
        title="vLLM, your own server",
        base_url="http://localhost:8000/v1",
        key_env="VLLM_API_KEY",
        needs_key=False,
        schema=True,
        thinks=_OPEN_THINKS,
        effort=".*",
    ),
    Provider(
        name="sglang",
        title="SGLang, your own server",
        base_url="http://localhost:30000/v1",
        key_env="SGLANG_API_KEY",
        needs_key=False,
        schema=True,
        alternatives=0,  # its log-probabilities are from after the grammar, and it cannot write those of 0
        thinks=_OPEN_THINKS,
        effort=".*",
    ),
    Provider(
        name="llama.cpp",
        title="llama.cpp's llama-server, your own server",
        base_url="http://localhost:8080/v1",
        key_env="LLAMA_API_KEY",
        needs_key=False,
        schema=True,
        thinks=_OPEN_THINKS,
        effort=".*",
    ),
    Provider(
        name="ollama",
        title="Ollama, your own server",
        base_url="http://localhost:11434/v1",
        key_env="OLLAMA_API_KEY",
        needs_key=False,
        schema=True,
        thinks=_OPEN_THINKS,
        effort=".*",
    ),
    Provider(
        name="mistral",
        title="Mistral AI",
        base_url="https://api.mistral.ai/v1",
        key_env="MISTRAL_API_KEY",
        schema=True,
        seed="random_seed",
        no_logprobs=".*",
    ),
    Provider(
        name="deepseek",
        title="DeepSeek",
        base_url="https://api.deepseek.com/v1",
        key_env="DEEPSEEK_API_KEY",
        seed="",
        thinks=_DEEPSEEK,
        no_logprobs=_DEEPSEEK,
        fixed_temperature=_DEEPSEEK,
        effort=_DEEPSEEK,
        cached="prompt_cache_hit_tokens",
        state="reasoning_content",
    ),
    Provider(
        name="qwen",
        title="Alibaba's Qwen (DashScope, international)",
        base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        key_env="DASHSCOPE_API_KEY",
        thinks=_OPEN_THINKS,
        effort=r"qwq|qwen",
        effort_field="thinking_budget",
    ),
    Provider(
        name="glm",
        title="Z.ai's GLM",
        base_url="https://api.z.ai/api/paas/v4",
        key_env="ZAI_API_KEY",
        seed="",
        thinks=_OPEN_THINKS,
        no_logprobs=".*",
    ),
    Provider(
        name="openrouter",
        title="OpenRouter, models of many makers",
        base_url="https://openrouter.ai/api/v1",
        key_env="OPENROUTER_API_KEY",
        thinks=_OPEN_THINKS + r"|openai/(o\d|gpt-5(?!.*-chat))",
        no_logprobs=r"openai/(o\d|gpt-5(?!.*-chat))",
        fixed_temperature=r"openai/(o\d|gpt-5(?!.*-chat))",
        effort=".*",
    ),
    Provider(
        name="anthropic",
        title="Anthropic",
        dialect="anthropic",
        base_url="https://api.anthropic.com/v1",
        key_env="ANTHROPIC_API_KEY",
        schema=True,
        seed="",
        no_logprobs=".*",
        thinks=_CLAUDE_5,
        fixed_temperature=_CLAUDE_5 + r"|claude-opus-4-[7-9]",
        effort=_CLAUDE_5 + r"|claude-(3-7|(opus|sonnet|haiku)-4)",
        cached="cache_read_input_tokens",
        batch="anthropic",
    ),
    Provider(
        name="gemini",
        title="Google's Gemini",
        dialect="gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta",
        key_env="GEMINI_API_KEY",
        schema=True,
        max_tokens="maxOutputTokens",
        no_logprobs=".*",
        thinks=r"gemini-(2\.5-(pro|flash(?!-lite))|[3-9])",
        effort=r"gemini-(2\.5|[3-9])",
        cached="cachedContentTokenCount",
    ),
)

PROVIDERS: Final[Mapping[str, Provider]] = {row.name: row for row in _ROWS}


_MEGABYTE: Final = 1024 * 1024


@frozen
class Endpoint:
    """One model on one server."""

    provider: Provider  # what the server is and can do
    url: str
    model: str
    key: str = field(default="", repr=False)  # sent in the header and nowhere else
    constrained: bool = False  # whether the JSON schema is sent
    tries_schema: bool = False  # whether it is left out once the server refuses it
    effort: Effort | None = None  # how much the model shall think; None for as much as it does by itself
    timeout: float = 180.0  # seconds for one attempt, from connecting to the last byte
    concurrency: int = 20  # attempts at a time
    body_cap: int = _MEGABYTE  # bytes of a body that are read at most
    patience: Patience = field(default_factory=Patience)  # limits of trying again

    def at(self, path: str) -> str:
        """The address of a path below the base URL, whose query stays."""
        parts = urlsplit(self.url)
        return parts._replace(path=f"{parts.path.rstrip('/')}/{path}").geturl()

    @property
    def limited_as(self) -> tuple[str, str, bytes]:
        """Host, model and digest of the key: who has the same shares one limiter."""
        return urlsplit(self.url).netloc, self.model, hashlib.sha256(self.key.encode()).digest()


JsonSchema = Literal["auto", "on", "off"]


@frozen
class Connection:
    """What the user says of the server, beside the model's name."""

    base_url: str | None = None  # address up to `/v1`; None for the provider's own
    key_env: str | None = None  # name of the environment variable with the key; None for the provider's own
    key_file: Path | None = None
    # name that the server gives the model, where that is another one; `any` for any
    served_as: str | None = None
    # whether the server is asked to hold answers to a schema; `auto` where it can
    json_schema: JsonSchema = "auto"
    # how much the model shall think, where it can be told; None for as it does by itself
    effort: Effort | None = None
    # of a reply, thinking included: a number for all models, or `MODEL=NUMBER`; else what the judge asks for,
    # and more where that is too little
    max_tokens: Sequence[str] = ()
    timeout: float = 180.0  # seconds for one attempt, from connecting to the last byte
    concurrency: int = 20  # calls at a time
    needs_key: bool = True  # whether a key must be there; not where nothing is sent
    # whether calls go out in batches, where a refusal of the schema would come a day later
    in_batches: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.timeout < math.inf:
            raise UsageError(f"--timeout must be a number of seconds above 0, got {self.timeout!r}")
        for said in self.max_tokens:
            if not re.fullmatch(r"[1-9]\d{0,7}", said.rpartition("=")[2], re.ASCII):
                raise UsageError(f"--max-tokens must be a number of tokens, or MODEL=NUMBER, got {said!r}")

    def most_tokens(self, model: str) -> int:
        """Tokens that a reply of this model may have, by its name or for all; 0 where nothing was said."""
        said = {name: int(tokens) for name, _, tokens in (each.rpartition("=") for each in self.max_tokens)}
        return said.get(model, said.get(model.partition("/")[2], said.get("", 0)))

    def refuse_strangers(self, names: Collection[str]) -> None:
        """Refuse room for a model that is none of these, with its provider or without."""
        for said in self.max_tokens:
            known = {*names, *(name.partition("/")[2] for name in names)}
            if (name := said.rpartition("=")[0]) and name not in known:
                raise UsageError(f"--max-tokens {said}: no model of this run is called {name}")

    @property
    def given(self) -> tuple[str, ...]:
        """Options that say where a model is and how it is let in, as far as the user gave them."""
        named = ("base_url", "key_env", "key_file", "served_as")
        return tuple(f"--{name.replace('_', '-')}" for name in named if getattr(self, name) is not None)
