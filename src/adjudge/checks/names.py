"""Names, acronyms and codes of the source that the translation should show and does not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from adjudge.checks.scripts import uses_latin
from adjudge.checks.texts import Mark, Texts

__all__ = ["check_names"]

_CODE: Final = re.compile(
    r"(?<![A-Za-z0-9_@#/.[-])(?=[A-Za-z-]*\d)[A-Za-z]+-?\d[A-Za-z0-9-]*(?![A-Za-z0-9_@/])"
)
_LETTERS: Final = re.compile(r"[A-Za-z]+")
_LATIN_NAME: Final = re.compile(r"(?<![A-Za-z0-9@#/._-])[A-Z][A-Za-z0-9&'’-]*[A-Za-z0-9](?![A-Za-z0-9@/])")


def check_names(texts: Texts) -> Iterator[Mark]:
    """Find what should stand in the translation letter for letter."""
    if not any(map(str.isupper, texts.source)):
        return
    shown, seen = _squeeze(texts.translation), _squeeze(texts.source)
    strange = [m for m in _CODE.finditer(texts.translation) if _squeeze(m[0]) not in seen]
    for rule, pattern in _patterns(texts):
        lost = {_squeeze(m[0]): m for m in pattern.finditer(texts.source) if _squeeze(m[0]) not in shown}
        for wanted in lost.values():
            found = next((m for m in strange if rule == "code-lost" and _are_alike(m[0], wanted[0])), None)
            if found:
                strange.remove(found)
                yield Mark("code-changed", *found.span(), note=f"the source has {wanted[0]}")
            else:
                yield Mark(rule, *wanted.span(), "source", "missing in the translation")


def _are_alike(code: str, other: str) -> bool:
    """Whether two codes start with the same letters."""
    return _LETTERS.findall(code)[:1] == _LETTERS.findall(other)[:1]


def _patterns(texts: Texts) -> list[tuple[str, re.Pattern[str]]]:
    """What may be asked for, by the scripts of the pair."""
    patterns = [("code-lost", _CODE)]
    if not uses_latin(texts.source_language) and uses_latin(texts.target_language):
        patterns.append(("latin-name-lost", _LATIN_NAME))
    return patterns


def _squeeze(text: str) -> str:
    return re.sub(r"[^0-9a-z]", "", text.lower())
