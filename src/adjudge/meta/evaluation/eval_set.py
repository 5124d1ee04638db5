"""A test set as meta-evaluation sees it: scores of gold and metrics as arrays, and what each segment is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from adjudge.meta.measures.result import Floats

__all__ = ["CLEAN", "UNSEEN", "EvalSet", "ScoreSet"]

CLEAN: Final = -1
"""Stands for the worst severity where nothing was marked."""
UNSEEN: Final = -2
"""Where nobody looked."""


@dataclass(frozen=True, kw_only=True)
class ScoreSet:
    """Scores that one annotator, metric or gold, gave to the systems of an `EvalSet`.

    Args:
        name: such as `mqm` or `COMET-refA`.
        segments: systems by segments, higher is better; NaN where a translation was not judged.
        systems: one score a system; NaN where it was not judged.
        failed: judgements asked for and not obtained, by system; no number stands for them.
        reference: that a metric was shown, `src` for none; empty where that is not known.
        range: lowest and highest possible score, where the protocol has bounds.
        worst: systems by segments, the worst severity marked: its place in `SEVERITIES`, `CLEAN` or `UNSEEN`.
            None where that is not known.
    """

    name: str
    segments: Floats
    systems: Floats
    failed: Mapping[str, int] = field(default_factory=dict)
    reference: str = ""
    range: tuple[float, float] | None = None
    worst: NDArray[np.int8] | None = None

    @property
    def unscored(self) -> NDArray[np.bool_]:
        """Systems without any score: of segments, or, where there is none of these at all, of systems."""
        lost = np.asarray(np.isnan(self.segments).all(axis=1), dtype=np.bool_)
        return np.asarray(np.isnan(self.systems), dtype=np.bool_) if lost.all() else lost

    def select(self, rows: Sequence[int], names: Sequence[str]) -> ScoreSet:
        """Keep some systems.

        Args:
            rows: their places.
            names: their names.
        """
        return replace(
            self,
            segments=self.segments[rows],
            systems=self.systems[rows],
            failed={name: self.failed[name] for name in names if name in self.failed},
            worst=None if self.worst is None else self.worst[rows],
        )


@dataclass(frozen=True, kw_only=True)
class EvalSet:
    """One language pair of a test set, with its gold and its metrics.

    Args:
        name: of the test set.
        lp: language pair.
        systems: rows of every array, in the order of their names.
        segments: ids, columns of every array.
        documents: document of each segment; empty where there is none.
        domains: domain of each segment; empty where there is none.
        lengths: of each source, in white-space tokens, or characters where the script has no spaces.
        golds: by name.
        metrics: by name.
        references: systems that are references, such as `refA`.
        shown: references that the test set's own metrics were shown, those that were not read included.
        known_as: name that task sets know it by.
        notes: what a reader of the numbers must know of the files.
    """

    name: str
    lp: str
    systems: tuple[str, ...]
    segments: tuple[str, ...]
    documents: tuple[str, ...]
    domains: tuple[str, ...]
    lengths: tuple[int, ...]
    golds: Mapping[str, ScoreSet]
    metrics: Mapping[str, ScoreSet]
    references: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    known_as: str = ""
    notes: tuple[str, ...] = ()

    def select(self, systems: Sequence[str]) -> EvalSet:
        """Keep some systems, in this order."""
        rows = [self.systems.index(name) for name in systems]
        return replace(
            self,
            systems=tuple(systems),
            golds={name: gold.select(rows, systems) for name, gold in self.golds.items()},
            metrics={name: metric.select(rows, systems) for name, metric in self.metrics.items()},
            references=tuple(name for name in self.references if name in systems),
        )
