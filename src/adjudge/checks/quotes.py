"""Quotation marks without a partner, and those of another language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from adjudge.checks.languages import Language
from adjudge.checks.texts import Mark, Texts

__all__ = ["check_quotes"]

_DOUBLE: Final = '"“”„‟«»「」『』'
_MARK: Final = re.compile(rf"[{_DOUBLE}]")
_INCHES: Final = re.compile(r"\d['’./½]*\s?\"")
_BEFORE_OPENING: Final = frozenset("([{（【—–-/")
_FOREIGN: Final = "“„«»"


def check_quotes(texts: Texts) -> Iterator[Mark]:
    """Find the odd one out of an odd number, and opening marks that the target language does not use."""
    marks = _marks(texts.translation)
    if len(marks) % 2 and len(_marks(texts.source)) % 2 == 0:
        place = _odd_one(texts.translation, marks)
        yield Mark("unpaired-quote", place, place + 1, note="no partner in the translation")
    pattern = _foreign(texts.target_language)
    for found in pattern.finditer(texts.translation) if pattern and marks else ():
        opening, closing = texts.target_language.quotes[0]
        yield Mark("quote-style", *found.span(), note=f"{opening}...{closing} is used here")


def _marks(text: str) -> list[int]:
    """Positions of double quotation marks of any style that are no inches."""
    found = [m.start() for m in _MARK.finditer(text)]
    inches = {m.end() - 1 for m in _INCHES.finditer(text)} if len(found) % 2 else set()
    return [place for place in found if place not in inches]


def _odd_one(text: str, marks: list[int]) -> int:
    """The first mark that breaks the order of opening and closing."""
    waiting: int | None = None
    for place in marks:
        is_opening = place == 0 or text[place - 1].isspace() or text[place - 1] in _BEFORE_OPENING
        if is_opening and waiting is not None:
            return waiting
        if not is_opening and waiting is None:
            return place
        waiting = place if is_opening else None
    return marks[-1] if waiting is None else waiting


@lru_cache(maxsize=256)
def _foreign(language: Language) -> re.Pattern[str] | None:
    """Opening marks that are foreign to a language; none where its own are not known."""
    own = {opening for opening, _ in language.quotes}
    if not own:
        return None
    foreign = "".join(mark for mark in _FOREIGN if mark not in own)
    return re.compile(rf'(?:(?<=[\s(\[])|^)[{foreign}"](?=\w)')
