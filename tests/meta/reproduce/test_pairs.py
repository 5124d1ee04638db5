"""FiRE's tables, on a benchmark of a few pairs in the layout of its repository."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from adjudge.errors import DataError
from adjudge.reproduce.reproduction import Cell, reproduce

LABELS = ("A>B", "A≈B", "A<B")
CRITERIA = ("Faithfulness", "Fluency", "Consistency of Style", "Overall")
PEOPLE = [(3, 0, 0), (2, 1, 0), (0, 3, 0), (0, 1, 2), (1, 1, 1), (1, 2, 0)]
"""Ranked easy, ranked hard, tied easy, ranked hard, no majority, tied hard."""


def write_benchmark(data: Path, people: Sequence[Sequence[object]] = PEOPLE) -> Path:
    file = data / "fire/en-zh/en-zh-annotation.json"
    file.parent.mkdir(parents=True)
    rows = [
        {"src": "s", "trans1": "x", "trans2": "y", "model1": "m", "model2": "n"}
        | {c: {"level": "Easy", "annotation": dict(zip(LABELS, counts, strict=True))} for c in CRITERIA}
        for counts in people
    ]
    file.write_text(json.dumps(rows, ensure_ascii=False))
    return file


def write_verdicts(data: Path, verdicts: str, **changes: object) -> None:
    rows = [
        {
            "kind": "preference",
            "lp": "en-zh",
            "document": "",
            "segment": str(number),
            "systems": ["m", "n"],
            "annotator": "judge",
            "criterion": "faithfulness",
            "verdict": verdict,
            "protocol": "pairwise",
            **changes,
        }
        for number, verdict in enumerate(verdicts, start=1)
    ]
    (data / "fire/GPT-4o-FiRE_en-zh.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def cells(data: Path) -> dict[tuple[str, str, str], Cell]:
    return {(cell.table, cell.row, cell.column): cell for cell in reproduce("fire", data).cells}


def test_pairs_are_counted_and_kappa_has_those_without_a_majority_too(tmp_path: Path) -> None:
    write_benchmark(tmp_path)
    found = cells(tmp_path)
    assert found["Table 1", "Overall", "en-zh pairs"].ours == 5
    wanted = {"ranked": 3, "tied": 2, "easy": 2, "hard": 3}
    assert {s: found["Table 18", "Fluency", f"en-zh {s}"].ours for s in wanted} == wanted
    agreed = (1 + 1 / 3 + 1 + 1 / 3 + 0 + 1 / 3) / 6
    chance = (7 / 18) ** 2 + (8 / 18) ** 2 + (3 / 18) ** 2
    kappa = found["Table 1", "Faithfulness", "en-zh kappa"].ours
    assert kappa == pytest.approx((agreed - chance) / (1 - chance))
    assert found["Table 1", "Faithfulness", "ru-zh kappa"].reason == (
        "wanted: fire/ru-zh/ru-zh-annotation.json"
    )


@pytest.mark.parametrize("swapped", [False, True])
def test_verdicts_are_compared_with_the_majority(tmp_path: Path, swapped: bool) -> None:
    write_benchmark(tmp_path)
    if swapped:
        write_verdicts(tmp_path, "BAAAEE", systems=["n", "m"])
    else:
        write_verdicts(tmp_path, "ABBBEE")
    found = cells(tmp_path)
    assert found["Table 9", "GPT-4o", "en-zh Faithfulness ranked"].ours == pytest.approx(200 / 3)
    assert found["Table 9", "GPT-4o", "en-zh Faithfulness tied"].ours == 50
    assert found["Table 17", "GPT-4o", "en-zh Faithfulness ranked easy"].ours == 100
    assert found["Table 17", "GPT-4o", "en-zh Faithfulness ranked hard"].ours == 50
    assert found["Table 9", "GPT-4o", "en-zh Fluency ranked"].reason == (
        "wanted: verdicts on Fluency in fire/GPT-4o-FiRE_en-zh.jsonl"
    )
    assert found["Table 2", "KIWI-XL", "en-zh"].reason == "wanted: fire/KIWI-XL_en-zh.jsonl"


def test_what_was_not_decided_is_left_out(tmp_path: Path) -> None:
    write_benchmark(tmp_path)
    write_verdicts(tmp_path, "EEEEEE", flags=["position_undecided"])
    assert cells(tmp_path)["Table 9", "GPT-4o", "en-zh Faithfulness ranked"].verdict == "missing-input"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"segment": "7"}, "no number from 1 to 6"),
        ({"segment": "x"}, "no number from 1 to 6"),
        ({"segment": "1"}, "two verdicts on faithfulness of pair 1"),
        ({"systems": ["m", "o"]}, "pair 1 is of m and n, got m and o"),
    ],
)
def test_verdicts_on_other_pairs_are_an_error(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    write_benchmark(tmp_path)
    write_verdicts(tmp_path, "AB", **changes)
    with pytest.raises(DataError, match=message):
        reproduce("fire", tmp_path)


@pytest.mark.parametrize("counts", [(3, 0, 1), (3, 0, -0.5), ("3", 0, 0)])
def test_labels_of_other_than_three_people_are_an_error(tmp_path: Path, counts: Sequence[object]) -> None:
    file = write_benchmark(tmp_path, [counts])
    with pytest.raises(DataError, match="of three people"):
        reproduce("fire", tmp_path)
    file.write_text("{}")
    with pytest.raises(DataError, match="wanted a list of pairs"):
        reproduce("fire", tmp_path)
