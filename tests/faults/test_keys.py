"""A canary key goes to the server, and nowhere else: not to disk, not to the screen."""

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.store.calls import CallReader
from tests.faults.conftest import KEY, Command, call
from tests.faults.server import FAULTS, Server

pytestmark = pytest.mark.usefixtures("_quick", "_unpaced")


def grep(folder: Path) -> list[str]:
    """Files that hold the key, or half of it."""
    half = KEY[: len(KEY) // 2].encode()
    return [str(path) for path in folder.rglob("*") if path.is_file() and half in path.read_bytes()]


@pytest.mark.parametrize("name", [None, *FAULTS])
def test_the_key_is_sent_and_never_seen_again(
    server: Server, command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str | None
) -> None:
    server.fails(*(["429 soon", None] if name == "429 soon" else [name]))
    command("--timeout", "0.1" if name in {"stall", "drip"} else "20")
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    if (tmp_path / "run" / "run.json").exists():
        call("trace", str(tmp_path / "run"))
        call("trace", str(tmp_path / "run"), "--segment", "0")
    said = capsys.readouterr()
    assert "canary" not in said.out + said.err
    assert not grep(tmp_path)


def test_a_key_in_an_address_is_refused_and_not_repeated(
    command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("--base-url", f"http://user:{KEY}@127.0.0.1:9/v1") == 2
    assert command("--key-env", KEY) == 2
    assert "canary" not in capsys.readouterr().err
    assert not grep(tmp_path)
    assert not (tmp_path / "run").exists()


def test_a_server_elsewhere_gets_no_key_that_was_not_meant_for_it(
    server: Server, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    wire = ("--base-url", server.url, "--model", "mock")
    assert call("run", "gemba-mqm", str(tmp_path / "set.jsonl"), "--out", str(tmp_path / "x"), *wire) == 0
    assert all("Authorization" not in headers for headers in server.headers)


def records(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()
    return [{k: v for k, v in json.loads(line).items() if k != "id"} for line in lines]


@pytest.mark.parametrize("key", ["test", "none", "EMPTY", "x", "ollama", "local", "dummy", "e", "k"])
def test_a_dummy_key_changes_no_reply(
    server: Server, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    said = {"span": "the", "category": "accuracy/mistranslation", "severity": "minor", "side": "source"}
    more = {"span": "test none EMPTY x ollama local dummy e k", "side": "translation"}
    server.answer = lambda payload: json.dumps({"errors": [said, said | more]})
    command(out="expected")
    monkeypatch.setenv("CANARY_KEY", key)
    command(out="run")
    assert server.headers[-1]["Authorization"] == f"Bearer {key}"
    assert records(tmp_path / "run") == records(tmp_path / "expected")
    assert "[key]" not in str(records(tmp_path / "run"))
    reader = CallReader(tmp_path / "run" / "calls.sqlite")
    replies = [reply for _, reply in reader.answered(100)]
    reader.close()
    assert {(reply.model, "[key]" in reply.text) for reply in replies} == {("mock", False)}
