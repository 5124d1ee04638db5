"""`adjudge convert`: between every format that holds the same thing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli.options import LpOption, ReferencesOption, SourceOption, TranslationsOption
from adjudge.cli.output import print_note
from adjudge.errors import UsageError

__all__ = ["command"]


def command(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="[IN] OUT", help="From where, to where; IN is left out with -s and -t."),
    ],
    *,
    to: Annotated[str, typer.Option(help="Format to write; `adjudge list formats` names them.")],
    form: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="Format of IN; found out if left out.")
    ] = None,
    lp: LpOption = None,
    test_set: Annotated[
        Path | None, typer.Option(help="All texts that the records are about, where IN lacks them.")
    ] = None,
    annotator: Annotated[str | None, typer.Option(help="Only this annotator's records.")] = None,
    protocol: Annotated[
        str, typer.Option(help="What the numbers of a score file are ratings of.")
    ] = "metric",
    source: SourceOption = None,
    translations: TranslationsOption = None,
    references: ReferencesOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
) -> None:
    """Convert test sets and records between formats, without loss where the format allows it.

    What the format cannot hold is refused, or counted on standard error. OUT is a file, `-` for standard
    output, or a folder for formats that are folders.
    """
    from adjudge.data.convert import Content, check_target, of_annotator, read_content, write_content
    from adjudge.data.formats import find_format
    from adjudge.data.load import detect, load, load_lines

    given, out = _split(paths, with_lines=source is not None)
    check_target(out, to, force=force)
    if source is not None:
        content = Content(test_set=load_lines(source, translations or [], references or [], lp))
    else:
        texts = None if test_set is None else load(test_set, lp)
        whole = find_format(to).is_campaign
        content = read_content(given, form, lp=lp, test_set=texts, protocol=protocol, as_campaign=whole)
    if test_set is not None and find_format(detect(test_set)).is_marked_up:
        content = replace(content, origin=test_set)
    if annotator is not None:
        content = of_annotator(content, annotator)
    _say(content.met, str(given))
    _say(write_content(out, to, content, force=force), f"not in {out}")


def _split(paths: list[Path], *, with_lines: bool) -> tuple[Path, Path]:
    if len(paths) != (1 if with_lines else 2):
        wanted = "OUT alone beside -s and -t" if with_lines else "IN and OUT"
        raise UsageError(f"convert takes {wanted}, got {len(paths)} paths")
    return paths[0], paths[-1]


def _say(counts: Counter[str], where: str) -> None:
    for what, count in counts.items():
        print_note(f"adjudge: {where}: {count:,} {what}")
