"""Scores as other programs write them: COMET's `--to_json`, a table with a column `score`, one number a line.

None of them says its language pair, unless the table has a column `lp`; it is given, or told by the file's
place as that of a `.seg.score`. A score is a plain decimal number; an empty cell and `None` are no score, and
whatever else stands there is an error.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from adjudge.core.annotation import Annotation
from adjudge.core.language import canonical_lp
from adjudge.core.segment import TestSet
from adjudge.data.files import read_json, read_text
from adjudge.data.score_files import read_score
from adjudge.errors import DataError, UsageError

__all__ = ["FORMS", "PlainScores", "is_number", "is_score_table", "name_and_lp", "read_plain_scores"]

FORMS: Final = frozenset({"comet", "score-table", "score-lines"})

_COMET: Final = "COMET"
_OF_LINES: Final = "scores"
"""Annotator of numbers alone, so that files of two systems are compared as scores of one metric."""

_COLUMNS: Final[Mapping[str, str]] = {
    "system": "system",
    "score": "score",
    "segment": "segment",
    "segment_id": "segment",
    "seg_id": "segment",
    "document": "document",
    "doc_id": "document",
    "lp": "lp",
    "metric": "annotator",
    "annotator": "annotator",
}
"""Headings, folded to lower case, and what they are called here."""

_ENDINGS: Final = (".seg.score", ".avg_seg_scores.tsv")


@dataclass(frozen=True, kw_only=True)
class PlainScores:
    """What one file says.

    Args:
        records: one annotation a score; none where there is no score.
        met: what was left out, and how often.
    """

    records: tuple[Annotation, ...]
    met: Counter[str] = field(default_factory=Counter)


class _Score(NamedTuple):
    """One score; an empty segment is the next line of its system, an empty lp is that of the file."""

    system: str
    value: float
    annotator: str
    segment: str = ""
    document: str = ""
    lp: str = ""


def is_number(first: str) -> bool:
    """Whether a file that begins with this line has one number a line."""
    return re.fullmatch(r"None|[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?", first.strip(" \r")) is not None


def is_score_table(first: str) -> bool:
    """Whether a file that begins with this line is a table with systems and scores, and without texts."""
    names = {name.strip().lower() for name in first.strip("\r").split(_delimiter(first))}
    return {"system", "score"} <= names and "source" not in names


def _delimiter(first: str) -> str:
    return max(",;\t", key=first.count)


def name_and_lp(path: Path, lp: str | None) -> tuple[str, str | None]:
    """Name of the scores in a file, and their language pair: before the name, as given, or the folder's.

    Args:
        path: the file; `en-de.COMET.seg.score` and `en-de/COMET.seg.score` are COMET for en-de.
        lp: language pair, where one is given.
    """
    ending = next((each for each in _ENDINGS if path.name.endswith(each)), path.suffix)
    stem = path.name.removesuffix(ending)
    before, dot, name = stem.partition(".")
    for text, rest in ((before if dot else "", name), (lp or path.resolve().parent.name, stem)):
        try:
            return rest, canonical_lp(text)
        except UsageError:
            continue
    return stem, None


def read_plain_scores(
    path: Path, form: str, lp: str | None = None, test_set: TestSet | None = None
) -> PlainScores:
    """Read a file of one of `FORMS`.

    Args:
        path: the file; its stem is the system of numbers alone, and the annotator of a table that names none.
        form: `comet`, `score-table` or `score-lines`.
        lp: language pair; may be left out where the file says it.
        test_set: whose segments the lines are, in order; else they are numbered from 1.

    Raises:
        DataError: a score is no number, or systems have different numbers of lines, or other numbers than the
            test set; says where.
        UsageError: no language pair.
    """
    readers = {"comet": _read_comet, "score-table": _read_table, "score-lines": _read_lines}
    met: Counter[str] = Counter()
    scores = [*readers[form](path, met)]
    if not scores:
        raise DataError("there is no score in this file", path=path)
    known = [] if test_set is None else [s.segment for s in test_set if lp in {None, s.lp}]
    _check_lengths(scores, known, path)
    if lp is None and test_set is not None and len(test_set.lps) == 1:
        lp = test_set.lps[0]
    _, told = name_and_lp(path, lp)
    seen: Counter[str] = Counter()
    records = []
    for score in scores:
        seen[score.system] += 1
        own = canonical_lp(score.lp) if score.lp else told
        if own is None:
            raise UsageError(f"{path} does not say its language pair: add --lp, such as --lp en-de")
        if math.isnan(score.value):
            continue
        place = seen[score.system]
        records.append(
            Annotation(
                lp=own,
                segment=score.segment or (known[place - 1] if known else str(place)),
                system=score.system,
                annotator=score.annotator,
                protocol="metric",
                document=score.document,
                rating=score.value,
            )
        )
    if not records:
        raise DataError("there is no score in this file: every one is missing", path=path)
    return PlainScores(records=tuple(records), met=+met)


def _check_lengths(scores: Iterable[_Score], known: list[str], path: Path) -> None:
    """Check that every system has as many lines as there are segments, where lines are segments."""
    counts = Counter(score.system for score in scores if not score.segment)
    if not counts:
        return
    (first, wanted), *_ = counts.items()
    for system, found in counts.items():
        if found != wanted:
            raise DataError(
                f"{system!r} has {found} scores, {first!r} has {wanted}; every system needs one for each "
                "segment, None or an empty cell where there is none",
                path=path,
            )
    if known and wanted != len(known):
        raise DataError(f"{wanted} scores a system, where the test set has {len(known)} segments", path=path)


def _read_comet(path: Path, met: Counter[str]) -> Iterator[_Score]:
    """Read `{TRANSLATION FILE: [{"src", "mt", "ref", "COMET", "errors"}]}`."""
    value = read_json(read_text(path), path=path)
    if not isinstance(value, dict):
        raise DataError("wanted an object with a list of segments for each file of translations", path=path)
    stems = Counter(Path(file).stem for file in value)
    for file, segments in value.items():
        stem = Path(file).stem
        if not isinstance(segments, list):
            raise DataError(f"wanted a list of segments under {file!r}, got {segments!r:.80}", path=path)
        for number, segment in enumerate(segments, start=1):
            score = segment.get(_COMET) if isinstance(segment, dict) else None
            if isinstance(score, bool) or not isinstance(score, int | float):
                raise DataError(
                    f"{file}, segment {number}: {_COMET!r} must be a number, got {score!r:.80}", path=path
                )
            met["errors that COMET marked, of which the score alone is read"] += len(
                segment.get("errors") or ()
            )
            yield _Score(system=stem if stems[stem] == 1 else file, value=float(score), annotator=_COMET)


def _read_table(path: Path, _met: Counter[str]) -> Iterator[_Score]:
    """Read a table with a heading."""
    text = read_text(path)
    lines = csv.reader(
        io.StringIO(text, newline=""), delimiter=_delimiter(text.partition("\n")[0]), strict=True
    )
    try:
        heading = [name.strip().lower() for name in next(lines)]
        names = [_COLUMNS.get(name, "") for name in heading]
        if double := [name for name, times in Counter(names).items() if name and times > 1]:
            raise DataError(f"two columns say the {double[0]}: {', '.join(heading)}", path=path, line=1)
        for row in lines:
            if row:
                yield _read_row(names, row, path, lines.line_num)
    except csv.Error as error:
        raise DataError(f"not CSV: {error}", path=path, line=lines.line_num) from error


def _read_row(names: list[str], row: list[str], path: Path, line: int) -> _Score:
    if len(row) != len(names):
        raise DataError(f"{len(row)} cells under {len(names)} column names", path=path, line=line)
    cells = {name: cell.strip() for name, cell in zip(names, row, strict=True) if name}
    for name in ("system", "segment"):
        if name in cells and not cells[name]:
            raise DataError(f"the {name} is empty", path=path, line=line)
    return _Score(
        system=cells["system"],
        value=read_score(cells["score"] or "None", path, line),
        annotator=cells.get("annotator") or name_and_lp(path, None)[0],
        segment=cells.get("segment", ""),
        document=cells.get("document", ""),
        lp=cells.get("lp", ""),
    )


def _read_lines(path: Path, _met: Counter[str]) -> Iterator[_Score]:
    """Read one number a line, of one system."""
    system = name_and_lp(path, None)[0]
    for number, line in enumerate(read_text(path).removesuffix("\n").split("\n"), start=1):
        if not (text := line.strip(" \r")):
            raise DataError("the line is empty: write None for a missing score", path=path, line=number)
        yield _Score(system=system, value=read_score(text, path, number), annotator=_OF_LINES)
