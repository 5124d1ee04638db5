"""Who judged a filler of a batch judged a translation twice: the first judgement counts, and that is said."""

from dataclasses import replace
from pathlib import Path

import pytest

from adjudge.core.record import Annotation
from adjudge.core.segment import (
    Segment,
    TestSet,
)
from adjudge.store.json_lines import read_records, write_records, write_test_set
from tests.cli.calling import Asked
from tests.scoring.records import error, mqm

SEGMENTS = [str(i) for i in range(6)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two annotators of two systems; the first judged one translation again, and otherwise."""
    found = {
        name: [mqm(system, s, annotator=name) for s in SEGMENTS for system in ("a", "b")]
        for name in ("anna", "ben")
    }
    again = mqm("a", "0", error("major"), annotator="anna")
    write_records(tmp_path / "anna.jsonl", [replace(again, flags=("duplicate",)), *found["anna"]])
    write_records(tmp_path / "ben.jsonl", found["ben"])
    texts = [Segment(segment=s, lp="en-de", source="x", translations={"a": "y", "b": "z"}) for s in SEGMENTS]
    write_test_set(tmp_path / "texts.jsonl", TestSet(name="t", segments=tuple(texts)))
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "score anna.jsonl",
        "rank anna.jsonl",
        "rank anna.jsonl --method copeland",
        "agreement anna.jsonl ben.jsonl --pairs",
        "agreement anna.jsonl ben.jsonl",
        "bias anna.jsonl",
        "compare anna.jsonl ben.jsonl",
        "spans anna.jsonl --gold ben.jsonl",
        "thresholds ben.jsonl --gold anna.jsonl --bad major",
        "power anna.jsonl",
        "meta texts.jsonl --gold ben.jsonl --scores anna.jsonl",
        "report anna.jsonl --test-set texts.jsonl --out report.html",
    ],
)
def test_the_first_judgement_counts(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    asked = Asked(capsys, *command.split())
    assert asked.code == 0, asked.err
    assert " ".join((asked.out + asked.err).split()).count("1 judgement was repeated") == 1


def test_the_mean_is_that_of_first_judgements(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = Asked(capsys, "score", folder / "anna.jsonl", "--format", "csv").rows
    assert [row["score"] for row in rows] == ["0.0", "0.0"]


def test_both_judgements_stay_in_the_records(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Asked(capsys, "convert", folder / "anna.jsonl", folder / "new.jsonl", "--to", "records").code == 0
    kept = [r for r in read_records(folder / "new.jsonl") if isinstance(r, Annotation)]
    assert [r.flags for r in kept if (r.segment, r.system) == ("0", "a")] == [("duplicate",), ()]
