"""One run, interrupted, resumed, read again, replayed elsewhere: the records are the same bytes."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adjudge.core.ask import Reply
from adjudge.core.segment import Subject
from adjudge.errors import DONE, FAILURES, AnswerError
from adjudge.judges._answers import ErrorList
from adjudge.store.run_directory import read_run_info
from tests.faults.conftest import KEY, call, write_set
from tests.faults.server import Server, judge, patient, running
from tests.faults.test_kill import arguments_of, asked, start


def in_words(payload: dict[str, Any]) -> str:
    """Every other answer stands in a code fence."""
    said = judge(payload)
    return said if said == '{"errors": []}' else f"Here it is:\n```json\n{said}\n```"


@pytest.fixture
def machine() -> Iterator[Server]:
    """A server of which nothing is left when it is stopped."""
    with running(in_words) as server:
        yield server


def interrupt(server: Server, test_set: Path, out: Path) -> set[str]:
    """Stop a run in the middle; what it asked."""
    server.delay = 0.05
    process = start(test_set, out, server)
    assert patient(120, lambda: len(server.log) >= 12)
    process.terminate()
    process.communicate(timeout=240)
    server.delay = 0.0
    return set(asked(server))


def records(out: Path) -> bytes:
    return (out / "records.jsonl").read_bytes()


def test_a_run_is_the_same_however_it_came_about(
    machine: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY_KEY", KEY)
    test_set, run = write_set(tmp_path / "set.jsonl", 20), tmp_path / "run"
    undisturbed = [*arguments_of(test_set, tmp_path / "undisturbed", machine), "--key-env", "CANARY_KEY"]
    assert call(*undisturbed) == DONE
    expected = records(tmp_path / "undisturbed")

    machine.fails(None)
    paid = interrupt(machine, test_set, run)
    machine.fails(None)
    same = [*arguments_of(test_set, run, machine), "--key-env", "CANARY_KEY"]
    same[same.index("--concurrency") + 1] = "3"
    assert call(*same) == DONE, "another concurrency, and now with a key"
    assert paid
    assert not paid & set(asked(machine)), "what was paid was not asked again"
    assert records(run) == expected

    monkeypatch.delenv("CANARY_KEY")
    machine.fails("500")
    assert call(*same, "--reparse") == DONE, "reads again without a key"
    assert records(run) == expected

    elsewhere = tmp_path / "another machine"
    shutil.move(run, elsewhere / "run")
    replay = ["run", "gemba-mqm", str(test_set), "--model", f"replay:{elsewhere / 'run'}"]
    assert call(*replay, "--out", str(elsewhere / "replayed")) == DONE
    assert records(elsewhere / "replayed") == expected
    here = ["run", "gemba-mqm", str(elsewhere / "run" / "test_set.jsonl"), "--out", str(elsewhere / "run")]
    assert call(*here, *same[5:], "--reparse") == DONE
    assert records(elsewhere / "run") == expected
    assert not machine.log, "nobody was asked"


def test_a_better_parser_reads_old_answers_for_nothing(
    machine: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test_set, run = write_set(tmp_path / "set.jsonl", 10), tmp_path / "run"
    today = tmp_path / "today"
    assert call(*arguments_of(test_set, today, machine)) == DONE
    read = ErrorList.read

    def strict(self: ErrorList, reply: Reply, subject: Subject) -> object:
        if "```" in reply.text:
            raise AnswerError("parse", "a fence")
        return read(self, reply, subject)

    with monkeypatch.context() as then:
        then.setattr(ErrorList, "read", strict)
        assert call(*arguments_of(test_set, run, machine)) == FAILURES
        before = read_run_info(run)
        assert before.failures == {"parse": 10}
    machine.fails("500")
    assert call(*arguments_of(test_set, run, machine), "--reparse") == DONE
    assert not machine.log
    assert records(run) == records(today)
    after = read_run_info(run)
    assert after.failures == {}
    assert (after.tokens, after.calls["asked"]) == (before.tokens, before.calls["asked"]), "nothing was paid"
    flags = [json.loads(line)["flags"] for line in records(run).splitlines()]
    assert flags.count(["extracted"]) == 10
