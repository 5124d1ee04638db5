"""Files of scores: those of mt-metrics-eval, read and written, and those of other programs, read.

`read_score_file` reads `SYSTEM<TAB>SCORE` a line, one block of lines a system and `None` for a missing score,
as a table of numbers. `read_plain_scores` reads what other programs write as annotations: COMET's
`--to_json`, a table with a column `score`, or one number a line. `write_score_files` writes every level of a
score.
"""

from __future__ import annotations

import codecs
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, cast, get_args

from adjudge.core.language import canonical_lp, lp_named, one_spelling
from adjudge.core.names import as_name, is_blank
from adjudge.core.record import Annotation, grouped
from adjudge.core.segment import Digests, Segment, TestSet, digest_of
from adjudge.errors import DataError, UsageError, names_file, placing
from adjudge.formats.file_content import Content
from adjudge.formats.text import csv_rows
from adjudge.store.files import (
    decode,
    make_folder,
    read_bytes,
    read_head,
    read_json,
    read_lines,
    read_text,
    write_lines,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from adjudge.core.scores import Scores, Signature

Level = Literal["seg", "doc", "domain", "sys"]

AVERAGES: Final = ".avg_seg_scores.tsv"
"""End of the names of files that name their segments, which those of mt-metrics-eval do not."""

_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")

_UNITS: Final[dict[Level, str]] = {"seg": "segment", "doc": "document", "domain": "domain", "sys": "system"}
_SHOWN: Final = 80  # characters of a line that is none

_OTHER: Final = (b"u", b"f", b'"', b"[", b"{", b"\n")
"""Bytes of null and true, false, text, arrays and objects of JSON; last, of another line."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreTable:
    """The numbers of one file."""

    level: Level  # what one number is about
    systems: tuple[str, ...]  # in file order
    # ids of segments or documents (line numbers from 1 where the file has no ids), names of domains; one
    # empty name at system level
    units: tuple[str, ...]
    values: NDArray[np.float64]  # systems × units; NaN where the file says `None`

    def scores(self) -> Iterator[tuple[str, str, float]]:
        """System, unit and number, one system after the other, without those that are missing."""
        for system, values in zip(self.systems, self.values.tolist(), strict=True):
            for unit, value in zip(self.units, values, strict=True):
                if not math.isnan(value):
                    yield system, unit, value


@names_file
def read_score_file(path: Path, *, level: Level | None = None, units: int | None = None) -> ScoreTable:
    if path.name.endswith(AVERAGES):
        table = _read_averages(path)
    else:
        level = _level(path) if level is None else level
        raw = read_bytes(path)
        if not raw.strip():
            raise DataError("the score file is empty")
        if level == "domain":
            table = _tabulate(_read_rows(decode(raw, path), ("domain", "system", "score")), level)
        else:
            rows = _read_rows(decode(raw, path), ("system", "score"))
            blocks = _read_blocks(raw) or grouped((system, value) for (system,), value in rows)
            table = _stack(blocks, level)
    if units is not None and len(table.units) != units:
        each = _UNITS[table.level]
        raise DataError(
            f"{len(table.units)} scores a system, one for each {each}, where the test set has {units} {each}s"
        )
    return table


def _level(path: Path) -> Level:
    parts = path.name.removesuffix(".gz").split(".")
    if len(parts) >= 2 and parts[-1] == "score" and parts[-2] in get_args(Level):
        return cast("Level", parts[-2])
    raise DataError(
        "the level of a score file is told by its name: "
        + ", ".join([*(f".{level}.score" for level in get_args(Level)), AVERAGES])
    )


def _read_blocks(raw: bytes) -> dict[str, NDArray[np.float64]] | None:
    import numpy as np
    import orjson

    blocks: dict[str, NDArray[np.float64]] = {}
    start, data = 0, raw.removesuffix(b"\n")
    if data.startswith(codecs.BOM_UTF8) or b"," in data:
        return None
    while start < len(data):
        key = data[start : data.find(b"\t", start) + 1]
        end = _end_of_block(data, start, key)
        # Blanks keep the length, so that bytes are replaced in one pass
        numbers = data[start + len(key) : end].replace(b"\n" + key, b",".ljust(1 + len(key)))
        if any(other in numbers for other in _OTHER):
            return None
        if b"N" in numbers:
            numbers = numbers.replace(b"None", b"null")
        try:
            name = key[:-1].decode()
            values = orjson.loads(b"[" + numbers + b"]")
            block = np.array(values, dtype=np.float64)
        except (ValueError, TypeError):
            return None
        if name in blocks or not block.size or is_blank(name) or "\n" in name or as_name(name) != name:
            return None
        blocks[name] = block
        start = end + 1
    return blocks


def _end_of_block(data: bytes, start: int, key: bytes) -> int:
    low, high = start, len(data)
    while low < high:
        line = data.find(b"\n", (low + high) // 2, high) + 1
        if line and data.startswith(key, line):
            low = line
        else:
            high = (low + high) // 2
    end = data.find(b"\n", low)
    return len(data) if end < 0 else end


def _read_rows(text: str, columns: tuple[str, ...]) -> Iterator[tuple[list[str], float]]:
    text = text.removesuffix("\n")
    for number, line in enumerate(text.split("\n") if text else [], start=1):
        fields = line.removesuffix("\r").split("\t")
        if len(fields) != len(columns) or not fields[-1].strip():
            wanted = "<TAB>".join(columns).upper()
            raise DataError(f"wanted {wanted}, with a tab between, got {line[:_SHOWN]!r}", line=number)
        names = [as_name(*pair, line=number) for pair in zip(fields, columns[:-1], strict=False)]
        yield names, read_score(fields[-1].strip(" "), number)


def read_score(text: str, line: int) -> float:
    """Read a number of a strict decimal spelling; NaN for `None`."""
    if text == "None":
        return float("nan")
    if not _NUMBER.fullmatch(text) or abs(value := float(text)) == float("inf"):
        raise DataError(f"a score is a plain finite number or None, got {text[:_SHOWN]!r}", line=line)
    return value


def _stack(blocks: Mapping[str, Sequence[float] | NDArray[np.float64]], level: Level) -> ScoreTable:
    import numpy as np

    (first, one), *others = blocks.items()
    for system, values in others:
        if len(values) != len(one):
            raise DataError(
                f"{system!r} has {len(values)} scores, {first!r} has {len(one)}; every system needs one for "
                f"each {_UNITS[level]}"
            )
    if level == "sys" and len(one) != 1:
        raise DataError(f"{first!r} has {len(one)} scores; a system has one at system level")
    units = ("",) if level == "sys" else tuple(map(str, range(1, len(one) + 1)))
    return ScoreTable(level=level, systems=tuple(blocks), units=units, values=np.stack(list(blocks.values())))


def _tabulate(rows: Iterable[tuple[list[str], float]], level: Level) -> ScoreTable:
    import numpy as np

    cells: dict[tuple[str, str], float] = {}
    for (unit, system), value in rows:
        if (system, unit) in cells:
            raise DataError(f"{system!r} has two scores for {unit!r}")
        cells[system, unit] = value
    systems, units = (tuple(dict.fromkeys(key[axis] for key in cells)) for axis in (0, 1))
    if len(cells) != len(systems) * len(units):
        raise DataError(
            f"{len(cells)} scores for {len(systems)} systems and {len(units)} {_UNITS[level]}s; every system "
            "needs one each, None where there is none"
        )
    values = np.array([[cells[system, unit] for unit in units] for system in systems])
    return ScoreTable(level=level, systems=systems, units=units, values=values)


def _read_averages(path: Path) -> ScoreTable:
    heading, *lines = read_lines(path) or [""]
    if heading.split()[:1] != ["system"]:
        raise DataError(f"wanted the heading 'system mqm_avg_score seg_id', got {heading[:_SHOWN]!r}", line=1)
    if not lines:
        raise DataError("the file has no score")
    rows = []
    for number, line in enumerate(lines, start=2):
        fields = line.split()
        if len(fields) != 3:
            raise DataError(f"wanted system, score and segment, got {line[:_SHOWN]!r}", line=number)
        names = [as_name(fields[at], what, line=number) for at, what in ((2, "segment"), (0, "system"))]
        rows.append((names, read_score(fields[1], number)))
    return _tabulate(rows, "seg")


def write_score_file(path: Path, table: ScoreTable) -> None:
    """Write a score file; `None` for NaN."""
    for name in (*table.systems, *(table.units if table.level == "domain" else ())):
        if len(name.split()) != 1 or name != name.strip():
            raise DataError(f"a name in a score file has no white space, got {name!r}", path=path)
    if table.level == "domain":
        lines = (
            f"{unit}\t{system}\t{_render_score(value)}"
            for unit, values in zip(table.units, table.values.T.tolist(), strict=True)
            for system, value in zip(table.systems, values, strict=True)
        )
    else:
        lines = (
            f"{system}\t{_render_score(value)}"
            for system, values in zip(table.systems, table.values.tolist(), strict=True)
            for value in values
        )
    write_lines(path, lines)


def _render_score(value: float) -> str:
    if abs(value) == float("inf"):
        raise DataError("an infinite score cannot be written")
    return "None" if value != value else repr(value)  # noqa: PLR0124 (NaN)


_COMET: Final = "COMET"

SCORE_COLUMNS: Final[Mapping[str, str]] = {
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

_TEXTS: Final = (("source", "src"), ("translation", "target", "mt"), ("reference", "ref"))
"""Headings of texts that may stand beside a score, folded to lower case."""


_Rows = tuple[str, str, str]
_Texts = tuple[str, str | None, str | None]
"""Source, translation and reference."""


class _Score(NamedTuple):
    """One score; an empty segment is the next line of its system, what else is empty is told by the file."""

    system: str
    value: float
    annotator: str
    segment: str = ""
    document: str = ""
    lp: str = ""
    is_of_metric: bool = False
    texts: _Texts | None = None

    @property
    def rows(self) -> _Rows:
        return self.lp, self.annotator, self.system


def is_number(first: str) -> bool:
    """Whether a file that begins with this line has one number a line."""
    return re.fullmatch(r"None|[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?", first.strip(" \r")) is not None


def is_score_table(first: str) -> bool:
    """Whether a file that begins with this line is a table with systems and scores."""
    names = {name.strip().lower() for name in first.strip("\r").split(_delimiter(first))}
    return {"system", "score"} <= names


def _delimiter(first: str) -> str:
    return max(",;\t", key=first.count)


def name_and_lp(path: Path, lp: str | None) -> tuple[str, str | None]:
    """Name of the scores in a file, and their language pair: before the name, the folder's, or as given."""
    ending = next((each for each in (".seg.score", AVERAGES) if path.name.endswith(each)), path.suffix)
    stem = path.name.removesuffix(ending)
    own = lp_before_dot(Path(stem))
    told = own or lp_named(path.resolve().parent.name) or (lp and canonical_lp(lp))
    return stem.partition(".")[2] if own else stem, told or None


def lp_before_dot(path: Path) -> str | None:
    """Language pair before the first dot of a file's name: `en-de` of `en-de.COMET.seg.score`."""
    before, dot, _ = path.name.partition(".")
    return lp_named(before) if dot else None


def is_lines_folder(path: Path) -> bool:
    """Whether every file of a folder has one number a line; hidden files do not count."""
    return bool(_visible(path)) and not files_beside_lines(path)


def files_beside_lines(path: Path) -> list[str]:
    """Names of the files and folders of a folder that do not have one number a line."""
    files = _visible(path)
    heads = (read_head(file, 1 << 10) if file.is_file() else b"" for file in files)
    firsts = (head.lstrip(b"\xef\xbb\xbf\r\n ").partition(b"\n")[0] for head in heads)
    return [
        file.name
        for file, first in zip(files, firsts, strict=True)
        if not is_number(first.decode(errors="replace"))
    ]


def _visible(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if not file.name.startswith("."))


def count_of_lines(path: Path) -> int:
    """Lines of a file with one number a line, or of the first of a folder of them."""
    return sum(1 for _ in _read_lines(_visible(path)[0] if path.is_dir() else path, Counter()))


@names_file
def read_plain_scores(
    path: Path,
    form: str,
    lp: str | None = None,
    test_set: TestSet | None = None,  # whose segments the lines are, in order; else they are numbered from 1
    *,
    files: Sequence[Path] = (),
) -> Content[Annotation]:
    """Read a file of scores, or several files with one number a line each, of one system each."""
    readers = {"comet": _read_comet, "score-table": _read_table, "score-lines": _read_lines}
    met: Counter[str] = Counter()
    files = files or (_visible(path) if path.is_dir() else [path])
    stems: dict[str, Path] = {}
    for file in files:
        if (other := stems.setdefault(name_and_lp(file, None)[0], file)) != file:
            raise UsageError(f"two files of one system: {other} and {file}; give one of them another name")
    scores: list[_Score] = []
    for file in files:
        with placing(file):
            scores += readers[form](file, met)
    return _as_content(scores, met, path, lp, test_set, form=form)


def read_score_rows(
    heading: Sequence[str],
    rows: Iterable[Sequence[str]],
    place: Path | str,
    lp: str | None = None,
    test_set: TestSet | None = None,
) -> Content[Annotation]:
    """Read a table of scores that is no text: rows of a data frame, or of Parquet.

    `test_set`: whose segments the rows of a system are, in order; else they are numbered from 1.
    """
    scores = [*_scores_in([*heading], enumerate(map(list, rows), start=1))]
    return _as_content(scores, Counter(), place, lp, test_set)


def _as_content(
    scores: Sequence[_Score],
    met: Counter[str],
    path: Path | str,
    lp: str | None,
    test_set: TestSet | None,
    *,
    form: str = "score-table",
) -> Content[Annotation]:
    if not scores:
        why = ": it has a heading and no row below it" if form == "score-table" else ""
        raise DataError(f"there is no score in this file{why}")
    texts = [] if test_set is None else test_set.select(lp=lp).segments
    known = grouped((s.lp, s.segment) for s in texts)
    documents = {(s.lp, s.segment): s.document for s in texts}
    if lp is None and len(known) == 1:
        (lp,) = known
    name, told = name_and_lp(path, lp) if isinstance(path, Path) else ("frame", lp)
    if not told and not all(score.lp for score in scores):
        raise UsageError(f"{path} does not say its language pair: add --lp, such as --lp en-de")
    lps = [canonical_lp(score.lp or told or "") for score in scores]
    _, spelled = one_spelling([known, lps])
    is_unnamed = not any(score.annotator for score in scores)
    scores = [
        score._replace(
            system=as_name(score.system, "system"),
            annotator=score.annotator or name,
            lp=spelled.get(each, each),
        )
        for score, each in zip(scores, lps, strict=True)
    ]
    _check_lengths(scores, known)
    seen: Counter[_Rows] = Counter()
    records: list[Annotation] = []
    asked: set[tuple[str, str]] = set()
    own_texts: dict[tuple[str, str], Segment] = {}
    for score in scores:
        seen[score.rows] += 1
        place = seen[score.rows]
        segment = score.segment or (known[score.lp][place - 1] if score.lp in known else str(place))
        asked.add((score.lp, segment))
        document = score.document or documents.get((score.lp, segment), "")
        digests = _add_texts(own_texts, score, segment, document)
        if math.isnan(score.value):
            met[_MISSING] += 1
        else:
            records.append(
                Annotation(
                    lp=score.lp,
                    segment=segment,
                    system=score.system,
                    annotator=score.annotator,
                    protocol="metric",
                    document=document,
                    rating=score.value,
                    digests=digests,
                )
            )
    if not records:
        raise DataError("there is no score in this file: every one is missing")
    if unscored := len(asked) - len({(record.lp, record.segment) for record in records}):
        met["segments that nobody scored: no system has a number there"] += unscored
    own = TestSet(name=name, segments=tuple(own_texts.values()))
    return Content(
        test_set=own if test_set is None and own_texts.keys() == asked else None,
        records=tuple(records),
        met=+met,
        is_of_metrics=scores[0].is_of_metric,
        is_unnamed=is_unnamed,
    )


_MISSING: Final = "missing scores (None or an empty cell), whose translations are not judged"


def _check_lengths(scores: Iterable[_Score], known: Mapping[str, list[str]]) -> None:
    counts = Counter(score.rows for score in scores if not score.segment)
    firsts: dict[str, _Rows] = {}
    for rows, found in counts.items():
        lp, *_, system = rows
        first = firsts.setdefault(lp, rows)
        if found != (wanted := counts[first]):
            raise DataError(
                f"{system!r} has {found} scores, {first[2]!r} has {wanted}; every system needs one for each "
                "segment, None or an empty cell where there is none"
            )
        if lp in known and found != len(known[lp]):
            raise DataError(f"{found} scores a system, where the test set has {len(known[lp])} segments")


def _read_comet(path: Path, met: Counter[str]) -> Iterator[_Score]:
    value = read_json(read_text(path))
    if not isinstance(value, dict):
        raise DataError("wanted an object with a list of segments for each file of translations")
    stems = Counter(Path(file).stem for file in value)
    for file, segments in value.items():
        stem = Path(file).stem
        if not isinstance(segments, list):
            raise DataError(f"wanted a list of segments under {file!r}, got {segments!r:.80}")
        for number, segment in enumerate(segments, start=1):
            score = segment.get(_COMET) if isinstance(segment, dict) else None
            if isinstance(score, bool) or not isinstance(score, int | float):
                raise DataError(
                    f"{file}, segment {number}: {_COMET!r} must be a number, got {score!r:.80}", path=path
                )
            met["errors that COMET marked, of which the score alone is read"] += len(
                segment.get("errors") or ()
            )
            system = stem if stems[stem] == 1 else file
            texts = _texts({key: text for key, text in segment.items() if isinstance(text, str)})
            yield _Score(system=system, value=float(score), annotator=_COMET, texts=texts)


def _read_table(path: Path, _met: Counter[str]) -> Iterator[_Score]:
    text = read_text(path)
    rows = csv_rows(text, path, _delimiter(text.lstrip("\r\n ").partition("\n")[0]))
    _, heading = next(rows)
    yield from _scores_in(heading, rows)


def _scores_in(columns: list[str], rows: Iterable[tuple[int, list[str]]]) -> Iterator[_Score]:
    heading = [column.strip().lower() for column in columns]
    names = [SCORE_COLUMNS.get(name, "") for name in heading]
    if double := [name for name, times in Counter(names).items() if name and times > 1]:
        raise DataError(f"two columns say the {double[0]}: {', '.join(heading)}", line=1)
    if missing := sorted({"score", "system"} - set(names)):
        raise DataError(
            f"a table of scores has a column {missing[0]!r}; this heading has {', '.join(heading)!r:.200}",
            line=1,
        )
    for line, row in rows:
        if row:
            if len(row) != len(names):
                raise DataError(f"{len(row)} cells under {len(names)} column names", line=line)
            cells = {name: cell.strip() for name, cell in zip(names, row, strict=True) if name}
            given = (
                (name, row[names.index(name)]) for name in ("system", "segment", "document") if name in cells
            )
            cells |= {name: as_name(cell, name, line=line) for name, cell in given}
            score = _Score(
                system=cells["system"],
                value=read_score(cells["score"] or "None", line),
                annotator=cells.get("annotator", ""),
                segment=cells.get("segment", ""),
                document=cells.get("document", ""),
                lp=cells.get("lp", ""),
            )
            texts = _texts(dict(zip(heading, row, strict=True)))
            yield score._replace(is_of_metric="metric" in heading, texts=texts)


def _texts(cells: Mapping[str, str]) -> _Texts | None:
    """The texts that stand beside a score; None without a source."""
    source, translation, reference = (
        next((cells[name] for name in names if cells.get(name)), None) for names in _TEXTS
    )
    return None if source is None else (source, translation, reference)


def _add_texts(
    segments: dict[tuple[str, str], Segment], score: _Score, segment: str, document: str
) -> Digests | None:
    if score.texts is None:
        return None
    source, translation, reference = score.texts
    alone = Segment(
        segment=segment,
        lp=score.lp,
        source=source,
        translations={score.system: translation} if translation else {},
        references={"ref": reference} if reference else {},
        document=document,
    )
    one = segments.setdefault((score.lp, segment), alone)
    if digest_of(one.source) != digest_of(source):
        raise DataError(f"segment {segment!r} of {score.lp} has two sources")
    translations = {**alone.translations, **one.translations}
    segments[score.lp, segment] = replace(one, translations=translations)
    return Digests.of(alone, alone.translations, reference)


def _read_lines(path: Path, _met: Counter[str]) -> Iterator[_Score]:
    system = name_and_lp(path, None)[0]
    for number, line in enumerate(read_text(path).removesuffix("\n").split("\n"), start=1):
        if not (text := line.strip(" \r")):
            raise DataError("the line is empty: write None for a missing score", line=number)
        # one annotator, so that files of two systems are compared as scores of one metric
        yield _Score(system=system, value=read_score(text, number), annotator="scores")


def write_score_files(folder: Path, scores: Scores, test_set: TestSet) -> list[Path]:
    """Write `LP/NAME-REF.{seg,sys}.score` and, where the texts have them, those of documents and domains.

    Lines follow the test set: its systems in their order, of each all segments, `None` where there is no
    score. REF is the reference that was shown, `all` for several, `src` for none. Systems have the scores
    that `adjudge score` prints, which of BLEU are no means; documents and domains have means over what was
    judged.

    The files. `folder`: such as `metric-scores` of a folder of mt-metrics-eval.
    """
    lps = scores.lps or {segment.lp: scores for segment in scores.segments}
    tables = {
        folder / lp / f"{_stem(scores.signature)}.{table.level}.score": table
        for lp, part in lps.items()
        for table in _tables(part, [segment for segment in test_set if segment.lp == lp])
    }
    if there := [path for path in tables if path.exists()]:
        raise UsageError(f"{there[0]} is there already: remove it, or name another folder")
    make_folder(folder)
    for path, table in tables.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_score_file(path, table)
    return list(tables)


def _stem(signature: Signature) -> str:
    shown = signature.fields.get("ref", "src")
    stem = f"{signature.name}-{'all' if ',' in shown else shown}"
    if Path(stem).name != stem:
        raise UsageError(f"{signature.name!r} cannot be the name of a file: rename the metric or the judge")
    return stem


def _tables(scores: Scores, segments: Sequence[Segment]) -> Iterator[ScoreTable]:
    import numpy as np

    judged = dict.fromkeys(s.system for s in scores.segments)
    known = dict.fromkeys(name for segment in segments for name in segment.translations)
    systems = tuple(name for name in known | judged if name in judged)
    place_of = {segment.segment: place for place, segment in enumerate(segments)}
    values = np.full((len(systems), len(place_of)), np.nan)
    for s in scores.segments:
        if s.segment not in place_of:
            raise DataError(f"the test set has no segment {s.segment!r} of {s.lp}, which was scored")
        values[systems.index(s.system), place_of[s.segment]] = np.nan if s.score is None else s.score
    yield ScoreTable(level="seg", systems=systems, units=tuple(place_of), values=values)
    of_system = {s.system: s.score for s in scores.systems}
    means = [[np.nan if (score := of_system[name]) is None else score] for name in systems]
    yield ScoreTable(level="sys", systems=systems, units=("",), values=np.array(means))
    kinds: dict[Level, list[str]] = {
        "doc": [segment.document for segment in segments],
        "domain": [segment.domain for segment in segments],
    }
    for level, names in kinds.items():
        if all(names):
            units = tuple(dict.fromkeys(names))
            yield ScoreTable(level=level, systems=systems, units=units, values=_means(values, names, units))


def _means(values: NDArray[np.float64], names: Sequence[str], units: Sequence[str]) -> NDArray[np.float64]:
    """Systems by units, means over what was judged; NaN where nothing was."""
    import numpy as np

    columns = [values[:, np.array(names) == unit] for unit in units]
    n = [(~np.isnan(column)).sum(axis=1) for column in columns]
    sums = [np.nansum(column, axis=1) for column in columns]
    with np.errstate(invalid="ignore"):  # 0 / 0: nothing was judged
        return np.stack([total / count for total, count in zip(sums, n, strict=True)], axis=1)
