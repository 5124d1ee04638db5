"""Numbers as texts write them, and the matching of what two texts mention.

Digits of any script, separators of any locale, number words, scales. Reading is generous: a numeral keeps
every value that some locale gives it (`1,234` is 1234 and 1.234), because a check that compares them must
not alarm where a reader would not. `match` compares mentions of one kind, such as dates, times and
telephone numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from functools import lru_cache
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from adjudge.checks.texts import Language, Mark, Texts, Word

_MOST_DIGITS: Final = 24
"""Longer runs are codes, compared as they stand."""

_MOST_POWER: Final = 24  # of ten
_DIGITS: Final = (
    r"\d{1,3}(?:[\u00a0\u202f\u2009 ]\d{3})+(?!\d)(?:[.,]\d+)?"
    r"|\d+(?:[.,٫٬]\d+|['’]\d{3}(?!\d))*"
)
_JOINED: Final = frozenset({"zh", "ja", "ko", "th"})
"""Languages that write a number and its scale words together."""

_TENTHS: Final = frozenset("成折")


Value = Decimal | str


class Numeral(NamedTuple):
    """A number in digits."""

    start: int  # first code point
    end: int  # one past the last, a scale word included
    text: str
    values: frozenset[Value]  # every value it may have; the text itself for a code


def ascii_digits(text: str) -> str:
    return text if text.isascii() else "".join(str(int(c)) if c.isdecimal() else c for c in text)


@lru_cache(maxsize=256)
def _pattern(language: Language) -> re.Pattern[str]:
    words = "|".join(re.escape(w) for w in sorted(language.scales, key=len, reverse=True))
    scale = (
        rf"(?P<scale>\s?[余餘多几数]?(?:\s?(?:{words}))+)"
        if language.code in _JOINED
        else rf"(?:[\s\u00a0-]?(?P<scale>{words})(?!\w))"
    )
    tail = rf"{scale}?" if words else "(?P<scale>)"
    era = r"(?P<era>['’]?s(?!\w)|er(?!\w)|-?е(?:х)?(?!\w)|\s?年代)?"
    return re.compile(rf"(?<![A-Za-z\d])(?<![A-Za-z]-)(?P<digits>{_DIGITS})(?:{tail}{era})", re.IGNORECASE)


def read_numerals(text: str, language: Language) -> list[Numeral]:
    """Find the numbers in digits, in order."""
    numerals: list[Numeral] = []
    last_power = 0
    for numeral, power in _read(text, language):
        between = text[numerals[-1].end : numeral.start] if numerals else "-"
        if power and numerals and _RANGE.fullmatch(between):
            first = numerals[-1]  # of "4 to 6 million" the first is 4 or 4 million
            numerals[-1] = first._replace(values=first.values | _raised(first.values, power))
        if last_power and language.code in _JOINED and not between.strip():
            larges = [v for v in numerals[-1].values if isinstance(v, Decimal)]
            smalls = [
                v for v in numeral.values if isinstance(v, Decimal) and v < Decimal(1).scaleb(last_power)
            ]
            both = {(a + b).normalize() for a in larges for b in smalls}
            numerals[-1] = numerals[-1]._replace(values=numerals[-1].values | both)
            numerals.append(numeral._replace(values=numeral.values | both))
        else:
            numerals.append(numeral)
        last_power = power
    return numerals


_RANGE: Final = re.compile(
    r"\s*(?:[-–—~～至到或和]|to|or|and|bis|oder|und|à|et|a|y|до|и|و|to)\s*(?:[$€£¥]|S\$)?\s*", re.IGNORECASE
)


def _read(text: str, language: Language) -> Iterator[tuple[Numeral, int]]:
    for found in _pattern(language).finditer(text):
        values = _values(ascii_digits(found["digits"]))
        power = _power(found["scale"], language) if found["scale"] else 0
        may_be_unit = (found["scale"] or "").strip().casefold() in {"m", "b", "k"}
        values = values | _raised(values, power) if may_be_unit else _raised(values, power)
        end = found.end("scale") if found["scale"] else found.end("digits")
        if found["era"]:
            values |= {v + 1900 if v < 100 else v % 100 for v in values if isinstance(v, Decimal)}
        values |= _with_tenths(values, text[end : end + 1], language)
        yield Numeral(found.start(), end, text[found.start() : end], frozenset(values)), power


def _values(digits: str) -> set[Value]:
    parts = re.split(r"[^0-9]", digits)
    whole = "".join(parts)
    if len(whole) > _MOST_DIGITS:
        return {whole}
    if len(parts) == 1:
        return {Decimal(whole)}
    marks = re.sub(r"[0-9]", "", digits)
    values: set[Value] = set()
    if all(len(p) in {2, 3} for p in parts[1:]) and len(parts[-1]) == 3:
        values.add(Decimal(whole))  # every mark groups thousands, or lakhs
    if len(set(marks[:-1])) <= 1 and marks[-1] not in {*marks[:-1], " ", "\u00a0", "\u202f", "'", "’", "٬"}:
        values.add(Decimal("".join(parts[:-1]) + "." + parts[-1]).normalize())
    return values or {digits}


def _power(scale: str, language: Language) -> int:
    power = 0
    rest = scale.casefold().strip().lstrip("余餘多几数 ")
    while power < _MOST_POWER and (
        word := max((w for w in language.scales if rest.startswith(w)), key=len, default="")
    ):
        power += language.scales[word]
        rest = rest[len(word) :].lstrip(" \u00a0-")
    return min(power, _MOST_POWER)


def _raised(values: Iterable[Value], power: int) -> set[Value]:
    return {v.scaleb(power).normalize() if isinstance(v, Decimal) else v for v in values}


def _with_tenths(values: set[Value], after: str, language: Language) -> set[Value]:
    if language.code not in {"zh", "ja"} or after not in _TENTHS:
        return set()
    tenths = {v * 10 for v in values if isinstance(v, Decimal)}
    return {*tenths, *(100 - v for v in tenths)}


_HAN_DIGITS: Final = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_HAN_SMALL: Final = {"十": 10, "百": 100, "千": 1000}
_HAN_LARGE: Final = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}
_HAN_RUN: Final = re.compile(f"[{''.join({**_HAN_DIGITS, **_HAN_SMALL, **_HAN_LARGE})}]{{1,24}}[成折]?")
_ROMAN: Final = re.compile(r"(?<!\w)[IVXLC]{1,7}(?!\w)")
_ROMAN_VALUES: Final = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}


def spelled_values(text: str, words: tuple[Word, ...], language: Language) -> set[Value]:
    """Every value that words of a text may stand for: number words, month names, Roman numerals."""
    values = {Decimal(v) for v in _in_words(words, language)}
    values |= {Decimal(_roman(m[0])) for m in _ROMAN.finditer(text)}
    if language.code in {"zh", "ja", "ko"}:
        for found in _HAN_RUN.finditer(text):
            values |= {Decimal(v) for v in _han_values(found[0])}
    return set(values)


def _in_words(words: tuple[Word, ...], language: Language) -> set[int]:
    values: set[int] = set()
    total = current = 0
    for word in words:
        for part in (word.folded, *word.folded.split("-")):
            values |= {language.months[part]} if part in language.months else set()
        number = language.numbers.get(word.folded)
        power = language.scales.get(word.folded)
        if number is not None:
            current += number
        elif power is not None and power >= 2:
            current = max(current, 1) * 10**power if current < 10**_MOST_POWER else 0
            if power >= 3:
                total, current = total + current, 0
        elif word.folded not in language.joints:
            total = current = 0
            continue
        values |= {total, current, total + current} | ({number} if number is not None else set())
    return values


def _roman(text: str) -> int:
    values = [_ROMAN_VALUES[c] for c in text]
    return sum(-v if v < max(values[i:]) else v for i, v in enumerate(values))


def _han_values(run: str) -> set[int]:
    tenth = run[-1] in _TENTHS
    body = run[:-1] if tenth else run
    digits = [_HAN_DIGITS[c] for c in body if c in _HAN_DIGITS]
    values = set(digits)
    if len(digits) == len(body) and digits:
        values.add(int("".join(map(str, digits))))
    else:
        total = section = digit = 0
        for char in body:
            if char in _HAN_DIGITS:
                digit = _HAN_DIGITS[char]
            elif char in _HAN_SMALL:
                section += max(digit, 1) * _HAN_SMALL[char]
                digit = 0
            else:
                total = (
                    (total + max(section + digit, 1)) * _HAN_LARGE[char]
                    if total < _HAN_LARGE[char]
                    else (total + max(section + digit, 1) * _HAN_LARGE[char])
                )
                section = digit = 0
        values.add(total + section + digit)
    if tenth:
        values |= {10 * v for v in values} | {100 - 10 * v for v in values}
    return values


class _Placed(Protocol):
    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


T = TypeVar("T", bound=_Placed)


class Matched(NamedTuple, Generic[T]):
    """Result of comparing the mentions of one kind."""

    # ranges of the mentions in the source that are settled: the translation has them, or another
    source: list[tuple[int, int]]
    translation: list[tuple[int, int]]  # ranges of their counterparts
    changed: list[tuple[T, T]]  # mentions of which each text has one of its own, in order
    lost: list[T]  # further mentions in the source alone
    added: list[T]  # further mentions in the translation alone


Keys = tuple[AbstractSet[Hashable], AbstractSet[Hashable]]
"""Two sets of keys of a mention, asked and given. Mentions agree if the asked keys of one and the given keys
of the other have one in common."""


def match(source: Sequence[T], translation: Sequence[T], keys: Callable[[T], Keys]) -> Matched[T]:
    """Compare mentions; one mention may answer for several that mean the same."""
    found = _are_matched(source, translation, keys)
    wanted = _are_matched(translation, source, keys)
    lost = [s for s, is_found in zip(source, found, strict=True) if not is_found]
    added = [t for t, is_wanted in zip(translation, wanted, strict=True) if not is_wanted]
    changed = list(zip(lost, added, strict=False))
    settled = [s for s, is_found in zip(source, found, strict=True) if is_found] + [s for s, _ in changed]
    answered = [t for t, is_wanted in zip(translation, wanted, strict=True) if is_wanted]
    answered += [t for _, t in changed]
    return Matched(
        [(s.start, s.end) for s in settled],
        [(t.start, t.end) for t in answered],
        changed,
        lost[len(changed) :],
        added[len(changed) :],
    )


def _are_matched(these: Sequence[T], those: Sequence[T], keys: Callable[[T], Keys]) -> list[bool]:
    given = {key for mention in those for key in keys(mention)[1]}
    return [not given.isdisjoint(keys(mention)[0]) for mention in these]


def mark_changed(rule: str, changed: Iterable[tuple[T, T]], texts: Texts) -> Iterator[Mark]:
    """Mark what stands in the translation in place of something else, with what the source has."""
    for lost, added in changed:
        wanted = texts.source[lost.start : lost.end]
        yield Mark(rule, added.start, added.end, note=f"the source has {wanted}")
