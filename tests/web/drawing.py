"""A drawer that draws when a test says so."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

from adjudge.reports.figures import Figure
from adjudge.reports.html import Drawer


class Waiting(Drawer):
    """Its figures are drawn when their futures are set."""

    def __init__(self) -> None:
        """No process."""
        self.svgs: list[Future[bytes]] = []

    def begin(self, figures: Sequence[Figure]) -> list[Future[bytes]]:
        """Draw nothing yet."""
        self.svgs = [Future() for _ in figures]
        return self.svgs
