"""One-to-one matchings of gold marks and predicted marks: no mark counts twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adjudge.meta.measures.result import Floats
from adjudge.meta.spans.marks import Mark

__all__ = ["Pair", "best_assignment", "best_f1", "best_pairs"]

Places = NDArray[np.intp]

_DIGITS: Final = 12  # sums of shares that agree so far are the same
_MOST_SUMS: Final = 20_000


class Pair(NamedTuple):
    """A gold mark and a predicted one that may be matched, by place, and what each of them then earns."""

    gold: int
    pred: int
    gold_earns: float
    pred_earns: float


def best_assignment(
    gold: Sequence[Mark], pred: Sequence[Mark], earns: Callable[[Mark, Mark], float]
) -> float:
    """Largest sum that a one-to-one matching earns, where both marks of a pair earn the same.

    Solved exactly as a linear assignment (`scipy.optimize.linear_sum_assignment`).
    """
    table, rows, columns = _assignment(gold, pred, earns)
    return float(table[rows, columns].sum())


def best_pairs(
    gold: Sequence[Mark], pred: Sequence[Mark], earns: Callable[[Mark, Mark], float]
) -> list[tuple[Mark, Mark]]:
    """The pairs of that matching which earn something."""
    table, rows, columns = _assignment(gold, pred, earns)
    places = zip(rows.tolist(), columns.tolist(), strict=True)
    return [(gold[row], pred[column]) for row, column in places if table[row, column] > 0]


def _assignment(
    gold: Sequence[Mark], pred: Sequence[Mark], earns: Callable[[Mark, Mark], float]
) -> tuple[Floats, Places, Places]:
    """What each pair earns, and the rows and columns of those that are matched."""
    none = np.empty(0, dtype=np.intp)
    if not gold or not pred:
        return np.zeros((len(gold), len(pred))), none, none
    from scipy.optimize import linear_sum_assignment

    table = np.array([[earns(g, p) for p in pred] for g in gold], dtype=np.float64)
    return table, *linear_sum_assignment(table, maximize=True)


def best_f1(pairs: Sequence[Pair], gold_most: float, pred_most: float) -> tuple[float, float]:
    """What gold and prediction earn under the one-to-one matching with the highest F1.

    The two marks of a pair earn differently, so F1 of the sums is no sum over pairs, and a linear assignment
    does not find its highest value. F1 rises with either sum: per group of marks that compete with one
    another, all pairs of sums that no other exceeds in both are kept, then those of the groups are added up.
    Between equal F1 the higher precision is taken (Perrella et al.'s code does the same).

    A group of more than `_MOST_SUMS` such sums, as of dozens of marks on one word, is matched by a linear
    assignment of the sum of both earnings.

    Args:
        pairs: that earn anything.
        gold_most: denominator of recall.
        pred_most: denominator of precision.

    Returns:
        Earnings of gold and of the prediction.
    """
    sums = [(0.0, 0.0)]
    for group in _groups(pairs):
        sums = _best_of([(a + c, b + d) for a, b in sums for c, d in _group_sums(group)])

    def rank(earned: tuple[float, float]) -> tuple[float, float, float]:
        recall, precision = earned[0] / gold_most, earned[1] / pred_most
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        return round(f1, _DIGITS), round(precision + recall, _DIGITS), precision

    return max(sums, key=rank)


def _groups(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Split pairs into groups that share no mark."""
    home: dict[tuple[str, int], list[Pair]] = {}
    for pair in pairs:
        ends = ("gold", pair.gold), ("pred", pair.pred)
        group, *others = {id(g): g for g in (home.get(end) for end in ends) if g}.values() or [[]]
        group.append(pair)
        for other in others:
            group.extend(other)
        for one in [pair, *(o for other in others for o in other)]:
            home["gold", one.gold] = home["pred", one.pred] = group
    return list({id(group): group for group in home.values()}.values())


def _group_sums(pairs: Sequence[Pair]) -> list[tuple[float, float]]:
    """Best sums of both earnings over the matchings of one group."""
    found: dict[frozenset[int], list[tuple[float, float]]] = {frozenset(): [(0.0, 0.0)]}
    for gold in dict.fromkeys(pair.gold for pair in pairs):
        grown = {used: list(sums) for used, sums in found.items()}
        for pair in (p for p in pairs if p.gold == gold):
            for used, sums in found.items():
                if pair.pred not in used:
                    more = [(a + pair.gold_earns, b + pair.pred_earns) for a, b in sums]
                    grown.setdefault(used | {pair.pred}, []).extend(more)
        found = {used: _best_of(sums) for used, sums in grown.items()}
        if sum(map(len, found.values())) > _MOST_SUMS:
            return [_assigned(pairs)]
    return _best_of([s for sums in found.values() for s in sums])


def _best_of(sums: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Keep the pairs of sums that no other exceeds in one and equals in the other."""
    kept: list[tuple[float, float]] = []
    for one, other in sorted(sums, reverse=True):
        if not kept or other > kept[-1][1]:
            kept.append((one, other))
    return kept


def _assigned(pairs: Sequence[Pair]) -> tuple[float, float]:
    """Sums of the matching that earns most for both sides together."""
    from scipy.optimize import linear_sum_assignment

    gold, pred = (
        {name: place for place, name in enumerate(dict.fromkeys(names))}
        for names in ((p.gold for p in pairs), (p.pred for p in pairs))
    )
    table = np.zeros((len(gold), len(pred), 2))
    for pair in pairs:
        table[gold[pair.gold], pred[pair.pred]] = pair.gold_earns, pair.pred_earns
    rows, columns = linear_sum_assignment(table.sum(axis=2), maximize=True)
    one, other = table[rows, columns].sum(axis=0)
    return float(one), float(other)
