"""Agreement of every two annotators' scores, with intervals, in one pass over the segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from adjudge.errors import UsageError
from adjudge.meta.bootstrap import percentile_intervals, unit_draws
from adjudge.meta.measures.correlation import pearson, pearson_values
from adjudge.meta.measures.judged import judged
from adjudge.meta.measures.result import Floats, Result
from adjudge.meta.measures.tau import tau_c_values

__all__ = ["PairAgreement", "agreement_matrix"]

_SUMS = 6  # n, x, y, xx, yy, xy


@dataclass(frozen=True, kw_only=True)
class PairAgreement:
    """How alike two annotators score the translations that both of them judged.

    Args:
        between: their names.
        pearson: Pearson's r over all translations, with its interval; or why there is none.
        kendall: Kendall's tau-c over the same; None where it is not defined.
    """

    between: tuple[str, str]
    pearson: Result
    kendall: float | None


def agreement_matrix(
    scores: Mapping[str, Floats], *, resamples: int = 1000, seed: int = 0
) -> list[PairAgreement]:
    """Pearson's r and Kendall's tau-c of every two annotators.

    Intervals of r: percentile bootstrap over segments, drawn whole with all their systems, since translations
    of one source are no independent units. All pairs see the same draws. The ESA paper, table 4, has both
    measures.

    Args:
        scores: annotator to systems by segments, all of one shape; NaN where not judged.
        resamples: number of draws; 0 for no intervals.
        seed: of numpy's default generator.

    Raises:
        UsageError: the shapes differ.
    """
    if len({grid.shape for grid in scores.values()}) > 1:
        raise UsageError("annotators are compared on the same systems and segments; their arrays differ")
    pairs = list(combinations(scores, 2))
    if not pairs:
        return []
    sums = np.stack([_sums(_unit(scores[a]), _unit(scores[b])) for a, b in pairs], axis=1)
    drawn = [_draw(counts, sums) for counts in unit_draws(len(sums), resamples, seed)]
    intervals = percentile_intervals(np.concatenate(drawn)) if drawn else [None] * len(pairs)
    found = []
    for (a, b), interval in zip(pairs, intervals, strict=True):
        both = judged(scores[a], scores[b])
        r, kendall = float(pearson_values(both)[0]), np.nan if both.n < 2 else float(tau_c_values(both)[0])
        unknown = np.isnan(r)  # `pearson` says why there is none
        kept = pearson(scores[a], scores[b]) if unknown else Result(value=r, n=both.n, interval=interval)
        value = None if np.isnan(kendall) else kendall
        found.append(PairAgreement(between=(a, b), pearson=kept, kendall=value))
    return found


def _unit(grid: Floats) -> Floats:
    """Scores with mean 0 and size about 1, which changes no correlation and loses no digits in sums."""
    known = grid[~np.isnan(grid)]
    if not len(known):
        return grid
    return np.asarray((grid - known.mean()) / (known.std() or 1.0))


def _sums(x: Floats, y: Floats) -> Floats:
    """Segments by `_SUMS`, over the systems that both judged."""
    both = ~np.isnan(x) & ~np.isnan(y)
    x, y = np.where(both, x, 0.0), np.where(both, y, 0.0)
    parts: Sequence[Floats] = (both.astype(np.float64), x, y, x * x, y * y, x * y)
    return np.stack([part.sum(axis=0) for part in parts], axis=1)


def _draw(counts: Floats, sums: Floats) -> Floats:
    """Draws by pairs: r of each draw; NaN where it is not defined."""
    units, pairs, _ = sums.shape
    n, x, y, xx, yy, xy = np.moveaxis((counts @ sums.reshape(units, -1)).reshape(-1, pairs, _SUMS), 2, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        shared, own = xy - x * y / n, (xx - x * x / n) * (yy - y * y / n)
        return np.where(own > 1e-18, shared / np.sqrt(np.maximum(own, 0)), np.nan)
