"""Task sets as data: ours are sound, and a user's own are read strictly."""

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adjudge.analysis.eval_set import ScoreSet
from adjudge.analysis.shared_tasks import LpRule, Statistic, find_task, list_tasks, suspicious, task_of
from adjudge.core.language import canonical_lp
from adjudge.errors import DataError
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
        (changed(PENALTIES, 3, 10), "penalties, 0 at best, but 3 of 200 scores are on the other side (+10)"),
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


def test_a_metric_without_any_score_is_said() -> None:
    assert said(np.full((4, 50), np.nan)) == ["m has no score at all of the systems that are compared."]


def test_a_filler_where_gold_did_not_judge_is_said() -> None:
    gold, values = GOLD.copy(), GOLD * 5 + 90
    gold[:, :10] = np.nan
    assert said(values, gold) == []
    values[:, :10] = 0
    assert any("the score 0 for every system in all 10 segments that gold" in n for n in said(values, gold))


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
    names = "ment ment-rate wmt19 wmt20 wmt21 wmt21-flores wmt21-tedtalks wmt22 "
    names += "wmt23 wmt23-sent wmt24 wmt24-on-wmt23 wmt24pp wmt25"
    assert [task.name for task in list_tasks()] == names.split()
    for task in list_tasks():
        assert task.title
        assert task.source
        assert {s.measure for s in task.statistics} <= MEASURES.keys()


def test_a_test_set_has_the_task_of_its_name_for_the_language_pairs_of_the_task() -> None:
    found: Any = task_of("wmt23", "zh-en")
    assert found.name == "wmt23"
    assert task_of("wmt23", "en-fr") is None
    assert task_of("mine", "zh-en") is None


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


FACTS: Any = json.loads(Path(__file__).with_name("wmt_facts.json").read_text("utf-8"))
"""What mt-metrics-eval says of each year, written down apart from the definitions that we ship."""


def test_the_facts_are_of_every_test_set_and_every_language_pair_that_we_define() -> None:
    ours = {(name, lp) for task in list_tasks() for name in task.test_sets for lp in task.lps}
    ours -= {("ment", "en-zh"), ("ment", "zh-en")}
    theirs = {(name, canonical_lp(lp)) for name, pairs in FACTS["pairs"].items() for lp in pairs}
    assert theirs == ours
    assert len(theirs) == 177


@pytest.mark.parametrize(("test_set", "lp"), [(n, lp) for n, pairs in FACTS["pairs"].items() for lp in pairs])
def test_references_golds_outliers_and_metrics_are_those_of_the_year(test_set: str, lp: str) -> None:
    reference, gold, system_gold, outliers, primary_here = FACTS["pairs"][test_set][lp]
    task: Any = task_of(test_set, canonical_lp(lp))
    rule = task.rule(canonical_lp(lp))
    assert (rule.reference, task.gold_of(canonical_lp(lp))) == (reference, gold)
    beside = task.system_gold if gold == task.gold else None
    assert (beside or gold) == system_gold
    assert sorted(rule.outliers) == outliers
    metrics = FACTS["metrics"][test_set]
    assert sorted(task.baselines) == metrics["baselines"]
    assert {*task.primary} == {*metrics["primary"], *metrics["baselines"]}
    assert sorted(rule.primary) == primary_here


@pytest.mark.parametrize("name", FACTS["tasks"])
def test_a_task_averages_what_mt_metrics_eval_averages_with_its_weights(name: str) -> None:
    task, facts = find_task(name), FACTS["tasks"][name]
    lps = [lp for lp, rule in task.lps.items() if not rule.beside]
    whole = len(lps) * sum(statistic.weight for statistic in task.statistics)
    found: dict[str, float] = defaultdict(float)
    for statistic in task.statistics:
        words = " ".join([statistic.measure, *([statistic.average] if statistic.average else [])])
        for lp in lps:
            found[f"{','.join(sorted(lps)) if statistic.pooled else lp} {words}"] += statistic.weight / whole
        ranges = {"sys_pearson": (-1, 1), "seg_pearson": (-1, 1)}
        assert statistic.range == ranges.get(statistic.measure)
    assert dict(found) == pytest.approx({canonical_name(n): w for n, w in facts["weights"].items()})
    people = {lp for lp, rule in task.lps.items() if rule.include_human}
    assert people == {canonical_lp(lp) for lp in facts["people"]} & task.lps.keys()


def canonical_name(name: str) -> str:
    lps, measure = name.split(" ", 1)
    return f"{','.join(canonical_lp(lp) for lp in lps.split(','))} {measure}"


def test_each_language_pair_of_a_test_set_has_one_task() -> None:
    places = [(name, lp) for task in list_tasks() for name in task.test_sets for lp in task.lps]
    assert len(places) == len(set(places))
    assert {task.system_gold for task in list_tasks() if task.gold == "wmt-raw"} == {"wmt-z"}
