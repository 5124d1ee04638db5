"""Pairwise accuracy with ties, and the tie calibration that makes it fair to metrics that never tie.

The calibration finds the epsilon at which gold and metric agree on most pairs, exactly: one sweep over the
differences of short groups, a search by bins of bits where groups are long (`search_long`), and
mt-metrics-eval's running sum to the last bit (`calibrate_as_mtme`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adjudge.errors import UsageError
from adjudge.stats.judged import (
    SHORT,
    Average,
    Floats,
    Judged,
    Result,
    judged,
    lone_group,
    nothing_compared,
    pair_counts,
)

Integers = NDArray[Any]
"""Of 64 bits, or Python's own where these do not hold them."""


class Changes(NamedTuple):
    """Differences of metric scores at which pairs change."""

    right: Floats  # of the pairs that gold ties: right from here on
    wrong: Floats  # of those that both order alike, above 0: wrong from here on
    right_weights: Integers | None = None  # how much each counts; None where all count 1
    wrong_weights: Integers | None = None


def gains(changes: Changes) -> tuple[Floats, Integers]:
    """Every epsilon at which a pair becomes right, ascending, and what is won by then.

    Won over no ties at all, not even at a difference of 0. Where an epsilon comes several times, only the
    last has all that it wins, and the others less.
    """
    if changes.right_weights is None or changes.wrong_weights is None:
        right, wrong = np.sort(changes.right), np.sort(changes.wrong)
        return right, np.arange(1, len(right) + 1) - np.searchsorted(wrong, right, side="right")
    order, other = np.argsort(changes.right), np.argsort(changes.wrong)
    right, wrong = changes.right[order], changes.wrong[other]
    lost = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(changes.wrong_weights[other])])
    return right, np.cumsum(changes.right_weights[order]) - lost[np.searchsorted(wrong, right, side="right")]


def first_best(epsilons: Floats, won: Integers) -> tuple[float, int]:
    """The smallest epsilon that wins most, and how much; 0 where none wins anything."""
    if not len(won):
        return 0.0, 0
    best = int(np.argmax(won))
    return (float(epsilons[best]), int(won[best])) if won[best] > 0 else (0.0, 0)


_CELLS: Final = 2**20  # pairs of one block
_SORTED: Final = 2**22  # changes that are sorted at once: 32 MB
_BINS: Final = 17  # bits: 131,072 bins of one pass; 64 for each power of two in the first
_FLOAT_BITS: Final = 63  # without the sign

Keys = NDArray[np.int64]
"""Bits of floats that are not negative; they are in the order of the floats."""


class _Column(NamedTuple):
    """Scores of one group in the order of the metric; gold as ranks of its values."""

    gold: NDArray[np.int32]
    metric: Floats
    weight: int


class _Bins(NamedTuple):
    """Bins that may hold the best epsilon, ascending."""

    keys: Keys  # of the differences in each, shifted
    shift: int  # bits in which the keys of one bin may differ
    before: Integers  # what is won below each bin
    net: Integers

    def find(self, differences: Floats) -> tuple[NDArray[np.intp], Keys]:
        keys = differences.view(np.int64)
        high = keys >> self.shift
        near = (high >= self.keys[0]) & (high <= self.keys[-1])
        keys, high = keys[near], high[near]
        found = np.searchsorted(self.keys, high)
        inside = self.keys[found] == high
        return found[inside], keys[inside]

    def tally(self, differences: Floats, bits: int) -> NDArray[np.int64]:
        found, keys = self.find(differences)
        part = (keys >> (self.shift - bits)) & ((1 << bits) - 1)
        return np.bincount((found << bits) + part, minlength=len(self.keys) << bits)


def search_long(scores: Judged, weights: Integers) -> tuple[float, int]:
    """The smallest of the best epsilons, and the weighted number of right pairs there.

    `scores`: members by groups.
    """
    counts = pair_counts(scores)
    columns = [_column(g, m, int(w)) for g, m, w in zip(scores.gold.T, scores.metric.T, weights, strict=True)]
    none = np.zeros(1, dtype=weights.dtype)
    bins = _Bins(np.zeros(1, dtype=np.int64), _FLOAT_BITS, none, none)
    changes = int((counts.concordant + counts.gold_ties + counts.both_ties).sum())
    while changes > _SORTED and bins.shift > 0:
        bins, changes = _refine(columns, bins)
    if changes > _SORTED:  # a bin is a single difference
        epsilon, won = first_best(bins.keys.view(np.float64), bins.before + bins.net)
    else:
        epsilon, won = _sort(columns, bins)
    return epsilon, int((counts.concordant * weights).sum()) + won


def _column(gold: Floats, metric: Floats, weight: int) -> _Column:
    present = np.flatnonzero(~np.isnan(gold))
    order = present[np.argsort(metric[present])]
    ranks = np.unique(gold[order], return_inverse=True)[1]
    return _Column(ranks.astype(np.int32), metric[order] + 0.0, weight)  # -0.0 - 0.0 has the bits of a sign


def _blocks(column: _Column) -> Iterator[tuple[Floats, Floats]]:
    gold, metric, _ = column
    start, n = 0, len(gold)
    while start < n - 1:
        stop = min(n - 1, start + max(1, _CELLS // (n - start)))
        differences = metric[start + 1 :] - metric[start:stop, None]
        tied = gold[start + 1 :] == gold[start:stop, None]
        alike = (gold[start + 1 :] > gold[start:stop, None]) & (differences > 0)
        corner = slice(None), slice(stop - start)
        rows, width = tied[corner].shape
        pairs = ~np.tri(rows, width, k=-1, dtype=np.bool_)  # not with itself, nor with one above
        tied[corner] &= pairs
        alike[corner] &= pairs
        yield differences[tied], differences[alike]
        start = stop


def _refine(columns: Sequence[_Column], bins: _Bins) -> tuple[_Bins, int]:
    bits = max(1, min(bins.shift, _BINS - (len(bins.keys) - 1).bit_length()))
    size, shift = len(bins.keys) << bits, bins.shift - bits
    won, lost = (np.zeros(size, dtype=bins.before.dtype) for _ in range(2))
    changes = np.zeros(size, dtype=np.int64)
    for column in columns:
        for block in _blocks(column):
            right, wrong = (bins.tally(differences, bits) for differences in block)
            won += right * column.weight
            lost += wrong * column.weight
            changes += right + wrong
    net = won - lost
    after = bins.before[:, None] + np.cumsum(net.reshape(-1, 1 << bits), axis=1)
    before = after.ravel() - net
    kept = _may_be_best(before, won, after.ravel())
    keys = ((bins.keys[:, None] << bits) + np.arange(1 << bits)).ravel()
    return _Bins(keys[kept], shift, before[kept], net[kept]), int(changes[kept].sum())


def _may_be_best(before: Integers, won: Integers, after: Integers) -> NDArray[np.bool_]:
    best = max(0, after.max())
    bound = before + won
    reached = np.arange(len(after)) > (np.argmax(after) if after.max() == best else -1)
    return np.asarray((won > 0) & np.where(reached, bound > best, bound >= best), dtype=np.bool_)


def _sort(columns: Sequence[_Column], bins: _Bins) -> tuple[float, int]:
    if not len(bins.keys):
        return 0.0, 0
    sides: tuple[list[Keys], list[Keys]] = ([], [])
    weights: tuple[list[Integers], list[Integers]] = ([], [])
    for column in columns:
        for block in _blocks(column):
            for side, weight, differences in zip(sides, weights, block, strict=True):
                side.append(bins.find(differences)[1])
                weight.append(np.full(len(side[-1]), column.weight, dtype=bins.before.dtype))
    right, wrong = (np.concatenate(side).view(np.float64) for side in sides)
    equal = all(column.weight == 1 for column in columns)
    epsilons, won = gains(Changes(right, wrong, *(() if equal else map(np.concatenate, weights))))
    outside = bins.before - (np.cumsum(bins.net) - bins.net)
    return first_best(epsilons, won + outside[bins.find(epsilons)[0]])


_LARGEST: Final = 2**62  # sum of weights that 64 bits hold
_PAIRS: Final = 2**20  # looked at together


class Calibrated(NamedTuple):
    """The smallest of the best epsilons, and the mean share of right pairs there."""

    epsilon: float
    value: float


def calibrate(scores: Judged) -> Calibrated:
    """Find the epsilon with the largest mean over groups of the share of right pairs.

    `scores`: members by groups; each group has a pair.
    """
    sizes = scores.pairs.tolist()
    common = math.lcm(*set(sizes))
    fits = common * len(sizes) < _LARGEST
    weights = np.array([common // size for size in sizes], dtype=np.int64 if fits else object)
    epsilon, right = (_search_short if len(scores.gold) <= SHORT else search_long)(scores, weights)
    return Calibrated(epsilon, right / (common * len(sizes)))


def _search_short(scores: Judged, weights: Integers) -> tuple[float, int]:
    equal = bool((weights == 1).all())  # groups of one size
    members, groups = scores.gold.shape
    width = max(1, 2 * _PAIRS // (members * (members - 1)))
    blocks = (slice(start, start + width) for start in range(0, groups, width))
    parts = [_changes(scores, None if equal else weights, block) for block in blocks]
    right, wrong, won, lost = (np.concatenate(part) for part in zip(*parts, strict=True))
    changes = Changes(right, wrong) if equal else Changes(right, wrong, won, lost)
    epsilon, gain = first_best(*gains(changes))
    return epsilon, (len(wrong) if equal else int(lost.sum())) + gain


def _changes(
    scores: Judged, weights: Integers | None, block: slice
) -> tuple[Floats, Floats, Integers, Integers]:
    gold = scores.gold[:, block]
    tied, sign = _gold_pairs(gold.tobytes(), gold.shape)
    i, j = np.triu_indices(len(gold), 1)
    metric = scores.metric[:, block][i] - scores.metric[:, block][j]
    along = metric * sign  # above 0 where both have the same sign
    alike = along > 0
    right, wrong = np.abs(metric[tied]), along[alike]
    if weights is None:
        none = np.empty(0, dtype=np.int64)
        return right, wrong, none, none
    spread = np.broadcast_to(weights[block], sign.shape)
    return right, wrong, spread[tied], spread[alike]


@lru_cache(maxsize=8)
def _gold_pairs(gold: bytes, shape: tuple[int, int]) -> tuple[NDArray[np.bool_], Floats]:
    values = np.frombuffer(gold).reshape(shape)
    i, j = np.triu_indices(len(values), 1)
    differences = values[i] - values[j]
    return differences == 0, np.sign(differences)


_MOST_PAIRS: Final = 2**25  # about 3 GB; mt-metrics-eval itself takes 15 GB


def calibrate_as_mtme(scores: Judged, rows: Sequence[int]) -> Calibrated:
    """Find epsilon by the running sum of `tau_optimization`, with its rounding.

    It sorts all pairs by their difference, keeps the sum over groups of the shares, and for each pair takes
    the old share of its group away and adds the new one. The largest of these sums decides, though they
    drift by 1e-15 a step.

    `scores`: members by groups; each group has a pair.
    """
    sizes = scores.pairs[:, None]
    if (total := int(sizes.sum())) > _MOST_PAIRS:
        raise UsageError(
            f"compat mtme holds every pair, and {total} are more than {_MOST_PAIRS}; leave compat out"
        )
    differences, right, change = _pairs(scores)
    after = right.sum(axis=1, keepdims=True) + np.cumsum(change, axis=1)
    order = np.argsort(differences, axis=None, kind="stable")[:total]  # absent pairs, NaN, are last
    epsilons = differences.ravel()[order]
    steps = np.empty(2 * total + 1)
    steps[0] = _sum_over_set(right.sum(axis=1) / sizes[:, 0], rows)
    steps[1::2] = -((after - change) / sizes).ravel()[order]
    steps[2::2] = (after / sizes).ravel()[order]
    values = np.cumsum(steps)[::2] / len(sizes)
    epsilons = np.concatenate([[0.0], epsilons])
    last = np.append(epsilons[1:] != epsilons[:-1], np.True_)  # all pairs of one difference change together
    best = int(np.argmax(values[last]))
    return Calibrated(float(epsilons[last][best]), float(values[last][best]))


def _pairs(scores: Judged) -> tuple[Floats, NDArray[np.bool_], NDArray[np.int64]]:
    """Groups by pairs, each group by difference: difference, whether right at 0, change once it is a tie."""
    i, j = np.triu_indices(len(scores.gold), 1)
    gold, metric = ((side[i] - side[j]).T for side in scores)
    differences, tied = np.abs(metric), gold == 0
    right = np.where(tied, differences == 0, gold * np.sign(metric) > 0)
    order = np.argsort(differences, axis=1, kind="stable")
    differences, tied, right = (np.take_along_axis(x, order, axis=1) for x in (differences, tied, right))
    return differences, right, tied.astype(np.int64) - right


def _sum_over_set(shares: Floats, rows: Sequence[int]) -> float:
    places = {row: place for place, row in enumerate(rows)}
    seen: set[int] = set()
    for row in rows:  # one by one: the order depends on how the set grew
        seen.add(row)
    return float(np.cumsum(shares[[places[row] for row in seen]])[-1])


Compat = Literal["mtme"]
"""Whose arithmetic to repeat to the last bit: that of mt-metrics-eval."""


def acc_eq(
    gold: Floats,  # systems by segments; NaN where a translation was not judged
    metric: Floats,  # the same shape
    average: Average = "item",
    *,
    epsilon: float | None = None,
    compat: Compat | None = None,
) -> Result:
    """Share of pairs that gold and metric order alike or both tie; metric scores within epsilon are tied.

    acc_eq = (C + T_gm) / (C + D + T_g + T_m + T_gm), by group, then the mean over groups

    C, D: pairs that both order alike, or not; T_g, T_m, T_gm: tied by gold only, by the metric only, by
    both. Deutsch et al. 2023, https://arxiv.org/abs/2305.14324, which also gives the tie calibration:
    epsilon is the one with the highest value. Of equally good ones it is the smallest, told exactly.

    Ties: in gold only equal scores; in the metric, differences up to and including epsilon. Missing: a
    score that gold or metric lacks is left out in both; a group without a pair does not count. Undefined
    where no group has a pair. A constant metric reaches the share of gold's ties. Range 0 to 1. The value is
    mt-metrics-eval's (`KendallWithTiesOpt`, sample rate 1) to 1e-12; its epsilon is one of the equally good
    ones, chosen by the rounding of a running sum, which `compat` repeats: both are then equal to the bit.

    N is the number of pairs. chance: what the better of two metrics without knowledge reaches, one that ties
    everything and one that orders by chance: max(t, (1 - t) / 2), t the share of gold's ties.
    """
    if epsilon is not None and not epsilon >= 0:
        raise UsageError(f"epsilon is a difference of scores, 0 or more; got {epsilon}")
    if epsilon is not None and compat is not None:
        raise UsageError("compat says how epsilon is found; leave out one of compat and epsilon")
    if compat not in {None, "mtme"}:
        raise UsageError(f"compat is 'mtme' or left out, got {compat!r}")
    scores = judged(gold, metric, average)
    used, note = scores.pairs > 0, lone_group(scores, average)
    if not used.any():
        return Result(value=None, n=0, reason=nothing_compared(scores, average))
    scores = Judged(scores.gold[:, used], scores.metric[:, used])
    if epsilon is not None:
        counts = pair_counts(scores, epsilon)
        right = (counts.concordant + counts.both_ties) / counts.pairs
        found = Calibrated(epsilon, float(right.mean()))
    elif compat == "mtme":
        found = calibrate_as_mtme(scores, rows=np.flatnonzero(used).tolist())
    else:
        found = calibrate(scores)
    ties = _gold_tie_share(scores)
    return Result(
        value=found.value,
        n=int(scores.pairs.sum()),
        groups=None if average == "none" else int(used.sum()),
        epsilon=found.epsilon,
        chance=max(ties, (1 - ties) / 2),
        note=note,
    )


def _gold_tie_share(scores: Judged) -> float:
    ordered = np.sort(scores.gold, axis=0)
    position = np.arange(len(ordered))[:, None]
    changes = np.ones(ordered.shape, dtype=bool)
    changes[1:] = ordered[1:] != ordered[:-1]
    changes |= np.isnan(ordered)
    first = np.maximum.accumulate(np.where(changes, position, 0), axis=0)
    return float(((position - first).sum(axis=0) / scores.pairs).mean())
