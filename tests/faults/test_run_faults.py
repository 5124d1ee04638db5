"""Every fault ends as a failure with its reason and exit code 3, or stops the run; none becomes a number."""

from pathlib import Path

import pytest

from adjudge.core.record import Annotation, Failure
from adjudge.errors import DONE, ERROR, FAILURES, STOPPED
from adjudge.llm.faults import Patience
from adjudge.store.run_directory import read_run, read_run_info
from tests.faults.conftest import Command, call, write_set
from tests.faults.server import Server

pytestmark = pytest.mark.usefixtures("_quick")


STOPS = {
    "401": "status 401",
    "402": "status 402",
    "403": "status 403",
    "404": "status 404",
    "429 quota": "insufficient_quota",
    "429 tomorrow": "86400 s",
    "error 200 quota": "insufficient_quota",
}

WRONG = {
    "400": "refuses every call: status 400",
    "405": "refuses every call: status 405",
    "422": "refuses every call: status 422",
    "redirect": "http://other.example",
    "other model": "--served-as",
}


@pytest.mark.parametrize("name", STOPS)
def test_no_key_no_money_no_model_stop_the_run(
    server: Server, command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    server.fails(None, name)
    assert command("--concurrency", "1") == STOPPED
    assert STOPS[name] in capsys.readouterr().err
    info = read_run_info(tmp_path / "run")
    assert info.counts == {"judged": 1, "failed": 0, "pending": 3}
    asked = len(server.log)
    server.fails(None)
    assert command() == DONE
    assert (asked, len(server.log)) == (2, 3)


def test_a_server_that_wants_a_key_and_gets_none_is_told_how(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.fails("401")
    test_set = str(write_set(tmp_path / "set.jsonl", 2))
    wire = ("--base-url", server.url, "--model", "mock")
    assert call("run", "gemba-mqm", test_set, "--out", str(tmp_path / "run"), *wire) == STOPPED
    assert "no key was sent: name its environment variable with --key-env" in capsys.readouterr().err


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_setting_is_an_error_that_says_what_to_do(
    server: Server, command: Command, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    server.fails(name)
    assert command("--concurrency", "1") == ERROR
    assert WRONG[name] in capsys.readouterr().err


def test_a_server_that_is_not_there_is_a_failure(command: Command, tmp_path: Path) -> None:
    assert command("--base-url", "http://127.0.0.1:9/v1", "--timeout", "0.3") == FAILURES
    run = read_run(tmp_path / "run")
    assert run.info.failures == {"connection": 4}
    assert all(isinstance(record, Failure) and "127.0.0.1:9" in record.detail for record in run.records)


def test_a_server_that_says_wait_for_ever_parks_the_run(
    server: Server, command: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    defaults = (Patience.__init__.__kwdefaults__ or {}) | {"longest_wait": 0.2}
    monkeypatch.setattr(Patience.__init__, "__kwdefaults__", defaults)
    server.fails(None, "429 soon")
    assert command("--concurrency", "1") == STOPPED
    assert "resume later" in capsys.readouterr().err


def test_the_last_lines_show_an_example_of_each_reason_and_where_the_others_are(
    server: Server, command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.fails("refusal", "400 context", None)
    command("--concurrency", "1")
    said = capsys.readouterr().err
    assert "2 failed (refused 1, too_long 1)" in said
    assert "first refused: " in said
    assert "first too_long: status 400" in said
    assert f"`adjudge trace {tmp_path / 'run'}` shows them all" in said


def test_what_stays_under_the_limit_is_done(server: Server, command: Command, tmp_path: Path) -> None:
    server.fails("refusal", None)
    assert command("--concurrency", "1", "--max-failed", "25%") == DONE
    assert command("--concurrency", "1", "--max-failed", "0.24") == FAILURES
    assert read_run_info(tmp_path / "run").failures == {"refused": 1}
    server.fails("prose")
    assert command(out="other") == FAILURES
    info = read_run_info(tmp_path / "other")
    assert (info.failures, info.counts["judged"]) == ({"parse": 4}, 0)


@pytest.mark.parametrize("schema", ["on", "off"])
@pytest.mark.parametrize("judge", ["gemba-mqm", "gemba-esa", "gemba-da", "ea-prompt"])
def test_a_good_server_judges_with_and_without_a_schema(
    server: Server, command: Command, tmp_path: Path, schema: str, judge: str
) -> None:
    assert command("--json-schema", schema, judge=judge) == DONE
    run = read_run(tmp_path / "run")
    assert [type(record) for record in run.records] == [Annotation] * 4
    assert all(("response_format" in payload) == (schema == "on") for payload in server.log)
    assert run.info.tokens["prompt"] == 100 * len(server.log)
    assert run.info.tokens["cached"] == 40 * len(server.log)
    assert run.info.price is None, "what nobody told us is unknown, not nothing"


def test_what_a_judge_says_of_the_text_is_recorded(server: Server, command: Command, tmp_path: Path) -> None:
    assert command() == DONE
    first, _, third, _ = read_run(tmp_path / "run").records
    assert isinstance(first, Annotation)
    assert isinstance(third, Annotation)
    assert [(s.text, s.start, s.end, s.severity) for s in first.spans] == [("Aussage", 0, 7, "minor")]
    assert third.spans == ()
