"""`compare`: how much better one of two systems is on the same segments, and how sure that is.

Three steps: bounds of the difference of two means, which hold for few units and skewed scores
(`difference_bounds`); the difference with its p-value and effect size (`difference`); and that on what is
judged in both, whole, by language pair and by domain (`compare_scores`). `compare` reads files for all
this. A unit is a segment or a document: what varies independently.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from adjudge.analysis.score import Place, Source, is_same_file, scored
from adjudge.analysis.segment_scores import (
    ScoreMatrix,
    Totals,
    coverage_note,
    score_matrix,
    untranslated_note,
)
from adjudge.core.columns import Column, Framed
from adjudge.core.scores import INTERVAL, Interval, Scores, Signature
from adjudge.core.verb import ByDocument, Names, OneAnnotator, Option, Resamples, Seed, settings, takes
from adjudge.core.wording import count, form, of_all
from adjudge.errors import DataError, UsageError
from adjudge.stats.bootstrap import LEVEL, lone_unit_note, unit_draws
from adjudge.stats.judged import Floats
from adjudge.stats.paired import (
    enlarged,
    holm,
    is_exact,
    sign_flip_p_values,
    signed_rank_p_value,
    smallest_p_value,
)

__all__ = [
    "ENOUGH_UNITS",
    "FEW_UNITS",
    "LEAST",
    "PAIRED_TESTS",
    "CompareSettings",
    "Comparison",
    "PairedTest",
    "Side",
    "Stratum",
    "Unseen",
    "are_documents_known",
    "compare",
    "compare_scores",
    "difference",
    "difference_bounds",
    "effect",
    "effective_size",
    "every_part",
    "notes_of",
    "pairs_of",
    "parts_of",
    "side_by_side",
    "side_of",
    "unit_notes",
]


ENOUGH_UNITS: Final = 100
"""From so many units on the studentised bootstrap needs no help."""
FEW_UNITS: Final = 20
"""With fewer units the studentised bootstrap is left out: draws that hardly vary give it no ends."""

_CELLS: Final = 2**21  # of one block of weights: 16 MB
_ROUNDING: Final = 1e-12


@dataclass(frozen=True, kw_only=True)
class Unseen:
    """One more unit, as bad for either side as the scale of the scores allows.

    Args:
        low: lowest score of the scale.
        high: highest score.
        size: how much it weighs, in the unit of `Totals.sizes`.
    """

    low: float
    high: float
    size: float


@dataclass(frozen=True, kw_only=True)
class DifferenceBounds:
    """What the data say of the difference of two means, first less second.

    Args:
        value: the difference.
        error: its standard error; infinite for one unit, 0 where all units differ alike.
        units: segments or documents that vary independently.
        steps: set of draws of the studentised difference, sorted; none for few units.
        lows: sets of draws of the difference with one more unit that is bad for the first, each sorted.
        highs: the same, with one more unit that is bad for the second.
    """

    value: float
    error: float
    units: int
    steps: tuple[Floats, ...]
    lows: tuple[Floats, ...]
    highs: tuple[Floats, ...]

    def low(self, alpha: float) -> float:
        """Lower bound of the difference, one-sided at level 1 - alpha; minus infinity where there is none."""
        from scipy.special import stdtrit  # scipy.stats takes seconds to import

        if math.isinf(self.error):
            return -math.inf
        bounds = [_nth(draws, alpha) for draws in self.lows]
        if self.error:
            steps = [
                float(-stdtrit(self.units - 1, alpha)),
                *(-_nth(-draws[::-1], alpha) for draws in self.steps),
            ]
            bounds.append(self.value - max(steps) * self.error)
        return min(bounds, default=-math.inf)

    def high(self, alpha: float) -> float:
        """Upper bound of the difference, one-sided at level 1 - alpha; infinity where there is none."""
        return 0.0 - self._turned.low(alpha)  # no minus before a zero

    def p_above(self, value: float) -> float:
        """p-value behind "the difference is above `value`"; at most alpha where `low(alpha)` is above it."""
        from scipy.special import stdtr

        if math.isinf(self.error):
            return 1.0
        found = [_share(draws <= value, draws) for draws in self.lows]
        if self.error:
            step = (self.value - value) / self.error
            found.append(float(stdtr(self.units - 1, -step)))
            found += [_share(draws >= step, draws) for draws in self.steps]
        return max(found, default=1.0)

    def p_below(self, value: float) -> float:
        """p-value behind "the difference is below `value`"."""
        return self._turned.p_above(-value)

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of the difference; None for one unit."""
        if self.units < 2:
            return None
        if not self.error:  # the notes say that it has no width
            return Interval(self.value, self.value)
        return Interval(self.low((1 - LEVEL) / 2), self.high((1 - LEVEL) / 2))

    @property
    def _turned(self) -> DifferenceBounds:
        """The second less the first."""
        steps, lows, highs = (
            tuple(-draws[::-1] for draws in each) for each in (self.steps, self.highs, self.lows)
        )
        return replace(self, value=-self.value, steps=steps, lows=lows, highs=highs)


def _nth(draws: Floats, alpha: float) -> float:
    """The draw that so large a share lies below; `draws` are sorted."""
    place = max(1, math.floor(alpha * (len(draws) + 1) * (1 + 1e-12)))
    return float(draws[place - 1])


def _share(hits: NDArray[np.bool_], draws: Floats) -> float:
    return (int(hits.sum()) + 1) / (len(draws) + 1)


def difference_bounds(
    totals: Totals, unseen: Unseen | None = None, *, resamples: int = 1999, seed: int = 0
) -> DifferenceBounds:
    """Bound the difference of the means of two systems, both judged in every unit.

    Each bound is the widest, each p-value the largest, of these:

    - Student's t with units - 1 degrees of freedom. The standard error is that of two ratios of sums over
      units, linearised, so that documents may differ in length.
    - From 20 units on, the studentised bootstrap (Efron and Tibshirani 1993, chapter 12): units are drawn
      with replacement, and the draws' own t takes the place of Student's. It follows the skew of the scores.
    - With fewer than 100 units: a Bayesian bootstrap (Rubin 1981) in which the unit that is worst for the one
      side counts once more, with the weight 2 (1 - units / 100). Few units seldom show the tail.
    - With `unseen`: a Bayesian bootstrap with one more unit at the end of the scale. With units of one size
      this is Gaffke's bound (Gaffke 2005; Learned-Miller and Thomas 2020), which for 0 and 1 is that of
      Clopper and Pearson; no case is known in which it fails, though a proof is missing. It alone sees what
      no unit shows: where n units are without a catastrophe, up to 1 - alpha^(1/n) of all may be one.

    The errors of all this on WMT23's data are in docs/coverage.md.

    Args:
        totals: units by two.
        unseen: one more unit; None where the scale has no ends.
        resamples: draws.
        seed: of numpy's default generator.
    """
    units = len(totals.sums)
    means = totals.sums.sum(axis=0) / totals.sizes.sum(axis=0)
    value = float(means[0] - means[1])
    if units < 2:
        return DifferenceBounds(value=value, error=math.inf, units=units, steps=(), lows=(), highs=())
    rest = _rest(totals)
    error = float(np.sqrt((rest @ rest) * units / (units - 1)))
    ones: list[Sequence[_More]] = []
    if error and units < ENOUGH_UNITS:
        weight = 2 * (1 - units / ENOUGH_UNITS)
        seen = (int(rest.argmin()), int(rest.argmax()))
        ones.append([(weight * totals.sums[place], weight * totals.sizes[place]) for place in seen])
    if unseen is not None:
        ends = np.array([[unseen.low, unseen.high], [unseen.high, unseen.low]]) * unseen.size
        ones.append([(end, np.full(2, unseen.size)) for end in ends])
    drawn = [_with_one_more(totals, more, resamples, seed) for more in ones]
    return DifferenceBounds(
        value=value,
        error=error,
        units=units,
        steps=(_studentised(totals, resamples, seed),) if error and units >= FEW_UNITS else (),
        lows=tuple(low for low, _ in drawn),
        highs=tuple(high for _, high in drawn),
    )


def _rest(totals: Totals) -> Floats:
    """Each unit's part in the deviation of the difference; what is rounding is 0."""
    whole = totals.sizes.sum(axis=0)
    parts = (totals.sums - totals.sums.sum(axis=0) / whole * totals.sizes) / whole
    rest = parts[:, 0] - parts[:, 1]
    size = float(np.abs(totals.sums / whole).max(initial=0.0))
    return np.where(np.abs(rest) <= _ROUNDING * size, 0.0, rest)


def _studentised(totals: Totals, resamples: int, seed: int) -> Floats:
    """Draws of (difference in the draw less the difference) / standard error in the draw, sorted.

    With x = (sums and sizes of both systems) of a unit, a unit's residual in a draw is v'x, and the sum of
    their squares v'Qv, Q = sum of counts x x': ten products of units by draws, whatever the draw's means are.
    """
    center = totals.sums.sum(axis=0) / totals.sizes.sum(axis=0)
    sums = totals.sums - center * totals.sizes  # so that the difference to be drawn is 0
    size = float(np.abs(sums).max()) or 1.0
    x = np.stack([sums[:, 0] / size, totals.sizes[:, 0], sums[:, 1] / size, totals.sizes[:, 1]], axis=1)
    above = np.triu_indices(4)
    products = x[:, above[0]] * x[:, above[1]] * np.where(above[0] == above[1], 1.0, 2.0)
    units, found = len(x), list[Floats]()
    for counts in unit_draws(units, resamples, seed):
        drawn = counts @ x
        means = drawn[:, [0, 2]] / drawn[:, [1, 3]]
        parts = 1 / drawn[:, [1, 3]]
        v = np.stack(
            [parts[:, 0], -parts[:, 0] * means[:, 0], -parts[:, 1], parts[:, 1] * means[:, 1]], axis=1
        )
        squares = ((counts @ products) * v[:, above[0]] * v[:, above[1]]).sum(axis=1)
        gaps, errors = means[:, 0] - means[:, 1], np.sqrt(np.maximum(squares, 0) * units / (units - 1))
        still = errors <= 1e-7 * np.abs(parts).max(axis=1)  # all units drawn differ alike
        steps = np.where(gaps == 0, 0.0, np.copysign(np.inf, gaps))
        np.divide(gaps, errors, out=steps, where=~still)
        found.append(steps)
    return np.sort(np.concatenate(found))


_More = tuple[Floats, Floats]
"""Sums and sizes of both systems that one more unit has."""


def _with_one_more(totals: Totals, more: Sequence[_More], resamples: int, seed: int) -> list[Floats]:
    """Draws of the difference in a Bayesian bootstrap with one more unit, sorted; one set for each."""
    found: list[list[Floats]] = [[] for _ in more]
    for weights in _weights(len(totals.sums) + 1, resamples, seed):
        sums, sizes, last = weights[:, :-1] @ totals.sums, weights[:, :-1] @ totals.sizes, weights[:, [-1]]
        for draws, (sum_, size) in zip(found, more, strict=True):
            means = (sums + last * sum_) / (sizes + last * size)
            draws.append(means[:, 0] - means[:, 1])
    return [np.sort(np.concatenate(draws)) for draws in found]


def _weights(units: int, resamples: int, seed: int) -> Iterator[Floats]:
    rng = np.random.default_rng(seed)
    rows = max(1, _CELLS // units)
    for start in range(0, resamples, rows):
        yield rng.standard_exponential((min(rows, resamples - start), units))


def effective_size(segments: Totals, units: Totals) -> float:
    """Independent segments that would give the same standard error as these documents, at most all segments.

    n se(segments)^2 / se(documents)^2, Kish's design effect turned round; the number of documents where no
    difference varies.
    """
    within, between = (_rest(totals) for totals in (segments, units))
    n, m = len(within), len(between)
    alone, together = (float(rest @ rest) for rest in (within, between))
    return float(min(n, n * alone / together)) if together else float(m)


PairedTest = Literal["permutation", "bootstrap", "wilcoxon"]
PAIRED_TESTS: Final[tuple[PairedTest, ...]] = get_args(PairedTest)
PAIRED_TITLES: Final[Mapping[PairedTest, str]] = {
    "permutation": "paired permutation test",
    "bootstrap": "paired bootstrap",
    "wilcoxon": "Wilcoxon signed-rank test",
}


@dataclass(frozen=True, kw_only=True)
class Effect:
    """How large a difference is, apart from how sure it is.

    Args:
        d_z: mean difference over the standard deviation of the differences; None where they do not vary.
        superiority: share of units where the first is better, half of the ties added; 0.5 is no effect.
        cliff: Cliff's delta, chance that any score of the first is above any of the second, less the
            opposite; from -1 to 1, and unlike the others not paired.
        wins: units where the first is better.
        ties: units where both are equal.
        losses: units where the second is better.
    """

    d_z: float | None
    superiority: float
    cliff: float
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The first system less the second. Above 0 the first is better.

    Args:
        first: mean of the first.
        second: mean of the second.
        value: first less second.
        interval: 95 % interval of that, by `difference_bounds`; None for one unit.
        p: two-sided p-value.
        effect: how large it is.
        units: segments, or documents, that were drawn or flipped.
        effective: independent segments that would be worth as much; `units` where those are segments.
    """

    first: float
    second: float
    value: float
    interval: Interval | None
    p: float
    effect: Effect
    units: int
    effective: float


def difference(
    totals: Totals,
    segments: Totals | None = None,
    *,
    test: PairedTest = "permutation",
    resamples: int = 1000,
    seed: int = 0,
) -> Difference:
    """Compare the two systems of `totals`, units by two, both judged in every unit.

    permutation: `paired.sign_flip_p_values` of the unit's parts in the means; also known as approximate
        randomisation (Riezler and Maxwell 2005). All flips up to 12 units. Flips take differences for
        symmetric; p is therefore at least that of the bootstrap, which follows the skew.
    bootstrap: twice the smaller of the one-sided p-values that go with the interval, at most 1: the interval
        leaves 0 out where p is at most 0.05. Koehn 2004 draws segments likewise and takes percentiles, which
        hold 0.86 to 0.88 for 0.95 with 15 segments.
    wilcoxon: `paired.signed_rank_p_value` of the unit's means: whether differences lie around 0, which is
        not the same as whether the means differ.

    Args:
        totals: of the two systems, by segment or by document.
        segments: the same by segment, for the effective size; None where `totals` is that.
        test: that p is of.
        resamples: draws of bootstrap and permutation.
        seed: of both.
    """
    bounds = difference_bounds(totals, resamples=resamples, seed=seed)
    first, second = (float(mean) for mean in totals.shares.mean(axis=0))
    return Difference(
        first=first,
        second=second,
        value=first - second,
        interval=bounds.interval,
        p=_p_value(totals, bounds, test, resamples, seed),
        effect=effect(totals.means),
        units=len(totals.sums),
        effective=len(totals.sums) if segments is None else effective_size(segments, totals),
    )


def _p_value(totals: Totals, bounds: DifferenceBounds, test: PairedTest, resamples: int, seed: int) -> float:
    if test == "permutation":
        shares = enlarged(totals.shares)
        gaps = shares[:, [0]] - shares[:, [1]]
        flipped = float(sign_flip_p_values(gaps, resamples=resamples, seed=seed)[0])
        return max(flipped, _two_sided(bounds)) if 0 < bounds.error < math.inf else flipped
    if test == "wilcoxon":
        means = enlarged(totals.means)
        return signed_rank_p_value(means[:, 0] - means[:, 1])
    return _two_sided(bounds)


def _two_sided(bounds: DifferenceBounds) -> float:
    return min(1.0, 2 * min(bounds.p_above(0), bounds.p_below(0)))


def effect(scores: Floats) -> Effect:
    """Size of the difference of two systems.

    d_z: Cohen 1988, on paired differences. Superiority: Grissom 1994. Delta: Cliff 1993. Scores are
    `enlarged` and rounded to ten decimals first, so that noise breaks no tie.

    Args:
        scores: units by two.
    """
    first, second = np.round(enlarged(scores), 10).T
    gaps = np.round(first - second, 10)
    wins, losses = int((gaps > 0).sum()), int((gaps < 0).sum())
    spread = float(gaps.std(ddof=1)) if len(gaps) > 1 else 0.0
    ordered = np.sort(second)
    below, upto = (np.searchsorted(ordered, first, side=side) for side in ("left", "right"))
    return Effect(
        d_z=float(gaps.mean()) / spread if spread > 0 else None,
        superiority=(wins + (len(gaps) - wins - losses) / 2) / len(gaps),
        cliff=float((below + upto).sum() / (len(gaps) * len(gaps)) - 1),
        wins=wins,
        ties=len(gaps) - wins - losses,
        losses=losses,
    )


def method_of(test: PairedTest, units: int, of: str, resamples: int, seed: int) -> str:
    """Say how p and interval came about."""
    flips = f", {'all' if is_exact(units) else f'{resamples:,}'} sign flips" if test == "permutation" else ""
    parts = [f"Student's t over {of}"]
    if units >= FEW_UNITS:
        parts.append("studentised bootstrap")
    if units < ENOUGH_UNITS:
        parts.append(f"Bayesian bootstrap with one more of the {of} like the worst seen")
    if test == "permutation":
        flips += ", at least the p of the interval"
    return (
        f"95 % interval: the widest of {', '.join(parts)} ({resamples:,} resamples); two-sided p by "
        f"{PAIRED_TITLES[test]}{flips}; seed {seed}"
    )


class Part(NamedTuple):
    """Some of the segments: name, kind of that name, and which rows they are."""

    name: str
    kind: str
    rows: NDArray[np.bool_]


LEAST: Final = 10
"""Segments of a stratum; of fewer, no difference is said."""

_ALPHA: Final = 0.05


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the two that are compared.

    Args:
        name: of the system, or of the run where it has several systems or both have the same one.
        signature: of its scores.
        n: translations judged.
        failed: judgements asked for and not obtained.
        untranslated: segments that it did not translate.
    """

    name: str
    signature: Signature
    n: int
    failed: int
    untranslated: int = 0

    @property
    def counted(self) -> str:
        """Its counts in words."""
        holes = f"{self.untranslated:,} not translated, " if self.untranslated else ""
        return f"{self.name}: {self.n:,} judged, {holes}{self.failed:,} failed"


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """The difference on some of the segments.

    Args:
        name: `all`, a language pair or a domain.
        kind: what the name is.
        n: segments that both were judged on.
        difference: first less second.
        p_holm: p corrected for the number of strata, where that was asked for.
    """

    name: str
    kind: str
    n: int
    difference: Difference
    p_holm: float | None = None


@dataclass(frozen=True, kw_only=True)
class Comparison(Framed):
    """Two systems on the segments that both were judged on.

    Args:
        first: one of them.
        second: the other one.
        whole: the difference on all common segments.
        strata: the difference for each language pair, and for each domain, where there are several.
        method: how interval and p came about.
        notes: what a reader must know: segments left out, failures, few units.
    """

    first: Side
    second: Side
    whole: Stratum
    strata: tuple[Stratum, ...] = ()
    method: str = ""
    notes: tuple[str, ...] = ()

    def groups(self) -> dict[str, tuple[Stratum, ...]]:
        """All segments, then each language pair and each domain."""
        return {"": (self.whole, *self.strata)}

    def columns(self) -> list[Column]:
        """The columns of `adjudge compare`."""
        corrected = any(row.p_holm is not None for row in (self.whole, *self.strata))
        effect = "difference.effect"
        return [
            Column("kind", "what the name is", title=""),
            Column("name", "all, a language pair or a domain", title="segments"),
            Column(
                "first", "mean of the first system", "score", of="difference.first", title=self.first.name
            ),
            Column(
                "second", "mean of the second system", "score", of="difference.second", title=self.second.name
            ),
            Column("difference", "first less second", "score", of="difference.value"),
            replace(INTERVAL, of="difference.interval"),
            Column("p", "p-value of no difference, two-sided", "p", of="difference.p"),
            Column(
                "p_holm",
                "p corrected by Holm for the number of rows",
                "p",
                title="p (Holm)" if corrected else "",
            ),
            Column(
                "d_z", "mean over standard deviation of differences", "decimal", of=f"{effect}.d_z", digits=2
            ),
            Column(
                "superiority",
                "share of units in which the first is better, ties counting half",
                "percent",
                of=f"{effect}.superiority",
                title="better in",
            ),
            Column("cliff", "Cliff's delta", "decimal", of=f"{effect}.cliff", title="delta", digits=2),
            Column("wins", "units where the first is better", "count", of=f"{effect}.wins", title=""),
            Column("ties", "units where none is", "count", of=f"{effect}.ties", title=""),
            Column("losses", "units where the second is better", "count", of=f"{effect}.losses", title=""),
            Column("n", "segments that both were judged on", "count"),
        ]


@settings
class CompareSettings(OneAnnotator):
    """How to compare."""

    systems: Annotated[Names | None, Option(help="Two systems of one run, or one of each of two: A,B.")] = (
        None
    )
    test: Annotated[
        PairedTest, Option(help="Test of the p-values: of means (permutation, bootstrap) or of ranks.")
    ] = "permutation"
    by_document: ByDocument = None
    holm: Annotated[bool, Option(help="Correct the p-values of language pairs and domains as well.")] = False
    resamples: Resamples = 1000
    seed: Seed = 0


def compare_scores(
    first: Scores,
    second: Scores,
    systems: Sequence[str] | None = None,
    *,
    settings: CompareSettings | None = None,
    domains: Mapping[Place, str] | None = None,
) -> Comparison:
    """Compare two systems on the segments that both were judged on.

    Without `systems`, each side is expected to have one. Where they have several, those that both have are
    compared, and a segment's score is the mean over those of its systems that were judged in both, since
    translations of one segment are not independent of each other.

    Args:
        first: scores that hold the first system.
        second: scores that hold the second; may be the same.
        systems: name of the first and of the second.
        settings: how to compare.
        domains: of segments, for the strata.

    Raises:
        DataError: nothing is judged in both.
        UsageError: no such system, none in common, or no documents where they are wanted.
    """
    settings = settings or CompareSettings()
    pairs = pairs_of(first, second, systems)
    places, matrix, asked = side_by_side(first, second, pairs)
    if settings.by_document is None:
        settings = replace(settings, by_document=are_documents_known(matrix))
    parts, small = parts_of(places, domains or {})
    strata = [_stratum(p.name, p.kind, matrix.select(p.rows, (0, 1)), settings) for p in parts]
    if settings.holm:
        corrected = holm(np.array([stratum.difference.p for stratum in strata])).tolist()
        strata = [replace(s, p_holm=p) for s, p in zip(strata, corrected, strict=True)]
    whole = _stratum("all", "all", matrix, settings)
    names = pairs[0] if len(pairs) == 1 else ("first", "second")
    sides = [
        side_of(name, scores, {pair[index] for pair in pairs})
        for index, (name, scores) in enumerate(zip(names, (first, second), strict=True))
    ]
    units = whole.difference.units
    of = "documents" if settings.by_document else "segments"
    if strata and not settings.holm:
        told = f"The {len(strata)} p-values below the first are not corrected for their number; --holm does."
        small.append(told)
    return Comparison(
        first=sides[0],
        second=sides[1],
        whole=whole,
        strata=tuple(strata),
        method=method_of(settings.test, units, of, settings.resamples, settings.seed),
        notes=(
            *notes_of(first, second, pairs),
            *_coverage_notes(asked - len(places), asked, len(pairs)),
            *unit_notes(whole.n, units, whole.difference.effective, by_document=bool(settings.by_document)),
            *_power_notes(whole.difference, settings),
            *small,
        ),
    )


def pairs_of(first: Scores, second: Scores, systems: Sequence[str] | None) -> list[tuple[str, str]]:
    """Systems to compare, first and second."""
    here, there = (list(dict.fromkeys(s.system for s in scores.segments)) for scores in (first, second))
    if systems is not None:
        if len(systems) != 2:
            raise UsageError(f"two systems are compared, got {len(systems)}: {', '.join(systems) or 'none'}")
        for name, known in zip(systems, (here, there), strict=True):
            if name not in known:
                raise UsageError(f"there is no system {name!r}; there are {', '.join(known)}")
        if first is second and systems[0] == systems[1]:
            raise UsageError(f"{systems[0]!r} would be compared with itself")
        return [(systems[0], systems[1])]
    if len(here) == len(there) == 1:
        return [(here[0], there[0])]
    common = [name for name in here if name in there]
    if not common:
        raise UsageError(
            f"no system is in both: the first has {', '.join(here)}, the second {', '.join(there)}; "
            "name one of each with --systems A,B"
        )
    return [(name, name) for name in common]


def side_by_side(
    first: Scores, second: Scores, pairs: Sequence[tuple[str, str]]
) -> tuple[list[Place], ScoreMatrix, int]:
    """Segments judged in both, their scores in two columns, and how many segments there are in all."""
    systems = [f"0{name}" for name, _ in pairs], [f"1{name}" for _, name in pairs]
    marked = [
        replace(s, system=f"{side}{s.system}")
        for side, scores in enumerate((first, second))
        for s in scores.segments
        if f"{side}{s.system}" in systems[side]
    ]
    matrix = score_matrix(marked)
    place = list(dict.fromkeys((s.lp, s.segment) for s in marked))
    columns = [[matrix.systems.index(name) for name in names] for names in systems]
    scores, weights = (np.stack([array[:, c] for c in columns]) for array in (matrix.scores, matrix.weights))
    known = ~np.isnan(scores).any(axis=0)
    sizes = np.where(known, weights, 0.0).sum(axis=2)
    rows = sizes.all(axis=0)
    if not rows.any():
        holes = len({(s.lp, s.segment) for s in marked if s.is_untranslated})
        hint = f"{count(holes, 'segment')} {form(holes, 'is', 'are')} not translated on one side"
        raise DataError(
            f"no segment is judged in both: {hint if holes else 'do the two judge the same test set?'}"
        )
    sums = np.where(known, weights * np.nan_to_num(scores), 0.0).sum(axis=2)
    return (
        [name for name, kept in zip(place, rows.tolist(), strict=True) if kept],
        ScoreMatrix(
            systems=("first", "second"),
            documents=tuple(d for d, kept in zip(matrix.documents, rows.tolist(), strict=True) if kept),
            scores=(sums[:, rows] / sizes[:, rows]).T,
            weights=sizes[:, rows].T,
        ),
        len(place),
    )


def _stratum(name: str, kind: str, matrix: ScoreMatrix, settings: CompareSettings) -> Stratum:
    segments = matrix.totals(by_document=False)
    documents = matrix.totals(by_document=True) if settings.by_document else None
    found = difference(
        *((segments,) if documents is None else (documents, segments)),
        test=settings.test,
        resamples=settings.resamples,
        seed=settings.seed,
    )
    return Stratum(name=name, kind=kind, n=len(matrix.scores), difference=found)


def parts_of(places: Sequence[Place], domains: Mapping[Place, str]) -> tuple[list[Part], list[str]]:
    """Language pairs and domains, where there are several of a kind; and what is said of too small ones."""
    found, small = [], []
    for part in every_part(places, domains):
        if part.rows.sum() >= LEAST:
            found.append(part)
        else:
            small.append(f"{part.name} is not compared alone: it has fewer than {LEAST} common segments.")
    return found, small


def every_part(places: Sequence[Place], domains: Mapping[Place, str]) -> Iterator[Part]:
    """Language pairs and domains, where there are several of a kind, however small."""
    kinds = {"lp": [lp for lp, _ in places], "domain": [domains.get(place, "") for place in places]}
    for kind, labels in kinds.items():
        names = [name for name in dict.fromkeys(labels) if name]
        for name in names if len(names) > 1 else []:
            yield Part(name, kind, np.array([label == name for label in labels]))


def side_of(name: str, scores: Scores, systems: set[str]) -> Side:
    """What is said of one side: how many of its translations were judged, and how many could not be."""
    parts = scores.lps.values() or [scores]
    rows = [system for part in parts for system in part.systems if system.system in systems]
    return Side(
        name=name,
        signature=scores.signature,
        n=sum(s.score is not None for s in scores.segments if s.system in systems),
        failed=sum(row.failed for row in rows),
        untranslated=sum(s.is_untranslated for s in scores.segments if s.system in systems),
    )


# Notes


def notes_of(first: Scores, second: Scores, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """What the scores say of themselves and of these systems, and whether they can be compared."""
    systems = {name for pair in pairs for name in pair}
    for scores in (first,) if first is second else (first, second):
        yield from untranslated_note(s for s in scores.segments if s.system in systems)
    parts = [part for each in (first, second) for part in (each, *each.lps.values())]
    every = {n for part in parts for tell in (coverage_note, untranslated_note) for n in tell(part.segments)}
    for note in dict.fromkeys((*first.notes, *second.notes)):
        if not any(note.endswith(each) for each in every):  # coverage and holes are of all systems
            yield note
    if not first.signature.is_comparable_with(second.signature):
        yield (
            "The signatures differ: the difference may be that of the judges or settings and not of the "
            f"systems ({first.signature}; {second.signature})."
        )
    if "corpus" in {s.signature.fields.get("level") for s in (first, second)}:
        yield "These are means of segment scores; corpus scores (`adjudge score`) cannot be resampled."


def _coverage_notes(dropped: int, asked: int, systems: int) -> Iterator[str]:
    if systems > 1:
        yield f"Each segment's score is the mean over the {systems} systems that both have."
    if dropped:
        which = of_all(dropped, asked, "segment")
        yield f"{which} {form(dropped, 'is', 'are')} not judged in both, and left out."


def are_documents_known(matrix: ScoreMatrix) -> bool:
    """Whether segments name two documents or more: then documents, and not segments, are drawn."""
    return len({key for key in matrix.documents if key[1]}) > 1


def unit_notes(n: int, units: int, effective: float, *, by_document: bool) -> Iterator[str]:
    """Say what varies independently, and how many such units there are.

    Args:
        n: segments.
        units: that vary independently.
        effective: independent segments that are worth as much.
        by_document: whether the units are documents.
    """
    if by_document:
        yield (
            f"Documents are the unit: {n:,} segments of {units:,} documents are worth about {effective:,.0f} "
            "independent segments. --by-segment takes segments as independent."
        )
    if 1 < units < FEW_UNITS:
        of = "documents" if by_document else "segments"
        yield f"With fewer than {FEW_UNITS} {of} intervals are wide on purpose, to err on the safe side."


def _power_notes(found: Difference, settings: CompareSettings) -> Iterator[str]:
    units = found.units
    yield from lone_unit_note(units, "documents" if settings.by_document else "segments")
    if found.interval is not None and found.interval.low == found.interval.high:
        yield "All differences are equal: the interval has no width and says nothing of other segments."
    least = (
        smallest_p_value(units - 1, settings.resamples) if is_exact(units) else 1 / (settings.resamples + 1)
    )
    if settings.test == "permutation" and least >= _ALPHA:
        yield f"Too few segments or documents, or resamples: p cannot be below {least:g}."


@takes(CompareSettings)
def compare(first: Source, second: Source | None, settings: CompareSettings) -> Comparison:
    """Compare two runs, or two systems of one, on the segments that both were judged on.

    Args:
        first: scores, a run, records, or the path of whatever holds judgements; the path of a test set with
            gold or metric.
        second: the same; None for two systems of the first.
        settings: how to compare.

    Raises:
        DataError: nothing is judged in both.
        UsageError: no such system, none in common, or a setting out of its range.
    """
    if second is None and settings.systems is None:
        raise UsageError("two systems of one run are compared by name: systems=(A, B); or give a second run")
    if second is not None and settings.is_of_test_set:
        raise UsageError("gold or metric is of one test set: give its path and two systems")
    one = scored(first, settings)
    other = one if second is None or is_same_file(first, second) else scored(second, settings)
    domains = {**other.domains, **one.domains}
    return compare_scores(one.scores, other.scores, settings.systems, settings=settings, domains=domains)
