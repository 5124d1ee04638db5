"""XLIFF 1.2 and 2: what a translator's tool or a translation server hands over.

A `trans-unit` of 1.2 and a `segment` of 2 are a segment, each `file` is a document, the one translation is by
the system `target`. Inline tags become placeholders (`inline`); states and notes go to `meta`. What is not to
be translated is left out, and a warning says how much. `alt-trans`, matches and skeletons are not read.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from adjudge.core.language import canonical_lp
from adjudge.core.segment import Segment, TestSet
from adjudge.core.wording import count, form
from adjudge.data.inline import plain_text
from adjudge.data.xml_files import LANG, Element, XmlFile, children, local_name, read_xml
from adjudge.errors import DataError, DataWarning, UsageError

__all__ = ["SYSTEM", "Unit", "is_version_2", "lp_of", "read_units", "read_xliff", "test_set_of"]

SYSTEM: Final = "target"
"""Whose translation the one of a file is that does not say who made it."""

_UNTRANSLATED: Final = {"", "new", "initial", "needs-translation"}


@dataclass(frozen=True, kw_only=True)
class Unit:
    """One segment, and where it stands in the tree.

    Args:
        segment: what is judged.
        holder: the `trans-unit` or `unit` that it belongs to.
        target: the element of its translation, or None.
    """

    segment: Segment
    holder: Element
    target: Element


def read_xliff(path: Path, lp: str | None = None) -> TestSet:
    """Read a test set.

    Args:
        path: the file; its stem is the test set's name.
        lp: keep this language pair only; also taken where the file does not name its target language.

    Raises:
        DataError: it is no XLIFF, is damaged, or two segments share an id.
        UsageError: the language pair is not known, or not there; or lxml is not installed.
    """
    return test_set_of(path, *read_units(read_xml(path), lp), lp)


def test_set_of(path: Path, units: Iterable[Unit], kept_out: int, lp: str | None) -> TestSet:
    """The segments of units as a test set; as `read_xliff`."""
    if kept_out:
        which = f"{count(kept_out, 'unit')} {form(kept_out, 'is', 'are')}"
        message = f'{path}: {which} not to be translated (translate="no"), and left out'
        warnings.warn(message, DataWarning, 3)
    try:
        test_set = TestSet(name=path.stem, segments=tuple(unit.segment for unit in units))
    except DataError as error:
        raise DataError(str(error), path=path) from error
    return test_set if lp is None else test_set.select(lp=canonical_lp(lp))


def read_units(file: XmlFile, lp: str | None = None) -> tuple[list[Unit], int]:
    """Read the segments with their places in the tree; as `read_xliff`.

    Returns:
        The segments, and how many units are not to be translated.

    Raises:
        DataError: it is no XLIFF, or has no segment.
    """
    if local_name(file.root) != "xliff" or file.root.get("version", "")[:2] not in {"1.", "2."}:
        version = file.root.get("version", "none")
        what = f"<{local_name(file.root)}> of version {version}"
        raise DataError(f"XLIFF 1 or 2 was wanted, got {what}", path=file.path)
    read = _read_unit_2 if is_version_2(file) else _read_unit_1
    units: list[Unit] = []
    kept_out = 0
    for prefix, document, element in _files(file):
        pair = _lp_of_file(file, element, lp)
        holders = _holders(element, is_2=is_version_2(file), inherited=file.root.get("translate", ""))
        for number, (holder, translate) in enumerate(holders, start=1):
            if translate == "no":
                kept_out += 1
                continue
            place = Segment(
                segment=prefix + (holder.get("id") or str(number)), lp=pair, source="", document=document
            )
            units += read(holder, place)
    if not units:
        raise DataError("the file has no unit that is to be translated", path=file.path)
    return units, kept_out


def is_version_2(file: XmlFile) -> bool:
    """Whether it is XLIFF 2, which has nothing but its name in common with 1."""
    return bool(file.root.get("version", "").startswith("2"))


def _files(file: XmlFile) -> Iterator[tuple[str, str, Element]]:
    """Each `file` with its name, and a prefix for ids where there are several."""
    elements = list(children(file.root, "file"))
    names = [e.get("original") or e.get("id") or str(n) for n, e in enumerate(elements, start=1)]
    counts = Counter(names)
    for number, (name, element) in enumerate(zip(names, elements, strict=True), start=1):
        document = name if counts[name] == 1 else f"{name}#{number}"
        yield (f"{document}/" if len(elements) > 1 else ""), document, element


def _holders(element: Element, *, is_2: bool, inherited: str = "") -> Iterator[tuple[Element, str]]:
    """Units of a file in order, at any depth of its groups, with what `translate` says of each."""
    wanted = "unit" if is_2 else "trans-unit"
    around = element.get("translate", inherited)
    for child in element:
        name = local_name(child)
        if name == wanted:
            yield child, child.get("translate", around)
        elif name in {"body", "group"}:
            yield from _holders(child, is_2=is_2, inherited=around)


def _lp_of_file(file: XmlFile, element: Element, lp: str | None) -> str:
    if is_version_2(file):
        return lp_of(file.root.get("srcLang"), file.root.get("trgLang"), lp, file.path)
    target = element.get("target-language")
    if target is None:
        found = (t.get(LANG) for u, _ in _holders(element, is_2=False) for t in children(u, "target"))
        target = next(filter(None, found), None)
    return lp_of(element.get("source-language"), target, lp, file.path)


def lp_of(source: str | None, target: str | None, lp: str | None, path: Path) -> str:
    """Language pair of two languages as files spell them, `en-US` and `de`; else the one that was given.

    Raises:
        UsageError: neither is known.
    """
    if source and target:
        return canonical_lp("-".join(language.replace("-", "_") for language in (source, target)))
    if lp is None:
        raise UsageError(f"{path} does not name both its languages: add --lp, such as --lp en-de")
    return canonical_lp(lp)


def _read_unit_1(holder: Element, place: Segment) -> Iterator[Unit]:
    """The segment of a `trans-unit`."""
    target = next(children(holder, "target"), None)
    source = next(children(holder, "source"), None)
    states = {} if target is None else {key: target.get(key) for key in ("state", "state-qualifier")}
    found = {"approved": holder.get("approved"), "name": holder.get("resname"), **states}
    yield _unit(holder, place, source, target, found)


def _read_unit_2(holder: Element, place: Segment) -> Iterator[Unit]:
    """The segments of a `unit`; what stands between them is for nobody to judge."""
    parts = list(children(holder, "segment"))
    for number, part in enumerate(parts, start=1):
        name = place.segment + (f"/{part.get('id') or number}" if len(parts) > 1 else "")
        at = Segment(segment=name, lp=place.lp, source="", document=place.document)
        source, target = (next(children(part, name), None) for name in ("source", "target"))
        found = {"state": part.get("state"), "name": holder.get("name")}
        yield _unit(holder, at, source, target, found)


def _unit(
    holder: Element, place: Segment, source: Element, target: Element, found: Mapping[str, str | None]
) -> Unit:
    notes = [plain_text(note) for note in _notes(holder)]
    meta: dict[str, object] = {key: value for key, value in found.items() if value}
    text = None if target is None else plain_text(target)
    is_there = text or (text is not None and (found.get("state") or "") not in _UNTRANSLATED)
    segment = Segment(
        segment=place.segment,
        lp=place.lp,
        source="" if source is None else plain_text(source),
        translations={SYSTEM: text or ""} if is_there else {},
        document=place.document,
        meta=meta | ({"notes": notes} if notes else {}),
    )
    return Unit(segment=segment, holder=holder, target=target)


def _notes(holder: Element) -> Iterator[Element]:
    yield from children(holder, "note")
    for notes in children(holder, "notes"):
        yield from children(notes, "note")
