"""Telephone numbers that changed, or lost the form that makes them one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from adjudge.checks.matched import Keys, Matched, mark_changed, match
from adjudge.checks.numerals import ascii_digits
from adjudge.checks.texts import Mark, Texts

__all__ = ["check_telephone", "match_telephones"]


_MOST: Final = 100  # numbers without a counterpart that are looked for without their form


class _Telephone(NamedTuple):
    start: int
    end: int
    digits: str


_TELEPHONE: Final = re.compile(
    r"(?<![A-Za-z0-9.,+/-])(?:\+\d[\d ()\u00a0./-]{6,20}\d|\(\d{2,5}\)[ \u00a0]?\d[\d \u00a0-]{4,12}\d"
    r"|00\d{2}[ \u00a0/-]\d[\d \u00a0/-]{5,14}\d|\d{3}[-. \u00a0]\d{3}[-. \u00a0]\d{4}|1-\d{3}-\d{3}-\d{4}"
    r"|0\d{2,4}[/ -](?:\d{5,9}|\d{3}[ -]\d{3,4}))(?![A-Za-z0-9/-])"
)


def _read_telephones(text: str) -> list[_Telephone]:
    return [_Telephone(*m.span(), _digits(m[0])) for m in _TELEPHONE.finditer(text)]


def _digits(text: str) -> str:
    return re.sub(r"[^0-9]", "", ascii_digits(text))


def _keys(telephone: _Telephone) -> Keys:
    """Return the keys of a number. Numbers agree if one, without leading zeros, is the end of the other."""
    whole = telephone.digits.lstrip("0")
    ends = {telephone.digits[start:] for start in range(len(telephone.digits) + 1)}
    asked = {("whole", whole), *(("end", end) for end in ends)}
    return asked, {("end", whole), *(("whole", end) for end in ends)}


def match_telephones(texts: Texts) -> Matched[_Telephone]:
    """Compare the telephone numbers of both texts; a country code may stand on one side only."""
    return match(_read_telephones(texts.source), _read_telephones(texts.translation), _keys)


def check_telephone(texts: Texts) -> Iterator[Mark]:
    """Find telephone numbers that do not agree, and those that lost their plus or their groups."""
    matched = match_telephones(texts)
    yield from mark_changed("telephone-changed", matched.changed, texts)
    for lost in matched.lost[:_MOST]:
        wanted = texts.source[lost.start : lost.end]
        place = _same_digits(lost.digits, texts.translation)
        if place:
            yield Mark("telephone-format", *place, note=f"the source has {wanted}")


def _same_digits(digits: str, text: str) -> tuple[int, int] | None:
    """Where the digits stand without the form of a telephone number."""
    found = re.search(r"[\s().-]{0,3}".join(digits), ascii_digits(text))
    return found.span() if found else None
