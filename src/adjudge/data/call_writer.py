"""The thread that writes the call store, so that a slow disk never stops the calls in flight.

A call is committed before its answer is used. What waits is committed together, at most 200 items or
50 ms at a time; under load the batches fill by themselves, since everything that comes during one commit
goes into the next.

A commit survives the end of this process. It survives a power cut once it is synchronised: one second after
its commit at the latest, and before more than 100 answers are used. Synchronising moves the answers from the
write-ahead log into the database and empties the log, so that damage to the log costs no more than that.
"""

from __future__ import annotations

import asyncio
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import orjson
import zstandard

from adjudge.core.ask import Reply
from adjudge.data.call_claims import Claims, Standing
from adjudge.data.call_file import BUSY_SECONDS, closed_if_refused, open_to_write, store_error
from adjudge.data.call_rows import (
    Attempt,
    Codec,
    StoredRequest,
    TornRowError,
    Use,
    checksum,
    find_row,
    reply_from_json,
    reply_to_json,
    request_to_json,
)
from adjudge.errors import StoreError

__all__ = ["CallWriter", "Claim", "Flush", "Release", "Save", "SaveUses"]

_LEVEL: Final = 3
_BATCH: Final = 200  # a call is an attempt and an answer: no more than 100 answers
_BATCH_SECONDS: Final = 0.05
_SYNC_ANSWERS: Final = 100
_SYNC_SECONDS: Final = 1.0
_SYNC_WAIT: Final = 100  # milliseconds for readers to end before the log is emptied
_SAMPLES: Final = 512  # requests and replies from which the dictionary is made
_DICTIONARY_BYTES: Final = 64 * 1024


@dataclass
class Save:
    """A call on its way to the disk; its future brings back what stands there afterwards."""

    key: bytes
    request: StoredRequest
    reply: Reply
    future: asyncio.Future[Reply]
    replaces: bool = False
    stored: Reply | None = None


@dataclass
class SaveUses:
    """The calls that one unit of work used."""

    unit: str
    uses: Sequence[Use]


@dataclass
class Flush:
    """Says when everything before it is written.

    Args:
        sync: have it where no power cut can take it, too.
        done: set then.
    """

    sync: bool = False
    done: threading.Event = field(default_factory=threading.Event)


@dataclass
class Claim:
    """A question that is about to be asked; its future brings back who is to ask it."""

    key: bytes
    anew: bool
    future: asyncio.Future[Standing]
    standing: Standing = "ours"


@dataclass
class Release:
    """A question that was claimed and brought no answer."""

    key: bytes


Item = Save | SaveUses | Attempt | Flush | Claim | Release

_Row = tuple[bytes, int, bytes, bytes, int]
"""Key, codec, request, reply and checksum."""


class CallWriter:
    """One thread on a connection of its own.

    Args:
        path: of the SQLite file.
        run: row of the run in the table of runs.
        is_shared: whether other processes may write the store.

    Raises:
        StoreError: it cannot be opened.
        sqlite3.Error: it cannot be read.
    """

    def __init__(self, path: Path, run: int, *, is_shared: bool = False) -> None:
        self.path = path
        self.is_shared = is_shared
        self.broken: StoreError | None = None
        self._run = run
        self._connection = open_to_write(path)
        self._codec = Codec(self._connection)
        self._models: set[str] = set()
        self._samples: list[bytes | bytearray | memoryview] = []
        self._packer = zstandard.ZstdCompressor(level=_LEVEL)
        self._packing = 0
        with closed_if_refused(self._connection):
            self._load_dictionary()
            self._claims = Claims(self._connection) if is_shared else None
        self._unsynced = 0  # answers that are committed and not synchronised
        self._sync_at: float | None = None  # when what is committed is to be synchronised; None if nothing is
        self._waiting: list[Item] = []
        self._turn: asyncio.AbstractEventLoop | None = None  # that hands them over when it is done
        self._taken: list[Item] = []
        self._is_ending = False
        self._queue: queue.SimpleQueue[list[Item] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="call store", daemon=True)
        self._thread.start()

    def put(self, item: Item) -> None:
        """Hand something over to be written.

        Raises:
            StoreError: an earlier item could not be.
        """
        self._refuse_if_broken()
        self._waiting.append(item)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # nothing will come along with it
            self._hand_over()
            return
        if self._turn is not loop:  # the turn of a loop that ended may never come
            self._turn = loop
            loop.call_soon(self._hand_over)

    def _hand_over(self) -> None:
        """Give the thread what came in one turn of the event loop.

        To wake it for each item would cost more than to write the item.
        """
        self._turn = None
        if self._waiting:
            items, self._waiting = self._waiting, []
            self._queue.put(items)

    def flush(self, *, sync: bool = False) -> None:
        """Wait until everything handed over so far is written.

        Args:
            sync: and is where no power cut can take it.

        Raises:
            StoreError: it could not be.
        """
        flush = Flush(sync)
        self.put(flush)
        self._hand_over()
        flush.done.wait()
        self._refuse_if_broken()

    def close(self) -> None:
        """Write what waits and end; may be called twice.

        Raises:
            StoreError: something could not be written.
        """
        if self._thread.is_alive():
            self._hand_over()
            self._queue.put(None)
            self._thread.join()
        self._refuse_if_broken()

    def _refuse_if_broken(self) -> None:
        if self.broken is not None:
            raise StoreError(str(self.broken))

    def _work(self) -> None:
        """Commit batch after batch until None comes; after an error, refuse everything."""
        while True:
            batch, last = self._next_batch()
            try:
                if self.broken is None:
                    if batch:
                        self._commit(batch)
                    if self._claims is not None:
                        self._claims.beat()
                    if self._sync_at is not None and (last or self._is_due(batch)):
                        self._sync()
            except sqlite3.Error as error:
                self._break(store_error(self.path, error))
            except Exception as error:  # noqa: BLE001 (whatever it is, the calls in flight must hear of it)
                self._break(StoreError(f"call store {self.path}: {error!r}"))
            self._answer(batch)
            if last:
                if self._claims is not None:
                    with suppress(sqlite3.Error):  # then they are taken over
                        self._claims.close()
                self._connection.close()
                return

    def _break(self, error: StoreError) -> None:
        with suppress(sqlite3.Error):
            self._connection.rollback()
        self.broken = error

    def _next_batch(self) -> tuple[list[Item], bool]:
        """Wait for one item, or until it is time to synchronise; then take what is there.

        Returns:
            What is to be committed, and whether it is the last batch.
        """
        if not self._taken:
            try:
                self._take(self._queue.get(timeout=self._seconds_to_wait))
            except queue.Empty:
                return [], False
        until = time.monotonic() + _BATCH_SECONDS
        with suppress(queue.Empty):
            while not self._is_ending and len(self._taken) < _BATCH and time.monotonic() < until:
                self._take(self._queue.get_nowait())
        batch, self._taken = self._taken[:_BATCH], self._taken[_BATCH:]
        return batch, self._is_ending and not self._taken

    def _take(self, items: list[Item] | None) -> None:
        if items is None:
            self._is_ending = True
        else:
            self._taken += items

    def _commit(self, batch: list[Item]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._insert_calls([item for item in batch if isinstance(item, Save)])
        self._insert_attempts([item for item in batch if isinstance(item, Attempt)])
        self._replace_uses({item.unit: item.uses for item in batch if isinstance(item, SaveUses)})
        if self._claims is not None:
            self._claims.release([item.key for item in batch if isinstance(item, Save | Release)])
            for item in batch:
                if isinstance(item, Claim):
                    item.standing = self._claims.claim(item.key, anew=item.anew)
        self._connection.execute("COMMIT")
        self._unsynced += sum(isinstance(item, Save) for item in batch)
        if self._sync_at is None:
            self._sync_at = time.monotonic() + _SYNC_SECONDS
        if len(self._samples) >= _SAMPLES:
            self._make_dictionary()

    @property
    def _seconds_to_wait(self) -> float | None:
        beat = None if self._claims is None or self.broken is not None else self._claims.seconds_to_beat
        return min((each for each in (beat, self._seconds_to_sync) if each is not None), default=None)

    @property
    def _seconds_to_sync(self) -> float | None:
        if self._sync_at is None or self.broken is not None:
            return None
        return max(self._sync_at - time.monotonic(), 0.0)

    def _is_due(self, batch: list[Item]) -> bool:
        """Whether what is committed must be synchronised before anything else is."""
        is_asked_for = any(isinstance(item, Flush) and item.sync for item in batch)
        return is_asked_for or self._unsynced >= _SYNC_ANSWERS or self._seconds_to_sync == 0

    def _sync(self) -> None:
        """Have everything committed in the database file, on the disk, and the log empty.

        SQLite synchronises the log, then the database, and cuts the log off. Where a reader of another
        process holds the log, its content stays there until the next time and is synchronised as it is.
        """
        self._connection.execute(f"PRAGMA busy_timeout = {_SYNC_WAIT}")
        (is_held, _, _) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        self._connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
        log = self.path.with_name(f"{self.path.name}-wal")
        if is_held and log.is_file():
            with log.open("r+b") as file:
                os.fsync(file.fileno())
        self._unsynced, self._sync_at = 0, None

    def _answer(self, batch: list[Item]) -> None:
        """Tell everybody who waits, once per event loop."""
        saves: dict[asyncio.AbstractEventLoop, list[Save | Claim]] = {}
        for item in batch:
            if isinstance(item, Flush):
                item.done.set()
            elif isinstance(item, Save | Claim):
                saves.setdefault(item.future.get_loop(), []).append(item)
        for loop, group in saves.items():
            with suppress(RuntimeError):  # a loop that is closed waits for nothing
                loop.call_soon_threadsafe(_resolve, group, self.broken)

    # Rows...

    def _insert_calls(self, saves: Sequence[Save]) -> None:
        """Insert the calls that are not there, and say of each what is."""
        rows = [self._row(item) for item in saves]
        done = self._connection.executemany(
            "INSERT INTO calls (key, codec, request, reply, checksum) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (key) DO NOTHING",
            rows,
        )
        all_new = done.rowcount == len(rows)
        for item, row in zip(saves, rows, strict=True):
            if all_new:
                item.stored = item.reply
            elif item.replaces:
                item.stored = self._replace(row, item.reply)
            else:
                item.stored = self._stored_reply(item.key) or self._replace(row, item.reply)

    def _row(self, item: Save) -> _Row:
        self._insert_model(orjson.dumps(item.request.model, option=orjson.OPT_SORT_KEYS).decode())
        request, reply = request_to_json(item.request), reply_to_json(item.reply)
        if self._packing == 0:
            self._samples += [request, reply]
        row = (self._packing, self._packer.compress(request), self._packer.compress(reply))
        return item.key, *row, checksum(item.key, *row)

    def _stored_reply(self, key: bytes) -> Reply | None:
        try:
            row = find_row(self._connection, key)
            return None if row is None else reply_from_json(self._codec.unpack(row[0], row[2]))
        except TornRowError:
            return None

    def _replace(self, values: _Row, reply: Reply) -> Reply:
        self._connection.execute(
            "INSERT OR REPLACE INTO calls (key, codec, request, reply, checksum) VALUES (?, ?, ?, ?, ?)",
            values,
        )
        return reply

    def _insert_model(self, identity: str) -> None:
        if identity not in self._models:
            self._connection.execute("INSERT OR IGNORE INTO models (identity) VALUES (?)", (identity,))
            self._models.add(identity)

    def _insert_attempts(self, attempts: Sequence[Attempt]) -> None:
        self._connection.executemany(
            "INSERT INTO attempts (run, key, time, seconds, reason, detail, status, body, "
            "prompt, completion, cached, reasoning, model, most_prompt, most_completion) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    *(self._run, a.key, a.time, a.seconds, a.reason, a.detail, a.status, a.body),
                    *(a.usage.prompt, a.usage.completion, a.usage.cached, a.usage.reasoning),
                    *(a.model, a.most.prompt, a.most.completion),
                )
                for a in attempts
            ],
        )

    def _replace_uses(self, uses: Mapping[str, Sequence[Use]]) -> None:
        self._connection.executemany(
            "DELETE FROM uses WHERE run = ? AND unit = ?", [(self._run, unit) for unit in uses]
        )
        self._connection.executemany(
            "INSERT INTO uses (run, unit, seq, key, stage, role, reason, detail) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (self._run, unit, seq, u.key, u.stage, u.role, u.reason, u.detail)
                for unit, used in uses.items()
                for seq, u in enumerate(used)
            ],
        )

    # The dictionary...

    def _load_dictionary(self) -> None:
        """Go on with the newest dictionary of the store; with none where that is damaged."""
        row = self._connection.execute(
            "SELECT id, content FROM dictionaries ORDER BY id DESC LIMIT 1"
        ).fetchone()
        if row is not None:
            with suppress(zstandard.ZstdError):
                self._pack_with(*row)

    def _make_dictionary(self) -> None:
        """Train one on the first calls: prompts repeat themselves, so that later rows shrink to a third."""
        samples, self._samples = self._samples, []
        try:
            content = zstandard.train_dictionary(_DICTIONARY_BYTES, samples).as_bytes()
        except zstandard.ZstdError:
            return  # too little to learn from: rows stay as they are
        done = self._connection.execute("INSERT INTO dictionaries (content) VALUES (?)", (content,))
        self._pack_with(done.lastrowid or 0, content)

    def _pack_with(self, dictionary: int, content: bytes) -> None:
        trained = zstandard.ZstdCompressionDict(content)
        trained.precompute_compress(level=_LEVEL)
        self._packer = zstandard.ZstdCompressor(level=_LEVEL, dict_data=trained)
        self._packing = dictionary


def _resolve(group: list[Save | Claim], broken: StoreError | None) -> None:
    for item in group:
        if item.future.done():
            continue
        if isinstance(item, Claim):
            if broken is None:
                item.future.set_result(item.standing)
            else:
                item.future.set_exception(StoreError(str(broken)))
        elif item.stored is not None and broken is None:
            item.future.set_result(item.stored)
        else:
            item.future.set_exception(StoreError(str(broken)))
