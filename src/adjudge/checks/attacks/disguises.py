"""Orders that are written so that a filter does not see them and a model does."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Final

__all__ = ["ROTATED", "WITHIN_WORDS", "find_disguises", "find_encoded"]

_SHORTEST: Final = 16
_BASE64: Final = re.compile(rf"(?<![\w+/=%-])[A-Za-z0-9+/_-]{{{_SHORTEST},}}={{0,2}}(?![\w+/%-])")
_HEXADECIMAL: Final = re.compile(
    r"(?<![0-9A-Fa-f])(?:0x)?[2-7c-e][0-9A-Fa-f][ ,:]?(?:(?:0x)?[0-9A-Fa-f]{2}[ ,:]?){11,}"
)
_ESCAPES: Final = re.compile(r"(?:\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}){4,}|(?:&#x?[0-9A-Fa-f]{1,6};){6,}")
_BINARY: Final = re.compile(r"(?:\b[01]{8}\b ?){6,}")
_SOME_DIGITS: Final = re.compile(r"[0-9A-Fa-fx ,:]{8}")
"""Stands in every third character of all that is hexadecimal or binary: in few texts."""

_SMALL: Final = "abcdefghijklmnopqrstuvwxyz"
_TURNED: Final = _SMALL[13:] + _SMALL[:13]
_ROT13: Final = str.maketrans(_SMALL + _SMALL.upper(), _TURNED + _TURNED.upper())
ROTATED: Final = frozenset(
    {"vtaber", "qvfertneq", "sbetrg", "vafgehpgvba", "genafyngvba", "cresrpg", "reebef"}
)
"""Strings without any of which no rotated text is looked at."""
_LEET: Final = re.compile(r"(?<=[A-Za-z])[013457@$][A-Za-z]")
_LETTERS: Final = str.maketrans("013457@$", "oieastas")
_SPACED: Final = re.compile(r"(?<!\S)(?:[A-Za-z][ ._-]){9,}[A-Za-z](?!\S)")
_SOME_SPACED: Final = re.compile(r"[ ._-][A-Za-z][ ._-][A-Za-z][ ._-]")
"""Stands in all that is spaced out, and is found to be missing in a third of the time."""

_LOOK_ALIKE: Final = str.maketrans(
    "асеорхуіѕјԁԛԝһӏАВЕКМНОРСТХІЅЈοανρτικΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aceopxyisjdqwhlABEKMHOPCTXISJoavptikABEZHIKMNOPTYX",
)
_MIXED: Final = re.compile(r"[A-Za-z][Ѐ-ԯͰ-Ͽ]|[Ѐ-ԯͰ-Ͽ][A-Za-z]")
_STYLED: Final = re.compile(
    "[\uff01-\uff5e]{6,}|[\u24b6-\u24e9]{4,}|[\U0001d400-\U0001d7ff]{4,}|[\U0001f130-\U0001f189]{4,}"
    "|(?:[\uff01-\uff5e\U0001d400-\U0001d7ff]+\\s?){4,}"
)
_STRANGE: Final = re.compile(
    "[\u0370-\u052f\u24b6-\u24e9\uff01-\uff5e\U0001d400-\U0001d7ff\U0001f130-\U0001f189]"
)

WITHIN_WORDS: Final = {"leet": _LEET}
"""What stands within one word, by name."""

Find = Callable[[str], bool]


def find_disguises(text: str, possible: set[str], is_plain_attack: Find) -> Iterator[tuple[str, int, int]]:
    """Detector and place of what is an attack once it is written plainly.

    Args:
        text: that is looked at.
        possible: of `ROTATED` and `WITHIN_WORDS`, and perhaps others, all that it holds.
        is_plain_attack: whether a text in plain writing would be one.
    """
    if (not possible.isdisjoint(ROTATED) and is_plain_attack(text.translate(_ROT13))) or (
        "leet" in possible and _LEET.search(text) and is_plain_attack(text.translate(_LETTERS))
    ):
        yield "disguise", 0, len(text)
    elif _SOME_SPACED.search(text) and (spaced := _SPACED.search(text)):
        yield ("disguise", *spaced.span())
    elif not text.isascii() and _STRANGE.search(text):
        yield from _folded(text, is_plain_attack)


def _folded(text: str, is_plain_attack: Find) -> Iterator[tuple[str, int, int]]:
    styled = _STYLED.search(text)
    if styled and is_plain_attack(unicodedata.normalize("NFKC", text)):
        yield ("disguise", *styled.span())
    elif (mixed := _MIXED.search(text)) and is_plain_attack(text.translate(_LOOK_ALIKE)):
        yield ("disguise", *mixed.span())


def find_encoded(text: str, words: set[str]) -> Iterator[tuple[str, int, int]]:
    """Detector and place of words that are encoded; `words` are those of the text in small letters."""
    if "\\" in text or "&#" in text:
        yield from (("encoded_text", *found.span()) for found in _ESCAPES.finditer(text))
    if max(map(len, words), default=0) >= _SHORTEST:
        for found in _BASE64.finditer(text):
            if _is_message(_decoded(found[0])):
                yield ("encoded_text", *found.span())
    if not _SOME_DIGITS.search(text[::3]):
        return
    yield from (("encoded_text", *found.span()) for found in _BINARY.finditer(text))
    for found in _HEXADECIMAL.finditer(text):
        digits = re.sub(r"0x|[ ,:]", "", found[0])
        if _is_message(bytes.fromhex(digits[: len(digits) // 2 * 2])):
            yield ("encoded_text", *found.span())


def _decoded(word: str) -> bytes:
    plain = word.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except binascii.Error:
        return b""


def _is_message(raw: bytes) -> bool:
    """Whether bytes are a text of several words, or one of JSON."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return (
        len(text) >= 10 and text.isprintable() and (" " in text.strip() or not text.isascii() or "{" in text)
    )
