"""Cells about marked errors: F1 of a run's marks against gold's, by HiMATE's matching rule."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Final

from adjudge.core.annotation import Preference, Record
from adjudge.data.mtme import read_mtme
from adjudge.meta.reproduce.inputs import Inputs, MissingInputError
from adjudge.meta.reproduce.papers import Definition
from adjudge.meta.spans.compare import spans
from adjudge.meta.spans.reading import Judged, read_judged

__all__ = ["MARK_MEASURES", "mark_value"]

MARK_MEASURES: Final = frozenset({"span_f1"})

_RULE: Final = "himate"
_ENDINGS: Final = (".jsonl", ".jsonl.gz", "")


def mark_value(
    definition: Definition, metric: str, source: str, segments: Collection[str], inputs: Inputs
) -> float:
    """Compute F1 of marked errors at the definition's threshold.

    Args:
        definition: whose measure is one of `MARK_MEASURES`.
        metric: place and stem of a run or of records.
        source: name of the input.
        segments: ids of those that count.
        inputs: the files.

    Raises:
        MissingInputError: a file is not there, or judges none of the segments.
        DataError: it is not what it should be.
        UsageError: its protocol marks no errors.
    """
    (lp,) = definition.lps
    side = inputs.side(source, lp)
    gold = _gold_file(side.folder / "human-scores", f"{lp}.{side.gold.name}", inputs)
    run = inputs.file(metric.format(lp=lp), _ENDINGS)
    texts = inputs.content(side.folder / "sources" / f"{lp}.txt", lambda _: read_mtme(side.folder, lp))
    sides = []
    for file in (run, gold):
        judged: Judged = inputs.content(file, lambda path: read_judged(path, lp=lp, test_set=texts))
        kept = [r for r in judged.records if _belongs(r, side.eval_set.systems, segments)]
        if not kept:
            raise MissingInputError(f"judgements of the column's segments in {inputs.told(file)}")
        sides.append(kept)
    found = spans(*sides, rule=_RULE, threshold=definition.threshold, lp=lp, test_set=texts)
    return found.scores[0].f1


def _belongs(record: Record, systems: Collection[str], segments: Collection[str]) -> bool:
    if isinstance(record, Preference):
        return False
    return record.segment in segments and set(record.systems) <= set(systems)


def _gold_file(folder: Path, stem: str, inputs: Inputs) -> Path:
    """The ratings of gold: those of all raters together, or the only ones.

    Raises:
        MissingInputError: there are none, or several and none of all raters.
    """
    merged = folder / f"{stem}.merged.seg.rating"
    there = [merged] if merged.is_file() else sorted(folder.glob(f"{stem}*.seg.rating"))
    if len(there) != 1:
        raise MissingInputError(inputs.told(merged))
    return there[0]
