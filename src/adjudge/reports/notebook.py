"""What notebooks and consoles show: runs, records and results as HTML, as text and as figures.

Values ask for it themselves (`core.columns`: `as_html`, `Framed`); anything else is none of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

from adjudge.core.columns import Framed
from adjudge.core.record import Record
from adjudge.core.scores import Run
from adjudge.core.segment import TestSet
from adjudge.errors import UsageError
from adjudge.reports.figures import Figure, distribution_figure, lost_of, ranking_figure
from adjudge.reports.metric_figures import meta_figures, threshold_figure
from adjudge.reports.metric_tables import confusion_table, meta_tables, span_table
from adjudge.reports.part_figures import Dot, bars_figure, dots_figure
from adjudge.reports.result_tables import (
    agreement_table,
    bias_table,
    comparison_table,
    estimate_table,
    gate_table,
    power_table,
    ranking_table,
    system_table,
    threshold_table,
)
from adjudge.reports.tables import Table, digits_for, number, render_table, whole
from adjudge.reports.words import finding

_ROWS: Final = 20
_NOTES: Final = 4
_NOTE: Final = 240  # characters
_MOST: Final = 3_900  # bytes


def render(value: object) -> str | None:
    """Any of our types as HTML; None for others, which are then shown as text."""
    from adjudge.reports import notebook_html as html

    if isinstance(value, Run):
        return html.render_run(value)
    if isinstance(value, Record):
        return html.render_record(value)
    tables = _TABLES.get(type(value).__name__) if type(value).__module__.startswith("adjudge.") else None
    return None if tables is None else html.render_tables(tables(value))


def _texts(value: TestSet) -> Table:
    rows = []
    for lp in value.lps:
        part = value.select(lp=lp)
        documents = len({s.document for s in part if s.document})
        counts = (len(part), documents, len(part.systems), len(part.references))
        rows.append([lp, *map(whole, counts), ", ".join(part.systems)])
    columns = ["lp", ">segments", ">documents", ">systems", ">references", "names of systems"]
    return Table(title=value.name, columns=columns, rows=rows)


_TABLES: Final[dict[str, Callable[[Any], Iterable[Table]]]] = {
    "Scores": lambda value: [system_table(value, exact=False)],
    "TestSet": lambda value: [_texts(value)],
    "Ranking": lambda value: [ranking_table(value, exact=False)],
    "Comparison": lambda value: [comparison_table(value, exact=False)],
    "Gate": lambda value: [gate_table(value, exact=False)],
    "MetaEvaluation": meta_tables,
    "SpanComparison": lambda value: [span_table({"": value}, exact=False)],
    "Confusion": lambda value: [confusion_table(value)],
    "Biases": lambda value: [bias_table(value, exact=False)],
    "Agreement": lambda value: [agreement_table(value, exact=False)],
    "Thresholds": lambda value: [threshold_table(value, exact=False)],
    "Power": lambda value: [power_table(value, exact=False)],
    "Estimation": lambda value: [estimate_table(value, exact=False)],
    "Table": lambda value: [value],
}


def render_latex(value: Framed) -> str:
    kind = type(value).__name__
    if kind not in _TABLES:
        raise UsageError(f"{kind} has no table for a paper; there are tables of {', '.join(_TABLES)}")
    return "\n".join(render_table(table, "latex") for table in _TABLES[kind](value))


def render_text(value: Framed) -> str:
    """The tables of a result for a console: their first rows and notes, in less than 4 kB."""
    shown = []
    for table in _TABLES[type(value).__name__](value):
        more = len(table.rows) - _ROWS
        notes = [note if len(note) <= _NOTE else note[:_NOTE] + "..." for note in table.notes[:_NOTES]]
        notes = (
            [f"... and {more:,} more rows: to_polars() and to_pandas() have all", *notes]
            if more > 0
            else notes
        )
        cut = replace(
            table, rows=table.rows[:_ROWS], rules=frozenset(r for r in table.rules if r < _ROWS), notes=notes
        )
        shown.append(render_table(cut, "table"))
    text = "\n".join("\n".join(line.rstrip() for line in each.split("\n")) for each in shown).strip("\n")
    raw = text.encode()
    return text if len(raw) <= _MOST else raw[:_MOST].decode(errors="ignore").rpartition("\n")[0] + "\n..."


def figure_of(value: Framed) -> Figure:
    kind = type(value).__name__
    if kind not in _FIGURES:
        raise UsageError(f"{kind} has no figure; there are figures of {', '.join(_FIGURES)}")
    several = [*getattr(value, "lps", ())] or [part.lp for part in getattr(value, "parts", ())]
    if len(several) > 1:
        raise UsageError(f"a figure is of one language pair: choose one with lp=, of {', '.join(several)}")
    figure = _FIGURES[kind](value)
    if figure is None:
        raise UsageError(f"{kind} has no numbers to draw")
    return figure


def _draw_ranking(ranking: Any) -> Figure | None:  # noqa: ANN401 (named by its type)
    rows = ranking.systems
    has_scores = any(row.score is not None for row in rows)
    return (
        ranking_figure("ranking", finding(rows, ranking.few), rows, "score, higher is better")
        if has_scores
        else None
    )


def _draw_scores(scores: Any) -> Figure | None:  # noqa: ANN401 (the same)
    (rows,) = scores.groups().values()
    by_system: dict[str, list[float]] = {row.system: [] for row in rows if row.score is not None}
    for each in scores.segments:
        if each.score is not None and each.system in by_system:
            by_system[each.system].append(each.score)
    if not by_system:
        return None
    what = f"score, {scores.direction}"
    return distribution_figure("scores", by_system, what, top=scores.range[1], lost=lost_of(rows))


def _draw_comparison(comparison: Any) -> Figure | None:  # noqa: ANN401 (the same)
    rows = [comparison.whole, *comparison.strata]
    first, second = comparison.first.name, comparison.second.name
    found = comparison.whole.difference
    value = number(found.value, digits_for([found.value], [found.interval]))
    dots = [
        Dot(group=r.kind, label=r.name, value=r.difference.value, interval=r.difference.interval, n=r.n)
        for r in rows
    ]
    what = f"score of {first} less score of {second}, higher is better; with 95 % interval and segments"
    return dots_figure("difference", f"{first} less {second}: {value}", dots, what)


def _draw_meta(found: Any) -> Figure | None:  # noqa: ANN401 (the same)
    figures = [*meta_figures(found)]
    matrix = [figure for figure in figures if figure.name.startswith("correlations")]
    return next(iter([*matrix, *figures]), None)


def _draw_spans(found: Any) -> Figure | None:  # noqa: ANN401 (the same)
    if len({row.threshold for row in found.scores}) < 2:
        raise UsageError(
            "a figure of marks needs one rule and several of its thresholds: threshold=(0.1, 0.5, 1)"
        )
    return threshold_figure("spans", {"marks": found})


def _draw_agreement(agreement: Any) -> Figure | None:  # noqa: ANN401 (the same)
    dots = [
        Dot(
            group=row.measure,
            label=" ".join(filter(None, [row.measure, row.criterion, " and ".join(row.between)])),
            value=row.result.value,
            interval=row.result.interval,
            n=row.result.n,
        )
        for row in agreement.rows
        if row.result.value is not None
    ]
    what = "value of each measure, with 95 % interval and units"
    return dots_figure("agreement", "Agreement", dots, what) if dots else None


def _draw_thresholds(found: Any) -> Figure | None:  # noqa: ANN401 (the same)
    shares = {band.name: band.shares for band in found.bands}
    return bars_figure("thresholds", "Published, post-edited, rejected", shares, "share of the translations")


_FIGURES: Final[dict[str, Callable[[Any], Figure | None]]] = {
    "Ranking": _draw_ranking,
    "Scores": _draw_scores,
    "Comparison": _draw_comparison,
    "MetaEvaluation": _draw_meta,
    "SpanComparison": _draw_spans,
    "Agreement": _draw_agreement,
    "Thresholds": _draw_thresholds,
}


class Shown:
    """Records under the texts that they are about; a notebook shows it, elsewhere it says what it is."""

    def __init__(self, records: Iterable[Record], test_set: TestSet) -> None:
        self.records = tuple(records)
        self.test_set = test_set

    def __repr__(self) -> str:
        return f"<{len(self.records)} records on {len(self.test_set)} segments of {self.test_set.name!r}>"

    def _repr_html_(self) -> str:
        from adjudge.reports.notebook_html import render_records

        return render_records(self.records, self.test_set)


def show(
    judged: Run | Iterable[Record],
    test_set: TestSet | None = None,
    *,
    segments: Iterable[str] = (),
    systems: Iterable[str] = (),
) -> Shown:
    """Records in a notebook, with their errors underlined in the texts."""
    texts = judged.test_set if test_set is None and isinstance(judged, Run) else test_set
    if texts is None:
        raise UsageError("records have no texts: show(records, test_set) needs the test set they are about")
    ids, names = {*segments}, {*systems}
    given = [*(judged.records if isinstance(judged, Run) else judged)]
    _check("segment", ids, {record.segment for record in given})
    _check("system", names, {name for record in given for name in record.systems})
    records = [
        record
        for record in given
        if (not ids or record.segment in ids) and (not names or not names.isdisjoint(record.systems))
    ]
    said = {(record.lp, record.segment) for record in records}
    kept = tuple(segment for segment in texts if (segment.lp, segment.segment) in said)
    return Shown(records, TestSet(name=texts.name, segments=kept))


def _check(what: str, wanted: set[str], known: set[str]) -> None:
    if unknown := sorted(map(repr, wanted - known)):
        raise UsageError(
            f"no judgement is about {what} {', '.join(unknown)}; there are judgements of {len(known)} others"
        )
