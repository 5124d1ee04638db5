"""Characters that nobody sees, where the script gives no reason for them: a second text inside the first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["find_hidden"]

_TAGS: Final = re.compile("[\U000e0000-\U000e007f]+")
_FLAG: Final = re.compile(  # England, Scotland and Wales, the only emoji that Unicode spells with tags
    "(?<=\U0001f3f4)\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    "|\U000e0077\U000e006c\U000e0073)\U000e007f"
)

_NOTHING: Final = "\u034f\u115f\u1160\u180e\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"
_RUN: Final = re.compile(f"[{_NOTHING}\u200e\u200f\u00ad]{{3,}}")
_JOINED: Final = "A-Za-z\u00c0-\u024f\u0370-\u0588\u4e00-\u9fff\u3040-\u30ff\uac00-\ud7a30-9 "
_AMID: Final = re.compile(f"(?<=[{_JOINED}])[{_NOTHING}]+(?=[{_JOINED}])")
_MOST_AMID: Final = 3
"""As many as a page copied from the web has in a sentence of a script that needs none."""

_SELECTORS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_SELECTED: Final = re.compile(
    f"[{_SELECTORS}]{{2,}}"
    f"|(?<=[A-Za-z\u00c0-\u058f.,;:!?])[{_SELECTORS}]"
    "|(?<![\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]"
)

_OVERRIDE: Final = re.compile("[\u202d\u202e]+")
_EMBEDDING: Final = re.compile("[\u202a-\u202c\u2066-\u2069]+")
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff]")

_CONTROL: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?"
    "|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ufff9-\ufffb\ud800-\udfff]+",
    re.DOTALL,
)
_ANY: Final = re.compile(
    f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad{_NOTHING}{_SELECTORS}\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Everything that a detector looks for: most texts have none of it."""


def find_hidden(text: str) -> Iterator[tuple[str, int, int]]:
    """Detector and place of everything that is hidden."""
    if not _ANY.search(text):
        return
    flags = {flag.start() for flag in _FLAG.finditer(text)}
    yield from (found for found in _each("hidden_tags", _TAGS, text) if found[1] not in flags)
    yield from _each("zero_width", _RUN, text)
    amid = list(_AMID.finditer(text))
    if len(amid) > _MOST_AMID:
        yield "zero_width", amid[0].start(), amid[-1].end()
    yield from _each("variation_selectors", _SELECTED, text)
    yield from _each("bidi_control", _OVERRIDE, text)
    if not _RIGHT_TO_LEFT.search(text):
        yield from _each("bidi_control", _EMBEDDING, text)
    yield from _each("control_character", _CONTROL, text)


def _each(name: str, pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, int, int]]:
    return ((name, *found.span()) for found in pattern.finditer(text))
