"""Currencies that changed, and symbols on the wrong side of the amount."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from adjudge.checks.languages import Language
from adjudge.checks.texts import Mark, Texts

__all__ = ["check_currency"]

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
    """Whether digits stand beside the mention."""
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
    yield from _check_form(texts)


def _check_form(texts: Texts) -> Iterator[Mark]:
    if texts.target_language.currency_after:
        for found in _BEFORE.finditer(texts.translation):
            yield Mark("currency-format", *found.span(), note="the symbol stands after the amount")
    elif texts.target_language.code == "en":
        for found in _AFTER.finditer(texts.translation):
            yield Mark("currency-format", *found.span(), note="the symbol stands before the amount")
