"""Figures drawn in a process of their own, beside whatever else there is to do.

Drawing takes longer than all else of a small page, and holds a core that the rest of a large one could use.
The process gets figures and gives each as SVG when it is drawn, in their order.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from threading import Thread
from typing import IO, Final, Self

from adjudge.report.figures import Figure
from adjudge.report.given import Judged
from adjudge.report.packed import is_large, size_of

__all__ = ["Drawer", "drawer_for", "drawing", "drawn"]

_SIZE: Final = struct.Struct(">Q")  # before each SVG: how many bytes it has
_MANY: Final = 20  # figures that take longer to draw than another process, or this one, takes to begin
_FEW: Final = 3


class Drawer:
    """A process that draws. It starts at once, so that matplotlib is there when the figures are."""

    def __init__(self) -> None:
        """Start it."""
        path = os.pathsep.join(filter(None, sys.path))  # it finds the same packages, wherever they are
        self._is_open = True
        self._threads: list[Thread] = []
        try:
            self._process: subprocess.Popen[bytes] | None = subprocess.Popen(  # noqa: S603 (our own)
                [sys.executable, "-P", "-m", __name__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path},
            )
        except OSError:  # no second Python can be started: figures are drawn here
            self._process = None

    def __enter__(self) -> Self:
        """Nothing more to do."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it, whatever it was drawing."""
        self._is_open = False
        with self._process or nullcontext():  # closes its pipes
            if self._process is not None:
                self._process.kill()
            for thread in self._threads:
                thread.join()

    def begin(self, figures: Sequence[Figure]) -> list[Future[bytes]]:
        """Draw figures, once; each future becomes an SVG, or is cancelled where nothing draws it."""
        waiting: list[Future[bytes]] = [Future() for _ in figures]
        self._threads.append(Thread(target=self._draw, args=(figures, waiting), daemon=True))
        self._threads[-1].start()
        return waiting

    def _draw(self, figures: Sequence[Figure], waiting: Sequence[Future[bytes]]) -> None:
        try:
            with suppress(OSError, EOFError):  # the process ended, or there is none
                self._take(figures, waiting)
        finally:
            for future in waiting:
                future.cancel()

    def _take(self, figures: Sequence[Figure], waiting: Sequence[Future[bytes]]) -> None:
        """Send the figures, and take what comes back.

        Raises:
            OSError: there is no process, or it ended.
            EOFError: it ended.
        """
        if (
            not self._is_open
            or self._process is None
            or self._process.stdin is None
            or self._process.stdout is None
        ):
            raise OSError
        with self._process.stdin as sent:
            pickle.dump(list(figures), sent)
        with self._process.stdout as answers:
            for future in waiting:
                future.set_result(_receive(answers))


def drawn(figure: Figure, waiting: Future[bytes] | None) -> bytes:
    """A figure as SVG, drawn by another process, or here where none does it."""
    try:
        return figure.render("svg") if waiting is None else waiting.result()
    except CancelledError:
        return figure.render("svg")


@contextmanager
def drawing(figures: Sequence[Figure], drawer: Drawer | None) -> Iterator[Callable[[], list[bytes]]]:
    """Begin to draw figures; what this gives finishes that, and returns all as SVG.

    Args:
        figures: what to draw.
        drawer: that was started before; else many figures get one of their own, and a few are drawn here.
    """
    own = Drawer() if drawer is None and len(figures) > _MANY else nullcontext(drawer)
    with own as given:
        waiting = [None] * len(figures) if given is None else given.begin(figures)
        yield partial(_finish, figures, waiting)


def _finish(figures: Sequence[Figure], waiting: Sequence[Future[bytes] | None]) -> list[bytes]:
    """The process draws from the first figure on, and this one from the last where many are left."""
    known: dict[int, bytes] = {}
    for place in reversed(range(len(figures))):
        done = sum(future is not None and future.done() for future in waiting)
        if place - done < (_FEW if known else _MANY):
            break
        known[place] = figures[place].render("svg")
    return [
        known[place] if place in known else drawn(figure, waiting[place])
        for place, figure in enumerate(figures)
    ]


def drawer_for(judged: Sequence[Judged]) -> AbstractContextManager[Drawer | None]:
    """A drawer where segments take so long to pack that drawing beside them is worth a process; else None."""
    texts = {id(each.test_set.segments): each.test_set for each in judged if each.test_set is not None}
    return Drawer() if is_large(sum(map(size_of, texts.values()))) else nullcontext()


def _receive(answers: IO[bytes]) -> bytes:
    """One figure as SVG: its size, then its bytes.

    Raises:
        EOFError: the process ended.
    """
    if len(head := answers.read(_SIZE.size)) < _SIZE.size:
        raise EOFError
    (size,) = _SIZE.unpack(head)
    if len(svg := answers.read(size)) < size:
        raise EOFError
    return svg


def _draw_all(asked: IO[bytes], answers: IO[bytes]) -> None:
    """Draw what is asked for, each as soon as it can be."""
    import matplotlib.backends.backend_svg
    import matplotlib.figure  # noqa: F401 (before the figures come)

    for figure in pickle.load(asked):  # noqa: S301 (of the process that started this one)
        svg = figure.render("svg")
        answers.write(_SIZE.pack(len(svg)) + svg)
        answers.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    _draw_all(sys.stdin.buffer, sys.stdout.buffer)
