"""Who was compared with whom, and who beat whom: what a ranking of pairs can and cannot say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from adjudge.meta.measures.result import Floats

__all__ = ["Cycle", "connected_parts", "has_finite_davidson", "smallest_cycles", "unbeaten_groups"]

Bools = NDArray[np.bool_]

_SLACK: Final = 1e-9  # above which a linear program found a direction


@dataclass(frozen=True, kw_only=True)
class Cycle:
    """Systems of which each beats the next, and the last the first.

    Args:
        systems: starting with the first in the order of names.
        shares: of the points that each won against the next, above 0.5.
    """

    systems: tuple[str, ...]
    shares: tuple[float, ...]


def connected_parts(played: Floats) -> list[list[int]]:
    """Systems that comparisons connect, directly or through others; a single part where all are.

    Args:
        played: systems by systems, how often compared; symmetric.
    """
    return _components(played > 0, strong=False)


def unbeaten_groups(points: Floats) -> list[list[int]]:
    """Groups of systems within which everyone lost a point to someone, best group first.

    More than one: each earlier group that met a later one won everything against it, and its strength has
    no bound (Ford 1957). A single group: Bradley-Terry has a finite maximum.

    Args:
        points: systems by systems, [i, j] is what i won against j, with 0.5 for a tie.
    """
    groups = _components(points > 0, strong=True)
    return _best_first(groups, points)


def _components(edges: Bools, *, strong: bool) -> list[list[int]]:
    from scipy.sparse.csgraph import connected_components

    n, labels = connected_components(
        np.asarray(edges, dtype=np.int8), directed=strong, connection="strong" if strong else "weak"
    )
    return [np.flatnonzero(labels == part).tolist() for part in range(n)]


def _best_first(groups: list[list[int]], points: Floats) -> list[list[int]]:
    """Order groups so that none stands behind one that it beat; those left free by their first member."""
    ordered: list[list[int]] = []
    left = sorted(groups)
    while left:
        beaten = next(g for g in left if not any(points[np.ix_(o, g)].any() for o in left if o is not g))
        ordered.append(beaten)
        left.remove(beaten)
    return ordered


def has_finite_davidson(wins: Floats, ties: Floats) -> bool:
    """Whether Davidson's likelihood has a finite maximum; with no tie at all, Bradley-Terry's.

    It has none if log strengths u and log nu = c can grow in a direction in which nothing that happened gets
    less likely: u_i - u_j >= 0 and u_i - u_j >= 2 * c for each win of i over j, 2 * c >= abs(u_i - u_j) for
    each tie. A linear program finds the direction with the largest sum of slacks. And it has none if nothing
    connects some systems: their strengths stand in no relation.

    Args:
        wins: systems by systems, how often row beat column.
        ties: the same of ties; symmetric.
    """
    if not ties.any():
        return len(_components(wins > 0, strong=True)) == 1
    if len(connected_parts(wins + wins.T + ties)) > 1:
        return False
    from scipy.optimize import linprog

    rows = np.array([*_win_rows(wins), *_tie_rows(ties)])
    sum_of_slacks = rows.sum(axis=0)
    fixed = np.append(np.ones(len(wins)), 0.0)[None]
    found = linprog(
        -sum_of_slacks, A_ub=-rows, b_ub=np.zeros(len(rows)), A_eq=fixed, b_eq=[0], bounds=(-1, 1)
    )
    return float(found.fun or 0.0) > -_SLACK  # the program minimises; 0 is always feasible


def _win_rows(wins: Floats) -> Iterator[Floats]:
    """Slack of each win in a direction: over the loss, and over the tie."""
    for i, j in np.argwhere(wins > 0):
        gap = np.zeros(len(wins) + 1)
        gap[i], gap[j] = 1.0, -1.0
        yield gap
        over_tie = gap / 2
        over_tie[-1] = -1.0
        yield over_tie


def _tie_rows(ties: Floats) -> Iterator[Floats]:
    """Slack of each tie in a direction, over both wins."""
    for i, j in np.argwhere(ties > 0):
        row = np.zeros(len(ties) + 1)
        row[i], row[j], row[-1] = -0.5, 0.5, 1.0
        yield row


def smallest_cycles(points: Floats, systems: Sequence[str]) -> list[Cycle]:
    """Every cycle of the smallest length in which each system won more points against the next than it lost.

    Where all pairs were compared and none is level, a cycle exists if and only if one of three systems does.
    The cycle whose narrowest win is widest stands first.

    Args:
        points: systems by systems, what row won against column, with 0.5 for a tie.
        systems: names of the rows.
    """
    from scipy.sparse.csgraph import shortest_path

    beats = points > points.T
    steps = shortest_path(beats.astype(np.int8), unweighted=True)
    around = np.where(beats, 1 + steps.T, np.inf)  # edge i to j, and the shortest way back
    length = around.min(initial=np.inf)
    if not np.isfinite(length):
        return []
    cycles = [_named(path, points, systems) for path in _cycles(beats, steps, int(length))]
    return sorted(cycles, key=lambda c: (-min(c.shares), c.systems))


def _cycles(beats: Bools, steps: Floats, length: int) -> Iterator[list[int]]:
    """Cycles of the smallest length, each once, from its lowest number on.

    Args:
        beats: systems by systems.
        steps: systems by systems, the fewest wins that lead from row to column.
        length: of a smallest cycle.
    """
    stack = [[start] for start in range(len(beats))]
    while stack:
        path = stack.pop()
        left = length - len(path)
        if not left:
            yield path
            continue
        reachable = beats[path[-1]] & (steps[:, path[0]] <= left)
        stack += [[*path, n] for n in np.flatnonzero(reachable).tolist() if n > path[0]]


def _named(path: list[int], points: Floats, systems: Sequence[str]) -> Cycle:
    steps = zip(path, [*path[1:], path[0]], strict=True)
    shares = tuple(float(points[i, j] / (points[i, j] + points[j, i])) for i, j in steps)
    return Cycle(systems=tuple(systems[i] for i in path), shares=shares)
