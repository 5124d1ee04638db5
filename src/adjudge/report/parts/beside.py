"""Annotators of one language pair side by side: the same translations, an array of scores for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Final

import numpy as np

from adjudge.core.annotation import Annotation, Failure, Preference, Record
from adjudge.core.score import Scores, SegmentScore
from adjudge.core.segment import Segment
from adjudge.meta.agreement.matrix import PairAgreement, agreement_matrix
from adjudge.meta.measures.result import Floats, Result
from adjudge.report.annotators import Annotator
from adjudge.report.draws import draws_for
from adjudge.scoring.score import score

__all__ = ["MOST_ROWS", "Beside", "Voice", "beside"]

_MOST_PEOPLE: Final = 8
_FEWEST_SHARED: Final = 2
MOST_ROWS: Final = 16  # of a matrix in which numbers can be read


@dataclass(frozen=True, kw_only=True, eq=False)  # two of them are one only where they are the same
class Voice:
    """Scores of one annotator, or of one person of several.

    Args:
        label: what the page calls it.
        scores: systems by segments, NaN where not judged or failed.
        annotator: whom it belongs to.
        range: lowest and highest possible score.
    """

    label: str
    scores: Floats
    annotator: Annotator
    range: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Beside:
    """All annotators of one language pair.

    Args:
        lp: language pair.
        segments: columns.
        systems: rows.
        voices: one for each annotator with scores of translations, in page order.
        people: people of annotators that are several, where they judged the same translations.
        annotators: all of the language pair, those that compare translations among them.
    """

    lp: str
    segments: tuple[Segment, ...]
    systems: tuple[str, ...]
    voices: tuple[Voice, ...]
    people: tuple[Voice, ...]
    annotators: tuple[Annotator, ...]

    @property
    def size(self) -> int:
        """Translations of the page, judged or not."""
        return len(self.segments) * len(self.systems)

    @cached_property
    def truth(self) -> Voice | None:
        """What the others are measured by: gold, or where there is none, people."""
        for kind in ("gold", "people"):
            found = [v for v in self.voices if v.annotator.kind == kind]
            if found:
                return found[0]
        return None

    @property
    def measured(self) -> list[Voice]:
        """The others, where there is something to measure them by."""
        truth = self.truth
        return [v for v in self.voices if truth not in {None, v} and v.annotator.kind != "gold"]

    @cached_property
    def agreement(self) -> list[PairAgreement]:
        """Agreement of every two that have a row of the matrix; people instead of all of them together."""
        apart = {v.annotator.label for v in self.people}
        voices = [v for v in self.voices if v.label not in apart]
        scores = {v.label: v.scores for v in (*voices, *self.people)}
        kept = dict(list(scores.items())[:MOST_ROWS])
        return agreement_matrix(kept, resamples=draws_for(self.size))

    def agreement_with(self, truth: Voice, other: Voice) -> Result:
        """Pearson's r of two, whether they have a row or not."""
        two = {truth.label, other.label}
        known = next((p for p in self.agreement if {*p.between} == two), None)
        if known is None:
            scores = {v.label: v.scores for v in (truth, other)}
            (known,) = agreement_matrix(scores, resamples=draws_for(self.size))
        return known.pearson

    def preferences(self) -> list[Preference | Failure]:
        """Comparisons of everybody, each person apart, under names that no two of them share."""
        return [
            replace(r, annotator=_person(a, r.annotator))
            for a in self.annotators
            for r in a.of_lp(self.lp)
            if not isinstance(r, Annotation) and a.protocol == "pairwise"
        ]


def beside(lp: str, segments: Iterable[Segment], annotators: Sequence[Annotator]) -> Beside:
    """Put the scores of annotators side by side.

    Args:
        lp: language pair.
        segments: of the page; others are left out.
        annotators: of the page.
    """
    own = tuple(s for s in segments if s.lp == lp)
    systems = tuple(dict.fromkeys(name for s in own for name in s.translations))
    columns = {s.segment: column for column, s in enumerate(own)}
    rows = {name: row for row, name in enumerate(systems)}
    concerned = tuple(a for a in annotators if lp in a.results)
    scored = [a for a in concerned if a.protocol != "pairwise"]
    return Beside(
        lp=lp,
        segments=own,
        systems=systems,
        voices=tuple(_voice(a.label, a, a.results[lp].scores, rows, columns) for a in scored),
        people=tuple(v for a in scored if a.is_several for v in _people(a, lp, rows, columns)),
        annotators=concerned,
    )


def _voice(
    label: str, annotator: Annotator, scores: Scores, rows: Mapping[str, int], columns: Mapping[str, int]
) -> Voice:
    grid = _grid(scores.segments, rows, columns)
    return Voice(label=label, scores=grid, annotator=annotator, range=scores.range)


def _grid(scores: Sequence[SegmentScore], rows: Mapping[str, int], columns: Mapping[str, int]) -> Floats:
    grid = np.full((len(rows), len(columns)), np.nan)
    known = [s for s in scores if s.score is not None]
    row = [rows[s.system] for s in known]
    column = [columns[s.segment] for s in known]
    grid[row, column] = [s.score for s in known]
    return grid


def _people(
    annotator: Annotator, lp: str, rows: Mapping[str, int], columns: Mapping[str, int]
) -> Iterator[Voice]:
    """Each person, where there are few and two of them judged the same translations."""
    by_person: dict[str, list[Record]] = {}
    for record in annotator.of_lp(lp):
        by_person.setdefault(record.annotator, []).append(record)
    if len(by_person) > _MOST_PEOPLE:
        return
    judged = {
        name: {(r.segment, r.system) for r in records if isinstance(r, Annotation)}
        for name, records in by_person.items()
    }
    sharing = {
        name
        for two in combinations(judged, 2)
        if len(judged[two[0]] & judged[two[1]]) >= _FEWEST_SHARED
        for name in two
    }
    for name in (name for name in by_person if name in sharing):
        yield _voice(_person(annotator, name), annotator, score(by_person[name], lp=lp), rows, columns)


def _person(annotator: Annotator, name: str) -> str:
    """What a page calls a person: its name, and whose it is where there are several."""
    return f"{name} ({annotator.label})" if annotator.is_several else annotator.label
