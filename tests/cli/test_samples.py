"""Options that many judges share, wherever they stand on the line."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from adjudge import examples
from adjudge.core.record import Annotation
from adjudge.llm import search
from adjudge.llm.faults import Patience
from adjudge.store.json_lines import read_records
from adjudge.store.run_directory import read_run_info
from tests.cli.calling import call

EXAMPLES = str(examples.path("test_set.jsonl"))
FEW = ("--lp", "en-de", "--limit", "2")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ADJUDGE_MODEL", raising=False)


@pytest.mark.parametrize("before", [True, False])
def test_samples_are_counted_and_signed(before: bool) -> None:
    options = ("--samples", "3", "--temperature", "0.5")
    words = (*options, EXAMPLES) if before else (EXAMPLES, *options)
    assert call("run", "gemba-esa", *words, *FEW, "--out", "out") == 0
    info = read_run_info(Path("out"))
    assert "|samples:3|temperature:0.5|" in str(info.signature)
    records = read_records(Path("out"))
    assert all(isinstance(record, Annotation) and len(record.samples) == 3 for record in records)


def test_a_forecast_counts_samples(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("forecast", "gemba-esa", "--samples", "5", EXAMPLES, *FEW, "--format", "json") == 0
    forecast = json.loads(capsys.readouterr().out)
    assert set(forecast["calls"].values()) == {forecast["units"] * 2 * 5}


def test_errors_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("run", "gemba-mqm", "--explain-in", "fr", EXAMPLES, "--lp", "en-de", "--out", "out") == 0
    spans = [
        span
        for record in read_records(Path("out"))
        if isinstance(record, Annotation)
        for span in record.spans
    ]
    assert spans
    assert all(span.note for span in spans)
    assert "explain_in:fr" in capsys.readouterr().err


def test_look_ups_that_failed_are_told_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(search, "_PATIENCE", Patience(attempts=1, first_wait=0.01, longest_wait=0.01))
    one = ("--lp", "en-de", "--limit", "1")
    assert call("run", "rate", EXAMPLES, *one, "--search", "http://127.0.0.1:9/find", "--out", "away") == 0
    said = next(line for line in capsys.readouterr().err.splitlines() if "look-up" in line)
    queries = sum(isinstance(r, Annotation) and "search" in r.steps for r in read_records(Path("away")))
    assert queries
    assert re.match(rf"look-ups that failed: [a-z_]+ {queries}; the judge went on without.*; first: .", said)
    Path("notes.md").write_text("Apples are fruit.")
    assert call("run", "rate", EXAMPLES, *one, "--search", "files:notes.md", "--out", "near") == 0
    assert "look-up" not in capsys.readouterr().err


def test_a_bridge_is_run_by_a_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("same.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin: print(json.dumps({'id': json.loads(line)['id'], 'score': 1}))\n"
    )
    words = ("--command", shlex.join([sys.executable, "same.py"]), "--name", "same", "--range", "0..1")
    assert call("run", "bridge", EXAMPLES, *FEW, *words, "--out", "out") == 0
    assert read_run_info(Path("out")).annotator == "same"
    Path("same.py").write_text("raise SystemExit('no weights')")
    assert call("run", "bridge", EXAMPLES, *FEW, *words, "--out", "again") == 3
    assert "first server_error: the command ended with exit status 1; it said: no weights" in (
        capsys.readouterr().err
    )
