"""What units of work used in an earlier session, read for many of them with one question to the store.

A question for each costs five times as much. Nothing rests on what is read here: what is missing is looked
for by itself.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

import orjson

from adjudge.data.call_rows import Row, TornRowError, check_row

__all__ = ["Ahead", "StoredUse"]

StoredUse = tuple[bytes, str, str, str, str]
"""Key, stage, role, reason, detail."""

_QUERY: Final = (
    "SELECT unit, uses.key, stage, role, reason, detail, codec, request, reply, checksum "
    "FROM uses LEFT JOIN calls ON calls.key = uses.key "
    "WHERE run = ? AND unit IN (SELECT value FROM json_each(?)) ORDER BY unit, seq"
)


class Ahead:
    """Uses and calls of the units that were read last.

    Args:
        connection: to the store.
        run: row of the run in the table of runs.
    """

    def __init__(self, connection: sqlite3.Connection, run: int) -> None:
        self._connection = connection
        self._run = run
        self.uses: dict[str, list[StoredUse]] = {}
        self._calls: dict[bytes, Row] = {}

    def read(self, units: Sequence[str]) -> None:
        """Read these units, and forget those before them.

        Raises:
            sqlite3.Error: the store cannot be read.
        """
        self.uses = {unit: [] for unit in units}
        self._calls = {}
        for row in self._connection.execute(_QUERY, (self._run, orjson.dumps(units).decode())):
            self.uses[row[0]].append(row[1:6])
            if row[6] is not None:
                self._calls[row[1]] = row[6:]

    def call(self, key: bytes) -> tuple[int, bytes, bytes] | None:
        """Codec, request and reply of a call, still compressed; None where it was not read.

        Raises:
            TornRowError: it is damaged.
        """
        row = self._calls.get(key)
        return None if row is None else check_row(key, row)

    def answered(self, unit: str) -> int | None:
        """How many calls a unit that was read used; None where one of them is missing or damaged."""
        uses = self.uses.get(unit, ())
        try:
            return None if any(self.call(use[0]) is None for use in uses) else len(uses)
        except TornRowError:
            return None

    def forget(self, key: bytes) -> None:
        """Leave a call to the store: it is damaged, and what stands there will be another."""
        self._calls.pop(key, None)
