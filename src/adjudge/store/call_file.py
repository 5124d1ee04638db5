"""The file of the call store: its tables, what stands in their rows, and the thread that writes them.

models     who was asked, so that a recorded store can be replayed
calls      one row per answered call: request and reply, compressed, under the SHA-256 of the request
attempts   append-only: every time a model was asked, with what came of it; the paid and the failed
runs       the runs that share the store
uses       which calls a unit of work used, in which role and stage; a trace needs nothing else
flights    requests that are at a server now; what a process that was killed leaves here may have been paid

`Codec` packs the bytes of requests and replies. `Claims` has each question asked by one of several processes
that share a store. `CallWriter` is the thread: a slow disk never stops the calls in flight.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import platform
import queue
import secrets
import sqlite3
import sys
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import orjson

from adjudge.core.ask import Message, Quoted, Reply, Sampling, TokenLogprob, Tool, ToolCall, Usage
from adjudge.core.frozen import frozen
from adjudge.errors import StoreError
from adjudge.store.files import make_parents
from adjudge.store.run_directory import AnswerKeys
from adjudge.store.sqlite import insist

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

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
CREATE TABLE flights (
    run INTEGER NOT NULL, key BLOB NOT NULL, time TEXT NOT NULL, model TEXT NOT NULL,
    most_prompt INTEGER NOT NULL, most_completion INTEGER NOT NULL, PRIMARY KEY (run, key)
) WITHOUT ROWID;
"""
KILLED: Final = "the run was killed while this call was in flight"
"""Detail of an attempt of which no more is known."""
SUSPECT: Final = "the server sent more answers than questions; the stored one may be another question's"
"""Detail of an attempt whose answer was stored before that was seen."""


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into a `StoreError` that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise store_error(path, error) from error


_DAMAGED: Final = (
    "; restore it from a copy, or delete it: the same command then says how many calls it would ask again"
)


def store_error(path: Path, error: sqlite3.Error) -> StoreError:
    """The error that a user sees."""
    what = str(error)
    hints = {
        "full": "; make room and run the same command again: nothing that was answered is lost",
        "I/O": "; the disk may be full or gone: nothing that was answered is lost",
        "readonly": "; it must be writable, or name another place with --store",
        "locked": "; another process holds it",
        "malformed": _DAMAGED,
        "not a database": _DAMAGED,
    }
    hint = next((hint for word, hint in hints.items() if word in what), "")
    return StoreError(f"call store {path}: {what}{hint}")


def open_to_write(path: Path) -> sqlite3.Connection:
    """Open a store for writing; make its folder where there is none, and its tables."""
    try:
        make_parents(path)
    except OSError as error:
        raise StoreError(f"call store {path}: cannot make the folder: {error.strerror}") from error
    connect = partial(sqlite3.connect, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    with store_errors(path), closed_if_refused(connect(path)) as connection:
        insist(connection, "PRAGMA journal_mode = WAL", BUSY_SECONDS)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint = 20000")
        connection.execute("BEGIN IMMEDIATE")
        if not has_tables(connection, path):
            make_tables(connection)
        connection.execute("COMMIT")
    return connection


def make_tables(connection: sqlite3.Connection) -> None:
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


def has_tables(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the tables are there; a file of somebody else's is refused."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables == 0:
        return False
    if application != _APPLICATION or version != SCHEMA_VERSION:
        raise StoreError(f"{path} is no call store of this version (its version is {version})")
    return True


# Rows and their bytes


Row = tuple[Any, Any, Any, Any]
"""Codec, request, reply and checksum of a call, as SQLite gives them, not yet checked."""


@frozen
class StoredRequest:
    """What was asked, as a trace shows it."""

    model: Mapping[str, Any]  # identity of the model, as `llm/model.py` wrote it
    messages: tuple[Message, ...]  # with quoted texts, before delimiters were put in
    sampling: Sampling  # how the reply was drawn
    schema: Mapping[str, Any] | None = None  # JSON schema that the model was held to, or None
    # which of several replies to the same messages, and which repetition of that one
    sample: tuple[int, int] = (0, 0)
    tools: tuple[Tool, ...] = ()  # that the model was offered


class Attempt(NamedTuple):
    """One time that a model was asked."""

    key: bytes  # of the call it was made for
    time: str  # ISO 8601, UTC; never used to order results
    seconds: float  # how long it took
    reason: str = ""  # why it failed; empty for an answer
    detail: str = ""  # what came instead, redacted
    status: int | None = None  # HTTP status, None where there was none
    usage: Usage = Usage()  # tokens that the server counted; a failed attempt may be paid all the same
    body: bytes | None = None  # raw reply where it was no text
    model: str = ""  # `provider/model` that was asked; what its tokens cost depends on it
    # what it may have cost at most, where nothing was counted and it may have been paid
    most: Usage = Usage()


@dataclass(frozen=True)
class Use:
    """One question of a unit of work."""

    key: bytes
    stage: str  # of the judge's method
    role: str  # the agent that asked
    reason: str = ""  # why its reply was not used; empty for one that was read
    detail: str = ""  # more of the reason
    # whether a reply came; no row says so, since the call is stored then
    is_answered: bool = field(default=True, compare=False)


@frozen
class Exchange:
    """One question of a unit of work with its answer; None where none was had."""

    use: Use
    request: StoredRequest | None = None
    reply: Reply | None = None
    failed: tuple[Attempt, ...] = ()


def run_name(secret: str) -> str:
    """Name under which a run stands in a store; tells nothing of the secret that it is made from."""
    return hashlib.sha256(b"run\0" + secret.encode()).hexdigest()[:32]


def unit_name(lp: str, segment: str, systems: tuple[str, ...]) -> str:
    """Name of a unit of work in a store; unlike `Subject.key` no two units can share it."""
    return orjson.dumps([lp, segment, *systems]).decode()


def checksum(key: bytes, codec: int, request: bytes, reply: bytes) -> int:
    """CRC-32 over all that a row of `calls` says."""
    return zlib.crc32(reply, zlib.crc32(request, zlib.crc32(key, codec)))


def request_to_json(request: StoredRequest) -> bytes:
    """The bytes that are kept of a request."""
    s = request.sampling
    drawn = {"temperature": s.temperature, "max_tokens": s.max_tokens, "logprobs": bool(s.logprobs)}
    return orjson.dumps(
        {
            "model": dict(request.model),
            "messages": [message_to_json(m) for m in request.messages],
            "sampling": drawn | ({"stop": s.stop} if s.stop else {}),
            "schema": request.schema,
            "sample": request.sample,
        }
        | ({"tools": tools_to_json(request.tools)} if request.tools else {})
    )


def message_to_json(message: Message) -> list[object]:
    """One message: its role, then our words as strings, quoted texts as pairs, and calls in an object."""
    said: list[object] = [
        p if isinstance(p, str) else [p.name, p.text, *([True] if p.is_json else [])] for p in message.parts
    ]
    said.insert(0, message.role)
    return [*said, {"calls": _calls_to_json(message.calls)}] if message.calls else said


def _message_from_json(value: list[Any]) -> Message:
    role, *parts = value
    calls = parts.pop()["calls"] if parts and isinstance(parts[-1], dict) else ()
    said = tuple(p if isinstance(p, str) else Quoted(*p) for p in parts)
    return Message(role, said, _calls_from_json(calls))


def tools_to_json(tools: Iterable[Tool]) -> list[object]:
    return [[tool.name, tool.description, tool.parameters] for tool in tools]


def _calls_to_json(calls: Iterable[ToolCall]) -> list[object]:
    return [[call.id, call.name, call.arguments, call.state] for call in calls]


def _calls_from_json(value: Iterable[list[Any]]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(id=i, name=n, arguments=a, state=s) for i, n, a, s in value)


def request_from_json(raw: bytes) -> StoredRequest:
    value = orjson.loads(raw)
    return StoredRequest(
        model=value["model"],
        messages=tuple(map(_message_from_json, value["messages"])),
        sampling=Sampling(**value["sampling"] | {"stop": tuple(value["sampling"].get("stop", ()))}),
        schema=value["schema"],
        sample=tuple(value["sample"]),
        tools=tuple(Tool(name=n, description=d, parameters=p) for n, d, p in value.get("tools", ())),
    )


def reply_to_json(reply: Reply) -> bytes:
    """The bytes that are kept of a reply; what is unset is left out."""
    u = reply.usage
    value: dict[str, object] = {"text": reply.text, "model": reply.model, "finish": reply.finish}
    value["usage"] = (u.prompt, u.completion, u.cached, u.reasoning)
    for name in ("reasoning", "fingerprint", "is_held"):
        if said := getattr(reply, name):
            value[name] = said
    if reply.logprobs:
        value["logprobs"] = [(t.token, t.logprob, t.alternatives) for t in reply.logprobs]
    if reply.calls:
        value["calls"] = _calls_to_json(reply.calls)
    return orjson.dumps(value)


def reply_from_json(raw: bytes) -> Reply:
    value = orjson.loads(raw)
    return Reply(
        text=value["text"],
        model=value["model"],
        finish=value["finish"],
        usage=usage_of(*value["usage"]),
        reasoning=value.get("reasoning", ""),
        fingerprint=value.get("fingerprint", ""),
        is_held=value.get("is_held", False),
        logprobs=tuple(
            TokenLogprob(token, logprob, tuple(map(tuple, others)))
            for token, logprob, others in value.get("logprobs", ())
        ),
        calls=_calls_from_json(value["calls"]) if "calls" in value else (),
    )


def usage_of(prompt: int, completion: int, cached: int, reasoning: int) -> Usage:
    """Tokens in the order in which rows hold them."""
    return Usage(prompt=prompt, completion=completion, cached=cached, reasoning=reasoning)


class TornRowError(Exception):
    """A row fails its checksum: what it held is missing, and reported."""


class Codec:
    """Zstandard without and with the dictionaries that the store keeps; 0 is without."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._dictionaries: dict[int, zstd.ZstdDict | None] = {0: None}

    def unpack(self, codec: int, packed: bytes) -> bytes:
        """Decompress one value."""
        try:
            if codec not in self._dictionaries:
                content = "SELECT content FROM dictionaries WHERE id = ?"
                row = self._connection.execute(content, (codec,)).fetchone()
                if row is None:
                    raise TornRowError
                self._dictionaries[codec] = zstd.ZstdDict(row[0])
            return zstd.decompress(packed, self._dictionaries[codec])
        except (zstd.ZstdError, ValueError) as error:
            raise TornRowError from error

    def find_reply(self, key: bytes) -> Reply | None:
        """The stored reply to a request; None where it is missing or torn."""
        try:
            row = find_row(self._connection, key)
            return None if row is None else reply_from_json(self.unpack(row[0], row[2]))
        except TornRowError:
            return None


def find_row(connection: sqlite3.Connection, key: bytes) -> tuple[int, bytes, bytes] | None:
    """Codec, request and reply of a call, still compressed; None where it is missing."""
    row = connection.execute(
        "SELECT codec, request, reply, checksum FROM calls WHERE key = ?", (key,)
    ).fetchone()
    return None if row is None else check_row(key, row)


def check_row(key: bytes, row: Row) -> tuple[int, bytes, bytes]:
    """Codec, request and reply of a row, still compressed."""
    codec, request, reply, expected = row
    if not isinstance(request, bytes) or not isinstance(reply, bytes) or not isinstance(codec, int):
        raise TornRowError
    if checksum(key, codec, request, reply) != expected:
        raise TornRowError
    return codec, request, reply


# Claims


BEAT_SECONDS: Final = 1.0
_DEAD_SECONDS: Final = 15.0

Standing = Literal["ours", "stored", "held"]
"""Of a question: this process is to ask it; it is answered; another process is asking it."""

_CLAIM_TABLES: Final = """
CREATE TABLE IF NOT EXISTS askers (
    name TEXT PRIMARY KEY, host TEXT NOT NULL, process INTEGER NOT NULL, beat INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claims (key BLOB PRIMARY KEY, asker TEXT NOT NULL) WITHOUT ROWID;
"""


class Claims:
    """The claims of one process, for the thread that writes the store."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._name = secrets.token_hex(8)
        self._held: set[bytes] = set()
        self._seen: dict[str, tuple[int, float]] = {}  # asker: its last beat, and when it was first seen
        self._next_beat = 0.0
        for statement in _CLAIM_TABLES.split(";"):
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
        """Claim a question, within a transaction."""
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
        if ended := self._held.intersection(keys):
            self._held -= ended
            self._connection.executemany(
                "DELETE FROM claims WHERE key = ? AND asker = ?", [(key, self._name) for key in ended]
            )

    def close(self) -> None:
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


# The writing thread


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
class Departure:
    """A request that is about to be sent, as the attempt that it is if nothing more is heard of it."""

    attempt: Attempt
    future: asyncio.Future[None]


@dataclass
class SaveUses:
    """The calls that one unit of work used."""

    unit: str
    uses: Sequence[Use]


@dataclass
class Flush:
    """Says when everything before it is written."""

    sync: bool = False  # have it where no power cut can take it, too
    done: threading.Event = field(default_factory=threading.Event)  # set then


@dataclass
class Claim:
    """A question that is about to be asked; its future brings back who is to ask it."""

    key: bytes
    anew: bool
    future: asyncio.Future[Standing]
    standing: Standing = "ours"


@dataclass
class Release:
    """A question that was claimed, or about to be sent, and brought no answer."""

    key: bytes


Item = Save | SaveUses | Attempt | Departure | Flush | Claim | Release

_Row = tuple[bytes, int, bytes, bytes, int]
"""Key, codec, request, reply and checksum."""


class CallWriter:
    """One thread on a connection of its own."""

    def __init__(self, path: Path, run: int, *, is_shared: bool = False, folder: Path | None = None) -> None:
        self.path = path
        self.is_shared = is_shared
        self.broken: StoreError | None = None
        self._run = run
        self._connection = open_to_write(path)
        self._codec = Codec(self._connection)
        self._models: set[str] = set()
        self._samples: list[bytes | bytearray | memoryview] = []
        self._packer = zstd.ZstdCompressor(_LEVEL)
        self._packing = 0
        with closed_if_refused(self._connection):
            newest = "SELECT id, content FROM dictionaries ORDER BY id DESC LIMIT 1"
            if (row := self._connection.execute(newest).fetchone()) is not None:
                with suppress(zstd.ZstdError, ValueError):  # a damaged one is done without
                    self._pack_with(*row)
            self._claims = Claims(self._connection) if is_shared else None
            self._answers = None if folder is None else AnswerKeys(folder)
        self._flying: set[bytes] = set()
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
        """Hand something over to be written."""
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
        """Wait until everything handed over so far is written."""
        flush = Flush(sync)
        self.put(flush)
        self._hand_over()
        flush.done.wait()
        self._refuse_if_broken()

    def close(self) -> None:
        """Write what waits and end; may be called twice."""
        if self._thread.is_alive():
            self._hand_over()
            self._queue.put(None)
            self._thread.join()
            if self._answers is not None:
                self._answers.close()
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
        if not self._taken:
            beat = None if self._claims is None or self.broken is not None else self._claims.seconds_to_beat
            waits = [each for each in (beat, self._seconds_to_sync) if each is not None]
            try:
                self._take(self._queue.get(timeout=min(waits, default=None)))
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
        saves = [item for item in batch if isinstance(item, Save)]
        uses = {item.unit: item.uses for item in batch if isinstance(item, SaveUses)}
        self._connection.execute("BEGIN IMMEDIATE")
        self._insert_calls(saves)
        attempts = [item for item in batch if isinstance(item, Attempt)]
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
        self._move_flights(batch)
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
        if self._claims is not None:
            self._claims.release([item.key for item in batch if isinstance(item, Save | Release)])
            for item in batch:
                if isinstance(item, Claim):
                    item.standing = self._claims.claim(item.key, anew=item.anew)
        self._connection.execute("COMMIT")
        if self._answers is not None:  # no sooner: what stands there must be in the store
            self._answers.add(use.key for used in uses.values() for use in used if use.is_answered)
        self._unsynced += len(saves)
        if self._sync_at is None:
            self._sync_at = time.monotonic() + _SYNC_SECONDS
        if len(self._samples) >= _SAMPLES:
            self._make_dictionary()

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
        self._connection.execute(f"PRAGMA busy_timeout = {_SYNC_WAIT}")
        (is_held, _, _) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        self._connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
        log = self.path.with_name(f"{self.path.name}-wal")
        if is_held and log.is_file():
            with log.open("r+b") as file:
                os.fsync(file.fileno())
        self._unsynced, self._sync_at = 0, None

    def _answer(self, batch: list[Item]) -> None:
        saves: dict[asyncio.AbstractEventLoop, list[Save | Claim | Departure]] = {}
        for item in batch:
            if isinstance(item, Flush):
                item.done.set()
            elif isinstance(item, Save | Claim | Departure):
                saves.setdefault(item.future.get_loop(), []).append(item)
        for loop, group in saves.items():
            with suppress(RuntimeError):  # a loop that is closed waits for nothing
                loop.call_soon_threadsafe(_resolve, group, self.broken)

    # Rows...

    def _insert_calls(self, saves: Sequence[Save]) -> None:
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
                item.stored = self._codec.find_reply(item.key) or self._replace(row, item.reply)

    def _row(self, item: Save) -> _Row:
        identity = orjson.dumps(item.request.model, option=orjson.OPT_SORT_KEYS).decode()
        if identity not in self._models:
            self._connection.execute("INSERT OR IGNORE INTO models (identity) VALUES (?)", (identity,))
            self._models.add(identity)
        request, reply = request_to_json(item.request), reply_to_json(item.reply)
        if self._packing == 0:
            self._samples += [request, reply]
        pack = partial(self._packer.compress, mode=self._packer.FLUSH_FRAME)
        row = (self._packing, pack(request), pack(reply))
        return item.key, *row, checksum(item.key, *row)

    def _replace(self, values: _Row, reply: Reply) -> Reply:
        self._connection.execute(
            "INSERT OR REPLACE INTO calls (key, codec, request, reply, checksum) VALUES (?, ?, ?, ?, ?)",
            values,
        )
        return reply

    def _move_flights(self, batch: Sequence[Item]) -> None:
        landed: set[bytes] = set()
        departed: dict[bytes, Attempt] = {}
        for item in batch:
            if isinstance(item, Departure):
                departed[item.attempt.key] = item.attempt
            elif isinstance(item, Attempt | Release):
                landed.add(item.key)
                departed.pop(item.key, None)
        if landed := landed & self._flying:
            self._flying -= landed
            self._connection.executemany(
                "DELETE FROM flights WHERE run = ? AND key = ?", [(self._run, key) for key in landed]
            )
        self._connection.executemany(
            "INSERT OR REPLACE INTO flights VALUES (?, ?, ?, ?, ?, ?)",
            [
                (self._run, a.key, a.time, a.model, a.most.prompt, a.most.completion)
                for a in departed.values()
            ],
        )
        self._flying |= departed.keys()

    # The dictionary...

    def _make_dictionary(self) -> None:
        """Train one on the first calls: prompts repeat themselves, so that later rows shrink to a third."""
        samples, self._samples = self._samples, []
        try:
            content = zstd.train_dict(samples, _DICTIONARY_BYTES).dict_content
        except (zstd.ZstdError, ValueError):
            return  # too little to learn from: rows stay as they are
        done = self._connection.execute("INSERT INTO dictionaries (content) VALUES (?)", (content,))
        self._pack_with(done.lastrowid or 0, content)

    def _pack_with(self, dictionary: int, content: bytes) -> None:
        self._packer = zstd.ZstdCompressor(_LEVEL, zstd_dict=zstd.ZstdDict(content).as_digested_dict)
        self._packing = dictionary


def _resolve(group: list[Save | Claim | Departure], broken: StoreError | None) -> None:
    for item in group:
        if item.future.done():
            continue
        if broken is not None:
            item.future.set_exception(StoreError(str(broken)))
        elif isinstance(item, Claim):
            item.future.set_result(item.standing)
        elif isinstance(item, Departure):
            item.future.set_result(None)
        elif item.stored is not None:
            item.future.set_result(item.stored)
        else:
            item.future.set_exception(StoreError("the call was not written"))
