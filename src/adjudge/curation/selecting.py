"""Which segments people should annotate where there is no budget for all of them.

Each way gives every segment a number, the highest first:

variance      how differently systems are scored there: mean over metrics of the variance over systems
disagreement  how differently metrics score its translations: mean over systems of the variance over metrics
diversity     how early it comes when the source with most n-grams that none before it had is always next
combined      mean of its ranks by the ways above that can be taken
random        a draw

Scores are standardised by metric first, over all translations. What is chosen for its difficulty is no
sample: means of systems over it are not their means over all (`simulation` says how far off they are).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, get_args

import numpy as np
import scipy.stats

from adjudge.errors import UsageError
from adjudge.meta.evaluation.eval_set import EvalSet
from adjudge.meta.evaluation.frame import is_unspaced
from adjudge.meta.measures.result import Floats

__all__ = ["WAYS", "Way", "choose", "priorities", "read_budget", "standardised"]

Way = Literal["variance", "disagreement", "diversity", "combined", "random"]
WAYS: Final[tuple[Way, ...]] = get_args(Way)

_LONGEST: Final = 2  # words of an n-gram, or 3 characters where no space stands between words
_LONGEST_UNSPACED: Final = 3


def priorities(eval_set: EvalSet, sources: Sequence[str], way: Way, *, seed: int = 0) -> Floats:
    """How much each segment is wanted, higher first.

    Args:
        eval_set: with the metrics that are looked at; gold is not.
        sources: texts of its segments.
        way: see above.
        seed: of `random`.

    Raises:
        UsageError: no metric for `variance`, or fewer than two for `disagreement`.
    """
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

    Args:
        wanted: by segment; NaN comes last.
        budget: what all may cost.
        costs: by segment: 1, or its length.
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
    """Read `100` or `20%` as a number of segments, or of tokens.

    Args:
        text: as the user wrote it.
        total: of all segments.

    Raises:
        UsageError: it is neither, or more than there are.
    """
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
    ranks = [scipy.stats.rankdata(np.nan_to_num(values, nan=-np.inf)) for values in found]
    return np.asarray(np.mean(ranks, axis=0))
