"""SPA's permutation test against the measure itself, hybrid by hybrid."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from adjudge.stats.judged import Floats
from adjudge.stats.permutation import Inner, soft_p_values
from adjudge.stats.spa import soft_pairwise_accuracy


def value(gold: Floats, metric: Floats, inner: Inner) -> float:
    if inner == "signs":
        return soft_pairwise_accuracy(gold, metric).value or 0
    errors = []
    for a, b in itertools.combinations(range(len(gold)), 2):
        d, e = gold[a] - gold[b], metric[a] - metric[b]
        p, q = (1.0 if not x.any() else stats.norm.sf(x.sum() / math.sqrt((x * x).sum())) for x in (d, e))
        errors.append(abs(p - q))
    return 1 - float(np.mean(errors))


def slow_p_value(gold: Floats, a: Floats, b: Floats, inner: Inner, draws: Floats) -> float:
    u, v = (stats.zscore(x, axis=None) for x in (a, b))
    observed = value(gold, u, inner) - value(gold, v, inner)
    hits = 0
    for signs in draws.reshape(-1, *gold.shape) > 0:
        delta = value(gold, np.where(signs, u, v), inner) - value(gold, np.where(signs, v, u), inner)
        hits += delta >= observed - 1e-5
    return hits / len(draws) if gold.size <= 12 else (hits + 1) / (len(draws) + 1)


INNER: list[Inner] = ["normal", "signs"]


@pytest.mark.parametrize("inner", INNER)
def test_the_test_is_the_measure_of_every_hybrid(inner: Inner) -> None:
    rng = np.random.default_rng(3)
    gold = rng.integers(-5, 0, (3, 20)).astype(float)
    metrics = np.stack([gold + rng.normal(0, s, gold.shape).round() for s in (2, 5)])
    draws = np.where(np.random.default_rng(6).random((40, 60)) < 0.5, -1.0, 1.0)
    fast = soft_p_values(gold, metrics, inner=inner, resamples=40, seed=6)
    assert fast[0, 1] == pytest.approx(slow_p_value(gold, metrics[0], metrics[1], inner, draws), abs=1e-9)


def test_few_translations_are_tested_over_all_swaps() -> None:
    rng = np.random.default_rng(1)
    gold, metrics = rng.normal(size=(2, 3)), rng.normal(size=(2, 2, 3))
    draws = np.array(list(itertools.product((1.0, -1.0), repeat=6)))
    fast = soft_p_values(gold, metrics)
    assert fast[0, 1] == pytest.approx(slow_p_value(gold, metrics[0], metrics[1], "normal", draws), abs=1e-9)


def test_the_normal_law_gives_the_p_values_of_drawn_signs() -> None:
    rng = np.random.default_rng(9)
    gold = rng.normal(size=(5, 150)) + np.linspace(0, 0.4, 5)[:, None]
    metrics = np.stack([gold + rng.normal(0, s, gold.shape) for s in (2, 2.5)])
    by_law, by_signs = (
        soft_p_values(gold, metrics, inner=inner, resamples=200)[0, 1] for inner in ("normal", "signs")
    )
    assert by_law == pytest.approx(by_signs, abs=0.06)


def test_segments_that_lack_a_judgement_are_left_out() -> None:
    rng = np.random.default_rng(9)
    gold, metrics = rng.normal(size=(3, 30)), rng.normal(size=(2, 3, 30))
    whole = soft_p_values(gold[:, :25], metrics[:, :, :25])
    gold[0, 25:] = math.nan
    assert (soft_p_values(gold, metrics) == whole).all()
    gold[:] = math.nan
    assert math.isnan(soft_p_values(gold, metrics)[0, 1])
