"""What talks to a machine and not to a reader: the forms of `forms.toml`, and padding."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["find_forms", "find_padding", "form_needles"]


class _Form(NamedTuple):
    """One way of writing.

    Args:
        detector: name in `attacks.DETECTORS`.
        needles: in small letters; a text without any of them is not searched.
        pattern: what is searched for.
    """

    detector: str
    needles: tuple[str, ...]
    pattern: re.Pattern[str]


_SAME: Final = re.compile(r"(\S)\1{79,}|[^\S\n]{60,}|\n{48,}")
_STEP: Final = 32
_SAMPLE: Final = 16
"""In every run of 48 lies a sample of 16 that begins at a multiple of 32: few texts are searched for runs."""

_BLOCK: Final = 512
_FEWEST: Final = 0.1
"""Share of different threes of characters below which a block says the same again and again."""


def find_forms(text: str, lowered: str, possible: set[str]) -> Iterator[tuple[str, int, int]]:
    """Detector and place of all that is written so.

    Args:
        text: that is looked at.
        lowered: the same in small letters.
        possible: of `form_needles`, and perhaps others, all that the text holds.
    """
    if possible.isdisjoint(form_needles()):
        return
    for detector, needles, pattern in _forms():
        if any(needle in possible and needle in lowered for needle in needles):
            yield from ((detector, *found.span()) for found in pattern.finditer(text))


@lru_cache(maxsize=1)
def _forms() -> tuple[_Form, ...]:
    table = tomllib.loads(Path(__file__).with_name("forms.toml").read_text(encoding="utf-8"))
    return tuple(
        _Form(detector, tuple(form["needles"]), re.compile(form["pattern"], re.IGNORECASE | re.MULTILINE))
        for detector, forms in table.items()
        for form in forms
    )


@lru_cache(maxsize=1)
def form_needles() -> frozenset[str]:
    """Strings in small letters without any of which no text is written in one of the forms."""
    return frozenset(needle for form in _forms() for needle in form.needles)


def find_padding(text: str) -> Iterator[tuple[str, int, int]]:
    """Detector and place of what says the same again and again, or nothing."""
    for i in range(0, len(text) - _SAMPLE + 1, _STEP):
        if text[i] == text[i + 1] and text[i : i + _SAMPLE] == text[i] * _SAMPLE:
            yield from (("padding", *found.span()) for found in _SAME.finditer(text))
            break
    for start in range(0, len(text) - _BLOCK + 1, _BLOCK):
        block = text[start : start + _BLOCK]
        if len({block[i : i + 3] for i in range(_BLOCK - 2)}) < _FEWEST * _BLOCK:
            yield "padding", start, start + _BLOCK
