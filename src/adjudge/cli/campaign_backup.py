"""`adjudge campaign backup`: one state of the store in a file, also while it is served."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli.output import print_note

__all__ = ["command"]


def command(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Folder of the campaign.")],
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Where to; never replaced.")],
) -> None:
    """Copy the store of a campaign to a file; those who work notice nothing.

    To go back, stop the server, remove campaign.sqlite-wal and campaign.sqlite-shm, and put the file in the
    place of campaign.sqlite: what a killed server left in the former two would be written over it.
    """
    from adjudge.campaigns.campaign import open_campaign

    with open_campaign(name) as campaign:
        campaign.database.backup(out)
    print_note(f"The store of {campaign.name} is copied to {out}.")
