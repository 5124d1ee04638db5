"""`adjudge score --score-files`: scores as the files that mt-metrics-eval and metrics tasks read."""

from pathlib import Path

import pytest

import adjudge
from adjudge.core.record import Record
from adjudge.store.json_lines import write_records
from tests.cli.calling import Asked
from tests.meta.folders import write_folder
from tests.scoring.records import error, failed, mqm


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "set")


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """A judge that marks errors: B on all four segments, A on the first, where another one failed."""
    found: list[Record] = [
        mqm("B", "1", error("minor")),
        mqm("B", "2", error("major")),
        mqm("B", "3"),
        mqm("B", "4", error("minor")),
        mqm("A", "1", error("major")),
        failed("A", segment="2", protocol="mqm"),
    ]
    path = tmp_path / "records.jsonl"
    write_records(path, found)
    return path


def test_a_judge_that_marks_errors_becomes_score_files_in_the_order_of_the_test_set(
    folder: Path, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(capsys, "score", records, "--test-set", folder, "--score-files", folder / "metric-scores")
    assert asked.code == 0, asked.err
    written = folder / "metric-scores/en-de/ann-src"
    assert str(written) in asked.err
    texts = {level: Path(f"{written}.{level}.score").read_text() for level in ("seg", "sys", "doc", "domain")}
    a, b = "A\t-5.0\nA\tNone\nA\tNone\nA\tNone\n", "B\t-1.0\nB\t-5.0\nB\t0.0\nB\t-1.0\n"
    assert texts["seg"] == a + b
    assert texts["sys"] == "A\t-5.0\nB\t-1.75\n"
    assert texts["doc"] == "A\t-5.0\nA\tNone\nB\t-3.0\nB\t-0.5\n"
    assert texts["domain"] == "news\tA\t-5.0\nnews\tB\t-3.0\nchat\tA\tNone\nchat\tB\t-0.5\n"


def test_what_was_written_is_a_metric_of_the_folder(
    folder: Path, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = Asked(capsys, "meta", folder, "--scores", f"ann-src={records}", "--format", "json").json
    Asked(capsys, "score", records, "--test-set", folder, "--score-files", folder / "metric-scores")
    inside = Asked(capsys, "meta", folder, "--format", "json").json
    of_run, of_file = (found["metrics"]["ann-src"] for found in (alone, inside))
    assert of_file["seg_pearson"] == of_run["seg_pearson"]
    assert of_file["n"] == of_run["n"]


def test_a_metric_is_named_by_the_reference_it_was_shown_and_keeps_its_corpus_score(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = adjudge.run("bleu", adjudge.load(folder), out=tmp_path / "bleu")
    asked = Asked(capsys, "score", tmp_path / "bleu", "--score-files", tmp_path / "files")
    assert asked.code == 0, asked.err
    lines = (tmp_path / "files/en-de/bleu-refA.sys.score").read_text().splitlines()
    wanted = {s.system: s.score for s in adjudge.score(run).systems}
    assert {name: float(value) for name, value in (line.split("\t") for line in lines)} == wanted


def test_files_that_are_there_are_kept(
    folder: Path, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = folder / "metric-scores/en-de/ann-src.sys.score"
    there.write_text("A\t1\n")
    asked = Asked(capsys, "score", records, "--test-set", folder, "--score-files", folder / "metric-scores")
    assert asked.code == 2
    assert f"{there} is there already" in asked.err
    assert there.read_text() == "A\t1\n"
    assert not there.with_name("ann-src.seg.score").exists()


@pytest.mark.parametrize(
    ("texts", "message"),
    [(None, "has no texts: add --test-set"), ("other.jsonl", "the test set has no segment '2' of en-de")],
)
def test_lines_without_texts_cannot_be_placed(
    tmp_path: Path, records: Path, capsys: pytest.CaptureFixture[str], texts: str | None, message: str
) -> None:
    (tmp_path / "other.jsonl").write_text('{"segment": "1", "lp": "en-de", "source": "x"}\n')
    more = [] if texts is None else ["--test-set", tmp_path / texts]
    asked = Asked(capsys, "score", records, *more, "--score-files", tmp_path / "files")
    assert asked.code in {1, 2}
    assert message in asked.err
    assert not (tmp_path / "files").exists()
