"""Score files of mt-metrics-eval: `SYSTEM<TAB>SCORE` a line, one block of lines a system, `None` for missing.

Four levels, told by the file's name and never guessed from its length: `.seg.score`, `.doc.score`,
`.domain.score` (with the domain as a column before the system) and `.sys.score`. `.avg_seg_scores.tsv` of
WMT's MQM data is another table of segments, which names them. A score is a plain decimal number: `nan`,
`inf`, `1_0` and digits of other scripts are errors. 2.2 million scores take 0.2 s CPU.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, cast, get_args

from adjudge.data.files import decode, read_bytes, read_lines, write_lines
from adjudge.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["AVERAGES", "Level", "ScoreTable", "read_score", "read_score_file", "write_score_file"]

Level = Literal["seg", "doc", "domain", "sys"]

AVERAGES: Final = ".avg_seg_scores.tsv"
"""End of the names of files that name their segments, which those of mt-metrics-eval do not."""

_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")

_UNITS: Final[dict[Level, str]] = {"seg": "segment", "doc": "document", "domain": "domain", "sys": "system"}
_SHOWN: Final = 80  # characters of a line that is none

_OTHER_JSON: Final = (b"u", b"f", b'"', b"[", b"{")
"""Bytes of JSON values that are no numbers: null and true, false, text, arrays, objects."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreTable:
    """The numbers of one file.

    Args:
        level: what one number is about.
        systems: in file order.
        units: ids of segments or documents (line numbers from 1 where the file has no ids), names of domains;
            one empty name at system level.
        values: systems × units; NaN where the file says `None`.
    """

    level: Level
    systems: tuple[str, ...]
    units: tuple[str, ...]
    values: NDArray[np.float64]


def read_score_file(path: Path | str, *, level: Level | None = None, units: int | None = None) -> ScoreTable:
    """Read a score file.

    Args:
        path: the file.
        level: of its scores; taken from the file's name if left out.
        units: how many segments, documents or domains every system must have.

    Raises:
        DataError: a line is no score, or systems have different numbers of scores; says where.
    """
    path = Path(path)
    if path.name.endswith(AVERAGES):
        return _check_units(_read_averages(path), units, path)
    level = _level(path) if level is None else level
    raw = read_bytes(path)
    if not raw.strip():
        raise DataError("the score file is empty", path=path)
    if level == "domain":
        table = _tabulate(_read_rows(raw, path, ("domain", "system", "score")), level, path)
    else:
        blocks = _read_blocks(raw) or _collect(_read_rows(raw, path, ("system", "score")))
        table = _stack(blocks, level, path)
    return _check_units(table, units, path)


def _check_units(table: ScoreTable, units: int | None, path: Path) -> ScoreTable:
    if units is not None and len(table.units) != units:
        each = _UNITS[table.level]
        count = f"{len(table.units)} scores a system, one for each {each}"
        raise DataError(f"{count}, where the test set has {units} {each}s", path=path)
    return table


def _level(path: Path) -> Level:
    parts = path.name.removesuffix(".gz").split(".")
    if len(parts) >= 2 and parts[-1] == "score" and parts[-2] in get_args(Level):
        return cast("Level", parts[-2])
    names = ", ".join([*(f".{level}.score" for level in get_args(Level)), AVERAGES])
    raise DataError(f"the level of a score file is told by its name: {names}", path=path)


# The fast way: blocks whose numbers are JSON numbers...


def _read_blocks(raw: bytes) -> dict[str, NDArray[np.float64]] | None:
    """Read one block a system, or nothing where any line is not just `SYSTEM<TAB>NUMBER`."""
    import numpy as np
    import orjson

    blocks: dict[str, NDArray[np.float64]] = {}
    start, data = 0, raw.removesuffix(b"\n")
    if data.startswith(codecs.BOM_UTF8):
        return None
    while start < len(data):
        key = data[start : data.find(b"\t", start) + 1]
        end = _end_of_block(data, start, key)
        numbers = data[start + len(key) : end].replace(b"\n" + key, b",")
        if any(other in numbers for other in _OTHER_JSON):
            return None
        try:
            name = key[:-1].decode()
            values = orjson.loads(b"[" + numbers.replace(b"None", b"null") + b"]")
            block = np.array(values, dtype=np.float64)
        except (ValueError, TypeError):
            return None
        if name in blocks or block.shape != (data.count(b"\n", start, end) + 1,) or not name or "\n" in name:
            return None
        blocks[name] = block
        start = end + 1
    return blocks


def _end_of_block(data: bytes, start: int, key: bytes) -> int:
    """Where the lines of a system end, by bisection; if they do not stand together, no block."""
    low, high = start, len(data)
    while low < high:
        line = data.find(b"\n", (low + high) // 2, high) + 1
        if line and data.startswith(key, line):
            low = line
        else:
            high = (low + high) // 2
    end = data.find(b"\n", low)
    return len(data) if end < 0 else end


# The slow way, which knows what is wrong with which line...


def _read_rows(raw: bytes, path: Path, columns: tuple[str, ...]) -> Iterator[tuple[list[str], float]]:
    """Read the names and the number of every line."""
    text = decode(raw, path).removesuffix("\n")
    for number, line in enumerate(text.split("\n") if text else [], start=1):
        fields = line.removesuffix("\r").split("\t")
        if len(fields) != len(columns) or not all(map(str.strip, fields)):
            wanted = "<TAB>".join(columns).upper()
            message = f"wanted {wanted}, with a tab between, got {line[:_SHOWN]!r}"
            raise DataError(message, path=path, line=number)
        yield fields[:-1], read_score(fields[-1].strip(" "), path, number)


def read_score(text: str, path: Path, line: int) -> float:
    """Read a number of a strict decimal spelling; NaN for `None`.

    Raises:
        DataError: it is none, or not finite; says where.
    """
    if text == "None":
        return float("nan")
    if not _NUMBER.fullmatch(text) or abs(value := float(text)) == float("inf"):
        what = f"a score is a plain finite number or None, got {text[:_SHOWN]!r}"
        raise DataError(what, path=path, line=line)
    return value


def _collect(rows: Iterator[tuple[list[str], float]]) -> dict[str, NDArray[np.float64]]:
    import numpy as np

    found: dict[str, list[float]] = {}
    for (system,), value in rows:
        found.setdefault(system, []).append(value)
    return {system: np.array(values) for system, values in found.items()}


def _stack(blocks: dict[str, NDArray[np.float64]], level: Level, path: Path) -> ScoreTable:
    import numpy as np

    (first, one), *others = blocks.items()
    for system, values in others:
        if len(values) != len(one):
            counts = f"{system!r} has {len(values)} scores, {first!r} has {len(one)}"
            raise DataError(f"{counts}; every system needs one for each {_UNITS[level]}", path=path)
    if level == "sys" and len(one) != 1:
        raise DataError(f"{first!r} has {len(one)} scores; a system has one at system level", path=path)
    units = ("",) if level == "sys" else tuple(map(str, range(1, len(one) + 1)))
    return ScoreTable(level=level, systems=tuple(blocks), units=units, values=np.stack(list(blocks.values())))


def _tabulate(rows: Iterator[tuple[list[str], float]], level: Level, path: Path) -> ScoreTable:
    """Make a table of rows that name unit and system."""
    import numpy as np

    cells: dict[tuple[str, str], float] = {}
    for (unit, system), value in rows:
        if (system, unit) in cells:
            raise DataError(f"{system!r} has two scores for {unit!r}", path=path)
        cells[system, unit] = value
    systems, units = (tuple(dict.fromkeys(key[axis] for key in cells)) for axis in (0, 1))
    if len(cells) != len(systems) * len(units):
        raise DataError(
            f"{len(cells)} scores for {len(systems)} systems and {len(units)} {_UNITS[level]}s; every system "
            "needs one each, None where there is none",
            path=path,
        )
    values = np.array([[cells[system, unit] for unit in units] for system in systems])
    return ScoreTable(level=level, systems=systems, units=units, values=values)


def _read_averages(path: Path) -> ScoreTable:
    """Read system, score, segment id, blanks or tabs between: negated penalties, 0 is best."""
    heading, *lines = read_lines(path) or [""]
    if heading.split()[:1] != ["system"]:
        what = f"wanted the heading 'system mqm_avg_score seg_id', got {heading[:_SHOWN]!r}"
        raise DataError(what, path=path, line=1)
    if not lines:
        raise DataError("the file has no score", path=path)
    return _tabulate(_read_average_rows(lines, path), "seg", path)


def _read_average_rows(lines: Sequence[str], path: Path) -> Iterator[tuple[list[str], float]]:
    for number, line in enumerate(lines, start=2):
        fields = line.split()
        if len(fields) != 3:
            what = f"wanted system, score and segment, got {line[:_SHOWN]!r}"
            raise DataError(what, path=path, line=number)
        yield [fields[2], fields[0]], read_score(fields[1], path, number)


def write_score_file(path: Path | str, table: ScoreTable) -> None:
    """Write a score file; `None` for NaN.

    Raises:
        DataError: a name with white space in it, which no reader would get back.
    """
    path = Path(path)
    for name in (*table.systems, *(table.units if table.level == "domain" else ())):
        if len(name.split()) != 1 or name != name.strip():
            raise DataError(f"a name in a score file has no white space, got {name!r}", path=path)
    write_lines(path, _render_rows(table))


def _render_rows(table: ScoreTable) -> Iterator[str]:
    if table.level == "domain":
        for column, unit in enumerate(table.units):
            for row, system in enumerate(table.systems):
                yield f"{unit}\t{system}\t{_render_score(float(table.values[row, column]))}"
    else:
        for system, values in zip(table.systems, table.values.tolist(), strict=True):
            for value in values:
                yield f"{system}\t{_render_score(value)}"


def _render_score(value: float) -> str:
    if abs(value) == float("inf"):
        raise DataError("an infinite score cannot be written")
    return "None" if value != value else repr(value)  # noqa: PLR0124 (NaN)
