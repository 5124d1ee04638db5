"""Emoji that the translation lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from adjudge.checks.texts import Mark, Texts

__all__ = ["check_emoji"]

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
