"""The version of the package, and what it was built from: what stands in its installed files."""

from __future__ import annotations

import json
from importlib.metadata import version
from importlib.resources import files
from typing import Final, NamedTuple

__all__ = ["VERSION", "Build", "read_build"]

VERSION: Final = version("adjudge")


class Build(NamedTuple):
    """What a wheel was made from; None is unknown.

    Args:
        commit: of the repository; a plus at its end says that files differed from it.
        lock: sha256 of uv.lock, the versions that it was tested with.
    """

    commit: str | None = None
    lock: str | None = None


def read_build() -> Build:
    """Read what `hatch_build.py` wrote; an editable install has nothing, since its files change."""
    file = files("adjudge").joinpath("build.json")
    return Build(**json.loads(file.read_text())) if file.is_file() else Build()
