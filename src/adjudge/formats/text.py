r"""Line-aligned text: line 3 of every file is segment 3. What `sacrebleu` and `comet-score` read too.

Lines end at "\n" and nowhere else. A line cannot hold a line end, and a file cannot say that a translation is
missing: both are refused when writing. The folder form is `source.txt`, `translations/SYSTEM.txt` and
`references/NAME.txt`, of one language pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

from adjudge.core.language import canonical_lp
from adjudge.core.segment import Segment, TestSet
from adjudge.core.wording import count
from adjudge.errors import DataError, UsageError, warn
from adjudge.store.files import find_files, read_lines, write_lines

__all__ = [
    "absent_translations",
    "as_holes",
    "check_file_name",
    "check_lines",
    "is_text_folder",
    "left_out",
    "read_aligned",
    "read_documents",
    "read_files",
    "read_text_folder",
    "single_lp",
    "split_names",
    "with_documents",
    "write_text_folder",
]

K = TypeVar("K")

_SOURCE: Final = "source.txt"
_BOM: Final = "\ufeff"


def read_aligned(files: Mapping[K, Path], *, keep_mark: bool = False) -> dict[K, list[str]]:
    """Read files that must have as many lines as the first of them.

    Args:
        files: what each file is, to its path.
        keep_mark: whether a byte-order mark is text.

    Raises:
        DataError: the lengths differ; names both files and both counts.
    """
    lines: dict[K, list[str]] = {}
    first: tuple[Path, int] | None = None
    for what, path in files.items():
        lines[what] = read_lines(path, keep_mark=keep_mark)
        found = len(lines[what])
        if first is None:
            first = (path, found)
        elif found != first[1]:
            counts = f"{path} has {count(found, 'line')}, {first[0]} has {first[1]}"
            raise DataError(f"{counts}; line-aligned files need equally many")
    return lines


def read_files(
    source: Path,
    translations: Mapping[str, Path],
    references: Mapping[str, Path],
    lp: str,
    name: str,
) -> TestSet:
    """Read line-aligned files as a test set whose segment ids are line numbers, from 1.

    Raises:
        DataError: a file cannot be read, is empty, or the lengths differ.
    """
    files = {"source": source}
    files |= {f"translation {n}": p for n, p in translations.items()}
    files |= {f"reference {n}": p for n, p in references.items()}
    lines = read_aligned(files)
    if not lines["source"]:
        raise DataError("the source has no line", path=source)
    for what, path in files.items():
        _warn_of_empty(lines[what], path)
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


def _warn_of_empty(lines: Sequence[str], path: Path) -> None:
    if empty := sum(not line.strip() for line in lines):
        message = f"{path}: empty lines: {empty} of {len(lines)}"
        warn(message)


def with_documents(test_set: TestSet, file: Path) -> TestSet:
    """Name the document of each segment: line 3 of the file is that of segment 3.

    Raises:
        DataError: the file has not one line for each segment, or an empty one.
        UsageError: the test set has several language pairs, or documents of its own.
    """
    single_lp(test_set)
    if any(segment.document for segment in test_set):
        raise UsageError(f"{test_set.name} names its documents already: leave out --documents")
    names = read_documents(file, len(test_set))
    named = (replace(segment, document=name) for segment, name in zip(test_set, names, strict=True))
    return replace(test_set, segments=tuple(named))


def read_documents(file: Path, segments: int) -> list[str]:
    """Read the document of each of so many segments, one a line.

    Raises:
        DataError: the file has not one line for each segment, or an empty one.
    """
    names = [line.strip() for line in read_lines(file)]
    if len(names) != segments:
        counts = f"{count(len(names), 'document')}, one a line, for {count(segments, 'segment')}"
        raise DataError(counts, path=file)
    if "" in names:
        raise DataError("the document is empty", path=file, line=names.index("") + 1)
    return names


def is_text_folder(path: Path) -> bool:
    """Whether a folder has the folder form of this format."""
    return bool(find_files(path, _SOURCE))


def read_text_folder(path: Path, lp: str | None) -> TestSet:
    """Read the folder form.

    Raises:
        UsageError: no lp was given; the files cannot say it.
        DataError: the lengths differ, or there is no source.
    """
    if lp is None:
        raise UsageError(f"line-aligned text does not say its language pair: add --lp ({path})")
    found = {
        kind: {file.name.removesuffix(".txt"): file for file in find_files(path, f"{kind}/*.txt")}
        for kind in ("translations", "references")
    }
    return read_files(path / _SOURCE, found["translations"], found["references"], lp, path.resolve().name)


def write_text_folder(path: Path, test_set: TestSet) -> Counter[str]:
    """Write the folder form.

    Returns:
        What it cannot hold and how often it was left out.

    Raises:
        DataError: a text has a line end in it, a reference is missing, or a name is no file name.
        UsageError: the test set has several language pairs.
    """
    single_lp(test_set)
    files = {path / _SOURCE: [s.source for s in test_set]}
    for name in test_set.systems:
        lines = [s.translations.get(name, "") for s in test_set]
        files[path / "translations" / f"{check_file_name(name)}.txt"] = lines
    for name in test_set.references:
        file = path / "references" / f"{check_file_name(name)}.txt"
        files[file] = _complete({s.segment: s.references.get(name) for s in test_set}, name)
    for file, lines in files.items():
        check_lines(lines, file)
    for file, lines in files.items():
        write_lines(file, lines)
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


def _complete(texts: Mapping[str, str | None], reference: str) -> list[str]:
    missing = [segment for segment, text in texts.items() if text is None]
    if missing:
        raise DataError(
            f"line-aligned text cannot say that a text is missing: reference {reference} lacks "
            f"{len(missing)} of {len(texts)} segments, the first is {missing[0]!r}"
        )
    return [text for text in texts.values() if text is not None]


def single_lp(test_set: TestSet) -> str:
    """The only language pair of a test set.

    Raises:
        UsageError: it has several; names them.
    """
    if len(test_set.lps) != 1:
        raise UsageError(f"choose one language pair with --lp: {', '.join(test_set.lps)}")
    return test_set.lps[0]


def check_lines(lines: Sequence[str], file: Path, *, keep_mark: bool = False) -> None:
    r"""Refuse texts that would not come back from line-aligned text as they are.

    Args:
        lines: the texts.
        file: where they go.
        keep_mark: whether the reader takes a byte-order mark as text.

    Raises:
        DataError: a "\n" inside a text, a byte-order mark at the start, or a "\r" at the end of every line.
    """
    for number, line in enumerate(lines, start=1):
        if "\n" in line:
            message = "line-aligned text cannot hold a line end inside a segment; write JSONL instead"
            raise DataError(message, path=file, line=number)
    if lines and lines[0].startswith(_BOM) and not keep_mark:
        message = (
            "line-aligned text cannot hold a first segment that starts with U+FEFF: who reads it takes that "
            "for a byte-order mark and drops it; take it out of the text, or write JSONL instead"
        )
        raise DataError(message, path=file, line=1)
    if lines and all(line.endswith("\r") for line in lines):
        raise DataError("lines that all end in a carriage return are read as Windows line ends", path=file)


def check_file_name(name: str) -> str:
    """Let a name through that can be a file's name.

    Raises:
        DataError: it cannot.
    """
    bad = any(char in name for char in "/\\\0\n") or name.startswith(".") or not name
    if bad or len(name.encode(errors="replace")) > 200:
        raise DataError(f"{name!r} cannot be the name of a file; rename the system or write JSONL instead")
    return name


def split_names(texts: Iterable[str], what: str) -> dict[str, Path]:
    """Read `NAME=FILE` or `FILE`, whose stem is then the name.

    Raises:
        UsageError: two files of one name, or a name or file that is empty.
    """
    found: dict[str, Path] = {}
    for text in texts:
        name, equals, file = text.partition("=")
        if not equals or Path(text).exists():
            name, file = _stem(text), text
        if not name.strip() or not file:
            raise UsageError(f"a {what} is given as NAME=FILE or FILE, got {text!r}")
        if name in found:
            raise UsageError(f"two files of {what} {name!r}: {found[name]} and {file}; name them, NAME=FILE")
        found[name] = Path(file)
    return found


def _stem(file: str) -> str:
    return "stdin" if file == "-" else Path(file.removesuffix(".gz")).stem
