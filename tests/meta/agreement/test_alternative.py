import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from adjudge.errors import UsageError
from adjudge.stats.agreement_coefficients import AlternativeTest, alternative_annotator_test

NAMES = ("p", "q", "r")
X = np.nan


def alt(judge: np.ndarray, people: np.ndarray, **options: object) -> AlternativeTest:
    return alternative_annotator_test(judge, people, NAMES[: people.shape[1]], **options)  # type: ignore[arg-type]


def noisy(truth: np.ndarray, share: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random(len(truth)) < share, rng.integers(-1, 2, len(truth)), truth).astype(float)


TRUTH = np.random.default_rng(0).integers(-1, 2, 100).astype(float)
PEOPLE = np.stack([noisy(TRUTH, 0.4, seed) for seed in (1, 2, 3)], axis=1)


def test_a_judge_nearer_to_the_truth_than_people_passes_and_a_random_one_does_not() -> None:
    good = alt(TRUTH, PEOPLE)
    assert (good.passes, good.winning_rate) == (True, 1)
    assert good.advantage is not None
    assert good.advantage > 0.9
    random = alt(noisy(TRUTH, 1, 9), PEOPLE)
    assert (random.passes, random.winning_rate) == (False, 0)


def test_a_copy_of_a_person_wins_as_often_as_that_person() -> None:
    found = alt(PEOPLE[:, 0], PEOPLE).opponents[0]
    assert (found.judge, found.human, found.p, found.beaten) == (1, 1, 0, True)
    without_credit = alt(PEOPLE[:, 0], PEOPLE, epsilon=0).opponents[0]
    assert (without_credit.p, without_credit.beaten) == (1, False)


def slow(judge: np.ndarray, people: np.ndarray, epsilon: float) -> list[tuple[int, float, float, float]]:
    """The test as its paper writes it, unit by unit, with accuracy as nearness."""
    found = []
    for j in range(people.shape[1]):
        ours, theirs = [], []
        for label, row in zip(judge, people, strict=True):
            others = [v for k, v in enumerate(row) if k != j and not np.isnan(v)]
            if np.isnan(label) or np.isnan(row[j]) or not others:
                continue
            one, two = ([v == mine for v in others].count(True) / len(others) for mine in (label, row[j]))
            ours.append(one >= two)
            theirs.append(two >= one)
        differences = np.array(theirs, float) - np.array(ours, float)
        t = (differences.mean() - epsilon) / (differences.std(ddof=1) / np.sqrt(len(differences)))
        p = float(stats.t.cdf(t, len(differences) - 1))
        found.append((len(ours), float(np.mean(ours)), float(np.mean(theirs)), p))
    return found


@settings(max_examples=25)
@given(st.integers(0, 1000), st.sampled_from([0.0, 0.1, 0.2]))
def test_the_test_equals_its_definition(seed: int, epsilon: float) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.choice([1.0, 0, -1, X], size=(90, 4), p=[0.4, 0.3, 0.2, 0.1])
    found = alt(labels[:, 0], labels[:, 1:], epsilon=epsilon)
    for opponent, (n, ours, theirs, p) in zip(
        found.opponents, slow(labels[:, 0], labels[:, 1:], epsilon), strict=True
    ):
        assert opponent.n == n
        assert (opponent.judge, opponent.human, opponent.p) == pytest.approx((ours, theirs, p))
    known = [o.p for o in found.opponents if o.p is not None]
    corrected = stats.false_discovery_control(known, method="by")
    assert [o.beaten for o in found.opponents] == [bool(p <= 0.05) for p in corrected]


def test_numbers_are_compared_by_their_distance() -> None:
    truth = np.linspace(0, 100, 60)
    rng = np.random.default_rng(4)
    people = truth[:, None] + rng.normal(0, 20, (60, 3))
    assert alt(truth, people, alignment="rmse").passes
    assert not alt(truth[::-1].copy(), people, alignment="rmse").passes


def test_people_with_few_units_are_not_tested() -> None:
    people = PEOPLE.copy()
    people[20:, 0] = X
    found = alt(TRUTH, people)
    assert [(o.n, o.p is None, o.beaten) for o in found.opponents] == [
        (20, True, False),
        (100, False, True),
        (100, False, True),
    ]
    few = alt(TRUTH[:20], PEOPLE[:20])
    assert (few.passes, few.winning_rate, few.advantage) == (None, None, None)


@pytest.mark.parametrize(
    ("people", "options", "wanted"),
    [
        (PEOPLE[:, :1], {}, "needs two people or more, got 1"),
        (PEOPLE, {"alignment": "cosine"}, "alignment must be one of accuracy, rmse; got 'cosine'"),
        (PEOPLE, {"epsilon": 1.5}, "epsilon lies in 0 to 1"),
    ],
)
def test_what_cannot_be_tested_is_an_error(
    people: np.ndarray, options: dict[str, object], wanted: str
) -> None:
    with pytest.raises(UsageError, match=wanted):
        alt(TRUTH, people, **options)
