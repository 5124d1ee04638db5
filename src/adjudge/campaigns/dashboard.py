"""What an organiser sees while people judge: which systems still differ, how far it is, how people do.

The numbers are those of `meta`, over the answers that `watching` keeps; `adjudge campaign analyse` says more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from threading import Lock
from time import thread_time
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from adjudge.campaigns.database import Database
from adjudge.campaigns.progress import PersonProgress, Progress, find_progress
from adjudge.campaigns.watching import Seen, watched
from adjudge.core.score import Interval
from adjudge.data.submissions import PASSES
from adjudge.meta.agreement.estimate import Draws
from adjudge.meta.campaign.agreeing import meets, score_agreement
from adjudge.meta.campaign.numbers import mean_by_student, ratio_of, slope_of
from adjudge.meta.campaign.standing import PairStanding, Standing, find_standing
from adjudge.meta.measures.correlation import pearson
from adjudge.meta.measures.result import Floats, Result
from adjudge.meta.ranking.comparisons import numbered

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign

__all__ = ["dashboard"]

_MOST_PAIRS: Final = 200  # of systems that are listed
_FEWEST: Final = 10  # judgements of a person before anything is said of them
_DRAWS: Final = Draws(resamples=200)
_REST: Final = 10.0  # a page that took a second to compute is computed every ten seconds at most


@dataclass
class _Made:
    """The last dashboard of a campaign, when it was made and how much work that took; times in seconds.

    The first one reads the store and imports libraries, which the next ones do not: it took nothing.
    """

    lock: Lock = field(default_factory=Lock)
    data: dict[str, Any] | None = None
    at: float = 0.0
    took: float = 0.0


_KEPT: WeakKeyDictionary[Database, dict[int, _Made]] = WeakKeyDictionary()


def dashboard(campaign: Campaign, now: float) -> dict[str, Any]:
    """Everything on the dashboard, as JSON.

    Made again when it is older than ten times what it took, so that a big campaign's dashboard does not slow
    down those who work; who asks meanwhile gets the last one, and `now` in it says of when it is.

    Args:
        campaign: which.
        now: seconds since 1970.
    """
    made = _KEPT.setdefault(campaign.database, {}).setdefault(campaign.id, _Made())
    with made.lock:
        if made.data is None or not made.at <= now <= made.at + _REST * made.took:
            start, is_first = thread_time(), made.data is None
            made.data = _dashboard(campaign, now)
            made.at, made.took = now, 0.0 if is_first else thread_time() - start
        return made.data


def _dashboard(campaign: Campaign, now: float) -> dict[str, Any]:
    progress = find_progress(campaign, now)
    seen = _deciding(watched(campaign).seen)
    twice = _twice(seen)
    standing = _standing(seen, progress)
    return {
        "campaign": campaign.name,
        "protocol": campaign.settings.protocol,
        "now": now,
        "systems": _systems(standing),
        "progress": _progress(progress),
        "agreement": [_result(name, result) for name, result in _agreement(twice)],
        "people": _people(seen, twice, progress),
    }


def _deciding(seen: list[Seen]) -> list[Seen]:
    """Those of the latest pass over each translation."""
    if not any(PASSES[one.kind] for one in seen):
        return seen
    best: dict[tuple[str, ...], int] = {}
    for one in seen:
        best[one.about] = max(best.get(one.about, 0), PASSES[one.kind])
    return [one for one in seen if PASSES[one.kind] == best[one.about]]


# Systems...


def _standing(seen: Sequence[Seen], progress: Progress) -> Standing:
    systems = sorted({name for one in seen for name in (one.system, one.other) if name})
    columns = {name: place for place, name in enumerate(systems)}
    is_compared = any(one.other for one in seen)
    rows = numbered([one.about if is_compared else one.unit for one in seen])
    sums = np.zeros((max(rows, default=-1) + 1, len(systems)))
    sizes = np.zeros_like(sums)
    for row, one in zip(rows, seen, strict=True):
        points = [(one.system, one.score)]
        if is_compared:
            points = [(one.system, (1 + one.score) / 2), (one.other, (1 - one.score) / 2)]
        for system, value in points:
            sums[row, columns[system]] += value
            sizes[row, columns[system]] += 1
    scores = np.full(sums.shape, np.nan)
    np.divide(sums, sizes, out=scores, where=sizes > 0)
    done = progress.items_done / progress.items if progress.items else 0.0
    return find_standing(systems, scores, min(done, 1.0))


def _systems(standing: Standing) -> dict[str, Any]:
    left = standing.open
    return {
        "rows": [
            {
                "system": row.system,
                "mean": row.mean,
                "interval": _listed(row.interval),
                "n": row.n,
                "best": row.best,
                "worst": row.worst,
            }
            for row in standing.systems
        ],
        "pairs": len(standing.pairs),
        "apart": len(standing.pairs) - len(left),
        "open": [_pair(pair) for pair in left[:_MOST_PAIRS]],
        "is_over": standing.is_over,
        "done": standing.done,
    }


def _pair(pair: PairStanding) -> dict[str, Any]:
    return {
        "first": pair.first,
        "second": pair.second,
        "n": pair.n,
        "difference": pair.difference,
        "p": pair.p,
        "state": pair.state,
        "needed": pair.needed,
    }


# Progress...


def _progress(progress: Progress) -> dict[str, Any]:
    return {
        "tasks": progress.tasks,
        "tasks_done": progress.tasks_done,
        "under_way": progress.under_way,
        "items": progress.items,
        "items_done": progress.items_done,
        "an_hour": progress.an_hour,
        "ends_at": progress.ends_at,
        "active": progress.active,
        "active_left": progress.active_left,
    }


# Agreement...


def _twice(seen: Sequence[Seen]) -> list[tuple[Seen, Seen]]:
    """Every two people's judgements of one translation, the people in order."""
    groups: dict[tuple[str, ...], dict[int, Seen]] = {}
    for one in seen:
        if not one.other:
            groups.setdefault(one.about, {})[one.person] = one
    return [
        (own[a], own[b]) for own in groups.values() if len(own) > 1 for a, b in combinations(sorted(own), 2)
    ]


def _agreement(pairs: Sequence[tuple[Seen, Seen]]) -> Iterator[tuple[str, Result]]:
    """How alike two people's scores and marks of one translation are, with intervals over segments."""
    if len(pairs) < 2:
        return
    draws = Draws(
        groups=numbered([one.unit for one, _ in pairs]), resamples=_DRAWS.resamples, seed=_DRAWS.seed
    )
    first, second = (np.array([pair[side].score for pair in pairs]) for side in (0, 1))
    yield "scores, Pearson", score_agreement(first, second, draws)["Pearson"]
    marked = [(a.marks, b.marks) for a, b in pairs if a.marks is not None and b.marks is not None]
    if len(marked) == len(pairs):
        hits, of = _met(marked)
        yield "marks that the other has, too", ratio_of(hits, of, draws, "nothing is marked yet")


def _met(marked: Sequence[tuple[Sequence[Any], Sequence[Any]]]) -> tuple[Floats, Floats]:
    hits, of = [], []
    for a, b in marked:
        hits.append(float(sum(any(meets(x, y) for y in ys) for xs, ys in ((a, b), (b, a)) for x in xs)))
        of.append(float(len(a) + len(b)))
    return np.array(hits), np.array(of)


def _result(name: str, result: Result) -> dict[str, Any]:
    return {
        "name": name,
        "value": result.value,
        "interval": _listed(result.interval),
        "n": result.n,
        "reason": result.reason,
    }


def _listed(ends: Interval | None) -> list[float] | None:
    return None if ends is None else list(ends)


# People...


def _people(
    seen: Sequence[Seen], twice: Sequence[tuple[Seen, Seen]], progress: Progress
) -> list[dict[str, Any]]:
    own: dict[int, list[Seen]] = {}
    for one in seen:
        own.setdefault(one.person, []).append(one)
    means = _means(seen)
    alike = _alike(twice)
    every = np.array([one.seconds for one in seen])
    usual = float(np.median(every)) if len(every) else None
    return [
        _person(person, own.get(person.id, []), means, alike.get(person.id), usual)
        for person in progress.people
    ]


def _person(
    person: PersonProgress,
    own: Sequence[Seen],
    means: Mapping[str, float],
    alike: Result | None,
    usual: float | None,
) -> dict[str, Any]:
    median = float(np.median([one.seconds for one in own])) if own else None
    return {
        "id": person.id,
        "name": person.name,
        "role": person.role,
        "is_revoked": person.is_revoked,
        "items": person.items,
        "left": person.left,
        "active": person.active,
        "last_at": person.last_at,
        "checks": person.checks,
        "passed": person.passed,
        "interval": _listed(person.interval),
        "seconds": median,
        "usual_seconds": usual,
        "agreement": None if alike is None else _result("with others", alike),
        **_drift(own, means),
    }


def _means(seen: Sequence[Seen]) -> dict[str, float]:
    sums: dict[str, list[float]] = {}
    for one in seen:
        if not one.other:
            sums.setdefault(one.system, []).append(one.score)
    return {system: float(np.mean(values)) for system, values in sums.items()}


def _alike(twice: Sequence[tuple[Seen, Seen]]) -> dict[int, Result]:
    """Pearson of each person's scores with those of others on the same translations."""
    sides: dict[int, list[tuple[float, float]]] = {}
    for a, b in twice:
        sides.setdefault(a.person, []).append((a.score, b.score))
        sides.setdefault(b.person, []).append((b.score, a.score))
    return {person: pearson(*np.array(pairs).T) for person, pairs in sides.items() if len(pairs) >= _FEWEST}


def _drift(own: Sequence[Seen], means: Mapping[str, float]) -> dict[str, Any]:
    """How much stricter or milder a person is than all, and by how much that changes in 100 judgements."""
    rated = sorted((one for one in own if not one.other), key=lambda one: one.at)
    if len(rated) < _FEWEST:
        return {"above": None, "drift": None}
    rest = np.array([one.score - means[one.system] for one in rated])
    order = np.arange(len(rest)) / 100
    return {
        "above": _result("above others", mean_by_student(rest.tolist())),
        "drift": _result("change in 100", slope_of(order, rest, "too few judgements")),
    }
