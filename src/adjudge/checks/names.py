"""Names, acronyms and codes of the source that the translation should show and does not."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator
from itertools import islice
from typing import Final

from adjudge.checks.scripts import uses_latin
from adjudge.checks.texts import MOST_LOOKED, Mark, Texts

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
    strange: dict[str, deque[re.Match[str]]] = defaultdict(deque)
    for m in islice(_CODE.finditer(texts.translation), MOST_LOOKED):
        if _squeeze(m[0]) not in seen:
            strange[_letters(m[0])].append(m)
    for rule, pattern in _patterns(texts):
        there = islice(pattern.finditer(texts.source), MOST_LOOKED)
        lost = {_squeeze(m[0]): m for m in there if _squeeze(m[0]) not in shown}
        for wanted in lost.values():
            alike = strange[_letters(wanted[0])] if rule == "code-lost" else None
            if alike:
                yield Mark("code-changed", *alike.popleft().span(), note=f"the source has {wanted[0]}")
            else:
                yield Mark(rule, *wanted.span(), "source", "missing in the translation")


def _letters(code: str) -> str:
    """The letters that a code starts with."""
    found = _LETTERS.match(code)
    return found[0] if found else ""


def _patterns(texts: Texts) -> list[tuple[str, re.Pattern[str]]]:
    """What may be asked for, by the scripts of the pair."""
    patterns = [("code-lost", _CODE)]
    if not uses_latin(texts.source_language) and uses_latin(texts.target_language):
        patterns.append(("latin-name-lost", _LATIN_NAME))
    return patterns


def _squeeze(text: str) -> str:
    return re.sub(r"[^0-9a-z]", "", text.lower())
