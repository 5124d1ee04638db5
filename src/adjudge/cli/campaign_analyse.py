"""`adjudge campaign analyse`: everything that a campaign shows, whole or half done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.options import LpOption, existing
from adjudge.cli.output import FormatOption, print_note, print_result
from adjudge.cli.scorable import TextsOption, WeightsOption, read_judgements
from adjudge.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.annotation import Record
    from adjudge.data.submissions import CampaignFile

__all__ = ["command", "read_campaign"]

BatchesOption = Annotated[
    Path | None,
    typer.Option(
        callback=existing, help="Appraise's batches of a CSV; else the only batches*.json beside it."
    ),
]


def command(
    campaign: Annotated[
        Path,
        typer.Argument(
            metavar="NAME|FILE",
            help="Folder of a campaign, its export, or an Appraise CSV.",
            callback=existing,
            show_default=False,
        ),
    ],
    *,
    gold: Annotated[
        Path | None, typer.Option(callback=existing, help="Judgements of the same translations.")
    ] = None,
    beside: Annotated[
        Path | None,
        typer.Option(
            metavar="NAME|FILE",
            callback=existing,
            help="Another campaign of the same translations, such as the same people's later.",
        ),
    ] = None,
    batches: BatchesOption = None,
    weights: WeightsOption = None,
    lp: LpOption = None,
    test_set: TextsOption = None,
    resamples: Annotated[int, typer.Option(min=0, help="Draws of the intervals; 0 for none.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of those draws.")] = 0,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Draw figures there, as PDF, SVG and PNG.")
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Analyse a campaign: rankings, agreement, attention, times, drift, and what marks and ratings hold.

    Where a definition of the ESA paper has a flaw, the paper's number and a mended one stand there.
    """
    from adjudge.core.language import canonical_lp
    from adjudge.meta.agreement.estimate import Draws
    from adjudge.meta.campaign.analysis import analyse
    from adjudge.report.campaign_figures import campaign_figures
    from adjudge.report.campaign_tables import analysis_data, analysis_rows, analysis_tables

    chosen = None if lp is None else canonical_lp(lp)
    found = analyse(
        _of_lp(read_campaign(campaign, batches), chosen),
        gold=_gold(gold, chosen, test_set),
        beside=None if beside is None else _of_lp(read_campaign(beside, batches), chosen),
        weights=weights,
        draws=Draws(resamples=resamples, seed=seed),
    )
    for figure in campaign_figures(found) if figures is not None else ():
        figure.write(figures or Path())
    if figures is not None:
        print_note(f"The figures: {figures}")
    if form in {"json", "csv", "tsv"}:
        print_result(form, analysis_rows(found), analysis_data(found))
        return
    for place, table in enumerate(analysis_tables(found)):
        if place:
            print()
        print_result(form, table, {})


def read_campaign(path: Path, batches: Path | None = None) -> CampaignFile:
    """Read a campaign's folder, its export, or an Appraise CSV with its batches.

    Raises:
        DataError: it is none of them, or the batches of a CSV are not to be found.
    """
    from adjudge.campaigns.campaign import open_campaign
    from adjudge.campaigns.exporting import export_campaign
    from adjudge.data.submission_lines import read_campaign_file

    if path.is_dir():
        with open_campaign(path) as opened:
            return export_campaign(opened)
    return _read_appraise(path, batches) if path.suffix.lower() == ".csv" else read_campaign_file(path)


def _read_appraise(path: Path, batches: Path | None) -> CampaignFile:
    from adjudge.data.appraise_batches import read_batches
    from adjudge.data.appraise_submissions import read_appraise_submissions

    beside = [batches] if batches is not None else sorted(path.parent.glob("batches*.json"))
    if len(beside) != 1:
        raise DataError(
            f"an Appraise CSV says no texts: wanted its batches, found {len(beside)} files batches*.json "
            "beside it; name one with --batches",
            path=path,
        )
    file, met = read_appraise_submissions(path, read_batches(beside[0]))
    for what, count in met.items():
        print_note(f"adjudge: {path}: {count:,} {what}")
    return file


def _of_lp(file: CampaignFile, lp: str | None) -> CampaignFile:
    from dataclasses import replace

    if lp is None:
        return file
    return replace(file, submissions=tuple(s for s in file.submissions if s.lp == lp))


def _gold(path: Path | None, lp: str | None, texts: Path | None) -> Sequence[Record]:
    from adjudge.core.run import Run

    if path is None:
        return ()
    found = read_judgements(path, lp, texts)
    return found.records if isinstance(found, Run) else found
