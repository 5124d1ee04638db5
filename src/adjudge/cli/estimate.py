"""`adjudge estimate`: systems' means on gold's scale, from a judge's many scores and gold's few."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from adjudge.cli.options import LpOption, SeedOption, existing
from adjudge.cli.output import FormatOption, is_for_people, print_result
from adjudge.cli.scorable import TextsOption, WeightsOption, domains_known, read_if_taken
from adjudge.core.score import listed
from adjudge.errors import UsageError

if TYPE_CHECKING:
    from adjudge.meta.deciding.estimates import SystemEstimate
    from adjudge.meta.deciding.few_labels import Estimate

__all__ = ["command"]


def command(
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
    from adjudge.core.language import canonical_lp
    from adjudge.meta.deciding.estimates import EstimateSettings, estimates
    from adjudge.report.decision_tables import estimate_table
    from adjudge.scoring.score import score

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
        form, table, {"target": target, "systems": [_data(row) for row in rows], "notes": list(notes)}, notes
    )


def _data(row: SystemEstimate) -> dict[str, Any]:
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
