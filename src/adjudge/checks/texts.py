"""The two texts that a check looks at, with what several checks need of them worked out once."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from adjudge.checks.languages import Language, find_language
from adjudge.core.annotation import Side
from adjudge.core.language import source_language, target_language

__all__ = ["MARKS", "MOST_LOOKED", "Mark", "Ranges", "Texts", "Word", "letters_of", "whole"]

MOST_LOOKED: Final = 1_000
"""Candidates of one rule in one text that are looked for in the other text; each takes a search."""


class Mark(NamedTuple):
    """What a check found: half-open code-point offsets into one of the two texts.

    Args:
        rule: name in `checks.rules.RULES`.
        start: first code point.
        end: one past the last; always more than `start`.
        side: the text that is marked.
        note: what was wanted, for a person.
    """

    rule: str
    start: int
    end: int
    side: Side = "translation"
    note: str = ""


class Word(NamedTuple):
    """One word, or one character of a script that does not separate words."""

    text: str
    folded: str
    start: int
    end: int


def _ranges_of_marks() -> str:
    r"""Combining marks as the inside of a character class: `\w` leaves out the vowel signs of Hindi."""
    ranges: list[list[int]] = []
    for code in range(0x300, 0x10000):
        if unicodedata.category(chr(code))[0] != "M":
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"\\u{low:04x}-\\u{high:04x}" for low, high in ranges)


MARKS: Final = _ranges_of_marks()

_UNSPACED: Final = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"
    "\u3005\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Thai, Lao, Tibetan, Burmese, Khmer, kana and Han: nothing stands between words."""

_LETTER: Final = rf"(?:(?![{_UNSPACED}])[^\W\d_])"
_WORD: Final = re.compile(rf"[{_UNSPACED}]|{_LETTER}(?:{_LETTER}|[{MARKS}'’\u200c\u200d])*")


@dataclass(frozen=True)
class Texts:
    """Source and translation.

    Args:
        source: text that was translated.
        translation: text that is checked.
        lp: language pair in canonical form.
    """

    source: str
    translation: str
    lp: str

    @cached_property
    def source_language(self) -> Language:
        """What is known of the source language."""
        return _languages(self.lp)[0]

    @cached_property
    def target_language(self) -> Language:
        """What is known of the target language."""
        return _languages(self.lp)[1]

    @cached_property
    def is_within_one_language(self) -> bool:
        """Whether the pair is of two variants of one language, so that a copy may be right."""
        return self.source_language.code == self.target_language.code

    @cached_property
    def source_words(self) -> tuple[Word, ...]:
        """Words of the source in order."""
        return _words(self.source)

    @cached_property
    def translation_words(self) -> tuple[Word, ...]:
        """Words of the translation in order."""
        return _words(self.translation)

    @cached_property
    def source_vocabulary(self) -> frozenset[str]:
        """Casefolded words of the source."""
        return frozenset(w.folded for w in self.source_words)


def _words(text: str) -> tuple[Word, ...]:
    found = ((m[0].rstrip("'’"), m.start()) for m in _WORD.finditer(text))
    return tuple(Word(word, word.casefold(), start, start + len(word)) for word, start in found)


@lru_cache(maxsize=1024)
def _languages(lp: str) -> tuple[Language, Language]:
    source, target = source_language(lp), target_language(lp)
    return find_language(source.split("_")[0]), find_language(target.split("_")[0])


class Ranges:
    """Ranges of a text, of which any number may be asked about."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        """Take ranges in any order; each is its first code point and one past its last."""
        self._lows: list[int] = []
        self._highs: list[int] = []
        for low, high in sorted(spans):
            if self._highs and low <= self._highs[-1]:
                self._highs[-1] = max(high, self._highs[-1])
            else:
                self._lows.append(low)
                self._highs.append(high)

    def touch(self, start: int, end: int) -> bool:
        """Whether a range, which is not empty, shares a code point with one of these."""
        place = bisect_right(self._highs, start)
        return place < len(self._lows) and self._lows[place] < end


def letters_of(text: str) -> int:
    """How many letters a text has, in any script."""
    return sum(map(str.isalpha, text))


def whole(text: str) -> tuple[int, int]:
    """Range of a text without the white space around it."""
    start = len(text) - len(text.lstrip())
    return start, start + len(text.strip())
