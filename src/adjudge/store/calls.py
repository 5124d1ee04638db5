"""The call store: every answered call of one or several runs, in one SQLite file.

`CallStore` is what a run writes and looks up; `CallReader` serves traces, replays and the report's server,
also where the store cannot be written. `LayeredStore` looks into another store first and never writes that
one. `Ahead` reads the uses of many units with one question to the file. `take_calls` takes the calls of one
store into another, so that runs that were made in parts become one.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from adjudge.core.ask import Reply, Usage
from adjudge.errors import StoreError
from adjudge.store.call_file import (
    BUSY_SECONDS,
    KILLED,
    STORE,
    SUSPECT,
    Attempt,
    CallWriter,
    Claim,
    Codec,
    Departure,
    Exchange,
    Release,
    Row,
    Save,
    SaveUses,
    Standing,
    StoredRequest,
    TornRowError,
    Use,
    check_row,
    checksum,
    closed_if_refused,
    find_row,
    has_tables,
    make_tables,
    open_to_write,
    reply_from_json,
    request_from_json,
    store_error,
    store_errors,
    usage_of,
)
from adjudge.store.run_directory import read_run_info

StoredUse = tuple[bytes, str, str, str, str]
"""Key, stage, role, reason, detail."""

_QUERY: Final = (
    "SELECT unit, uses.key, stage, role, reason, detail, codec, request, reply, checksum "
    "FROM uses LEFT JOIN calls ON calls.key = uses.key "
    "WHERE run = ? AND unit IN (SELECT value FROM json_each(?)) ORDER BY unit, seq"
)

_SUSPECT: Final = (
    "SELECT DISTINCT unit FROM uses WHERE run = ? "
    "AND key IN (SELECT key FROM attempts WHERE reason != '' AND detail = ?)"
)


class Ahead:
    """Uses and calls of the units that were read last."""

    def __init__(self, connection: sqlite3.Connection, run: int) -> None:
        self._connection = connection
        self._run = run
        self.uses: dict[str, list[StoredUse]] = {}
        self._calls: dict[bytes, Row] = {}

    def read(self, units: Sequence[str]) -> None:
        """Read these units, and forget those before them."""
        self.uses = {unit: [] for unit in units}
        self._calls = {}
        for row in self._connection.execute(_QUERY, (self._run, orjson.dumps(units).decode())):
            self.uses[row[0]].append(row[1:6])
            if row[6] is not None:
                self._calls[row[1]] = row[6:]

    def call(self, key: bytes) -> tuple[int, bytes, bytes] | None:
        """Codec, request and reply of a call, still compressed; None where it was not read."""
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


_CACHE_KB = 65_536
_PLACES = 2**24  # a key falls on one of them; no look in the store where none that was saved did
_LOOK_SECONDS = 0.2  # between two looks whether another process has its answer
SEARCH_PREFIX = "search/"  # of the name of a search engine, where a model has its provider


def find_store(path: Path) -> Path:
    """The store of a run directory, or the store itself."""
    if not path.is_dir():
        return path
    return path / str(read_run_info(path).settings.get("store", STORE))


@dataclass(frozen=True)
class Spent:
    """What one model was paid for."""

    usage: Usage = field(default_factory=Usage)  # as its server counted
    # at most this more, of attempts that may have been paid and were not counted
    unsure: Usage = field(default_factory=Usage)
    uncounted: int = 0  # answers that came without any count


@dataclass(frozen=True)
class CallTotals:
    """What one run has asked so far, over all its sessions."""

    asked: int = 0  # calls that were answered by models
    searched: int = 0  # those that were answered by search engines
    attempts: int = 0  # all of them, failed ones included
    lost: int = 0  # of them, those that were in flight when a process of the run was killed
    usage: Usage = field(default_factory=Usage)  # tokens of all attempts
    spent: Mapping[str, Spent] = field(default_factory=dict)  # the same by model


def _totals(connection: sqlite3.Connection, run: int) -> CallTotals:
    rows = connection.execute(
        "SELECT model, sum(reason = ''), count(*), sum(prompt), sum(completion), sum(cached), "
        "sum(reasoning), sum(most_prompt), sum(most_completion), "
        "sum(reason = '' AND prompt + completion = 0), sum(detail = ?) "
        "FROM attempts WHERE run = ? GROUP BY model",
        (KILLED, run),
    ).fetchall()
    sums = [sum(column) for column in zip(*(row[1:] for row in rows), strict=True)] or [0] * 10
    searched = sum(row[1] for row in rows if row[0].startswith(SEARCH_PREFIX))
    return CallTotals(
        asked=sums[0] - searched,
        searched=searched,
        attempts=sums[1],
        lost=sums[9],
        usage=usage_of(*sums[2:6]),
        spent={
            row[0]: Spent(usage_of(*row[3:7]), Usage(prompt=row[7], completion=row[8]), row[9])
            for row in rows
        },
    )


class CallStore:
    """The store as one run writes it. Lookups come from the calling thread, writes go to a thread."""

    def __init__(self, path: Path, run: str, *, is_shared: bool = False, folder: Path | None = None) -> None:
        self.path = path
        self.torn = 0
        self._connection = open_to_write(path)
        with closed_if_refused(self._connection), store_errors(path):
            # keys are hashes: the index of a million stays in memory, others use a part
            self._connection.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
            self._codec = Codec(self._connection)
            made = self._connection.execute("INSERT OR IGNORE INTO runs (name) VALUES (?)", (run,))
            self.knows_run = made.rowcount == 0
            """Whether the run was in the store before: an earlier session's, or what shards asked."""
            (self._run,) = self._connection.execute("SELECT id FROM runs WHERE name = ?", (run,)).fetchone()
            self._ahead = Ahead(self._connection, self._run)
            self._writer = CallWriter(path, self._run, is_shared=is_shared, folder=folder)
            is_empty = self._connection.execute("SELECT 1 FROM calls LIMIT 1").fetchone() is None
            self.began_empty = is_empty and not is_shared
            self._saved = bytearray(_PLACES if self.began_empty else 0)

    def read_ahead(self, units: Sequence[str]) -> None:
        """Have what these units used in an earlier session at hand, in place of the units before them."""
        with store_errors(self.path):
            self._ahead.read(units)

    def answered(self, unit: str) -> int | None:
        """How many calls a unit that is at hand used; None where one of them is missing or damaged."""
        return self._ahead.answered(unit)

    def find(self, key: bytes) -> Reply | None:
        """The stored reply to a request; None where it is missing, or torn, which is counted."""
        if self._saved and not self._saved[_place(key)]:
            return None
        try:  # store_errors() would cost as much as the look
            row = self._ahead.call(key) or find_row(self._connection, key)
            return None if row is None else reply_from_json(self._codec.unpack(row[0], row[2]))
        except TornRowError:
            self._ahead.forget(key)
            self.torn += 1
            return None
        except sqlite3.Error as error:
            raise store_error(self.path, error) from error

    async def save(
        self, key: bytes, request: StoredRequest, reply: Reply, *, replaces: bool = False
    ) -> Reply:
        """Commit an answered call.

        What stands in the store from now on: another process that shares it may have been first, and then its
        answer counts, so that a repetition finds what this run used.
        """
        if self._saved:
            self._saved[_place(key)] = 1
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._writer.put(Save(key, request, reply, future, replaces))
        saved = await future
        if replaces:
            self._ahead.forget(key)
        return saved

    async def claim(self, key: bytes, *, anew: bool = False) -> Reply | None:
        """Claim a question that is about to be asked, in a store that other processes write.

        None where this process is to ask it; else the answer of the process that did, once it is there.
        """
        while self._writer.is_shared:
            future: asyncio.Future[Standing] = asyncio.get_running_loop().create_future()
            self._writer.put(Claim(key, anew, future))
            standing = await future
            if standing == "stored" and (reply := self.find(key)) is not None:
                return reply
            if standing != "held":
                break
            await asyncio.sleep(_LOOK_SECONDS)
        return None

    def release(self, key: bytes) -> None:
        """End the claim of a question that brought no answer; nothing of it is in flight."""
        with suppress(StoreError):  # a store that is broken says so to who saves
            self._writer.put(Release(key))

    async def depart(self, attempt: Attempt) -> None:
        """Write down that a request is about to be sent; it is in flight until an attempt of it is noted."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._writer.put(Departure(attempt, future))
        await future

    def count_lost(self) -> None:
        """Count what was in flight when a process of this run was killed: each an attempt that may be paid.

        To be called by who has the run directory to itself, before anything is sent: then what is in flight
        belongs to nobody who lives. Other runs that share the store are left alone.
        """
        with store_errors(self.path):
            _count_lost(self._connection, self._run)

    def note(self, attempt: Attempt) -> None:
        """Write down that a model was asked; committed with the next call."""
        self._writer.put(attempt)

    def save_uses(self, unit: str, uses: Sequence[Use], *, maybe_known: bool = True) -> None:
        """Write down which calls a unit of work used, unless just that is known already."""
        if not maybe_known or self._stored_uses(unit) != [
            (use.key, use.stage, use.role, use.reason, use.detail) for use in uses
        ]:
            self._ahead.uses.pop(unit, None)
            self._writer.put(SaveUses(unit, uses))

    def _stored_uses(self, unit: str) -> list[StoredUse]:
        if (near := self._ahead.uses.get(unit)) is not None:
            return near
        try:
            return self._connection.execute(
                "SELECT key, stage, role, reason, detail FROM uses WHERE run = ? AND unit = ? ORDER BY seq",
                (self._run, unit),
            ).fetchall()
        except sqlite3.Error as error:
            raise store_error(self.path, error) from error

    def totals(self) -> CallTotals:
        """Count what this run has asked, over all its sessions; waits until everything is written."""
        self._writer.flush()
        with store_errors(self.path):
            return _totals(self._connection, self._run)

    def suspect_units(self) -> frozenset[str]:
        """Units of work of this run that used an answer which may be another question's."""
        self._writer.flush()
        with store_errors(self.path):
            return frozenset(row[0] for row in self._connection.execute(_SUSPECT, (self._run, SUSPECT)))

    def sync(self) -> None:
        """Write what waits, and have it where no power cut can take it; a commit alone has not."""
        self._writer.flush(sync=True)

    def close(self) -> None:
        """Write what waits and close; may be called twice."""
        try:
            self._writer.close()
        finally:
            self._connection.close()


def _place(key: bytes) -> int:
    return int.from_bytes(key[:3], "big")


def _count_lost(connection: sqlite3.Connection, run: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(
            "INSERT INTO attempts (run, key, time, seconds, reason, detail, prompt, completion, cached, "
            "reasoning, model, most_prompt, most_completion) "
            "SELECT run, key, time, 0, 'connection', ?, 0, 0, 0, 0, model, most_prompt, most_completion "
            "FROM flights WHERE run = ? ORDER BY time, key",
            (KILLED, run),
        )
        connection.execute("DELETE FROM flights WHERE run = ?", (run,))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open a store that may be of a folder where nothing can be written, or just being written.

    A file without tables is a new store: a run that was killed in its first moment leaves one.
    """
    if not path.is_file():
        raise StoreError(f"no call store at {path}")
    with store_errors(path), closed_if_refused(_connect_to_read(path)) as connection:
        if has_tables(connection, path):
            return connection
    connection.close()
    empty = sqlite3.connect(":memory:", isolation_level=None)
    make_tables(empty)
    return empty


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """In a folder that cannot be written SQLite must be told that nobody writes; then it reads no log."""
    address = path.resolve().as_uri()
    connection = sqlite3.connect(f"{address}?mode=ro", uri=True, timeout=BUSY_SECONDS)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        log = path.resolve().with_name(f"{path.resolve().name}-wal")
        if log.is_file() and log.stat().st_size:  # answers that a run which was killed has left there
            raise StoreError(
                f"call store {path.resolve()}: {log.name} beside it has answers, too; "
                "copy both to a folder where SQLite may write"
            ) from error
        connection = sqlite3.connect(f"{address}?immutable=1", uri=True)
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


class CallReader:
    """Reads a store, also one that cannot be written, while a run may be writing it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = open_to_read(path)
        self._codec = Codec(self._connection)

    def close(self) -> None:
        self._connection.close()

    def models(self) -> list[dict[str, Any]]:
        """Identities of the models whose answers are in here."""
        rows = self._select("SELECT identity FROM models ORDER BY id")
        return [orjson.loads(identity) for (identity,) in rows]

    def totals(self, run: str) -> CallTotals:
        """What a run has asked so far; nothing where it has asked nothing."""
        found = self._select("SELECT id FROM runs WHERE name = ?", run)
        with store_errors(self.path):
            return _totals(self._connection, found[0][0]) if found else CallTotals()

    def find(self, key: bytes) -> Reply | None:
        """The reply to a request, None where it is missing or torn."""
        with store_errors(self.path):
            return self._codec.find_reply(key)

    def answered(self, limit: int) -> Iterator[tuple[StoredRequest, Reply]]:
        """Up to so many answered calls, spread over all that are stored."""
        (last,) = self._select("SELECT coalesce(max(id), 0) FROM calls")[0]
        step = max(last // limit, 1)
        for (key,) in self._select("SELECT key FROM calls WHERE id % ? = 0 LIMIT ?", step, limit):
            request, reply = self._call(key)
            if request is not None and reply is not None:
                yield request, reply

    def seconds(self) -> float | None:
        """Mean time of a call that a model answered, those in batches aside; None where there is none."""
        (mean,) = self._select(
            "SELECT avg(seconds) FROM attempts "
            "WHERE reason = '' AND model NOT LIKE '% (batch)' AND model NOT LIKE ?",
            f"{SEARCH_PREFIX}%",
        )[0]
        return None if mean is None else float(mean)

    def units(self, run: str) -> dict[str, int]:
        """Units of work that used calls, with how many."""
        return dict(
            self._select(
                "SELECT unit, count(*) FROM uses JOIN runs ON runs.id = run WHERE name = ? GROUP BY unit", run
            )
        )

    def conversation(self, run: str, unit: str) -> list[Exchange]:
        """Questions and answers of one unit of work, in the order asked."""
        rows = self._select(
            "SELECT key, stage, role, reason, detail FROM uses JOIN runs ON runs.id = run "
            "WHERE name = ? AND unit = ? ORDER BY seq",
            run,
            unit,
        )
        return [self._exchange(Use(*row)) for row in rows]

    def _exchange(self, use: Use) -> Exchange:
        request, reply = self._call(use.key)
        rows = self._select(
            "SELECT time, seconds, reason, detail, status FROM attempts "
            "WHERE key = ? AND reason != '' ORDER BY id",
            use.key,
        )
        failed = tuple(Attempt(use.key, *row) for row in rows)
        return Exchange(use=use, request=request, reply=reply, failed=failed)

    def _call(self, key: bytes) -> tuple[StoredRequest | None, Reply | None]:
        with store_errors(self.path):
            try:
                row = find_row(self._connection, key)
                if row is None:
                    return None, None
                request, reply = (self._codec.unpack(row[0], packed) for packed in row[1:])
            except TornRowError:
                return None, None
        return request_from_json(request), reply_from_json(reply)

    def _select(self, query: str, *values: object) -> list[Any]:
        with store_errors(self.path):
            return self._connection.execute(query, values).fetchall()


class LayeredStore(CallStore):
    """The store of a part of a run, on top of the store of the whole run."""

    def __init__(self, path: Path, run: str, base: Path, folder: Path | None = None) -> None:
        self._base = CallReader(base)
        try:
            super().__init__(path, run, folder=folder)
        except BaseException:
            self._base.close()
            raise
        self.began_empty = False

    def find(self, key: bytes) -> Reply | None:
        """The reply to a request in either of them."""
        return super().find(key) or self._base.find(key)

    def close(self) -> None:
        self._base.close()
        super().close()


def open_store(
    path: Path, run: str, base: Path | None, *, is_shared: bool = False, folder: Path | None = None
) -> CallStore:
    """Open a store, on top of another one where that is there."""
    if base is None or not base.is_file() or not base.stat().st_size:
        return CallStore(path, run, is_shared=is_shared, folder=folder)
    return LayeredStore(path, run, base, folder)


def lacking(path: Path, keys: Iterable[bytes]) -> list[bytes]:
    """Which of these keys have no answer in a store, each once; all of them where there is no store."""
    if not path.is_file():
        return [*dict.fromkeys(keys)]
    with store_errors(path), closing(open_to_read(path)) as connection:
        connection.execute("CREATE TEMP TABLE wanted (key BLOB PRIMARY KEY) WITHOUT ROWID")
        connection.execute("BEGIN")
        connection.executemany("INSERT OR IGNORE INTO wanted VALUES (?)", ((key,) for key in keys))
        found = connection.execute(
            "SELECT key FROM wanted WHERE NOT EXISTS (SELECT 1 FROM calls WHERE calls.key = wanted.key)"
        )
        return [key for (key,) in found]


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
    """
    with closing(open_to_write(part)) as source, closing(open_to_write(store)) as target:
        with store_errors(part):
            _count_lost(source, _row_of(source, part_run))
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
    # The number that each dictionary of the part has in the store; equal ones are kept once.
    numbers = {0: 0}
    for number, content in source.execute("SELECT id, content FROM dictionaries ORDER BY id"):
        row = target.execute("SELECT id FROM dictionaries WHERE content = ?", (content,)).fetchone()
        if row is None:
            row = (
                target.execute("INSERT INTO dictionaries (content) VALUES (?)", (content,)).lastrowid or 0,
            )
        numbers[number] = row[0]
    target.executemany(_SAVE, _calls(source, numbers))
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


def _calls(
    source: sqlite3.Connection, numbers: dict[int, int]
) -> Iterator[tuple[bytes, int, bytes, bytes, int]]:
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
