"""Annotations as MQM TSV in the columns of Marot; read back, they are equal."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from adjudge.core.annotation import Annotation, ErrorSpan, Failure, Record
from adjudge.core.segment import Segment, TestSet
from adjudge.data.files import write_lines
from adjudge.data.labels import render_label, render_severity
from adjudge.data.mqm_extras import render_extras
from adjudge.data.mqm_rows import COLUMNS
from adjudge.data.text import single_lp
from adjudge.errors import DataError

__all__ = ["write_mqm_tsv"]

_CLEAN = "No-error"


def write_mqm_tsv(path: Path | str, records: Iterable[Record], test_set: TestSet) -> Counter[str]:
    """Write the annotations of one language pair, one line an error.

    Args:
        path: the file.
        records: annotations; failures and preferences have no row and are counted.
        test_set: the texts.

    Returns:
        What a TSV cannot hold and how often it was left out.

    Raises:
        DataError: a text with a tab, a line end or a tag in it; a judgement of a text that is not there; two
            judgements by one annotator of the same translation.
        UsageError: several language pairs.
    """
    lp = single_lp(test_set)
    left_out: Counter[str] = Counter()
    chosen: list[Annotation] = []
    for record in records:
        if record.lp != lp:
            left_out["records of other language pairs"] += 1
        elif isinstance(record, Annotation):
            chosen.append(record)
        else:
            left_out["failures" if isinstance(record, Failure) else "preferences"] += 1
    rows = list(_rows(chosen, test_set, Path(path)))
    write_lines(Path(path), ("\t".join(row) for row in [COLUMNS, *rows]))
    judged = {(a.segment, a.system) for a in chosen}
    left_out["translations that nobody judged"] += sum(
        (s.segment, system) not in judged for s in test_set for system in s.translations
    )
    left_out["texts of references"] += sum(len(s.references) for s in test_set)
    left_out["segments whose domain or meta"] += sum(bool(s.domain or s.meta) for s in test_set)
    return +left_out


def _rows(annotations: Iterable[Annotation], test_set: TestSet, path: Path) -> Iterator[list[str]]:
    segments = {s.segment: s for s in test_set}
    positions = _positions(test_set)
    seen: set[tuple[str, str, str]] = set()
    for annotation in annotations:
        segment = segments.get(annotation.segment)
        if segment is None or annotation.system not in segment.translations:
            what = f"{annotation.system!r} of segment {annotation.segment!r}"
            raise DataError(
                f"the test set has no translation by {what}, which {annotation.annotator!r} judged"
            )
        system, partner = _full_name(annotation)
        key = (annotation.segment, system, annotation.annotator)
        if key in seen:
            raise DataError(
                f"{key[2]!r} judged {system!r} of segment {key[0]!r} twice; a TSV would join the two"
            )
        seen.add(key)
        ids = [system, segment.document, positions[segment.segment], segment.segment, annotation.annotator]
        for index, span in enumerate(annotation.spans or [None]):
            texts = {"source": segment.source, "translation": segment.translations[annotation.system]}
            text = "" if span is None else texts[span.side]
            extras = render_extras(
                annotation, span, text, first=not index, partner=partner, document=segment.document
            )
            marked = [_mark(text, span, side) for side, text in texts.items()]
            row = [*ids, *marked, *_labels(span)]
            _check(row, segment, path)
            yield [*row, json.dumps(extras, ensure_ascii=False) if extras else ""]


def _positions(test_set: TestSet) -> dict[str, str]:
    """Number of each segment within its document, from 1."""
    counts: Counter[str] = Counter()
    found = {}
    for segment in test_set:
        counts[segment.document] += 1
        found[segment.segment] = str(counts[segment.document])
    return found


def _full_name(annotation: Annotation) -> tuple[str, str]:
    """Name as side-by-side files have it, and the partner in it."""
    partner = next((flag.removeprefix("with:") for flag in annotation.flags if flag.startswith("with:")), "")
    return (f"{annotation.system}_with_{partner}" if partner else annotation.system), partner


def _labels(span: ErrorSpan | None) -> tuple[str, str]:
    if span is None:
        return _CLEAN, _CLEAN
    label = render_label(span.category, span.label)
    if label.strip().lower() in {_CLEAN.lower(), "no error", "hotw-test"}:
        raise DataError(f"in an MQM TSV {label!r} is no category of an error")
    return label, render_severity(span.severity)


def _mark(text: str, span: ErrorSpan | None, side: str) -> str:
    if "<v>" in text or "</v>" in text:
        raise DataError(f"an MQM TSV cannot hold a text that has its tags in it: {text!r}")
    if span is None or span.side != side or span.start is None or span.end is None:
        return text
    return f"{text[: span.start]}<v>{text[span.start : span.end]}</v>{text[span.end :]}"


def _check(row: list[str], segment: Segment, path: Path) -> None:
    for name, cell in zip(COLUMNS, row, strict=False):
        if "\t" in cell or "\n" in cell:
            message = f"an MQM TSV cannot hold a tab or a line end, as in the {name} of segment"
            raise DataError(f"{message} {segment.segment!r}; write JSONL instead", path=path)
        if not cell and name in {"system", "globalSegId", "rater"}:
            raise DataError(f"an MQM TSV needs a {name} for segment {segment.segment!r}", path=path)
