"""Accuracy over pairs of systems: soft, by how sure the order of two is, and plain, by the order alone."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from adjudge.errors import UsageError
from adjudge.stats.acc_eq import Compat
from adjudge.stats.judged import Floats, Judged, Result, judged
from adjudge.stats.paired import enlarged, sign_flip_p_values

Singles = NDArray[np.float32]

_WIDEST: Final = 1e30
"""Sums of scores above overflow in single precision; below one over it digits are lost."""

_FARTHEST: Final = 1e3
"""Standard deviations from 0: farther away, rounding to single precision would move the value."""

_UNEVEN = (
    "not every system was judged on every segment, so each pair is compared on the segments it shares; "
    "mt-metrics-eval has no number for that"
)
_EQUAL = "the metric ties the systems of {} in every segment; what that is worth depends on their order"
_ONE_SEGMENT = "one segment only, on which no order is sure; were scores of systems passed?"


def soft_pairwise_accuracy(
    gold: Floats, metric: Floats, *, resamples: int = 1000, seed: int = 4, compat: Compat | None = "mtme"
) -> Result:
    """How close the p-values of a metric are to those of gold, over pairs of systems.

    spa = 1 - mean over i < j of |p_gold(i, j) - p_metric(i, j)|

    p(i, j) is that of a paired permutation test of "i is better than j", whose signs are the same for all
    pairs. Thompson et al. 2024, https://arxiv.org/abs/2409.09598, who call 1 - spa pairwise confidence
    error. Range 0 to 1.

    As published, p is the share of random signs with a sum of differences as large as the real one or
    larger, in single precision; two systems that tie then have a p that depends on their order and on
    rounding. Scores far from 0 for their spread, or of extreme size, are centred and scaled first, so that
    single precision can tell them apart. With mt-metrics-eval's order of systems and seed, the value is its
    own to 1e-12 (its order is that of a Python set, and moves the value by up to 5e-4 where systems tie).
    `compat=None` takes `sign_flip_p_values` instead, which is exact for up to 12 segments and does not let
    rounding break ties.

    Missing: a score that gold or metric lacks is left out in both. Where some systems lack segments that
    others have, each pair is tested on the segments that it shares, in the way of `compat=None`; a pair
    that shares none does not count. A metric that ties two systems in every segment has a p of 1, which is
    right or wrong by their order; a note says so. Undefined with fewer than two systems, or where no pair
    shares a segment.

    N is the number of pairs of systems. `gold`: systems by segments; NaN where a translation was not judged.
    `metric`: the same shape.
    """
    if resamples < 1:
        raise UsageError(f"resamples must be 1 or more, got {resamples}")
    if compat not in {None, "mtme"}:
        raise UsageError(f"compat is 'mtme' or None, got {compat!r}")
    scores = judged(gold, metric, "item")
    used = scores.counts > 0
    scores = Judged(scores.gold[:, used], scores.metric[:, used])
    systems, segments = scores.gold.shape
    i, j = np.triu_indices(systems, 1)
    shared = ~np.isnan(gaps := scores.metric[i] - scores.metric[j]).all(axis=1)
    if not shared.any():
        reason = "no two systems share a segment that gold and metric both scored"
        if systems < 2:
            reason = f"systems are compared with each other, and there is {systems} only"
        return Result(value=None, n=0, reason=reason)
    even = bool((scores.counts == systems).all())
    if even and compat == "mtme":
        drawing = resamples, segments, seed
        p = _remembered(scores.gold.tobytes(), systems, drawing)[i, j]
        q = better_p_values(scores.metric, random_signs(*drawing))[i, j]
    else:
        p, q = (
            sign_flip_p_values((x[i] - x[j]).T, alternative="greater", resamples=resamples, seed=seed)
            for x in map(enlarged, scores)
        )
    equal = int((shared & ~(np.abs(gaps) > 0).any(axis=1)).sum())
    notes = {
        _ONE_SEGMENT: segments == 1,
        _UNEVEN: not even,
        _EQUAL.format("1 pair" if equal == 1 else f"{equal} pairs"): equal > 0,
    }
    return Result(
        value=float(1.0 - np.mean(np.abs(p - q)[shared])),
        n=int(shared.sum()),
        note="; ".join(note for note, holds in notes.items() if holds),
    )


def _reason(systems: int) -> str:
    if systems < 2:
        return f"systems are compared with each other, and there is {systems} only"
    return "no two systems share a segment that gold and metric both scored"


@lru_cache(maxsize=4)  # every metric of a language pair is tested with the same signs
def random_signs(resamples: int, segments: int, seed: int) -> Singles:
    """Random signs of mt-metrics-eval's stream, resamples by segments; not to be written to."""
    signs = np.random.default_rng(seed).random(size=(resamples, segments), dtype=np.float32)
    signs = 2 * np.rint(signs) - 1
    signs.setflags(write=False)
    return signs


@lru_cache(maxsize=16)  # and against the same gold
def _remembered(scores: bytes, systems: int, drawing: tuple[int, int, int]) -> Floats:
    found = better_p_values(np.frombuffer(scores).reshape(systems, -1), random_signs(*drawing))
    found.setflags(write=False)
    return found


def _single(scores: Floats) -> Floats:
    """Scores whose differences single precision can hold: as they are, or else centred and scaled.

    An offset that is the same for all scores moves no difference, but takes the digits that tell them apart.
    Centring rounds, so that it is left to scores that need it: none of WMT23's or MENT's does.
    """
    peak = float(np.abs(scores).max(initial=0.0))
    if not peak:
        return scores
    scaled = np.ldexp(scores, -np.frexp(peak)[1])
    spread = float(scaled.std())
    if not spread or (1 / _WIDEST <= peak <= _WIDEST and float(np.abs(scaled).max()) <= _FARTHEST * spread):
        return scores
    centred = scaled - scaled.mean()
    return np.asarray(centred / np.abs(centred).max(), dtype=np.float64)


def better_p_values(scores: Floats, signs: Singles) -> Floats:
    """p-values of "i is better than j" as mt-metrics-eval has them: systems by systems, NaN unless i < j.

    `scores`: systems by segments, none missing. `signs`: resamples by segments.
    """
    rows = np.ascontiguousarray(_single(scores), dtype=np.float32)
    sums, systems = rows.sum(axis=1), len(rows)
    drawn = np.ascontiguousarray(
        (signs @ rows.T).T
    )  # this product, this way round: other ways round otherwise
    found = np.full((systems, systems), np.nan)
    for i in range(systems - 1):
        hits = drawn[i] - drawn[i + 1 :] >= (sums[i] - sums[i + 1 :])[:, None]
        found[i, i + 1 :] = np.count_nonzero(hits, axis=1) / len(signs)
    return found


def pairwise_accuracy(gold: Floats, metric: Floats) -> Result:
    """Share of pairs of systems whose order the metric gets right.

    accuracy = |{i < j: sign(g_i - g_j) = sign(m_i - m_j)}| / |{i < j}|

    Kocmi et al. 2021, https://aclanthology.org/2021.wmt-1.57. Ties: a pair that only the metric, or only
    gold, ties is wrong; a pair that both tie is right. Missing: a system without a score in either is left
    out. Undefined with fewer than two systems. Range 0 to 1. Equal to mt-metrics-eval's, digit by digit.

    N is the number of pairs. `gold`: one score a system; NaN where it was not judged. `metric`: the same
    shape.
    """
    if np.ndim(gold) != 1:
        raise UsageError(
            f"pairwise accuracy takes one score a system, got an array of shape {np.shape(gold)}"
        )
    scores = judged(gold, metric)
    g, m = (side[~np.isnan(side)] for side in scores)
    i, j = np.triu_indices(len(g), 1)
    if not len(i):
        reason = f"systems are compared with each other, and scores of both are there for {len(g)} only"
        return Result(value=None, n=0, reason=reason)
    right = np.sign(g[i] - g[j]) == np.sign(m[i] - m[j])
    tied = (
        "gold ties all systems, so that only a metric that ties them too is right" if np.ptp(g) == 0 else ""
    )
    return Result(value=float(np.count_nonzero(right) / len(i)), n=len(i), note=tied)
