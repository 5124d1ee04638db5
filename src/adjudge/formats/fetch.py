"""Download a public test set into the cache: the only file of this room that touches the network.

A download goes on where it stopped. Its SHA-256 is kept beside it from the first fetch on, and a later fetch
that brings something else says so: mt-metrics-eval's archive changes in place. Archives are taken for
hostile: only plain files of the folder asked for are unpacked, none outside it, up to stated sizes.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import secrets
import shutil
import tarfile
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.client import HTTPException, HTTPMessage, HTTPResponse
from pathlib import Path, PurePosixPath
from typing import IO, Final, NamedTuple

from adjudge.errors import DataError, warn
from adjudge.formats.catalog import cache_folder, cached_path, find_public_set
from adjudge.store.files import write_text

Progress = Callable[[int, int | None], None]
"""Called with the bytes that are here, and with how many there will be if the server said so."""

_CHUNK: Final = 1 << 20
_TIMEOUT: Final = 60  # seconds without a byte


class Limits(NamedTuple):
    """What a download or an archive may not exceed."""

    download: int = 4 << 30
    unpacked: int = 20 << 30
    members: int = 200_000


_LIMITS: Final = Limits()


def fetch(name: str, *, progress: Progress | None = None, limits: Limits = _LIMITS) -> Path:
    """Download a public test set unless it is in the cache, and return where it lies."""
    entry = find_public_set(name)
    path = cached_path(entry)
    if path.exists():
        return path
    archive = cache_folder() / "downloads" / entry.url.rpartition("/")[2]
    if not archive.exists():
        download(entry.url, archive, progress=progress, limit=limits.download)
    if entry.inside:
        unpack(archive, entry.inside, path, limits)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        archive.replace(path)
    return path


def download(url: str, path: Path, *, progress: Progress | None = None, limit: int = _LIMITS.download) -> str:
    """Download a file, going on where an earlier call stopped, and return its SHA-256."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        with _open(url, part) as response:
            _receive(response, part, progress, limit)
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise DataError(f"cannot download {url}: {reason}; the same call goes on where it stopped") from error
    with part.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    size = part.stat().st_size
    log = path.with_name(path.name + ".json")
    fetched = json.loads(log.read_text()) if log.exists() else []
    if fetched and fetched[0]["sha256"] != digest:
        warn(
            f"{url} changed: SHA-256 {digest[:12]}, the first fetch was {fetched[0]['sha256'][:12]} of "
            f"{fetched[0]['time'][:10]}; scores may move"
        )
    now = datetime.now(UTC).isoformat(timespec="seconds")
    fetched.append({"url": url, "sha256": digest, "bytes": size, "time": now})
    write_text(log, [json.dumps(fetched, indent=2), "\n"])
    part.replace(path)
    _mark(part).unlink(missing_ok=True)
    return digest


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows to https, and from http to http; never to another scheme or out of encryption."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        if not newurl.startswith("https://") and not (
            req.full_url.startswith("http://") and newurl.startswith("http://")
        ):
            raise urllib.error.URLError(f"refusing to follow a redirect to {newurl}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _open(url: str, part: Path) -> HTTPResponse:
    """Ask for the file, or for the rest of it where a part is here and the server still has the same file."""
    if not url.startswith(("https://", "http://")):
        raise DataError(f"only http and https are downloaded, got {url!r}")
    headers = {"User-Agent": "adjudge", "Accept-Encoding": "identity"}
    mark = _mark(part)
    if part.exists() and mark.exists():
        headers |= {"Range": f"bytes={part.stat().st_size}-", "If-Range": mark.read_text()}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 (scheme checked above)
    try:
        response: HTTPResponse = urllib.request.build_opener(_Redirects).open(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code != 416:
            raise
        part.unlink()  # the part is the whole file, or longer: begin again
        mark.unlink()
        return _open(url, part)
    return response


def _mark(part: Path) -> Path:
    return part.with_name(part.name + ".etag")


def _receive(response: HTTPResponse, part: Path, progress: Progress | None, limit: int) -> None:
    here = part.stat().st_size if response.status == 206 else 0
    mark = _mark(part)
    version = response.headers.get("ETag") or response.headers.get("Last-Modified")
    if version and not version.startswith("W/"):
        mark.write_text(version)
    else:
        mark.unlink(missing_ok=True)
    stated = response.headers.get("Content-Length", "")
    total = here + int(stated) if stated.isascii() and stated.isdigit() else None
    if total is not None and total > limit:
        raise DataError(f"the download is {total} bytes, over the limit of {limit}")
    with part.open("ab" if here else "wb") as file:
        while chunk := response.read(_CHUNK):
            here += len(chunk)
            if here > limit:
                raise DataError(f"the download is over the limit of {limit} bytes")
            file.write(chunk)
            if progress is not None:
                progress(here, total)
        file.flush()
        os.fsync(file.fileno())
    if total is not None and here != total:
        raise OSError(f"{here} of {total} bytes arrived")


def unpack(archive: Path, inside: str, path: Path, limits: Limits = _LIMITS) -> None:
    """Unpack one folder or file of a gzipped tar archive; it appears whole or not at all."""
    new = path.with_name(f".{path.name}-{secrets.token_hex(4)}.part")
    try:
        with gzip.open(archive) as raw:
            with tarfile.open(fileobj=raw, mode="r|") as tar:
                count = sum(_unpack_member(tar, m, rest, new) for m, rest in _members(tar, inside, limits))
            # Read what follows the last member, so that the checksum at the end is looked at.
            size = 0
            while chunk := raw.read(_CHUNK):
                size += len(chunk)
                if size > limits.unpacked:
                    raise DataError(f"the archive has over {limits.unpacked} bytes after its last member")
        if not count:
            raise DataError(f"the archive has no {inside!r}", path=archive)
        new.replace(path)
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, OSError) as error:
        raise DataError(
            f"cannot unpack: {error}; delete the file to download it again", path=archive
        ) from error
    finally:
        if new.is_dir():
            shutil.rmtree(new)
        else:
            new.unlink(missing_ok=True)


def _members(
    tar: tarfile.TarFile, inside: str, limits: Limits
) -> Iterator[tuple[tarfile.TarInfo, PurePosixPath]]:
    size = 0
    for number, member in enumerate(tar, start=1):
        size += member.size
        if number > limits.members or size > limits.unpacked:
            raise DataError(f"the archive has over {limits.members} members or {limits.unpacked} bytes")
        name = PurePosixPath(member.name)
        if name.is_absolute() or ".." in name.parts or any(char in member.name for char in "\\\0"):
            raise DataError(f"the archive tries to leave its folder: {member.name!r}")
        root = member.name if name.name == inside else inside
        if not name.is_relative_to(root) or member.isdir():
            continue
        if not member.isreg() or member.issparse():
            raise DataError(f"the archive holds something that is no plain file: {member.name!r}")
        yield member, name.relative_to(root)


def _unpack_member(tar: tarfile.TarFile, member: tarfile.TarInfo, rest: PurePosixPath, new: Path) -> bool:
    target = new / rest
    target.parent.mkdir(parents=True, exist_ok=True)
    content = tar.extractfile(member)
    if content is None:
        raise DataError(f"the archive holds something that is no plain file: {member.name!r}")
    with target.open("xb") as file:
        shutil.copyfileobj(content, file, _CHUNK)
    return True
