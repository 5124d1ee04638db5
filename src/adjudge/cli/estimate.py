"""`adjudge estimate`: systems' means on gold's scale, from a judge's many scores and gold's few."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli.options import LpOption, existing
from adjudge.cli.output import FormatOption, is_for_people, print_result
from adjudge.cli.scorable import TextsOption, WeightsOption, read_scores
from adjudge.core.score import listed

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
    weights: WeightsOption = None,
    lp: LpOption = None,
    test_set: TextsOption = None,
    form: FormatOption = "table",
) -> None:
    """Estimate each system's gold mean and its lead, as if all segments had been judged by people.

    The labels correct the judge, so that its bias does not matter; a better judge gives narrower intervals.
    """
    from adjudge.meta.deciding.estimates import estimates
    from adjudge.report.decision_tables import estimate_table

    scores, labels = (
        read_scores(path, weights=weights, lp=lp, criterion=None, texts=test_set) for path in (run, gold)
    )
    rows, notes = estimates(scores, labels)
    notes = (str(scores.signature), str(labels.signature), *notes)
    table = estimate_table(rows, notes, exact=not is_for_people(form))
    print_result(form, table, {"systems": [_data(row) for row in rows], "notes": list(notes)}, notes)


def _data(row: SystemEstimate) -> dict[str, Any]:
    ahead = None if row.ahead is None else _estimate(row.ahead)
    return {"system": row.system, "mean": _estimate(row.mean), "ahead": ahead}


def _estimate(found: Estimate) -> dict[str, Any]:
    intervals = {"interval": listed(found.interval), "plain_interval": listed(found.plain_interval)}
    return asdict(found) | intervals
