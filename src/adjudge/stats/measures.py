"""Measures by name: how well a metric or a judge agrees with gold (`MEASURES`).

Most are functions of other modules; mean absolute and squared errors are here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, wraps
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

import numpy as np

from adjudge.core.frozen import frozen
from adjudge.errors import UsageError
from adjudge.stats.acc_eq import acc_eq
from adjudge.stats.contrastive import contrastive_accuracy
from adjudge.stats.correlation import (
    kendall_b,
    kendall_c,
    kendall_like,
    pairwise_difference_pearson,
    pearson,
    spearman,
    tau_23,
)
from adjudge.stats.judged import AVERAGES, Average, Floats, Result, judged
from adjudge.stats.spa import pairwise_accuracy, soft_pairwise_accuracy

Scale = Literal["minmax", "range"]
"""What becomes 0 and 1: ends of the protocol's range, or the lowest and highest score that there is."""

Range = tuple[float, float]
"""Lowest and highest possible score."""


def mae(
    gold: Floats,
    metric: Floats,  # the same shape
    *,
    scale: Scale = "range",
    gold_range: Range | None = None,
    metric_range: Range | None = None,
) -> Result:
    """Mean absolute error of scaled scores; lower is better.

    mae = mean(|g' - m'|), x' = (x - low) / (high - low)

    As HiMATE reports it; its paper does not say how scores are scaled, so both are by their protocol's
    range, or with `minmax` by their own lowest and highest score. With `minmax` one extreme score moves all
    others. Ties play no part. Missing: a score that gold or metric lacks is left out. Undefined without a
    range, or where every score is equal and `minmax` has nothing to scale by. Range 0 to 1, beyond where a
    score is outside of its range, which the note says. No other tool is known that computes it.

    N is the number of scores. `gold`: systems by segments, or any shape; NaN where a translation was not
    judged. One system is enough.
    """
    return _error(gold, metric, scale, (gold_range, metric_range), power=1)


def mse(
    gold: Floats,
    metric: Floats,
    *,
    scale: Scale = "range",
    gold_range: Range | None = None,
    metric_range: Range | None = None,
) -> Result:
    """Mean squared error of scaled scores; lower is better.

    mse = mean((g' - m')^2), otherwise as `mae`
    """
    return _error(gold, metric, scale, (gold_range, metric_range), power=2)


def _error(
    gold: Floats, metric: Floats, scale: Scale, ranges: tuple[Range | None, Range | None], *, power: int
) -> Result:
    if scale not in get_args(Scale):
        raise UsageError(f"scores are scaled by {' or '.join(get_args(Scale))}, got {scale!r}")
    scores = judged(gold, metric)
    present = ~np.isnan(scores.gold)
    if not scores.n:
        return Result(value=None, n=0, reason="there is no score that gold and metric both have")
    scaled, notes = [], []
    for name, side, given in zip(scores._fields, scores, ranges, strict=True):
        values = side[present]
        low, high = given or (-np.inf, np.inf)
        if scale == "minmax":
            low, high = float(values.min()), float(values.max())
        if not 0 < high - low < np.inf:
            reason = f"every {name} score is {low:g}, so there is no lowest and highest to scale by"
            if scale != "minmax":
                reason = (
                    f"{name} scores have no range with two ends to scale by; minmax scales by the scores "
                    "themselves"
                )
            return Result(value=None, n=scores.n, reason=reason)
        if outside := np.count_nonzero((values < low) | (values > high)):
            notes.append(f"{name} scores outside of their range, {low:g} to {high:g}: {outside}")
        scaled.append((values - low) / (high - low))
    value = float((np.abs(scaled[0] - scaled[1]) ** power).mean())
    return Result(value=value, n=scores.n, note="; ".join(notes))


@frozen
class Measure:
    """One measure, as tables, task sets and `adjudge list measures` know it."""

    name: str  # as in tables and JSON
    title: str
    level: Literal["sys", "seg"]  # of what it says something, systems or segments
    # what its function is called with: one score a system (1-D), or systems by segments
    takes: Literal["systems", "segments"]
    # takes gold and metric, and by name `average` where it takes one, and `options`
    function: Callable[..., Result]
    # the average that it is usually reported with; None where its function takes none
    average: Average | None = None
    averages: tuple[Average, ...] = ()  # those that its function takes as `average`
    # further arguments of the function by name, such as `compat`, `epsilon`, `threshold`
    options: tuple[str, ...] = ()
    # whether the pairs of all groups count together, and no group has a value of its own
    pooled: bool = False
    range: tuple[float, float] = (-1.0, 1.0)  # lowest and highest value
    higher_is_better: bool = True  # whether more is better
    source: str


def _one_a_system(measure: Callable[[Floats, Floats], Result]) -> Callable[[Floats, Floats], Result]:
    """Refuse systems by segments, which a correlation would otherwise take as one flat array."""

    @wraps(measure)
    def of_systems(gold: Floats, metric: Floats) -> Result:
        if np.ndim(gold) > 1:
            raise UsageError(
                f"a measure of systems takes one score a system, got an array of shape {np.shape(gold)}"
            )
        return measure(gold, metric)

    return of_systems


def _calibrated(tau: Callable[..., Result]) -> Callable[..., Result]:
    @wraps(tau)
    def calibrated(*args: Any, **options: Any) -> Result:  # noqa: ANN401 (those of the measure)
        return tau(*args, epsilon=None, **options)

    return calibrated


_systems = partial(Measure, level="sys", takes="systems")
_segments = partial(Measure, level="seg", takes="segments", averages=AVERAGES)
_errors = partial(
    Measure,
    level="seg",
    takes="segments",
    options=("scale", "gold_range", "metric_range"),
    range=(0.0, 1.0),
    higher_is_better=False,
    source="HiMATE",
)

_ALL: Final = (
    _systems(
        name="sys_accuracy",
        title="pairwise accuracy",
        function=pairwise_accuracy,
        range=(0.0, 1.0),
        source="Kocmi et al. 2021",
    ),
    _systems(name="sys_pearson", title="Pearson's r", function=_one_a_system(pearson), source="Pearson 1895"),
    _systems(
        name="sys_spearman", title="Spearman's rho", function=_one_a_system(spearman), source="Spearman 1904"
    ),
    _systems(
        name="sys_kendall", title="Kendall's tau-b", function=_one_a_system(kendall_b), source="Kendall 1945"
    ),
    _systems(
        name="sys_kendall_c", title="Stuart's tau-c", function=_one_a_system(kendall_c), source="Stuart 1953"
    ),
    Measure(
        name="spa",
        title="soft pairwise accuracy",
        level="sys",
        takes="segments",
        function=soft_pairwise_accuracy,
        options=("resamples", "seed", "compat"),
        range=(0.0, 1.0),
        source="Thompson et al. 2024",
    ),
    _segments(
        name="seg_acc_eq",
        title="accuracy with ties, calibrated",
        function=acc_eq,
        average="item",
        options=("epsilon", "compat"),
        range=(0.0, 1.0),
        source="Deutsch et al. 2023",
    ),
    _segments(
        name="seg_pearson",
        title="Pearson's r",
        function=pearson,
        average="none",
        options=("macro",),
        source="Pearson 1895",
    ),
    _segments(
        name="seg_spearman",
        title="Spearman's rho",
        function=spearman,
        average="none",
        options=("macro",),
        source="Spearman 1904",
    ),
    _segments(
        name="seg_kendall_b",
        title="Kendall's tau-b",
        function=kendall_b,
        average="none",
        options=("macro",),
        source="Kendall 1945",
    ),
    _segments(
        name="seg_kendall_c",
        title="Stuart's tau-c",
        function=kendall_c,
        average="none",
        options=("macro",),
        source="Stuart 1953",
    ),
    _segments(
        name="seg_tau_23",
        title="tau with ties",
        function=tau_23,
        average="item",
        options=("epsilon",),
        source="Deutsch et al. 2023",
    ),
    _segments(
        name="seg_tau_23_calibrated",
        title="tau with ties, calibrated",
        function=_calibrated(tau_23),
        average="item",
        source="Deutsch et al. 2023",
    ),
    _segments(
        name="seg_kendall_like",
        title="Kendall-like tau, pairs far apart",
        function=kendall_like,
        average="item",
        options=("threshold",),
        pooled=True,
        source="Mathur et al. 2020",
    ),
    _segments(
        name="seg_pdp",
        title="Pearson's r of pairwise differences",
        function=pairwise_difference_pearson,
        average="item",
        pooled=True,
        source="DiIanni and Deutsch 2025",
    ),
    _segments(
        name="seg_contrastive",
        title="contrastive accuracy",
        function=contrastive_accuracy,
        average="item",
        options=("epsilon",),
        pooled=True,
        range=(0.0, 1.0),
        source="Amrhein et al. 2022",
    ),
    _errors(name="seg_mae", title="mean absolute error", function=mae),
    _errors(name="seg_mse", title="mean squared error", function=mse),
)

MEASURES: Final[Mapping[str, Measure]] = MappingProxyType({measure.name: measure for measure in _ALL})
"""Every measure that compares two arrays of scores, in the order of tables."""
