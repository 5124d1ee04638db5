"""Options that several commands share, so that they are spelled and explained once."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from adjudge.errors import SettingError, UsageError

__all__ = [
    "DrawDocumentsOption",
    "IntervalDrawsOption",
    "LimitOption",
    "LpOption",
    "ReferencesOption",
    "SeedOption",
    "SourceOption",
    "SystemsOption",
    "TestDrawsOption",
    "TestSetArgument",
    "TranslationsOption",
    "UnitOption",
    "existing",
    "naming_the_nearest",
]


def existing(paths: Path | list[Path] | None) -> Path | list[Path] | None:
    """Let paths through that lead somewhere; a callback of options that take no public name.

    Raises:
        UsageError: there is nothing.
    """
    for path in [paths] if isinstance(paths, Path) else paths or []:
        if str(path) != "-" and not path.exists():
            raise UsageError(f"no file or folder {str(path)!r}")
    return paths


TestSetArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="[TEST_SET]",
        help="MTME folder, JSONL file, or a name of `adjudge list test-sets`; leave it out with -s and -t.",
        show_default=False,
    ),
]
LpOption = Annotated[str | None, typer.Option("--lp", "-l", help="Language pair, such as en-de.")]
SystemsOption = Annotated[str | None, typer.Option(help="Only these systems, separated by commas.")]
LimitOption = Annotated[int | None, typer.Option(min=1, help="Only the first N segments of every system.")]
SourceOption = Annotated[Path | None, typer.Option("--source", "-s", help="Source, one segment a line.")]
TranslationsOption = Annotated[
    list[str] | None,
    typer.Option("--translation", "-t", metavar="[NAME=]FILE", help="A system's output; repeat for more."),
]
ReferencesOption = Annotated[
    list[str] | None,
    typer.Option("--reference-file", "-r", metavar="[NAME=]FILE", help="A reference; repeat for more."),
]
DrawDocumentsOption = Annotated[bool, typer.Option("--by-document", help="Draw whole documents.")]
UnitOption = Annotated[
    bool | None,
    typer.Option(
        "--by-document/--by-segment",
        help="What varies independently; documents where they are known.",
        show_default=False,
    ),
]
IntervalDrawsOption = Annotated[int, typer.Option(min=0, help="Draws of the intervals; 0 for none.")]
TestDrawsOption = Annotated[int, typer.Option(help="Draws of the bootstrap and of the permutation.")]
SeedOption = Annotated[int, typer.Option(min=0, help="Of those draws.")]


@contextmanager
def naming_the_nearest(context: typer.Context) -> Iterator[None]:
    """Name the option nearest to a setting that there is not, among those of the command and of the judge.

    A judge's settings are options that only it knows, so that typer cannot do this.

    Raises:
        UsageError: there is no such setting.
    """
    try:
        yield
    except SettingError as error:
        known = [option for parameter in context.command.params for option in parameter.opts]
        known += [f"--{name.replace('_', '-')}" for name in error.known]
        near = difflib.get_close_matches(f"--{error.name}", known, n=1)
        if not near or near[0] == f"--{error.name}":  # the command has it, and the judge no use for it
            raise
        raise UsageError(f"{error}; did you mean {near[0]}?") from error
