"""`adjudge reproduce`: the tables of a paper, computed again from its authors' data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli.output import FormatOption, is_for_people, print_note, print_result

__all__ = ["command"]


def command(
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
    from adjudge.meta.reproduce.reproduction import reproduce
    from adjudge.report.reproduction_figures import reproduction_figures
    from adjudge.report.reproduction_table import (
        reproduction_data,
        reproduction_rows,
        reproduction_tables,
        summary,
    )

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
