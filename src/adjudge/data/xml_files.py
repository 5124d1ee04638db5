"""XML that somebody sent us, read without obeying it, and written back as it was but for what was added.

No entity is expanded, nothing is fetched, no tree is larger than libxml2's own limits (256 levels, 10 MB a
text). A document type that declares anything inside the file is refused: billion laughs and XXE need one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from adjudge.data.extras import import_extra
from adjudge.data.files import read_bytes, write_bytes
from adjudge.errors import DataError

__all__ = [
    "LANG",
    "Element",
    "XmlFile",
    "check_type",
    "children",
    "local_name",
    "read_xml",
    "root_name",
    "write_xml",
]

Element = Any
"""An element of lxml, which is imported when a file needs it."""

LANG: Final = "{http://www.w3.org/XML/1998/namespace}lang"

_ASIDE: Final = r"(?>\s+|<\?.*?\?>|<!--.*?-->)*+"
_TYPE: Final = r"""<!DOCTYPE(?>[^"'\[>]|"[^"]*"|'[^']*')*+"""
_HEAD: Final = 1 << 16
_DECLARING: Final = re.compile(_ASIDE + _TYPE + r"\[", re.DOTALL)
_ROOT: Final = re.compile(rf"({_ASIDE}(?:{_TYPE}>{_ASIDE})?)<((?:[\w.-]+:)?([\w.-]+))", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class XmlFile:
    """A file and its tree.

    Args:
        path: where it was read from.
        raw: its bytes.
        tree: an `ElementTree` of lxml.
    """

    path: Path
    raw: bytes
    tree: Any

    @property
    def root(self) -> Element:
        """The outermost element."""
        return self.tree.getroot()


def root_name(raw: bytes) -> str | None:
    """Name of the outermost element without its prefix, or None where the bytes are no XML."""
    found = _ROOT.match(_readable(raw))
    return found[3] if found else None


def _readable(raw: bytes) -> str:
    """Names and signs of a file in any usual encoding, as far as the root, its byte-order mark taken off."""
    head = _plain(raw[:_HEAD])
    found = _ROOT.match(head)
    return head if found and found.end() < len(head) else _plain(raw)


def _plain(raw: bytes) -> str:
    return raw.replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe").decode("latin-1")


def check_type(raw: bytes, path: Path) -> None:
    """Refuse what could make a parser expand or fetch something; its beginning is enough.

    Raises:
        DataError: the document type declares something.
    """
    if _DECLARING.match(_readable(raw)):
        raise DataError("a document type that declares something, such as entities, is not read", path=path)


def read_xml(path: Path) -> XmlFile:
    """Read a file of XML.

    Raises:
        DataError: it is not well-formed, too large, or declares entities.
        UsageError: lxml is not installed.
    """
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
    """Write a tree with encoding, line ends and all that stood around it in the file that it was read from.

    Raises:
        DataError: the file cannot be written.
    """
    write_bytes(path, [_render(file)])


def _render(file: XmlFile) -> bytes:
    encoding = file.tree.docinfo.encoding or "UTF-8"
    try:
        before = file.raw.decode(encoding)
    except (LookupError, UnicodeDecodeError) as error:
        raise DataError(f"its encoding {encoding!r} cannot be written", path=file.path) from error
    head, end = _around(before)
    text = import_extra("lxml.etree").tostring(file.root, encoding="unicode", with_tail=False)
    if "\r\n" in before and before.count("\n") == before.count("\r\n"):
        text = text.replace("\n", "\r\n")
    return f"{head}{text}{end}".encode(encoding, "xmlcharrefreplace")


def _around(text: str) -> tuple[str, str]:
    """What stands before and after the outermost element."""
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
