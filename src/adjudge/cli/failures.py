"""`--max-failed`: how many judgements may fail before a command says so with its exit code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from adjudge.cli.exits import FAILURES

__all__ = ["MaxFailedOption", "check_failures"]

MaxFailedOption = Annotated[
    str, typer.Option(help="Exit with 3 above this share; 1: also go on if all fail.")
]


def check_failures(counts: Mapping[str, int], allowed: float) -> None:
    """Leave with an exit code of its own where a larger share of judgements failed.

    Args:
        counts: judged and failed, as `run.json` has them.
        allowed: share that may fail.
    """
    failed, judged = counts["failed"], counts["judged"]
    if failed > allowed * (failed + judged):
        raise typer.Exit(FAILURES)
