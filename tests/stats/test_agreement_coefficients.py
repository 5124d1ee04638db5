from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from adjudge.errors import UsageError
from adjudge.stats.agreement_coefficients import (
    LEVELS,
    MAJORITY,
    OF_SCORES,
    AlternativeTest,
    Level,
    agreement_matrix,
    alternative_annotator_test,
    cohen_kappa,
    error_recall,
    fleiss_kappa,
    krippendorff_alpha,
    majority,
    percentage_agreement,
    system_profile,
)
from adjudge.stats.bootstrap import Draws, estimate

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
    good: Any = alt(TRUTH, PEOPLE)
    assert (good.passes, good.winning_rate) == (True, 1)
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
    found: Any = fleiss_kappa(labels, Draws(resamples=500, seed=1))
    assert found.interval.low < found.value < found.interval.high
    assert found == fleiss_kappa(labels, Draws(resamples=500, seed=1))


def test_pairs_of_one_segment_are_drawn_together() -> None:
    labels = np.repeat(from_counts(FLEISS), 4, axis=0)
    alone: Any = fleiss_kappa(labels, Draws(resamples=400))
    together = fleiss_kappa(labels, Draws(resamples=400, groups=np.repeat(np.arange(30), 4).tolist()))
    once: Any = fleiss_kappa(from_counts(FLEISS), Draws(resamples=400))
    assert together.interval == pytest.approx(once.interval)
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


# Krippendorff 2011, example C: four observers, twelve units, values missing.
EXAMPLE = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, X, X, X],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, X, 3],
        [X, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, X],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, X],
    ]
).T


@pytest.mark.parametrize(("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_the_example_of_the_manual_comes_to_its_numbers(level: Level, value: float) -> None:
    found = krippendorff_alpha(EXAMPLE, level)
    assert found.value == pytest.approx(value, abs=5e-4)
    assert found.n == 11  # the last unit has one value


def slow_alpha(units: list[list[float]], level: Level) -> float | None:
    units = [unit for unit in units if len(unit) > 1]
    every = [value for unit in units for value in unit]

    def difference(a: float, b: float) -> float:
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        between = sum(low <= value <= high for value in every)
        return float(a != b) * (between - (every.count(a) + every.count(b)) / 2) ** 2

    observed = sum(difference(*pair) / (len(unit) - 1) for unit in units for pair in permutations(unit, 2))
    expected = sum(difference(*pair) for pair in permutations(every, 2))
    return 1 - (len(every) - 1) * observed / expected if expected else None


value = st.one_of(st.integers(0, 4).map(float), st.just(X))
tables = st.lists(st.lists(value, min_size=3, max_size=3), min_size=1, max_size=8)


@given(tables, st.sampled_from(LEVELS))
def test_alpha_equals_its_definition(rows: list[list[float]], level: Level) -> None:
    known = [[value for value in row if not np.isnan(value)] for row in rows]
    assert krippendorff_alpha(np.array(rows), level).value == pytest.approx(slow_alpha(known, level))


def test_no_difference_or_no_pair_has_no_alpha() -> None:
    assert krippendorff_alpha(np.ones((3, 2))).reason.startswith("all values are equal")
    assert krippendorff_alpha(np.array([[1, X], [X, 2]])).reason == "no unit was judged twice"


def test_an_unknown_level_is_an_error() -> None:
    with pytest.raises(UsageError, match="level must be one of nominal, ordinal, interval; got 'ratio'"):
        krippendorff_alpha(EXAMPLE, "ratio")  # type: ignore[arg-type]


def test_the_interval_holds_the_value() -> None:
    found: Any = krippendorff_alpha(EXAMPLE, "ordinal", Draws(resamples=300))
    assert found.interval.low < found.value <= found.interval.high <= 1


def test_many_values_that_all_differ_need_no_matrix_of_values() -> None:
    """A matrix of 60,000 by 60,000 values would need 29 GB."""
    first = np.arange(30_000.0)
    found = krippendorff_alpha(np.stack([first, first + 0.5], axis=1), "interval", Draws(resamples=5))
    assert found.value == pytest.approx(1, abs=1e-6)


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
    found: Any = agreement_matrix(GRIDS, resamples=200)[1].pearson
    assert wanted.interval is not None
    assert found.interval == pytest.approx(wanted.interval, abs=1e-6)
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


PERCENTAGE_PEOPLE = ("p", "q", "r")


def shares(judge: list[float], gold: list[list[float]]) -> dict[tuple[str, str], tuple[float | None, int]]:
    found = percentage_agreement(np.array(judge), np.array(gold), PERCENTAGE_PEOPLE[: len(gold[0])], Draws())
    return {(s.pairs, s.against): (s.agreement.value, s.agreement.n) for s in found}


def test_the_majority_needs_more_votes_than_any_other_verdict() -> None:
    gold = np.array([[1, 1, -1], [1, 0, -1], [0, 0, X], [1, -1, X], [X, X, -1], [X, X, X]])
    np.testing.assert_array_equal(majority(gold), [1, X, 0, X, -1, X])
    np.testing.assert_array_equal(majority(np.full((2, 3), X)), [X, X])


def test_agreement_is_split_into_ranked_and_tied_easy_and_hard() -> None:
    gold = [
        [1, 1, 1],  # ranked, easy: agrees
        [-1, -1, -1],  # ranked, easy: does not
        [1, 1, 0],  # ranked, hard: agrees
        [0, 0, 0],  # tied, easy: does not
        [0, 0, 1],  # tied, hard: agrees
        [1, 0, -1],  # no majority
        [1, 1, 1],  # the judge failed
    ]
    found = shares([1, 1, 1, 1, 0, 1, X], [[float(v) for v in row] for row in gold])
    against = {pairs: value for (pairs, who), value in found.items() if who == MAJORITY}
    assert against == {
        "all": (0.6, 5),
        "ranked": (pytest.approx(2 / 3), 3),
        "ranked easy": (0.5, 2),
        "ranked hard": (1, 1),
        "tied": (0.5, 2),
        "tied easy": (0, 1),
        "tied hard": (1, 1),
    }
    assert found["ranked", "q"] == (found["ranked", MAJORITY][0], 3)
    assert found["ranked", "r"][0] == pytest.approx(1 / 3)  # a tie of r's own is no agreement


def test_one_person_is_the_majority_and_nothing_is_easy_or_hard() -> None:
    assert shares([1, 0, 1], [[1], [1], [0]]) == {
        ("all", MAJORITY): (pytest.approx(1 / 3), 3),
        ("ranked", MAJORITY): (0.5, 2),
        ("tied", MAJORITY): (0, 1),
    }


percentage_verdict = st.sampled_from([1.0, 0.0, -1.0, X])


@given(
    st.lists(
        st.tuples(percentage_verdict, percentage_verdict, percentage_verdict, percentage_verdict),
        min_size=1,
        max_size=15,
    )
)
def test_shares_equal_a_count_by_hand(rows: list[tuple[float, ...]]) -> None:
    found = shares([row[0] for row in rows], [list(row[1:]) for row in rows])
    wanted: dict[str, list[bool]] = {}
    for judged, *votes in rows:
        given_votes = [v for v in votes if not np.isnan(v)]
        counts = sorted(((given_votes.count(v), v) for v in set(given_votes)), reverse=True)
        if np.isnan(judged) or not counts or (len(counts) > 1 and counts[0][0] == counts[1][0]):
            continue
        kind = "tied" if counts[0][1] == 0 else "ranked"
        level = "easy" if len(counts) == 1 else "hard"
        names = ["all", kind, *([f"{kind} {level}"] if len(given_votes) > 1 else [])]
        for name in names:
            wanted.setdefault(name, []).append(judged == counts[0][1])
    for (pairs, against), (value, n) in found.items():
        if against == MAJORITY:
            hits = wanted.get(pairs, [])
            assert n == len(hits)
            assert value == (pytest.approx(sum(hits) / len(hits)) if hits else None)


def test_sums_by_system_are_over_segments_that_both_judged_whole() -> None:
    first = np.array([[4, 1, X, 0], [2, 3, 4, 0], [0, 1, 2, X]])
    second = np.array([[3, 2, 1, X], [3, 4, 4, 1], [1, 0, 2, 2]])
    found = system_profile(first, second)  # segments 0 and 1
    assert found.value == pytest.approx(stats.pearsonr([5, 5, 1], [5, 7, 1])[0])
    assert (found.n, found.groups) == (2, 3)


def test_a_system_that_one_never_judged_is_no_reason_to_drop_a_segment() -> None:
    first = np.array([[1.0, 2], [3, 3], [X, X]])
    second = np.array([[2.0, 2], [4, 5], [1, 1]])
    found = system_profile(first, second)
    assert found.value == pytest.approx(1)
    assert found.groups == 2


def test_nothing_in_common_is_no_agreement() -> None:
    apart = np.array([[1.0, X], [2, X]]), np.array([[X, 1.0], [X, 2]])
    assert system_profile(*apart).reason == "no segment has all its systems judged by both"
    assert system_profile(np.ones((3, 2)), np.array([[1.0, 2], [2, 3], [3, 4]])).value is None
    assert error_recall(apart[0].ravel(), apart[1].ravel()).reason == "no translation was judged by both"


def test_recall_is_the_share_that_both_or_neither_marked() -> None:
    found = error_recall(np.array([0, 2, 1, 0, X]), np.array([0, 1, 0, 3, 1]))
    assert (found.value, found.n) == (0.5, 4)


score = st.one_of(st.integers(0, 4).map(float), st.just(X))
grid = st.lists(st.lists(score, min_size=4, max_size=4), min_size=3, max_size=3)


@given(grid, grid)
def test_by_segment_it_is_the_mean_of_those_that_have_one(a: list[list[float]], b: list[list[float]]) -> None:
    first, second = np.array(a), np.array(b)
    found = []
    for one, two in zip(first.T, second.T, strict=True):
        both = ~np.isnan(one) & ~np.isnan(two)
        if both.sum() > 1 and np.ptp(one[both]) and np.ptp(two[both]):
            found.append(stats.pearsonr(one[both], two[both])[0])
    value = OF_SCORES["Pearson by segment"](first, second).value
    assert value == (pytest.approx(np.mean(found)) if found else None)
