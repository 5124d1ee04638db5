"""`adjudge estimate`: systems' means on gold's scale, from a judge's many scores and gold's few."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from adjudge.analysis.judgements import domains_known, read_if_taken, read_source
from adjudge.cli.inputs import TextsOption, WeightsOption
from adjudge.cli.options import (
    DrawDocumentsOption,
    FormatOption,
    IntervalDrawsOption,
    LpOption,
    SeedOption,
    existing,
    is_for_people,
    print_note,
    print_result,
    progress_bar,
)
from adjudge.core.scores import listed
from adjudge.errors import UsageError
from adjudge.reports.tables import TableFormat

if TYPE_CHECKING:
    from adjudge.analysis.error_free import ErrorFreeOptions
    from adjudge.analysis.estimate import SystemEstimate
    from adjudge.analysis.gate import Judged
    from adjudge.analysis.meta_settings import MetaEvaluation, MetricResults, Options, Stratum
    from adjudge.analysis.spans import MarkOptions, SpanOptions
    from adjudge.analysis.thresholds import Band, Cut, Key, Thresholds
    from adjudge.core.scores import Scores
    from adjudge.core.typology import Severity
    from adjudge.stats.judged import Floats
    from adjudge.stats.prediction_powered import Estimate


# `adjudge meta`: judge the metrics, and the judges, by how well they agree with gold.


_Many = list[str] | None


def meta_command(
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
    from adjudge.analysis.meta import meta

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
    from adjudge.reports.metric_figures import meta_figures

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


# `adjudge spans`: marked errors against gold, their severities, and translations without errors.


Average = Literal["micro", "macro"]
By = Literal["severity", "category", "side", "system", "lp"]
Unit = Literal["characters", "words"]


def spans_command(
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
        Average, typer.Option(help="micro: average over marks. macro: average over translations.")
    ] = "micro",
    by: Annotated[By | None, typer.Option(help="Also each of these on its own.")] = None,
    unit: Annotated[Unit | None, typer.Option(help="What marks count in; else as the rule's source.")] = None,
    severities: Annotated[
        str, typer.Option(help="Marks that count, on both sides.")
    ] = "minor,major,critical",
    severity_penalty: Annotated[
        float,
        typer.Option(
            help="Credit lost when two matching spans differ in severity, 0 to 1 (rules em, mp, mpp)."
        ),
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
    from adjudge.reports.figures import figure_format

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
        "threshold": None if threshold is None else _spans_numbers("--threshold", threshold),
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
        _spans_draw(paths, gold, {**plain, "rule": "himate"}, figure)


def _refuse(options: Mapping[str, object], flag: str, what: str) -> None:
    """Refuse options that another comparison than that of marks has no use for."""
    for name, given in options.items():
        if given:
            raise UsageError(f"{flag} compares {what} and takes no {name}")


def _spans_numbers(option: str, text: str) -> list[float]:
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
    from adjudge.analysis.spans import spans_of_runs
    from adjudge.reports.metric_tables import span_data, span_table

    found = spans_of_runs(_named(paths), gold, **options)
    table = span_table(found, exact=not is_for_people(form), by=options["by"] or "group")
    data = _of_runs({run: span_data(one, options["by"]) for run, one in found.items()})
    print_result(form, table, data, table.notes)


def _print_error_free(paths: list[Path], gold: Path, options: ErrorFreeOptions, form: TableFormat) -> None:
    from adjudge.analysis.error_free import error_free_of_runs
    from adjudge.reports.metric_tables import error_free_data, error_free_table

    found = error_free_of_runs(_named(paths), gold, **options)
    table = error_free_table(found, exact=not is_for_people(form))
    data = _of_runs({run: error_free_data(one) for run, one in found.items()})
    print_result(form, table, data, table.notes)


def _print_confusion(paths: list[Path], gold: Path, options: MarkOptions, form: TableFormat) -> None:
    """Print a table for each run, or all of them as one for programs."""
    from adjudge.analysis.spans import severity_confusions
    from adjudge.reports.metric_tables import confusion_data, confusion_rows, confusion_table

    found = severity_confusions(_named(paths), gold, **options)
    if is_for_people(form):
        for run, one in found.items():
            print_result(form, confusion_table(one, run if len(found) > 1 else ""), {})
        return
    table = confusion_rows(found)
    data = _of_runs({run: confusion_data(one) for run, one in found.items()})
    print_result(form, table, data, table.notes)


def _spans_draw(paths: list[Path], gold: Path, options: SpanOptions, file: Path) -> None:
    from adjudge.analysis.span_matching import THRESHOLDS
    from adjudge.analysis.spans import spans_of_runs
    from adjudge.reports.metric_figures import threshold_figure

    options = {**options, "threshold": THRESHOLDS}
    threshold_figure(file.stem, spans_of_runs(_named(paths), gold, **options)).write_file(file)
    print_note(f"wrote {file}")


def _named(paths: list[Path]) -> dict[str, Path]:
    return {str(path): path for path in paths}


def _of_runs(data: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """One run is the object itself, several stand in it."""
    runs = [{"run": run, **one} for run, one in data.items()]
    return {"runs": runs} if len(runs) > 1 else runs[0]


# `adjudge agreement`: how people agree, and judges with them.


def agreement_command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            callback=existing,
            help="What people said: records, MQM TSV, ratings, or runs.",
        ),
    ],
    *,
    judge: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="RUN|FILE",
            callback=existing,
            help="A judge to compare with the people; repeat for more.",
        ),
    ] = None,
    lp: LpOption = None,
    test_set: TextsOption = None,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Compare scores as preferences between two systems.")
    ] = False,
    by_criterion: Annotated[
        bool,
        typer.Option("--by-criterion", help="The same, of MQM errors of each criterion on its own (FiRE)."),
    ] = False,
    tie: Annotated[float, typer.Option(min=0, help="Largest difference of scores that is a tie.")] = 0.0,
    epsilon: Annotated[
        float, typer.Option(min=0, max=1, help="How much worse than a person a judge may be (alt-test).")
    ] = 0.2,
    resamples: IntervalDrawsOption = 1000,
    seed: SeedOption = 0,
    form: FormatOption = "table",
) -> None:
    """Agreement beyond chance, of every two annotators, and of judges with people.

    Preferences: percentage agreement (ranked, tied, easy, hard), Cohen's and Fleiss' kappa, Krippendorff's
    alpha. Scores: alpha, Pearson, Kendall's tau-c, sums by system, marked errors. With --judge also the
    alternative-annotator test. One annotator in two files is compared with itself.
    """
    from adjudge.analysis.agreement import AgreementSettings, find_agreement
    from adjudge.reports.result_tables import agreement_data, agreement_table
    from adjudge.stats.bootstrap import Draws

    people, judges = (
        [read_source(p, lp, test_set) for p in dict.fromkeys(ps)] for ps in (files, judge or [])
    )
    settings = AgreementSettings(
        as_pairs=pairs,
        by_criterion=by_criterion,
        tie=tie,
        epsilon=epsilon,
        draws=Draws(resamples=resamples, seed=seed),
    )
    with progress_bar("agreement") as progress:
        found = find_agreement(people, judges, settings, progress=progress)
    table = agreement_table(found, exact=not is_for_people(form))
    print_result(form, table, agreement_data(found), table.notes)


# `adjudge bias`: what judges favour besides quality.


def bias_command(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN|FILE...", callback=existing, help="Runs or records of preferences, or of scores."
        ),
    ],
    *,
    gold: Annotated[
        Path | None, typer.Option(callback=existing, help="What people said: a run or a file.")
    ] = None,
    families: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=existing,
            help="TOML or JSON: [systems] and [annotators], each with its family.",
        ),
    ] = None,
    lp: LpOption = None,
    test_set: TextsOption = None,
    resamples: IntervalDrawsOption = 1000,
    seed: SeedOption = 0,
    form: FormatOption = "table",
) -> None:
    """Position, length and self-enhancement bias, with intervals over segments.

    Position: how often a verdict is the same when the order is swapped, and how often the first, the second
    or neither is chosen. Length: points of the longer translation. Family: points of a judge's own family.
    """
    from adjudge.analysis.bias import Families, find_biases, read_families
    from adjudge.reports.result_tables import bias_data, bias_table
    from adjudge.stats.bootstrap import Draws

    known = None
    if families is not None:
        systems, annotators = read_families(families)
        known = Families(systems=systems, annotators=annotators)
    found = find_biases(
        [read_source(path, lp, test_set) for path in dict.fromkeys(runs)],
        gold=None if gold is None else read_source(gold, lp, test_set),
        families=known,
        draws=Draws(resamples=resamples, seed=seed),
    )
    table = bias_table(found, exact=not is_for_people(form))
    print_result(form, table, bias_data(found), table.notes)


# `adjudge reproduce`: the tables of a paper, computed again from its authors' data.


def reproduce_command(
    paper: Annotated[
        str, typer.Argument(metavar="PAPER", help="m-mad, rate, himate, fire or esa.", show_default=False)
    ],
    *,
    data: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder with the paper's inputs, such as wmt23 and m-mad.")
    ],
    figures: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Draw its figures there, as PDF, SVG and PNG (esa: 4 and 9)."),
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Compute a paper's tables again: its cell, ours, and a verdict with the reason where they differ.

    A cell whose files are not below DIR says which one is wanted. The page "reproduce" of the documentation
    names them all.
    """
    from adjudge.reports.campaign_report import reproduction_figures
    from adjudge.reports.metric_tables import (
        reproduction_data,
        reproduction_rows,
        reproduction_tables,
        summary,
    )
    from adjudge.reproduce.reproduction import reproduce

    found = reproduce(paper, data)
    if figures is not None:
        drawn = [path for figure in reproduction_figures(found) for path in figure.write(figures)]
        print_note(f"Figures in {figures}: {len(drawn)} files")
    if is_for_people(form):
        for place, table in enumerate(reproduction_tables(found)):
            if place:
                print()
            print_result(form, table, {})
        return
    print_result(form, reproduction_rows(found), reproduction_data(found), (*found.notes, summary(found)))


# `adjudge thresholds`: from which score on may a translation go out unseen? With a stated risk.


_SEVERITIES = ("minor", "major", "critical")


def thresholds_command(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|FILE", callback=existing, help="Whose scores decide.", show_default=False
        ),
    ],
    *,
    gold: Annotated[
        Path,
        typer.Option(
            metavar="FILE", callback=existing, help="Judgements of people, of some of it.", show_default=False
        ),
    ],
    bad: Annotated[
        str,
        typer.Option(
            metavar="SEVERITY|NUMBER",
            help="Bad is what has an error so grave in gold, or a lower gold score.",
        ),
    ] = "major",
    publish_risk: Annotated[
        float, typer.Option(help="Share of bad translations among those published.")
    ] = 0.05,
    reject_risk: Annotated[float, typer.Option(help="Share of good ones among those rejected.")] = 0.1,
    delta: Annotated[float, typer.Option(help="Chance that a guarantee does not hold.")] = 0.05,
    guarantee: Annotated[
        Literal["tested", "average"],
        typer.Option(help="Of each risk: with chance 1 - delta; or on average, as shares of all."),
    ] = "tested",
    decisions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the decision on each translation, TSV.")
    ] = None,
    by_document: Annotated[
        bool, typer.Option("--by-document", help="Documents are independent, not their segments.")
    ] = False,
    together: Annotated[
        bool, typer.Option("--together", help="All guarantees hold at once, with chance 1 - delta.")
    ] = False,
    weights: WeightsOption = None,
    lp: LpOption = None,
    test_set: Annotated[
        Path | None,
        typer.Option("--test-set", metavar="PATH", help="Texts that say the domains; else a run's own."),
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Find the scores from which on to publish and up to which to reject; what lies between is post-edited.

    The cut-offs come from a small gold set, for all translations and for every language pair and domain.
    """
    from adjudge.analysis.segment_scores import score_records as score
    from adjudge.analysis.thresholds import ThresholdSettings, thresholds
    from adjudge.core.language import canonical_lp
    from adjudge.reports.result_tables import guarantees, threshold_table

    settings = ThresholdSettings(
        publish_risk=publish_risk,
        reject_risk=reject_risk,
        delta=delta,
        guarantee=guarantee,
        by_document=by_document,
        together=together,
    )
    lp = None if lp is None else canonical_lp(lp)
    judged, labelled = (read_if_taken(path, lp, test_set) for path in (run, gold))
    scores = score(judged, weights=weights, lp=lp)
    labels, told = _labels(labelled, bad, lp)
    domains = domains_known((judged, labelled), (run, gold), lp, test_set)
    found = thresholds(scores, labels, told, settings=settings, domains=domains)
    table = threshold_table(found, exact=not is_for_people(form))
    print_result(form, table, _thresholds_data(found), (*guarantees(found), *found.notes))
    if decisions is not None:
        _write(decisions, scores, found)


def _labels(judged: Judged, bad: str, lp: str | None) -> tuple[Mapping[Key, bool], str]:
    from adjudge.analysis.segment_scores import score_records as score
    from adjudge.analysis.thresholds import bad_by_score, bad_by_severity
    from adjudge.core.scores import Run

    if bad in _SEVERITIES:
        records = judged.records if isinstance(judged, Run) else judged
        labels = bad_by_severity(records, cast("Severity", bad))
        return labels, f"half of its annotators, or more, marked a {bad} error or a graver one"
    try:
        below = float(bad)
    except ValueError:
        below = math.nan
    if not math.isfinite(below):
        raise UsageError(f"--bad is {', '.join(_SEVERITIES)}, or a score; got {bad!r}")
    return bad_by_score(score(judged, lp=lp), below), f"its gold score is below {below:g}"


def _write(path: Path, scores: Scores, found: Thresholds) -> None:
    """A decision for each translation: by the cut-offs of all, since those of parts may lack labels."""
    from adjudge.analysis.thresholds import decide
    from adjudge.reports.tables import Table, render_table
    from adjudge.store.files import write_text

    publish, reject = found.bands[0].publish.bound, found.bands[0].reject.bound
    rows = [
        [s.lp, s.segment, s.system, "", "failed"]
        if s.score is None
        else [s.lp, s.segment, s.system, repr(s.score), decide(s.score, publish, reject)]
        for s in scores.segments
    ]
    table = Table(columns=["lp", "segment", "system", ">score", "decision"], rows=rows)
    write_text(path, [render_table(table, "tsv")])


def _thresholds_data(found: Thresholds) -> dict[str, Any]:
    """The result as one JSON object."""
    return {
        "bad": found.bad,
        "publish_risk": found.settings.publish_risk,
        "reject_risk": found.settings.reject_risk,
        "delta": found.settings.delta,
        "guarantee": found.settings.guarantee,
        "by_document": found.settings.by_document,
        "together": found.settings.together,
        "signature": found.signature,
        "bands": [_band(band) for band in found.bands],
        "notes": list(found.notes),
    }


def _band(band: Band) -> dict[str, Any]:
    return {
        "kind": band.kind,
        "name": band.name,
        "n": band.n,
        "sources": band.sources,
        "bad": band.bad,
        "publish": _cut(band.publish),
        "reject": _cut(band.reject),
        "shares": dict(band.shares),
    }


def _cut(cut: Cut) -> dict[str, Any]:
    return {"bound": cut.bound, "n": cut.n, "wrong": cut.wrong, "interval": listed(cut.interval)}


def estimate_command(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|FILE", callback=existing, help="Scores of all segments.", show_default=False
        ),
    ],
    *,
    gold: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            callback=existing,
            help="Judgements of some of them, drawn at random.",
            show_default=False,
        ),
    ],
    target: Annotated[
        Literal["test-set", "population"],
        typer.Option(help="What intervals are for: this test set, or all texts like it."),
    ] = "test-set",
    drawn: Annotated[
        Literal["segments", "documents"] | None,
        typer.Option(help="What was drawn for labelling; told from the labels by default."),
    ] = None,
    by_domain: Annotated[
        bool, typer.Option("--by-domain", help="Labels were drawn from each domain separately.")
    ] = False,
    weights: WeightsOption = None,
    lp: LpOption = None,
    test_set: TextsOption = None,
    seed: SeedOption = 0,
    form: FormatOption = "table",
) -> None:
    """Estimate each system's gold mean and its lead, as if all segments had been judged by people.

    The labels correct the judge, so that its bias does not matter; a better judge gives narrower intervals.
    """
    from adjudge.analysis.estimate import EstimateSettings, estimates
    from adjudge.analysis.segment_scores import score_records as score
    from adjudge.core.language import canonical_lp
    from adjudge.reports.result_tables import estimate_table

    lp = None if lp is None else canonical_lp(lp)
    judged = [read_if_taken(path, lp, test_set) for path in (run, gold)]
    scores, labels = (score(each, weights=weights, lp=lp) for each in judged)
    strata = domains_known(judged, (run, gold), lp, test_set) if by_domain else None
    if by_domain and not strata:
        raise UsageError("--by-domain needs domains: give the test set that says them, --test-set PATH")
    settings = EstimateSettings(target=target, drawn=drawn, seed=seed)
    rows, notes = estimates(scores, labels, settings=settings, strata=strata)
    notes = (str(scores.signature), str(labels.signature), *notes)
    table = estimate_table(rows, notes, exact=not is_for_people(form))
    print_result(
        form,
        table,
        {"target": target, "systems": [_estimate_data(row) for row in rows], "notes": list(notes)},
        notes,
    )


def _estimate_data(row: SystemEstimate) -> dict[str, Any]:
    ahead = None if row.ahead is None else _estimate(row.ahead)
    return {
        "system": row.system,
        "mean": _estimate(row.mean),
        "ahead": ahead,
        "ranks": [row.best, row.worst],
    }


def _estimate(found: Estimate) -> dict[str, Any]:
    intervals = {"interval": listed(found.interval), "plain_interval": listed(found.plain_interval)}
    return asdict(found) | intervals
