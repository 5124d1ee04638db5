import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from adjudge import examples
from adjudge.core.record import Annotation, Preference, Record
from adjudge.formats.score_file import read_score_file
from adjudge.store.json_lines import read_records, write_records
from tests.cli.calling import call
from tests.scoring.records import error, failed, mqm, preferred, rated


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = call("agreement", *arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def data_of(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    code, out, err = run(capsys, *arguments, "--format", "json")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def values(data: dict[str, Any], **wanted: object) -> dict[tuple[str, str], float | None]:
    return {
        (row["measure"], " and ".join(row["between"])): row["value"]
        for row in data["rows"]
        if all(row[key] == value for key, value in wanted.items())
    }


def write(path: Path, records: list[Record]) -> Path:
    write_records(path, records)
    return path


def verdicts(annotator: str, text: str) -> list[Record]:
    return [preferred("a", "b", v, str(i), annotator=annotator) for i, v in enumerate(text)]  # type: ignore[arg-type]


def test_three_people_and_a_judge_on_preferences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people = write(
        tmp_path / "people.jsonl", [*verdicts("p", "AABBE"), *verdicts("q", "AABEE"), *verdicts("r", "AEBAE")]
    )
    judge = write(
        tmp_path / "judge.jsonl", [*verdicts("j", "AABBA"), failed("a", "b", segment="9", annotator="j")]
    )
    data = data_of(capsys, people, "--judge", judge, "--resamples", "50")
    found = values(data, criterion="overall")
    assert found["agreement, ranked easy", "j and majority"] == 1
    assert found["agreement, tied", "j and majority"] == 0
    assert {"Fleiss kappa", "Krippendorff alpha, nominal", "Krippendorff alpha, ordinal"} <= {
        m for m, _ in found
    }
    assert ("Cohen kappa", "p and q") in found
    assert data["tests"][0]["passes"] is None  # five units are too few
    assert data["notes"] == ["1 judgement failed; it has no label and is in no number."]


def test_an_annotator_in_two_files_is_compared_with_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = write(tmp_path / "one.jsonl", verdicts("p", "AABB"))
    two = write(tmp_path / "two.jsonl", verdicts("p", "AABE"))
    found = values(data_of(capsys, one, two, "--resamples", "0"))
    assert found["agreement", f"{one}:p and {two}:p"] == 0.75


def test_scores_are_compared_as_scores_and_as_pairs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 100, (4, 12))
    records: list[Record] = []
    for annotator in "pq":
        noise = np.clip(truth + rng.integers(-10, 11, truth.shape), 0, 100)
        records += [
            rated("abcd"[s], str(k), int(noise[s, k]), annotator=annotator)
            for s in range(4)
            for k in range(12)
        ]
    path = write(tmp_path / "ratings.jsonl", records)
    found = values(data_of(capsys, path, "--resamples", "0"), criterion=None)
    assert {m for m, _ in found} == {
        "Krippendorff alpha, ordinal",
        "Krippendorff alpha, interval",
        "Pearson",
        "Kendall tau-c",
        "Pearson of system sums",
        "Pearson by segment",
    }
    ratings = [
        [r.rating or 0 for r in records if isinstance(r, Annotation) and r.annotator == n] for n in "pq"
    ]
    assert found["Pearson", "p and q"] == pytest.approx(stats.pearsonr(*ratings)[0])
    pairs = values(data_of(capsys, path, "--pairs", "--tie", "5", "--resamples", "0"), criterion="overall")
    assert 0.5 < (pairs["Cohen kappa", "p and q"] or 0) < 1


def test_numbers_that_compare_values_need_one_scale(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    points = write(tmp_path / "mqm.jsonl", [mqm("a", str(i), annotator="p") for i in range(40)])
    ratings = write(tmp_path / "esa.jsonl", [rated("a", str(i), i, annotator="q") for i in range(40)])
    judge = write(tmp_path / "judge.jsonl", [mqm("a", str(i), annotator="j") for i in range(40)])
    apart = data_of(capsys, points, ratings, "--judge", judge, "--resamples", "0")
    assert {m for m, _ in values(apart)} >= {"Pearson", "Kendall tau-c"}
    assert not [m for m, _ in values(apart) if m.startswith("Krippendorff")]
    assert apart["tests"] == []
    assert any("(p: points of errors; q: 0 to 100)" in note for note in apart["notes"])


def test_a_judge_on_another_scale_than_people_is_not_tested_beside_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people: list[Record] = [rated("a", str(i), i, annotator=name) for name in "pq" for i in range(40)]
    path = write(tmp_path / "esa.jsonl", people)
    alike = write(tmp_path / "alike.jsonl", [rated("a", str(i), i, annotator="j") for i in range(40)])
    other = write(tmp_path / "other.jsonl", [mqm("a", str(i), annotator="k") for i in range(40)])
    data = data_of(capsys, path, "--judge", alike, "--judge", other, "--resamples", "0")
    assert [test["judge"] for test in data["tests"]] == ["j"]
    assert ("Krippendorff alpha, interval", "all") in values(data)
    assert [n for n in data["notes"] if n.startswith("k is on another scale (points of errors)")]


def test_marked_errors_agree_where_both_or_neither_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records: list[Record] = [
        mqm("a", "1", error("minor", "style"), annotator="p"),
        mqm("a", "1", error("critical", "accuracy"), annotator="q"),
        mqm("b", "1", error("neutral", "style"), annotator="p"),
        mqm("b", "1", annotator="q"),
    ]
    path = write(tmp_path / "mqm.jsonl", records)
    found = values(data_of(capsys, path, "--resamples", "0"))
    assert [found[f"error recall, {kind}", "p and q"] for kind in ("any", "minor", "major")] == [1, 0.5, 0.5]
    by_criterion = data_of(capsys, path, "--by-criterion", "--resamples", "0")
    assert {row["criterion"] for row in by_criterion["rows"]} == {
        "faithfulness",
        "fluency",
        "style",
        "overall",
    }


@pytest.mark.parametrize("form", ["table", "csv", "tsv", "markdown", "latex"])
def test_every_format_has_every_number(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "p.jsonl", [*verdicts("p", "AABB"), *verdicts("q", "AABE")])
    code, out, _ = run(capsys, path, "--format", form, "--resamples", "0")
    assert (code, out.count("Cohen kappa")) == (0, 1)


def test_people_who_share_nothing_are_said_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = [replace(r, segment=f"x{r.segment}") for r in verdicts("r", "AB")]
    path = write(tmp_path / "p.jsonl", [*verdicts("p", "AAB"), *verdicts("q", "ABB"), *other])
    data = data_of(capsys, path, "--resamples", "0")
    assert data["notes"] == [
        "2 of 3 pairs of annotators judged nothing in common on overall, and have no row."
    ]


@pytest.mark.parametrize(
    ("records", "wanted"),
    [
        (verdicts("p", "AB"), "agreement needs two annotators or a judge; these are all by p"),
        ([*verdicts("p", "AB"), rated("a", "1", 3)], "holds preferences and annotations"),
    ],
)
def test_what_cannot_agree_is_an_error(
    records: list[Record], wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, write(tmp_path / "p.jsonl", records))
    assert code != 0
    assert wanted in err


def test_scores_beside_preferences_need_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(
        tmp_path / "p.jsonl", [rated("a", "0", 90, annotator="p"), rated("b", "0", 60, annotator="p")]
    )
    judge = write(tmp_path / "j.jsonl", verdicts("j", "A"))
    code, _, err = run(capsys, path, "--judge", judge)
    assert (code, "--pairs makes pairs of the scores" in err) == (2, True)
    found = values(data_of(capsys, path, "--judge", judge, "--pairs", "--resamples", "0"))
    assert found["agreement, ranked", "j and majority"] == 1


def test_the_planted_errors_agree_with_the_preferences_made_of_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    preferences, errors = examples.path("gold.pairwise.jsonl"), examples.path("gold.mqm.jsonl")
    data = data_of(capsys, preferences, "--judge", errors, "--by-criterion", "--resamples", "0")
    for criterion in ("faithfulness", "fluency", "style"):
        found = values(data, criterion=criterion)
        assert {v for (measure, _), v in found.items() if measure.startswith("agreement")} == {1}
    assert all(isinstance(r, Preference) for r in read_records(preferences))


@pytest.mark.realdata
def test_two_raters_of_wmt23_agree_as_scipy_says(
    adjudge_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = adjudge_data / "wmt23" / "human-scores"
    files = [folder / f"zh-en.mqm.rater{i}.seg.rating" for i in (1, 2)]
    data = data_of(capsys, *files, "--resamples", "0")
    found = values(data)
    two = "mqm.rater1 and mqm.rater2"
    assert found["Krippendorff alpha, interval", "all"] == pytest.approx(0.444, abs=5e-4)
    assert found["Pearson", two] == pytest.approx(0.448, abs=5e-4)
    assert {row["n"] for row in data["rows"]} == {288, 18}
    assert read_score_file(folder / "zh-en.mqm.seg.score").values.shape[0] >= 16


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_bar_on_a_terminal_says_how_far_it_is(
    is_terminal: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    people = write(tmp_path / "people.jsonl", [r for p in "pqr" for r in verdicts(p, "AABBE")])
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    code, _, err = run(capsys, people, "--resamples", "5", "--format", "json")
    assert code == 0
    assert ("100%" in err) == is_terminal
    assert bool(err) == is_terminal
