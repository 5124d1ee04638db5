"""Numbers, telephone numbers and currencies that are missing, changed, added, or in the wrong form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from adjudge.checks.dates import match_dates, match_times
from adjudge.checks.markup import LINK
from adjudge.checks.numerals import (
    Keys,
    Matched,
    Numeral,
    ascii_digits,
    mark_changed,
    match,
    read_numerals,
    spelled_values,
)
from adjudge.checks.texts import Language, Mark, Ranges, Texts

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
    return [
        _Telephone(*m.span(), re.sub(r"[^0-9]", "", ascii_digits(m[0]))) for m in _TELEPHONE.finditer(text)
    ]


def _keys(telephone: _Telephone) -> Keys:
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
        found = re.search(r"[\s().-]{0,3}".join(lost.digits), ascii_digits(texts.translation))
        if found:
            yield Mark("telephone-format", *found.span(), note=f"the source has {wanted}")


_NUMBERS_MOST: Final = 200  # numbers without a counterpart that are looked at
_MOST_RUNS: Final = 4  # of digits, as in a number with spaces
_MOST_SPELLED: Final = 12
"""Numbers up to here are spelled out at will, and left out where a language has a plural instead."""


def check_numbers(texts: Texts) -> Iterator[Mark]:
    """Find numbers that the other text does not have. Dates, times and the like that agree are set aside."""
    dates, times, telephones = match_dates(texts), match_times(texts), match_telephones(texts)
    source = _loose(texts, "source", dates.source + times.source + telephones.source)
    translation = _loose(texts, "translation", dates.translation + times.translation + telephones.translation)
    lost, added = _unmatched(source, translation), _unmatched(translation, source)
    if lost or added:
        lost = _not_spelled(lost, texts, "translation", translation)
        added = _not_spelled(added, texts, "source", source)
        yield from _report(*_unconverted(lost[:_NUMBERS_MOST], added[:_NUMBERS_MOST], texts), texts)
    yield from _check_form(texts, source, translation)


def _loose(texts: Texts, side: str, taken: list[tuple[int, int]]) -> list[Numeral]:
    is_source = side == "source"
    text = texts.source if is_source else texts.translation
    language = texts.source_language if is_source else texts.target_language
    if not any(map(str.isdecimal, text)):
        return []
    set_aside = Ranges([*taken, *(m.span() for m in LINK.finditer(text))])
    return [n for n in read_numerals(text, language) if not set_aside.touch(n.start, n.end)]


def _unmatched(these: list[Numeral], those: list[Numeral]) -> list[Numeral]:
    values = {v for n in those for v in n.values}
    texts = {n.text for n in those}
    return [n for n in these if not (n.values & values) and n.text not in texts]


def _not_spelled(numerals: list[Numeral], texts: Texts, other: str, those: list[Numeral]) -> list[Numeral]:
    """Numerals that do not stand on the other side after all, in words or in digits cut differently."""
    if not numerals:
        return []
    is_source = other == "source"
    text = texts.source if is_source else texts.translation
    words = texts.source_words if is_source else texts.translation_words
    spelled = spelled_values(text, words, texts.source_language if is_source else texts.target_language)
    kept, end = [], 0
    for numeral in those:
        if _is_scaled(numeral):  # its digits mean something else
            kept.append(text[end : numeral.start])
            end = numeral.end
    text = " ".join([*kept, text[end:]])
    joined = _joined(re.findall(r"[0-9]{1,24}", ascii_digits(text)))
    return [
        n
        for n in numerals
        if not (n.values & spelled)
        and (_is_scaled(n) or re.sub(r"[^0-9]", "", ascii_digits(n.text)).lstrip("0") not in joined)
    ]


def _is_scaled(numeral: Numeral) -> bool:
    return any(map(str.isalpha, numeral.text))


def _joined(runs: list[str]) -> frozenset[str]:
    return frozenset(
        "".join(runs[first:last]).lstrip("0")
        for first in range(len(runs))
        for last in range(first + 1, min(first + _MOST_RUNS, len(runs)) + 1)
    )


_FACTORS: Final = (0.4536, 2.54, 0.3048, 1.609, 0.9144, 28.35, 3.785, 0.4047, 0.5)
"""Pound, inch, foot, mile, yard, ounce, gallon, acre in metric units; Chinese pound and mile."""

_OTHER_UNITS: Final = re.compile(
    r"\d\s?['’′\"″]|°\s?F|\b(?:lbs?|pounds?|feet|foot|ft|inch|inches|miles?|mph|yards?|ounces?|oz|gallons?|acres?"
    r"|Fahrenheit|Pfund|Fuß|Zoll|Meilen?)\b|[斤磅]|英尺|英里|英寸|华里|公里"
)


def _unconverted(
    lost: list[Numeral], added: list[Numeral], texts: Texts
) -> tuple[list[Numeral], list[Numeral]]:
    if not (lost and added and (_OTHER_UNITS.search(texts.source) or _OTHER_UNITS.search(texts.translation))):
        return lost, added
    converted = [(s, t) for s in lost for t in added if _is_converted(s, t)]
    given, taken = {s for s, _ in converted}, {t for _, t in converted}
    return [n for n in lost if n not in given], [n for n in added if n not in taken]


def _is_converted(wanted: Numeral, found: Numeral) -> bool:
    pairs = ((a, b) for a in wanted.values for b in found.values)
    return any(
        _is_multiple(float(a), float(b))
        for a, b in pairs
        if isinstance(a, Decimal) and isinstance(b, Decimal)
    )


def _is_multiple(a: float, b: float) -> bool:
    if a <= 0 or b <= 0:
        return False
    near = any(abs(b / a / f - 1) < 0.02 or abs(b / a * f - 1) < 0.02 for f in _FACTORS)
    return near or abs((a - 32) / 1.8 - b) < 0.6


def _report(lost: Sequence[Numeral], added: Sequence[Numeral], texts: Texts) -> Iterator[Mark]:
    lost, alone = list(lost), []
    for found in added:
        if lost:
            wanted = lost.pop(
                min(range(len(lost)), key=lambda place: abs(len(lost[place].text) - len(found.text)))
            )
            yield Mark("number-changed", found.start, found.end, note=f"the source has {wanted.text}")
        else:
            alone.append(found)
    for wanted in lost:
        if not _may_be_spelled(wanted):
            yield Mark("number-lost", wanted.start, wanted.end, "source", "missing in the translation")
    for found in alone:
        if not _may_be_spelled(found) and texts.source_language.numbers:
            yield Mark("number-added", found.start, found.end, note="the source has no such number")


def _may_be_spelled(numeral: Numeral) -> bool:
    """Whether a number is so small or so round that words may stand for it which we do not know."""
    numbers = [v for v in numeral.values if isinstance(v, Decimal)]
    return any(
        v <= _MOST_SPELLED or (v == v.to_integral_value() and len(v.normalize().as_tuple().digits) == 1)
        for v in numbers
    )


_GROUPED: Final = {
    ",": re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])"),
    ".": re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?(?![\d.])"),
}
"""Decimal mark of the target language to how other languages group."""


def _check_form(texts: Texts, source: list[Numeral], translation: list[Numeral]) -> Iterator[Mark]:
    decimal, foreign = texts.target_language.decimal, texts.source_language.decimal or "."
    if not decimal or decimal == foreign:
        return
    kept = {n.text for n in source}
    for number in translation:
        if number.text in kept and _GROUPED[decimal].match(number.text):
            yield Mark("number-format", number.start, number.end, note="separators of the source language")


_DOLLARS: Final = ("USD", "HKD", "AUD", "CAD", "SGD", "TWD", "NZD", "MXN")
"""Every dollar is called a dollar."""

_SYMBOLS: Final = {
    "$": _DOLLARS,
    "€": ("EUR",),
    "£": ("GBP",),
    "¥": ("JPY", "CNY"),
    "\uffe5": ("JPY", "CNY"),
    "₹": ("INR",),
    "₽": ("RUB",),
    "₩": ("KRW",),
    "₪": ("ILS",),
    "₴": ("UAH",),
    "₺": ("TRY",),
    "฿": ("THB",),
}
_CODES: Final = (
    *_DOLLARS,
    *("EUR", "GBP", "JPY", "CNY", "INR", "RUB", "KRW", "ILS", "UAH", "TRY", "THB", "BRL"),
    *("CHF", "CZK", "PLN", "SEK", "DKK", "NOK"),
)
_SYMBOL: Final = re.compile(rf"[{''.join(_SYMBOLS)}]")
_CODE: Final = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(_CODES)})(?![A-Za-z])")
_BEFORE: Final = re.compile(rf"(?:US|A|C|HK)?[{''.join(_SYMBOLS)}][ \u00a0]?\d+(?:[.,]\d+)*")
_AFTER: Final = re.compile(r"(?<![\d.,])\d+(?:[.,]\d+)*[ \u00a0]?[$€£¥\uffe5](?!\s?\d|\w)")


class _Mention(NamedTuple):
    start: int
    end: int
    codes: frozenset[str]
    with_amount: bool


@lru_cache(maxsize=256)
def _word_pattern(language: Language) -> re.Pattern[str] | None:
    if not language.currencies:
        return None
    names = "|".join(re.escape(n) for n in sorted(language.currencies, key=len, reverse=True))
    edge = r"" if language.code in {"zh", "ja", "ko", "th"} else r"(?!\w)"
    start = "" if not edge else r"(?<!\w)"
    return re.compile(rf"{start}(?:{names}){edge}", re.IGNORECASE)


def _mentions(text: str, language: Language) -> list[_Mention]:
    found = [(m, _SYMBOLS[m[0]]) for m in _SYMBOL.finditer(text)]
    found += [(m, (m[0],)) for m in _CODE.finditer(text)]
    pattern = _word_pattern(language)
    for m in pattern.finditer(text) if pattern else ():
        if code := language.currencies.get(m[0].casefold()):
            found.append((m, _DOLLARS if code == "USD" else (code,)))
    return [_Mention(*m.span(), frozenset(codes), _has_amount(text, m)) for m, codes in found]


_AMOUNT_BEFORE: Final = re.compile(r"\d[\d.,]*\s?[^\s\d]{0,12}\s?$")


def _has_amount(text: str, m: re.Match[str]) -> bool:
    after = text[m.end() : m.end() + 2].lstrip()
    return after[:1].isdecimal() or bool(_AMOUNT_BEFORE.search(text[max(0, m.start() - 24) : m.start()]))


def check_currency(texts: Texts) -> Iterator[Mark]:
    """Find amounts in another currency, and symbols on the wrong side."""
    source = _mentions(texts.source, texts.source_language)
    if source and texts.target_language.currencies:
        translation = _mentions(texts.translation, texts.target_language)
        wanted = {code for m in source for code in m.codes}
        got = {code for m in translation for code in m.codes}
        if any(m.with_amount and not (m.codes & got) for m in source):
            for mention in translation:
                if mention.with_amount and not (mention.codes & wanted):
                    yield Mark(
                        "currency-changed", mention.start, mention.end, note="another currency in the source"
                    )
    if texts.target_language.currency_after:
        for found in _BEFORE.finditer(texts.translation):
            yield Mark("currency-format", *found.span(), note="the symbol stands after the amount")
    elif texts.target_language.code == "en":
        for found in _AFTER.finditer(texts.translation):
            yield Mark("currency-format", *found.span(), note="the symbol stands before the amount")
