from pathlib import Path

import pytest

from adjudge import examples
from adjudge.store.json_lines import write_records
from tests.cli.calling import Asked
from tests.cli.test_score_and_rank import make_run
from tests.scoring.records import rated


@pytest.fixture
def records(tmp_path: Path) -> Path:
    path = tmp_path / "gold.jsonl"
    write_records(path, [rated(s, str(n), 50 + n + 5 * (s == "a")) for s in "ab" for n in range(20)])
    return path


def test_two_systems_of_a_file_are_compared(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = Asked(capsys, "compare", records, "a", "b", "--format", "json")
    assert asked.code == 0
    assert asked.json["difference"] == pytest.approx(5)
    assert asked.json["interval"] == pytest.approx([5, 5])
    assert asked.json["p"] < 0.01
    assert (asked.json["n"], asked.json["units"], asked.json["strata"]) == (20, 20, [])
    assert asked.json["first"] | {"signature": ""} == {"name": "a", "signature": "", "n": 20, "failed": 0}
    assert asked.json["effect"]["superiority"] == 1
    assert list(asked.json) == [
        "first", "second", "means", "difference", "interval", "p", "n", "units", "effective",
        "effect", "strata", "method", "notes",
    ]  # fmt: skip


def test_systems_of_one_file_are_named_as_a_gates_are(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    after = Asked(capsys, "compare", records, "a", "b", "--format", "json")
    assert Asked(capsys, "compare", records, "--systems", "a,b", "--format", "json").json == after.json


def test_a_person_reads_difference_interval_p_and_effect(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = Asked(capsys, "compare", records, "b", "a", "--test", "wilcoxon").out
    assert "5.0 " in out
    assert "<0.001" in out
    assert "a: 20 judged, 0 failed" in out
    assert "Wilcoxon signed-rank test" in out
    rows = Asked(capsys, "compare", records, "b", "a", "--format", "csv").rows
    assert float(rows[0]["difference"]) == -5
    assert rows[0]["d_z"] == ""


def test_two_runs_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [
        make_run(tmp_path / name, [rated(name, str(n), 50 + n + shift) for n in range(9)], protocol="da-sqm")
        for name, shift in (("new", 3), ("old", 0))
    ]
    asked = Asked(capsys, "compare", *runs, "--format", "json")
    assert asked.json["first"]["name"] == "new"
    assert asked.json["difference"] == pytest.approx(3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{}", "a"], "no file or folder 'a': two systems are named after their run or file"),
        (["{}"], "give two runs or files, or one and two of its systems"),
        (["{}", "a", "z"], "there is no system 'z'"),
        (["{}", "a", "b", "--systems", "a,b"], "named twice"),
        (["{}", "a", "--gold", "mqm"], "give TEST_SET SYSTEM SYSTEM"),
        (["{}", "a", "b", "--gold", "mqm", "--metric", "x"], "not both"),
        (["{}", "a", "b", "--gold", "mqm", "--systems", "a,b"], "give TEST_SET SYSTEM SYSTEM"),
        (["{}", "a", "b", "--metric", "x", "--criterion", "style"], "--criterion is for judgements"),
        (["{}", "a", "b", "--gold", "mqm", "--test-set", "{}"], "--test-set is for judgements"),
        (["{}", "a", "b", "--by-document"], "needs documents"),
    ],
)
def test_wrong_use_is_said_in_one_line(
    records: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    asked = Asked(capsys, "compare", *(a.format(records) for a in arguments))
    assert asked.code == 2
    assert message in asked.err
    assert asked.out == ""


@pytest.mark.parametrize("named", [("Alder", "Cedar"), ("--systems", "Alder,Cedar")])
def test_systems_of_a_test_set_are_compared_by_its_gold(
    capsys: pytest.CaptureFixture[str], named: tuple[str, str]
) -> None:
    asked = Asked(
        capsys, "compare", examples.path("test_set.jsonl"), *named, "--lp", "en-de",
        "--gold", examples.path("gold.mqm.jsonl"), "--format", "json",
    )  # fmt: skip
    assert asked.code == 0, asked.err
    assert asked.json["n"] == 16
    assert asked.json["difference"] > 0


@pytest.mark.realdata
def test_scores_in_their_test_set_are_compared_by_its_domains(
    adjudge_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = adjudge_data / "wmt23/human-scores/en-de.mqm.seg.score"
    asked = Asked(capsys, "compare", scores, "GPT4-5shot", "ONLINE-W", "--format", "json")
    assert {s["name"] for s in asked.json["strata"]} == {"news", "social", "speech", "user_review"}


def test_a_test_set_alone_has_no_scores_to_compare(capsys: pytest.CaptureFixture[str]) -> None:
    asked = Asked(capsys, "compare", examples.path("test_set.jsonl"), "Alder", "Cedar", "--lp", "en-de")
    assert asked.code == 2
    assert "is a test set: add --gold or --metric to say whose scores count" in asked.err
