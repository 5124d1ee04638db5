"""Work through units side by side, and put what comes out of them back in order."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from adjudge.core.annotation import Failure, Preference, Record
from adjudge.data.files import write_bytes
from adjudge.data.records import record_to_line
from adjudge.errors import StoreError
from adjudge.runs.units import Unit

__all__ = ["WINDOW", "Judging", "Sink", "work"]

WINDOW: Final = 65_536  # units that may wait for a slow one before them; about 30 MB of records
_CHUNK: Final = 1 << 20
_BREATH: Final = 8  # units between two turns of the event loop


class Sink:
    """Takes records in any order and keeps them in test-set order, on disk.

    Nothing is seen under the final name before everything is there.

    Args:
        folder: on whose disk they wait; they have no name there, and vanish with the process.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.judged = 0
        self.failures: Counter[str] = Counter()
        self.repaired = 0
        self.identical = 0
        self.inconsistent = 0
        self._next = 0
        self._waiting: dict[int, bytes] = {}
        self._moved = asyncio.Event()
        self._spool = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115

    @property
    def failed(self) -> int:
        """Judgements that failed."""
        return self.failures.total()

    async def wait_for_room(self, index: int) -> None:
        """Wait while a unit is too far ahead of the slowest one."""
        while index >= self._next + WINDOW:
            self._moved.clear()
            await self._moved.wait()

    def add(self, index: int, records: Sequence[Record]) -> None:
        """Take the records of one unit, and count what their flags tell.

        Raises:
            StoreError: there is no room for them.
        """
        for record in records:
            if isinstance(record, Failure):
                self.failures[record.reason] += 1
            else:
                self.judged += 1
                self.repaired += "repaired" in record.flags
                self.inconsistent += "position_inconsistent" in record.flags
        self.identical += any("identical" in r.flags for r in records if isinstance(r, Preference))
        self._waiting[index] = b"".join(map(record_to_line, records))
        while (lines := self._waiting.pop(self._next, None)) is not None:
            self._keep(lines)
            self._next += 1
        self._moved.set()

    def _keep(self, lines: bytes) -> None:
        try:  # a context would take longer than the writing
            self._spool.write(lines)
        except OSError as error:
            raise _no_room(error) from error

    def write(self, path: Path) -> None:
        """Write the file of records; whole or not at all.

        Raises:
            StoreError: there is no room for the last of them.
            DataError: the file cannot be written.
        """
        try:
            self._spool.seek(0)
        except OSError as error:
            raise _no_room(error) from error
        write_bytes(path, iter(lambda: self._spool.read(_CHUNK), b""))

    def close(self) -> None:
        """Drop what was not written."""
        with suppress(OSError):  # what could not be written is not wanted any more
            self._spool.close()


def _no_room(error: OSError) -> StoreError:
    """What to do where a disk is full."""
    return StoreError(f"cannot keep the records: {error.strerror}; make room and run it again")


Judging = Callable[[Unit], Awaitable[Sequence[Record] | None]]
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
            records = await judge(unit)
            if records is not None:
                sink.add(unit.index, records)
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
