"""Characters that went wrong on the way: garbled, replaced, escaped, or left over from tokenising."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from adjudge.checks.texts import Mark, Texts

__all__ = ["check_encoding"]

_HIGH: Final = "\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
"""What the second byte of a UTF-8 character looks like when it is read as Latin-1 or Windows-1252."""

_PATTERNS: Final = (
    ("replacement-character", re.compile("\ufffd+"), "a character was lost"),
    (
        "mojibake",
        re.compile(
            rf"(?:Ã[{_HIGH}]|Â[\u00a0-\u00bf]|â€[{_HIGH}\u009d]|ï¿½"
            rf"|(?:[ÐÑØÙÛ×][{_HIGH}]){{2,}}|(?:[äåæçèé][{_HIGH}]{{2}}){{2,}})+"
        ),
        "UTF-8 that was read as something else",
    ),
    ("control-character", re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]+"), "no character of a text"),
    (
        "html-entity",
        re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,7}|#x[0-9a-fA-F]{1,6});"),
        "escaped for HTML; the source is not",
    ),
    ("token-left-over", re.compile(r"<unk>|<pad>|⁇|▁|@@(?= )|\[UNK\]"), "left over from a tokenizer"),
)


def check_encoding(texts: Texts) -> Iterator[Mark]:
    """Find what no writer typed, unless the source has the same."""
    for rule, pattern, note in _PATTERNS:
        found = list(pattern.finditer(texts.translation))
        if found and not pattern.search(texts.source):
            yield from (Mark(rule, m.start(), m.end(), note=note) for m in found)
