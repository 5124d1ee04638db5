"""`adjudge power`: what a number of judgements can show, and how many more are needed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli.options import LpOption, SeedOption, UnitOption
from adjudge.cli.output import FormatOption, is_for_people, print_result
from adjudge.cli.scorable import (
    CriterionOption,
    TextsOption,
    WeightsOption,
    read_judgements,
    refuse_of_judgements,
)
from adjudge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.annotation import Record
    from adjudge.core.run import Run
    from adjudge.core.score import Scores
    from adjudge.meta.comparing.power import Plan
    from adjudge.meta.comparing.separating import Separation
    from adjudge.report.tables import TableFormat

__all__ = ["command"]


def command(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN|FILE [SYSTEM SYSTEM]]",
            help="Judgements at hand, and two of their systems; else --sd says how they vary.",
            show_default=False,
        ),
    ] = None,
    *,
    sd: Annotated[
        float | None,
        typer.Option(help="Without data: spread over segments of the difference of two systems."),
    ] = None,
    annotator_sd: Annotated[
        float, typer.Option(help="Without data: spread of that difference over annotators.")
    ] = 0.0,
    segments: Annotated[
        int | None,
        typer.Option(min=1, help="Segments to be judged; with --difference, else as many as it takes."),
    ] = None,
    annotators: Annotated[int | None, typer.Option(min=1, help="Annotators of each translation.")] = None,
    difference: Annotated[
        float | None, typer.Option(help="Without data: the difference to be found.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="Of the two-sided test.")] = 0.05,
    power: Annotated[float, typer.Option(help="Chance to find the difference.")] = 0.8,
    by_document: UnitOption = None,
    weights: WeightsOption = None,
    lp: LpOption = None,
    criterion: CriterionOption = None,
    test_set: TextsOption = None,
    resamples: Annotated[int, typer.Option(min=1, help="Draws of the simulation.")] = 1000,
    seed: SeedOption = 0,
    form: FormatOption = "table",
) -> None:
    """Say the smallest difference that n segments and m annotators show, and how many judgements are needed.

    With judgements at hand: for two systems, or for each system and the next best.
    """
    from adjudge.meta.comparing.power import Plan
    from adjudge.meta.comparing.separating import SeparationSettings, separations

    if not what:
        if sd is None or (segments is None and difference is None):
            raise UsageError(
                "give judgements (a run or a file), or --sd with --segments, --difference or both"
            )
        reading = {"weights": weights, "lp": lp, "criterion": criterion, "test_set": test_set}
        refuse_of_judgements("--sd", **reading, by_document=by_document)
        if segments is None and not difference:
            raise UsageError("no number of segments shows a difference of 0: give --segments")
        plan = Plan(
            sd=sd,
            annotator_sd=annotator_sd,
            segments=segments or 1,
            annotators=annotators or 1,
            alpha=alpha,
            power=power,
        )
        if segments is None and difference is not None:
            plan = replace(plan, segments=plan.needed_for(difference) or 1)
        _print_plan(plan, difference, form)
        return
    if sd is not None or annotator_sd or difference is not None:
        raise UsageError("--sd, --annotator-sd and --difference stand in for data; leave them out here")
    settings = SeparationSettings(
        segments=segments,
        annotators=annotators,
        alpha=alpha,
        power=power,
        by_document=by_document,
        resamples=resamples,
        seed=seed,
    )
    scores, by_annotator = _read(what, weights, lp, criterion, test_set)
    found = separations(scores, what[1:] or None, settings=settings, by_annotator=by_annotator)
    _print_separations(found, str(scores.signature), form)


def _read(
    what: Sequence[str], weights: str | None, lp: str | None, criterion: str | None, texts: Path | None
) -> tuple[Scores, dict[str, Scores]]:
    """Scores, and those of each annotator alone where there are several."""
    from adjudge.core.language import canonical_lp
    from adjudge.core.run import Run
    from adjudge.scoring.score import score

    if len(what) not in {1, 3}:
        raise UsageError(f"give a run or a file, alone or with two systems; got {len(what)} names")
    path, lp = Path(what[0]), None if lp is None else canonical_lp(lp)
    if not path.exists():
        raise UsageError(f"no file or folder {str(path)!r}")
    judged: Run | Sequence[Record] = read_judgements(path, lp, texts)
    records = judged.records if isinstance(judged, Run) else judged
    apart: dict[str, list[Record]] = {}
    for record in records:
        apart.setdefault(record.annotator, []).append(record)
    whole = score(judged, weights=weights, lp=lp, criterion=criterion)
    if len(apart) == 1:
        return whole, {}
    wanted = {name: [r for r in own if lp in {None, r.lp}] for name, own in apart.items()}
    return whole, {
        name: score(own, weights=weights, criterion=criterion) for name, own in wanted.items() if own
    }


def _print_plan(plan: Plan, difference: float | None, form: TableFormat) -> None:
    from adjudge.report.power_tables import plan_table

    data: dict[str, Any] = {
        "segments": plan.segments,
        "annotators": plan.annotators,
        "sd": plan.sd,
        "annotator_sd": plan.annotator_sd,
        "alpha": plan.alpha,
        "power": plan.power,
        "detectable": plan.detectable,
    }
    if difference is not None:
        data |= {
            "difference": difference,
            "power_for_difference": plan.power_for(difference),
            "needed": plan.needed_for(difference),
        }
    print_result(form, plan_table(plan, difference, exact=not is_for_people(form)), data)


def _print_separations(found: Sequence[Separation], signature: str, form: TableFormat) -> None:
    from adjudge.report.power_tables import separation_cautions, separation_table

    data = {"signature": signature, "pairs": [_data(row) for row in found]}
    table = separation_table(found, signature, exact=not is_for_people(form))
    print_result(form, table, data, separation_cautions(found))


def _data(row: Separation) -> dict[str, Any]:
    return {
        "systems": [row.first, row.second],
        "n": row.n,
        "units": row.units,
        "difference": row.difference,
        "p": row.p,
        "sd": row.plan.sd,
        "annotator_sd": row.annotator_sd,
        "segments": row.plan.segments,
        "annotators": row.plan.annotators,
        "alpha": row.plan.alpha,
        "wanted": row.plan.power,
        "power": row.power,
        "detectable": row.detectable,
        "needed": row.needed,
        "more": row.more,
    }
