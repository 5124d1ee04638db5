"""Characters that nobody sees: pages and terminals show them as small marks and never take them away.

A translator must see that a zero-width space or a right-to-left override stands in a text, a terminal must
not obey the escape sequences in it, and the text must stay what it was. The page's script reads the same
table from the page's data.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["NAMES", "RANGES", "is_invisible", "name_invisible", "name_of"]

RANGES: Final[tuple[tuple[int, int], ...]] = (
    (0x0000, 0x0008),  # C0 controls; tab and line feed are white space
    (0x000B, 0x001F),
    (0x007F, 0x009F),  # C1 controls
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x180E, 0x180E),
    (0x200B, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xD800, 0xDFFF),  # surrogates that stand alone
    (0xFE00, 0xFE0E),  # variation selectors; the next one only asks for the emoji form
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF9, 0xFFFB),
    (0xE0000, 0xE007F),  # tags: a second, hidden ASCII
    (0xE0100, 0xE01EF),
)
"""First and last code point of each stretch of invisible characters."""

NAMES: Final[dict[int, str]] = {
    0x0000: "NUL",
    0x000D: "CR",
    0x001B: "ESC",
    0x00AD: "SHY",
    0x034F: "CGJ",
    0x061C: "ALM",
    0x200B: "ZWSP",
    0x200C: "ZWNJ",
    0x200D: "ZWJ",
    0x200E: "LRM",
    0x200F: "RLM",
    0x2028: "LS",
    0x2029: "PS",
    0x202A: "LRE",
    0x202B: "RLE",
    0x202C: "PDF",
    0x202D: "LRO",
    0x202E: "RLO",
    0x2060: "WJ",
    0x2066: "LRI",
    0x2067: "RLI",
    0x2068: "FSI",
    0x2069: "PDI",
    0xFEFF: "BOM",
}
"""Short names as Unicode gives them; every other one is shown as U+ and its number."""

_INVISIBLE: Final = re.compile(
    "(?!\u200d[\U0001f000-\U0010ffff])"  # a joiner inside an emoji
    f"[{''.join(f'{re.escape(chr(low))}-{re.escape(chr(high))}' for low, high in RANGES)}]"
)


def is_invisible(char: str) -> bool:
    """Whether a reader would not see the character."""
    code = ord(char)
    return any(low <= code <= high for low, high in RANGES)


def name_of(char: str) -> str:
    """What stands in the mark."""
    return NAMES.get(ord(char), f"U+{ord(char):04X}")


def name_invisible(text: str) -> str:
    """Write the names of invisible characters in their place; a joiner inside an emoji is left alone.

    For names, reasons and terminals, from which nobody copies back into a test set. `text.js` keeps the
    characters themselves in texts, and sets a mark before each.
    """
    return _INVISIBLE.sub(lambda found: f"[{name_of(found[0])}]", text)
