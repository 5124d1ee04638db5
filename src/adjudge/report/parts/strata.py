"""Scores by domain, length of the source and document: where a mean over all of them hides something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from adjudge.core.score import Interval
from adjudge.meta.evaluation.binned import clustered_mean
from adjudge.meta.evaluation.frame import length_names, source_lengths
from adjudge.meta.measures.result import Floats
from adjudge.report.numbers import NOTHING, digits_for, number, whole
from adjudge.report.parts.beside import Beside, Voice
from adjudge.report.parts.figures import Dot, dots_figure
from adjudge.report.parts.part import Part
from adjudge.report.tables import Table

__all__ = ["strata_part"]

_MOST_DOMAINS: Final = 12
_DOCUMENTS: Final = 6
_FEWEST: Final = 6  # segments; fewer are not worth cutting into parts


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """Segments that have something in common.

    Args:
        kind: domain, length or document.
        label: their name.
        columns: which they are.
    """

    kind: str
    label: str
    columns: NDArray[np.bool_]


def strata_part(found: Beside) -> Part | None:
    """Means of every annotator by stratum, and of every system by the one that the others are measured by."""
    voices = found.voices
    if not voices or len(found.segments) < _FEWEST:
        return None
    first = found.truth or voices[0]
    strata = [*_by_domain(found), *_by_length(found), *_by_document(found, first)]
    if len(strata) < 2:
        return None
    dots = _dots(first, [s for s in strata if s.kind != "document"])
    title = _finding(first, dots)
    figures = [dots_figure(f"strata.{found.lp}", title, dots, _axis(first))] if len(dots) > 1 else []
    means = replace(_table(voices, strata), notes=_document_notes(found, first, strata))
    notes = ["Intervals (95 %, after ±) are over segments; means are over all systems that were judged."]
    return Part(
        name="strata",
        title="Domains, lengths, documents",
        finding=title,
        figures=tuple(figures),
        tables=(means, _system_table(found, first, strata)),
        notes=tuple(notes),
    )


def _document_notes(found: Beside, first: Voice, strata: Sequence[Stratum]) -> list[str]:
    """Say which documents of how many stand in the table."""
    shown = sum(s.kind == "document" for s in strata)
    several = sum(n > 1 for n in Counter(s.document for s in found.segments if s.document).values())
    if not shown:
        return []
    if shown == several:
        return [f"All {several:,} documents of several segments, the lowest by {first.label} first."]
    return [f"Of {several:,} documents of several segments, the {shown} that score lowest by {first.label}."]


def _axis(first: Voice) -> str:
    n = int((~np.isnan(first.scores)).sum())
    return f"mean score by {first.label}, higher is better; n = {n:,} translations, those of a row at its end"


# What segments have in common...


def _by_domain(found: Beside) -> Iterator[Stratum]:
    counts = Counter(s.domain for s in found.segments)
    if len(counts) < 2:
        return
    for domain, _ in counts.most_common(_MOST_DOMAINS):
        columns = np.array([s.domain == domain for s in found.segments])
        yield Stratum(kind="domain", label=domain or "no domain", columns=columns)


def _by_length(found: Beside) -> Iterator[Stratum]:
    """Thirds of the segments by the length of their sources."""
    lengths = np.array(source_lengths(found.segments, found.lp))
    cuts = sorted({int(np.ceil(q)) for q in np.quantile(lengths, (1 / 3, 2 / 3))} - {int(lengths.min())})
    if not cuts:
        return
    place = np.searchsorted(cuts, lengths, side="right")
    for index, name in enumerate(length_names(found.lp, cuts)):
        yield Stratum(kind="length", label=name, columns=place == index)


def _by_document(found: Beside, first: Voice) -> list[Stratum]:
    """The documents of several segments that score lowest."""
    counts = Counter(s.document for s in found.segments if s.document)
    if len(counts) < 2 or len(counts) * 2 > len(found.segments):
        return []
    documents = [s.document for s in found.segments]
    judged = ~np.isnan(first.scores)
    sums = np.where(judged, first.scores, 0.0).sum(axis=0)
    totals: dict[str, list[float]] = {}
    for document, part, amount in zip(documents, sums.tolist(), judged.sum(axis=0).tolist(), strict=True):
        known = totals.setdefault(document, [0.0, 0.0])
        known[0] += part
        known[1] += amount
    several = {name for name in counts if counts[name] > 1}
    means = {name: part / amount for name, (part, amount) in totals.items() if amount and name in several}
    lowest = sorted(means, key=lambda name: (means[name], name))[:_DOCUMENTS]
    return [
        Stratum(kind="document", label=name, columns=np.array([d == name for d in documents]))
        for name in lowest
    ]


# Their means...


def _mean(scores: Floats, columns: NDArray[np.bool_]) -> tuple[float, Interval | None, int] | None:
    inside = ~np.isnan(scores) & columns
    if not inside.any():
        return None
    return (*clustered_mean(scores, inside), int(inside.sum()))


def _dots(voice: Voice, strata: Sequence[Stratum]) -> list[Dot]:
    dots = []
    for stratum in strata:
        if (mean := _mean(voice.scores, stratum.columns)) is not None:
            value, interval, n = mean
            dots.append(Dot(group=stratum.kind, label=stratum.label, value=value, interval=interval, n=n))
    return dots


def _finding(first: Voice, dots: Sequence[Dot]) -> str:
    """Which domain, or else length, is told apart from the best one of its kind."""
    for kind in ("domain", "length"):
        own = sorted((d for d in dots if d.group == kind), key=lambda d: d.value)
        if len(own) < 2:
            continue
        low, high = own[0], own[-1]
        if low.interval is not None and high.interval is not None and low.interval.high < high.interval.low:
            digits = digits_for([d.value for d in own], [d.interval for d in own])
            values = f"{number(low.value, digits)} against {number(high.value, digits)}"
            return f"By {first.label}, {low.label} scores lowest and {high.label} highest: {values}"
    return f"No domain or length is told apart by {first.label}"


def _table(voices: Sequence[Voice], strata: Sequence[Stratum]) -> Table:
    """A row for each stratum, a column for each annotator."""
    columns = [_column(v.scores, strata) for v in voices]
    rows = [
        [s.kind, s.label, whole(int(s.columns.sum())), *(column[row] for column in columns)]
        for row, s in enumerate(strata)
    ]
    headings = ["By", "Part", ">segments", *(f">{v.label}" for v in voices)]
    return Table(columns=headings, rows=rows, rules=_rules(strata), title="Mean score of all systems")


def _column(scores: Floats, strata: Sequence[Stratum]) -> list[str]:
    """Means of some cells by stratum, all with the same digits."""
    means = [_mean(scores, s.columns) for s in strata]
    digits = digits_for([m[0] for m in means if m], [m[1] for m in means if m])
    return [NOTHING if m is None else _with_reach(m[0], m[1], digits) for m in means]


def _with_reach(mean: float, interval: Interval | None, digits: int) -> str:
    reach = "" if interval is None else f" ± {number((interval.high - interval.low) / 2, digits)}"
    return number(mean, digits) + reach


def _system_table(found: Beside, first: Voice, strata: Sequence[Stratum]) -> Table:
    """A row for each system, a column for each stratum but the documents."""
    kept = [s for s in strata if s.kind != "document"] or list(strata)
    judged = [row for row in range(len(found.systems)) if not np.isnan(first.scores[row]).all()]
    rows = [[found.systems[row], *_column(first.scores[[row]], kept)] for row in judged]
    return Table(
        columns=["System", *(f">{s.label}" for s in kept)],
        rows=rows,
        title=f"Mean score of each system by {first.label}",
    )


def _rules(strata: Sequence[Stratum]) -> frozenset[int]:
    return frozenset(i for i, (a, b) in enumerate(pairwise(strata)) if a.kind != b.kind)
