"""Where the marked text of an MQM row is: tags, token indices, and texts that raters edited.

A rater's text may differ from the translation: raters post-edited, and one tool repeated the marked words
beside the tag (`<v>Prinz</v>Prinz`). Then the mark is carried over to the translation along a shortest edit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Mark", "carry_over", "read_tags", "remove_tags", "token_range"]

_TAG: Final = re.compile(r"</?v>")
_LARGEST: Final = 4_000_000  # cells of the edit table; beyond, the whole changed part is marked


class Mark(NamedTuple):
    """A marked range of a text, and what was odd about it."""

    start: int
    end: int
    flags: tuple[str, ...] = ()


def remove_tags(text: str) -> str:
    """Text without tags."""
    return _TAG.sub("", text)


def read_tags(text: str) -> Mark | None:
    """Range that the tags of a text mark, in code points of the text without tags.

    Several pairs are one error: the range from the first to the last. A tag without its partner marks up to
    the end, or from the start.
    """
    opening: list[int] = []
    closing: list[int] = []
    shift = 0
    for tag in _TAG.finditer(text):
        (closing if tag[0] == "</v>" else opening).append(tag.start() - shift)
        shift += len(tag[0])
    if not opening and not closing:
        return None
    length = len(text) - shift
    start = min(opening, default=0)
    end = max(closing, default=length)
    flags = []
    if len(opening) != len(closing) or start > end:
        start, end = min(start, end), max(start, end)
        flags.append("span_unbalanced")
    elif len(opening) > 1:
        flags.append("span_in_parts")
    return Mark(start, end, (*flags, *_flags_of(remove_tags(text), start, end)))


def _flags_of(text: str, start: int, end: int) -> list[str]:
    marked = text[start:end]
    flags = []
    if not marked:
        flags.append("span_empty")
    elif marked != marked.strip():
        flags.append("span_edge_space")
    word = marked.strip()
    if len(word) > 1 and (text[end:].lstrip().startswith(word) or text[:start].rstrip().endswith(word)):
        flags.append("span_repeated")
    return flags


def carry_over(text: str, mark: Mark, onto: str) -> Mark:
    """Carry a mark over to a text that differs.

    Args:
        text: what the rater saw or made of it.
        mark: in that text.
        onto: the text that the mark must be in.
    """
    marked = text[mark.start : mark.end]
    if onto == text[: mark.start] + text[mark.end :] and marked:
        if onto.startswith(marked, mark.start):  # <v>Prinz</v>Prinz
            return mark
        if onto.endswith(marked, 0, mark.start):  # Prinz<v>Prinz</v>
            return Mark(mark.start - len(marked), mark.start, mark.flags)
    places = _positions(text, onto)
    start, end = places[mark.start][1], places[mark.end][0]
    return Mark(min(start, end), end, mark.flags)


def _positions(text: str, onto: str) -> list[tuple[int, int]]:
    """For each place between two characters of a text, the first and last place in the other one."""
    head = _common_head(text, onto)
    tail = _common_head(text[head:][::-1], onto[head:][::-1])
    inner, other = text[head : len(text) - tail], onto[head : len(onto) - tail]
    places = [(i, i) for i in range(head)]
    if len(inner) * len(other) > _LARGEST:
        end = head + len(other)
        between = [(head, head), *([(end, head)] * (len(inner) - 1)), (end, end)]
    else:
        between = [(head + first, head + last) for first, last in _align(inner, other)]
    shift = len(onto) - len(text)
    return [*places, *between, *((i + shift, i + shift) for i in range(len(text) - tail + 1, len(text) + 1))]


def _common_head(text: str, other: str) -> int:
    pairs = zip(text, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(text), len(other)))


def _align(text: str, other: str) -> list[tuple[int, int]]:
    """Places of a shortest edit (Levenshtein) from a text to another."""
    costs = _costs(text, other)
    i, j = len(text), len(other)
    places = [(j, j)] * (i + 1)
    while i or j:
        if i and j and costs[i][j] == costs[i - 1][j - 1] + (text[i - 1] != other[j - 1]):
            i, j = i - 1, j - 1
            places[i] = (j, j)
        elif i and costs[i][j] == costs[i - 1][j] + 1:
            i -= 1
            places[i] = (j, j)
        else:
            j -= 1
            places[i] = (j, places[i][1])
    return places


def _costs(text: str, other: str) -> NDArray[np.int64]:
    """Edits from every start of a text to every start of another, a row at a time."""
    import numpy as np

    steps = np.arange(len(other) + 1)
    wanted = np.array([ord(char) for char in other], dtype=np.int64)
    costs = np.empty((len(text) + 1, len(other) + 1), dtype=np.int64)
    costs[0] = steps
    for i, char in enumerate(text, start=1):
        row, above = costs[i], costs[i - 1]
        row[0] = i
        row[1:] = np.minimum(above[:-1] + (wanted != ord(char)), above[1:] + 1)
        row[:] = np.minimum.accumulate(row - steps) + steps  # insertions, each a step to the right
    return costs


def token_range(
    metadata: Mapping[str, object], key: str, tokens: object, text: str
) -> tuple[int, int] | None:
    """Range that token indices mark, both ends included there; None where tokens do not make up the text."""
    spans = metadata.get(key)
    if not isinstance(tokens, list) or not isinstance(spans, list) or "".join(map(str, tokens)) != text:
        return None
    try:
        first, last = min(span[0] for span in spans), max(span[1] for span in spans)
        starts = [0]
        for token in tokens:
            starts.append(starts[-1] + len(token))
        return (starts[first], starts[last + 1]) if 0 <= first <= last else None
    except (ValueError, TypeError, IndexError):
        return None
