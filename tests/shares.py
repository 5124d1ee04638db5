"""With `--dist each` a worker collects and runs files of its own, and no other reads these.

So a file is compiled once, and what a module or a room sets up is set up once. Files are shared out by the
seconds that they took when all ran here before, in whatever checkout; by their size where that is not known.
"""

import heapq
import json
import os
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent
KEPT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "adjudge" / "test-seconds.json"


class Shares:
    """The controller's part."""

    def __init__(self, config: pytest.Config) -> None:
        self.marks = config.option.markexpr
        self.is_whole = not config.option.keyword
        self.known: dict[str, dict[str, float]] = {}
        with suppress(OSError, ValueError):
            self.known = json.loads(KEPT.read_text())
        self.took: defaultdict[str, float] = defaultdict(float)
        self.collected: dict[str, int] = {}
        self.files = shared_out(self.known.get(self.marks, {}), config.option.numprocesses)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["files"] = self.files[int(node.gateway.id.removeprefix("gw"))]

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        self.collected[node.gateway.id] = len(ids)

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self.session = session

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.took[report.nodeid.partition("::")[0]] += report.duration
        self.session.testscollected = sum(self.collected.values())  # xdist has those of one worker

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if exitstatus == pytest.ExitCode.OK and self.is_whole:
            with suppress(OSError):
                KEPT.parent.mkdir(parents=True, exist_ok=True)
                KEPT.write_text(
                    json.dumps(self.known | {self.marks: self.known.get(self.marks, {}) | self.took})
                )


def shared_out(seconds: dict[str, float], workers: int) -> list[list[str]]:
    """Test files for each worker: the longest first, each to the worker that has least."""
    files = {
        path.relative_to(TESTS.parent).as_posix(): path.stat().st_size for path in TESTS.rglob("test_*.py")
    }
    weights = {name: seconds.get(name, size / 2000) for name, size in files.items()}
    least: list[tuple[float, int]] = [(0, number) for number in range(workers)]
    shares: list[list[str]] = [[] for _ in least]
    for name in sorted(weights, key=lambda name: (-weights[name], name)):
        weight, number = least[0]
        shares[number].append(name)
        heapq.heapreplace(least, (weight + weights[name], number))
    return shares


def is_anothers(path: Path, config: pytest.Config) -> bool:
    """Whether a file is to be left to another worker."""
    files = getattr(config, "workerinput", {}).get("files")
    return (
        files is not None
        and path.match("test_*.py")
        and path.relative_to(TESTS.parent).as_posix() not in files
    )
