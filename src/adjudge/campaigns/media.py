"""Sources that are images, sounds or films: files beside the test set, copied into the campaign's folder."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from adjudge.campaigns.shown import MEDIA, Media
from adjudge.core.segment import Segment
from adjudge.errors import DataError

__all__ = ["FOLDER", "SUFFIXES", "copy_media", "find_media", "place_media", "read_media"]

FOLDER: Final = "media"

SUFFIXES: Final[Mapping[Media, frozenset[str]]] = {
    "image": frozenset({".gif", ".jpeg", ".jpg", ".png", ".webp"}),  # not .svg: it may hold scripts
    "audio": frozenset({".m4a", ".mp3", ".oga", ".ogg", ".opus", ".wav"}),
    "video": frozenset({".mp4", ".webm"}),
}
"""What browsers show of each kind."""


def read_media(segment: Segment) -> tuple[Media, str]:
    """Kind of a segment's source, and its text or the file it names.

    A source that is no text says so in its meta: `{"media": "image", "file": "x.png"}`.

    Raises:
        DataError: an unknown kind, or no file that browsers show.
    """
    kind = segment.meta.get("media", "text")
    if kind == "text":
        return "text", segment.source
    file = segment.meta.get("file")
    for known in MEDIA[1:]:
        if kind == known and isinstance(file, str) and PurePosixPath(file).suffix.lower() in SUFFIXES[known]:
            return known, file
    where = f"segment {segment.segment!r} of {segment.lp}"
    wanted = "; ".join(f"{name} ({', '.join(sorted(ends))})" for name, ends in SUFFIXES.items())
    raise DataError(f"{where}: media is one of {wanted}; got media {kind!r} with file {file!r}")


def find_media(segments: Iterable[Segment], folder: Path | None) -> dict[str, Path]:
    """Files that segments name, each once.

    Args:
        segments: of a test set.
        folder: in which the files are; nothing outside of it is ever read.

    Raises:
        DataError: a file that is not there, or lies outside.
    """
    named: dict[str, Path] = {}
    for segment in segments:
        media, file = read_media(segment)
        if media != "text" and file not in named:
            named[file] = _inside(file, folder, f"segment {segment.segment!r} of {segment.lp}")
    return named


def _inside(file: str, folder: Path | None, where: str) -> Path:
    if folder is None:
        raise DataError(
            f"{where} names the file {file!r}, and no folder of media files was given: add --media DIR"
        )
    if "\0" in file:
        raise DataError(f"{where}: {file!r} is no name of a file")
    path = (folder / file).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise DataError(f"{where}: {file!r} lies outside of {str(folder)!r}")
    if not path.is_file():
        raise DataError(f"{where}: there is no file {file!r} in {str(folder)!r}")
    return path


def place_media(named: Mapping[str, Path]) -> dict[str, str]:
    """Address of each file below the campaign's folder, under a name of ours; equal files are one."""
    found = {}
    for file, path in named.items():
        with path.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        found[file] = f"{FOLDER}/{digest[:32]}{path.suffix.lower()}"
    return found


def copy_media(named: Mapping[str, Path], places: Mapping[str, str], folder: Path) -> None:
    """Copy files to their places below a folder."""
    for file, path in named.items():
        (folder / FOLDER).mkdir(exist_ok=True)
        shutil.copyfile(path, folder / places[file])
