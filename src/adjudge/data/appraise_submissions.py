"""Appraise's campaigns whole: every submission of an export with what its batches showed.

Nothing is left out here: tutorials, damaged copies (with the text before it was damaged), fillers, what was
submitted again. Of several submissions of an item by one person the one that ended last counts, and of those
that ended together the later row. `appraise_export` writes it back, equal byte for byte.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from adjudge.core.annotation import Annotation, ErrorSpan
from adjudge.core.segment import Segment
from adjudge.data.appraise import AppraiseRow, appraise_span_from_json, read_appraise, render_columns
from adjudge.data.appraise_batches import Batch, BatchItem, named_items
from adjudge.data.appraise_records import (
    annotation_of,
    last_submissions,
    not_shown,
    protocol_of,
    read_span,
    row_error,
    shown_twice,
)
from adjudge.data.appraise_rows import COLUMNS, MORE, columns_of
from adjudge.data.submissions import CampaignFile, Kind, Submission
from adjudge.errors import AdjudgeError, DataError

__all__ = ["read_appraise_submissions"]

_Key = tuple[int, int, str, str, str]
"""Batch, number, document, target and kind."""


@dataclass(frozen=True, kw_only=True)
class _Shown:
    """An item where it stands: its segment, its task, its place in that, and the text before any damage."""

    item: BatchItem
    batch: Batch
    segment: str
    task: int
    place: int
    original: str | None


def read_appraise_submissions(
    path: Path | str, batches: Sequence[Batch]
) -> tuple[CampaignFile, Counter[str]]:
    """Read an export with its batches.

    Args:
        path: the export.
        batches: all of the campaign, as `read_batches` gives them.

    Returns:
        The campaign, and what was odd in it and how often.

    Raises:
        DataError: a row is none, or about an item that the batches do not have.
    """
    path = Path(path)
    file, shown = read_appraise(path), _all_shown(batches)
    met: Counter[str] = Counter()
    protocols = _protocols(file.rows, shown.values())
    test_set = next((s.item.source_id for s in shown.values() if not s.item.is_tutorial), path.stem)
    last = {id(row) for row in last_submissions(file.rows)}
    found: list[Submission] = []
    for number, row in enumerate(file.rows):
        try:
            plain = _submission(row, shown, protocols, met)
        except AdjudgeError as error:
            raise row_error(row, error, path) from error
        more = {MORE: {"row": number, "columns": _differing(plain, row, test_set)}}
        found.append(replace(plain, is_last=id(row) in last, more=more))
    line_end = {MORE: {"line_end": file.line_end}} if file.line_end != "\n" else {}
    campaign = CampaignFile(
        name=path.name.removesuffix(".csv").removesuffix(".scores"),
        protocol=protocols[0],
        submissions=_in_order(found),
        settings={"test_set": test_set, **line_end},
    )
    return campaign, +met


def _protocols(rows: Sequence[AppraiseRow], shown: Iterable[_Shown]) -> tuple[str, str]:
    """Protocol of the campaign, and of its records."""
    of_records = protocol_of(rows)
    is_given = any(_is_marked(at.item) for at in shown) or any(
        span.is_given for row in rows for span in row.spans if not row.is_tutorial
    )
    return ("esa-ai" if is_given and of_records == "esa" else of_records), of_records


def _is_marked(item: BatchItem) -> bool:
    return not item.is_tutorial and bool(item.marked_before)


def _all_shown(batches: Sequence[Batch]) -> dict[_Key, _Shown]:
    """Every item by its key; tasks are counted over all batches, from 1."""
    found: dict[_Key, _Shown] = {}
    tasks: dict[tuple[int, str, str], int] = {}
    places: Counter[int] = Counter()
    named = [*named_items(batches)]
    originals = {
        (batch.number, item.system, segment): item.translation
        for batch, item, segment in named
        if item.kind == "TGT"
    }
    for batch, item, segment in named:
        task = tasks.setdefault((batch.number, item.document, item.target), len(tasks) + 1)
        key = (batch.number, item.number, item.document, item.target, item.kind)
        if key in found:
            raise shown_twice(*key[:3])
        original = originals.get((batch.number, item.system, segment))
        found[key] = _Shown(
            item=item,
            batch=batch,
            segment=segment,
            task=task,
            place=places[task],
            original=original if item.kind == "BAD" else None,
        )
        places[task] += 1
    return found


def _submission(
    row: AppraiseRow, items: Mapping[_Key, _Shown], protocols: tuple[str, str], met: Counter[str]
) -> Submission:
    shown = items.get((row.batch, row.item, row.document, row.target, row.kind))
    if shown is None:
        raise not_shown(row)
    item, protocol, system = shown.item, protocols[0], shown.item.system
    kind: Kind = "tutorial" if item.is_tutorial else "check" if item.kind == "BAD" else "original"
    if kind == "check" and shown.original is None:
        met["damaged translations whose original is in no item of their batch"] += 1
    if row.end < row.start:
        met["submissions that end before they start; both times are that of the end"] += 1
    about = Segment(
        segment=shown.segment,
        lp=shown.batch.lp,
        source=item.source,
        translations={system: item.translation},
        document=item.text_id,
    )
    return Submission(
        person=row.login,
        protocol=protocol,
        kind=kind,
        lp=about.lp,
        segment=about.segment,
        document=about.document,
        task=shown.task,
        item=shown.place,
        batch=shown.batch.number,
        records=(annotation_of(row, about, system, protocols[1], met),),
        texts=about.translations,
        source=item.source,
        originals={} if shown.original is None else {system: shown.original},
        given={system: _given(item)} if protocol.endswith("-ai") and _is_marked(item) else {},
        started=min(row.start, row.end),
        ended=row.end,
    )


def _given(item: BatchItem) -> tuple[ErrorSpan, ...]:
    if not isinstance(item.marked_before, list):
        raise DataError(f"'mqm' must be a list of spans, got {item.marked_before!r}")
    return tuple(read_span(appraise_span_from_json(span), item.translation)[0] for span in item.marked_before)


def _differing(submission: Submission, row: AppraiseRow, test_set: str) -> dict[str, str]:
    """Columns of a row that ours would say otherwise."""
    (record,) = (r for r in submission.records if isinstance(r, Annotation))
    ours = columns_of(submission, record, (-1, -1), test_set)
    theirs = dict(zip(COLUMNS, render_columns(row), strict=False))
    return {name: text for name, text in theirs.items() if ours[name] != text}


def _in_order(submissions: list[Submission]) -> tuple[Submission, ...]:
    """By when they were finished, each with the number of those that its person had finished before."""
    done: Counter[str] = Counter()
    ordered = []
    for submission in sorted(submissions, key=lambda s: (s.ended, s.started, s.more[MORE]["row"])):
        ordered.append(replace(submission, place=done[submission.person]))
        done[submission.person] += 1
    return tuple(ordered)
