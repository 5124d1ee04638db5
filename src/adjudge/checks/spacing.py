"""White space that the source does not have: at the ends, or twice in a row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from adjudge.checks.texts import Mark, Texts

__all__ = ["check_spacing"]

_START: Final = re.compile(r"\s+\S+")
_END: Final = re.compile(r"\S+\s+\Z")
_DOUBLE: Final = re.compile(r"(?<=\S)[ \u00a0]{2,}(?=\S)")


def check_spacing(texts: Texts) -> Iterator[Mark]:
    """Find white space at the ends, marked with the word that it touches, and doubled spaces."""
    text, source = texts.translation, texts.source
    if (found := _START.match(text)) and not source[:1].isspace():
        yield Mark("space-at-start", *found.span(), note="the source starts without")
    if text[-1:].isspace() and not source[-1:].isspace() and (found := _END.search(text, _last_word(text))):
        yield Mark("space-at-end", *found.span(), note="the source ends without")
    if not _DOUBLE.search(source):
        for found in _DOUBLE.finditer(text):
            yield Mark("doubled-space", *found.span(), note="one space is enough")


def _last_word(text: str) -> int:
    """Start of the last word."""
    words = text.rsplit(maxsplit=1)
    return len(text.rstrip()) - len(words[-1]) if words else 0
