from typing import Any, get_args

import numpy as np
import pytest
from scipy.stats import t

from adjudge.analysis.estimate import EstimateSettings, estimates
from adjudge.analysis.segment_scores import score_records
from adjudge.core.record import Record
from adjudge.errors import DataError, UsageError
from adjudge.stats.few_labels import Estimate, Sample, Target, estimate_mean
from tests.analysis.records import rated

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
Ints = np.ndarray[tuple[int], np.dtype[np.int64]]


def sample(
    labels: Floats,
    scores: Floats,
    documents: Ints | None = None,
    strata: Ints | None = None,
    *,
    by_document: bool = False,
) -> Sample:
    """Labels of the first segments; the others have scores alone."""
    segments = np.arange(len(scores))
    clusters = segments if documents is None else documents
    return Sample(
        labels=np.append(labels, np.full(len(scores) - len(labels), np.nan)),
        scores=scores,
        drawn=clusters if by_document else segments,
        clusters=clusters,
        strata=np.zeros(len(scores), dtype=np.int64) if strata is None else strata,
    )


def holds(found: Estimate, truth: float) -> bool:
    return found.interval is not None and found.interval.low <= truth <= found.interval.high


def test_once_all_is_labelled_the_mean_of_the_test_set_is_known() -> None:
    labels = np.arange(20.0)
    found = estimate_mean(sample(labels, labels))
    assert (found.value, found.interval, found.gain) == (9.5, (9.5, 9.5), 1.0)


def test_of_the_population_an_interval_is_left() -> None:
    labels = np.arange(200.0)
    found: Any = estimate_mean(sample(labels, labels), target="population")
    reach = float(t.isf(0.025, 199) * labels.std(ddof=1) / 200**0.5)
    assert found.interval.high - found.value == pytest.approx(reach, rel=0.06)
    assert found.interval.high - found.value >= reach * (1 - 1e-9)


def test_perfect_scores_leave_only_what_the_drawing_varies() -> None:
    rng = np.random.default_rng(0)
    everything = rng.normal(0, 1, 10_000) + rng.normal(0, 0.1, 10_000)
    found = estimate_mean(sample(everything[:100], everything * 7 + rng.normal(0, 0.5, 10_000)))
    assert found.value == pytest.approx(everything.mean(), abs=0.03)
    assert found.gain > 40


def test_labels_that_lie_on_a_line_over_the_scores_give_the_mean_of_all_exactly() -> None:
    scores = np.random.default_rng(0).normal(0, 1, 500)
    found = estimate_mean(sample(scores[:20] / 7 + 3, scores))
    assert (found.weight, found.value) == pytest.approx((1 / 7, scores.mean() / 7 + 3))


def test_scores_that_say_nothing_cost_next_to_nothing() -> None:
    rng = np.random.default_rng(1)
    gains = [
        estimate_mean(sample(rng.normal(0, 1, 60), rng.normal(0, 1, 660)), seed=seed).gain
        for seed in range(100)
    ]
    assert np.median(gains) == pytest.approx(1.0, abs=0.05)
    assert estimate_mean(sample(rng.normal(0, 1, 60), np.full(660, 2.0))).weight == 0


def test_labels_without_any_difference_make_no_interval() -> None:
    found = estimate_mean(sample(np.zeros(20), np.random.default_rng(0).normal(0, 1, 100)))
    assert (found.value, found.interval, found.plain_interval) == (0, None, None)


@pytest.mark.parametrize(
    ("n", "target", "bias"), [(20, "test-set", 0.0), (100, "test-set", 25.0), (100, "population", 0.0)]
)
def test_intervals_hold_the_truth_as_often_as_they_say_with_any_bias(
    n: int, target: Target, bias: float
) -> None:
    """Skewed labels as of MQM: few translations carry most of the errors."""
    rng = np.random.default_rng(2)
    runs = 60
    held = narrower = 0
    for run in range(runs):
        truth = -rng.poisson(0.5, 400) - 5.0 * rng.poisson(0.2, 400)
        judged = truth + rng.normal(bias, 1.5, 400)
        found = estimate_mean(sample(truth[:n], judged), target=target, seed=run)
        held += holds(found, truth.mean() if target == "test-set" else -1.5)
        widths = [i.high - i.low for i in (found.interval, found.plain_interval) if i is not None]
        narrower += len(widths) < 2 or widths[0] < widths[1]
    assert held / runs >= 0.95 - 2.5 * (0.05 * 0.95 / runs) ** 0.5
    assert narrower > 0.95 * runs


def test_half_of_the_test_set_leaves_half_of_the_variance() -> None:
    """The finite test set is known better the more of it is labelled; the population is not."""
    rng = np.random.default_rng(3)
    truth = rng.normal(0, 1, 400)
    made = sample(truth[:200], rng.normal(0, 1, 400))
    finite, whole = (
        np.ptp(estimate_mean(made, target=kind).plain_interval or ()) for kind in get_args(Target)
    )
    assert finite / whole == pytest.approx(0.5**0.5, abs=0.03)


def test_labelled_documents_count_as_documents() -> None:
    """Every document has one label for all of its segments: 20 documents are 20 labels, not 100."""
    rng = np.random.default_rng(4)
    truth = np.repeat(rng.normal(0, 1, 60), 5)
    documents = np.repeat(np.arange(60), 5)
    scores = rng.normal(0, 1, 300)
    samples = (sample(truth[:100], scores, documents, by_document=by) for by in (False, True))
    apart, whole = (np.ptp(estimate_mean(each).plain_interval or ()) for each in samples)
    assert whole / apart > 1.8
    few = sample(truth[:100], scores, documents, by_document=True)
    assert estimate_mean(few).drawn == 20
    with pytest.raises(UsageError, match="8 labelled documents, got 7"):
        sample(truth[:35], scores, documents, by_document=True)


def test_strata_weigh_as_much_as_they_have_segments() -> None:
    """Half of the labels come from a tenth of the test set; the mean is that of all of it."""
    rng = np.random.default_rng(5)
    strata = np.concatenate([np.repeat([0, 1], 50), np.zeros(50, dtype=int), np.ones(850, dtype=int)])
    truth = np.where(strata == 0, 10.0, 0.0) + rng.normal(0, 1, 1000)
    found = estimate_mean(sample(truth[:100], rng.normal(0, 1, 1000), strata=strata))
    assert found.value == pytest.approx(1.0, abs=0.3)
    assert holds(found, truth.mean())
    assert not holds(estimate_mean(sample(truth[:100], rng.normal(0, 1, 1000))), truth.mean())
    with pytest.raises(UsageError, match="every stratum needs two"):
        sample(truth[:50], rng.normal(0, 1, 1000), strata=strata)


def test_few_labels_are_refused() -> None:
    with pytest.raises(UsageError, match="needs 15 labelled segments that have a score, got 14"):
        sample(np.arange(14.0), np.arange(20.0))


def systems(values: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]) -> list[Record]:
    return [rated(name, str(n), float(v)) for name, each in values.items() for n, v in enumerate(each)]


def test_systems_are_ranked_on_the_scale_of_gold_with_the_lead_of_each() -> None:
    rng = np.random.default_rng(3)
    truth = {name: 60 + shift + rng.normal(0, 8, 300) for name, shift in (("a", 0), ("b", 6), ("c", 12))}
    judge = {name: each / 2 + rng.normal(0, 1, 300) for name, each in truth.items()}
    gold = {name: each[:40] for name, each in truth.items()}
    found = estimates(score_records(systems(judge)), score_records(systems(gold)))
    assert [row.system for row in found.systems] == ["c", "b", "a"]
    for row in found.systems:
        assert row.mean.value == pytest.approx(truth[row.system].mean(), abs=1.0)
        assert (row.mean.labelled, row.mean.scored) == (40, 300)
    assert found.systems[0].ahead is not None
    lead = (truth["c"] - truth["b"]).mean()
    assert holds(found.systems[0].ahead, lead)
    assert found.systems[-1].ahead is None
    assert [(row.best, row.worst) for row in found.systems] == [(1, 1), (2, 2), (3, 3)]
    assert found.notes[:2] == (
        "Intervals are for the mean of this test set, had people judged all of it.",
        "This holds if the labelled segments were drawn at random.",
    )
    assert "fewer than 100 labelled segments (here 40 segments)" in found.notes[2]


def test_a_lead_on_what_both_translated_decides_the_ranks_and_not_the_order_of_the_means() -> None:
    rng = np.random.default_rng(4)
    hard = 40 + rng.normal(0, 4, 200)
    easy = {"a": np.append(hard, np.full(200, 90.0)), "b": hard + 5 + rng.normal(0, 1, 200)}
    every = score_records(systems({name: each + rng.normal(0, 1, len(each)) for name, each in easy.items()}))
    part = [r for r in systems(easy) if int(r.segment) % 4 == 0]
    rows = estimates(every, score_records(part)).systems
    assert [(row.system, row.best, row.worst) for row in rows] == [("a", 2, 2), ("b", 1, 1)]


@pytest.mark.parametrize(("usual", "once", "end"), [(100, 90, "high"), (0, 10, "low")])
def test_the_interval_of_a_mean_ends_where_the_scale_ends(usual: int, once: int, end: str) -> None:
    judge = np.random.default_rng(8).random(60)
    labels = np.array([once, *[usual] * 19], dtype=float)
    rows = estimates(score_records(systems({"a": judge})), score_records(systems({"a": labels}))).systems
    for interval in (rows[0].mean.interval, rows[0].mean.plain_interval):
        assert interval is not None
        assert getattr(interval, end) == usual


def test_labels_of_whole_documents_are_taken_for_draws_of_documents() -> None:
    rng = np.random.default_rng(6)
    truth = rng.normal(60, 8, 200)

    def of_documents(values: Floats) -> list[Record]:
        return [rated("a", str(n), float(v), document=str(n // 5)) for n, v in enumerate(values)]

    judge = score_records(of_documents(truth + rng.normal(0, 3, 200)))
    found = estimates(judge, score_records(of_documents(truth[:50])))
    assert found.systems[0].mean.drawn == 10
    assert "This holds if the labelled documents were drawn at random." in found.notes
    scattered = [r for n, r in enumerate(of_documents(truth)) if n % 4 == 0]
    found = estimates(judge, score_records(scattered))
    assert found.systems[0].mean.drawn == 50
    told = EstimateSettings(drawn="documents")
    assert estimates(judge, score_records(scattered), settings=told).systems[0].mean.drawn == 40
    bare = score_records(systems({"a": truth}))
    with pytest.raises(UsageError, match="these records name none"):
        estimates(bare, bare, settings=told)


def test_a_system_with_few_labels_is_named_and_left_out() -> None:
    judge = systems({"a": np.arange(50.0), "b": np.arange(50.0)})
    gold = systems({"a": np.arange(20.0), "b": np.arange(4.0)})
    found = estimates(score_records(judge), score_records(gold))
    assert [row.system for row in found.systems] == ["a"]
    assert found.notes[0] == "b is left out: an estimate needs 15 labelled segments that have a score, got 4."
    with pytest.raises(DataError, match="no system has 15 segments"):
        estimates(score_records(judge), score_records(systems({"b": np.arange(4.0)})))
