"""TMX: a translation memory as a test set, each unit a segment for each language of its translations.

Translations are by the system `target`; a second one of the same language is by `target 2`. Inline tags
become placeholders (`inline`); notes and properties go to `meta`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from adjudge.core.language import canonical_lp
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, UsageError
from adjudge.formats.xliff import SYSTEM, lp_of
from adjudge.formats.xml_text import LANG, Element, children, local_name, plain_text, read_xml

__all__ = ["read_tmx"]

_ANY: Final = "*all*"


def read_tmx(path: Path, lp: str | None = None) -> TestSet:
    """Read a test set.

    Args:
        path: the file; its stem is the test set's name.
        lp: keep this language pair only; needed where any language may be the source.

    Raises:
        DataError: it is no TMX, is damaged, or has no unit with a source and a translation.
        UsageError: no source language, or no such language pair; or lxml is not installed.
    """
    root = read_xml(path).root
    if local_name(root) != "tmx":
        raise DataError(f"TMX was wanted, got <{local_name(root)}>", path=path)
    header, body = (next(children(root, name), None) for name in ("header", "body"))
    default = _ANY if header is None else header.get("srclang", _ANY)
    units = [] if body is None else list(children(body, "tu"))
    names = [unit.get("tuid", "") for unit in units]
    if "" in names or len(set(names)) < len(names):
        names = [str(number) for number in range(1, len(units) + 1)]
    segments: list[Segment] = []
    for name, unit in zip(names, units, strict=True):
        source = _source_of(unit.get("srclang", default), lp, path)
        segments += _read_unit(unit, name, source, path)
    if not segments:
        raise DataError("no unit has both a text in the source language and a translation", path=path)
    test_set = TestSet(name=path.stem, segments=tuple(segments))
    return test_set if lp is None else test_set.select(lp=canonical_lp(lp))


def _source_of(language: str, lp: str | None, path: Path) -> str:
    if language.lower() != _ANY:
        return _plain(language)
    if lp is None:
        raise UsageError(f"in {path} any language may be the source: add --lp, such as --lp en-de")
    return _plain(canonical_lp(lp).split("-")[0])


def _plain(language: str) -> str:
    return language.replace("_", "-").lower()


def _read_unit(unit: Element, name: str, source: str, path: Path) -> Iterator[Segment]:
    texts: dict[str, list[str]] = {}
    for variant in children(unit, "tuv"):
        language = variant.get(LANG) or variant.get("lang") or ""
        segment = next(children(variant, "seg"), None)
        if segment is not None:
            texts.setdefault(language, []).append(plain_text(segment))
    own = next((language for language in texts if _plain(language) == source), None)
    if own is None:
        return
    for language, found in texts.items():
        if language == own:
            continue
        systems = [SYSTEM, *(f"{SYSTEM} {number}" for number in range(2, len(found) + 1))]
        yield Segment(
            segment=name,
            lp=lp_of(own, language, None, path),
            source=texts[own][0],
            translations=dict(zip(systems, found, strict=True)),
            meta=_said(unit),
        )


def _said(unit: Element) -> dict[str, object]:
    notes = [plain_text(note) for note in children(unit, "note")]
    properties = {p.get("type", ""): plain_text(p) for p in children(unit, "prop")}
    return ({"notes": notes} if notes else {}) | ({"properties": properties} if properties else {})
