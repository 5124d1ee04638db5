"""What must arrive as it is (placeholders, tags, addresses, handles, emoji), and garbled characters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from adjudge.checks.texts import MOST_LOOKED, Mark, Texts

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


_EMOJI: Final = re.compile(
    "(?:[\U0001f1e6-\U0001f1ff]{2}|[\U0001f300-\U0001faff\u2600-\u27bf](?:[\ufe0f\U0001f3fb-\U0001f3ff])*"
    "(?:\u200d[\U0001f300-\U0001faff\u2600-\u27bf]\ufe0f?)*)"
)


def check_emoji(texts: Texts) -> Iterator[Mark]:
    """Find emoji of the source that stand nowhere in the translation; how often one stands is left open."""
    if texts.source.isascii():
        return
    shown = set(texts.translation)
    for found in _EMOJI.finditer(texts.source):
        if found[0][0] not in shown:
            yield Mark("emoji-lost", *found.span(), "source", "missing in the translation")
