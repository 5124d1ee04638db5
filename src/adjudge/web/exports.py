"""Exports of a campaign for the browser: one file each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from adjudge.campaigns.campaign import Campaign
from adjudge.campaigns.exporting import campaign_header, export_campaign, stream_submissions
from adjudge.campaigns.forms import check_form, check_judged
from adjudge.data.convert import content_of, write_content
from adjudge.data.submission_lines import write_campaign_file

__all__ = ["SUFFIXES", "ExportForm", "write_export"]

ExportForm = Literal["campaign", "records", "jsonl", "appraise", "pearmut", "mqm-tsv", "spreadsheet"]
"""Formats of `data.formats` that are one file."""
SUFFIXES: Final[Mapping[ExportForm, str]] = {
    "campaign": "campaign.jsonl",
    "records": "records.jsonl",
    "jsonl": "texts.jsonl",
    "appraise": "appraise.csv",
    "pearmut": "pearmut.jsonl",
    "mqm-tsv": "mqm.tsv",
    "spreadsheet": "csv",
}


def write_export(campaign: Campaign, form: ExportForm, path: Path) -> None:
    """Write everything that is finished so far.

    Args:
        campaign: which.
        form: what kind of file.
        path: of a new file.

    Raises:
        UsageError: the format cannot hold what this campaign has, or nothing at all.
    """
    check_form(campaign.protocol, form)
    if form == "campaign":  # however many: a line at a time
        write_campaign_file(path, campaign_header(campaign), stream_submissions(campaign))
    else:
        file = export_campaign(campaign)
        check_judged(file, form)
        write_content(path, form, content_of(file))
