import json
from dataclasses import replace
from pathlib import Path

import pytest

from adjudge import examples
from adjudge.core.record import Preference
from adjudge.store.json_lines import read_records, read_test_set, write_records
from tests.cli.calling import call


@pytest.fixture
def judge(tmp_path: Path) -> Path:
    """The examples' preferences, asked twice by a judge that takes the first where it sees no difference."""
    records = []
    for record in read_records(examples.path("gold.pairwise.jsonl")):
        assert isinstance(record, Preference)
        verdict = record.verdict
        orders = ("A", "B") if verdict == "E" else (verdict, verdict)
        records.append(replace(record, annotator="judge", orders=orders))  # type: ignore[arg-type]
    write_records(tmp_path / "judge.jsonl", records)
    return tmp_path / "judge.jsonl"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = call("bias", *arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_biases_are_one_json_object(
    judge: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    families = tmp_path / "families.json"
    families.write_text('{"systems": {"Birch": "b"}, "annotators": {"judge": "b"}}')
    gold = examples.path("gold.pairwise.jsonl")
    code, out, _ = run(
        capsys, judge, "--gold", gold, "--families", families, "--lp", "en-de", "--format", "json"
    )
    data = json.loads(out)
    assert code == 0
    assert data["signature"].startswith("judge|gold:")
    assert "|lp:en-de|resamples:1000|seed:0|version:" in data["signature"]
    assert [row["criterion"] for row in data["rows"]] == ["faithfulness", "fluency", "style", "overall"]
    style = data["rows"][2]
    assert (style["n"], style["failed"]) == (48, 0)
    ties = 36
    assert style["position"]["consistency"]["value"] == pytest.approx(1 - ties / 48)
    assert style["position"]["tie"]["value"] == 0
    assert style["position"]["lean"]["value"] == pytest.approx(ties / 48)
    assert style["family"]["systems"] == ["Birch"]
    assert style["family"]["beyond_gold"]["value"] == 0
    assert style["length"] is None


@pytest.mark.parametrize("form", ["table", "csv", "tsv", "markdown", "latex"])
def test_every_format_has_every_number(form: str, judge: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, judge, "--lp", "en-de", "--format", form, "--resamples", "50")
    assert code == 0
    assert out.count("same verdict in both orders") == 4
    assert ("There is no gold" in err) == (form in {"csv", "tsv"})
    assert ("There is no gold" in out) == (form not in {"csv", "tsv"})


def test_a_p_value_is_never_printed_as_zero(judge: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, judge, "--resamples", "0")[1]
    assert "<0.001" in out
    assert " 0.000" not in out.split("first wins both orders")[1].splitlines()[0]


def test_lengths_come_from_the_test_set_that_is_named(
    judge: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = examples.path("test_set.jsonl")
    arguments = [judge, "--test-set", texts, "--lp", "en-de", "--resamples", "0", "--format", "json"]
    data = json.loads(run(capsys, *arguments)[1])
    segments = {s.segment: s.translations for s in read_test_set(texts) if s.lp == "en-de"}
    points = []
    for record in read_records(judge):
        if isinstance(record, Preference) and (record.lp, record.criterion) == ("en-de", "style"):
            a, b = (len(segments[record.segment][system]) for system in record.systems)
            if a != b:
                points.append({"A": float(a > b), "B": float(b > a), "E": 0.5}[record.verdict])
    (found,) = (row["length"]["longer"] for row in data["rows"] if row["criterion"] == "style")
    assert found == {"value": pytest.approx(sum(points) / len(points)), "interval": None, "n": len(points)}


@pytest.mark.realdata
def test_score_files_in_a_test_set_have_its_texts(
    adjudge_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = adjudge_data / "wmt23" / "human-scores"
    arguments = [
        folder / "en-de.da-sqm.seg.score",
        "--gold",
        folder / "en-de.mqm.seg.score",
        "--resamples",
        "0",
    ]
    (row,) = json.loads(run(capsys, *arguments, "--format", "json")[1])["rows"]
    assert row["length"]["longer"]["n"] > 30_000
    assert row["length"]["beyond_gold"]["value"] == pytest.approx(
        row["length"]["longer"]["value"] - row["length"]["gold"]["value"], abs=0.05
    )
