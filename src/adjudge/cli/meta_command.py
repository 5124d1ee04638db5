"""The command `adjudge meta`, apart from its neighbours, so that it starts without what they import."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from adjudge.analysis.meta import meta
from adjudge.analysis.meta_settings import MetaEvaluation, MetaSettings, MetricResults
from adjudge.cli.options import FormatOption, LpOption, is_for_people, print_note, print_result
from adjudge.core.scores import listed
from adjudge.reports.tables import TableFormat


def meta_command(
    test_set: Annotated[
        str, typer.Argument(metavar="TEST_SET", help="Test set, such as a folder of mt-metrics-eval or MENT.")
    ],
    *,
    lp: LpOption = None,
    settings: MetaSettings,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for plots: scatter, calibration, correlations.")
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Judge metrics and judges by how well they agree with gold: one row each, every measure.

    The task decides which systems and segments count. The notes below the table list every system, segment
    and reference that was left out, and every score that looks wrong.
    """
    found = meta.by(test_set, lp, settings)
    if figures is not None:
        from adjudge.reports.metric_figures import meta_figures

        drawn = [figure.write(figures) for figure in meta_figures(found)]
        print_note(f"adjudge: {len(drawn)} figures in {figures}, each as PDF, SVG and PNG")
    _print(found, form)


def _print(found: MetaEvaluation, form: TableFormat) -> None:
    from adjudge.analysis.meta_settings import named_gold
    from adjudge.reports.metric_tables import meta_rows, meta_tables

    if is_for_people(form):
        for place, table in enumerate(meta_tables(found)):
            if place and form == "markdown":
                typer.echo()  # a title right below a table would be a row of it
            print_result(form, table, {})
        return
    notes = (
        f"{part.lp}, {named_gold(part.gold)}: {note}" if found.parts else note
        for part in (*found.parts, found)
        for note in part.notes
    )
    print_result(form, meta_rows(found), _data(found), notes)


def _data(found: MetaEvaluation) -> dict[str, Any]:
    data: dict[str, Any] = {
        "signature": str(found.signature),
        "test_set": found.test_set,
        "lp": found.lp,
        "gold": found.gold,
        "systems": list(found.systems),
        "n_segments": found.n_segments,
        "n_all": found.n_all,
        "excluded": list(found.excluded),
        "reference": found.reference,
        "task": found.task or None,
        "metrics": _metrics(found.metrics),
        "notes": list(found.notes),
    }
    data |= {"people": _metrics(found.people)} if found.people else {}
    if not found.has_numbers:
        of_whole = "signature", "test_set", "lp", "gold", "notes"
        data = {name: value for name, value in data.items() if name in of_whole}
    if found.p_values:
        names = [metric.name for metric in found.metrics]
        data["p_values"] = {
            "metrics": names,
            "better": {
                name: [[None if math.isnan(p) else p for p in row] for row in table.tolist()]
                for name, table in found.p_values.items()
            },
        }
    if found.strata:
        data["strata"] = [
            {
                "kind": one.kind,
                "name": one.name,
                "n_segments": one.n_segments,
                "n": one.n,
                "reason": one.reason or None,
                "metrics": _metrics(one.metrics),
            }
            for one in found.strata
        ]
    if found.parts:
        data["parts"] = [_data(part) for part in found.parts]
    return data


def _metrics(metrics: tuple[MetricResults, ...]) -> dict[str, dict[str, Any]]:
    return {metric.name: _metric(metric) for metric in metrics}


def _metric(metric: MetricResults) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, result in metric.results.items():
        row[name] = result.value
        if name == "seg_acc_eq":
            row |= {f"{name}_epsilon": result.epsilon, f"{name}_chance": result.chance}
    row["meta"] = metric.meta
    row |= {} if metric.average_rank is None else {"average_rank": metric.average_rank}
    row |= {"role": metric.role} if metric.role else {}
    row["n"] = metric.n
    row["failed"] = metric.failed
    results = metric.results.items()
    if any(result.interval is not None for _, result in results):
        row["intervals"] = {name: listed(result.interval) for name, result in results}
        row["intervals"]["meta"] = listed(metric.meta_interval)
    if metric.clusters:
        row["clusters"] = dict(metric.clusters)
        row["open_clusters"] = list(metric.open_clusters)
    if reasons := {name: result.reason for name, result in results if result.value is None}:
        row["reasons"] = reasons
    return row
