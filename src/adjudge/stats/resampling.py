"""Bootstrap of measures, and the test of each measure between metrics.

`resampled` makes a measure a function of how often each segment was drawn, so that a thousand draws take
one product; `measure_draws` draws segments or documents; `metric_p_values` chooses the test of a measure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, cast

import numpy as np
from numpy.typing import NDArray

from adjudge.core.frozen import frozen
from adjudge.errors import UsageError
from adjudge.stats.acc_eq import acc_eq
from adjudge.stats.bootstrap import unit_draws
from adjudge.stats.correlation import pearson_values, spearman_values, tau_b_values, tau_c_values
from adjudge.stats.judged import Average, Floats, Judged, divided, judged, pair_counts, shared
from adjudge.stats.measures import MEASURES, Measure
from adjudge.stats.paired import Seed
from adjudge.stats.permutation import (
    Compared,
    Correlation,
    Differences,
    Ints,
    OrderStatistic,
    Swapping,
    accuracy_differences,
    accuracy_p_values,
    correlation_p_values,
    metric_differences,
    order_p_values,
    sign_test_limit,
    soft_p_values,
    swapped_correlations,
    swapped_orders,
    swapped_soft,
    williams_p_values,
)

Resampled = Callable[[Floats], Floats]
"""Draws by segments, how often each was drawn, to one value a draw; NaN where it has none."""

Codes = NDArray[np.signedinteger[Any]]
_CELLS: Final = 2**17  # of one block of pairs of segments, which then stays in the processor's cache
_WHOLE: Final = 2**24  # whole numbers below are exact in single precision

_FLAT: Final = 1e-12  # share of a sum of squares; scores with less variance are constant


def resampled(
    measure: Measure, gold: Floats, metric: Floats, average: Average | None, options: Mapping[str, Any]
) -> Resampled:
    """Prepare a measure of one metric for many draws; without a quick form, it is taken anew in each.

    `gold`: systems by segments. `metric`: the same shape.
    """
    if measure.takes == "systems":
        of_groups = _GROUP_VALUES[measure.name.removeprefix("sys_")]
        return lambda counts: of_groups(judged(_means(counts, gold).T, _means(counts, metric).T, "item"))
    if measure.name == "spa":
        whole = ~(np.isnan(gold) | np.isnan(metric)).any(axis=0)
        upper = np.triu_indices(len(gold), 1)
        gaps = [np.where(whole, side[upper[0]] - side[upper[1]], 0.0) for side in (gold, metric)]

        def value(counts: Floats) -> Floats:
            p, q = (sign_test_limit(counts @ d.T, counts @ (d * d).T) for d in gaps)
            found = 1 - np.abs(p - q).mean(axis=1) if len(upper[0]) else np.full(len(counts), np.nan)
            return np.where(counts[:, whole].any(axis=1), found, np.nan)

        return value
    if average == "item" and not measure.pooled:
        values = _item_values(measure, gold, metric, options)
        defined, filled = (~np.isnan(values)).astype(np.float64), np.nan_to_num(values)
        return lambda counts: divided(counts @ filled, counts @ defined)
    quick = _QUICK.get((measure.name, average))
    return (
        quick(judged(gold, metric), gold.shape) if quick else _anew(measure, gold, metric, average, options)
    )


def _accuracy_values(scores: Judged, epsilon: float = 0.0) -> Floats:
    counts = pair_counts(scores, epsilon)
    return divided(counts.concordant + counts.both_ties, counts.pairs)


_GROUP_VALUES: Final[Mapping[str, Callable[[Judged], Floats]]] = {
    "accuracy": _accuracy_values,
    "pearson": pearson_values,
    "spearman": spearman_values,
    "kendall": tau_b_values,
    "kendall_b": tau_b_values,
    "kendall_c": tau_c_values,
}
"""Values of groups by the last part of a measure's name; a group is a draw, or a segment."""


def _means(counts: Floats, scores: Floats) -> Floats:
    """Draws by systems, mean over what was judged."""
    return divided(counts @ np.nan_to_num(scores).T, counts @ (~np.isnan(scores)).T.astype(np.float64))


_CALIBRATED: Final = ("seg_acc_eq", "seg_tau_23_calibrated")
"""Measures whose epsilon is calibrated; the second is twice the first, less 1, and so has its tests."""


def _item_values(measure: Measure, gold: Floats, metric: Floats, options: Mapping[str, Any]) -> Floats:
    """Value of each segment, NaN where it has none."""
    scores = judged(gold, metric, "item")
    if measure.name in _CALIBRATED:
        shares = _accuracy_values(scores, acc_eq(gold, metric, "item", **options).epsilon or 0.0)
        return shares if measure.name == "seg_acc_eq" else 2 * shares - 1
    if values := _GROUP_VALUES.get(measure.name.removeprefix("seg_")):
        return values(scores)
    columns = range(gold.shape[1])
    found = [measure.function(gold[:, [n]], metric[:, [n]], average="item", **options).value for n in columns]
    return np.array([np.nan if v is None else v for v in found])


def _pearson(scores: Judged, shape: tuple[int, ...], average: Average) -> Resampled:
    present = ~np.isnan(scores.gold)
    g, m = ((side - side[present].sum() / max(scores.n, 1)) for side in scores)
    g, m = (np.where(present, side, 0.0).reshape(shape) for side in (g, m))
    parts = np.stack([present.astype(np.float64).reshape(shape), g, m, g * g, m * m, g * m])
    if average == "none":
        parts = parts.sum(axis=1, keepdims=True)

    def value(counts: Floats) -> Floats:
        n, g, m, gg, mm, gm = counts @ parts.swapaxes(1, 2)
        var_g, var_m = n * gg - g * g, n * mm - m * m
        varies = (var_g > _FLAT * n * gg) & (var_m > _FLAT * n * mm)
        r = np.divide(n * gm - g * m, np.sqrt(np.where(varies, var_g * var_m, 1.0)))
        return divided(np.where(varies, r, 0.0).sum(axis=1), varies.sum(axis=1))

    return value


def _spearman(scores: Judged, shape: tuple[int, ...]) -> Resampled:
    known = ~np.isnan(scores.gold[:, 0])
    segment = np.broadcast_to(np.arange(shape[1]), shape).ravel()[known]
    gold, metric = _Sorted(scores.gold[known, 0]), _Sorted(scores.metric[known, 0])

    def value(counts: Floats) -> Floats:
        return np.array([_weighted(gold.ranks(w), metric.ranks(w), w) for w in counts[:, segment]])

    return value


class _Sorted:
    """Scores, sorted once, whose ranks are asked for under many weights."""

    def __init__(self, scores: Floats) -> None:
        _, self.codes = np.unique(scores, return_inverse=True)

    def ranks(self, weights: Floats) -> Floats:
        sizes = np.bincount(self.codes, weights)
        return np.asarray((np.cumsum(sizes) - sizes / 2)[self.codes])


def _weighted(g: Floats, m: Floats, weights: Floats) -> float:
    if not (n := weights.sum()):
        return float("nan")
    g, m = g - g @ weights / n, m - m @ weights / n
    below = (g * g @ weights) * (m * m @ weights)
    return float(g * m @ weights / np.sqrt(below)) if below > 0 else float("nan")


_TAUS: Final = ("seg_kendall_b", "seg_kendall_c")


class _Taus:
    """Kendall's tau b and tau c of several metrics over all scores, for many draws of segments.

    Both are made of the same parts: concordant less discordant pairs, tied pairs, and different values.

    `gold`: systems by segments. `metrics`: metrics by systems by segments.
    """

    def __init__(self, gold: Floats, metrics: Floats) -> None:
        known = ~np.isnan(gold) & ~np.isnan(metrics)
        self.sizes = known.sum(axis=1, dtype=np.float64)
        self.gold = _codes(gold, ~np.isnan(gold))
        self.metrics = [_codes(*each) for each in zip(metrics, known, strict=True)]
        self.values = [_Values(codes) for codes in self.metrics]
        patterns = {k.tobytes(): _Values(np.where(k, self.gold, -1)) for k in known}
        self.gold_values = [patterns[k.tobytes()] for k in known]

    def of_draws(self, counts: Floats) -> Floats:
        """Tau b and tau c, by draws by metrics; NaN where a draw has none.

        `counts`: draws by segments, how often each was drawn.
        """
        numerator, pairs = _concordance(counts, self.gold, self.metrics), (counts @ self.sizes.T) ** 2
        of_gold = {values: values.of_draws(counts) for values in set(self.gold_values)}
        parts = [
            (of_gold[gold], own.of_draws(counts))
            for gold, own in zip(self.gold_values, self.values, strict=True)
        ]
        tied, classes = np.moveaxis(np.array(parts), 0, -1).swapaxes(0, 1)  # each sides by draws by metrics
        least = classes.min(axis=0)
        untied = np.maximum(pairs - tied, 0.0).prod(axis=0)
        tau_c = divided(numerator * least, np.where(least > 1, pairs * (least - 1), 0.0))
        return np.stack([divided(numerator, np.sqrt(untied)), tau_c])


class _Values:
    """Different values of scores and the segments that they stand in.

    `codes`: systems by segments, a whole number from 0 for each value, -1 where there is none.
    """

    def __init__(self, codes: Codes) -> None:
        from scipy.sparse import csr_array

        values, segments = codes[codes >= 0], np.nonzero(codes >= 0)[1]
        is_single = (np.bincount(values) == 1)[values]
        self.single = np.bincount(segments[is_single], minlength=codes.shape[1]).astype(np.float64)
        several, place = np.unique(values[~is_single], return_inverse=True)
        cells = np.ones(len(place)), (place, segments[~is_single])
        self.several = csr_array(cells, shape=(len(several), codes.shape[1]))

    def of_draws(self, counts: Floats) -> tuple[Floats, Floats]:
        tied, classes = counts**2 @ self.single, (counts > 0) @ self.single
        height = max(1, _WHOLE // max(self.several.shape[0], 1))
        for start in range(0, len(counts), height):
            rows = slice(start, start + height)
            sizes = self.several @ counts[rows].T
            tied[rows] += (sizes * sizes).sum(axis=0)
            classes[rows] += np.count_nonzero(sizes, axis=0)
        return tied, classes


def _codes(scores: Floats, known: NDArray[np.bool_]) -> Codes:
    values, codes = np.unique(scores[known], return_inverse=True)
    found = np.full(scores.shape, -1, dtype=np.min_scalar_type(-max(len(values), 1)))
    found[known] = codes
    return found


def _concordance(counts: Floats, gold: Codes, metrics: Sequence[Codes]) -> Floats:
    """Draws by metrics, concordant less discordant of all ordered pairs of scores.

    They are quadratic forms of the counts, whose tables, segments by segments, are summed over two systems in
    one order, doubled where they differ, and made some rows at a time.
    """
    systems, segments = gold.shape
    sums = np.zeros((len(counts), len(metrics)))
    is_exact = counts.sum(axis=1).max(initial=0) * systems**2 < _WHOLE  # no cell is above systems squared
    side = counts.astype(np.float32) if is_exact else counts
    small = np.int8 if 2 * systems <= np.iinfo(np.int8).max else np.int32
    gaps = [(codes < 0).any() for codes in metrics]
    height = max(1, _CELLS // max(segments, 1))
    pairs = [(a, (*range(a + 1, systems), a)) for a in range(systems)]
    for start in range(0, segments, height):
        rows = slice(start, start + height)
        wanted = {(a, b): _signs(gold[a, rows], gold[b]) for a, others in pairs for b in others}
        for place, (codes, has_gaps) in enumerate(zip(metrics, gaps, strict=True)):
            table = np.zeros((len(gold[0, rows]), segments), dtype=np.float32)
            for a, others in pairs:
                counted = np.zeros(table.shape, dtype=small)
                for b in others:
                    if a == b:
                        counted *= 2
                    order = _signs(codes[a, rows], codes[b])
                    order *= wanted[a, b]
                    if has_gaps:
                        order *= (codes[a, rows] >= 0)[:, None] & (codes[b] >= 0)
                    counted += order
                table += counted
            sums[:, place] += ((side @ table.T) * counts[:, rows]).sum(axis=1)
    return sums


def _signs(first: Codes, second: Codes) -> NDArray[np.int8]:
    rows = first[:, None]
    return (rows > second).view(np.int8) - (rows < second).view(np.int8)


_QUICK: Final[Mapping[tuple[str, Average | None], Callable[[Judged, tuple[int, ...]], Resampled]]] = {
    ("seg_pearson", "none"): partial(_pearson, average="none"),
    ("seg_pearson", "sys"): partial(_pearson, average="sys"),
    ("seg_spearman", "none"): _spearman,
}
"""Forms of measures that are no mean over segments."""


def _anew(
    measure: Measure, gold: Floats, metric: Floats, average: Average | None, options: Mapping[str, Any]
) -> Resampled:
    chosen = dict(options) | ({"average": average} if measure.averages else {})
    if measure.name == "seg_acc_eq":
        chosen = {"average": average, "epsilon": acc_eq(gold, metric, **chosen).epsilon}
    elif chosen.get("scale") == "minmax":
        scores = judged(gold, metric)
        for name, side in zip(("gold_range", "metric_range"), scores, strict=True):
            chosen[name] = (float(np.nanmin(side)), float(np.nanmax(side))) if scores.n else (0.0, 0.0)
        chosen["scale"] = "range"

    def value(counts: Floats) -> Floats:
        found = []
        for row in counts:
            drawn = np.repeat(np.arange(len(row)), row.astype(np.int64))
            found.append(measure.function(gold[:, drawn], metric[:, drawn], **chosen).value)
        return np.array([np.nan if v is None else v for v in found])

    return value


@frozen
class Drawing:
    """What is drawn, and how often."""

    resamples: int = 1000
    seed: int = 0  # of numpy's default generator
    # document of each segment; where given, whole documents are drawn, and a segment without one is a
    # document of its own
    documents: Sequence[str] = ()


def measure_draws(
    measure: str,
    gold: Floats,  # systems by segments
    metrics: Floats,  # metrics by systems by segments, for measures of system scores too
    drawing: Drawing | None = None,  # what is drawn how often; None for 1,000 draws of segments
    *,
    average: Average | None = None,  # over what, for segments; None for the measure's own
    options: Mapping[str, Any] | None = None,
) -> Floats:
    """Values of a measure over segments, or documents, drawn with replacement; NaN where there is none.

    Draws by metrics. All metrics see the same draws, so that the difference of two columns is a draw of the
    difference. Segments that gold did not judge at all are not drawn, except for measures of system scores,
    where each side is the mean over what it judged of the draw. Systems are not drawn: these intervals are
    for the systems at hand (Deutsch et al. 2021 call this BOOT-INPUTS).

    acc_eq keeps the epsilon that was calibrated on the whole, as the tests between metrics do: calibrated
    anew, each draw would be the best of many, and the interval would lie above the value. Ranges that
    `minmax` takes from the data stay those of the whole too. SPA takes its inner p-values from the normal
    law (`permutation.soft_p_values`).

    What `stats.bootstrap.percentile_intervals` makes intervals of, and `bootstrap_p_values` p-values.
    """
    found, drawing, average = MEASURES[measure], drawing or Drawing(), average or MEASURES[measure].average
    kept = np.asarray(~np.isnan(gold).all(axis=0) | (found.takes == "systems"))
    units = _units(drawing.documents, kept)
    if units.max(initial=-1) < 1:
        return np.full((drawing.resamples, len(metrics)), np.nan)
    whole, sides = (gold, metrics, drawing.documents), (gold[:, kept], metrics[:, :, kept])

    def drawn(values: Resampled) -> Floats:
        blocks = unit_draws(int(units.max()) + 1, drawing.resamples, drawing.seed)
        return np.concatenate([values(counts[:, units]) for counts in blocks], axis=-2)

    if measure in _TAUS and average == "none":
        seed = drawing.resamples, drawing.seed
        both = shared("taus", whole, seed, lambda: drawn(_Taus(*sides).of_draws))
        return np.asarray(both[_TAUS.index(measure)])
    forms = [resampled(found, sides[0], m, average, dict(options or {})) for m in sides[1]]
    return drawn(lambda counts: np.stack([form(counts) for form in forms], axis=-1))


def _units(documents: Sequence[str], kept: NDArray[np.bool_]) -> Ints:
    names = [(name, 0) if name else ("", n) for n, name in enumerate(documents)]
    names = names or [("", n) for n in range(len(kept))]
    if len(names) != len(kept):
        raise UsageError(f"{len(names)} documents for {len(kept)} segments; each segment needs one")
    codes: dict[tuple[str, int], int] = {}
    found = [codes.setdefault(name, len(codes)) for name, k in zip(names, kept.tolist(), strict=True) if k]
    return np.array(found, dtype=np.int64)


def bootstrap_p_values(draws: Floats) -> Floats:
    """Metrics by metrics: p-value of "the first has the larger value than the second", by paired bootstrap.

    p = (draws in which it has not + 1) / (draws + 1)

    Koehn 2004, for metrics Deutsch et al. 2021. For any measure. A draw in which one of the two has no value
    counts against. Where smaller is better, [j, i] is the entry to look at.

    `draws`: of `measure_draws`; NaN throughout for a metric without a value.
    """
    wins = np.count_nonzero(draws[:, :, None] > draws[:, None, :], axis=0)
    table = np.asarray((len(draws) - wins + 1) / (len(draws) + 1), dtype=np.float64)
    unknown = np.flatnonzero(np.isnan(draws).all(axis=0))
    table[unknown], table[:, unknown] = np.nan, np.nan
    np.fill_diagonal(table, 1.0)
    return table


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


def default_method(measure: str) -> Method:
    """Test of a measure: what WMT uses where many pairs of metrics can be tested quickly, else bootstrap."""
    if measure in _CALIBRATED:
        return "pairwise-permutation"
    return "perm-both" if measure in {*_ORDERED, *_CORRELATIONS, "spa"} else "bootstrap"


def methods_of(measure: str) -> tuple[Method, ...]:
    """Tests that a measure has, its own first."""
    more: tuple[Method, ...] = ("williams",) if measure in {"sys_pearson", "seg_pearson"} else ()
    return tuple(dict.fromkeys((default_method(measure), "bootstrap", *more)))


def metric_p_values(
    measure: str,
    gold: Floats,
    metrics: Floats,
    drawing: Drawing | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    method: Method | None = None,  # None for that of `default_method`
) -> Floats:
    """Metrics by metrics: p-value of "the first agrees better with gold than the second".

    `gold`: what the measure takes: one score a system, or systems by segments; systems by segments always for
    the bootstrap. `drawing`: how often, with which seed, and whether documents are drawn, which the bootstrap
    alone can; None for 1,000 draws of segments.
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
    averaged = cast("Average", chosen.pop("average", None) or found.average or "none")
    resamples, seed = drawing.resamples, drawing.seed
    if found.name == "spa":
        return soft_p_values(gold, metrics, resamples=resamples, seed=seed)
    if found.name in _CALIBRATED:
        epsilons = [acc_eq(gold, metric, averaged, **chosen).epsilon for metric in metrics]
        known = [np.nan if epsilon is None else epsilon for epsilon in epsilons]
        return accuracy_p_values(gold, metrics, known, average=averaged, resamples=resamples, seed=seed)
    if found.name in _ORDERED:
        return order_p_values(gold, metrics, statistic=_ORDERED[found.name], resamples=resamples, seed=seed)
    statistic = _CORRELATIONS[found.name]
    return correlation_p_values(
        gold, metrics, statistic=statistic, average=averaged, resamples=resamples, seed=seed
    )


def swapped_differences(
    measure: str, gold: Floats, metrics: Floats, options: Mapping[str, Any], *, resamples: int, seed: Seed
) -> Differences:
    """Differences of a measure between metrics, and those after swaps, for the test of a mean of measures.

    `gold`: one score a system, or systems by segments, as the measure takes.
    """
    chosen = dict(options)
    average = cast("Average", chosen.pop("average", None) or MEASURES[measure].average or "none")
    if measure in _CALIBRATED:
        epsilons = [acc_eq(gold, metric, average, **chosen).epsilon for metric in metrics]
        known = [np.nan if epsilon is None else epsilon for epsilon in epsilons]
        return accuracy_differences(gold, metrics, known, average, resamples, seed)
    swapping: Callable[[Compared], Swapping]
    if measure == "spa":
        swapping = swapped_soft
    elif measure in _ORDERED:
        swapping = partial(swapped_orders, statistic=_ORDERED[measure])
    elif measure in _CORRELATIONS:
        swapping = partial(swapped_correlations, statistic=_CORRELATIONS[measure], average=average)
    else:
        raise UsageError(f"{measure} has no test that swaps scores, so that a mean with it has none")
    if MEASURES[measure].takes == "systems" and measure in _CORRELATIONS:
        gold, metrics = gold[:, None], metrics[:, :, None]
        swapping = partial(swapped_correlations, statistic=_CORRELATIONS[measure], average="none")
    return metric_differences(gold, metrics, swapping, resamples, seed)
