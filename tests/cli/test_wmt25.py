"""A table of WMT25 as commands take it: texts, gold, and what is handed in."""

from pathlib import Path

import pytest

from adjudge.formats.wmt import MARKS, TEXTS
from tests.cli.calling import Asked

GOLD = (("0", "4", "major"), ("-1", "-1", "no-error"), ("0 missing", "2 missing", "minor major"))
FOUND = (("0", "2", "major"), ("-1", "-1", "no-error"), ("0", "2", "minor"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, marks in (("gold", GOLD), ("found", FOUND)):
        write(tmp_path / f"{name}.tsv", marks)
    write(tmp_path / "texts.tsv", ((),) * 3)
    return tmp_path


def write(path: Path, marks: tuple[tuple[str, ...], ...]) -> None:
    heading = [*TEXTS, *MARKS][: len(TEXTS) + len(marks[0])]
    rows = [
        ["d", str(n), "en", "de", "official", system, f"Text {n}", f"Satz {n}", "NaN", "news", "ESA", *own]
        for system in "AB"
        for n, own in enumerate(marks)
    ]
    path.write_text("".join("\t".join(row) + "\n" for row in [heading, *rows]))


def test_predictions_are_measured_by_gold_as_the_task_did(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(
        capsys, "spans", folder / "found.tsv", "--gold", folder / "gold.tsv", "--rule", "w25",
        "--format", "csv",
    )  # fmt: skip
    (row,) = asked.rows
    assert [float(row["precision"]), float(row["recall"])] == pytest.approx([1, 4 / 6])


def test_its_gold_is_that_of_a_meta_evaluation(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = ("--scores", f"found={folder / 'found.tsv'}", "--measures", "seg_pearson", "--format", "json")
    assert Asked(capsys, "meta", folder / "gold.tsv", *scores).json["gold"] == "gold"
    asked = Asked(capsys, "meta", folder / "texts.tsv", *scores)
    assert (asked.code, "holds texts and no judgements" in asked.err) == (1, True)


def test_what_was_marked_goes_back_into_such_a_table(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records, back = folder / "r.jsonl", folder / "back.tsv"
    assert Asked(capsys, "convert", folder / "found.tsv", records, "--to", "records").code == 0
    texts = ("--test-set", folder / "texts.tsv")
    assert Asked(capsys, "convert", records, back, "--to", "wmt25", *texts).code == 0
    assert back.read_text() == (folder / "found.tsv").read_text()


@pytest.mark.parametrize("command", ["score", "rank"])
def test_texts_alone_are_nothing_to_score(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    asked = Asked(capsys, command, folder / "texts.tsv")
    assert (asked.code, "holds texts and no judgements" in asked.err) == (1, True)
