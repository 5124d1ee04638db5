"""Agreement of annotators: beyond chance, with a majority, of scores, and of a judge in a person's place.

Cohen's and Fleiss' kappa, Krippendorff's alpha, percentage agreement with the majority, MENT's and the ESA
paper's agreement of two annotators, the alternative-annotator test, and every two annotators' correlation
in one pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import combinations
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from adjudge.core.frozen import frozen
from adjudge.errors import UsageError
from adjudge.stats.bootstrap import (
    NO_INTERVAL,
    Draws,
    beyond_chance,
    estimate,
    mean_of,
    percentile_intervals,
    unit_draws,
)
from adjudge.stats.correlation import kendall_c, pearson, pearson_values, tau_c_values
from adjudge.stats.judged import Floats, Result, judged

_ONE_LABEL = "only one label was ever given, so chance agrees as often"


def cohen_kappa(first: Floats, second: Floats, draws: Draws = NO_INTERVAL) -> Result:
    """Cohen's kappa of two annotators.

    kappa = (p_o - p_e) / (1 - p_e), p_o the share of units with equal labels, p_e that share if each kept
    its own distribution of labels and labelled at random

    Cohen 1960; unweighted; `sklearn.metrics.cohen_kappa_score` to rounding. A tie (E) is a label like the
    others. Units that one of the two did not judge are left out; `n` counts the others. No value where both
    gave one and the same label throughout.

    `first`: labels of the units, NaN where not judged.
    """
    judged = ~np.isnan(first) & ~np.isnan(second)
    if not judged.any():
        return Result(value=None, n=0, reason="no unit was judged by both")
    known, _ = label_counts(np.stack([first[judged], second[judged]], axis=1))
    a, b = ((labels[judged][:, None] == known).astype(np.float64) for labels in (first, second))
    agreed = (a * b).sum(axis=1)

    def statistic(counts: Floats) -> Floats:
        n = counts.sum(axis=1)
        return beyond_chance(counts @ agreed / n, ((counts @ a) * (counts @ b)).sum(axis=1) / n**2)

    return estimate(statistic, judged, draws, _ONE_LABEL)


def fleiss_kappa(labels: Floats, draws: Draws = NO_INTERVAL) -> Result:
    """Fleiss' kappa of any number of annotators, who need not be the same for every unit.

    kappa = (P - P_e) / (1 - P_e); P the mean over units of the share of pairs of annotators with equal
    labels, P_e the sum of the squared shares of all labels

    Fleiss 1971, whose example comes to 0.430; FiRE, table 1; `statsmodels` to rounding. Where units have
    different numbers of labels, each unit counts once in P, and each label once in P_e. Units with fewer
    than two labels are left out; `n` counts the others. No value where there is one label only.

    `labels`: units by annotators, NaN where not judged.
    """
    counted = label_counts(labels)[1]
    kept = counted.sum(axis=1) >= 2
    if not kept.any():
        return Result(value=None, n=0, reason="no unit was judged twice")
    counted = counted[kept]
    sizes = counted.sum(axis=1)
    agreed = (counted * (counted - 1)).sum(axis=1) / (sizes * (sizes - 1))

    def statistic(counts: Floats) -> Floats:
        shares = counts @ counted / (counts @ sizes)[:, None]
        return beyond_chance(counts @ agreed / counts.sum(axis=1), (shares**2).sum(axis=1))

    return estimate(statistic, kept, draws, _ONE_LABEL)


def label_counts(labels: Floats) -> tuple[Floats, Floats]:
    """The labels that occur, in their order, and how often each unit has each of them.

    `labels`: units by annotators, NaN where not judged.
    """
    known = np.unique(labels[~np.isnan(labels)])
    counted = np.zeros((len(labels), len(known)))
    for place, label in enumerate(known):
        counted[:, place] = (labels == label).sum(axis=1)
    return known, counted


Level = Literal["nominal", "ordinal", "interval"]
"""How far two values differ: all alike, by the values that lie between them, by their difference."""
LEVELS: Final[tuple[Level, ...]] = get_args(Level)


def krippendorff_alpha(labels: Floats, level: Level = "nominal", draws: Draws = NO_INTERVAL) -> Result:
    """Krippendorff's alpha.

    alpha = 1 - D_o / D_e; D_o the mean difference within units over pairs of values, each unit with m
    values weighing its pairs by 1 / (m - 1); D_e the mean difference of all pairs of values put together

    Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", whose example with missing values comes
    to 0.743 nominal, 0.815 ordinal and 0.849 interval; the `krippendorff` package to rounding. Units with
    fewer than two values are left out; `n` counts the others. No value where all values are equal.

    `labels`: units by annotators, NaN where not judged.
    """
    if level not in LEVELS:
        raise UsageError(f"level must be one of {', '.join(LEVELS)}; got {level!r}")
    kept = (~np.isnan(labels)).sum(axis=1) >= 2
    if not kept.any():
        return Result(value=None, n=0, reason="no unit was judged twice")
    known, places = np.unique(labels[kept], return_inverse=True)
    places = places.reshape(-1, labels.shape[1])
    units, columns = np.nonzero(~np.isnan(labels[kept]))
    values = _Values(known=known[~np.isnan(known)], units=units, places=places[units, columns])

    def statistic(counts: Floats) -> Floats:
        return np.array([values.alpha(drawn, level) for drawn in counts])

    return estimate(statistic, kept, draws, "all values are equal, so nothing could have differed")


@frozen
class _Values:
    known: Floats
    units: NDArray[np.intp]
    places: NDArray[np.intp]

    @cached_property
    def sizes(self) -> Floats:
        return np.bincount(self.units).astype(np.float64)

    @cached_property
    def unlike(self) -> Floats:
        pairs, times = np.unique(self.units * len(self.known) + self.places, return_counts=True)
        return self.sizes**2 - np.bincount(pairs // len(self.known), weights=times.astype(np.float64) ** 2)

    def alpha(self, drawn: Floats, level: Level) -> float:
        """Alpha of one draw, in time linear in the values; NaN where all are equal.

        With squared differences of places p, all pairs of m values come to 2 (m sum p^2 - (sum p)^2).
        """
        totals = np.bincount(self.places, weights=drawn[self.units], minlength=len(self.known))
        if np.count_nonzero(totals) < 2:
            return np.nan
        n, weights = float(totals.sum()), drawn / (self.sizes - 1)
        if level == "nominal":
            return 1 - (n - 1) * float(weights @ self.unlike) / (n**2 - float(totals @ totals))
        at = self.known if level == "interval" else np.cumsum(totals) - totals / 2
        at = at - float(totals @ at) / n  # so that squares of large places lose no digits
        each = at[self.places]
        sums = np.bincount(self.units, weights=each)
        squares = np.bincount(self.units, weights=each**2)
        observed = float(weights @ (self.sizes * squares - sums**2))
        return 1 - (n - 1) * observed / (n * float(totals @ at**2))


Bools = NDArray[np.bool_]

MAJORITY: Final = "majority"


@frozen
class Share:
    """Agreement on some of the pairs."""

    pairs: str  # which, such as `ranked easy`
    against: str  # `majority`, or a person's name
    agreement: Result  # share of them with the same verdict, 0 to 1


def majority(gold: Floats) -> Floats:
    """The verdict that most people gave; NaN where two verdicts lead equally, or nobody judged.

    Three people with three verdicts have no majority, and the pair is left out (FiRE, section 3.2).

    `gold`: pairs by people: 1 for the first system, 0 for a tie, -1 for the second, NaN for no verdict.
    """
    known, counted = label_counts(gold)
    if not len(known):
        return np.full(len(gold), np.nan)
    most = counted.max(axis=1)
    leads = (counted == most[:, None]).sum(axis=1) == 1
    return np.where(leads & (most > 0), known[counted.argmax(axis=1)], np.nan)


def percentage_agreement(
    judge: Floats, gold: Floats, names: Sequence[str], draws: Draws, levels: Floats | None = None
) -> list[Share]:
    """Share of pairs on which a judge gives the verdict of the majority.

    Ranked: the majority prefers one translation; tied: it does not. Easy: all who judged gave the same
    verdict, at least two of them; hard: they did not. `levels` count before that: a benchmark may tell levels
    and the majority alone. FiRE, tables 2, 3, 4, 9, 12 and 17. Against one person, on the pairs that the
    majority ranks and this person judged (table 12).

    Pairs without a majority, and those that the judge failed, are left out; `n` counts the others. A share
    is not corrected for chance: a judge that never says "equal" agrees on ranked pairs more often.

    `judge`: verdicts of the judge, NaN where there is none. `levels`: of the pairs, 1 for easy, 0 for hard,
    NaN where it is not told.
    """
    wanted = majority(gold)
    known = label_counts(gold)[1]
    easy = np.where(known.sum(axis=1) >= 2, (known > 0).sum(axis=1) == 1, np.nan)
    if levels is not None:
        easy = np.where(np.isnan(levels), easy, levels)
    ranked, tied = np.abs(wanted) == 1, wanted == 0
    found = [
        Share(pairs=pairs, against=MAJORITY, agreement=_agreement(judge, wanted, chosen, draws))
        for pairs, chosen in _subsets(ranked, tied, easy == 1, easy == 0)
    ]
    if gold.shape[1] == 1:
        return found
    return found + [
        Share(pairs="ranked", against=name, agreement=_agreement(judge, column, ranked, draws))
        for name, column in zip(names, gold.T, strict=True)
    ]


def _subsets(ranked: Bools, tied: Bools, easy: Bools, hard: Bools) -> Iterator[tuple[str, Bools]]:
    yield "all", ranked | tied
    for name, chosen in (("ranked", ranked), ("tied", tied)):
        yield name, chosen
        if (easy | hard).any():
            yield f"{name} easy", chosen & easy
            yield f"{name} hard", chosen & hard


def _agreement(judge: Floats, wanted: Floats, chosen: Bools, draws: Draws) -> Result:
    judged = chosen & ~np.isnan(judge) & ~np.isnan(wanted)
    return mean_of(np.where(judged, judge == wanted, np.nan), draws, "there is no such pair with a verdict")


def system_profile(first: Floats, second: Floats) -> Result:
    """MENT's agreement of two annotators: Pearson of their sums by system over the segments they share.

    r = Pearson(sum over k of first[:, k], sum over k of second[:, k])

    MENT (the RATE paper), appendix A.3 and figure 3. k runs over the segments on which both judged every
    system that both judged anywhere; `n` counts them, `groups` the systems. Undefined where fewer than two
    systems are left, or the sums of one are all equal.

    `first`: scores of one annotator, systems by segments, NaN where not judged.
    """
    both = ~np.isnan(first) & ~np.isnan(second)
    systems = both.any(axis=1)
    shared = both[systems].all(axis=0) if systems.any() else np.zeros(both.shape[1], dtype=bool)
    n = int(shared.sum())
    if not n:
        return Result(value=None, n=0, reason="no segment has all its systems judged by both")
    sums = [scores[systems][:, shared].sum(axis=1) for scores in (first, second)]
    return replace(pearson(*sums), n=n, groups=int(systems.sum()))


OF_SCORES: Final[Mapping[str, Callable[[Floats, Floats], Result]]] = {
    "Pearson": pearson,
    "Kendall tau-c": kendall_c,
    "Pearson of system sums": system_profile,
    "Pearson by segment": partial(pearson, average="item"),
}
"""Measures of two annotators' scores, systems by segments.

Pearson and Kendall's tau-c over all translations: the ESA paper, table 4, where ties are many. The other two:
MENT, figures 3 and 7.
"""


def error_recall(first: Floats, second: Floats, draws: Draws = NO_INTERVAL) -> Result:
    """Share of translations that both annotators marked, or neither did.

    The ESA paper, table 4, where it is called recall; of any error, and of minor and major ones alone.
    Symmetric, and not corrected for chance: where errors are rare, two who mark at random agree often.

    `first`: of each translation, how many such errors one annotator marked; NaN where not judged.
    """
    alike = np.where(~np.isnan(first) & ~np.isnan(second), (first > 0) == (second > 0), np.nan)
    return mean_of(alike, draws, "no translation was judged by both")


Alignment = Literal["accuracy", "rmse"]
"""How near a label is to those of the others: the share of equal ones, or minus the root mean square."""
ALIGNMENTS: Final[tuple[Alignment, ...]] = get_args(Alignment)

FEWEST: Final = 30
"""Units that a person needs for the t-test, as its authors ask."""


@frozen
class Opponent:
    """The judge against one person, by the labels of the other people."""

    person: str  # who was left out
    n: int  # units that the person, the judge and at least one other person labelled
    judge: float  # share of them on which the judge is as near to the others as the person, or nearer
    human: float  # share on which the person is as near as the judge, or nearer
    # of the one-sided t-test that the judge is worse by epsilon or more; None where n is too small
    p: float | None
    beaten: bool  # whether that is rejected, with p-values corrected for their number


@frozen
class AlternativeTest:
    """Outcome of the test."""

    # whether the judge beats at least half of the people; None where nobody has enough units
    passes: bool | None
    winning_rate: float | None  # share of people beaten, omega; None where nobody has enough units
    advantage: float | None  # mean of the judge's shares, rho; None where nobody has enough units
    epsilon: float  # by how much a judge may be worse, for being cheaper
    opponents: tuple[Opponent, ...]


def alternative_annotator_test(
    judge: Floats,  # labels of the judge, NaN where there is none
    people: Floats,
    names: Sequence[str],
    *,
    alignment: Alignment = "accuracy",
    epsilon: float = 0.2,
    alpha: float = 0.05,
) -> AlternativeTest:
    """The alt-test of Calderon, Reichart and Dror 2025, "The Alternative Annotator Test for LLM-as-a-Judge".

    For each person left out: S(x) is the nearness of x's label to those of the other people on a unit;
    W_judge = 1 where S(judge) >= S(person), W_human = 1 where S(person) >= S(judge). A paired t-test rejects
    mean(W_human - W_judge) >= epsilon; p-values are corrected by Benjamini and Yekutieli. The judge passes if
    it beats at least half of the people. epsilon 0.2 is their choice for experts, 0.1 for crowd workers.

    Missing labels: a unit counts for a person if the person, the judge and another person labelled it. People
    with fewer than 30 such units are not tested. Equal differences throughout: p is 0 or 1.
    """
    if people.shape[1] < 2:
        raise UsageError(f"the alternative-annotator test needs two people or more, got {people.shape[1]}")
    if alignment not in ALIGNMENTS:
        raise UsageError(f"alignment must be one of {', '.join(ALIGNMENTS)}; got {alignment!r}")
    if not 0 <= epsilon < 1 or not 0 < alpha < 1:
        raise UsageError(f"epsilon lies in 0 to 1 and alpha between them, got {epsilon} and {alpha}")
    duels = [_duel(judge, people, left_out, alignment) for left_out in range(people.shape[1])]
    p_values = [_p_value(wins, epsilon) if len(wins) >= FEWEST else None for wins in duels]
    beaten = _rejected(p_values, alpha)
    opponents = tuple(
        Opponent(
            person=name,
            n=len(wins),
            judge=float(wins[:, 0].mean()) if len(wins) else 0.0,
            human=float(wins[:, 1].mean()) if len(wins) else 0.0,
            p=p,
            beaten=lost,
        )
        for name, wins, p, lost in zip(names, duels, p_values, beaten, strict=True)
    )
    tested = [o for o in opponents if o.p is not None]
    if not tested:
        return AlternativeTest(
            passes=None, winning_rate=None, advantage=None, epsilon=epsilon, opponents=opponents
        )
    rate = sum(o.beaten for o in tested) / len(tested)
    return AlternativeTest(
        passes=rate >= 0.5,
        winning_rate=rate,
        advantage=sum(o.judge for o in tested) / len(tested),
        epsilon=epsilon,
        opponents=opponents,
    )


def _duel(judge: Floats, people: Floats, left_out: int, alignment: Alignment) -> Floats:
    person, others = people[:, left_out], np.delete(people, left_out, axis=1)
    judged = ~np.isnan(judge) & ~np.isnan(person) & ~np.isnan(others).all(axis=1)
    ours, theirs = (_nearness(x[judged], others[judged], alignment) for x in (judge, person))
    return np.stack([ours >= theirs, theirs >= ours], axis=1).astype(np.float64)


def _nearness(labels: Floats, others: Floats, alignment: Alignment) -> Floats:
    """How near each label is to the others' labels of its unit; rounded, so that noise decides nothing."""
    n = (~np.isnan(others)).sum(axis=1)
    if alignment == "accuracy":
        return np.asarray((others == labels[:, None]).sum(axis=1) / n)
    squares = np.nansum((others - labels[:, None]) ** 2, axis=1)
    return np.asarray(np.round(-np.sqrt(squares / n), 10))


def _p_value(wins: Floats, epsilon: float) -> float:
    from scipy.stats import ttest_1samp

    differences = wins[:, 1] - wins[:, 0]
    if np.ptp(differences) == 0:
        return float(differences[0] >= epsilon)
    return float(ttest_1samp(differences, epsilon, alternative="less").pvalue)


def _rejected(p_values: Sequence[float | None], alpha: float) -> list[bool]:
    tested = sorted(p for p in p_values if p is not None)
    penalty = sum(1 / rank for rank in range(1, len(tested) + 1))
    passing = [p for rank, p in enumerate(tested, start=1) if p <= rank * alpha / (len(tested) * penalty)]
    bound = max(passing, default=-1.0)
    return [p is not None and p <= bound for p in p_values]


_SUMS = 6  # n, x, y, xx, yy, xy


@frozen
class PairAgreement:
    """How alike two annotators score the translations that both of them judged."""

    between: tuple[str, str]
    pearson: Result  # Pearson's r over all translations, with its interval; or why there is none
    kendall: float | None  # Kendall's tau-c over the same; None where it is not defined


def agreement_matrix(
    scores: Mapping[str, Floats], *, resamples: int = 1000, seed: int = 0
) -> list[PairAgreement]:
    """Pearson's r and Kendall's tau-c of every two annotators.

    Intervals of r: percentile bootstrap over segments, drawn whole with all their systems, since translations
    of one source are no independent units. All pairs see the same draws. The ESA paper, table 4, has both
    measures.

    `scores`: annotator to systems by segments, all of one shape; NaN where not judged. `resamples`: number of
    draws; 0 for no intervals.
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
    known = grid[~np.isnan(grid)]
    if not len(known):
        return grid
    return np.asarray((grid - known.mean()) / (known.std() or 1.0))


def _sums(x: Floats, y: Floats) -> Floats:
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
