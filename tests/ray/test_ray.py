"""`--engine ray` on a cluster of two workers: whoever is killed, the records are those of a local run.

`make ray` installs Ray and runs this.
"""

import gc
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from adjudge.errors import BudgetError
from adjudge.llm.model import render_message
from adjudge.runs.engines import run
from adjudge.runs.ray import import_ray
from adjudge.store.calls import CallReader
from adjudge.store.run_directory import read_run_info
from tests.faults.conftest import write_set
from tests.faults.server import MARK, Server, patient, running

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("ray", reason="Ray is not installed: `make ray` installs it and runs these tests")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # of a library that is not ours

SIZE = 120  # segments of two systems
WIDTH = 8
KILLED_AT = 60


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """A cluster of this machine with room for two workers."""
    library = import_ray()
    library.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=100 << 20,
        log_to_driver=False,
        logging_level="ERROR",
        namespace="adjudge",
    )
    yield library
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library.shutdown()
        gc.collect()  # what Ray leaves open is no leak of the next test


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running() as started:
        started.delay = 0.01
        yield started


@pytest.fixture(scope="module")
def expected(server: Server, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The records of a local run."""
    folder = tmp_path_factory.mktemp("local")
    judge(folder, server, engine="local")
    assert len(server.requests) == 2 * SIZE
    return (folder / "run" / "records.jsonl").read_bytes()


def judge(
    folder: Path, server: Server, engine: Literal["local", "ray"] = "ray", **more: Any
) -> dict[str, int]:
    """Run to the end; what `run.json` says of calls."""
    test_set = folder / "set.jsonl"
    if not test_set.exists():
        write_set(test_set, SIZE)
    options: dict[str, Any] = {"model": "mock", "base_url": server.url, "concurrency": WIDTH, **more}
    return dict(run("gemba-mqm", test_set, out=folder / "run", engine=engine, **options).info.calls)


def said(content: str) -> str:
    return MARK.sub(r"<<\1>>", content)


def recorded(out: Path) -> set[str]:
    """What the last message of every stored call says, in whichever store of the run."""
    found = set()
    for store in [*out.glob("shards/*/calls.sqlite"), *out.glob("calls.sqlite")]:
        if store.stat().st_size:
            reader = CallReader(store)
            found |= {said(render_message(one.messages[-1], "0" * 16)) for one, _ in reader.answered(10**6)}
            reader.close()
    return found


def asked(server: Server, since: int = 0) -> list[str]:
    return [said(payload["messages"][-1]["content"]) for payload in server.log[since:]]


def workers_of(ancestor: int) -> list[int]:
    """Processes of workers that descend from a process."""
    parents, found = {}, []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if (folder / "cmdline").read_bytes().startswith(b"ray::Worker"):
                found.append(int(folder.name))
        except OSError:  # it has ended meanwhile
            continue

    def descends(process: int) -> bool:
        while process and process != ancestor:
            process = parents.get(process, 0)
        return process == ancestor

    return [process for process in found if descends(process)]


def test_limits_hold_and_whoever_is_killed_nothing_recorded_is_paid_again_and_records_are_of_a_local_run(
    ray: Any, server: Server, expected: bytes, tmp_path: Path
) -> None:
    """One test, so that one cluster is started, whichever processes run the tests."""
    for kill in (kill_a_worker, kill_the_driver):
        folder = tmp_path / kill.__name__
        folder.mkdir()
        server.fails(None)
        known, since = kill(ray, server, folder)
        calls = judge(folder, server)
        assert (folder / "run" / "records.jsonl").read_bytes() == expected
        assert known, "else it died too early to show anything"
        assert not known & set(asked(server, since)), "what was recorded is not paid again"
        assert len(server.log) <= 2 * SIZE + 2 * WIDTH, "but what was under way, or being written"
        assert calls["asked"] == 2 * SIZE
        assert not (folder / "run" / "shards").exists()
    check_limits(server, expected, tmp_path / "limits")


def kill_a_worker(_: Any, server: Server, folder: Path) -> tuple[set[str], int]:
    """Have one of two workers killed with SIGKILL amid the next run; what will be recorded then."""
    known: set[str] = set()

    def kill(number: int) -> None:
        if number == KILLED_AT:
            victims = workers_of(os.getpid())
            assert len(victims) == 2
            os.kill(victims[0], signal.SIGKILL)
            known.update(recorded(folder / "run"))

    server.play = kill
    return known, KILLED_AT + 1


def kill_the_driver(ray: Any, server: Server, folder: Path) -> tuple[set[str], int]:
    """Kill the process that started a run with SIGKILL; what was recorded then."""
    test_set = write_set(folder / "set.jsonl", SIZE)
    wire = ["--base-url", server.url, "--model", "mock", "--concurrency", str(WIDTH), "--engine", "ray"]
    driver = subprocess.Popen(
        [
            *(sys.executable, "-c", "from adjudge.cli.main import main; main()", "run", "gemba-mqm"),
            *(str(test_set), "--out", str(folder / "run"), *wire),
        ],
        env={**os.environ, "RAY_ADDRESS": ray.get_runtime_context().gcs_address},
        stderr=subprocess.PIPE,
    )
    assert patient(120, lambda: len(server.log) >= KILLED_AT or driver.poll() is not None)
    driver.kill()
    _, err = driver.communicate()
    assert driver.returncode == -signal.SIGKILL, err.decode()
    assert read_run_info(folder / "run").counts["pending"]
    return recorded(folder / "run"), len(server.log)


def check_limits(server: Server, expected: bytes, folder: Path) -> None:
    """Calls at a time and a budget hold for all workers together."""
    folder.mkdir()
    server.fails(None)
    answered, at_once = 0, 0

    def count(_: int) -> None:
        nonlocal answered, at_once
        at_once = max(at_once, len(server.log) - answered)
        answered += 1

    server.play = count
    paid = 0
    for budget in (20_000, 24_000):
        with pytest.raises(BudgetError, match=f"of {budget:,} tokens are paid, and no worker's share"):
            judge(folder, server, budget_tokens=budget)
        assert paid < 120 * len(server.log) <= budget
        paid = 120 * len(server.log)
        info = read_run_info(folder / "run")
        assert info.tokens["prompt"] + info.tokens["completion"] == paid
        assert 0 < info.counts["judged"] <= info.calls["asked"] == len(server.log)
    assert judge(folder, server)["asked"] == len(server.log) == 2 * SIZE
    assert (folder / "run" / "records.jsonl").read_bytes() == expected
    assert WIDTH / 2 < at_once <= WIDTH
