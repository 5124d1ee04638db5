"""What ITS 2.0 says of one translation in XLIFF: issues and numbers, with their places and who says so.

Read are the marks within source and target, those of the target as a whole, and those of the unit where it
has one segment alone. What stands elsewhere, as at an `alt-trans` or a match, is about another text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from adjudge.core.annotation import Side
from adjudge.data.inline import places, plain_text
from adjudge.data.its import annotator_of, its
from adjudge.data.xliff import Unit
from adjudge.data.xliff_stated import STATED
from adjudge.data.xml_files import Element, XmlFile, children
from adjudge.errors import DataError

__all__ = ["ISSUE", "MT", "RATING", "Found", "Issue", "Marks", "Number", "Stated"]

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


class Issue(NamedTuple):
    """One issue.

    Args:
        says: its attributes without their namespace; none where what is referred to is not in the file.
        side: text that it is in.
        place: where it is in that; None where it is about the whole.
        annotator: who says so; None where the file does not say.
        severity: 0 to 100; None where the file does not say.
        is_enabled: False where somebody took it back.
    """

    says: Mapping[str, str]
    side: Side
    place: tuple[int, int] | None
    annotator: str | None
    severity: float | None
    is_enabled: bool = True


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
    """All that is said of one translation.

    Args:
        issues: in the order of the file.
        numbers: by data category.
        stated: what adjudge said beside ITS.
        parts: how many numbers are for parts of the translation.
        has_annotator: whether somebody is named at the translation itself to have looked for issues.
    """

    issues: list[Issue] = field(default_factory=list)
    numbers: dict[str, Number] = field(default_factory=dict)
    stated: Stated | None = None
    parts: int = 0
    has_annotator: bool = False


class Marks:
    """Reads the marks of one file.

    Args:
        file: whose tree is read.
    """

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
        """Find all that is said of a translation.

        Raises:
            DataError: a number that is none, or beyond its range.
        """
        found = Found()
        for element, side, place in self._carriers(unit):
            self._read.add(element)
            whole = 0, len(plain_text(unit.target))
            if (raw := element.get(STATED)) is not None:
                found.stated = Stated(raw, element.sourceline, _annotator(element, ISSUE))
                place = None  # noqa: PLW2901 (a mark around all, since XLIFF 2 has no other place for it)
            found.issues += self._issues(element, side, place)
            if side == "translation":
                self._add_numbers(found, element, is_whole=place in {None, whole})
        return found

    def _carriers(self, unit: Unit) -> Iterator[tuple[Element, Side, tuple[int, int] | None]]:
        """Elements that say something, with the text that they are in and their place in it."""
        parent = unit.target.getparent()
        if parent is not unit.holder and _is_carrier(parent):
            yield parent, "translation", None
        is_alone = parent is unit.holder or len(list(children(unit.holder, "segment"))) == 1
        if is_alone and _is_carrier(unit.holder):
            yield unit.holder, "translation", None
        sources: list[tuple[Element, Side]] = [(source, "source") for source in children(parent, "source")]
        for text, side in ((unit.target, "translation"), *sources[:1]):
            if found := [element for element in text.iter("*") if _is_carrier(element)]:
                at = places(text) if found != [text] else {}
                for element in found:
                    yield element, side, None if element is text else at.get(element)

    def _issues(self, element: Element, side: Side, place: tuple[int, int] | None) -> Iterator[Issue]:
        """Issues said at an element, or referred to from it."""
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
        """A decimal number from 0 to `high`; nothing else is one."""
        value = float(raw) if _DECIMAL.fullmatch(raw.strip()) else -1.0
        if not 0 <= value <= high:
            message = f"its:{name} must be a number from 0 to {high}, got {raw!r}"
            raise DataError(message, path=self._file.path, line=element.sourceline)
        return value


def _is_carrier(element: Element) -> bool:
    """Whether an element has an attribute that says something of a translation."""
    return not _CARRIED.isdisjoint(element.keys())


def _annotator(element: Element, category: str) -> str | None:
    """Who is named for a data category at an element, or at the nearest one around it."""
    while element is not None:
        if (found := annotator_of(element.get(_ANNOTATORS, ""), category)) is not None:
            return found
        element = element.getparent()
    return None
