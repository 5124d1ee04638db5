import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap

from adjudge.stats.bootstrap import bootstrap_interval, bootstrap_means, lone_unit_note, percentile_intervals

numbers = st.one_of(st.none(), st.integers(-50, 0).map(lambda tenths: tenths / 10))
tables = st.integers(1, 4).flatmap(
    lambda systems: st.lists(st.lists(numbers, min_size=systems, max_size=systems), min_size=2, max_size=6)
)


def arrays(table: list[list[float | None]]) -> tuple[np.ndarray, np.ndarray]:
    scores = np.array(table, dtype=float)
    return np.nan_to_num(scores), (~np.isnan(scores)).astype(float)


def slow_means(table: list[list[float | None]], resamples: int, seed: int) -> list[list[float | None]]:
    draws = np.random.default_rng(seed).integers(0, len(table), size=(resamples, len(table)))
    means: list[list[float | None]] = []
    for draw in draws.tolist():
        row: list[float | None] = []
        for system in range(len(table[0])):
            drawn = [value for unit in draw if (value := table[unit][system]) is not None]
            row.append(sum(drawn) / len(drawn) if drawn else None)
        means.append(row)
    return means


@given(tables, st.integers(0, 3))
def test_the_means_are_those_of_a_plain_loop(table: list[list[float | None]], seed: int) -> None:
    means = bootstrap_means(*arrays(table), resamples=7, seed=seed)
    np.testing.assert_allclose(means, np.array(slow_means(table, 7, seed), dtype=float), atol=1e-12)


def test_heavier_units_pull_the_mean() -> None:
    means = bootstrap_means(np.array([[30.0], [0.0]]), np.array([[3.0], [1.0]]), resamples=200)
    assert set(np.round(means.ravel(), 9)) == {10.0, 7.5, 0.0}


@pytest.mark.parametrize("value", [0.0, -0.1, 0.3, -1e9])
def test_equal_scores_have_an_interval_of_one_point(value: float) -> None:
    sums, sizes = arrays([[value]] * 7)
    assert percentile_intervals(bootstrap_means(sums, sizes)) == [(value, value)]


def test_one_unit_says_nothing_of_how_others_differ() -> None:
    assert percentile_intervals(bootstrap_means(*arrays([[65.5]]))) == [None]
    assert bootstrap_interval(lambda w: w[:, 0], [0, 0, 0]) is None
    assert lone_unit_note(2, "segments") == ()
    assert lone_unit_note(1, "documents") == (
        "There are no intervals: one of the documents alone says nothing of how others would differ.",
    )


def test_a_system_without_scores_has_no_interval() -> None:
    sums, sizes = arrays([[None, 1.0], [None, 2.0]])
    nothing, something = percentile_intervals(bootstrap_means(sums, sizes))
    assert nothing is None
    assert something == (1.0, 2.0)


def test_the_interval_is_that_of_scipy_but_for_chance() -> None:
    scores = np.random.default_rng(3).normal(-4, 3, size=200)
    (ours,) = percentile_intervals(bootstrap_means(*arrays([[s] for s in scores]), resamples=20_000))
    theirs = bootstrap(
        (scores,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.02)
    assert ours is not None
    assert ours.low < scores.mean() < ours.high


def test_an_interval_covers_as_often_as_it_says() -> None:
    rng, covered = np.random.default_rng(11), 0
    for _ in range(300):
        (interval,) = percentile_intervals(
            bootstrap_means(*arrays([[x] for x in rng.normal(size=60)]), resamples=400)
        )
        assert interval is not None
        covered += interval.low <= 0 <= interval.high
    assert 0.90 <= covered / 300 <= 0.98


def test_the_interval_of_a_statistic_is_that_of_the_means_it_computes() -> None:
    scores = np.random.default_rng(5).normal(size=(40, 1))
    drawn = bootstrap_means(scores, np.ones((40, 1)), resamples=300, seed=2)
    found = bootstrap_interval(lambda w: w @ scores[:, 0] / w.sum(axis=1), range(40), resamples=300, seed=2)
    assert found == pytest.approx(percentile_intervals(drawn)[0])


def test_units_of_one_group_are_drawn_together() -> None:
    seen: list[bool] = []

    def statistic(counts: np.ndarray) -> np.ndarray:
        seen.append(bool((counts[:, 0] == counts[:, 1]).all()))
        return counts[:, 0]

    bootstrap_interval(statistic, [0, 0, 1, 2])
    assert seen == [True]


def test_a_statistic_that_is_nowhere_defined_has_no_interval() -> None:
    assert bootstrap_interval(lambda w: np.full(len(w), np.nan), [0, 1]) is None
    assert bootstrap_interval(lambda w: w[:, 0], []) is None
    assert bootstrap_interval(lambda w: w[:, 0], [0, 1], resamples=0) is None
