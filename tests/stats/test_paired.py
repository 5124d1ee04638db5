import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from adjudge.stats.paired import (
    Alternative,
    enlarged,
    holm,
    is_exact,
    monte_carlo_bounds,
    open_ranks,
    rank_sum_p_value,
    sign_flip_p_values,
    signed_rank_p_value,
    significance_clusters,
    significance_ranks,
    smallest_p_value,
)


def upper(values: list[list[float]]) -> np.ndarray:
    return np.array(values, dtype=float)


def test_one_system_is_one_cluster_as_equal_ones_are_and_none_is_none() -> None:
    assert significance_clusters([3.0], np.ones((1, 1)), 0.05) == [1]
    assert significance_clusters([], np.ones((0, 0)), 0.05) == []
    assert significance_clusters([-1.0, -1.0], upper([[1, 0.001], [1, 1]]), 0.05) == [1, 1]  # equal means


@given(st.integers(1, 6), st.data())
def test_the_clusters_are_those_of_a_plain_loop(systems: int, data: st.DataObject) -> None:
    p_values = np.ones((systems, systems))
    for i in range(systems):
        for j in range(i + 1, systems):
            p_values[i, j] = data.draw(st.sampled_from([0.01, 0.01, 0.05, 0.5]))
    slow, cluster = [], 1
    for k in range(systems):
        beaten = [p_values[above, below] < 0.05 for above in range(k) for below in range(k, systems)]
        if beaten and all(beaten):
            cluster += 1
        slow.append(cluster)
    assert significance_clusters([-float(k) for k in range(systems)], p_values, 0.05) == slow


def test_holm_steps_down_and_never_falls() -> None:
    assert holm(np.array([0.04, 0.01, 0.03])).tolist() == pytest.approx([0.06, 0.03, 0.06])
    assert holm(np.array([0.5, 0.9])).tolist() == [1, 1]


def test_what_was_not_tested_does_not_count() -> None:
    found = holm(np.array([[0.01, math.nan], [math.nan, 0.04]]))
    assert found[0, 0] == pytest.approx(0.02)
    assert math.isnan(found[0, 1])
    assert found[1, 1] == pytest.approx(0.04)


def test_a_rank_opens_where_any_metric_of_the_rank_above_is_better() -> None:
    p = np.ones((4, 4))
    p[0, 2] = 0.05  # the third is worse than the first, and not worse than the second
    assert significance_ranks([0.9, 0.8, 0.7, 0.6], p, 0.05) == [1, 1, 2, 2]
    assert significance_ranks([0.9, 0.8, 0.7, 0.6], p, 0.04) == [1, 1, 1, 1]


def test_ranks_stand_in_the_order_of_the_table_and_no_value_has_none() -> None:
    p = np.full((3, 3), 0.001)
    p[1, 2] = math.nan
    assert significance_ranks([0.1, None, 0.9], p, 0.05) == [2, None, 1]


def test_the_interval_of_a_drawn_p_value_is_clopper_and_pearson_s() -> None:
    from scipy.stats import binomtest

    p = np.array([[1 / 1001, 51 / 1001], [1.0, math.nan]])
    low, high = monte_carlo_bounds(p, 1000)
    for place, hits in (((0, 0), 0), ((0, 1), 50), ((1, 0), 1000)):
        known = binomtest(hits, 1000).proportion_ci(0.99)
        assert (low[place], high[place]) == pytest.approx((known.low, known.high), abs=1e-12)
    assert math.isnan(low[1, 1])
    assert math.isnan(high[1, 1])


def test_a_p_value_that_was_computed_is_sure() -> None:
    p = np.array([0.05, 2**-12, 0.0499])
    for end in monte_carlo_bounds(p, 1000):
        assert end.tolist() == p.tolist()


@pytest.mark.parametrize(
    ("hits", "is_open"),
    [((999, 49), True), ((999, 0), False), ((49, 0), False), ((999, 300), False), ((60, 300), True)],
)
def test_a_rank_is_open_where_draws_alone_do_not_decide(hits: tuple[int, int], is_open: bool) -> None:
    p = np.ones((3, 3))
    p[[0, 1], 2] = [(count + 1) / 1001 for count in hits]
    values = [0.9, 0.8, 0.7]
    ranks = significance_ranks(values, p, 0.05)
    assert open_ranks(values, ranks, monte_carlo_bounds(p, 1000), 0.05) == [False, False, is_open]


def test_a_metric_is_compared_with_the_rank_above_it_alone() -> None:
    p = np.ones((3, 3))
    p[0, 1] = 1 / 1001
    p[0, 2] = 51 / 1001
    assert open_ranks([0.9, 0.8, None], [1, 2, None], monte_carlo_bounds(p, 1000), 0.05) == [False] * 3
    assert open_ranks([0.9, 0.8, 0.7], [1, 2, 2], monte_carlo_bounds(p, 1000), 0.05) == [False] * 3


ALTERNATIVES: list[Alternative] = ["greater", "two-sided"]
tenths = st.one_of(st.none(), st.integers(-9, 9), st.just(0))
alternatives = st.sampled_from(ALTERNATIVES)


def as_floats(values: list[int | None]) -> np.ndarray:
    """Differences of sums of tenths, with the rounding noise that such sums have."""
    return np.array([math.nan if v is None else (v + 3) * 0.1 - 0.3 for v in values], dtype=float)


def flipped(found: list[int], signs: tuple[int, ...], alternative: Alternative) -> bool:
    value = sum(s * d for s, d in zip(signs, found, strict=True))
    return value >= sum(found) if alternative == "greater" else abs(value) >= abs(sum(found))


@given(st.lists(tenths, max_size=8), alternatives)
def test_few_units_are_tested_over_all_signs(values: list[int | None], alternative: Alternative) -> None:
    found = [v for v in values if v is not None]
    vectors = list(itertools.product((1, -1), repeat=len(found)))
    slow = sum(flipped(found, signs, alternative) for signs in vectors) / len(vectors)
    (fast,) = sign_flip_p_values(as_floats(values)[:, None], alternative=alternative)
    assert fast == pytest.approx(slow, abs=1e-12)


@given(st.lists(tenths, min_size=13, max_size=20), alternatives, st.integers(0, 2))
def test_many_units_are_tested_by_draws(
    values: list[int | None], alternative: Alternative, seed: int
) -> None:
    draws = np.random.default_rng(seed).random((40, len(values))) < 0.5
    found = [v or 0 for v in values]
    hits = sum(flipped(found, tuple(-1 if minus else 1 for minus in row), alternative) for row in draws)
    (fast,) = sign_flip_p_values(as_floats(values)[:, None], alternative=alternative, resamples=40, seed=seed)
    assert fast == pytest.approx((hits + 1) / 41, abs=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_exact_test_is_scipy_s(alternative: Alternative) -> None:
    a, b = np.round(np.random.default_rng(4).normal([[0.6], [0.0]], 1, size=(2, 10)), 3)
    theirs = stats.permutation_test(
        (a, b),
        lambda x, y, axis: (x - y).mean(axis=axis),
        permutation_type="samples",
        alternative=alternative,
        n_resamples=2**10,
    ).pvalue
    assert sign_flip_p_values((a - b)[:, None], alternative=alternative)[0] == pytest.approx(theirs)


def test_each_pair_is_tested_as_if_it_were_alone() -> None:
    differences = np.random.default_rng(0).normal(0.2, 1, size=(40, 4))
    together = sign_flip_p_values(differences, alternative="greater")
    alone = [sign_flip_p_values(differences[:, [c]], alternative="greater")[0] for c in range(4)]
    assert together.tolist() == alone


def test_drawn_signs_come_close_to_the_normal_law() -> None:
    differences = np.random.default_rng(7).normal(0.15, 1, size=(400, 1))
    z = differences.sum() / math.sqrt((differences**2).sum())
    (p,) = sign_flip_p_values(differences, alternative="greater", resamples=20_000)
    assert p == pytest.approx(stats.norm.sf(z), abs=0.005)


@pytest.mark.parametrize(
    ("units", "resamples", "least"), [(0, 9, 1), (3, 9, 1 / 8), (12, 9, 2**-12), (13, 9, 0.1)]
)
def test_the_smallest_p_value_is_known_beforehand(units: int, resamples: int, least: float) -> None:
    differences = np.ones((units, 1))
    assert smallest_p_value(units, resamples) == least
    found = sign_flip_p_values(differences, alternative="greater", resamples=resamples, seed=1)
    assert found[0] == least
    assert is_exact(units) == (units <= 12)


def slow_signed_rank(found: list[float], alternative: Alternative) -> float:
    """Exact, without ties: over all signs of the ranks."""
    ranks = [sorted(map(abs, found)).index(abs(d)) + 1 for d in found]
    observed = sum(r for r, d in zip(ranks, found, strict=True) if d > 0)
    sums = [
        sum(r for r, s in zip(ranks, signs, strict=True) if s)
        for signs in itertools.product((False, True), repeat=len(ranks))
    ]
    above = sum(s >= observed for s in sums) / len(sums)
    below = sum(s <= observed for s in sums) / len(sums)
    return above if alternative == "greater" else min(1, 2 * min(above, below))


@given(st.lists(st.integers(1, 30), min_size=1, max_size=8, unique=True), st.data(), alternatives)
def test_the_signed_rank_test_counts_all_signs_of_few_ranks(
    sizes: list[int], data: st.DataObject, alternative: Alternative
) -> None:
    found = [size * data.draw(st.sampled_from([1, -1])) / 10 for size in sizes]
    with_missing = np.array([*found, math.nan, 0.0])
    assert signed_rank_p_value(with_missing, alternative) == pytest.approx(
        slow_signed_rank(found, alternative)
    )


def slow_rank_sum(a: list[int], b: list[int], alternative: Alternative) -> float:
    """Exact, without ties: over all ways to choose which scores are the first system's."""

    def wins(first: tuple[int, ...]) -> int:
        second = [x for x in (*a, *b) if x not in first]
        return sum(x > y for x in first for y in second)

    observed = wins(tuple(a))
    counts = [wins(chosen) for chosen in itertools.combinations((*a, *b), len(a))]
    above = sum(c >= observed for c in counts) / len(counts)
    below = sum(c <= observed for c in counts) / len(counts)
    return above if alternative == "greater" else min(1, 2 * min(above, below))


@settings(deadline=None)
@given(st.lists(st.integers(0, 50), min_size=2, max_size=9, unique=True), st.integers(1, 8), alternatives)
def test_the_rank_sum_test_counts_all_ways_to_share(
    values: list[int], cut: int, alternative: Alternative
) -> None:
    cut = min(cut, len(values) - 1)
    a, b = values[:cut], values[cut:]
    found = rank_sum_p_value(np.array([*a, math.nan]), np.array(b, dtype=float), alternative)
    assert found == pytest.approx(slow_rank_sum(a, b, alternative))


def test_the_rank_sum_test_is_mann_whitney_s_with_ties() -> None:
    a, b = np.random.default_rng(2).integers(-5, 1, size=(2, 300)).astype(float)
    ranks = stats.rankdata(np.concatenate([a, b]))
    u = ranks[:300].sum() - 300 * 301 / 2
    _, ties = np.unique(np.concatenate([a, b]), return_counts=True)
    spread = math.sqrt(300 * 300 / 12 * (601 - (ties**3 - ties).sum() / (600 * 599)))
    assert rank_sum_p_value(a, b, "greater") == pytest.approx(stats.norm.sf((u - 45_000 - 0.5) / spread))


def test_the_signed_rank_test_is_wilcoxon_s_with_ties() -> None:
    differences = np.random.default_rng(2).integers(-5, 7, size=300).astype(float)
    found = differences[differences != 0]
    ranks = stats.rankdata(np.abs(found))
    _, ties = np.unique(np.abs(found), return_counts=True)
    n = len(found)
    spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24 - (ties**3 - ties).sum() / 48)
    z = (ranks[found > 0].sum() - n * (n + 1) / 4) / spread
    assert signed_rank_p_value(differences, "greater") == pytest.approx(stats.norm.sf(z))


def test_rounding_noise_breaks_no_tie() -> None:
    noisy = np.array([0.1 + 0.2 - 0.3, -(0.1 + 0.2), 0.3] * 20)
    clean = np.array([0.0, -0.3, 0.3] * 20)
    assert signed_rank_p_value(noisy) == signed_rank_p_value(clean)
    assert rank_sum_p_value(noisy, clean) == rank_sum_p_value(clean, clean)


@pytest.mark.parametrize("unit", [1e-300, 1e-11, 0.1, 1.0])
def test_scores_of_any_small_unit_are_enlarged_until_rounding_cannot_tie_them(unit: float) -> None:
    scores = np.array([1.0, 2.0, math.nan, -4.0])
    found = enlarged(unit * scores)
    assert np.nanmax(np.abs(found)) >= 1e-8
    assert found / found[0] == pytest.approx(scores, nan_ok=True)
    assert rank_sum_p_value(unit * np.arange(9.0), unit * np.arange(9.0, 18.0)) < 0.001


@pytest.mark.parametrize("scores", [[], [0.0, 0.0], [math.nan], [3.0, 0.2]])
def test_scores_that_need_it_not_stay_as_they_are(scores: list[float]) -> None:
    assert enlarged(np.array(scores)) == pytest.approx(scores, nan_ok=True, abs=0)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("values", [[], [math.nan], [0.0], [0.0] * 30, [math.nan] * 30, [0.0, math.nan]])
def test_no_difference_at_all_is_p_of_one(values: list[float], alternative: Alternative) -> None:
    differences = np.array(values)
    assert sign_flip_p_values(differences[:, None], alternative=alternative) == [1.0]
    assert signed_rank_p_value(differences, alternative) == 1.0
    assert rank_sum_p_value(differences, differences, alternative) == 1.0


@given(st.lists(st.tuples(tenths, tenths), max_size=30), alternatives)
def test_a_p_value_is_a_share_and_never_nan(
    values: list[tuple[int | None, int | None]], alternative: Alternative
) -> None:
    a, b = as_floats([x for x, _ in values]), as_floats([y for _, y in values])
    found = [
        signed_rank_p_value(a - b, alternative),
        rank_sum_p_value(a, b, alternative),
        *sign_flip_p_values((a - b)[:, None], alternative=alternative, resamples=20),
    ]
    assert all(0 <= p <= 1 for p in found)
