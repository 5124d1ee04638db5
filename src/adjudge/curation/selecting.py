"""Which segments people should annotate where there is no budget for all of them.

Each way gives every segment a number, the highest first:

variance      how differently systems are scored there: mean over metrics of the variance over systems
disagreement  how differently metrics score its translations: mean over systems of the variance over metrics
diversity     how early it comes when the source with most n-grams that none before it had is always next
combined      mean of its ranks by the ways above that can be taken
random        a draw

Scores are standardised by metric first, over all translations. What is chosen for its difficulty is no
sample: means of systems over it are not their means over all. `simulate` says how far off they are, and how a
choice orders systems, beside chance.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated, Final, Literal, get_args

import numpy as np
from annotated_types import Ge

from adjudge.analysis.eval_set import EvalSet, is_unspaced
from adjudge.core.frozen import frozen
from adjudge.core.verb import LanguagePair, Names, OfMismatched, Option, Seed, settings
from adjudge.errors import DataError, UsageError
from adjudge.stats.correlation import ranks
from adjudge.stats.judged import Floats

Way = Literal["variance", "disagreement", "diversity", "combined", "random"]
WAYS: Final[tuple[Way, ...]] = get_args(Way)

_LONGEST: Final = 2  # words of an n-gram, or 3 characters where no space stands between words
_LONGEST_UNSPACED: Final = 3


@settings
class SelectSettings:
    """Which segments are chosen, and what is looked at."""

    budget: Annotated[str, Option(help="Segments to choose, such as 100 or 20%; several with --gold.")] = (
        "20%"
    )
    unit: Annotated[
        Literal["segments", "tokens"], Option(help="Unit of the budget: segments or source tokens.")
    ] = "segments"
    by: Annotated[Way, Option(help="Criterion for the choice; docs/curate.md.")] = "random"
    scores: Annotated[
        Sequence[str],
        Option(
            help="Scores of a metric or judge to use; repeat for more.",
            metavar="[NAME=]RUN|FILE",
            repeats=True,
        ),
    ] = ()
    metrics: Annotated[
        Names | None, Option(help="Use only these metrics of the test set, separated by commas.")
    ] = None
    gold: Annotated[
        str | None,
        Option(help="Compare every criterion with random choices on this gold.", metavar="NAME|FILE"),
    ] = None
    draws: Annotated[int, Ge(1), Option(help="Number of random choices, with --gold.")] = 1000
    seed: Seed = 0
    lp: LanguagePair = None
    mismatched: OfMismatched = "refuse"


def priorities(eval_set: EvalSet, sources: Sequence[str], way: Way, *, seed: int = 0) -> Floats:
    """How much each segment is wanted, higher first."""
    ways: Mapping[Way, Callable[[], Floats]] = {
        "variance": lambda: _variance(standardised(eval_set)),
        "disagreement": lambda: _disagreement(standardised(eval_set)),
        "diversity": lambda: _diversity(sources, eval_set.lp),
        "random": lambda: np.random.default_rng(seed).permutation(len(sources)).astype(np.float64),
        "combined": lambda: _combined(eval_set, sources),
    }
    return ways[way]()


def choose(wanted: Floats, budget: float, costs: Floats) -> list[int]:
    """Places of the segments that are wanted most, in test-set order.

    The most wanted one that the rest of the budget can pay is always next; the first one among equals.

    `wanted`: by segment; NaN comes last.
    """
    chosen = []
    for place in np.argsort(-np.nan_to_num(wanted, nan=-np.inf), kind="stable").tolist():
        if costs[place] <= budget:
            budget -= float(costs[place])
            chosen.append(place)
    return sorted(chosen)


def standardised(eval_set: EvalSet) -> Floats:
    """Metrics by systems by segments; each metric with mean 0 and deviation 1 over all that it scored.

    A metric that gives all translations one score says nothing, and is left out; so are references.
    """
    rows = [place for place, name in enumerate(eval_set.systems) if name not in eval_set.references]
    found = []
    for metric in eval_set.metrics.values():
        scores = metric.segments[rows]
        deviation = np.nanstd(scores) if not np.isnan(scores).all() else 0.0
        if deviation > 0:
            found.append((scores - np.nanmean(scores)) / deviation)
    return np.array(found) if found else np.empty((0, len(rows), len(eval_set.segments)))


def read_budget(text: str, total: float) -> float:
    """Read `100` or `20%` as a number of segments, or of tokens."""
    try:
        number = round(float(text[:-1]) / 100 * total) if text.endswith("%") else int(text)
    except (ValueError, OverflowError):
        number = 0
    if not 1 <= number <= total:
        raise UsageError(f"--budget must be from 1 to {total:.0f} or a share such as 20%, got {text!r}")
    return number


def _variance(scores: Floats) -> Floats:
    if not len(scores):
        raise UsageError("--by variance needs a metric: name one with --scores, or one of the test set's own")
    return _mean(_spread(scores, axis=1), axis=0)


def _disagreement(scores: Floats) -> Floats:
    if len(scores) < 2:
        raise UsageError(
            f"--by disagreement needs two metrics or judges, there are {len(scores)}: add --scores"
        )
    return _mean(_spread(scores, axis=0), axis=0)


def _spread(scores: Floats, axis: int) -> Floats:
    """Variance along an axis over what is there; NaN where fewer than two are."""
    there = ~np.isnan(scores)
    counts = there.sum(axis=axis)
    means = _mean(scores, axis)
    squares = np.where(there, (scores - np.expand_dims(means, axis)) ** 2, 0.0).sum(axis=axis)
    return np.where(counts >= 2, squares / np.maximum(counts, 1), np.nan)


def _mean(values: Floats, axis: int) -> Floats:
    """Mean along an axis over what is there; NaN where nothing is."""
    there = ~np.isnan(values)
    counts = there.sum(axis=axis)
    sums = np.where(there, values, 0.0).sum(axis=axis)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _diversity(sources: Sequence[str], lp: str) -> Floats:
    """Last place first: the segment that comes first by new n-grams has the highest number.

    A segment's new n-grams never become more, so that one whose count is up to date and still the highest
    is next.
    """
    by_character = is_unspaced(lp)
    grams = [frozenset(_grams(source, by_character=by_character)) for source in sources]
    waiting = [(-len(known), place) for place, known in enumerate(grams)]
    heapq.heapify(waiting)
    seen: set[tuple[str, ...]] = set()
    wanted = np.zeros(len(sources))
    for number in range(len(sources), 0, -1):
        while True:
            _, place = heapq.heappop(waiting)
            new = len(grams[place] - seen)
            if not waiting or (-new, place) <= waiting[0]:
                break
            heapq.heappush(waiting, (-new, place))
        seen |= grams[place]
        wanted[place] = number
    return wanted


def _grams(text: str, *, by_character: bool) -> Iterator[tuple[str, ...]]:
    folded = text.casefold()
    units = [char for char in folded if not char.isspace()] if by_character else folded.split()
    for size in range(1, (_LONGEST_UNSPACED if by_character else _LONGEST) + 1):
        yield from (tuple(units[start : start + size]) for start in range(len(units) - size + 1))


def _combined(eval_set: EvalSet, sources: Sequence[str]) -> Floats:
    scores = standardised(eval_set)
    found = [_diversity(sources, eval_set.lp)]
    found += [_variance(scores)] if len(scores) else []
    found += [_disagreement(scores)] if len(scores) > 1 else []
    placed = [ranks(np.nan_to_num(values, nan=-np.inf)[:, None])[:, 0] for values in found]
    return np.asarray(np.mean(placed, axis=0))


_RANDOM: Final = "random"
_ROUNDING: Final = 1e-12


@frozen
class Worth:
    """What one way of choosing comes to at one budget."""

    way: Way
    segments: float  # that are annotated; the mean of random choices
    length: float  # share of all source tokens that they have, a part of what they cost
    accuracy: float  # share of pairs of systems in the order that all segments put them in
    mean_error: float  # mean over systems of the distance of their mean to that over all, in gold's points
    gap_error: float  # mean over pairs of the distance of their difference to that over all
    # share of random choices with a lower accuracy, equal ones half; None for random itself
    beaten: float | None = None
    # share of random choices with a larger error of differences; None for random itself
    nearer: float | None = None
    low: float | None = None  # accuracy that 2.5 % of random choices stay under or reach; of random alone
    high: float | None = None  # accuracy that 97.5 % of them stay under or reach; of random alone


def simulate(
    eval_set: EvalSet, sources: Sequence[str], settings: SelectSettings, ways: Sequence[Way] = WAYS
) -> tuple[Worth, ...]:
    """Choose as if nothing were annotated, then look at gold.

    Segments that gold did not judge for every system are left out; references are no systems.
    """
    (labels,) = eval_set.golds.values()
    rows = [
        row
        for row, name in enumerate(eval_set.systems)
        if name not in eval_set.references and not np.isnan(labels.segments[row]).all()
    ]
    scores = labels.segments[rows]
    kept = np.asarray(~np.isnan(scores).any(axis=0) & bool(rows), dtype=np.bool_)
    if len(rows) < 2 or kept.sum() < 2:
        raise DataError(
            f"gold {labels.name} judged {len(rows)} systems on {int(kept.sum())} segments together; "
            "two of each are needed"
        )
    gold = scores[:, kept]
    lengths = np.array(eval_set.lengths, dtype=np.float64)[kept]
    costs = lengths if settings.unit == "tokens" else np.ones(len(lengths))
    metrics = {name: replace(m, segments=m.segments[:, kept]) for name, m in eval_set.metrics.items()}
    left = replace(eval_set, metrics=metrics, golds={})
    texts = [text for text, is_kept in zip(sources, kept, strict=True) if is_kept]
    wanted = {way: priorities(left, texts, way, seed=settings.seed) for way in ways if way != _RANDOM}
    rng = np.random.default_rng(settings.seed)
    found: list[Worth] = []
    for text in settings.budget.split(","):
        budget = read_budget(text, float(costs.sum()))
        drawn = [choose(rng.random(len(costs)), budget, costs) for _ in range(settings.draws)]
        chosen: dict[Way, list[int]] = {way: choose(values, budget, costs) for way, values in wanted.items()}
        if not all([*drawn, *chosen.values()]):
            raise UsageError(
                f"--budget {text} pays for no segment; the longest has {lengths.max():.0f} tokens"
            )
        found += _worths(gold, chosen, drawn, lengths)
    return tuple(found)


@dataclass(frozen=True)
class _Errors:
    accuracy: Floats
    means: Floats
    gaps: Floats

    @classmethod
    def of(cls, gold: Floats, choices: Sequence[Sequence[int]]) -> _Errors:
        """Of each choice. `gold`: systems by segments, without gaps."""
        whole = gold.mean(axis=1)
        means = np.array([gold[:, chosen].mean(axis=1) for chosen in choices])
        first, second = np.array(list(combinations(range(len(gold)), 2))).T
        gap, gaps = whole[first] - whole[second], means[:, first] - means[:, second]
        return cls(
            (np.sign(gaps) == np.sign(gap)).mean(axis=1),
            np.abs(means - whole).mean(axis=1),
            np.abs(gaps - gap).mean(axis=1),
        )


def _worths(
    gold: Floats, chosen: Mapping[Way, list[int]], drawn: Sequence[list[int]], lengths: Floats
) -> list[Worth]:
    random, total = _Errors.of(gold, drawn), float(lengths.sum())
    low, high = np.quantile(random.accuracy, [0.025, 0.975]).tolist()
    found = [
        Worth(
            way=_RANDOM,
            segments=float(np.mean([len(places) for places in drawn])),
            length=float(np.mean([lengths[places].sum() for places in drawn])) / total,
            accuracy=float(random.accuracy.mean()),
            mean_error=float(random.means.mean()),
            gap_error=float(random.gaps.mean()),
            low=low,
            high=high,
        )
    ]
    for way, places in chosen.items():
        one = _Errors.of(gold, [places])
        accuracy, gaps = float(one.accuracy[0]), float(one.gaps[0])
        lower = random.accuracy < accuracy - _ROUNDING
        equal = np.abs(random.accuracy - accuracy) <= _ROUNDING
        found.append(
            Worth(
                way=way,
                segments=len(places),
                length=float(lengths[places].sum()) / total,
                accuracy=accuracy,
                mean_error=float(one.means[0]),
                gap_error=gaps,
                beaten=float(lower.mean() + equal.mean() / 2),
                nearer=float((random.gaps > gaps).mean()),
            )
        )
    return found
