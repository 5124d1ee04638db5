"""`--max-failed`: how many judgements may fail before a command says so with its exit code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from adjudge.cli.exits import FAILURES
from adjudge.errors import UsageError

__all__ = ["MaxFailedOption", "check_failures", "read_share"]

MaxFailedOption = Annotated[str, typer.Option(help="More failures than this end with exit code 3.")]


def read_share(text: str) -> float:
    """Read `1%` or `0.01` as a share.

    Raises:
        UsageError: it is neither.
    """
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UsageError(f"--max-failed must be a share such as 1% or 0.01, got {text!r}")
    return share


def check_failures(counts: Mapping[str, int], allowed: float) -> None:
    """Leave with an exit code of its own where a larger share of judgements failed.

    Args:
        counts: judged and failed, as `run.json` has them.
        allowed: share that may fail.
    """
    failed, judged = counts["failed"], counts["judged"]
    if failed > allowed * (failed + judged):
        raise typer.Exit(FAILURES)
