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
_LATIN_NAME: Final = re.compile(r"(?<![A-Za-z0-9@#/._-])[A-Z][A-Za-z0-9&'’-]*[A-Za-z0-9](?![A-Za-z0-9@/])")


def check_names(texts: Texts) -> Iterator[Mark]:
    """Find what should stand in the translation letter for letter."""
    if texts.source.isascii() and not any(map(str.isupper, texts.source)):
        return
    squeezed = _squeeze(texts.translation)
    seen: set[str] = set()
    for rule, pattern in _patterns(texts):
        for found in pattern.finditer(texts.source):
            key = _squeeze(found[0])
            if key in seen or not key:
                continue
            seen.add(key)
            if key not in squeezed:
                yield Mark(rule, *found.span(), "source", "missing in the translation")


def _patterns(texts: Texts) -> list[tuple[str, re.Pattern[str]]]:
    """What may be asked for, by the scripts of the pair."""
    patterns = [("code-lost", _CODE)]
    if not uses_latin(texts.source_language) and uses_latin(texts.target_language):
        patterns.append(("latin-name-lost", _LATIN_NAME))
    return patterns


def _squeeze(text: str) -> str:
    return re.sub(r"[^0-9a-z]", "", text.lower())
