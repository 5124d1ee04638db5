import numpy as np
import pytest

from adjudge.core.annotation import Record
from adjudge.errors import DataError, UsageError
from adjudge.meta.deciding.estimates import estimates
from adjudge.meta.deciding.few_labels import estimate_mean
from adjudge.scoring.score import score
from tests.scoring.records import rated


def test_without_further_scores_it_is_the_mean_of_the_labels() -> None:
    labels = np.arange(12.0)
    found = estimate_mean(labels, labels, np.array([]))
    assert (found.value, found.interval, found.gain) == (5.5, found.plain_interval, 1.0)


def test_perfect_scores_leave_only_what_the_drawing_varies() -> None:
    rng = np.random.default_rng(0)
    everything = rng.normal(0, 1, 10_000)
    found = estimate_mean(everything[:100], 7 * everything[:100] + 3, everything[100:] * 7 + 3)
    assert found.value == pytest.approx(everything.mean(), abs=0.02)
    assert found.gain > 40


def test_scores_that_say_nothing_cost_nothing() -> None:
    rng = np.random.default_rng(1)
    gains = [
        estimate_mean(rng.normal(0, 1, 60), rng.normal(0, 1, 60), rng.normal(0, 1, 600)).gain
        for _ in range(300)
    ]
    assert np.median(gains) == pytest.approx(1.0, abs=0.05)
    assert estimate_mean(rng.normal(0, 1, 60), np.full(60, 2.0), np.full(600, 5.0)).weight == 0


@pytest.mark.parametrize("bias", [0.0, 25.0])
def test_intervals_hold_the_truth_as_often_as_they_say_whatever_the_bias_of_the_judge(bias: float) -> None:
    rng = np.random.default_rng(2)
    held = narrower = 0
    for _ in range(400):
        truth = -rng.poisson(0.5, 500) - 5.0 * rng.poisson(0.2, 500)
        judged = truth + rng.normal(bias, 1.5, 500)
        found = estimate_mean(truth[:80], judged[:80], judged[80:])
        held += found.interval.low <= -1.5 <= found.interval.high
        width, plain = (i.high - i.low for i in (found.interval, found.plain_interval))
        narrower += width < plain
    assert held / 400 >= 0.95 - 3 * (0.05 * 0.95 / 400) ** 0.5
    assert narrower == 400


def test_few_labels_are_refused() -> None:
    with pytest.raises(UsageError, match="needs 10 labelled segments that have a score, got 9"):
        estimate_mean(np.arange(9.0), np.arange(9.0), np.arange(5.0))


def systems(values: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]) -> list[Record]:
    return [rated(name, str(n), float(v)) for name, each in values.items() for n, v in enumerate(each)]


def test_systems_are_ranked_on_the_scale_of_gold_with_the_lead_of_each() -> None:
    rng = np.random.default_rng(3)
    truth = {name: 60 + shift + rng.normal(0, 8, 300) for name, shift in (("a", 0), ("b", 6), ("c", 12))}
    judge = {name: each / 2 + rng.normal(0, 1, 300) for name, each in truth.items()}
    gold = {name: each[:40] for name, each in truth.items()}
    rows, notes = estimates(score(systems(judge)), score(systems(gold)))
    assert [row.system for row in rows] == ["c", "b", "a"]
    for row in rows:
        assert row.mean.value == pytest.approx(truth[row.system].mean(), abs=1.0)
        assert (row.mean.labelled, row.mean.scored) == (40, 300)
    assert rows[0].ahead is not None
    lead = (truth["c"] - truth["b"]).mean()
    assert rows[0].ahead.interval.low <= lead <= rows[0].ahead.interval.high
    assert rows[-1].ahead is None
    assert notes == ("This holds if the labelled segments were drawn at random.",)


def test_a_system_with_few_labels_is_named_and_left_out() -> None:
    judge = systems({"a": np.arange(50.0), "b": np.arange(50.0)})
    gold = systems({"a": np.arange(20.0), "b": np.arange(4.0)})
    rows, notes = estimates(score(judge), score(gold))
    assert [row.system for row in rows] == ["a"]
    assert notes[0] == "b has 4 labelled segments with a score, and needs 10; left out."
    with pytest.raises(DataError, match="no system has 10 segments"):
        estimates(score(judge), score(systems({"b": np.arange(4.0)})))
