"""`adjudge agreement`: how people agree, and judges with them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli.options import IntervalDrawsOption, LpOption, SeedOption, existing
from adjudge.cli.output import FormatOption, is_for_people, print_result, progress_bar
from adjudge.cli.scorable import TextsOption, read_source

__all__ = ["command"]


def command(
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
    from adjudge.meta.agreement.agreement import AgreementSettings, find_agreement
    from adjudge.meta.agreement.estimate import Draws
    from adjudge.report.agreement_table import agreement_data, agreement_table

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
