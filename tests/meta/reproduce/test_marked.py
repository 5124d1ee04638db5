"""F1 of marked errors in HiMATE's table 3, on four segments of one system."""

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import UsageError
from adjudge.reproduce.reproduction import Cell, reproduce
from tests.meta.folders import GOLD, write_folder, write_scores

SYSTEM = "HuaweiTSC"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Gold marks both words of the first segment, and the only one of the third."""
    folder = write_folder(tmp_path / "wmt22", "zh-en")
    (folder / "system-outputs/zh-en/A.txt").rename(folder / f"system-outputs/zh-en/{SYSTEM}.txt")
    write_scores(folder / "human-scores/zh-en.mqm.seg.score", {SYSTEM: GOLD["A"]})
    write_ratings(folder / "human-scores/zh-en.mqm.merged.seg.rating")
    return tmp_path


def write_ratings(path: Path) -> None:
    marks = [[(0, 3)], [], [(0, 1)], []]
    shared = {"category": "style/awkward", "severity": "minor", "score": 1, "is_source_error": False}
    lines = [
        f"{SYSTEM}\t{json.dumps({'errors': [{'start': a, 'end': b, **shared} for a, b in each]})}\n"
        for each in marks
    ]
    path.write_text("".join(lines))


def write_records(data: Path, **changes: object) -> None:
    """Marks of a judge: a word of the first segment, that of the second, and nothing else."""
    words = [[("A", 0, 1)], [("2", 0, 1)], [], []]
    rows: list[dict[str, Any]] = [
        {
            "kind": "annotation",
            "lp": "zh-en",
            "document": "",
            "segment": str(number),
            "system": SYSTEM,
            "annotator": "judge",
            "protocol": "mqm",
            "spans": [
                {"side": "translation", "start": a, "end": b, "text": text, "severity": "minor"}
                for text, a, b in each
            ],
            **changes,
        }
        for number, each in enumerate(words, start=1)
    ]
    (data / "himate").mkdir(exist_ok=True)
    file = data / "himate/HiMATE-4o-mini_zh-en.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def row(data: Path) -> dict[str, Cell]:
    cells = reproduce("himate", data).cells
    return {c.column: c for c in cells if (c.table, c.row) == ("Table 3", "HiMATE")}


def test_f1_is_of_the_sources_of_a_length(data: Path) -> None:
    write_records(data)
    found = row(data)
    assert found["short F1"].ours == pytest.approx(2 / 3)  # one of two marks is right, none is missed
    assert found["medium F1"].ours == 0
    assert found["long F1"].reason == "wanted: segments of wmt22 zh-en that the column is about"


def test_scores_mark_nothing_and_gold_may_not_either(data: Path) -> None:
    write_scores(data / "himate/HiMATE-4o-mini_zh-en.seg.score", {SYSTEM: [-1, -2, -1, 0]})
    assert row(data)["short F1"].reason == "wanted: himate/HiMATE-4o-mini_zh-en.jsonl"
    (data / "wmt22/human-scores/zh-en.mqm.merged.seg.rating").unlink()
    assert row(data)["short F1"].reason == "wanted: wmt22/human-scores/zh-en.mqm.merged.seg.rating"


def test_a_judge_of_other_segments_has_no_f1(data: Path) -> None:
    write_records(data, system="B")
    assert row(data)["short F1"].verdict == "missing-input"


def test_a_protocol_without_marks_is_wrong_use(data: Path) -> None:
    write_records(data, protocol="sqm", rating=3, spans=[])
    with pytest.raises(UsageError, match="marks no errors"):
        reproduce("himate", data)
