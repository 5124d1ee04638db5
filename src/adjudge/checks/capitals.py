"""Sentences that start with a small letter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from adjudge.checks.texts import Mark, Texts

__all__ = ["check_capitals"]

_START: Final = re.compile(r"[\"'“”„«‘]*([^\W\d_]+)")
_AFTER: Final = re.compile(r"(?<![^\W\d_])([^\W\d_]{3,40})[.!?] [\"“„«]?([^\W\d_]{2,})")
_LONE_I: Final = re.compile(r"(?<=\s)i(?=\s|'[a-z])")
_ABBREVIATIONS: Final = frozenset(
    {"etc", "usw", "chr", "bzw", "approx", "corp", "inc", "ltd", "dept", "abs", "bspw", "evtl", "ggf"}
)


def check_capitals(texts: Texts) -> Iterator[Mark]:
    """Find small letters at the start of the text and of its sentences, and a small English I."""
    first = _START.match(texts.translation)
    if first and _is_small(first[1]) and not _starts_small(texts.source):
        yield Mark("small-letter", *first.span(1), note="a sentence starts here")
    if any(_has_small_second(found) for found in _AFTER.finditer(texts.source)):
        return
    for found in _AFTER.finditer(texts.translation):
        if _has_small_second(found):
            yield Mark("small-letter", *found.span(2), note="a sentence starts here")
    if texts.target_language.code == "en":
        for found in _LONE_I.finditer(texts.translation):
            yield Mark("small-letter", *found.span(), note="I is written with a capital")


def _starts_small(source: str) -> bool:
    """Whether the first letter of a source is small, or it has none."""
    first = next((char for char in source if char.isalpha()), "")
    return not first or _is_small(first)


def _is_small(word: str) -> bool:
    """Whether a word is in small letters that have capitals; Georgian has none at the start of a sentence."""
    return word.islower() and word[0].title() != word[0]


def _has_small_second(found: re.Match[str]) -> bool:
    return _is_small(found[2]) and found[1].casefold() not in _ABBREVIATIONS
