"""What a choice of segments is worth: how it orders systems, and how far off it is, beside chance.

Only gold that is there already can say so. Random choices are drawn many times, for one draw may be lucky.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from adjudge.curation.selecting import WAYS, Way, choose, priorities, read_budget
from adjudge.errors import DataError, UsageError
from adjudge.meta.evaluation.eval_set import EvalSet
from adjudge.meta.measures.result import Floats

__all__ = ["Worth", "simulate"]

_RANDOM: Final = "random"
_ROUNDING: Final = 1e-12


@dataclass(frozen=True, kw_only=True)
class Worth:
    """What one way of choosing comes to at one budget.

    Args:
        way: of choosing.
        segments: that are annotated; the mean of random choices.
        length: share of all source tokens that they have, a part of what they cost.
        accuracy: share of pairs of systems in the order that all segments put them in.
        mean_error: mean over systems of the distance of their mean to that over all, in gold's points.
        gap_error: mean over pairs of the distance of their difference to that over all.
        beaten: share of random choices with a lower accuracy, equal ones half; None for random itself.
        nearer: share of random choices with a larger error of differences; None for random itself.
        low: accuracy that 2.5 % of random choices stay under or reach; of random alone.
        high: accuracy that 97.5 % of them stay under or reach; of random alone.
    """

    way: Way
    segments: float
    length: float
    accuracy: float
    mean_error: float
    gap_error: float
    beaten: float | None = None
    nearer: float | None = None
    low: float | None = None
    high: float | None = None


def simulate(  # noqa: PLR0913 (what a simulation is told)
    eval_set: EvalSet,
    sources: Sequence[str],
    budgets: Sequence[str],
    *,
    ways: Sequence[Way] = WAYS,
    by_length: bool = False,
    draws: int = 1000,
    seed: int = 0,
) -> tuple[Worth, ...]:
    """Choose as if nothing were annotated, then look at gold.

    Segments that gold did not judge for every system are left out; references are no systems.

    Args:
        eval_set: with one gold, and the metrics that are looked at.
        sources: texts of its segments.
        budgets: numbers or shares, as `read_budget` has them, of the segments that gold judged.
        ways: to choose; `random` is always among them.
        by_length: a segment costs its source's tokens, and is not 1.
        draws: random choices.
        seed: of them.

    Raises:
        DataError: fewer than two systems or segments judged.
        UsageError: a budget out of range, or a metric that a way lacks.
    """
    if draws < 1:
        raise UsageError(f"--draws must be 1 or more, got {draws}")
    gold, kept = _judged(eval_set)
    lengths = np.array(eval_set.lengths, dtype=np.float64)[kept]
    costs = lengths if by_length else np.ones(len(lengths))
    left, texts = (
        _only(eval_set, kept),
        [text for text, is_kept in zip(sources, kept, strict=True) if is_kept],
    )
    wanted = {way: priorities(left, texts, way, seed=seed) for way in ways if way != _RANDOM}
    rng = np.random.default_rng(seed)
    found: list[Worth] = []
    for text in budgets:
        budget = read_budget(text, float(costs.sum()))
        drawn = [choose(rng.random(len(costs)), budget, costs) for _ in range(draws)]
        chosen: dict[Way, list[int]] = {way: choose(values, budget, costs) for way, values in wanted.items()}
        if not all([*drawn, *chosen.values()]):
            raise UsageError(
                f"--budget {text} pays for no segment; the longest has {lengths.max():.0f} tokens"
            )
        found += _worths(gold, chosen, drawn, lengths)
    return tuple(found)


@dataclass(frozen=True)
class _Errors:
    """Accuracy and errors of choices."""

    accuracy: Floats
    means: Floats
    gaps: Floats

    @classmethod
    def of(cls, gold: Floats, choices: Sequence[Sequence[int]]) -> _Errors:
        """Of each choice.

        Args:
            gold: systems by segments, without gaps.
            choices: places of segments.
        """
        whole = gold.mean(axis=1)
        means = np.array([gold[:, chosen].mean(axis=1) for chosen in choices])
        first, second = np.array(list(combinations(range(len(gold)), 2))).T
        gap, gaps = whole[first] - whole[second], means[:, first] - means[:, second]
        return cls(
            (np.sign(gaps) == np.sign(gap)).mean(axis=1),
            np.abs(means - whole).mean(axis=1),
            np.abs(gaps - gap).mean(axis=1),
        )


def _judged(eval_set: EvalSet) -> tuple[Floats, NDArray[np.bool_]]:
    """Gold of the systems that it judged, on the segments where it judged them all, and which these are."""
    (gold,) = eval_set.golds.values()
    rows = [
        row
        for row, name in enumerate(eval_set.systems)
        if name not in eval_set.references and not np.isnan(gold.segments[row]).all()
    ]
    scores = gold.segments[rows]
    kept = np.asarray(~np.isnan(scores).any(axis=0) & bool(rows), dtype=np.bool_)
    if len(rows) < 2 or kept.sum() < 2:
        raise DataError(
            f"gold {gold.name} judged {len(rows)} systems on {int(kept.sum())} segments together; "
            "two of each are needed"
        )
    return scores[:, kept], kept


def _only(eval_set: EvalSet, kept: NDArray[np.bool_]) -> EvalSet:
    """What may be looked at before anybody annotates: the metrics' scores of these segments."""
    metrics = {name: replace(m, segments=m.segments[:, kept]) for name, m in eval_set.metrics.items()}
    return replace(eval_set, metrics=metrics, golds={})


def _worths(
    gold: Floats, chosen: Mapping[Way, list[int]], drawn: Sequence[list[int]], lengths: Floats
) -> list[Worth]:
    random, total = _Errors.of(gold, drawn), float(lengths.sum())
    low, high = np.quantile(random.accuracy, [0.025, 0.975]).tolist()
    found = [
        Worth(
            way=_RANDOM,
            segments=float(np.mean([len(places) for places in drawn])),
            length=float(np.mean([lengths[places].sum() for places in drawn])) / total,
            accuracy=float(random.accuracy.mean()),
            mean_error=float(random.means.mean()),
            gap_error=float(random.gaps.mean()),
            low=low,
            high=high,
        )
    ]
    for way, places in chosen.items():
        one = _Errors.of(gold, [places])
        accuracy, gaps = float(one.accuracy[0]), float(one.gaps[0])
        lower = random.accuracy < accuracy - _ROUNDING
        equal = np.abs(random.accuracy - accuracy) <= _ROUNDING
        found.append(
            Worth(
                way=way,
                segments=len(places),
                length=float(lengths[places].sum()) / total,
                accuracy=accuracy,
                mean_error=float(one.means[0]),
                gap_error=gaps,
                beaten=float(lower.mean() + equal.mean() / 2),
                nearer=float((random.gaps > gaps).mean()),
            )
        )
    return found
