from pathlib import Path

import pytest

from adjudge import examples
from adjudge.formats.read import load
from adjudge.store.json_lines import write_records, write_test_set
from tests.cli.calling import Asked
from tests.scoring.records import failed, rated

TEXTS = examples.path("test_set.jsonl")
GOLD = examples.path("gold.mqm.jsonl")


@pytest.fixture
def two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> list[Path]:
    for name in ("gemba-da", "chrf"):
        assert (
            Asked(capsys, "run", name, TEXTS, "--out", tmp_path / name, "--systems", "Alder,Dogwood").code
            == 0
        )
    return [tmp_path / "gemba-da", tmp_path / "chrf"]


def test_runs_become_one_that_every_command_reads(
    two: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "e"
    asked = Asked(capsys, "ensemble", two[0], f"other={two[1]}", "--out", out, "--by", "ranks")
    assert (asked.code, asked.out) == (0, "")
    assert "96 judged, 0 failed" in asked.err
    assert "ensemble|by:ranks|within:lp|members:gemba-da,other|inputs:" in asked.err
    scores = Asked(capsys, "score", out, "--lp", "en-de", "--format", "json").json
    assert scores["range"] == [0, 1]
    assert scores["systems"]["Alder"]["score"] > scores["systems"]["Dogwood"]["score"]
    assert Asked(capsys, "rank", out, "--lp", "en-de").code == 0
    meta = Asked(
        capsys, "meta", TEXTS, "--lp", "en-de", "--gold", GOLD, "--scores", out, "--scores", two[0],
        "--format", "json",
    )  # fmt: skip
    assert meta.code == 0
    assert Asked(capsys, "report", out, *two, "--out", tmp_path / "page.html").code == 0
    assert Asked(capsys, "trace", out).code == 0


def test_weights_are_learned_and_told(
    two: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(
        capsys, "ensemble", *two, "--out", tmp_path / "e", "--by", "learned", "--gold", f"mqm={GOLD}",
        "--folds", 2, "--lp", "zh-en",
    )  # fmt: skip
    assert asked.code == 0
    assert "zh-en: weights, mean over folds and range: gemba-da " in asked.err
    assert "|folds:2|fold-by:document|seed:0|members:gemba-da,chrf|gold:mqm|" in asked.err
    assert "en-de" not in asked.err


def test_files_of_records_need_a_test_set_and_failures_end_with_their_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = load(TEXTS, "en-de").select(systems=["Alder"], limit=2)
    write_test_set(tmp_path / "texts.jsonl", texts)
    one, other = (s.segment for s in texts)
    write_records(tmp_path / "a.jsonl", [rated("Alder", one, 3), rated("Alder", other, 4)])
    write_records(tmp_path / "b.jsonl", [rated("Alder", one, 3), failed("Alder", segment=other)])
    words = ["ensemble", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--out", tmp_path / "e"]
    asked = Asked(capsys, *words)
    assert asked.code == 2
    assert "add --test-set" in asked.err
    asked = Asked(capsys, *words, "--test-set", tmp_path / "texts.jsonl")
    assert asked.code == 3
    assert "1 judged, 1 failed" in asked.err
    assert Asked(capsys, *words, "--test-set", tmp_path / "texts.jsonl", "--max-failed", "50%").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "two members or more, got 1"),
        (["nowhere"], "no run and no file at 'nowhere'"),
        (["{}"], "two scores 'chrf'"),
        (["x={}", "--by", "learned"], "give both gold and `learned`, or neither"),
        (["x={}", "--gold", "{}"], "give both gold and `learned`, or neither"),
        (["x={}", "--max-failed", "x"], "--max-failed must be a share"),
    ],
)
def test_wrong_use_is_said_in_one_line(
    words: list[str], message: str, two: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [word.format(two[1]) for word in words]
    asked = Asked(capsys, "ensemble", two[1], *given, "--out", tmp_path / "e")
    assert asked.code == 2
    assert message in asked.err
    assert len(asked.err.splitlines()) == 1
    assert not (tmp_path / "e").exists()
