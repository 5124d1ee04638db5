"""Appraise's export of a campaign and its batches, both read and written, and an export as annotations.

An export is CSV without a heading, one submission a row. Twelve columns: login, target (test set and system),
item, `TGT` or `BAD`, both languages, score, document with its marks, whether a whole document was rated,
spans as JSON, start and end in seconds since 1970; with `--batch-info` also batch and database id. What is
submitted again is a new row, so that one item of one login may stand in several. Rows of one file come newest
first or oldest first: never rely on it. In MQM campaigns the score column says 0 for everything.

A span's offsets count UTF-16 units of the trimmed translation, and its end is *inclusive*; an omission has
the word `missing` in place of both. A severity is minor, major, or undecided: a mark that was being removed.
The key `error_type` is null where no type was asked for, and absent in spans that a machine marked before.

Batches are JSON, a list of tasks with about a hundred items each, with which a campaign starts; they show
what an export's items are. `place_of` and `units_of` turn places of Appraise into half-open code points and
back.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast, get_args

from adjudge.core.frozen import frozen
from adjudge.core.language import lp_among, pair_of
from adjudge.core.names import as_name
from adjudge.core.record import DUPLICATE, Annotation, ErrorSpan
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import AdjudgeError, DataError, names_file
from adjudge.formats.file_content import Content, placed, read_severity
from adjudge.formats.mqm_tsv import read_label
from adjudge.formats.text import csv_rows
from adjudge.store.files import Fields, read_fields, read_json, read_json_file, read_text, write_text

MISSING: Final = "missing"
OMISSION: Final = "accuracy/omission"
"""Category of an error that Appraise marks as missing."""

Kind = Literal["TGT", "BAD"]
"""A translation as it is, or one that was damaged to see whether people notice."""

_COLUMNS: Final = (12, 14)
_NUMBER: Final = r"-?[0-9]{1,12}(\.[0-9]{1,9})?"
_CHECKED: Final = {
    2: ("item must be a whole number", "[0-9]{1,9}"),
    3: (f"kind of item must be {' or '.join(get_args(Kind))}", "|".join(get_args(Kind))),
    6: ("score must be a plain number", _NUMBER),
    8: ("whether it is a whole document must be False or True", "False|True"),
    10: ("start time must be a plain number", _NUMBER),
    11: ("end time must be a plain number", _NUMBER),
}
"""Number of a column to what it must be: in words, and as a pattern."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AppraiseSpan:
    """One mark as the file has it."""

    start: int | None  # first UTF-16 unit, from 0; None for an omission
    end: int | None  # last UTF-16 unit, inclusive; None for an omission
    severity: str  # minor, major, critical or undecided
    error_type: tuple[str, ...] = ()  # category and subcategory; empty where none was asked for
    # whether a machine marked it and nobody touched it: the file has no `error_type` at all
    is_given: bool = False

    @property
    def is_missing(self) -> bool:
        return self.start is None


@dataclass(frozen=True, kw_only=True, slots=True)
class AppraiseRow:
    """One submission of one person."""

    login: str  # of the person; its last two characters are the batch in hexadecimal digits
    target: str  # as its batch has it: test set and system, such as `wmt23.ONLINE-A`, or the system alone
    item: int  # number within the batch
    kind: Kind  # whether the translation was damaged
    languages: tuple[str, str]  # codes of source and target, three letters each
    score: float  # what the slider said; 0 for everything in an MQM campaign
    document: str  # `DOC#SYSTEM` or `DOC`, then `#badN` and `#duplicateN` where it is one
    is_complete: bool  # whether the row rates a whole document
    spans: tuple[AppraiseSpan, ...]
    start: float  # first action, seconds since 1970
    end: float  # last action
    batch_columns: tuple[str, str] | None = None  # batch and database id as `--batch-info` writes them

    @property
    def batch(self) -> int:
        """Number of the batch, from its column or else from the login."""
        if self.batch_columns is not None and self.batch_columns[0].isdecimal():
            return int(self.batch_columns[0])
        found = re.search("[0-9a-fA-F]{2}$", self.login)
        if found is None:
            raise DataError(
                f"login {self.login!r} does not end in the batch's two hexadecimal digits, and there is no "
                "column with the batch: export with --batch-info"
            )
        return int(found.group(), 16)

    @property
    def is_tutorial(self) -> bool:
        return "tutorial" in self.document

    @property
    def is_duplicate(self) -> bool:
        """Whether it fills a batch up with what stands in another one, too."""
        return "#duplicate" in self.document


@frozen
class AppraiseFile:
    """One export."""

    rows: tuple[AppraiseRow, ...]  # every submission, in file order
    line_end: str = "\n"  # between rows


@names_file
def read_appraise(path: Path) -> AppraiseFile:
    """Read an export; every submission is kept."""
    text = read_text(path)
    rows = [_read_row(columns, line) for line, columns in csv_rows(text, path) if columns]
    return AppraiseFile(rows=tuple(rows), line_end="\r\n" if "\r\n" in text else "\n")


def _read_row(columns: list[str], line: int) -> AppraiseRow:
    if len(columns) not in _COLUMNS:
        raise DataError(
            f"wanted the 12 columns of Appraise, or 14 with its batches; got {len(columns)}", line=line
        )
    for number, (wanted, pattern) in _CHECKED.items():
        if not re.fullmatch(pattern, columns[number]):
            raise DataError(f"{wanted}, got {columns[number]!r}", line=line)
    spans = read_json(columns[9], line=line)
    if not isinstance(spans, list):
        raise DataError(f"spans must be a list, got {spans!r}", line=line)
    return AppraiseRow(
        login=as_name(columns[0], "annotator", line=line),
        target=as_name(columns[1], "system", line=line),
        item=int(columns[2]),
        kind=cast("Kind", columns[3]),
        languages=(columns[4], columns[5]),
        score=float(columns[6]),
        document=as_name(columns[7], "document", line=line),
        is_complete=columns[8] == "True",
        spans=tuple(appraise_span_from_json(span, line) for span in spans),
        start=float(columns[10]),
        end=float(columns[11]),
        batch_columns=(columns[12], columns[13]) if len(columns) == _COLUMNS[1] else None,
    )


def appraise_span_from_json(value: object, line: int | None = None) -> AppraiseSpan:
    """Make a mark of its JSON object."""
    fields = read_fields(value, frozenset({"start_i", "end_i", "severity", "error_type"}), "span", line=line)
    start, end = fields.values.get("start_i"), fields.values.get("end_i")
    is_missing = start == end == MISSING
    kinds = fields.values.get("error_type")
    if kinds is not None and not (isinstance(kinds, list) and all(isinstance(kind, str) for kind in kinds)):
        fields.fail(f"'error_type' must be null or a list of names, got {kinds!r}")
    return AppraiseSpan(
        start=None if is_missing else _offset(fields, "start_i"),
        end=None if is_missing else _offset(fields, "end_i"),
        severity=fields.name("severity"),
        error_type=tuple(kinds or ()),
        is_given="error_type" not in fields.values,
    )


def _offset(fields: Fields, key: str) -> int:
    found = fields.whole(key)
    if found is None:
        fields.fail(f"{key!r} must be a whole number, or {MISSING!r} in both offsets; got {fields.values!r}")
    return found


def render_columns(row: AppraiseRow) -> list[str]:
    return [
        *(row.login, row.target, str(row.item), row.kind, *row.languages),
        *(_render_number(row.score), row.document, str(row.is_complete)),
        json.dumps([*map(appraise_span_to_json, row.spans)], separators=(",", ":"), ensure_ascii=False),
        *(_render_number(row.start, "0.0"), _render_number(row.end, "0.0")),
        *(row.batch_columns or ()),
    ]


def _render_number(value: float, least: str = "0") -> str:
    return str(int(value)) if value == int(value) and least == "0" else repr(value)


def appraise_span_to_json(span: AppraiseSpan) -> Mapping[str, Any]:
    """The JSON object of a mark; one that a machine made has no type at all."""
    places = [MISSING if place is None else place for place in (span.start, span.end)]
    found: dict[str, Any] = {"start_i": places[0], "end_i": places[1], "severity": span.severity}
    return found if span.is_given else {**found, "error_type": list(span.error_type) or None}


def code_points(text: str, start: int, end: int) -> tuple[int, int]:
    """Half-open code points of half-open UTF-16 units; a character that is cut in two is taken whole.

    >>> code_points("a😀b", 1, 2)
    (1, 2)
    """
    units = _units(text)
    if len(units) == 2 * len(text):
        return start, end
    first = len(units[: 2 * start].decode("utf-16-le", "ignore"))  # half a character is none
    last = len(units[: 2 * end].decode("utf-16-le", "replace")) if end > start else first
    return first, last


def code_units(text: str, point: int) -> int:
    """UTF-16 units before a code point.

    >>> code_units("a😀b", 2)
    3
    """
    return len(_units(text[: max(point, 0)])) // 2


def _units(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


_WHITE: Final = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""What JavaScript takes for white space; Python takes U+001C to U+001F and U+0085, and no U+FEFF."""
_SHOWN: Final = re.compile(r"<br\s*/?>|.", re.DOTALL | re.IGNORECASE)
_BREAK: Final = re.compile(r"<br\s*/?>", re.IGNORECASE)


class Place(NamedTuple):
    """Half-open code points of a text, None where it has none; and what was odd: empty where nothing was.

    `span_clipped` where a part of a mark lies beyond what is shown, `span_bad_offsets` where all of it does.
    """

    start: int | None
    end: int | None
    odd: str = ""


def place_of(text: str, first: int, last: int) -> Place:
    """Where the units from the first to the last, both included, lie in a text."""
    shown, places = _shown(text)
    units = code_units(shown, len(shown))
    if not first <= last or first >= units:
        return Place(None, None, "span_bad_offsets")
    start, end = code_points(shown, first, min(last + 1, units))
    return Place(places[start][0], places[end - 1][1], "span_clipped" if last >= units else "")


def units_of(text: str, start: int, end: int) -> tuple[int, int] | None:
    """First and last unit of half-open code points; None where nothing of them is shown."""
    shown, places = _shown(text)
    first = bisect_right(places, start, key=itemgetter(1))
    after = bisect_left(places, end, key=itemgetter(0))
    return None if first >= after else (code_units(shown, first), code_units(shown, after) - 1)


@lru_cache(maxsize=16)  # the marks of a text come one after the other
def _shown(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    start = len(text) - len(text.lstrip(_WHITE))
    end = max(start, len(text.rstrip(_WHITE)))
    places = tuple(found.span() for found in _SHOWN.finditer(text, start, end))
    return _BREAK.sub("\n", text[start:end]), places


ITEMS: Final = "appraise items"
"""Key of `Segment.meta`: system to the [batch, item, document] where its translation was shown."""
SEGMENT: Final = "segmentID"
"""Key of `BatchItem.more`: id of the segment, in batches that we write and whose line does not say it."""

_ITEM_KEYS: Final = frozenset({
    *("itemID", "itemType", "documentID", "sourceID", "targetID", "sourceText", "targetText"),
    *("isCompleteDocument", "mqm", "_item"),
})  # fmt: skip
_MARKS: Final = re.compile(r"(#(bad|duplicate)[0-9]*)+$")


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchItem:
    """One translation as it is shown."""

    number: int
    kind: Kind  # whether it was damaged
    document: str  # `DOC#SYSTEM` or `DOC`, with its marks
    source_id: str  # name of the test set, or what begins with it
    target: str  # test set and system, parted by a point, or the system alone
    source: str  # text; may be HTML
    translation: str  # text that people see and mark
    is_complete: bool = False  # whether it is a whole document
    marked_before: object = ()  # spans given beforehand, or a tutorial's instruction, as the file has them
    # `SYSTEM | LINE | DOCUMENT` of the test set, lines counted from 0; None where nothing says it
    origin: str | None = None
    is_absent: frozenset[str] = frozenset()  # keys that the file does not have, though it could
    more: Mapping[str, object] = field(default_factory=dict)

    @property
    def system(self) -> str:
        """Who made the translation: `ONLINE-A` of `wmt23.ONLINE-A`, and all of `Claude-3.5`."""
        test_set, _, system = self.target.partition(".")
        return system if system and self.source_id.replace(".", "-").startswith(test_set) else self.target

    @property
    def text_id(self) -> str:
        """Id of the document alone."""
        return _MARKS.sub("", self.document).removesuffix(f"#{self.system}")

    @property
    def is_tutorial(self) -> bool:
        return "tutorial" in self.document

    @property
    def is_duplicate(self) -> bool:
        """Whether it fills the batch up with what stands in another one, too."""
        return "#duplicate" in self.document

    @property
    def line(self) -> int | None:
        """Line in the test set, from 0; None where nothing says it."""
        parts = (self.origin or "").split(" | ")
        return int(parts[1]) if len(parts) == 3 and parts[1].isdecimal() else None


@frozen
class Batch:
    """One task."""

    items: tuple[BatchItem, ...]  # in the order in which they are shown
    # what the campaign says of it: batchNo, sourceLanguage and others
    task: Mapping[str, Any] = field(default_factory=dict)

    @property
    def number(self) -> int:
        """Of the batch, from 1."""
        return int(self.task["batchNo"])

    @property
    def lp(self) -> str:
        return pair_of(self.task["sourceLanguage"], self.task["targetLanguage"])


@names_file
def read_batches(path: Path) -> tuple[Batch, ...]:
    found = read_json_file(path)
    if not isinstance(found, list) or not found:
        raise DataError("wanted a list of batches")
    return tuple(_read_batch(values, number) for number, values in enumerate(found, start=1))


def _read_batch(values: object, number: int) -> Batch:
    fields = read_fields(values, frozenset({"items", "task"}), f"batch {number}")
    items, task = fields.values.get("items"), fields.mapping("task")
    if not isinstance(items, list):
        fields.fail(f"'items' must be a list, got {items!r}")
    known = Fields(task, f"task of batch {number}")
    if known.whole("batchNo") is None:
        known.fail("'batchNo' is missing")
    known.text("sourceLanguage"), known.text("targetLanguage")
    read = [_read_item(item, f"item {place} of batch {number}") for place, item in enumerate(items, start=1)]
    keys = Counter((item.number, item.document, item.target, item.kind) for item in read)
    if twice := [key for key, count in keys.items() if count > 1]:
        fields.fail(f"item {twice[0][0]} of document {twice[0][1]!r} stands in it twice")
    return Batch(items=tuple(read), task=task)


def _read_item(values: object, what: str) -> BatchItem:
    if not isinstance(values, dict):
        raise DataError(f"{what} must be a JSON object, got {values!r}")
    fields = Fields(values, what)
    number, kind = fields.whole("itemID"), fields.text("itemType")
    if number is None or kind not in get_args(Kind):
        fields.fail(f"wanted a number as 'itemID' and TGT or BAD as 'itemType', got {number!r} and {kind!r}")
    return BatchItem(
        number=number,
        kind=cast("Kind", kind),
        document=fields.name("documentID"),
        source_id=fields.text("sourceID"),
        target=fields.name("targetID"),
        source=fields.text("sourceText"),
        translation=fields.text("targetText"),
        is_complete=fields.values.get("isCompleteDocument") is True,
        marked_before=fields.values.get("mqm", ()),
        origin=fields.optional_text("_item"),
        is_absent=frozenset({"mqm", "_item", "isCompleteDocument"} - values.keys()),
        more={key: value for key, value in values.items() if key not in _ITEM_KEYS},
    )


def write_batches(path: Path, batches: Iterable[Batch]) -> None:
    """Write batches with everything that `read_batches` found in them."""
    values = [{"items": [*map(item_to_json, batch.items)], "task": dict(batch.task)} for batch in batches]
    write_text(path, [json.dumps(values, indent=2)])


def item_to_json(item: BatchItem) -> dict[str, object]:
    values: dict[str, object] = {
        "mqm": item.marked_before,
        "documentID": item.document,
        "sourceID": item.source_id,
        "targetID": item.target,
        "sourceText": item.source,
        "targetText": item.translation,
        "itemType": item.kind,
        "_item": item.origin,
        "itemID": item.number,
        "isCompleteDocument": item.is_complete,
    }
    return {key: value for key, value in values.items() if key not in item.is_absent} | dict(item.more)


def batches_test_set(batches: Sequence[Batch], name: str) -> TestSet:
    """The translations that batches show, without tutorials and damaged ones.

    A segment's id is its line in the test set, from 1, where the batches say it; else `DOCUMENT:PLACE`. Its
    meta says under `ITEMS` where each system's translation was shown.
    """
    found: dict[tuple[str, str], Segment] = {}
    for batch, item, named in named_items(batches):
        if item.kind == "TGT" and not item.is_tutorial:
            seen = found.get((batch.lp, named))
            found[batch.lp, named] = _with(seen, batch, item, named)
    in_order = sorted(  # by line, where there is one; all others stay as they were shown
        found.values(), key=lambda s: (s.lp, int(s.segment) if s.segment.isdecimal() else 0)
    )
    return TestSet(name=name, segments=tuple(in_order))


def named_items(batches: Iterable[Batch]) -> Iterator[tuple[Batch, BatchItem, str]]:
    """Items of batches and the ids of their segments: as said, the line, from 1, or else `DOCUMENT:PLACE`.

    A place is that of a source in its document, in the order shown, since a document may go on in another
    batch; a source that stands in it several times has as many places.
    """
    places: defaultdict[tuple[str, str], dict[tuple[str, int], int]] = defaultdict(dict)
    for batch in batches:
        times: Counter[tuple[str, str, str]] = Counter()
        for item in batch.items:
            source = (item.document, item.target, item.source)
            times[source] += 1
            known = places[batch.lp, item.text_id]
            place = known.setdefault((item.source, times[source]), len(known) + 1)
            named = f"{item.text_id}:{place}" if item.line is None else str(item.line + 1)
            yield batch, item, str(item.more.get(SEGMENT, named))


def _with(seen: Segment | None, batch: Batch, item: BatchItem, named: str) -> Segment:
    shown: dict[str, list[list[object]]] = cast("Any", seen.meta[ITEMS]) if seen else {}
    translations = dict(seen.translations) if seen else {}
    same = translations.setdefault(item.system, item.translation) == item.translation
    if not same or (seen is not None and seen.source != item.source):
        raise DataError(
            f"item {item.number} of batch {batch.number} shows segment {named} with another text than an "
            "item before"
        )
    here = [batch.number, item.number, item.document]
    return Segment(
        segment=named,
        lp=batch.lp,
        source=item.source,
        translations=translations,
        document=item.text_id,
        meta={ITEMS: {**shown, item.system: [*shown.get(item.system, []), here]}},
    )


_Item = tuple[int, int, str]
"""Batch, number and document."""


def find_batch_file(path: Path) -> Path | None:
    """The batches of an export: `batches-STEM.json` beside it, or the only `batches*.json` there."""
    own = path.with_name(f"batches-{path.stem}.json")
    found = [own] if own.exists() else [*path.parent.glob("batches*.json")]
    return found[0] if len(found) == 1 else None


def find_batches(path: Path) -> TestSet | None:
    """The texts of an export's batches; None where `find_batch_file` finds none."""
    found = find_batch_file(path)
    return None if found is None else batches_test_set(read_batches(found), found.stem)


def names_items(test_set: TestSet) -> bool:
    """Whether a test set was made of batches, and says which item shows which segment."""
    return any(ITEMS in segment.meta for segment in test_set)


def last_submissions(rows: Iterable[AppraiseRow]) -> list[AppraiseRow]:
    """The last submission of each item of each login, by its end; of equal ends the later row."""
    last: dict[tuple[object, ...], AppraiseRow] = {}
    for row in rows:
        batch = row.batch_columns and row.batch_columns[0]
        key = (row.login, batch, row.item, row.document, row.target, row.kind)
        if key not in last or row.end >= last[key].end:
            last[key] = row
    return list(last.values())


@names_file
def read_appraise_records(path: Path, test_set: TestSet) -> Content[Annotation]:
    rows = read_appraise(path).rows
    shown = _items(test_set)
    met: Counter[str] = Counter()
    met["rows of tutorials, left out"] = sum(row.is_tutorial for row in rows)
    met["rows of damaged translations, left out"] = sum(row.kind == "BAD" for row in rows)
    judged = [row for row in rows if row.kind == "TGT" and not row.is_tutorial]
    last = last_submissions(judged)
    met["earlier submissions of an item, left out"] = len(judged) - len(last)
    protocol = protocol_of(judged)
    records = []
    for row in last:
        try:
            here = shown.get((row.batch, row.item, row.document), {})
            named = [system for system in here if f".{row.target}".endswith(f".{system}")]
            if not named:
                raise not_shown(row)
            system = max(named, key=len)
            records.append(annotation_of(row, here[system], system, protocol, met))
        except AdjudgeError as error:
            raise row_error(row, error) from error
    return Content(records=tuple(records), met=+met)


def row_error(row: AppraiseRow, error: AdjudgeError) -> DataError:
    return DataError(f"{row.login!r}, item {row.item}: {error}")


def not_shown(row: AppraiseRow) -> DataError:
    """That no batch has the item of a row."""
    what = f"item {row.item} of batch {row.batch}, document {row.document!r}, by {row.target!r}"
    return DataError(f"no batch shows {what}")


def shown_twice(batch: int, item: int, document: str) -> DataError:
    """That two batches of one number have an item, so that nobody knows which of the two was judged."""
    what = f"item {item} of batch {batch}, document {document!r}, is shown by two batches"
    return DataError(f"{what}: give each batch a batchNo of its own")


def protocol_of(rows: Iterable[AppraiseRow]) -> str:
    """Mqm where every score is 0, as Appraise writes it, unless no mark that people made has a type."""
    judged = [row for row in rows if not row.is_tutorial]
    marks = [span for row in judged for span in row.spans if not span.is_given]
    has_no_types = bool(marks) and not any(span.error_type for span in marks)
    return "esa" if has_no_types or any(row.score for row in judged) else "mqm"


def _items(test_set: TestSet) -> Mapping[_Item, Mapping[str, Segment]]:
    found: defaultdict[_Item, dict[str, Segment]] = defaultdict(dict)
    for segment in test_set:
        shown = cast("Mapping[str, Sequence[Sequence[Any]]]", segment.meta.get(ITEMS, {}))
        for system, places in shown.items():
            for batch, item, document in places:
                if found[batch, item, document].setdefault(system, segment) is not segment:
                    raise shown_twice(batch, item, document)
    if not found:
        raise DataError(
            f"{test_set.name!r} does not say which item shows which segment: give the campaign's batches"
        )
    return found


def annotation_of(
    row: AppraiseRow, about: Segment, system: str, protocol: str, met: Counter[str]
) -> Annotation:
    """What a row says of a translation."""
    lp_among(pair_of(*row.languages), [about.lp], f"batch {row.batch}")
    flags = {DUPLICATE} if row.is_duplicate else set()
    spans = []
    for span in row.spans:
        found, odd = read_span(span, about.translations[system])
        spans.append(found)
        if odd:
            flags.add(odd)
            met[f"spans with the flag {odd}"] += 1
    return Annotation(
        lp=about.lp,
        segment=about.segment,
        system=system,
        annotator=row.login,
        protocol=protocol,
        document=about.document,
        rating=row.score if protocol == "esa" else None,
        spans=tuple(spans),
        flags=tuple(sorted(flags)),
    )


def read_span(span: AppraiseSpan, text: str) -> tuple[ErrorSpan, str]:
    """An error span, and what was odd about its place; empty where nothing was.

    Also `span_clipped` where a part of it lies beyond the text, `span_bad_offsets` where all of it does.
    """
    severity, note = read_severity(span.severity)
    category, label = read_label("/".join(span.error_type))
    if span.is_missing and category is None and label is None:
        category = OMISSION
    start, end, odd = Place(None, None)
    if span.start is not None and span.end is not None:
        start, end, odd = place_of(text, span.start, span.end)
    return placed(text, start, end, severity=severity, category=category, note=note, label=label), odd
