"""Several language pairs: metrics are joined by name across references, and scores of one's own are found."""

import json
import shutil
from pathlib import Path

import pytest

from adjudge.analysis.meta import meta
from adjudge.analysis.meta_settings import MetaEvaluation, Options
from adjudge.errors import DataError, UsageError
from adjudge.formats.mtme import find_score_files
from adjudge.reports.metric_tables import best_first
from tests.meta.folders import GOLD, METRIC, QE, write_folder, write_ratings, write_scores

PAIRS = ["en-de", "he-en", "zh-en"]
OTHER = {**METRIC, "refA": [0.1, 0.2, 0.3, 0.4]}


@pytest.fixture
def wmt23(tmp_path: Path) -> Path:
    """WMT23 in small: COMET is shown refA in two language pairs; in he-en refB, the task's, and refA."""
    folder = tmp_path / "wmt23"
    for lp in PAIRS:
        write_folder(folder, lp)
    write_scores(folder / "human-scores/he-en.mqm.seg.score", {**GOLD, "refB": [-1, -1, None, -1]})
    for kind in ("references/he-en.refB.txt", "system-outputs/he-en/refB.txt"):
        (folder / kind).write_text("1\n2\n3\n4\n")
    write_scores(folder / "metric-scores/he-en/COMET-refA.seg.score", QE)
    write_scores(folder / "metric-scores/he-en/COMET-refB.seg.score", OTHER)
    return folder


def shown(found: MetaEvaluation) -> dict[str, list[str]]:
    return {part.lp: [metric.name for metric in part.metrics] for part in found.parts}


def names(found: MetaEvaluation) -> list[str]:
    return [metric.name for metric in found.metrics]


def test_a_metric_is_one_across_the_references_of_the_language_pairs(wmt23: Path) -> None:
    found = meta(wmt23, PAIRS)
    assert shown(found) == {
        "en-de": ["COMET-refA", "QE-src"],
        "he-en": ["COMET-refB", "QE-src"],
        "zh-en": ["COMET-refA", "QE-src"],
    }
    assert names(found) == ["COMET", "QE-src"]
    told = "they were shown refA in en-de and zh-en, refB in he-en."
    assert any(
        note.startswith("Metrics with a reference are joined") and note.endswith(told) for note in found.notes
    )
    each = [next(m for m in part.metrics if m.base == "COMET") for part in found.parts]
    accuracies = [metric.results["sys_accuracy"] for metric in each]
    right = sum(round((result.value or 0) * result.n) for result in accuracies)
    assert found.metrics[0].results["sys_accuracy"].value == right / sum(result.n for result in accuracies)
    statistics = [[result.value or 0 for result in metric.statistics] for metric in each]
    rest = sum((row[1] + 1) / 2 + (row[2] + 1) / 2 + row[3] for row in statistics)
    pooled = found.metrics[0].results["sys_accuracy"].value
    assert found.metrics[0].meta == pytest.approx((3 * pooled + rest) / 12, abs=1e-12)


def test_without_a_reference_of_a_task_the_same_name_comes_first(wmt23: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    shutil.copytree(wmt23, plain)
    found = meta(plain, PAIRS)
    assert names(found) == ["COMET-refA", "QE-src"]
    assert any("not in the whole: COMET-refB." in note for note in found.notes)


@pytest.mark.parametrize(
    ("metrics", "wanted"),
    [(["COMET"], ["COMET"]), (["QE-src"], ["QE-src"]), (["COMET", "QE-src"], ["COMET", "QE-src"])],
)
def test_a_name_without_reference_is_that_of_each_language_pair(
    wmt23: Path, metrics: list[str], wanted: list[str]
) -> None:
    found = meta(wmt23, PAIRS, metrics=metrics)
    assert names(found) == wanted
    of_all = meta(wmt23, PAIRS)
    assert [m.meta for m in found.metrics] == [m.meta for m in of_all.metrics if m.name in wanted]


@pytest.mark.parametrize("lps", [PAIRS, ["he-en"]])
def test_a_metric_never_moves_a_language_pair_to_another_reference(wmt23: Path, lps: list[str]) -> None:
    with pytest.raises(
        UsageError, match="he-en compares metrics that were shown refB, and COMET-refA was not: name COMET"
    ):
        meta(wmt23, lps, metrics="COMET-refA")
    found = meta(wmt23, "he-en", metrics="COMET-refA", reference="refA")
    assert (names(found), found.reference) == (["COMET-refA"], "refA")


def test_metrics_without_reference_alone_keep_the_references_that_are_compared(wmt23: Path) -> None:
    assert meta(wmt23, "he-en", metrics="QE-src").systems == meta(wmt23, "he-en").systems


# Scores of one's own...


def write_pairs(folder: Path, *names: str, form: str = "{lp}/{name}.seg.score") -> Path:
    for lp, scores in zip(PAIRS, (METRIC, OTHER, QE), strict=True):
        for name in names:
            write_scores(folder / form.format(lp=lp, name=name), scores)
    return folder


@pytest.mark.parametrize(
    "form", ["{lp}/{name}.seg.score", "{lp}.{name}.seg.score", "metric-scores/{lp}/{name}.seg.score"]
)
def test_a_folder_holds_scores_of_each_language_pair(wmt23: Path, tmp_path: Path, form: str) -> None:
    folder = write_pairs(tmp_path / "own", "mine-src", "my-other", form=form)
    found = meta(wmt23, PAIRS, scores=[str(folder)], metrics="QE-src")
    assert names(found) == ["QE-src", "mine-src", "my-other"]
    assert all(part == ["QE-src", "mine-src", "my-other"] for part in shown(found).values())


def test_a_folder_of_one_metric_may_be_given_a_name(wmt23: Path, tmp_path: Path) -> None:
    folder = write_pairs(tmp_path / "own", "mine-src")
    assert names(meta(wmt23, PAIRS, scores=[f"new={folder}"])) == ["COMET", "QE-src", "new"]
    write_pairs(folder, "other-src")
    with pytest.raises(UsageError, match="two files hold the scores of 'new' for en-de"):
        meta(wmt23, PAIRS, scores=[f"new={folder}"])


def test_references_in_a_folder_are_joined_as_those_of_the_test_set(wmt23: Path, tmp_path: Path) -> None:
    for lp, reference in zip(PAIRS, ("refA", "refB", "refA"), strict=True):
        write_scores(tmp_path / f"own/{lp}/mine-{reference}.seg.score", METRIC)
    write_scores(tmp_path / "own/he-en/mine-refA.seg.score", QE)
    found = meta(wmt23, PAIRS, scores=[str(tmp_path / "own")])
    assert names(found) == ["COMET", "QE-src", "mine"]
    assert shown(found)["he-en"] == ["COMET-refB", "QE-src", "mine-refB"]


def test_a_folder_that_also_holds_other_language_pairs_is_read_for_one(wmt23: Path, tmp_path: Path) -> None:
    folder = write_pairs(tmp_path / "own", "mine-src")
    assert names(meta(wmt23, "he-en", scores=[str(folder)])) == ["COMET-refB", "QE-src", "mine-src"]


def test_a_name_is_given_once_for_each_language_pair(wmt23: Path, tmp_path: Path) -> None:
    folder = write_pairs(tmp_path / "own", "mine")
    files = [f"mine={folder / lp / 'mine.seg.score'}" for lp in PAIRS]
    found = meta(wmt23, PAIRS, scores=files)
    assert names(found) == ["COMET", "QE-src", "mine"]
    by_lp = {lp: folder / lp / "mine.seg.score" for lp in PAIRS}
    assert meta(wmt23, PAIRS, scores={"mine": by_lp}).metrics == found.metrics
    with pytest.raises(UsageError, match="two files hold the scores of 'mine' for en-de"):
        meta(wmt23, PAIRS, scores=[*files, files[0]])


def test_a_score_file_that_does_not_say_its_language_pair_is_refused(wmt23: Path, tmp_path: Path) -> None:
    path = write_scores(tmp_path / "mine.seg.score", METRIC)
    with pytest.raises(
        UsageError, match=r"does not say its language pair: begin its name with one \(en-de.mine"
    ):
        meta(wmt23, PAIRS, scores=[str(path)])
    assert names(meta(wmt23, "en-de", scores=[str(path)])) == ["COMET-refA", "QE-src", "mine"]


def test_one_file_of_records_holds_all_language_pairs_or_some(wmt23: Path, tmp_path: Path) -> None:
    rows = []
    for lp in PAIRS:
        written = write_ratings(tmp_path / "one.jsonl", {"A": [9, 8, 7, 6], "B": [7, 5, 4, 3]}, lp=lp)
        rows += [json.loads(line) for line in written.read_text().splitlines()]
    for row in rows:
        row["segment"] = str(int(row["segment"][1:]) + 1)
    (path := tmp_path / "judge.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert names(meta(wmt23, PAIRS, scores=[f"mine={path}"])) == ["COMET", "QE-src", "mine"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows if row["lp"] != "zh-en"))
    found = meta(wmt23, PAIRS, scores=[f"mine={path}"])
    assert names(found) == ["COMET", "QE-src"]
    assert any("not in the whole: mine." in note for note in found.notes)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows if row["lp"] == "en-de"))
    with pytest.raises(DataError, match="mine has no score of he-en, zh-en"):
        meta(wmt23, ["he-en", "zh-en"], scores=[f"mine={path}"])


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (
            {"x": [1, 2]},
            "scores of 'x' are the path of a run or a file, or one for each language pair; got list",
        ),
        ({"x": "nowhere"}, "no run and no file at 'nowhere'"),
        ({"x": {"en-de": "nowhere"}}, "no run and no file at 'nowhere'"),
        (["x=empty"], "empty is no run, and no .seg.score or .sys.score is in it"),
    ],
)
def test_scores_that_are_nowhere_are_refused(
    wmt23: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scores: object, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    options: Options = {"scores": scores}  # type: ignore[typeddict-item]
    with pytest.raises(UsageError, match=message):
        meta(wmt23, PAIRS, **options)


@pytest.mark.realdata
def test_the_three_language_pairs_of_wmt23_rank_every_metric_with_a_reference(
    adjudge_data: Path, tmp_path: Path
) -> None:
    """he-en, which the data lacks, is zh-en under another name, with refB in place of refA."""
    folder = tmp_path / "wmt23"
    real = adjudge_data / "wmt23"
    for kind in ("sources", "documents", "references", "human-scores"):
        (folder / kind).mkdir(parents=True)
        for file in (real / kind).iterdir():
            (folder / kind / file.name).symlink_to(file)
            if file.name.startswith("zh-en"):
                renamed = file.name.replace("zh-en", "he-en").replace("refA", "refB")
                (folder / kind / renamed).symlink_to(file)
    for lp in PAIRS:
        for kind in ("system-outputs", "metric-scores"):
            (folder / kind / lp).mkdir(parents=True)
            for file in (real / kind / lp.replace("he", "zh")).iterdir():
                name = file.name.replace("refA", "refB") if lp == "he-en" else file.name
                (folder / kind / lp / name).symlink_to(file)
    for lp, reference in zip(PAIRS[1:], ("refB", "refA"), strict=True):
        qe, *_ = (
            f for f in find_score_files(folder, lp) if f.name == "XCOMET-QE-Ensemble" and f.level == "seg"
        )
        (folder / "metric-scores" / lp / f"XCOMET-Ensemble-{reference}.seg.score").symlink_to(qe.path)
    found = meta(folder, PAIRS, measures=["sys_accuracy"])
    assert sorted(names(found)) == [
        "BERTscore",
        "BLEU",
        "COMET",
        "CometKiwi-src",
        "GEMBA-MQM-src",
        "MetricX-23",
        "XCOMET-Ensemble",
        "XCOMET-QE-Ensemble-src",
        "chrF",
    ]
    assert best_first(found.metrics, found.measures)[0].name == "XCOMET-Ensemble"
