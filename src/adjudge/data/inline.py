"""Text with inline tags, as XLIFF and TMX have it: to plain text, and from a place in that back to the tree.

A tag becomes a placeholder that people, models and checks take for markup: `<t1>` and `</t1>` around text,
`<t1/>` alone, with the id of the tag. Places are found by counting, never by reading placeholders, so that
text that looks like one does no harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from adjudge.data.xml_files import Element, local_name

__all__ = ["places", "plain_text", "wrap", "wrap_all"]

_PAIRS: Final = frozenset({"g", "pc"})
_OPENING: Final = frozenset({"bx", "bpt", "sc"})
_CLOSING: Final = frozenset({"ex", "ept", "ec"})
_SINGLE: Final = frozenset({"x", "ph", "ut", "it"})
_SILENT: Final = frozenset({"sm", "em", ""})
_IDS: Final = ("startRef", "rid", "id", "i", "x")
_CLOSED: Final = {"close", "end"}


class _Piece(NamedTuple):
    """A run of text: the text or tail of an element, or a placeholder, which is nobody's."""

    text: str
    owner: Element = None
    is_tail: bool = False

    @property
    def parent(self) -> Element:
        return self.owner.getparent() if self.is_tail else self.owner


def plain_text(element: Element) -> str:
    """Text of an element, with placeholders for its inline tags."""
    if not len(element):
        return element.text or ""
    return "".join(piece.text for piece in _pieces(element))


def places(element: Element) -> dict[Element, tuple[int, int]]:
    """Where what is within an element begins and ends in its plain text; a placeholder is not there."""
    found = {}
    place = 0
    for piece in _pieces(element):
        if piece.owner is not None and not piece.is_tail:
            found[piece.owner] = place, place + len(plain_text(piece.owner))
        place += len(piece.text)
    return found


def _pieces(element: Element) -> Iterator[_Piece]:
    yield _Piece(element.text or "", element)
    for child in element:
        yield from _inline(child)
        yield _Piece(child.tail or "", child, is_tail=True)


def _inline(tag: Element) -> Iterator[_Piece]:
    name = local_name(tag)
    label = _label(tag)
    if name in _PAIRS:
        yield _Piece(f"<{label}>")
        yield from _pieces(tag)
        yield _Piece(f"</{label}>")
    elif name in _OPENING or (name == "it" and tag.get("pos") in {"open", "begin"}):
        yield _Piece(f"<{label}>")
    elif name in _CLOSING or (name == "it" and tag.get("pos") in _CLOSED):
        yield _Piece(f"</{label}>")
    elif name in _SINGLE:
        yield _Piece(f"<{label}/>")
    elif name == "cp":
        yield _Piece(_code_point(tag.get("hex", "")))
    elif name not in _SILENT:  # what marks text without changing it: mrk, hi, and what we do not know
        yield from _pieces(tag)


def _label(tag: Element) -> str:
    found = next((tag.get(key) for key in _IDS if tag.get(key)), "")
    return "t" + re.sub(r"[^\w-]", "_", found)


def _code_point(digits: str) -> str:
    """A character that XML cannot hold; U+FFFD for what is none, such as half a surrogate pair."""
    try:
        char = chr(int(digits, 16))
        char.encode()
    except (ValueError, OverflowError, UnicodeEncodeError):
        return "\ufffd"
    return char


def wrap_all(element: Element, mark: Element) -> None:
    """Put a mark around everything in an element."""
    mark.text, element.text = element.text, None
    mark.extend(list(element))
    element.append(mark)


def wrap(element: Element, start: int, end: int, mark: Element) -> bool:
    """Put a mark around a range of an element's plain text.

    Returns:
        Whether it was done: the range must not be empty, begin or end in a placeholder, or cross the
        border of a tag or of another mark.
    """
    first, last = _find(element, start, end)
    if first is None or last is None or first[0].parent is not last[0].parent:
        return False
    if first[0] == last[0]:
        _split(first[0], start - first[1], end - first[1], mark)
    else:
        _gather(first[0], start - first[1], last[0], end - last[1], mark)
    return True


def _find(
    element: Element, start: int, end: int
) -> tuple[tuple[_Piece, int] | None, tuple[_Piece, int] | None]:
    """The runs in which a range begins and ends, with the places at which they begin themselves."""
    first = last = None
    place = 0
    for piece in _pieces(element):
        stop = place + len(piece.text)
        if piece.owner is not None and place <= start < stop:
            first = piece, place
        if piece.owner is not None and place < end <= stop:
            last = piece, place
        place = stop
    return (first, last) if start < end else (None, None)


def _split(piece: _Piece, start: int, end: int, mark: Element) -> None:
    """Put a mark into one run of text."""
    before, mark.text, mark.tail = piece.text[:start], piece.text[start:end], piece.text[end:]
    _insert(piece, before, mark)


def _gather(first: _Piece, start: int, last: _Piece, end: int, mark: Element) -> None:
    """Put a mark around the end of one run, the start of a later one, and the tags between them."""
    parent = first.parent
    begin = parent.index(first.owner) + 1 if first.is_tail else 0
    between = parent[begin : parent.index(last.owner) + 1]
    mark.text = first.text[start:]
    after = last.text[end:]
    last.owner.tail = last.text[:end]
    _insert(first, first.text[:start], mark)
    mark.extend(between)
    mark.tail = after


def _insert(piece: _Piece, before: str, mark: Element) -> None:
    """Put a mark behind what stays of a run."""
    if piece.is_tail:
        piece.owner.tail = before
        piece.parent.insert(piece.parent.index(piece.owner) + 1, mark)
    else:
        piece.owner.text = before
        piece.owner.insert(0, mark)
