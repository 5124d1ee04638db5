"""`adjudge calibrate JUDGE RUN --gold FILE` as a user calls it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from adjudge.cli.judge_commands import calibrate_run
from adjudge.core.record import Preference
from adjudge.errors import DataError, UsageError
from adjudge.runs.run import run
from adjudge.store.json_lines import read_records, write_records
from tests.runs.conftest import small_set


def gold_of(folder: Path, path: Path) -> Path:
    records = [replace(r, annotator="person") for r in read_records(folder) if isinstance(r, Preference)]
    write_records(path, records)
    return path


def test_it_prints_the_threshold_and_what_it_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("direct-rank", small_set(3), out=tmp_path / "run", settings={"samples": "3"})
    gold = gold_of(tmp_path / "run", tmp_path / "gold.jsonl")
    calibrate_run("direct-rank", tmp_path / "run", gold, "en-de", "json")
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert (found["n"], found["threshold"], found["before"]["all"]) == (3, 0.0, 1.0)
    assert "adjudge run direct-rank ... --tie-threshold 0" in said.err
    calibrate_run("direct-rank", tmp_path / "run", gold, None, "table")
    assert "3 comparisons; gold ties 3 of them." in capsys.readouterr().out


def test_a_run_that_cannot_be_calibrated_is_refused(tmp_path: Path) -> None:
    done = tmp_path / "run"
    run("direct-rank", small_set(2), out=done)
    gold = gold_of(done, tmp_path / "gold.jsonl")
    with pytest.raises(UsageError, match="is a run of direct-rank, not of fire"):
        calibrate_run("fire", done, gold, None, "table")
    with pytest.raises(DataError, match="--samples, or --strength logprob"):
        calibrate_run("direct-rank", done, gold, None, "table")
    run("direct-rank", small_set(2), out=tmp_path / "tied", settings={"samples": "2", "tie_threshold": "0.5"})
    with pytest.raises(UsageError, match=r"made with tie_threshold 0\.5"):
        calibrate_run("direct-rank", tmp_path / "tied", gold, None, "table")
