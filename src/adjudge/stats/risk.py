"""A bound on a score above which few translations are bad, with a guarantee. Pure: arrays in, a bound out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from adjudge.errors import UsageError

__all__ = ["Labelled", "betting_p_value", "conformal_bound", "labels_needed", "shown_bound", "sources_needed"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_GRID: Final = 200  # bounds that are tried from each start
_STARTS: Final = 3
_MOST_STAKE: Final = 0.95  # of all that may be lost at once


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """Translations with a score and a label.

    Args:
        scores: of each translation; higher is better.
        bad: whether it is bad.
        groups: number of its source segment, or of its document; translations of one are not independent.

    Raises:
        UsageError: there is none.
    """

    scores: Floats
    bad: Bools
    groups: NDArray[np.int64]

    def __post_init__(self) -> None:
        """Refuse to decide by nothing."""
        if not len(self.scores):
            raise UsageError("thresholds need labelled translations, and there is none")

    @property
    def flipped(self) -> Labelled:
        """The same upside down: low scores become high ones, what is good becomes bad."""
        return Labelled(scores=-self.scores, bad=~self.bad, groups=self.groups)


def labels_needed(risk: float, delta: float) -> int:
    """Sources above a bound, none with anything bad, from which on a guarantee can be given.

    (1 - risk)^n <= delta
    """
    return math.ceil(math.log(delta) / math.log1p(-risk))


def sources_needed(risk: float, delta: float) -> int:
    """Labelled sources, without anything bad among the best, that `shown_bound` needs at least."""
    return labels_needed(risk, delta / _STARTS)


def shown_bound(labelled: Labelled, risk: float, delta: float) -> float | None:
    """Lowest bound for which it is shown that at most a share `risk` of what lies on or above it is bad.

    P(share of bad on or above the bound is more than risk) <= delta, over the choice of the labelled groups;
    where a group has several translations above it, the share is that of each group, averaged over groups.
    Learn then Test (Angelopoulos et al. 2021): bounds are tried from the highest down as long as p <= delta
    / 3, from three starts: where just enough lies above to show anything at all, where enough does to show it
    of half the risk, and between them. No label decides which bounds these are. p is that of the binomial
    distribution, exact, or for several translations of a group that of betting (`betting_p_value`),
    which holds for any shares and any number of groups.

    Args:
        labelled: translations.
        risk: share that may be bad, above 0 and below 1.
        delta: chance that the guarantee does not hold.

    Returns:
        None where nothing can be shown: there are too few labels, or too many are bad.
    """
    level = delta / _STARTS
    ordered = np.sort(labelled.scores)[::-1]
    each = len(ordered) / len(np.unique(labelled.groups))  # translations of a source
    few, many = labels_needed(risk, level), _comfortable(risk, level)
    starts = np.geomspace(few, many, _STARTS).round().astype(int).tolist()
    found: list[float] = []
    for start in (round(n * each) for n in starts if n * each <= len(ordered)):
        places = np.unique(np.linspace(start - 1, len(ordered) - 1, _GRID).astype(int))
        for bound in ordered[places].tolist():
            if _p_value(labelled, bound, risk, level) > level:
                break
            found.append(bound)
    return min(found, default=None)


@cache
def _comfortable(risk: float, level: float) -> int:
    """Translations above a bound from which on it is shown where half the risk is the share that is bad."""
    from scipy.stats import binom

    n = labels_needed(risk, level)
    while binom.cdf(math.ceil(n * risk / 2), n, risk) > level:
        n = math.ceil(n * 1.05)
    return n


def _p_value(labelled: Labelled, bound: float, risk: float, level: float) -> float:
    """Of the hypothesis that more than the share `risk` of those on or above a bound is bad."""
    from scipy.stats import binom

    above = labelled.scores >= bound
    _, index, sizes = np.unique(labelled.groups[above], return_inverse=True, return_counts=True)
    bad = np.bincount(index, labelled.bad[above])
    if sizes.max() == 1:
        return float(binom.cdf(int(bad.sum()), len(sizes), risk))
    return betting_p_value(bad / sizes, risk, level)


def betting_p_value(shares: Floats, risk: float, level: float) -> float:
    """Return the p-value of "the mean of these shares is `risk` or more", by betting against it.

    K_t = product over i <= t of 1 + l_i (risk - share_i), p = 1 / max K_t

    Waudby-Smith and Ramdas 2024: each stake l_i, from 0 to 1 / (1 - risk), is set by the shares before it. If
    the mean is `risk` or more, no stake wins on average, and the capital ever reaches 1 / p with a chance
    of p at most (Ville 1939), whatever the shares are and however many. The stakes are their predictable
    plug-in; shares come in an order that is drawn once.

    Args:
        shares: of independent groups, each from 0 to 1.
        risk: above 0 and below 1.
        level: p-value that is wanted; it sets the stakes and no guarantee depends on it.
    """
    drawn = np.random.default_rng(0).permutation(shares)
    n = len(drawn)
    before = np.arange(1, n + 1)  # shares known, and one that is expected
    means = (risk / 2 + np.cumsum(drawn)) / (before + 1)
    spreads = (risk / 4 + np.cumsum(np.square(drawn - means))) / (before + 1)
    known = np.append(risk / 4, spreads[:-1])
    stakes = np.minimum(np.sqrt(-2 * math.log(level) / (n * known)), _MOST_STAKE / (1 - risk))
    capital = np.cumsum(np.log1p(stakes * (risk - drawn)))
    return min(1.0, math.exp(-float(capital.max())))


def conformal_bound(labelled: Labelled, risk: float) -> float | None:
    """Lowest bound with at most a share `risk` of *all* translations on or above it and bad, on average.

    E[share of translations that lie on or above the bound and are bad] <= risk, over the choice of the
    labelled ones and the next one. Conformal risk control (Angelopoulos et al. 2024): the lowest bound with
    (n R + 1) / (n + 1) <= risk, R: the share among the labelled, n: sources. It holds on average and for all
    translations, where `shown_bound` holds with a chance and for what lies above the bound.

    Returns:
        None where there are too few labels: 1 / (n + 1) is above `risk`.
    """
    _, index, sizes = np.unique(labelled.groups, return_inverse=True, return_counts=True)
    n = len(sizes)
    order = np.argsort(-labelled.scores, kind="stable")
    losses = np.cumsum((labelled.bad / sizes[index])[order])
    scores = labelled.scores[order]
    is_last = np.append(scores[1:] != scores[:-1], True)  # equal scores lie on the same side
    fits = is_last & ((losses + 1) / (n + 1) <= risk)
    if not fits.any():
        return None if (1 / (n + 1)) > risk else math.inf
    stop = int(np.argmin(np.append(((losses + 1) / (n + 1) <= risk)[is_last], False)))
    kept = scores[is_last][:stop]
    return float(kept[-1]) if len(kept) else math.inf
