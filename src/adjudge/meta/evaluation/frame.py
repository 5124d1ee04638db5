"""The segments and systems that every score of an eval set is about, read without their translations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np

from adjudge.core.language import script_of, source_language
from adjudge.core.segment import Segment
from adjudge.meta.measures.result import Floats

__all__ = ["Frame", "is_unspaced", "length_names", "row_means", "source_lengths"]

_UNSPACED: Final = frozenset({"Hans", "Hant", "Hani", "Jpan", "Thai", "Laoo", "Khmr", "Mymr", "Tibt"})
"""Scripts that put no space between words."""


@dataclass(frozen=True, kw_only=True)
class Frame:
    """Rows and columns of the arrays of one language pair.

    Args:
        name: of the test set.
        lp: canonical language pair.
        segments: columns, in test-set order.
        systems: rows, in the order of their names.
        references: systems that are references too.
    """

    name: str
    lp: str
    segments: tuple[Segment, ...]
    systems: tuple[str, ...]
    references: tuple[str, ...] = ()

    @cached_property
    def rows(self) -> dict[str, int]:
        """Row of each system."""
        return {name: row for row, name in enumerate(self.systems)}

    @cached_property
    def columns(self) -> dict[str, int]:
        """Column of each segment id."""
        return {segment.segment: column for column, segment in enumerate(self.segments)}

    def empty(self) -> Floats:
        """Systems by segments without a score."""
        return np.full((len(self.systems), len(self.segments)), np.nan)


def row_means(scores: Floats) -> Floats:
    """Mean of each system over the segments that have a score; NaN where none has.

    Args:
        scores: systems by segments.
    """
    judged = ~np.isnan(scores)
    means, counts = np.full(len(scores), np.nan), judged.sum(axis=1)
    np.divide(np.where(judged, scores, 0.0).sum(axis=1), counts, out=means, where=counts > 0)
    return means


def source_lengths(segments: Iterable[Segment], lp: str) -> tuple[int, ...]:
    """Length of each source: white-space tokens, or characters where no space stands between words."""
    if is_unspaced(lp):
        return tuple(sum(not char.isspace() for char in s.source) for s in segments)
    return tuple(len(s.source.split()) for s in segments)


def length_names(lp: str, bins: Sequence[int]) -> list[str]:
    """Names of bins of `source_lengths`, shortest first: `under 12 tokens`, `12 to 26 tokens`, and so on.

    Args:
        lp: language pair.
        bins: where a longer source begins.
    """
    unit = "characters" if is_unspaced(lp) else "tokens"
    if not bins:
        return [f"any number of {unit}"]
    inner = [f"{low} to {high - 1} {unit}" for low, high in pairwise(bins)]
    return [f"under {bins[0]} {unit}", *inner, f"{bins[-1]} {unit} and more"]


def is_unspaced(lp: str) -> bool:
    """Whether no space stands between the words of the source."""
    return script_of(source_language(lp)) in _UNSPACED
