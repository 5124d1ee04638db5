"""What checks look at: the two texts with their words, what is known of a language, and marks.

Languages are read from `languages.toml`. The check of scripts (`check_scripts`) is here, too.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from adjudge.core.language import script_of, source_language, target_language
from adjudge.core.record import Side


@dataclass(frozen=True, kw_only=True, eq=False)  # one object per code, so it can be a key
class Language:
    """One section of `languages.toml`; a language without one has nothing but its code."""

    code: str  # such as `de`
    length: float | None = None  # characters that a text takes, relative to English; None where unknown
    decimal: str = ""  # decimal mark, comma or point
    day_first: bool = False  # whether a date in words puts the day before the month
    clock_24: bool = False  # whether times of day are written without a.m. and p.m.
    currency_after: bool = False  # whether the symbol of a currency follows the amount
    # pairs of opening and closing quotation marks in good use, the first one preferred
    quotes: tuple[tuple[str, str], ...] = ()
    numbers: Mapping[str, int] = field(default_factory=dict)  # number word to value
    joints: frozenset[str] = frozenset()  # words that stand inside a number in words
    # word that multiplies the number before it, to its power of ten
    scales: Mapping[str, int] = field(default_factory=dict)
    months: Mapping[str, int] = field(default_factory=dict)  # name or abbreviation to number
    weekdays: Mapping[str, int] = field(default_factory=dict)  # name to number, Monday 1
    prefixes: tuple[str, ...] = ()  # letters that are written together with the word that follows
    function_words: frozenset[str] = frozenset()  # frequent words that are no name and no loan
    doubled: frozenset[str] = frozenset()  # words that may stand twice in a row
    reduplicates: bool = False  # whether the language doubles words to form others
    currencies: Mapping[str, str] = field(default_factory=dict)  # word to code
    commas: tuple[str, ...] = ()  # comma, semicolon and question mark, where they are not the Latin ones
    full_stop: str = "."  # where it is not a point; empty where sentences end without a mark
    full_width: bool = False  # whether punctuation is full-width
    inverted_marks: bool = False  # whether questions and exclamations open with an inverted mark


def _numbered(text: str) -> dict[str, int]:
    return {word: int(number) for word, number in _keyed(text).items()}


def _listed(text: str) -> dict[str, int]:
    return {word: place for place, row in enumerate(text.split(","), 1) for word in row.split()}


def _keyed(text: str) -> dict[str, str]:
    rows = (row.split() for row in text.split(","))
    return {word: code for code, *words in rows for word in words}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_READERS: Final[Mapping[str, Callable[[str], object]]] = {
    "numbers": _numbered,
    "scales": _numbered,
    "months": _listed,
    "weekdays": _listed,
    "currencies": _keyed,
    "joints": _words,
    "function_words": _words,
    "doubled": _words,
    "quotes": lambda text: tuple((pair[0], pair[1]) for pair in text.split()),
    "prefixes": _split,
    "commas": _split,
}


@lru_cache(maxsize=1)
def _sections() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("languages.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=256)
def find_language(code: str) -> Language:
    """Look a language up by its code; an unknown one is known by its code alone."""
    section = _sections().get(code, {})
    read: dict[str, Any] = {
        key: _READERS[key](value) if key in _READERS else value for key, value in section.items()
    }
    return Language(code=code, **read)


@lru_cache(maxsize=1)
def known_languages() -> tuple[str, ...]:
    """Codes of all languages that `languages.toml` has."""
    return tuple(_sections())


MOST_LOOKED: Final = 1_000
"""Candidates of one rule in one text that are looked for in the other text; each takes a search."""


class Mark(NamedTuple):
    """What a check found: half-open code-point offsets into one of the two texts."""

    rule: str  # name in `checks.RULES`
    start: int  # first code point
    end: int  # one past the last; always more than `start`
    side: Side = "translation"
    note: str = ""  # what was wanted, for a person


class Word(NamedTuple):
    """One word, or one character of a script that does not separate words."""

    text: str
    folded: str
    start: int
    end: int


def _ranges_of_marks() -> str:
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
    """Source and translation."""

    source: str
    translation: str
    lp: str  # language pair in canonical form

    @cached_property
    def source_language(self) -> Language:
        return _languages(self.lp)[0]

    @cached_property
    def target_language(self) -> Language:
        return _languages(self.lp)[1]

    @cached_property
    def is_within_one_language(self) -> bool:
        """Whether the pair is of two variants of one language, so that a copy may be right."""
        return self.source_language.code == self.target_language.code

    @cached_property
    def source_words(self) -> tuple[Word, ...]:
        """Words of the source in order."""
        return _texts_words(self.source)

    @cached_property
    def translation_words(self) -> tuple[Word, ...]:
        """Words of the translation in order."""
        return _texts_words(self.translation)

    @cached_property
    def source_vocabulary(self) -> frozenset[str]:
        return frozenset(w.folded for w in self.source_words)


def _texts_words(text: str) -> tuple[Word, ...]:
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


_LETTERS: Final[Mapping[str, str]] = {
    "Latn": "A-Za-zªºÀ-ÖØ-öø-ɏḀ-ỿ",
    "Grek": "Ͱ-Ͽἀ-῾",
    "Cyrl": "Ѐ-ԯ",
    "Armn": "Ա-֏",
    "Hebr": "א-ת",
    "Arab": "ء-يٮ-ۓەۮ-ۯۺ-ۿݐ-ݿࢠ-ࣿﭐ-ﷻﹰ-ﻼ",
    "Deva": "ऀ-ॣॲ-ॿ",
    "Beng": "ঀ-ৣ",
    "Guru": "਀-ੴ",
    "Gujr": "ઁ-ૣ",
    "Taml": "ஂ-௣",
    "Telu": "ఀ-ౣ",
    "Knda": "ಀ-ೣ",
    "Mlym": "ഀ-ൣ",
    "Sinh": "ං-ෟ",
    "Thai": "ก-ฺเ-๎",
    "Laoo": "ກ-ໟ",
    "Mymr": "က-ဿ",
    "Geor": "Ⴀ-ჿᲐ-Ჿ",
    "Ethi": "ሀ-ፚ",
    "Khmr": "ក-ៈ",
    "Hang": "ᄀ-ᇿㄱ-ㆎ가-힣",
    "Hira": "ぁ-ゖゝ-ゟ",
    "Kana": "ァ-ヺヽ-ヿㇰ-ㇿｦ-ﾝ",
    "Hani": "々㐀-䶿一-鿿豈-﫿𠀀-𮯯",
}
_PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "Jpan": ("Hani", "Hira", "Kana"),
    "Kore": ("Hang", "Hani"),
    "Hans": ("Hani",),
    "Hant": ("Hani",),
}
_WRITTEN_IN_TWO: Final[Mapping[str, tuple[str, ...]]] = {
    "sr": ("Cyrl", "Latn"),
    "kk": ("Cyrl", "Latn"),
    "uz": ("Cyrl", "Latn"),
    "mn": ("Cyrl",),
    "yue": ("Hani",),
}
_SYMBOLS: Final = frozenset("αβγδεθλμπρστφχψωΔΣΩのª" + "º")
"""Letters that stand alone in any text: mathematics, units, shop signs."""

_LATIN_WORDS: Final = re.compile(r"(?<![a-z])[a-z]{3,40}(?:[ \u00a0-]+[a-z]{2,})+")
_MIXED: Final = re.compile(
    rf"(?<!\w)(?:[{_LETTERS['Latn']}]+[{_LETTERS['Cyrl']}]|[{_LETTERS['Cyrl']}]+[{_LETTERS['Latn']}])\w*"
)


def _scripts_of(language: Language) -> tuple[str, ...]:
    if language.code in _WRITTEN_IN_TWO:
        return _WRITTEN_IN_TWO[language.code]
    script = script_of(language.code)
    return _PARTS.get(script, (script,) if script in _LETTERS else ())


def uses_latin(language: Language) -> bool:
    """Whether a language is written in Latin letters."""
    return "Latn" in _scripts_of(language)


@lru_cache(maxsize=256)
def _foreign(scripts: tuple[str, ...]) -> re.Pattern[str]:
    letters = "".join(chars for name, chars in _LETTERS.items() if name not in {*scripts, "Latn"})
    return re.compile(rf"[{letters}](?:[{letters}{MARKS}]|\s(?=[{letters}]))*")


@lru_cache(maxsize=256)
def _own(scripts: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(f"[{''.join(_LETTERS[name] for name in scripts)}]")


def check_scripts(texts: Texts) -> Iterator[Mark]:
    """Find runs in a foreign script, and words of two scripts that look like one."""
    own = _scripts_of(texts.target_language)
    if not own:
        return
    if not texts.translation.isascii():
        for found in islice(_foreign(own).finditer(texts.translation), MOST_LOOKED):
            if mark := _foreign_run(texts, found):
                yield mark
        for found in islice(_MIXED.finditer(texts.translation), MOST_LOOKED):
            if found[0] not in texts.source:
                yield Mark("mixed-script-word", *found.span(), note="letters of two scripts in one word")
    if "Latn" not in own:
        yield from _latin_runs(texts)


def _foreign_run(texts: Texts, found: re.Match[str]) -> Mark | None:
    run = found[0]
    if len(run) == 1 and run in _SYMBOLS:
        return None
    if run not in texts.source:
        return Mark("foreign-script", *found.span(), note=f"not written so in {texts.target_language.code}")
    source_scripts = _scripts_of(texts.source_language)
    if not source_scripts or not _own(source_scripts).match(run) or _is_gloss(texts.translation, found):
        return None  # foreign to the source as well, or the original given in brackets
    return Mark("source-script-left", *found.span(), note="left as it stands in the source")


def _is_gloss(text: str, found: re.Match[str]) -> bool:
    return (
        text[max(0, found.start() - 4) : found.start()].rstrip("\"'“”‘’《「 ").endswith(("(", "（", "["))
        and letters_of(found[0]) <= 8
    )


def _latin_runs(texts: Texts) -> Iterator[Mark]:
    """Several plain Latin words in a row, in a language that does not use Latin letters."""
    source = texts.source.casefold()
    for found in islice(_LATIN_WORDS.finditer(texts.translation), MOST_LOOKED):
        before = texts.translation[max(0, found.start() - 1) : found.start()]
        if before.isalnum() and before.isascii():
            continue  # the end of a name such as iPhone
        rule = "source-script-left" if found[0] in source else "foreign-script"
        yield Mark(rule, *found.span(), note=f"not written so in {texts.target_language.code}")
