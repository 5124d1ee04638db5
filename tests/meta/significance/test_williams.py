import math

import numpy as np
import pytest
from scipy import stats

from adjudge.stats.permutation import williams_p_value, williams_p_values
from adjudge.stats.resampling import metric_p_values


def test_williams_is_the_published_formula() -> None:
    r1, r2, r12, n = 0.9, 0.7, 0.6, 12
    k = 1 - r1**2 - r2**2 - r12**2 + 2 * r1 * r2 * r12
    t = (r1 - r2) * math.sqrt((n - 1) * (1 + r12))
    t /= math.sqrt(2 * k * (n - 1) / (n - 3) + (r1 + r2) ** 2 / 4 * (1 - r12) ** 3)
    assert williams_p_value(r1, r2, r12, n) == pytest.approx(stats.t.sf(t, n - 3))
    assert williams_p_value(r2, r1, r12, n) == pytest.approx(stats.t.cdf(t, n - 3))
    assert williams_p_value(r2, r1, r12, n, "two-sided") == pytest.approx(2 * stats.t.sf(t, n - 3))


@pytest.mark.parametrize(("between", "n"), [(0.5, 3), (1.0, 9)])
def test_williams_has_no_answer_where_its_formula_has_none(between: float, n: int) -> None:
    assert williams_p_value(0.6, 0.6, between, n) is None or between < 1


def test_under_the_null_williams_rejects_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    found = []
    for _ in range(600):
        gold = rng.normal(size=30)
        a, b = (gold + rng.normal(size=30) for _ in range(2))
        r = np.corrcoef([gold, a, b])
        found.append(williams_p_value(r[0, 1], r[0, 2], r[1, 2], 30) or 0)
    assert np.mean(np.array(found) < 0.05) == pytest.approx(0.05, abs=0.03)


def test_a_table_has_the_test_of_each_pair_on_what_all_judged() -> None:
    rng = np.random.default_rng(2)
    gold = rng.normal(size=(3, 20))
    metrics = np.stack([gold + rng.normal(size=gold.shape) * s for s in (1, 2, 3)])
    gold[0, 0], metrics[1, 1, 1] = math.nan, math.nan
    table = williams_p_values(gold, metrics)
    assert (np.diag(table) == 1).all()
    for i, j in ((0, 1), (1, 2), (0, 2), (2, 0)):
        known = ~np.isnan(gold) & ~np.isnan(metrics[i]) & ~np.isnan(metrics[j])
        r = np.corrcoef([gold[known], metrics[i][known], metrics[j][known]])
        n = 59 if {i, j} == {0, 2} else 58
        assert table[i, j] == pytest.approx(williams_p_value(r[0, 1], r[0, 2], r[1, 2], n))
        assert table[i, j] + table[j, i] == pytest.approx(1)
    assert (metric_p_values("seg_pearson", gold, metrics, method="williams") == table)[~np.isnan(table)].all()


def test_twins_and_constants_have_no_test() -> None:
    gold = np.arange(12.0)
    noisy = gold + np.tile([0.0, 1.0, 0.5], 4)
    table = williams_p_values(gold, np.stack([noisy, 3 * noisy + 1, np.ones(12)]))
    assert np.isnan(table[~np.eye(3, dtype=bool)]).all()


def test_systems_are_few_scores() -> None:
    gold = np.array([1.0, 2, 3, 4, 5, 6])
    good, poor = np.array([1.1, 2, 3, 4.1, 5, 6]), np.array([3.0, 1, 4, 1, 5, 2])
    table = williams_p_values(gold, np.stack([good, poor]))
    assert table[0, 1] < 0.05 < table[1, 0]
