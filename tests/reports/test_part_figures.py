import numpy as np
import pytest

from adjudge.errors import UsageError
from adjudge.reports.part_figures import binned_means, clustered_mean
from adjudge.stats.bootstrap import bootstrap_means, percentile_intervals

X = np.nan
RNG = np.random.default_rng(2)


def test_bins_go_from_the_lowest_to_the_highest_score() -> None:
    scores = np.arange(100.0).reshape(2, 50)
    found = binned_means(2 * scores, scores)
    assert [b.n for b in found] == [9, *[10] * 8, 11]
    assert [b.gold for b in found] == pytest.approx([2 * b.score for b in found])
    assert found[0].score < found[-1].score
    assert [b.percentile for b in found] == pytest.approx([5, *range(15, 95, 10), 95], abs=0.6)


def test_equal_scores_stand_in_one_bin_and_what_one_lacks_in_none() -> None:
    gold = np.array([[-5.0, -1, 0, X], [-5, -3, X, 0]])
    scores = np.array([[0.0, 1, 1, 1], [0, 1, 1, X]])
    low, high = binned_means(gold, scores, bins=2)
    assert (low.score, low.gold, low.n, low.interval) == (0, -5, 2, None)
    assert (high.score, high.n) == (1, 3)
    assert high.gold == pytest.approx(-4 / 3)
    assert binned_means(np.full((1, 2), X), np.zeros((1, 2))) == []
    with pytest.raises(UsageError, match="the same shape"):
        binned_means(gold, scores[:1])


def test_the_interval_is_that_of_a_bootstrap_over_segments() -> None:
    scores = RNG.normal(size=(4, 600)) + 3 * RNG.normal(size=600)  # systems share what is hard in a source
    inside = RNG.random((4, 600)) < 0.5
    mean, interval = clustered_mean(scores, inside)
    sums, sizes = np.where(inside, scores, 0).sum(axis=0)[:, None], inside.sum(axis=0)[:, None].astype(float)
    (drawn,) = percentile_intervals(bootstrap_means(sums, sizes, resamples=2000))
    assert interval is not None
    assert drawn is not None
    assert mean == pytest.approx(scores[inside].mean())
    assert interval == pytest.approx(drawn, abs=0.1 * (drawn.high - drawn.low))


def test_the_interval_takes_whole_documents_where_they_are_known() -> None:
    """Two documents of two segments are worth what two segments with their sums are."""
    scores = np.array([[1.0, 2, 5, 6], [2, X, 4, 7]])
    inside = ~np.isnan(scores)
    whole = np.array([[1.0, 5], [2, 6], [2, 4], [X, 7]])
    by_document = clustered_mean(scores, inside, np.array([0, 0, 1, 1]))
    assert by_document == clustered_mean(whole, ~np.isnan(whole))
    assert by_document != clustered_mean(scores, inside)
    assert clustered_mean(scores, inside, np.array([0, 0, 0, 0]))[1] is None
    low, high = binned_means(scores, scores, np.array([0, 1, 0, 1]), bins=2)
    assert low.interval is not None
    assert high.interval is not None


def test_one_segment_has_no_interval() -> None:
    assert clustered_mean(np.ones((2, 3)), np.array([[True, False, False]] * 2)) == (1.0, None)
