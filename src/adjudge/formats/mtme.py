"""Test sets, segment scores and error spans in the layout of mt-metrics-eval, version 2.

`sources/L.txt`, `documents/L.docs` (`DOMAIN<TAB>DOC`), `references/L.NAME.txt`,
`system-outputs/L/SYSTEM.txt`, `human-scores/L.NAME.LEVEL.score`, `metric-scores/L/NAME-REF.LEVEL.score`.

Lines are kept as they stand: white space at their ends is text, and so is a byte-order mark, since the
offsets of WMT23's error spans count it. A segment's id is its line number, from 1. Where a system has no
output its line says `[No translation supplied]`; that translation is absent here. A reference that was scored
as a system stands in `system-outputs` too, and is then both.

Segment scores (`.seg.score`) and error spans (`.seg.rating`) have a line for each segment of each system and
no ids, so that they are read with the test set that they lie in; a line of `None` was not judged.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeGuard, cast, get_args

from adjudge.core.language import canonical_lp, lp_among
from adjudge.core.mqm import find_weights
from adjudge.core.names import as_name
from adjudge.core.protocol import find_severity
from adjudge.core.record import Annotation, ErrorSpan, Record, Side
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, UsageError, names_file
from adjudge.formats.file_content import Content, by_translation, placed
from adjudge.formats.mqm_tsv import read_label
from adjudge.formats.score_file import (
    AVERAGES,
    Level,
    ScoreTable,
    lp_before_dot,
    name_and_lp,
    read_score_file,
    write_score_file,
)
from adjudge.formats.text import check_file_name, left_out, read_aligned, single_lp, write_aligned
from adjudge.store.files import Fields, find_files, read_fields, read_json, read_lines, write_lines

NO_TRANSLATION: Final = "[No translation supplied]"


class ScoreFile(NamedTuple):
    """One score file of a folder; `formats.score_file` reads it."""

    path: Path
    kind: Literal["gold", "metric"]  # what people gave, or a metric
    name: str  # such as `mqm` or `COMET`; empty where the file has none
    reference: str  # the reference that a metric was shown, `src` for none; empty for people
    level: Level


def is_mtme_folder(path: Path) -> bool:
    return bool(find_files(path, "sources/*.txt"))


def find_lps(path: Path) -> dict[str, str]:
    """Language pairs of a folder: canonical form to the spelling in its file names."""
    return {canonical_lp(file.stem): file.stem for file in find_files(path, "sources/*.txt")}


def choose_lp(lps: Collection[str], lp: str | None, path: Path) -> str:
    """The language pair that is meant, in canonical form."""
    names = ", ".join(lps)
    if lp is None:
        if len(lps) != 1:
            raise UsageError(f"{path} has {len(lps)} language pairs: add --lp, one of {names}")
        return next(iter(lps))
    return str(lp_among(lp, lps, path))


def read_mtme(path: Path, lp: str | None = None, *, sources_only: bool = False) -> TestSet:
    """Read sources, documents, references and outputs of one language pair."""
    lps = find_lps(path)
    if not lps:
        raise DataError("not in the layout of mt-metrics-eval: there is no sources/LP.txt", path=path)
    lp = choose_lp(lps, lp, path)
    stem = lps[lp]
    source = path / "sources" / f"{stem}.txt"
    systems = {f.name.removesuffix(".txt"): f for f in find_files(path, f"system-outputs/{stem}/*.txt")}
    references = {
        f.name.removeprefix(f"{stem}.").removesuffix(".txt"): f
        for f in find_files(path, f"references/{stem}.*.txt")
    }
    if sources_only:
        systems, references = {}, {}
    files = {
        ("source", ""): source,
        **{("system", name): file for name, file in systems.items()},
        **{("reference", name): file for name, file in references.items()},
    }
    lines = read_aligned(files, keep_mark=True)
    documents = _read_documents(find_files(path, f"documents/{stem}.docs"), source, len(lines["source", ""]))
    outputs = {name: lines["system", name] for name in systems}
    by_people = {name: lines["reference", name] for name in references}
    segments = tuple(
        Segment(
            segment=str(index + 1),
            lp=lp,
            source=text,
            translations=_present(outputs, index),
            references=_present(by_people, index),
            document=document,
            domain=domain,
        )
        for index, (text, (domain, document)) in enumerate(zip(lines["source", ""], documents, strict=True))
    )
    return TestSet(name=path.resolve().name, segments=segments)


def _present(columns: Mapping[str, list[str]], index: int) -> dict[str, str]:
    return {name: text for name, column in columns.items() if (text := column[index]) != NO_TRANSLATION}


def _read_documents(files: list[Path], source: Path, count: int) -> list[tuple[str, str]]:
    if not files:
        return [("", "")] * count
    (path,), found = files, []
    for number, line in enumerate(read_lines(path, keep_mark=True), start=1):
        domain, tab, document = line.partition("\t") if "\t" in line else line.partition(" ")
        if not tab or "\t" in document:
            raise DataError(f"wanted DOMAIN<TAB>DOCUMENT, got {line!r}", path=path, line=number)
        found.append((domain, as_name(document, "document", path, number)))
    if len(found) != count:
        raise DataError(
            f"{path} has {len(found)} lines, {source} has {count}; line-aligned files need equally many"
        )
    _check_documents((document for _, document in found), path)
    return found


def _check_documents(documents: Iterable[str], path: Path) -> None:
    blocks = Counter(document for document, _ in groupby(documents) if document)
    if torn := [document for document, number in blocks.items() if number > 1]:
        raise DataError(f"segments of document {torn[0]!r} do not stand together", path=path)


def write_mtme(path: Path, test_set: TestSet) -> Counter[str]:
    """Write sources, documents, references and outputs of every language pair.

    What the layout cannot hold and how often it was left out, such as segment ids.
    """
    files: dict[Path, list[str]] = {}
    for lp in test_set.lps:
        files |= _render(path, lp, test_set.select(lp=lp))
    write_aligned(files, keep_mark=True)
    return left_out(test_set, holds_documents=True)


def _render(path: Path, lp: str, test_set: TestSet) -> dict[Path, list[str]]:
    files = {path / "sources" / f"{lp}.txt": [s.source for s in test_set]}
    for name in test_set.systems:
        file = path / "system-outputs" / lp / f"{check_file_name(name)}.txt"
        files[file] = _texts((s.translations.get(name) for s in test_set), file)
    for name in test_set.references:
        if "." in name or "-" in name or name in {"all", "src"}:
            raise DataError(f"in this layout the name of a reference has no '.' and no '-', got {name!r}")
        file = path / "references" / f"{lp}.{check_file_name(name)}.txt"
        files[file] = _texts((s.references.get(name) for s in test_set), file)
    if any(s.document or s.domain for s in test_set):
        file = path / "documents" / f"{lp}.docs"
        if tabbed := [s.segment for s in test_set if "\t" in s.domain + s.document]:
            raise DataError(f"a tab in domain or document of segment {tabbed[0]!r}", path=file)
        files[file] = [f"{s.domain}\t{s.document}" for s in test_set]
        _check_documents((s.document for s in test_set), file)
    return files


def _texts(texts: Iterable[str | None], file: Path) -> list[str]:
    found = list(texts)
    if NO_TRANSLATION in found:
        raise DataError(f"the text {NO_TRANSLATION!r} means a missing translation in this layout", path=file)
    return [NO_TRANSLATION if text is None else text for text in found]


def find_score_files(path: Path, lp: str) -> list[ScoreFile]:
    """Score files of one language pair, human ones first, in order of their names."""
    lps = find_lps(path)
    stem = lps[choose_lp(lps, lp, path)]
    human = find_files(path, f"human-scores/{stem}.*.score")
    metric = find_files(path, f"metric-scores/{stem}/*.score")
    return [*_named_score_files(human, "gold", f"{stem}."), *_named_score_files(metric, "metric")]


def _named_score_files(
    files: Iterable[Path], kind: Literal["gold", "metric"], prefix: str = ""
) -> Iterator[ScoreFile]:
    for file in files:
        name, _, level = file.name.removeprefix(prefix).removesuffix(".score").rpartition(".")
        if level in get_args(Level):
            metric, dash, reference = name.rpartition("-")
            shown = (metric, reference) if dash and kind == "metric" else (name, "")
            yield ScoreFile(file, kind, *shown, cast("Level", level))


def read_score_records(path: Path, test_set: TestSet, protocol: str = "metric") -> list[Annotation]:
    """Read a segment-level score file as annotations; its name, without the language pair, is the annotator.

    `protocol`: what the numbers are ratings of, such as `da-sqm`; `metric` has no bounds.
    """
    lp = single_lp(test_set)
    annotator = path.name.removesuffix(".seg.score").removesuffix(AVERAGES).removeprefix(f"{lp}.")
    return [
        Annotation(
            lp=lp,
            segment=segment.segment,
            system=system,
            annotator=annotator,
            protocol=protocol,
            document=segment.document,
            rating=value,
        )
        for system, segment, value in _ratings(path, test_set)
    ]


def _ratings(path: Path, test_set: TestSet) -> Iterator[tuple[str, Segment, float]]:
    if path.name.endswith(AVERAGES):
        table, known = read_score_file(path), {segment.segment: segment for segment in test_set}
    else:
        table = read_score_file(path, level="seg", units=len(test_set))
        known = dict(zip(table.units, test_set, strict=True))
    for system, unit, value in table.scores():
        if unit not in known:
            raise DataError(
                f"the test set has no segment {unit!r}, which was rated for {system!r}", path=path
            )
        yield system, known[unit], value


@names_file
def read_bare_scores(path: Path, lp: str | None) -> list[Annotation]:
    """Read a segment-level score file that lies outside of its test set; `None` is not judged, no failure."""
    is_named = path.name.removesuffix(".gz").endswith((".score", AVERAGES))
    table = read_score_file(path, level=None if is_named else "seg")
    if table.level != "seg":
        raise DataError("scores of systems, domains or documents; those of segments are read")
    name, lp = name_and_lp(path, lp)
    if lp is None:
        raise UsageError(f"{path} does not say its language pair: add --lp, such as --lp en-de")
    records = [
        Annotation(lp=lp, segment=unit, system=system, annotator=name, protocol="metric", rating=value)
        for system, unit, value in table.scores()
    ]
    if not records:
        raise DataError("there is no score in this file: every line says None")
    return records


def write_score_records(path: Path, records: Iterable[Record], test_set: TestSet) -> Counter[str]:
    """Write the ratings of one language pair as a segment-level score file, `None` where there is none.

    What the format cannot hold and how often it was left out.
    """
    import numpy as np

    lp = single_lp(test_set)
    left_out: Counter[str] = Counter()
    found = by_translation(records, left_out, "a score file", lp)
    rows = {segment.segment: index for index, segment in enumerate(test_set)}
    systems = list(dict.fromkeys(system for *_, system in found))
    values = np.full((len(systems), len(rows)), np.nan)
    for (_, segment, system), record in found.items():
        if record.rating is None:
            raise DataError(
                f"{system!r} of segment {segment!r} has no rating by {record.annotator!r}; "
                "`adjudge score RUN --score-files DIR` writes scores of errors"
            )
        if segment not in rows:
            raise DataError(f"the test set has no segment {segment!r}, which was rated for {system!r}")
        values[systems.index(system), rows[segment]] = record.rating
        left_out["errors"] += len(record.spans)
        left_out["rationales"] += record.rationale is not None
    table = ScoreTable(level="seg", systems=tuple(systems), units=tuple(rows), values=values)
    write_score_file(path, table)
    return +left_out


_ERROR_KEYS: Final = frozenset({"start", "end", "category", "severity", "score", "is_source_error"})
_WEIGHTS: Final = "mqm-google"
"""Weights by which each error has its score in a rating file."""


def find_test_set(path: Path) -> TestSet | None:
    """The test set that a file in a folder's `human-scores` or `metric-scores` belongs to, if any."""
    path = path.resolve()
    if path.parent.name == "human-scores":
        folder, name = path.parent.parent, path.name
    elif path.parent.parent.name == "metric-scores":
        folder, name = path.parent.parent.parent, f"{path.parent.name}."
    else:
        return None
    own = lp_before_dot(Path(name))
    return read_mtme(folder, own) if own in find_lps(folder) else None


def rater_name(path: Path) -> str:
    """Annotator that a file's name tells: `mqm.rater1` of `zh-en.mqm.rater1.seg.rating`."""
    name = path.name.removesuffix(".gz").removesuffix(".seg.rating")
    return (name if lp_before_dot(path) is None else name.partition(".")[2]) or "mqm"


@names_file
def read_ratings(path: Path, test_set: TestSet) -> Content[Annotation]:
    """Read error spans: `SYSTEM<TAB>{"errors": [...]}` a line, perhaps with the rater in a third column."""
    rater = rater_name(path)
    lines: Counter[str] = Counter()
    met: Counter[str] = Counter()
    records = []
    for number, line in enumerate(read_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) not in {2, 3}:
            raise DataError(f"wanted 2 or 3 columns, got {len(columns)}", line=number)
        system, rating = columns[0], columns[1]
        if lines[system] >= len(test_set):
            raise DataError(f"{system!r} has more lines than the {len(test_set)} segments", line=number)
        segment = test_set.segments[lines[system]]
        lines[system] += 1
        if rating != "None":
            value = read_json(rating, line=number)
            fields = read_fields(value, frozenset({"errors"}), "rating", line=number)
            said_of = (system, columns[2] if len(columns) == 3 else rater)
            records.append(_read_rating(fields, segment, said_of, met))
    for system, count in lines.items():
        if count != len(test_set):
            raise DataError(f"{system!r} has {count} lines, there are {len(test_set)} segments")
    unknown = set(lines) - set(test_set.systems)
    met["systems whose translations are not there, so that spans have no text"] += len(unknown)
    return Content(records=tuple(records), met=+met)


def _read_rating(fields: Fields, segment: Segment, said_of: tuple[str, str], met: Counter[str]) -> Annotation:
    errors = fields.values.get("errors")
    if not isinstance(errors, list):
        fields.fail(f"'errors' must be a list, got {errors!r}")
    system, rater = said_of
    texts: dict[Side, str | None] = {
        "source": segment.source,
        "translation": segment.translations.get(system),
    }
    flags: set[str] = set()
    read = (read_fields(error, _ERROR_KEYS, "error", fields.path, fields.line) for error in errors)
    return Annotation(
        lp=segment.lp,
        segment=segment.segment,
        system=system,
        annotator=rater,
        protocol="mqm",
        document=segment.document,
        spans=tuple([_read_error(error, texts, flags, met) for error in read]),
        flags=tuple(sorted(flags)),
    )


def _read_error(
    fields: Fields, texts: dict[Side, str | None], flags: set[str], met: Counter[str]
) -> ErrorSpan:
    severity = find_severity(fields.text("severity"))
    if severity is None:
        fields.fail(f"unknown severity {fields.values['severity']!r}")
    category, label = read_label(fields.optional_text("category") or "")
    if label is not None and category is None:
        flags.add("category_unknown")
        met["categories that no year has, kept as label"] += 1
    score = fields.number("score")
    if score is not None and score != find_weights(_WEIGHTS).points(severity, category):
        met[f"errors whose stated score is not that of {_WEIGHTS} weights"] += 1
    side: Side = "source" if fields.values.get("is_source_error") is True else "translation"
    start, end, text = fields.values.get("start"), fields.values.get("end"), texts[side]
    if not _is_index(start) or not _is_index(end):
        fields.fail(f"'start' and 'end' must be whole numbers, got {start!r} and {end!r}")
    is_placed = 0 <= start <= end and (text is None or end <= len(text))
    if not is_placed:
        flags.add("span_bad_offsets")
        met["errors whose offsets are no place in their text"] += 1
    elif start == end:
        flags.add("span_empty")
        met["errors recorded without marked words (start is end), which count all the same"] += 1
    return placed(
        text,
        start if is_placed else None,
        end,
        severity=severity,
        category=category,
        side=side,
        note="" if is_placed or start == end == -1 else f"offsets {start} to {end}",
        label=label,
    )


def _is_index(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def write_ratings(path: Path, records: Iterable[Record], test_set: TestSet) -> Counter[str]:
    """Write the error spans of one language pair, each with its score; `None` where nothing was judged.

    What the format cannot hold and how often it was left out. `records`: annotations, at most one a
    translation. `test_set`: segments in the order of the lines; systems that nobody judged come last.
    """
    lp = single_lp(test_set)
    left_out: Counter[str] = Counter()
    found = by_translation(records, left_out, "a rating file", lp, by_marks=True)
    systems = list(dict.fromkeys([*(system for *_, system in found), *test_set.systems]))
    known = {s.segment for s in test_set}
    for _, segment, system in found:
        if segment not in known:
            raise DataError(f"the test set has no segment {segment!r}, which was judged for {system!r}")
    for system in systems:
        if system.split() != [system] or system.startswith("\ufeff"):
            raise DataError(f"a system in a rating file has no white space in its name, got {system!r}")
    rater = rater_name(path)
    said = ((system, found.get((lp, segment.segment, system))) for system in systems for segment in test_set)
    write_lines(
        path,
        (f"{system}\tNone" if one is None else _render_rating(one, rater, left_out) for system, one in said),
    )
    return +left_out


def _render_rating(annotation: Annotation, rater: str, left_out: Counter[str]) -> str:
    left_out["ratings"] += annotation.rating is not None
    left_out["rationales"] += annotation.rationale is not None
    left_out["counts of errors"] += bool(annotation.counts)
    if not {"\t", "\n", "\r"}.isdisjoint(annotation.annotator):
        raise DataError(f"a tab or a line end in the annotator's name {annotation.annotator!r}")
    errors = [_render_error(span, left_out) for span in annotation.spans]
    line = f"{annotation.system}\t{json.dumps({'errors': errors}, ensure_ascii=False)}"
    return line if annotation.annotator == rater else f"{line}\t{annotation.annotator}"


def _render_error(span: ErrorSpan, left_out: Counter[str]) -> dict[str, object]:
    left_out["notes on errors"] += bool(span.note)
    left_out["places of errors, written as -1"] += span.start is None
    points = find_weights(_WEIGHTS).points(span.severity, span.category)
    return {
        "start": -1 if span.start is None else span.start,
        "end": -1 if span.end is None else span.end,
        "category": span.label or span.category,
        "severity": span.severity,
        "score": int(points) if points == int(points) else points,
        "is_source_error": span.side == "source",
    }
