"""What measures found before, kept in one file of the user's cache folder.

Each finding stands under a digest of all that it depends on: the program, the scores, the measure and its
arguments. A file that cannot be read or written is not used, one that is damaged is made anew: each row has
a checksum. What is not found is computed.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from adjudge.formats.catalog import cache_folder
from adjudge.stats.judged import Floats, shared
from adjudge.store.files import program_digest
from adjudge.store.sqlite import insist

__all__ = ["content_digest", "keeping", "kept", "kept_path"]


_LIMIT: Final = 256 * 1024**2  # bytes, above which the half that was not used for longest goes
_PATIENCE: Final = 2.0  # seconds for a lock
_DAMAGED: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
_REFUSED: Final = sqlite3.Error, UnicodeDecodeError
"""What SQLite raises; the second where its message quotes a damaged file."""
_CHECK: Final = 8  # bytes of the checksum before each row
_DAY: Final = 86_400
_ROW: Final = "SELECT value, used FROM kept WHERE key = ?"
_ROOMS: Final = ("stats", "analysis")
_PACKAGES: Final = ("numpy", "scipy")


def kept_path() -> Path:
    """The file."""
    return cache_folder() / "measures.sqlite"


def kept(step: str, inputs: Sequence[Floats], setting: object, make: Callable[[], Any]) -> Any:  # noqa: ANN401
    """Return what a step makes of its inputs; within `keeping`, from the file if it was made before.

    Args:
        step: its name.
        inputs: arrays that the step looks at.
        setting: whatever else it depends on; its `repr` tells two of them apart.
        make: the step; gives plain numbers, texts and lists, as JSON has them, NaN included.
    """
    return make() if (file := _file.get()) is None else file.get(_key(step, inputs, setting), make)


@contextmanager
def keeping(wanted: bool) -> Iterator[None]:  # noqa: FBT001 (a setting)
    """Let `kept` use the file until the block ends; what is new is written then."""
    if not wanted:
        yield
        return
    file = _File(kept_path())
    token = _file.set(file)
    try:
        yield
    finally:
        _file.reset(token)
        file.close()


class _File:
    """The file of one call: read at once, written at the end."""

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._new: dict[bytes, bytes] = {}
        self._is_damaged = False
        self._today = int(time.time()) // _DAY
        self._reader: sqlite3.Connection | None = None
        with suppress(sqlite3.Error):  # there is none yet, or it is not for us
            self._reader = _open(f"{self._path.as_uri()}?mode=ro")

    def get(self, key: bytes, make: Callable[[], Any]) -> Any:  # noqa: ANN401 (whatever is kept)
        """Return what stands under a key, or what is made now."""
        row, used = self._read(key)
        if isinstance(row, bytes) and row[:_CHECK] == _checksum(key, row[_CHECK:]):
            if used != self._today:
                self._new[key] = row
            return json.loads(row[_CHECK:])
        self._is_damaged |= row is not None
        made = make()
        text = json.dumps(made).encode()
        self._new[key] = _checksum(key, text) + text
        return made

    def _read(self, key: bytes) -> tuple[object, object]:
        if self._reader is not None:
            try:
                found = self._reader.execute(_ROW, (key,)).fetchone()
            except _REFUSED as error:
                self._is_damaged = _is_damage(error) and "no such table" not in str(error)
                self._reader.close()
                self._reader = None
            else:
                return found or (None, None)
        return None, None

    def close(self) -> None:
        """Write what is new, and the day on which the rest was used."""
        if self._reader is not None:
            self._reader.close()
        if not self._new:
            return
        with suppress(OSError, *_REFUSED):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            try:
                if self._is_damaged:
                    self._remove()
                self._write()
            except _REFUSED as error:
                if not _is_damage(error):
                    raise
                self._remove()
                self._write()

    def _write(self) -> None:
        with closing(_open(self._path.as_uri())) as connection:
            insist(connection, "BEGIN IMMEDIATE", _PATIENCE)
            connection.execute(
                "CREATE TABLE IF NOT EXISTS kept "
                "(key BLOB PRIMARY KEY, used INTEGER, value BLOB) WITHOUT ROWID"
            )
            connection.executemany(
                "INSERT OR REPLACE INTO kept (key, used, value) VALUES (?, ?, ?)",
                ((key, self._today, row) for key, row in self._new.items()),
            )
            for key, row in self._new.items():  # rows out of order, of which SQLite says nothing
                if connection.execute(_ROW, (key,)).fetchone() != (row, self._today):
                    raise sqlite3.DatabaseError("a row is lost")
            pages, free, size = (
                connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count", "page_size")
            )
            if (pages - free) * size > _LIMIT:
                connection.execute(
                    "DELETE FROM kept WHERE key IN "
                    "(SELECT key FROM kept ORDER BY used LIMIT (SELECT count(*) / 2 FROM kept))"
                )
            connection.execute("COMMIT")

    def _remove(self) -> None:
        for name in (self._path.name, f"{self._path.name}-journal"):
            (self._path.parent / name).unlink(missing_ok=True)


_file: Final[ContextVar[_File | None]] = ContextVar("kept", default=None)


def _open(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, timeout=_PATIENCE, isolation_level=None, uri=True)
    connection.text_factory = bytes  # a damaged row may be no text
    return connection


def _is_damage(error: Exception) -> bool:
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in _DAMAGED


def _checksum(key: bytes, text: bytes) -> bytes:
    return hashlib.blake2b(key + text, digest_size=_CHECK).digest()


def _key(step: str, inputs: Sequence[Floats], setting: object) -> bytes:
    digest = hashlib.blake2b(program_digest(_ROOMS, _PACKAGES), digest_size=16)
    digest.update(repr((step, setting)).encode())
    for array in inputs:
        digest.update(shared("digest", (array,), None, partial(content_digest, array)))
    return digest.digest()


def content_digest(*arrays: Floats) -> bytes:
    """Digest of numbers and of how they lie in memory, which decides in what order they are added."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(repr((array.shape, array.strides)).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.digest()
