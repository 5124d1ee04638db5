"""The accuracy on challenge sets, where one translation of each source is right and others have one error."""

from __future__ import annotations

from adjudge.errors import UsageError
from adjudge.stats.judged import Average, Floats, Result, judged, lone_group, nothing_compared, pair_counts


def contrastive_accuracy(
    gold: Floats, metric: Floats, average: Average = "item", *, epsilon: float = 0.0
) -> Result:
    """Share of pairs of which the metric prefers the one that gold prefers; a tie of the metric is wrong.

    accuracy = C / (C + D + T_m) over the pairs of all groups together

    For challenge sets, where one translation of each source is right and others have one error (WMT's
    challenge sets; Amrhein et al. 2022, https://aclanthology.org/2022.wmt-1.44). Pairs that gold ties do not
    count. Missing: a score that gold or metric lacks is left out in both. Undefined where gold ties every
    pair. Range 0 to 1; a coin reaches 0.5, a constant metric 0.

    N is the number of pairs, those that do not count included. `gold`: systems by segments; NaN where a
    translation was not judged. `metric`: the same shape.
    """
    if not epsilon >= 0:
        raise UsageError(f"epsilon is a difference of scores, 0 or more; got {epsilon}")
    scores = judged(gold, metric, average)
    counts, n = pair_counts(scores, epsilon), int(scores.pairs.sum())
    if not (ordered := counts.gold_orders.sum()):
        reason = "every pair is tied by gold or by the metric" if n else nothing_compared(scores, average)
        return Result(value=None, n=n, reason=reason)
    return Result(value=float(counts.concordant.sum() / ordered), n=n, note=lone_group(scores, average))
