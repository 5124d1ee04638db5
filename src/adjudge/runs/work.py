"""Work through units side by side, and put what comes out of them back in order."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from typing import Final

from adjudge.runs.journal import Entry, Journal
from adjudge.runs.units import Unit

__all__ = ["WINDOW", "Judging", "Sink", "work"]

WINDOW: Final = 65_536  # units that may wait for a slow one before them; about 30 MB of records
_BREATH: Final = 8  # units between two turns of the event loop


class Sink:
    """Takes the records of units in any order, keeps them in test-set order, and counts them.

    Args:
        journal: where they are kept.
    """

    def __init__(self, journal: Journal) -> None:
        self.judged = 0
        self.failures: Counter[str] = Counter()
        self.repaired = 0
        self.identical = 0
        self.inconsistent = 0
        self._next = 0
        self._waiting: dict[int, tuple[str, Entry]] = {}
        self._moved = asyncio.Event()
        self._journal = journal

    @property
    def failed(self) -> int:
        """Judgements that failed."""
        return self.failures.total()

    async def wait_for_room(self, index: int) -> None:
        """Wait while a unit is too far ahead of the slowest one."""
        while index >= self._next + WINDOW:
            self._moved.clear()
            await self._moved.wait()

    def add(self, unit: Unit, entry: Entry) -> None:
        """Take the records of one unit.

        Raises:
            StoreError: there is no room for them.
        """
        self.judged += entry.judged
        self.failures.update(entry.failures)
        self.repaired += entry.repaired
        self.identical += entry.identical
        self.inconsistent += entry.inconsistent
        self._waiting[unit.index] = (unit.name, entry)
        while (kept := self._waiting.pop(self._next, None)) is not None:
            self._journal.write(*kept)
            self._next += 1
        self._moved.set()


Judging = Callable[[Unit], Awaitable[Entry | None]]
"""The records of a unit; None where it can get no further before answers come."""


async def work(units: Iterator[Unit], judge: Judging, sink: Sink, *, width: int) -> None:
    """Judge all units, `width` of them at a time.

    The workers draw from one iterator, so that there are never more coroutines than workers, whatever the
    size of the test set.

    Raises:
        AdjudgeError: the first that a unit raises; the others are stopped.
    """

    async def worker() -> None:
        for unit in units:
            await sink.wait_for_room(unit.index)
            entry = await judge(unit)
            if entry is not None:
                sink.add(unit, entry)
            if (
                unit.index % _BREATH == 0
            ):  # what is answered from the store must not starve progress and signals
                await asyncio.sleep(0)

    workers = [asyncio.create_task(worker()) for _ in range(width)]
    try:
        done, _ = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()
    finally:
        for task in workers:
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
