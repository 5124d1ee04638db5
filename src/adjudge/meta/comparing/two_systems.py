"""Two systems on what is judged in both: whole, by language pair and by domain. Pure; reads no files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adjudge.core.score import Scores, Signature
from adjudge.core.wording import form, of_all
from adjudge.errors import DataError, UsageError
from adjudge.meta.bootstrap import lone_unit_note
from adjudge.meta.comparing.bounds import FEW_UNITS
from adjudge.meta.comparing.difference import PAIRED_TESTS, Difference, PairedTest, difference, method_of
from adjudge.meta.matrix import ScoreMatrix, score_matrix
from adjudge.meta.paired import is_exact, smallest_p_value
from adjudge.meta.significance.corrections import holm
from adjudge.scoring.coverage import coverage_note

__all__ = [
    "LEAST",
    "Comparison",
    "ComparisonSettings",
    "Part",
    "Place",
    "Side",
    "Stratum",
    "are_documents_known",
    "compare_scores",
    "every_part",
    "notes_of",
    "pairs_of",
    "parts_of",
    "side_by_side",
    "side_of",
    "unit_notes",
]

Place = tuple[str, str]
"""A segment: language pair and id."""


class Part(NamedTuple):
    """Some of the segments: name, kind of that name, and which rows they are."""

    name: str
    kind: str
    rows: NDArray[np.bool_]


LEAST: Final = 10
"""Segments of a stratum; of fewer, no difference is said."""

_ALPHA: Final = 0.05


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the two that are compared.

    Args:
        name: of the system, or of the run where it has several systems or both have the same one.
        signature: of its scores.
        n: translations judged.
        failed: judgements asked for and not obtained.
    """

    name: str
    signature: Signature
    n: int
    failed: int


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """The difference on some of the segments.

    Args:
        name: `all`, a language pair or a domain.
        kind: what the name is.
        n: segments that both were judged on.
        difference: first less second.
        p_holm: p corrected for the number of strata, where that was asked for.
    """

    name: str
    kind: str
    n: int
    difference: Difference
    p_holm: float | None = None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two systems on the segments that both were judged on.

    Args:
        first: one of them.
        second: the other one.
        whole: the difference on all common segments.
        strata: the difference for each language pair, and for each domain, where there are several.
        method: how interval and p came about.
        notes: what a reader must know: segments left out, failures, few units.
    """

    first: Side
    second: Side
    whole: Stratum
    strata: tuple[Stratum, ...] = ()
    method: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ComparisonSettings:
    """How to compare.

    Args:
        test: that the p-values are of.
        by_document: draw and flip whole documents, whose segments are not independent; None for documents
            where they are known.
        correct: also give p-values of strata that Holm corrected.
        resamples: draws of the bootstrap, and random sign flips of the permutation test.
        seed: of both.

    Raises:
        UsageError: a setting out of its range.
    """

    test: PairedTest = "permutation"
    by_document: bool | None = None
    correct: bool = False
    resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if self.test not in PAIRED_TESTS:
            raise UsageError(f"test must be one of {', '.join(PAIRED_TESTS)}; got {self.test!r}")
        if self.resamples < 1:
            raise UsageError(f"resamples must be 1 or more, got {self.resamples}")
        if self.seed < 0:
            raise UsageError(f"seed must be 0 or more, got {self.seed}")


def compare_scores(
    first: Scores,
    second: Scores,
    systems: Sequence[str] | None = None,
    *,
    settings: ComparisonSettings | None = None,
    domains: Mapping[Place, str] | None = None,
) -> Comparison:
    """Compare two systems on the segments that both were judged on.

    Without `systems`, each side is expected to have one. Where they have several, those that both have are
    compared, and a segment's score is the mean over those of its systems that were judged in both, since
    translations of one segment are not independent of each other.

    Args:
        first: scores that hold the first system.
        second: scores that hold the second; may be the same.
        systems: name of the first and of the second.
        settings: how to compare.
        domains: of segments, for the strata.

    Raises:
        DataError: nothing is judged in both.
        UsageError: no such system, none in common, or no documents where they are wanted.
    """
    settings = settings or ComparisonSettings()
    pairs = pairs_of(first, second, systems)
    places, matrix, asked = side_by_side(first, second, pairs)
    if settings.by_document is None:
        settings = replace(settings, by_document=are_documents_known(matrix))
    strata, small = _strata(places, matrix, domains or {}, settings)
    if settings.correct:
        corrected = holm(np.array([stratum.difference.p for stratum in strata])).tolist()
        strata = [replace(s, p_holm=p) for s, p in zip(strata, corrected, strict=True)]
    whole = _stratum("all", "all", matrix, settings)
    names = pairs[0] if len(pairs) == 1 else ("first", "second")
    sides = [
        side_of(name, scores, {pair[index] for pair in pairs})
        for index, (name, scores) in enumerate(zip(names, (first, second), strict=True))
    ]
    units = whole.difference.units
    of = "documents" if settings.by_document else "segments"
    return Comparison(
        first=sides[0],
        second=sides[1],
        whole=whole,
        strata=tuple(strata),
        method=method_of(settings.test, units, of, settings.resamples, settings.seed),
        notes=(
            *notes_of(first, second),
            *_coverage_notes(asked - len(places), asked, len(pairs)),
            *unit_notes(whole.n, units, whole.difference.effective, by_document=bool(settings.by_document)),
            *_power_notes(whole.difference, settings),
            *small,
            *_strata_notes(strata, settings),
        ),
    )


def pairs_of(first: Scores, second: Scores, systems: Sequence[str] | None) -> list[tuple[str, str]]:
    """Systems to compare, first and second."""
    here, there = (list(dict.fromkeys(s.system for s in scores.segments)) for scores in (first, second))
    if systems is not None:
        if len(systems) != 2:
            raise UsageError(f"two systems are compared, got {len(systems)}: {', '.join(systems) or 'none'}")
        for name, known in zip(systems, (here, there), strict=True):
            if name not in known:
                raise UsageError(f"there is no system {name!r}; there are {', '.join(known)}")
        if first is second and systems[0] == systems[1]:
            raise UsageError(f"{systems[0]!r} would be compared with itself")
        return [(systems[0], systems[1])]
    if len(here) == len(there) == 1:
        return [(here[0], there[0])]
    common = [name for name in here if name in there]
    if not common:
        raise UsageError(
            f"no system is in both: the first has {', '.join(here)}, the second {', '.join(there)}; "
            "name one of each with --systems A,B"
        )
    return [(name, name) for name in common]


def side_by_side(
    first: Scores, second: Scores, pairs: Sequence[tuple[str, str]]
) -> tuple[list[Place], ScoreMatrix, int]:
    """Segments judged in both, their scores in two columns, and how many segments there are in all."""
    systems = [f"0{name}" for name, _ in pairs], [f"1{name}" for _, name in pairs]
    marked = [
        replace(s, system=f"{side}{s.system}")
        for side, scores in enumerate((first, second))
        for s in scores.segments
        if f"{side}{s.system}" in systems[side]
    ]
    matrix = score_matrix(marked)
    place = list(dict.fromkeys((s.lp, s.segment) for s in marked))
    columns = [[matrix.systems.index(name) for name in names] for names in systems]
    scores, weights = (np.stack([array[:, c] for c in columns]) for array in (matrix.scores, matrix.weights))
    known = ~np.isnan(scores).any(axis=0)
    sizes = np.where(known, weights, 0.0).sum(axis=2)
    rows = sizes.all(axis=0)
    if not rows.any():
        raise DataError("no segment is judged in both: do the two judge the same test set?")
    sums = np.where(known, weights * np.nan_to_num(scores), 0.0).sum(axis=2)
    return (
        [name for name, kept in zip(place, rows.tolist(), strict=True) if kept],
        ScoreMatrix(
            systems=("first", "second"),
            documents=tuple(d for d, kept in zip(matrix.documents, rows.tolist(), strict=True) if kept),
            scores=(sums[:, rows] / sizes[:, rows]).T,
            weights=sizes[:, rows].T,
        ),
        len(place),
    )


def _stratum(name: str, kind: str, matrix: ScoreMatrix, settings: ComparisonSettings) -> Stratum:
    segments = matrix.totals(by_document=False)
    documents = matrix.totals(by_document=True) if settings.by_document else None
    found = difference(
        *((segments,) if documents is None else (documents, segments)),
        test=settings.test,
        resamples=settings.resamples,
        seed=settings.seed,
    )
    return Stratum(name=name, kind=kind, n=len(matrix.scores), difference=found)


def _strata(
    places: Sequence[Place],
    matrix: ScoreMatrix,
    domains: Mapping[Place, str],
    settings: ComparisonSettings,
) -> tuple[list[Stratum], list[str]]:
    """Language pairs and domains, where there are several of a kind; and what is said of too small ones."""
    parts, small = parts_of(places, domains)
    found = [_stratum(p.name, p.kind, matrix.select(p.rows, (0, 1)), settings) for p in parts]
    return found, small


def parts_of(places: Sequence[Place], domains: Mapping[Place, str]) -> tuple[list[Part], list[str]]:
    """Language pairs and domains, where there are several of a kind; and what is said of too small ones."""
    found, small = [], []
    for part in every_part(places, domains):
        if part.rows.sum() >= LEAST:
            found.append(part)
        else:
            small.append(f"{part.name} is not compared alone: it has fewer than {LEAST} common segments.")
    return found, small


def every_part(places: Sequence[Place], domains: Mapping[Place, str]) -> Iterator[Part]:
    """Language pairs and domains, where there are several of a kind, however small."""
    kinds = {"lp": [lp for lp, _ in places], "domain": [domains.get(place, "") for place in places]}
    for kind, labels in kinds.items():
        names = [name for name in dict.fromkeys(labels) if name]
        for name in names if len(names) > 1 else []:
            yield Part(name, kind, np.array([label == name for label in labels]))


def side_of(name: str, scores: Scores, systems: set[str]) -> Side:
    """What is said of one side: how many of its translations were judged, and how many could not be."""
    parts = scores.lps.values() or [scores]
    rows = [system for part in parts for system in part.systems if system.system in systems]
    return Side(
        name=name,
        signature=scores.signature,
        n=sum(s.score is not None for s in scores.segments if s.system in systems),
        failed=sum(row.failed for row in rows),
    )


# What a reader must know...


def notes_of(first: Scores, second: Scores) -> Iterator[str]:
    """What the scores say of themselves, and whether they can be compared."""
    yield from _score_notes(first, second)
    yield from _signature_notes(first, second)


def _signature_notes(first: Scores, second: Scores) -> Iterator[str]:
    if not first.signature.is_comparable_with(second.signature):
        yield (
            "The signatures differ: the difference may be that of the judges or settings and not of the "
            f"systems ({first.signature}; {second.signature})."
        )
    if "corpus" in {s.signature.fields.get("level") for s in (first, second)}:
        yield "These are means of segment scores; corpus scores (`adjudge score`) cannot be resampled."


def _score_notes(*scores: Scores) -> Iterator[str]:
    """What the scores say of themselves, but for the coverage: only what both have is compared."""
    found = dict.fromkeys(note for each in scores for note in each.notes)
    parts = [part for each in scores for part in (each, *each.lps.values())]
    coverage = {note for part in parts for note in coverage_note(part.segments)}
    yield from (note for note in found if not any(note.endswith(each) for each in coverage))


def _coverage_notes(dropped: int, asked: int, systems: int) -> Iterator[str]:
    if systems > 1:
        yield f"Each segment's score is the mean over the {systems} systems that both have."
    if dropped:
        which = of_all(dropped, asked, "segment")
        yield f"{which} {form(dropped, 'is', 'are')} not judged in both, and left out."


def are_documents_known(matrix: ScoreMatrix) -> bool:
    """Whether segments name two documents or more: then documents, and not segments, are drawn."""
    return len({key for key in matrix.documents if key[1]}) > 1


def unit_notes(n: int, units: int, effective: float, *, by_document: bool) -> Iterator[str]:
    """Say what varies independently, and how many such units there are.

    Args:
        n: segments.
        units: that vary independently.
        effective: independent segments that are worth as much.
        by_document: whether the units are documents.
    """
    if by_document:
        yield (
            f"Documents are the unit: {n:,} segments of {units:,} documents are worth about {effective:,.0f} "
            "independent segments. --by-segment takes segments as independent."
        )
    if 1 < units < FEW_UNITS:
        of = "documents" if by_document else "segments"
        yield f"With fewer than {FEW_UNITS} {of} intervals are wide on purpose, to err on the safe side."


def _power_notes(found: Difference, settings: ComparisonSettings) -> Iterator[str]:
    units = found.units
    yield from lone_unit_note(units, "documents" if settings.by_document else "segments")
    if found.interval is not None and found.interval.low == found.interval.high:
        yield "All differences are equal: the interval has no width and says nothing of other segments."
    least = (
        smallest_p_value(units - 1, settings.resamples) if is_exact(units) else 1 / (settings.resamples + 1)
    )
    if settings.test == "permutation" and least >= _ALPHA:
        yield f"Too few segments or documents, or resamples: p cannot be below {least:g}."


def _strata_notes(strata: Sequence[Stratum], settings: ComparisonSettings) -> Iterator[str]:
    if strata and not settings.correct:
        yield f"The {len(strata)} p-values below the first are not corrected for their number; --holm does."
