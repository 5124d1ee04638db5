"""The test of each measure: which metric agrees better with gold, and how sure is that?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, cast

import numpy as np

from adjudge.errors import UsageError
from adjudge.meta.measures import MEASURES, Measure
from adjudge.meta.measures.acc_eq import acc_eq
from adjudge.meta.measures.result import Average, Floats
from adjudge.meta.significance.draws import Drawing, bootstrap_p_values, measure_draws
from adjudge.meta.significance.ordered import OrderStatistic, order_p_values
from adjudge.meta.significance.perm_both import Correlation, correlation_p_values
from adjudge.meta.significance.sign_test import accuracy_p_values
from adjudge.meta.significance.soft import soft_p_values
from adjudge.meta.significance.williams import williams_p_values

__all__ = ["Method", "default_method", "methods_of", "metric_p_values"]

Method = Literal["perm-both", "pairwise-permutation", "bootstrap", "williams"]
"""`perm-both` swaps scores, `pairwise-permutation` decisions on pairs, `bootstrap` draws segments; `williams`
draws nothing, and takes scores to be independent and of normal shape."""

_ORDERED: Final[Mapping[str, OrderStatistic]] = {
    "sys_accuracy": "accuracy",
    "sys_spearman": "spearman",
    "sys_kendall": "kendall_b",
    "sys_kendall_c": "kendall_c",
}
_CORRELATIONS: Final[Mapping[str, Correlation]] = {
    "sys_pearson": "pearson",
    "seg_pearson": "pearson",
    "seg_spearman": "spearman",
}
_WILLIAMS: Final = ("sys_pearson", "seg_pearson")


def default_method(measure: str) -> Method:
    """Test of a measure: what WMT uses where many pairs of metrics can be tested quickly, else bootstrap."""
    if measure == "seg_acc_eq":
        return "pairwise-permutation"
    return "perm-both" if measure in {*_ORDERED, *_CORRELATIONS, "spa"} else "bootstrap"


def methods_of(measure: str) -> tuple[Method, ...]:
    """Tests that a measure has, its own first."""
    more: tuple[Method, ...] = ("williams",) if measure in _WILLIAMS else ()
    return tuple(dict.fromkeys((default_method(measure), "bootstrap", *more)))


def metric_p_values(
    measure: str,
    gold: Floats,
    metrics: Floats,
    drawing: Drawing | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    method: Method | None = None,
) -> Floats:
    """Metrics by metrics: p-value of "the first agrees better with gold than the second".

    Args:
        measure: a name of `MEASURES`.
        gold: what the measure takes: one score a system, or systems by segments; systems by segments always
            for the bootstrap.
        metrics: metrics by the same.
        drawing: how often, with which seed, and whether documents are drawn, which the bootstrap alone can;
            None for 1,000 draws of segments.
        options: `average`, and further arguments of the measure's function.
        method: None for that of `default_method`.

    Raises:
        UsageError: no such test of this measure.
    """
    found, drawing, chosen = MEASURES[measure], drawing or Drawing(), dict(options or {})
    method = method or default_method(measure)
    if method not in methods_of(measure):
        raise UsageError(f"the tests of {measure} are {', '.join(methods_of(measure))}; got {method!r}")
    if method == "bootstrap":
        average = chosen.pop("average", None)
        draws = measure_draws(measure, gold, metrics, drawing, average=average, options=chosen)
        return bootstrap_p_values(draws if found.higher_is_better else -draws)
    if drawing.documents:
        raise UsageError(f"{method} cannot draw documents; the bootstrap can")
    if method == "williams":
        if chosen.get("average") not in {None, "none"}:
            raise UsageError(
                f"williams compares one correlation over all scores, not a mean by {chosen['average']}"
            )
        return williams_p_values(gold, metrics)
    return _swapped(found, gold, metrics, chosen, drawing)


def _swapped(
    measure: Measure, gold: Floats, metrics: Floats, options: dict[str, Any], drawing: Drawing
) -> Floats:
    average = cast("Average", options.pop("average", None) or measure.average or "none")
    resamples, seed = drawing.resamples, drawing.seed
    if measure.name == "spa":
        return soft_p_values(gold, metrics, resamples=resamples, seed=seed)
    if measure.name == "seg_acc_eq":
        epsilons = [acc_eq(gold, metric, average, **options).epsilon for metric in metrics]
        known = [np.nan if epsilon is None else epsilon for epsilon in epsilons]
        return accuracy_p_values(gold, metrics, known, average=average, resamples=resamples, seed=seed)
    if measure.name in _ORDERED:
        return order_p_values(gold, metrics, statistic=_ORDERED[measure.name], resamples=resamples, seed=seed)
    statistic = _CORRELATIONS[measure.name]
    return correlation_p_values(
        gold, metrics, statistic=statistic, average=average, resamples=resamples, seed=seed
    )
