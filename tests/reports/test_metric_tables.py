"""Tables and figures of span comparisons."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge.analysis.meta_settings import MetaEvaluation, MetricResults
from adjudge.analysis.span_matching import THRESHOLDS
from adjudge.analysis.spans import SpanComparison, SpanSettings, spans_of_runs
from adjudge.core.record import Record
from adjudge.reports.metric_figures import threshold_figure
from adjudge.reports.metric_tables import meta_tables, span_table
from adjudge.reports.tables import Table, render_table
from adjudge.stats.judged import Result
from tests.analysis.judged import marked, span

# Tables of meta-evaluations: who stands first, and who has a star.


def metric(name: str, value: float, *, partial: bool = False, n: int = 0) -> MetricResults:
    return MetricResults(name=name, results={"seg_pearson": Result(value=value, n=9)}, partial=partial, n=n)


def table(*metrics: MetricResults) -> Table:
    said: Any = {"test_set": "set", "lp": "en-de", "gold": "mqm", "excluded": {}, "reference": ""}
    said |= {"systems": ("A", "B"), "n_segments": 9, "n_all": 9, "measures": ("seg_pearson",)}
    (found,) = meta_tables(MetaEvaluation(**said, metrics=metrics))
    return found


def starred(found: Table) -> list[str]:
    return [found.rows[row][0] for row, _ in sorted(found.best)]


@pytest.mark.parametrize("noise", [0.0, 1e-16, -2e-16])
def test_rounding_tells_no_two_metrics_apart(noise: float) -> None:
    found = table(metric("b", 0.99 + noise), metric("a", 0.99), metric("c", 0.5))
    assert [row[0] for row in found.rows] == ["a", "b", "c"]
    assert starred(found) == ["a", "b"]


def test_what_cannot_be_compared_stands_last_without_a_star() -> None:
    found = table(metric("part", 0.99, partial=True), metric("a", 0.4), metric("b", 0.3))
    assert [row[0] for row in found.rows] == ["a", "b", "part"]
    assert starred(found) == ["a"]
    assert any("stands last, without star or cluster" in note for note in found.notes)
    assert not any("stands last" in note for note in table(metric("a", 0.4)).notes)


def test_a_cluster_whose_beginning_is_open_has_a_question_mark() -> None:
    first, second = metric("a", 0.4), metric("b", 0.3)
    found = table(
        replace(first, clusters={"seg_pearson": 1}),
        replace(second, clusters={"seg_pearson": 2}, open_clusters=("seg_pearson",)),
    )
    assert [row[1] for row in found.rows] == ["0.400 (1)", "0.300 (2?)"]
    assert "300 (2?)" in render_table(found, "latex")


def test_metrics_on_different_translations_have_no_star() -> None:
    few, many = replace(metric("few", 0.9), n=179), replace(metric("many", 0.4), n=453)
    found = table(few, many)
    assert starred(found) == []
    assert any("scored different translations, 179 to 453" in note for note in found.notes)
    alike = table(replace(few, n=453), many)
    assert starred(alike) == ["few"]
    assert not any("different translations" in note for note in alike.notes)
    part = replace(few, partial=True)  # without a star anyway
    assert starred(table(part, many, metric("less", 0.1, n=453))) == ["many"]


@pytest.mark.parametrize(("value", "stars"), [(0.5, []), (0.5 + 1e-16, []), (0.4, []), (0.6, ["a"])])
@pytest.mark.parametrize("clusters", [{}, {"seg_pearson": 1}])
def test_no_star_for_what_does_not_beat_chance(
    value: float, stars: list[str], clusters: dict[str, int]
) -> None:
    results = {
        name: {"seg_pearson": Result(value=each, n=9, chance=0.5)}
        for name, each in (("a", value), ("b", 0.3))
    }
    first = MetricResults(name="a", results=results["a"], clusters=clusters)
    other = MetricResults(name="b", results=results["b"], clusters=dict.fromkeys(clusters, 2))
    assert starred(table(first, other)) == stars


GOLD: list[Record] = [marked("a", str(i), span("The old lab", "major")) for i in range(1, 9)]
LONG: list[Record] = [marked("a", str(i), span("The old lab is")) for i in range(1, 9)]
SHORT: list[Record] = [marked("a", str(i), span("lab" if i % 2 else "closed")) for i in range(1, 9)]
RUNS: dict[str, list[Record]] = {"runs/long": LONG, "runs/a\u202eb": SHORT}


def curves(runs: dict[str, list[Record]]) -> dict[str, SpanComparison]:
    return spans_of_runs(runs, GOLD, SpanSettings(rule="himate", threshold=THRESHOLDS, resamples=20))


def test_a_table_has_one_row_a_run_rule_threshold_and_group() -> None:
    found = spans_of_runs(RUNS, GOLD, SpanSettings(rule=["em", "himate"], threshold=[0.2, 1], by="severity"))
    table = span_table(found, exact=False, by="severity")
    assert table.headings[:4] == ["run", "rule", "threshold", "severity"]
    assert [row[1:4] for row in table.rows[:9]] == [
        [rule, threshold, group]
        for rule, threshold in (("em", ""), ("himate", "0.2"), ("himate", "1"))
        for group in ("all", "major", "minor")
    ]
    assert table.rules == frozenset({2, 5, 8, 11, 14})
    assert table.rows[1][4:7] == ["–", "0.000", "0.000"]  # nothing is predicted as major
    exact = span_table(found, exact=True, by="severity")
    assert exact.rows[1][4:7] == ["1.0", "0.0", "0.0"]
    for form in ("table", "markdown", "latex"):
        assert "\u202e" not in render_table(table, form)


@pytest.mark.parametrize(
    ("runs", "title"),
    [
        ({"runs/long": LONG}, "F1 is 1.00 where 10 % of the words must agree, 0.00 where 100 % must"),
        (RUNS, "long has the highest F1 at 7 of 10 thresholds"),  # both have 0 above 0.75
        ({"a": LONG, "b": LONG}, "No run has the highest F1 alone at any threshold"),
    ],
)
def test_a_figure_says_what_it_shows(runs: dict[str, list[Record]], title: str) -> None:
    figure = threshold_figure("curves", curves(runs))
    assert figure.title == title
    svg = figure.render("svg").decode()
    labels = re.findall(r">([^<>\n]+)</text>", svg)
    shown = {"runs/long": "long", "runs/a\u202eb": "a[RLO]b"}
    for label in ["precision", "recall", "F1", *(shown.get(run, run) for run in runs if len(runs) > 1)]:
        assert label in labels
    assert "n = 8 translations, failed: none" in labels
    assert "bands: 95 % intervals, bootstrap over segments" in labels


def test_the_same_curves_have_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one.png", "two.png"):
        threshold_figure("curves", curves(RUNS)).write_file(tmp_path / name)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()
