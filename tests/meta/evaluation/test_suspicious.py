"""What is said of scores that look wrong, and what is not."""

import numpy as np
import pytest

from adjudge.analysis.eval_set import ScoreSet
from adjudge.analysis.shared_tasks import suspicious

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
