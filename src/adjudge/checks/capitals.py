"""Sentences that start with a small letter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from adjudge.checks.texts import Mark, Texts

__all__ = ["check_capitals"]

_START: Final = re.compile(r"[\"'“”„«‘]*([^\W\d_]+)")
_AFTER: Final = re.compile(r"([^\W\d_]{3,})[.!?] [\"“„«]?([^\W\d_]{2,})")
_ABBREVIATIONS: Final = frozenset(
    {"etc", "usw", "chr", "bzw", "approx", "corp", "inc", "ltd", "dept", "abs", "bspw", "evtl", "ggf"}
)
_LONE_I: Final = re.compile(r"(?<=\s)i(?=\s|'[a-z])")


def check_capitals(texts: Texts) -> Iterator[Mark]:
    """Find small letters at the start of the text and of its sentences, and a small English I."""
    source = texts.source.strip()
    first = next((c for c in source if c.isalpha()), "")
    found = _START.match(texts.translation)
    if (
        found
        and found[1][0].islower()
        and first
        and not first.islower()
        and not any(map(str.isupper, found[1]))
    ):
        yield Mark("small-letter", found.start(1), found.end(1), note="a sentence starts here")
    if _has_small_starts(texts.source):
        return
    for found in _AFTER.finditer(texts.translation):
        if _is_small_start(found):
            yield Mark("small-letter", *found.span(2), note="a sentence starts here")
    if texts.target_language.code == "en":
        for found in _LONE_I.finditer(texts.translation):
            yield Mark("small-letter", *found.span(), note="I is written with a capital")


def _has_small_starts(text: str) -> bool:
    return any(map(_is_small_start, _AFTER.finditer(text)))


def _is_small_start(found: re.Match[str]) -> bool:
    return found[2].islower() and found[1].casefold() not in _ABBREVIATIONS
