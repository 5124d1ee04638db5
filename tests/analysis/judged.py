"""Judgements with marks for tests, short to write."""

from pathlib import Path
from typing import Any

from adjudge.core.protocol import Severity
from adjudge.core.record import Annotation, ErrorSpan, Record, Side
from adjudge.core.scores import Run, RunInfo, Signature
from adjudge.core.segment import Segment, TestSet
from adjudge.store.json_lines import write_records, write_test_set
from adjudge.store.run_directory import write_run_info
from tests.analysis.records import mqm, rated

SOURCE = "Das alte Labor ist zu."
TEXT = "The old lab is closed today."


def texts(n: int = 4, *, text: str = TEXT, lp: str = "de-en") -> TestSet:
    """Segments 1 to n, each translated by a and b with the same words."""
    segments = (
        Segment(segment=str(i), lp=lp, source=SOURCE, translations={"a": text, "b": text})
        for i in range(1, n + 1)
    )
    return TestSet(name="t", segments=tuple(segments))


def span(
    words: str, severity: Severity = "minor", category: str | None = None, *, side: Side = "translation"
) -> ErrorSpan:
    """Mark words of the text; words that it does not have are a quotation without a place."""
    text = SOURCE if side == "source" else TEXT
    start = text.find(words)
    found: dict[str, Any] = (
        {"match": "unmatched"} if start < 0 else {"start": start, "end": start + len(words)}
    )
    return ErrorSpan(severity=severity, category=category, side=side, text=words, **found)


def marked(
    system: str, segment: str, *spans: ErrorSpan, annotator: str = "ann", lp: str = "de-en"
) -> Annotation:
    return mqm(system, segment, *spans, annotator=annotator, lp=lp)


def esa(system: str, segment: str, rating: float, *spans: ErrorSpan) -> Annotation:
    return rated(system, segment, rating, protocol="esa", lp="de-en", spans=spans)


def run_of(records: list[Record], test_set: TestSet | None = None, protocol: str = "mqm") -> Run:
    info = RunInfo(
        signature=Signature("judge", {"version": "1"}), kind="judge", annotator="judge", protocol=protocol
    )
    return Run(info=info, test_set=test_set or texts(), records=tuple(records))


def write_run(folder: Path, run: Run) -> Path:
    folder.mkdir(parents=True)
    write_run_info(folder, run.info)
    write_test_set(folder / "test_set.jsonl", run.test_set)
    write_records(folder / "records.jsonl", run.records)
    return folder
