"""Who agrees with gold, as tables: meta-evaluations, marked errors, papers.

For people, metrics stand best first with the best value of every measure marked; for programs there is
one row a metric, comparison or cell. Comparisons of marked errors and reproductions are JSON here, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import groupby, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from adjudge.analysis.meta_settings import CHANCE, PEOPLE, MetaEvaluation, MetricResults, Stratum, named_gold
from adjudge.core.columns import Column
from adjudge.core.protocol import Severity
from adjudge.core.scores import listed
from adjudge.core.wording import count
from adjudge.reports.tables import NOTHING, Table, interval, number, table_of, whole
from adjudge.stats.judged import Result
from adjudge.stats.measures import MEASURES

if TYPE_CHECKING:  # `adjudge meta` starts without them
    from adjudge.analysis.spans import Confusion, SpanComparison, SpanScore
    from adjudge.reproduce.reproduction import Cell, Reproduction

# Meta-evaluations


HEADINGS: Final[Mapping[str, str]] = {
    "sys_accuracy": "sys acc",
    "sys_pearson": "sys r",
    "sys_spearman": "sys ρ",
    "sys_kendall": "sys τb",
    "sys_kendall_c": "sys τc",
    "spa": "SPA",
    "seg_acc_eq": "acc_eq",
    "seg_pearson": "seg r",
    "seg_spearman": "seg ρ",
    "seg_kendall_b": "seg τb",
    "seg_kendall_c": "seg τc",
    "seg_tau_23_calibrated": "τ_eq",
    "seg_kendall_like": "seg τ-like",
    "seg_pdp": "PDP",
    "seg_contrastive": "contrastive",
    "seg_mae": "MAE",
    "seg_mse": "MSE",
}
"""Headings for people; other measures have their names."""

_DIGITS: Final = 3
_EXACT: Final = 12
"""Decimals to which measures are computed."""


def meta_tables(found: MetaEvaluation) -> list[Table]:
    """One table for each language pair and gold, its strata below it, and one for all of them together."""
    tables = []
    for part in found.parts or (found,):
        notes = (str(part.signature), *part.notes)
        tables.append(_table(part.metrics, part.measures, _title(part), notes, part.people))
        if any(r.interval is not None for p in [part] for m in p.metrics for r in m.results.values()):
            tables.append(_interval_table(part))
        kinds = dict.fromkeys(stratum.kind for stratum in part.strata)
        tables += [_strata_table([s for s in part.strata if s.kind == k], part.measures) for k in kinds]
    if found.parts and found.has_numbers:
        notes = (str(found.signature), *found.notes)
        tables.append(_table(found.metrics, found.measures, _title(found), notes, found.people))
    return tables


def _title(found: MetaEvaluation) -> str:
    task = f", meta as {found.task}" if found.task else ""
    return f"{found.test_set} {found.lp}, {named_gold(found.gold)}{task}"


def _table(
    metrics: Sequence[MetricResults],
    measures: Sequence[str],
    title: str,
    notes: Sequence[str],
    people: Sequence[MetricResults] = (),
) -> Table:
    with_meta, ordered = _has_meta(metrics), best_first(metrics, measures)
    with_ranks = any(m.average_rank is not None for m in metrics)
    columns = ["metric", *([">meta"] if with_meta else []), *([">rank"] if with_ranks else [])]
    for name in measures:
        columns += [f">{HEADINGS.get(name, name)}", *([">chance"] if name == CHANCE else [])]
    rows = [
        [
            m.name,
            *([_cell(m, "meta", m.meta)] if with_meta else []),
            *([number(m.average_rank, 1)] if with_ranks else []),
            *_cells(m, measures),
        ]
        for m in (*ordered, *(replace(row, name=f"{PEOPLE}{row.name}") for row in people))
    ]
    return Table(
        columns=[*columns, ">n", ">failed"],
        rows=rows,
        rules=frozenset({len(ordered) - 1} if people else ()),
        title=title,
        notes=[*_legend(measures, metrics), *_remarks(ordered, measures), *notes],
        best=frozenset(_best(ordered, measures, with_meta=with_meta)),
    )


def _strata_table(strata: Sequence[Stratum], measures: Sequence[str]) -> Table:
    rows: list[list[str]] = []
    rules, best, notes = set(), set(), []
    columns: Sequence[str] = ()
    for stratum in strata:
        table = _table(stratum.metrics, measures, "", [])
        columns = table.columns
        if stratum.reason:
            notes.append(f"{stratum.name}: no numbers, for {stratum.reason}.")
        best |= {(row + len(rows), column + 2) for row, column in table.best}
        rows += [[stratum.name, f"{stratum.n_segments:,}", *row] for row in table.rows]
        rules.add(len(rows) - 1)
        notes += [f"{stratum.name}: {note}" for note in _remarks(stratum.metrics, measures)]
    return Table(
        columns=[strata[0].kind, ">segments", *columns],
        rows=rows,
        rules=frozenset(rules - {-1, len(rows) - 1}),
        title=f"by {strata[0].kind}",
        notes=notes,
        best=frozenset(best),
    )


def _interval_table(part: MetaEvaluation) -> Table:
    with_meta, ordered = _has_meta(part.metrics), best_first(part.metrics, part.measures)
    names = [*([">meta"] if with_meta else []), *(f">{HEADINGS.get(name, name)}" for name in part.measures)]
    rows = []
    for m in ordered:
        bounds = [*([m.meta_interval] if with_meta else []), *(m.results[n].interval for n in part.measures)]
        rows.append([m.name, *(interval(each, _DIGITS) for each in bounds)])
    return Table(columns=["metric", *names], rows=rows, title=f"95 % intervals, {part.lp}")


def best_first(metrics: Sequence[MetricResults], measures: Sequence[str]) -> list[MetricResults]:
    """Metrics by `meta`, else by the first measure; those without a value, or that lack a system, last."""
    with_meta = _has_meta(metrics)
    return sorted(metrics, key=lambda m: _rank(m, measures, with_meta=with_meta))


def _has_meta(metrics: Sequence[MetricResults]) -> bool:
    return any(m.meta is not None for m in metrics)


def _rank(
    metric: MetricResults, measures: Sequence[str], *, with_meta: bool
) -> tuple[bool, bool, float, str]:
    value = metric.meta if with_meta else _signed(measures[0], metric.results) if measures else None
    return (value is None, metric.partial, -_same(value or 0.0), metric.name)


def _signed(name: str, results: Mapping[str, Result]) -> float | None:
    value = results[name].value if name in results else None
    return value if value is None or MEASURES[name].higher_is_better else -value


def _value(value: float | None) -> str:
    return number(value, _DIGITS)


def _cell(metric: MetricResults, name: str, value: float | None) -> str:
    cluster, mark = metric.clusters.get(name), "?" if name in metric.open_clusters else ""
    return _value(value) if cluster is None else f"{_value(value)} ({cluster}{mark})"


def _cells(metric: MetricResults, measures: Sequence[str]) -> Iterator[str]:
    for name in measures:
        result = metric.results.get(name)
        yield _cell(metric, name, None if result is None else result.value)
        if name == CHANCE:
            yield _value(None if result is None else result.chance)
    yield whole(metric.n)
    yield whole(metric.failed)


def _best(
    ordered: Sequence[MetricResults], measures: Sequence[str], *, with_meta: bool
) -> Iterator[tuple[int, int]]:
    names = [*(["meta"] if with_meta else []), *measures]
    if len(_amounts(ordered)) > 1:
        return
    column = 1
    for name in names:
        chosen = [not m.partial and _beats_chance(m.results.get(name)) for m in ordered]
        clusters = [m.clusters.get(name) for m in ordered]
        if any(clusters):
            rows = [row for row, cluster in enumerate(clusters) if cluster == 1 and chosen[row]]
            yield from ((row, column) for row in rows)
        else:
            values = [m.meta if name == "meta" else _signed(name, m.results) for m in ordered]
            whole = [None if m.partial else v for m, v in zip(ordered, values, strict=True)]
            yield from ((row, place) for row, place in _best_of(whole, column) if chosen[row])
        with_ranks = name == "meta" and any(m.average_rank is not None for m in ordered)
        column += 1 + (with_ranks or name == CHANCE)


def _amounts(metrics: Sequence[MetricResults]) -> set[int]:
    return {m.n for m in metrics if not m.partial}


def _beats_chance(result: Result | None) -> bool:
    if result is None or result.value is None or result.chance is None:
        return True
    return _same(result.value) > _same(result.chance)


def _best_of(values: Sequence[float | None], column: int) -> Iterator[tuple[int, int]]:
    known = [_same(value) for value in values if value is not None]
    if known and min(known) < max(known):
        best = max(known)
        yield from ((row, column) for row, v in enumerate(values) if v is not None and _same(v) == best)


def _same(value: float) -> float:
    return round(value, _EXACT)


def _legend(measures: Sequence[str], metrics: Sequence[MetricResults]) -> Iterator[str]:
    if any(m.clusters for m in metrics):
        yield "In parentheses the significance cluster; a star marks the first one."
    elif len(metrics) > 1:
        yield "A star marks the best."
    if len(found := _amounts(metrics)) > 1:
        yield (
            f"The metrics scored different translations, {min(found):,} to {max(found):,} (column n): their "
            "values cannot be compared, and none has a star. Leave out scores of a part, or score the rest."
        )
    if any(m.partial for m in metrics):
        yield "A metric that lacks a system which others have stands last, without star or cluster."
    if any(m.average_rank is not None for m in metrics):
        yield "rank: mean of the places by the statistics that meta is the mean of."
    if CHANCE in measures and metrics:
        yield "n: translations scored by both gold and the metric. chance: acc_eq of a constant metric."


def _remarks(metrics: Sequence[MetricResults], measures: Sequence[str]) -> Iterator[str]:
    told: dict[tuple[str, str], list[str]] = {}
    for metric in metrics:
        for name in measures:
            result = metric.results.get(name)
            if result is not None and (text := result.reason or result.note):
                mark = f"{NOTHING} " if result.value is None else ""
                told.setdefault((mark, text), []).append(f"{HEADINGS.get(name, name)} of {metric.name}")
    for (mark, text), cells in told.items():
        more = f" and {len(cells) - 3} others" if len(cells) > 3 else ""
        yield f"{mark}{', '.join(cells[:3])}{more}: {text}."


def meta_rows(found: MetaEvaluation) -> Table:
    """One row for each metric of each part and stratum, at full precision; empty where there is no number."""
    return table_of(found.columns(), found.groups(), exact=True)


# Spans


def span_table(comparisons: Mapping[str, SpanComparison], *, exact: bool, by: str = "group") -> Table:
    """One row a run, rule, threshold and group."""
    from adjudge.analysis.spans import SpanRow, span_columns

    rows = [
        SpanRow(run, comparison.failed, score)
        for run, comparison in comparisons.items()
        for score in comparison.scores
    ]
    columns = span_columns(rows, by)
    has_groups = any(column.name == by for column in columns)
    ends = frozenset(
        place
        for place, (one, other) in enumerate(pairwise(rows))
        if one.run != other.run or (has_groups and not other.score.group)
    )
    return table_of(columns, {"": rows}, exact=exact, digits=_DIGITS, rules=ends, notes=_notes(comparisons))


def _notes(comparisons: Mapping[str, SpanComparison]) -> Sequence[str]:
    (average,) = {comparison.average for comparison in comparisons.values()}
    rules = {score.rule: score.unit for comparison in comparisons.values() for score in comparison.scores}
    units = "; ".join(
        f"{', '.join(rule for rule in rules if rules[rule] == unit)} in {unit}"
        for unit in dict.fromkeys(rules.values())
    )
    several = len(comparisons) > 1
    notes = [
        f"{run}: {note}" if several else note
        for run, comparison in comparisons.items()
        for note in comparison.notes
    ]
    return [*_signatures(comparisons), f"Average: {average}; {units}.", *notes]


def _signatures(found: Mapping[str, SpanComparison] | Mapping[str, Confusion]) -> list[str]:
    return [f"{run}: {one.signature}" if len(found) > 1 else str(one.signature) for run, one in found.items()]


# Severities


def confusion_table(found: Confusion, title: str = "") -> Table:
    """A row for each severity of gold, a column for each of the run; then what one side alone marked."""
    severities = [*found.severities, None]
    rows = [[gold or "not marked", *(_amount(found, gold, run) for run in severities)] for gold in severities]
    return Table(
        columns=["in gold", *(f">{run or 'not marked'}" for run in severities)],
        rows=rows,
        rules=frozenset({len(rows) - 2}),
        title=title,
        notes=[str(found.signature), *_is_same(found), *found.notes],
    )


def _amount(found: Confusion, gold: Severity | None, run: Severity | None) -> str:
    return "" if gold is run is None else whole(found.counts.get((gold, run), 0))


def _is_same(found: Confusion) -> Iterator[str]:
    for name, result in (("Same severity", found.same), ("Cohen's kappa", found.kappa)):
        yield f"{name}, of marks that both marked: {_told(result)}."


def _told(result: Result) -> str:
    if result.value is None:
        return f"none, for {result.reason}"
    around = "" if result.interval is None else f" ({interval(result.interval, _DIGITS)})"
    return f"{number(result.value, _DIGITS)}{around}, n = {whole(result.n)}"


def confusion_rows(found: Mapping[str, Confusion]) -> Table:
    """One row a run and two severities, for programs; an empty cell where that side marked nothing."""
    from adjudge.analysis.spans import CONFUSION

    several = len(found) > 1
    rows = [(*row, run) for run, one in found.items() for row in one.groups()[""]]
    columns = [*([Column("run", "its name", of=itemgetter(3))] if several else []), *CONFUSION]
    notes = [
        f"{run}: {note}" if several else note
        for run, one in found.items()
        for note in (*_is_same(one), *one.notes)
    ]
    return table_of(columns, {"": rows}, exact=True, notes=[*_signatures(found), *notes])


# Spans as JSON


def span_data(comparison: SpanComparison, by: str | None) -> dict[str, Any]:
    """One comparison: one row is the object itself, several rows stand in it."""
    shared = {"average": comparison.average, "failed": comparison.failed}
    whole = [score for score in comparison.scores if not score.group]
    if len(whole) > 1:
        return {**shared, "scores": [_row(score) for score in comparison.scores], **_said(comparison)}
    data = {**_row(whole[0]), **shared}
    if by is not None:
        data |= {"by": by, "groups": {s.group: _row(s) for s in comparison.scores if s.group}}
    return {**data, **_said(comparison)}


def _said(found: SpanComparison | Confusion) -> dict[str, Any]:
    return {"signature": str(found.signature), "notes": list(found.notes)}


def _row(score: SpanScore) -> dict[str, Any]:
    data: dict[str, Any] = {
        "rule": score.rule,
        "threshold": score.threshold,
        "precision": score.precision,
        "recall": score.recall,
        "f1": score.f1,
        "n_gold": score.n_gold,
        "n_pred": score.n_pred,
        "n_segments": score.n_segments,
        "unit": score.unit,
    }
    if score.group:
        data["group"] = score.group
    if score.intervals:
        data["intervals"] = {name: listed(found) for name, found in score.intervals.items()}
    return data


def confusion_data(found: Confusion) -> dict[str, Any]:
    """Which severity a run gives to what gold marks; null where one side marked nothing."""
    return {
        "counts": [{"gold": gold, "run": run, "n": n} for (gold, run), n in found.counts.items()],
        "same": _result(found.same),
        "kappa": _result(found.kappa),
        "n_segments": found.n_segments,
        "failed": found.failed,
        **_said(found),
    }


def _result(found: Result) -> dict[str, Any]:
    return {"value": found.value, "interval": listed(found.interval), "n": found.n}


_COLUMNS: Final = ("row", "column", ">paper", ">ours", ">difference", "verdict", "reason")

_DIGITS_OF_OURS: Final = 4  # of a number that the paper does not print


def reproduction_tables(found: Reproduction) -> list[Table]:
    """One table for each of the paper's; cells of a row that want the same file share a line."""
    tables = [
        Table(columns=_COLUMNS, rows=list(_lines(list(cells))), title=name)
        for name, cells in groupby(found.cells, key=lambda cell: cell.table)
    ]
    notes = [f"{found.title} ({found.source})", *found.notes, str(found.signature), summary(found)]
    return [*tables[:-1], Table(columns=_COLUMNS, rows=tables[-1].rows, title=tables[-1].title, notes=notes)]


def _lines(cells: Sequence[Cell]) -> Iterator[list[str]]:
    for _, group in groupby(cells, key=lambda cell: (cell.row, cell.ours is None and cell.reason)):
        same = list(group)
        first = same[0]
        if first.ours is not None:
            yield from (_line(cell, cell.ours) for cell in same if cell.ours is not None)
            continue
        paper = first.paper if len(same) == 1 else " ".join(cell.paper for cell in same)
        columns = first.column if len(same) == 1 else count(len(same), "column")
        yield [first.row, columns, paper, NOTHING, NOTHING, first.verdict, first.reason]


def _line(cell: Cell, ours: float) -> list[str]:
    if cell.is_unprinted:
        digits = 0 if ours == int(ours) else _DIGITS_OF_OURS
        return [cell.row, cell.column, NOTHING, number(ours, digits), NOTHING, NOTHING, cell.reason]
    digits = 1 - int(Decimal(cell.paper).as_tuple().exponent)
    difference = ours - float(cell.paper)
    return [
        cell.row,
        cell.column,
        cell.paper,
        number(ours, digits),
        number(difference, digits),
        cell.verdict,
        cell.reason,
    ]


def reproduction_rows(found: Reproduction) -> Table:
    """One row a cell, every digit, for programs."""
    columns = [
        Column("table", "of the paper"),
        Column("row", "its name"),
        Column("column", "its name"),
        Column("paper", "as printed", "count"),
        Column("ours", "with every digit", "decimal"),
        Column("verdict", "match, rounding, differs or missing-input"),
        Column("reason", "why they differ, or which file is wanted"),
    ]
    return table_of(columns, {"": found.cells}, exact=True)


def reproduction_data(found: Reproduction) -> dict[str, Any]:
    """The same as one JSON object."""
    return {
        "signature": str(found.signature),
        "paper": found.paper,
        "title": found.title,
        "source": found.source,
        "cells": [
            {
                "table": cell.table,
                "row": cell.row,
                "column": cell.column,
                "paper": None if cell.is_unprinted else float(cell.paper),
                "ours": cell.ours,
                "verdict": cell.verdict,
                "reason": cell.reason or None,
            }
            for cell in found.cells
        ],
        "counts": dict(found.counts),
        "notes": list(found.notes),
    }


def summary(found: Reproduction) -> str:
    """How many cells have which verdict, in one line."""
    counts = found.counts
    alone = sum(cell.is_unprinted and cell.ours is not None for cell in found.cells)
    computed = len(found.cells) - counts["missing-input"]
    unprinted = f"; {alone:,} have no number in the paper" if alone else ""
    return (
        f"{found.paper}: {count(len(found.cells), 'cell')}; of {computed:,} computed "
        f"{counts['match']:,} match, "
        f"{counts['rounding']:,} are apart by rounding, {counts['differs']:,} differ; "
        f"{counts['missing-input'] - alone:,} lack an input{unprinted}."
    )
