"""Servers that speak the OpenAI-compatible chat dialect: where they are, which key, what they can do.

A row says what its server's documentation said at `checked`. Where a row and a server disagree, the options
`--base-url`, `--key-env` and `--json-schema` say otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["COMPATIBLE", "PROVIDERS", "Provider"]


@dataclass(frozen=True, kw_only=True)
class Provider:
    """One row.

    Args:
        name: the part of a model's name before the slash.
        title: what it is.
        checked: year and month of the documentation read.
        base_url: address up to the version; empty where the user must say it.
        key_env: environment variable of the key; empty where there is none.
        needs_key: whether it answers nobody without.
        schema: whether it holds answers to a JSON schema.
        max_tokens: field for the length of the reply.
        seed: field for the seed; empty where it takes none.
        logprobs: whether it takes the field and gives token log-probabilities.
        fixed_temperature: pattern of model names that refuse a temperature.
        text_parts: whether content may come as a list of parts.
    """

    name: str
    title: str
    checked: str = "2026-11"
    base_url: str = ""
    key_env: str = ""
    needs_key: bool = True
    schema: bool = False
    max_tokens: str = "max_tokens"
    seed: str = "seed"
    logprobs: bool = True
    fixed_temperature: str = ""
    text_parts: bool = False


COMPATIBLE: Final = Provider(
    name="compatible",
    title="any other OpenAI-compatible server, with --base-url",
    needs_key=False,
)

_ROWS: Final = (
    Provider(
        name="openai",
        title="OpenAI",
        base_url="https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
        schema=True,
        max_tokens="max_completion_tokens",
        fixed_temperature=r"o\d|gpt-5",
    ),
    Provider(
        name="vllm",
        title="vLLM, your own server",
        base_url="http://localhost:8000/v1",
        key_env="VLLM_API_KEY",
        needs_key=False,
        schema=True,
    ),
    Provider(
        name="sglang",
        title="SGLang, your own server",
        base_url="http://localhost:30000/v1",
        key_env="SGLANG_API_KEY",
        needs_key=False,
        schema=True,
    ),
    Provider(
        name="llama.cpp",
        title="llama.cpp's llama-server, your own server",
        base_url="http://localhost:8080/v1",
        key_env="LLAMA_API_KEY",
        needs_key=False,
        schema=True,
    ),
    Provider(
        name="ollama",
        title="Ollama, your own server",
        base_url="http://localhost:11434/v1",
        key_env="OLLAMA_API_KEY",
        needs_key=False,
        schema=True,
    ),
    Provider(
        name="mistral",
        title="Mistral AI",
        base_url="https://api.mistral.ai/v1",
        key_env="MISTRAL_API_KEY",
        schema=True,
        seed="random_seed",
        logprobs=False,
        text_parts=True,
    ),
    Provider(
        name="deepseek",
        title="DeepSeek",
        base_url="https://api.deepseek.com/v1",
        key_env="DEEPSEEK_API_KEY",
        seed="",
    ),
    Provider(
        name="qwen",
        title="Alibaba's Qwen (DashScope, international)",
        base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        key_env="DASHSCOPE_API_KEY",
    ),
    Provider(
        name="glm",
        title="Z.ai's GLM",
        base_url="https://api.z.ai/api/paas/v4",
        key_env="ZAI_API_KEY",
        seed="",
        logprobs=False,
    ),
    Provider(
        name="openrouter",
        title="OpenRouter, models of many makers",
        base_url="https://openrouter.ai/api/v1",
        key_env="OPENROUTER_API_KEY",
    ),
    Provider(
        name="anthropic",
        title="Anthropic, through its compatible endpoint",
        base_url="https://api.anthropic.com/v1",
        key_env="ANTHROPIC_API_KEY",
        seed="",
        logprobs=False,
    ),
    Provider(
        name="gemini",
        title="Google's Gemini, through its compatible endpoint",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        key_env="GEMINI_API_KEY",
        schema=True,
        seed="",
        logprobs=False,
    ),
)

PROVIDERS: Final[Mapping[str, Provider]] = {row.name: row for row in _ROWS}
