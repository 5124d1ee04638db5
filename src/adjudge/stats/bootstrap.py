"""Bootstrap: how far a number would move with other segments or other documents.

`bootstrap_means` draws means of all systems together; `estimate` gives any statistic of units its value and
its interval, with `Draws` to say what is drawn and how often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from adjudge.core.frozen import frozen
from adjudge.core.scores import Interval
from adjudge.errors import DataError
from adjudge.stats.judged import Floats, Result

LEVEL = 0.95
"""Share of resamples that an interval holds."""

_CELLS = 2**21  # of one block of draws: 16 MB


def bootstrap_means(sums: Floats, sizes: Floats, *, resamples: int = 1000, seed: int = 0) -> Floats:
    """Means of every system over units drawn with replacement; NaN where a draw holds none of it.

    mean[r, s] = sum over drawn u of sums[u, s] / sum over drawn u of sizes[u, s]

    Efron 1979; for machine translation Koehn 2004, who draws segments. All systems see the same draws, so
    that differences of columns are draws of the difference. With one unit there are none. The means do not
    depend on the size of a block.

    Resamples by systems. `sums`: units by systems, the (weighted) sum of a unit's scores; 0 where it has
    none. `sizes`: units by systems, the (weighted) number of a unit's scores; 0 where it has none.
    """
    center, whole = np.zeros(sums.shape[1]), sizes.sum(axis=0)
    np.divide(sums.sum(axis=0), whole, out=center, where=whole > 0)
    sums = sums - center * sizes  # so that equal scores give equal means, to the last bit
    means = np.full((resamples, sums.shape[1]), np.nan)
    row = 0
    for counts in unit_draws(len(sums), resamples, seed):
        drawn = counts @ sizes
        np.divide(counts @ sums, drawn, out=means[row : row + len(counts)], where=drawn > 0)
        row += len(counts)
    means += center
    return means


def unit_draws(units: int, resamples: int, seed: int) -> Iterator[Floats]:
    """How often each unit is in each draw, resamples by units, in blocks; no draws of fewer than two units.

    All draws of one unit would be equal, and an interval without width say that the number is certain.
    """
    if units < 2:
        return
    rng = np.random.default_rng(seed)
    rows = max(1, _CELLS // units)
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        index = rng.integers(0, units, size=(size, units))
        index += units * np.arange(size)[:, None]
        yield np.bincount(index.ravel(), minlength=size * units).reshape(size, units).astype(np.float64)


def percentile_intervals(means: Floats) -> list[Interval | None]:
    """95 % percentile interval of each column; None where no draw holds the system.

    The quantiles 0.025 and 0.975 with linear interpolation, as numpy's default and
    `scipy.stats.bootstrap(method="percentile")`. Draws that hold nothing of a system are left out.
    """
    quantiles = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    kept = (column[~np.isnan(column)] for column in means.T)
    return [Interval(*map(float, np.quantile(c, quantiles))) if len(c) else None for c in kept]


def lone_unit_note(units: int, of: str) -> tuple[str, ...]:
    """Say why there is no interval, where it is for lack of units."""
    told = f"There are no intervals: one of the {of} alone says nothing of how others would differ."
    return (told,) if units == 1 else ()


def bootstrap_interval(
    statistic: Callable[[Floats], Floats], groups: Sequence[int], *, resamples: int = 1000, seed: int = 0
) -> Interval | None:
    """95 % percentile interval of any statistic of weighted units; None where no draw defines it.

    So it is with one group.

    `statistic`: draws by units, how often each unit counts, to one value a draw; NaN where undefined.
    `groups`: group of each unit, from 0; groups are drawn whole, such as all pairs of one segment.
    `resamples`: number of draws; 0 for no interval.
    """
    index = np.asarray(groups)
    if not index.any() or not resamples:
        return None
    draws = unit_draws(int(index.max()) + 1, resamples, seed)
    values = np.concatenate([statistic(counts[:, index]) for counts in draws])
    return percentile_intervals(values[:, None])[0]


_ROUNDING = 1e-12


@frozen
class Draws:
    """How intervals are drawn."""

    # group of each unit, from 0, drawn whole, such as the pairs of one segment; None where each unit is one
    groups: Sequence[int] | None = None
    resamples: int = 0  # number of draws; 0 for no interval
    seed: int = 0  # of numpy's default generator

    def of(self, kept: NDArray[np.bool_]) -> list[int]:
        """Group of each unit that is kept, numbered from 0 without gaps."""
        groups = np.arange(len(kept)) if self.groups is None else np.asarray(self.groups)
        if len(groups) != len(kept):
            raise DataError(f"{len(kept)} units need as many groups, got {len(groups)}")
        found: list[int] = np.unique(groups[kept], return_inverse=True)[1].tolist()
        return found


NO_INTERVAL = Draws()


def estimate(
    statistic: Callable[[Floats], Floats], kept: NDArray[np.bool_], draws: Draws, undefined: str
) -> Result:
    """Value of a statistic where each kept unit counts once, and its 95 % interval.

    `statistic`: draws by kept units, how often each counts, to one value a draw; NaN where undefined.
    """
    n = int(kept.sum())
    value = float(statistic(np.ones((1, n)))[0])
    if np.isnan(value):
        return Result(value=None, n=n, reason=undefined)
    interval = bootstrap_interval(statistic, draws.of(kept), resamples=draws.resamples, seed=draws.seed)
    return Result(value=value, n=n, interval=interval)


def beyond_chance(observed: Floats, expected: Floats) -> Floats:
    """(observed - expected) / (1 - expected); NaN where chance alone agrees throughout."""
    found = np.full(observed.shape, np.nan)
    np.divide(observed - expected, 1 - expected, out=found, where=expected < 1 - _ROUNDING)
    return found


def mean_of(values: Floats, draws: Draws, nothing: str) -> Result:
    """Mean of the values that are not NaN, with its interval.

    `values`: one a unit; NaN where the unit does not count.
    """
    kept = ~np.isnan(values)
    if not kept.any():
        return Result(value=None, n=0, reason=nothing)
    known = values[kept]
    return estimate(lambda counts: counts @ known / counts.sum(axis=1), kept, draws, nothing)
