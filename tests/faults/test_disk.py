"""A disk that fills up stops a run with a clear word; the run goes on when there is room again."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.conftest import write_set
from tests.faults.server import Server

PROGRAM = """
import resource, sys
limit = int(sys.argv.pop(1))
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
from adjudge.cli.main import main
main()
"""


def run(limit: int, test_set: Path, out: Path, server: Server) -> subprocess.CompletedProcess[str]:
    options = ["--base-url", server.url, "--model", "mock", "--concurrency", "4"]
    arguments = ["run", "gemba-mqm", str(test_set), "--out", str(out), *options]
    command = [sys.executable, "-c", PROGRAM, str(limit), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)


@pytest.mark.parametrize("limit", [90_000, 130_000])
def test_a_run_that_finds_no_room_stops_and_goes_on_later(server: Server, tmp_path: Path, limit: int) -> None:
    test_set = write_set(tmp_path / "set.jsonl", 60)
    assert run(0, test_set, tmp_path / "undisturbed", server).returncode == 0
    stopped = run(limit, test_set, tmp_path / "run", server)
    assert stopped.returncode == 1, stopped.stderr
    assert "adjudge: call store" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert not (tmp_path / "run" / "records.jsonl").exists()
    assert run(0, test_set, tmp_path / "run", server).returncode == 0
    records = (tmp_path / "run" / "records.jsonl").read_bytes()
    assert records == (tmp_path / "undisturbed" / "records.jsonl").read_bytes()
