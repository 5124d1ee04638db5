"""Waiting for a lock of SQLite's that SQLite itself does not wait for."""

from __future__ import annotations

import sqlite3
import time
from typing import Final

_LOOK: Final = 0.003  # seconds between two looks whether the other one has ended


def insist(connection: sqlite3.Connection, statement: str, seconds: float) -> None:
    """Run a statement again and again while another connection holds the lock that it needs.

    Of two connections that switch a file to WAL, SQLite refuses one at once, whatever timeout it has. And it
    looks for a lock in pauses that grow to a tenth of a second, in which others take it.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            connection.execute(statement)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_LOOK)
        else:
            return
