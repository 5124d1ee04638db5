"""Campaigns as Appraise has them: the export of every submission, and the batches that show its items.

`read_appraise_submissions` makes a campaign of an export and its batches. `write_appraise_submissions` writes
a campaign as an export, whose batches `appraise_batches_of` makes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from adjudge.core.frozen import frozen
from adjudge.core.record import Annotation, ErrorSpan
from adjudge.core.segment import Segment
from adjudge.errors import AdjudgeError, DataError, names_file
from adjudge.formats.appraise import (
    OMISSION,
    SEGMENT,
    AppraiseRow,
    AppraiseSpan,
    Batch,
    BatchItem,
    annotation_of,
    appraise_span_from_json,
    appraise_span_to_json,
    last_submissions,
    named_items,
    not_shown,
    place_of,
    protocol_of,
    read_appraise,
    read_span,
    render_columns,
    row_error,
    shown_twice,
    units_of,
)
from adjudge.formats.campaign_export import (
    UNDECIDED_MARK,
    CampaignFile,
    Kind,
    Submission,
    in_place,
    unsaid_elsewhere,
)
from adjudge.formats.mqm_tsv import render_label
from adjudge.formats.text import write_csv

MORE: Final = "appraise"
"""Key of `Submission.more` and of `CampaignFile.settings`: what else an export of Appraise said."""

COLUMNS: Final = (
    *("login", "target", "item", "type", "source_language", "target_language", "score", "document"),
    *("is_complete", "spans", "start", "end", "batch", "id"),
)


def columns_of(
    submission: Submission,
    record: Annotation,
    item: tuple[int, int],
    test_set: str,
    left_out: Counter[str] | None = None,
) -> dict[str, str]:
    """One judgement as a row, by the names of its columns, with those of `--batch-info`."""
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
    spans: tuple[ErrorSpan, ...],  # half-open, in code points
    text: str,
    protocol: str,
    given: tuple[ErrorSpan, ...],
    left_out: Counter[str],
) -> list[AppraiseSpan]:
    """Marks as Appraise has them: inclusive UTF-16 units of what it shows of the text."""
    found = []
    for span in spans:
        if what := _foreign(span, text):
            left_out[what] += 1
        else:
            start, end = _units(span, text, left_out)
            is_missing = span.start is None and span.category == OMISSION and span.label is None
            label = "" if protocol != "mqm" and is_missing else render_label(span.category, span.label)
            found.append(
                AppraiseSpan(
                    start=start,
                    end=end,
                    severity=UNDECIDED_MARK if span.severity == "neutral" else span.severity,
                    error_type=tuple(label.split("/")) if label else (),
                    is_given=span in given,
                )
            )
    return found


def _foreign(span: ErrorSpan, text: str) -> str:
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


_Key = tuple[int, int, str, str, str]
"""Batch, number, document, target and kind."""


@frozen
class _Shown:
    """An item where it stands: its segment, its task, its place in that, and the text before any damage."""

    item: BatchItem
    batch: Batch
    segment: str
    task: int
    place: int
    original: str | None


@names_file
def read_appraise_submissions(path: Path, batches: Sequence[Batch]) -> tuple[CampaignFile, Counter[str]]:
    """Read an export with its batches: the campaign, and what was odd in it and how often."""
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
            raise row_error(row, error) from error
        more = {MORE: {"row": number, "columns": _differing(plain, row, test_set)}}
        found.append(replace(plain, is_last=id(row) in last, more=more))
    line_end = {MORE: {"line_end": file.line_end}} if file.line_end != "\n" else {}
    campaign = CampaignFile(
        name=path.name.removesuffix(".csv").removesuffix(".scores"),
        protocol=protocols[0],
        submissions=tuple(in_place(sorted(found, key=lambda s: (s.ended, s.started, s.more[MORE]["row"])))),
        settings={"test_set": test_set, **line_end},
    )
    return campaign, +met


def _protocols(rows: Sequence[AppraiseRow], shown: Iterable[_Shown]) -> tuple[str, str]:
    of_records = protocol_of(rows)
    is_given = any(_is_marked(at.item) for at in shown) or any(
        span.is_given for row in rows for span in row.spans if not row.is_tutorial
    )
    return ("esa-ai" if is_given and of_records == "esa" else of_records), of_records


def _is_marked(item: BatchItem) -> bool:
    return not item.is_tutorial and bool(item.marked_before)


def _all_shown(batches: Sequence[Batch]) -> dict[_Key, _Shown]:
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


_BATCH_SIZE: Final = 100  # of Appraise's own; a document is never cut in two

_Item = tuple[str, int, int, str]
"""Language pair, task, item within it, and system."""


def write_appraise_submissions(path: Path, file: CampaignFile) -> Counter[str]:
    """Write a campaign as Appraise exports it, every submission of it.

    What came from an export is written as it stood there. Other campaigns get the columns of `--batch-info`,
    whose batches `appraise_batches_of` makes; both together can be read again.

    What Appraise has no words for, and how often it was left out.
    """
    left_out: Counter[str] = Counter()
    numbers, name = _numbers(file.submissions), _test_set(file)
    rows: list[tuple[float, list[str]]] = []
    for submission in file.submissions:
        stored: Mapping[str, Any] = submission.more.get(MORE, {})
        left_out.update(unsaid_elsewhere(submission))
        for record in _annotations(submission):
            at = numbers[submission.lp, submission.task, submission.item, record.system]
            ours = columns_of(submission, record, at, name, left_out)
            rows.append((stored.get("row", float("inf")), _as_stored(ours, stored.get("columns"))))
    rows.sort(key=lambda row: row[0])
    line_end = file.settings.get(MORE, {}).get("line_end", "\n")
    write_csv(path, (columns for _, columns in rows), line_end=line_end)
    return +left_out


def _as_stored(ours: Mapping[str, str], stored: Mapping[str, str] | None) -> list[str]:
    if stored is None:
        return [*ours.values()]
    names = COLUMNS if "batch" in stored else COLUMNS[:-2]
    return [stored.get(name, ours[name]) for name in names]


def _test_set(file: CampaignFile) -> str:
    return str(file.settings.get("test_set", file.name))


def _annotations(submission: Submission) -> Iterator[Annotation]:
    return (record for record in submission.records if isinstance(record, Annotation))


def _numbers(submissions: Iterable[Submission]) -> dict[_Item, tuple[int, int]]:
    items = {(s.lp, s.task, s.item, r.system) for s in submissions for r in _annotations(s)}
    sizes = Counter((lp, task, system) for lp, task, _, system in items)
    found: dict[_Item, tuple[int, int]] = {}
    batch, number, open_one = 1, 0, ("", 0, "")
    for lp, task, item, system in sorted(items, key=lambda at: (at[0], at[1], at[3], at[2])):
        this, is_full = (lp, task, system), number + sizes[lp, task, system] > _BATCH_SIZE
        if number and this != open_one and (is_full or lp != open_one[0]):
            batch, number = batch + 1, 0
        open_one, number = this, number + 1
        found[lp, task, item, system] = batch, number
    return found


def appraise_batches_of(file: CampaignFile) -> tuple[Batch, ...]:
    """The batches that `write_appraise_submissions` numbers, with every item that somebody judged."""
    numbers, name = _numbers(file.submissions), _test_set(file)
    shown = {(s.lp, s.task, s.item, r.system): s for s in file.submissions for r in _annotations(s)}
    batches: dict[int, list[BatchItem]] = {}
    tasks: dict[int, dict[str, object]] = {}
    for at, (batch, number) in numbers.items():
        source, _, target = shown[at].lp.partition("-")
        task = {"batchNo": batch, "randomSeed": 0, "requiredAnnotations": 1}
        tasks.setdefault(batch, {**task, "sourceLanguage": source, "targetLanguage": target})
        batches.setdefault(batch, []).append(_item(shown[at], at[3], number, name))
    return tuple(Batch(items=tuple(items), task=tasks[number]) for number, items in batches.items())


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


def batches_beside(path: Path, file: CampaignFile | None) -> Path | None:
    """Where batches go beside an export; None where none are written."""
    is_theirs = file is None or any(MORE in submission.more for submission in file.submissions)
    return None if is_theirs or str(path) == "-" else path.with_name(f"batches-{path.stem}.json")
