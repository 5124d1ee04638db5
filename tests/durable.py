"""Whether a file is on the disk when it gets its name: before that, a power cut may leave the name empty."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest


def watch_names(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """Each name that a file gets from now on, and whether all of the file was synchronised by then."""
    named: list[tuple[str, bool]] = []
    synchronised: dict[int, tuple[int, int]] = {}
    fsync = os.fsync

    def noted(file: int) -> None:
        fsync(file)
        found = os.fstat(file)
        synchronised[found.st_ino] = (found.st_size, found.st_mtime_ns)

    def noting(name: Callable[..., None]) -> Callable[..., None]:
        def give(old: Path, new: Path) -> None:
            found = Path(old).stat()
            is_there = synchronised.get(found.st_ino) == (found.st_size, found.st_mtime_ns)
            named.append((Path(new).name, is_there))
            name(old, new)

        return give

    monkeypatch.setattr(os, "fsync", noted)
    for name in ("replace", "rename"):
        monkeypatch.setattr(os, name, noting(getattr(os, name)))
    return named
