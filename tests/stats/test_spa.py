import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from adjudge.errors import UsageError
from adjudge.stats.acc_eq import Compat
from adjudge.stats.judged import Floats
from adjudge.stats.paired import enlarged, sign_flip_p_values
from adjudge.stats.spa import better_p_values, pairwise_accuracy, random_signs, soft_pairwise_accuracy
from tests.stats.scores import Both, groups, score_pairs

whole = arrays.arrays(np.float64, (4, 6), elements=st.integers(-3, 3).map(float))


def drawn_p(first: list[float], second: list[float], signs: list[list[float]]) -> float:
    """The definition, one draw after the other; whole numbers have no rounding."""
    differences = [a - b for a, b in zip(first, second, strict=True)]
    sums = [sum(s * d for s, d in zip(row, differences, strict=True)) for row in signs]
    return sum(total >= sum(differences) for total in sums) / len(signs)


@given(whole, whole, st.integers(0, 3))
def test_one_product_tests_all_pairs_as_one_by_one(gold: Floats, metric: Floats, seed: int) -> None:
    used = np.random.default_rng(seed).random((40, 6), dtype=np.float32)
    signs = np.where(used > 0.5, 1.0, -1.0).tolist()
    errors = [
        abs(
            drawn_p(gold[i].tolist(), gold[j].tolist(), signs)
            - drawn_p(metric[i].tolist(), metric[j].tolist(), signs)
        )
        for i, j in itertools.combinations(range(4), 2)
    ]
    found = soft_pairwise_accuracy(gold, metric, resamples=40, seed=seed)
    assert found.value == pytest.approx(1 - sum(errors) / 6, abs=1e-12)
    assert found.n == 6


@given(score_pairs(4, 5), st.sampled_from(["mtme", None]))
def test_pairs_are_compared_on_the_segments_they_share(scores: Both, compat: Compat | None) -> None:
    gold, metric = scores
    both = ~np.isnan(gold + metric)
    errors = []
    for i, j in itertools.combinations(range(len(gold)), 2):
        shared = both[i] & both[j]
        if shared.any():
            p, q = (
                sign_flip_p_values((x[i] - x[j])[shared, None], alternative="greater")[0]
                for x in map(enlarged, scores)  # as scores that are all tiny are, before rounding
            )
            errors.append(abs(p - q))
    found = soft_pairwise_accuracy(gold, metric, compat=compat)
    assert found.n == len(errors)
    if not errors:
        assert found.value is None
        assert found.reason
    elif compat is None or "shares" in found.note:
        assert found.value == pytest.approx(1 - np.mean(errors), abs=1e-9)


def test_a_metric_that_is_gold_is_as_sure_as_gold() -> None:
    gold = np.random.default_rng(0).normal(size=(5, 30))
    assert soft_pairwise_accuracy(gold, gold).value == 1.0
    assert soft_pairwise_accuracy(gold, gold, compat=None).value == 1.0
    opposite = soft_pairwise_accuracy(gold + np.arange(5)[:, None] * 9, gold - np.arange(5)[:, None] * 9)
    assert opposite.value == pytest.approx(0.0, abs=0.01)


def test_segments_without_gold_change_nothing() -> None:
    rng = np.random.default_rng(0)
    gold, metric = rng.normal(size=(2, 5, 30))
    more, gaps = (np.insert(x, [0, 7, 30], fill, axis=1) for x, fill in ((metric, 3.0), (gold, np.nan)))
    assert soft_pairwise_accuracy(gaps, more) == soft_pairwise_accuracy(gold, metric)


def test_one_segment_is_warned_of() -> None:
    found = soft_pairwise_accuracy(np.array([[1.0], [2.0], [3.0]]), np.array([[1.0], [2.0], [3.0]]))
    assert found.note == "one segment only, on which no order is sure; were scores of systems passed?"


def test_systems_that_a_metric_ties_everywhere_are_told() -> None:
    gold = np.random.default_rng(0).normal(size=(4, 20))
    assert soft_pairwise_accuracy(gold, gold).note == ""
    found = soft_pairwise_accuracy(gold, np.where(np.arange(4)[:, None] < 2, 0.0, gold))
    assert found.note.startswith("the metric ties the systems of 1 pair in every segment")
    gaps = np.where(np.arange(20) < 3, np.nan, gold)
    assert soft_pairwise_accuracy(gaps, np.zeros((4, 20))).note.startswith(
        "the metric ties the systems of 6 pairs"
    )


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        ((1, 9), "systems are compared with each other, and there is 1 only"),
        ((2, 0), "no two systems share a segment that gold and metric both scored"),
    ],
)
def test_what_cannot_be_compared_says_why(shape: tuple[int, int], reason: str) -> None:
    found = soft_pairwise_accuracy(np.zeros(shape), np.zeros(shape))
    assert (found.value, found.reason) == (None, reason)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(UsageError, match="resamples must be 1 or more, got 0"):
        soft_pairwise_accuracy(np.zeros((2, 2)), np.zeros((2, 2)), resamples=0)
    with pytest.raises(UsageError, match="got a flat array of 3 scores"):
        soft_pairwise_accuracy(np.zeros(3), np.zeros(3))
    with pytest.raises(UsageError, match="compat is 'mtme' or None, got 'mtm'"):
        soft_pairwise_accuracy(np.zeros((2, 2)), np.zeros((2, 2)), compat="mtm")  # type: ignore[arg-type]


def test_constant_scores_are_never_sure() -> None:
    p = better_p_values(np.ones((3, 8)), random_signs(50, 8, 4))
    assert p[np.triu_indices(3, 1)].tolist() == [1.0, 1.0, 1.0]
    assert np.isnan(p[np.tril_indices(3)]).all()


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e6, 1e8])
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e37, 1e300])
def test_neither_offset_nor_size_of_the_scores_moves_the_value(offset: float, scale: float) -> None:
    rng = np.random.default_rng(3)
    gold = rng.normal(size=(8, 200)) + rng.normal(size=(8, 1)) * 0.1
    metric = np.round(gold + rng.normal(size=(8, 200)), 3)
    plain = soft_pairwise_accuracy(gold, metric).value
    for changed in ((gold, (metric + offset) * scale), ((gold + offset) * scale, metric)):
        assert soft_pairwise_accuracy(*changed).value == pytest.approx(plain, abs=1e-3)


def test_the_unit_of_scores_moves_no_value_without_the_published_rounding() -> None:
    gold, metric = np.random.default_rng(1).integers(0, 9, size=(2, 4, 30)).astype(float)
    tiny, plain = (soft_pairwise_accuracy(gold, unit * metric, compat=None) for unit in (1e-13, 1))
    assert tiny.value == plain.value


@given(score_pairs(8, 1))
def test_pairwise_accuracy_is_the_share_of_pairs_in_the_right_order(scores: Both) -> None:
    gold, metric = (side[:, 0] for side in scores)
    (both,) = groups(gold[:, None], metric[:, None], "none")
    right = [
        (g1 > g2) - (g1 < g2) == (m1 > m2) - (m1 < m2)
        for (g1, m1), (g2, m2) in itertools.combinations(both, 2)
    ]
    found = pairwise_accuracy(gold, metric)
    assert (found.value, found.n) == (sum(right) / len(right) if right else None, len(right))


@pytest.mark.parametrize("systems", [0, 1])
def test_one_system_has_nothing_to_compare(systems: int) -> None:
    found = pairwise_accuracy(np.ones(systems), np.ones(systems))
    assert found.value is None
    assert found.reason.endswith(f"and scores of both are there for {systems} only")


def test_scores_of_segments_are_refused() -> None:
    with pytest.raises(UsageError, match=r"takes one score a system, got an array of shape \(2, 3\)"):
        pairwise_accuracy(np.zeros((2, 3)), np.zeros((2, 3)))


def test_what_accuracy_is_worth_where_gold_ties_all_is_said() -> None:
    assert "gold ties all systems" in pairwise_accuracy(np.zeros(3), np.arange(3.0)).note
    assert not pairwise_accuracy(np.array([0.0, 0, 1]), np.arange(3.0)).note
