"""Bootstrap intervals beside the scores of systems."""

from __future__ import annotations

from dataclasses import replace

from adjudge.core.score import Interval, Scores
from adjudge.meta.bootstrap import bootstrap_means, lone_unit_note, percentile_intervals
from adjudge.meta.matrix import score_matrix

__all__ = ["with_intervals"]


def with_intervals(scores: Scores, *, resamples: int = 1000, seed: int = 0) -> Scores:
    """Give every system the 95 % bootstrap interval of its mean, over the segments it was judged on.

    One segment has none, and a note says so. A corpus score gets none: it is no mean of the segments, so that
    drawing segments says nothing of it.
    """
    lps = {lp: with_intervals(part, resamples=resamples, seed=seed) for lp, part in scores.lps.items()}
    if scores.signature.fields.get("level") == "corpus" or not scores.systems:
        return replace(scores, lps=lps)
    matrix = score_matrix(scores.segments)
    totals = matrix.totals(by_document=False)
    means = bootstrap_means(totals.sums, totals.sizes, resamples=resamples, seed=seed)
    found: dict[str, Interval | None] = dict(zip(matrix.systems, percentile_intervals(means), strict=True))
    systems = tuple(replace(s, interval=found.get(s.system)) for s in scores.systems)
    notes = (*scores.notes, *lone_unit_note(len(totals.sums), "segments"))
    return replace(scores, systems=systems, lps=lps, notes=notes)
