"""Span comparisons as tables: fixed digits for people, full precision for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from adjudge.core.score import Interval
from adjudge.core.typology import Severity
from adjudge.core.wording import count
from adjudge.meta.measures.result import Result
from adjudge.meta.spans.compare import SpanComparison, SpanScore
from adjudge.meta.spans.confusion import Confusion
from adjudge.meta.spans.error_free import ErrorFree
from adjudge.meta.spans.publishable import Publishable
from adjudge.report.numbers import NOTHING, exact_cells, interval, number, whole
from adjudge.report.tables import Table

__all__ = ["confusion_rows", "confusion_table", "error_free_table", "span_table"]

_DIGITS: Final = 3
_MEASURES: Final = {"precision": "precision", "recall": "recall", "f1": "F1"}


def span_table(comparisons: Mapping[str, SpanComparison], *, exact: bool, by: str = "group") -> Table:
    """One row a run, rule, threshold and group.

    Args:
        comparisons: by run.
        exact: full precision, for programs.
        by: what the groups are.
    """
    rows = [
        (run, comparison, score) for run, comparison in comparisons.items() for score in comparison.scores
    ]
    scores = [score for _, _, score in rows]
    shown = {
        "run": len(comparisons) > 1,
        "threshold": any(score.threshold is not None for score in scores),
        by: any(score.group for score in scores),
    }
    with_intervals = any(score.intervals for score in scores)
    ends = {
        place
        for place, (one, other) in enumerate(pairwise(rows))
        if one[0] != other[0] or (shown[by] and not other[2].group)
    }
    columns = [
        *(["run"] if shown["run"] else []),
        "rule",
        *([">threshold"] if shown["threshold"] else []),
        *([by] if shown[by] else []),
        *_measure_columns(exact=exact, with_intervals=with_intervals),
        *(">n gold", ">n predicted", ">translations", ">failed"),
    ]
    cells = [
        [
            *([run] if shown["run"] else []),
            score.rule,
            *([_threshold(score)] if shown["threshold"] else []),
            *([score.group or "all"] if shown[by] else []),
            *_measure_cells(score, exact=exact, with_intervals=with_intervals),
            *(whole(n, exact=exact) for n in (score.n_gold, score.n_pred, score.n_segments)),
            whole(comparison.failed, exact=exact),
        ]
        for run, comparison, score in rows
    ]
    return Table(columns=columns, rows=cells, rules=frozenset(ends), notes=_notes(comparisons))


def _threshold(score: SpanScore) -> str:
    return "" if score.threshold is None else f"{score.threshold:g}"


def _measure_columns(*, exact: bool, with_intervals: bool) -> list[str]:
    if not with_intervals:
        return [f">{title}" for title in _MEASURES.values()]
    if not exact:
        return [c for title in _MEASURES.values() for c in (f">{title}", ">95 % interval")]
    return [c for title in _MEASURES.values() for c in (f">{title}", f">{title} low", f">{title} high")]


def _measure_cells(score: SpanScore, *, exact: bool, with_intervals: bool) -> list[str]:
    cells = []
    for name in _MEASURES:
        value: float = getattr(score, name)
        found: Interval | None = score.intervals.get(name)
        is_of_nothing = not {"precision": score.n_pred, "recall": score.n_gold}.get(name, 1)
        cells.append(repr(value) if exact else number(None if is_of_nothing else value, _DIGITS))
        if with_intervals and exact:
            cells += exact_cells(*(found or (None, None)))
        elif with_intervals:
            cells.append(interval(found, _DIGITS))
    return cells


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


def _signatures(
    found: Mapping[str, SpanComparison] | Mapping[str, ErrorFree] | Mapping[str, Confusion],
) -> list[str]:
    """One line a run, named where there are several."""
    return [f"{run}: {one.signature}" if len(found) > 1 else str(one.signature) for run, one in found.items()]


def error_free_table(found: Mapping[str, ErrorFree], *, exact: bool) -> Table:
    """One row a run: how well it tells which translations have no errors.

    Args:
        found: by run.
        exact: full precision, and an empty cell where there is no number, for programs.
    """
    several = len(found) > 1
    columns = [*(["run"] if several else []), *(f">{title}" for title in _FREE), *_FREE_COUNTS]
    rows = []
    for run, one in found.items():
        values = [getattr(one, name) for name in _FREE.values()]
        share = one.publishable
        values += [share.share, share.threshold]
        cells = exact_cells(*values) if exact else [number(value, _DIGITS) for value in values]
        counts = [one.n_gold, one.n_pred, one.n, one.failed]
        cells += [("" if exact else NOTHING) if n is None else whole(n, exact=exact) for n in counts]
        rows.append([*([run] if several else []), *cells])
    return Table(columns=columns, rows=rows, notes=_free_notes(found))


_FREE: Final = {"precision": "precision", "recall": "recall", "F1": "f1", "MCC": "mcc", "AUC": "auc"}
_FREE_COUNTS: Final = (
    ">publishable",
    ">from score",
    ">n free in gold",
    ">n predicted",
    ">translations",
    ">failed",
)


def _free_notes(found: Mapping[str, ErrorFree]) -> list[str]:
    share = next(iter(found.values())).publishable
    kept = f"with {_percent(share.confidence)} confidence at most {_percent(share.risk)} of them have errors"
    notes = [
        *_signatures(found),
        "Free of errors is the positive class.",
        f"Publishable: the part of all translations that can be published unseen, so that {kept}.",
    ]
    for run, one in found.items():
        lines = [_publishable_note(one.publishable), *one.notes]
        notes += [f"{run}: {line}" if len(found) > 1 else line for line in lines]
    return notes


def _publishable_note(share: Publishable) -> str:
    if share.threshold is None:
        return f"No score keeps that risk; to show it takes {count(share.least, 'translation')} or more."
    found = f"{count(share.n, 'translation')}, {share.errors:,} with errors"
    return (
        f"From score {share.threshold:g} on: {found}; of those to come at most {_percent(share.bound or 0)}."
    )


def _percent(part: float) -> str:
    return f"{100 * part:.3g} %"


# Severities...


def confusion_table(found: Confusion, title: str = "") -> Table:
    """A row for each severity of gold, a column for each of the run; then what one side alone marked.

    Args:
        found: of one run.
        title: its name, where there are several.
    """
    severities = [*found.severities, None]
    rows = [[gold or "not marked", *(_amount(found, gold, run) for run in severities)] for gold in severities]
    return Table(
        columns=["in gold", *(f">{run or 'not marked'}" for run in severities)],
        rows=rows,
        rules=frozenset({len(rows) - 2}),
        title=title,
        notes=[str(found.signature), *_same(found), *found.notes],
    )


def _amount(found: Confusion, gold: Severity | None, run: Severity | None) -> str:
    return "" if gold is run is None else whole(found.counts.get((gold, run), 0))


def _same(found: Confusion) -> Iterator[str]:
    for name, result in (("Same severity", found.same), ("Cohen's kappa", found.kappa)):
        yield f"{name}, of marks that both marked: {_told(result)}."


def _told(result: Result) -> str:
    if result.value is None:
        return f"none, for {result.reason}"
    around = "" if result.interval is None else f" ({interval(result.interval, _DIGITS)})"
    return f"{number(result.value, _DIGITS)}{around}, n = {whole(result.n)}"


def confusion_rows(found: Mapping[str, Confusion]) -> Table:
    """One row a run and two severities, for programs; an empty cell where that side marked nothing."""
    several = len(found) > 1
    rows = [
        [*([run] if several else []), gold or "", other or "", str(n)]
        for run, one in found.items()
        for (gold, other), n in one.counts.items()
    ]
    notes = [
        f"{run}: {note}" if several else note
        for run, one in found.items()
        for note in (*_same(one), *one.notes)
    ]
    return Table(
        columns=[*(["run"] if several else []), "gold", "predicted", ">n"],
        rows=rows,
        notes=[*_signatures(found), *notes],
    )
