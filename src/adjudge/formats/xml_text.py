"""XML from somebody else, read without obeying it, and text with inline tags, as XLIFF and TMX have it.

A file is written back as it was but for what was added. `plain_text` gives the text of an element; `places`
and `wrap` go from a place in that text back to the tree.

A tag becomes a placeholder that people, models and checks take for markup: `<t1>` and `</t1>` around text,
`<t1/>` alone, with the id of the tag. Places are found by counting, never by reading placeholders, so that
text that looks like one does no harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from adjudge.core.extras import import_extra
from adjudge.core.frozen import frozen
from adjudge.errors import DataError
from adjudge.store.files import read_bytes, write_bytes

Element = Any
"""An element of lxml, which is imported when a file needs it."""

LANG: Final = "{http://www.w3.org/XML/1998/namespace}lang"

_ASIDE: Final = r"(?>\s+|<\?.*?\?>|<!--.*?-->)*+"
_TYPE: Final = r"""<!DOCTYPE(?>[^"'\[>]|"[^"]*"|'[^']*')*+"""
_HEAD: Final = 1 << 16
_DECLARING: Final = re.compile(_ASIDE + _TYPE + r"\[", re.DOTALL)
_ROOT: Final = re.compile(rf"({_ASIDE}(?:{_TYPE}>{_ASIDE})?)<((?:[\w.-]+:)?([\w.-]+))", re.DOTALL)


@frozen
class XmlFile:
    """A file and its tree."""

    path: Path
    raw: bytes  # its bytes
    tree: Any  # an `ElementTree` of lxml

    @property
    def root(self) -> Element:
        return self.tree.getroot()


def root_name(raw: bytes) -> str | None:
    """Name of the outermost element without its prefix, or None where the bytes are no XML."""
    found = _ROOT.match(_readable(raw))
    return found[3] if found else None


def _readable(raw: bytes) -> str:
    head = _plain(raw[:_HEAD])
    found = _ROOT.match(head)
    return head if found and found.end() < len(head) else _plain(raw)


def _plain(raw: bytes) -> str:
    return raw.replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe").decode("latin-1")


def check_type(raw: bytes, path: Path) -> None:
    """Refuse what could make a parser expand or fetch something; its beginning is enough."""
    if _DECLARING.match(_readable(raw)):
        raise DataError("a document type that declares something, such as entities, is not read", path=path)


def read_xml(path: Path) -> XmlFile:
    etree = import_extra("lxml.etree")
    raw = read_bytes(path)
    check_type(raw, path)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, strip_cdata=False
    )
    try:
        tree = etree.ElementTree(etree.fromstring(raw, parser))
    except etree.XMLSyntaxError as error:
        raise DataError(f"not XML: {error.msg}", path=path, line=error.lineno) from error
    declared = tree.docinfo.internalDTD
    has_entities = declared is not None and next(declared.iterentities(), None) is not None
    if has_entities or next(tree.iter(etree.Entity), None) is not None:
        raise DataError("entities are not read: write the characters themselves", path=path)
    return XmlFile(path=path, raw=raw, tree=tree)


def write_xml(path: Path, file: XmlFile) -> None:
    """Write a tree with encoding, line ends and all that stood around it in its file."""
    encoding = file.tree.docinfo.encoding or "UTF-8"
    try:
        before = file.raw.decode(encoding)
    except (LookupError, UnicodeDecodeError) as error:
        raise DataError(f"its encoding {encoding!r} cannot be written", path=file.path) from error
    head, end = _around(before)
    text = import_extra("lxml.etree").tostring(file.root, encoding="unicode", with_tail=False)
    if "\r\n" in before and before.count("\n") == before.count("\r\n"):
        text = text.replace("\n", "\r\n")
    write_bytes(path, [f"{head}{text}{end}".encode(encoding, "xmlcharrefreplace")])


def _around(text: str) -> tuple[str, str]:
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    found = _ROOT.match(text.removeprefix(mark))
    if found is None:  # a tree was read from it
        return mark, ""
    close = text.rfind(f"</{found[2]}")
    return mark + found[1], text[text.find(">", close) + 1 :] if close >= 0 else ""


def local_name(element: Element) -> str:
    """Name of an element without its namespace; empty for a comment or an instruction."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def children(element: Element, name: str) -> Iterator[Element]:
    """Children of a local name, in order."""
    return (child for child in element if local_name(child) == name)


def children_by_name(element: Element) -> dict[str, list[Element]]:
    """Children by their local names, each in order; one pass, where several names are wanted."""
    found: dict[str, list[Element]] = {}
    for child in element:
        found.setdefault(local_name(child), []).append(child)
    return found


_TAGS: Final[dict[str, tuple[str, str | None]]] = {
    **dict.fromkeys(("g", "pc"), ("<{}>", "</{}>")),
    **dict.fromkeys(("bx", "bpt", "sc"), ("<{}>", None)),
    **dict.fromkeys(("ex", "ept", "ec"), ("</{}>", None)),
    **dict.fromkeys(("x", "ph", "ut", "it"), ("<{}/>", None)),
    **dict.fromkeys(("sm", "em", ""), ("", None)),
}
"""Inline tags to the placeholders before and after their text; None after it if that text is skipped."""
_HALVES: Final = {"open": "bx", "begin": "bx", "close": "ex", "end": "ex"}
"""Where an `it` stands alone, to the tag that is the same half of a pair."""


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
    """Runs of text and placeholders, in order; without recursion, so that depth costs nothing."""
    yield _Piece(element.text or "", element)
    entered = [(element, iter(element), "")]
    while entered:
        tag, inside, closing = entered[-1]
        if (child := next(inside, None)) is not None:
            before, after = _placeholders(child)
            if before:
                yield _Piece(before)
            if after is not None:
                yield _Piece(child.text or "", child)
                entered.append((child, iter(child), after))
                continue
            tag = child
        else:
            entered.pop()
            if closing:
                yield _Piece(closing)
        if entered:
            yield _Piece(tag.tail or "", tag, is_tail=True)


def _placeholders(tag: Element) -> tuple[str, str | None]:
    found = next((tag.get(key) for key in ("startRef", "rid", "id", "i", "x") if tag.get(key)), "")
    name, label = local_name(tag), ("t" + re.sub(r"[^\w-]", "_", found))
    if name == "cp":
        return _code_point(tag.get("hex", "")), None
    if name == "it":
        name = _HALVES.get(tag.get("pos", ""), name)
    before, after = _TAGS.get(name, ("", ""))  # others mark text, as mrk, hi, and what we do not know
    return before.format(label), None if after is None else after.format(label)


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

    Whether it was done: the range must not be empty, begin or end in a placeholder, or cross the border of a
    tag or of another mark.
    """
    first, last = _find(element, start, end)
    if first is None or last is None or first[0].parent is not last[0].parent:
        return False
    if first[0] == last[0]:
        piece, place = first
        mark.text, mark.tail = piece.text[start - place : end - place], piece.text[end - place :]
        _insert(piece, piece.text[: start - place], mark)
    else:
        _gather(first[0], start - first[1], last[0], end - last[1], mark)
    return True


def _find(
    element: Element, start: int, end: int
) -> tuple[tuple[_Piece, int] | None, tuple[_Piece, int] | None]:
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


def _gather(first: _Piece, start: int, last: _Piece, end: int, mark: Element) -> None:
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
    if piece.is_tail:
        piece.owner.tail = before
        piece.parent.insert(piece.parent.index(piece.owner) + 1, mark)
    else:
        piece.owner.text = before
        piece.owner.insert(0, mark)
