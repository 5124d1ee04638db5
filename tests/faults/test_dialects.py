"""A run in any dialect: the same records, the same faults, and a key that nobody sees."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.conftest import KEY, call, unless_given, write_set
from tests.faults.dialects import HEADERS, NATIVE, NativeServer, speaking

pytestmark = pytest.mark.usefixtures("_quick", "_unpaced")

KINDS = (
    None,
    "429 soon",
    "400 context",
    "error 200",
    "html",
    "reset",
    "stall",
    "utf-8",
    "other model",
    "refusal",
)
"""Of faults one of each kind; every fault is played with a key in test_keys.py, in one dialect."""
MODELS = {"chat": "mock", "anthropic": "anthropic/mock", "gemini": "gemini/mock"}


@pytest.fixture(scope="module")
def _spoken() -> Iterator[NativeServer]:
    with speaking() as server:
        yield server


@pytest.fixture
def spoken(_spoken: NativeServer, monkeypatch: pytest.MonkeyPatch) -> NativeServer:
    monkeypatch.setenv("CANARY_KEY", KEY)
    _spoken.fails(None)
    return _spoken


def judge_in(dialect: str, server: NativeServer, out: Path, *options: str) -> int:
    test_set = write_set(out.parent / "set.jsonl", 2)
    wire = ["--base-url", server.base(dialect), "--model", MODELS[dialect], "--key-env", "CANARY_KEY"]
    wire += unless_given({"--timeout": "20"}, options)
    return call("run", "gemba-mqm", str(test_set), "--out", str(out), *wire, *options)


def records(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]


def test_a_run_has_the_same_records_in_every_dialect(spoken: NativeServer, tmp_path: Path) -> None:
    found = {}
    for dialect in MODELS:
        assert judge_in(dialect, spoken, tmp_path / dialect) == 0
        found[dialect] = records(tmp_path / dialect)
        assert call("trace", str(tmp_path / dialect), "--segment", "0") == 0
    assert any(record["spans"] for record in found["chat"])
    assert found["anthropic"] == found["chat"]
    assert found["gemini"] == found["chat"]


def test_effort_is_sent_and_signed_or_refused(spoken: NativeServer, tmp_path: Path) -> None:
    assert judge_in("chat", spoken, tmp_path / "run", "--effort", "low") == 0
    assert {payload["reasoning_effort"] for payload in spoken.log} == {"low"}
    assert "|effort:low" in (tmp_path / "run" / "run.json").read_text()
    spoken.fails(None)
    assert judge_in("anthropic", spoken, tmp_path / "other", "--effort", "low") == 2
    assert not spoken.log


@pytest.mark.parametrize("dialect", NATIVE)
@pytest.mark.parametrize(
    "name", ["429 soon", "529", "reset", "cut json", "error 200", "finish null", "prose"]
)
def test_a_fault_that_passes_leaves_no_trace_in_the_records(
    spoken: NativeServer, tmp_path: Path, dialect: str, name: str
) -> None:
    assert judge_in(dialect, spoken, tmp_path / "clean") == 0
    spoken.fails(name, None)
    assert judge_in(dialect, spoken, tmp_path / "run") == 0
    assert records(tmp_path / "run") == records(tmp_path / "clean")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        *(("length", "truncated"), ("filter", "refused"), ("refusal", "refused"), ("prose", "parse")),
        *(("thinking only", "no_answer"), ("content null", "empty"), ("content empty", "empty")),
        *(("finish odd", "bad_envelope"), ("no choices", "bad_envelope"), ("other model", "model_mismatch")),
        *(("400 context", "too_long"), ("utf-8", "encoding"), ("html", "not_json")),
    ],
)
@pytest.mark.parametrize("dialect", NATIVE)
def test_a_fault_that_stays_is_a_failure_with_its_reason(
    spoken: NativeServer, tmp_path: Path, dialect: str, name: str, reason: str
) -> None:
    spoken.fails(None, *[name] * 60)
    options = ("--concurrency", "1", "--max-failed", "100%")
    assert judge_in(dialect, spoken, tmp_path / "run", *options) == 0
    failed = [record for record in records(tmp_path / "run") if record["kind"] == "failure"]
    assert {record["reason"] for record in failed} == {reason}
    assert len(failed) == 3


@pytest.mark.parametrize("dialect", NATIVE)
@pytest.mark.parametrize("name", KINDS)
def test_no_dialect_shows_its_key(
    spoken: NativeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], dialect: str, name: str | None
) -> None:
    spoken.fails(*(["429 soon", None] if name == "429 soon" else [name]))
    judge_in(dialect, spoken, tmp_path / "run", "--timeout", "0.1" if name in {"stall", "drip"} else "20")
    headers = spoken.headers[0]
    assert {k.lower(): v for k, v in headers.items()}[HEADERS[dialect]] == KEY
    assert "Authorization" not in headers
    if (tmp_path / "run" / "run.json").exists():
        call("trace", str(tmp_path / "run"), "--segment", "0")
    said = capsys.readouterr()
    assert "canary" not in said.out + said.err
    half = KEY[: len(KEY) // 2].encode()
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and half in p.read_bytes()]
