from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.stats.bradley_terry import connected_parts, has_finite_davidson, smallest_cycles, unbeaten_groups


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


def test_wins_of_one_side_and_ties_alone_leave_davidson_without_a_maximum() -> None:
    ties = np.array([[0.0, 3], [3, 0]])
    assert not has_finite_davidson(np.array([[0.0, 2], [0, 0]]), ties)
    assert not has_finite_davidson(np.zeros((2, 2)), ties)
    assert has_finite_davidson(np.array([[0.0, 2], [1, 0]]), ties)


def test_a_cycle_is_named_with_its_shares() -> None:
    points = played("ab", "ab", "ba", "bc", "ca", "ad", "bd", "cd")
    (cycle,) = smallest_cycles(points, "abcde")
    assert cycle.systems == ("a", "b", "c")
    assert cycle.shares == pytest.approx((2 / 3, 1, 1))


def test_where_no_three_go_round_the_next_length_is_listed() -> None:
    assert [c.systems for c in smallest_cycles(played("ab", "bc", "cd", "da"), "abcde")] == [tuple("abcd")]


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
