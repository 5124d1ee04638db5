"""Work of many threads in one transaction: what comes while the disk is waited for is then written at once.

A commit waits for the disk, which takes longer than most of what is committed. One by one, a thousand people
would wait for each other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Lock
from typing import Any, Final, TypeVar

from sqlalchemy import Connection

__all__ = ["Together"]

_MOST: Final = 32  # of one transaction: the first of them waits for the last
_Found = TypeVar("_Found")


class _Job:
    """Some work, until it is on the disk or has failed."""

    def __init__(self, work: Callable[[Connection], object]) -> None:
        self._work = work
        self._found: object = None
        self.error: BaseException | None = None
        self.is_done = False
        self.turn = Lock()
        self.turn.acquire()  # until it is done, or leads

    def run(self, connection: Connection) -> None:
        """Do the work; where it fails, nothing of it stays, and others' does."""
        driver: Any = connection.connection.driver_connection
        driver.execute("SAVEPOINT job")
        try:
            self._found = self._work(connection)
        except Exception as error:  # noqa: BLE001 (raised again in its own thread)
            self.error = error
            driver.execute("ROLLBACK TO job")
        driver.execute("RELEASE job")

    def result(self) -> Any:  # noqa: ANN401 (what the work gave)
        if self.error is not None:
            raise self.error
        return self._found


class Together:
    """Transactions that threads share: one of them leads, and does the work of all who wait.

    Args:
        writing: makes a transaction of SQLite's.
    """

    def __init__(self, writing: Callable[[], AbstractContextManager[Connection]]) -> None:
        self._writing = writing
        self._guard = Lock()
        self._waiting: deque[_Job] = deque()
        self._is_led = False

    def do(self, work: Callable[[Connection], _Found]) -> _Found:
        """Have work done; committed when this returns. What it raises is raised here."""
        mine = _Job(work)
        with self._guard:
            self._waiting.append(mine)
            leads, self._is_led = not self._is_led, True
        if not leads:
            mine.turn.acquire()
        if not mine.is_done:
            self._lead()
        found: _Found = mine.result()
        return found

    def _lead(self) -> None:
        with self._guard:
            jobs = [self._waiting.popleft() for _ in range(min(_MOST, len(self._waiting)))]
        try:
            with self._writing() as connection:
                for job in jobs:
                    job.run(connection)
        except BaseException as error:  # noqa: BLE001 (raised again in each of their threads)
            for job in jobs:
                job.error = job.error or error
        with self._guard:
            self._is_led = bool(self._waiting)
            following = [self._waiting[0]] if self._waiting else []
        for job in jobs:
            job.is_done = True
        for job in (*jobs, *following):
            job.turn.release()
