"""Take the calls of one store into another, so that runs that were made in parts become one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from adjudge.data.call_file import open_to_write, store_errors
from adjudge.data.call_rows import TornRowError, check_row, checksum

__all__ = ["take_calls"]

_SAVE: Final = (
    "INSERT INTO calls (key, codec, request, reply, checksum) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (key) DO UPDATE SET codec = excluded.codec, request = excluded.request, "
    "reply = excluded.reply, checksum = excluded.checksum "
    "WHERE is_torn(calls.key, calls.codec, calls.request, calls.reply, calls.checksum)"
)


def take_calls(store: Path, run: str, part: Path, part_run: str) -> None:
    """Take over everything that a part has asked: all of it or, when something goes wrong, nothing.

    An answer that is in the store already stays as it is; what was taken over before is not taken twice, so
    that this may be done again after any interruption. Rows that are damaged are left behind.

    Args:
        store: into which.
        run: name of the run there, as `run_name` makes it.
        part: store of the part.
        part_run: name of the part's run there.

    Raises:
        StoreError: one of them cannot be read or written.
    """
    with closing(open_to_write(part)) as source, closing(open_to_write(store)) as target:
        with store_errors(store):
            target.create_function("is_torn", 5, _is_torn, deterministic=True)
            target.execute("BEGIN IMMEDIATE")
        try:
            with store_errors(part):
                _take(source, part_run, target, run)
            with store_errors(store):
                target.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                target.execute("ROLLBACK")
            raise


def _take(source: sqlite3.Connection, part_run: str, target: sqlite3.Connection, run: str) -> None:
    identities = source.execute("SELECT identity FROM models ORDER BY id")
    target.executemany("INSERT OR IGNORE INTO models (identity) VALUES (?)", identities)
    target.executemany(_SAVE, _calls(source, _dictionaries(source, target)))
    own, theirs = _row_of(target, run), _row_of(source, part_run)
    _take_attempts(source, theirs, target, own, part_run)
    units = source.execute("SELECT DISTINCT unit FROM uses WHERE run = ?", (theirs,))
    target.executemany("DELETE FROM uses WHERE run = ? AND unit = ?", ((own, unit) for (unit,) in units))
    uses = source.execute(
        "SELECT ?, unit, seq, key, stage, role, reason, detail FROM uses WHERE run = ?", (own, theirs)
    )
    target.executemany("INSERT INTO uses VALUES (?, ?, ?, ?, ?, ?, ?, ?)", uses)


def _row_of(connection: sqlite3.Connection, name: str) -> int:
    connection.execute("INSERT OR IGNORE INTO runs (name) VALUES (?)", (name,))
    (row,) = connection.execute("SELECT id FROM runs WHERE name = ?", (name,)).fetchone()
    return int(row)


def _dictionaries(source: sqlite3.Connection, target: sqlite3.Connection) -> dict[int, int]:
    """The number that each dictionary of the part has in the store; equal ones are kept once."""
    found = {0: 0}
    for number, content in source.execute("SELECT id, content FROM dictionaries ORDER BY id"):
        row = target.execute("SELECT id FROM dictionaries WHERE content = ?", (content,)).fetchone()
        if row is None:
            row = (
                target.execute("INSERT INTO dictionaries (content) VALUES (?)", (content,)).lastrowid or 0,
            )
        found[number] = row[0]
    return found


def _calls(
    source: sqlite3.Connection, numbers: dict[int, int]
) -> Iterator[tuple[bytes, int, bytes, bytes, int]]:
    """Rows as they are to stand in the store, still compressed."""
    for key, *row in source.execute("SELECT key, codec, request, reply, checksum FROM calls ORDER BY id"):
        with suppress(TornRowError, KeyError):
            codec, request, reply = check_row(key, (row[0], row[1], row[2], row[3]))
            number = numbers[codec]
            yield key, number, request, reply, checksum(key, number, request, reply)


def _is_torn(key: bytes, *row: object) -> bool:
    try:
        check_row(key, (row[0], row[1], row[2], row[3]))
    except TornRowError:
        return True
    return False


def _take_attempts(
    source: sqlite3.Connection, theirs: int, target: sqlite3.Connection, own: int, part_run: str
) -> None:
    """Append the attempts that are new.

    Nothing in an attempt tells it from another, so that the last one that was taken stands in the table of
    runs, under a name of its own.
    """
    mark = f"part:{part_run}:"
    row = target.execute(
        "SELECT max(CAST(substr(name, ?) AS INTEGER)) FROM runs WHERE name LIKE ?",
        (len(mark) + 1, f"{mark}%"),
    ).fetchone()
    (last,) = source.execute("SELECT coalesce(max(id), 0) FROM attempts").fetchone()
    attempts = source.execute(
        "SELECT NULL, ?, key, time, seconds, status, reason, detail, body, model, "
        "prompt, completion, cached, reasoning, most_prompt, most_completion "
        "FROM attempts WHERE run = ? AND id > ? ORDER BY id",
        (own, theirs, row[0] or 0),
    )
    target.executemany(
        "INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", attempts
    )
    target.execute("INSERT OR IGNORE INTO runs (name) VALUES (?)", (f"{mark}{last}",))
