"""What identifies a person and can be told by its form: addresses and numbers, each with its own check."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal, NamedTuple, get_args

__all__ = ["KINDS", "Kind", "Private", "find_private"]

Kind = Literal["e-mail", "iban", "card", "id", "phone"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
"""In the order in which they are looked for: what is an IBAN is no telephone number too."""

_DIGITS: Final = r"[ .\-\u00a0\u202f]?"


class Private(NamedTuple):
    """One place in a text; offsets are half-open, in code points."""

    kind: Kind
    start: int
    end: int


def find_private(text: str) -> tuple[Private, ...]:
    """Places that identify a person, in order and without overlaps.

    `e-mail`: an address. `iban`: with its check digits (ISO 7064, mod 97). `card`: 13 to 19 digits with
    Luhn's digit and a known first digit. `id`: a number that its text calls one of a passport, an identity
    card, social security or taxes, or China's 18-digit number with its check digit. `phone`: with a
    country code, or called one, or in a form that only telephone numbers have. Names and addresses of
    houses have no form: a model or a person must find them.
    """
    found: list[Private] = []
    for kind in KINDS:
        for start, end in _FINDERS[kind](text):
            if all(end <= other.start or start >= other.end for other in found):
                found.append(Private(kind, start, end))
    return tuple(sorted(found, key=lambda place: place.start))


_Places = Iterator[tuple[int, int]]

_EMAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w-])")
_IBAN: Final = re.compile(r"(?<![0-9A-Za-z])[A-Z]{2}[0-9]{2}(?:[ \u00a0]?[0-9A-Z]){11,30}(?![0-9A-Za-z])")
_CARD: Final = re.compile(rf"(?<![0-9])(?<![0-9][ .\-])[3-6](?:{_DIGITS}[0-9]){{12,18}}(?![ .\-]?[0-9])")
_CALLED_ID: Final = re.compile(
    r"(?:passport|identity card|id card|social security|ssn|tax id|national id|driver'?s? licen[cs]e|"
    r"reisepass|personalausweis|ausweis|sozialversicherung\w*|steuer-?id|passeport|carte d'identité|"
    r"pasaporte|dni|护照|身份证|паспорт\w*|снилс|инн)"
    r"[^0-9A-Za-z\n]{0,12}(?:(?:no|nr|number|nummer|numéro|número|номер|号码|号)[^0-9A-Za-z\n]{0,4})?"
    r"(?P<number>[A-Z]{0,3}[0-9][0-9A-Z \-]{4,18}[0-9A-Z])(?![0-9A-Za-z])",
    re.IGNORECASE,
)
_CHINESE_ID: Final = re.compile(r"(?<![0-9])[1-9][0-9]{16}[0-9Xx](?![0-9A-Za-z])")
_PHONE: Final = re.compile(
    r"(?<![\w+])(?<![0-9][ .\-])(?:"
    r"(?:\+|00)[1-9][0-9]{0,2}(?:[ .\-/()\u00a0]{0,2}[0-9]){6,13}"
    r"|\(?[0-9]{3}\)?[ .\-][0-9]{3}[.\-][0-9]{4}"
    r"|1[3-9][0-9]{9}"
    r")(?![\w])"
)
_CALLED_PHONE: Final = re.compile(
    r"(?:phone|mobile|cell|call me|tel(?:efon|éfono|ephone)?|handy|fax|whatsapp|wechat|"
    r"电话|手机|微信|тел(?:ефон)?)"
    r"[^0-9+\n]{0,6}(?P<number>\+?[0-9](?:[ .\-/()]{0,2}[0-9]){5,14})(?![0-9])",
    re.IGNORECASE,
)
_SHORTEST_IBAN: Final = 15
_CHINESE_WEIGHTS: Final = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def _emails(text: str) -> _Places:
    yield from (match.span() for match in _EMAIL.finditer(text))


def _ibans(text: str) -> _Places:
    """The longest beginning of what looks like one that has right check digits: words may follow it."""
    for match in _IBAN.finditer(text):
        words = match[0]
        for end in range(len(words), _SHORTEST_IBAN - 1, -1):
            is_whole = end == len(words) or words[end] in " \u00a0"
            if is_whole and _is_iban(re.sub(r"[ \u00a0]", "", words[:end])):
                yield match.start(), match.start() + end
                break


def _is_iban(code: str) -> bool:
    moved = code[4:] + code[:4]
    return len(code) >= _SHORTEST_IBAN and int("".join(str(int(char, 36)) for char in moved)) % 97 == 1


def _cards(text: str) -> _Places:
    for match in _CARD.finditer(text):
        digits = [int(char) for char in match[0] if char.isdigit()]
        if len(set(digits)) > 1 and _passes_luhn(digits):
            yield match.span()


def _passes_luhn(digits: list[int]) -> bool:
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _ids(text: str) -> _Places:
    yield from (match.span("number") for match in _CALLED_ID.finditer(text))
    for match in _CHINESE_ID.finditer(text):
        total = sum(weight * int(char) for weight, char in zip(_CHINESE_WEIGHTS, match[0], strict=False))
        if "10X98765432"[total % 11] == match[0][-1].upper():
            yield match.span()


def _phones(text: str) -> _Places:
    yield from (match.span() for match in _PHONE.finditer(text))
    yield from (match.span("number") for match in _CALLED_PHONE.finditer(text))


_FINDERS: Final[Mapping[Kind, Callable[[str], _Places]]] = {
    "e-mail": _emails,
    "iban": _ibans,
    "card": _cards,
    "id": _ids,
    "phone": _phones,
}
