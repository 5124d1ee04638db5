"""The records of a session while it goes on, and what of an earlier session's need not be judged again.

A record is made of the program, the settings, the texts and the stored answers, and of nothing else. Where
none of these has changed, a resumed run takes the record that stands there. What is read here is checked byte
for byte, and whatever does not fit is judged again over its stored answers: nothing rests on these files.
"""

from __future__ import annotations

import hashlib
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from adjudge.core.annotation import Failure, Preference, Record
from adjudge.data.records import record_to_line
from adjudge.data.run_dir import RECORDS
from adjudge.errors import StoreError
from adjudge.judges import Repeated
from adjudge.llm.tally import Trail
from adjudge.runs.annotators import Annotator, settings_of

__all__ = ["Entry", "Journal", "Kept", "basis_of"]

_PART: Final = ".records.part"  # of the session that goes on
_OLD: Final = ".records.old"  # of the one before it, while it is read
_ROOMS: Final = (
    "core",
    "data",
    "llm",
    "judges",
    "checks",
    "scoring",
    "runs",
)  # pages and statistics make none
_JUDGES: Final = "adjudge.judges."  # begins the modules of ours
_READERS: Final = ("json-repair", "orjson")  # other people's code that a record depends on


class Entry(NamedTuple):
    """The records of one unit of work, as lines, and what is counted of them.

    Args:
        lines: of the file of records.
        judged: records that are no failures.
        repaired: of them, those whose answer had to be mended.
        inconsistent: of them, verdicts that changed with the order.
        identical: whether it was a pair of one text.
        failures: reason of each failure.
        trail: what was asked.
    """

    lines: bytes
    judged: int
    repaired: int = 0
    inconsistent: int = 0
    identical: bool = False
    failures: tuple[str, ...] = ()
    trail: Trail = Trail()

    @classmethod
    def of(cls, records: Sequence[Record], trail: Trail = Trail()) -> Entry:  # noqa: B008 (frozen)
        """Make one of records.

        Raises:
            UnicodeEncodeError: half a surrogate pair stands alone in one.
        """
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
    """Writes the records of a session, in test-set order, with a mark for each unit.

    Args:
        folder: of the run; what an earlier session left unfinished there has been taken by `Kept`.
        basis: all that the records depend on but the stored answers, as `basis_of` makes it.

    Raises:
        StoreError: there is no room.
    """

    def __init__(self, folder: Path, basis: bytes) -> None:
        self._folder = folder
        with ExitStack() as opened, _room():
            self._records, self._marks = (opened.enter_context(p.open("wb")) for p in _pair(folder, _PART))
            self._marks.write(basis + b"\n")
            self._files = opened.pop_all()

    def write(self, name: str, entry: Entry) -> None:
        """Add one unit.

        Args:
            name: of the unit.
            entry: its records.

        Raises:
            StoreError: there is no room.
        """
        said: list[object] = [len(entry.lines)]
        if entry.is_settled:
            said += [entry.judged, entry.repaired, entry.inconsistent, entry.identical, *entry.trail[:-1]]
        mark = orjson.dumps(said)
        try:  # a context would take longer than the writing
            self._records.write(entry.lines)
            self._marks.write(b"%08x %b\n" % (_checksum(name, entry.lines, mark), mark))
        except OSError as error:
            raise _no_room(error) from error

    def finish(self) -> None:
        """Give the records their name; whole or not at all.

        Raises:
            StoreError: there is no room for the last of them.
        """
        with _room():
            for file in (self._marks, self._records):
                file.flush()
                os.fsync(file.fileno())
            self._files.close()
            _move(self._folder, _PART, RECORDS)
            for path in _pair(self._folder, _OLD):
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """Leave what was not finished to the next session."""
        with suppress(OSError):  # what could not be written is judged again
            self._files.close()


class Kept:
    """Reads what an earlier session recorded, unit after unit.

    Args:
        folder: of the run.
        basis: all that the records depend on now; what was made on another basis is not read.

    Raises:
        StoreError: what is there cannot be put aside.
    """

    def __init__(self, folder: Path, basis: bytes) -> None:
        there = {name: _size(folder, name, basis) for name in (RECORDS, _PART, _OLD)}
        name = max(there, key=lambda name: there[name])
        self._at = 0
        self._is_open = there[name] > 0
        with ExitStack() as opened, _room():
            if self._is_open:
                if name == _PART:
                    _move(folder, name, name := _OLD)
                self._records, self._marks = (opened.enter_context(p.open("rb")) for p in _pair(folder, name))
                self._marks.readline()
            self._files = opened.pop_all()

    def find(self, index: int, name: str) -> Entry | None:
        """What was recorded of a unit; None where it must be judged.

        Units are asked for in the order of the run; one that was passed over is not found any more.

        Args:
            index: of the unit.
            name: of the unit.
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
        """Read one unit on; it counts if it has this name and is settled.

        Raises:
            ValueError: the files end here, do not fit each other, or are damaged.
        """
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
        """Read nothing more."""
        self._is_open = False
        self._files.close()


def basis_of(annotator: Annotator) -> bytes:
    """Digest of all that a record depends on, but for test set, settings and stored answers.

    The program is in it, and files that settings name. A run directory refuses another test set and other
    settings.

    Args:
        annotator: who judges. Nothing is kept of one that is no judge of ours: its program is not known, or
            it gathers something on the way.
    """
    judge = annotator.judge if isinstance(annotator, Repeated) else annotator
    if not type(judge).__module__.startswith(_JUDGES):
        return os.urandom(16).hex().encode()
    digest = hashlib.sha256(_program())
    for value in settings_of(judge).values():
        if isinstance(value, str) and value and Path(value).is_file():
            digest.update(Path(value).read_bytes())
    return digest.hexdigest().encode()


@cache
def _program() -> bytes:
    """Digest of the rooms that a record comes from, and of what reads answers for us."""
    digest = hashlib.sha256(sys.version.encode())
    for name in _READERS:
        digest.update(version(name).encode())
    root = Path(str(files("adjudge")))
    found = (path for room in _ROOMS for path in (root / room).rglob("*"))
    for path in sorted(path for path in found if path.is_file() and path.suffix != ".pyc"):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(path.read_bytes())
    return digest.digest()


def _pair(folder: Path, name: str) -> tuple[Path, Path]:
    """A file of records, and that of its marks: a line for each unit, with what to check and to count."""
    return folder / name, folder / f".{name.removeprefix('.')}.marks"


def _move(folder: Path, name: str, new: str) -> None:
    for here, there in zip(_pair(folder, name), _pair(folder, new), strict=True):
        here.replace(there)


def _size(folder: Path, name: str, basis: bytes) -> int:
    """Bytes of the marks of a file of records that was made on this basis; 0 without one of the two."""
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
