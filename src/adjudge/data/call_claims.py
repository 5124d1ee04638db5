"""Claims on questions in a store that several processes share: each question is asked by one of them.

A process claims a question before it asks, and its answer ends the claim. Another process with the same
question waits for that answer. The claim of a process that has died can be taken over: at once where the
process ran on this machine, else once it has given no sign of life for 15 seconds.
"""

from __future__ import annotations

import os
import platform
import secrets
import sqlite3
import time
from collections.abc import Sequence
from typing import Final, Literal

__all__ = ["BEAT_SECONDS", "Claims", "Standing"]

BEAT_SECONDS: Final = 1.0
_DEAD_SECONDS: Final = 15.0

Standing = Literal["ours", "stored", "held"]
"""Of a question: this process is to ask it; it is answered; another process is asking it."""

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS askers (
    name TEXT PRIMARY KEY, host TEXT NOT NULL, process INTEGER NOT NULL, beat INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claims (key BLOB PRIMARY KEY, asker TEXT NOT NULL) WITHOUT ROWID;
"""


class Claims:
    """The claims of one process, for the thread that writes the store.

    Args:
        connection: of that thread.

    Raises:
        sqlite3.Error: the store cannot be written.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._name = secrets.token_hex(8)
        self._held: set[bytes] = set()
        self._seen: dict[str, tuple[int, float]] = {}  # asker: its last beat, and when it was first seen
        self._next_beat = 0.0
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        connection.execute(
            "INSERT INTO askers (name, host, process, beat) VALUES (?, ?, ?, 0)",
            (self._name, platform.node(), os.getpid()),
        )

    @property
    def seconds_to_beat(self) -> float | None:
        """Until the next sign of life is due; None while nothing is claimed."""
        return max(self._next_beat - time.monotonic(), 0.0) if self._held else None

    def beat(self) -> None:
        """Give a sign of life, where one is due."""
        if self.seconds_to_beat == 0:
            self._connection.execute("UPDATE askers SET beat = beat + 1 WHERE name = ?", (self._name,))
            self._next_beat = time.monotonic() + BEAT_SECONDS

    def claim(self, key: bytes, *, anew: bool) -> Standing:
        """Claim a question, within a transaction.

        Args:
            key: of the request.
            anew: ask it although it is answered.
        """
        find = self._connection.execute
        if not anew and find("SELECT 1 FROM calls WHERE key = ?", (key,)).fetchone():
            return "stored"
        row = find("SELECT asker FROM claims WHERE key = ?", (key,)).fetchone()
        if row is not None and row[0] != self._name and not self._is_dead(row[0]):
            return "held"
        find("INSERT OR REPLACE INTO claims (key, asker) VALUES (?, ?)", (key, self._name))
        self._held.add(key)
        return "ours"

    def release(self, keys: Sequence[bytes]) -> None:
        """End claims, within a transaction."""
        if ended := self._held.intersection(keys):
            self._held -= ended
            self._connection.executemany(
                "DELETE FROM claims WHERE key = ? AND asker = ?", [(key, self._name) for key in ended]
            )

    def close(self) -> None:
        """End every claim."""
        self._connection.execute("DELETE FROM claims WHERE asker = ?", (self._name,))
        self._connection.execute("DELETE FROM askers WHERE name = ?", (self._name,))

    def _is_dead(self, asker: str) -> bool:
        row = self._connection.execute(
            "SELECT host, process, beat FROM askers WHERE name = ?", (asker,)
        ).fetchone()
        if row is None:
            return True
        host, process, beat = row
        if host == platform.node() and not _runs(process):
            return True
        now = time.monotonic()
        before, since = self._seen.setdefault(asker, (beat, now))
        if before != beat:
            self._seen[asker] = (beat, now)
            return False
        return now - since > _DEAD_SECONDS


def _runs(process: int) -> bool:
    """Whether a process of this machine is there; where that cannot be asked without harm, it is."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        return True
    return True
