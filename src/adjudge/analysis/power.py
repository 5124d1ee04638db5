"""How small a difference a number of judgements can show, and how many are needed to show one.

`Plan` answers without data, from spreads; `separations` from the judgements at hand, pair by pair of systems.
`power` does either.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Annotated, Final

import numpy as np
from annotated_types import Ge

from adjudge.analysis.compare import are_documents_known, side_by_side
from adjudge.analysis.score import Scored, Source, scored
from adjudge.analysis.segment_scores import score_matrix, score_records
from adjudge.core.columns import Column, Framed
from adjudge.core.frozen import frozen
from adjudge.core.record import grouped, rows_by_pair
from adjudge.core.scores import Scores, Signature
from adjudge.core.verb import Alpha, ByDocument, Names, Option, Resamples, Scoring, Seed, settings, takes
from adjudge.core.wording import of_sight
from adjudge.errors import UsageError
from adjudge.stats.judged import Floats
from adjudge.stats.paired import sign_flip_p_values, unit_differences

MOST_UNITS: Final = 1_000_000
"""Above that many segments nothing is simulated: such a difference is none for people."""
_CHANCES: Final = 64  # at which the spread of a pilot is tried


@frozen
class Plan:
    """A paired comparison of two systems: n segments, each translation judged by m annotators.

    The mean difference varies as sd(n, m) = sqrt((sd^2 + annotator_sd^2 / m) / n), and a two-sided t-test at
    alpha finds a true difference D, or hardly ever its opposite, with the chance that a noncentral t with
    u - 1 degrees of freedom and the noncentrality D / sd(n, m) lies outside of the test's bounds; u are the
    units, segments or documents. Where sd comes from a pilot, it is uncertain, and the chance is the mean
    over sd^2 (pilot - 1) / chi^2(pilot - 1) (Julious and Owen 2006): half of all pilots show too small a
    spread.
    """

    sd: float  # standard deviation, over segments, of the difference of the two systems
    segments: int  # how many are judged, for both systems
    annotators: int = 1
    # standard deviation, over annotators, of that difference on one segment. 0 where it is in `sd` already,
    # as it is in data with one annotator a translation.
    annotator_sd: float = 0.0
    alpha: float = 0.05  # of the two-sided test
    power: float = 0.8  # chance to be reached
    # segments of one unit that varies independently: 1, or the mean length of a document
    per_unit: float = 1.0
    pilot: int | None = None  # units that sd was found on; None where it is known

    def __post_init__(self) -> None:
        if not (0 <= self.sd < math.inf and 0 <= self.annotator_sd < math.inf):
            raise UsageError(f"a standard deviation is 0 or more, got {self.sd} and {self.annotator_sd}")
        if self.segments < 1 or self.annotators < 1:
            raise UsageError(
                f"at least one segment and one annotator, got {self.segments}, {self.annotators}"
            )
        if not (0 < self.alpha < 1 and 0 < self.power < 1):
            raise UsageError(f"alpha and power lie between 0 and 1, got {self.alpha} and {self.power}")

    @property
    def spread(self) -> float:
        """Standard deviation of the difference on one segment, with all its annotators."""
        return math.sqrt(self.sd**2 + self.annotator_sd**2 / self.annotators)

    @property
    def detectable(self) -> float:
        """Smallest true difference that is found with the wanted chance; infinite for one unit."""
        if self.spread == 0:
            return 0.0
        if self.segments < 2 * self.per_unit:
            return math.inf
        low, high = 0.0, self.spread / math.sqrt(self.segments)
        while self.power_for(high) < self.power:
            low, high = high, 2 * high
        while high - low > 1e-6 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if self.power_for(middle) >= self.power else (middle, high)
        return high

    def power_for(self, difference: float) -> float:
        """Chance to find a true difference, in whichever direction."""
        from scipy.special import chdtri, nctdtr, stdtrit  # scipy.stats takes seconds to import

        error = self.spread / math.sqrt(self.segments)
        if error == 0:
            return 1.0 if difference else self.alpha
        free = self.segments / self.per_unit - 1
        if free < 1:
            return self.alpha
        bound = -float(stdtrit(free, self.alpha / 2))
        factors = np.ones(1)
        if self.pilot is not None:
            chances = (np.arange(_CHANCES) + 0.5) / _CHANCES
            factors = np.sqrt(chdtri(self.pilot - 1, chances) / (self.pilot - 1))
        steps = abs(difference) / error * factors
        missed, wrong = nctdtr(free, steps, bound), nctdtr(free, steps, -bound)
        # scipy has no number where so few are missed, or found the wrong way round, that it cannot sum them
        return float((1 - np.nan_to_num(missed, nan=0.0) + np.nan_to_num(wrong, nan=0.0)).mean())

    def needed_for(self, difference: float) -> int | None:
        """Segments needed to find a true difference with the wanted chance; None where out of reach."""
        if difference == 0:
            return None
        if self.spread == 0:
            return 1

        def is_enough(segments: int) -> bool:
            return replace(self, segments=segments).power_for(difference) >= self.power

        return least_enough(is_enough, exact=True)


def variance_parts(differences: Floats) -> tuple[float, float] | None:
    """Standard deviations of the difference of two systems, over segments and over annotators.

    One-way analysis of variance with segments as groups (Searle et al. 1992): over annotators, the pooled
    spread within segments; over segments, what is left of the spread of segment means, 0 at least.

    None where no segment has two annotators, or fewer than two segments have any. `differences`: segments by
    annotators, first system less second; NaN where an annotator did not judge both.
    """
    counts = np.count_nonzero(~np.isnan(differences), axis=1)
    kept, counts = differences[counts > 0], counts[counts > 0]
    free = int((counts - 1).sum())
    if len(kept) < 2 or not free:
        return None
    means = np.nanmean(kept, axis=1)
    within = float(np.nansum((kept - means[:, None]) ** 2)) / free
    total = counts.sum()
    between = float(counts @ (means - counts @ means / total) ** 2) / (len(kept) - 1)
    size = (total - (counts**2).sum() / total) / (len(kept) - 1)
    return math.sqrt(max(0.0, (between - within) / size)), math.sqrt(within)


def simulated_power(
    differences: Floats, units: int, *, alpha: float = 0.05, resamples: int = 1000, seed: int = 0
) -> float:
    """Chance that so many units like those at hand show a difference, whichever way it points.

    Each time the units at hand get weights by the Bayesian bootstrap, for their spread is uncertain, too;
    with fewer than 100 at hand, which seldom show the tail, the most extreme counts once more with the weight
    2 (1 - units / 100), as in the bounds of a difference. So many units are drawn by these weights and tested
    by Student's t, which the permutation test follows closely. It takes the difference at hand for the
    true one. There is no power where so few units cannot reach alpha by sign flips.
    """
    from scipy.special import stdtrit  # scipy.stats takes seconds to import

    if 2.0 ** (1 - units) > alpha:
        return 0.0
    bound = -float(stdtrit(units - 1, alpha / 2))
    rng = np.random.default_rng(seed)
    values, times = np.unique(np.round(differences, 10), return_counts=True)
    mean, known = float(differences.mean()), int(times.sum())
    wider = math.sqrt((known + 1) / (known - 1)) if known > 1 else 1.0  # the mean spread is that at hand
    rest, found = wider * (values - mean), 0
    shape = times.astype(np.float64)
    shape[np.abs(rest).argmax()] += 2 * max(0.0, 1 - known / 100)
    for start in range(0, resamples, 100):
        weights = rng.standard_gamma(shape, size=(min(100, resamples - start), len(values)))
        weights /= weights.sum(axis=1, keepdims=True)
        shifts = mean - weights @ rest
        counts = rng.multinomial(units, weights)
        sums, squares = counts @ rest, counts @ (rest * rest)
        errors = np.sqrt(np.maximum(squares - sums * sums / units, 0) / (units - 1) / units)
        found += int(np.count_nonzero(np.abs(sums / units + shifts) > bound * errors))
    return found / resamples


def units_needed(
    differences: Floats, *, alpha: float = 0.05, power: float = 0.8, resamples: int = 1000, seed: int = 0
) -> int | None:
    """Units, like those at hand, after which a difference is found with the wanted chance.

    By simulation, to within three digits; None where more than `MOST_UNITS` would be needed.
    """

    def is_enough(units: int) -> bool:
        return power <= simulated_power(differences, units, alpha=alpha, resamples=resamples, seed=seed)

    return least_enough(is_enough)


def least_enough(is_enough: Callable[[int], bool], *, exact: bool = False) -> int | None:
    """The least number that is enough, by doubling and halving; None beyond `MOST_UNITS`."""
    low, high = 0, 1
    while not is_enough(high):
        low, high = high, high * 2
        if low >= MOST_UNITS:
            return None
    while high - low > (1 if exact else max(1, high // 1000)):
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


@settings
class PowerSettings(Scoring):
    """What is planned, and how much power is wanted."""

    systems: Annotated[
        Names | None, Option(help="Two systems: A,B; default: each system and the next best.", kind=None)
    ] = None
    sd: Annotated[
        float | None,
        Option(help="Standard deviation of two systems' difference over segments, without data."),
    ] = None
    annotator_sd: Annotated[
        float, Option(help="Standard deviation of two systems' difference over annotators, without data.")
    ] = 0.0
    difference: Annotated[float | None, Option(help="Difference to detect, without data.")] = None
    segments: Annotated[
        Annotated[int, Ge(1)] | None,
        Option(help="Segments to judge; default with --difference: as many as needed."),
    ] = None
    annotators: Annotated[Annotated[int, Ge(1)] | None, Option(help="Annotators of each translation.")] = None
    alpha: Annotated[Alpha, Option(help="Significance level of the two-sided test.")] = 0.05
    power: Annotated[Alpha, Option(help="Power: the chance to detect the difference.")] = 0.8
    by_document: ByDocument = None
    resamples: Resamples = 1000
    seed: Seed = 0

    @property
    def plan(self) -> Plan:
        """The plan that is described without data."""
        if self.sd is None or (self.segments is None and self.difference is None):
            raise UsageError(
                "give judgements (a run or a file), or --sd with --segments, --difference or both"
            )
        for name in ("weights", "lp", "criterion", "test_set", "systems", "by_document"):
            if getattr(self, name) is not None:
                option = name.replace("_", "-")
                raise UsageError(f"--{option} is for judgements: leave it out with --sd")
        if self.segments is None and not self.difference:
            raise UsageError("no number of segments shows a difference of 0: give --segments")
        plan = Plan(
            sd=self.sd,
            annotator_sd=self.annotator_sd,
            segments=self.segments or 1,
            annotators=self.annotators or 1,
            alpha=self.alpha,
            power=self.power,
        )
        if self.segments is None and self.difference is not None:
            return replace(plan, segments=plan.needed_for(self.difference) or 1)
        return plan


@frozen
class Separation:
    """Two systems, and what it takes to tell them apart."""

    first: str  # the better one at hand
    second: str
    n: int  # segments judged for both
    difference: float
    p: float  # two-sided, by the paired permutation test
    plan: Plan  # spread, segments and annotators that what follows is for
    detectable: float  # smallest true difference that the plan finds with the wanted chance
    power: float  # chance of the plan to find the difference at hand, if that is the true one
    needed: int | None  # segments needed to find it with the wanted chance; None where that is out of reach
    more: int | None  # translations still to be judged, of both systems, by all annotators; None likewise
    annotator_sd: float | None  # spread over annotators; None where it cannot be told from that over segments
    units: int  # segments, or documents, that vary independently
    lp: str = ""  # language pair


_SEPARATION: Final = (
    Column("first", "the better one at hand", title="system"),
    Column("second", "the other one", title="and"),
    Column("n", "segments judged for both", "count"),
    Column("difference", "of their means", "score"),
    Column("p", "two-sided, by the paired permutation test", "p"),
    Column("sd", "spread of the difference over segments", "score", of="plan.sd", title=""),
    Column("detectable", "smallest true difference that the plan finds with the wanted chance", "score"),
    Column("power", "chance to find the difference at hand", "chance"),
    Column("needed", "segments that find it", "count", title="segments needed", none=f">{MOST_UNITS:,}"),
    Column("more", "to be judged", "count", title="judgements still needed", none=f">{MOST_UNITS:,}"),
)


_PLAN: Final = (
    Column("segments", "how many are judged", "count"),
    Column("annotators", "of each translation", "count"),
    Column("detectable", "smallest true difference that is found with the wanted chance", "decimal"),
)

_FEW: Final = 30
_CAUTION: Final = (
    "Power and what is needed take the difference at hand for the true one, which it need not be: the "
    "largest of many differences is too large on average."
)
_ROUGH: Final = f"With fewer than {_FEW} units these numbers are rough: few units say little of the spread."


@frozen
class Power(Framed):
    """What judgements can show: those at hand, or those of a plan."""

    pairs: tuple[Separation, ...] = ()  # of systems, told apart by the judgements at hand; empty for a plan
    plan: Plan | None = None  # that was described without data; else None
    difference: float | None = None  # that the plan is to find, if one was named
    signature: Signature | None = None  # of the scores; None for a plan
    notes: tuple[str, ...] = ()  # what a reader must know

    def groups(self) -> Mapping[str, Sequence[Separation | Plan | None]]:
        """The pairs of each language pair, or the plan."""
        return rows_by_pair(self.pairs) if self.pairs else {"": [self.plan]}

    def columns(self) -> list[Column]:
        if self.pairs:
            return [*_SEPARATION]
        if (difference := self.difference) is None:
            return [*_PLAN]
        return [
            *_PLAN,
            Column("difference", "to be found", "decimal", of=lambda _: difference),
            Column("power", "chance to find it", "chance", of=lambda plan: plan.power_for(difference)),
            Column(
                "segments needed",
                "segments that find it with the wanted chance",
                "count",
                of=lambda plan: plan.needed_for(difference),
                none=f">{MOST_UNITS:,}",
            ),
        ]


@takes(PowerSettings)
def power(source: Source | None, settings: PowerSettings) -> Power:
    """Say the smallest difference that judgements show, and how many are needed to show one.

    Args:
        source: judgements at hand: a run, records, a data frame, or the path of whatever holds judgements;
            None for a plan, which `sd`, with `segments`, `difference` or both, describes.
        settings: what is planned, and how much power is wanted.

    Raises:
        DataError: nothing is judged for both systems.
        UsageError: no such system, fewer than two, a number of annotators that nothing can be said of, or a
            setting of a plan beside judgements, or the other way round.
    """
    if source is None:
        return Power(plan=settings.plan, difference=settings.difference)
    if settings.sd is not None or settings.annotator_sd or settings.difference is not None:
        raise UsageError("--sd, --annotator-sd and --difference stand in for data; leave them out here")
    whole = scored(source, settings, needed=True)
    alone = {name: scores.by_pair() for name, scores in _apart(whole, settings).items()}
    pairs = tuple(
        replace(pair, lp=lp)
        for lp, scores in whole.scores.by_pair().items()
        for pair in separations(
            scores,
            settings.systems,
            settings=settings,
            by_annotator={name: own[lp] for name, own in alone.items() if lp in own},
        )
    )
    notes = (*of_sight(whole.scores.notes), *_cautions(pairs))
    return Power(pairs=pairs, signature=whole.scores.signature_of("mean"), notes=notes)


def _apart(whole: Scored, settings: PowerSettings) -> dict[str, Scores]:
    if whole.judgements is None or len(whole.judgements.annotators) < 2:
        return {}
    records = whole.judgements.of_one_kind(settings.lp).records
    return {
        name: score_records(own, weights=settings.weights, criterion=settings.criterion)
        for name, own in grouped((one.annotator, one) for one in records).items()
    }


def _cautions(pairs: Sequence[Separation]) -> Iterator[str]:
    """What must be known of such numbers, whoever reads them."""
    least = min(pairs, key=lambda pair: pair.units)
    yield _CAUTION
    if least.units < least.n:
        yield (
            f"Documents are the unit: {least.n:,} segments of {least.units:,} documents; new segments are "
            "taken to come in documents of that length. --by-segment takes segments as independent."
        )
    if least.units < _FEW:
        yield _ROUGH


def separations(
    scores: Scores,
    systems: Sequence[str] | None = None,  # two of them; None for each system and the next one by mean
    *,
    settings: PowerSettings | None = None,
    by_annotator: Mapping[str, Scores] | None = None,
) -> tuple[Separation, ...]:
    """Say what it takes to tell two systems apart, or each system from the next best.

    Segments needed: by simulation from the differences at hand (`power.units_needed`); by the formula of
    `power.Plan` where another number of annotators is planned than there is.
    """
    settings = settings or PowerSettings()
    names = list(dict.fromkeys(s.system for s in scores.segments))
    if systems is not None and (unknown := [name for name in systems if name not in names]):
        raise UsageError(f"there is no system {unknown[0]!r}; there are {', '.join(names)}")
    if systems is None:
        means = {s.system: s.score for s in scores.systems if s.score is not None}
        systems = sorted(means, key=lambda name: (-means[name], name))
    if len(systems) < 2:
        raise UsageError(f"power needs two systems, and there is {', '.join(systems) or 'none'}")
    if len(set(systems)) < len(systems):
        raise UsageError(f"{systems[0]!r} was named twice: power needs two different systems")
    return tuple(_separation(scores, pair, settings, by_annotator or {}) for pair in pairwise(systems))


def _separation(
    scores: Scores,
    pair: tuple[str, str],
    settings: PowerSettings,
    by_annotator: Mapping[str, Scores],
) -> Separation:
    _, matrix, _ = side_by_side(scores, scores, [pair])
    if settings.by_document is None:  # annotators are told apart by segment alone
        known = settings.annotators is None and are_documents_known(matrix)
        settings = replace(settings, by_document=known)
    totals = matrix.totals(by_document=bool(settings.by_document))
    n, units = len(matrix.scores), len(totals.sums)
    gaps = totals.shares @ np.array([1.0, -1.0])
    difference = float(gaps.mean())
    parts = variance_parts(_by_annotator(pair, by_annotator))
    if len(gaps) < 2:
        raise UsageError(
            "the standard deviation needs two segments, or documents, that are judged for both systems"
        )
    spread, segments = float(gaps.std(ddof=1)) * math.sqrt(n / len(gaps)), settings.segments or n
    if settings.annotators is None:
        plan = Plan(
            sd=spread,
            segments=segments,
            alpha=settings.alpha,
            power=settings.power,
            per_unit=n / len(gaps),
            pilot=len(gaps),
        )
    else:
        if parts is None:
            raise UsageError(
                "the effect of more annotators can be estimated only from translations with several "
                "annotators, and every translation here has one annotator: leave out --annotators, or give "
                "--sd and --annotator-sd"
            )
        if settings.by_document:
            raise UsageError("--annotators and --by-document exclude each other: choose one")
        plan = Plan(
            sd=parts[0],
            annotator_sd=parts[1],
            annotators=settings.annotators,
            segments=segments,
            alpha=settings.alpha,
            power=settings.power,
            pilot=len(gaps),
        )
    if settings.annotators is None:
        drawn = units_needed(
            gaps,
            alpha=settings.alpha,
            power=settings.power,
            resamples=settings.resamples,
            seed=settings.seed,
        )
        needed = None if drawn is None else math.ceil(drawn * n / units)
    else:
        needed = plan.needed_for(difference)
    tested = unit_differences(totals, np.array([0]), np.array([1]))
    flips = sign_flip_p_values(tested, resamples=settings.resamples, seed=settings.seed)
    return Separation(
        first=pair[0],
        second=pair[1],
        n=n,
        difference=difference,
        p=float(flips[0]),
        plan=plan,
        detectable=plan.detectable,
        power=plan.power_for(difference),
        needed=needed,
        more=None if needed is None else 2 * plan.annotators * max(0, needed - n),
        annotator_sd=None if parts is None else parts[1],
        units=units,
    )


def _by_annotator(pair: tuple[str, str], by_annotator: Mapping[str, Scores]) -> Floats:
    """Segments by annotators, first system less second; NaN where an annotator did not judge both."""
    rows: dict[tuple[str, str], int] = {}
    cells: list[tuple[int, int, float]] = []
    for column, scores in enumerate(by_annotator.values()):
        both = [s for s in scores.segments if s.system in pair]
        matrix = score_matrix(both)
        if set(matrix.systems) != set(pair):
            continue
        one, other = (matrix.scores[:, matrix.systems.index(name)] for name in pair)
        places = dict.fromkeys((s.lp, s.segment) for s in both)
        for place, gap in zip(places, (one - other).tolist(), strict=True):
            cells.append((rows.setdefault(place, len(rows)), column, gap))
    found = np.full((len(rows), len(by_annotator)), np.nan)
    for row, column, gap in cells:
        found[row, column] = gap
    return found
