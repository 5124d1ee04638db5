r"""Text by lines: line-aligned files, as `sacrebleu` and `comet-score` read them, and what formats share.

Line 3 of every line-aligned file is segment 3. Lines end at "\n" and nowhere else. A line cannot hold a line
end, and a file cannot say that a translation is missing: both are refused when writing. The folder form is
`source.txt`, `translations/SYSTEM.txt` and `references/NAME.txt`, of one language pair.

Other formats take from here how rows of CSV and lines of JSON objects are read.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import dropwhile
from pathlib import Path
from typing import Final, TypeVar

from adjudge.core.language import canonical_lp
from adjudge.core.names import as_name, is_blank
from adjudge.core.segment import Segment, TestSet
from adjudge.core.wording import count
from adjudge.errors import DataError, UsageError, warn
from adjudge.store.files import Fields, find_files, read_json_lines, read_lines, write_lines, write_text

K = TypeVar("K")

_SOURCE: Final = "source.txt"
_SHORT_NAME: Final = re.compile(r"(?! )[^|\[\]\0-\x1f]{1,60}(?<! )")


def unit_name(*parts: str | None) -> str:
    """Name a unit after texts of its own, whatever else is in the file: short ones, or a start and a digest.

    `parts`: such as context and message; one that is absent is None.
    """
    said = [part for part in parts if part is not None]
    if all(_SHORT_NAME.fullmatch(part) and part.isascii() for part in said):
        return "|".join(said)
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
    return f"{' '.join('|'.join(said).split())[:40].strip()}|{digest}".lstrip("|")


def read_aligned(files: Mapping[K, Path], *, keep_mark: bool = False) -> dict[K, list[str]]:
    """Read files that must have as many lines as the first of them."""
    lines = {what: read_lines(path, keep_mark=keep_mark) for what, path in files.items()}
    first = next(iter(files))
    for what, path in files.items():
        if len(lines[what]) != len(lines[first]):
            raise DataError(
                f"{path} has {count(len(lines[what]), 'line')}, {files[first]} has {len(lines[first])}; "
                "line-aligned files need equally many; `adjudge align` fits a system's text that has line "
                "breaks of its own to the lines of the source"
            )
    return lines


def read_files(
    source: Path, translations: Mapping[str, Path], references: Mapping[str, Path], lp: str, name: str
) -> TestSet:
    """Read line-aligned files as a test set whose segment ids are line numbers, from 1."""
    files = {
        "source": source,
        **{f"translation {n}": p for n, p in translations.items()},
        **{f"reference {n}": p for n, p in references.items()},
    }
    lines = read_aligned(files)
    if not lines["source"]:
        raise DataError("the source has no line", path=source)
    for what, path in files.items():
        if empty := sum(not line.strip() for line in lines[what]):
            warn(f"{path}: empty lines: {empty} of {len(lines[what])}")
    lp = canonical_lp(lp)
    return TestSet(
        name=name,
        segments=tuple(
            Segment(
                segment=str(index + 1),
                lp=lp,
                source=text,
                translations={n: lines[f"translation {n}"][index] for n in translations},
                references={n: lines[f"reference {n}"][index] for n in references},
            )
            for index, text in enumerate(lines["source"])
        ),
    )


def with_documents(test_set: TestSet, file: Path) -> TestSet:
    """Name the document of each segment: line 3 of the file is that of segment 3."""
    single_lp(test_set)
    if any(segment.document for segment in test_set):
        raise UsageError(f"{test_set.name} names its documents already: leave out --documents")
    names = read_documents(file, len(test_set))
    named = (replace(segment, document=name) for segment, name in zip(test_set, names, strict=True))
    return replace(test_set, segments=tuple(named))


def read_documents(file: Path, segments: int) -> list[str]:
    """Read the document of each of so many segments, one a line."""
    names = read_lines(file)
    if len(names) != segments:
        raise DataError(
            f"{count(len(names), 'document')}, one a line, for {count(segments, 'segment')}", path=file
        )
    if "" in names:
        raise DataError("the document is empty", path=file, line=names.index("") + 1)
    return [as_name(name, "document", file, line) for line, name in enumerate(names, start=1)]


def is_text_folder(path: Path) -> bool:
    """Whether a folder has the folder form of this format."""
    return bool(find_files(path, _SOURCE))


def read_text_folder(path: Path, lp: str | None) -> TestSet:
    if lp is None:
        raise UsageError(f"line-aligned text does not say its language pair: add --lp ({path})")
    found = {
        kind: {file.name.removesuffix(".txt"): file for file in find_files(path, f"{kind}/*.txt")}
        for kind in ("translations", "references")
    }
    beside = [file.name for file in find_files(path, "*.txt") if file.name != _SOURCE]
    if beside and not found["translations"]:
        warn(
            f"{path} has no file in {path / 'translations'}, where systems are read: move those of systems "
            f"there that lie beside {_SOURCE}: {', '.join(beside[:3])}{', ...' if len(beside) > 3 else ''}"
        )
    return read_files(path / _SOURCE, found["translations"], found["references"], lp, path.resolve().name)


def write_text_folder(path: Path, test_set: TestSet) -> Counter[str]:
    """Write the folder form, and count what it cannot hold."""
    single_lp(test_set)
    files = {path / _SOURCE: [s.source for s in test_set]}
    for name in test_set.systems:
        lines = [s.translations.get(name, "") for s in test_set]
        files[path / "translations" / f"{check_file_name(name)}.txt"] = lines
    for name in test_set.references:
        file = path / "references" / f"{check_file_name(name)}.txt"
        texts = {s.segment: s.references.get(name) for s in test_set}
        missing = [segment for segment, text in texts.items() if text is None]
        if missing:
            raise DataError(
                f"line-aligned text cannot say that a text is missing: reference {name} lacks "
                f"{len(missing)} of {len(texts)} segments, the first is {missing[0]!r}"
            )
        files[file] = [text for text in texts.values() if text is not None]
    write_aligned(files)
    return left_out(test_set, holds_documents=False) + absent_translations(test_set)


def left_out(test_set: TestSet, *, holds_documents: bool) -> Counter[str]:
    """Count what a layout of lines cannot hold: ids, `meta`, and perhaps documents and domains."""
    numbers = {lp: iter(range(1, len(test_set) + 1)) for lp in test_set.lps}
    return +Counter(
        {
            "segment ids became line numbers": sum(s.segment != str(next(numbers[s.lp])) for s in test_set),
            "segments lost document or domain": sum(
                not holds_documents and bool(s.document or s.domain) for s in test_set
            ),
            "segments lost what stood in meta": sum(bool(s.meta) for s in test_set),
        }
    )


def absent_translations(test_set: TestSet) -> Counter[str]:
    """Count the translations that a layout has to write as empty texts."""
    systems = {lp: test_set.select(lp=lp).systems for lp in test_set.lps}
    absent = sum(name not in s.translations for s in test_set for name in systems[s.lp])
    return +Counter({"missing translations became empty texts": absent})


def as_holes(segments: Sequence[Segment], systems: Iterable[str]) -> tuple[Segment, ...]:
    """Segments, with a blank text by each system where a language pair has no translation."""
    translated, blank = {s.lp for s in segments if s.translations}, dict.fromkeys(systems, "")
    return tuple(s if s.lp in translated else replace(s, translations=blank) for s in segments)


def single_lp(test_set: TestSet) -> str:
    """The only language pair of a test set."""
    if len(test_set.lps) != 1:
        raise UsageError(f"choose one language pair with --lp: {', '.join(test_set.lps)}")
    return test_set.lps[0]


def write_aligned(files: Mapping[Path, Sequence[str]], *, keep_mark: bool = False) -> None:
    """Write line-aligned files, once all of their texts are known to come back as they are."""
    for file, lines in files.items():
        _check_lines(lines, file, keep_mark=keep_mark)
    for file, lines in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_lines(file, lines)


def _check_lines(lines: Sequence[str], file: Path, *, keep_mark: bool) -> None:
    r"""Refuse texts that would not come back."""
    for number, line in enumerate(lines, start=1):
        if "\n" in line:
            raise DataError(
                "line-aligned text cannot hold a line end inside a segment; write JSONL instead",
                path=file,
                line=number,
            )
    if lines and lines[0].startswith("\ufeff") and not keep_mark:
        raise DataError(
            "line-aligned text cannot hold a first segment that starts with U+FEFF: who reads it takes that "
            "for a byte-order mark and drops it; take it out of the text, or write JSONL instead",
            path=file,
            line=1,
        )
    if lines and all(line.endswith("\r") for line in lines):
        raise DataError("lines that all end in a carriage return are read as Windows line ends", path=file)


def check_file_name(name: str) -> str:
    """Let a name through that can be a file's name."""
    bad = any(char in name for char in "/\\\0\n") or name.startswith(".") or not name
    if bad or len(name.encode(errors="replace")) > 200:
        raise DataError(f"{name!r} cannot be the name of a file; rename the system or write JSONL instead")
    return name


def split_names(texts: Iterable[str], what: str) -> dict[str, Path]:
    """Read `NAME=FILE` or `FILE`, whose stem is then the name."""
    found: dict[str, Path] = {}
    for text in texts:
        name, equals, file = text.partition("=")
        if not equals or Path(text).exists():
            name, file = "stdin" if text == "-" else Path(text.removesuffix(".gz")).stem, text
        if is_blank(name) or not file:
            raise UsageError(f"a {what} is given as NAME=FILE or FILE, got {text!r}")
        name = as_name(name, what)
        if name in found:
            raise UsageError(f"two files of {what} {name!r}: {found[name]} and {file}; name them, NAME=FILE")
        found[name] = Path(file)
    return found


def csv_rows(
    text: str, path: Path, delimiter: str = ",", *, named: str = "CSV"
) -> Iterator[tuple[int, list[str]]]:
    """Read the rows of a table, each with the line where it ends; empty rows count, but for the first."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in dropwhile(lambda row: not "".join(row).strip(), rows):
            yield rows.line_num, row
    except csv.Error as error:
        raise DataError(f"not {named}: {error}", path=path, line=rows.line_num) from error


def write_csv(
    path: Path, rows: Iterable[Sequence[str]], delimiter: str = ",", *, line_end: str = "\n"
) -> None:
    """Write rows whose cells are text already."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=line_end).writerows(rows)
    write_text(path, [text.getvalue()])


def json_objects(path: Path, what: str) -> Iterator[Fields]:
    """Read a JSON object a line."""
    for line, value in read_json_lines(path):
        if not isinstance(value, dict):
            raise DataError(f"wanted an object, got {value!r}", path=path, line=line)
        yield Fields(value, what, path, line)
