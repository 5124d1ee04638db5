"""Task sets as data: ours are sound, and a user's own are read strictly."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adjudge.analysis.eval_set import ScoreSet
from adjudge.analysis.shared_tasks import LpRule, Statistic, find_task, list_tasks, suspicious, task_of
from adjudge.errors import DataError, UsageError
from adjudge.stats.measures import MEASURES

# What is said of scores that look wrong, and what is not.


SYSTEMS = ("A", "B", "C", "D")
RNG = np.random.default_rng(0)
GOLD = -np.abs(RNG.normal(size=(4, 50)))


def scores(values: object) -> ScoreSet:
    array = np.array(values, dtype=float)
    return ScoreSet(name="m", segments=array, systems=array.mean(axis=1))


def said(values: object, gold: object = GOLD) -> list[str]:
    return list(suspicious("m", scores(values), scores(gold), SYSTEMS))


def changed(values: np.ndarray, places: int, value: float) -> np.ndarray:
    found = values.copy()
    found.ravel()[: places * 7 : 7] = value
    return found


PENALTIES = np.minimum(0, np.round(GOLD * 4 + RNG.normal(size=GOLD.shape)))


@pytest.mark.parametrize(
    ("values", "part"),
    [
        (np.full((4, 50), 3.0), "gives every translation the score 3"),
        (
            changed(PENALTIES, 3, 10),
            "scale of penalties, 0 at best, but 3 of 200 scores are on the other side (+10)",
        ),
        (changed(PENALTIES, 20, 10), "but 20 of 200 scores are on the other side (+10)"),
        (changed(GOLD - 1, 3, 10), "but 3 of 200 scores"),  # a scale that never reaches 0
        (changed(-PENALTIES * -1 + 60, 3, -1), "scale of 0 and more, but 3 of 200"),
        (changed(GOLD, 2, -999), "has the score -999 2 times, far from all others"),
        (-GOLD, "goes against gold (r -1.00 over 200 translations)"),
    ],
)
def test_scores_that_look_wrong_are_said(values: np.ndarray, part: str) -> None:
    assert any(part in note for note in said(values)), said(values)


@pytest.mark.parametrize(
    "values",
    [
        GOLD,
        GOLD * 10 + 70,
        PENALTIES,
        GOLD - GOLD.mean(),  # both sides of 0
        changed(GOLD, 1, 0.31),  # regression that goes a little beyond its end
    ],
)
def test_scores_of_all_usual_scales_are_not_suspected(values: np.ndarray) -> None:
    assert said(values) == []


WITHOUT_B = (
    "m has no score of B: its numbers are over 3 of 4 systems, and not comparable with those of metrics "
    "that have all."
)


def test_a_missing_system_and_missing_translations_are_said() -> None:
    values = GOLD.copy()
    values[1] = np.nan
    values[2, :5] = np.nan
    assert said(values) == [
        WITHOUT_B,
        "m has no score of 5 of the 150 translations that gold judged; they are left out of its numbers.",
    ]


def test_a_missing_score_of_a_system_alone_is_said() -> None:
    metric = ScoreSet(name="m", segments=np.full((4, 50), np.nan), systems=np.array([1, np.nan, 2, 3]))
    assert list(suspicious("m", metric, scores(GOLD), SYSTEMS)) == [
        "m has scores of systems only; measures of segments have no value.",
        WITHOUT_B,
    ]


def test_scores_of_systems_alone_are_said() -> None:
    nothing, gold = np.full((4, 50), np.nan), scores(GOLD)
    of_systems = ScoreSet(name="m", segments=nothing, systems=np.arange(4.0))
    assert list(suspicious("m", of_systems, gold, SYSTEMS)) == [
        "m has scores of systems only; measures of segments have no value."
    ]
    assert said(nothing) == ["m has no score at all of the systems that are compared."]


def test_a_filler_where_gold_did_not_judge_is_said() -> None:
    gold, values = GOLD.copy(), GOLD * 5 + 90
    gold[:, :10] = np.nan
    assert said(values, gold) == []
    values[:, :10] = 0
    assert any(
        "the score 0 for every system in all 10 segments that gold did not judge" in n
        for n in said(values, gold)
    )


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
    assert [task.name for task in list_tasks()] == [
        "ment",
        "ment-rate",
        "wmt19",
        "wmt20",
        "wmt21",
        "wmt21-flores",
        "wmt21-tedtalks",
        "wmt22",
        "wmt23",
        "wmt23-sent",
        "wmt24",
        "wmt25",
    ]
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
    assert task_of("wmt23", "en-ru") is None
    assert task_of("mine", "zh-en") is None


def test_the_task_of_wmt25_has_two_golds() -> None:
    assert find_task("wmt25").gold_of("en-ko_KR") == "mqm"
    assert find_task("wmt25").gold_of("en-cs_CZ") == "esa-human1"


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
        UsageError, match="no task 'wmt18', and no such file; there are ment, ment-rate, wmt19"
    ):
        find_task("wmt18")


YEARS = {
    # test set, language pair: task, reference, gold, outliers, whether it is in the task's mean
    ("wmt19", "en-de"): ("wmt19", "ref", "wmt-raw", (), True),
    ("wmt20", "en-de"): ("wmt20", "ref", "wmt-raw", 3, True),
    ("wmt20", "zh-en"): ("wmt20", "ref", "wmt-raw", ("WMTBiomedBaseline.183",), True),
    ("wmt21.news", "en-de"): ("wmt21", "refC", "mqm", (), True),
    ("wmt21.news", "zh-en"): ("wmt21", "refB", "mqm", (), True),
    ("wmt21.news", "en-cs"): ("wmt21", "refA", "wmt-raw", (), False),
    ("wmt21.tedtalks", "zh-en"): ("wmt21-tedtalks", "refB", "mqm", (), True),
    ("wmt21.flores", "xh-zu"): ("wmt21-flores", "refA", "wmt-raw", (), True),
    ("wmt22", "en-de"): ("wmt22", "refA", "mqm", ("M2M100_1.2B-B4",), True),
    ("wmt22", "cs-en"): ("wmt22", "refB", "wmt", (), False),
    ("wmt22", "uk-cs"): ("wmt22", "refA", "wmt-appraise", (), False),
    ("wmt23", "en-de"): ("wmt23", "refA", "mqm", ("synthetic_ref",), True),
    ("wmt23", "en-cs"): ("wmt23", "refA", "da-sqm", (), False),
    ("wmt24", "en-es"): ("wmt24", "refA", "mqm", ("MSLC",), True),
    ("wmt24", "en-hi"): ("wmt24", "refA", "esa", (), False),
    ("wmt25", "en-ja_JP"): ("wmt25", "refA", "esa-human1", (), True),
    ("wmt25", "en-ko_KR"): ("wmt25", "refA", "mqm", (), True),
}


@pytest.mark.parametrize(("where", "facts"), YEARS.items())
def test_every_year_has_its_reference_gold_and_outliers(where: tuple[str, str], facts: Any) -> None:
    name, reference, gold, outliers, is_official = facts
    task = task_of(*where)
    assert task is not None
    rule = task.rule(where[1])
    assert (task.name, rule.reference, task.gold_of(where[1])) == (name, reference, gold)
    assert len(rule.outliers) == outliers if isinstance(outliers, int) else rule.outliers == outliers
    assert rule.beside is not is_official


def test_each_language_pair_of_a_test_set_has_one_task() -> None:
    places = [(name, lp) for task in list_tasks() for name in task.test_sets for lp in task.lps]
    assert len(places) == len(set(places))
    assert {task.system_gold for task in list_tasks() if task.gold == "wmt-raw"} == {"wmt-z"}
