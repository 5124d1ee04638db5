"""What notebooks show: runs, records, scores and results as HTML; anything else asks for plain text.

IPython is told the names of our types and imports nothing for it. `%load_ext adjudge` does the same where
IPython was started after adjudge was imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol

from adjudge.core.record import Record
from adjudge.core.scores import Run
from adjudge.core.segment import TestSet
from adjudge.errors import UsageError

__all__ = ["register", "render", "show"]


class Shell(Protocol):
    """IPython, as far as we need it."""

    display_formatter: Any


_TYPES: Final = (
    ("adjudge.core.scores", "Run"),
    ("adjudge.core.record", "Annotation"),
    ("adjudge.core.record", "Preference"),
    ("adjudge.core.record", "Failure"),
    ("adjudge.core.scores", "Scores"),
    ("adjudge.core.segment", "TestSet"),
    ("adjudge.analysis.rank", "Ranking"),
    ("adjudge.analysis.compare", "Comparison"),
    ("adjudge.analysis.meta_settings", "MetaEvaluation"),
    ("adjudge.analysis.spans", "SpanComparison"),
    ("adjudge.analysis.bias", "Biases"),
    ("adjudge.reports.tables", "Table"),
)
"""Module and name of each type that is shown."""


def register(shell: Shell) -> None:
    """Have a shell of IPython show our types as HTML."""
    formatter = shell.display_formatter.formatters["text/html"]
    for module, name in _TYPES:
        formatter.for_type_by_name(module, name, render)


def render(value: object) -> str | None:
    """Any of our types as HTML; None for others, which are then shown as text."""
    from adjudge.reports import notebook_html as html

    if isinstance(value, Run):
        return html.render_run(value)
    if isinstance(value, Record):
        return html.render_record(value)
    tables = _TABLES.get(type(value).__name__) if type(value).__module__.startswith("adjudge.") else None
    return None if tables is None else html.render_tables(tables(value))


def _scores(value: Any) -> Iterable[Any]:  # noqa: ANN401 (named by its type)
    from adjudge.reports.result_tables import system_table

    return [system_table(value, exact=False)]


def _texts(value: Any) -> Iterable[Any]:  # noqa: ANN401 (the same)
    from adjudge.reports.tables import Table, whole

    rows = []
    for lp in value.lps:
        part = value.select(lp=lp)
        documents = len({s.document for s in part if s.document})
        counts = (len(part), documents, len(part.systems), len(part.references))
        rows.append([lp, *map(whole, counts), ", ".join(part.systems)])
    columns = ["lp", ">segments", ">documents", ">systems", ">references", "names of systems"]
    return [Table(title=value.name, columns=columns, rows=rows)]


def _ranking(value: Any) -> Iterable[Any]:  # noqa: ANN401 (the same)
    from adjudge.reports.result_tables import ranking_table

    return [ranking_table(value, exact=False)]


def _comparison(value: Any) -> Iterable[Any]:  # noqa: ANN401 (the same)
    from adjudge.reports.result_tables import comparison_table

    return [comparison_table(value, exact=False)]


def _meta(value: Any) -> Iterable[Any]:  # noqa: ANN401 (the same)
    from adjudge.reports.metric_tables import meta_tables

    return meta_tables(value)


def _spans(value: Any) -> Iterable[Any]:  # noqa: ANN401 (the same)
    from adjudge.reports.metric_tables import span_table

    return [span_table({"": value}, exact=False)]


def _bias(value: Any) -> Iterable[Any]:  # noqa: ANN401 (the same)
    from adjudge.reports.result_tables import bias_table

    return [bias_table(value, exact=False)]


_TABLES: Final[dict[str, Callable[[Any], Iterable[Any]]]] = {
    "Scores": _scores,
    "TestSet": _texts,
    "Ranking": _ranking,
    "Comparison": _comparison,
    "MetaEvaluation": _meta,
    "SpanComparison": _spans,
    "Biases": _bias,
    "Table": lambda value: [value],
}


class Shown:
    """Records under the texts that they are about; a notebook shows it, elsewhere it says what it is.

    Args:
        records: what was said.
        test_set: the texts.
    """

    def __init__(self, records: Iterable[Record], test_set: TestSet) -> None:
        self.records = tuple(records)
        self.test_set = test_set

    def __repr__(self) -> str:
        """Say how much there is."""
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
    """Records in a notebook, with their errors underlined in the texts.

    Args:
        judged: a run, or records.
        test_set: the texts; those of the run where left out.
        segments: ids of those to show; all that were judged where empty.
        systems: whose translations; all where empty.

    Raises:
        UsageError: records without texts, or a segment or a system of which nothing was said.
    """
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
    """Refuse names that nothing was said of.

    Raises:
        UsageError: there is one.
    """
    if unknown := sorted(map(repr, wanted - known)):
        raise UsageError(f"nothing was said of {what} {', '.join(unknown)}; it was of {len(known)} others")
