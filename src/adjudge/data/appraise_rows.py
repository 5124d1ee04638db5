"""Submissions as rows of Appraise: the way back of `appraise_submissions`.

A row is made of what a submission says. Where the file that it was read from had it otherwise (numbers of
items, codes of languages, marks beyond a text), `Submission.more` keeps that column as it stood there, and
it is written as it was.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from adjudge.core.annotation import Annotation, ErrorSpan
from adjudge.data.appraise import AppraiseRow, AppraiseSpan, render_columns
from adjudge.data.appraise_places import place_of, units_of
from adjudge.data.appraise_records import UNDECIDED_MARK
from adjudge.data.labels import render_label
from adjudge.data.submissions import Submission

__all__ = ["COLUMNS", "MORE", "columns_of", "document_of", "spans_of", "target_of"]

MORE: Final = "appraise"
"""Key of `Submission.more` and of `CampaignFile.settings`: what else an export of Appraise said."""

COLUMNS: Final = (
    *("login", "target", "item", "type", "source_language", "target_language", "score", "document"),
    *("is_complete", "spans", "start", "end", "batch", "id"),
)

_OMISSION: Final = "accuracy/omission"


def columns_of(
    submission: Submission,
    record: Annotation,
    item: tuple[int, int],
    test_set: str,
    left_out: Counter[str] | None = None,
) -> dict[str, str]:
    """One judgement as a row, by the names of its columns, with those of `--batch-info`.

    Args:
        submission: of one person.
        record: what it says of one translation.
        item: batch, and number of the item within it.
        test_set: name that stands before the system.
        left_out: counts what Appraise has no words for.
    """
    system, left_out = record.system, Counter() if left_out is None else left_out
    source, _, target = submission.lp.partition("-")
    row = AppraiseRow(
        login=submission.person,
        target=target_of(submission, system, test_set),
        item=item[1],
        kind="BAD" if submission.kind == "check" else "TGT",
        languages=(source, target),
        score=record.rating or 0,
        document=document_of(submission, system),
        is_complete=False,
        spans=tuple(
            spans_of(
                record.spans,
                submission.texts.get(system, ""),
                record.protocol,
                submission.given.get(system, ()),
                left_out,
            )
        ),
        start=submission.started,
        end=submission.ended,
        batch_columns=(str(item[0]), str(item[1])),
    )
    return dict(zip(COLUMNS, render_columns(row), strict=True))


def target_of(submission: Submission, system: str, test_set: str) -> str:
    """Test set and system, which a point parts; in a tutorial the system alone."""
    return system if submission.kind == "tutorial" else f"{test_set.replace('.', '-')}.{system}"


def document_of(submission: Submission, system: str) -> str:
    """Document as Appraise names it: with the system, and a mark where it is damaged."""
    if submission.kind == "tutorial":
        return submission.document if "tutorial" in submission.document else f"tutorial-{submission.document}"
    mark = f"#bad{submission.task}" if submission.kind == "check" else ""
    return f"{submission.document}#{system}{mark}"


def spans_of(
    spans: tuple[ErrorSpan, ...],
    text: str,
    protocol: str,
    given: tuple[ErrorSpan, ...],
    left_out: Counter[str],
) -> list[AppraiseSpan]:
    """Marks as Appraise has them: inclusive UTF-16 units of what it shows of the text.

    Args:
        spans: half-open, in code points.
        text: that was shown.
        protocol: of the record; esa has no types of errors.
        given: that a machine marked before; where one was kept, nothing says of which type it is.
        left_out: counts what Appraise has no words for.
    """
    found = []
    for span in spans:
        if what := _foreign(span, text):
            left_out[what] += 1
        else:
            start, end = _units(span, text, left_out)
            found.append(
                AppraiseSpan(
                    start=start,
                    end=end,
                    severity=UNDECIDED_MARK if span.severity == "neutral" else span.severity,
                    error_type=_error_type(span, protocol),
                    is_given=span in given,
                )
            )
    return found


def _foreign(span: ErrorSpan, text: str) -> str:
    """What Appraise has no words for; empty where it has."""
    if span.side == "source":
        return "errors marked in the source"
    if span.severity == "neutral" and span.note != UNDECIDED_MARK:
        return "errors without weight (neutral)"
    if span.start is not None and span.end is not None and units_of(text, span.start, span.end) is None:
        return "marks of nothing" if span.start == span.end else "marks of white space at an edge of a text"
    return ""


def _units(span: ErrorSpan, text: str, left_out: Counter[str]) -> tuple[int | None, int | None]:
    """First and last unit of a mark; both None where it has no place."""
    if span.start is None or span.end is None:
        return None, None
    first, last = units_of(text, span.start, span.end) or (0, 0)
    left_out["edges of marks in white space around a text"] += place_of(text, first, last)[:2] != (
        span.start,
        span.end,
    )
    return first, last


def _error_type(span: ErrorSpan, protocol: str) -> tuple[str, ...]:
    is_missing = span.start is None and span.category == _OMISSION and span.label is None
    label = "" if protocol != "mqm" and is_missing else render_label(span.category, span.label)
    return tuple(label.split("/")) if label else ()
