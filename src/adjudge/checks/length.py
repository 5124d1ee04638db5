"""Translations much longer or shorter than is usual for the pair."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from adjudge.checks.texts import Mark, Texts, whole

__all__ = ["check_length", "english_length"]

_ADDRESS: Final = re.compile(r"https?://\S+|www\.\S+|(?<!\S)[^\s@]{1,64}@\S+|<[^<>\n]{1,80}>")
_DENSE: Final = 0.6
"""Below this scale a script packs so much into a character that Latin letters among it need their own."""

_LATIN: Final = re.compile(r"[ -~]")
_LEAST: Final = 20.0  # characters of English; shorter texts vary too much
_DEVIATION: Final = 0.14
_NOISE: Final = 0.8
_NOISE_DENSE: Final = 1.5
_MOST: Final = 3.0  # standard deviations


def check_length(texts: Texts) -> Iterator[Mark]:
    """Compare the lengths of both texts, each in characters that it would have in English.

    The logarithm of their ratio spreads by a constant and by noise that falls with the length.
    """
    scales = texts.source_language.length or 0.0, texts.target_language.length or 0.0
    if not min(scales):
        return
    source = english_length(_ADDRESS.sub("", texts.source).strip(), scales[0])
    translation = english_length(_ADDRESS.sub("", texts.translation).strip(), scales[1])
    if min(source, translation) < 1 or max(source, translation) < _LEAST:
        return
    noise = _NOISE_DENSE if min(scales) < _DENSE else _NOISE
    z = math.log(translation / source) / math.hypot(_DEVIATION, noise / math.sqrt(source))
    if z < -_MOST:
        yield Mark("too-short", *whole(texts.source), "source", "the translation is much shorter than usual")
    elif z > _MOST:
        yield Mark("too-long", *whole(texts.translation), note="much longer than usual")


def english_length(text: str, scale: float) -> float:
    """Characters that a text would have in English. Latin ones among others count as they are."""
    if scale >= _DENSE:
        return len(text) / scale
    latin = len(_LATIN.findall(text))
    return latin + (len(text) - latin) / scale
