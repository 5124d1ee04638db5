"""`adjudge merge`: make one run of its shards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli.failures import MaxFailedOption, check_failures
from adjudge.cli.options import existing
from adjudge.cli.output import print_note
from adjudge.core.wording import read_share

__all__ = ["command"]


def command(
    out: Annotated[
        Path,
        typer.Argument(metavar="RUN", callback=existing, help="The --out of the shards.", show_default=False),
    ],
    max_failed: MaxFailedOption = "1%",
) -> None:
    """Make one run of the shards that `adjudge run --shard` judged; nobody is asked.

    Records and calls are those of a run that was not split. The shards are removed when all is in the run.
    """
    from adjudge.runs.scale.merge import merge

    allowed = read_share(max_failed)
    info = merge(out)
    print_note(f"{info.counts['judged']} judged, {info.counts['failed']} failed -> {out}")
    print_note(str(info.signature))
    check_failures(info.counts, allowed)
