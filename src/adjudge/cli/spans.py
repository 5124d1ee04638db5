"""`adjudge spans`: marked errors against gold, their severities, and translations without errors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from adjudge.cli.options import LpOption, SeedOption
from adjudge.cli.output import FormatOption, is_for_people, print_note, print_result
from adjudge.cli.scorable import TextsOption, WeightsOption
from adjudge.errors import UsageError
from adjudge.report.tables import TableFormat

if TYPE_CHECKING:
    from adjudge.core.typology import Severity
    from adjudge.meta.spans.error_free import ErrorFreeOptions
    from adjudge.meta.spans.settings import MarkOptions, SpanOptions

__all__ = ["command"]

Average = Literal["micro", "macro"]
By = Literal["severity", "category", "side", "system", "lp"]
Unit = Literal["characters", "words"]


def command(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN|FILE...", help="Runs, records, MQM TSV or .seg.rating that marked errors."
        ),
    ],
    *,
    gold: Annotated[Path, typer.Option(help="The same, to compare them with.")],
    rule: Annotated[
        str,
        typer.Option("--rule", "--rules", help="mpp, em, mp, w25, himate, chars; several with commas; all."),
    ] = "mpp",
    threshold: Annotated[
        str | None, typer.Option(help="Of himate, above 0 to 1; several with commas.  [default: 0.5]")
    ] = None,
    average: Annotated[
        Average, typer.Option(help="Every mark counts alike, or every translation.")
    ] = "micro",
    by: Annotated[By | None, typer.Option(help="Also each of these on its own.")] = None,
    unit: Annotated[Unit | None, typer.Option(help="What marks count in; else as the rule's source.")] = None,
    severities: Annotated[
        str, typer.Option(help="Marks that count, on both sides.")
    ] = "minor,major,critical",
    severity_penalty: Annotated[
        float, typer.Option(help="Of em, mp, mpp: what a pair of different severities loses, 0 to 1.")
    ] = 0.0,
    severity_weights: Annotated[
        str | None, typer.Option(metavar="S=W,...", help="Of mpp: what marks count, such as minor=1,major=5.")
    ] = None,
    confusion: Annotated[
        bool, typer.Option("--confusion", help="Instead: which severity the run gives to what gold marks.")
    ] = False,
    error_free: Annotated[
        bool, typer.Option("--error-free", help="Instead: which translations have no errors at all.")
    ] = False,
    at_least: Annotated[
        float | None,
        typer.Option(help="With --error-free: score from which on a run predicts no errors.  [default: 85]"),
    ] = None,
    gold_at_least: Annotated[
        float | None,
        typer.Option(help="With --error-free: rating from which on gold is free of errors.  [default: 85]"),
    ] = None,
    risk: Annotated[
        float | None,
        typer.Option(help="With --error-free: share with errors among the published.  [default: 0.05]"),
    ] = None,
    confidence: Annotated[
        float | None, typer.Option(help="With --error-free: with which it is kept.  [default: 0.95]")
    ] = None,
    weights: WeightsOption = None,
    lp: LpOption = None,
    annotator: Annotated[str | None, typer.Option(help="Of the run, to keep.")] = None,
    gold_annotator: Annotated[str | None, typer.Option(help="Of gold, to keep.")] = None,
    test_set: TextsOption = None,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="95 % bootstrap intervals over segments.")
    ] = False,
    resamples: Annotated[int, typer.Option(min=1, help="Draws of the intervals.")] = 1000,
    seed: SeedOption = 0,
    figure: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw himate over its thresholds, as .pdf, .svg or .png."),
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Compare marked errors with gold, on the translations that both judged.

    Rules: mpp (each mark earns the part that its partner holds; the default), em (the same range), mp (any
    overlap), w25 and chars (characters, as WMT25 and WMT23 counted), himate (a common run of words). They
    disagree: --rules all shows how far.
    """
    from adjudge.report.figures import figure_format

    shared: dict[str, Any] = {
        "lp": lp,
        "annotator": annotator,
        "gold_annotator": gold_annotator,
        "test_set": test_set,
    }
    of_free = {
        "at_least": at_least,
        "gold_at_least": gold_at_least,
        "risk": risk,
        "confidence": confidence,
        "weights": weights,
    }
    given = {name: value for name, value in of_free.items() if value is not None}
    of_rules = {
        "--rule": rule != "mpp",
        "--threshold": threshold,
        "--average": average != "micro",
        "--by": by,
        "--unit": unit,
        "--severity-penalty": severity_penalty,
        "--severity-weights": severity_weights,
        "--figure": figure,
    }
    if error_free:
        of_marks = {"--severities": severities != "minor,major,critical", "--intervals": intervals}
        more = {"--confusion": confusion}
        _refuse({**of_rules, **of_marks, **more}, "--error-free", "whole translations")
        _print_error_free(paths, gold, cast("ErrorFreeOptions", {**shared, **given}), form)
        return
    if given:
        raise UsageError(f"--{next(iter(given)).replace('_', '-')} goes with --error-free")
    counted: dict[str, Any] = {
        **shared,
        "severities": severities.split(","),
        "resamples": resamples if intervals else 0,
        "seed": seed,
    }
    if confusion:
        _refuse(of_rules, "--confusion", "severities of marks that meet,")
        _print_confusion(paths, gold, cast("MarkOptions", counted), form)
        return
    options: SpanOptions = {
        **counted,  # type: ignore[typeddict-item]
        "rule": rule.split(","),
        "threshold": None if threshold is None else _numbers("--threshold", threshold),
        "average": average,
        "by": by,
        "unit": unit,
        "penalty": severity_penalty,
        "weights": _weights(severity_weights),
    }
    if figure is not None:
        figure_format(figure)
    _print_spans(paths, gold, options, form)
    if figure is not None:
        plain: SpanOptions = {**options, "by": None, "penalty": 0.0, "weights": None, "resamples": resamples}
        _draw(paths, gold, {**plain, "rule": "himate"}, figure)


def _refuse(options: Mapping[str, object], flag: str, what: str) -> None:
    """Refuse options that another comparison than that of marks has no use for."""
    for name, given in options.items():
        if given:
            raise UsageError(f"{flag} compares {what} and takes no {name}")


def _numbers(option: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(
            f"{option} takes numbers with commas between, such as 0.1,0.5; got {text!r}"
        ) from None


def _weights(text: str | None) -> dict[Severity, float] | None:
    if text is None:
        return None
    try:
        pairs = [part.split("=") for part in text.split(",")]
        return {cast("Severity", name.strip()): float(weight) for name, weight in pairs}
    except ValueError:
        wanted = "a weight for each severity, such as minor=1,major=5"
        raise UsageError(f"--severity-weights takes {wanted}; got {text!r}") from None


# What is compared...


def _print_spans(paths: list[Path], gold: Path, options: SpanOptions, form: TableFormat) -> None:
    from adjudge.meta.spans.compare import spans_of_runs
    from adjudge.report.span_data import span_data
    from adjudge.report.span_tables import span_table

    found = spans_of_runs(_named(paths), gold, **options)
    table = span_table(found, exact=not is_for_people(form), by=options["by"] or "group")
    data = _of_runs({run: span_data(one, options["by"]) for run, one in found.items()})
    print_result(form, table, data, table.notes)


def _print_error_free(paths: list[Path], gold: Path, options: ErrorFreeOptions, form: TableFormat) -> None:
    from adjudge.meta.spans.error_free import error_free_of_runs
    from adjudge.report.span_data import error_free_data
    from adjudge.report.span_tables import error_free_table

    found = error_free_of_runs(_named(paths), gold, **options)
    table = error_free_table(found, exact=not is_for_people(form))
    data = _of_runs({run: error_free_data(one) for run, one in found.items()})
    print_result(form, table, data, table.notes)


def _print_confusion(paths: list[Path], gold: Path, options: MarkOptions, form: TableFormat) -> None:
    """Print a table for each run, or all of them as one for programs."""
    from adjudge.meta.spans.confusion import severity_confusions
    from adjudge.report.span_data import confusion_data
    from adjudge.report.span_tables import confusion_rows, confusion_table

    found = severity_confusions(_named(paths), gold, **options)
    if is_for_people(form):
        for run, one in found.items():
            print_result(form, confusion_table(one, run if len(found) > 1 else ""), {})
        return
    table = confusion_rows(found)
    data = _of_runs({run: confusion_data(one) for run, one in found.items()})
    print_result(form, table, data, table.notes)


def _draw(paths: list[Path], gold: Path, options: SpanOptions, file: Path) -> None:
    from adjudge.meta.spans.compare import spans_of_runs
    from adjudge.meta.spans.rules import THRESHOLDS
    from adjudge.report.span_figures import threshold_figure

    options = {**options, "threshold": THRESHOLDS}
    threshold_figure(file.stem, spans_of_runs(_named(paths), gold, **options)).write_file(file)
    print_note(f"wrote {file}")


def _named(paths: list[Path]) -> dict[str, Path]:
    return {str(path): path for path in paths}


def _of_runs(data: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """One run is the object itself, several stand in it."""
    runs = [{"run": run, **one} for run, one in data.items()]
    return {"runs": runs} if len(runs) > 1 else runs[0]
