"""Commands that say whom to trust: `adjudge spans`, `agreement`, `bias` and others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.analysis.agreement import AgreementSettings, find_agreement
from adjudge.analysis.bias import BiasSettings, bias
from adjudge.analysis.estimate import EstimateSettings, estimate
from adjudge.analysis.span_matching import THRESHOLDS
from adjudge.analysis.spans import (
    Confusion,
    MarkSettings,
    SpanSettings,
    severity_confusions,
    spans_of_runs,
)
from adjudge.analysis.thresholds import Cut, Thresholds, ThresholdSettings, thresholds
from adjudge.cli.options import (
    FormatOption,
    changed_options,
    existing,
    is_for_people,
    print_note,
    print_result,
    print_tables,
    progress_bar,
)
from adjudge.core.scores import Scores, listed
from adjudge.core.verb import Option, settings
from adjudge.errors import UsageError
from adjudge.formats.read import read_judgements, refuse_twice
from adjudge.reports.tables import TableFormat

if TYPE_CHECKING:
    from adjudge.stats.few_labels import Estimate


@settings
class SpanPage:
    """What `spans` prints and draws."""

    confusion: Annotated[bool, Option(help="Print the confusion matrix of severities instead.")] = False
    intervals: Annotated[
        bool, Option(help="Print 95 % bootstrap intervals over segments, from 1000 draws.")
    ] = False
    figure: Annotated[
        Path | None, Option(help="Plot rule himate over its thresholds (.pdf, .svg or .png).", metavar="FILE")
    ] = None


def spans_command(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN|FILE...", help="Runs, records, MQM TSV or .seg.rating with marked errors."
        ),
    ],
    *,
    gold: Annotated[Path, typer.Option(help="Gold: a run or file with marked errors.")],
    settings: SpanSettings,
    printed: SpanPage,
    form: FormatOption = "table",
) -> None:
    """Compare marked errors with gold, on the translations that both judged.

    Rules: mpp (each mark earns the part that its partner holds; the default), em (the same range), mp (any
    overlap), w25 and chars (characters, as WMT25 and WMT23 counted), himate (a common run of words). They
    disagree: --rules all shows how far.
    """
    from adjudge.reports.figures import figure_format
    from adjudge.reports.metric_figures import threshold_figure
    from adjudge.reports.metric_tables import span_data, span_table

    refuse_twice(paths)
    runs = {str(path): path for path in paths}
    figure = printed.figure
    if printed.intervals and not settings.resamples:
        settings = replace(settings, resamples=1000)
    of_marks = {field.name for field in fields(MarkSettings)}
    of_rules = changed_options(settings, (f.name for f in fields(SpanSettings) if f.name not in of_marks))
    of_rules += ["--figure"] if figure else []
    if printed.confusion:
        if of_rules:
            raise UsageError(
                f"--confusion compares severities of marks that meet, and takes no {of_rules[0]}"
            )
        marks = MarkSettings(**{name: getattr(settings, name) for name in of_marks})
        _print_confusion(severity_confusions(runs, gold, marks), form)
        return
    if figure is not None:
        figure_format(figure)
    found = spans_of_runs(runs, gold, settings)
    table = span_table(found, exact=not is_for_people(form), by=settings.by or "group")
    data = _of_runs({run: span_data(one, settings.by) for run, one in found.items()})
    print_result(form, table, data, table.notes)
    if figure is not None:
        drawn = replace(
            settings,
            rule=("himate",),
            threshold=THRESHOLDS,
            by=None,
            penalty=0.0,
            weights=None,
            resamples=settings.resamples or 1000,
        )
        threshold_figure(figure.stem, spans_of_runs(runs, gold, drawn)).write_file(figure)
        print_note(f"wrote {figure}")


def _print_confusion(found: Mapping[str, Confusion], form: TableFormat) -> None:
    from adjudge.reports.metric_tables import confusion_data, confusion_rows, confusion_table

    if is_for_people(form):
        for run, one in found.items():
            print_result(form, confusion_table(one, run if len(found) > 1 else ""), {})
        return
    table = confusion_rows(found)
    data = _of_runs({run: confusion_data(one) for run, one in found.items()})
    print_result(form, table, data, table.notes)


def _of_runs(data: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    runs = [{"run": run, **one} for run, one in data.items()]
    return {"runs": runs} if len(runs) > 1 else runs[0]


def agreement_command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            callback=existing,
            help="Human judgements: records, MQM TSV, ratings or runs.",
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
    settings: AgreementSettings,
    form: FormatOption = "table",
) -> None:
    """Agreement beyond chance, of every two annotators, and of judges with people.

    Preferences: percentage agreement (ranked, tied, easy, hard), Cohen's and Fleiss' kappa, Krippendorff's
    alpha. Scores: alpha, Pearson, Kendall's tau-c, sums by system, marked errors. With --judge also the
    alternative-annotator test. One annotator in two files is compared with itself.
    """
    from adjudge.reports.result_tables import agreement_data, agreement_table

    refuse_twice([*files, *(judge or [])])
    people, judges = (
        [
            read_judgements(path, settings.lp, settings.test_set, needed=False)
            .warn()
            .of_one_kind(settings.lp)
            for path in paths
        ]
        for paths in (files, judge or [])
    )
    with progress_bar("agreement") as progress:
        found = find_agreement(people, judges, settings, progress=progress)
    table = agreement_table(found, exact=not is_for_people(form))
    print_result(form, table, agreement_data(found), table.notes)


def bias_command(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN|FILE...", callback=existing, help="Runs or records with preferences or scores."
        ),
    ],
    *,
    settings: BiasSettings,
    form: FormatOption = "table",
) -> None:
    """Position, length and self-enhancement bias, with intervals over segments.

    Position: how often a verdict is the same when the order is swapped, and how often the first, the second
    or neither is chosen. Length: points of the longer translation. Family: points of a judge's own family.
    """
    from adjudge.reports.result_tables import bias_data, bias_table

    found = bias.by(runs, settings)
    table = bias_table(found, exact=not is_for_people(form))
    print_result(form, table, bias_data(found), table.notes)


def reproduce_command(
    paper: Annotated[
        str,
        typer.Argument(metavar="PAPER", help="Paper: m-mad, rate, himate, fire or esa.", show_default=False),
    ],
    *,
    data: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder with the paper's inputs, such as wmt23 and m-mad.")
    ],
    add: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME=]RUN", help="Add a row of your own to every table of judges."),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for figures as PDF, SVG and PNG (esa: 4 and 9)."),
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Compute a paper's tables again: its cell, ours, and a verdict with the reason where they differ.

    A cell whose files are not below DIR says which one is wanted. The page "reproduce" of the documentation
    names them all. A run of --add that judged a part only has its row in a table of that part, where every
    other row is computed on the same part.
    """
    from adjudge.reports.campaign_report import reproduction_figures
    from adjudge.reports.metric_tables import (
        reproduction_data,
        reproduction_rows,
        reproduction_tables,
        summary,
    )
    from adjudge.reproduce.reproduction import reproduce

    found = reproduce(paper, data, add or ())
    if figures is not None:
        drawn = [path for figure in reproduction_figures(found) for path in figure.write(figures)]
        print_note(f"Figures in {figures}: {len(drawn)} files")
    if is_for_people(form):
        print_tables(form, reproduction_tables(found))
        return
    print_result(form, reproduction_rows(found), reproduction_data(found), (*found.notes, summary(found)))


def thresholds_command(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|FILE",
            callback=existing,
            help="Scores of the metric or judge.",
            show_default=False,
        ),
    ],
    *,
    gold: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            callback=existing,
            help="Human judgements of part of the translations.",
            show_default=False,
        ),
    ],
    settings: ThresholdSettings,
    decisions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the decision on each translation as TSV.")
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Find score cut-offs: publish above one, reject below the other, post-edit between.

    The cut-offs come from a small gold set, for all translations and for every language pair and domain.
    """
    from adjudge.reports.result_tables import guarantees, threshold_table

    found, scores = thresholds(run, gold, settings)
    table = threshold_table(found, exact=not is_for_people(form))
    print_result(
        form,
        table,
        {
            "bad": found.bad,
            "publish_risk": found.settings.publish_risk,
            "reject_risk": found.settings.reject_risk,
            "delta": found.settings.delta,
            "guarantee": found.settings.guarantee,
            "by_document": found.settings.by_document,
            "together": found.settings.together,
            "signature": found.signature,
            "bands": [
                {
                    "kind": band.kind,
                    "name": band.name,
                    "n": band.n,
                    "sources": band.sources,
                    "bad": band.bad,
                    "publish": _cut_data(band.publish),
                    "reject": _cut_data(band.reject),
                    "shares": dict(band.shares),
                }
                for band in found.bands
            ],
            "notes": list(found.notes),
        },
        (*guarantees(found), *found.notes),
    )
    if decisions is not None:
        _write(decisions, scores, found)


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


def _cut_data(cut: Cut) -> dict[str, Any]:
    return {"bound": cut.bound, "n": cut.n, "wrong": cut.wrong, "interval": listed(cut.interval)}


def estimate_command(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|FILE", callback=existing, help="Judge's scores of all segments.", show_default=False
        ),
    ],
    *,
    gold: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            callback=existing,
            help="Human judgements of some segments, drawn at random.",
            show_default=False,
        ),
    ],
    settings: EstimateSettings,
    form: FormatOption = "table",
) -> None:
    """Estimate each system's gold mean and its lead, as if all segments had been judged by people.

    The labels correct the judge, so that its bias does not matter; a better judge gives narrower intervals.
    """
    from adjudge.reports.result_tables import estimate_table

    found = estimate.by(run, gold, settings)
    notes = [str(found.signature), str(found.gold), *found.notes]
    systems = [
        {
            "lp": row.lp,
            "system": row.system,
            "mean": _estimate(row.mean),
            "ahead": None if row.ahead is None else _estimate(row.ahead),
            "ranks": [row.best, row.worst],
        }
        for row in found.systems
    ]
    print_result(
        form,
        estimate_table(found, exact=not is_for_people(form)),
        {"target": settings.target, "systems": systems, "notes": notes},
        notes,
    )


def _estimate(found: Estimate) -> dict[str, Any]:
    intervals = {"interval": listed(found.interval), "plain_interval": listed(found.plain_interval)}
    return asdict(found) | intervals
