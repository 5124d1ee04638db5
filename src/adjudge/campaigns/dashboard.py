"""What an organiser sees while people judge: which systems still differ, how far it is, how people do.

The numbers are those of `meta`, over the answers that `watching` keeps; `adjudge campaign analyse` says more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from time import thread_time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from adjudge.campaigns.progress import PersonProgress, Progress, find_progress
from adjudge.campaigns.resting import Resting
from adjudge.campaigns.watching import Seen, watched
from adjudge.core.score import Interval
from adjudge.data.submissions import of_latest_pass
from adjudge.meta.agreement.estimate import Draws
from adjudge.meta.campaign.agreeing import met_by_both, score_agreement
from adjudge.meta.campaign.drift import FEWEST, means_by_system, strictness
from adjudge.meta.campaign.standing import Standing, find_standing
from adjudge.meta.measures.correlation import pearson
from adjudge.meta.measures.result import Result
from adjudge.meta.ranking.comparisons import numbered

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign

__all__ = ["dashboard"]

_MOST_PAIRS: Final = 200  # of systems that are listed
_DRAWS: Final = Draws(resamples=200)


def dashboard(campaign: Campaign, now: float) -> dict[str, Any]:
    """Everything on the dashboard, as JSON.

    It rests between two times, as `Resting` says; `now` in it says of when it is.

    Args:
        campaign: which.
        now: seconds since 1970.
    """
    return _NUMBERS.of(campaign, now)


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


_NUMBERS: Final = Resting(_dashboard, thread_time)


def _deciding(seen: list[Seen]) -> list[Seen]:
    """Those of the latest pass over each translation; of one person's several there, the last."""
    last: dict[tuple[tuple[str, ...], int], Seen] = {}
    for one in of_latest_pass(seen, lambda one: one.kind, lambda one: one.about):
        known = last.setdefault((one.about, one.person), one)
        if one.ended > known.ended:
            last[one.about, one.person] = one
    return list(last.values())


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
        "rows": [{**asdict(row), "interval": _listed(row.interval)} for row in standing.systems],
        "pairs": len(standing.pairs),
        "apart": len(standing.pairs) - len(left),
        "open": [asdict(pair) for pair in left[:_MOST_PAIRS]],
        "is_over": standing.is_over,
        "done": standing.done,
    }


# Progress...


_PROGRESS: Final = (
    *("tasks", "tasks_done", "under_way", "items", "items_done", "items_given_back"),
    *("an_hour", "ends_at", "active", "active_left"),
)


def _progress(progress: Progress) -> dict[str, Any]:
    return {name: getattr(progress, name) for name in _PROGRESS}


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
        sides = [a for a, _ in marked], [b for _, b in marked]
        yield "marks that the other has, too", met_by_both(*sides, draws, nothing="nothing is marked yet")


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
    means = means_by_system((one.system, one.score) for one in seen if not one.other)
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


def _alike(twice: Sequence[tuple[Seen, Seen]]) -> dict[int, Result]:
    """Pearson of each person's scores with those of others on the same translations."""
    sides: dict[int, list[tuple[float, float]]] = {}
    for a, b in twice:
        sides.setdefault(a.person, []).append((a.score, b.score))
        sides.setdefault(b.person, []).append((b.score, a.score))
    return {person: pearson(*np.array(pairs).T) for person, pairs in sides.items() if len(pairs) >= FEWEST}


def _drift(own: Sequence[Seen], means: Mapping[str, float]) -> dict[str, Any]:
    """Strictness of a person; comparisons say nothing of it."""
    rated = sorted((one for one in own if not one.other), key=lambda one: one.at)
    if len(rated) < FEWEST:
        return {"above": None, "drift": None}
    above, change = strictness([one.score - means[one.system] for one in rated])
    return {"above": _result("above others", above), "drift": _result("change in 100", change)}
