"""What the page of `report` and `serve` is about: how it is given, and read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.options import existing, print_note
from adjudge.errors import UsageError

if TYPE_CHECKING:
    from adjudge.core.record import Record
    from adjudge.core.segment import TestSet
    from adjudge.formats.read import Judgements
    from adjudge.reports.annotators import Judged
    from adjudge.reports.page import Page

__all__ = [
    "Asked",
    "CriterionOption",
    "GoldOfSetOption",
    "GoldOption",
    "JudgedArgument",
    "JudgedTextsOption",
    "MetricOfSetOption",
    "TextsOption",
    "TitleOption",
    "WeightsOption",
    "read_material",
    "refuse_of_judgements",
]


# Options of what is scored, and what reads it: a run, or a file of any format that holds judgements.


WeightsOption = Annotated[
    str | None,
    typer.Option(
        "--weights",
        "-w",
        help="Points of marked errors, one of `adjudge list weights`; else the run's, else mqm-google.",
    ),
]
CriterionOption = Annotated[
    str | None, typer.Option(help="Of preferences, such as fluency; else the only one, else overall.")
]
GoldOfSetOption = Annotated[
    str | None, typer.Option(help="Of a test set: the gold, its own or a file, whose scores count.")
]
MetricOfSetOption = Annotated[
    str | None, typer.Option(help="Of a test set: the metric, its own or a file, whose scores count.")
]
TextsOption = Annotated[
    Path | None,
    typer.Option(
        "--test-set", metavar="PATH", help="Texts of a .seg.rating that lies elsewhere; batches of Appraise."
    ),
]


def refuse_of_judgements(beside: str, **given: object) -> None:
    """Refuse options about judgements where none are read, which would go unheard.

    Args:
        beside: the options in whose company none are.
        given: values of options by their names in Python; None where one was left out.
    """
    for name, value in given.items():
        if value is not None:
            option = "--" + name.replace("_", "-")
            raise UsageError(f"{option} is for judgements: leave it out with {beside}")


_CAMPAIGN = "campaign.json"

JudgedArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN|FILE|CAMPAIGN...",
        callback=existing,
        help="Run directories, records, campaigns and their exports, MQM TSV, .seg.rating, .seg.score.",
    ),
]
GoldOption = Annotated[
    Path | None, typer.Option(callback=existing, help="What the others are measured by: any of these.")
]
JudgedTextsOption = Annotated[
    Path | None, typer.Option("--test-set", metavar="PATH", help="Texts of what carries none.")
]
TitleOption = Annotated[str | None, typer.Option(help="Of the page; else the name of the test set.")]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a page was asked for with, by the names of the options."""

    gold: Path | None
    test_set: Path | None
    title: str | None
    lp: str | None


@dataclass(frozen=True, kw_only=True)
class Material:
    """What a page is made of.

    Args:
        asked: how it was asked for.
        judged: all that stands on it, in the order given.
        lp: the only language pair, canonical; None for all.
        texts: of what carries none.
    """

    asked: Asked
    judged: Sequence[Judged]
    lp: str | None
    texts: TestSet | None

    def make(self) -> Page:
        """Read gold, and put the page together."""
        from adjudge.reports.page import make_page

        gold = _read_gold(self)
        return make_page(self.judged, title=self.asked.title, gold=gold, lp=self.lp, test_set=self.texts)


def read_material(places: Sequence[Path], asked: Asked) -> Material:
    """Read everything but gold; folders of campaigns are opened, the rest are files and runs."""
    from adjudge.core.language import canonical_lp
    from adjudge.formats.read import load

    lp = None if asked.lp is None else canonical_lp(asked.lp)
    texts = None if asked.test_set is None else load(asked.test_set, lp)
    return Material(asked=asked, judged=_read_all(places, lp, texts), lp=lp, texts=texts)


def _read_all(places: Sequence[Path], lp: str | None, texts: TestSet | None) -> list[Judged]:
    from adjudge.reports.annotators import read_judged

    campaigns = {index: _campaign(place) for index, place in enumerate(places) if _is_campaign(place)}
    files = [place for index, place in enumerate(places) if index not in campaigns]
    beside = next((c.test_set for c in campaigns.values()), None)
    rest = iter(read_judged(files, lp, texts, beside))
    return [campaigns[index] if index in campaigns else next(rest) for index in range(len(places))]


def _is_campaign(path: Path) -> bool:
    return (path / _CAMPAIGN).is_file()


def _campaign(path: Path) -> Judgements:
    """What counts of a campaign's judgements; it may still be going on."""
    from adjudge.campaigns.campaign import open_campaign
    from adjudge.campaigns.exporting import export_campaign
    from adjudge.formats.read import Judgements, content_of

    campaign = open_campaign(path)
    try:
        content = content_of(export_campaign(campaign))
    finally:
        campaign.database.close()
    for what, amount in content.met.items():
        print_note(f"adjudge: {path}: left out {amount:,} {what}")
    records = tuple(content.records or ())
    return Judgements(name=path.resolve().name, records=records, test_set=content.test_set, form="campaign")


def _read_gold(material: Material) -> Sequence[Record]:
    """What the others are measured by; lines without ids are those of the test set, or of the runs' texts."""
    from adjudge.reports.annotators import read_judged

    path = material.asked.gold
    if path is None:
        return ()
    if _is_campaign(path):
        return _campaign(path).records
    beside = next((each.test_set for each in material.judged if each.test_set is not None), None)
    (found,) = read_judged([path], material.lp, material.texts, beside)
    return found.records
