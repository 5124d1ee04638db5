"""The directory of a run: made, locked, compared with what is asked for now, and kept up to date.

`RunDirectory` is the directory that one process alone writes. A `Journal` writes the records of a session
while it goes on, `Kept` reads what of an earlier session need not be judged again. `find_lost` finds answers
that records rest on and the call store does not hold: they would be asked for and paid again.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import secrets
import shutil
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import chain, takewhile, zip_longest
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from adjudge.core.record import Failure, Preference, Record
from adjudge.core.scores import RunInfo
from adjudge.core.segment import CRITERIA, Segment, TestSet
from adjudge.core.wording import count
from adjudge.errors import DataError, StoreError, UsageError, warn
from adjudge.judges._samples import Sampled
from adjudge.llm.asking import Trail
from adjudge.runs.units import Annotator, settings_of
from adjudge.store.call_file import STORE, run_name
from adjudge.store.calls import CallStore, lacking, take_calls
from adjudge.store.files import make_parents, program_digest
from adjudge.store.json_lines import read_test_set, record_to_line, write_test_set
from adjudge.store.run_directory import (
    ANSWERS,
    INFO,
    RECORDS,
    SHARDS,
    TEST_SET,
    AnswerKeys,
    digest_of_records,
    is_changed,
    read_answer_keys,
    read_run_info,
    write_answer_keys,
    write_run_info,
)

PART: Final = ".records.part"
"""Records of the session that goes on, as they are written."""
_OLD: Final = ".records.old"  # of the one before it, while it is read
_ROOMS: Final = (
    *("core", "stats", "store", "checks", "formats", "judges", "llm", "analysis", "runs"),
)  # pages make no record
_JUDGES: Final = "adjudge.judges."  # begins the modules of ours
_READERS: Final = ("orjson",)  # other people's code that a record depends on


class Entry(NamedTuple):
    """The records of one unit of work, as lines, and what is counted of them."""

    lines: bytes  # of the file of records
    judged: int  # records that are no failures
    repaired: int = 0  # of them, those whose answer had to be mended
    inconsistent: int = 0  # of them, verdicts that changed with the order
    identical: bool = False  # whether it was a pair of one text
    failures: tuple[str, ...] = ()
    trail: Trail = Trail()

    @classmethod
    def of(cls, records: Sequence[Record], trail: Trail = Trail()) -> Entry:  # noqa: B008 (frozen)
        judged = [record for record in records if not isinstance(record, Failure)]
        return cls(
            lines=b"".join(map(record_to_line, records)),
            judged=len(judged),
            repaired=sum("repaired" in record.flags for record in judged),
            inconsistent=sum("position_inconsistent" in record.flags for record in judged),
            identical=any("identical" in r.flags for r in judged if isinstance(r, Preference)),
            failures=tuple([record.reason for record in records if isinstance(record, Failure)]),
            trail=trail,
        )

    @property
    def is_settled(self) -> bool:
        """Whether asking again could change nothing."""
        return not self.failures and not self.trail.unfound


class Journal:
    """Writes the records of a session, in test-set order, with a mark for each unit."""

    def __init__(self, folder: Path, basis: bytes) -> None:
        self._folder = folder
        records, marks = _pair(folder, PART)
        with ExitStack() as opened, _room():
            self._records = opened.enter_context(records.open("wb"))
            self._marks = opened.enter_context(marks.open("wb"))
            self._marks.write(basis + b"\n")
            self._files = opened.pop_all()

    def write(self, name: str, entry: Entry) -> None:
        """Add one unit."""
        said: list[object] = [len(entry.lines)]
        if entry.is_settled:
            said += [entry.judged, entry.repaired, entry.inconsistent, entry.identical, *entry.trail[:-1]]
        mark = orjson.dumps(said)
        try:  # a context would take longer than the writing
            self._records.write(entry.lines)
            self._marks.write(b"%08x %b\n" % (_checksum(name, entry.lines, mark), mark))
        except OSError as error:
            raise _no_room(error) from error

    def flush(self) -> None:
        with _room():
            self._records.flush()
            self._marks.flush()

    def finish(self) -> None:
        """Give the records their name; whole or not at all."""
        with _room():
            for file in (self._marks, self._records):
                file.flush()
                os.fsync(file.fileno())
            self._files.close()
            _move(self._folder, PART, RECORDS)
            for path in _pair(self._folder, _OLD):
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """Leave what was not finished to the next session."""
        with suppress(OSError):  # what could not be written is judged again
            self._files.close()


class Kept:
    """Reads what an earlier session recorded, unit after unit."""

    def __init__(self, folder: Path, basis: bytes) -> None:
        size = partial(_size, folder, basis)
        name = max((RECORDS, PART, _OLD), key=size)
        self._at = 0
        self._is_open = size(name) > 0
        with ExitStack() as opened, _room():
            if self._is_open:
                if name == PART:
                    _move(folder, name, name := _OLD)
                self._records, self._marks = (opened.enter_context(p.open("rb")) for p in _pair(folder, name))
                self._marks.readline()
            self._files = opened.pop_all()

    def find(self, index: int, name: str) -> Entry | None:
        """What was recorded of a unit; None where it must be judged.

        Units are asked for in the order of the run; one that was passed over is not found any more.
        """
        found = None
        while self._is_open and self._at <= index:
            try:
                found = self._next(name if self._at == index else None)
            except (ValueError, TypeError, OSError):  # it ends here, or is damaged
                self.close()
            self._at += 1
        return found

    def _next(self, name: str | None) -> Entry | None:
        checksum, _, mark = self._marks.readline().partition(b" ")
        length, *said = orjson.loads(mark)
        lines = self._records.read(length)
        if name is None:
            return None
        if _checksum(name, lines, mark.removesuffix(b"\n")) != int(checksum, 16):
            raise ValueError
        if not said:
            return None
        judged, repaired, inconsistent, identical, calls, answered, roles, served = said
        trail = Trail(calls, answered, tuple(roles), tuple(served))
        return Entry(lines, judged, repaired, inconsistent, identical, (), trail)

    def close(self) -> None:
        self._is_open = False
        self._files.close()


def basis_of(annotator: Annotator) -> bytes:
    """Digest of all that a record depends on, but for test set, settings and stored answers.

    The program is in it, and files that settings name. A run directory refuses another test set and other
    settings.
    """
    judge = annotator.judge if isinstance(annotator, Sampled) else annotator
    if not type(judge).__module__.startswith(_JUDGES):
        return os.urandom(16).hex().encode()
    digest = hashlib.sha256(program_digest(_ROOMS, _READERS))
    for value in settings_of(judge).values():
        if isinstance(value, str) and value and Path(value).is_file():
            digest.update(Path(value).read_bytes())
    return digest.hexdigest().encode()


def _pair(folder: Path, name: str) -> tuple[Path, Path]:
    return folder / name, folder / f".{name.removeprefix('.')}.marks"


def _move(folder: Path, name: str, new: str) -> None:
    for here, there in zip(_pair(folder, name), _pair(folder, new), strict=True):
        here.replace(there)


def _size(folder: Path, basis: bytes, name: str) -> int:
    records, marks = _pair(folder, name)
    try:
        with marks.open("rb") as file:
            is_ours = records.is_file() and file.readline() == basis + b"\n"
            return os.fstat(file.fileno()).st_size if is_ours else 0
    except OSError:
        return 0


def _checksum(name: str, lines: bytes, mark: bytes) -> int:
    return zlib.crc32(mark, zlib.crc32(lines, zlib.crc32(name.encode())))


@contextmanager
def _room() -> Iterator[None]:
    """Say what to do where records cannot be kept."""
    try:
        yield
    except OSError as error:
        raise _no_room(error) from error


def _no_room(error: OSError) -> StoreError:
    return StoreError(f"cannot keep the records: {error.strerror}; make room and run it again")


def find_lost(folder: Path, stores: Sequence[Path]) -> frozenset[bytes]:
    """Find the keys of answers that a run has had and its stores do not hold."""
    keys: Iterable[bytes] = read_answer_keys(folder) if (folder / ANSWERS).is_file() else ()
    for store in stores:
        keys = lacking(store, keys)
    return frozenset(keys)


def keep_answers(folder: Path, lost: frozenset[bytes]) -> None:
    """Have a file with the keys of what the run has had answered, without those that are lost."""
    if lost:
        write_answer_keys(folder, dict.fromkeys(key for key in read_answer_keys(folder) if key not in lost))


_LOCK: Final = ".lock"
_TAKEN: Final = ".merged"  # shards that are being removed
_SHOWN: Final = 60  # characters of a setting
_BEFORE: Final = 20  # of them, before the place where two settings differ
_FREE: Final = frozenset(
    {
        "concurrency",
        "json_schema_used",
        "timeout",
        "store",
        "base_url",
        "budget",
        "budget_tokens",
        "price_date",
    }
)
"""Settings that no record depends on: they may differ when a run is resumed."""
_OWN: Final = ("judge ", "metric ", "code")  # begins what is the annotator's own


class RunDirectory:
    """A run directory that this process alone writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        refuse_foreign(path)
        try:
            make_parents(path)
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot make the run directory {path}: {error.strerror}") from error
        self._lock = _lock(path)
        self.before: RunInfo | None = None  # as the session before has left it

    def open(self, info: RunInfo, test_set: TestSet) -> RunInfo:
        """Start the run, or take it up again with the secret and the start time that it has."""
        if not (self.path / INFO).is_file():
            info = replace(info, secret=secrets.token_hex(16), times={"started": now()})
            write_test_set(self.path / TEST_SET, test_set)
            write_run_info(self.path, info)
            return info
        self.before = before = read_run_info(self.path)
        info = replace(info, secret=before.secret, times={"started": before.times.get("started", now())})
        if not (found := differences(before, info)):
            if is_changed(self.path, before):
                warn(f"{self.path / RECORDS} was changed after the run, and is made anew")
            return info
        paths = [self.path / name for name in (RECORDS, PART, _OLD)]
        if not (any(path.is_file() and path.stat().st_size for path in paths) or shards_in(self.path)):
            write_test_set(self.path / TEST_SET, test_set)  # nothing was judged under what differs
            write_run_info(self.path, info)
            return info
        what = "; ".join([*found, *_changed_texts(self.path / TEST_SET, info, before, test_set)])
        choice = "Choose another --out, or the same settings"
        if any(one.startswith("judge prompts ") for one in found):
            version_then = before.signature.fields.get("version")
            choice += f"; prompts may change with the version, and adjudge {version_then} began this run"
        if any(one.startswith("code ") for one in found):
            kept = f", and --store {self.path / STORE} keeps its answers" if info.kind == "judge" else ""
            choice += f"; the package of {info.annotator} was changed{kept}"
        raise UsageError(f"{self.path} holds another run: {what}. {choice}")

    def write(self, info: RunInfo) -> None:
        write_run_info(self.path, info)

    def finish(self, info: RunInfo) -> RunInfo:
        """Write the last `run.json`, by which a change of the records is noticed from now on."""
        times = {**info.times, "finished": now()}
        info = replace(info, times=times, records_digest=digest_of_records(self.path))
        write_run_info(self.path, info)
        return info

    def close(self) -> None:
        self._lock.close()  # the file stays: who removed it could remove the lock of the next process


def shards_in(out: Path) -> list[Path]:
    """Run directories of the shards that a run on Ray has begun and not joined yet, by number."""
    return sorted(path.parent for path in out.glob(f"{SHARDS}/*/{INFO}"))


def take_in(out: Path, store: Path, run: str) -> None:
    """Take the calls of shards into the store of the whole run, finished or not."""
    shards = shards_in(out)
    for path in shards:
        RunDirectory(path).close()
    for path in shards:
        with closing(RunDirectory(path)):  # one lock at a time: there may be thousands of shards
            if (path / STORE).is_file():
                take_calls(store, run, path / STORE, run_name(read_run_info(path).secret))
            if (path / ANSWERS).is_file():
                with closing(AnswerKeys(out)) as kept:
                    kept.add(read_answer_keys(path))
    if shards:
        with closing(CallStore(store, run)) as whole:
            whole.count_lost()
            whole.sync()  # the shards are removed next


def remove_shards(out: Path) -> None:
    """Remove shards that are no longer needed; half removed they must not look as if some were missing."""
    shutil.rmtree(out / _TAKEN, ignore_errors=True)
    if (out / SHARDS).is_dir():
        (out / SHARDS).rename(out / _TAKEN)
        shutil.rmtree(out / _TAKEN, ignore_errors=True)


def refuse_foreign(path: Path) -> None:
    """Refuse what is no run directory and holds something else."""
    if path.is_file():
        raise UsageError(f"--out must name a folder, {path} is a file")
    if path.is_dir() and not (path / INFO).is_file():
        try:
            others = {entry.name for entry in path.iterdir()} - {_LOCK, TEST_SET}
        except OSError as error:
            raise StoreError(f"cannot read the run directory {path}: {error.strerror}") from error
        if others:
            raise UsageError(f"--out {path} is no run directory and is not empty; choose another")


def _lock(path: Path) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(path / _LOCK, timeout=0, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise StoreError(f"cannot write the run {path}: {error}; may you write there?") from error
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        connection.close()
        what = "another process is working on it" if "locked" in str(error) else str(error)
        raise StoreError(f"cannot write the run {path}: {what}") from error
    return connection


def differences(before: RunInfo, after: RunInfo) -> list[str]:
    """What two runs differ in, as `name: before, now after`."""
    old, new = _fixed_settings(before), _fixed_settings(after)
    changed = [key for key in dict.fromkeys((*old, *new)) if old.get(key) != new.get(key)]
    if before.annotator != after.annotator:  # each has settings of its own
        changed = [key for key in changed if not key.startswith(_OWN)]
    pairs = [(key, *_excerpts(str(old.get(key)), str(new.get(key)))) for key in changed]
    return [f"{key} was {was}, now {now}" for key, was, now in pairs]


def _fixed_settings(info: RunInfo) -> dict[str, object]:
    """All that must not differ, by name; a judge's own settings each under theirs, such as `judge steps`."""
    found: dict[str, object] = {"annotator": info.annotator, "test set": _digest(info)}
    for key, value in info.settings.items():
        if key in _FREE:
            continue
        inner = value if isinstance(value, Mapping) else None
        found |= {key: value} if inner is None else {f"{key} {name}": v for name, v in inner.items()}
    return {name: _plain(value) for name, value in found.items()}


def _changed_texts(path: Path, after: RunInfo, before: RunInfo, now: TestSet) -> Iterator[str]:
    if _digest(after) == _digest(before):
        return
    try:
        judged = read_test_set(path)
    except DataError:
        return
    for line, (old, new) in enumerate(zip_longest(judged, now), start=1):
        if old == new:
            continue
        if old is None or new is None:
            yield f"the run has {count(len(judged), 'segment')}, the test set {count(len(now), 'segment')}"
        elif (old.lp, old.segment) != (new.lp, new.segment):
            yield f"segment {line} was {old.lp} {old.segment!r}, now {new.lp} {new.segment!r}"
        else:
            yield f"segment {line} ({old.lp} {old.segment!r}) differs in {_changed_part(old, new)}"
        return


def _changed_part(old: Segment, new: Segment) -> str:
    if old.source != new.source:
        return "its source"
    for what, was, now in (
        ("translation", old.translations, new.translations),
        ("reference", old.references, new.references),
    ):
        for name in dict.fromkeys((*was, *now)):
            if was.get(name) != now.get(name):
                return f"its {what} by {name}"
    if old.meta.get(CRITERIA) != new.meta.get(CRITERIA):
        return "its criteria"
    return "its document, domain or notes"


def _digest(info: RunInfo) -> str:
    return str(info.test_set.get("digest", ""))[:12]


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def _excerpts(old: str, new: str) -> tuple[str, str]:
    start = 0
    if max(len(old), len(new)) > _SHOWN:
        alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
        start = max(alike - _BEFORE, 0)
    return _cut(old, start), _cut(new, start)


def _cut(text: str, start: int) -> str:
    end = start + _SHOWN
    return ("..." if start else "") + text[start:end] + ("..." if end < len(text) else "")


def describe_test_set(test_set: TestSet, systems: Mapping[str, tuple[str, ...]]) -> dict[str, object]:
    """What `run.json` says of the test set."""
    return {
        "name": test_set.name,
        "digest": test_set.digest,
        "lps": list(test_set.lps),
        "systems": list(dict.fromkeys(chain.from_iterable(systems.values()))),
        "segments": len(test_set),
    }


def now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
