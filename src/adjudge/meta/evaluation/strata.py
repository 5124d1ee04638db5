"""Parts of the translations that have something in common: a domain, a document, a length, a severity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from adjudge.core.typology import SEVERITIES
from adjudge.errors import UsageError
from adjudge.meta.evaluation.eval_set import CLEAN, EvalSet, ScoreSet
from adjudge.meta.evaluation.frame import length_names
from adjudge.meta.evaluation.options import StratumKind
from adjudge.meta.evaluation.results import named_gold
from adjudge.meta.measures.result import Floats

__all__ = ["strata"]


def strata(
    kind: StratumKind, eval_set: EvalSet, gold: ScoreSet, length_bins: Sequence[int]
) -> Iterator[tuple[str, Floats]]:
    """Name of each part, and its translations: systems by segments, NaN for those that are not in it.

    Raises:
        UsageError: the test set does not say what its segments have in common.
    """
    if kind == "severity":
        yield from _by_severity(gold)
        return
    labels = _labels(kind, eval_set, length_bins)
    for label in dict.fromkeys(labels) if kind != "length" else length_names(eval_set.lp, length_bins):
        columns = np.array([each == label for each in labels])
        yield label, np.where(columns[None, :], gold.segments, np.nan)


def _labels(kind: StratumKind, eval_set: EvalSet, length_bins: Sequence[int]) -> list[str]:
    """Part that each segment belongs to."""
    if kind == "length":
        names = length_names(eval_set.lp, length_bins)
        return [names[sum(length >= start for start in length_bins)] for length in eval_set.lengths]
    labels = eval_set.domains if kind == "domain" else eval_set.documents
    if not any(labels):
        raise UsageError(f"{eval_set.name} does not say which {kind} a segment is of")
    return [label or f"no {kind}" for label in labels]


def _by_severity(gold: ScoreSet) -> Iterator[tuple[str, Floats]]:
    """Translations by the worst error that gold marks in them, clean ones first."""
    if gold.worst is None:
        raise UsageError(
            f"{named_gold(gold.name)} has no marked errors; give records, MQM TSV or .seg.rating that have"
        )
    for name, place in (("clean", CLEAN), *((s, i) for i, s in enumerate(SEVERITIES))):
        cells = gold.worst == place
        if cells.any():
            yield name, np.where(cells, gold.segments, np.nan)
