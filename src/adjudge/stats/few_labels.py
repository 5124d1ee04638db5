"""What few labels of people tell, with a guarantee: means of systems, bounds above which few are bad.

Means come from many scores of a judge and few labels (prediction-powered inference); bounds from a test that
holds at every sample size (betting).
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from adjudge.core.frozen import frozen
from adjudge.core.scores import Interval
from adjudge.errors import UsageError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Target = Literal["test-set", "population"]
"""What an interval is for: the mean of this very test set, or that of all texts like those of it."""

LEAST: Final = 15
"""Labels of which an interval can be made."""
LEAST_DOCUMENTS: Final = 8
"""Labelled documents of which an interval can be made, where whole documents were drawn."""
SAFE: Final = 100
"""Labels, or labelled documents, below which intervals are made wider, to err on the safe side."""

_FOLDS: Final = 10
_RESAMPLES: Final = 2000
_MOST_REACH: Final = 4  # a bootstrap quantile is at most so many times Student's: few draws are near constant
_ROUNDING: Final = 1e-12


@frozen
class Estimate:
    """A mean on the labels' scale."""

    value: float  # of all units, labelled or not
    # 95 %; None where all labels equal what the scores predict, so that nothing says how far others may
    # differ
    interval: Interval | None
    plain: float  # mean of the labels alone
    plain_interval: Interval | None  # 95 %, of the labels alone
    weight: float  # how much the scores are trusted: 0 not at all, then the estimate is the plain mean
    labelled: int
    scored: int  # units with a score, those with a label among them
    gain: float  # so many labels would have given the plain mean this interval, over those there are
    drawn: int  # labelled segments, or labelled documents where whole documents were drawn


@frozen
class Sample:
    """All segments of a system that have a score, some of them with a label."""

    labels: Floats  # y; NaN where a segment has none
    scores: Floats
    drawn: Ints  # what was drawn for labelling: the number of the segment, or of its document
    # what is independent of what in the population: the number of the document where documents are known,
    # else of the segment
    clusters: Ints
    # number of the part of the test set that labels were drawn from separately; 0 without strata
    strata: Ints

    def __post_init__(self) -> None:
        n, units = int(self.known.sum()), len(np.unique(self.drawn[self.known]))
        if n < LEAST:
            raise UsageError(f"an estimate needs {LEAST} labelled segments that have a score, got {n}")
        if units < n and units < LEAST_DOCUMENTS:
            raise UsageError(f"an estimate needs {LEAST_DOCUMENTS} labelled documents, got {units}")
        for stratum in np.unique(self.strata):
            inside = self.strata == stratum
            if len(np.unique(self.drawn[inside & self.known])) < 2 and not self.known[inside].all():
                raise UsageError(
                    "every stratum needs two labelled segments or documents; merge strata or label more"
                )

    @property
    def known(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.labels)


def estimate_mean(sample: Sample, *, target: Target = "test-set", seed: int = 0) -> Estimate:
    """Return the mean label of all units, were all labelled.

    value = sum over strata h of W_h mean(e_i of h), e_i = y_i - b_i (f_i - F_h)

    F_h: mean score of all T_h segments of the stratum, W_h = T_h / T; b_i: slope of labels on scores, fitted
    without the fold of unit i (10 folds of what was drawn), so that the residuals e_i are as large as those
    of segments without a label. This is prediction-powered inference (Angelopoulos et al. 2023) with the
    weight of power tuning (Angelopoulos, Duchi and Zrnic 2023), cross-fitted (Zrnic and Candès 2024), and the
    regression estimator of survey sampling (Cochran 1977, chapter 7). Whatever the scores are worth, the
    estimate is of the labels.

    Standard error, with z_u: the sum over a drawn unit u of W_h / n_h (e_i - mean(e of h)):

    - `test-set`: se^2 = sum over h of (1 - m_h / M_h) m_h / (m_h - 1) sum of z_u^2, for m_h of M_h units
      drawn: once all are labelled, nothing is left to estimate.
    - `population`: se^2 = sum over h of G_h / (G_h - 1) sum over clusters of psi^2, psi: z of the cluster
      plus b sum(f_i - F_h) / T over all of its segments.

    Interval: the wider one of Student's t and the bootstrap-t (Efron 1979; Hall 1988) at each end, because
    labels are skewed: few translations carry most of the errors. Below 100 drawn units the nominal level is
    raised to 1 - 0.05 max(m, 15) / 100, since rare grave errors may be missing among few labels; there it
    errs on the safe side. Measured coverage: docs/benchmark-tables.md.
    """
    known, scored = sample.known, len(sample.scores)
    strata = sample.strata
    means = np.bincount(strata, sample.scores) / np.maximum(np.bincount(strata), 1)
    centred = sample.scores - means[strata]
    rng = np.random.default_rng(seed)
    residuals, weight = _residuals(sample, centred, rng)
    with_scores = _Total(sample, residuals, weight * centred, target)
    alone = _Total(sample, sample.labels[known], np.zeros(scored), target)
    return Estimate(
        value=with_scores.value,
        interval=with_scores.interval(rng),
        plain=alone.value,
        plain_interval=alone.interval(rng),
        weight=weight,
        labelled=int(known.sum()),
        scored=scored,
        gain=(alone.error / with_scores.error) ** 2 if with_scores.error else 1.0,
        drawn=len(np.unique(sample.drawn[known])),
    )


def _residuals(sample: Sample, centred: Floats, rng: np.random.Generator) -> tuple[Floats, float]:
    known = sample.known
    labels, scores = sample.labels[known], centred[known]
    if known.all():
        return labels, 0.0
    units, index = np.unique(sample.drawn[known], return_inverse=True)
    folds = rng.permutation(np.arange(len(units)) % min(_FOLDS, len(units)))[index]
    slopes = np.zeros(len(labels))
    for fold in range(int(folds.max()) + 1):
        slopes[folds == fold] = _slope(labels[folds != fold], scores[folds != fold])
    return labels - slopes * scores, float(slopes.mean())


def _slope(labels: Floats, scores: Floats) -> float:
    spread = float(scores.var(ddof=1)) if len(scores) > 1 else 0.0
    if spread <= _ROUNDING * float(np.square(scores).max(initial=0.0)):
        return 0.0
    return float(np.cov(labels, scores)[0, 1]) / spread


class _Total:
    """A weighted total of residuals, with its error by design."""

    def __init__(self, sample: Sample, residuals: Floats, predicted: Floats, target: Target) -> None:
        known, scored = sample.known, len(sample.scores)
        strata = sample.strata[known]
        sizes = np.bincount(sample.strata)
        counts = np.bincount(strata, minlength=len(sizes))
        held = sizes * (counts > 0)
        weights = (held / held.sum() / np.maximum(counts, 1))[strata]
        means = np.bincount(strata, residuals, len(sizes)) / np.maximum(counts, 1)
        self.value = float((weights * residuals).sum())
        around = weights * (residuals - means[strata])
        self.is_flat = float(np.abs(residuals - means[strata]).max()) <= _ROUNDING * (
            1 + float(np.abs(residuals).max())
        )
        self.is_whole = bool(known.all()) and target == "test-set"
        units, first, index = np.unique(sample.drawn[known], return_index=True, return_inverse=True)
        self.parts: Floats = np.bincount(index, around, len(units)).astype(np.float64)
        self.strata = strata[first]
        drawn = np.bincount(self.strata, minlength=len(sizes))
        _, one = np.unique(sample.drawn, return_index=True)
        there = np.bincount(sample.strata[one], minlength=len(sizes))
        self.left = np.where(there > 0, 1 - drawn / np.maximum(there, 1), 0.0)
        if target == "test-set":
            self.error = math.sqrt(float(_variances(self.parts, self.strata) @ self.left))
            self.units = len(units)
        else:
            clusters, of_all = np.unique(sample.clusters, return_inverse=True)
            psi: Floats = np.bincount(of_all, predicted / scored, len(clusters)).astype(np.float64)
            psi += np.bincount(of_all[known], around, len(clusters))
            _, one = np.unique(sample.clusters, return_index=True)
            self.error = math.sqrt(float(_variances(psi, sample.strata[one]).sum()))
            shares = np.bincount(of_all) / scored
            even = int(1 / np.square(shares).sum())  # so many clusters of equal size say as much
            self.units = min(len(np.unique(sample.clusters[known])), even)
        self.freedom = max(self.units - len(np.unique(strata)), 1)

    def interval(self, rng: np.random.Generator) -> Interval | None:
        if self.is_whole:
            return Interval(self.value, self.value)
        if self.is_flat or not self.error:
            return None
        from scipy.special import stdtrit

        tail = 0.025 * min(1.0, max(self.units, LEAST) / SAFE)
        student = float(stdtrit(self.freedom, 1 - tail))
        low, high = self._bootstrapped(tail, rng)
        reach = _MOST_REACH * student
        return Interval(
            self.value - self.error * min(max(high, student), reach),
            self.value + self.error * min(max(-low, student), reach),
        )

    def _bootstrapped(self, tail: float, rng: np.random.Generator) -> tuple[float, float]:
        totals, squares = np.zeros(_RESAMPLES), np.zeros(_RESAMPLES)
        for stratum in np.unique(self.strata):
            own = self.parts[self.strata == stratum]
            if len(own) < 2:
                continue
            again = own[rng.integers(0, len(own), (_RESAMPLES, len(own)))]
            sums = again.sum(axis=1)
            totals += sums
            squares += (
                len(own) / (len(own) - 1) * np.maximum(np.square(again).sum(axis=1) - sums**2 / len(own), 0.0)
            )
        errors = np.sqrt(squares)
        is_constant = errors <= _ROUNDING * np.abs(self.parts).max()
        ratios = np.where(is_constant, np.copysign(np.inf, totals), totals / np.where(is_constant, 1, errors))
        low, high = np.quantile(ratios, [tail, 1 - tail], method="nearest")
        return float(low), float(high)


def _variances(parts: Floats, strata: Ints) -> Floats:
    counts = np.bincount(strata)
    sums, squares = np.bincount(strata, parts), np.bincount(strata, parts**2)
    around = squares - sums**2 / np.maximum(counts, 1)
    return np.asarray(np.maximum(around, 0) * counts / np.maximum(counts - 1, 1))


Bools = NDArray[np.bool_]

_GRID: Final = 200  # bounds that are tried from each start
_STARTS: Final = 3
_MOST_STAKE: Final = 0.95  # of all that may be lost at once


@frozen
class Labelled:
    """Translations with a score and a label."""

    scores: Floats  # of each translation; higher is better
    bad: Bools
    # number of its source segment, or of its document; translations of one are not independent
    groups: NDArray[np.int64]

    def __post_init__(self) -> None:
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

    None where nothing can be shown: there are too few labels, or too many are bad. `risk`: share that may be
    bad, above 0 and below 1.
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
    from scipy.stats import binom

    n = labels_needed(risk, level)
    while binom.cdf(math.ceil(n * risk / 2), n, risk) > level:
        n = math.ceil(n * 1.05)
    return n


def _p_value(labelled: Labelled, bound: float, risk: float, level: float) -> float:
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

    `shares`: of independent groups, each from 0 to 1.
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
