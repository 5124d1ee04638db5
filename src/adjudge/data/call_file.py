"""The file of the call store: its tables, opening it, and what SQLite may complain of.

models     who was asked, so that a recorded store can be replayed
calls      one row per answered call: request and reply, compressed, under the SHA-256 of the request
attempts   append-only: every time a model was asked, with what came of it; the paid and the failed
runs       the runs that share the store
uses       which calls a unit of work used, in which role and stage; a trace needs nothing else
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from adjudge.errors import StoreError

__all__ = [
    "BUSY_SECONDS",
    "STORE",
    "closed_if_refused",
    "open_to_read",
    "open_to_write",
    "store_error",
    "store_errors",
]

STORE: Final = "calls.sqlite"
BUSY_SECONDS: Final = 60  # to wait for another process that writes
SCHEMA_VERSION: Final = 2
_APPLICATION: Final = 0x61646A75  # "adju": says whose file this is

_TABLES: Final = """
CREATE TABLE models (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE);
CREATE TABLE dictionaries (id INTEGER PRIMARY KEY, content BLOB NOT NULL);
CREATE TABLE calls (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, codec INTEGER NOT NULL,
    request BLOB NOT NULL, reply BLOB NOT NULL, checksum INTEGER NOT NULL
);
CREATE TABLE runs (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY, run INTEGER NOT NULL, key BLOB NOT NULL, time TEXT NOT NULL,
    seconds REAL NOT NULL, status INTEGER, reason TEXT NOT NULL, detail TEXT NOT NULL, body BLOB,
    model TEXT NOT NULL,
    prompt INTEGER NOT NULL, completion INTEGER NOT NULL, cached INTEGER NOT NULL, reasoning INTEGER NOT NULL,
    most_prompt INTEGER NOT NULL, most_completion INTEGER NOT NULL
);
CREATE INDEX failed_attempts ON attempts (key) WHERE reason != '';
CREATE TABLE uses (
    run INTEGER NOT NULL, unit TEXT NOT NULL, seq INTEGER NOT NULL, key BLOB NOT NULL,
    stage TEXT NOT NULL, role TEXT NOT NULL, reason TEXT NOT NULL, detail TEXT NOT NULL,
    PRIMARY KEY (run, unit, seq)
) WITHOUT ROWID;
"""


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into a `StoreError` that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise store_error(path, error) from error


def store_error(path: Path, error: sqlite3.Error) -> StoreError:
    """The error that a user sees."""
    what = str(error)
    hints = {
        "full": "; make room and run the same command again: nothing that was answered is lost",
        "I/O": "; the disk may be full or gone: nothing that was answered is lost",
        "readonly": "; it must be writable, or name another place with --store",
        "locked": "; another process holds it",
        "malformed": "; restore it from a copy, or choose another --out",
    }
    hint = next((hint for word, hint in hints.items() if word in what), "")
    return StoreError(f"call store {path}: {what}{hint}")


def open_to_write(path: Path) -> sqlite3.Connection:
    """Open a store for writing; make its folder where there is none, and its tables.

    Raises:
        StoreError: it is no store of ours, a later version made it, or its folder cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"call store {path}: cannot make the folder: {error.strerror}") from error
    connect = partial(sqlite3.connect, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    with store_errors(path), closed_if_refused(connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint = 20000")
        connection.execute("BEGIN IMMEDIATE")
        if not _has_tables(connection, path):
            _make_tables(connection)
        connection.execute("COMMIT")
    return connection


def _make_tables(connection: sqlite3.Connection) -> None:
    for statement in _TABLES.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


@contextmanager
def closed_if_refused(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Leave nothing open of a store that turns out to be none, or cannot be used."""
    try:
        yield connection
    except BaseException:
        connection.close()
        raise


def _has_tables(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the tables are there; a file of somebody else's is refused."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables == 0:
        return False
    if application != _APPLICATION or version != SCHEMA_VERSION:
        raise StoreError(f"{path} is no call store of this version (its version is {version})")
    return True


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open a store that may be of a folder where nothing can be written, or just being written.

    A file without tables is a new store: a run that was killed in its first moment leaves one.

    Raises:
        StoreError: there is none, it is none of ours, or a part of it cannot be read there.
    """
    if not path.is_file():
        raise StoreError(f"no call store at {path}")
    with store_errors(path), closed_if_refused(_connect_to_read(path)) as connection:
        if _has_tables(connection, path):
            return connection
    connection.close()
    empty = sqlite3.connect(":memory:", isolation_level=None)
    _make_tables(empty)
    return empty


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """In a folder that cannot be written SQLite must be told that nobody writes; then it reads no log."""
    address = path.resolve().as_uri()
    connection = sqlite3.connect(f"{address}?mode=ro", uri=True, timeout=BUSY_SECONDS)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        _refuse_log(path.resolve())
        connection = sqlite3.connect(f"{address}?immutable=1", uri=True)
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


def _refuse_log(path: Path) -> None:
    """Refuse to read a store without what a run that was killed has left in its log.

    Raises:
        StoreError: as said.
    """
    log = path.with_name(f"{path.name}-wal")
    if log.is_file() and log.stat().st_size:
        raise StoreError(
            f"call store {path}: {log.name} beside it has answers, too; "
            "copy both to a folder where SQLite may write"
        )
