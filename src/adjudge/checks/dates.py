"""Dates, weekdays and times of day that changed, or stand in a form that the target language does not use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Final, NamedTuple

from adjudge.checks.numerals import Keys, Matched, ascii_digits, mark_changed, match
from adjudge.checks.texts import Language, Mark, Texts, Word, uses_latin

Day = tuple[int | None, int | None, int | None]
"""Year, month, day; None where the text leaves it open."""


class _Date(NamedTuple):
    start: int
    end: int
    days: tuple[Day, ...]


_NUMERIC: Final = re.compile(
    r"(?<![\d./-])(?:(?P<y>\d{4})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})"
    r"|(?P<a>\d{1,2})(?P<t>[-/.])(?P<b>\d{1,2})(?P=t)\s?(?P<z>\d{4}|\d{2}))(?![\d/-]|\.\d)"
)
_EAST: Final = re.compile(
    r"(?:(?P<y>\d{4}|\d{2})\s?[年년]\s?)?(?P<m>\d{1,2})\s?[月월]\s?(?:(?P<d>\d{1,2})\s?[日号일])?"
    r"|(?P<only>\d{4})\s?[年년](?!代)"
)


@lru_cache(maxsize=256)
def _in_words(language: Language) -> re.Pattern[str] | None:
    if not language.months:
        return None
    names = "|".join(re.escape(n) for n in sorted(language.months, key=len, reverse=True))
    prefix = f"(?:{'|'.join(language.prefixes)})?" if language.prefixes else ""
    name = rf"(?<!\w){prefix}(?P<{{}}>{names})(?!\w)\.?"
    day, year = r"(?<!\d)(?P<{}>\d{{1,2}})(?:st|nd|rd|th|er|º|°|ª)?", r"(?P<{}>\d{{4}})(?!\d)"
    link = r"(?:\.?\s*(?:of |de |den |d['’])?)"
    return re.compile(
        rf"{day.format('d1')}{link}{name.format('m1')}(?:,?\s+(?:de |of |del )?{year.format('y1')})?"
        rf"|{name.format('m2')}\s+(?:the )?{day.format('d2')}(?!\d|:\d|[.,]\d)(?:,?\s+{year.format('y2')})?"
        rf"|{name.format('m3')},?\s+(?:de |of |del )?{year.format('y3')}",
        re.IGNORECASE,
    )


def _number(text: str | None) -> int | None:
    return None if not text else int(ascii_digits(text))


def _read_dates(text: str, language: Language) -> list[_Date]:
    if not any(map(str.isdecimal, text)):
        return []
    found = [_Date(*m.span(), _numeric_days(m)) for m in _NUMERIC.finditer(text)]
    found = [d for d in found if d.days]
    if language.code in {"zh", "ja", "ko"}:
        found += [
            _Date(*m.span(), ((_number(m["y"] or m["only"]), _number(m["m"]), _number(m["d"])),))
            for m in _EAST.finditer(text)
        ]
    pattern = _in_words(language)
    for m in pattern.finditer(text) if pattern else ():
        name = m["m1"] or m["m2"] or m["m3"]
        year, day = _number(m["y1"] or m["y2"] or m["y3"]), _number(m["d1"] or m["d2"])
        month = language.months.get(name.casefold())
        if month and (day is None or 1 <= day <= 31):
            found.append(_Date(*m.span(), ((year, month, day),)))
    return sorted(found)


def _numeric_days(m: re.Match[str]) -> tuple[Day, ...]:
    if m["y"]:
        orders = [(int(m["y"]), int(m["m"]), int(m["d"]))]
    else:
        year, a, b = int(m["z"]), int(m["a"]), int(m["b"])
        orders = [(year, b, a), (year, a, b)]
    return tuple((y, month, day) for y, month, day in orders if 1 <= month <= 12 and 1 <= day <= 31)


_SAYS: Final = tuple(product((True, False), repeat=3))[:-1]
"""Which of year, month and day a date may say."""


def _keys(date: _Date) -> Keys:
    asked = {
        (says, parts)
        for day in date.days
        for says in _SAYS
        for parts in _parts(day, says, _asked_years(day[0]))
    }
    given = {
        (tuple(part is not None for part in day), parts)
        for day in date.days
        for other in _SAYS
        for parts in _parts(day, other, _given_years(day[0]))
    }
    return asked, given


def _parts(day: Day, says: tuple[bool, ...], years: tuple[object, ...]) -> Iterator[tuple[object, ...]]:
    month, of_month = (part if said else None for part, said in zip(day[1:], says[1:], strict=True))
    for year in years if says[0] else (None,):
        if (year, month, of_month) != (None, None, None):
            yield year, month, of_month


def _given_years(year: int | None) -> tuple[object, ...]:
    return (year,) if year is None or year <= 100 else (year, ("in full", year % 100))


def _asked_years(year: int | None) -> tuple[object, ...]:
    """Forms of a year of which one must be a form of the other."""
    if year is None or year == 100:
        return (year,)
    return (year, year % 100) if year > 100 else (year, ("in full", year))


def match_dates(texts: Texts) -> Matched[_Date]:
    return match(
        _read_dates(texts.source, texts.source_language),
        _read_dates(texts.translation, texts.target_language),
        _keys,
    )


def check_dates(texts: Texts) -> Iterator[Mark]:
    """Find dates that do not agree, and dates in a foreign form."""
    if changed := match_dates(texts).changed:
        runs = _runs(texts.source), _runs(texts.translation)
        yield from mark_changed(
            "date-changed", (pair for pair in changed if not _is_range(*pair, *runs)), texts
        )
    yield from _check_weekdays(texts)
    yield from _check_form(texts)


def _is_range(lost: _Date, added: _Date, source: frozenset[str], translation: frozenset[str]) -> bool:
    return any(
        a[1] == b[1] and a[2] != b[2] and _has(a[2], translation) and _has(b[2], source)
        for a in lost.days
        for b in added.days
    )


def _runs(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\d+", ascii_digits(text)))


def _has(day: int | None, runs: frozenset[str]) -> bool:
    return day is not None and (str(day) in runs or f"0{day}" in runs)


def _weekdays(words: tuple[Word, ...], text: str, language: Language) -> list[tuple[int, int, int]]:
    if language.code in {"zh", "ja", "ko", "th"}:
        found = _weekday_pattern(language).finditer(text)
        return [(m.start(), m.end(), language.weekdays[m[0]]) for m in found]
    named = ((w, w.folded.rstrip("s")) for w in words)
    return [(w.start, w.end, language.weekdays[name]) for w, name in named if name in language.weekdays]


@lru_cache(maxsize=256)
def _weekday_pattern(language: Language) -> re.Pattern[str]:
    return re.compile("|".join(sorted(language.weekdays, key=len, reverse=True)))


def _check_weekdays(texts: Texts) -> Iterator[Mark]:
    if not (texts.source_language.weekdays and texts.target_language.weekdays):
        return
    source = _weekdays(texts.source_words, texts.source, texts.source_language)
    if not source:
        return
    translation = _weekdays(texts.translation_words, texts.translation, texts.target_language)
    wanted, got = {day for *_, day in source}, {day for *_, day in translation}
    if wanted <= got or not translation:
        return
    for start, end, day in translation:
        if day not in wanted:
            yield Mark("weekday-changed", start, end, note="another day in the source")


_ENGLISH_ORDINAL: Final = re.compile(r"(?<!\w)\d{1,3}(?:st|nd|rd|th)(?!\w)")
_SLASHED: Final = re.compile(r"(?<![\d/])\d{1,2}/\d{1,2}/(?:\d{4}|\d{2})(?![\d/])")


def _check_form(texts: Texts) -> Iterator[Mark]:
    target = texts.target_language
    if target.code == "en" or not target.day_first:
        return
    for found in _ENGLISH_ORDINAL.finditer(texts.translation):
        yield Mark("english-ordinal", *found.span(), note=f"not written so in {target.code}")
    if target.code in {"de", "ru", "uk", "cs", "pl", "fi"}:
        for found in _SLASHED.finditer(texts.translation):
            yield Mark("date-format", *found.span(), note=f"not written so in {target.code}")
    for found in _month_first(target).finditer(texts.translation):
        yield Mark("date-format", *found.span(), note=f"{target.code} puts the day before the month")


@lru_cache(maxsize=256)
def _month_first(language: Language) -> re.Pattern[str]:
    names = "|".join(re.escape(n) for n in language.months if len(n) > 2)
    return re.compile(
        rf"(?<!\w)(?<!\d )(?<!\d\. )(?:{names})\s\d{{1,2}}(?:[,،]\s\d{{4}})(?!\w)", re.IGNORECASE
    )


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


def match_times(texts: Texts) -> Matched[_Time]:
    """Compare the times of day of both texts."""
    times = _read_times(texts.source), _read_times(texts.translation)
    return match(*times, lambda time: (time.minutes, time.minutes))


def check_times(texts: Texts) -> Iterator[Mark]:
    """Find times that do not agree, and English halves of the day."""
    yield from mark_changed("time-changed", match_times(texts).changed, texts)
    if texts.target_language.clock_24 or not uses_latin(texts.target_language):
        for found in _ENGLISH_HALF.finditer(texts.translation):
            yield Mark("time-format", *found.span(), note=f"not written so in {texts.target_language.code}")
