"""A lock whose waiters go in the order in which they came: a long import lets everyone through."""

from __future__ import annotations

from collections import deque
from threading import Lock
from types import TracebackType

__all__ = ["Turns"]


class Turns:
    """One at a time, first come, first served; a plain lock often goes back to the thread that left it."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._waiting: deque[Lock] = deque()
        self._is_taken = False

    def __enter__(self) -> None:
        """Wait for one's turn."""
        with self._guard:
            if not self._is_taken:
                self._is_taken = True
                return
            mine = Lock()
            mine.acquire()
            self._waiting.append(mine)
        mine.acquire()  # until the one before leaves

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let the next one in."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._is_taken = False
