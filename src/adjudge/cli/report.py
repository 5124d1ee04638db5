"""`adjudge report`: one self-contained HTML page about runs, campaigns and metrics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli.judged import Asked, GoldOption, JudgedArgument, TextsOption, TitleOption, read_material
from adjudge.cli.options import LpOption
from adjudge.cli.output import print_note
from adjudge.errors import UsageError

__all__ = ["command"]


def command(
    judged: JudgedArgument,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="The HTML file.")] = Path("report.html"),
    title: TitleOption = None,
    lp: LpOption = None,
    gold: GoldOption = None,
    test_set: TextsOption = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write its figures there too, as PDF, SVG and PNG.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write one HTML file: who leads, how sure that is, who agrees, every error in its place, what failed.

    Judges, people and metrics stand side by side, each an annotator. It opens without a server and asks
    nothing of any.
    """
    from adjudge.report.collecting import uncollected

    if out.exists() and not force:
        raise UsageError(f"--out {out} exists; --force replaces it")
    with uncollected():
        _write(judged, Asked(gold=gold, test_set=test_set, title=title, lp=lp), out, figures)


def _write(places: Sequence[Path], asked: Asked, out: Path, figures: Path | None) -> None:
    from adjudge.data.files import write_text
    from adjudge.report.drawer import drawer_for
    from adjudge.report.html import render_page
    from adjudge.report.repeat import page_commands

    material = read_material(places, asked)
    with drawer_for(material.judged) as drawer:
        page = material.make()
        options = {**vars(asked), "out": out, "figures": figures, "force": True}
        again = page_commands("report", material.judged, places, options)
        write_text(out, [render_page(page, again, drawer=drawer)])
    print_note(f"{page.headline}.")
    for figure in page.figures if figures is not None else []:
        figure.write(figures or Path())
    print_note(f"The report: {out}" + ("" if figures is None else f"; its figures: {figures}"))
