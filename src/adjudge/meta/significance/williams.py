"""Williams' test: do two metrics correlate with gold to a different degree, given how they correlate?"""

from __future__ import annotations

import math

import numpy as np

from adjudge.meta.measures.result import Floats
from adjudge.meta.paired import ROUNDING, Alternative
from adjudge.meta.significance.tables import Compared, Ints, table_of_pairs

__all__ = ["williams_p_value", "williams_p_values"]


def williams_p_values(gold: Floats, metrics: Floats) -> Floats:
    """Metrics by metrics: p-value of "the first correlates better with gold than the second".

    Args:
        gold: scores of any shape, all of them one sample.
        metrics: metrics by that shape; two are compared on what gold and both of them judged.

    Returns:
        NaN where `williams_p_value` has none.
    """
    return table_of_pairs(gold, metrics, _test)


def _test(compared: Compared) -> tuple[Floats, Floats]:
    known = ~np.isnan(compared.gold)
    with np.errstate(invalid="ignore", divide="ignore"):  # a constant metric correlates with nothing: NaN
        r = np.corrcoef(np.stack([compared.gold[known], *(metric[known] for metric in compared.metrics)]))
    n = int(known.sum())
    pairs = compared.pairs + 1  # gold is the first
    return _each(r, pairs, n), _each(r, pairs[:, ::-1], n)


def _each(r: Floats, pairs: Ints, n: int) -> Floats:
    found = [williams_p_value(r[0, a], r[0, b], r[a, b], n) for a, b in pairs]
    return np.array([np.nan if p is None else p for p in found])


def williams_p_value(
    first: float, second: float, between: float, n: int, alternative: Alternative = "greater"
) -> float | None:
    """p-value of "the first correlates better with gold than the second".

    t(n - 3) = (r1 - r2) sqrt((n - 1) (1 + r12)) / sqrt(2 K (n - 1) / (n - 3) + (r1 + r2)^2 / 4 (1 - r12)^3)
    K = 1 - r1^2 - r2^2 - r12^2 + 2 r1 r2 r12

    Williams 1959; for metrics Graham and Baldwin 2014. For Pearson over n independent scores of normal
    shape, which segments of one system or document are not: prefer PERM-BOTH. MTME's one-sided p is that of
    whichever correlation is larger; `greater` here is near 1 where the second is.

    Args:
        first: correlation of the first metric with gold.
        second: that of the second metric.
        between: correlation of the two metrics.
        n: scores that all three are over.
        alternative: `greater`, or `two-sided`.

    Returns:
        None with fewer than four scores, or where the two metrics cannot be told apart (r12 = 1).
    """
    if n < 4 or between > 1 - ROUNDING:
        return None
    from scipy.stats import t

    k = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    below = 2 * k * (n - 1) / (n - 3) + ((first + second) / 2) ** 2 * (1 - between) ** 3
    if below <= 0:
        return None
    statistic = (first - second) * math.sqrt(max((n - 1) * (1 + between), 0.0) / below)
    if alternative == "two-sided":
        return float(2 * t.sf(abs(statistic), n - 3))
    return float(t.sf(statistic, n - 3))
