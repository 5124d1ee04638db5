"""Preferences as an array: comparisons by annotators, NaN where a verdict is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from adjudge.core.annotation import Failure, Preference, Record, Verdict
from adjudge.errors import DataError
from adjudge.meta.measures.result import Floats

__all__ = ["VERDICTS", "Comparison", "Comparisons", "in_order_of_names", "numbered", "tabulate"]

VERDICTS: Final[Mapping[Verdict, float]] = {"A": 1.0, "E": 0.0, "B": -1.0}
"""A verdict as a number: how far it is for A."""


class Comparison(NamedTuple):
    """Two translations of one segment; `first` is before `second` in the order of names."""

    lp: str
    segment: str
    first: str
    second: str
    document: str = ""


@dataclass(frozen=True, kw_only=True)
class Comparisons:
    """Verdicts of any number of annotators on one criterion.

    Args:
        criterion: of all verdicts.
        units: what was compared, in order of first appearance.
        annotators: columns.
        labels: units by annotators: 1 for the first system, 0 for a tie, -1 for the second, NaN for none.
        failed: comparisons asked for and not obtained, by annotator.
        failed_of: the same by system.
        undecided: comparisons whose verdict changed with the order and counts as none, by annotator.
    """

    criterion: str
    units: tuple[Comparison, ...]
    annotators: tuple[str, ...]
    labels: Floats
    failed: Mapping[str, int]
    failed_of: Mapping[str, int]
    undecided: Mapping[str, int] = field(default_factory=dict)

    @property
    def systems(self) -> tuple[str, ...]:
        """Every system that was compared, or should have been, in the order of names."""
        return tuple(sorted({s for u in self.units for s in (u.first, u.second)} | set(self.failed_of)))

    @property
    def segments(self) -> list[int]:
        """Group of each unit: its segment, numbered from 0."""
        return numbered([(u.lp, u.segment) for u in self.units])

    @property
    def documents(self) -> list[int]:
        """Group of each unit: its document, numbered from 0; a segment without one is one of its own."""
        return numbered([(u.lp, u.document, "" if u.document else u.segment) for u in self.units])

    def column(self, annotator: str) -> Floats:
        """Verdicts of one annotator."""
        return np.asarray(self.labels[:, self.annotators.index(annotator)])

    def mean_of(self, annotators: Sequence[str]) -> Floats:
        """Mean verdict of several annotators, over those of them who judged; NaN where none did."""
        labels = self.labels[:, [self.annotators.index(name) for name in annotators]]
        judged = (~np.isnan(labels)).sum(axis=1)
        means = np.full(len(labels), np.nan)
        np.divide(np.nansum(labels, axis=1), judged, out=means, where=judged > 0)
        return means


def numbered(keys: Sequence[tuple[str, ...]]) -> list[int]:
    """Number keys from 0 in order of first appearance; equal ones alike."""
    places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    return [places[key] for key in keys]


def tabulate(records: Iterable[Record], criterion: str) -> Comparisons:
    """Arrange the preferences on one criterion; others, and annotations, are left out.

    Raises:
        DataError: one annotator compared a pair twice, in whichever order.
    """
    units: dict[tuple[str, ...], Comparison] = {}
    verdicts: dict[tuple[tuple[str, ...], str], float] = {}
    failed: Counter[str] = Counter()
    failed_of: Counter[str] = Counter()
    undecided: Counter[str] = Counter()
    annotators: dict[str, None] = {}
    for record in records:
        if isinstance(record, Failure) and len(record.systems) == 2 and record.criterion in {None, criterion}:
            failed[record.annotator] += 1
            failed_of.update(record.systems)
        elif not isinstance(record, Preference) or record.criterion != criterion:
            continue
        else:
            unit, verdict = _unit(record)
            key = unit[:4]
            if (key, record.annotator) in verdicts:
                raise DataError(_twice(record))
            verdicts[key, record.annotator] = np.nan if record.is_undecided else verdict
            undecided[record.annotator] += record.is_undecided
            units[key] = units[key] if key in units and units[key].document else unit
        annotators[record.annotator] = None
    rows = {key: place for place, key in enumerate(units)}
    columns = {name: place for place, name in enumerate(annotators)}
    labels = np.full((len(rows), len(columns)), np.nan)
    for (compared, annotator), verdict in verdicts.items():
        labels[rows[compared], columns[annotator]] = verdict
    return Comparisons(
        criterion=criterion,
        units=tuple(units.values()),
        annotators=tuple(columns),
        labels=labels,
        failed=failed,
        failed_of=failed_of,
        undecided=+undecided,
    )


def in_order_of_names(record: Preference) -> tuple[str, str, float]:
    """The two systems in the order of their names, and how far the verdict is for the first."""
    first, second = sorted(record.systems)
    verdict = VERDICTS[record.verdict] * (1 if record.systems[0] == first else -1)
    return first, second, verdict + 0.0  # a tie is 0, not -0


def _unit(record: Preference) -> tuple[Comparison, float]:
    first, second, verdict = in_order_of_names(record)
    return Comparison(record.lp, record.segment, first, second, record.document), verdict


def _twice(record: Preference) -> str:
    systems = " and ".join(record.systems)
    where = f"segment {record.segment!r} of {record.lp} for {record.criterion}"
    return f"{record.annotator!r} compared {systems} twice on {where}; keep the record that counts"
