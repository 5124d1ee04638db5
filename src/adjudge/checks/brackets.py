"""Brackets that are opened and not closed, or closed and not opened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from adjudge.checks.texts import Mark, Texts

__all__ = ["check_brackets"]

_OPENS: Final = dict(zip(")]}】》」』〕", "([{【《「『〔", strict=True))
_CLOSES: Final = {opening: closing for closing, opening in _OPENS.items()}
_ALIKE: Final = str.maketrans("（）［］", "()[]")
"""Chinese texts mix both widths within one pair."""

_LIST_ITEM: Final = re.compile(r"(?:(?<=\s)|^)[\w.]{1,3}\Z")
_SMILEY: Final = re.compile(r"(?<!\w)[:;=][-'^o]?[()]+|\(\^|\^\)|¯\\_")


def check_brackets(texts: Texts) -> Iterator[Mark]:
    """Find unpaired ones of a kind that the source has only in pairs."""
    alone = _unpaired(texts.translation)
    if not alone:
        return
    in_source = {_kind(char) for _, char in _unpaired(texts.source)}
    for place, char in alone:
        if _kind(char) not in in_source:
            yield Mark("unpaired-bracket", place, place + 1, note="no partner in the translation")


def _kind(char: str) -> str:
    return _OPENS.get(char, char)


def _unpaired(text: str) -> list[tuple[int, str]]:
    """Position and character of every bracket without a partner; smileys and list items have none."""
    text = text.translate(_ALIKE)
    smileys = {place for found in _SMILEY.finditer(text) for place in range(*found.span())}
    waiting: dict[str, list[int]] = {opening: [] for opening in _CLOSES}
    alone = []
    for place, char in enumerate(text):
        if place in smileys:
            continue
        if char in _CLOSES:
            waiting[char].append(place)
        elif char in _OPENS:
            if waiting[_OPENS[char]]:
                waiting[_OPENS[char]].pop()
            elif char != ")" or not _LIST_ITEM.search(text[max(0, place - 6) : place]):
                alone.append((place, char))
    return sorted(alone + [(place, char) for char, places in waiting.items() for place in places])
