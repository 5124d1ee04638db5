"""Systems' means and differences on gold's scale, from many scores of a judge and few of gold. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from adjudge.core.score import Scores
from adjudge.errors import DataError
from adjudge.meta.comparing.two_systems import Place
from adjudge.meta.deciding.few_labels import LEAST, Estimate, estimate_mean

__all__ = ["SystemEstimate", "estimates"]

Floats = NDArray[np.float64]
Values = Mapping[Place, float]


@dataclass(frozen=True, kw_only=True)
class SystemEstimate:
    """A system, and how far it is ahead of the next one.

    Args:
        system: its name.
        mean: on gold's scale.
        ahead: of the next best system, on the segments that both have; None for the last, or where fewer than
            ten segments have both labels.
    """

    system: str
    mean: Estimate
    ahead: Estimate | None


def estimates(scores: Scores, gold: Scores) -> tuple[tuple[SystemEstimate, ...], tuple[str, ...]]:
    """Estimate the mean of each system that both know, best first; and what a reader must know.

    Args:
        scores: the judge's, of one language pair.
        gold: labels of some of the segments, drawn at random.

    Raises:
        DataError: no system has ten labelled segments with a score.
    """
    judged, labelled = _by_system(scores), _by_system(gold)
    found, notes = {}, []
    for system in (name for name in judged if name in labelled):
        common = sum(place in judged[system] for place in labelled[system])
        if common < LEAST:
            notes.append(
                f"{system} has {common} labelled segments with a score, and needs {LEAST}; left out."
            )
            continue
        found[system] = _mean(labelled[system], judged[system])
    if not found:
        raise DataError(f"no system has {LEAST} segments with both a label and a score")
    ranked = sorted(found, key=lambda name: (-found[name].value, name))
    nexts = {better: _ahead(better, worse, labelled, judged) for better, worse in pairwise(ranked)}
    rows = [SystemEstimate(system=name, mean=found[name], ahead=nexts.get(name)) for name in ranked]
    return tuple(rows), (*notes, "This holds if the labelled segments were drawn at random.")


def _by_system(scores: Scores) -> dict[str, dict[Place, float]]:
    found: dict[str, dict[Place, float]] = {}
    for s in scores.segments:
        if s.score is not None:
            found.setdefault(s.system, {})[s.lp, s.segment] = s.score
    return found


def _mean(labels: Values, scores: Values) -> Estimate:
    known = [place for place in labels if place in scores]
    others = [value for place, value in scores.items() if place not in labels]
    return estimate_mean(
        np.array([labels[place] for place in known]),
        np.array([scores[place] for place in known]),
        np.array(others),
    )


def _ahead(
    better: str, worse: str, labels: Mapping[str, Values], scores: Mapping[str, Values]
) -> Estimate | None:
    """The difference of two systems, segment by segment."""
    of_labels, of_scores = (_gaps(each[better], each[worse]) for each in (labels, scores))
    if sum(place in of_scores for place in of_labels) < LEAST:
        return None
    return _mean(of_labels, of_scores)


def _gaps(one: Values, other: Values) -> dict[Place, float]:
    return {place: value - other[place] for place, value in one.items() if place in other}
