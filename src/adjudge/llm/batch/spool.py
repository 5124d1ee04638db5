"""The questions of the next wave, on disk; in memory stands what is needed to cut them into batches."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, Final, NamedTuple

from adjudge.core.ask import Usage
from adjudge.errors import StoreError
from adjudge.llm.batch.dialect import Frame, Limits

__all__ = ["Chunk", "Spool"]

_NOTHING: Final = Usage()


class _Row(NamedTuple):
    key: bytes
    start: int
    length: int
    prompt: int
    completion: int


class Chunk(NamedTuple):
    """What goes out as one batch: its keys, and what it may cost at most."""

    keys: tuple[bytes, ...]
    most: Usage
    start: int
    lengths: tuple[int, ...]


class Spool:
    """Questions that were not sent yet, each once.

    Args:
        folder: on whose disk they wait, from the first; they have no name there, and vanish with the process.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._opened: IO[bytes] | None = None
        self._rows: dict[bytes, _Row] = {}
        self._end = 0

    def __contains__(self, key: bytes) -> bool:
        """Whether a question is waiting."""
        return key in self._rows

    def __len__(self) -> int:
        """Count the questions."""
        return len(self._rows)

    def add(self, key: bytes, line: bytes, most: Usage) -> None:
        """Take one question as it will be sent, and what it may cost at most.

        Raises:
            StoreError: there is no room for it.
        """
        try:
            self._file.seek(self._end)
            self._file.write(line)
        except OSError as error:
            raise _no_room(error) from error
        self._rows[key] = _Row(key, self._end, len(line), most.prompt, most.completion)
        self._end += len(line)

    def chunks(self, limits: Limits, frame: Frame, fits: Callable[[Usage], bool]) -> Iterator[Chunk]:
        """Cut them into batches, as far as `fits` lets them; it is asked with all of them so far."""
        rows, before = list(self._rows.values()), _NOTHING
        while rows:
            count, most = _first(rows, limits, frame, fits, before)
            if not count:
                return
            taken, rows, before = rows[:count], rows[count:], before + most
            keys, lengths = tuple(row.key for row in taken), tuple(row.length for row in taken)
            yield Chunk(keys, most, taken[0].start, lengths)

    def most_of(self, count: int) -> Usage:
        """What the first so many questions may cost at most."""
        rows = islice(self._rows.values(), count)
        return sum((Usage(prompt=row.prompt, completion=row.completion) for row in rows), _NOTHING)

    def write(self, chunk: Chunk, frame: Frame, path: Path) -> None:
        """Write a chunk as it is sent; it is on the disk afterwards.

        Raises:
            StoreError: there is no room for it.
        """
        try:
            self._file.seek(chunk.start)
            with path.open("wb") as out:
                out.write(frame.head)
                for number, length in enumerate(chunk.lengths):
                    out.write((frame.between if number else b"") + self._file.read(length))
                out.write(frame.tail)
                out.flush()
                os.fsync(out.fileno())  # which keys are out is known by this file alone
        except OSError as error:
            raise _no_room(error) from error

    def clear(self) -> None:
        """Forget what was sent, and what is asked for again by whoever needs it."""
        if self._rows:
            self._rows.clear()
            self._end = 0
            self._file.truncate(0)

    def close(self) -> None:
        """Drop the file."""
        if self._opened is not None:
            with suppress(OSError):
                self._opened.close()

    @property
    def _file(self) -> IO[bytes]:
        """The file, which is made when it is first needed."""
        if self._opened is None:
            self._opened = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 (as long as the run)
        return self._opened


def _first(
    rows: list[_Row], limits: Limits, frame: Frame, fits: Callable[[Usage], bool], before: Usage
) -> tuple[int, Usage]:
    """How many of these make one batch, and what they may cost at most, beside what stood before them."""
    size, most = len(frame.head) + len(frame.tail), _NOTHING
    for count, row in enumerate(rows):
        size += row.length + len(frame.between)
        more = most + Usage(prompt=row.prompt, completion=row.completion)
        if count == limits.requests or size > limits.size or not fits(before + more):
            return count, most
        most = more
    return len(rows), most


def _no_room(error: OSError) -> StoreError:
    return StoreError(f"cannot keep the questions of a batch: {error.strerror}; make room and run it again")
