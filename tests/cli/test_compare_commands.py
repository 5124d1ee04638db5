import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from adjudge import examples
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DONE, GATE_NO, GATE_UNSURE, USAGE
from adjudge.store.json_lines import write_records, write_test_set
from tests.analysis.folders import write_folder, write_scores
from tests.analysis.records import rated
from tests.analysis.test_power import records as made
from tests.cli.calling import Asked
from tests.cli.test_score_and_rank import make_run


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


@pytest.fixture
def gate_records(tmp_path: Path) -> Path:
    """Three systems: `same` as `old` within noise, `worse` by ten points."""
    path = tmp_path / "gold.jsonl"
    shifts = {"old": 0, "same": 0, "worse": -10}
    write_records(
        path,
        [
            rated(system, str(n), 50 + n % 7 + shift + (n % 3 - 1) * (system != "old"))
            for system, shift in shifts.items()
            for n in range(60)
        ],
    )
    return path


def asked_gate(capsys: pytest.CaptureFixture[str], path: Path, systems: str, *more: object) -> Asked:
    return Asked(
        capsys,
        "gate",
        "--baseline",
        path,
        "--candidate",
        path,
        "--systems",
        systems,
        *(() if "--margin" in more else ("--margin", 1)),
        "--unseen",
        "seen",
        *more,
    )


@pytest.mark.parametrize(
    ("systems", "margin", "code", "verdict"),
    [
        ("old,same", 1, DONE, "ship"),
        ("old,worse", 1, GATE_NO, "do-not-ship"),
        ("old,same", 0, GATE_UNSURE, "not-enough-data"),
    ],
)
def test_the_exit_code_is_the_verdict(
    gate_records: Path, capsys: pytest.CaptureFixture[str], systems: str, margin: int, code: int, verdict: str
) -> None:
    asked = asked_gate(capsys, gate_records, systems, "--margin", margin, "--format", "json")
    assert (asked.code, asked.json["verdict"]) == (code, verdict)
    assert [asked.json[side]["name"] for side in ("baseline", "candidate")] == systems.split(",")


def test_a_file_that_is_not_there_is_wrong_use(
    gate_records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for files in (("nowhere", gate_records), (gate_records, "nowhere")):
        asked = Asked(capsys, "gate", "--baseline", files[0], "--candidate", files[1], "--margin", 1)
        assert (asked.code, "no file or folder 'nowhere'" in asked.err) == (USAGE, True)


def test_a_single_segment_has_a_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, junit = tmp_path / "gold.jsonl", tmp_path / "gate.xml"
    write_records(path, [rated("old", "1", 50), rated("same", "1", 51)])
    found = asked_gate(capsys, path, "old,same", "--junit", junit, "--format", "json")
    assert (found.code, found.json["verdict"]) == (GATE_UNSURE, "not-enough-data")
    assert (found.json["interval"], found.json["needed"]) == ([None, None], 10)
    assert 'type="not enough data"' in junit.read_text(encoding="utf-8")
    assert "Not enough data: same for old" in asked_gate(capsys, path, "old,same").out


def test_a_program_finds_what_holds_for_all_segments_at_the_top(
    gate_records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for margin, is_open in ((1, False), (0.01, True)):
        found = asked_gate(capsys, gate_records, "old,same", "--margin", margin, "--format", "json").json
        (row,) = found["rows"]
        assert (found["difference"], found["interval"]) == (row["difference"], row["bounds"])
        assert (found["margin"], found["n"]) == (margin, 60)
        assert found["needed"] == (60 + row["more"] if is_open else None)


def test_one_file_is_named_once(gate_records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = Asked(capsys, "gate", "--baseline", gate_records, "--systems", "old,worse", "--margin", 1)
    assert asked.code == GATE_NO
    assert "Do not ship: worse for old" in asked.out


def test_a_gold_of_a_test_set_decides_between_two_of_its_systems(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, count = write_folder(tmp_path / "set"), 20
    for file in (*folder.glob("*/en-de*.txt"), *folder.glob("system-outputs/en-de/*.txt")):
        file.write_text("x\n" * count)
    (folder / "documents" / "en-de.docs").write_text(
        "".join(f"{d}\td{n}{d}\n" for d in ("news", "chat") for n in range(10))
    )
    gold = {"A": [-1 - n % 3 for n in range(count)], "B": [-1 - n % 2 for n in range(count)]}
    write_scores(folder / "human-scores/en-de.mqm.seg.score", gold)
    options = ("gate", "--baseline", folder, "--systems", "A,B", "--lp", "en-de", "--margin", 1)
    asked = Asked(capsys, *options, "--gold", "mqm", "--format", "json")
    assert (asked.code, asked.json["verdict"], asked.json["n"]) == (DONE, "ship", count)
    assert [row["name"] for row in asked.json["rows"]] == ["all", "news", "chat"]
    assert any("score files carry no error spans" in note for note in asked.json["notes"])
    both = ("--gold", "mqm", "--metric", "x")
    assert "give --gold or --metric, not both" in Asked(capsys, *options, *both).err
    other = ("--candidate", tmp_path, "--gold", "mqm")
    assert "both systems are of one test set" in Asked(capsys, *options, *other).err
    for more in (("--criterion", "style"), ("--test-set", folder)):
        refused = Asked(capsys, *options, "--gold", "mqm", *more)
        assert (refused.code, f"{more[0]} is for judgements" in refused.err) == (2, True)


def test_a_person_reads_verdict_reason_and_bounds(
    gate_records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = asked_gate(capsys, gate_records, "old,worse").out
    assert "Do not ship: worse for old" in out
    told = (
        r"All segments: worse by more than the margin of 1: lower by [0-9.]+, and by no less than [0-9.]+\."
    )
    assert re.search(told, out)
    assert not re.search(r"(?<![\w-])-\d", out), "a hyphen where tables have a minus"
    assert "90 % interval" in out
    assert "old: 60 judged, 0 failed" in out


def test_domains_come_from_the_test_set_and_without_one_it_says_so(
    gate_records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = tmp_path / "texts.jsonl"
    segments = tuple(
        Segment(segment=str(n), lp="en-de", source="Hi.", domain="law" if n % 2 else "chat")
        for n in range(60)
    )
    write_test_set(texts, TestSet(name="texts", segments=segments))
    asked = asked_gate(capsys, gate_records, "old,same", "--test-set", texts, "--format", "json")
    assert [row["name"] for row in asked.json["rows"]] == ["all", "chat", "law"]
    assert asked.json["reasons"] == [
        "The candidate is shown not to be worse by the margin, on all segments and in each domain."
    ]
    asked = asked_gate(capsys, gate_records, "old,same", "--format", "json")
    assert (
        "No domains are known, and none is tested: give the test set that says them." in asked.json["notes"]
    )
    assert asked.json["reasons"][0].endswith("on all segments.")


def test_what_was_judged_by_different_judges_is_not_compared(
    gate_records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.jsonl"
    write_records(other, [rated("same", str(n), 50 + n % 5, annotator="another") for n in range(60)])
    options = (
        "gate",
        "--baseline",
        gate_records,
        "--candidate",
        other,
        "--systems",
        "old,same",
        "--margin",
        10,
    )
    asked = Asked(capsys, *options)
    assert asked.code == USAGE
    assert "were not judged alike" in asked.err
    assert Asked(capsys, *options, "--any-signature").code == DONE


@pytest.mark.parametrize(
    ("heading", "cells", "is_refused"),
    [("", ("", ""), False), (",metric", (",chrF", ",chrF"), False), (",metric", (",chrF", ",BLEU"), True)],
)
def test_the_name_of_a_score_file_is_no_setting_of_its_metric(
    heading: str,
    cells: tuple[str, str],
    is_refused: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, cell in zip(("base", "new"), cells, strict=True):
        rows = "".join(f"A,{n},{50 + n % 5}{cell}\n" for n in range(60))
        Path(f"{name}.scores.csv").write_text(f"system,segment,score{heading}\n{rows}")
    sides = ("--baseline", "base.scores.csv", "--candidate", "new.scores.csv")
    asked = Asked(capsys, "gate", *sides, "--margin", 10, "--range", "0,100", "--lp", "en-de")
    assert (asked.code == USAGE, "were not judged alike" in asked.err) == (is_refused, is_refused)
    assert ("The signatures differ" in asked.out) == (not heading)


def test_an_output_that_cannot_be_written_is_said_first(
    gate_records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = asked_gate(capsys, gate_records, "old,same", "--junit", tmp_path / "none" / "gate.xml")
    assert (asked.code, asked.out) == (USAGE, "")
    assert "cannot write" in asked.err


def test_a_build_gets_junit_in_which_only_ship_passes(
    gate_records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {}
    for systems, margin in (("old,same", 1), ("old,worse", 1), ("old,same", 0)):
        file = tmp_path / "gate.xml"
        asked = asked_gate(capsys, gate_records, systems, "--margin", margin, "--junit", file)
        suite = ET.parse(file).getroot()  # noqa: S314 (our own)
        types = [failure.get("type") for failure in suite.iter("failure")]
        assert suite.get("failures") == str(len(types))
        assert suite.get("tests") == str(len(suite.findall("testcase")))
        found[systems, margin] = (asked.code, types)
    assert found == {
        ("old,same", 1): (DONE, []),
        ("old,worse", 1): (GATE_NO, ["do not ship"]),
        ("old,same", 0): (GATE_UNSURE, ["not enough data"]),
    }


def test_a_pull_request_gets_markdown_that_is_appended(
    gate_records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "summary.md"
    file.write_text("# Build\n", encoding="utf-8")
    asked_gate(capsys, gate_records, "old,same", "--summary", file)
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["# Build", "## Ship: same for old"]
    assert any(line.startswith("| all") for line in lines)
    told = [line.lstrip("- ") for line in lines if line and not line.startswith("| ")]
    assert len(set(told)) == len(told)
    assert sum("Ship" in line for line in told) == 1


def test_notes_tell_of_no_system_but_the_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, flags = tmp_path / "gold.jsonl", ("injection_suspect",)
    judged = [
        rated(system, str(n), 50 + n % (8 - len(system) % 2))
        for system in ("old", "same", "third")
        for n in range(60)
    ]
    write_records(path, [replace(r, flags=flags) if r.system == "third" else r for r in judged])
    asked = asked_gate(capsys, path, "old,same", "--format", "json")
    assert (asked.code, asked.json["verdict"]) == (DONE, "ship")
    assert not [note for note in asked.json["notes"] if "third" in note or "flagged" in note]
    assert asked.json["candidate"]["signature"].endswith("failed:0/120|version:0.1.0")


def test_programs_get_full_precision(gate_records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = asked_gate(capsys, gate_records, "old,same", "--format", "csv").rows
    assert (row["kind"], row["name"], row["n"], row["verdict"]) == ("all", "all", "60", "ship")
    assert float(row["low"]) <= float(row["difference"]) <= float(row["high"])


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        (None, "name both systems with --systems OLD,NEW"),
        ("old", "--systems takes the baseline's and the candidate's, as OLD,NEW; got 'old'"),
        ("old,old", "--systems names 'old' twice: the candidate must be another system"),
        ("old,nobody", "there is no system 'nobody'; there are old, same, worse"),
    ],
)
def test_what_cannot_be_meant_is_wrong_use(
    gate_records: Path, capsys: pytest.CaptureFixture[str], systems: str | None, message: str
) -> None:
    more = [] if systems is None else ["--systems", systems]
    asked = Asked(
        capsys, "gate", "--baseline", gate_records, "--candidate", gate_records, "--margin", 1, *more
    )
    assert asked.code == USAGE
    assert message in asked.err


@pytest.fixture
def power_records(tmp_path: Path) -> Path:
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


def test_data_say_what_is_needed(power_records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = Asked(capsys, "power", power_records, "a", "b", "--format", "json")
    (pair,) = asked.json["pairs"]
    assert pair["systems"] == ["a", "b"]
    assert pair["more"] == 2 * (pair["needed"] - 60) > 0
    table = Asked(capsys, "power", power_records).out
    assert "segments needed" in table
    assert "take the difference at hand for the true one" in table
    for form in ("csv", "json"):
        assert (
            "take the difference at hand for the true one"
            in Asked(capsys, "power", power_records, "--format", form).err
        )
    rows = Asked(capsys, "power", power_records, "--format", "csv").rows
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
        (["{}", "--annotators", "2"], "the effect of more annotators"),
        (["nowhere"], "no file or folder 'nowhere'"),
    ],
)
def test_wrong_use_is_said_in_one_line_in_power(
    power_records: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    asked = Asked(capsys, "power", *(a.format(power_records) for a in arguments))
    assert (asked.code, asked.out) == (2, "")
    assert message in asked.err
