"""How a command ends that is stopped from outside: with Ctrl-C, or by a reader who has enough."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from typer.core import TyperGroup

from adjudge.cli.came import saying_what_came
from adjudge.cli.exits import CLOSED_PIPE, INTERRUPTED

__all__ = ["RESUMABLE", "Commands", "drop_output", "ended_from_outside", "parting"]

RESUMABLE: Final = "stopped; the same command goes on where it stopped"


class Commands(TyperGroup):
    """All commands. typer itself would say nothing of Ctrl-C, nor what a refused value was."""

    def make_context(self, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401 (typer's own, passed on)
        """Read the arguments; `--help` prints here."""
        with ended_from_outside(), saying_what_came():
            return super().make_context(*arguments, **named)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 (the same)
        """Run the command."""
        with ended_from_outside(), saying_what_came():
            return super().invoke(ctx)


@contextmanager
def ended_from_outside() -> Iterator[None]:
    """Leave with one sentence on Ctrl-C, and without a word where nobody reads any more."""
    try:
        yield
    except KeyboardInterrupt:
        print("adjudge: stopped before it was done", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:
        drop_output()
        raise SystemExit(CLOSED_PIPE) from None


@contextmanager
def parting(words: str) -> Iterator[None]:
    """On Ctrl-C say what becomes of this work, in place of the one sentence for all."""
    try:
        yield
    except KeyboardInterrupt:
        from adjudge.cli.output import print_note

        print_note(words)
        raise SystemExit(INTERRUPTED) from None


def drop_output() -> None:
    """Forget what cannot be written, or the interpreter would try once more when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
