from functools import partial
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from adjudge.errors import DataError
from adjudge.stats.bradley_terry import (
    PULL,
    connected_parts,
    fit_bradley_terry,
    fit_davidson,
    has_finite_davidson,
    smallest_cycles,
    unbeaten_groups,
)

WINS = np.array([[0, 7, 5, 9], [3, 0, 6, 8], [4, 4, 0, 5], [1, 2, 3, 0]], dtype=float)
TIES = np.array([[0, 2, 3, 0], [2, 0, 1, 4], [3, 1, 0, 2], [0, 4, 2, 0]], dtype=float)


def test_bradley_terry_gives_the_strengths_of_choix() -> None:
    found = fit_bradley_terry(WINS[None])  # choix 0.4, ilsr_pairwise with alpha 0
    assert found.logs[0] == pytest.approx([0.7660627, 0.22921708, -0.01667289, -0.97860688], abs=1e-8)


def test_two_systems_have_the_log_odds_of_their_points() -> None:
    points = np.array([[[0.0, 7.5], [2.5, 0.0]]])
    found = fit_bradley_terry(points)
    assert found.logs[0, 0] - found.logs[0, 1] == pytest.approx(np.log(3))
    assert found.points[0] == pytest.approx([0.75, 0.25])


def test_davidson_of_two_systems_repeats_the_shares() -> None:
    """With one pair there are as many parameters as free shares: 5 wins, 3 ties, 2 losses."""
    found = fit_davidson(np.array([[[0.0, 5], [2, 0]]]), np.array([[[0.0, 3], [3, 0]]]))
    assert found.logs[0, 0] - found.logs[0, 1] == pytest.approx(np.log(5 / 2))
    assert np.exp(found.log_ties[0]) == pytest.approx(3 / np.sqrt(10))
    assert found.points[0] == pytest.approx([0.65, 0.35])


def slow_strengths(wins: np.ndarray, ties: np.ndarray) -> np.ndarray:
    """Davidson's log strengths and log nu by the likelihood as it is written, and a general optimiser."""
    systems = len(wins)

    def loss(x: np.ndarray) -> float:
        s, nu = np.exp(x[:-1]), np.exp(x[-1])
        found = 0.0
        for i in range(systems):
            for j in range(systems):
                if i != j:
                    level = nu * np.sqrt(s[i] * s[j])
                    every = s[i] + s[j] + level
                    found -= wins[i, j] * np.log(s[i] / every) + ties[i, j] / 2 * np.log(level / every)
        return float(found)

    x = minimize(loss, np.zeros(systems + 1), tol=1e-10).x
    return np.append(x[:-1] - x[:-1].mean(), x[-1])


counts = st.lists(st.integers(0, 6), min_size=6, max_size=6)


def arrays(wins: list[int], ties: list[int]) -> tuple[np.ndarray, np.ndarray]:
    won, tied = np.zeros((3, 3)), np.zeros((3, 3))
    won[~np.eye(3, dtype=bool)] = wins
    tied[np.triu_indices(3, 1)] = ties[:3]
    return won, tied + tied.T


@given(counts, counts)
def test_davidson_is_the_maximum_of_its_likelihood(wins: list[int], ties: list[int]) -> None:
    won, tied = arrays(wins, ties)
    if not tied.any() or not has_finite_davidson(won, tied):
        return
    found = fit_davidson(won[None], tied[None])
    assert np.append(found.logs[0], found.log_ties[0]) == pytest.approx(slow_strengths(won, tied), abs=2e-3)
    assert found.points[0].mean() == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("wins", "ties"),
    [
        ([0, 6, 4, 4, 6, 0], [0, 4, 0]),  # the middle one never lost
        ([3, 4, 0, 0, 0, 0], [2, 4, 0]),  # wins of one side, and ties
        ([0, 0, 0, 0, 5, 0], [1, 0, 0]),
        ([1, 0, 1, 0, 0, 0], [1, 0, 0]),  # the last one was compared with nobody
    ],
)
def test_strengths_without_bounds_are_refused_and_pulled_are_not(wins: list[int], ties: list[int]) -> None:
    won, tied = arrays(wins, ties)
    with pytest.raises(DataError, match="leave strengths without bounds"):
        fit_davidson(won[None], tied[None])
    assert np.isfinite(fit_davidson(won[None], tied[None], PULL).points).all()


@given(counts, counts)
def test_a_maximum_is_foretold_where_a_weaker_pull_goes_no_farther(wins: list[int], ties: list[int]) -> None:
    won, tied = arrays(wins, ties)
    points = won + tied / 2
    for is_finite, fit in (
        (len(unbeaten_groups(points)) == 1, partial(fit_bradley_terry, points[None])),
        (has_finite_davidson(won, tied), partial(fit_davidson, won[None], tied[None])),
    ):
        weak, weaker = fit(pull=1e-4), fit(pull=1e-6)
        moved = np.abs(weaker.logs - weak.logs).max()
        if np.isfinite(weak.log_ties).all():
            moved = max(moved, np.abs(weaker.log_ties - weak.log_ties).max())
        if connected_parts(points + points.T) == [[0, 1, 2]]:
            assert is_finite == (moved < 0.1)


def test_with_ties_counted_half_expected_points_of_what_was_played_are_the_points() -> None:
    """The likelihood equations: what each system is expected to win in its own comparisons, it won."""
    points = WINS + TIES / 2
    found = fit_bradley_terry(points[None])
    gap = found.logs[0][:, None] - found.logs[0]
    expected = ((points + points.T) / (1 + np.exp(-gap))).sum(axis=1)
    assert expected == pytest.approx(points.sum(axis=1))


def test_without_ties_davidson_is_bradley_terry() -> None:
    found, plain = fit_davidson(WINS[None], np.zeros((1, 4, 4))), fit_bradley_terry(WINS[None])
    assert (found.logs == plain.logs).all()
    assert found.log_ties[0] == -np.inf


def test_many_models_are_fitted_as_each_alone() -> None:
    wins = np.stack([WINS, WINS.T, WINS * 3])
    ties = np.stack([TIES, TIES * 0, TIES])
    found = fit_davidson(wins, ties)
    for row in range(3):
        alone = fit_davidson(wins[row : row + 1], ties[row : row + 1])
        assert found.logs[row] == pytest.approx(alone.logs[0], abs=1e-9)


def test_who_won_everything_has_all_points_under_a_pull() -> None:
    points = np.array([[[0.0, 4, 4], [0, 0, 3], [0, 1, 0]]])
    found = fit_bradley_terry(points, PULL)
    assert found.points[0, 0] == pytest.approx(1, abs=1e-5)
    assert found.points[0, 1:] == pytest.approx([0.375, 0.125], abs=1e-5)


def test_one_system_alone_has_half_of_nothing() -> None:
    assert fit_bradley_terry(np.zeros((1, 1, 1))).points.tolist() == [[0.5]]


def played(*wins: str) -> np.ndarray:
    """Points of systems a, b, c, d, e: "ab" is a win of a over b."""
    points = np.zeros((5, 5))
    for win in wins:
        points["abcde".index(win[0]), "abcde".index(win[1])] += 1
    return points


def test_systems_that_nobody_compared_stand_apart() -> None:
    points = played("ab", "cb", "de")
    assert connected_parts(points + points.T) == [[0, 1, 2], [3, 4]]


def test_groups_that_never_lose_to_those_behind_them_stand_first() -> None:
    assert unbeaten_groups(played("ab", "ba", "bc", "cd", "dc", "de", "ce")) == [[0, 1], [2, 3], [4]]
    assert unbeaten_groups(played("ea", "ab", "bc", "cd")) == [[4], [0], [1], [2], [3]]
    assert len(unbeaten_groups(played("ab", "bc", "cd", "de", "ea"))) == 1


def test_a_cycle_is_named_with_its_shares() -> None:
    points = played("ab", "ab", "ba", "bc", "ca", "ad", "bd", "cd")
    (cycle,) = smallest_cycles(points, "abcde")
    assert cycle.systems == ("a", "b", "c")
    assert cycle.shares == pytest.approx((2 / 3, 1, 1))


def test_a_clear_order_of_many_systems_has_no_cycle_and_is_quick() -> None:
    assert smallest_cycles(np.triu(np.ones((60, 60)), 1), [str(i) for i in range(60)]) == []


@given(st.lists(st.integers(0, 2), min_size=20, max_size=20))
def test_cycles_are_all_of_the_smallest_length(wins: list[int]) -> None:
    points = np.zeros((5, 5))
    points[~np.eye(5, dtype=bool)] = wins
    found = {c.systems for c in smallest_cycles(points, "abcde")}
    for length in (3, 4, 5):
        wanted = {
            tuple("abcde"[i] for i in path)
            for path in permutations(range(5), length)
            if path[0] == min(path)
            and all(points[i, j] > points[j, i] for i, j in zip(path, path[1:] + path[:1], strict=True))
        }
        if wanted:
            assert found == wanted
            return
    assert not found
