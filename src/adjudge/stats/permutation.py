"""Tests of two metrics that swap their scores or decisions at random: which agrees better with gold?

PERM-BOTH for correlations, for measures of systems that compare them in pairs, and for soft pairwise
accuracy; the pairwise test of acc_eq in closed form; and, for comparison, Williams' test, which swaps
nothing. All pairs of metrics that share their scores are tested in one product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, combinations_with_replacement
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adjudge.stats.judged import Average, Floats, divided
from adjudge.stats.paired import ROUNDING, Seed, random_signs, share_of_hits, sign_vectors

Ints = NDArray[np.int64]


class Compared(NamedTuple):
    """Metrics that are compared on the same scores."""

    gold: Floats  # NaN where there is nothing to compare
    metrics: Floats  # some of the metrics by the shape of gold; NaN where gold has it
    used: Ints
    pairs: Ints  # two columns, positions in `metrics`


class Swapping(NamedTuple):
    """What becomes of the difference of two metrics when units are swapped between them."""

    observed: Floats  # value of the first less that of the second metric, one a pair; NaN where one has none
    # signs, draws by units, to the same differences after swaps, draws by pairs
    drawn: Callable[[Floats], Floats]
    units: int
    rows: int | None = None  # draws of one block; None for as they come
    rounding: float = ROUNDING  # values that differ by less are equal

    def blocks(self, signs: Iterable[Floats]) -> Iterator[Floats]:
        """Differences after swaps, draws by pairs."""
        for some in signs:
            for start in range(0, len(some), self.rows or len(some)):
                yield self.drawn(some[start : start + (self.rows or len(some))])

    def p_values(self, resamples: int, seed: int) -> tuple[Floats, Floats]:
        """P-values of "the first is better" and "the second is better": shares of the draws."""
        first, second = np.zeros(len(self.observed)), np.zeros(len(self.observed))
        for block in self.blocks(sign_vectors(self.units, resamples, seed)):
            first += (block >= self.observed - self.rounding).sum(axis=0)
            second += (block <= self.observed + self.rounding).sum(axis=0)
        shares = (share_of_hits(hits, self.units, resamples) for hits in (first, second))
        above, below = (np.where(np.isnan(self.observed), np.nan, share) for share in shares)
        return above, below


PairTest = Callable[[Compared], tuple[Floats, Floats]]
"""Gives p-values of "the first is better" and of "the second is better", one a pair."""


def complete_pairs(judged: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.bool_], Ints]]:
    """Pairs of metrics, put together where the same scores are to be compared.

    The entries that both metrics of each pair have, and the pairs, two columns. `judged`: metrics by entries,
    whether the metric has a score there.
    """
    patterns: dict[bytes, list[int]] = {}
    for metric, row in enumerate(judged):
        patterns.setdefault(np.packbits(row).tobytes(), []).append(metric)
    for first, second in combinations_with_replacement(patterns.values(), 2):
        if first is second:
            pairs = list(combinations(first, 2))
        else:
            pairs = [(min(i, j), max(i, j)) for i in first for j in second]
        if pairs:
            yield judged[first[0]] & judged[second[0]], np.array(pairs)


def table_of_pairs(gold: Floats, metrics: Floats, test: PairTest) -> Floats:
    """Metrics by metrics, the p-values of every pair on what gold and both metrics judged.

    `gold`: of any shape. `metrics`: metrics by that shape.
    """
    table = np.full((len(metrics), len(metrics)), np.nan)
    np.fill_diagonal(table, 1.0)
    judged = ~np.isnan(metrics) & ~np.isnan(gold)
    for mask, pairs in complete_pairs(judged.reshape(len(metrics), -1)):
        known = mask.reshape(gold.shape)
        used, index = np.unique(pairs, return_inverse=True)
        chosen = np.asarray(index).reshape(pairs.shape)
        masked = np.where(known, metrics[used], np.nan)
        first, second = pairs.T
        table[first, second], table[second, first] = test(
            Compared(np.where(known, gold, np.nan), masked, used, chosen)
        )
    return table


def group_rows(scores: Floats, average: Average) -> Floats:
    """Arrange scores (..., systems, segments) as (..., groups, members) of what is averaged over."""
    if average == "item":
        return np.swapaxes(scores, -1, -2)
    return scores if average == "sys" else scores.reshape(*scores.shape[:-2], 1, -1)


def z_scores(scores: Floats) -> Floats:
    """Each row with mean 0 and variance 1, so that two metrics can be swapped; a constant row is 0.

    MTME standardises as this does: over all entries compared, with the variance of the population.
    """
    if not scores.shape[-1]:
        return scores
    centred = scores - scores.mean(axis=-1, keepdims=True)
    spread = centred.std(axis=-1, keepdims=True)
    is_constant = np.ptp(scores, axis=-1, keepdims=True) == 0
    return np.where(is_constant, 0.0, centred / np.where(is_constant, 1.0, spread))


class Differences(NamedTuple):
    """Differences of values between metrics, before and after units were swapped at random."""

    observed: Floats  # metrics by metrics, value of the first less that of the second; NaN where one has none
    drawn: Floats  # draws by metrics by metrics


def metric_differences(
    gold: Floats, metrics: Floats, swapping: Callable[[Compared], Swapping], resamples: int, seed: Seed
) -> Differences:
    """Differences of every pair of metrics, and those after random swaps, for tests of several measures.

    `gold`: of any shape. `metrics`: metrics by that shape.
    """
    drawn = np.zeros((resamples, len(metrics), len(metrics)))

    def swapped(compared: Compared) -> tuple[Floats, Floats]:
        found = swapping(compared)
        first, second = compared.used[compared.pairs].T
        blocks = found.blocks(random_signs(found.units, resamples, seed))
        drawn[:, first, second] = np.nan_to_num(np.concatenate([*blocks]))
        drawn[:, second, first] = -drawn[:, first, second]
        return found.observed, -found.observed

    observed = table_of_pairs(gold, metrics, swapped)
    np.fill_diagonal(observed, 0.0)
    return Differences(observed, drawn)


def pooled_differences(
    golds: Sequence[Floats], metrics: Sequence[Floats], resamples: int, seed: tuple[int, ...]
) -> Differences:
    """Differences of the pairwise accuracy over the pairs of systems of several language pairs together.

    Scores are standardised over the systems of all language pairs, as mt-metrics-eval does it
    (`CompareMetricsWithGlobalAccuracy`): a metric whose scores differ from one language pair to the next is
    swapped with what that makes of it.

    `metrics`: of each language pair, metrics by systems.
    """
    known = [~np.isnan(gold) for gold in golds]
    every = z_scores(np.concatenate([m[:, k] for m, k in zip(metrics, known, strict=True)], axis=1))
    sizes = [int(k.sum()) for k in known]
    pairs = np.array([size * (size - 1) / 2 for size in sizes])
    swapping = partial(swapped_orders, statistic="accuracy", is_standard=True)
    parts = [
        metric_differences(gold[k], part, swapping, resamples, (*seed, place))
        for place, (gold, k, part) in enumerate(
            zip(golds, known, np.split(every, np.cumsum(sizes)[:-1], axis=1), strict=True)
        )
    ]
    weights = pairs / pairs.sum()
    return Differences(
        np.asarray(sum(w * part.observed for w, part in zip(weights, parts, strict=True))),
        np.asarray(sum(w * part.drawn for w, part in zip(weights, parts, strict=True))),
    )


def joint_p_values(parts: Sequence[tuple[float, Differences]]) -> Floats:
    """Metrics by metrics: p-value of "the first has the higher weighted mean of several values".

    Differences are averaged before and after swaps, draw by draw, as `AverageCorrMatrix` of mt-metrics-eval
    does, and p = (hits + 1) / (draws + 1); that tool has hits / draws. Each value is swapped on its own, so
    that what several values of one language pair have in common widens nothing.
    """
    observed = sum(weight * part.observed for weight, part in parts)
    drawn = sum(weight * part.drawn for weight, part in parts)
    slack = ROUNDING * sum(abs(weight) for weight, _ in parts)
    hits = (np.asarray(drawn) >= np.asarray(observed) - slack).sum(axis=0)
    table = np.where(np.isnan(observed), np.nan, (hits + 1) / (len(np.asarray(drawn)) + 1))
    np.fill_diagonal(table, 1.0)
    return table


Correlation = Literal["pearson", "spearman"]
_FLAT = 1e-9  # share of a group's sum of squares; a hybrid with less variance is constant


def correlation_p_values(
    gold: Floats,  # systems by segments, or systems
    metrics: Floats,  # metrics by the shape of gold
    *,
    statistic: Correlation = "pearson",
    average: Average = "none",
    resamples: int = 1000,
    seed: int = 0,
) -> Floats:
    """Metrics by metrics: p-value of "the first correlates better with gold than the second".

    delta(s) = r(gold, h) - r(gold, h'), h = scores of the first where s = 1, else of the second; h' the rest
    p = share of sign vectors s with delta(s) >= delta observed

    PERM-BOTH of Deutsch et al. 2021 (arXiv 2104.00054). One sign belongs to one translation, or to one system
    at system level. Scores are standardised first: Pearson by z-scores over all entries compared, as MTME
    does; Spearman by mid-ranks within the group, which are swapped as they are (MTME swaps z-scores and ranks
    the hybrids again: another null, p differs by little). The sums of every hybrid are
    signs x [gold*m, m, m*m], so that one matrix product serves all pairs. Up to 12 entries: exact, over all
    sign vectors. More: p = (hits + 1) / (resamples + 1); MTME's is hits / resamples.

    Averages: the mean over groups where r is defined, as MTME; 0 if it is in none. A metric that is constant
    in every group has no value: NaN.
    """
    if gold.ndim == 1:
        gold, metrics, average = gold[:, None], metrics[:, :, None], "none"
    swapping = partial(swapped_correlations, statistic=statistic, average=average)
    return table_of_pairs(gold, metrics, lambda compared: swapping(compared).p_values(resamples, seed))


def swapped_correlations(compared: Compared, *, statistic: Correlation, average: Average) -> Swapping:
    """What `correlation_p_values` tests of some pairs."""
    groups = _groups(compared.gold, compared.metrics, statistic, average)
    units = sum(len(gold) for gold, _, _ in groups)
    return Swapping(_observed(groups, compared.pairs), partial(_drawn, groups, compared.pairs), units)


_Group = tuple[Floats, Floats, slice]
"""Entries that one correlation is over: gold, centred; metrics by entries; where they stand."""


def _groups(gold: Floats, metrics: Floats, statistic: Correlation, average: Average) -> list[_Group]:
    known = ~np.isnan(gold)
    standard = metrics.copy()
    if statistic == "pearson" and known.any():
        standard[:, known] = z_scores(metrics[:, known])
    groups: list[_Group] = []
    start = 0
    rows = zip(group_rows(gold, average), np.moveaxis(group_rows(standard, average), 1, 0), strict=True)
    for row, others in rows:
        here = ~np.isnan(row)
        size = int(here.sum())
        if size < 2:
            continue
        g, m = row[here], others[:, here]
        if statistic == "spearman":
            from scipy.stats import rankdata

            g, m = rankdata(g), rankdata(m, axis=1)
            m = m - m.mean(axis=1, keepdims=True)
        groups.append((g - g.mean(), m, slice(start, start + size)))
        start += size
    return groups


def _observed(groups: list[_Group], pairs: Ints) -> Floats:
    metrics = int(pairs.max()) + 1
    sums, defined = np.zeros(metrics), np.zeros(metrics)
    for g, m, _ in groups:
        square = np.full(metrics, float(g @ g))
        r = _correlations(m @ g, m.sum(axis=1), (m * m).sum(axis=1), square, len(g))
        sums += np.nan_to_num(r)
        defined += ~np.isnan(r)
    values = divided(sums, defined)
    first, second = pairs.T
    return np.asarray(values[first] - values[second])


def _drawn(groups: list[_Group], pairs: Ints, signs: Floats) -> Floats:
    """Draws by pairs, the difference of the two hybrids' mean correlations."""
    first, second = pairs.T
    shape = (len(signs), len(pairs))
    sums, defined = np.zeros((2, *shape)), np.zeros((2, *shape))
    for g, m, place in groups:
        here, square = signs[:, place], np.full(1, float(g @ g))
        parts = [_hybrid_sums(here, values, first, second) for values in (g * m, m, m * m)]
        for hybrid in (0, 1):
            r = _correlations(parts[0][hybrid], parts[1][hybrid], parts[2][hybrid], square, len(g))
            sums[hybrid] += np.nan_to_num(r)
            defined[hybrid] += ~np.isnan(r)
    means = np.divide(sums, defined, out=np.zeros_like(sums), where=defined > 0)
    return np.asarray(means[0] - means[1])


def _hybrid_sums(signs: Floats, values: Floats, first: Ints, second: Ints) -> tuple[Floats, Floats]:
    """Sums of values over the two hybrids of every pair, each draws by pairs."""
    whole, flipped = values.sum(axis=1), signs @ values.T
    middle, half = (whole[first] + whole[second]) / 2, (flipped[:, first] - flipped[:, second]) / 2
    return middle + half, middle - half


def _correlations(product: Floats, total: Floats, squares: Floats, gold: Floats, size: int) -> Floats:
    """Pearson from sums over `size` entries; gold is centred. NaN where either is constant."""
    variance = squares - total * total / size
    is_defined = (variance > _FLAT * np.maximum(squares, 1e-300)) & (gold > 0)
    return np.where(is_defined, product / np.sqrt(np.where(is_defined, variance * gold, 1.0)), np.nan)


OrderStatistic = Literal["accuracy", "kendall_b", "kendall_c", "spearman"]
_CELLS: Final = 2**22  # of one block of hybrids: 32 MB


def order_p_values(
    gold: Floats,
    metrics: Floats,  # metrics by systems
    *,
    statistic: OrderStatistic = "accuracy",
    resamples: int = 1000,
    seed: int = 0,
) -> Floats:
    """Metrics by metrics: p-value of "the first orders the systems more like gold than the second".

    PERM-BOTH of Deutsch et al. 2021 (arXiv 2104.00054) at system level, as MTME has it: z-scores of the two
    metrics are swapped system by system, and the hybrids are compared with gold by the measure itself, its
    ties included. A hybrid takes each of two systems from one metric or the other: four cases a pair of
    systems, so that all sums over pairs, of all hybrids of all pairs of metrics, are one matrix product of
    cases and comparisons. Up to 12 systems: exact, over all swaps; else p = (hits + 1) / (resamples + 1).

    A metric without a value (constant, for a correlation) has no p-value: NaN.
    """
    swapping = partial(swapped_orders, statistic=statistic)
    return table_of_pairs(gold, metrics, lambda compared: swapping(compared).p_values(resamples, seed))


def swapped_orders(compared: Compared, *, statistic: OrderStatistic, is_standard: bool = False) -> Swapping:
    """What `order_p_values` tests of some pairs; `is_standard`: the metrics are z-scores of more systems."""
    known = ~np.isnan(compared.gold)
    gold, metrics = compared.gold[known], compared.metrics[:, known]
    metrics = metrics if is_standard else z_scores(metrics)
    first, second = compared.pairs.T
    u, v, value = metrics[first], metrics[second], _VALUES[statistic]

    def differences(signs: Floats) -> Floats:
        return np.asarray(value(gold, _Hybrids(u, v, signs)) - value(gold, _Hybrids(u, v, -signs)))

    return Swapping(
        differences(np.ones((1, len(gold))))[0],
        lambda signs: np.nan_to_num(differences(signs)),
        len(gold),
        rows=max(1, _CELLS // len(first)),
    )


class _Hybrids:
    """Hybrids of pairs of metrics, one for each draw: u where the sign is 1, else v.

    `u`: pairs by systems, scores of the first metric of each pair. `signs`: draws by systems.
    """

    def __init__(self, u: Floats, v: Floats, signs: Floats) -> None:
        self.u, self.v, self.signs = u, v, signs
        self.systems = u.shape[1]

    def orders(self) -> Iterator[tuple[int, Floats, Floats]]:
        from_u = self.signs > 0
        for system in range(self.systems):
            mine_u, mine_v, here = self.u[:, [system]], self.v[:, [system]], from_u[:, [system]]
            order = np.stack([mine_u - self.u, mine_v - self.v, mine_u - self.v, mine_v - self.u])
            cases = np.stack([here & from_u, ~here & ~from_u, here & ~from_u, ~here & from_u], axis=1)
            cases[:, :, system] = False
            yield system, np.sign(order).swapaxes(1, 2), cases.astype(np.float64)


def _summed(cases: Floats, table: Floats) -> Floats:
    """Draws by pairs: what the cases that hold sum to."""
    return np.asarray(cases.reshape(len(cases), -1) @ table.reshape(-1, table.shape[-1]))


def _accuracy(gold: Floats, hybrids: _Hybrids) -> Floats:
    wanted = np.sign(gold[:, None] - gold)
    right = sum(
        _summed(cases, (order == wanted[a][:, None]).astype(np.float64))
        for a, order, cases in hybrids.orders()
    )
    pairs = len(gold) * (len(gold) - 1)
    return np.asarray(right) / pairs if pairs else np.full(_shape(hybrids), np.nan)


def _kendall(gold: Floats, hybrids: _Hybrids, variant: Literal["b", "c"]) -> Floats:
    wanted = np.sign(gold[:, None] - gold)
    numerator, tied, classes = (np.zeros(_shape(hybrids)) for _ in range(3))
    for a, order, cases in hybrids.orders():
        numerator += _summed(cases, order * wanted[a][:, None])
        equal = _summed(cases, (order == 0).astype(np.float64))
        tied += equal
        classes += 1 / (1 + equal)
    size = len(gold)
    untied = np.count_nonzero(wanted)
    if variant == "b":
        return divided(numerator, np.sqrt((size * (size - 1) - tied) * untied))
    least = np.minimum(np.rint(classes), len(np.unique(gold)))
    return divided(numerator * least, np.where(tied < size * (size - 1), size**2 * (least - 1), 0.0))


def _spearman(gold: Floats, hybrids: _Hybrids) -> Floats:
    from scipy.stats import rankdata

    ranks = rankdata(gold) - (len(gold) + 1) / 2
    product, squares = np.zeros(_shape(hybrids)), np.zeros(_shape(hybrids))
    for a, order, cases in hybrids.orders():
        rank = _summed(cases, order) / 2  # less the mean rank
        product += ranks[a] * rank
        squares += rank * rank
    return divided(product, np.sqrt(squares * float((ranks**2).sum())))


def _shape(hybrids: _Hybrids) -> tuple[int, int]:
    return len(hybrids.signs), len(hybrids.u)


_VALUES: Final[Mapping[OrderStatistic, Callable[[Floats, _Hybrids], Floats]]] = {
    "accuracy": _accuracy,
    "kendall_b": partial(_kendall, variant="b"),
    "kendall_c": partial(_kendall, variant="c"),
    "spearman": _spearman,
}
"""Value of each measure, draws by pairs; NaN where it has none."""


def accuracy_p_values(
    gold: Floats,  # systems by segments
    metrics: Floats,  # metrics by systems by segments
    epsilons: Sequence[float],
    *,
    average: Average = "item",
    resamples: int = 1000,
    seed: int = 0,
) -> Floats:
    """Metrics by metrics: p-value of "the first has the higher acc_eq than the second".

    A metric decides each pair of translations: better, worse, or tied where the scores differ by at most its
    epsilon. The test swaps the two metrics' decisions at random, pair by pair (MTME's
    `PairwisePermutationSigDiff` with variant acc23; Deutsch et al. 2023, arXiv 2305.14324). Only pairs that
    one metric alone decides rightly move the difference. Where all groups have equally many pairs, the number
    of swaps in favour of the first is binomial, and

        p = P(Bin(a + b, 1/2) >= a),    a, b = pairs that only the first, only the second has right

    exactly, without resampling: a one-sided sign test. Groups of unequal size weigh their pairs by one over
    their number; then a weighted sum of one binomial a size is drawn, `resamples` times, and
    p = (hits + 1) / (resamples + 1). The epsilons stay as they were calibrated, as MTME's do.

    Pairs of translations of one source are not independent, and neither test knows it: with many systems
    these p-values are smaller than they should be. They are what the field prints.
    """
    every = np.asarray(epsilons, dtype=np.float64)

    def test(compared: Compared) -> tuple[Floats, Floats]:
        sizes, _, a, b = _disputed(compared, every, average)
        if not len(sizes):  # no two translations to compare
            return np.full(len(compared.pairs), np.nan), np.full(len(compared.pairs), np.nan)
        if len(sizes) == 1:
            return _sign_test(a[0], b[0]), _sign_test(b[0], a[0])
        weights = 1 / sizes
        observed, sums = weights @ (a - b), _drawn_sums(sizes, a, b, resamples, seed)
        slack = ROUNDING * np.maximum(weights @ (a + b), 1)
        above, below = (sums >= observed - slack).sum(axis=0), (sums <= observed + slack).sum(axis=0)
        return (above + 1) / (len(sums) + 1), (below + 1) / (len(sums) + 1)

    return table_of_pairs(gold, metrics, test)


def accuracy_differences(
    gold: Floats, metrics: Floats, epsilons: Sequence[float], average: Average, resamples: int, seed: Seed
) -> Differences:
    """Differences of acc_eq of every pair of metrics, and those after decisions were swapped at random.

    `gold`: systems by segments. `metrics`: metrics by systems by segments.
    """
    every = np.asarray(epsilons, dtype=np.float64)
    drawn = np.zeros((resamples, len(metrics), len(metrics)))

    def swapped(compared: Compared) -> tuple[Floats, Floats]:
        sizes, groups, a, b = _disputed(compared, every, average)
        if not groups:
            return np.full(len(compared.pairs), np.nan), np.full(len(compared.pairs), np.nan)
        first, second = compared.used[compared.pairs].T
        drawn[:, first, second] = _drawn_sums(sizes, a, b, resamples, seed) / groups
        drawn[:, second, first] = -drawn[:, first, second]
        observed = (1 / sizes) @ (a - b) / groups
        return observed, -observed

    observed = table_of_pairs(gold, metrics, swapped)
    np.fill_diagonal(observed, 0.0)
    return Differences(observed, drawn)


def _disputed(compared: Compared, epsilons: Floats, average: Average) -> tuple[Floats, int, Floats, Floats]:
    gold, metrics, used, pairs = compared
    rows = group_rows(gold, average)
    sizes, alone = _only_right(rows, group_rows(metrics, average), epsilons[used])
    first, second = pairs.T
    groups = int(((~np.isnan(rows)).sum(axis=1) > 1).sum())
    return sizes, groups, alone[:, first, second], alone[:, second, first]


def _only_right(gold: Floats, metrics: Floats, epsilons: Floats) -> tuple[Floats, Floats]:
    """Sizes of groups, in pairs of translations, and for each [i, j]: decisions that i has right and j not.

    `gold`: groups by members. `metrics`: metrics by groups by members.
    """
    members = (~np.isnan(gold)).sum(axis=1)
    per_group = members * (members - 1) // 2
    sizes = np.unique(per_group[per_group > 0])
    alone = np.zeros((len(sizes), len(metrics), len(metrics)))
    for index, size in enumerate(sizes):
        rows = per_group == size
        for right in _decisions(gold[rows], metrics[:, rows], epsilons):
            both = right @ right.T
            alone[index] += np.diag(both)[:, None] - both
    return sizes.astype(np.float64), alone


def _decisions(gold: Floats, metrics: Floats, epsilons: Floats) -> Iterator[Floats]:
    """Blocks of metrics by pairs of translations, 1 where the decision is right: members at each distance."""
    for distance in range(1, gold.shape[1]):
        wanted = gold[:, distance:] - gold[:, :-distance]
        known = ~np.isnan(wanted)
        decided = metrics[:, :, distance:][:, known] - metrics[:, :, :-distance][:, known]
        decided[np.abs(decided) <= epsilons[:, None]] = 0
        yield (np.sign(decided) == np.sign(wanted[known])).astype(np.float64)


def _sign_test(a: Floats, b: Floats) -> Floats:
    from scipy.stats import binom

    return np.asarray(binom.sf(a - 1, a + b, 0.5), dtype=np.float64)


def _drawn_sums(sizes: Floats, a: Floats, b: Floats, resamples: int, seed: Seed) -> Floats:
    """Draws by pairs: sums over groups, where each disputed decision falls to either metric."""
    rng = np.random.default_rng(seed)
    number = (a + b).astype(np.int64)
    sums = np.zeros((resamples, a.shape[1]))
    for weight, n in zip(1 / sizes, number, strict=True):
        sums += weight * (2 * rng.binomial(n, 0.5, size=(resamples, len(n))) - n)
    return sums


_ROUNDING: Final = 1e-5  # of single precision, far below the spread of draws
_DRAWS: Final = 128  # of one block; a block of draws by pairs then stays in the processor's cache
Singles = NDArray[np.float32]


def soft_p_values(gold: Floats, metrics: Floats, *, resamples: int = 1000, seed: int = 0) -> Floats:
    """Metrics by metrics: p-value of "the first has the higher soft pairwise accuracy than the second".

    PERM-BOTH as in MTME: z-scores of two metrics are swapped translation by translation, SPA is taken of
    both hybrids, and p = (hits + 1) / (resamples + 1). SPA itself rests on a p-value for each pair of
    systems, of a sign test over segments (`spa.soft_pairwise_accuracy`). MTME draws 1,000 signs for it
    again in every draw. Here that p-value is the limit of those draws,

        p(a, b) = Phi(-sum(d) / sqrt(sum(d^2))),   d = score of a less that of b, segment by segment

    (1 where all d are 0), whose sums over hybrids are matrix products shared by all pairs of metrics. It
    differs from drawn signs by less than their own error with a hundred segments or more.

    Segments that lack a judgement of any system are left out. Nothing left: NaN.

    `gold`: systems by segments. `metrics`: metrics by systems by segments.
    """
    return table_of_pairs(gold, metrics, lambda compared: swapped_soft(compared).p_values(resamples, seed))


def swapped_soft(compared: Compared) -> Swapping:
    """What `soft_p_values` tests of some pairs."""
    whole = ~np.isnan(compared.gold).any(axis=0)
    gold, metrics = compared.gold[:, whole], compared.metrics[:, :, whole]
    if len(gold) < 2 or not whole.any():
        nothing = np.full(len(compared.pairs), np.nan)
        return Swapping(nothing, lambda signs: np.zeros((len(signs), len(nothing))), 0)
    metrics = z_scores(metrics.reshape(len(metrics), -1)).reshape(metrics.shape)
    differences = partial(_soft_differences, gold, metrics, compared.pairs)
    return Swapping(
        differences(np.ones((1, *gold.shape)))[0],
        lambda signs: differences(signs.reshape(-1, *gold.shape)),
        gold.size,
        rows=_DRAWS,
        rounding=_ROUNDING,
    )


def _soft_differences(gold: Floats, metrics: Floats, pairs: Ints, signs: Floats) -> Floats:
    """Draws by pairs, SPA of the hybrid with the first metric where the sign is 1 less that of the other."""
    systems = len(gold)
    flips = signs.astype(np.float32)
    sums = [_Sums(metrics[:, a], flips[:, a], pairs) for a in range(systems)]
    error = np.zeros((len(signs), len(pairs)))
    for a in range(systems):
        for b in range(a + 1, systems):
            d = gold[a] - gold[b]
            wanted = sign_test_limit(np.array(d.sum()), np.array((d * d).sum()))
            for sign, (total, squares) in zip((-1, 1), _gaps(sums[a], sums[b]), strict=True):
                error += sign * np.abs(sign_test_limit(total, squares) - wanted)
    return error / (systems * (systems - 1) / 2)


class _Sums:
    """One system's part: middle and half difference of two metrics' scores, and sums of both hybrids."""

    def __init__(self, scores: Floats, flips: Singles, pairs: Ints) -> None:
        u, v = (scores[column].astype(np.float32) for column in pairs.T)
        self.flips = flips
        self.middle, self.half = (u + v) / 2, (u - v) / 2
        self.whole = self.middle.sum(axis=1), flips @ self.half.T
        self.square = (self.middle**2 + self.half**2).sum(axis=1), 2 * flips @ (self.middle * self.half).T


def _gaps(a: _Sums, b: _Sums) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """For both hybrids, draws by pairs: sum of a's less b's scores, and sum of its squares."""
    fixed, moved = a.whole[0] - b.whole[0], a.whole[1] - b.whole[1]
    product = (a.middle * b.middle).sum(axis=1) + (a.flips * b.flips) @ (a.half * b.half).T
    crossed = a.flips @ (a.half * b.middle).T + b.flips @ (a.middle * b.half).T
    squares = a.square[0] + b.square[0] - 2 * product
    swing = a.square[1] + b.square[1] - 2 * crossed
    return (fixed + moved, squares + swing), (fixed - moved, squares - swing)


def sign_test_limit(total: NDArray[np.floating], squares: NDArray[np.floating]) -> Floats:
    """p-value of "the first is better" by the normal law of the sign test."""
    from scipy.special import ndtr

    flat = squares <= 1e-6
    return np.where(flat, 1.0, ndtr(-total / np.sqrt(np.where(flat, 1.0, squares))))


def williams_p_values(gold: Floats, metrics: Floats) -> Floats:
    """Metrics by metrics: p-value of "the first correlates better with gold than the second".

    NaN where `williams_p_value` has none. `gold`: scores of any shape, all of them one sample. `metrics`:
    metrics by that shape; two are compared on what gold and both of them judged.
    """
    return table_of_pairs(gold, metrics, _williams_test)


def _williams_test(compared: Compared) -> tuple[Floats, Floats]:
    known = ~np.isnan(compared.gold)
    with np.errstate(invalid="ignore", divide="ignore"):  # a constant metric correlates with nothing: NaN
        r = np.corrcoef(np.stack([compared.gold[known], *(metric[known] for metric in compared.metrics)]))
    n = int(known.sum())
    pairs = compared.pairs + 1  # gold is the first
    return _each(r, pairs, n), _each(r, pairs[:, ::-1], n)


def _each(r: Floats, pairs: Ints, n: int) -> Floats:
    found = [williams_p_value(r[0, a], r[0, b], r[a, b], n) for a, b in pairs]
    return np.array([np.nan if p is None else p for p in found])


def williams_p_value(first: float, second: float, between: float, n: int) -> float | None:
    """p-value of "the first correlates better with gold than the second".

    t(n - 3) = (r1 - r2) sqrt((n - 1) (1 + r12)) / sqrt(2 K (n - 1) / (n - 3) + (r1 + r2)^2 / 4 (1 - r12)^3)
    K = 1 - r1^2 - r2^2 - r12^2 + 2 r1 r2 r12

    Williams 1959; for metrics Graham and Baldwin 2014. For Pearson over n independent scores of normal
    shape, which segments of one system or document are not: prefer PERM-BOTH. MTME's one-sided p is that of
    whichever correlation is larger; this one is near 1 where the second is.

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
    return float(t.sf(statistic, n - 3))
