"""A disk that fills up stops a run with a clear word; the run goes on when there is room again."""

import subprocess
import sys
from pathlib import Path

from tests.faults.conftest import call, write_set
from tests.faults.server import Server

PROGRAM = """
import resource, sys
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
from adjudge.cli.main import main
main()
"""


def test_a_run_that_finds_no_room_stops_and_goes_on_later(server: Server, tmp_path: Path) -> None:
    test_set = write_set(tmp_path / "set.jsonl", 60)
    wire = ("--base-url", server.url, "--model", "mock", "--concurrency", "4", "--out")
    run = ("run", "gemba-mqm", str(test_set), *wire)
    assert call(*run, str(tmp_path / "undisturbed")) == 0
    expected = (tmp_path / "undisturbed" / "records.jsonl").read_bytes()
    for limit in (90_000, 130_000):
        out = tmp_path / f"run{limit}"
        stopped = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(limit), *run, str(out)],
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        assert stopped.returncode == 1, stopped.stderr
        assert "adjudge: call store" in stopped.stderr
        assert "Traceback" not in stopped.stderr
        assert not (out / "records.jsonl").exists()
        assert call(*run, str(out)) == 0
        assert (out / "records.jsonl").read_bytes() == expected
