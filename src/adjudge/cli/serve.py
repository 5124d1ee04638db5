"""`adjudge serve`: the report as a local page, with every conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.options import LpOption
from adjudge.cli.output import print_note
from adjudge.cli.report import (
    GoldOption,
    JudgedArgument,
    TextsOption,
    commands_again,
    read_given,
    read_gold,
)
from adjudge.core.run import Run

if TYPE_CHECKING:
    from fastapi import FastAPI

    from adjudge.report.given import Judged
    from adjudge.report.page import Page
    from adjudge.web.viewer import Talk

__all__ = ["command"]


def command(
    judged: JudgedArgument,
    *,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any free one.")] = 8000,
    title: Annotated[str | None, typer.Option(help="Of the page; else the name of the test set.")] = None,
    lp: LpOption = None,
    gold: GoldOption = None,
    test_set: TextsOption = None,
) -> None:
    """Show the report as a page of this machine, with every conversation; Ctrl-C ends it.

    No run is changed, and nobody else is asked. Segments come a few at a time, so that runs of any size can
    be read. What is shown is what was there when it started.
    """
    from adjudge.web.serving import address_of, listen
    from adjudge.web.viewer import serve_viewer

    asked = {"--gold": gold, "--test-set": test_set, "--title": title, "--lp": lp}
    with listen("127.0.0.1", port) as listening:
        print_note("Reading ...")
        app = _make(judged, asked, title, lp, gold, test_set)
        print_note(f"The report is at {address_of(listening)}")
        print_note("Ctrl-C stops it.")
        serve_viewer(app, listening)
    print_note("Stopped.")


def _make(
    places: Sequence[Path],
    asked: Mapping[str, object],
    title: str | None,
    lp: str | None,
    gold: Path | None,
    test_set: Path | None,
) -> FastAPI:
    """Read everything, and keep the server alone: records and page are gone when it begins."""
    from adjudge.core.language import canonical_lp
    from adjudge.data.load import load
    from adjudge.report.page import make_page
    from adjudge.web.viewer import create_viewer

    chosen = None if lp is None else canonical_lp(lp)
    texts = None if test_set is None else load(test_set, chosen)
    found = read_given(places, chosen, texts)
    print_note(f"{sum(len(each.records) for each in found):,} judgements; putting the page together ...")
    page = make_page(
        found, title=title, gold=read_gold(gold, chosen, found, texts), lp=chosen, test_set=texts
    )
    print_note(f"{page.headline}.")
    again = commands_again("serve", found, places, asked)
    return create_viewer(page, talks=_talks(page, found, places), commands=again)


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
