import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.stats.agreement_coefficients import MAJORITY, majority, percentage_agreement
from adjudge.stats.bootstrap import Draws

X = np.nan
PEOPLE = ("p", "q", "r")


def shares(judge: list[float], gold: list[list[float]]) -> dict[tuple[str, str], tuple[float | None, int]]:
    found = percentage_agreement(np.array(judge), np.array(gold), PEOPLE[: len(gold[0])], Draws())
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


def test_where_nothing_is_tied_there_is_no_agreement_on_ties() -> None:
    assert shares([1, 1], [[1], [-1]])["tied", MAJORITY] == (None, 0)


verdict = st.sampled_from([1.0, 0.0, -1.0, X])


@given(st.lists(st.tuples(verdict, verdict, verdict, verdict), min_size=1, max_size=15))
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
