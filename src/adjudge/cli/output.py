"""Results to stdout in the format asked for; everything else goes to stderr.

Texts and names come from others, and a terminal obeys what stands in them: it is shown marks instead.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Final

import typer

from adjudge.report.invisible import name_invisible
from adjudge.report.tables import Table, TableFormat, render_table

__all__ = ["FormatOption", "is_for_people", "print_note", "print_result", "print_text", "progress_bar"]

FormatOption = Annotated[TableFormat, typer.Option("--format", help="How to print the result.")]


_FOR_PEOPLE: Final = frozenset({"table", "markdown", "latex"})


def is_for_people(form: TableFormat) -> bool:
    """Whether people read it: numbers are rounded, and notes stand below them."""
    return form in _FOR_PEOPLE


def print_result(
    form: TableFormat, table: Table, data: Mapping[str, object], notes: Iterable[str] = ()
) -> None:
    """Print one result: the table, or its data as one JSON object.

    Args:
        form: how.
        table: for people, or for programs, as `is_for_people` has it.
        data: the same as JSON.
        notes: what a table for people says below it; where programs read, standard error has it.
    """
    if form == "json":
        import orjson

        text = orjson.dumps(data, option=orjson.OPT_INDENT_2).decode() + "\n"
    else:
        text = render_table(table, form)
    sys.stdout.write(name_invisible(text) if sys.stdout.isatty() else text)
    for note in () if is_for_people(form) else notes:
        print_note(note)


def print_text(text: str) -> None:
    """Print what a person reads as it is, but for characters that nobody sees."""
    sys.stdout.write(name_invisible(text))


def print_note(text: str) -> None:
    """Tell a person something that is not the result."""
    print(name_invisible(text), file=sys.stderr)


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show a bar on standard error while something is computed; nothing where that is no terminal.

    Args:
        what: is computed.

    Yields:
        A function that takes how many steps are done and how many there are; None where nothing is shown.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
