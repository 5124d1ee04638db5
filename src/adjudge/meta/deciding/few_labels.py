"""System means from many scores of a judge and few labels of people: prediction-powered inference. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from adjudge.core.score import Interval
from adjudge.errors import UsageError

__all__ = ["LEAST", "Estimate", "estimate_mean"]

Floats = NDArray[np.float64]

LEAST: Final = 10
"""Labels of which an interval can be made."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean on the labels' scale.

    Args:
        value: of all units, labelled or not.
        interval: 95 %.
        plain: mean of the labels alone.
        plain_interval: 95 %, of the labels alone.
        weight: how much the scores are trusted: 0 not at all, then the estimate is the plain mean.
        labelled: units with a label.
        scored: units with a score, those with a label among them.
        gain: so many labels would have given the plain mean this interval, over those there are.
    """

    value: float
    interval: Interval
    plain: float
    plain_interval: Interval
    weight: float
    labelled: int
    scored: int
    gain: float


def estimate_mean(labels: Floats, scores: Floats, others: Floats) -> Estimate:
    """The mean label of all units, were all labelled.

    value = mean(y) + w (mean(f of the others) - mean(f of the labelled)),
    w = cov(y, f) / (var(f) (1 + n / N)), se^2 = var(y - w f) / n + w^2 var(f of the others) / N

    Angelopoulos et al. 2023 (prediction-powered inference), with the weight of Angelopoulos, Duchi and Zrnic
    2023 (power tuning): whatever the scores are worth, the estimate is of the labels, and its interval is not
    wider in the long run than that of the labels alone. Intervals by Student's t with n - 1 degrees. A unit
    is one segment; for a difference of two systems, labels and scores are differences.

    Args:
        labels: y, of the n labelled units; a random sample of all units.
        scores: f, of the same units; on any scale.
        others: f, of the N units without a label.

    Raises:
        UsageError: fewer than ten labels, or labels and scores of different units.
    """
    n, rest = len(labels), len(others)
    if n < LEAST or len(scores) != n:
        raise UsageError(f"an estimate needs {LEAST} labelled segments that have a score, got {n}")
    weight = _weight(labels, scores, n / rest) if rest else 0.0
    shift = weight * (float(others.mean()) - float(scores.mean())) if rest else 0.0
    plain, plain_error = float(labels.mean()), math.sqrt(float(labels.var(ddof=1)) / n)
    left = float((labels - weight * scores).var(ddof=1)) / n
    drawn = weight**2 * float(others.var(ddof=1)) / rest if rest > 1 else 0.0
    error = math.sqrt(left + drawn)
    return Estimate(
        value=plain + shift,
        interval=_interval(plain + shift, error, n),
        plain=plain,
        plain_interval=_interval(plain, plain_error, n),
        weight=weight,
        labelled=n,
        scored=n + rest,
        gain=(plain_error / error) ** 2 if error else 1.0,
    )


def _weight(labels: Floats, scores: Floats, ratio: float) -> float:
    spread = float(scores.var(ddof=1))
    if not spread:
        return 0.0
    return float(np.cov(labels, scores)[0, 1]) / (spread * (1 + ratio))


def _interval(value: float, error: float, n: int) -> Interval:
    from scipy.stats import t as student

    reach = float(student.isf(0.025, n - 1)) * error
    return Interval(value - reach, value + reach)
