"""FiRE's benchmark: a folder and its files, as test set, gold, and of what nobody agreed on."""

import json
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.core.record import Preference
from adjudge.errors import DataError, UsageError
from adjudge.formats.fire_mt import read_fire
from adjudge.formats.read import Judgements, detect, load, read_judgements
from tests.cli.calling import Asked


def said(label: str, better: int, same: int, worse: int) -> dict[str, Any]:
    return {"label": label, "level": "Hard", "annotation": {"A>B": better, "A≈B": same, "A<B": worse}}


def pair(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "src": f"Sentence {number}.\nAnd more.",
        "trans1": f"第{number}句。",
        "trans2": f"句子{number}。",
        "Faithfulness": said("A", 3, 0, 0),
        "Fluency": said("E", 1, 2, 0),
        "Consistency of Style": said("NONE", 1, 1, 1),
        "Overall": said("B", 1, 0, 2),
        "model1": "GPT-4o",
        "model2": "Qwen",
    } | changes


def write(folder: Path, *pairs: dict[str, Any], lp: str = "en-zh") -> Path:
    file = folder / lp / f"{lp}-annotation.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(pairs, ensure_ascii=False, indent=2))
    return file


def verdicts(found: Judgements) -> dict[tuple[str, str], str]:
    return {(r.segment, r.criterion): r.verdict for r in found.records if isinstance(r, Preference)}


@pytest.mark.parametrize("as_folder", [False, True])
def test_a_file_or_its_folder_is_test_set_and_gold(tmp_path: Path, *, as_folder: bool) -> None:
    file = write(tmp_path, pair(1), pair(2, model1="Qwen", model2="GPT-4o"))
    write(tmp_path, pair(1), lp="ru-zh")
    path = tmp_path if as_folder else file
    assert detect(path) == "fire-mt"
    test_set = load(path, lp="en-zh")
    assert [s.segment for s in test_set] == ["1", "2"]
    assert test_set.segments[0].source == "Sentence 1.\nAnd more."
    assert test_set.segments[1].translations == {"Qwen": "第2句。", "GPT-4o": "句子2。"}
    found = read_judgements(path, lp="en-zh")
    assert verdicts(found) == {
        (str(n), c): v for n in (1, 2) for c, v in (("faithfulness", "A"), ("fluency", "E"), ("overall", "B"))
    }
    assert any("2 pairs without a majority on style" in note for note in found.notes), found.notes


def test_a_folder_with_several_language_pairs_wants_one(tmp_path: Path) -> None:
    write(tmp_path, pair(1))
    write(tmp_path, pair(1), lp="ja-zh")
    with pytest.raises(UsageError, match="has 2 language pairs: add --lp, one of en-zh, ja-zh"):
        load(tmp_path)
    with pytest.raises(UsageError, match="has no lp 'de-zh'; it has en-zh, ja-zh"):
        load(tmp_path, lp="de-zh")
    (tmp_path / "mine.json").write_text((tmp_path / "en-zh/en-zh-annotation.json").read_text())
    assert read_fire(tmp_path / "mine.json", "en-zh").test_set.lps == ("en-zh",)
    with pytest.raises(UsageError, match="does not say its language pair"):
        read_fire(tmp_path / "mine.json")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Fluency": said("A", 1, 2, 0)}, "the label of 'Fluency' is A, and three people say E"),
        ({"Fluency": said("E", 1, 1, 0)}, "of three people"),
        ({"Fluency": said("E", -1, 4, 0)}, "of three people"),
        ({"Fluency": {"label": "E"}}, "needs 'annotation'"),
        ({"model2": "GPT-4o"}, "both translations are of 'GPT-4o'"),
        ({"trans1": 7}, "trans1"),
    ],
)
def test_a_pair_that_is_none_is_refused_with_its_place(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    file = write(tmp_path, pair(1), pair(2, **changes))
    with pytest.raises(DataError, match=message) as raised:
        read_fire(file)
    assert "pair 2" in str(raised.value)


def test_a_judge_runs_on_it_and_is_compared_with_people(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, *(pair(n) for n in range(1, 5)))
    run = adjudge.run("fire", tmp_path, lp="en-zh", out=tmp_path / "run", model="builtin/rules")
    assert run.info.counts["failed"] == 0
    said = Asked(capsys, "agreement", tmp_path / "en-zh/en-zh-annotation.json", "--judge", tmp_path / "run")
    assert said.code == 0
    assert "overall" in said.out
