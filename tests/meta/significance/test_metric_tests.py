from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from adjudge.errors import UsageError
from adjudge.formats.score_file import read_score_file
from adjudge.stats.judged import Floats
from adjudge.stats.measures import MEASURES
from adjudge.stats.paired import significance_ranks
from adjudge.stats.permutation import correlation_p_values
from adjudge.stats.resampling import Drawing, default_method, metric_p_values
from tests.meta.significance.test_draws import OPTIONS

RNG = np.random.default_rng(0)
GOLD: Floats = RNG.integers(0, 9, (6, 40)).astype(float) + np.arange(6)[:, None]
METRICS: Floats = np.stack([GOLD + RNG.normal(0, s, GOLD.shape) for s in (0.5, 4, 9)])


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_has_a_test_that_knows_the_better_metric(name: str) -> None:
    measure = MEASURES[name]
    options = OPTIONS.get(name, {}) | (
        {"gold_range": (0, 14), "metric_range": (-40, 50)} if name in {"seg_mae", "seg_mse"} else {}
    )
    gold: Floats = GOLD
    metrics: Floats = METRICS
    if measure.takes == "systems":
        gold, metrics = np.asarray(GOLD.mean(axis=1)), np.asarray(METRICS.mean(axis=2))
    table = metric_p_values(name, gold, metrics, Drawing(resamples=99), options=options)
    assert table.shape == (3, 3)
    assert (np.diag(table) == 1).all()
    assert table[0, 2] <= table[2, 0]
    if measure.level == "seg":
        assert table[0, 2] < 0.05 < table[2, 0]
    again = metric_p_values(name, gold, metrics, Drawing(resamples=99), options=options)
    assert (table == again).all()


def test_the_bootstrap_tests_every_measure() -> None:
    for name in ("seg_acc_eq", "spa", "sys_pearson"):
        table = metric_p_values(name, GOLD, METRICS, Drawing(resamples=99), method="bootstrap")
        assert table[0, 2] < table[2, 0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: metric_p_values("seg_pearson", GOLD, METRICS, method="pairwise-permutation"),
            "the tests of seg_pearson are perm-both, bootstrap, williams; got 'pairwise-permutation'",
        ),
        (
            lambda: metric_p_values("seg_pearson", GOLD, METRICS, Drawing(documents=["a"] * 40)),
            "perm-both cannot draw documents; the bootstrap can",
        ),
        (
            lambda: metric_p_values(
                "seg_pearson", GOLD, METRICS, options={"average": "item"}, method="williams"
            ),
            "williams compares one correlation over all scores, not a mean by item",
        ),
    ],
)
def test_what_a_test_cannot_do_is_said(call: Callable[[], Floats], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call()


def test_p_values_under_the_null_are_uniform_enough() -> None:
    rng = np.random.default_rng(3)
    found = []
    for seed in range(150):
        gold = rng.normal(size=(4, 15))
        metrics = np.stack([gold + rng.normal(size=gold.shape) for _ in range(2)])
        found.append(correlation_p_values(gold, metrics, resamples=199, seed=seed)[0, 1])
    assert np.mean(np.array(found) <= 0.1) == pytest.approx(0.1, abs=0.07)


@pytest.mark.realdata
def test_the_ranks_of_wmt23_metrics_are_plausible(adjudge_data: Path) -> None:
    folder = adjudge_data / "wmt23"
    table = read_score_file(folder / "human-scores" / "en-de.mqm.seg.score")
    systems = [s for s in table.systems if s not in {"refA", "synthetic_ref"}]
    gold = np.array([table.values[table.systems.index(s)] for s in systems])
    names = ["XCOMET-Ensemble-refA", "COMET-refA", "BLEU-refA", "Random-sysname-src"]
    stack = []
    for name in names:
        scores = read_score_file(folder / "metric-scores" / "en-de" / f"{name}.seg.score")
        stack.append([scores.values[scores.systems.index(s)] for s in systems])
    metrics = np.array(stack)
    for measure in ("seg_acc_eq", "seg_pearson", "seg_kendall_b", "spa"):
        p_values = metric_p_values(measure, gold, metrics, Drawing(resamples=300))
        values = [MEASURES[measure].function(gold, metric).value for metric in metrics]
        ranks = [rank or 0 for rank in significance_ranks(values, p_values, 0.05)]
        assert ranks[0] == 1
        assert ranks[3] == max(ranks) > 1


def test_each_measure_is_tested_as_wmt_does_where_that_is_quick() -> None:
    assert default_method("seg_acc_eq") == "pairwise-permutation"
    assert default_method("seg_kendall_b") == "bootstrap"
    assert {default_method(m) for m in ("spa", "sys_accuracy", "seg_pearson")} == {"perm-both"}


@pytest.mark.realdata
def test_all_swaps_of_twelve_systems_lie_among_mtme_s_draws(adjudge_data: Path) -> None:
    """mt-metrics-eval, five orders of systems, k = 1000: p of COMET over BERTscore is 0 to 0.003."""
    folder = adjudge_data / "wmt23"
    files = [folder / "human-scores" / "en-de.mqm.sys.score"]
    files += [folder / "metric-scores" / "en-de" / f"{m}-refA.sys.score" for m in ("COMET", "BERTscore")]
    tables = [read_score_file(file) for file in files]
    systems = [s for s in tables[0].systems if s not in {"refA", "synthetic_ref"}]
    gold, *metrics = ([t.values[t.systems.index(s), 0] for s in systems] for t in tables)
    found = metric_p_values("sys_pearson", np.array(gold), np.array(metrics))
    assert found[0, 1] == 8 / 2**12
    assert found[1, 0] == pytest.approx(1 - 7 / 2**12)
