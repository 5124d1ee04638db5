"""Campaigns as Appraise has them: the export of every submission, and the batches that show its items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from adjudge.core.annotation import Annotation
from adjudge.data.appraise import appraise_span_to_json, write_columns
from adjudge.data.appraise_batches import SEGMENT, Batch, BatchItem
from adjudge.data.appraise_rows import COLUMNS, MORE, columns_of, document_of, spans_of, target_of
from adjudge.data.submission_records import unsaid_elsewhere
from adjudge.data.submissions import CampaignFile, Submission

__all__ = ["appraise_batches_of", "write_appraise_submissions"]

_BATCH_SIZE: Final = 100  # of Appraise's own; a document is never cut in two

_Item = tuple[int, int, str]
"""Task, item within it, and system."""


def write_appraise_submissions(path: Path | str, file: CampaignFile) -> Counter[str]:
    """Write a campaign as Appraise exports it, every submission of it.

    What came from an export is written as it stood there. Other campaigns get the columns of `--batch-info`,
    whose batches `appraise_batches_of` makes; both together can be read again.

    Returns:
        What Appraise has no words for, and how often it was left out.

    Raises:
        DataError: it cannot be written.
    """
    left_out: Counter[str] = Counter()
    numbers, name = _numbers(file.submissions), _test_set(file)
    rows: list[tuple[float, list[str]]] = []
    for submission in file.submissions:
        stored: Mapping[str, Any] = submission.more.get(MORE, {})
        left_out.update(unsaid_elsewhere(submission))
        for record in _annotations(submission):
            at = numbers[submission.task, submission.item, record.system]
            ours = columns_of(submission, record, at, name, left_out)
            rows.append((stored.get("row", float("inf")), _as_stored(ours, stored.get("columns"))))
    rows.sort(key=lambda row: row[0])
    line_end = file.settings.get(MORE, {}).get("line_end", "\n")
    write_columns(path, (columns for _, columns in rows), line_end)
    return +left_out


def _as_stored(ours: Mapping[str, str], stored: Mapping[str, str] | None) -> list[str]:
    """Columns as they stood in the file that they came from, without those that it did not have."""
    if stored is None:
        return [*ours.values()]
    names = COLUMNS if "batch" in stored else COLUMNS[:-2]
    return [stored.get(name, ours[name]) for name in names]


def _test_set(file: CampaignFile) -> str:
    return str(file.settings.get("test_set", file.name))


def _annotations(submission: Submission) -> Iterator[Annotation]:
    return (record for record in submission.records if isinstance(record, Annotation))


def _numbers(submissions: Iterable[Submission]) -> dict[_Item, tuple[int, int]]:
    """Batch and number, both from 1, of every item that somebody judged."""
    items = {(s.task, s.item, r.system) for s in submissions for r in _annotations(s)}
    sizes = Counter((task, system) for task, _, system in items)
    found: dict[_Item, tuple[int, int]] = {}
    batch, number, open_one = 1, 0, None
    for task, item, system in sorted(items, key=lambda at: (at[0], at[2], at[1])):
        if (task, system) != open_one and number and number + sizes[task, system] > _BATCH_SIZE:
            batch, number = batch + 1, 0
        open_one, number = (task, system), number + 1
        found[task, item, system] = batch, number
    return found


def appraise_batches_of(file: CampaignFile) -> tuple[Batch, ...]:
    """The batches that `write_appraise_submissions` numbers, with every item that somebody judged."""
    numbers, name = _numbers(file.submissions), _test_set(file)
    shown = {(s.task, s.item, r.system): s for s in file.submissions for r in _annotations(s)}
    batches: dict[int, list[BatchItem]] = {}
    lps: dict[int, str] = {}
    for at, (batch, number) in numbers.items():
        lps.setdefault(batch, shown[at].lp)
        batches.setdefault(batch, []).append(_item(shown[at], at[2], number, name))
    return tuple(
        Batch(items=tuple(items), task=_task(number, lps[number])) for number, items in batches.items()
    )


def _task(number: int, lp: str) -> dict[str, object]:
    source, _, target = lp.partition("-")
    languages = {"sourceLanguage": source, "targetLanguage": target}
    return {"batchNo": number, "randomSeed": 0, "requiredAnnotations": 1, **languages}


def _item(submission: Submission, system: str, number: int, test_set: str) -> BatchItem:
    text = submission.texts.get(system, "")
    given = spans_of(submission.given.get(system, ()), text, submission.protocol, (), Counter())
    named = submission.segment
    has_line = named.isdecimal() and named == str(int(named)) != "0"
    line = f"{system} | {int(named) - 1} | {submission.document}" if has_line else None
    return BatchItem(
        number=number,
        kind="BAD" if submission.kind == "check" else "TGT",
        document=document_of(submission, system),
        source_id=test_set,
        target=target_of(submission, system, test_set),
        source=submission.source,
        translation=text,
        marked_before=[*map(appraise_span_to_json, given)],
        origin=line,
        is_absent=frozenset() if has_line else frozenset({"_item"}),
        more={} if has_line else {SEGMENT: named},
    )
