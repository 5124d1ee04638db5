"""`adjudge bias`: what judges favour besides quality."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli.options import IntervalDrawsOption, LpOption, SeedOption, existing
from adjudge.cli.output import FormatOption, is_for_people, print_result
from adjudge.cli.scorable import TextsOption, read_source

__all__ = ["command"]


def command(
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
    from adjudge.data.families import read_families
    from adjudge.meta.agreement.estimate import Draws
    from adjudge.meta.bias.biases import find_biases
    from adjudge.meta.bias.family import Families
    from adjudge.report.bias_table import bias_data, bias_table

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
