"""`adjudge serve`: the report as a local page, with every conversation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.judged import Asked, GoldOption, JudgedArgument, TextsOption, TitleOption, read_material
from adjudge.cli.options import LpOption
from adjudge.cli.output import print_note
from adjudge.core.run import Run

if TYPE_CHECKING:
    from fastapi import FastAPI

    from adjudge.report.drawer import Drawer
    from adjudge.report.given import Judged
    from adjudge.report.page import Page
    from adjudge.web.viewer import Talk

__all__ = ["command"]


def command(
    judged: JudgedArgument,
    *,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any free one.")] = 8000,
    title: TitleOption = None,
    lp: LpOption = None,
    gold: GoldOption = None,
    test_set: TextsOption = None,
) -> None:
    """Show the report as a page of this machine, with every conversation; Ctrl-C ends it.

    No run is changed, and nobody else is asked. Segments come a few at a time, so that runs of any size can
    be read. What is shown is what was there when it started.
    """
    from adjudge.report.drawer import Drawer
    from adjudge.web.serving import address_of, listen
    from adjudge.web.viewer import serve_viewer

    asked = Asked(gold=gold, test_set=test_set, title=title, lp=lp)
    with listen("127.0.0.1", port) as listening, Drawer() as drawer:
        print_note("Reading ...")
        app = _make(judged, asked, drawer)
        print_note(f"The report is at {address_of(listening)}")
        print_note("Ctrl-C stops it.")
        serve_viewer(app, listening)
    print_note("Stopped.")


def _make(places: Sequence[Path], asked: Asked, drawer: Drawer) -> FastAPI:
    """Read everything, and keep the server alone: records and page are gone when it begins."""
    from adjudge.report.repeat import page_commands
    from adjudge.web.viewer import create_viewer

    material = read_material(places, asked)
    amount = sum(len(each.records) for each in material.judged)
    print_note(f"{amount:,} judgements; putting the page together ...")
    page = material.make()
    print_note(f"{page.headline}.")
    again = page_commands("serve", material.judged, places, vars(asked))
    return create_viewer(page, talks=_talks(page, material.judged, places), commands=again, drawer=drawer)


def _talks(page: Page, judged: Sequence[Judged], places: Sequence[Path]) -> dict[int, Talk]:
    """The conversations of runs, by the position of their annotator; a run without its store has none."""
    from adjudge.errors import StoreError
    from adjudge.runs.conversations import ReadableRun

    folders = {id(run.info): place for run, place in zip(judged, places, strict=True) if isinstance(run, Run)}
    found: dict[int, Talk] = {}
    for by, annotator in enumerate(page.annotators):
        if annotator.kind != "judge" or id(annotator.info) not in folders:
            continue
        try:
            found[by] = ReadableRun(folders[id(annotator.info)]).conversation
        except StoreError as error:
            print_note(f"adjudge: no conversations of {annotator.label}: {error}")
    return found
