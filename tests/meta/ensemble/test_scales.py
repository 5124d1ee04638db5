import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import zscore

from adjudge.analysis.ensemble import fold_of_each, grouped, learned_weights, rank_shares, z_scores
from adjudge.errors import DataError

WHOLE = st.integers(-50, 50).map(float)


def test_ranks_are_shares_from_worst_to_best_and_ties_have_their_mean() -> None:
    scores = np.array([[3.0, 1.0, 2.0, 2.0], [0.3, 0.0, 0.1 + 0.2, -1.0]])
    found = rank_shares(scores, [np.arange(4)])
    assert found.tolist() == [[7 / 8, 1 / 8, 4 / 8, 4 / 8], [6 / 8, 3 / 8, 6 / 8, 1 / 8]]


@given(arrays(float, (2, 9), elements=WHOLE))
def test_z_scores_are_scipys(scores: np.ndarray) -> None:
    found = z_scores(scores, [np.arange(9)])
    for ours, row in zip(found, scores, strict=True):
        assert ours == pytest.approx(zscore(row) if np.ptp(row) else np.zeros(9), abs=1e-9)


def test_groups_are_scaled_on_their_own() -> None:
    scores = np.array([[1.0, 10.0, 3.0, 30.0]])
    groups = grouped(["x", "y", "x", "y"])
    assert z_scores(scores, groups).tolist() == [[-1, -1, 1, 1]]
    assert rank_shares(scores, groups).tolist() == [[0.25, 0.25, 0.75, 0.75]]


def test_equal_scores_have_no_deviation_and_gaps_stay() -> None:
    scores = np.array([[0.1 + 0.2, 0.3, np.nan], [np.nan, np.nan, np.nan]])
    found = z_scores(scores, [np.arange(3)])
    assert found[0, :2].tolist() == [0, 0]
    assert np.isnan(found[0, 2])
    assert np.isnan(found[1]).all()


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(2, 5), st.integers(0, 3))
def test_units_stay_whole_and_folds_are_even(units: list[int], folds: int, seed: int) -> None:
    if len(set(units)) < folds:
        with pytest.raises(DataError, match="as many units"):
            fold_of_each(units, folds, seed)
        return
    found = fold_of_each(units, folds, seed)
    of = {unit: {int(f) for u, f in zip(units, found, strict=True) if u == unit} for unit in units}
    assert all(len(own) == 1 for own in of.values())
    sizes = [sum(own == {fold} for own in of.values()) for fold in range(folds)]
    assert max(sizes) - min(sizes) <= 1
    assert found.tolist() == fold_of_each(units, folds, seed).tolist()


def test_the_seed_deals_otherwise() -> None:
    assert len({tuple(fold_of_each(range(30), 3, seed).tolist()) for seed in range(4)}) == 4


def test_weights_that_made_gold_are_found() -> None:
    scores = z_scores(np.random.default_rng(1).normal(size=(3, 300)), [np.arange(300)])
    gold = np.array([0.7, 0.0, 0.3]) @ scores * 12 - 5
    gold[::7] = np.nan
    found = learned_weights(scores, gold, np.arange(300) % 4)
    assert found == pytest.approx(np.tile([0.7, 0.0, 0.3], (4, 1)), abs=1e-9)


def test_a_member_that_gold_contradicts_gets_nothing() -> None:
    scores = np.random.default_rng(1).normal(size=(2, 200))
    found = learned_weights(scores, scores[0] - scores[1], np.arange(200) % 2)
    assert found.tolist() == [[1, 0], [1, 0]]


def test_weights_of_a_fold_do_not_know_its_gold() -> None:
    rng = np.random.default_rng(2)
    scores, gold, folds = rng.normal(size=(2, 60)), rng.normal(size=60), np.arange(60) % 3
    gold += scores.sum(axis=0)
    changed = np.where(folds == 1, rng.normal(size=60) * 9, gold)
    before, after = learned_weights(scores, gold, folds), learned_weights(scores, changed, folds)
    assert before[1].tolist() == after[1].tolist()
    assert before[0].tolist() != after[0].tolist()


def test_what_cannot_be_learned_is_said() -> None:
    scores, folds = np.array([[1.0, 2.0, 3.0, 4.0]]), np.array([0, 0, 1, 1])
    with pytest.raises(DataError, match="nothing outside fold 1"):
        learned_weights(scores, np.array([1.0, 2.0, np.nan, np.nan]), folds)
    with pytest.raises(DataError, match="no member agrees with gold outside fold 1"):
        learned_weights(scores, -scores[0], folds)
