"""What the checks know of a language, read from `languages.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

__all__ = ["Language", "find_language", "known_languages"]


@dataclass(frozen=True, kw_only=True, eq=False)  # one object per code, so it can be a key
class Language:
    """One section of `languages.toml`; a language without one has nothing but its code.

    Args:
        code: such as `de`.
        length: characters that a text takes, relative to English; None where unknown.
        decimal: decimal mark, comma or point.
        day_first: whether a date in words puts the day before the month.
        clock_24: whether times of day are written without a.m. and p.m.
        currency_after: whether the symbol of a currency follows the amount.
        quotes: pairs of opening and closing quotation marks in good use, the first one preferred.
        numbers: number word to value.
        joints: words that stand inside a number in words.
        scales: word that multiplies the number before it, to its power of ten.
        months: name or abbreviation to number.
        weekdays: name to number, Monday 1.
        prefixes: letters that are written together with the word that follows.
        function_words: frequent words that are no name and no loan.
        doubled: words that may stand twice in a row.
        reduplicates: whether the language doubles words to form others.
        currencies: word to code.
        commas: comma, semicolon and question mark, where they are not the Latin ones.
        full_stop: where it is not a point; empty where sentences end without a mark.
        full_width: whether punctuation is full-width.
        inverted_marks: whether questions and exclamations open with an inverted mark.
    """

    code: str
    length: float | None = None
    decimal: str = ""
    day_first: bool = False
    clock_24: bool = False
    currency_after: bool = False
    quotes: tuple[tuple[str, str], ...] = ()
    numbers: Mapping[str, int] = field(default_factory=dict)
    joints: frozenset[str] = frozenset()
    scales: Mapping[str, int] = field(default_factory=dict)
    months: Mapping[str, int] = field(default_factory=dict)
    weekdays: Mapping[str, int] = field(default_factory=dict)
    prefixes: tuple[str, ...] = ()
    function_words: frozenset[str] = frozenset()
    doubled: frozenset[str] = frozenset()
    reduplicates: bool = False
    currencies: Mapping[str, str] = field(default_factory=dict)
    commas: tuple[str, ...] = ()
    full_stop: str = "."
    full_width: bool = False
    inverted_marks: bool = False


def _numbered(text: str) -> dict[str, int]:
    """Read `10 ten tenth, 20 twenty`: a number and its words."""
    rows = (row.split() for row in text.split(","))
    return {word: int(number) for number, *words in rows for word in words}


def _listed(text: str) -> dict[str, int]:
    """Read `january jan, february feb`: words whose place in the list is their number."""
    return {word: place for place, row in enumerate(text.split(","), 1) for word in row.split()}


def _keyed(text: str) -> dict[str, str]:
    """Read `USD dollar dollars, EUR euro`: a code and its words."""
    rows = (row.split() for row in text.split(","))
    return {word: code for code, *words in rows for word in words}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((pair[0], pair[1]) for pair in text.split())


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_READERS: Final = {
    "numbers": _numbered,
    "scales": _numbered,
    "months": _listed,
    "weekdays": _listed,
    "currencies": _keyed,
    "joints": _words,
    "function_words": _words,
    "doubled": _words,
    "quotes": _pairs,
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
