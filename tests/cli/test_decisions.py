from pathlib import Path

import numpy as np
import pytest

from adjudge.cli.main import DONE, USAGE
from adjudge.store.json_lines import write_records
from tests.cli.calling import Asked
from tests.meta.folders import write_folder, write_scores
from tests.scoring.records import error, failed, mqm, rated

RNG = np.random.default_rng(0)
SCORES = RNG.permutation(200) / 2.0


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """One system; the last judgement failed."""
    path = tmp_path / "judge.jsonl"
    last = failed("x", segment="200")
    write_records(path, [*(rated("x", str(n), score) for n, score in enumerate(SCORES.tolist())), last])
    return path


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """A major error in what scores below 40."""
    path = tmp_path / "gold.jsonl"
    write_records(
        path,
        [
            mqm("x", str(n), *([error("major")] if score < 40 else []), annotator="rater")
            for n, score in enumerate(SCORES.tolist())
        ],
    )
    return path


def test_cut_offs_are_found_and_each_translation_is_decided(
    judged: Path, gold: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "decisions.tsv"
    asked = Asked(
        capsys, "thresholds", judged, "--gold", gold, "--publish-risk", 0.1, "--reject-risk", 0.1,
        "--decisions", file, "--format", "json",
    )  # fmt: skip
    assert asked.code == DONE
    (band,) = asked.json["bands"]
    publish, reject = band["publish"]["bound"], band["reject"]["bound"]
    assert (band["n"], band["bad"]) == (200, int((SCORES < 40).sum()))
    assert 30 < publish < 45
    assert reject < publish
    rows = [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()]
    assert rows[0] == ["lp", "segment", "system", "score", "decision"]
    assert rows[-1] == ["en-de", "200", "x", "", "failed"]
    for _, segment, _, score, decision in rows[1:-1]:
        assert float(score) == SCORES[int(segment)]
        assert (decision == "publish") == (float(score) >= publish)
        assert (decision == "reject") == (float(score) <= reject)


def test_a_person_reads_the_promise_in_words(
    judged: Path, gold: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = Asked(capsys, "thresholds", judged, "--gold", gold).out
    assert "Bad: half of its annotators, or more, marked a major error or a graver one." in out
    assert "With a chance of 95 % each: at most 5 % of what is published is bad" in out
    out = Asked(capsys, "thresholds", judged, "--gold", gold, "--guarantee", "average").out
    assert "On average: at most 5 % of all translations are published and bad" in out


def test_bad_may_be_a_low_score(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = Asked(capsys, "thresholds", judged, "--gold", judged, "--bad", 66, "--format", "json")
    assert asked.json["bad"] == "its gold score is below 66"
    assert asked.json["bands"][0]["bad"] == int((SCORES < 66).sum())


@pytest.mark.parametrize("bad", ["awful", "nan", "inf"])
def test_a_bad_that_is_none_is_wrong_use(judged: Path, capsys: pytest.CaptureFixture[str], bad: str) -> None:
    asked = Asked(capsys, "thresholds", judged, "--gold", judged, "--bad", bad)
    assert asked.code == USAGE
    assert f"--bad is minor, major, critical, or a score; got '{bad}'" in asked.err


def test_domains_come_from_the_test_set_that_score_files_lie_in_or_that_is_named(
    judged: Path, gold: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_folder(tmp_path / "set")
    for file in (*folder.glob("*/en-de*.txt"), *folder.glob("system-outputs/en-de/*.txt")):
        file.write_text("x\n" * 20)
    (folder / "documents" / "en-de.docs").write_text("news\td1\n" * 10 + "chat\td2\n" * 10)
    scores = {name: list(range(20)) for name in ("A", "B")}
    metric, people = folder / "metric-scores/en-de/m-src.seg.score", folder / "human-scores/en-de.h.seg.score"
    metric.parent.mkdir(parents=True, exist_ok=True)
    write_scores(metric, scores)
    write_scores(people, scores)
    names = ["all", "news", "chat"]
    asked = Asked(capsys, "thresholds", metric, "--gold", people, "--bad", 5, "--format", "json")
    assert [band["name"] for band in asked.json["bands"]] == names
    texts = ("--test-set", folder, "--lp", "en-de")
    asked = Asked(capsys, "thresholds", metric, "--gold", people, "--bad", 5, *texts, "--format", "json")
    assert [band["name"] for band in asked.json["bands"]] == names
    asked = Asked(capsys, "thresholds", judged, "--gold", gold, *texts, "--format", "json")
    assert asked.code == DONE, "texts of records say their domains, if they know any"


def test_systems_are_estimated_from_few_labels(
    judged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = tmp_path / "few.jsonl"
    write_records(
        few, [rated("x", str(n), score, annotator="rater") for n, score in enumerate(SCORES[:40] / 2)]
    )
    asked = Asked(capsys, "estimate", judged, "--gold", few, "--format", "json")
    (row,) = asked.json["systems"]
    assert (row["system"], row["ahead"], row["mean"]["labelled"]) == ("x", None, 40)
    assert row["mean"]["value"] == pytest.approx(SCORES.mean() / 2, abs=0.5)
    out = Asked(capsys, "estimate", judged, "--gold", few).out
    assert "labels alone" in out
    assert "This holds if the labelled segments were drawn at random." in out
    assert len(Asked(capsys, "estimate", judged, "--gold", few, "--format", "csv").rows) == 1


@pytest.mark.parametrize("command", ["thresholds", "estimate"])
def test_a_file_that_is_not_there_is_wrong_use(
    command: str, judged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for paths in (("nowhere", "--gold", judged), (judged, "--gold", "nowhere")):
        asked = Asked(capsys, command, *paths)
        assert (asked.code, "no file or folder 'nowhere'" in asked.err) == (USAGE, True)
