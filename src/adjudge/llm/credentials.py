"""Keys: where they come from, and that they go nowhere but into the header of a request."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, quote, urlsplit

from adjudge.errors import ModelError, UsageError

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_SECRET_PARAMETER: Final = re.compile(r"key|token|secret|sig|passw|auth", re.IGNORECASE)
_NET: Final = re.compile(
    r"(?i:\bbearer\s+)[^\s\"',;]{6,}"
    r"|(?i:\b(?:api[-_ ]?key|authorization|access[-_ ]?token|secret)[\"']?\s*[:=]\s*[\"']?)"
    r"(?i:bearer\s+|basic\s+)?[^\s\"',;]{6,}"
    r"|\b(?:sk|pk|rk|gsk|xai|hf|nvapi)[-_][A-Za-z0-9_\-]{8,}"
    r"|\bAIza[A-Za-z0-9_\-]{10,}"
    r"|\beyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-.]+"
)
"""What looks like a key of anybody's; a second net under the exact keys."""

_KEY_MARK: Final = "[key]"
"""Stands where a key was."""


_PLACEHOLDER: Final = re.compile(
    r"(?:(?:sk|no|not|none|null|nil|key|api|token|secret|required|needed|necessary|use|used|your|my|here|goes|the|a|an"
    r"|is|test|testing|dummy|fake|mock|example|sample|empty|local|localhost|ollama|vllm|sglang|llama|cpp|lm|studio"
    r"|lmstudio|litellm|openai|anything|something|whatever|placeholder|change|changeme|replace|insert|password|apikey"
    r"|unused|ignored|undefined|default|x+|\*+|\d{1,8}|abc\d*)(?:[-_.<>]+|$))+",
    re.IGNORECASE,
)
"""What people write where a server wants a key and reads none."""
_KEY_LENGTH: Final = 20  # characters of the shortest key that a provider gives out
_GUARDED_LENGTH: Final = 8  # of the shortest that is taken out of errors
_VARIETY: Final = 8  # different characters of a key


def _is_placeholder(key: str) -> bool:
    return len(set(key)) < _VARIETY // 2 or bool(_PLACEHOLDER.fullmatch(key.strip("<>")))


class Redactor:
    """Takes keys out of whatever a server says, before it can reach a store, a trace or a screen.

    What a model wrote is data, so only what can be nothing but a key is taken out of it: 20 characters or
    more, 8 of them different, and no known placeholder. Errors are for people to read: there a key of 8
    characters is enough. Placeholders such as `test`, `EMPTY` or `no-key-required` are words, and stay.
    """

    def __init__(self, keys: Iterable[str] = ()) -> None:
        guarded = [key for key in keys if len(key) >= _GUARDED_LENGTH and not _is_placeholder(key)]
        self._guarded = _forms(guarded)
        self._secret = _forms(key for key in guarded if len(key) >= _KEY_LENGTH and len(set(key)) >= _VARIETY)

    def text(self, text: str) -> str:
        """Take the keys themselves out of what a model said."""
        return _without(text, self._secret)

    def error(self, text: str) -> str:
        """Take out the keys, and whatever looks like one, from an error message."""
        return _NET.sub(_KEY_MARK, _without(text, self._guarded))

    def raw(self, body: bytes) -> bytes:
        """Take the keys out of bytes that are no text."""
        for form in self._guarded:
            body = body.replace(form.encode(), _KEY_MARK.encode())
        return body


def _forms(keys: Iterable[str]) -> tuple[str, ...]:
    forms = {form for key in keys for form in (key, quote(key, safe=""), key.replace("/", r"\/"))}
    return tuple(sorted(forms, key=len, reverse=True))


def _without(text: str, forms: Iterable[str]) -> str:
    for form in forms:
        if form in text:
            text = text.replace(form, _KEY_MARK)
    return text


def read_key(variable: str | None, file: Path | None, *, default: str = "", needed: bool = False) -> str:
    """Read a key from the environment or a file; empty where there is none and none is needed."""
    if variable is not None and file is not None:
        raise UsageError("give --key-env or --key-file, not both")
    if file is not None:
        try:
            return _checked(file.read_text(encoding="utf-8").strip(), "the key file")
        except (OSError, UnicodeDecodeError) as error:
            raise ModelError(f"cannot read the key file {file}: {type(error).__name__}") from error
    if variable is not None and (not _NAME.fullmatch(variable) or _NET.search(variable)):
        raise UsageError("--key-env takes the name of an environment variable, not the key itself")
    name = variable or default
    key = os.environ.get(name, "").strip() if name else ""
    if not key and (variable is not None or needed):
        raise ModelError(f"no key: set the environment variable {name}, or name another with --key-env")
    return _checked(key, f"the key in {name}") if key else ""


_TOGETHER: Final = ({"base-url", "key-env", "key-file"}, {"search", "search-key-env"})
"""Options that are one setting: an address and the keys that were named for it."""


def counting(given: Collection[str], above: Collection[str]) -> set[str]:
    """Return the options of a settings file that count below what the call or another file gives.

    This is the rule of which key goes to which server. A key that is named goes only to the server that is
    named on the same level: by the call, or by the same file. So an address and its keys count together or
    not at all, and a key without an address counts only for the model beside it. Where none is named, the
    provider's own variable counts, for its own address or that of `base-url`, which nobody but the user can
    give: no file counts that the user has neither written nor trusted.
    """
    left = {*given}.difference(above, *(group for group in _TOGETHER if group & {*above}))
    return left if left & {"base-url", "model"} else left - {"key-env", "key-file"}


def _checked(key: str, where: str) -> str:
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ModelError(f"{where} is no key: one word of printable ASCII is wanted")
    return key


def check_address(address: str, version: str = "/v1", *, option: str = "--base-url") -> str:
    try:
        parts = urlsplit(address.strip())
        port = parts.port
    except ValueError as error:
        raise UsageError(f"{option} is no address") from error
    if parts.username or parts.password or "@" in parts.netloc:
        raise UsageError(f"{option} must hold no user name and no password; use {_key_option(option)}")
    if any(_SECRET_PARAMETER.search(name) for name, _ in parse_qsl(parts.query, keep_blank_values=True)):
        raise UsageError(f"{option} must hold no key; use {_key_option(option)}")
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0 or parts.fragment:
        raise UsageError(f"{option} must look like http://localhost:8000/v1, got {address!r}")
    path = parts.path.rstrip("/").removesuffix("/chat/completions") or version
    return parts._replace(path=path).geturl()


def _key_option(option: str) -> str:
    return "--key-env" if option == "--base-url" else f"{option}-key-env"
