"""Scores and rankings as tables: fixed digits and notes for people, full precision for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Final, TypeVar

from adjudge.core.score import Scores, SystemScore
from adjudge.meta.ranking.rank import RankedSystem, Ranking
from adjudge.report.numbers import (
    NOTHING,
    digits_for,
    exact_cells,
    interval,
    number,
    p_value,
    rank_range,
    whole,
)
from adjudge.report.tables import Table
from adjudge.scoring.aggregate import document_scores

__all__ = ["document_table", "p_value_table", "ranking_table", "segment_table", "system_table"]

T = TypeVar("T", bound=SystemScore | RankedSystem)
_ALL: Final = "all"  # stands for the language pair in rows over all of them
_FAILED: Final = "failed"
_STRENGTH_DIGITS: Final = 2


def system_table(scores: Scores, *, exact: bool) -> Table:
    """One row a system, best first.

    Args:
        scores: with or without intervals; several language pairs stand one below the other, then all of
            them together.
        exact: full precision, and an empty cell where there is no number, for programs.
    """
    groups = _groups({lp: part.systems for lp, part in scores.lps.items()}, scores.systems)
    ordered = {lp: sorted(rows, key=_best_first) for lp, rows in groups.items()}

    def cells(row: SystemScore, digits: int) -> list[str]:
        return [
            row.system,
            *_score_cells(row, digits, exact=exact),
            whole(row.n, exact=exact),
            whole(row.failed, exact=exact),
            *(whole(row.readings.get(flag, 0), exact=exact) for flag in readings),
        ]

    readings = _readings(groups)
    columns = ["system", *_score_columns(exact=exact), ">n", ">failed", *(f">{flag}" for flag in readings)]
    rows, rules = _rows(ordered, cells)
    return Table(columns=_with_lp(columns, groups), rows=rows, rules=rules, notes=_notes(scores))


def ranking_table(ranking: Ranking, *, exact: bool, title: str = "") -> Table:
    """One row a system, best first, with the ranks that its tests allow and a line below each cluster.

    Args:
        ranking: several language pairs stand one below the other, then all of them together.
        exact: full precision, and an empty cell where there is no number, for programs.
        title: such as the run's name.
    """
    groups = _groups({lp: part.systems for lp, part in ranking.lps.items()}, ranking.systems)

    every = [row for group in groups.values() for row in group]
    has_strengths = any(row.strength is not None for row in every)

    def cells(row: RankedSystem, digits: int) -> list[str]:
        strength = [_number(row.strength, _STRENGTH_DIGITS, exact=exact)] if has_strengths else []
        cluster = ("" if exact else NOTHING) if row.cluster is None else str(row.cluster)
        ranks = exact_cells(row.best, row.worst) if exact else [rank_range(row.best, row.worst)]
        score = _score_cells(row, digits, exact=exact)
        return [
            row.system,
            *score,
            *strength,
            *ranks,
            cluster,
            whole(row.n, exact=exact),
            whole(row.failed, exact=exact),
            *(whole(row.readings.get(flag, 0), exact=exact) for flag in readings),
        ]

    readings = _readings(groups)
    ranks = [">best_rank", ">worst_rank"] if exact else [">rank"]
    strengths = [">log strength"] if has_strengths else []
    counts = [">n", ">failed", *(f">{flag}" for flag in readings)]
    columns = ["system", *_score_columns(exact=exact), *strengths, *ranks, ">cluster", *counts]
    rows, rules = _rows(groups, cells)
    clusters = [row.cluster for row in every]
    ends = {i for i, (this, following) in enumerate(pairwise(clusters)) if this != following}
    return Table(
        columns=_with_lp(columns, groups),
        rows=rows,
        rules=rules | ends,
        title=title,
        notes=[str(ranking.signature), f"Method: {ranking.method}.", *ranking.notes],
    )


def p_value_table(ranking: Ranking, *, exact: bool) -> Table:
    """One row a system, best first: the two-sided p-value of its difference to each system below.

    Args:
        ranking: several language pairs stand one below the other, then all of them together.
        exact: full precision, one row a pair, for programs.
    """
    parts = {**ranking.lps, _ALL: ranking} if ranking.lps else {"": ranking}
    parts = {lp: part for lp, part in parts.items() if part.p_values}
    names = {lp: [row.system for row in part.systems if row.best is not None] for lp, part in parts.items()}
    if exact:
        rows = [
            [*([lp] if lp else []), names[lp][i], names[lp][j], repr(part.p_values[i][j])]
            for lp, part in parts.items()
            for i, j in combinations(range(len(names[lp])), 2)
        ]
        return Table(columns=_with_lp(["better", "worse", ">p"], parts), rows=rows)
    most = max(map(len, names.values()), default=0)
    cells = [
        [*([lp] if lp else []), f"{i + 1} {name}", *(_p_value(p) for p in part.p_values[i][:most])]
        for lp, part in parts.items()
        for i, name in enumerate(names[lp])
    ]
    notes = (
        "p: two-sided, of the difference of two systems; not corrected for the number of pairs.",
        "Columns are numbered as rows are.",
    )
    columns = _with_lp(["system", *(f">{j + 1}" for j in range(most))], parts)
    width = len(columns)
    cells = [[*row, *[NOTHING] * (width - len(row))] for row in cells]
    ends = [len(own) for own in names.values()]
    rules = frozenset(sum(ends[: k + 1]) - 1 for k in range(len(ends) - 1))
    return Table(columns=columns, rows=cells, rules=rules, notes=list(notes))


def _p_value(p: float | None) -> str:
    return NOTHING if p is None else p_value(p)


def document_table(scores: Scores, *, exact: bool) -> Table:
    """One row a document and system, in test-set order."""
    documents = document_scores(scores.segments)
    digits = digits_for([d.score for d in documents], ())
    rows = [
        [
            d.lp,
            d.document,
            d.system,
            _number(d.score, digits, exact=exact),
            whole(d.n, exact=exact),
            whole(d.failed, exact=exact),
        ]
        for d in documents
    ]
    columns = ["lp", "document", "system", ">score", ">n", ">failed"]
    return _without_one_lp(Table(columns=columns, rows=rows, notes=_notes(scores, "mean")), scores)


def segment_table(scores: Scores, *, exact: bool) -> Table:
    """One row a translation, in test-set order; `failed` where its judgement failed."""
    digits = digits_for([s.score for s in scores.segments], ())
    rows = [
        [
            s.lp,
            s.segment,
            s.system,
            _FAILED if s.score is None and not exact else _number(s.score, digits, exact=exact),
        ]
        for s in scores.segments
    ]
    columns = ["lp", "segment", "system", ">score"]
    return _without_one_lp(Table(columns=columns, rows=rows, notes=_notes(scores, "segment")), scores)


def _readings(groups: Mapping[str, Sequence[T]]) -> list[str]:
    """Flags that say how judgements were read, those that some system has."""
    return list(dict.fromkeys(flag for rows in groups.values() for row in rows for flag in row.readings))


def _groups(lps: Mapping[str, Sequence[T]], whole: Sequence[T]) -> dict[str, Sequence[T]]:
    """Rows by language pair, then those over all; one language pair has no name here."""
    return {**lps, _ALL: whole} if lps else {"": whole}


def _with_lp(columns: list[str], groups: Mapping[str, object]) -> list[str]:
    return columns if "" in groups else ["lp", *columns]


def _rows(
    groups: Mapping[str, Sequence[T]], cells: Callable[[T, int], list[str]]
) -> tuple[list[list[str]], frozenset[int]]:
    """Cells of all rows, with the same digits in all of them, and the rows that end a language pair."""
    every = [row for group in groups.values() for row in group]
    digits = digits_for([row.score for row in every], [row.interval for row in every])
    rows: list[list[str]] = []
    ends = set()
    for lp, group in groups.items():
        rows += [[lp, *cells(row, digits)] if lp else cells(row, digits) for row in group]
        ends.add(len(rows) - 1)
    return rows, frozenset(ends - {-1, len(rows) - 1})


def _best_first(row: SystemScore) -> tuple[bool, float]:
    return (row.score is None, -(row.score or 0.0))


def _score_columns(*, exact: bool) -> list[str]:
    return [">score", ">low", ">high"] if exact else [">score", ">95 % interval"]


def _score_cells(row: SystemScore | RankedSystem, digits: int, *, exact: bool) -> list[str]:
    if not exact:
        return [number(row.score, digits), interval(row.interval, digits)]
    return exact_cells(row.score, *(row.interval or (None, None)))


def _number(value: float | None, digits: int, *, exact: bool) -> str:
    return exact_cells(value)[0] if exact else number(value, digits)


def _notes(scores: Scores, level: str = "corpus") -> list[str]:
    """Signature, range and notes; `level` is that of the table, where a metric has a score of the corpus."""
    low, high = (number(bound, 0) for bound in scores.range)
    has_corpus = "level" in scores.signature.fields
    signature = scores.signature.with_fields(level=level) if has_corpus else scores.signature
    return [str(signature), f"Scores lie in {low} to {high}; {scores.direction}.", *scores.notes]


def _without_one_lp(table: Table, scores: Scores) -> Table:
    """Leave out the column of the language pair where there is one only."""
    if scores.lps:
        return table
    return replace(table, columns=table.columns[1:], rows=[row[1:] for row in table.rows])
