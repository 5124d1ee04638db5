"""Our own files, and the media files of a campaign."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.abc import Traversable
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse
from starlette.exceptions import HTTPException

from adjudge.campaigns.media import FOLDER
from adjudge.web.access import ServedHere, SignedIn

__all__ = ["ROUTER", "find_media"]

_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_MEDIA_TYPES: Final = {
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".m4a": "audio/mp4",
    ".mp3": "audio/mpeg",
    ".mp4": "video/mp4",
    ".oga": "audio/ogg",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".png": "image/png",
    ".wav": "audio/wav",
    ".webm": "video/webm",
    ".webp": "image/webp",
}
"""What a browser shows and never runs: no HTML, no SVG, no PDF."""
_NAME: Final = re.compile(r"[0-9a-f]{32}\.[a-z0-9]{3,4}")

ROUTER: Final = APIRouter(include_in_schema=False)


@dataclass(frozen=True, kw_only=True)
class _File:
    content: bytes
    kind: str
    tag: str


@ROUTER.get("/static/{path:path}")
async def static_file(path: str, request: Request) -> Response:
    """One of our own files; browsers ask each time whether it changed."""
    file = _own_files().get(path)
    if file is None:
        raise HTTPException(404)
    headers = {"ETag": file.tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.kind, headers=headers)


@cache
def _own_files() -> Mapping[str, _File]:
    """All there are: an address that is no key of this names no file, however it is written."""
    return {path: _read(entry) for path, entry in _walk(files("adjudge.web") / "static", "")}


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        elif PurePosixPath(entry.name).suffix in _TYPES:
            yield prefix + entry.name, entry


def _read(entry: Traversable) -> _File:
    content = entry.read_bytes()
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    return _File(content=content, kind=_TYPES[PurePosixPath(entry.name).suffix], tag=tag)


@ROUTER.get("/media/{path:path}")
def media_file(path: str, served: ServedHere, _: SignedIn) -> Response:
    """An image, a recording or a film that a task shows."""
    file = find_media(served.campaign.folder / FOLDER, path)
    if file is None:
        raise HTTPException(404)
    headers = {"Cache-Control": "private, no-cache", "Content-Disposition": "inline"}
    return FileResponse(file, media_type=_MEDIA_TYPES[file.suffix], headers=headers)


def find_media(folder: Path, name: str) -> Path | None:
    """The media file of that name; None for every other path, since a name is a digest and nothing else."""
    file = folder / name
    is_one = _NAME.fullmatch(name) and file.suffix in _MEDIA_TYPES and file.is_file()
    return file if is_one and not file.is_symlink() else None
