from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import UsageError
from adjudge.stats import judged
from adjudge.stats.acc_eq import acc_eq
from adjudge.stats.correlation import kendall_like, tau_10, tau_13, tau_14, tau_23
from adjudge.stats.judged import Average, Floats, Result
from tests.meta.measures.scores import averages, groups, pairs, score_pairs

Counted = Counter[str]
FORMULAS: dict[Callable[..., Result], Callable[[Counted], tuple[int, int]]] = {
    tau_10: lambda c: (c["C"] - c["D"] - c["Tm"], c["C"] + c["D"] + c["Tm"]),
    tau_13: lambda c: (c["C"] - c["D"], c["C"] + c["D"]),
    tau_14: lambda c: (c["C"] - c["D"], c["C"] + c["D"] + c["Tm"]),
    tau_23: lambda c: (c["C"] + c["Tgm"] - c["D"] - c["Tg"] - c["Tm"], sum(c.values())),
}


def kind(gold: float, metric: float, epsilon: float) -> str:
    if abs(metric) <= epsilon:
        return "Tgm" if gold == 0 else "Tm"
    if gold == 0:
        return "Tg"
    return "C" if (gold > 0) == (metric > 0) else "D"


@given(
    score_pairs(), averages, st.sampled_from(list(FORMULAS)), st.sampled_from([0.0, 0.2, 1.0]), st.booleans()
)
def test_every_variant_is_its_formula(
    scores: tuple[Floats, Floats],
    average: Average,
    tau: Callable[..., Result],
    epsilon: float,
    long: bool,
) -> None:
    counted = [Counter(kind(g, m, epsilon) for g, m, _ in pairs(group)) for group in groups(*scores, average)]
    fractions = [FORMULAS[tau](c) for c in counted]
    wanted = [above / below for above, below in fractions if below]
    with pytest.MonkeyPatch.context() as patch:
        if long:
            patch.setattr(judged, "SHORT", 0)
        found = tau(*scores, average, epsilon=epsilon)
    assert found.n == sum(c.total() for c in counted)
    if not wanted:
        assert found.value is None
        assert found.reason
    else:
        assert found.value == pytest.approx(np.mean(wanted), abs=1e-12)
        assert found.groups == (None if average == "none" else len(wanted))


@given(score_pairs(), averages, st.sampled_from([0.0, 0.3, 1.0, 25.0]))
def test_kendall_like_counts_pairs_far_apart(
    scores: tuple[Floats, Floats], average: Average, threshold: float
) -> None:
    far = [g * m > 0 for group in groups(*scores, average) for g, m, _ in pairs(group) if abs(g) >= threshold]
    found = kendall_like(*scores, average, threshold=threshold)
    assert found.n == len(far)
    assert found.value == (pytest.approx((2 * sum(far) - len(far)) / len(far)) if far else None)


@given(score_pairs(), averages)
def test_tau_23_is_calibrated_as_acc_eq(scores: tuple[Floats, Floats], average: Average) -> None:
    found, accuracy = tau_23(*scores, average, epsilon=None), acc_eq(*scores, average)
    assert found.epsilon == accuracy.epsilon
    assert found.value == (None if accuracy.value is None else pytest.approx(2 * accuracy.value - 1))


@pytest.mark.parametrize(
    ("tau", "value", "reason"),
    [
        (tau_10, -1.0, ""),
        (tau_13, None, "every pair is tied by gold or by the metric"),
        (tau_14, 0.0, ""),
        (tau_23, -1.0, ""),
    ],
)
def test_what_a_constant_metric_gets(tau: Callable[..., Result], value: float | None, reason: str) -> None:
    gold = np.array([[1.0, 2.0], [3.0, 5.0]])
    found = tau(gold, np.ones((2, 2)))
    assert (found.value, found.reason) == (value, reason)


@pytest.mark.parametrize("tau", FORMULAS)
def test_an_epsilon_below_0_is_refused(tau: Callable[..., Result]) -> None:
    with pytest.raises(UsageError, match="0 or more; got -1"):
        tau(np.ones((2, 2)), np.ones((2, 2)), epsilon=-1)


def test_kendall_like_says_when_nothing_is_far_apart() -> None:
    found = kendall_like(np.array([[1.0], [2.0]]), np.array([[1.0], [2.0]]))
    assert found.value is None
    assert found.reason == "gold holds no two scores that are compared 25 or more apart"
