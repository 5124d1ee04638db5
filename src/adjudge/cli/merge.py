"""`adjudge merge`: make one run of its shards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli.exits import FAILURES
from adjudge.cli.options import existing
from adjudge.cli.output import print_note

__all__ = ["command"]


def command(
    out: Annotated[
        Path,
        typer.Argument(metavar="RUN", callback=existing, help="The --out of the shards.", show_default=False),
    ],
    max_failed: Annotated[str, typer.Option(help="More failures than this end with exit code 3.")] = "1%",
) -> None:
    """Make one run of the shards that `adjudge run --shard` judged; nobody is asked.

    Records and calls are those of a run that was not split. The shards are removed when all is in the run.
    """
    from adjudge.cli.run import read_share
    from adjudge.runs.scale.merge import merge

    allowed = read_share(max_failed)
    info = merge(out)
    judged, failed = info.counts["judged"], info.counts["failed"]
    print_note(f"{judged} judged, {failed} failed -> {out}")
    print_note(str(info.signature))
    if failed > allowed * (judged + failed):
        raise typer.Exit(FAILURES)
