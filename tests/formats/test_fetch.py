"""Downloads from a server of our own, with its faults, and archives with hostile members."""

import gzip
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import DataError, DataWarning, UsageError
from adjudge.formats import catalog
from adjudge.formats.catalog import PublicSet
from adjudge.formats.fetch import Limits, download, fetch, unpack
from adjudge.formats.read import load
from tests.cli.calling import Asked

BODY = bytes(range(256)) * 64


class Handler(BaseHTTPRequestHandler):
    """Serves what the test put into its server."""

    server: "Server"

    def do_GET(self) -> None:
        """Answer as the server's fault says."""
        self.server.asked.append(self.headers.get("Range"))
        body, status = self.server.body, 200
        start = 0
        wanted = self.headers.get("Range")
        if self.path == "/redirect":
            self.send_response(302)
            self.send_header("Location", self.server.location)
            self.end_headers()
            return
        if self.path == "/missing":
            self.send_error(404)
            return
        if wanted and self.server.ranges and self.headers.get("If-Range") == self.server.etag:
            start, status = int(wanted.removeprefix("bytes=").removesuffix("-")), 206
            if start >= len(body):
                self.send_error(416)
                return
        self.send_response(status)
        if self.server.etag:
            self.send_header("ETag", self.server.etag)
        if self.server.stated:
            self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        stop = len(body) if self.server.stop_at is None else self.server.stop_at
        self.wfile.write(body[start:stop])

    def log_message(self, *args: object) -> None:
        """Stay quiet."""


class Server(ThreadingHTTPServer):
    """A server with one file and faults to choose."""

    body = BODY
    etag = '"v1"'
    ranges = True
    stated = True
    stop_at: int | None = None
    location = ""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str | None] = []

    @property
    def url(self) -> str:
        """Address of the file."""
        return f"http://127.0.0.1:{self.server_port}/file.tgz"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_file_is_downloaded_with_its_digest_and_progress(server: Server, tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    digest = download(server.url, tmp_path / "f", progress=lambda here, total: seen.append((here, total)))
    assert (tmp_path / "f").read_bytes() == BODY
    assert digest == hashlib.sha256(BODY).hexdigest()
    assert seen[-1] == (len(BODY), len(BODY))
    (record,) = json.loads((tmp_path / "f.json").read_text())
    assert (record["sha256"], record["bytes"], record["url"]) == (digest, len(BODY), server.url)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["f", "f.json"]


def test_a_download_that_broke_off_goes_on_where_it_stopped(server: Server, tmp_path: Path) -> None:
    server.stop_at = 1000
    with pytest.raises(DataError, match="1000 of 16384 bytes arrived; the same call goes on"):
        download(server.url, tmp_path / "f")
    assert not (tmp_path / "f").exists()
    server.stop_at = None
    download(server.url, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY
    assert server.asked == [None, "bytes=1000-"]


@pytest.mark.parametrize("fault", ["no ranges", "no version", "weak version", "changed"])
def test_a_server_that_cannot_go_on_sends_all_of_it_again(server: Server, tmp_path: Path, fault: str) -> None:
    server.stop_at = 1000
    server.ranges = fault != "no ranges"
    server.etag = {"no version": "", "weak version": 'W/"v1"'}.get(fault, server.etag)
    with pytest.raises(DataError, match="bytes arrived"):
        download(server.url, tmp_path / "f")
    server.stop_at = None
    if fault == "changed":
        server.etag, server.body = '"v2"', b"new" * 100
    download(server.url, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == server.body


def test_a_part_that_is_already_all_of_it_is_begun_again(server: Server, tmp_path: Path) -> None:
    (tmp_path / "f.part").write_bytes(BODY)
    (tmp_path / "f.part.etag").write_text(server.etag)
    download(server.url, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY
    assert server.asked == ["bytes=16384-", None]


@pytest.mark.parametrize("stated", [True, False])
def test_a_download_over_the_limit_is_refused(server: Server, tmp_path: Path, stated: bool) -> None:
    server.stated = stated
    with pytest.raises(DataError, match="over the limit of 1000"):
        download(server.url, tmp_path / "f", limit=1000)
    assert not (tmp_path / "f").exists()


def test_a_refused_or_unreachable_download_is_an_error(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot download .*Not Found"):
        download(server.url.replace("file.tgz", "missing"), tmp_path / "f")
    with pytest.raises(DataError, match=r"cannot download .*refused"):
        download("http://127.0.0.1:9/f", tmp_path / "f")
    for url in ("file:///etc/passwd", "ftp://localhost/x", "/etc/passwd"):
        with pytest.raises(DataError, match="only http and https"):
            download(url, tmp_path / "f")


def test_a_redirect_within_http_is_followed_and_another_refused(server: Server, tmp_path: Path) -> None:
    server.location = "/file.tgz"
    download(server.url.replace("file.tgz", "redirect"), tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY
    server.location = "ftp://127.0.0.1/x"
    with pytest.raises(DataError, match="cannot download"):
        download(server.url.replace("file.tgz", "redirect"), tmp_path / "g")


def test_a_file_that_changes_on_its_server_is_said_with_both_digests(server: Server, tmp_path: Path) -> None:
    first = download(server.url, tmp_path / "f")
    server.body = b"other"
    with pytest.warns(DataWarning, match=f"changed: SHA-256 .*first fetch was {first[:12]}"):
        download(server.url, tmp_path / "f")
    assert len(json.loads((tmp_path / "f.json").read_text())) == 2


# Archives...


def archive(path: Path, *members: tuple[str, Any]) -> Path:
    """Write a gzipped tar: text for a file, a TarInfo for anything else."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, content in members:
            if isinstance(content, tarfile.TarInfo):
                content.name = name
                tar.addfile(content)
            else:
                info = tarfile.TarInfo(name)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content.encode()))
    path.write_bytes(gzip.compress(buffer.getvalue()))
    return path


def special(kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo("x")
    info.type, info.linkname = kind, target
    return info


def test_only_the_folder_asked_for_is_unpacked(tmp_path: Path) -> None:
    path = archive(
        tmp_path / "a.tgz", ("v2/wmt23/s/a.txt", "a"), ("v2/wmt23/b.txt", "b"), ("v2/wmt230/c.txt", "c")
    )
    unpack(path, "v2/wmt23", tmp_path / "out")
    found = {p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert found == {"s/a.txt", "b.txt"}
    assert (tmp_path / "out" / "s" / "a.txt").read_text() == "a"


def test_a_single_file_is_unpacked_by_its_name(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.tgz", ("deep/in/mqm.tsv", "rows"))
    unpack(path, "mqm.tsv", tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_text() == "rows"


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([("in/../../evil", "x")], "tries to leave its folder"),
        ([("/etc/evil", "x")], "tries to leave its folder"),
        ([("in\\..\\evil", "x")], "tries to leave its folder"),
        ([("in/link", special(tarfile.SYMTYPE, "/etc/passwd"))], "no plain file"),
        ([("in/link", special(tarfile.SYMTYPE, "..")), ("in/link/evil", "x")], "no plain file"),
        ([("in/link", special(tarfile.LNKTYPE, "/etc/passwd"))], "no plain file"),
        ([("in/pipe", special(tarfile.FIFOTYPE))], "no plain file"),
        ([("in/device", special(tarfile.CHRTYPE))], "no plain file"),
        ([("in/a", "x"), ("in/a", "y")], "cannot unpack.*exists"),
        ([("in/a", "x"), ("in/a/b", "y")], "cannot unpack"),
        ([(f"in/{n}", "x") for n in range(11)], "over 10 members"),
        ([("elsewhere", "x" * 1001)], "or 1000 bytes"),
        ([("other/a", "x")], "has no 'in'"),
        ([], "has no 'in'"),
    ],
)
def test_a_hostile_archive_leaves_nothing_behind(
    tmp_path: Path, members: list[tuple[str, Any]], message: str
) -> None:
    (tmp_path / "work").mkdir()
    path = archive(tmp_path / "a.tgz", *members)
    with pytest.raises(DataError, match=message):
        unpack(path, "in", tmp_path / "work" / "out", Limits(members=10, unpacked=1000))
    assert not list((tmp_path / "work").iterdir())
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("damage", ["cut", "flipped", "no gzip"])
def test_a_damaged_archive_is_an_error(tmp_path: Path, damage: str) -> None:
    path = archive(tmp_path / "a.tgz", ("in/a", "x" * 5000))
    raw = path.read_bytes()
    broken = {"cut": raw[:-20], "flipped": raw[:-8] + b"\0\0\0\0" + raw[-4:], "no gzip": b"<html>"}
    path.write_bytes(broken[damage])
    with pytest.raises(DataError, match=r"cannot unpack: .*; delete the file to download it again"):
        unpack(path, "in", tmp_path / "out")
    assert not (tmp_path / "out").exists()


# A test set by its name...


@pytest.fixture
def entry(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PublicSet:
    entry = PublicSet(
        name="tiny",
        title="Tiny",
        url=server.url,
        lps=("en-de",),
        form="mtme",
        size="1 kB",
        licence="none",
        inside="v2/tiny",
    )
    server.body = archive(tmp_path / "src.tgz", ("v2/tiny/sources/en-de.txt", "Hello.\n")).read_bytes()
    monkeypatch.setattr(catalog, "CATALOG", (entry,))
    monkeypatch.setenv("ADJUDGE_CACHE", str(tmp_path / "cache"))
    return entry


def test_a_public_set_is_fetched_once_and_loaded_by_its_name(
    server: Server, entry: PublicSet, tmp_path: Path
) -> None:
    path = fetch("tiny")
    assert path == tmp_path / "cache" / "test-sets" / "tiny"
    assert load("tiny").segments[0].source == "Hello."
    assert fetch("tiny") == path
    assert len(server.asked) == 1


def test_sets_of_one_archive_share_its_download(
    server: Server, entry: PublicSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = [(f"v2/{name}/sources/en-de.txt", "x\n") for name in ("tiny", "other")]
    server.body = archive(tmp_path / "src.tgz", *members).read_bytes()
    monkeypatch.setattr(catalog, "CATALOG", (entry, replace(entry, name="other", inside="v2/other")))
    fetch("tiny")
    fetch("other")
    assert len(server.asked) == 1


def test_a_set_that_is_one_file_is_fetched(
    server: Server, entry: PublicSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.body = b"system\tdoc\n"
    monkeypatch.setattr(catalog, "CATALOG", (replace(entry, form="mqm-tsv", inside=""),))
    path = fetch("tiny")
    assert path.name == "tiny.tsv"
    assert path.read_bytes() == server.body


def test_a_name_that_nobody_knows_is_refused(entry: PublicSet) -> None:
    with pytest.raises(UsageError, match="the public ones are tiny"):
        fetch("wmt23")


def test_the_command_prints_where_the_test_set_lies(
    entry: PublicSet, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(capsys, "fetch", "tiny")
    assert asked.code == 0
    assert Path(asked.out.strip()).is_dir()
    assert "licence: none" in asked.err
