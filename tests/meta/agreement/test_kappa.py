import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.stats.agreement_coefficients import LEVELS, cohen_kappa, fleiss_kappa, krippendorff_alpha
from adjudge.stats.bootstrap import Draws

# Fleiss 1971: 30 patients, six psychiatrists each, five diagnoses; counts by patient.
FLEISS = """
0 0 0 6 0|0 3 0 0 3|0 1 4 0 1|0 0 0 0 6|0 3 0 3 0|2 0 4 0 0|0 0 4 0 2|2 0 3 1 0|2 0 0 4 0|0 0 0 0 6
1 0 0 5 0|1 1 0 4 0|0 3 3 0 0|1 0 0 5 0|0 2 0 3 1|0 0 5 0 1|3 0 0 1 2|5 1 0 0 0|0 2 0 4 0|1 0 2 0 3
0 0 0 0 6|0 1 0 5 0|0 2 0 1 3|2 0 0 4 0|1 0 0 4 1|0 5 0 1 0|4 0 0 0 2|0 2 0 4 0|1 0 5 0 0|0 0 0 0 6
"""


def from_counts(table: str) -> np.ndarray:
    rows = [[int(n) for n in row.split()] for line in table.split("\n") if line for row in line.split("|")]
    return np.array([[label for label, n in enumerate(row) for _ in range(n)] for row in rows], dtype=float)


def test_fleiss_own_example_comes_to_his_number() -> None:
    found = fleiss_kappa(from_counts(FLEISS))
    assert found.value == pytest.approx(0.430, abs=5e-4)
    assert found.n == 30


def test_the_textbook_example_of_two_raters_comes_to_its_number() -> None:
    # 50 proposals: both yes 20, yes/no 5, no/yes 10, both no 15
    first = np.repeat([1.0, 1, 0, 0], [20, 5, 10, 15])
    second = np.repeat([1.0, 0, 1, 0], [20, 5, 10, 15])
    assert cohen_kappa(first, second).value == pytest.approx(0.4)


def slow_cohen(pairs: list[tuple[float, float]]) -> float | None:
    n = len(pairs)
    observed = sum(a == b for a, b in pairs) / n
    expected = sum(
        sum(a == label for a, _ in pairs) * sum(b == label for _, b in pairs) / n**2 for label in (-1, 0, 1)
    )
    return None if expected == 1 else (observed - expected) / (1 - expected)


def slow_fleiss(units: list[list[float]]) -> float | None:
    units = [unit for unit in units if len(unit) > 1]
    if not units:
        return None
    agreed = [
        sum(a == b for i, a in enumerate(unit) for j, b in enumerate(unit) if i != j)
        / (len(unit) * (len(unit) - 1))
        for unit in units
    ]
    every = [label for unit in units for label in unit]
    expected = sum((every.count(label) / len(every)) ** 2 for label in set(every))
    return None if len(set(every)) == 1 else (sum(agreed) / len(agreed) - expected) / (1 - expected)


verdict = st.sampled_from([-1.0, 0.0, 1.0])
verdicts = st.lists(
    st.lists(st.one_of(verdict, st.just(np.nan)), min_size=3, max_size=3), min_size=1, max_size=9
)


@given(verdicts)
def test_kappas_equal_their_definitions(rows: list[list[float]]) -> None:
    labels = np.array(rows)
    pairs = [(a, b) for a, b, _ in rows if not np.isnan(a) and not np.isnan(b)]
    assert cohen_kappa(labels[:, 0], labels[:, 1]).value == pytest.approx(
        slow_cohen(pairs) if pairs else None
    )
    known = [[label for label in row if not np.isnan(label)] for row in rows]
    assert fleiss_kappa(labels).value == pytest.approx(slow_fleiss(known))


def test_full_agreement_on_two_labels_is_one_and_on_one_label_nothing() -> None:
    two, one = np.array([1.0, -1, 1]), np.ones(3)
    assert cohen_kappa(two, two).value == 1
    assert fleiss_kappa(np.stack([two, two], axis=1)).value == 1
    for found in (cohen_kappa(one, one), fleiss_kappa(np.stack([one, one], axis=1))):
        assert (found.value, found.reason) == (
            None,
            "only one label was ever given, so chance agrees as often",
        )


def test_who_judged_nothing_together_has_no_kappa() -> None:
    a, b = np.array([1.0, np.nan]), np.array([np.nan, 1.0])
    assert cohen_kappa(a, b).reason == "no unit was judged by both"
    assert fleiss_kappa(np.stack([a, b], axis=1)).reason == "no unit was judged twice"


def test_intervals_hold_the_value_and_are_those_of_the_same_seed() -> None:
    labels = from_counts(FLEISS)
    found = fleiss_kappa(labels, Draws(resamples=500, seed=1))
    assert found.interval is not None
    assert found.value is not None
    assert found.interval.low < found.value < found.interval.high
    assert found == fleiss_kappa(labels, Draws(resamples=500, seed=1))


def test_pairs_of_one_segment_are_drawn_together() -> None:
    labels = np.repeat(from_counts(FLEISS), 4, axis=0)
    alone = fleiss_kappa(labels, Draws(resamples=400))
    together = fleiss_kappa(labels, Draws(resamples=400, groups=np.repeat(np.arange(30), 4).tolist()))
    once = fleiss_kappa(from_counts(FLEISS), Draws(resamples=400))
    assert together.interval == pytest.approx(once.interval)
    assert alone.interval is not None
    assert once.interval is not None
    assert alone.interval.high - alone.interval.low < 0.7 * (once.interval.high - once.interval.low)


THREE = np.array(
    [
        [0, 0, -1], [-1, -1, 1], [0, 0, 0], [1, 1, -1], [1, 1, 1], [-1, 1, 0], [-1, -1, -1], [-1, 0, 0],
        [0, 0, 1], [1, 1, 0], [0, -1, -1], [1, 0, -1], [-1, -1, 1], [-1, 0, -1], [0, 0, -1], [1, 1, 0],
        [-1, 1, 1], [-1, 1, -1], [-1, -1, -1], [1, 1, -1],
    ],
    dtype=float,
)  # fmt: skip


def test_verdicts_of_three_get_the_numbers_of_other_programs() -> None:
    assert fleiss_kappa(THREE).value == pytest.approx(0.1406908171861835, abs=1e-12)  # statsmodels 0.14
    assert cohen_kappa(*THREE.T[:2]).value == pytest.approx(0.48529411764705876, abs=1e-12)  # scikit-learn
    alphas = {"nominal": 0.1550126368997472, "ordinal": 0.12039479212621584, "interval": 0.12250489236790607}
    for level in LEVELS:  # krippendorff 0.8
        assert krippendorff_alpha(THREE, level).value == pytest.approx(alphas[level], abs=1e-12)
