"""XLIFF 1.2 and 2, as translators' tools hand it over: texts, and judgements as quality issues of ITS 2.0.

A `trans-unit` of 1.2 and a `segment` of 2 are a segment, each `file` is a document, the one translation is by
the system `target`. Inline tags become placeholders (`inline`); states and notes go to `meta`. What is not to
be translated is left out, and a warning says how much. `alt-trans`, matches and skeletons are not read.

`read_judged_xliff` reads quality issues, ratings and confidences, of adjudge or another tool. `write_xliff`
writes judgements into the file that was judged, of which all else stays as it was.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count as itertools_count
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from adjudge.core.extras import import_extra
from adjudge.core.frozen import frozen
from adjudge.core.language import canonical_lp, is_same_language, pair_of
from adjudge.core.names import as_name
from adjudge.core.record import Annotation, ErrorSpan, Failure, Record, Side
from adjudge.core.segment import Segment, TestSet
from adjudge.core.wording import count, form
from adjudge.errors import DataError, UsageError, names_file, warn
from adjudge.formats.file_content import ContentWithTexts, by_translation, placed
from adjudge.formats.its import (
    ITS,
    STATED,
    STATED_NAMESPACE,
    Issue,
    annotator_of,
    annotators_ref,
    confidence_of,
    issue_attributes,
    its,
    keep_rating,
    keep_spans,
    label_of,
    read_stated,
    render_stated,
    severity_of,
)
from adjudge.formats.text import as_holes
from adjudge.formats.xml_text import (
    LANG,
    Element,
    XmlFile,
    children,
    children_by_name,
    local_name,
    places,
    plain_text,
    read_xml,
    wrap,
    wrap_all,
    write_xml,
)

SYSTEM: Final = "target"
"""Whose translation the one of a file is that does not say who made it."""

_UNTRANSLATED: Final = {"", "new", "initial", "needs-translation"}


@frozen
class Unit:
    """One segment, and where it stands in the tree."""

    segment: Segment
    holder: Element  # the `trans-unit` or `unit` that it belongs to
    target: Element  # the element of its translation, or None


@names_file
def read_xliff(path: Path, lp: str | None = None) -> TestSet:
    return test_set_of(path, *read_units(read_xml(path), lp))


def test_set_of(path: Path, units: Iterable[Unit], kept_out: int) -> TestSet:
    """The segments of units as a test set; as `read_xliff`."""
    if kept_out:
        warn(
            f"{path}: {count(kept_out, 'unit')} {form(kept_out, 'is', 'are')} not to be translated "
            '(translate="no"), and left out'
        )
    return TestSet(name=path.stem, segments=as_holes([unit.segment for unit in units], [SYSTEM]))


def read_units(file: XmlFile, lp: str | None = None) -> tuple[list[Unit], int]:
    """Read the segments with their places in the tree; as `read_xliff`.

    The segments, and how many units are not to be translated.
    """
    if local_name(file.root) != "xliff" or file.root.get("version", "")[:2] not in {"1.", "2."}:
        version = file.root.get("version", "none")
        raise DataError(
            f"XLIFF 1 or 2 was wanted, got <{local_name(file.root)}> of version {version}", path=file.path
        )
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
            name = as_name(holder.get("id") or str(number), "segment", file.path, holder.sourceline)
            units += read(holder, Segment(segment=prefix + name, lp=pair, source="", document=document))
    if not units:
        raise DataError("the file has no unit that is to be translated", path=file.path)
    return units, kept_out


def is_version_2(file: XmlFile) -> bool:
    """Whether it is XLIFF 2, which has nothing but its name in common with 1."""
    return bool(file.root.get("version", "").startswith("2"))


def _files(file: XmlFile) -> Iterator[tuple[str, str, Element]]:
    elements = list(children(file.root, "file"))
    names = [e.get("original") or e.get("id") or str(n) for n, e in enumerate(elements, start=1)]
    counts = Counter(names)
    for number, (original, element) in enumerate(zip(names, elements, strict=True), start=1):
        name = as_name(original, "document", file.path, element.sourceline)
        document = name if counts[original] == 1 else f"{name}#{number}"
        yield (f"{document}/" if len(elements) > 1 else ""), document, element


def _holders(element: Element, *, is_2: bool, inherited: str = "") -> Iterator[tuple[Element, str]]:
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
    """Language pair of two languages as files spell them, `en-US` and `DE`; what is not named, as given."""
    if source and target:
        return pair_of(source, target)
    if lp is None:
        raise UsageError(f"{path} does not name both its languages: add --lp, such as --lp en-de")
    for own, given in zip((source, target), canonical_lp(lp).split("-"), strict=True):
        if own and not is_same_language(own, given):
            raise UsageError(f"{path} names the language {own!r}, and not {given!r} as in --lp {lp}")
    return canonical_lp(lp)


def _read_unit_1(holder: Element, place: Segment) -> Iterator[Unit]:
    parts = children_by_name(holder)
    (source, *_), (target, *_) = (parts.get(name, [None]) for name in ("source", "target"))
    states = {} if target is None else {key: target.get(key) for key in ("state", "state-qualifier")}
    found = {"approved": holder.get("approved"), "name": holder.get("resname"), **states}
    yield _unit(holder, place, (source, target), found, _notes(parts))


def _read_unit_2(holder: Element, place: Segment) -> Iterator[Unit]:
    parts = children_by_name(holder)
    segments, notes = parts.get("segment", []), _notes(parts)
    for number, part in enumerate(segments, start=1):
        within = part.get("id") or (number if number > 1 else "")
        name = f"{place.segment}/{within}".removesuffix("/")
        at = Segment(segment=name, lp=place.lp, source="", document=place.document)
        source, target = (next(children(part, name), None) for name in ("source", "target"))
        found = {"state": part.get("state"), "name": holder.get("name")}
        yield _unit(holder, at, (source, target), found, notes)


def _unit(
    holder: Element,
    place: Segment,
    texts: tuple[Element, Element],
    found: Mapping[str, str | None],
    notes: Sequence[str],
) -> Unit:
    source, target = texts
    meta: dict[str, object] = {key: value for key, value in found.items() if value}
    text = None if target is None else plain_text(target)
    original = "" if source is None else plain_text(source)
    is_stated = not original.strip() or (found.get("state") or "") not in _UNTRANSLATED
    is_there = text or (text is not None and is_stated)
    segment = Segment(
        segment=place.segment,
        lp=place.lp,
        source=original,
        translations={SYSTEM: text or ""} if is_there else {},
        document=place.document,
        meta=meta | ({"notes": [*notes]} if notes else {}),
    )
    return Unit(segment=segment, holder=holder, target=target)


def _notes(parts: Mapping[str, Sequence[Element]]) -> list[str]:
    inside = (note for notes in parts.get("notes", ()) for note in children(notes, "note"))
    return [plain_text(note) for note in (*parts.get("note", ()), *inside)]


ISSUE: Final = "localization-quality-issue"
RATING: Final = "localization-quality-rating"
MT: Final = "mt-confidence"

_PARTS: Final = tuple(f"locQualityIssue{part}" for part in ("Type", "Comment", "Severity", "ProfileRef"))
_ENABLED: Final = "locQualityIssueEnabled"
_REF: Final = "locQualityIssuesRef"
_VOTE: Final = "locQualityRatingVote"
_NUMBERS: Final = {MT: ("mtConfidence", 1), RATING: ("locQualityRatingScore", 100)}
_MARKS: Final = frozenset(
    its(name) for name in (*_PARTS, _REF, _VOTE, *(name for name, _ in _NUMBERS.values()))
)
_ANNOTATORS: Final = its("annotatorsRef")
_CARRIED: Final = frozenset({*_MARKS, _ANNOTATORS, STATED})
_PART_NAMES: Final = {part: its(part) for part in (*_PARTS, _ENABLED)}
_ID: Final = "{http://www.w3.org/XML/1998/namespace}id"
_DECIMAL: Final = re.compile(r"[0-9]+(\.[0-9]*)?|\.[0-9]+", re.ASCII)


class Number(NamedTuple):
    """A number for the whole translation, and who gives it; None where the file does not say."""

    value: float
    annotator: str | None


class Stated(NamedTuple):
    """What adjudge said beside ITS: raw, the line that it stands in, and who said it, where that is named."""

    raw: str
    line: int
    annotator: str | None


@dataclass(kw_only=True)
class Found:
    """All that is said of one translation."""

    issues: list[Issue] = field(default_factory=list)  # in the order of the file
    numbers: dict[str, Number] = field(default_factory=dict)  # by data category
    stated: Stated | None = None  # what adjudge said beside ITS
    parts: int = 0  # how many numbers are for parts of the translation
    # whether somebody is named at the translation itself to have looked for issues
    has_annotator: bool = False


class Marks:
    """Reads the marks of one file."""

    def __init__(self, file: XmlFile) -> None:
        self._file = file
        groups = file.tree.iter(its("locQualityIssues"))
        self._groups = {group.get(_ID) or group.get("id"): group for group in groups}
        self._read: set[Element] = set()

    def unread(self) -> int:
        """How many elements have marks that no call of `find` has read so far, votes among them."""
        return sum(
            e.get(its(_VOTE)) is not None or e not in self._read
            for e in self._file.tree.iter("*")
            if not _MARKS.isdisjoint(e.keys())
        )

    def find(self, unit: Unit) -> Found:
        """Find all that is said of a translation."""
        found = Found()
        carriers = list(self._carriers(unit))
        whole = (0, len(plain_text(unit.target))) if carriers else (0, 0)
        for element, side, place in carriers:
            self._read.add(element)
            if (raw := element.get(STATED)) is not None:
                found.stated = Stated(raw, element.sourceline, _annotator(element, ISSUE))
                place = None  # noqa: PLW2901 (a mark around all, since XLIFF 2 has no other place for it)
            found.issues += self._issues(element, side, place)
            if side == "translation":
                self._add_numbers(found, element, is_whole=place in {None, whole})
        return found

    def _carriers(self, unit: Unit) -> Iterator[tuple[Element, Side, tuple[int, int] | None]]:
        parent = unit.target.getparent()
        if parent is not unit.holder and _is_carrier(parent):
            yield parent, "translation", None
        is_alone = parent is unit.holder or len(list(islice(children(unit.holder, "segment"), 2))) == 1
        if is_alone and _is_carrier(unit.holder):
            yield unit.holder, "translation", None
        sources: list[tuple[Element, Side]] = [(source, "source") for source in children(parent, "source")]
        for text, side in ((unit.target, "translation"), *sources[:1]):
            if found := [element for element in text.iter("*") if _is_carrier(element)]:
                at = places(text) if found != [text] else {}
                for element in found:
                    yield element, side, None if element is text else at.get(element)

    def _issues(self, element: Element, side: Side, place: tuple[int, int] | None) -> Iterator[Issue]:
        annotator = _annotator(element, ISSUE)
        if any(_PART_NAMES[part] in element.attrib for part in _PARTS):
            values = {part: element.get(name) for part, name in _PART_NAMES.items()}
            yield self._issue(element, values, (side, place, annotator))
        if (ref := element.get(its(_REF))) is not None:
            file, _, name = ref.partition("#")
            group = None if file else self._groups.get(name.removeprefix("its="))
            issues = [] if group is None else [*children(group, "locQualityIssue")]
            for issue in issues:
                values = {part: issue.get(part) for part in (*_PARTS, _ENABLED)}
                yield self._issue(issue, values, (side, place, annotator))
            if not issues:
                yield Issue({}, side, place, annotator, None)

    def _issue(
        self,
        element: Element,
        values: Mapping[str, str | None],
        where: tuple[Side, tuple[int, int] | None, str | None],
    ) -> Issue:
        raw = values["locQualityIssueSeverity"]
        severity = None if raw is None else self._number(element, "locQualityIssueSeverity", raw, 100)
        says = {part: value for part in _PARTS if (value := values[part]) is not None}
        return Issue(says, *where, severity, values[_ENABLED] != "no")

    def _add_numbers(self, found: Found, element: Element, *, is_whole: bool) -> None:
        for category, (name, high) in _NUMBERS.items():
            if (raw := element.get(its(name))) is None:
                continue
            value = self._number(element, name, raw, high)
            if is_whole:
                found.numbers[category] = Number(value, _annotator(element, category))
            else:
                found.parts += 1
        named = annotator_of(element.get(_ANNOTATORS, ""), ISSUE)
        found.has_annotator |= named is not None and is_whole

    def _number(self, element: Element, name: str, raw: str, high: int) -> float:
        value = float(raw) if _DECIMAL.fullmatch(raw.strip()) else -1.0
        if not 0 <= value <= high:
            raise DataError(
                f"its:{name} must be a number from 0 to {high}, got {raw!r}",
                path=self._file.path,
                line=element.sourceline,
            )
        return value


def _is_carrier(element: Element) -> bool:
    return not _CARRIED.isdisjoint(element.keys())


def _annotator(element: Element, category: str) -> str | None:
    """Who is named for a data category at an element, or at the nearest one around it."""
    while element is not None:
        if (found := annotator_of(element.get(_ANNOTATORS, ""), category)) is not None:
            return found
        element = element.getparent()
    return None


@names_file
def read_judged_xliff(path: Path, lp: str | None = None) -> ContentWithTexts[Record]:
    """Read a file with what is said of its translations."""
    file = read_xml(path)
    units, kept_out = read_units(file, lp)
    test_set = test_set_of(path, units, kept_out)
    marks, met = Marks(file), Counter[str]()
    records: list[Record] = []
    for unit in units:
        if unit.target is not None and SYSTEM in unit.segment.translations:
            records += _Reader(unit, marks.find(unit), path, met).read()
    judged_as = dict.fromkeys((record.annotator, record.protocol) for record in records)
    records += [
        Failure(
            lp=unit.segment.lp,
            segment=unit.segment.segment,
            document=unit.segment.document,
            systems=(SYSTEM,),
            annotator=annotator,
            protocol=protocol,
            reason="no_translation",
        )
        for unit in units
        if not unit.segment.has_translation(SYSTEM)
        for annotator, protocol in judged_as
    ]
    met["marks of ITS that are about no translation here, or votes, left out"] += marks.unread()
    return ContentWithTexts(test_set=test_set, records=tuple(records), met=+met)


class _Reader:
    def __init__(self, unit: Unit, found: Found, path: Path, met: Counter[str]) -> None:
        self._found = found
        self._path = path
        self._met = met
        self._text = unit.segment.translations[SYSTEM]
        self._segment = unit.segment

    def read(self) -> Iterator[Record]:
        found = self._found
        self._met["issues that are not enabled, left out"] += sum(
            not issue.is_enabled for issue in found.issues
        )
        self._met["confidences and ratings of a part of a translation, left out"] += found.parts
        numbers, issues = dict(found.numbers), found.issues
        if found.stated is not None:
            raw, line, annotator = found.stated
            about = {"lp": self._segment.lp, "segment": self._segment.segment, "system": SYSTEM}
            stated = read_stated(raw, {**about, "annotator": annotator or ISSUE}, line)
            own = [issue for issue in issues if issue.annotator == annotator]
            issues = [issue for issue in issues if issue.annotator != annotator]
            is_rating = (  # of this judgement, and no other tool's confidence
                MT in numbers and numbers[MT].annotator == annotator and confidence_of(stated) is not None
            )
            yield self._restate(stated, own, numbers.pop(MT).value if is_rating else None)
        elif found.has_annotator and not issues and not numbers:
            self._met[
                "translations that name who looked for issues, and say no more: taken for not judged"
            ] += 1
        yield from self._errors([issue for issue in issues if issue.is_enabled], numbers)
        if MT in numbers:
            value, annotator = numbers[MT]
            yield self._annotation(annotator, MT, protocol="metric", rating=value)

    def _restate(self, stated: Annotation, issues: Sequence[Issue], confidence: float | None) -> Record:
        """What adjudge wrote, and what was put in, taken back or changed since."""
        spans, added = keep_spans(stated, issues, self._text)
        now = replace(stated, spans=tuple(spans), rating=keep_rating(stated, confidence))
        if now == stated and not added:
            return stated
        self._met["judgements that were changed since adjudge wrote them, taken as they are now"] += 1
        new = [self._span(issue) for issue in added]
        if None in new:
            return self._failure(stated.annotator, stated.protocol)
        spans += [span for span in new if span is not None]
        return replace(now, spans=tuple(spans), counts={}, samples=())

    def _errors(self, issues: Sequence[Issue], numbers: Mapping[str, Number]) -> Iterator[Record]:
        rating = numbers.get(RATING)
        raters = [] if rating is None else [rating.annotator]
        for annotator in dict.fromkeys([*(issue.annotator for issue in issues), *raters]):
            spans = [self._span(issue) for issue in issues if issue.annotator == annotator]
            value = rating.value if rating is not None and rating.annotator == annotator else None
            protocol = "mqm" if value is None else "esa"
            if None in spans:
                yield self._failure(annotator or ISSUE, protocol)
                continue
            known = tuple(span for span in spans if span is not None)
            yield self._annotation(annotator, ISSUE, protocol=protocol, rating=value, spans=known)

    def _annotation(
        self,
        annotator: str | None,
        category: str,
        *,
        protocol: str,
        rating: float | None,
        spans: tuple[ErrorSpan, ...] = (),
    ) -> Annotation:
        """A judgement; where nobody is named for it, the data category stands for who gave it."""
        flags = []
        if any(span.category is None and span.label is not None for span in spans):
            flags.append("category_unknown")
        if annotator is None:
            flags.append("rater_unknown")
            self._met["judgements without an annotator"] += 1
        return Annotation(
            lp=self._segment.lp,
            segment=self._segment.segment,
            system=SYSTEM,
            annotator=category if annotator is None else annotator,
            protocol=protocol,
            document=self._segment.document,
            rating=rating,
            spans=spans,
            flags=tuple(flags),
        )

    def _failure(self, annotator: str, protocol: str) -> Failure:
        self._met[
            "judgements that failed (label): an error's severity is not said, or the error not in this file"
        ] += 1
        return Failure(
            lp=self._segment.lp,
            segment=self._segment.segment,
            systems=(SYSTEM,),
            annotator=annotator,
            protocol=protocol,
            reason="label",
            detail="the severity of an error is not said, or the error is not in the file",
            document=self._segment.document,
        )

    def _span(self, issue: Issue) -> ErrorSpan | None:
        """An error; None where nobody can say how severe it is."""
        if issue.severity is None:
            return None
        severity, is_step = severity_of(issue.severity)
        self._met[
            "severities other than 0, 33, 67 and 100, taken for the nearest of these and never for 0"
        ] += not is_step
        category, label = label_of(issue.says.get("locQualityIssueType", ""))
        self._met["types that are no category of ours, kept as label"] += (
            category is None and label is not None
        )
        text = self._text if issue.side == "translation" else self._segment.source
        return placed(
            text,
            *(issue.place or (None, None)),
            severity=severity,
            category=category,
            side=issue.side,
            note=issue.says.get("locQualityIssueComment", ""),
            label=label,
        )


def write_xliff(path: Path, records: Iterable[Record], origin: Path, lp: str | None = None) -> Counter[str]:
    """Write a copy of the judged file with what one annotator said of its translations.

    What has no place in it, and how often.
    """
    file = read_xml(origin)
    left_out: Counter[str] = Counter()
    judged = by_translation(records, left_out, "XLIFF")
    others = [place for place in judged if place[2] != SYSTEM]
    left_out["judgements of other systems"] += len(others)
    for place in others:
        del judged[place]
    marks = _Marks(file, left_out)
    for unit in read_units(file, lp)[0]:
        annotation = judged.pop((unit.segment.lp, unit.segment.segment, SYSTEM), None)
        if annotation is not None:
            marks.add(unit, annotation)
    if judged:
        _, segment, _ = next(iter(judged))
        raise DataError(f"the records judge a segment {segment!r} that is not there", path=origin)
    marks.declare()
    write_xml(path, file)
    return +left_out


class _Marks:
    def __init__(self, file: XmlFile, left_out: Counter[str]) -> None:
        self._file = file
        self._etree = import_extra("lxml.etree")
        self._is_2 = is_version_2(file)
        self._left_out = left_out
        taken = {value for e in file.tree.iter("*") for key, value in e.items() if key in {"id", _ID}}
        self._ids = (name for n in itertools_count(1) if (name := f"adjudge-{n}") not in taken)

    def add(self, unit: Unit, annotation: Annotation) -> None:
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
        outermost_first = sorted(annotation.spans, key=lambda span: (span.start or 0) - (span.end or 0))
        unplaced = [span for span in outermost_first if not self._mark(unit, annotation, span)]
        if unplaced:
            self._put(around, {"locQualityIssuesRef": self._stand_off(unit, annotation, unplaced)})

    def declare(self) -> None:
        root = self._file.root
        prefixes = {prefix for e in self._file.tree.iter("*") for prefix in e.nsmap if prefix}
        ours = {"its": ITS, "adjudge": STATED_NAMESPACE}
        self._etree.cleanup_namespaces(root, top_nsmap=ours, keep_ns_prefixes=list(prefixes))
        if root.get(its("version")) is None:
            root.set(its("version"), "2.0")

    def _around(self, target: Element) -> Element:
        if not self._is_2:
            return target
        mark = self._new_mark(target)
        wrap_all(target, mark)
        return mark

    def _mark(self, unit: Unit, annotation: Annotation, span: ErrorSpan) -> bool:
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


def _check_places(text: str, annotation: Annotation, path: Path) -> None:
    """Refuse judgements of another text: their marks would stand anywhere."""
    for span in annotation.spans:
        if span.side == "translation" and span.start is not None and span.end is not None:
            found = text[span.start : span.end]
            if span.end > len(text) or (span.text and found != span.text and span.match == "exact"):
                raise DataError(
                    f"the records are about another text: segment {annotation.segment!r} has an error "
                    f"{span.text!r} at {span.start} to {span.end}, where the file has {found!r}",
                    path=path,
                )
