"""`adjudge meta` and `adjudge list measures|tasks` as a user calls them."""

import json
from pathlib import Path

import numpy as np
import pytest

import adjudge
from adjudge.analysis.meta_settings import MetaEvaluation
from adjudge.stats.correlation import kendall_like
from tests.cli.calling import Asked
from tests.meta.folders import GOLD, METRIC, write_folder, write_own, write_ratings, write_scores

KEYS = [
    "sys_accuracy",
    "sys_pearson",
    "sys_spearman",
    "sys_kendall",
    "spa",
    "seg_acc_eq",
    "seg_acc_eq_epsilon",
    "seg_acc_eq_chance",
    "seg_pearson",
    "seg_spearman",
    "seg_kendall_b",
    "seg_kendall_c",
    "meta",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "set")


def test_json_is_one_object_with_plain_numbers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = Asked(capsys, "meta", folder, "--lp", "en-de", "--gold", "mqm", "--format", "json")
    found = asked.json
    assert asked.code == 0
    assert (found["lp"], found["gold"], found["systems"]) == ("en-de", "mqm", ["A", "B", "C"])
    assert (found["n_segments"], found["n_all"], found["excluded"]) == (3, 4, ["refA"])
    assert list(found["metrics"]) == ["COMET-refA", "QE-src"]
    row = found["metrics"]["COMET-refA"]
    assert [key for key in row if key in KEYS] == KEYS
    assert all(isinstance(row[key], float) for key in KEYS if key != "meta")
    assert row["meta"] is None
    assert (row["n"], row["failed"]) == (9, 0)
    assert found["signature"].startswith(
        "meta|test_set:set|lp:en-de|gold:mqm|reference:refA|excluded:refA|segments:3/4|version:"
    )
    assert "3 systems are compared" in asked.err


def test_the_table_marks_the_best_and_says_what_was_left_out(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(capsys, "meta", folder, "--measures", "seg_pearson,seg_acc_eq")
    lines = asked.out.splitlines()
    assert next(line for line in lines if "metric" in line).split() == (
        ["metric", "seg", "r", "acc_eq", "chance", "n", "failed"]
    )
    assert [line.split()[0] for line in lines if "-refA" in line or "-src" in line] == [
        "COMET-refA",
        "QE-src",
    ]
    assert asked.out.count("*") == 2
    assert "left out: refA (reference that metrics were shown)." in asked.out
    assert "Gold mqm judged 3 of 4 segments" in asked.out


@pytest.mark.parametrize(("form", "mark"), [("markdown", "**0.9"), ("latex", r"\textbf{0.9")])
def test_the_best_is_bold_on_paper(
    folder: Path, capsys: pytest.CaptureFixture[str], form: str, mark: str
) -> None:
    asked = Asked(capsys, "meta", folder, "--measures", "seg_pearson", "--format", form)
    assert asked.out.count(mark) == 1
    assert "set en-de, gold mqm" in asked.out


def test_separated_values_have_every_number_in_full(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = Asked(capsys, "meta", folder, "--format", "csv", "--strata", "domain", "--smallest", "3").rows
    whole = Asked(capsys, "meta", folder, "--format", "json").json["metrics"]["QE-src"]
    assert [(row["metric"], row["stratum"]) for row in rows if row["metric"] == "QE-src"] == [
        ("QE-src", ""),
        ("QE-src", "domain: news"),
        ("QE-src", "domain: chat"),
    ]
    found = next(row for row in rows if row["metric"] == "QE-src")
    assert float(found["seg_acc_eq_chance"]) == whole["seg_acc_eq_chance"]
    assert (found["seg_pearson"], found["seg_pearson_n"]) == (repr(whole["seg_pearson"]), "9")


def test_runs_and_files_of_ones_own_are_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = write_own(tmp_path / "own.jsonl")
    gold = write_ratings(tmp_path / "people.jsonl", {"A": [90, 80, 70, 60], "B": [80, 50, 40, 30]})
    judge = write_ratings(tmp_path / "judge.jsonl", {"A": [9, 8, None, 6], "B": [7, 5, 4, 3]})
    comet = write_scores(tmp_path / "COMET.seg.score", METRIC)
    asked = Asked(
        capsys,
        "meta",
        own,
        "--gold",
        gold,
        "--scores",
        f"mine={judge}",
        "--scores",
        comet,
        "--format",
        "json",
    )
    metrics = asked.json["metrics"]
    assert list(metrics) == ["mine", "COMET"]
    assert (metrics["mine"]["failed"], metrics["mine"]["n"], metrics["COMET"]["n"]) == (1, 7, 8)
    assert asked.json["excluded"] == ["C"]


def test_a_measure_without_value_is_null_and_says_why(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    constant = write_scores(folder / "same.seg.score", {s: [1, 1, 1, 1] for s in "ABC"})
    asked = Asked(capsys, "meta", folder, "--scores", constant, "--format", "json")
    row = asked.json["metrics"]["same"]
    assert row["seg_pearson"] is None
    assert "all metric scores are equal" in row["reasons"]["seg_pearson"]
    assert "same gives every translation the score 1" in asked.err
    table = Asked(capsys, "meta", folder, "--scores", constant)
    assert "all metric scores are equal" in table.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--gold", "esa"], "no gold 'esa', and there is no such file; it has mqm"),
        (["--measures", "pearson"], "no measure 'pearson'; there are sys_accuracy"),
        (["--strata", "genre"], "no stratum 'genre'"),
        (["--lp", "en-fr"], "no language pair 'en-fr'"),
        (["--scores", "nothing.seg.score"], "nothing.seg.score"),
        (["--task", "wmt20"], "no task 'wmt20'"),
        (["--metrics", ""], "--metrics names nothing: leave the option out, or name at least one"),
        (["--measures", " , "], "--measures names nothing"),
        (["--strata", ""], "--strata names nothing"),
        (
            ["--threshold", "2"],
            "no measure here takes a threshold; one that does: --measures seg_kendall",
        ),
        (["--measures", "seg_kendall_like", "--threshold", "-1"], "0 or more; got -1"),
    ],
)
def test_what_is_not_there_is_said_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    asked = Asked(capsys, "meta", folder, *arguments)
    assert asked.code in {1, 2}
    assert asked.out == ""
    assert message in asked.err
    assert len(asked.err.strip().splitlines()) == 1


def test_two_language_pairs_are_two_parts_and_a_whole(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_folder(folder, lp="zh-en")
    found = Asked(capsys, "meta", folder, "--lp", "en-de,zh-en", "--format", "json").json
    assert [part["lp"] for part in found["parts"]] == ["en-de", "zh-en"]
    assert found["lp"] == "en-de,zh-en"
    assert (
        found["metrics"]["QE-src"]["sys_accuracy"] == found["parts"][0]["metrics"]["QE-src"]["sys_accuracy"]
    )


def test_python_and_the_command_say_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = adjudge.meta(folder, gold="mqm")
    assert isinstance(found, MetaEvaluation)
    printed = Asked(capsys, "meta", folder, "--format", "json").json
    assert {m.name: m.results["spa"].value for m in found.metrics} == {
        name: row["spa"] for name, row in printed["metrics"].items()
    }


def test_the_kendall_like_measure_counts_pairs_as_far_apart_as_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("meta", folder, "--measures", "seg_kendall_like", "--intervals", "--format", "json")
    far, near = (Asked(capsys, *asked, *more).json for more in ((), ("--threshold", "2")))
    systems = near["systems"]
    gold, metric = (np.array([side[s] for s in systems], float) for side in (GOLD, METRIC))
    wanted = kendall_like(gold, metric, "item", threshold=2).value
    row = near["metrics"]["COMET-refA"]
    assert far["metrics"]["COMET-refA"]["seg_kendall_like"] is None  # no two are 25 apart
    assert row["seg_kendall_like"] == wanted is not None
    assert row["intervals"]["seg_kendall_like"] is not None
    assert "|threshold:2|" in near["signature"]
    assert "threshold" not in far["signature"]


def test_measures_and_tasks_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    measures = json.loads(Asked(capsys, "list", "measures", "--format", "json").out)["measures"]
    assert set(KEYS) - {"meta", "seg_acc_eq_epsilon", "seg_acc_eq_chance"} <= {m["measure"] for m in measures}
    tasks = Asked(capsys, "list", "tasks", "--format", "json").json["tasks"]
    assert [task["task"] for task in tasks] == ["ment", "ment-rate", "wmt23", "wmt24", "wmt25"]


def test_clusters_and_intervals_are_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("meta", folder, "--measures", "seg_pearson,seg_mae", "--significance", "50", "--intervals")
    table = Asked(capsys, *asked, "--scale", "minmax").out
    assert "(1)*" in table
    assert "95 % intervals, en-de" in table
    found = Asked(capsys, *asked, "--format", "json").json
    row = found["metrics"]["QE-src"]
    assert row["clusters"]["seg_pearson"] in {1, 2}
    assert len(row["intervals"]["seg_pearson"]) == 2
    assert row["seg_mae"] is None  # a metric's range is not known from its file
    assert found["p_values"]["metrics"] == ["COMET-refA", "QE-src"]
    assert found["p_values"]["better"]["seg_pearson"][0][0] == 1
    rows = Asked(capsys, *asked, "--format", "tsv").out.splitlines()
    assert "seg_pearson_low" in rows[0]
    assert "seg_pearson_cluster" in rows[0]


def test_figures_are_written_to_a_folder(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(capsys, "meta", folder, "--metrics", "QE-src", "--figures", tmp_path / "drawn")
    assert "2 figures in" in asked.err
    assert {file.name for file in (tmp_path / "drawn").iterdir()} == {
        f"{kind}.en-de.mqm.QE-src.{form}"
        for kind in ("scatter", "calibration")
        for form in ("pdf", "svg", "png")
    }
    wrong = Asked(capsys, "meta", folder, "--metrics", "BLEU")
    assert "no metric 'BLEU'; there are COMET-refA, QE-src" in wrong.err


def test_strata_stand_in_one_table_with_lines_between_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("meta", folder, "--strata", "domain", "--measures", "seg_pearson", "--format", "markdown")
    out = Asked(capsys, *asked, "--smallest", "6").out
    rows = [line.split("|")[1:4] for line in out.splitlines() if line.startswith("| news")]
    assert [[cell.strip() for cell in row] for row in rows] == [
        ["news", "2", "COMET-refA"],
        ["news", "2", "QE-src"],
    ]
    assert "chat: no numbers, for 3 judged translations, 6 are needed." in out


def test_what_to_know_of_a_number_stands_below_the_table(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tied = {"A": [1, 2, 3, 4], "B": [1, 2, 3, 4], "C": [0, 1, 2, 3]}
    file = write_scores(folder.parent / "tied.seg.score", tied)
    asked = Asked(capsys, "meta", folder, "--scores", f"tied={file}", "--measures", "spa")
    assert "of tied: the metric ties the systems of 1 pairs in every segment;" in " ".join(asked.out.split())


def test_tables_of_markdown_have_an_empty_line_between_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_folder(folder, lp="zh-en")
    printed = Asked(capsys, "meta", folder, "--lp", "en-de,zh-en", "--intervals", "--format", "markdown").out
    lines = printed.splitlines()
    titles = [place for place, line in enumerate(lines) if line.startswith("**")]
    assert len(titles) == 5
    assert all(lines[place - 1] == "" for place in titles[1:])


def test_several_golds_have_no_numbers_together(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_scores(folder / "human-scores/en-de.da.seg.score", METRIC)
    asked = "meta", folder, "--gold", "mqm", "--gold", "da", "--format"
    rows = Asked(capsys, *asked, "csv").rows
    assert [(row["gold"], row["metric"]) for row in rows] == [
        (gold, metric) for gold in ("mqm", "da") for metric in ("COMET-refA", "QE-src")
    ]
    found = Asked(capsys, *asked, "json").json
    assert set(found) == {"signature", "test_set", "lp", "gold", "notes", "parts"}
    assert "segments:" not in found["signature"]
    assert [part["n_segments"] for part in found["parts"]] == [3, 4]
    assert "en-de, gold da: " in Asked(capsys, *asked, "csv").err
