"""Judgements into the XLIFF file that was judged, as ITS 2.0 quality issues; all else stays as it was.

Issues stand off, at the unit. An error whose place lies within one tag is marked in the translation (`mrk`);
every other one belongs to the translation as a whole. What is marked reads as before, so that the file gives
the same test set. `xliff_judged` takes it back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path

from adjudge.core.annotation import Annotation, ErrorSpan, Failure, Record
from adjudge.data.extras import import_extra
from adjudge.data.inline import wrap, wrap_all
from adjudge.data.its import ITS, annotators_ref, confidence_of, issue_attributes, its
from adjudge.data.xliff import SYSTEM, Unit, is_version_2, read_units
from adjudge.data.xliff_stated import STATED, STATED_NAMESPACE, render_stated
from adjudge.data.xml_files import Element, XmlFile, read_xml, write_xml
from adjudge.errors import DataError, UsageError

__all__ = ["write_xliff"]

_ID = "{http://www.w3.org/XML/1998/namespace}id"


def write_xliff(
    path: Path | str, records: Iterable[Record], origin: Path | str, lp: str | None = None
) -> Counter[str]:
    """Write a copy of the judged file with what one annotator said of its translations.

    Args:
        path: the file to write.
        records: judgements of the system `target`.
        origin: the file that was judged; may be `path`.
        lp: where the file does not name its target language.

    Returns:
        What has no place in it, and how often.

    Raises:
        DataError: the records are about other texts, or the file has such marks already.
        UsageError: several annotators.
    """
    file = read_xml(Path(origin))
    left_out: Counter[str] = Counter()
    judged = _by_segment(records, left_out)
    marks = _Marks(file, left_out)
    for unit in read_units(file, lp)[0]:
        annotation = judged.pop((unit.segment.lp, unit.segment.segment), None)
        if annotation is not None:
            marks.add(unit, annotation)
    if judged:
        _, segment = next(iter(judged))
        raise DataError(f"the records judge a segment {segment!r} that is not there", path=origin)
    marks.declare()
    write_xml(Path(path), file)
    return +left_out


def _by_segment(records: Iterable[Record], left_out: Counter[str]) -> dict[tuple[str, str], Annotation]:
    found: dict[tuple[str, str], Annotation] = {}
    for record in records:
        if not isinstance(record, Annotation):
            left_out["failures" if isinstance(record, Failure) else "preferences"] += 1
        elif record.system != SYSTEM:
            left_out["judgements of other systems"] += 1
        else:
            other = found.setdefault((record.lp, record.segment), record)
            _check_alone(other, record)
    return found


def _check_alone(one: Annotation, other: Annotation) -> None:
    if one.annotator != other.annotator:
        both = f"{one.annotator!r} and {other.annotator!r}"
        raise UsageError(f"a translation in XLIFF is judged by one annotator, got {both}: add --annotator")
    if one is not other:
        raise DataError(f"{one.annotator!r} judged segment {one.segment!r} twice; XLIFF holds one judgement")


class _Marks:
    """Adds judgements to one tree.

    Args:
        file: whose tree is changed.
        left_out: counts what has no place.
    """

    def __init__(self, file: XmlFile, left_out: Counter[str]) -> None:
        self._file = file
        self._etree = import_extra("lxml.etree")
        self._is_2 = is_version_2(file)
        self._left_out = left_out
        taken = {value for e in file.tree.iter("*") for key, value in e.items() if key in {"id", _ID}}
        self._ids = (name for n in count(1) if (name := f"adjudge-{n}") not in taken)

    def add(self, unit: Unit, annotation: Annotation) -> None:
        """Add a judgement to a unit."""
        if unit.target is None:
            name = unit.segment.segment
            raise DataError(f"the records judge segment {name!r}, which has no target", path=self._file.path)
        _check_places(unit.segment.translations.get(SYSTEM, ""), annotation, self._file.path)
        whole = {"annotatorsRef": annotators_ref(annotation.annotator)}
        if (confidence := confidence_of(annotation)) is not None:
            whole["mtConfidence"] = confidence
        elif annotation.rating is not None:
            self._left_out["ratings on a scale without ends: adjudge alone reads them back"] += 1
        around = self._around(unit.target)
        self._put(around, whole)
        around.set(STATED, render_stated(annotation))
        unplaced = [
            span for span in _outermost_first(annotation.spans) if not self._mark(unit, annotation, span)
        ]
        if unplaced:
            self._put(around, {"locQualityIssuesRef": self._stand_off(unit, annotation, unplaced)})

    def declare(self) -> None:
        """Name the namespace once, at the outermost element, and the version of ITS."""
        root = self._file.root
        prefixes = {prefix for e in self._file.tree.iter("*") for prefix in e.nsmap if prefix}
        ours = {"its": ITS, "adjudge": STATED_NAMESPACE}
        self._etree.cleanup_namespaces(root, top_nsmap=ours, keep_ns_prefixes=list(prefixes))
        if root.get(its("version")) is None:
            root.set(its("version"), "2.0")

    def _around(self, target: Element) -> Element:
        """What carries what is said of a whole translation: XLIFF 2 allows that at a mark alone."""
        if not self._is_2:
            return target
        mark = self._new_mark(target)
        wrap_all(target, mark)
        return mark

    def _mark(self, unit: Unit, annotation: Annotation, span: ErrorSpan) -> bool:
        """Mark an error in the translation, if it can be."""
        if span.side != "translation" or span.start is None or span.end is None:
            return False
        mark = self._new_mark(unit.target)
        if not wrap(unit.target, span.start, span.end, mark):
            return False
        self._put(mark, {"locQualityIssuesRef": self._stand_off(unit, annotation, [span])})
        return True

    def _new_mark(self, target: Element) -> Element:
        kind = {"id": next(self._ids), "type": "its:generic"} if self._is_2 else {"mtype": "x-its"}
        return self._etree.Element(self._etree.QName(target.nsmap.get(target.prefix), "mrk"), kind)

    def _stand_off(self, unit: Unit, annotation: Annotation, spans: Sequence[ErrorSpan]) -> str:
        """Put issues beside the translation.

        Returns:
            What refers to them.
        """
        name = next(self._ids)
        issues = self._etree.Element(its("locQualityIssues"), {_ID: name}, nsmap={"its": ITS})
        for span in spans:
            issue = self._etree.SubElement(issues, its("locQualityIssue"))
            for key, value in issue_attributes(span, annotation.protocol).items():
                issue.set(key, value)
        holder = unit.holder
        if self._is_2:  # first of all, where modules stand
            issues.tail = holder.text
            holder.insert(0, issues)
        else:
            issues.tail, holder[-1].tail = holder[-1].tail, holder.text
            holder.append(issues)
        return f"#its={name}" if self._is_2 else f"#{name}"

    def _put(self, element: Element, values: Mapping[str, str]) -> None:
        for key, value in values.items():
            if element.get(its(key)) is not None:
                raise DataError(
                    f"a translation has its:{key} already: take it out, or give the file as it was before",
                    path=self._file.path,
                )
            element.set(its(key), value)


def _outermost_first(spans: Iterable[ErrorSpan]) -> list[ErrorSpan]:
    """Longer marks first, so that shorter ones come to stand within them."""
    return sorted(spans, key=lambda span: (span.start or 0) - (span.end or 0))


def _check_places(text: str, annotation: Annotation, path: Path) -> None:
    """Refuse judgements of another text: their marks would stand anywhere."""
    for span in annotation.spans:
        if span.side == "translation" and span.start is not None and span.end is not None:
            found = text[span.start : span.end]
            if span.end > len(text) or (span.text and found != span.text and span.match == "exact"):
                what = f"{span.text!r} at {span.start} to {span.end}, where the file has {found!r}"
                message = f"the records are about another text: segment {annotation.segment!r} has an error"
                raise DataError(f"{message} {what}", path=path)
