"""`adjudge meta`: judge the metrics, and the judges, by how well they agree with gold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from adjudge.cli.options import DrawDocumentsOption, LpOption
from adjudge.cli.output import FormatOption, is_for_people, print_note, print_result
from adjudge.cli.scorable import WeightsOption
from adjudge.core.score import listed
from adjudge.errors import UsageError

if TYPE_CHECKING:
    from adjudge.meta.evaluation.options import Options
    from adjudge.meta.evaluation.results import MetaEvaluation, MetricResults, Stratum
    from adjudge.meta.measures.result import Floats
    from adjudge.report.tables import TableFormat

__all__ = ["command"]

_Many = list[str] | None


def command(
    test_set: Annotated[
        str, typer.Argument(metavar="TEST_SET", help="Folder of mt-metrics-eval or MENT, or any test set.")
    ],
    *,
    lp: LpOption = None,
    gold: Annotated[
        _Many, typer.Option(metavar="NAME|[NAME=]FILE", help="Of the folder, or a file; repeat for more.")
    ] = None,
    scores: Annotated[
        _Many,
        typer.Option(
            metavar="[NAME=]RUN|FILE|DIR",
            help="A run, records, scores or a folder of score files to judge; repeat for more.",
        ),
    ] = None,
    metrics: Annotated[
        str | None, typer.Option(help="Of the test set's own only these, separated by commas.")
    ] = None,
    measures: Annotated[str | None, typer.Option(help="Only these, separated by commas.")] = None,
    task: Annotated[str | None, typer.Option(help="Of `adjudge list tasks`, or a TOML file.")] = None,
    average: Annotated[
        Literal["item", "sys", "none"] | None, typer.Option(help="Of all measures of segments.")
    ] = None,
    exclude: Annotated[_Many, typer.Option(metavar="SYSTEM", help="Leave out; repeat for more.")] = None,
    include_human: Annotated[
        bool | None,
        typer.Option(
            "--include-human/--exclude-human", help="References scored as systems; else as the task."
        ),
    ] = None,
    include_outliers: Annotated[bool, typer.Option("--include-outliers", help="Those of the task.")] = False,
    reference: Annotated[str | None, typer.Option(help="That metrics were shown, such as refA.")] = None,
    segments: Annotated[
        Literal["all", "annotated"],
        typer.Option(help="Scores of systems over all segments, or over those that gold judged."),
    ] = "all",
    strata: Annotated[str | None, typer.Option(help="By domain, document, length, severity.")] = None,
    length_bins: Annotated[str, typer.Option(help="Where a longer source begins, in tokens.")] = "12,27",
    smallest: Annotated[int, typer.Option(help="Translations that a stratum needs.")] = 30,
    scale: Annotated[
        Literal["range", "minmax"], typer.Option(help="Of mean errors: the protocol's, or the scores'.")
    ] = "range",
    threshold: Annotated[
        float | None,
        typer.Option(help="Of seg_kendall_like: smallest difference in gold that counts; else 25."),
    ] = None,
    compat: Annotated[
        Literal["mtme"] | None, typer.Option(help="Round as mt-metrics-eval does, where that differs.")
    ] = None,
    intervals: Annotated[bool, typer.Option("--intervals", help="95 % bootstrap intervals.")] = False,
    clusters: Annotated[bool, typer.Option("--clusters", help="Significance clusters of metrics.")] = False,
    test: Annotated[
        Literal["perm-both", "pairwise-permutation", "bootstrap", "williams"] | None,
        typer.Option(help="Clusters by this test; else by each measure's own."),
    ] = None,
    significance: Annotated[
        int | None, typer.Option(metavar="K", min=1, help="Clusters and intervals of K draws; else 1000.")
    ] = None,
    holm: Annotated[bool, typer.Option("--holm", help="Correct the tests for their number.")] = False,
    alpha: Annotated[float, typer.Option(help="Bound of the clusters' tests.")] = 0.05,
    by_document: DrawDocumentsOption = False,
    seed: Annotated[int, typer.Option(help="Of all draws.")] = 0,
    weights: WeightsOption = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Draw scatter, calibration and correlations into it.")
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Judge metrics and judges by how well they agree with gold: one row each, every measure.

    Systems that the year's task leaves out are left out, and the notes say which; so they do of segments,
    of the reference, and of scores that look wrong.
    """
    from adjudge.meta.evaluation.meta import meta

    options: Options = {
        "gold": gold or (),
        "scores": scores or (),
        "metrics": _split(metrics, "metrics"),
        "measures": _split(measures, "measures"),
        "exclude": exclude or (),
        "include_human": include_human,
        "include_outliers": include_outliers,
        "segments": segments,
        "strata": _split(strata, "strata"),  # type: ignore[typeddict-item]  # checked where it is read
        "length_bins": _numbers(length_bins),
        "smallest": smallest,
        "scale": scale,
        "intervals": intervals,
        "clusters": clusters,
        "significance": significance,
        "holm": holm,
        "alpha": alpha,
        "by_document": by_document,
        "seed": seed,
    }
    chosen = {
        "task": task,
        "average": average,
        "reference": reference,
        "threshold": threshold,
        "compat": compat,
        "weights": weights,
        "test": test,
    }
    options |= {name: value for name, value in chosen.items() if value is not None}  # type: ignore[typeddict-item]
    found = meta(test_set, lp, **options)
    if figures is not None:
        _draw(found, figures)
    _print(found, form)


def _draw(found: MetaEvaluation, folder: Path) -> None:
    """Write every figure as PDF, SVG and PNG."""
    from adjudge.report.meta_figures import meta_figures

    drawn = [figure.write(folder) for figure in meta_figures(found)]
    print_note(f"adjudge: {len(drawn)} figures in {folder}, each as PDF, SVG and PNG")


def _split(text: str | None, option: str) -> tuple[str, ...]:
    """Read names that are separated by commas; none where the option is left out."""
    found = tuple(part.strip() for part in (text or "").split(",") if part.strip())
    if text is not None and not found:
        raise UsageError(f"--{option} names nothing: leave the option out, or name at least one")
    return found


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in _split(text, "length-bins"))
    except ValueError as error:
        raise typer.BadParameter(f"--length-bins are whole numbers, got {text!r}") from error


def _print(found: MetaEvaluation, form: TableFormat) -> None:
    """Print a table for each part, one file of separated values, or one JSON object."""
    from adjudge.meta.evaluation.results import named_gold
    from adjudge.report.meta_tables import meta_rows, meta_tables

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
    """The result as one JSON object; several golds are parts of it, and have no numbers together."""
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
    if not found.has_numbers:
        of_whole = "signature", "test_set", "lp", "gold", "notes"
        data = {name: value for name, value in data.items() if name in of_whole}
    if found.p_values:
        names = [metric.name for metric in found.metrics]
        data["p_values"] = {
            "metrics": names,
            "better": {name: _table(table) for name, table in found.p_values.items()},
        }
    if found.strata:
        data["strata"] = [_stratum(stratum) for stratum in found.strata]
    if found.parts:
        data["parts"] = [_data(part) for part in found.parts]
    return data


def _table(values: Floats) -> list[list[float | None]]:
    """Rows of a table; null where there is no test."""
    return [[None if p != p else p for p in row] for row in values.tolist()]  # noqa: PLR0124 (NaN)


def _stratum(stratum: Stratum) -> dict[str, Any]:
    return {
        "kind": stratum.kind,
        "name": stratum.name,
        "n_segments": stratum.n_segments,
        "n": stratum.n,
        "reason": stratum.reason or None,
        "metrics": _metrics(stratum.metrics),
    }


def _metrics(metrics: tuple[MetricResults, ...]) -> dict[str, dict[str, Any]]:
    return {metric.name: _metric(metric) for metric in metrics}


def _metric(metric: MetricResults) -> dict[str, Any]:
    """Plain numbers by measure; what belongs to one stands behind it."""
    row: dict[str, Any] = {}
    for name, result in metric.results.items():
        row[name] = result.value
        if name == "seg_acc_eq":
            row |= {f"{name}_epsilon": result.epsilon, f"{name}_chance": result.chance}
    row["meta"] = metric.meta
    row["n"] = metric.n
    row["failed"] = metric.failed
    results = metric.results.items()
    if any(result.interval is not None for _, result in results):
        row["intervals"] = {name: listed(result.interval) for name, result in results}
        row["intervals"]["meta"] = listed(metric.meta_interval)
    if metric.clusters:
        row["clusters"] = dict(metric.clusters)
    if reasons := {name: result.reason for name, result in results if result.value is None}:
        row["reasons"] = reasons
    return row
