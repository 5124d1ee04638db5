r"""Bytes of a file to text and JSON and back, strictly: what every format stands on.

Reading: UTF-8 or an error with line and byte; a byte-order mark is taken off with a warning; lines end at
"\n" and nowhere else, so that U+2028, \x85 or a carriage return inside a line stay text.
`Fields` checks the keys and types of a JSON object.
Writing: whole or not at all.
"""

from __future__ import annotations

import gc
import gzip
import hashlib
import io
import json
import math
import os
import secrets
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from importlib.resources import files
from itertools import filterfalse
from pathlib import Path
from sys import intern
from typing import Any, BinaryIO, NoReturn

import orjson

from adjudge.core.language import canonical_lp
from adjudge.core.names import as_name, by_name
from adjudge.core.protocol import is_number
from adjudge.errors import DataError, FolderWarning, UsageError, warn

LINES_WANTED = "; one JSON object a line is wanted: `jq -c .[] FILE`"
_BOM = "\ufeff"
_BLANKS = b" \t\r\n"  # of JSON
_GZIP = b"\x1f\x8b"
_PART = 1 << 20
_SMALL = 1 << 16  # bytes that are read at a time of a file that does not say its size
_HARMLESS = 16 << 20  # bytes that may be unpacked, however small the file
_MOST_PACKED = 200  # what gzip does to the dullest text is some 100; a bomb has 1000
_LONGEST_LINE = 16 << 20  # bytes; no computer's memory was made for more
_ENDLESS = f"a line of {_LONGEST_LINE >> 20} MB or more, which is no record"
_LARGEST = 256 << 20  # bytes of a file that is read at once; what is made of it may take some times as much


def read_bytes(path: Path) -> bytes:
    """Read a whole file; `-` is standard input, and what is gzipped is unpacked."""
    try:
        raw = _limited(sys.stdin.buffer, path, _PART) if str(path) == "-" else _whole(path)
        return _unpacked(raw, path, _LARGEST)
    except OSError as error:
        raise DataError(f"cannot read the file: {error.strerror}", path=path) from error


def _whole(path: Path) -> bytes:
    with path.open("rb") as file:
        if (size := os.fstat(file.fileno()).st_size) > _LARGEST:
            raise _too_large(path)
        return _limited(file, path, max(size + 1, _SMALL))


def _limited(file: BinaryIO, path: Path, most: int) -> bytes:
    parts, size = [], 0
    while part := file.read(most):
        parts.append(part)
        size += len(part)
        if size > _LARGEST:
            raise _too_large(path)
    return b"".join(parts)


def _too_large(path: Path) -> DataError:
    return DataError(f"more than {_LARGEST >> 20} MB, which would be read at once: split the file", path=path)


def read_head(path: Path, size: int) -> bytes:
    """Read how a file begins, unpacked where it is gzipped; standard input can still be read whole."""
    if str(path) == "-":
        raw = read_bytes(path)
        sys.stdin = io.TextIOWrapper(io.BytesIO(raw))
        return raw[:size]
    try:
        with path.open("rb") as file:
            is_packed = file.peek(len(_GZIP)).startswith(_GZIP)
            return (gzip.GzipFile(fileobj=file) if is_packed else file).read(size)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"damaged gzip file: {error}", path=path) from error
    except OSError as error:
        raise DataError(f"cannot read the file: {error.strerror}", path=path) from error


def _unpacked(raw: bytes, path: Path, most: float = math.inf) -> bytes:
    """What was gzipped, or the bytes as they are.

    `raw`: bytes of a file. `most`: bytes that it may unpack to.
    """
    if not raw.startswith(_GZIP):
        return raw
    packed, parts, size = io.BytesIO(raw), [], 0
    try:
        with gzip.GzipFile(fileobj=packed) as stream:
            while part := stream.read(_PART):
                parts.append(part)
                size += len(part)
                if size > _HARMLESS and size > _MOST_PACKED * packed.tell():
                    raise DataError(
                        f"a gzip file that unpacks to more than {_MOST_PACKED} times its size", path=path
                    )
                if size > most:
                    raise _too_large(path)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"damaged gzip file: {error}", path=path) from error
    return b"".join(parts)


def find_files(folder: Path, pattern: str) -> list[Path]:
    """Find the files of a folder from somebody else, in order of their names.

    `pattern`: of the files in it, such as `references/*.txt`; a name without wildcards is one.
    """
    files = [file for file in sorted(folder.glob(pattern)) if file.is_file()]
    for home in {file.parent for file in files}:
        inside(folder, home)
    return [inside(folder, file) if file.is_symlink() else file for file in files]


def inside(folder: Path, file: Path) -> Path:
    """Return a file of a folder from somebody else, which must bring no file of this machine to a model."""
    real = file.resolve()
    if not real.is_relative_to(folder.resolve()):
        raise DataError(
            f"a symbolic link that leads out of {str(folder)!r}, to {str(real)!r}, which is not read: put a "
            "copy of that file in its place if it belongs there",
            path=file,
        )
    return file


def read_text(path: Path, *, keep_mark: bool = False) -> str:
    """Read a whole file as UTF-8."""
    whole = io.BytesIO()
    with _opened(path) as file:
        length = 0
        while part := file.read(_PART):
            whole.write(part)
            length = len(part) - end - 1 if (end := part.rfind(b"\n")) >= 0 else length + len(part)
            if length >= _LONGEST_LINE:
                raise DataError(_ENDLESS, path=path, line=whole.getvalue().count(b"\n") + 1)
    return decode(whole.getvalue(), path, keep_mark=keep_mark)


def read_lines(path: Path, *, keep_mark: bool = False) -> list[str]:
    r"""Read the lines of a file, without their ends.

    The last line may lack its end. Where every line ends in "\r\n" that is the file's line end, and a
    warning says so; a carriage return anywhere else is text.
    """
    lines = read_text(path, keep_mark=keep_mark).split("\n")
    ended, last = lines[:-1], lines[-1]
    if ended and all(line.endswith("\r") for line in ended):
        warn(f"{path} has Windows line ends (CRLF) throughout; the carriage returns are not read as text")
        ended, last = [line[:-1] for line in ended], last.removesuffix("\r")
    return [*ended, last] if last else ended


def read_json_lines(path: Path) -> Iterator[tuple[int, object]]:
    """Read one JSON value a line, with the line's number; lines of nothing but blanks are skipped.

    Values come as their lines are read: a million of them need not stand in memory beside their text.
    """
    for number, line in enumerate(_raw_lines(path), start=1):
        if not line.strip(_BLANKS):
            continue
        try:
            value = orjson.loads(line)
            ours = render_json_line(value)
            # as we write it, but for blanks: so it is strict, and no key stands twice
            if ours == line or ours.translate(None, _BLANKS) == line.translate(None, _BLANKS):
                yield number, value
                continue
        except orjson.JSONDecodeError:
            pass  # read_json says what is wrong with it, if anything is
        text = decode(line, path, first=number).removesuffix("\n")
        if text.strip(" \t\r"):  # a byte-order mark alone is blank, too
            yield number, read_json(text, path=path, line=number)


def _raw_lines(path: Path) -> Iterator[bytes]:
    with _opened(path) as file:
        for number, line in enumerate(iter(partial(file.readline, _LONGEST_LINE), b""), start=1):
            if len(line) == _LONGEST_LINE:
                raise DataError(_ENDLESS, path=path, line=number)
            yield line


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    if str(path) == "-":
        yield io.BytesIO(_unpacked(sys.stdin.buffer.read(), path))
        return
    try:
        with path.open("rb") as file:
            is_packed = file.peek(len(_GZIP)).startswith(_GZIP)
            yield io.BytesIO(_unpacked(file.read(), path)) if is_packed else file
    except OSError as error:
        raise DataError(f"cannot read the file: {error.strerror}", path=path) from error


def read_json_file(path: Path) -> object:
    """Read a file that is one JSON value; see `read_json`."""
    return read_json(decode(read_bytes(path), path), path=path)


def decode(raw: bytes, path: Path, *, first: int = 1, keep_mark: bool = False) -> str:
    """Take bytes for UTF-8."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        line = first + raw.count(b"\n", 0, error.start)
        column = error.start - raw.rfind(b"\n", 0, error.start)
        bad = f"byte {column} of the line is 0x{raw[error.start]:02x}"
        what = (
            "it holds NUL bytes and is no text"
            if b"\0" in raw and raw[:2] not in {b"\xff\xfe", b"\xfe\xff"}  # UTF-16 has NULs, too
            else "convert the file with iconv"
        )
        raise DataError(f"not UTF-8: {bad}; {what}", path=path, line=line) from error
    if first == 1 and text.startswith(_BOM) and not keep_mark:
        warn(f"{path} starts with U+FEFF, a byte-order mark, which is not read as text")
        return text[1:]
    return text


def read_json(text: str, *, path: Path | None = None, line: int | None = None) -> object:
    """Read one JSON value as the standard has it: no NaN, no lone surrogate, no key twice."""
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_integer,
        )
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        place = (
            f"column {error.colno} (one JSON object a line is wanted: `jq -c . FILE`)"
            if line is not None
            else f"line {error.lineno}"
        )
        raise DataError(f"not JSON: {error.msg} at {place}", path=path, line=line) from error
    except UnicodeEncodeError as error:
        raise DataError("not JSON: half a surrogate pair stands alone", path=path, line=line) from error
    except RecursionError as error:
        raise DataError("not JSON: nested too deeply", path=path, line=line) from error
    except ValueError as error:
        raise DataError(f"not JSON: {error}", path=path, line=line) from error
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"key {twice!r} stands twice in one object")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _integer(digits: str) -> int:
    try:
        return int(digits)
    except ValueError as error:
        raise ValueError(f"a number of {len(digits.removeprefix('-')):,} digits is too large") from error


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits} is too large")
    return value


def render_json_line(value: object) -> bytes:
    """A line of a file that holds one JSON value, with its end."""
    try:
        return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # a number of numpy's, or one of more than 64 bits
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


@cache
def program_digest(rooms: tuple[str, ...], packages: tuple[str, ...]) -> bytes:
    """Digest of the part of this program that something comes from."""
    digest = hashlib.sha256(f"{sys.version} {sys.platform}".encode())
    for name in packages:
        digest.update(version(name).encode())
    root = Path(str(files("adjudge")))
    found = (path for room in rooms for path in (root / room).rglob("*"))
    for path in sorted(path for path in found if path.is_file() and path.suffix != ".pyc"):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(path.read_bytes())
    return digest.digest()


def make_parents(path: Path) -> None:
    """Make the folders above a file or a folder that are missing."""
    missing = [*filterfalse(Path.exists, path.parents)]
    path.parent.mkdir(parents=True, exist_ok=True)
    if missing:
        warn(f"new folder {missing[-1]}, for {path}", FolderWarning)


def make_folder(folder: Path) -> None:
    """Make a folder without a word, and those above it as `make_parents` does."""
    make_parents(folder)
    folder.mkdir(exist_ok=True)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    r"""Write lines, each ended by "\n"; the file appears whole or not at all."""
    write_text(path, (line + "\n" for line in lines))


def write_text(path: Path, parts: Iterable[str]) -> None:
    """Write text as UTF-8 in parts; see `write_bytes`."""
    write_bytes(path, map(str.encode, parts))


def write_bytes(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file in parts; it appears whole or not at all, whatever stops us.

    Folders above it are made, see `make_parents`. `-` is standard output. What ends in `.gz` is gzipped,
    without a time stamp, so that equal content makes equal files.
    """
    try:
        if str(path) == "-":
            sys.stdout.buffer.writelines(parts)
            sys.stdout.buffer.flush()
        elif path.suffix == ".gz":
            _replace(path, [gzip.compress(b"".join(parts), mtime=0)])
        else:
            _replace(path, parts)
    except BrokenPipeError:
        raise  # whoever reads has enough, as `head` does: no fault of the file
    except UnicodeEncodeError as error:
        raise DataError(
            "cannot be written as UTF-8: half a surrogate pair stands alone", path=path
        ) from error
    except OSError as error:
        raise DataError(f"cannot write the file: {error.strerror}", path=path) from error


def _replace(path: Path, parts: Iterable[bytes]) -> None:
    make_parents(path)
    new = path.with_name(f".adjudge-{secrets.token_hex(8)}.part")
    try:
        with new.open("xb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


@contextmanager
def uncollected() -> Iterator[None]:
    """Put the collector off: records hold no cycles, and looking for some takes a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@dataclass(frozen=True)
class Fields:
    """One JSON object that is being read, and where it stands."""

    values: Mapping[str, Any]
    what: str
    path: Path | None = None
    line: int | None = None

    def fail(self, message: str) -> NoReturn:
        raise DataError(f"{self.what}: {message}", path=self.path, line=self.line)

    def inner(self, values: Mapping[str, Any], what: str) -> Fields:
        return Fields(values, what, self.path, self.line)

    def has(self, key: str) -> bool:
        """Whether the key is there and not null."""
        return self.values.get(key) is not None

    def text(self, key: str, default: str | None = None) -> str:
        """Text under a key; required where there is no default."""
        value = self.values.get(key, default)
        if value is None and key not in self.values:
            self.fail(f"{key!r} is missing")
        if not isinstance(value, str):
            self.fail(f"{key!r} must be text, got {value!r}")
        return value

    def name(self, key: str, default: str | None = None) -> str:
        """A name, as it is kept; one that is not empty, unless the default is. Kept in memory once."""
        text = self.text(key, default)
        return text if text == default else intern(as_name(text, key, self.path, self.line))

    def by_name(self, key: str) -> dict[str, Any]:
        """Object under a key, with the names of systems as they are kept; empty where absent."""
        return by_name(self.mapping(key), "system", self.path, self.line)

    def lp(self, key: str, default: str | None = None) -> str:
        """Language pair under a key, in canonical form."""
        try:
            return intern(canonical_lp(self.text(key, default)))
        except UsageError as error:
            self.fail(str(error))

    def optional_text(self, key: str) -> str | None:
        """Text under a key, or None where it is null or absent."""
        return self.text(key) if self.has(key) else None

    def number(self, key: str) -> float | None:
        """Finite number under a key, or None where it is null or absent."""
        value = self.values.get(key)
        if value is not None and not is_number(value):
            self.fail(f"{key!r} must be a number, got {value!r}")
        return value

    def numbers(self, key: str) -> tuple[float, ...]:
        """List of finite numbers under a key; empty where absent."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(is_number(item) for item in value):
            self.fail(f"{key!r} must be a list of numbers, got {value!r}")
        return tuple(value)

    def whole(self, key: str) -> int | None:
        """Whole number from 0 under a key, or None where it is null or absent."""
        value = self.values.get(key)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            self.fail(f"{key!r} must be a whole number from 0, got {value!r}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """List of texts under a key; empty where absent."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.fail(f"{key!r} must be a list of texts, got {value!r}")
        return tuple(value)

    def mapping(self, key: str) -> dict[str, Any]:
        """Object under a key; empty where absent."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            self.fail(f"{key!r} must be an object, got {value!r}")
        return value

    def text_mapping(self, key: str) -> dict[str, str]:
        """Object of texts under a key, by names; empty where absent."""
        value = self.by_name(key)
        for name, text in value.items():
            if not isinstance(text, str):
                self.fail(f"{key!r} must hold texts, got {text!r} for {name!r}; leave out what is missing")
        return value


def read_fields(
    value: object, known: frozenset[str], what: str, path: Path | None = None, line: int | None = None
) -> Fields:
    """Take a JSON object whose keys are all known."""
    if not isinstance(value, dict):
        raise DataError(
            f"{what} must be a JSON object, got {value!r:.80}"
            + (LINES_WANTED if isinstance(value, list) else ""),
            path=path,
            line=line,
        )
    fields = Fields(value, what, path, line)
    if unknown := sorted(value.keys() - known):
        fields.fail(f"unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")
    return fields
