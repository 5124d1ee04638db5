"""Words of a text in any script: what a damaged copy exchanges."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Final

from adjudge.core.language import script_of, target_language

__all__ = ["has_spaces", "words_of"]

_WITHOUT_SPACES: Final = frozenset({
    *("Bopo", "Hani", "Hans", "Hant", "Hira", "Jpan", "Kana", "Khmr", "Laoo", "Lana", "Mymr", "Talu", "Thai"),
    "Tibt",
})  # fmt: skip
"""Scripts that put no spaces between words (Unicode Standard Annex 14)."""

_RUN: Final = 2  # characters of what counts as a word there: the commonest length of one in Chinese
_WORD: Final = re.compile(r"\S+")
_JOINER: Final = "\u200d"


@cache
def has_spaces(lp: str) -> bool:
    """Whether the target language of a pair puts spaces between its words."""
    return script_of(target_language(lp)) not in _WITHOUT_SPACES


def words_of(text: str, *, spaced: bool = True) -> list[tuple[int, int]]:
    """Half-open ranges of the words of a text; without spaces, of short runs of visible characters."""
    found = [match.span() for match in _WORD.finditer(text)]
    return found if spaced else [run for start, end in found for run in _runs(text, start, end)]


def _runs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    edges = [at for at in range(start, end) if at == start or not _is_joined(text, at)]
    yield from pairwise([*edges[::_RUN], end])


def _is_joined(text: str, at: int) -> bool:
    """Whether a code point is no character of its own: mark, joined emoji, skin tone, half a flag."""
    char, before = text[at], text[at - 1]
    if unicodedata.category(char).startswith("M") or _JOINER in {char, before}:
        return True
    if "\U0001f3fb" <= char <= "\U0001f3ff" or char == "\u0e33":  # Thai am is written onto what is before it
        return True
    return _is_regional(char) and _is_regional(before) and _regionals_before(text, at) % 2 == 1


def _is_regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _regionals_before(text: str, at: int) -> int:
    count = 0
    while count < at and _is_regional(text[at - 1 - count]):
        count += 1
    return count
