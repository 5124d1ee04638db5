"""A server of one's own is tried with the JSON schema, and asked without where it refuses that."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from adjudge.errors import DONE
from adjudge.llm.faults import fault_of
from adjudge.store.calls import CallReader, find_store
from adjudge.store.run_directory import read_run_info
from tests.faults.conftest import Command, call, write_set
from tests.faults.server import Fault, Server, body, status

pytestmark = pytest.mark.usefixtures("_quick")

FASTAPI = {"detail": [{"type": "extra_forbidden", "loc": ["body", "response_format"], "msg": "Extra inputs"}]}
REFUSALS: dict[str, Fault] = {
    "400 by name": status(400, "response_format is not supported by this model"),
    "400 json_schema": status(400, "'json_schema' is unsupported, use 'json_object'"),
    "400 guided": status(400, "Failed to initialise guided decoding for this request"),
    "422 of FastAPI": body(FASTAPI, 422),
    "422 extra fields": status(422, "extra fields not permitted"),
    "501": status(501, "structured output is not implemented"),
}


def has_schema(payload: dict[str, Any]) -> bool:
    return "response_format" in payload


def refuses_schemas(server: Server, fault: Fault) -> None:
    """Refuse every request with a schema, and answer every other."""
    server.fails(None)

    async def choose(request: web.Request, content: str) -> web.StreamResponse:
        return await fault(request, content)

    server.play = lambda number: choose if has_schema(server.log[number]) else None


def records(folder: Path) -> bytes:
    return (folder / "records.jsonl").read_bytes()


@pytest.mark.parametrize("name", REFUSALS)
def test_a_server_that_refuses_the_schema_is_asked_without_and_no_judgement_fails(
    server: Server, command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    refuses_schemas(server, REFUSALS[name])
    assert command("--concurrency", "1") == DONE
    assert [has_schema(payload) for payload in server.log] == [True] + [False] * 4
    said = capsys.readouterr()
    assert (said.out + said.err).count("refuses the JSON schema") == 1
    info = read_run_info(tmp_path / "run")
    assert (info.counts["judged"], info.counts["failed"]) == (4, 0)
    assert info.settings["json_schema_used"] == {"mock": "refused"}


def test_eight_calls_at_a_time_meet_the_refusal_at_once_and_each_is_asked_again(
    server: Server, command: Command, tmp_path: Path
) -> None:
    refuses_schemas(server, REFUSALS["400 by name"])
    server.delay = 0.01
    write_set(tmp_path / "set.jsonl", 20)
    assert command("--concurrency", "8") == DONE
    held = [payload for payload in server.log if has_schema(payload)]
    assert 1 <= len(held) <= 16
    assert len(server.log) - len(held) == 40
    info = read_run_info(tmp_path / "run")
    assert (info.counts["judged"], info.counts["failed"]) == (40, 0)


def test_a_run_that_is_resumed_remembers_it_asks_nothing_again_and_writes_the_same(
    server: Server, command: Command, tmp_path: Path
) -> None:
    refuses_schemas(server, REFUSALS["400 by name"])
    assert command("--concurrency", "1") == DONE
    before = records(tmp_path / "run")
    asked = len(server.log)
    assert command("--concurrency", "1") == DONE
    assert len(server.log) == asked
    assert records(tmp_path / "run") == before
    (tmp_path / "run" / "records.jsonl").unlink()
    assert command("--concurrency", "1") == DONE
    assert (len(server.log), records(tmp_path / "run")) == (asked, before)


def test_a_run_that_was_stopped_goes_on_without_the_schema(
    server: Server, command: Command, tmp_path: Path
) -> None:
    refuse, stop = REFUSALS["400 by name"], status(401, "no")
    server.fails(refuse, None, None, stop)
    assert command("--concurrency", "1") != DONE
    server.fails(None)
    assert command("--concurrency", "1") == DONE
    assert [has_schema(payload) for payload in server.log] == [False, False]


def test_a_server_that_takes_the_schema_gets_it_with_every_call(
    server: Server, command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.fails(None)
    assert command() == DONE
    assert [has_schema(payload) for payload in server.log] == [True] * 4
    assert "refuses the JSON schema" not in capsys.readouterr().err
    assert read_run_info(tmp_path / "run").settings["json_schema_used"] == {"mock": "on"}


def test_the_store_says_which_answers_were_held_to_the_schema(
    server: Server, command: Command, tmp_path: Path
) -> None:
    server.fails(None, REFUSALS["501"], None)
    assert command("--concurrency", "1") == DONE
    with closing(CallReader(find_store(tmp_path / "run"))) as reader:
        held = [request.schema is not None for request, _ in reader.answered(10)]
    assert sorted(held) == [False, False, False, True]


def test_a_schema_that_the_user_insists_on_is_refused_loudly(
    server: Server, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    refuses_schemas(server, REFUSALS["400 by name"])
    assert command("--json-schema", "on", "--concurrency", "1") != DONE
    assert all(has_schema(payload) for payload in server.log)
    assert "--json-schema off asks without a schema" in capsys.readouterr().err


def test_a_refusal_that_is_about_something_else_leaves_the_schema(server: Server, command: Command) -> None:
    """Its words name the schema, and the call is refused without it too."""
    echo = status(400, "bad temperature in {'response_format': ..., 'temperature': 0.0}")
    server.fails(echo, echo, None)
    command("--concurrency", "1")
    assert [has_schema(payload) for payload in server.log] == [True, False, True, True, True]


def test_each_way_of_asking_for_a_schema_has_answers_of_its_own(
    server: Server, command: Command, tmp_path: Path
) -> None:
    store = str(tmp_path / "calls.sqlite")
    server.fails(None)
    for mode, asked in (("off", 4), ("auto", 8), ("on", 12)):
        assert command("--json-schema", mode, "--store", store, out=mode) == DONE
        assert len(server.log) == asked


def test_a_replay_finds_the_answers_of_a_trial(server: Server, command: Command, tmp_path: Path) -> None:
    refuses_schemas(server, REFUSALS["501"])
    assert command() == DONE
    again = ("--model", f"replay:{tmp_path / 'run'}", "--out", str(tmp_path / "again"))
    assert call("run", "gemba-mqm", str(tmp_path / "set.jsonl"), *again) == DONE
    assert [read_run_info(tmp_path / name).counts["judged"] for name in ("run", "again")] == [4, 4]


@pytest.mark.parametrize(
    ("code", "message", "names"),
    [
        (400, "Unrecognized request argument supplied: response_format", True),
        (400, "This model's maximum context length is 8192 tokens (response_format)", False),
        (400, "Unknown field: strict", True),
        (400, "temperature must be 1", False),
        (429, "response_format: too many requests", False),
        (500, "response_format", False),
    ],
)
def test_words_that_name_the_schema(code: int, message: str, names: bool) -> None:
    assert fault_of(code, message).names_schema == names
