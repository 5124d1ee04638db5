"""Judgements for a spreadsheet: one a row, and no cell that a spreadsheet would run as a formula.

A cell that begins with what starts a formula (also behind blanks, and in its full-width form) gets an
apostrophe before it, `|` a backslash, control characters and half surrogate pairs a mark. That changes
texts, so nothing reads such a file again: the other formats keep texts as they are.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from adjudge.core.record import Annotation, ErrorSpan, Failure, Preference, Record
from adjudge.core.segment import TestSet
from adjudge.formats.campaign_export import CampaignFile, Submission, judgements
from adjudge.store.files import write_text

_SAID: Final = (
    *("system", "other system", "criterion", "verdict", "rating", "errors", "minor", "major", "critical"),
    *("marked", "comment"),
)
_OF_CAMPAIGN: Final = (
    *("person", "kind", "lp", "document", "segment", "task", *_SAID, "written"),
    *("started (UTC)", "ended (UTC)", "active seconds", "counts", "decided between"),
)
_ALONE: Final = (
    *("annotator", "protocol", "lp", "document", "segment", *_SAID, "flags", "failed"),
    *("source", "translation", "other translation"),
)
_FORMULA: Final = re.compile(r"[\s\u200b\ufeff]*[=+\-@|%\uff1d\uff0b\uff0d\uff20\t\r\n\0]")
_NUMBER: Final = re.compile(
    r"[+-]?(?:[0-9][0-9,]*(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?%?|[-+–—−]|[+-]?(?:inf|nan)"
)
_CONTROL: Final = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LONGEST: Final = 32_000  # characters of a cell; spreadsheets hold 32,767


def write_spreadsheet(path: Path, file: CampaignFile) -> Counter[str]:
    """Write every judgement of a campaign as CSV, with a byte-order mark, as spreadsheets want it.

    How many cells were too long for a spreadsheet, and cut.
    """
    return _write(path, _OF_CAMPAIGN, (_row(*one) for one in judgements(file.submissions)))


def write_judgements(path: Path, records: Iterable[Record], test_set: TestSet | None = None) -> Counter[str]:
    """Write judgements of whatever origin, and what failed, with the texts that they are about.

    How many cells were too long for a spreadsheet, and cut.
    """
    return _write(path, _ALONE, _rows_alone(records, test_set))


def _write(path: Path, heading: Sequence[str], rows: Iterable[Sequence[object]]) -> Counter[str]:
    left_out: Counter[str] = Counter()
    text = io.StringIO(newline="")
    table = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    table.writerow(heading)
    for row in rows:
        cells = [render_cell(value) for value in row]
        left_out["ends of texts that are too long for a cell"] += sum(len(c) > _LONGEST for c in cells)
        table.writerow([cell[:_LONGEST] for cell in cells])
    write_text(path, ["\ufeff", text.getvalue()])
    return +left_out


def disarm(cell: str) -> str:
    """Return a cell that no spreadsheet runs as a formula. Removing one leading apostrophe gives it back.

    A number, or a dash alone, stays as it is. Text that would start a formula, or that starts with an
    apostrophe, gets an apostrophe before it.
    """
    if _NUMBER.fullmatch(cell) or not (cell.startswith("'") or _FORMULA.match(cell)):
        return cell
    return f"'{cell}"


def render_cell(value: object) -> str:
    """A cell that stays what it says: a number as it is, text that no spreadsheet runs."""
    if value is None or isinstance(value, bool | int | float):
        return "" if value is None else str(value)
    text = _CONTROL.sub("\ufffd", str(value)).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    is_formula = _FORMULA.match(str(value))
    return ("'" if is_formula else "") + text.replace("|", "\\|")


def _row(s: Submission, record: Annotation | Preference | None, why_not: str) -> list[object]:
    about = [s.person, s.kind, s.lp, s.document, s.segment, s.task]
    between = "; ".join(str(one.get("person")) for one in s.decided_between)
    counts = f"no, {why_not}" if why_not else "yes"
    said: list[object] = [s.chosen, *[None] * 10] if record is None else _said(record)
    if isinstance(record, Preference):
        said[_SAID.index("marked")] = "; ".join(
            f"{system}: {mark.get('text')} ({mark.get('severity')})" for system, mark in s.reasons
        )
    return [*about, *said, s.edited, _moment(s.started), _moment(s.ended), s.active, counts, between]


def _rows_alone(records: Iterable[Record], test_set: TestSet | None) -> Iterator[list[object]]:
    texts = {(segment.lp, segment.segment): segment for segment in test_set or ()}
    for record in records:
        reason = record.reason if isinstance(record, Failure) else None
        flags = "" if isinstance(record, Failure) else " ".join(record.flags)
        shown: list[object] = [None, None]
        if (segment := texts.get((record.lp, record.segment))) is not None:
            shown = [segment.source, *(segment.translations.get(system) for system in record.systems)]
        about = [record.annotator, record.protocol, record.lp, record.document, record.segment]
        yield [*about, *_said(record), flags, reason, *shown, *[None] * (3 - len(shown))]


def _said(record: Record) -> list[object]:
    if not isinstance(record, Annotation):
        errors: list[object] = [None] * 6
        systems = [*record.systems, None][:2]
        if isinstance(record, Failure):
            return [*systems, record.criterion, None, *errors, record.detail]
        verdict = None if record.is_undecided else record.verdict
        return [*systems, record.criterion, verdict, *errors, record.rationale]
    counts = Counter(record.counts) or Counter(span.severity for span in record.spans)
    numbers = [counts.total(), *(counts[severity] for severity in ("minor", "major", "critical"))]
    about = [record.system, None, record.criterion, None, record.rating]
    reasons = (f"{_text(span)}: {span.note}" for span in record.spans if span.note)
    comment = "; ".join(filter(None, (record.rationale, *reasons)))
    marked = "; ".join(f"{_text(span)} ({span.category or span.severity})" for span in record.spans)
    return [*about, *numbers, marked, comment or None]


def _text(span: ErrorSpan) -> str:
    return span.text or "[missing]"


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S") if seconds else ""
