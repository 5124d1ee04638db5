"""Orders to whoever judges, in several languages: the conditions of `phrases.toml`, sentence by sentence."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["find_orders", "order_needles"]

_SENTENCE: Final = re.compile(r"[^.!?。！？؟।\n]+[!！]?")
_ALPHABET: Final = re.compile(r"[a-zà-ɏа-яёіїєґ]", re.IGNORECASE)
_BEYOND_LATIN: Final = re.compile(r"[^\x00-\u024f]")
_HIGHEST: Final = "\U0010ffff"


class _Condition(NamedTuple):
    """What one kind of order holds.

    Args:
        begins: of each group, how its stems begin, in small letters; quick to look for.
        groups: the stems themselves.
    """

    begins: tuple[tuple[str, ...], ...]
    groups: tuple[tuple[str, ...], ...]


def order_needles() -> Iterable[str]:
    """Beginnings of stems, in small letters, without any of which no text gives an order."""
    return _stems(_HIGHEST)


def find_orders(text: str, lowered: str, possible: set[str]) -> Iterator[tuple[str, int, int]]:
    """Detector and places of the sentences that give orders to a judge.

    Args:
        text: that is looked at.
        lowered: the same in small letters.
        possible: of `order_needles`, and perhaps others, all that the text holds.
    """
    stems = _stems(_alphabet(text))
    held = [stem for stem in possible & stems.keys() if stem in lowered]
    for condition in dict.fromkeys(condition for stem in held for condition in stems[stem]):
        if all(any(stem in lowered for stem in group) for group in condition.begins):
            for sentence in _SENTENCE.finditer(text):
                if all(_compiled(group).search(sentence[0]) for group in condition.groups):
                    yield "instruction", *sentence.span()


def _alphabet(text: str) -> str:
    """Highest character of the writing that a text may be in; most texts need few conditions."""
    if text.isascii():
        return "\x7f"
    return _HIGHEST if _BEYOND_LATIN.search(text) else "\u024f"


@lru_cache(maxsize=3)
def _stems(highest: str) -> Mapping[str, list[_Condition]]:
    """Stems of first groups with their conditions, those that a text without higher characters can meet."""
    table = tomllib.loads(Path(__file__).with_name("phrases.toml").read_text(encoding="utf-8"))
    found: dict[str, list[_Condition]] = {}
    for groups in (groups for kinds in table.values() for groups in kinds.values()):
        possible = [tuple(stem for stem in group if max(stem) <= highest) for group in groups]
        if all(possible):
            begins = tuple(tuple(map(_beginning, group)) for group in possible)
            condition = _Condition(begins, tuple(possible))
            for stem in begins[0]:
                found.setdefault(stem, []).append(condition)
    return found


def _beginning(stem: str) -> str:
    """As much of a regular expression as stands in every match of it."""
    optional = re.match(r"[^\\\[\](){}?*+.|^]*", stem)
    plain = optional[0] if optional else ""
    return plain[:-1] if stem[len(plain) : len(plain) + 1] in {"?", "*"} else plain


@cache
def _compiled(stems: tuple[str, ...]) -> re.Pattern[str]:
    """Any of the stems; one in an alphabet begins a word."""
    starts = (rf"(?<![^\W\d_]){stem}" if _ALPHABET.match(stem) else stem for stem in stems)
    return re.compile("|".join(starts), re.IGNORECASE)
