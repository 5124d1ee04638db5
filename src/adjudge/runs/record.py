"""The directory of a run: made, locked, compared with what is asked for now, and kept up to date."""

from __future__ import annotations

import datetime as dt
import secrets
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import Final

from adjudge.core.run import RunInfo
from adjudge.core.segment import Segment, TestSet
from adjudge.core.wording import count
from adjudge.data.jsonl import read_test_set, write_test_set
from adjudge.data.run_dir import INFO, SHARDS, TEST_SET, read_run_info, write_run_info
from adjudge.errors import DataError, StoreError, UsageError

__all__ = ["RunDirectory", "describe_test_set", "differences", "now", "refuse_foreign"]

_LOCK: Final = ".lock"
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
        "shard",
    }
)
"""Settings that no record depends on: they may differ when a run is resumed."""
_OWN: Final = ("judge ", "metric ")  # begins the name of an annotator's own setting


class RunDirectory:
    """A run directory that this process alone writes."""

    def __init__(self, path: Path) -> None:
        """Lock it; it is made if there is none.

        Raises:
            UsageError: it holds something else.
            StoreError: another process writes it.
        """
        self.path = path
        refuse_foreign(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot make the run directory {path}: {error.strerror}") from error
        self._lock = _lock(path)
        self.before: RunInfo | None = None  # as the session before has left it

    def open(self, info: RunInfo, test_set: TestSet) -> RunInfo:
        """Start the run, or take it up again with the secret and the start time that it has.

        Raises:
            UsageError: it was made with other settings or another test set; says what differs.
        """
        if not (self.path / INFO).is_file():
            info = replace(info, secret=secrets.token_hex(16), times={"started": now()})
            write_test_set(self.path / TEST_SET, test_set)
            write_run_info(self.path, info)
            return info
        self.before = before = read_run_info(self.path)
        if found := differences(before, info):
            what = "; ".join([*found, *_changed_texts(self.path / TEST_SET, info, before, test_set)])
            raise UsageError(
                f"{self.path} holds another run: {what}. Choose another --out, or the same settings"
            )
        return replace(info, secret=before.secret, times={"started": before.times.get("started", now())})

    def write(self, info: RunInfo) -> None:
        """Write `run.json` anew."""
        write_run_info(self.path, info)

    def close(self) -> None:
        """Let others write it."""
        self._lock.close()  # the file stays: who removed it could remove the lock of the next process


def refuse_foreign(path: Path) -> None:
    """Refuse what is no run directory and holds something else.

    Raises:
        UsageError: as said.
        StoreError: it cannot be read.
    """
    if path.is_file():
        raise UsageError(f"--out must name a folder, {path} is a file")
    if path.is_dir() and not (path / INFO).is_file():
        try:
            others = {entry.name for entry in path.iterdir()} - {_LOCK, TEST_SET, SHARDS}
        except OSError as error:
            raise StoreError(f"cannot read the run directory {path}: {error.strerror}") from error
        if others:
            raise UsageError(f"--out {path} is no run directory and is not empty; choose another")


def _lock(path: Path) -> sqlite3.Connection:
    """Hold a lock that ends with this process, whatever ends it; SQLite has one on every system."""
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
    old, new = _said(before), _said(after)
    changed = [key for key in dict.fromkeys((*old, *new)) if old.get(key) != new.get(key)]
    if before.annotator != after.annotator:  # each has settings of its own
        changed = [key for key in changed if not key.startswith(_OWN)]
    pairs = [(key, *_shown(str(old.get(key)), str(new.get(key)))) for key in changed]
    return [f"{key} was {was}, now {now}" for key, was, now in pairs]


def _said(info: RunInfo) -> dict[str, object]:
    """All that must not differ, by name; a judge's own settings each under theirs, such as `judge steps`."""
    found: dict[str, object] = {"annotator": info.annotator, "test set": _digest(info)}
    for key, value in info.settings.items():
        if key in _FREE:
            continue
        inner = value if isinstance(value, Mapping) else None
        found |= {key: value} if inner is None else {f"{key} {name}": v for name, v in inner.items()}
    return {name: _plain(value) for name, value in found.items()}


def _changed_texts(path: Path, after: RunInfo, before: RunInfo, now: TestSet) -> Iterator[str]:
    """Name the first segment in which the texts of a run and those of a test set differ."""
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
    """The first text of a segment that was changed, added or removed."""
    if old.source != new.source:
        return "its source"
    for what, was, now in (
        ("translation", old.translations, new.translations),
        ("reference", old.references, new.references),
    ):
        for name in dict.fromkeys((*was, *now)):
            if was.get(name) != now.get(name):
                return f"its {what} by {name}"
    return "its document, domain or notes"


def _digest(info: RunInfo) -> str:
    """Enough of the test set's digest to tell two apart."""
    return str(info.test_set.get("digest", ""))[:12]


def _plain(value: object) -> object:
    """As JSON gives it back."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def _shown(old: str, new: str) -> tuple[str, str]:
    """Two texts that differ, or of long ones the part in which they begin to."""
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
        "systems": list(dict.fromkeys(name for names in systems.values() for name in names)),
        "segments": len(test_set),
    }


def now() -> str:
    """The time as `run.json` has it."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
