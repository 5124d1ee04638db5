"""`adjudge fetch`: download a public test set into the cache."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer

from adjudge.cli.output import print_note

__all__ = ["command"]


def command(
    name: Annotated[str, typer.Argument(help="A name of `adjudge list test-sets`.", show_default=False)],
) -> None:
    """Download a public test set; from then on its name is a TEST_SET everywhere.

    It is kept in the folder that ADJUDGE_CACHE names, else in the user's cache folder. An interrupted
    download goes on where it stopped. Prints where the test set lies.
    """
    from adjudge.data.catalog import find_public_set
    from adjudge.data.fetch import fetch

    entry = find_public_set(name)
    print_note(f"{entry.title}: {entry.size} from {entry.url} (licence: {entry.licence})")
    path = fetch(name, progress=_Meter())
    print(path)


class _Meter:
    """Says every five seconds how much is here."""

    def __init__(self) -> None:
        self.said = time.monotonic()

    def __call__(self, here: int, total: int | None) -> None:
        """Say it, unless it was just said."""
        if time.monotonic() - self.said > 5:
            self.said = time.monotonic()
            of = "" if total is None else f" of {total / 1e6:.0f}"
            print(f"{here / 1e6:.0f}{of} MB", file=sys.stderr)
