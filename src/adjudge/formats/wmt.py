"""The files of WMT25 and WMT26: tables, systems' documents, challenge sets, and evaluation tasks.

- WMT25's table of texts and marked errors (`read_wmt25`), as its evaluation tasks give it out and take it in.
- Segments of WMT25's general task with what people said of them (`wmt25-genmt-humeval.jsonl`).
- Scores as both years give them out: a table with a row a translation, or lists of scores by document.
- Documents of the general task, whose sources lie apart from the systems' translations of them.
- Challenge sets of WMT25: line-aligned texts, `SET.LP.src.txt`, `.ref`, `.hyp-N` and `.meta`.
- WMT26's evaluation task: a segment a line with its hypotheses, and predictions beside the same `item_id`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from adjudge.core.language import canonical_lp, pair_of
from adjudge.core.names import as_name
from adjudge.core.protocol import INSTRUCTION_FAULT, find_severity, is_number
from adjudge.core.record import Annotation, ErrorSpan, Record
from adjudge.core.segment import INSTRUCTION, Segment, TestSet
from adjudge.errors import DataError, UsageError, names_file, placing
from adjudge.formats.appraise import MISSING, OMISSION, place_of
from adjudge.formats.campaign_export import UNDECIDED_MARK
from adjudge.formats.file_content import Content, ContentWithTexts, by_translation, placed, read_severity
from adjudge.formats.score_file import read_score
from adjudge.formats.text import csv_rows, json_objects, write_csv
from adjudge.store.files import (
    Fields,
    find_files,
    inside,
    read_head,
    read_lines,
    read_text,
    render_json_line,
    write_bytes,
)

TEXTS: Final = (
    *("doc_id", "segment_id", "source_lang", "target_lang", "set_id", "system_id"),
    *("source_segment", "hypothesis_segment", "reference_segment", "domain_name", "method"),
)
MARKS: Final = ("start_indices", "end_indices", "error_types")
CLEAN: Final = "no-error"
NOWHERE: Final = "-1"
NO_REFERENCE: Final = "NaN"
META: Final = ("set_id", "method")
"""Columns that go to `meta`."""
_REFERENCE: Final = "ref"
_NAMES: Final = {"doc_id": "document", "segment_id": "segment", "system_id": "system"}
Place = tuple[str, str, str]
"""Language pair, segment and system."""


@names_file
def read_wmt25(path: Path) -> ContentWithTexts[Annotation]:
    name = path.name.split(".")[0]
    rows = _rows(path)
    has_marks, unread = _check_heading(list(next(rows)[1]))
    segments: dict[tuple[str, str], Segment] = {}
    records: list[Annotation] = []
    met: Counter[str] = Counter()
    for line, row in rows:
        lp = pair_of(row["source_lang"], row["target_lang"])
        reference = row["reference_segment"]
        segment = Segment(
            segment=row["segment_id"],
            lp=lp,
            source=row["source_segment"],
            references={} if reference in {"", NO_REFERENCE} else {_REFERENCE: reference},
            document=row["doc_id"],
            domain=row["domain_name"],
            meta={name: row[name] for name in META if row[name]},
        )
        known = segments.setdefault((lp, segment.segment), segment)
        system = row["system_id"]
        where = f"segment {segment.segment!r} of {lp}"
        if replace(known, translations={}) != segment:
            raise DataError(f"{where} is not the same in two rows", line=line)
        if system in known.translations:
            raise DataError(f"{where} by {system!r} is there twice", line=line)
        translations = {**known.translations, system: row["hypothesis_segment"]}
        segments[lp, segment.segment] = replace(known, translations=translations)
        if has_marks and row["error_types"].strip():
            records.append(
                Annotation(
                    lp=segment.lp,
                    segment=segment.segment,
                    system=row["system_id"],
                    annotator=name,
                    protocol="mqm",
                    document=segment.document,
                    spans=tuple(_marked_spans(row, line, met)),
                )
            )
    test_set = TestSet(name=name, segments=tuple(segments.values()))
    return ContentWithTexts(test_set=test_set, records=tuple(records), met=+(met + unread))


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    rows = csv_rows(read_text(path), path, "\t", named="a table by tabs")
    _, heading = next(rows, (1, []))
    yield 1, dict.fromkeys(heading, "")
    for line, row in rows:
        if len(row) != len(heading):
            raise DataError(f"wanted {len(heading)} columns, got {len(row)}", line=line)
        cells = dict(zip(heading, row, strict=True))
        names = {key: as_name(cells[key], what, line=line) for key, what in _NAMES.items() if key in cells}
        yield line, cells | names


def _check_heading(heading: Sequence[str]) -> tuple[bool, Counter[str]]:
    marked = [name for name in MARKS if name in heading]
    wanted = (*TEXTS, *(MARKS if marked else ()))
    if lacking := [name for name in wanted if name not in heading]:
        raise DataError(f"a table of WMT25 without the columns {', '.join(lacking)}")
    others = [name for name in heading if name not in wanted]
    return bool(marked), Counter({f"columns that are not read: {', '.join(others)}": len(others)})


def _marked_spans(row: Mapping[str, str], line: int, met: Counter[str]) -> Iterator[ErrorSpan]:
    starts, ends, kinds = (row[name].split() for name in MARKS)
    if kinds == [CLEAN]:
        return
    if not len(starts) == len(ends) == len(kinds):
        raise DataError(
            f"a row has {len(starts)} starts, {len(ends)} ends and {len(kinds)} types of errors", line=line
        )
    for start, end, kind in zip(starts, ends, kinds, strict=True):
        with placing(None, line):
            yield _marked_span(row["hypothesis_segment"], (start, end), kind, met)


def _marked_span(text: str, place: tuple[str, str], kind: str, met: Counter[str]) -> ErrorSpan:
    severity, note = read_severity(kind)
    if place == (MISSING, MISSING):
        return ErrorSpan(match="unplaced", severity=severity, category=OMISSION, note=note)
    if not all(number.isdecimal() for number in place):
        raise DataError(f"a place is two numbers, or {MISSING} twice, got {' and '.join(place)}")
    start, end = map(int, place)
    is_beyond = start > end or end > len(text)
    met["marks beyond the translation, without a place"] += is_beyond
    return placed(text, None if is_beyond else start, end, severity=severity, note=note)


_TEXTS: Final = frozenset({"doc_id", "src_text", "tgt_text", "scores"})


def read_wmt25_jsonl(path: Path) -> ContentWithTexts[Annotation]:
    """Read a file; somebody who judged a translation in a second round, too, is `NAME:2` there."""
    segments: list[Segment] = []
    records: list[Annotation] = []
    met: Counter[str] = Counter()
    for fields in json_objects(path, "WMT25"):
        name = fields.name("doc_id")
        parts = name.split("_#_")
        if len(parts) < 4:
            fields.fail(f"'doc_id' is LP_#_DOMAIN_#_DOCUMENT_#_NUMBER, got {name!r}")
        texts = fields.text_mapping("tgt_text")
        segment = Segment(
            segment=name,
            lp=fields.inner({"doc_id": parts[0]}, fields.what).lp("doc_id"),
            source=fields.text("src_text"),
            translations=texts,
            references={key: text for key, text in texts.items() if re.fullmatch("ref[A-Z]?", key)},
            document="_#_".join(parts[2:-1]),
            domain=parts[1],
            meta={key: value for key, value in fields.values.items() if key not in _TEXTS},
        )
        segments.append(segment)
        records += _annotations(fields, segment, met)
    test_set = TestSet(name=path.name.split(".")[0], segments=tuple(segments))
    return ContentWithTexts(test_set=test_set, records=tuple(records), met=+met)


def _annotations(fields: Fields, segment: Segment, met: Counter[str]) -> Iterator[Annotation]:
    for system, said in fields.by_name("scores").items():
        if system not in segment.translations:
            fields.fail(f"{system!r} has scores and no translation")
        taken: Counter[str] = Counter()
        for judged, number in _rounds(said, fields):
            if not judged.has(f"human{number}"):
                met["judgements without a rating, left out"] += 1
                continue
            person = judged.name(f"annotator{number}")
            taken[person] += 1
            try:
                marks = judged.values.get(f"errors{number}", [])
                if not isinstance(marks, list) or not all(isinstance(mark, dict) for mark in marks):
                    judged.fail(f"'errors{number}' must be a list of objects, got {marks!r}")
                spans = [_span(mark, segment.translations[system], judged, met) for mark in marks]
                yield Annotation(
                    lp=segment.lp,
                    segment=segment.segment,
                    system=system,
                    annotator=person if taken[person] == 1 else f"{person}:{taken[person]}",
                    protocol="esa",
                    document=segment.document,
                    rating=judged.number(f"human{number}"),
                    spans=tuple(span for span, _ in spans),
                    flags=tuple(sorted({odd for _, odd in spans if odd})),
                )
            except DataError as error:
                judged.fail(str(error))


def _rounds(said: object, fields: Fields) -> Iterator[tuple[Fields, str]]:
    if isinstance(said, dict):
        judged = fields.inner(said, "scores")
        yield from ((judged, found[1]) for key in said if (found := re.fullmatch("human([0-9]+)", key)))
    elif isinstance(said, list) and all(isinstance(each, dict) for each in said):
        yield from ((fields.inner(each, "scores"), "") for each in said)
    else:
        fields.fail(f"scores of a system are an object, or a list of them; got {said!r}")


def _span(mark: dict[str, Any], text: str, judged: Fields, met: Counter[str]) -> tuple[ErrorSpan, str]:
    start, end, kind = (mark.get(key) for key in ("start_i", "end_i", "severity"))
    severity, note = read_severity(kind)
    if MISSING in {start, end}:
        return ErrorSpan(match="unplaced", severity=severity, category=OMISSION, note=note), ""
    if type(start) is not int or type(end) is not int or start < 0:
        judged.fail(f"a place is two whole numbers from 0, or {MISSING!r}; got {start!r} and {end!r}")
    first, after, odd = place_of(text, start, end)
    met["marks beyond the translation, without a place"] += first is None
    return placed(text, first, after, severity=severity, note=note), odd


def write_wmt25(path: Path, records: Iterable[Record], test_set: TestSet) -> Counter[str]:
    """Write what one annotator marked, a row each translation, system by system.

    What the table cannot hold and how often it was left out.
    """
    left_out: Counter[str] = Counter()
    judged = _by_one(records, left_out)
    rows = [[*TEXTS, *MARKS]]
    for segment, system in ((s, name) for name in test_set.systems for s in test_set):
        if system in segment.translations:
            found = judged.pop((segment.lp, segment.segment, system), None)
            source, _, target = segment.lp.partition("-")
            said: Mapping[str, object] = {
                "doc_id": segment.document,
                "segment_id": segment.segment,
                "source_lang": source,
                "target_lang": target,
                "set_id": segment.meta.get("set_id", "official"),
                "system_id": system,
                "source_segment": segment.source,
                "hypothesis_segment": segment.translations[system],
                "reference_segment": next(iter(segment.references.values()), NO_REFERENCE),
                "domain_name": segment.domain,
                "method": segment.meta.get("method", ""),
            }
            rows.append([*(str(said[name]) for name in TEXTS), *_written_marks(found, left_out)])
    if judged:
        lp, name, system = next(iter(judged))
        raise DataError(f"the records judge segment {name!r} of {lp} by {system!r}, which is not there")
    write_csv(path, rows, "\t")
    left_out["further references"] += sum(max(len(s.references) - 1, 0) for s in test_set)
    left_out["segments whose meta"] += sum(bool(s.meta.keys() - set(META)) for s in test_set)
    return +left_out


def _by_one(records: Iterable[Record], left_out: Counter[str]) -> dict[Place, Annotation]:
    found = by_translation(records, left_out, "the table", by_marks=True)
    annotators = sorted({one.annotator for one in found.values()})
    if len(annotators) > 1:
        both = " and ".join(map(repr, annotators[:2]))
        raise UsageError(f"a table of WMT25 is by one annotator, got {both}: add --annotator")
    return found


def _written_marks(annotation: Annotation | None, left_out: Counter[str]) -> tuple[str, str, str]:
    if annotation is None:
        left_out["translations that nobody judged, their cells are empty"] += 1
        return "", "", ""
    left_out["ratings"] += annotation.rating is not None
    kept = [mark for span in annotation.spans if (mark := _mark(span, left_out)) is not None]
    if not kept and any(span.severity != "neutral" for span in annotation.spans):
        left_out["translations with such marks alone, their cells are empty"] += 1
        return "", "", ""
    starts, ends, kinds = zip(*kept, strict=True) if kept else ((NOWHERE,), (NOWHERE,), (CLEAN,))
    return " ".join(starts), " ".join(ends), " ".join(kinds)


def _mark(span: ErrorSpan, left_out: Counter[str]) -> tuple[str, str, str] | None:
    """Start, end and type of an error; None where the table has no place for it."""
    kind = UNDECIDED_MARK if span.note == UNDECIDED_MARK else span.severity
    if kind == "neutral":
        left_out["neutral marks"] += 1
    elif span.side == "source":
        left_out["errors of the source"] += 1
    elif span.start is not None:
        left_out["categories of errors"] += span.category is not None or span.label is not None
        return str(span.start), str(span.end), kind
    elif span.category == OMISSION:
        return MISSING, MISSING, kind
    else:
        left_out["errors without a place"] += 1
    return None


SCORED: Final = (*TEXTS[:6], "domain_name", "method", "overall")
"""Columns of a table of scores: of the quality-score task of WMT25, and of what it returned."""


_SCORE_KEYS: Final = (b'"metric_scores"', b'"document_id"')


def read_wmt_scores(path: Path) -> Content[Annotation]:
    """Read scores of one metric (TSV), or of several by document (JSONL, or a folder with a file a system).

    A score by document is of segment `LP_#_DOMAIN_#_DOCUMENT_#_N`, N from 1, as in WMT25's general task.
    """
    met: Counter[str] = Counter()
    read = _document_scores if path.is_dir() or _begins_with(path, _SCORE_KEYS) else _table_scores
    files = find_files(path, "*.jsonl") if path.is_dir() else [path]
    rows: list[Annotation] = []
    for file in files:
        with placing(file):
            rows += read(file, met)
    return Content(records=rows, met=met, is_of_metrics=True)


def is_score_folder(path: Path) -> bool:
    """Whether a folder holds scores by document, a file a system."""
    return any(_begins_with(file, _SCORE_KEYS) for file in find_files(path, "*.jsonl"))


def _begins_with(file: Path, keys: Iterable[bytes]) -> bool:
    head = read_head(file, 1 << 16)
    return all(key in head for key in keys)


def _system_of(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".jsonl")


def _table_scores(path: Path, met: Counter[str]) -> Iterator[Annotation]:
    rows = _rows(path)
    _, heading = next(rows)
    if lacking := [name for name in SCORED if name not in heading]:
        raise DataError(f"a table of scores of WMT25 without the columns {', '.join(lacking)}")
    seen: set[tuple[str, str, str]] = set()
    for line, row in rows:
        lp, segment = pair_of(row["source_lang"], row["target_lang"]), row["segment_id"]
        key = (lp, segment, row["system_id"])
        if key in seen:
            raise DataError(f"segment {segment!r} of {lp} by {key[2]!r} is scored twice", line=line)
        seen.add(key)
        if row["overall"] in {"", "NaN", "nan", "None"}:
            met["translations without a score, left out"] += 1
            continue
        yield Annotation(
            lp=lp,
            segment=segment,
            system=key[2],
            annotator=path.name.split(".")[0],
            protocol="metric",
            document=row["doc_id"],
            rating=read_score(row["overall"].strip(), line),
        )


def _document_scores(path: Path, met: Counter[str]) -> Iterator[Annotation]:
    system = _system_of(path)
    for fields in json_objects(path, "scores of a document"):
        said, document = fields.text("language_pair"), fields.name("document_id")
        start = f"{said}_#_{fields.text('domain')}_#_{document}"
        lists, lp = fields.mapping("metric_scores"), canonical_lp(said)
        lengths = {len(scores) for scores in lists.values() if isinstance(scores, list)}
        if len(lengths) > 1:
            met["documents whose metrics score other numbers of paragraphs"] += 1
        names = [f"{start}_#_{number}" for number in range(1, max(lengths, default=0) + 1)]
        for metric, scores in lists.items():
            if not isinstance(scores, list):
                fields.fail(f"scores of {metric!r} must be a list, got {scores!r}")
            for segment, score in zip(names, scores, strict=False):
                if score is None:
                    met["translations without a score, left out"] += 1
                elif not is_number(score):
                    fields.fail(f"a score of {metric!r} must be a number, got {score!r}")
                else:
                    yield Annotation(
                        lp=lp,
                        segment=segment,
                        system=system,
                        annotator=metric,
                        protocol="metric",
                        document=document,
                        rating=float(score),
                    )


_HYPOTHESES: Final = (b'"doc_id"', b'"hypothesis"')
_PARAGRAPH: Final = re.compile(r"<p>(.*?)</p>", re.DOTALL)
_WHOLE: Final = re.compile(r"\s*(?:<p>.*?</p>\s*)+", re.DOTALL)


def is_system_folder(path: Path) -> bool:
    """Whether a folder holds systems' documents, a file a system."""
    return any(_begins_with(file, _HYPOTHESES) for file in find_files(path, "*.jsonl"))


def read_wmt_systems(path: Path) -> ContentWithTexts[Annotation]:
    """Read the documents of one system, or of a folder of systems, by the paragraphs of their sources.

    The sources are in a JSONL file with `doc_id` and `src_text`, in the same folder or the one above.
    Paragraphs stand in `<p>` (WMT26), or between empty lines (WMT25). A document in which a system has
    another number of paragraphs than the source is left out for that system, and counted.
    """
    folder = path if path.is_dir() else path.parent
    files = [path] if path.is_file() else find_files(folder, "*.jsonl")
    files = [file for file in files if _begins_with(file, _HYPOTHESES)]
    near = (*sorted(folder.glob("*.jsonl")), *sorted(folder.parent.glob("*.jsonl")))
    sources = next((f for f in near if _begins_with(f, (b'"doc_id"', b'"src_text"'))), None)
    if sources is None:
        raise DataError(
            "these are translations of documents whose sources are not here: put the test set, a .jsonl with "
            "doc_id and src_text such as wmt26-genmt.jsonl, into this folder or the one above",
            path=path,
        )
    met: Counter[str] = Counter()
    texts = {_system_of(file): _hypotheses(file) for file in files}
    segments: list[Segment] = []
    known: set[str] = set()
    for fields in json_objects(inside(sources.parent, sources), "document"):
        known.add(fields.name("doc_id"))
        segments += _cut_document(fields, texts, met)
    for system, documents in texts.items():
        met[f"documents of {system} that the sources do not have"] += len(documents.keys() - known)
    return ContentWithTexts(test_set=TestSet(name=folder.name, segments=tuple(segments)), met=+met)


def _hypotheses(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for fields in json_objects(path, "document"):
        name = fields.name("doc_id")
        if name in found:
            fields.fail(f"document {name!r} is there twice")
        if (text := fields.optional_text("hypothesis")) is not None:
            found[name] = text
    return found


def _cut_document(fields: Fields, texts: Mapping[str, Mapping[str, str]], met: Counter[str]) -> list[Segment]:
    name = fields.name("doc_id")
    mark = "_###_" if "_###_" in name else "_#_"
    parts = name.split(mark)
    year26 = parts[0].startswith("WMT")
    try:
        lp = pair_of(parts[2], parts[3]) if year26 else canonical_lp(parts[0])
    except (UsageError, IndexError):
        fields.fail(f"'doc_id' must name its languages, got {name!r}")
    source = _paragraphs(fields.text("src_text"))
    systems = {}
    for system, documents in texts.items():
        cut = _paragraphs(documents[name]) if name in documents else []
        if name in documents and len(cut) != len(source):
            met[f"documents of {system} with another number of paragraphs than the source, left out"] += 1
        elif cut:
            systems[system] = cut
    refs = {
        key: _paragraphs(said["ref"] if isinstance(said, dict) else said)
        for key, said in (fields.mapping("refs") if fields.has("refs") else {}).items()
    }
    instruction = fields.optional_text("evaluation_instruction")
    return [
        Segment(
            segment=f"{name}{mark}{number}",
            lp=lp,
            source=text,
            translations={system: cut[number - 1] for system, cut in systems.items()},
            references={key: cut[number - 1] for key, cut in refs.items() if len(cut) == len(source)},
            document=name,
            domain=parts[1],
            meta={INSTRUCTION: instruction} if instruction else {},
        )
        for number, text in enumerate(source, 1)
    ]


def _paragraphs(text: str) -> list[str]:
    return _PARAGRAPH.findall(text) if _WHOLE.fullmatch(text) else text.split("\n\n")


_CHALLENGE: Final = re.compile(
    r"(?P<set>.+)\.(?P<lp>[a-zA-Z_]+-[a-zA-Z_]+)\.(?P<kind>src|ref|meta|hyp-?\w+)\.txt"
)


def is_challenge_folder(path: Path) -> bool:
    return any(
        (m := _CHALLENGE.fullmatch(file.name)) and m["kind"] == "src" for file in find_files(path, "*.txt")
    )


def read_challenge_set(path: Path) -> TestSet:
    """Read a challenge set; its segments are numbered from 1, its systems named as its files (`hyp-1`)."""
    found: dict[str, dict[str, Path]] = {}
    for file in find_files(path, "*.txt"):
        if match := _CHALLENGE.fullmatch(file.name):
            found.setdefault(canonical_lp(match["lp"]), {})[match["kind"]] = file
    segments = [s for lp, files in found.items() if "src" in files for s in _challenges(lp, files)]
    return TestSet(name=path.name, segments=tuple(segments))


def _challenges(lp: str, files: Mapping[str, Path]) -> Iterator[Segment]:
    sources = read_lines(files["src"])
    columns = {kind: read_lines(file) for kind, file in files.items() if kind != "src"}
    meta = [line.split("\t") for line in columns.pop("meta", [])]
    if len(meta) == len(sources) + 1:
        meta = meta[1:]  # its first line names the columns
    counts = {kind: len(lines) for kind, lines in columns.items()} | ({"meta": len(meta)} if meta else {})
    for kind, lines_of_kind in counts.items():
        if lines_of_kind != len(sources):
            raise DataError(
                f"{lines_of_kind} lines, and {files['src'].name} has {len(sources)}", path=files[kind]
            )
    references = columns.pop("ref", None)
    for number, source in enumerate(sources):
        domain, _, document = "\t".join(meta[number][:2]).partition("\t") if meta else ("", "", "")
        yield Segment(
            segment=str(number + 1),
            lp=lp,
            source=source,
            translations={kind: lines[number] for kind, lines in columns.items()},
            references={} if references is None else {_REFERENCE: references[number]},
            document=document,
            domain=domain,
            meta={f"meta{n}": cell for n, cell in enumerate(meta[number][2:], 3)} if meta else {},
        )


_ITEM_PARTS: Final = 6
_OMITTED: Final = "omission"
_FAULT: Final = "instruction_fault"
_FREE: Final = 85
"""Lowest rating of a translation that WMT26 calls free of errors."""


def read_wmt26(path: Path) -> Content[Annotation]:
    """Read `mteval-test26.jsonl` or predictions for it.

    Marks are half-open places in characters; an omission and an instruction fault have no place.
    """
    segments: list[Segment] = []
    records: list[Annotation] = []
    for fields in json_objects(path, "WMT26"):
        item = fields.name("item_id")
        parts = item.split("_###_")
        if len(parts) != _ITEM_PARTS:
            fields.fail(
                f"'item_id' is KIND_###_SOURCE_###_TARGET_###_DOMAIN_###_DOC_###_SEGMENT, got {item!r}"
            )
        pair = pair_of(parts[1], parts[2])
        if fields.has("hyps"):
            segments.append(_item(fields, item, pair, parts))
        if fields.has("task1_pred") or fields.has("task2_pred"):
            records += _predictions(fields, item, pair, path)
    test_set = TestSet(name=path.name.split(".")[0], segments=tuple(segments)) if segments else None
    return Content(test_set=test_set, records=tuple(records))


def _item(fields: Fields, item: str, lp: str, parts: Sequence[str]) -> Segment:
    reference = fields.mapping("ref") if isinstance(fields.values.get("ref"), dict) else {}
    text = reference.get("text")
    instruction = fields.optional_text("evaluation_instruction")
    return Segment(
        segment=item,
        lp=lp,
        source=fields.text("src"),
        translations=fields.text_mapping("hyps"),
        references={_REFERENCE: text} if isinstance(text, str) else {},
        document=parts[4],
        domain=parts[3],
        meta={
            **({"ref_type": reference["type"]} if "type" in reference else {}),
            **({INSTRUCTION: instruction} if instruction else {}),
        },
    )


def _predictions(fields: Fields, item: str, lp: str, path: Path) -> Iterator[Annotation]:
    marked = fields.by_name("task1_pred") if fields.has("task1_pred") else {}
    scored = fields.by_name("task2_pred") if fields.has("task2_pred") else {}
    for system in dict.fromkeys((*marked, *scored)):
        score = scored.get(system)
        if score is not None and not is_number(score):
            fields.fail(f"the score of {system!r} must be a number, got {score!r}")
        try:
            yield Annotation(
                lp=lp,
                segment=item,
                system=system,
                annotator=path.name.split(".")[0],
                protocol="esa" if system in marked else "metric",
                rating=None if score is None else float(score),
                spans=tuple(_task1_spans(marked.get(system), fields)),
            )
        except DataError as error:
            fields.fail(str(error))


def _task1_spans(said: object, fields: Fields) -> Iterator[ErrorSpan]:
    if said is None:
        return
    if not isinstance(said, dict) or not isinstance(said.get("errors", []), list):
        fields.fail(f"a prediction of task 1 is an object with a list of errors, got {said!r}")
    for mark in said.get("errors", []):
        start, end = (mark.get(key) if isinstance(mark, dict) else None for key in ("start", "end"))
        if type(start) is not int or type(end) is not int:
            fields.fail(f"an error needs a start and an end, whole numbers; got {mark!r}")
        severity, category = _grade(mark.get("severity"), fields), mark.get("category")
        label = category if isinstance(category, str) else None
        yield ErrorSpan(severity=severity, start=start, end=end, label=label)
    for key, category in ((_OMITTED, OMISSION), (_FAULT, INSTRUCTION_FAULT)):
        if said.get(key) is not None:
            yield ErrorSpan(severity=_grade(said[key], fields), category=category, match="unplaced")


def _grade(said: object, fields: Fields) -> Any:  # noqa: ANN401 (a severity of the typology)
    severity = find_severity(said) if isinstance(said, str) else None
    if severity is None:
        fields.fail(f"a severity must be minor, major or critical, got {said!r}")
    return severity


def write_wmt26(path: Path, records: Iterable[Record], test_set: TestSet, task: int) -> Counter[str]:
    """Write predictions for WMT26's evaluation task: marks (1), scores (2), or if there is no error (3).

    Free of errors is what has no mark and, where it was rated, 85 points or more, as the task labels gold.
    The shape of a file of task 3 was not published: it is that of task 2 with true and false.

    What the file cannot hold and how often it was left out.
    """
    left_out: Counter[str] = Counter()
    judged = _by_one(records, left_out)
    lines = []
    for segment in test_set:
        if segment.segment.count("_###_") != _ITEM_PARTS - 1:
            raise UsageError(
                f"segment {segment.segment!r} is no item of WMT26's evaluation task: judge "
                "mteval-test26.jsonl"
            )
        found: dict[str, object] = {}
        for system in segment.translations:
            annotation = judged.get((segment.lp, segment.segment, system))
            if annotation is None:
                left_out["translations that nobody judged"] += 1
            elif task == 1:
                found[system] = _task1(annotation, left_out)
            elif task == 3:
                is_marked = any(span.severity != "neutral" for span in annotation.spans)
                found[system] = not is_marked and (annotation.rating is None or annotation.rating >= _FREE)
            elif annotation.rating is None:
                left_out["judgements without a rating"] += 1
            else:
                found[system] = annotation.rating
        if found:
            lines.append(render_json_line({"item_id": segment.segment, f"task{task}_pred": found}))
    write_bytes(path, lines)
    return +left_out


def _task1(annotation: Annotation, left_out: Counter[str]) -> dict[str, object]:
    errors = []
    special: dict[str, str | None] = {_OMITTED: None, _FAULT: None}
    for span in annotation.spans:
        key = {OMISSION: _OMITTED, INSTRUCTION_FAULT: _FAULT}.get(span.category or "")
        if span.side == "translation" and span.start is not None and span.severity != "neutral":
            category = span.label or span.category
            errors.append(
                {"start": span.start, "end": span.end, "severity": span.severity, "category": category}
            )
        elif key is not None and span.severity != "neutral":
            if special[key] != "major":  # the graver of two counts
                special[key] = "minor" if span.severity == "minor" else "major"
        else:
            left_out["neutral marks, errors of the source, and errors without a place"] += 1
    return {"errors": errors, **special}
