"""`adjudge campaign export`: what people said so far, in every format that holds it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from adjudge.cli.options import LpOption
from adjudge.cli.output import print_note
from adjudge.errors import UsageError

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign

__all__ = ["command"]

_FORMATS: Final = (
    *("campaign", "records", "jsonl", "appraise", "pearmut", "mqm-tsv", "mtme-ratings", "mtme-scores"),
    "spreadsheet",
)


def command(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Folder of the campaign.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="File to write; `-` is standard output.")],
    *,
    to: Annotated[
        str, typer.Option(help=f"Format: {', '.join(_FORMATS)}. `jsonl` is the texts alone.")
    ] = "campaign",
    annotator: Annotated[
        str | None, typer.Option(help="Only this person's; a score file holds one rating a translation.")
    ] = None,
    lp: LpOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
) -> None:
    """Export a campaign at any time, half done too.

    `campaign` has everything; `records` what counts, as every other command reads it: checks, tutorials and
    what was judged again later are left out, and counted on standard error.
    """
    from adjudge.campaigns.campaign import open_campaign
    from adjudge.campaigns.forms import check_form
    from adjudge.data.convert import check_target

    if to not in _FORMATS:
        raise UsageError(f"a campaign is exported as {', '.join(_FORMATS)}; got {to!r}")
    check_target(out, to, force=force)
    with open_campaign(name) as campaign:
        check_form(campaign.protocol, to)
        left_out = _write(campaign, out, to, (lp, annotator), force=force)
    for what, count in left_out.items():
        print_note(f"adjudge: not in {out}: {count:,} {what}")


def _write(
    campaign: Campaign, out: Path, to: str, only: tuple[str | None, str | None], *, force: bool
) -> Counter[str]:
    """Write what was asked for; `only` is the language pair and the person that were."""
    from adjudge.campaigns.exporting import campaign_header, export_campaign, stream_submissions
    from adjudge.campaigns.forms import check_judged
    from adjudge.core.language import canonical_lp
    from adjudge.data.convert import content_of, of_annotator, write_content
    from adjudge.data.submission_lines import write_campaign_file
    from adjudge.data.submission_records import select_lp

    lp, annotator = only
    if to == "campaign" and only == (None, None):  # however many: a line at a time
        write_campaign_file(out, campaign_header(campaign), stream_submissions(campaign))
        return Counter()
    file = export_campaign(campaign)
    check_judged(file, to)
    content = content_of(file if lp is None else select_lp(file, canonical_lp(lp)))
    if annotator is not None:
        content = of_annotator(content, annotator)
    left_out = write_content(out, to, content, force=force)
    if not file.submissions:
        print_note(f"adjudge: nobody has judged anything in {file.name} yet: {out} holds no judgement")
    return left_out if to in {"campaign", "appraise", "pearmut", "spreadsheet"} else content.met + left_out
