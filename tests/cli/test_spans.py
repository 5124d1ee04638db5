"""`adjudge spans` as it is called."""

from pathlib import Path

import pytest

from adjudge.core.record import Record
from adjudge.store.json_lines import write_records
from tests.analysis.judged import marked, run_of, span, write_run
from tests.analysis.records import failed
from tests.cli.calling import Ask

ONE = ("spans", "run", "--gold", "gold.jsonl")
BOTH = ("spans", "run", "gold.jsonl", "--gold", "gold.jsonl")


@pytest.fixture(autouse=True)
def _files(_elsewhere: None) -> None:
    gold: list[Record] = [
        marked("a", "1", span("old lab", "major")),
        marked("a", "2", span("closed"), span("The", "major")),
        marked("b", "1"),
    ]
    write_records("gold.jsonl", gold)
    judged: list[Record] = [
        marked("a", "1", span("old lab")),
        marked("a", "2", span("closed today")),
        failed("b", segment="1", protocol="mqm", lp="de-en"),
    ]
    write_run(Path("run"), run_of(judged))


def test_every_number_has_a_signature(ask: Ask) -> None:
    asked = ask(*ONE, "--rule", "em,mpp", "--format", "json").json
    wanted = "|rule:em,mpp|average:micro|severities:minor,major,critical|failed:1/3|version:"
    assert wanted in asked["signature"]
    assert asked["run"] == "run"
    assert any("fail" in note for note in asked["notes"])
    assert asked["signature"] in ask(*ONE, "--rule", "em,mpp").out


def test_one_comparison_is_one_object(ask: Ask) -> None:
    asked = ask.done(*ONE, "--format", "json")
    failed = "1 of 3 translations that gold judged failed in the run"
    wanted: dict[str, object] = {"rule": "mpp", "threshold": None, "unit": "characters", "average": "micro"}
    wanted |= {"precision": 0.75, "recall": 2 / 3, "f1": pytest.approx(12 / 17)}
    wanted |= {"n_gold": 3, "n_pred": 2, "n_segments": 2, "failed": 1}
    assert {name: value for name, value in asked.json.items() if name in wanted} == wanted
    assert set(asked.json) == {*wanted, "run", "signature", "notes"}
    notes = [f"{failed}: in no number.", "Texts could not be compared: gold.jsonl has none."]
    assert (asked.json["run"], asked.json["notes"]) == ("run", notes)
    assert failed in asked.err


def test_the_table_has_failures_n_and_notes(ask: Ask) -> None:
    lines = ask(*ONE, "--by", "severity").out.splitlines()
    assert lines[1].split() == [
        *("rule", "severity", "precision", "recall", "F1"),
        *("n", "gold", "n", "predicted", "translations", "failed"),
    ]
    assert lines[3].split() == ["mpp", "all", "0.750", "0.667", "0.706", "3", "2", "2", "1"]
    # nothing is predicted as major: no precision for people
    assert lines[4].split() == ["mpp", "major", "–", "0.000", "0.000", "2", "0", "2", "1"]
    assert "Average: micro; mpp in characters." in lines
    assert lines[-1].startswith("0 of 0 counts as 1")


def test_all_rules_stand_in_one_table(ask: Ask) -> None:
    asked = ask(*ONE, "--rules", "all", "--format", "csv")
    assert [(row["rule"], row["threshold"]) for row in asked.rows] == [
        *(("mpp", ""), ("em", ""), ("mp", ""), ("w25", ""), ("himate", "0.5"), ("chars", ""))
    ]
    assert float(asked.rows[1]["F1"]) == 0.4
    found = ask(*ONE, "--rules", "em,himate", "--threshold", "0.5,1", "--format", "json")
    rules = [(s["rule"], s["threshold"]) for s in found.json["scores"]]
    assert rules == [("em", None), ("himate", 0.5), ("himate", 1.0)]
    assert found.json["failed"] == 1


def test_settings_reach_the_rules(ask: Ask) -> None:
    def f1(*options: str) -> float:
        return float(ask(*ONE, "--format", "json", *options).json["f1"])

    plain = f1()
    assert f1("--severity-penalty", "0.5") < plain
    assert f1("--severity-weights", "minor=1,major=5") != plain
    assert f1("--average", "macro") != plain
    assert f1("--rule", "w25", "--unit", "words") != f1("--rule", "w25")
    assert f1("--severities", "major,critical") == 0
    assert f1("--lp", "de-en") == plain


def test_intervals_and_groups_stand_in_the_object(ask: Ask) -> None:
    asked = ask(*ONE, "--by", "system", "--intervals", "--resamples", "50", "--format", "json")
    low, high = asked.json["intervals"]["f1"]
    assert low <= asked.json["f1"] <= high
    assert asked.json["by"] == "system"
    assert asked.json["groups"]["a"]["n_gold"] == 3
    table = ask(*ONE, "--intervals", "--resamples", "50", "--format", "tsv")
    assert table.out.split("\n")[0].split("\t")[1:4] == ["precision", "precision low", "precision high"]


def test_several_runs_stand_in_one_table(ask: Ask) -> None:
    asked = ask(*BOTH, "--format", "json")
    assert [one["run"] for one in asked.json["runs"]] == ["run", "gold.jsonl"]
    assert asked.json["runs"][1]["f1"] == 1
    shown = ask(*BOTH, "--format", "markdown").out
    assert "run: 1 of 3 translations" in shown
    assert "gold.jsonl: 1 of 3 translations is left out, since not every run judged it." in shown
    assert {one["n_segments"] for one in asked.json["runs"]} == {2}


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_curves_are_drawn(form: str, tmp_path: Path, ask: Ask) -> None:
    file = tmp_path / f"curves.{form}"
    asked = ask.done(*BOTH, "--figure", file, "--by", "severity")
    assert file.stat().st_size > 1000
    assert f"wrote {file}" in asked.err


def test_a_file_that_is_nothing_is_refused(ask: Ask) -> None:
    Path("x.txt").write_text("hello\n")
    assert "no known format" in ask.refused("spans", "run", "--gold", "x.txt", code=1)
    assert "no file, folder or public test set" in ask.refused("spans", "run", "--gold", "nosuch.jsonl")


def test_severities_of_both_sides_stand_in_one_table(ask: Ask) -> None:
    asked = ask.done(*ONE, "--confusion")
    lines = [line.split() for line in asked.out.splitlines()]
    assert lines[1] == ["in", "gold", "major", "minor", "not", "marked"]
    assert lines[3:5] == [["major", "0", "1", "1"], ["minor", "0", "1", "0"]]
    assert "Same severity, of marks that both marked: 0.500, n = 2." in asked.out
    assert "|rule:mp|severities:minor,major,critical|failed:1/3|" in asked.out


def test_programs_get_severities_as_rows_and_null_where_nothing_is_marked(ask: Ask) -> None:
    asked = ask(*ONE, "--confusion", "--format", "json")
    counts = {(row["gold"], row["run"]): row["n"] for row in asked.json["counts"]}
    assert counts == {("major", "minor"): 1, ("minor", "minor"): 1, ("major", None): 1}
    assert (asked.json["same"]["value"], asked.json["n_segments"], asked.json["failed"]) == (0.5, 2, 1)
    rows = ask(*BOTH, "--confusion", "--format", "csv").rows
    assert {row["run"] for row in rows} == {"run", "gold.jsonl"}
    assert {(row["gold"], row["predicted"]): row["n"] for row in rows if row["run"] == "gold.jsonl"} == {
        ("major", "major"): "2",
        ("minor", "minor"): "1",
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--threshold half --rule himate", "threshold must be numbers with commas between"),
        ("--severity-weights minor", "severity-weights must be a weight for each severity"),
        ("--rule nosuch", "no matching rule 'nosuch'"),
        ("--figure x.gif", "a figure is a file that ends in .pdf, .svg, .png"),
        ("--lp en-fr", "has no lp 'en-fr'; it has de-en"),
        ("--gold-annotator nobody", "has no annotator 'nobody'"),
        ("--by colour", "'colour' is not one of"),
        ("--intervals --resamples 0", "--resamples"),
        ("--confusion --rule em", "takes no --rule"),
        ("--confusion --by system", "takes no --by"),
        ("--confusion --figure x.pdf", "takes no --figure"),
    ],
)
def test_wrong_use_is_said(options: str, message: str, ask: Ask) -> None:
    assert message in ask.refused(*ONE, *options.split())
