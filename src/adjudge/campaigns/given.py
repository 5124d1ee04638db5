"""Spans that were marked beforehand, by whatever made the stored annotations, made to fit the text shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from adjudge.campaigns.shown import SpanShown
from adjudge.core.annotation import Annotation, ErrorSpan, Record
from adjudge.core.segment import Segment
from adjudge.core.typology import Severity
from adjudge.errors import DataError

__all__ = ["Given"]

_SPOKEN: Final = {
    "bare": "translations without a stored annotation, shown without marks",
    "unplaced": "marks without a place in the translation (something missing, or not found), left out",
    "source": "marks in the source, left out because people are shown those of the translation alone",
    "outside": "marks outside of their translation, left out",
    "clipped": "marks that reach beyond the end of their translation, cut there",
    "other": "marks of another text than the translation, left out",
    "severity": "marks of a severity that the protocol does not have, left out",
}


class Given:
    """Marks by translation.

    Args:
        records: stored annotations of one annotator; what is no annotation is passed over.
        severities: of the protocol; a critical error is shown as major where there is no critical one.

    Raises:
        DataError: two annotations of one translation.
    """

    def __init__(self, records: Iterable[Record], severities: Sequence[Severity]) -> None:
        self._severities = tuple(severities)
        self._counts: Counter[str] = Counter()
        self._found: dict[tuple[str, str, str], Annotation] = {}
        for record in records:
            if isinstance(record, Annotation):
                first = self._found.setdefault((record.lp, record.segment, record.system), record)
                if first is not record:
                    where = f"segment {record.segment!r} of {record.system}, {record.lp}"
                    both = f"{first.annotator!r} and {record.annotator!r}"
                    raise DataError(
                        f"given marks: {where} has two annotations, by {both}; give one annotator's"
                    )

    def __len__(self) -> int:
        """Count the annotations."""
        return len(self._found)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What did not fit, for people, so far."""
        return tuple(f"{text}: {self._counts[key]}" for key, text in _SPOKEN.items() if self._counts[key])

    def of(self, segment: Segment, system: str) -> list[SpanShown] | None:
        """Marks of one translation in order; None where nobody annotated it."""
        found = self._found.get((segment.lp, segment.segment, system))
        if found is None:
            self._counts["bare"] += 1
            return None
        text = segment.translations[system]
        shown = (self._shown(span, text) for span in found.spans)
        return sorted((span for span in shown if span is not None), key=lambda s: (s["start"], s["end"]))

    def _shown(self, span: ErrorSpan, text: str) -> SpanShown | None:
        severity, start, end = self._severity(span.severity), span.start, span.end
        fault = "severity" if severity is None else _fault(span, text)
        if fault or severity is None or start is None or end is None:
            self._counts[fault] += 1
            return None
        self._counts["clipped"] += end > len(text)
        marked = text[start : min(end, len(text))]
        return {
            "side": "translation",
            "start": start,
            "end": start + len(marked),
            "text": marked,
            "severity": severity,
            "category": span.category,
            "note": span.note,
        }

    def _severity(self, severity: Severity) -> Severity | None:
        if severity == "critical" and severity not in self._severities:
            severity = "major"
        return severity if severity in self._severities else None


def _fault(span: ErrorSpan, text: str) -> str:
    """Why a span cannot be shown in a text; empty where it can."""
    if span.side == "source":
        return "source"
    if span.start is None or span.end is None:
        return "unplaced"
    if span.start >= len(text) or span.start == span.end:
        return "outside"
    is_other = span.match == "exact" and span.text and text[span.start : span.end] != span.text
    return "other" if is_other and span.end <= len(text) else ""
