from pathlib import Path

import pytest

from adjudge.store.json_lines import write_records
from tests.cli.calling import Asked
from tests.meta.comparing.test_separating import records as made


@pytest.fixture
def records(tmp_path: Path) -> Path:
    write_records(tmp_path / "gold.jsonl", made())
    return tmp_path / "gold.jsonl"


def test_a_plan_needs_no_data(capsys: pytest.CaptureFixture[str]) -> None:
    asked = Asked(capsys, "power", "--sd", 10, "--segments", 400, "--difference", 1, "--format", "json")
    assert asked.code == 0
    assert asked.json["detectable"] == pytest.approx(1.4042, abs=1e-3)
    assert asked.json["needed"] == 787
    assert 0.5 < asked.json["power_for_difference"] < 0.53
    out = Asked(capsys, "power", "--sd", 10, "--segments", 400).out
    assert "1.404" in out
    assert "400 segments show with a chance of 80 %" in out


def test_a_difference_says_how_many_segments_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    asked = Asked(capsys, "power", "--sd", 8, "--difference", 1, "--format", "json")
    assert asked.code == 0
    assert (asked.json["segments"], asked.json["needed"]) == (505, 505)
    assert asked.json["power_for_difference"] == pytest.approx(0.8, abs=1e-3)


def test_data_say_what_is_needed(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = Asked(capsys, "power", records, "a", "b", "--format", "json")
    (pair,) = asked.json["pairs"]
    assert pair["systems"] == ["a", "b"]
    assert pair["more"] == 2 * (pair["needed"] - 60) > 0
    table = Asked(capsys, "power", records).out
    assert "segments needed" in table
    assert "take the difference at hand for the true one" in table
    for form in ("csv", "json"):
        assert (
            "take the difference at hand for the true one"
            in Asked(capsys, "power", records, "--format", form).err
        )
    rows = Asked(capsys, "power", records, "--format", "csv").rows
    assert [row["second"] for row in rows] == ["b", "c"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give judgements (a run or a file), or --sd with --segments, --difference or both"),
        (["--sd", "3"], "--sd with --segments, --difference or both"),
        (["--sd", "3", "--difference", "0"], "no number of segments shows a difference of 0"),
        (["--sd", "-1", "--segments", "5"], "a standard deviation is 0 or more"),
        (["--sd", "3", "--segments", "5", "--by-document"], "--by-document is for judgements"),
        (["--sd", "3", "--segments", "5", "--test-set", "{}"], "leave it out with --sd"),
        (["{}", "--sd", "3"], "stand in for data"),
        (["{}", "a"], "give a run or a file, alone or with two systems"),
        (["{}", "a", "z"], "there is no system 'z'"),
        (["{}", "--annotators", "2"], "what more annotators bring"),
        (["nowhere"], "no file or folder 'nowhere'"),
    ],
)
def test_wrong_use_is_said_in_one_line(
    records: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    asked = Asked(capsys, "power", *(a.format(records) for a in arguments))
    assert (asked.code, asked.out) == (2, "")
    assert message in asked.err
