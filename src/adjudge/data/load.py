"""Find out what a path holds and load the test set in it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from adjudge.core.segment import TestSet
from adjudge.data.jsonl import read_test_set
from adjudge.data.run_dir import INFO, TEST_SET, read_run
from adjudge.data.text import is_text_folder, read_files, read_text_folder, split_names
from adjudge.errors import DataError, UsageError

__all__ = ["load", "load_lines"]


def load(path: Path | str, lp: str | None = None) -> TestSet:
    """Load a test set.

    Args:
        path: JSONL file or run directory.
        lp: keep this language pair only.

    Raises:
        DataError: nothing there can be read as a test set; says what was looked for.
    """
    path = Path(path)
    if path.is_dir() and (path / INFO).is_file():
        test_set = read_run(path).test_set
        return test_set if lp is None else test_set.select(lp=lp)
    if path.is_dir() and (path / TEST_SET).is_file():
        return read_test_set(path / TEST_SET, lp=lp)
    if is_text_folder(path):
        return read_text_folder(path, lp)
    if path.is_file():
        return read_test_set(path, lp=lp)
    raise DataError(f"no test set {str(path)!r}: there is no such file or folder")


def load_lines(
    source: Path | str, translations: Iterable[str], references: Iterable[str], lp: str | None
) -> TestSet:
    """Load line-aligned files.

    Args:
        source: one segment a line; `-` is standard input.
        translations: `NAME=FILE`, or `FILE` whose stem is the system's name.
        references: the same.
        lp: language pair; text files do not say it.

    Raises:
        UsageError: no lp, or two files of one name.
        DataError: the files differ in length; names both and both counts.
    """
    if lp is None:
        raise UsageError("line-aligned files do not say their language pair: add --lp, such as --lp en-de")
    systems, refs = split_names(translations, "translation"), split_names(references, "reference")
    files = [Path(source), *systems.values(), *refs.values()]
    if sum(str(file) == "-" for file in files) > 1:
        raise UsageError("only one file can come from standard input")
    (name,) = split_names([str(source)], "source")
    return read_files(Path(source), systems, refs, lp, name)
