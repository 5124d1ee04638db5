"""What the commands of curation that ask a model share: their options, and how a question is carried out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer

from adjudge.cli.failures import check_failures
from adjudge.cli.run import load_named, make_job, print_summary
from adjudge.cli.run_options import RUN_DEFAULTS, with_run_options
from adjudge.cli.stops import RESUMABLE, parting
from adjudge.core.wording import read_share

if TYPE_CHECKING:
    from adjudge.core.segment import TestSet
    from adjudge.curation.asking import Gathered, Question
    from adjudge.report.tables import TableFormat

__all__ = ["OutOption", "ask", "end", "load_sources", "run_folder", "with_options"]

T = TypeVar("T")

OutOption = Annotated[
    Path, typer.Option("--out", "-o", help="Test set to write; what is asked is kept beside it, in FILE.run.")
]
_NOT_HERE: Final = frozenset(
    {"judge", "out", "reference", "profile", "samples", "search", "search_key_env", "explain_in"}
    | {"pairs", "pairs_per_segment", "pairs_in_all", "pairs_file", "anchors", "engine", "shard", "workers"}
)
"""Options of `adjudge run` that a question of curation has no use for."""


def with_options(
    added: Mapping[str, tuple[Any, Any]], dropped: frozenset[str] = frozenset()
) -> Callable[..., Any]:
    """Give a command the options of `adjudge run` that fit a question, and its own.

    Args:
        added: name to annotation and default.
        dropped: of those of `adjudge run`, besides what no question has a use for.
    """
    return with_run_options(added, dropped=_NOT_HERE | dropped)


def load_sources(values: Mapping[str, Any]) -> TestSet:
    """The test set that the options name."""
    return load_named({**RUN_DEFAULTS, **values})


def ask(
    values: Mapping[str, Any], question: Question[T], asked: TestSet, *, form: TableFormat = "table"
) -> Gathered[T]:
    """Put a question of each segment, or say what that would cost; then leave.

    Args:
        values: of every option, by name.
        question: with its settings.
        asked: a place for each answer.
        form: of the forecast.

    Raises:
        AdjudgeError: something stopped it; the same command goes on where it stopped.
    """
    from adjudge.cli.forecast import announce, print_forecast
    from adjudge.curation.asking import gather
    from adjudge.runs.run import run_to_end

    read_share(values["max_failed"])  # a share that is none is said before anything is paid
    out = run_folder(values["out"])
    job = make_job({**RUN_DEFAULTS, **values, "judge": question}, out, dry=values["dry_run"], given=asked)
    if values["dry_run"]:
        print_forecast(job, form)
        raise typer.Exit
    announce(job)
    with parting(RESUMABLE):
        gathered = run_to_end(gather(job, question))
    print_summary(job, gathered.outcome)
    return gathered


def run_folder(out: Path) -> Path:
    """Where it is kept what was asked for a file."""
    return out.with_name(f"{out.name}.run")


def end(gathered: Gathered[Any], max_failed: str) -> None:
    """Leave with exit code 3 where too much failed."""
    check_failures(gathered.outcome.info.counts, read_share(max_failed))
