"""Comparisons counted: who won how often against whom in each segment or document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from adjudge.meta.bootstrap import unit_draws
from adjudge.meta.matrix import Totals
from adjudge.meta.measures.result import Floats
from adjudge.meta.ranking.comparisons import Comparisons

__all__ = ["Tally", "tally_comparisons"]


@dataclass(frozen=True, kw_only=True)
class Tally:
    """What each unit, a segment or a document, holds.

    Args:
        systems: that were compared, rows and columns of the arrays.
        wins: units by systems by systems, how often row beat column.
        ties: the same of ties; symmetric.
    """

    systems: tuple[str, ...]
    wins: Floats
    ties: Floats

    @property
    def totals(self) -> Totals:
        """Points (win 1, tie 0.5) and number of the comparisons of each system in each unit."""
        played = self.wins + self.wins.swapaxes(1, 2) + self.ties
        return Totals(sums=(self.wins + self.ties / 2).sum(axis=2), sizes=played.sum(axis=2))

    def draws(self, resamples: int, seed: int) -> Iterator[tuple[Floats, Floats]]:
        """Wins and ties of units drawn with replacement, draws by systems by systems, in blocks."""
        for counts in unit_draws(len(self.wins), resamples, seed):
            yield np.tensordot(counts, self.wins, axes=1), np.tensordot(counts, self.ties, axes=1)


def tally_comparisons(table: Comparisons, *, by_document: bool) -> Tally:
    """Count wins and ties of each unit; comparisons without any verdict are left out."""
    judged = ~np.isnan(table.labels)
    used = [u for u, row in zip(table.units, judged, strict=True) if row.any()]
    systems = tuple(sorted({s for u in used for s in (u.first, u.second)}))
    places = {s: place for place, s in enumerate(systems)}
    groups = np.asarray(table.documents if by_document else table.segments)
    wins = np.zeros((len(set(groups.tolist())), len(systems), len(systems)))
    ties = np.zeros_like(wins)
    for row, column in np.argwhere(judged):
        unit, label = table.units[row], table.labels[row, column]
        pair = (places[unit.first], places[unit.second])
        if label == 0:
            ties[(groups[row], *pair)] += 1
            ties[(groups[row], *pair[::-1])] += 1
        else:
            wins[(groups[row], *(pair if label > 0 else pair[::-1]))] += 1
    held = (wins + ties).any(axis=(1, 2))
    return Tally(systems=systems, wins=wins[held], ties=ties[held])
