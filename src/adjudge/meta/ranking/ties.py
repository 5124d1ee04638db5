"""How strong a preference must be to count: the threshold that agrees best with what people call equal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from adjudge.core.annotation import Failure, Preference
from adjudge.errors import DataError
from adjudge.meta.measures.result import Floats
from adjudge.meta.ranking.comparisons import in_order_of_names

__all__ = ["TieAgreement", "TieCalibration", "calibrate_ties"]


class TieAgreement(NamedTuple):
    """Share of comparisons on which judge and gold agree; None of none.

    Args:
        all: of every comparison.
        ranked: of those that gold ranks.
        tied: of those that gold ties.
        ties: comparisons that the judge ties.
    """

    all: float | None
    ranked: float | None
    tied: float | None
    ties: int


@dataclass(frozen=True, kw_only=True)
class TieCalibration:
    """The best threshold, and what it changes.

    Args:
        threshold: a preference that is not stronger is a tie.
        n: comparisons that both judged, on all criteria that both have.
        tied: those that gold ties.
        before: agreement of the verdicts as they are.
        after: agreement under the threshold.
    """

    threshold: float
    n: int
    tied: int
    before: TieAgreement
    after: TieAgreement


def calibrate_ties(
    preferences: Iterable[Preference | Failure], gold: Iterable[Preference | Failure]
) -> TieCalibration:
    """Find the threshold under which most verdicts agree with gold, ties included; of equal ones the lowest.

    A threshold t makes E of every verdict whose strength is t or less in size. Of several annotators of gold
    the majority counts, a tie where none has one. Undecided comparisons are left out.

    Args:
        preferences: of one judge, made without a threshold.
        gold: of people.

    Raises:
        DataError: no comparison that both judged has a strength.
    """
    wanted = _majorities(gold)
    both = [
        (abs(p.strength), verdict, wanted[key])
        for p in preferences
        if isinstance(p, Preference) and p.strength is not None and not p.is_undecided
        for key, verdict in [_keyed(p)]
        if key in wanted
    ]
    if not both:
        raise DataError(
            "no comparison that gold has was measured; run the judge with --samples, or --strength logprob"
        )
    strengths, said, right = np.array(sorted(both)).T
    threshold = _best(strengths, said, right)
    return TieCalibration(
        threshold=threshold,
        n=len(both),
        tied=int((right == 0).sum()),
        before=_agreement(said, right),
        after=_agreement(np.where(strengths <= threshold, 0.0, said), right),
    )


def _best(strengths: Floats, said: Floats, right: Floats) -> float:
    """The lowest of the best thresholds: 0, or the strength of a comparison."""
    gained = np.cumsum((right == 0).astype(np.int64) - (said == right))
    last = np.append(strengths[1:] != strengths[:-1], True)  # a threshold takes all that are equally strong
    options = [(0, 0.0), *zip(gained[last].tolist(), strengths[last].tolist(), strict=True)]
    return float(max(options, key=lambda option: (option[0], -option[1]))[1])


def _agreement(said: Floats, right: Floats) -> TieAgreement:
    same = said == right
    return TieAgreement(
        all=_share(same),
        ranked=_share(same[right != 0]),
        tied=_share(same[right == 0]),
        ties=int((said == 0).sum()),
    )


def _share(same: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> float | None:
    return float(same.mean()) if len(same) else None


def _keyed(preference: Preference) -> tuple[tuple[str, ...], float]:
    """What is compared, and the verdict: how far it is for the first in the order of names."""
    first, second, verdict = in_order_of_names(preference)
    return (preference.lp, preference.segment, preference.criterion, first, second), verdict


def _majorities(gold: Iterable[Preference | Failure]) -> dict[tuple[str, ...], float]:
    votes: dict[tuple[str, ...], list[float]] = {}
    for preference in gold:
        if isinstance(preference, Preference) and not preference.is_undecided:
            key, verdict = _keyed(preference)
            votes.setdefault(key, []).append(verdict)
    return {key: _majority(own) for key, own in votes.items()}


def _majority(votes: Sequence[float]) -> float:
    """What more than half say; a tie where none is."""
    return next((vote for vote in (1.0, -1.0) if 2 * votes.count(vote) > len(votes)), 0.0)
