"""The figures of the viewer: another process draws one after the other, while the page is read already."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from threading import Lock
from typing import Final

from starlette.concurrency import run_in_threadpool

from adjudge.report.drawer import Drawer, drawn
from adjudge.report.figures import Figure
from adjudge.report.svg import page_svg

__all__ = ["Figures"]

_GLANCE: Final = 0.05  # seconds after which a figure that is awaited is looked for again


class Figures:
    """Figures of a page, by their place in it."""

    def __init__(self, figures: Sequence[Figure], drawer: Drawer | None) -> None:
        """Have them drawn.

        Args:
            figures: of the page.
            drawer: None where they are drawn here, each when it is asked for.
        """
        self._figures = figures
        self._waiting: Sequence[Future[bytes] | None] = (
            [None] * len(figures) if drawer is None else drawer.begin(figures)
        )
        self._lock = Lock()  # matplotlib draws for one at a time

    def __len__(self) -> int:
        """How many there are."""
        return len(self._figures)

    async def svg(self, place: int) -> str:
        """A figure as an `svg` element, when it is drawn.

        Who waits holds no thread, and is no reason not to stop the server.
        """
        waiting = self._waiting[place]
        while waiting is not None and not waiting.done():  # noqa: ASYNC110 (of another thread)
            await asyncio.sleep(_GLANCE)
        return await run_in_threadpool(self._page_svg, place)

    def _page_svg(self, place: int) -> str:
        with self._lock:
            figure = self._figures[place]
            return str(page_svg(figure, f"figure-{place}", drawn(figure, self._waiting[place])))
