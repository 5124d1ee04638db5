"""Texts in rows: tables (CSV, TSV, Excel), messages of gettext (PO), translation memories (TMX).

A table has a heading and a column for each system, and perhaps for references, documents, ids, domains and
criteria. Of a workbook the first sheet is read: a formula is the text of the formula, never its result, and
numbers and dates are written out. A workbook is a zip archive of XML, and so is checked before it is opened.

In PO and TMX, translations are by the system `target`. A message of gettext is named by its context and text,
and one with plurals is a segment for each of its forms; fuzzy and obsolete messages are left out, and counted
in a warning. A unit of a memory is named by its `tuid`, or else by its place in the file (`TUID#PLACE` where
several have one `tuid`), and is a segment for each language of its translations, the second one of a language
by `target 2`; inline tags become placeholders, notes and properties go to `meta`.
"""

from __future__ import annotations

import csv
import io
import re
import tempfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, time
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from adjudge.core.extras import import_extra
from adjudge.core.language import canonical_lp, is_same_language, source_language
from adjudge.core.names import as_name
from adjudge.core.segment import CRITERIA, Segment, TestSet
from adjudge.core.wording import count, form
from adjudge.errors import DataError, UsageError, names_file, placing, warn
from adjudge.formats.score_file import SCORE_COLUMNS
from adjudge.formats.text import as_holes, csv_rows, unit_name
from adjudge.formats.xliff import SYSTEM, lp_of
from adjudge.formats.xml_text import LANG, Element, children, local_name, plain_text, read_xml
from adjudge.store.files import read_bytes, read_fields, read_json, read_text
from adjudge.store.json_lines import RECORD_KEYS

_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "source": ("source", "src", "source text", "source segment"),
    "reference": ("reference", "ref", "reference text", "reference translation"),
    "document": ("document", "doc", "document id", "doc id", "docid", "file"),
    "id": ("id", "segment", "segment id", "seg id", "segid", "key"),
    "domain": ("domain",),
    "lp": ("lp", "language pair", "langs"),
    "meta": ("note", "notes", "comment", "comments", "status", "state", "context"),
    "criteria": ("criteria",),
}
_OF_SCORES: Final = frozenset(SCORE_COLUMNS).union(*RECORD_KEYS.values())
"""Columns of tables of scores and of records, none of which is a system's."""
_WIDEST: Final = 16_384  # columns, as many as a spreadsheet has
_KINDS: Final = {word: kind for kind, words in _WORDS.items() for word in words}


def has_source(heading: Sequence[str]) -> bool:
    """Whether a row is the heading of such a table."""
    return any(_kind(cell) == "source" for cell in heading)


def _kind(cell: str) -> str:
    word = " ".join(cell.replace("_", " ").lower().split())
    if word.startswith(("reference ", "reference:", "ref:")):
        return "reference"
    return _KINDS.get(word, "system")


def read_table(rows: Iterable[Sequence[str]], path: Path | str, lp: str | None, *, name: str = "") -> TestSet:
    lines = iter(rows)
    heading = [as_name(cell, "system", path, 1) if cell.strip() else "" for cell in next(lines, [])]
    if not has_source(heading):
        raise DataError(f"a column 'source' was wanted, the heading has {', '.join(heading)!r}")
    _check_heading(heading)
    systems = [name for name in heading if name and _kind(name) == "system"]
    segments, empty = [], 0
    for number, row in enumerate(lines, start=1):
        if any(row):
            try:
                segment = _read_row(heading, row, str(number), lp, path)
            except DataError as error:
                raise DataError(f"row {number}: {error.message}") from error
            segments.append(segment)
            empty += len(systems) - len(segment.translations)
    if empty:
        warn(f"{path}: {count(empty, 'empty cell')} {form(empty, 'is', 'are')} read as not translated")
    if not segments:
        raise DataError("the table has no row")
    translated = {name for segment in segments for name in segment.translations} or systems
    if bare := [name for name in systems if name not in translated]:
        warn(f"{path}: no translation stands in column {', '.join(map(repr, bare))}, so that it is no system")
    name = name or Path(Path(path).name.removesuffix(".gz")).stem
    return TestSet(name=name, segments=as_holes(segments, translated))


def _check_heading(heading: Sequence[str]) -> None:
    if len(heading) > _WIDEST:
        raise DataError(f"a table of more than {_WIDEST:,} columns, and no more are read")
    names = [name for name in heading if name]
    if strange := [name for name in names if _kind(name) == "system" and name.lower() in _OF_SCORES]:
        raise DataError(
            f"a column {strange[0]!r} is of a table of scores, and holds no system's texts: a table of "
            "scores needs the columns system and score, and segment if it has a column source; the "
            f"heading has {', '.join(names)!r:.200}; "
            "texts are given in a column source and one column for each system, under its name; rename the "
            "column if it holds a system's texts"
        )
    kinds = [kind for name in names if (kind := _kind(name)) not in {"system", "reference", "meta"}]
    counted = (*Counter(names).items(), *Counter(kinds).items())
    if twice := next((word for word, count in counted if count > 1), None):
        raise DataError(f"two columns are {twice!r}: rename or take out one")


def _read_row(
    heading: Sequence[str], cells: Sequence[str], number: str, lp: str | None, path: Path | str
) -> Segment:
    if any(cells[len(heading) :]):
        raise DataError(f"{len(cells)} cells, and the heading has {len(heading)}")
    row = dict(zip_longest(heading, cells[: len(heading)], fillvalue=""))
    unnamed = (cell.strip() for name, cell in zip(heading, cells, strict=False) if not name)
    if text := next((cell for cell in unnamed if cell and not cell.isdecimal()), None):
        raise DataError(f"{text!r:.40} stands in a column without a name")
    found = {kind: {n: text for n, text in row.items() if n and text and _kind(n) == kind} for kind in _WORDS}
    one = {kind: next(iter(texts.values()), "") for kind, texts in found.items()}
    is_blank = not one["source"].strip()
    pair = one["lp"] or lp
    if pair is None:
        raise UsageError(f"{path} does not say its language pair: add --lp, such as --lp en-de")
    criteria = [line.strip() for line in one["criteria"].split("\n") if line.strip()]
    return Segment(
        segment=one["id"] if "id" in map(_kind, row) else number,
        lp=canonical_lp(pair),
        source=one["source"],
        translations={
            n: text for n, text in row.items() if n and (text or is_blank) and _kind(n) == "system"
        },
        references=found["reference"],
        document=one["document"],
        domain=one["domain"],
        meta=dict(found["meta"]) | ({CRITERIA: criteria} if criteria else {}),
    )


def is_csv_of_texts(first: str, path: Path) -> bool:
    """Whether a first line is the heading of a table; one column will do in a file that is called a table.

    One of scores may have the source, too, if it says its segments.
    """
    cells = _cells(first, _delimiter(first))
    is_named = path.name.lower().removesuffix(".gz").endswith((".csv", ".tsv"))
    is_scored = {"system", "score", "segment"} <= {SCORE_COLUMNS.get(cell.strip().lower()) for cell in cells}
    is_table = has_source(cells) and not is_scored and (len(cells) > 1 or is_named)
    if is_table:
        with placing(path):
            _check_heading([cell.strip() for cell in cells])
    return is_table


@names_file
def read_csv_texts(path: Path, lp: str | None = None) -> TestSet:
    """Read a test set; cells may hold line ends where they are quoted.

    What COMET reads, a list of JSON objects or one a line, is such a table: its keys are the heading.
    """
    text = read_text(path)
    if (start := text.lstrip("\r\n ")[:1]) in {"[", "{"}:
        lines = [(None, text)] if start == "[" else list(enumerate(text.split("\n"), start=1))
        values: list[Any] = [read_json(line, line=at) for at, line in lines if line.strip()]
        found = [
            read_fields(value, frozenset(_KINDS) | {"mt"}, f"segment {number}", path)
            for number, value in enumerate(values[0] if start == "[" else values, start=1)
        ]
        heading = list(dict.fromkeys(key for each in found for key in each.values))
        return read_table([heading, *([each.text(key, "") for key in heading] for each in found)], path, lp)
    rows = csv_rows(text, path, _delimiter(text.lstrip("\r\n ").partition("\n")[0]))
    return read_table((row for _, row in rows if row), path, lp)


def _delimiter(first: str) -> str:
    return max(",;\t|", key=lambda d: (has_source(cells := _cells(first, d)), len(cells)))


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line.rstrip("\r")], delimiter=delimiter), [])
    except csv.Error:
        return []


_LARGEST: Final = 256 << 20  # bytes of all its files, unpacked
_HARMLESS: Final = 16 << 20
_MOST_PACKED: Final = 200
_MOST_FILES: Final = 10_000
_MOST_ROWS: Final = 1 << 20  # of any sheet
_MOST_COLUMNS: Final = 500
_MOST_WIDE: Final = 1000  # rows that are formatted further to the right than that
_MOST_BLANK: Final = 10_000  # rows between two that say something
_TYPE: Final = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_ESCAPED: Final = re.compile("(?:_x[0-9A-Fa-f]{4}_)+")
"""Characters that the format writes as `_x000D_`, in UTF-16; `_x005F_` is an underline."""


@names_file
def read_xlsx(path: Path, lp: str | None = None) -> TestSet:
    openpyxl = import_extra("openpyxl")
    raw = read_bytes(path)
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            files = archive.infolist()
            size = sum(file.file_size for file in files)
            is_bomb = size > _HARMLESS and size > _MOST_PACKED * len(raw)
            if is_bomb or size > _LARGEST or len(files) > _MOST_FILES:
                raise DataError(
                    f"a workbook of {len(raw)} bytes unpacks to {size >> 20} MB in {len(files)} files"
                )
            for file in files:
                _check_part(archive, file)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise DataError(f"not an Excel workbook: {error}") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of styles and of features that no text needs
            book = openpyxl.load_workbook(io.BytesIO(raw), read_only=True, keep_links=False)
            sheets = book.worksheets
            rows = list(_xlsx_rows(sheets[0])) if sheets else []
    except DataError:
        raise
    except Exception as error:  # openpyxl raises whatever a damaged part makes it meet
        raise DataError(f"not an Excel workbook: {type(error).__name__}: {error}") from error
    if len(sheets) > 1:
        others = ", ".join(sheet.title for sheet in sheets[1:])
        warn(f"{path}: only the first sheet is read, not {others}")
    return read_table(rows, path, lp)


def _check_part(archive: zipfile.ZipFile, file: zipfile.ZipInfo) -> None:
    if not file.filename.lower().endswith((".xml", ".rels", ".vml")):
        return
    before = b""
    with archive.open(file) as part:  # never gives more than the archive said
        while chunk := part.read(1 << 20):
            if _TYPE.search((before + chunk).replace(b"\0", b"")):
                raise DataError(f"{file.filename} in the workbook has a document type")
            before = chunk[-32:]


def _xlsx_rows(sheet: Any) -> Iterator[list[str]]:  # noqa: ANN401 (openpyxl has no types)
    sheet.reset_dimensions()
    blank = wide = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        if number > _MOST_ROWS:
            raise DataError(f"a cell is below row {_MOST_ROWS:,}, the last of any sheet: delete it")
        wide += len(row) > _MOST_COLUMNS
        if wide > _MOST_WIDE or any(value is not None for value in row[_MOST_COLUMNS:]):
            raise DataError(
                f"row {number:,} reaches column {len(row):,}, and {_MOST_COLUMNS} are read: "
                "delete the columns to the right of the table, formats too"
            )
        if row.count(None) == len(row):  # a sheet may end with a million of them
            blank += 1
            continue
        if blank > _MOST_BLANK:
            raise DataError(
                f"row {number:,} comes after {blank:,} empty rows: delete what is there, or the rows between"
            )
        yield from [[]] * blank
        blank = 0
        cells = [_text(value) for value in row]
        while cells and not cells[-1]:
            cells.pop()
        yield cells


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return _ESCAPED.sub(
        lambda units: bytes.fromhex(re.sub("_x?", "", units[0])).decode("utf-16-be", "replace"), str(value)
    )


_CHARSET: Final = re.compile(rb"Content-Type:[^\n]*?charset=([\w.:-]+)", re.IGNORECASE)
_LINE: Final = re.compile(r"""(?:#.*|(?:msg[^\s"]+\s+)?"(?:[^"\\]|\\.)*+")?""", re.DOTALL)


@names_file
def read_po(path: Path, lp: str | None = None) -> TestSet:
    """Read a test set.

    `lp`: language pair; a PO file says its source language in `X-Source-Language` at most.
    """
    entries = _parse_po(path)
    header = entries.metadata
    languages = (header.get("X-Source-Language"), header.get("Language"))
    pair = lp_of(*languages, lp, path)
    left_out: Counter[str] = Counter()
    segments: list[Segment] = []
    known: dict[tuple[str | None, str], int] = {}
    for entry in entries:
        key = (entry.msgctxt, entry.msgid)
        first = entry.linenum if entry.obsolete else known.setdefault(key, entry.linenum)
        if first != entry.linenum:
            raise DataError(
                f"message {entry.msgid!r:.80} stands already in line {first}: take one out, or give each a "
                "msgctxt of its own",
                line=entry.linenum,
            )
        if kind := ("obsolete" if entry.obsolete else "fuzzy" if "fuzzy" in entry.flags else ""):
            left_out[kind] += 1
        else:
            segments += _read_entry(entry, unit_name(*key), pair)
    if left_out:
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(left_out.items()))
        warn(f"{path}: {counts} messages are left out")
    if not segments:
        raise DataError("the file has no message that is neither fuzzy nor obsolete")
    return TestSet(name=Path(path.name.removesuffix(".gz")).stem, segments=as_holes(segments, [SYSTEM]))


def _parse_po(path: Path) -> Any:  # noqa: ANN401 (polib has no types)
    polib = import_extra("polib")
    raw = read_bytes(path)
    if not raw:
        raise DataError("the file is empty")
    found = _CHARSET.search(raw)  # a template has CHARSET where it will stand
    charset = found[1].decode() if found and found[1].lower() != b"charset" else "utf-8"
    try:
        text = raw.decode(charset)
    except (LookupError, UnicodeDecodeError) as error:
        raise DataError(f"not {charset}, which its header names") from error
    for number, line in enumerate(io.StringIO(text.removeprefix("\ufeff"), newline=None), start=1):
        if not _LINE.fullmatch(line.strip()):  # polib takes the last letter of an open text for the quote
            raise DataError("not PO: a text must stand between quotes", line=number)
    with tempfile.TemporaryDirectory() as folder:  # polib splits a text, unlike a file, at U+2028, too
        copy = Path(folder) / "messages.po"
        copy.write_bytes(raw)
        try:
            return polib.pofile(str(copy), encoding=charset)
        except (OSError, ValueError, IndexError) as error:
            what = str(error).replace(str(copy), "").strip()
            raise DataError(f"not PO: {what or 'damaged'}") from error


def _read_entry(entry: Any, name: str, lp: str) -> Iterator[Segment]:  # noqa: ANN401 (the same)
    meta = {
        key: value
        for key, value in (
            ("context", entry.msgctxt),
            ("notes", [note for note in (entry.comment, entry.tcomment) if note]),
            ("places", [":".join(filter(None, place)) for place in entry.occurrences]),
            ("flags", list(entry.flags)),
        )
        if value
    }
    forms = {int(place): text for place, text in entry.msgstr_plural.items()} or {0: entry.msgstr}
    for place, text in sorted(forms.items()):
        is_plural = bool(entry.msgid_plural)
        source = entry.msgid_plural if is_plural and (place or len(forms) == 1) else entry.msgid
        yield Segment(
            segment=f"{name}[{place}]" if is_plural else name,
            lp=lp,
            source=source,
            translations={SYSTEM: text} if text or not source.strip() else {},
            meta=meta,
        )


_ANY_LANGUAGE: Final = "*all*"


@names_file
def read_tmx(path: Path, lp: str | None = None) -> TestSet:
    root = read_xml(path).root
    if local_name(root) != "tmx":
        raise DataError(f"TMX was wanted, got <{local_name(root)}>")
    header, body = (next(children(root, name), None) for name in ("header", "body"))
    default = _ANY_LANGUAGE if header is None else header.get("srclang", _ANY_LANGUAGE)
    units = [] if body is None else list(children(body, "tu"))
    times = Counter(unit.get("tuid") for unit in units)
    segments: list[Segment] = []
    for number, unit in enumerate(units, start=1):
        source, name = _source_of(unit.get("srclang", default), lp, path), unit.get("tuid")
        name = name and as_name(name, "segment", path, unit.sourceline)
        named = (f"{name}#{number}" if times[name] > 1 else name) if name else str(number)
        segments += _read_unit(unit, named, source, path)
    if not segments:
        raise DataError("no unit has both a text in the source language and a translation")
    return TestSet(name=path.stem, segments=tuple(segments))


def _source_of(language: str, lp: str | None, path: Path) -> str:
    if language.lower() != _ANY_LANGUAGE:
        return language
    if lp is None:
        raise UsageError(f"in {path} any language may be the source: add --lp, such as --lp en-de")
    return source_language(lp)


def _read_unit(unit: Element, name: str, source: str, path: Path) -> Iterator[Segment]:
    texts: dict[str, list[str]] = {}
    for variant in children(unit, "tuv"):
        said = variant.get(LANG) or variant.get("lang") or ""
        language = next((known for known in texts if is_same_language(known, said)), said)
        segment = next(children(variant, "seg"), None)
        if segment is not None:
            texts.setdefault(language, []).append(plain_text(segment))
    own = next((language for language in texts if is_same_language(language, source)), None)
    if own is None:
        return
    meta: dict[str, Any] = {
        "notes": [plain_text(note) for note in children(unit, "note")],
        "properties": {p.get("type", ""): plain_text(p) for p in children(unit, "prop")},
    }
    for language, found in texts.items():
        if language == own:
            continue
        systems = [SYSTEM, *(f"{SYSTEM} {number}" for number in range(2, len(found) + 1))]
        yield Segment(
            segment=name,
            lp=lp_of(own, language, None, path),
            source=texts[own][0],
            translations=dict(zip(systems, found, strict=True)),
            meta={what: value for what, value in meta.items() if value},
        )
