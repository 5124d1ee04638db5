"""What a measure looks at and gives back: scores that gold and metric both have, in groups, and a `Result`.

`judged` arranges scores into groups, `pair_counts` counts how many pairs both order alike, of which every
tau is made, and `sharing` keeps such steps while several measures look at the same scores.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple, TypeVar, cast, get_args

import numpy as np
from numpy.typing import NDArray

from adjudge.core.frozen import frozen
from adjudge.core.scores import Interval
from adjudge.errors import UsageError

Floats = NDArray[np.float64]

Average = Literal["item", "sys", "none"]
"""Over what a segment measure is averaged.

`item`: one value for each segment, over its systems. `sys`: one for each system, over its segments.
`none`: one value over all scores of all systems together.
"""

AVERAGES: Final[tuple[Average, ...]] = get_args(Average)


def divided(above: NDArray[Any], below: NDArray[Any]) -> Floats:
    """One array divided by another of its shape; NaN where the divisor is not above 0."""
    return np.asarray(np.divide(above, below, out=np.full(above.shape, np.nan), where=np.asarray(below) > 0))


@frozen
class Result:
    """Value of one measure."""

    value: float | None  # the number; None where it is not defined, and then `reason` says why
    n: int  # what it rests on: systems, pairs of systems, scores or segments, as the measure says
    # gives the p-value of the measure's own test, where it has one
    test: Callable[[], float] | None = field(default=None, repr=False, compare=False)
    groups: int | None = None  # values that were averaged; None where nothing was
    # largest difference of two scores that counts as a tie, where it was calibrated
    epsilon: float | None = None
    chance: float | None = None  # what a metric without knowledge reaches, where that is known
    interval: Interval | None = None  # 95 % bootstrap interval, where it was asked for
    reason: str = ""  # why there is no value; empty where there is one
    note: str = ""  # what a reader must know of a value that may not be what it looks like; usually empty

    @cached_property
    def p(self) -> float | None:
        """p-value of the measure's own test; None where it has none. Found when it is first asked for."""
        return None if self.test is None else self.test()


T = TypeVar("T")

_Known = dict[Hashable, tuple[tuple[object, ...], object]]
_known: Final[ContextVar[_Known | None]] = ContextVar("known", default=None)


@contextmanager
def sharing() -> Iterator[None]:
    """Keep what `shared` makes until the block ends; the arrays in it must not be written to meanwhile."""
    token = _known.set({})
    try:
        yield
    finally:
        _known.reset(token)


def shared(step: str, inputs: tuple[object, ...], setting: Hashable, make: Callable[[], T]) -> T:
    """Return what a step makes of its inputs; made once within `sharing`, and every time outside of it."""
    known = _known.get()
    if known is None:
        return make()
    key = (step, setting, *map(id, inputs))
    if key not in known:
        known[key] = (inputs, make())
    return cast("T", known[key][1])


class Judged(NamedTuple):
    """Scores in groups: pairs and correlations are taken within a column, never across."""

    gold: Floats  # members by groups; NaN where gold or metric has no score
    metric: Floats  # the same for the metric, NaN in the same places

    @property
    def counts(self) -> NDArray[np.int64]:
        return np.asarray(np.count_nonzero(~np.isnan(self.gold), axis=0), dtype=np.int64)

    @property
    def pairs(self) -> NDArray[np.int64]:
        return self.counts * (self.counts - 1) // 2

    @property
    def n(self) -> int:
        return int(self.counts.sum())


def judged(gold: Floats, metric: Floats, average: Average = "none") -> Judged:
    """Arrange two arrays of scores; a score that either lacks is left out in both.

    `gold`: systems by segments, or one score a system; NaN where a translation was not judged. `metric`: the
    same shape.
    """
    return shared("judged", (gold, metric), average, lambda: _judged(gold, metric, average))


def _judged(gold: Floats, metric: Floats, average: Average) -> Judged:
    gold, metric = _numbers("gold", gold), _numbers("metric", metric)
    _check(gold, metric, average)
    missing = np.isnan(gold) | np.isnan(metric)
    if missing.any():
        gold, metric = (np.where(missing, np.nan, scores) for scores in (gold, metric))
    if average == "none":
        return Judged(gold.reshape(-1, 1), metric.reshape(-1, 1))
    return Judged(gold, metric) if average == "item" else Judged(gold.T, metric.T)


def _numbers(name: str, scores: object) -> Floats:
    try:
        return np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name} scores are an array of numbers, NaN for none: {error}") from error


def _check(gold: Floats, metric: Floats, average: Average) -> None:
    if average not in AVERAGES:
        raise UsageError(f"a measure is averaged by {', '.join(AVERAGES)}; got {average!r}")
    if gold.shape != metric.shape:
        raise UsageError(f"gold and metric must have the same shape, got {gold.shape} and {metric.shape}")
    if gold.ndim not in {1, 2}:
        raise UsageError(f"scores are systems by segments, got {gold.ndim} dimensions")
    if gold.ndim == 1 and average != "none":
        raise UsageError(
            f"an average by {average} needs systems by segments, got a flat array of {len(gold)} scores: "
            "which score is whose system's is lost; pass the array in its shape"
        )
    for name, scores in (("gold", gold), ("metric", metric)):
        if np.isinf(scores).any():
            raise UsageError(f"a {name} score is infinite; a score is a finite number, or NaN for none")


_MEMBERS: Final[dict[Average, str]] = {"item": "systems", "sys": "segments"}
_GROUP: Final[dict[Average, str]] = {"item": "segment", "sys": "system"}


def nothing_compared(scores: Judged, average: Average) -> str:
    """Why no group holds two scores to compare."""
    if average == "none":
        return "there are no two scores that gold and metric both have"
    members, group = _MEMBERS[average], _GROUP[average]
    if len(scores.gold) < 2:
        return (
            f"the {members} of a {group} are compared with each other, and there is {len(scores.gold)} only"
        )
    return f"no {group} has two {members} that gold and metric both scored"


def lone_group(scores: Judged, average: Average) -> str:
    """What to say of an average over one group, which is none; empty where there are more."""
    if average == "none" or scores.gold.shape[1] != 1:
        return ""
    return f"one {_GROUP[average]} only, so nothing is averaged; was a flat array passed?"


Counts = NDArray[np.int64]

SHORT: Final = 64
"""Members of a group, up to which all its pairs are looked at together."""


@frozen
class PairCounts:
    """Pairs within each group, after what is a tie in gold and in the metric."""

    concordant: Counts  # ordered alike
    discordant: Counts  # ordered the other way round
    gold_ties: Counts  # tied by gold only
    metric_ties: Counts  # tied by the metric only
    both_ties: Counts

    @property
    def gold_orders(self) -> Counts:
        """Pairs that gold does not tie."""
        return self.concordant + self.discordant + self.metric_ties

    @property
    def pairs(self) -> Counts:
        return self.concordant + self.discordant + self.gold_ties + self.metric_ties + self.both_ties


def pair_counts(scores: Judged, epsilon: float = 0.0) -> PairCounts:
    """Count the pairs of every group. `scores`: members by groups."""
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
    found = np.zeros((5, gold.shape[1]), dtype=np.int64)
    for i in range(len(gold) - 1):
        order, gap = gold[i + 1 :] - gold[i], metric[i + 1 :] - metric[i]  # NaN is no pair
        size, tied = np.abs(gap), order == 0
        near, far = size <= epsilon, size > epsilon
        alike = far & (order * np.sign(gap) > 0)
        kinds = (alike, far & ~tied & ~alike, far & tied, near & ~tied, near & tied)
        found += [np.count_nonzero(kind, axis=0) for kind in kinds]
    return found


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
    bounds = np.flatnonzero(np.concatenate([[True], changes, [True]]))
    sizes = np.diff(bounds)
    return int((sizes * (sizes - 1) // 2).sum())


def _inversions(codes: NDArray[np.int64]) -> int:
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
