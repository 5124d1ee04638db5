"""`adjudge reproduce` as a user calls it."""

from functools import cache
from pathlib import Path

import pytest

from adjudge.reproduce import reproduction
from tests.cli.calling import Asked
from tests.meta.folders import METRIC, write_folder, write_scores


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """WMT23 en-de of four segments with two metrics of the paper."""
    folder = write_folder(tmp_path / "wmt23")
    write_scores(folder / "metric-scores/en-de/chrF-refA.seg.score", METRIC)
    return tmp_path


def test_json_has_every_cell_with_its_verdict(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = Asked(capsys, "reproduce", "m-mad", "--data", data, "--format", "json")
    found = asked.json
    assert (asked.code, found["paper"]) == (0, "m-mad")
    assert {tuple(cell) for cell in found["cells"]} == {
        ("table", "row", "column", "paper", "ours", "verdict", "reason")
    }
    (cell,) = [c for c in found["cells"] if (c["row"], c["column"]) == ("chrF", "en-de seg Pearson")]
    assert (cell["table"], cell["paper"], cell["verdict"]) == ("Table 2", 0.232, "differs")
    assert 0.9 < cell["ours"] < 1
    lacking = [c for c in found["cells"] if c["verdict"] == "missing-input"]
    assert all(c["ours"] is None and c["reason"].startswith("wanted: ") for c in lacking)
    assert sum(found["counts"].values()) == len(found["cells"])
    assert found["counts"]["missing-input"] == len(lacking)
    assert "lack an input" in asked.err


def test_the_table_has_the_papers_tables_and_ends_with_a_count(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(capsys, "reproduce", "m-mad", "--data", data)
    titles = [line for line in asked.out.splitlines() if line.startswith("Table ")]
    assert [title.strip() for title in titles] == [f"Table {n}" for n in (1, 2, 5, 6, 7, 9)]
    (line,) = [x for x in asked.out.splitlines() if x.split()[:4] == ["chrF", "en-de", "seg", "Pearson"]]
    assert line.split()[4] == "0.232"
    assert "differs" in line
    assert "wanted: wmt23/sources/zh-en.txt" in asked.out
    assert asked.out.splitlines()[-1].startswith("m-mad: 268 cells; of 8 computed 0 match")


@pytest.mark.parametrize("form", ["csv", "tsv", "markdown", "latex"])
def test_other_formats(data: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    asked = Asked(capsys, "reproduce", "m-mad", "--data", data, "--format", form)
    assert asked.code == 0
    if form == "csv":
        assert len(asked.rows) == 268
        assert next(iter(asked.rows))["paper"] == "0.808"
        assert {row["verdict"] for row in asked.rows} == {"differs", "missing-input"}
    marks = {"csv": "table,row,column,paper,ours,verdict,reason", "tsv": "table\trow\tcolumn",
             "markdown": "\n\n**Table 2**\n\n| row |", "latex": "% Table 2\n\\begin{tabular}"}  # fmt: skip
    assert marks[form] in asked.out


def test_an_unknown_paper_and_an_unknown_folder_are_wrong_use(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(capsys, "reproduce", "bleu", "--data", data)
    assert (asked.code, "no paper 'bleu'" in asked.err) == (2, True)
    asked = Asked(capsys, "reproduce", "rate", "--data", data / "nowhere")
    assert (asked.code, "no folder" in asked.err) == (2, True)
    asked = Asked(capsys, "reproduce", "rate")
    assert asked.code == 2


def test_a_broken_file_is_an_error(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (data / "wmt23/metric-scores/en-de/chrF-refA.seg.score").write_text("A\t1\n")
    asked = Asked(capsys, "reproduce", "m-mad", "--data", data)
    assert asked.code == 1
    assert "chrF-refA.seg.score" in asked.err


@pytest.mark.realdata
def test_what_a_paper_does_not_print_is_null_and_a_dash(
    adjudge_data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproduction, "reproduce", cache(reproduction.reproduce))
    asked = Asked(capsys, "reproduce", "esa", "--data", adjudge_data, "--format", "json")
    alone = [c for c in asked.json["cells"] if c["paper"] is None and c["ours"] is not None]
    assert all(c["verdict"] == "missing-input" and c["reason"].startswith("the paper") for c in alone)
    assert f"{len(alone)} have no number in the paper" in asked.err
    asked = Asked(capsys, "reproduce", "esa", "--data", adjudge_data)
    (line,) = [x for x in asked.out.splitlines() if x.split()[:4] == ["checks", "ESA,", "all", "–"]]
    assert line.split()[4:7] == ["396", "–", "–"]
