"""How many tokens a text will be, roughly, by the scripts it is written in; no tokenizer is downloaded.

Every model cuts text in its own way. What can be said beforehand is how many tokens a character of a script
makes: seldom fewer than `low`, often about `typical`, seldom more than `high`. The numbers span what
tokenizers with vocabularies from 32,000 to 260,000 pieces do to running text; `docs/forecast.md` says how
wrong they can be. Once a run has seen what its server counts, `runs/forecast.py` corrects them by that.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

import orjson

from adjudge.core.ask import Message
from adjudge.llm.delimiters import render_message

__all__ = ["RATES", "Rate", "Script", "Tokens", "estimate_messages", "estimate_text", "script_of_character"]

Script = Literal[
    "latin",
    "accented",
    "digits",
    "signs",
    "greek",
    "cyrillic",
    "semitic",
    "indic",
    "southeast",
    "han",
    "kana",
    "hangul",
    "other",
]


@dataclass(frozen=True)
class Tokens:
    """A number of tokens that is not known exactly."""

    low: float = 0.0
    typical: float = 0.0
    high: float = 0.0

    def __add__(self, other: Tokens) -> Tokens:
        """Both together; the errors add up, since one tokenizer makes them all."""
        return Tokens(self.low + other.low, self.typical + other.typical, self.high + other.high)

    def times(self, factor: float) -> Tokens:
        """So many of them."""
        return Tokens(self.low * factor, self.typical * factor, self.high * factor)


Rate = Tokens
"""Tokens of one character."""

RATES: Final[dict[Script, Rate]] = {
    "latin": Rate(0.19, 0.22, 0.36),  # letters of ASCII and blanks: English 4 to 5 a token, Finnish 3
    "accented": Rate(0.25, 0.65, 1.5),
    "digits": Rate(0.33, 0.5, 1.0),  # three a token, or one
    "signs": Rate(0.2, 0.5, 1.0),
    "greek": Rate(0.28, 0.45, 1.1),
    "cyrillic": Rate(0.2, 0.33, 0.65),
    "semitic": Rate(0.22, 0.4, 1.0),
    "indic": Rate(0.2, 0.45, 1.8),  # bytes, where the tokenizer does not know the script
    "southeast": Rate(0.2, 0.5, 2.2),
    "han": Rate(0.4, 0.72, 1.5),
    "kana": Rate(0.35, 0.65, 1.4),
    "hangul": Rate(0.35, 0.6, 1.5),
    "other": Rate(0.3, 1.5, 4.0),  # at most its bytes in UTF-8
}

_MESSAGE: Final = Tokens(3, 5, 12)  # role and separators of the chat template
_CALL: Final = Tokens(0, 3, 12)

_STARTS: Final[tuple[tuple[int, Script], ...]] = (
    (0x0000, "other"),
    (0x00C0, "accented"),
    (0x0300, "other"),
    (0x0370, "greek"),
    (0x0400, "cyrillic"),
    (0x0530, "other"),
    (0x0590, "semitic"),
    (0x0780, "other"),
    (0x0900, "indic"),
    (0x0E00, "southeast"),
    (0x0F00, "other"),
    (0x1000, "southeast"),
    (0x10A0, "other"),
    (0x1100, "hangul"),
    (0x1200, "other"),
    (0x1780, "southeast"),
    (0x1800, "other"),
    (0x1E00, "accented"),
    (0x1F00, "greek"),
    (0x2000, "signs"),
    (0x2100, "other"),
    (0x3000, "signs"),
    (0x3040, "kana"),
    (0x3100, "other"),
    (0x3130, "hangul"),
    (0x3190, "other"),
    (0x3400, "han"),
    (0xA000, "other"),
    (0xAC00, "hangul"),
    (0xD7B0, "other"),
    (0xF900, "han"),
    (0xFB00, "other"),
    (0xFF00, "signs"),
    (0x10000, "other"),
    (0x20000, "han"),
    (0x32000, "other"),
)
_PLACES: Final = [start for start, _ in _STARTS]


@lru_cache(maxsize=65_536)
def script_of_character(character: str) -> Script:
    """The row of `RATES` that a character counts under."""
    if character.isascii():
        if character.isalpha() or character in " \n\r\t":
            return "latin"
        return "digits" if character.isdigit() else "signs"
    return _STARTS[bisect_right(_PLACES, ord(character)) - 1][1]


@lru_cache(maxsize=4096)
def estimate_text(text: str) -> Tokens:
    """Tokens of a text."""
    low = typical = high = 0.0
    for character, count in Counter(text).items():
        rate = RATES[script_of_character(character)]
        low, typical, high = (
            low + count * rate.low,
            typical + count * rate.typical,
            high + count * rate.high,
        )
    return Tokens(low, typical, high)


def estimate_messages(messages: Iterable[Message], mark: str) -> Tokens:
    """Tokens of a whole prompt as it goes over the wire, delimiters and tool calls included."""
    total = _CALL
    for message in messages:
        total += _MESSAGE + estimate_text(render_message(message, mark))
        for call in message.calls:
            total += _MESSAGE + estimate_text(call.name + orjson.dumps(call.arguments).decode())
    return total
