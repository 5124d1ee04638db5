"""kill -9 with calls in flight: what a server was asked is what was counted and what is said to be lost."""

import math
import shutil
from functools import partial
from pathlib import Path

import pytest

from adjudge.store.run_directory import read_run_info
from tests.faults.conftest import call, write_set
from tests.faults.server import Server, patient
from tests.faults.test_kill import WIDTH, arguments_of, fork, has_come_to

SIZE = 20
CALLS = 2 * SIZE


def calls_of(out: Path) -> dict[str, int]:
    return dict(read_run_info(out).calls)


def kill(test_set: Path, out: Path, server: Server, requests: int) -> None:
    """Start the run, and kill it once the server was asked so often; the last `WIDTH` have no answer.

    Then every call that is in flight is at the server, and none is only written down.
    """
    server.held_from = requests - WIDTH
    process = fork(test_set, out, server)
    assert patient(120, partial(has_come_to, server, process, requests))
    assert process.exitcode is None
    process.kill()
    process.join()
    server.held_from = math.inf


def test_what_was_in_flight_at_a_kill_is_counted_and_said(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    test_set, out = write_set(tmp_path / "set.jsonl", SIZE), tmp_path / "run"
    arguments = arguments_of(test_set, out, server)
    for requests in (8, 20, 38):  # at the start, and twice in the middle
        kill(test_set, out, server, requests)
    assert call(*arguments) == 0
    requests, found = len(server.log), calls_of(out)
    assert found["attempts"] == requests == CALLS + found["lost"]
    assert (found["asked"], 0 < found["lost"] <= 3 * 8) == (CALLS, True)
    said = f"{found['lost']} calls were in flight when the run was killed; they may have been paid"
    assert said in capsys.readouterr().err
    assert call(*arguments) == 0
    assert len(server.log) == requests
    assert found | calls_of(out) == found, "counted once"


def test_the_budget_counts_what_was_in_flight_with_the_most_it_can_cost(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    test_set, out = write_set(tmp_path / "set.jsonl", SIZE), tmp_path / "run"
    kill(test_set, out, server, 8)
    arguments = arguments_of(test_set, out, server)
    capsys.readouterr()
    assert call(*arguments, "--budget-tokens", "8000") == 4
    said = capsys.readouterr().err
    assert "tokens are paid" in said
    paid = int(said.partition("is reached: ")[2].split()[0].replace(",", ""))
    assert paid > 8 * 1000, "eight replies may have filled their room"
    assert calls_of(out) == {**calls_of(out), "attempts": 8, "lost": 8, "asked": 0}


def test_a_store_that_is_lost_after_a_kill_stops_the_run(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    test_set, out = write_set(tmp_path / "set.jsonl", SIZE), tmp_path / "run"
    kill(test_set, out, server, 30)
    for file in out.glob("calls.sqlite*"):
        file.unlink()
    server.fails(None)
    prices = tmp_path / "prices.toml"
    prices.write_text(
        'currency = "EUR"\n[[model]]\nnames = ["mock"]\nas_of = 2026-11-01\nprompt = 100\ncompletion = 1000\n'
    )
    arguments = [*arguments_of(test_set, out, server), "--prices", str(prices)]
    assert call(*arguments) == 2
    said = " ".join(capsys.readouterr().err.split())
    keys = (out / "answers.keys").stat().st_size // 32
    assert 30 - 3 * WIDTH < keys <= 30 - WIDTH
    assert f"rest on {keys} answers that the call store" in said
    assert f"{keys} calls, about " in said
    assert " EUR." in said
    assert not server.log, "nothing was asked"
    assert call(*arguments, "--ask-again") == 0
    assert len(server.log) == CALLS


def test_a_killed_shard_that_is_taken_in_brings_what_it_had_in_flight(server: Server, tmp_path: Path) -> None:
    test_set, out = write_set(tmp_path / "set.jsonl", SIZE), tmp_path / "run"
    whole = tmp_path / "whole"
    kill(test_set, whole, server, 8)
    part = out / "shards" / "1-of-2"
    shutil.copytree(whole, part)
    for name in ("test_set.jsonl", "run.json"):
        shutil.copy(whole / name, out)
    assert call(*arguments_of(test_set, out, server)) == 0
    assert calls_of(out) == {**calls_of(out), "attempts": CALLS + 8, "lost": 8}
