"""Segment scores of mt-metrics-eval and of WMT's MQM data: one annotation a score, none for `None`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from adjudge.core.annotation import Annotation, Failure, Record
from adjudge.core.segment import Segment, TestSet
from adjudge.data.score_files import AVERAGES, ScoreTable, read_score_file, write_score_file
from adjudge.data.text import single_lp
from adjudge.errors import DataError, UsageError

__all__ = ["read_score_records", "write_score_records"]

_ENDING: Final = ".seg.score"


def read_score_records(path: Path | str, test_set: TestSet, protocol: str = "metric") -> list[Annotation]:
    """Read a segment-level score file as annotations; its name, without the language pair, is the annotator.

    Args:
        path: the file; `.avg_seg_scores.tsv` names its segments, any other has a line for each.
        test_set: the segments that its lines are about, of one language pair.
        protocol: what the numbers are ratings of, such as `da-sqm`; `metric` has no bounds.

    Raises:
        DataError: a line is no score, a rating lies outside the protocol's scale, the lengths
            differ, or a segment that was rated is not in the test set.
    """
    path, lp = Path(path), single_lp(test_set)
    annotator = path.name.removesuffix(_ENDING).removesuffix(AVERAGES).removeprefix(f"{lp}.")
    return [
        Annotation(
            lp=lp,
            segment=segment.segment,
            system=system,
            annotator=annotator,
            protocol=protocol,
            document=segment.document,
            rating=value,
        )
        for system, segment, value in _ratings(path, test_set)
    ]


def _ratings(path: Path, test_set: TestSet) -> Iterator[tuple[str, Segment, float]]:
    if path.name.endswith(AVERAGES):
        table, known = read_score_file(path), {segment.segment: segment for segment in test_set}
    else:
        table = read_score_file(path, level="seg", units=len(test_set))
        known = dict(zip(table.units, test_set, strict=True))
    for system, values in zip(table.systems, table.values.tolist(), strict=True):
        for unit, value in zip(table.units, values, strict=True):
            if math.isnan(value):
                continue
            if unit not in known:
                raise DataError(
                    f"the test set has no segment {unit!r}, which was rated for {system!r}", path=path
                )
            yield system, known[unit], value


def write_score_records(path: Path | str, records: Iterable[Record], test_set: TestSet) -> Counter[str]:
    """Write the ratings of one language pair as a segment-level score file, `None` where there is none.

    Returns:
        What the format cannot hold and how often it was left out.

    Raises:
        DataError: an annotation without a rating, or of a segment that is not there.
        UsageError: a translation was rated twice.
    """
    import numpy as np

    lp = single_lp(test_set)
    left_out: Counter[str] = Counter()
    found: dict[tuple[str, str], float] = {}
    for record in records:
        if record.lp != lp:
            left_out["records of other language pairs"] += 1
        elif not isinstance(record, Annotation):
            left_out["failures" if isinstance(record, Failure) else "preferences"] += 1
        else:
            _take(record, found)
            left_out["errors"] += len(record.spans)
            left_out["rationales"] += record.rationale is not None
    rows = {segment.segment: index for index, segment in enumerate(test_set)}
    systems = list(dict.fromkeys(system for system, _ in found))
    values = np.full((len(systems), len(rows)), np.nan)
    for (system, segment), rating in found.items():
        if segment not in rows:
            raise DataError(f"the test set has no segment {segment!r}, which was rated for {system!r}")
        values[systems.index(system), rows[segment]] = rating
    table = ScoreTable(level="seg", systems=tuple(systems), units=tuple(rows), values=values)
    write_score_file(path, table)
    return +left_out


def _take(record: Annotation, found: dict[tuple[str, str], float]) -> None:
    what = f"{record.system!r} of segment {record.segment!r}"
    if record.rating is None:
        raise DataError(
            f"{what} has no rating by {record.annotator!r}; "
            "`adjudge score RUN --score-files DIR` writes scores of errors"
        )
    if (record.system, record.segment) in found:
        raise UsageError(f"{what} was rated twice; a score file holds one rating: choose --annotator")
    found[record.system, record.segment] = record.rating
