"""How many pairs of scores gold and metric order alike: what every tau is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from adjudge.meta.measures.judged import Judged
from adjudge.meta.measures.result import Floats
from adjudge.meta.measures.sharing import shared

__all__ = ["SHORT", "Counts", "PairCounts", "pair_counts"]

Counts = NDArray[np.int64]

SHORT: Final = 64
"""Members of a group, up to which all its pairs are looked at together."""


@dataclass(frozen=True, kw_only=True)
class PairCounts:
    """Pairs within each group, after what is a tie in gold and in the metric.

    Args:
        concordant: ordered alike.
        discordant: ordered the other way round.
        gold_ties: tied by gold only.
        metric_ties: tied by the metric only.
        both_ties: tied by both.
    """

    concordant: Counts
    discordant: Counts
    gold_ties: Counts
    metric_ties: Counts
    both_ties: Counts

    @property
    def pairs(self) -> Counts:
        """All pairs."""
        return self.concordant + self.discordant + self.gold_ties + self.metric_ties + self.both_ties


def pair_counts(scores: Judged, epsilon: float = 0.0) -> PairCounts:
    """Count the pairs of every group.

    Args:
        scores: members by groups.
        epsilon: largest difference of two metric scores that is a tie. In gold only equal scores are.
    """
    return shared("pair_counts", (scores.gold, scores.metric), epsilon, lambda: _pair_counts(scores, epsilon))


def _pair_counts(scores: Judged, epsilon: float) -> PairCounts:
    if len(scores.gold) <= SHORT or epsilon > 0:
        return _from_rows(_count(scores.gold, scores.metric, epsilon))
    columns = []
    for gold, metric in zip(scores.gold.T, scores.metric.T, strict=True):
        present = ~np.isnan(gold)
        columns.append(_count_sorted(gold[present], metric[present]))
    return _from_rows(np.array(columns, dtype=np.int64).reshape(-1, 5).T)


def _from_rows(rows: Counts) -> PairCounts:
    concordant, discordant, gold_ties, metric_ties, both_ties = rows
    return PairCounts(
        concordant=concordant,
        discordant=discordant,
        gold_ties=gold_ties,
        metric_ties=metric_ties,
        both_ties=both_ties,
    )


def _count(gold: Floats, metric: Floats, epsilon: float) -> Counts:
    """Look at every pair of each column; five rows of counts."""
    found = np.zeros((5, gold.shape[1]), dtype=np.int64)
    for i in range(len(gold) - 1):
        found += _compare(gold[i + 1 :] - gold[i], metric[i + 1 :] - metric[i], epsilon)
    return found


def _compare(gold: Floats, metric: Floats, epsilon: float) -> Counts:
    """Kinds of pairs by their differences, counted by column; NaN is no pair."""
    size = np.abs(metric)
    near, far, tied = size <= epsilon, size > epsilon, gold == 0
    alike = far & (gold * np.sign(metric) > 0)
    kinds = (alike, far & ~tied & ~alike, far & tied, near & ~tied, near & tied)
    return np.array([np.count_nonzero(kind, axis=0) for kind in kinds], dtype=np.int64)


def _count_sorted(gold: Floats, metric: Floats) -> Counts:
    """As `_count` for one long column and equal scores as ties, without looking at pairs.

    Sorted by gold, then metric, a pair is discordant where the metric falls: an inversion (Knight 1966).
    """
    order = np.argsort(metric, kind="stable")
    gold, metric = gold[order], metric[order]
    changes = metric[1:] != metric[:-1]
    in_metric = _ties(changes)
    codes = np.concatenate([[0], np.cumsum(changes)])[: len(metric)]
    order = np.argsort(gold, kind="stable")
    gold, codes = gold[order], codes[order]
    in_gold = _ties(gold[1:] != gold[:-1])
    both = _ties((gold[1:] != gold[:-1]) | (codes[1:] != codes[:-1]))
    discordant = _inversions(codes)
    pairs = len(gold) * (len(gold) - 1) // 2
    concordant = pairs - in_gold - in_metric + both - discordant
    return np.array([concordant, discordant, in_gold - both, in_metric - both, both], dtype=np.int64)


def _ties(changes: NDArray[np.bool_]) -> int:
    """Pairs of equal neighbours, of sorted values that change where it says."""
    bounds = np.flatnonzero(np.concatenate([[True], changes, [True]]))
    sizes = np.diff(bounds)
    return int((sizes * (sizes - 1) // 2).sum())


def _inversions(codes: NDArray[np.int64]) -> int:
    """Pairs i < j with codes[i] > codes[j], by the highest bit in which they differ.

    Codes are kept sorted by their higher bits, in their first order within; each bit moves the ones of a
    group behind its zeros, and every one that a zero passes is an inversion.
    """
    found = 0
    places = np.arange(len(codes), dtype=np.int64)
    for bit in reversed(range(int(codes.max(initial=0)).bit_length())):
        ones = (codes >> bit) & 1
        before = np.cumsum(ones) - ones
        groups = codes >> (bit + 1)
        starts = np.concatenate([[0], np.cumsum(np.bincount(groups))])[groups]
        before -= before[starts]  # ones of the same group
        is_one = ones.astype(bool)
        found += int(before[~is_one].sum())
        ends = np.concatenate([[0], np.cumsum(np.bincount(codes >> bit))])[codes >> bit]
        moved = np.empty_like(codes)
        moved[np.where(is_one, ends + before, places - before)] = codes
        codes = moved
    return found
