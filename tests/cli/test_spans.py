"""`adjudge spans` as it is called."""

from pathlib import Path

import pytest

from adjudge.core.record import Record
from adjudge.store.json_lines import write_records
from tests.analysis.judged import marked, run_of, span, write_run
from tests.analysis.records import failed
from tests.cli.calling import Asked as PlainlyAsked


class Asked(PlainlyAsked):
    """What `spans` printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: object) -> None:
        super().__init__(capsys, "spans", *arguments)


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.jsonl"
    judged: list[Record] = [
        marked("a", "1", span("old lab", "major")),
        marked("a", "2", span("closed"), span("The", "major")),
        marked("b", "1"),
    ]
    write_records(path, judged)
    return path


@pytest.fixture
def run(tmp_path: Path) -> Path:
    judged: list[Record] = [
        marked("a", "1", span("old lab")),
        marked("a", "2", span("closed today")),
        failed("b", segment="1", protocol="mqm", lp="de-en"),
    ]
    return write_run(tmp_path / "run", run_of(judged))


def test_every_number_has_a_signature(run: Path, gold: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = Asked(capsys, run, "--gold", gold, "--rule", "em,mpp", "--format", "json").json
    wanted = "|rule:em,mpp|average:micro|severities:minor,major,critical|failed:1/3|version:"
    assert wanted in asked["signature"]
    assert asked["run"] == str(run)
    assert any("fail" in note for note in asked["notes"])
    assert asked["signature"] in Asked(capsys, run, "--gold", gold, "--rule", "em,mpp").out


def test_one_comparison_is_one_object(run: Path, gold: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = Asked(capsys, run, "--gold", gold, "--format", "json")
    assert asked.code == 0
    assert asked.json == {
        "run": str(run),
        "signature": asked.json["signature"],
        "notes": [
            "1 of 3 translations that gold judged failed in the run: in no number.",
            f"Texts could not be compared: {gold} has none.",
        ],
        "rule": "mpp",
        "threshold": None,
        "precision": 0.75,
        "recall": 2 / 3,
        "f1": pytest.approx(12 / 17),
        "n_gold": 3,
        "n_pred": 2,
        "n_segments": 2,
        "unit": "characters",
        "average": "micro",
        "failed": 1,
    }
    assert "1 of 3 translations that gold judged failed in the run" in asked.err


def test_the_table_has_failures_n_and_notes(
    run: Path, gold: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = Asked(capsys, run, "--gold", gold, "--by", "severity").out.splitlines()
    assert lines[1].split() == [
        *("rule", "severity", "precision", "recall", "F1"),
        *("n", "gold", "n", "predicted", "translations", "failed"),
    ]
    assert lines[3].split() == ["mpp", "all", "0.750", "0.667", "0.706", "3", "2", "2", "1"]
    # nothing is predicted as major: no precision for people
    assert lines[4].split() == ["mpp", "major", "–", "0.000", "0.000", "2", "0", "2", "1"]
    assert "Average: micro; mpp in characters." in lines
    assert lines[-1].startswith("0 of 0 counts as 1")


def test_all_rules_stand_in_one_table(run: Path, gold: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = Asked(capsys, run, "--gold", gold, "--rules", "all", "--format", "csv")
    assert [(row["rule"], row["threshold"]) for row in asked.rows] == [
        *(("mpp", ""), ("em", ""), ("mp", ""), ("w25", ""), ("himate", "0.5"), ("chars", "")),
    ]
    assert float(asked.rows[1]["F1"]) == 0.4
    found = Asked(
        capsys, run, "--gold", gold, "--rules", "em,himate", "--threshold", "0.5,1", "--format", "json"
    )
    assert [(s["rule"], s["threshold"]) for s in found.json["scores"]] == [
        ("em", None),
        ("himate", 0.5),
        ("himate", 1.0),
    ]
    assert found.json["failed"] == 1


def test_settings_reach_the_rules(run: Path, gold: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def f1(*options: str) -> float:
        return float(Asked(capsys, run, "--gold", gold, "--format", "json", *options).json["f1"])

    plain = f1()
    assert f1("--severity-penalty", "0.5") < plain
    assert f1("--severity-weights", "minor=1,major=5") != plain
    assert f1("--average", "macro") != plain
    assert f1("--rule", "w25", "--unit", "words") != f1("--rule", "w25")
    assert f1("--severities", "major,critical") == 0
    assert f1("--lp", "de-en") == plain


def test_intervals_and_groups_stand_in_the_object(
    run: Path, gold: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(
        capsys, run, "--gold", gold, "--by", "system", "--intervals", "--resamples", "50", "--format", "json"
    )
    low, high = asked.json["intervals"]["f1"]
    assert low <= asked.json["f1"] <= high
    assert asked.json["by"] == "system"
    assert asked.json["groups"]["a"]["n_gold"] == 3
    table = Asked(capsys, run, "--gold", gold, "--intervals", "--resamples", "50", "--format", "tsv")
    assert table.out.split("\n")[0].split("\t")[1:4] == ["precision", "precision low", "precision high"]


def test_several_runs_stand_in_one_table(run: Path, gold: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = Asked(capsys, run, gold, "--gold", gold, "--format", "json")
    assert [one["run"] for one in asked.json["runs"]] == [str(run), str(gold)]
    assert asked.json["runs"][1]["f1"] == 1
    shown = Asked(capsys, run, gold, "--gold", gold, "--format", "markdown").out
    assert f"{run}: 1 of 3 translations" in shown
    assert f"{gold}: 1 of 3 translations is left out, since not every run judged it." in shown
    assert {one["n_segments"] for one in asked.json["runs"]} == {2}


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_curves_are_drawn(
    run: Path, gold: Path, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"curves.{form}"
    asked = Asked(capsys, run, gold, "--gold", gold, "--figure", file, "--by", "severity")
    assert asked.code == 0
    assert file.stat().st_size > 1000
    assert f"wrote {file}" in asked.err


WRONG = [
    (["--threshold", "half", "--rule", "himate"], 2, "threshold must be numbers with commas between"),
    (["--severity-weights", "minor"], 2, "severity-weights must be a weight for each severity"),
    (["--rule", "nosuch"], 2, "no matching rule 'nosuch'"),
    (["--figure", "x.gif"], 2, "a figure is a file that ends in .pdf, .svg, .png"),
    (["--lp", "en-fr"], 2, "has no lp 'en-fr'; it has de-en"),
    (["--gold-annotator", "nobody"], 2, "has no annotator 'nobody'"),
    (["--by", "colour"], 2, "'colour' is not one of"),
]


@pytest.mark.parametrize(("options", "code", "message"), WRONG)
def test_wrong_use_is_said_in_one_line(
    run: Path,
    gold: Path,
    options: list[str],
    code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = Asked(capsys, run, "--gold", gold, *options)
    assert asked.code == code
    assert message in asked.err


def test_a_file_that_is_nothing_is_refused(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.txt").write_text("hello\n")
    asked = Asked(capsys, run, "--gold", tmp_path / "x.txt")
    assert (asked.code, asked.out) == (1, "")
    assert "no known format" in asked.err
    missing = Asked(capsys, run, "--gold", tmp_path / "nosuch.jsonl")
    assert missing.code == 2
    assert "no file, folder or public test set" in missing.err


def test_intervals_of_no_draws_are_refused(run: Path, gold: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = Asked(capsys, run, "--gold", gold, "--intervals", "--resamples", "0")
    assert asked.code == 2
    assert "--resamples" in asked.err


def test_severities_of_both_sides_stand_in_one_table(
    run: Path, gold: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(capsys, run, "--gold", gold, "--confusion")
    assert asked.code == 0, asked.err
    lines = [line.split() for line in asked.out.splitlines()]
    assert lines[1] == ["in", "gold", "major", "minor", "not", "marked"]
    assert lines[3:5] == [["major", "0", "1", "1"], ["minor", "0", "1", "0"]]
    assert "Same severity, of marks that both marked: 0.500, n = 2." in asked.out
    assert "|rule:mp|severities:minor,major,critical|failed:1/3|" in asked.out


def test_programs_get_severities_as_rows_and_null_where_nothing_is_marked(
    run: Path, gold: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(capsys, run, "--gold", gold, "--confusion", "--format", "json")
    counts = {(row["gold"], row["run"]): row["n"] for row in asked.json["counts"]}
    assert counts == {("major", "minor"): 1, ("minor", "minor"): 1, ("major", None): 1}
    assert (asked.json["same"]["value"], asked.json["n_segments"], asked.json["failed"]) == (0.5, 2, 1)
    rows = Asked(capsys, run, gold, "--gold", gold, "--confusion", "--format", "csv").rows
    assert {row["run"] for row in rows} == {str(run), str(gold)}
    assert {(row["gold"], row["predicted"]): row["n"] for row in rows if row["run"] == str(gold)} == {
        ("major", "major"): "2",
        ("minor", "minor"): "1",
    }


@pytest.mark.parametrize("option", [["--rule", "em"], ["--by", "system"], ["--figure", "x.pdf"]])
def test_severities_take_no_option_of_the_rules(
    option: list[str], run: Path, gold: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(capsys, run, "--gold", gold, "--confusion", *option)
    assert (asked.code, f"takes no {option[0]}" in asked.err) == (2, True)
