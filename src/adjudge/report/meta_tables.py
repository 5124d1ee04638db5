"""Meta-evaluations as tables: metrics best first, the best value of every measure marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from adjudge.meta.evaluation.results import MetaEvaluation, MetricResults, Stratum, named_gold
from adjudge.meta.measures import MEASURES
from adjudge.meta.measures.result import Result
from adjudge.report.numbers import NOTHING, exact_cells, interval, number, whole
from adjudge.report.tables import Table

__all__ = ["HEADINGS", "best_first", "meta_rows", "meta_tables"]

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
    "seg_kendall_like": "seg τ-like",
    "seg_mae": "MAE",
    "seg_mse": "MSE",
}
"""Headings for people; other measures have their names."""

_DIGITS: Final = 3
_EXACT: Final = 12
"""Decimals to which measures are computed."""

_CHANCE: Final = "seg_acc_eq"
"""The measure whose chance level stands beside it: it is no round number, as 0 or 0.5 are."""


def meta_tables(found: MetaEvaluation) -> list[Table]:
    """One table for each language pair and gold, its strata below it, and one for all of them together."""
    tables = []
    for part in found.parts or (found,):
        notes = (str(part.signature), *part.notes)
        tables.append(_table(part.metrics, part.measures, _title(part), notes))
        if _has_intervals([part]):
            tables.append(_interval_table(part))
        kinds = dict.fromkeys(stratum.kind for stratum in part.strata)
        tables += [_strata_table([s for s in part.strata if s.kind == k], part.measures) for k in kinds]
    if found.parts and found.has_numbers:
        notes = (str(found.signature), *found.notes)
        tables.append(_table(found.metrics, found.measures, _title(found), notes))
    return tables


def _title(found: MetaEvaluation) -> str:
    task = f", meta as {found.task}" if found.task else ""
    return f"{found.test_set} {found.lp}, {named_gold(found.gold)}{task}"


def _table(
    metrics: Sequence[MetricResults], measures: Sequence[str], title: str, notes: Sequence[str]
) -> Table:
    """Rows as `best_first` has them."""
    with_meta, ordered = _has_meta(metrics), best_first(metrics, measures)
    columns = ["metric", *([">meta"] if with_meta else [])]
    for name in measures:
        columns += [f">{HEADINGS.get(name, name)}", *([">chance"] if name == _CHANCE else [])]
    rows = [[m.name, *([_meta(m)] if with_meta else []), *_cells(m, measures)] for m in ordered]
    return Table(
        columns=[*columns, ">n", ">failed"],
        rows=rows,
        title=title,
        notes=[*_legend(measures, metrics), *_remarks(ordered, measures), *notes],
        best=frozenset(_best(ordered, measures, with_meta=with_meta)),
    )


def _strata_table(strata: Sequence[Stratum], measures: Sequence[str]) -> Table:
    """Parts of one kind one below the other, with a line between them; those that are too small as notes."""
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
    """95 % intervals, in the order of the values' table."""
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
    """Value of a measure, negated where less is better."""
    value = results[name].value if name in results else None
    return value if value is None or MEASURES[name].higher_is_better else -value


def _value(value: float | None) -> str:
    return number(value, _DIGITS)


def _meta(metric: MetricResults) -> str:
    return _cell(metric.meta, metric.clusters.get("meta"))


def _cell(value: float | None, cluster: int | None) -> str:
    return _value(value) if cluster is None else f"{_value(value)} ({cluster})"


def _cells(metric: MetricResults, measures: Sequence[str]) -> Iterator[str]:
    for name in measures:
        result = metric.results.get(name)
        yield _cell(None if result is None else result.value, metric.clusters.get(name))
        if name == _CHANCE:
            yield _value(None if result is None else result.chance)
    yield whole(metric.n)
    yield whole(metric.failed)


def _best(
    ordered: Sequence[MetricResults], measures: Sequence[str], *, with_meta: bool
) -> Iterator[tuple[int, int]]:
    """Cells with the best value of their column, or, where there are clusters, those of the first one."""
    names = [*(["meta"] if with_meta else []), *measures]
    column = 1
    for name in names:
        clusters = [m.clusters.get(name) for m in ordered]
        if any(clusters):
            yield from ((row, column) for row, cluster in enumerate(clusters) if cluster == 1)
        else:
            values = [m.meta if name == "meta" else _signed(name, m.results) for m in ordered]
            whole = [None if m.partial else v for m, v in zip(ordered, values, strict=True)]
            yield from _best_of(whole, column)
        column += 1 + (name == _CHANCE)


def _best_of(values: Sequence[float | None], column: int) -> Iterator[tuple[int, int]]:
    known = [_same(value) for value in values if value is not None]
    if known and min(known) < max(known):
        best = max(known)
        yield from ((row, column) for row, v in enumerate(values) if v is not None and _same(v) == best)


def _same(value: float) -> float:
    """The value without its last digits, by which rounding alone tells metrics apart."""
    return round(value, _EXACT)


def _legend(measures: Sequence[str], metrics: Sequence[MetricResults]) -> Iterator[str]:
    """What stars and brackets say."""
    if any(m.clusters for m in metrics):
        yield "In parentheses the significance cluster; a star marks the first one."
    elif len(metrics) > 1:
        yield "A star marks the best."
    if any(m.partial for m in metrics):
        yield "A metric that lacks a system which others have stands last, without star or cluster."
    if _CHANCE in measures and metrics:
        yield "n: translations that gold and the metric judged. chance: what acc_eq gives to knowing nothing."


def _remarks(metrics: Sequence[MetricResults], measures: Sequence[str]) -> Iterator[str]:
    """Why a cell is a dash, or what to know of its number, once for all cells that share it."""
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


# For programs...


def meta_rows(found: MetaEvaluation) -> Table:
    """One row for each metric of each part and stratum, at full precision; empty where there is no number."""
    parts = [*(found.parts or (found,)), *([found] if found.parts and found.has_numbers else [])]
    measures = list(dict.fromkeys(name for part in parts for name in part.measures))
    columns = ["lp", "gold", "stratum", "metric", "n_segments", "n", "meta"]
    columns += ["meta_low", "meta_high"] if _has_intervals(parts) else []
    columns += ["meta_cluster"] if _has_clusters(parts) else []
    for name in measures:
        columns += [name, f"{name}_n"]
        columns += [f"{name}_epsilon", f"{name}_chance"] if name == _CHANCE else []
        columns += [f"{name}_low", f"{name}_high"] if _has_intervals(parts) else []
        columns += [f"{name}_cluster"] if _has_clusters(parts) else []
    shape = (measures, _has_intervals(parts), _has_clusters(parts))
    rows = []
    for part in parts:
        place = [part.lp, part.gold]
        rows += [[*place, "", m.name, str(part.n_segments), *_exact(m, shape)] for m in part.metrics]
        for s in part.strata:
            label = f"{s.kind}: {s.name}"
            rows += [[*place, label, m.name, str(s.n_segments), *_exact(m, shape)] for m in s.metrics]
    return Table(columns=[*columns, "failed"], rows=rows)


def _has_intervals(parts: Sequence[MetaEvaluation]) -> bool:
    return any(r.interval is not None for p in parts for m in p.metrics for r in m.results.values())


def _has_clusters(parts: Sequence[MetaEvaluation]) -> bool:
    return any(m.clusters for p in parts for m in p.metrics)


def _exact(metric: MetricResults, shape: tuple[Sequence[str], bool, bool]) -> list[str]:
    measures, with_intervals, with_clusters = shape
    cells: list[object] = [metric.n, metric.meta]
    cells += [*(metric.meta_interval or (None, None))] if with_intervals else []
    cells += [metric.clusters.get("meta")] if with_clusters else []
    for name in measures:
        result = metric.results.get(name, Result(value=None, n=0))
        cells += [result.value, result.n]
        cells += [result.epsilon, result.chance] if name == _CHANCE else []
        cells += [*(result.interval or (None, None))] if with_intervals else []
        cells += [metric.clusters.get(name)] if with_clusters else []
    return exact_cells(*cells, metric.failed)
