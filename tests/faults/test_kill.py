"""kill -9 at any moment: no recorded call is asked again, and the records are those of an undisturbed run."""

import os
import random
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from adjudge.data.calls import CallReader
from adjudge.llm.delimiters import render_message
from tests.faults.conftest import write_set
from tests.faults.server import MARK, Server, patient

KILLS = int(os.environ.get("ADJUDGE_CHAOS_KILLS", "4"))
SIZE = 60


def start(test_set: Path, out: Path, server: Server) -> subprocess.Popen[bytes]:
    options = ["--base-url", server.url, "--model", "mock", "--concurrency", "8"]
    arguments = ["run", "gemba-mqm", str(test_set), "--out", str(out), *options]
    program = "from adjudge.cli.main import main; main()"
    return subprocess.Popen([sys.executable, "-c", program, *arguments], stderr=subprocess.PIPE)


def finish(process: subprocess.Popen[bytes]) -> None:
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said.decode()


def recorded(store: Path) -> set[str]:
    """What the last message of every stored call says, delimiters aside."""
    if not store.exists() or store.stat().st_size == 0:
        return set()
    reader = CallReader(store)
    found = {said(render_message(request.messages[-1], "0" * 16)) for request in reader.requests()}
    reader.close()
    return found


def has_come_to(server: Server, process: subprocess.Popen[bytes], goal: int) -> bool:
    return len(server.log) >= goal or process.poll() is not None


def said(content: str) -> str:
    return MARK.sub(r"<<\1>>", content)


def asked(server: Server) -> list[str]:
    return [said(payload["messages"][-1]["content"]) for payload in server.log]


def test_killed_runs_go_on_without_paying_twice_and_end_the_same(server: Server, tmp_path: Path) -> None:
    test_set = write_set(tmp_path / "set.jsonl", SIZE)
    server.delay = 0.004
    finish(start(test_set, tmp_path / "undisturbed", server))
    expected = (tmp_path / "undisturbed" / "records.jsonl").read_bytes()
    calls = len(set(asked(server)))
    assert calls == 2 * SIZE
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    kills, round_ = 0, 0
    while kills < KILLS:
        round_ += 1
        out = tmp_path / f"run{round_}"
        while True:
            known = recorded(out / "calls.sqlite")
            server.fails(None)
            process = start(test_set, out, server)
            goal = chance.randrange(1, max(2, (calls - len(known)) // 2 + 1))
            assert patient(30, partial(has_come_to, server, process, goal))
            is_last = len(known) == calls or kills >= KILLS
            if not is_last:
                process.kill()
                process.communicate()
                kills += 1
            else:
                finish(process)
            again = known & set(asked(server))
            assert not again, f"seed {seed}, kill {kills}: asked again: {sorted(again)[:3]}"
            if is_last:
                break
        assert (out / "records.jsonl").read_bytes() == expected, f"seed {seed}, kill {kills}"


@pytest.mark.parametrize("moment", ["start", "middle"])
def test_a_terminated_run_keeps_what_is_on_its_way(server: Server, tmp_path: Path, moment: str) -> None:
    test_set = write_set(tmp_path / "set.jsonl", SIZE)
    server.delay = 0.05
    process = start(test_set, tmp_path / "run", server)
    assert patient(30, lambda: len(server.log) >= (1 if moment == "start" else 40))
    process.terminate()
    _, err = process.communicate(timeout=30)
    assert process.returncode == 1
    assert b"goes on where it stopped" in err
    known = recorded(tmp_path / "run" / "calls.sqlite")
    assert known == set(asked(server)), "every call that was sent was kept"
    server.fails(None)
    server.delay = 0.0
    finish(start(test_set, tmp_path / "run", server))
    assert not known & set(asked(server))
