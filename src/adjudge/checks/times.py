"""Times of day that changed, and a.m. or p.m. in languages that count to 24."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from adjudge.checks.matched import Keys, Matched, mark_changed, match
from adjudge.checks.numerals import ascii_digits
from adjudge.checks.scripts import uses_latin
from adjudge.checks.texts import Mark, Texts

__all__ = ["check_times", "match_times"]


class _Time(NamedTuple):
    start: int
    end: int
    minutes: frozenset[int]


_NOON: Final = 12 * 60
_HALF: Final = r"(?P<half>\s?(?:a\.m\.|p\.m\.|am\b|pm\b|AM\b|PM\b|A\.M\.|P\.M\.))"
_TIME: Final = re.compile(
    r"(?<![\d.,:/-])(?<!\d[:.,] )(?P<h>[01]?\d|2[0-4])(?:"
    rf"[:：](?P<m>[0-5]\d)(?![\d:：]|[.,]\d)(?:\s?Uhr|{_HALF})?"
    rf"|: (?P<m0>[0-5]\d)(?:\s?Uhr|{_HALF.replace('half', 'half0')})"
    rf"|\.(?P<m2>[0-5]\d)(?P<u2>\s?Uhr|{_HALF.replace('half', 'half2')})"
    r"|\s?(?P<u3>Uhr|h|ч|uur|点|點|時|시)(?![A-Za-zа-я])(?:\s?(?P<m3>[0-5]\d)(?!\d)\s?[分분]?|(?P<m4>半))?"
    rf"|{_HALF.replace('half', 'half4')})"
)
_AFTERNOON: Final = re.compile(r"(?:下午|傍晚|晚上|晚|午后|午後|오후|夜)[^\d]{0,2}$")
_ENGLISH_HALF: Final = re.compile(
    r"(?<![\w:.,])\d{1,2}(?:[:.]\d{2})?\s?(?:a\.m\.|p\.m\.|pm|AM|PM|am(?!\s+\w))(?!\w)"
)


def _read_times(text: str) -> list[_Time]:
    if not any(map(str.isdecimal, text)):
        return []
    return [_Time(*m.span(), _minutes(m, text)) for m in _TIME.finditer(text)]


def _minutes(m: re.Match[str], text: str) -> frozenset[int]:
    """Minutes since midnight; both halves of the day where the text does not say which."""
    hour = int(ascii_digits(m["h"]))
    minute = 30 if m["m4"] else int(ascii_digits(m["m"] or m["m0"] or m["m2"] or m["m3"] or "0"))
    half = (m["half"] or m["half0"] or m["half2"] or m["half4"] or "").strip().lower()
    total = 60 * hour + minute
    if half.startswith("p") or _AFTERNOON.search(text[max(0, m.start() - 6) : m.start()]):
        return frozenset({total if hour >= 12 else total + _NOON})
    if half.startswith("a"):
        return frozenset({total - _NOON if hour == 12 else total})
    return frozenset({total, total + _NOON} if hour <= 12 else {total, total - _NOON})


def _keys(time: _Time) -> Keys:
    return time.minutes, time.minutes


def match_times(texts: Texts) -> Matched[_Time]:
    """Compare the times of day of both texts."""
    return match(_read_times(texts.source), _read_times(texts.translation), _keys)


def check_times(texts: Texts) -> Iterator[Mark]:
    """Find times that do not agree, and English halves of the day."""
    yield from mark_changed("time-changed", match_times(texts).changed, texts)
    if texts.target_language.clock_24 or not uses_latin(texts.target_language):
        for found in _ENGLISH_HALF.finditer(texts.translation):
            yield Mark("time-format", *found.span(), note=f"not written so in {texts.target_language.code}")
