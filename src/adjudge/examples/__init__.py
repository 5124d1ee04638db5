"""A small test set of our own with planted errors, gold that says where they are, and a judge to begin with.

Three language pairs of 16 segments, four systems. README.md in this folder tells how it was made; every
word of it was invented for this purpose, and no person annotated it. `new_judge/` is the package that
`adjudge new-judge` writes under another name.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

__all__ = ["path"]


def path(name: str) -> Path:
    """Path of a file of this folder, such as `test_set.jsonl`; the file need not exist."""
    return Path(str(files(__name__))) / name
