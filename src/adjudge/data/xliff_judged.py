"""Judgements out of XLIFF: quality issues, ratings and confidences of ITS 2.0, of adjudge or another tool.

A translation of which ITS says nothing was not judged, which is not the same as free of errors: it has no
record. What adjudge wrote comes back as it was. Of another tool, errors are a judgement of protocol `mqm`,
with a `locQualityRatingScore` of `esa`, and an `mtConfidence` is a score of a metric.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from adjudge.core.annotation import Annotation, ErrorSpan, Failure, Record
from adjudge.core.segment import TestSet
from adjudge.data.its import confidence_of, label_of, severity_of
from adjudge.data.xliff import SYSTEM, Unit, read_units, test_set_of
from adjudge.data.xliff_marks import ISSUE, MT, RATING, Found, Issue, Marks, Number
from adjudge.data.xliff_stated import keep_rating, keep_spans, read_stated
from adjudge.data.xml_files import read_xml

__all__ = ["JudgedXliff", "read_judged_xliff"]

_CHANGED: Final = "judgements that were changed since adjudge wrote them, taken as they are now"
_NEAREST: Final = "severities other than 0, 33, 67 and 100, taken for the nearest of these and never for 0"
_UNSAID: Final = (
    "judgements that failed (label): an error's severity is not said, or the error not in this file"
)
_UNNAMED: Final = "judgements without an annotator"
_UNKNOWN: Final = "types that are no category of ours, kept as label"
_DISABLED: Final = "issues that are not enabled, left out"
_PARTS: Final = "confidences and ratings of a part of a translation, left out"
_NOBODY: Final = "translations that name who looked for issues, and say no more: taken for not judged"
_ELSEWHERE: Final = "marks of ITS that are about no translation here, or votes, left out"


@dataclass(frozen=True, kw_only=True)
class JudgedXliff:
    """All that one file says.

    Args:
        test_set: its texts.
        records: what is said of them, in their order.
        met: what was odd, and how often.
    """

    test_set: TestSet
    records: tuple[Record, ...]
    met: Counter[str] = field(default_factory=Counter)


def read_judged_xliff(path: Path, lp: str | None = None) -> JudgedXliff:
    """Read a file with what is said of its translations.

    Args:
        path: the file.
        lp: as in `read_xliff`.

    Raises:
        DataError: as `read_xliff`; or a severity, confidence or rating that is none.
        UsageError: as `read_xliff`.
    """
    file = read_xml(path)
    units, kept_out = read_units(file, lp)
    test_set = test_set_of(path, units, kept_out, lp)
    marks, met = Marks(file), Counter[str]()
    records: list[Record] = []
    for unit in units:
        if unit.target is not None and SYSTEM in unit.segment.translations:
            records += _Reader(unit, marks.find(unit), path, met).read()
    met[_ELSEWHERE] += marks.unread()
    kept = tuple(record for record in records if record.lp in test_set.lps)
    return JudgedXliff(test_set=test_set, records=kept, met=+met)


class _Reader:
    """Reads what is said of one translation.

    Args:
        unit: what was judged.
        found: what is said of it.
        path: for errors.
        met: counts what is odd.
    """

    def __init__(self, unit: Unit, found: Found, path: Path, met: Counter[str]) -> None:
        self._found = found
        self._path = path
        self._met = met
        self._text = unit.segment.translations[SYSTEM]
        self._source = unit.segment.source
        self._segment = unit.segment

    def read(self) -> Iterator[Record]:
        """A record for each annotator: errors with their rating, and confidences apart."""
        found = self._found
        self._met[_DISABLED] += sum(not issue.is_enabled for issue in found.issues)
        self._met[_PARTS] += found.parts
        numbers, issues = dict(found.numbers), found.issues
        if found.stated is not None:
            raw, line, annotator = found.stated
            about = {"lp": self._segment.lp, "segment": self._segment.segment, "system": SYSTEM}
            stated = read_stated(raw, {**about, "annotator": annotator or ISSUE}, self._path, line)
            own = [issue for issue in issues if issue.annotator == annotator]
            issues = [issue for issue in issues if issue.annotator != annotator]
            yield self._restate(stated, own, self._own_confidence(stated, annotator, numbers))
        elif found.has_annotator and not issues and not numbers:
            self._met[_NOBODY] += 1
        yield from self._errors([issue for issue in issues if issue.is_enabled], numbers)
        if MT in numbers:
            value, annotator = numbers[MT]
            yield self._annotation(annotator, MT, protocol="metric", rating=value)

    @staticmethod
    def _own_confidence(
        stated: Annotation, annotator: str | None, numbers: dict[str, Number]
    ) -> float | None:
        """Take out the confidence that is the rating of a judgement, and no other tool's."""
        if MT not in numbers or numbers[MT].annotator != annotator or confidence_of(stated) is None:
            return None
        return numbers.pop(MT).value

    def _restate(self, stated: Annotation, issues: Sequence[Issue], confidence: float | None) -> Record:
        """What adjudge wrote, and what was put in, taken back or changed since."""
        spans, added = keep_spans(stated, issues, self._text)
        now = replace(stated, spans=tuple(spans), rating=keep_rating(stated, confidence))
        if now == stated and not added:
            return stated
        self._met[_CHANGED] += 1
        new = [self._span(issue) for issue in added]
        if None in new:
            return self._failure(stated.annotator, stated.protocol)
        spans += [span for span in new if span is not None]
        return replace(now, spans=tuple(spans), counts={}, samples=())

    def _errors(self, issues: Sequence[Issue], numbers: Mapping[str, Number]) -> Iterator[Record]:
        """Errors of each annotator, with the rating where the same one gives it."""
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
            self._met[_UNNAMED] += 1
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
        self._met[_UNSAID] += 1
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
        self._met[_NEAREST] += not is_step
        category, label = label_of(issue.says.get("locQualityIssueType", ""))
        self._met[_UNKNOWN] += category is None and label is not None
        start, end = issue.place or (None, None)
        text = self._text if issue.side == "translation" else self._source
        return ErrorSpan(
            severity=severity,
            start=start,
            end=end,
            text="" if issue.place is None else text[start:end],
            category=category,
            side=issue.side,
            match="unplaced" if issue.place is None else "exact",
            note=issue.says.get("locQualityIssueComment", ""),
            label=label,
        )
