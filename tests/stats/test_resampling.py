import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adjudge.errors import UsageError
from adjudge.formats.score_file import read_score_file
from adjudge.stats import resampling
from adjudge.stats.acc_eq import acc_eq
from adjudge.stats.bootstrap import percentile_intervals, unit_draws
from adjudge.stats.judged import AVERAGES, Average, Floats, sharing
from adjudge.stats.measures import MEASURES
from adjudge.stats.paired import significance_ranks
from adjudge.stats.permutation import correlation_p_values
from adjudge.stats.resampling import (
    Drawing,
    bootstrap_p_values,
    default_method,
    measure_draws,
    metric_p_values,
    resampled,
)
from tests.stats.test_permutation import value as soft_value

# The bootstrap of every measure against the measure itself on the drawn segments.


OPTIONS: dict[str, dict[str, Any]] = {
    "seg_mae": {"gold_range": (0, 9), "metric_range": (-9, 18)},
    "seg_mse": {"gold_range": (0, 9), "metric_range": (-9, 18)},
    "seg_kendall_like": {"threshold": 2.0},
}
CASES = [(name, average) for name, measure in MEASURES.items() for average in (measure.averages or (None,))]


def scores(seed: int = 0) -> tuple[Floats, Floats]:
    """Gold and two metrics, with ties, gaps and a segment that nobody judged."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 9, (5, 14)).astype(float)
    metrics = np.stack([gold + rng.normal(0, s, gold.shape).round() for s in (1, 3)])
    gold[0, 3] = gold[:, 7] = math.nan
    metrics[1, 2, 5] = math.nan
    return gold, metrics


@pytest.mark.parametrize(("name", "average"), CASES)
def test_a_draw_is_the_measure_of_the_drawn_segments(name: str, average: Average | None) -> None:
    gold, metrics = scores()
    measure, options = MEASURES[name], dict(OPTIONS.get(name, {}))
    drawing = Drawing(resamples=15, seed=4)
    fast = measure_draws(name, gold, metrics, drawing, average=average, options=options)
    kept = np.arange(14) if measure.takes == "systems" else np.delete(np.arange(14), 7)
    (counts,) = unit_draws(len(kept), 15, 4)
    arguments = options | ({"average": average} if average else {})
    for column, metric in enumerate(metrics):
        if name == "seg_acc_eq":
            arguments["epsilon"] = measure.function(gold, metric, average).epsilon
        for row, times in enumerate(counts):
            drawn = np.repeat(kept, times.astype(int))
            g, m = gold[:, drawn], metric[:, drawn]
            if measure.takes == "systems":
                g, m = np.nanmean(g, axis=1), np.nanmean(m, axis=1)
            if name == "spa":
                whole = ~np.isnan(g + m).any(axis=0)
                slow: float | None = soft_value(g[:, whole], m[:, whole], "normal")
            else:
                slow = measure.function(g, m, **arguments).value
            assert fast[row, column] == pytest.approx(
                math.nan if slow is None else slow, abs=1e-9, nan_ok=True
            )


def test_documents_are_drawn_whole() -> None:
    gold, metrics = scores()
    documents = ["a"] * 5 + ["b"] * 6 + ["", "", ""]
    fast = measure_draws("seg_pearson", gold, metrics, Drawing(documents=documents, resamples=9, seed=1))
    (counts,) = unit_draws(5, 9, 1)
    unit = np.array([0] * 5 + [1] * 6 + [2, 3, 4])
    for row, times in enumerate(counts):
        drawn = np.repeat(np.arange(14), times[unit].astype(int))
        slow = MEASURES["seg_pearson"].function(gold[:, drawn], metrics[0][:, drawn], "none").value
        assert fast[row, 0] == pytest.approx(slow)
    with pytest.raises(UsageError, match="3 documents for 14 segments"):
        measure_draws("seg_pearson", gold, metrics, Drawing(documents=["a"] * 3))


def test_an_epsilon_calibrated_in_each_draw_would_lift_the_interval() -> None:
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 4, (6, 40)).astype(float)
    metric = gold + rng.normal(0, 2, gold.shape)
    value: Any = acc_eq(gold, metric).value
    (counts,) = unit_draws(40, 200, 0)
    drawn = [np.repeat(np.arange(40), row.astype(int)) for row in counts]
    anew = [acc_eq(gold[:, d], metric[:, d]).value or 0 for d in drawn]
    fixed = measure_draws("seg_acc_eq", gold, metric[None], Drawing(resamples=200))[:, 0]
    assert fixed.mean() == pytest.approx(value, abs=0.003)
    assert np.mean(anew) > fixed.mean() + 0.002
    assert (np.array(anew) >= fixed - 1e-12).all()
    (interval,) = percentile_intervals(fixed[:, None])
    assert interval is not None
    assert interval.low < value < interval.high


def test_scales_taken_from_the_data_stay_those_of_the_whole() -> None:
    gold, metrics = scores()
    few = Drawing(resamples=20)
    by_data = measure_draws("seg_mae", gold, metrics[:1], few, options={"scale": "minmax"})
    present = ~np.isnan(gold)
    ranges = {
        "gold_range": (np.nanmin(gold), np.nanmax(gold)),
        "metric_range": (metrics[0][present].min(), metrics[0][present].max()),
    }
    assert (by_data == measure_draws("seg_mae", gold, metrics[:1], few, options=ranges)).all()


def test_the_paired_bootstrap_sees_the_same_draws_for_all_metrics() -> None:
    draws = np.array([[0.5, 0.4, math.nan], [0.5, 0.6, math.nan], [0.5, 0.5, math.nan]])
    table = bootstrap_p_values(draws)
    assert table[0, 1] == 3 / 4
    assert table[1, 0] == 3 / 4
    assert np.isnan(table[2, 0])
    gold, metrics = scores(1)
    table = bootstrap_p_values(measure_draws("seg_pearson", gold, metrics, Drawing(resamples=99)))
    assert table[0, 1] == 0.01
    assert table[1, 0] == 1


def test_nothing_judged_gives_no_value() -> None:
    gold = np.full((2, 3), math.nan)
    assert np.isnan(measure_draws("seg_pearson", gold, np.zeros((1, 2, 3)), Drawing(resamples=5))).all()
    assert np.isnan(measure_draws("sys_accuracy", gold, np.zeros((1, 2, 3)), Drawing(resamples=5))).all()


@pytest.mark.parametrize("average", AVERAGES)
def test_every_average_of_a_draw_of_everything_once_is_the_measure(average: Average) -> None:
    gold, metrics = scores(3)
    form = resampled(MEASURES["seg_pearson"], gold, metrics[0], average, {})
    assert form(np.ones((1, 14)))[0] == pytest.approx(
        MEASURES["seg_pearson"].function(gold, metrics[0], average).value
    )


@pytest.mark.parametrize("name", ["seg_kendall_b", "seg_kendall_c"])
def test_tables_of_segments_are_made_some_rows_at_a_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    gold, metrics = scores(2)
    whole = measure_draws(name, gold, metrics, Drawing(resamples=9))
    monkeypatch.setattr("adjudge.stats.resampling._CELLS", 5 * gold.shape[1] - 1)
    assert np.array_equal(measure_draws(name, gold, metrics, Drawing(resamples=9)), whole)
    monkeypatch.setattr("adjudge.stats.resampling._WHOLE", 1)  # sums of double precision
    assert np.array_equal(measure_draws(name, gold, metrics, Drawing(resamples=9)), whole)


def test_tau_b_and_tau_c_share_what_they_count_and_nothing_else() -> None:
    gold, metrics = scores(6)
    drawing = Drawing(resamples=9, documents=["a"] * 5 + ["b"] * 9)
    names = ("seg_kendall_b", "seg_kendall_c")
    apart = [measure_draws(name, gold, metrics, drawing) for name in names]
    with sharing():
        together = [measure_draws(name, gold, metrics, drawing) for name in names]
        other = measure_draws(names[0], gold, metrics, Drawing(resamples=9, seed=1))
    assert np.array_equal(together, apart)
    assert not np.array_equal(other, apart[0])


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
    ("asked", "message"),
    [
        (
            {"method": "pairwise-permutation"},
            "are perm-both, bootstrap, williams; got 'pairwise-permutation'",
        ),
        ({"drawing": Drawing(documents=["a"] * 40)}, "perm-both cannot draw documents; the bootstrap can"),
        ({"method": "williams", "options": {"average": "item"}}, "over all scores, not a mean by item"),
    ],
)
def test_what_a_test_cannot_do_is_said(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        metric_p_values("seg_pearson", GOLD, METRICS, **asked)


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


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", [name for name in MEASURES if name != "seg_contrastive"])
def test_a_draw_without_a_score_of_a_metric_has_no_value_and_no_warning(name: str) -> None:
    rng = np.random.default_rng(5)
    gold, metric = rng.normal(0, 50, size=(2, 4, 12))
    metric[:, 4:] = np.nan
    counts = np.zeros((2, 12))
    counts[0, 4:] = 1  # of what the metric did not score
    counts[1] = 1
    average = MEASURES[name].average
    if name in resampling._TAUS:
        found = resampling._Taus(gold, metric[None]).of_draws(counts)[resampling._TAUS.index(name), :, 0]
    else:
        found = resampled(MEASURES[name], gold, metric, average, {})(counts)
    assert np.isnan(found[0])
    assert not np.isnan(found[1]) or name in {"seg_mae", "seg_mse"}  # which have no value without ranges
