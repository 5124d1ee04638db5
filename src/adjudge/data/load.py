"""Find out what a path holds and load the test set in it."""

from __future__ import annotations

from pathlib import Path

from adjudge.core.segment import TestSet
from adjudge.data.jsonl import read_test_set
from adjudge.data.run_dir import INFO, TEST_SET, read_run
from adjudge.errors import DataError

__all__ = ["load"]


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
    if path.is_file():
        return read_test_set(path, lp=lp)
    raise DataError(f"no test set {str(path)!r}: there is no such file or folder")
