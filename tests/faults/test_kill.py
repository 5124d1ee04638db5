"""kill -9 at any moment: no recorded call is asked again, and the records are those of an undisturbed run."""

import os
import random
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from adjudge.cli.main import main
from adjudge.llm.model import render_message
from adjudge.store.calls import CallReader
from tests.faults.conftest import call, write_set
from tests.faults.seeded import quick_folder
from tests.faults.server import MARK, Server, patient

KILLS = int(os.environ.get("ADJUDGE_CHAOS_KILLS", "50"))
SIZE = 60
WIDTH = 8
FORKS = get_context("forkserver")
PRELOADED = (
    *("cli.main", "cli.judge_commands", "runs.engines", "runs.run", "runs.forecast", "runs.resume"),
    *("llm.remote", "llm.openai", "judges.gemba_mqm", "metrics"),
)
FORKS.set_forkserver_preload(["pydantic", "babel", *(f"adjudge.{name}" for name in PRELOADED)])


def start(test_set: Path, out: Path, server: Server) -> subprocess.Popen[bytes]:
    program = "from adjudge.cli.main import main; main()"
    arguments = arguments_of(test_set, out, server)
    return subprocess.Popen([sys.executable, "-c", program, *arguments], stderr=subprocess.PIPE)


def arguments_of(test_set: Path, out: Path, server: Server) -> list[str]:
    wire = ["--base-url", server.url, "--model", "mock", "--concurrency", str(WIDTH)]
    return ["run", "gemba-mqm", str(test_set), "--out", str(out), *wire]


def recorded(store: Path) -> set[str]:
    """What the last message of every stored call says, delimiters aside."""
    if not store.exists() or store.stat().st_size == 0:
        return set()
    reader = CallReader(store)
    found = {said(render_message(one.messages[-1], "0" * 16)) for one, _ in reader.answered(10**6)}
    reader.close()
    return found


def has_come_to(server: Server, process: ForkServerProcess, goal: int) -> bool:
    return len(server.log) >= goal or process.exitcode is not None


def said(content: str) -> str:
    return MARK.sub(r"<<\1>>", content)


def asked(server: Server) -> list[str]:
    return [said(payload["messages"][-1]["content"]) for payload in server.log]


@dataclass
class Toll:
    """What kills have cost.

    Args:
        kills: so many, in `runs` runs.
        recorded: calls that stood in the store when their process was killed, once a kill.
        lost: of them, no longer there afterwards.
        repaid: of them, asked again.
        in_flight: calls that were asked and not recorded when their process was killed.
        most: the most of them at one kill.
    """

    kills: int = 0
    runs: int = 0
    recorded: int = 0
    lost: int = 0
    repaid: int = 0
    in_flight: int = 0
    most: int = 0

    def count(self, before: set[str], after: set[str], asked: set[str]) -> None:
        self.kills += 1
        self.recorded += len(after)
        self.lost += len(before - after)
        self.repaid += len(before & asked)
        self.in_flight += len(asked - after)
        self.most = max(self.most, len(asked - after))


def fork(test_set: Path, out: Path, server: Server) -> ForkServerProcess:
    """Start a run in a process that has everything imported already, so that a kill costs little."""
    process = FORKS.Process(target=main, args=(arguments_of(test_set, out, server),))
    process.start()
    return process


def is_sound(store: Path) -> bool:
    connection = sqlite3.connect(store)
    found = connection.execute("PRAGMA integrity_check").fetchone()
    connection.close()
    return bool(found == ("ok",))


@pytest.mark.exhaustive
def test_killed_runs_go_on_without_paying_twice_and_end_the_same(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = random.randrange(2**32)
    chance, toll = random.Random(seed), Toll()
    with quick_folder() as folder:
        test_set = write_set(folder / "set.jsonl", SIZE)
        assert call(*arguments_of(test_set, folder / "undisturbed", server)) == 0
        expected = (folder / "undisturbed" / "records.jsonl").read_bytes()
        calls = len(set(asked(server)))
        assert calls == 2 * SIZE
        server.delay, server.jitter = 0.002, 0.004
        while toll.kills < KILLS:
            toll.runs += 1
            out = folder / f"run{toll.runs}"
            known = kill_and_go_on(server, test_set, out, chance, toll)
            assert is_sound(out / "calls.sqlite"), f"seed {seed}"
            server.fails(None)
            process = fork(test_set, out, server)
            process.join(240)
            assert process.exitcode == 0, f"seed {seed}"
            toll.repaid += len(known & set(asked(server)))
            assert (out / "records.jsonl").read_bytes() == expected, f"seed {seed}, {toll}"
    assert (toll.lost, toll.repaid) == (0, 0), f"seed {seed}, {toll}"
    assert toll.most <= WIDTH, f"seed {seed}, {toll}"
    if KILLS > 50:
        with capsys.disabled():
            print(f"\n{toll}")  # noqa: T201 (the figures of docs/benchmark-tables.md)


def kill_and_go_on(server: Server, test_set: Path, out: Path, chance: random.Random, toll: Toll) -> set[str]:
    """Kill one run again and again until all is recorded, or there were enough; what is recorded then."""
    known: set[str] = set()
    while len(known) < 2 * SIZE and toll.kills < KILLS:
        server.fails(None)
        process = fork(test_set, out, server)
        goal = chance.randrange(0, max(2, (2 * SIZE - len(known)) // 3 + 1))
        assert patient(120, partial(has_come_to, server, process, goal))
        time.sleep(chance.uniform(0, 0.01))
        process.kill()
        process.join()
        after = recorded(out / "calls.sqlite")
        toll.count(known, after, set(asked(server)))
        known = after
    return known


@pytest.mark.parametrize("moment", ["start", "middle"])
def test_a_terminated_run_keeps_what_is_on_its_way(server: Server, tmp_path: Path, moment: str) -> None:
    test_set = write_set(tmp_path / "set.jsonl", SIZE)
    server.delay = 0.05
    process = start(test_set, tmp_path / "run", server)
    assert patient(120, lambda: len(server.log) >= (1 if moment == "start" else 40))
    process.terminate()
    _, err = process.communicate(timeout=240)
    assert process.returncode == 130
    assert b"goes on where it stopped" in err
    known = recorded(tmp_path / "run" / "calls.sqlite")
    assert known == set(asked(server)), "every call that was sent was kept"
    server.fails(None)
    server.delay = 0.0
    assert call(*arguments_of(test_set, tmp_path / "run", server)) == 0
    assert not known & set(asked(server))
