"""Bradley-Terry and Davidson: how strong each system must be for the comparisons to come out as they did.

Before that, what the comparisons can say at all: which systems they connect, which groups no other beat (then
strengths have no bound), and the smallest cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from adjudge.core.frozen import frozen
from adjudge.errors import DataError
from adjudge.stats.judged import Floats

Bools = NDArray[np.bool_]

_SLACK: Final = 1e-9  # above which a linear program found a direction


@frozen
class Cycle:
    """Systems of which each beats the next, and the last the first."""

    systems: tuple[str, ...]  # starting with the first in the order of names
    shares: tuple[float, ...]  # of the points that each won against the next, above 0.5


def connected_parts(played: Floats) -> list[list[int]]:
    """Systems that comparisons connect, directly or through others; a single part where all are.

    `played`: systems by systems, how often compared; symmetric.
    """
    return _components(played > 0, strong=False)


def unbeaten_groups(points: Floats) -> list[list[int]]:
    """Groups of systems within which everyone lost a point to someone, best group first.

    More than one: each earlier group that met a later one won everything against it, and its strength has
    no bound (Ford 1957). A single group: Bradley-Terry has a finite maximum.

    `points`: systems by systems, [i, j] is what i won against j, with 0.5 for a tie.
    """
    ordered: list[list[int]] = []
    left = sorted(_components(points > 0, strong=True))
    while left:  # none stands behind one that it beat; those left free go by their first member
        beaten = next(g for g in left if not any(points[np.ix_(o, g)].any() for o in left if o is not g))
        ordered.append(beaten)
        left.remove(beaten)
    return ordered


def _components(edges: Bools, *, strong: bool) -> list[list[int]]:
    from scipy.sparse.csgraph import connected_components

    n, labels = connected_components(
        np.asarray(edges, dtype=np.int8), directed=strong, connection="strong" if strong else "weak"
    )
    return [np.flatnonzero(labels == part).tolist() for part in range(n)]


def has_finite_davidson(wins: Floats, ties: Floats) -> bool:
    """Whether Davidson's likelihood has a finite maximum; with no tie at all, Bradley-Terry's.

    It has none if log strengths u and log nu = c can grow in a direction in which nothing that happened gets
    less likely: u_i - u_j >= 0 and u_i - u_j >= 2 * c for each win of i over j, 2 * c >= abs(u_i - u_j) for
    each tie. A linear program finds the direction with the largest sum of slacks. And it has none if nothing
    connects some systems: their strengths stand in no relation.

    `wins`: systems by systems, how often row beat column.
    """
    if not ties.any():
        return len(_components(wins > 0, strong=True)) == 1
    if len(connected_parts(wins + wins.T + ties)) > 1:
        return False
    from scipy.optimize import linprog

    rows = np.array([*_rows(wins, ties)])
    sum_of_slacks = rows.sum(axis=0)
    fixed = np.append(np.ones(len(wins)), 0.0)[None]
    found = linprog(
        -sum_of_slacks, A_ub=-rows, b_ub=np.zeros(len(rows)), A_eq=fixed, b_eq=[0], bounds=(-1, 1)
    )
    return float(found.fun or 0.0) > -_SLACK  # the program minimises; 0 is always feasible


def _rows(wins: Floats, ties: Floats) -> Iterator[Floats]:
    for i, j in np.argwhere(wins > 0):
        gap = np.zeros(len(wins) + 1)
        gap[i], gap[j] = 1.0, -1.0
        yield gap
        over_tie = gap / 2
        over_tie[-1] = -1.0
        yield over_tie
    for i, j in np.argwhere(ties > 0):
        row = np.zeros(len(ties) + 1)
        row[i], row[j], row[-1] = -0.5, 0.5, 1.0
        yield row


def smallest_cycles(points: Floats, systems: Sequence[str]) -> list[Cycle]:
    """Every cycle of the smallest length in which each system won more points against the next than it lost.

    Where all pairs were compared and none is level, a cycle exists if and only if one of three systems does.
    The cycle whose narrowest win is widest stands first.

    `points`: systems by systems, what row won against column, with 0.5 for a tie.
    """
    from scipy.sparse.csgraph import shortest_path

    beats = points > points.T
    steps = shortest_path(beats.astype(np.int8), unweighted=True)
    around = np.where(beats, 1 + steps.T, np.inf)  # edge i to j, and the shortest way back
    length = around.min(initial=np.inf)
    if not np.isfinite(length):
        return []
    cycles = []
    for path in _cycles(beats, steps, int(length)):
        wins = zip(path, [*path[1:], path[0]], strict=True)
        shares = tuple(float(points[i, j] / (points[i, j] + points[j, i])) for i, j in wins)
        cycles.append(Cycle(systems=tuple(systems[i] for i in path), shares=shares))
    return sorted(cycles, key=lambda c: (-min(c.shares), c.systems))


def _cycles(beats: Bools, steps: Floats, length: int) -> Iterator[list[int]]:
    """Cycles of the smallest length, each once, from its lowest number on.

    `beats`: systems by systems. `steps`: systems by systems, the fewest wins that lead from row to column.
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


PULL: Final = 1e-6
"""Weight of the pull to equal strengths where there is no finite maximum, in comparisons."""

Rows = NDArray[np.int64]

_NO_MAXIMUM: Final = "these comparisons leave strengths without bounds"
_STEPS: Final = 200
_LONGEST: Final = 1.0  # step, in units of log strength, so that Newton's method cannot overshoot for ever
_SHORT: Final = 1e-7  # step after which the next one is lost in rounding, as steps shrink quadratically


@frozen
class Strengths:
    """Fitted models, one a row."""

    logs: Floats  # models by systems, log strength, with mean 0
    log_ties: Floats  # models, log of Davidson's tie parameter nu; minus infinity where there are no ties

    @property
    def points(self) -> Floats:
        """Models by systems: expected points against every other system once, as a mean from 0 to 1.

        A win is 1 point, a tie 0.5. Unlike a strength it is bounded also where a system won all comparisons,
        and it is read as a Copeland score of a complete comparison.
        """
        win, tie = _chances(self.logs, self.log_ties)
        systems = self.logs.shape[1]
        every = (win + tie / 2).sum(axis=2) - 0.5  # less the half point against itself
        return np.asarray(every / (systems - 1)) if systems > 1 else np.full(self.logs.shape, 0.5)


def fit_bradley_terry(points: Floats, pull: float = 0.0) -> Strengths:
    """Maximum likelihood of P(i beats j) = s_i / (s_i + s_j); Newton's method on log strengths.

    Bradley and Terry 1952. A tie is half a win for each, as in Chatbot Arena. `choix.ilsr_pairwise` without
    regularisation to rounding. A finite maximum exists if and only if a chain of (half) wins leads from
    every system to every other (Ford 1957; see `unbeaten_groups`); where none does, `pull` must be above 0.

    `points`: models by systems by systems, [m, i, j] is what i won against j; any number from 0. `pull`:
    subtracts pull / 2 * sum(log strength ** 2) from the log likelihood.
    """
    models, systems = points.shape[:2]
    if not pull and any(len(unbeaten_groups(model)) > 1 for model in points):
        raise DataError(_NO_MAXIMUM)
    played = points + points.swapaxes(1, 2)

    def slope_and_curve(logs: Floats, rows: Rows) -> tuple[Floats, Floats]:
        win, _ = _chances(logs, np.full(len(logs), -np.inf))
        curve = _laplacian(played[rows] * win * win.swapaxes(1, 2))
        return (points[rows] - played[rows] * win).sum(axis=2), curve

    logs = _climb(slope_and_curve, (models, systems), systems, pull)
    return Strengths(logs=logs, log_ties=np.full(models, -np.inf))


def fit_davidson(wins: Floats, ties: Floats, pull: float = 0.0) -> Strengths:
    """Maximum likelihood of Bradley-Terry with ties of their own.

    P(i beats j) : P(tie) : P(j beats i) = s_i : nu * sqrt(s_i * s_j) : s_j

    Davidson 1970. Models without any tie have nu = 0 and are Bradley-Terry's. Newton's method on log
    strengths and log nu. Where there is no finite maximum (`has_finite_davidson`), `pull` must be above 0.

    `wins`: models by systems by systems, [m, i, j] is how often i beat j; any number from 0. `pull`:
    subtracts pull / 2 * (sum(log strength ** 2) + log nu ** 2) from the log likelihood.
    """
    logs, log_ties = np.zeros(wins.shape[:2]), np.full(len(wins), -np.inf)
    tied = ties.any(axis=(1, 2))
    if not tied.all():
        logs[~tied] = fit_bradley_terry(wins[~tied], pull).logs
    if tied.any():
        if not pull and not all(map(has_finite_davidson, wins[tied], ties[tied])):
            raise DataError(_NO_MAXIMUM)
        state = _fit_tied(wins[tied], ties[tied], pull)
        logs[tied], log_ties[tied] = state[:, :-1], state[:, -1]
    return Strengths(logs=logs, log_ties=log_ties)


def _fit_tied(wins: Floats, ties: Floats, pull: float) -> Floats:
    models, systems = wins.shape[:2]
    lost, tied = wins.swapaxes(1, 2), ties.sum(axis=(1, 2)) / 2
    played = wins + lost + ties

    def slope_and_curve(state: Floats, rows: Rows) -> tuple[Floats, Floats]:
        win, tie = _chances(state[:, :-1], state[:, -1])
        lead, decided, n = win - win.swapaxes(1, 2), win + win.swapaxes(1, 2), played[rows]
        slope = np.empty(state.shape)
        slope[:, :-1] = (wins[rows] - lost[rows] - n * lead).sum(axis=2) / 2
        slope[:, -1] = tied[rows] - (n * tie).sum(axis=(1, 2)) / 2
        curve = np.empty((len(state), systems + 1, systems + 1))
        curve[:, :-1, :-1] = _laplacian(n * (decided - lead**2) / 4)
        curve[:, :-1, -1] = curve[:, -1, :-1] = -(n * lead * tie).sum(axis=2) / 2
        curve[:, -1, -1] = (n * tie * (1 - tie)).sum(axis=(1, 2)) / 2
        return slope, curve

    return _climb(slope_and_curve, (models, systems + 1), systems, pull)


def _chances(logs: Floats, log_ties: Floats) -> tuple[Floats, Floats]:
    """Models by systems by systems: P(row beats column), and P(tie), also of a system against itself."""
    half = (logs[:, :, None] - logs[:, None, :]) / 2
    tie = np.broadcast_to(log_ties[:, None, None], half.shape)
    most = np.maximum(np.abs(half), tie)
    up, down, level = np.exp(half - most), np.exp(-half - most), np.exp(tie - most)
    every = up + down + level
    return up / every, level / every


def _laplacian(weights: Floats) -> Floats:
    systems = weights.shape[1]
    found = -weights
    found[:, range(systems), range(systems)] = 0.0
    found[:, range(systems), range(systems)] = -found.sum(axis=2)
    return np.asarray(found)


def _climb(
    slope_and_curve: Callable[[Floats, Rows], tuple[Floats, Floats]],
    shape: tuple[int, int],  # models by parameters; the log strengths stand first and keep mean 0
    systems: int,  # how many log strengths there are
    pull: float,
) -> Floats:
    """Maxima of concave functions, one a row, by Newton's method with steps of bounded length.

    `slope_and_curve`: gradient and minus the second derivatives at a state, of the rows given.
    """
    state, rows = np.zeros(shape), np.arange(shape[0])
    level = np.zeros(shape[1:] * 2)
    level[:systems, :systems] = 1.0  # the sum of log strengths, which nothing else fixes
    for _ in range(_STEPS):
        slope, curve = slope_and_curve(state[rows], rows)
        try:
            step = np.linalg.solve(
                curve + level + pull * np.eye(shape[1]), (slope - pull * state[rows])[..., None]
            )[..., 0]
        except np.linalg.LinAlgError:
            break
        longest = np.abs(step).max(axis=1, initial=0.0)
        state[rows] += step / np.maximum(1.0, longest / _LONGEST)[:, None]
        rows = rows[longest > _SHORT]
        if not len(rows):
            return state
    raise DataError(f"the strengths of {len(rows)} models did not settle in {_STEPS} steps")
