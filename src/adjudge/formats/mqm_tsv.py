"""MQM TSV, as in wmt-mqm-human-evaluation and Marot: one line an error, read from every year and written.

What is odd in a file is never silent: it becomes a flag of the annotation and a count of the file.

- `No-error` is a judgement without spans; a unit that has no line was not judged.
- `HOTW-test` lines are attention checks, not errors: they are kept apart.
- Raters edited texts. The translation is the text of the test set if one is given, else the one that
  most raters of the unit have; marks are carried over to it, and what the rater's text was is kept beside.
- In side-by-side files `A_with_B` is system A, judged beside B: the flag `with:B`.
- A row without rater has the annotator `unknown`.
- Severities that do not exist are an error, categories that no year has are kept as `label` and counted.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import dropwhile
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar
from unicodedata import normalize

from adjudge.core.frozen import frozen
from adjudge.core.language import lp_among, lp_in
from adjudge.core.names import as_name
from adjudge.core.protocol import find_category, find_severity
from adjudge.core.record import Annotation, ErrorSpan, Record, Side, grouped
from adjudge.core.segment import Digests, Segment, TestSet, digest_of
from adjudge.errors import AdjudgeError, DataError, UsageError, names_file
from adjudge.formats.file_content import ContentWithTexts, annotations_among, placed
from adjudge.formats.text import single_lp
from adjudge.store.files import read_fields, read_json, read_lines, write_lines
from adjudge.store.json_lines import counts_from_json, span_from_json, span_to_json


class Label(NamedTuple):
    """A category, and how its file spelled it where that is neither our spelling nor Google's."""

    category: str | None
    label: str | None


def read_label(raw: str) -> Label:
    """Read a category in any year's spelling; one that no year has keeps its spelling and has no category."""
    if not raw:
        return Label(None, None)
    category = find_category(raw)
    ours = category is not None and raw in {category, render_label(category, None)}
    return Label(category, None if ours else raw)


def render_label(category: str | None, label: str | None) -> str:
    """Category as Google's files and `score_mqm` spell it: `Accuracy/Mistranslation`, `Non-translation!`."""
    if label is not None:
        return label
    if category is None:
        return ""
    capitals = "/".join(part[:1].upper() + part[1:] for part in category.split("/"))
    return capitals + "!" if category == "non-translation" else capitals


_KEY: Final = "adjudge"
"""Key of a row's metadata with what an MQM TSV has no column for; other readers leave it alone."""
_KEYS: Final = frozenset(
    {"span", "with", "document", "protocol", "rating", "counts", "flags", "rationale", "first"}
)


def read_judgement(ours: Mapping[str, object] | None, annotation: Annotation) -> Annotation:
    """Give an annotation what its first row states beside the spans; that replaces what was found out."""
    if not ours or not ours.get("first"):
        return annotation
    fields = read_fields(ours, _KEYS, "metadata of adjudge")
    return replace(
        annotation,
        protocol=fields.text("protocol", "mqm"),
        document=fields.text("document", annotation.document),
        rating=fields.number("rating"),
        counts=counts_from_json(fields),
        flags=fields.texts("flags"),
        rationale=fields.optional_text("rationale"),
    )


def render_extras(
    annotation: Annotation, span: ErrorSpan | None, text: str, *, first: bool, partner: str, document: str
) -> dict[str, Any]:
    """Metadata of one row. `span`: its error, or None for a row that says there is none."""
    ours: dict[str, Any] = {"with": partner} if partner else {}
    if span is not None and not _is_plain(span, text):
        ours["span"] = span_to_json(span)
    if first:
        values = {
            "document": None if annotation.document == document else annotation.document,
            "protocol": None if annotation.protocol == "mqm" else annotation.protocol,
            "rating": annotation.rating,
            "counts": dict(annotation.counts) or None,
            "flags": list(annotation.flags) or None,
            "rationale": annotation.rationale,
        }
        ours |= {"first": True, **{key: value for key, value in values.items() if value is not None}}
    note = {"note": span.note} if span is not None and span.note else {}
    return {**note, **({_KEY: ours} if ours else {})}


def _is_plain(span: ErrorSpan, text: str) -> bool:
    label = render_label(span.category, span.label)
    return (
        span.match == "exact"
        and span.end is not None
        and span.end <= len(text)
        and span.text == text[span.start : span.end]
        and read_label(label.strip()) == (span.category, span.label)
    )


COLUMNS: Final = (
    "system",
    "doc",
    "docSegId",
    "globalSegId",
    "rater",
    "source",
    "target",
    "category",
    "severity",
    "metadata",
)
_WANTED: Final = ("system", "doc", "source", "target", "category", "severity")
_NAMES: Final = {name.lower(): name for name in COLUMNS} | {
    "doc_id": "docSegId",
    "seg_id": "globalSegId",
    "misc": "metadata",
}
"""Headings, folded to lower case, and what they are called here."""
_QUOTED: Final = re.compile(r'"(?:[^"]|"")*"')


@frozen
class Row:
    """One line: one error, or the word that there is none."""

    line: int  # in the file, from 1
    system: str  # name, in side-by-side files with the partner in it
    document: str
    position: str  # id of the segment within its document
    segment: str  # id of the segment in the file; empty where there is none
    rater: str  # empty where there is none
    source: str
    target: str
    category: str
    severity: str
    metadata: Mapping[str, object] = field(default_factory=dict)  # the JSON object of that column
    ours: Mapping[str, object] | None = None  # what it says under `adjudge`; None where it says nothing
    comment: str = ""  # text of a comment column, or of metadata that is no JSON


def _column_names(heading: Iterable[str]) -> list[str]:
    return [_NAMES.get(name.strip().lower(), name) for name in heading]


def is_mqm_heading(first: str) -> bool:
    """Whether a first line has the column names of an MQM TSV, in any order and case."""
    return {"system", "doc", "category", "severity"} <= {*_column_names(first.replace('"', "").split("\t"))}


def read_rows(path: Path) -> tuple[list[Row], Counter[str]]:
    """Read all rows, and count what was met in columns that nobody reads."""
    table = dropwhile(lambda row: not "".join(row[1]).strip(), _read_table(path))
    first, heading = next(table, (1, [""]))
    names = _column_names(heading)
    if lacking := [name for name in _WANTED if name not in names]:
        raise DataError(f"the heading of an MQM TSV has no column {lacking[0]!r}", line=first)
    met: Counter[str] = Counter()
    return [_read_row(names, fields, line, met) for line, fields in table], met


def _read_table(path: Path) -> Iterator[tuple[int, list[str]]]:
    lines = read_lines(path)
    if not _is_quoted(lines):
        yield from enumerate((line.split("\t") for line in lines), start=1)
        return
    reader = csv.reader((line + "\n" for line in lines), delimiter="\t", strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise DataError(f"quoted fields are broken: {error}", line=reader.line_num) from error


def _is_quoted(lines: Sequence[str]) -> bool:
    quoted = {cell for line in lines if '"' in line for cell in line.split("\t") if '"' in cell}
    if not all(_QUOTED.fullmatch(cell) for cell in quoted):
        return False
    is_doubled = any('""' in cell[1:-1] for cell in quoted)
    others = (cell for line in lines for cell in line.split("\t") if '"' not in cell)
    return is_doubled or not any(cell.strip("0123456789") for cell in others)


_NAMED: Final = {
    "system": "system",
    "doc": "document",
    "docSegId": "segment",
    "globalSegId": "segment",
    "rater": "annotator",
}


def _read_row(names: list[str], fields: list[str], line: int, met: Counter[str]) -> Row:
    if len(fields) > len(names) and any(fields[len(names) :]):
        raise DataError(f"{len(fields)} fields under {len(names)} column names", line=line)
    filled = len(fields)
    while filled and not fields[filled - 1]:
        filled -= 1
    if filled < 9 and len(fields) < len(names) and names[:2] == ["system", "doc"]:
        fields = fields[:filled]
        ids = fields[2:-4]
        if not 1 <= len(ids) <= 3:
            raise DataError(f"a row of {filled} fields fits no known layout", line=line)
        cells = {"system": fields[0], "doc": fields[1]}
        cells |= zip(("docSegId", "globalSegId", "rater"), ids, strict=False)
        cells |= zip(("source", "target", "category", "severity"), fields[-4:], strict=True)
        met["rows shorter than the heading, read from their end"] += 1
    else:
        cells = dict(zip(names, fields, strict=False))
        if lacking := [name for name in _WANTED if name not in cells]:
            raise DataError(f"a row of {len(fields)} fields has no {lacking[0]!r}", line=line)
    metadata, note = _read_metadata(cells.get("metadata", ""), line)
    ours = metadata.get(_KEY)
    for name, cell in cells.items():
        if name not in COLUMNS and name != "comment" and cell:
            met[f"cells of a column {name!r} that nobody reads"] += 1
    cells |= {
        name: as_name(cells[name], what, line=line)
        for name, what in _NAMED.items()
        if cells.get(name) or name == "system"
    }
    return Row(
        line=line,
        system=cells["system"],
        document=cells["doc"],
        position=cells.get("docSegId", ""),
        segment=cells.get("globalSegId", ""),
        rater=cells.get("rater", ""),
        source=cells["source"],
        target=cells["target"],
        category=cells["category"].strip(),
        severity=cells["severity"].strip(),
        metadata=metadata,
        ours=ours if isinstance(ours, dict) else None,
        comment=cells.get("comment", "") or note,
    )


def _read_metadata(cell: str, line: int) -> tuple[Mapping[str, object], str]:
    if not cell.startswith("{"):
        return {}, cell
    value = read_json(cell, line=line)
    return (value, "") if isinstance(value, dict) else ({}, cell)


_TAG: Final = re.compile(r"</?v>")


class Mark(NamedTuple):
    """A marked range of a text, and what was odd about it."""

    start: int
    end: int
    flags: tuple[str, ...] = ()


def remove_tags(text: str) -> str:
    return _TAG.sub("", text)


def read_tags(text: str) -> Mark | None:
    """Range that the tags of a text mark, in code points of the text without tags.

    Several pairs are one error: the range from the first to the last. A tag without its partner marks up to
    the end, or from the start.
    """
    opening: list[int] = []
    closing: list[int] = []
    shift = 0
    for tag in _TAG.finditer(text):
        (closing if tag[0] == "</v>" else opening).append(tag.start() - shift)
        shift += len(tag[0])
    if not opening and not closing:
        return None
    length = len(text) - shift
    start = min(opening, default=0)
    end = max(closing, default=length)
    flags = []
    if len(opening) != len(closing) or start > end:
        start, end = min(start, end), max(start, end)
        flags.append("span_unbalanced")
    elif len(opening) > 1:
        flags.append("span_in_parts")
    return Mark(start, end, (*flags, *_flags_of(remove_tags(text), start, end)))


def _flags_of(text: str, start: int, end: int) -> list[str]:
    marked = text[start:end]
    flags = []
    if not marked:
        flags.append("span_empty")
    elif marked != marked.strip():
        flags.append("span_edge_space")
    word = marked.strip()
    if len(word) > 1 and (text[end:].lstrip().startswith(word) or text[:start].rstrip().endswith(word)):
        flags.append("span_repeated")
    return flags


def carry_over(text: str, mark: Mark, onto: str) -> Mark:
    from rapidfuzz.distance import Levenshtein

    marked = text[mark.start : mark.end]
    if onto == text[: mark.start] + text[mark.end :]:
        if onto.startswith(marked, mark.start):  # <v>Prinz</v>Prinz
            return mark
        if onto.endswith(marked, 0, mark.start):  # Prinz<v>Prinz</v>
            return Mark(mark.start - len(marked), mark.start, mark.flags)
    edits = Levenshtein.opcodes(text, onto)
    last = next(edit for edit in reversed(edits) if edit.src_start <= mark.start)
    first = next(edit for edit in edits if edit.src_end >= mark.end)
    start = max(last.dest_start, last.dest_end - last.src_end + mark.start)
    end = min(first.dest_end, first.dest_start + mark.end - first.src_start)
    return Mark(min(start, end), end, mark.flags)


def token_range(
    metadata: Mapping[str, object], key: str, tokens: object, text: str
) -> tuple[int, int] | None:
    """Range that token indices mark, both ends included there; None where tokens do not make up the text."""
    spans = metadata.get(key)
    if not isinstance(tokens, list) or not isinstance(spans, list) or "".join(map(str, tokens)) != text:
        return None
    try:
        first, last = min(span[0] for span in spans), max(span[1] for span in spans)
        starts = [0]
        for token in tokens:
            starts.append(starts[-1] + len(token))
        return (starts[first], starts[last + 1]) if 0 <= first <= last else None
    except (ValueError, TypeError, IndexError):
        return None


K = TypeVar("K")

_LEFT_BY_EDITS: Final = 0.5
"""Similarity of a rater's text and the translation, at least; that of texts of two segments is below it."""

_CLEAN: Final = {"no-error", "no error"}
_CHECK: Final = "hotw-test"

_MET: Final = {
    "span_unbalanced": "tags without a partner",
    "span_in_parts": "errors marked in several parts, taken as one range",
    "span_empty": "marks around nothing",
    "span_edge_space": "marks with white space at an edge",
    "span_repeated": "marks beside a repetition of the same words",
    "span_both_sides": "errors marked in source and target, placed in the target",
    "span_tokens_differ": "token indices that mark something else than the tags",
    "text_edited": "translations of which a rater has another text or source, marks carried over",
    "category_unknown": "categories that no year has, kept as label",
    "clean_and_errors": "units called clean and given errors by one rater; the errors count",
    "rater_unknown": "units without a rater",
}
"""Flags of annotations and what they say in a count."""


class AttentionCheck(NamedTuple):
    """One check of a rater's attention."""

    segment: str
    system: str
    rater: str
    found: bool


class EditedText(NamedTuple):
    """A rater's text where it is not the translation."""

    segment: str
    system: str
    rater: str
    side: Side
    text: str


@frozen
class MqmFile(ContentWithTexts[Annotation]):
    """All that one file says: an annotation a rater, system and segment, in order of first appearance."""

    checks: tuple[AttentionCheck, ...] = ()
    edited: tuple[EditedText, ...] = ()  # texts that raters changed


@names_file
def read_mqm_tsv(path: Path, lp: str | None = None, test_set: TestSet | None = None) -> MqmFile:
    rows, met = read_rows(path)
    rows, pair = _of_pair(rows, lp, path)
    checks = [row for row in rows if _is_check(row)]
    rated = [row for row in rows if not _is_check(row) and (row.rater or row.category or row.severity)]
    reader = _Reader(pair, rated, test_set)
    records = reader.read()
    met["rows with metadata only"] += len(rows) - len(checks) - len(rated)
    met["attention checks, kept apart from the errors"] += len(checks)
    keys = [*dict.fromkeys((row.document, row.position, row.segment) for row in rated)]
    places = _numbers_in_documents(document for document, _, _ in keys)
    met["segments whose docSegId is not their place in this file, and is not kept"] += sum(
        position.isdecimal() and int(position) != place
        for (_, position, _), place in zip(keys, places, strict=True)
    )
    met += reader.met
    met[_MET["text_edited"]] += len({(each.segment, each.system) for each in reader.edited})
    return MqmFile(
        test_set=reader.test_set(path.name.split(".")[0]),
        records=records,
        checks=tuple(reader.check(row) for row in checks),
        edited=tuple(reader.edited),
        met=+met,
    )


def _is_check(row: Row) -> bool:
    return _CHECK in {row.severity.lower(), row.category.lower()}


def _of_pair(rows: Sequence[Row], lp: str | None, path: Path) -> tuple[list[Row], str]:
    """Rows of one language pair, that of their documents' names or else the one given, and the pair."""
    named = [lp_in(row.document.rpartition(":")[2]) for row in rows]  # such as `news.1:en-de`
    there = dict.fromkeys(filter(None, named))
    if lp is None and (len(there) != 1 or None in named):
        what = f"has {len(there)} language pairs" if there else "does not say its language pair"
        raise UsageError(f"{path} {what}: add --lp, such as --lp {next(iter(there), 'en-de')}")
    pair = next(iter(there)) if lp is None else lp_among(lp, [*there, lp] if None in named else there, path)
    return [row for row, own in zip(rows, named, strict=True) if own in {None, pair}], str(pair)


class _Reader:
    def __init__(self, lp: str, rows: list[Row], test_set: TestSet | None) -> None:
        self.lp = lp
        self.rows = rows
        self.met: Counter[str] = Counter()
        self.edited: list[EditedText] = []
        self._ids = _segment_ids(rows)
        self._names = _split_names(rows)
        self._tokens = _tokens(rows)
        self._sources = _most_common((self._id(r), r.rater, remove_tags(r.source)) for r in rows)
        self._targets = _most_common(
            ((self._id(r), self._names[r.system][0]), r.rater, remove_tags(r.target)) for r in rows
        )
        known = test_set.select(lp=lp) if test_set is not None else ()
        self._segments = {s.segment: self._without_others(s) for s in known if self._has_source(s)}

    def _has_source(self, segment: Segment) -> bool:
        return _plain(self._sources.get(segment.segment, segment.source)) == _plain(segment.source)

    def _without_others(self, segment: Segment) -> Segment:
        from rapidfuzz.distance import Levenshtein

        kept = {
            system: text
            for system, text in segment.translations.items()
            if (own := self._targets.get((segment.segment, system))) is None
            or Levenshtein.normalized_similarity(_plain(own), _plain(text)) >= _LEFT_BY_EDITS
        }
        return replace(segment, translations=kept)

    def _id(self, row: Row) -> str:
        return self._ids[row.document, row.position, row.segment]

    def source(self, segment: str) -> str:
        known = self._segments.get(segment)
        return self._sources[segment] if known is None else known.source

    def target(self, segment: str, system: str) -> str:
        known = self._segments.get(segment)
        found = None if known is None else known.translations.get(system)
        return self._targets[segment, system] if found is None else found

    def check(self, row: Row) -> AttentionCheck:
        words = {row.category.lower(), row.severity.lower()}
        if not words & {"found", "missed"}:
            raise DataError(f"an attention check is Found or Missed, got {words}", line=row.line)
        ids = self._ids.get((row.document, row.position, row.segment))
        return AttentionCheck(ids or row.segment or row.position, row.system, row.rater, "found" in words)

    def read(self) -> tuple[Annotation, ...]:
        units = grouped(((self._id(row), row.system, row.rater), row) for row in self.rows)
        return tuple(self._annotation(*key, rows) for key, rows in units.items())

    def _annotation(self, segment: str, name: str, rater: str, rows: list[Row]) -> Annotation:
        system, partner = self._names[name]
        flags: set[str] = set()
        spans = []
        for row in rows:
            texts: tuple[tuple[Side, str, str], ...] = (
                ("source", remove_tags(row.source), self.source(segment)),
                ("translation", remove_tags(row.target), self.target(segment, system)),
            )
            for side, text, wanted in texts:
                if text != wanted:
                    flags.add("text_edited")
                    self.edited.append(EditedText(segment, system, row.rater, side, text))
            clean = [label.lower() in _CLEAN for label in (row.category, row.severity)]
            if any(clean) and not all(clean):
                raise DataError(
                    f"category {row.category!r} with severity {row.severity!r} contradict each other",
                    line=row.line,
                )
            if not all(clean):
                spans.append(self._span(row, segment, system, flags))
        if spans and len(spans) < len(rows):
            flags.add("clean_and_errors")
        if not rater:
            flags.add("rater_unknown")
        self.met.update(_MET[flag] for flag in flags & {"clean_and_errors", "rater_unknown"})
        with_partner = [f"with:{partner}"] if partner else []
        annotation = Annotation(
            lp=self.lp,
            segment=segment,
            system=system,
            annotator=rater or "unknown",
            protocol="mqm",
            document=rows[0].document,
            spans=tuple(spans),
            flags=(*with_partner, *sorted(flags)),
            digests=Digests(digest_of(self.source(segment)), (digest_of(self.target(segment, system)),)),
        )
        try:
            return read_judgement(rows[0].ours, annotation)
        except AdjudgeError as error:
            raise DataError(str(error), line=rows[0].line) from error

    def _span(self, row: Row, segment: str, system: str, flags: set[str]) -> ErrorSpan:
        if row.ours is not None and (stated := row.ours.get("span")) is not None:
            return span_from_json(stated, line=row.line)
        severity = find_severity(row.severity)
        if severity is None:
            raise DataError(
                f"severity must be neutral, minor, major, critical or No-error, got {row.severity!r}",
                line=row.line,
            )
        category, label = read_label(row.category)
        if label is not None and category is None:
            flags.add("category_unknown")
            self.met[_MET["category_unknown"]] += 1
        side, mark = self._place(row, segment, system, flags)
        text = self.source(segment) if side == "source" else self.target(segment, system)
        note = row.metadata.get("note")
        return placed(
            text,
            *(mark[:2] if mark else (None, None)),
            severity=severity,
            category=category,
            side=side,
            note=note if isinstance(note, str) else row.comment,
            label=label,
        )

    def _place(self, row: Row, segment: str, system: str, flags: set[str]) -> tuple[Side, Mark | None]:
        source, target = read_tags(row.source), read_tags(row.target)
        odd = []
        if source is not None and target is not None:
            odd.append("span_both_sides")
        side: Side = "source" if target is None and source is not None else "translation"
        mark = source if side == "source" else target
        text = remove_tags(row.source if side == "source" else row.target)
        key = "source" if side == "source" else "target"
        told = self._tokens.get((row.document, row.position, row.system, key))
        tokens = token_range(row.metadata, f"{key}_spans", told, text)
        if mark is None and tokens is not None:
            mark = Mark(*tokens)
        elif mark is not None and tokens is not None and tokens != mark[:2]:
            odd.append("span_tokens_differ")
        if mark is None:
            return side, None
        odd.extend(mark.flags)
        flags.update(odd)
        self.met.update(_MET[flag] for flag in odd)
        wanted = self.source(segment) if side == "source" else self.target(segment, system)
        return side, mark if text == wanted else carry_over(text, mark, wanted)

    def test_set(self, name: str) -> TestSet:
        documents = {self._id(row): row.document for row in reversed(self.rows)}
        systems = list(dict.fromkeys(self._names[row.system][0] for row in self.rows))
        segments = []
        for segment in dict.fromkeys(self._id(row) for row in self.rows):
            known = self._segments.get(segment)
            found = [s for s in systems if (segment, s) in self._targets]
            segments.append(
                Segment(
                    segment=segment,
                    lp=self.lp,
                    source=self.source(segment),
                    translations={system: self.target(segment, system) for system in found},
                    references={} if known is None else known.references,
                    document=documents[segment],
                    domain="" if known is None else known.domain,
                )
            )
        return TestSet(name=name, segments=tuple(segments))


def _plain(text: str) -> str:
    return "".join(normalize("NFC", text).split())


def _segment_ids(rows: Iterable[Row]) -> dict[tuple[str, str, str], str]:
    keys = [*dict.fromkeys((row.document, row.position, row.segment) for row in rows)]
    own = [segment for _, _, segment in keys]
    placed = [f"{document}:{position or segment}" for document, position, segment in keys]
    if "" not in own and len({*own}) == len(keys):
        return dict(zip(keys, own, strict=True))
    if len({*placed}) == len(keys):
        return dict(zip(keys, placed, strict=True))
    return {key: ":".join(key) for key in keys}


def _numbers_in_documents(documents: Iterable[str]) -> Iterator[int]:
    counts: Counter[str] = Counter()
    for document in documents:
        counts[document] += 1
        yield counts[document]


def _split_names(rows: Iterable[Row]) -> dict[str, tuple[str, str]]:
    stated: dict[str, str | None] = {}  # None where the file does not say it, empty for nobody
    for row in rows:
        partner = None if row.ours is None else row.ours.get("with", "")
        stated[row.system] = stated.get(row.system) or (partner if isinstance(partner, str) else None)
    split = {}
    for name, known in stated.items():
        system, _, other = name.partition("_with_")
        both = known is None and other and f"{other}_with_{system}" in stated
        beside = other if both else known or ""
        split[name] = (name.removesuffix(f"_with_{beside}") if beside else name, beside)
    return split


def _tokens(rows: Iterable[Row]) -> dict[tuple[str, str, str, str], object]:
    found: dict[tuple[str, str, str, str], object] = {}
    for row in rows:
        segment = row.metadata.get("segment")
        for side in ("source", "target"):
            if isinstance(segment, Mapping) and f"{side}_tokens" in segment:
                found.setdefault((row.document, row.position, row.system, side), segment[f"{side}_tokens"])
    return found


def _most_common(rows: Iterable[tuple[K, str, str]]) -> dict[K, str]:
    counts: defaultdict[K, Counter[str]] = defaultdict(Counter)
    for key, _, text in dict.fromkeys(rows):
        counts[key][text] += 1
    return {key: texts.most_common(1)[0][0] for key, texts in counts.items()}


def write_mqm_tsv(path: Path, records: Iterable[Record], test_set: TestSet) -> Counter[str]:
    """Write the annotations of one language pair, one line an error, in the columns of Marot.

    Read back, they are equal.

    What a TSV cannot hold and how often it was left out.
    """
    lp = single_lp(test_set)
    left_out: Counter[str] = Counter()
    chosen = list(annotations_among(records, left_out, lp))
    rows = list(_rows(chosen, test_set, path))
    write_lines(path, ("\t".join(row) for row in [COLUMNS, *rows]))
    judged = {(a.segment, a.system) for a in chosen}
    left_out["translations that nobody judged"] += sum(
        (s.segment, system) not in judged for s in test_set for system in s.translations
    )
    left_out["texts of references"] += sum(len(s.references) for s in test_set)
    left_out["segments whose domain or meta"] += sum(bool(s.domain or s.meta) for s in test_set)
    return +left_out


def _rows(annotations: Iterable[Annotation], test_set: TestSet, path: Path) -> Iterator[list[str]]:
    segments = {s.segment: s for s in test_set}
    places = _numbers_in_documents(segment.document for segment in test_set)
    positions = {s.segment: str(place) for s, place in zip(test_set, places, strict=True)}
    seen: set[tuple[str, str, str]] = set()
    for annotation in annotations:
        segment = segments.get(annotation.segment)
        if segment is None or annotation.system not in segment.translations:
            raise DataError(
                f"the test set has no translation by {annotation.system!r} of segment "
                f"{annotation.segment!r}, which {annotation.annotator!r} judged"
            )
        beside = [flag.removeprefix("with:") for flag in annotation.flags if flag.startswith("with:")]
        partner = beside[0] if beside else ""
        system = f"{annotation.system}_with_{partner}" if partner else annotation.system
        key = (annotation.segment, system, annotation.annotator)
        if key in seen:
            raise DataError(
                f"{key[2]!r} judged {system!r} of segment {key[0]!r} twice; a TSV would join the two"
            )
        seen.add(key)
        ids = [system, segment.document, positions[segment.segment], segment.segment, annotation.annotator]
        for index, span in enumerate(annotation.spans or [None]):
            texts = {"source": segment.source, "translation": segment.translations[annotation.system]}
            text = "" if span is None else texts[span.side]
            extras = render_extras(
                annotation, span, text, first=not index, partner=partner, document=segment.document
            )
            marked = [_mark(text, span, side) for side, text in texts.items()]
            row = [*ids, *marked, *_labels(span)]
            for name, cell in zip(COLUMNS, row, strict=False):
                if "\t" in cell or "\n" in cell:
                    raise DataError(
                        f"an MQM TSV cannot hold a tab or a line end, as in the {name} of segment "
                        f"{segment.segment!r}; write JSONL instead",
                        path=path,
                    )
                if not cell and name in {"system", "globalSegId", "rater"}:
                    raise DataError(f"an MQM TSV needs a {name} for segment {segment.segment!r}", path=path)
            yield [*row, json.dumps(extras, ensure_ascii=False) if extras else ""]


def _labels(span: ErrorSpan | None) -> tuple[str, str]:
    if span is None:
        return "No-error", "No-error"
    label = render_label(span.category, span.label)
    if label.strip().lower() in {*_CLEAN, _CHECK}:
        raise DataError(f"in an MQM TSV {label!r} is no category of an error")
    return label, span.severity.capitalize()


def _mark(text: str, span: ErrorSpan | None, side: str) -> str:
    if "<v>" in text or "</v>" in text:
        raise DataError(f"an MQM TSV cannot hold a text that has its tags in it: {text!r}")
    if span is None or span.side != side or span.start is None or span.end is None:
        return text
    return f"{text[: span.start]}<v>{text[span.start : span.end]}</v>{text[span.end :]}"
