"""Tables of meta-evaluations: who stands first, and who has a star."""

import pytest

from adjudge.analysis.meta_settings import MetaEvaluation, MetricResults
from adjudge.reports.metric_tables import meta_tables
from adjudge.reports.tables import Table
from adjudge.stats.judged import Result


def metric(name: str, value: float, *, partial: bool = False) -> MetricResults:
    return MetricResults(name=name, results={"seg_pearson": Result(value=value, n=9)}, partial=partial)


def table(*metrics: MetricResults) -> Table:
    (found,) = meta_tables(
        MetaEvaluation(
            test_set="set",
            lp="en-de",
            gold="mqm",
            systems=("A", "B"),
            excluded={},
            n_segments=9,
            n_all=9,
            reference="",
            measures=("seg_pearson",),
            metrics=metrics,
        )
    )
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
    assert (
        "A metric that lacks a system which others have stands last, without star or cluster." in found.notes
    )
    assert not any("stands last" in note for note in table(metric("a", 0.4)).notes)
