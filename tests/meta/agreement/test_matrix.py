import numpy as np
import pytest
from scipy import stats

from adjudge.errors import UsageError
from adjudge.stats.agreement_coefficients import agreement_matrix
from adjudge.stats.bootstrap import Draws, estimate

X = np.nan
RNG = np.random.default_rng(1)
GOLD = RNG.normal(size=(3, 40))
GRIDS = {"gold": GOLD, "near": GOLD + 0.5 * RNG.normal(size=(3, 40)), "far": 1e6 + RNG.normal(size=(3, 40))}


def test_each_two_annotators_have_the_correlations_of_scipy() -> None:
    found = agreement_matrix(GRIDS, resamples=0)
    assert [pair.between for pair in found] == [("gold", "near"), ("gold", "far"), ("near", "far")]
    for pair in found:
        a, b = (GRIDS[name].ravel() for name in pair.between)
        assert pair.pearson.value == pytest.approx(stats.pearsonr(a, b)[0], abs=1e-9)
        assert pair.kendall == pytest.approx(stats.kendalltau(a, b, variant="c")[0])
        assert (pair.pearson.n, pair.pearson.interval) == (120, None)


def test_an_interval_is_that_of_drawing_whole_segments() -> None:
    kept = np.ones(120, dtype=bool)
    segments = np.tile(np.arange(40), 3)
    x, y = GRIDS["gold"].ravel(), GRIDS["far"].ravel()

    def weighted(counts: np.ndarray) -> np.ndarray:
        return np.array(
            [
                np.cov(x, y, fweights=c.astype(int))[0, 1]
                / np.sqrt(np.cov(x, fweights=c.astype(int)) * np.cov(y, fweights=c.astype(int)))
                for c in counts
            ]
        )

    wanted = estimate(weighted, kept, Draws(groups=segments.tolist(), resamples=200), "")
    found = agreement_matrix(GRIDS, resamples=200)[1].pearson
    assert wanted.interval is not None
    assert found.interval == pytest.approx(wanted.interval, abs=1e-6)
    assert found.value is not None
    assert found.interval is not None
    assert found.interval.low < found.value < found.interval.high


def test_only_what_both_judged_counts() -> None:
    holes = GOLD.copy()
    holes[:, 5:] = X
    (pair,) = agreement_matrix({"a": GOLD, "b": holes})
    assert pair.pearson.n == 15
    assert pair.pearson.value == pytest.approx(1)
    (apart,) = agreement_matrix({"a": np.where(np.isnan(holes), GOLD, X), "b": holes})
    assert (apart.pearson.value, apart.pearson.interval, apart.kendall) == (None, None, None)
    (flat,) = agreement_matrix({"a": GOLD, "b": np.zeros_like(GOLD)})
    assert flat.pearson.value is None
    assert "equal" in flat.pearson.reason


def test_one_annotator_agrees_with_nobody_and_shapes_must_fit() -> None:
    assert agreement_matrix({"a": GOLD}) == []
    with pytest.raises(UsageError, match="their arrays differ"):
        agreement_matrix({"a": GOLD, "b": GOLD[:2]})
