"""The records of all shards as one file, in the order of the test set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import orjson

from adjudge.core.segment import TestSet
from adjudge.errors import DataError
from adjudge.runs.scale.shards import shard_of

__all__ = ["merged_lines"]


def merged_lines(test_set: TestSet, files: Sequence[Path]) -> Iterator[bytes]:
    """Every line of every shard, in the order of the test set.

    Args:
        test_set: the whole.
        files: records of every shard by its number, each in the order of the test set.

    Raises:
        DataError: a line is no record, of another shard, or not in order.
    """
    ahead = [_Lines(file) for file in files]
    for segment in test_set:
        yield from ahead[shard_of(segment, len(ahead)) - 1].of((segment.lp, segment.segment))
    for lines in ahead:
        lines.check_end()


class _Lines:
    """The lines of one file of records, one segment after the other.

    The file is opened for each, since there may be more shards than a process may have files open.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._place = 0
        self._number = 1

    def of(self, key: tuple[str, str]) -> list[bytes]:
        """The lines of a segment."""
        found = []
        with self._path.open("rb") as file:
            file.seek(self._place)
            while (line := file.readline()) and self._key(line) == key:
                found.append(line)
                self._place += len(line)
                self._number += 1
        return found

    def _key(self, line: bytes) -> tuple[object, object]:
        try:
            value = orjson.loads(line)
            return value["lp"], value["segment"]
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise DataError("not a record", path=self._path, line=self._number) from error

    def check_end(self) -> None:
        """Refuse what belongs to no segment of the shard.

        Raises:
            DataError: there is a line left.
        """
        if self._place < self._path.stat().st_size:
            message = "a record of a segment that is not this shard's, or that is not in order"
            raise DataError(message, path=self._path, line=self._number)
