"""The texts of a page, and whether what was judged is about them."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from adjudge.core.annotation import Annotation
from adjudge.core.run import Run
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, DataWarning, UsageError
from adjudge.report.annotators import Annotator
from adjudge.report.given import Given, Judged, shown_texts
from adjudge.report.segments import Key, merge_segments

__all__ = ["count_left_out", "name_of", "page_texts", "warn_of_misfits"]


def page_texts(judged: Sequence[Judged], lp: str | None, test_set: TestSet | None) -> dict[Key, Segment]:
    """Every segment that a page shows, in order of first appearance.

    The texts of the runs, if there are any; else those that files and campaigns bring along, and of those
    what was judged. Of a test set that was chosen, what was judged comes besides.

    Args:
        judged: runs, files and campaigns.
        lp: keep one language pair.
        test_set: that was chosen; else None.

    Raises:
        UsageError: there are no texts, none of the lp, or two versions of one.
        DataError: a run judged what its test set lacks, or a file nothing that is there.
    """
    runs = [each for each in judged if isinstance(each, Run)]
    files = [each for each in judged if isinstance(each, Given)]
    groups: list[Iterable[Segment]] = [run.test_set for run in runs]
    if not runs:
        groups += [shown_texts(f.records, f.test_set) for f in files if f.test_set is not None]
    if test_set is not None:
        groups.append(shown_texts((r for f in files for r in f.records), test_set))
    every = merge_segments(groups)
    if not every and not runs:
        for file in files:
            _refuse_unjudged(file)
        names = ", ".join(name_of(each) for each in judged)
        raise UsageError(f"{names}: judgements without texts; say what they are about with --test-set")
    known = tuple(dict.fromkeys(key[0] for key in every))
    if lp is not None and lp not in known:
        raise UsageError(f"no run has lp {lp!r}; there are {', '.join(known)}")
    segments = {key: s for key, s in every.items() if lp in {None, key[0]}}
    for run in runs:
        _check_run(run, segments)
    for file in files:
        _check_file(file, every)
    return segments


def name_of(judged: Judged) -> str:
    """What a page calls the texts of a run or file."""
    if isinstance(judged, Run):
        return judged.test_set.name
    return judged.name if judged.test_set is None else judged.test_set.name


def _check_run(run: Run, segments: Mapping[Key, Segment]) -> None:
    """Refuse records of translations that the run's test set does not have.

    Raises:
        DataError: there is one.
    """
    lps = {key[0] for key in segments}
    for record in (r for r in run.records if r.lp in lps):
        segment = segments.get((record.lp, record.segment))
        known = {} if segment is None else segment.translations
        for name in record.systems:
            if name not in known:
                what = f"{name} on segment {record.segment!r} of {record.lp}"
                raise DataError(f"the run of {run.info.annotator} judged {what}, which its test set lacks")


def _refuse_unjudged(file: Given) -> None:
    if not file.records:
        raise DataError(f"{file.name}: nothing was judged in it yet")


def _check_file(file: Given, segments: Mapping[Key, Segment]) -> None:
    """Refuse a file of which nothing would be shown.

    Raises:
        DataError: so it is.
    """
    _refuse_unjudged(file)
    for record in file.records:
        segment = segments.get((record.lp, record.segment))
        if segment is not None and all(name in segment.translations for name in record.systems):
            return
    hint = "is it of the same test set? --test-set adds its texts"
    raise DataError(f"{file.name}: no judgement is about a translation that the report shows; {hint}")


def count_left_out(
    judged: Sequence[Judged], shown: Sequence[Annotator], lps: Collection[str]
) -> tuple[tuple[str, int], ...]:
    """Name of each file, and how many of its records are of translations that the page does not show."""
    kept = Counter(id(record) for annotator in shown for record in annotator.records)
    found = []
    for file in (each for each in judged if isinstance(each, Given)):
        lost = sum(record.lp in lps and id(record) not in kept for record in file.records)
        found += [(file.name, lost)] if lost else []
    return tuple(found)


def warn_of_misfits(annotator: Annotator, segments: Mapping[Key, Segment]) -> None:
    """Warn where errors mark other words than stand there: they were marked in other texts."""
    misfits = total = 0
    for record in (r for r in annotator.records if isinstance(r, Annotation)):
        segment = segments[record.lp, record.segment]
        for span in (s for s in record.spans if s.start is not None and s.text):
            text = segment.source if span.side == "source" else segment.translations[record.system]
            total += 1
            misfits += text[span.start : span.end] != span.text
    if misfits:
        told = f"{misfits} of {total} errors of {annotator.label} mark other words than stand at their place"
        others = "gold and runs" if annotator.kind == "gold" else "it and the others"
        warnings.warn(f"{told}: {others} may have different texts", DataWarning, stacklevel=3)
