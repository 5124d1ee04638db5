import math
import warnings
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from adjudge.errors import UsageError
from adjudge.stats import judged
from adjudge.stats.acc_eq import acc_eq
from adjudge.stats.contrastive import contrastive_accuracy
from adjudge.stats.correlation import (
    kendall_b,
    kendall_c,
    kendall_like,
    pairwise_difference_pearson,
    pearson,
    ranks,
    spearman,
    tau_23,
)
from adjudge.stats.judged import Average, Floats, Result
from tests.stats.scores import Both, averages, groups, pairs, score_pairs

Function = Callable[..., Result]
THEIRS: dict[Function, Callable[..., tuple[float, float]]] = {
    pearson: stats.pearsonr,
    spearman: stats.spearmanr,
    kendall_b: stats.kendalltau,
    kendall_c: lambda x, y: stats.kendalltau(x, y, variant="c"),
}
functions = st.sampled_from(list(THEIRS))


def slow(function: Function, gold: Floats, metric: Floats, average: Average) -> list[tuple[float, float]]:
    """One group after the other, with scipy's functions; those that do not vary are left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grouped = [
            list(zip(*group, strict=True)) for group in groups(gold, metric, average) if len(group) > 1
        ]
        return [
            (float(r), float(p))
            for x, y in grouped
            if len(set(x)) > 1 and len(set(y)) > 1
            for r, p in [THEIRS[function](x, y)]
        ]


@given(score_pairs(), averages, functions)
def test_groups_at_once_correlate_as_one_by_one(scores: Both, average: Average, function: Function) -> None:
    found, wanted = function(*scores, average), slow(function, *scores, average)
    if not wanted:
        assert found.value is None
        assert found.reason
    else:
        assert found.value == pytest.approx(np.mean([r for r, _ in wanted]), abs=1e-12)
        assert found.groups == (None if average == "none" else len(wanted))
    assert found.n == sum(map(len, groups(*scores, average)))


@given(score_pairs(6, 12), st.sampled_from([kendall_b, kendall_c]), averages)
def test_long_groups_are_counted_without_looking_at_pairs(
    scores: Both, function: Function, average: Average
) -> None:
    whole = function(*scores, average)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judged, "SHORT", 0)
        assert function(*scores, average) == whole


@given(score_pairs(), functions)
def test_the_p_value_is_scipy_s(scores: Both, function: Function) -> None:
    found, wanted = function(*scores), slow(function, *scores, "none")
    if wanted and found.n > 2 and found.value is not None and abs(found.value) < 1 - 1e-9:
        assert found.p == pytest.approx(wanted[0][1], rel=1e-6)


@given(score_pairs(6, 6))
def test_ranks_are_scipy_s(scores: Both) -> None:
    np.testing.assert_array_equal(ranks(scores[0]), stats.rankdata(scores[0], axis=0, nan_policy="omit"))


@pytest.mark.parametrize("function", THEIRS)
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_no_scale_is_too_large_or_too_small(function: Function, scale: float) -> None:
    gold, metric = np.array([1.0, 2.0, 4.0, 3.0]), np.array([0.3, 0.1, 0.9, 0.8])
    found, wanted = function(gold * scale, metric / scale), function(gold, metric)
    assert found.value == pytest.approx(wanted.value, abs=1e-12)


@given(score_pairs(), functions, st.sampled_from(["item", "sys"]))
def test_without_macro_a_group_weighs_as_many_scores_as_it_has(
    scores: Both, function: Function, average: Average
) -> None:
    found = function(*scores, average, macro=False)
    weighed = [
        (value, len(group))
        for group in groups(*scores, average)
        for gold, metric in [np.array(group).reshape(-1, 1, 2).T]
        for value, _ in slow(function, gold, metric, "none")
    ]
    assert found.n == function(*scores, average).n
    if not weighed:
        assert found.value is None
    else:
        whole = sum(size for _, size in weighed)
        assert found.value == pytest.approx(sum(v * size for v, size in weighed) / whole, abs=1e-9)


@pytest.mark.parametrize("function", [pearson, spearman, kendall_b])
def test_a_metric_that_is_gold_correlates_fully(function: Function) -> None:
    gold = np.random.default_rng(0).normal(size=31)
    assert function(gold, gold).value == 1.0
    assert function(gold, -gold).value == -1.0


@pytest.mark.parametrize("function", THEIRS)
@pytest.mark.parametrize(
    ("gold", "metric", "average", "reason"),
    [
        ([1.0, 2.0], [3.0, 3.0], "none", "all metric scores are equal"),
        ([0.3, 0.3], [3.0, 3.0], "none", "all gold and all metric scores are equal"),
        ([1.0, math.nan], [3.0, 4.0], "none", "there are no two scores that gold and metric both have"),
        ([], [], "none", "there are no two scores that gold and metric both have"),
        ([[0.1, 0.2]] * 3, [[1, 2], [2, 1], [4, 4]], "item", "all gold scores of a segment"),
        ([[1, 2]], [[1, 2]], "item", "the systems of a segment are compared with each other, and there"),
        ([[1, 1], [2, 1]], [[1, 1], [1, 2]], "item", "gold and metric scores of a segment never both vary"),
    ],
)
def test_what_cannot_be_measured_says_why(
    function: Function, gold: list[float], metric: list[float], average: Average, reason: str
) -> None:
    found = function(np.array(gold, dtype=float), np.array(metric, dtype=float), average)
    assert found.value is None
    assert found.p is None
    assert found.reason.startswith(reason)


def test_what_may_not_be_what_it_looks_like_is_noted() -> None:
    assert pearson(np.array([1.0, 2.0]), np.array([1.0, 9.0])).note.startswith("of two scores")
    alone = pearson(np.array([[1.0], [2.0]]), np.array([[1.0], [9.0]]), "item")
    assert alone.note.startswith("one segment only")
    assert pearson(np.array([1.0, 2.0, 4.0]), np.array([1.0, 9.0, 3.0])).note == ""


@pytest.mark.parametrize(
    ("gold", "metric", "average", "message"),
    [
        ([1.0], [1.0, 2.0], "none", r"must have the same shape, got \(1,\) and \(2,\)"),
        ([1.0, math.inf], [1.0, 2.0], "none", "a gold score is infinite"),
        ([1.0, 2.0], [1.0, 2.0], "item", "got a flat array of 2 scores"),
        ([[[1.0]]], [[[1.0]]], "none", "systems by segments, got 3 dimensions"),
        (1.0, 2.0, "none", "systems by segments, got 0 dimensions"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    gold: object, metric: object, average: Average, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        pearson(np.array(gold), np.array(metric), average)


def kind(gold: float, metric: float, epsilon: float) -> str:
    if abs(metric) <= epsilon:
        return "Tgm" if gold == 0 else "Tm"
    if gold == 0:
        return "Tg"
    return "C" if (gold > 0) == (metric > 0) else "D"


@given(score_pairs(), averages, st.sampled_from([0.0, 0.2, 1.0]), st.booleans())
def test_tau_23_is_its_formula(scores: Both, average: Average, epsilon: float, long: bool) -> None:
    counted = [Counter(kind(g, m, epsilon) for g, m, _ in pairs(group)) for group in groups(*scores, average)]
    wanted = [(c["C"] + c["Tgm"] - c["D"] - c["Tg"] - c["Tm"]) / c.total() for c in counted if c.total()]
    with pytest.MonkeyPatch.context() as patch:
        if long:
            patch.setattr(judged, "SHORT", 0)
        found = tau_23(*scores, average, epsilon=epsilon)
    assert found.n == sum(c.total() for c in counted)
    if not wanted:
        assert found.value is None
        assert found.reason
    else:
        assert found.value == pytest.approx(np.mean(wanted), abs=1e-12)
        assert found.groups == (None if average == "none" else len(wanted))


@given(score_pairs(), averages, st.sampled_from([0.0, 0.3, 1.0, 25.0]))
def test_kendall_like_counts_pairs_far_apart(scores: Both, average: Average, threshold: float) -> None:
    far = [g * m > 0 for group in groups(*scores, average) for g, m, _ in pairs(group) if abs(g) >= threshold]
    found = kendall_like(*scores, average, threshold=threshold)
    assert found.n == len(far)
    assert found.value == (pytest.approx((2 * sum(far) - len(far)) / len(far)) if far else None)


@given(score_pairs(), averages)
def test_pdp_is_pearsons_r_of_the_differences_in_both_directions(scores: Both, average: Average) -> None:
    told = [(s * g, s * m) for group in groups(*scores, average) for g, m, _ in pairs(group) for s in (1, -1)]
    found = pairwise_difference_pearson(*scores, average)
    assert found.n == len(told) // 2
    sides = np.array(told).reshape(-1, 2)
    if not told or not sides.any(axis=0).all():
        assert found.value is None
        assert found.reason
    else:
        g, m = (side / abs(side).max() for side in sides.T)  # the square of the smallest numbers is 0
        assert found.value == pytest.approx(
            (g * m).sum() / math.sqrt((g * g).sum() * (m * m).sum()), abs=1e-9
        )


@pytest.mark.parametrize("scale", [1e-320, 1e-209, 1.0, 1e200])
def test_pdp_does_not_depend_on_the_scale(scale: float) -> None:
    gold, metric = np.array([[scale], [0.0], [2 * scale]]), np.array([[1.0], [0.0], [3.0]])
    assert pairwise_difference_pearson(gold, metric, "none").value == pytest.approx(0.9819805060619657)


def test_pdp_does_not_depend_on_the_order_of_systems() -> None:
    rng = np.random.default_rng(3)
    gold, metric = rng.normal(size=(2, 7, 40))
    order = rng.permutation(7)
    first = pairwise_difference_pearson(gold, metric).value
    assert first == pytest.approx(pairwise_difference_pearson(gold[order], metric[order]).value, abs=1e-12)
    shifted = metric + rng.normal(size=40) * 100
    assert first == pytest.approx(pairwise_difference_pearson(gold, shifted).value, abs=1e-9), (
        "segments alone"
    )


@given(score_pairs(), averages)
def test_tau_23_is_calibrated_as_acc_eq(scores: Both, average: Average) -> None:
    found, accuracy = tau_23(*scores, average, epsilon=None), acc_eq(*scores, average)
    assert found.epsilon == accuracy.epsilon
    assert found.value == (None if accuracy.value is None else pytest.approx(2 * accuracy.value - 1))


@given(score_pairs())
def test_contrastive_accuracy_counts_the_pairs_of_all_segments(scores: Both) -> None:
    found = contrastive_accuracy(*scores)
    kinds = [kind(g, m, 0.0) for group in groups(*scores, "item") for g, m, _ in pairs(group)]
    right, ordered = kinds.count("C"), sum(kinds.count(name) for name in ("C", "D", "Tm"))
    assert found.n == len(kinds)
    assert found.value == (pytest.approx(right / ordered) if ordered else None)


def test_what_a_constant_metric_gets() -> None:
    gold, metric = np.array([[1.0, 2.0], [3.0, 5.0]]), np.ones((2, 2))
    assert (tau_23(gold, metric).value, contrastive_accuracy(gold, metric).value) == (-1.0, 0.0)
    assert contrastive_accuracy(metric, gold).reason == "every pair is tied by gold or by the metric"


@pytest.mark.parametrize("measure", [tau_23, contrastive_accuracy])
def test_an_epsilon_below_0_is_refused(measure: Callable[..., Result]) -> None:
    with pytest.raises(UsageError, match="0 or more; got -1"):
        measure(np.ones((2, 2)), np.ones((2, 2)), epsilon=-1)


def test_kendall_like_says_when_nothing_is_far_apart() -> None:
    found = kendall_like(np.array([[1.0], [2.0]]), np.array([[1.0], [2.0]]))
    assert found.value is None
    assert found.reason == "gold holds no two scores that are compared 25 or more apart"
