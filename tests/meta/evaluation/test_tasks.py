"""Task sets as data: ours are sound, and a user's own are read strictly."""

import re
from pathlib import Path

import pytest

from adjudge.analysis.shared_tasks import LpRule, Statistic, find_task, list_tasks, task_of
from adjudge.errors import DataError, UsageError
from adjudge.stats.measures import MEASURES

OWN = """
title = "ours"
gold = "people"
[lps."de to fr"]
reference = "refC"
outliers = ["bad"]
include_human = true
[[statistics]]
measure = "seg_mae"
[[statistics]]
measure = "seg_pearson"
average = "item"
weight = 2
range = [-1, 1]
"""


def test_our_tasks_name_their_source_and_measures_that_there_are() -> None:
    assert [task.name for task in list_tasks()] == ["ment", "ment-rate", "wmt23", "wmt24", "wmt25"]
    for task in list_tasks():
        assert task.title
        assert task.source
        assert {s.measure for s in task.statistics} <= MEASURES.keys()


def test_wmt23_excludes_outliers_and_compares_people_in_hebrew_only() -> None:
    task = find_task("wmt23")
    assert task.rule("en-de") == LpRule(reference="refA", outliers=("synthetic_ref",))
    assert task.rule("he-en") == LpRule(reference="refB", include_human=True)
    assert [s.measure for s in task.statistics if s.pooled] == ["sys_accuracy"]


def test_a_test_set_has_the_task_of_its_name_for_the_language_pairs_of_the_task() -> None:
    found = task_of("wmt23", "zh-en")
    assert found is not None
    assert found.name == "wmt23"
    assert task_of("wmt23", "en-cs") is None
    assert task_of("mine", "zh-en") is None


def test_the_task_of_wmt25_has_two_golds() -> None:
    assert find_task("wmt25").gold_of("en-ko_KR") == "mqm"
    assert find_task("wmt25").gold_of("en-cs_CZ") == "esa"


def test_a_task_of_ones_own_is_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(OWN)
    task = find_task(str(tmp_path / "mine.toml"))
    assert (task.name, task.title, task.gold) == ("mine", "ours", "people")
    assert task.rule("de-fr") == LpRule(reference="refC", outliers=("bad",), include_human=True)
    assert task.statistics == (
        Statistic(measure="seg_mae"),
        Statistic(measure="seg_pearson", average="item", weight=2, range=(-1, 1)),
    )
    assert task.statistics[1].scaled(0.5) == 0.75
    assert task.statistics[0].scaled(0.5) == 0.5


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seg_mae", "seg_mea", "no measure 'seg_mea'; there are sys_accuracy"),
        ("weight = 2", "weight = 0", "'weight' must be above 0, got 0"),
        ("weight = 2", "wieght = 2", "unknown key 'wieght'"),
        ('"item"', '"segment"', "averaged by item, sys, none; got 'segment'"),
        ("[-1, 1]", "[1]", "lowest and the highest"),
        ("range = [-1, 1]", "pooled = true", "only sys_accuracy can be pooled"),
        ("include_human = true", 'include_human = "yes"', "must be true or false, got 'yes'"),
        ('"de to fr"', '"nowhere"', "language pair"),
        ("title =", "title", "not TOML"),
        (OWN[OWN.index("[[") :], "", "at least one"),
    ],
)
def test_a_task_that_is_none_says_what_is_wrong(tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "mine.toml").write_text(OWN.replace(old, new))
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        find_task(str(tmp_path / "mine.toml"))
    assert "mine.toml" in str(caught.value)


def test_an_unknown_task_names_those_that_there_are() -> None:
    with pytest.raises(
        UsageError, match="no task 'wmt22', and no such file; there are ment, ment-rate, wmt23"
    ):
        find_task("wmt22")
