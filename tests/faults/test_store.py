"""Stores that cannot be written, are shared or damaged, and full disks: the run says so and goes on."""

import math
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from adjudge.errors import DONE, ERROR
from adjudge.store.run_directory import read_run_info
from tests.faults.conftest import Command, call, write_set
from tests.faults.server import Server, patient
from tests.faults.test_kill import arguments_of, asked, start

pytestmark = pytest.mark.usefixtures("_quick")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 400 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "none", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small disk; test_disk.py limits the size of files instead")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def finish(process: subprocess.Popen[bytes]) -> None:
    _, said = process.communicate(timeout=240)
    assert process.returncode == 0, said.decode()


def test_a_disk_that_is_full_stops_the_run_and_what_was_there_is_readable(
    server: Server, tmp_path: Path, small_disk: Path
) -> None:
    test_set = write_set(tmp_path / "set.jsonl", 60)
    assert call(*arguments_of(test_set, tmp_path / "undisturbed", server)) == DONE
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"\0" * 150_000)
    stopped = start(test_set, small_disk / "run", server)
    said = stopped.communicate(timeout=240)[1].decode()
    assert (stopped.returncode, "Traceback" in said) == (1, False), said
    assert "make room" in said or "disk" in said or "No space" in said, said
    assert not (small_disk / "run" / "records.jsonl").exists()
    ballast.unlink()
    before = stored(small_disk / "run" / "calls.sqlite")
    server.fails(None)
    # what is left may still be too small for the whole store: the rest goes elsewhere
    moved = tmp_path / "moved"
    subprocess.run(["cp", "-r", str(small_disk / "run"), str(moved)], check=True)
    assert call(*arguments_of(test_set, moved, server)) == DONE
    assert len(server.log) == 120 - before, "what was stored was not asked again"
    assert (moved / "records.jsonl").read_bytes() == (tmp_path / "undisturbed/records.jsonl").read_bytes()


def stored(store: Path) -> int:
    connection = sqlite3.connect(store)
    (count,) = connection.execute("SELECT count(*) FROM calls").fetchone()
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    return int(count)


def test_a_store_that_cannot_be_written_is_said_before_anything_is_paid(
    server: Server, command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shared = tmp_path / "shared.sqlite"
    assert command("--store", str(shared)) == DONE
    server.fails(None)
    with sealed(shared):
        assert command("--store", str(shared), out="second") == ERROR
    said = capsys.readouterr().err
    assert "call store" in said
    assert "--store" in said
    assert not server.log
    assert command("--store", str(shared), out="second") == DONE
    assert not server.log, "all of it was stored"


class sealed:  # noqa: N801 (reads as a word)
    """A file that even root cannot write: SQLite sees that it may only read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        self._connect: Callable[..., sqlite3.Connection] = sqlite3.connect

        def connect(database: object, **options: object) -> sqlite3.Connection:
            if str(database) == str(self._path):
                return self._connect(f"{self._path.as_uri()}?mode=ro", uri=True, **options)
            return self._connect(database, **options)

        sqlite3.connect = connect  # type: ignore[assignment]

    def __exit__(self, *error: object) -> None:
        sqlite3.connect = self._connect  # type: ignore[assignment]


def test_a_second_process_on_a_run_is_refused_and_the_first_goes_on(server: Server, tmp_path: Path) -> None:
    test_set = write_set(tmp_path / "set.jsonl", 30)
    server.held_from = 0  # the first must last until the second has started, on a busy machine too
    first = start(test_set, tmp_path / "run", server)
    assert patient(120, lambda: len(server.log) >= 8)
    second = start(test_set, tmp_path / "run", server)
    said = second.communicate(timeout=240)[1].decode()
    server.held_from = math.inf
    assert second.returncode == 1
    assert "another process is working on it" in said
    finish(first)
    assert len(asked(server)) == len(set(asked(server))) == 60


def test_two_runs_that_share_a_store_end_the_same_and_pay_next_to_nothing_twice(
    server: Server, tmp_path: Path
) -> None:
    test_set = write_set(tmp_path / "set.jsonl", 30)
    assert call(*arguments_of(test_set, tmp_path / "alone", server)) == DONE
    server.fails(None)
    server.delay, server.jitter = 0.01, 0.02
    shared = ["--store", str(tmp_path / "shared.sqlite")]
    program = "from adjudge.cli.main import main; main()"
    both = [
        subprocess.Popen(
            [sys.executable, "-c", program, *arguments_of(test_set, tmp_path / name, server), *shared],
            stderr=subprocess.PIPE,
        )
        for name in ("one", "two")
    ]
    for process in both:
        finish(process)
    alone = (tmp_path / "alone" / "records.jsonl").read_bytes()
    assert [(tmp_path / name / "records.jsonl").read_bytes() for name in ("one", "two")] == [alone, alone]
    assert stored(tmp_path / "shared.sqlite") == 60
    infos = [read_run_info(tmp_path / name) for name in ("one", "two")]
    assert sum(info.calls["asked"] for info in infos) == len(server.log), "each call is booked to one run"


def test_torn_rows_are_asked_again_and_said(
    server: Server, command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command() == DONE
    before = (tmp_path / "run" / "records.jsonl").read_bytes()
    connection = sqlite3.connect(tmp_path / "run" / "calls.sqlite")
    connection.execute("UPDATE calls SET reply = substr(reply, 1, length(reply) - 1) WHERE id = 1")
    connection.execute("UPDATE calls SET request = x'00' WHERE id = 2")
    connection.execute("UPDATE calls SET checksum = checksum + 1 WHERE id = 3")
    connection.commit()
    connection.close()
    server.fails(None)
    assert command() == DONE
    assert len(server.log) == 3
    assert "3 stored calls were damaged and were asked again" in capsys.readouterr().err
    assert (tmp_path / "run" / "records.jsonl").read_bytes() == before
