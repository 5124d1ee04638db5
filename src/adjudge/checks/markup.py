"""What must arrive unchanged: placeholders, tags, addresses, handles and codes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from adjudge.checks.texts import MOST_LOOKED, Mark, Texts

__all__ = ["LINK", "check_markup"]

_END: Final = r"[^\s<>\"'“”«»()\[\]{}，。；：！？、）】》」.,;:!?]"
LINK: Final = re.compile(
    rf"(?:https?://|www\.)[^\s<>\"“”«»，。；！？、（）《》]*{_END}"
    rf"|(?<![\w.+-])[\w.+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{{2,}}(?![\w-])"
)
_SPOKEN_HANDLE: Final = re.compile(r"@(?![ -~])\w")
"""An account in another script; its translation is a question of taste."""

_KINDS: Final = (
    ("link", LINK),
    (
        "placeholder",
        re.compile(
            r"\{\{[^{}\n]{1,40}\}\}|\$?\{[\w.:-]{1,40}\}|%\([A-Za-z0-9_]+\)[#0 +-]{0,5}\d{0,9}[a-zA-Z]"
            r"|(?<![\d%])%(?:\d{1,3}\$)?[#0+-]{0,5}\d{0,9}(?:\.\d{1,9})?(?:ld|lu|[sdifxXeEgGcu@])(?![A-Za-z])"
            r"|\[[A-Z]{3,}_?\d+\]|\[%[^%\n]{1,40}%\]|<%[^%\n]{1,40}%>"
        ),
    ),
    (
        "tag",
        re.compile(
            r"<(?:\s(?=[^<>\n]{0,40}/))?(?:/\s?)?[^\W\d_][\w-]*(?:\s[^<>\n]{1,200})?\s?/?>|<!--.{0,200}?-->"
        ),
    ),
    ("handle", re.compile(r"(?<![\w@./])@[A-Za-z0-9_]{2,}")),
)


def check_markup(texts: Texts) -> Iterator[Mark]:
    """Find what is missing, and what stands there instead."""
    for kind, pattern in _KINDS:
        wanted, got = list(pattern.finditer(texts.source)), list(pattern.finditer(texts.translation))
        if (not wanted and not got) or (kind == "handle" and _SPOKEN_HANDLE.search(texts.source)):
            continue
        missing = _surplus(wanted, got)
        extra = _surplus(got, wanted)
        paired = min(len(missing), len(extra))
        for lost, found in zip(missing, extra, strict=False):
            yield Mark(f"{kind}-changed", *found.span(), note=f"the source has {lost[0]}")
        for lost in missing[paired : paired + MOST_LOOKED]:
            if lost[0] not in texts.translation:
                yield Mark(f"{kind}-lost", *lost.span(), "source", "missing in the translation")
        for found in extra[paired : paired + MOST_LOOKED]:
            if found[0] not in texts.source:
                yield Mark(f"{kind}-added", *found.span(), note="the source has none")


def _surplus(these: list[re.Match[str]], those: list[re.Match[str]]) -> list[re.Match[str]]:
    """Matches of the first list for which the second has no counterpart."""
    left = Counter(_key(m[0]) for m in those)
    surplus = []
    for match in these:
        if left[_key(match[0])]:
            left[_key(match[0])] -= 1
        else:
            surplus.append(match)
    return surplus


_LABEL: Final = re.compile(r"\[([A-Z]{3})[A-Z]*_?(\d+)\]")


_SPOKEN: Final = re.compile(
    r"<(/?)(?!/?(?:strong|button|script|center|figure|header|footer|section|option)\b)[^\W\d]{5,}(/?)>"
)


def _key(text: str) -> str:
    """What must be the same.

    The word may be translated of a label such as `[PERSON1]`, which keeps its start and number, and of a
    remark such as `<laughter/>`.
    """
    text = re.sub(r"\s", "", text)
    if label := _LABEL.fullmatch(text):
        return "".join(label.groups())
    return _SPOKEN.sub(r"<\1remark\2>", text)
