"""`adjudge compare`, `gate` and `power` as a user calls them."""

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
from tests.cli.calling import Ask, Asked
from tests.cli.test_score_and_rank import make_run

TEXTS, GOLD = examples.path("test_set.jsonl"), examples.path("gold.mqm.jsonl")


@pytest.fixture(autouse=True)
def _files(_elsewhere: None) -> None:
    """Three systems in gate.jsonl: `same` as `old` within noise, `worse` by ten points."""
    write_records("ab.jsonl", [rated(s, str(n), 50 + n + 5 * (s == "a")) for s in "ab" for n in range(20)])
    shifts = {"old": 0, "same": 0, "worse": -10}
    judged = [
        rated(system, str(n), 50 + n % 7 + shift + (n % 3 - 1) * (system != "old"))
        for system, shift in shifts.items()
        for n in range(60)
    ]
    write_records("gate.jsonl", judged)
    write_records("power.jsonl", made())


def gate(ask: Ask, systems: str, *more: object, margin: float = 1, file: str = "gate.jsonl") -> Asked:
    options = ("--systems", systems, "--margin", margin, "--unseen", "seen")
    return ask("gate", "--baseline", file, *options, *more)


def test_two_systems_of_a_file_are_compared(ask: Ask) -> None:
    asked = ask.done("compare", "ab.jsonl", "a", "b", "--format", "json")
    assert asked.json["difference"] == pytest.approx(5)
    assert asked.json["interval"] == pytest.approx([5, 5])
    assert asked.json["p"] < 0.01
    assert (asked.json["n"], asked.json["units"], asked.json["strata"]) == (20, 20, [])
    assert asked.json["first"] | {"signature": ""} == {"name": "a", "signature": "", "n": 20, "failed": 0}
    assert asked.json["effect"]["superiority"] == 1
    assert ask("compare", "ab.jsonl", "--systems", "a,b", "--format", "json").json == asked.json
    assert list(asked.json) == [
        "first", "second", "means", "difference", "interval", "p", "n", "units", "effective",
        "effect", "strata", "method", "notes",
    ]  # fmt: skip


def test_a_person_reads_difference_interval_p_and_effect(ask: Ask) -> None:
    out = ask("compare", "ab.jsonl", "b", "a", "--test", "wilcoxon").out
    assert "5.0 " in out
    assert "<0.001" in out
    assert "a: 20 judged, 0 failed" in out
    assert "Wilcoxon signed-rank test" in out
    rows = ask("compare", "ab.jsonl", "b", "a", "--format", "csv").rows
    assert float(rows[0]["difference"]) == -5
    assert rows[0]["d_z"] == ""


def test_two_runs_are_compared(tmp_path: Path, ask: Ask) -> None:
    runs = [
        make_run(tmp_path / name, [rated(name, str(n), 50 + n + shift) for n in range(9)], protocol="da-sqm")
        for name, shift in (("new", 3), ("old", 0))
    ]
    asked = ask("compare", *runs, "--format", "json")
    assert asked.json["first"]["name"] == "new"
    assert asked.json["difference"] == pytest.approx(3)


@pytest.mark.parametrize("named", [("Alder", "Cedar"), ("--systems", "Alder,Cedar")])
def test_systems_of_a_test_set_are_compared_by_its_gold(ask: Ask, named: tuple[str, str]) -> None:
    found = ask.done("compare", TEXTS, *named, "--lp", "en-de", "--gold", GOLD, "--format", "json").json
    assert found["n"] == 16
    assert found["difference"] > 0


@pytest.mark.realdata
def test_scores_in_their_test_set_are_compared_by_its_domains(adjudge_data: Path, ask: Ask) -> None:
    scores = adjudge_data / "wmt23/human-scores/en-de.mqm.seg.score"
    asked = ask("compare", scores, "GPT4-5shot", "ONLINE-W", "--format", "json")
    assert {s["name"] for s in asked.json["strata"]} == {"news", "social", "speech", "user_review"}


@pytest.mark.parametrize(
    ("systems", "margin", "code", "verdict"),
    [
        ("old,same", 1, DONE, "ship"),
        ("old,worse", 1, GATE_NO, "do-not-ship"),
        ("old,same", 0, GATE_UNSURE, "not-enough-data"),
    ],
)
def test_the_exit_code_is_the_verdict(ask: Ask, systems: str, margin: int, code: int, verdict: str) -> None:
    asked = gate(ask, systems, "--format", "json", margin=margin)
    assert (asked.code, asked.json["verdict"]) == (code, verdict)
    assert [asked.json[side]["name"] for side in ("baseline", "candidate")] == systems.split(",")


def test_a_single_segment_has_a_verdict(ask: Ask) -> None:
    path, junit = "one.jsonl", Path("gate.xml")
    write_records(path, [rated("old", "1", 50), rated("same", "1", 51)])
    found = gate(ask, "old,same", "--junit", junit, "--format", "json", file=path)
    assert (found.code, found.json["verdict"]) == (GATE_UNSURE, "not-enough-data")
    assert (found.json["interval"], found.json["needed"]) == ([None, None], 10)
    assert 'type="not enough data"' in junit.read_text(encoding="utf-8")
    assert "Not enough data: same for old" in gate(ask, "old,same", file=path).out


def test_a_program_finds_what_holds_for_all_segments_at_the_top(ask: Ask) -> None:
    for margin, is_open in ((1, False), (0.01, True)):
        found = gate(ask, "old,same", "--format", "json", margin=margin).json
        (row,) = found["rows"]
        assert (found["difference"], found["interval"]) == (row["difference"], row["bounds"])
        assert (found["margin"], found["n"]) == (margin, 60)
        assert found["needed"] == (60 + row["more"] if is_open else None)


def test_a_gold_of_a_test_set_decides_between_two_of_its_systems(tmp_path: Path, ask: Ask) -> None:
    folder, count = write_folder(tmp_path / "set"), 20
    for file in (*folder.glob("*/en-de*.txt"), *folder.glob("system-outputs/en-de/*.txt")):
        file.write_text("x\n" * count)
    (folder / "documents" / "en-de.docs").write_text(
        "".join(f"{d}\td{n}{d}\n" for d in ("news", "chat") for n in range(10))
    )
    gold = {"A": [-1 - n % 3 for n in range(count)], "B": [-1 - n % 2 for n in range(count)]}
    write_scores(folder / "human-scores/en-de.mqm.seg.score", gold)
    options = ("gate", "--baseline", folder, "--systems", "A,B", "--lp", "en-de", "--margin", 1)
    asked = ask(*options, "--gold", "mqm", "--format", "json")
    assert (asked.code, asked.json["verdict"], asked.json["n"]) == (DONE, "ship", count)
    assert [row["name"] for row in asked.json["rows"]] == ["all", "news", "chat"]
    assert any("score files carry no error spans" in note for note in asked.json["notes"])
    both = ("--gold", "mqm", "--metric", "x")
    assert "give --gold or --metric, not both" in ask(*options, *both).err
    other = ("--candidate", tmp_path, "--gold", "mqm")
    assert "both systems are of one test set" in ask(*options, *other).err
    for more in (("--criterion", "style"), ("--test-set", folder)):
        assert f"{more[0]} is for judgements" in ask.refused(*options, "--gold", "mqm", *more)


def test_a_person_reads_verdict_reason_and_bounds(ask: Ask) -> None:
    out = gate(ask, "old,worse").out
    assert "Do not ship: worse for old" in out
    assert re.search(
        r"worse by more than the margin of 1: lower by [0-9.]+, and by no less than [0-9.]+", out
    )
    assert not re.search(r"(?<![\w-])-\d", out), "a hyphen where tables have a minus"
    assert "90 % interval" in out
    assert "old: 60 judged, 0 failed" in out


def test_domains_come_from_the_test_set_and_without_one_it_says_so(ask: Ask) -> None:
    texts = Path("texts.jsonl")
    segments = tuple(
        Segment(segment=str(n), lp="en-de", source="Hi.", domain="law" if n % 2 else "chat")
        for n in range(60)
    )
    write_test_set(texts, TestSet(name="texts", segments=segments))
    asked = gate(ask, "old,same", "--test-set", texts, "--format", "json")
    assert [row["name"] for row in asked.json["rows"]] == ["all", "chat", "law"]
    (reason,) = asked.json["reasons"]
    assert "not to be worse by the margin, on all segments and in each domain" in reason
    asked = gate(ask, "old,same", "--format", "json")
    assert any("No domains are known, and none is tested" in note for note in asked.json["notes"])
    assert asked.json["reasons"][0].endswith("on all segments.")


def test_what_was_judged_by_different_judges_is_not_compared(ask: Ask) -> None:
    other = [rated("same", str(n), 50 + n % 5, annotator="another") for n in range(60)]
    write_records("other.jsonl", other)
    sides = ("gate", "--baseline", "gate.jsonl", "--candidate", "other.jsonl")
    options = ("--systems", "old,same", "--margin", 10)
    assert "were not judged alike" in ask.refused(*sides, *options)
    assert ask(*sides, *options, "--any-signature").code == DONE


@pytest.mark.parametrize(
    ("heading", "cells", "is_refused"),
    [("", ("", ""), False), (",metric", (",chrF", ",chrF"), False), (",metric", (",chrF", ",BLEU"), True)],
)
def test_the_name_of_a_score_file_is_no_setting_of_its_metric(
    heading: str, cells: tuple[str, str], is_refused: bool, ask: Ask
) -> None:
    for name, cell in zip(("base", "new"), cells, strict=True):
        rows = "".join(f"A,{n},{50 + n % 5}{cell}\n" for n in range(60))
        Path(f"{name}.scores.csv").write_text(f"system,segment,score{heading}\n{rows}")
    sides = ("--baseline", "base.scores.csv", "--candidate", "new.scores.csv")
    asked = ask("gate", *sides, "--margin", 10, "--range", "0,100", "--lp", "en-de")
    assert (asked.code == USAGE, "were not judged alike" in asked.err) == (is_refused, is_refused)
    assert ("The signatures differ" in asked.out) == (not heading)


def test_an_output_that_cannot_be_written_is_said_first(ask: Ask) -> None:
    asked = gate(ask, "old,same", "--junit", Path("none/gate.xml"))
    assert (asked.code, asked.out) == (USAGE, "")
    assert "cannot write" in asked.err


def test_a_build_gets_junit_in_which_only_ship_passes(ask: Ask) -> None:
    found = {}
    for systems, margin in (("old,same", 1), ("old,worse", 1), ("old,same", 0)):
        file = Path("gate.xml")
        asked = gate(ask, systems, "--junit", file, margin=margin)
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


def test_a_pull_request_gets_markdown_that_is_appended(ask: Ask) -> None:
    file = Path("summary.md")
    file.write_text("# Build\n", encoding="utf-8")
    gate(ask, "old,same", "--summary", file)
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["# Build", "## Ship: same for old"]
    assert any(line.startswith("| all") for line in lines)
    told = [line.lstrip("- ") for line in lines if line and not line.startswith("| ")]
    assert len(set(told)) == len(told)
    assert sum("Ship" in line for line in told) == 1


def test_notes_tell_of_no_system_but_the_two(ask: Ask) -> None:
    path, flags = "third.jsonl", ("injection_suspect",)
    judged = [
        rated(system, str(n), 50 + n % (8 - len(system) % 2))
        for system in ("old", "same", "third")
        for n in range(60)
    ]
    write_records(path, [replace(r, flags=flags) if r.system == "third" else r for r in judged])
    asked = gate(ask, "old,same", "--format", "json", file=path)
    assert (asked.code, asked.json["verdict"]) == (DONE, "ship")
    assert not [note for note in asked.json["notes"] if "third" in note or "flagged" in note]
    assert asked.json["candidate"]["signature"].endswith("failed:0/120|version:0.1.0")


def test_programs_get_full_precision(ask: Ask) -> None:
    (row,) = gate(ask, "old,same", "--format", "csv").rows
    assert (row["kind"], row["name"], row["n"], row["verdict"]) == ("all", "all", "60", "ship")
    assert float(row["low"]) <= float(row["difference"]) <= float(row["high"])


def test_a_plan_needs_no_data(ask: Ask) -> None:
    asked = ask.done("power", "--sd", 10, "--segments", 400, "--difference", 1, "--format", "json")
    assert asked.json["detectable"] == pytest.approx(1.4042, abs=1e-3)
    assert asked.json["needed"] == 787
    assert 0.5 < asked.json["power_for_difference"] < 0.53
    out = ask("power", "--sd", 10, "--segments", 400).out
    assert "1.404" in out
    assert "400 segments show with a chance of 80 %" in out
    found = ask.done("power", "--sd", 8, "--difference", 1, "--format", "json").json
    assert (found["segments"], found["needed"]) == (505, 505)
    assert found["power_for_difference"] == pytest.approx(0.8, abs=1e-3)


def test_data_say_what_is_needed(ask: Ask) -> None:
    (pair,) = ask("power", "power.jsonl", "a", "b", "--format", "json").json["pairs"]
    assert pair["systems"] == ["a", "b"]
    assert pair["more"] == 2 * (pair["needed"] - 60) > 0
    table = ask("power", "power.jsonl").out
    assert "segments needed" in table
    assert "take the difference at hand for the true one" in table
    for form in ("csv", "json"):
        said = ask("power", "power.jsonl", "--format", form).err
        assert "take the difference at hand for the true one" in said
    rows = ask("power", "power.jsonl", "--format", "csv").rows
    assert [row["second"] for row in rows] == ["b", "c"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("compare ab.jsonl a", "no file or folder 'a': two systems are named after their run or file"),
        ("compare ab.jsonl", "give two runs or files, or one and two of its systems"),
        ("compare ab.jsonl a z", "there is no system 'z'"),
        ("compare ab.jsonl a b --systems a,b", "named twice"),
        ("compare ab.jsonl a --gold mqm", "give TEST_SET SYSTEM SYSTEM"),
        ("compare ab.jsonl a b --gold mqm --metric x", "not both"),
        ("compare ab.jsonl a b --gold mqm --systems a,b", "give TEST_SET SYSTEM SYSTEM"),
        ("compare ab.jsonl a b --metric x --criterion style", "--criterion is for judgements"),
        ("compare ab.jsonl a b --gold mqm --test-set ab.jsonl", "--test-set is for judgements"),
        ("compare ab.jsonl a b --by-document", "needs documents"),
        (f"compare {TEXTS} Alder Cedar --lp en-de", "is a test set: add --gold or --metric"),
        ("gate --baseline gate.jsonl --margin 1", "name both systems with --systems OLD,NEW"),
        ("gate --baseline gate.jsonl --margin 1 --systems old", "as OLD,NEW; got 'old'"),
        ("gate --baseline gate.jsonl --margin 1 --systems old,old", "names 'old' twice"),
        (
            "gate --baseline gate.jsonl --margin 1 --systems old,x",
            "no system 'x'; there are old, same, worse",
        ),
        ("gate --baseline nowhere --candidate gate.jsonl --margin 1", "no file or folder 'nowhere'"),
        ("gate --baseline gate.jsonl --candidate nowhere --margin 1", "no file or folder 'nowhere'"),
        ("power", "give judgements (a run or a file), or --sd with --segments, --difference or both"),
        ("power --sd 3", "--sd with --segments, --difference or both"),
        ("power --sd 3 --difference 0", "no number of segments shows a difference of 0"),
        ("power --sd -1 --segments 5", "a standard deviation is 0 or more"),
        ("power --sd 3 --segments 5 --by-document", "--by-document is for judgements"),
        ("power --sd 3 --segments 5 --test-set ab.jsonl", "leave it out with --sd"),
        ("power power.jsonl --sd 3", "stand in for data"),
        ("power power.jsonl a", "give a run or a file, alone or with two systems"),
        ("power power.jsonl a z", "there is no system 'z'"),
        ("power power.jsonl --annotators 2", "the effect of more annotators"),
        ("power nowhere", "no file or folder 'nowhere'"),
    ],
)
def test_wrong_use_is_said(words: str, message: str, ask: Ask) -> None:
    asked = ask(*words.split())
    assert (asked.code, asked.out) == (USAGE, "")
    assert message in asked.err
