"""How far a run is, on standard error: a bar on a terminal, a line a minute elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from adjudge.llm.ask import Tally

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

__all__ = ["Progress"]

_LINE_SECONDS: Final = 60.0


class Progress:
    """Shows units done and failed, calls a second, tokens, price, and the time that is left.

    Args:
        total: units of work.
        shown: whether anything is shown at all.
    """

    def __init__(self, total: int, *, shown: bool) -> None:
        self._total = total
        self._shown = shown
        self._began = self._said = time.monotonic()
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None
        self.seconds = 0.25 if sys.stderr.isatty() else 5.0

    def __enter__(self) -> Self:
        """Start the bar, on a terminal."""
        self._began = self._said = time.monotonic()
        if self._shown and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as RichProgress

            columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
            console = Console(stderr=True)
            self._bar = RichProgress(*columns, TimeRemainingColumn(), console=console, transient=True)
            self._bar.start()
            self._task = self._bar.add_task("", total=self._total)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()

    def show(self, *, done: int, failed: int, tally: Tally, more: str = "") -> None:
        """Say how far it is, and what more there is to say: the price, how fast the server may be asked."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, description=self._words(failed, tally, more))
        elif self._shown and time.monotonic() - self._said >= _LINE_SECONDS:
            self._said = time.monotonic()
            left = self._left(done)
            sys.stderr.write(f"{done}/{self._total} {self._words(failed, tally, more)}{left}\n")

    def say(self, line: str) -> None:
        """Say something that happened, where anything is shown."""
        if self._bar is not None:
            self._bar.console.print(line, markup=False, highlight=False)
        elif self._shown:
            sys.stderr.write(f"{line}\n")

    def _words(self, failed: int, tally: Tally, more: str) -> str:
        if not (answered := tally.asked + tally.from_store):  # a metric asks nobody
            return ", ".join(part for part in (f"{failed} failed", more) if part)
        calls = f"{answered / max(time.monotonic() - self._began, 1e-3):.1f} calls/s"
        tokens = f"{tally.usage.prompt + tally.usage.completion:,} tokens"
        return ", ".join(part for part in (f"{failed} failed", calls, tokens, more) if part)

    def _left(self, done: int) -> str:
        if not done:
            return ""
        minutes = (time.monotonic() - self._began) / done * (self._total - done) / 60
        return f", {minutes:.0f} min left"
