"""Worked examples, a file of JSON lines beside a judge's prompts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from adjudge.core.language import canonical_lp
from adjudge.errors import UsageError

__all__ = ["Example", "read_examples"]

_TEXTS: Final = ("lp", "source", "reference", "translation")
_KEYS: Final = {*_TEXTS, "errors"}
_ERROR_KEYS: Final = {"span", "category", "severity", "side"}


@dataclass(frozen=True, kw_only=True)
class Example:
    """One worked example: texts, and the errors that a good annotator finds.

    Args:
        lp: language pair.
        source: text that was translated.
        reference: a good translation of it.
        translation: the one that is judged.
        errors: in the shape of an answer: span, category, severity, side, and note where there are notes.
    """

    lp: str
    source: str
    reference: str
    translation: str
    errors: tuple[Mapping[str, str], ...]


@lru_cache(maxsize=64)
def read_examples(text: str, notes: str | None, file: str) -> tuple[Example, ...]:
    """Read examples in file order, with an explanation of each error where there are notes.

    Args:
        text: of the file.
        notes: of the file that is called as this one, with `notes` for `examples`.
        file: its name, for errors.

    Raises:
        UsageError: a line is no example, or the notes are not those of the examples.
    """
    lines = enumerate(text.splitlines(), start=1)
    found = [_read_example(line, f"{file} line {number}") for number, line in lines if line.strip()]
    if notes is None:
        return tuple(found)
    explained = [line for line in notes.splitlines() if line.strip()]
    beside = file.replace("examples", "notes")
    if len(explained) != len(found):
        raise UsageError(f"{beside} has {len(explained)} lines, {file} {len(found)} examples")
    return tuple(_explained(*pair, beside) for pair in zip(found, explained, strict=True))


def _explained(example: Example, line: str, file: str) -> Example:
    """An example whose errors have notes."""
    try:
        notes = json.loads(line)
    except ValueError:
        notes = None
    count = len(example.errors)
    if not (isinstance(notes, list) and len(notes) == count and all(isinstance(n, str) for n in notes)):
        wanted = f"a list with the {count} notes of an example"
        raise UsageError(f"a line of {file} must be {wanted}, got {line[:80]!r}")
    errors = ({**error, "note": note} for error, note in zip(example.errors, notes, strict=True))
    return replace(example, errors=tuple(errors))


def _read_example(line: str, where: str) -> Example:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise UsageError(f"{where} must be a JSON object: {error}") from None
    if not isinstance(value, dict) or value.keys() != _KEYS:
        raise UsageError(f"{where} must have {', '.join(sorted(_KEYS))}, got {line[:80]!r}")
    texts, errors = {key: value[key] for key in _TEXTS}, value["errors"]
    if wrong := [key for key, text in texts.items() if not isinstance(text, str)]:
        raise UsageError(f"{where}: {wrong[0]} must be text, got {texts[wrong[0]]!r}")
    if not isinstance(errors, list) or not all(map(_is_error, errors)):
        raise UsageError(
            f"{where}: errors must be a list of objects with the texts {', '.join(sorted(_ERROR_KEYS))}, "
            f"got {json.dumps(errors, ensure_ascii=False)[:80]}"
        )
    try:
        return Example(**{**texts, "lp": canonical_lp(texts["lp"])}, errors=tuple(errors))
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None


def _is_error(value: Any) -> bool:  # noqa: ANN401 (what a file of the user holds)
    return (
        isinstance(value, dict)
        and value.keys() == _ERROR_KEYS
        and all(isinstance(text, str) for text in value.values())
    )
