"""Segment scores as arrays: segments by systems, NaN where a judgement is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from adjudge.core.score import SegmentScore
from adjudge.errors import DataError, UsageError

__all__ = ["ScoreMatrix", "Totals", "score_matrix"]

Floats = NDArray[np.float64]

_LARGEST: Final = 1e100  # the square of a sum of them, and a sum of such squares, are still numbers


@dataclass(frozen=True, kw_only=True)
class Totals:
    """What each unit, a segment or a document, holds of each system.

    Args:
        sums: units by systems, weighted sum of the unit's scores; 0 where there is none.
        sizes: units by systems, sum of their weights; 0 where there is none.
    """

    sums: Floats
    sizes: Floats

    @property
    def means(self) -> Floats:
        """Units by systems, mean score; NaN where there is none."""
        means = np.full(self.sums.shape, np.nan)
        np.divide(self.sums, self.sizes, out=means, where=self.sizes > 0)
        return means

    @property
    def shares(self) -> Floats:
        """Units by systems, the unit's part in the system's mean; the mean of a column is that mean."""
        shares, mean_size = np.zeros(self.sums.shape), self.sizes.mean(axis=0)
        np.divide(self.sums, mean_size, out=shares, where=mean_size > 0)
        return shares


@dataclass(frozen=True, kw_only=True)
class ScoreMatrix:
    """Scores of several systems.

    Args:
        systems: columns, in order of first appearance.
        documents: (lp, document) of each row; the document may be empty.
        scores: segments by systems; NaN where a judgement is missing.
        weights: how much each score counts; 0 where it is missing.
    """

    systems: tuple[str, ...]
    documents: tuple[tuple[str, str], ...]
    scores: Floats
    weights: Floats

    def select(self, rows: NDArray[np.bool_], columns: Sequence[int]) -> ScoreMatrix:
        """Keep some segments, and some systems in this order."""
        return ScoreMatrix(
            systems=tuple(self.systems[c] for c in columns),
            documents=tuple(d for d, kept in zip(self.documents, rows, strict=True) if kept),
            scores=self.scores[rows][:, columns],
            weights=self.weights[rows][:, columns],
        )

    def totals(self, *, by_document: bool) -> Totals:
        """Sums by segment or by document. A segment without a document is one of its own.

        Raises:
            UsageError: documents are wanted and no segment names one.
        """
        sums = np.nan_to_num(self.scores, nan=0.0) * self.weights
        if not by_document:
            return Totals(sums=sums, sizes=self.weights)
        index = self.document_numbers()
        rows = int(index.max()) + 1
        totals = Totals(sums=np.zeros((rows, sums.shape[1])), sizes=np.zeros((rows, sums.shape[1])))
        np.add.at(totals.sums, index, sums)
        np.add.at(totals.sizes, index, self.weights)
        return totals

    def document_numbers(self) -> NDArray[np.int64]:
        """Number of each row's document, from 0. A segment without a document is one of its own.

        Raises:
            UsageError: no segment names a document.
        """
        if not any(document for _, document in self.documents):
            raise UsageError("--by-document needs documents, and these records name none")
        keys = [key if key[1] else (key[0], row) for row, key in enumerate(self.documents)]
        rows = {key: position for position, key in enumerate(dict.fromkeys(keys))}
        return np.array([rows[key] for key in keys])


def score_matrix(segments: Iterable[SegmentScore]) -> ScoreMatrix:
    """Arrange segment scores, rows and columns in order of first appearance.

    Raises:
        DataError: a score is so large that its square is no number.
    """
    rows: dict[tuple[str, str], int] = {}
    columns: dict[str, int] = {}
    documents: list[tuple[str, str]] = []
    found: list[tuple[int, int, float, float]] = []
    for s in segments:
        row = rows.setdefault((s.lp, s.segment), len(rows))
        column = columns.setdefault(s.system, len(columns))
        if row == len(documents):
            documents.append((s.lp, s.document))
        if s.score is not None:
            if abs(s.score) > _LARGEST:
                raise DataError(
                    f"scores between -{_LARGEST:g} and {_LARGEST:g} can be compared, got {s.score:g} on "
                    f"{s.lp} segment {s.segment}: divide all scores by one number"
                )
            found.append((row, column, s.score, s.weight))
    scores = np.full((len(rows), len(columns)), np.nan)
    weights = np.zeros_like(scores)
    for row, column, score, weight in found:
        scores[row, column], weights[row, column] = score, weight
    return ScoreMatrix(systems=tuple(columns), documents=tuple(documents), scores=scores, weights=weights)
