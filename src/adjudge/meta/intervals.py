"""Bootstrap intervals beside the scores of systems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from adjudge.core.score import Interval, Scores
from adjudge.meta.bootstrap import bootstrap_means, lone_unit_note, percentile_intervals
from adjudge.meta.matrix import Totals, score_matrix

__all__ = ["student_intervals", "with_intervals"]


def student_intervals(
    totals: Totals, scale: tuple[float, float] = (-math.inf, math.inf)
) -> Sequence[Interval | None]:
    """95 % intervals of means over documents, by Student's t with G - 1 degrees of freedom.

    se^2 = G / (G - 1) * sum over documents (s_g - n_g m)^2 / (sum over documents n_g)^2

    The linearised variance of a ratio of totals (Cochran 1977, chapter 6). With few documents the bootstrap's
    percentiles are too narrow: they miss the factor of t and the bias of the variance.

    Args:
        totals: sum and number of each document's scores, by system.
        scale: lowest and highest possible score, at which intervals end.

    Returns:
        One interval a system; None with fewer than two documents of the system.
    """
    from scipy.special import stdtrit

    found: list[Interval | None] = []
    for sums, sizes in zip(totals.sums.T, totals.sizes.T, strict=True):
        held = sizes > 0
        count, whole = int(held.sum()), float(sizes.sum())
        if count < 2:
            found.append(None)
            continue
        mean = float(sums.sum()) / whole
        spread = float(np.square(sums - sizes * mean)[held].sum())
        reach = float(stdtrit(count - 1, 0.975)) * math.sqrt(count / (count - 1) * spread) / whole
        found.append(Interval(max(mean - reach, scale[0]), min(mean + reach, scale[1])))
    return found


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
