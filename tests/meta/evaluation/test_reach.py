"""Tests that can find nothing are said beforehand."""

import numpy as np
import pytest

from adjudge.analysis.eval_set import ScoreSet
from adjudge.analysis.meta import out_of_reach
from adjudge.analysis.meta_settings import MetricResults, Settings
from adjudge.stats.judged import Result

MEASURES = ("sys_accuracy", "seg_pearson", "seg_acc_eq")


def notes(systems: int, metrics: int, **options: object) -> list[str]:
    """Notes for so many systems of fifty segments, and metrics whose values all differ."""
    rng = np.random.default_rng(0)
    segments = rng.normal(size=(systems, 50))
    gold = ScoreSet(name="gold", segments=segments, systems=segments.mean(axis=1))
    settings = Settings(measures=MEASURES, clusters=True, **options)  # type: ignore[arg-type]
    rows = [
        MetricResults(name=f"m{i}", results={n: Result(value=i / metrics, n=1) for n in MEASURES})
        for i in range(metrics)
    ]
    return list(out_of_reach(rows, gold, settings))


def test_holm_over_many_metrics_needs_more_draws_and_the_note_says_how_many() -> None:
    drawn = next(note for note in notes(12, 24, holm=True) if "seg_pearson" in note)
    assert drawn == (
        "No metric can be better than another by seg_pearson: with 1,000 draws the smallest possible p, "
        "corrected for 276 tests, is 0.28; it takes 5,519 draws or more."
    )
    assert not [n for n in notes(12, 24, holm=True, resamples=5519) if "seg_pearson" in n]
    assert [n for n in notes(12, 24, holm=True, resamples=5518) if "seg_pearson" in n]


def test_swaps_of_few_systems_are_never_enough() -> None:
    swapped = next(n for n in notes(12, 24, holm=True, resamples=9999) if "sys_accuracy" in n)
    assert "12 scores can be swapped in 4,096 ways" in swapped
    assert "is 0.067; more draws do not help." in swapped
    assert "sys_accuracy" in notes(4, 2)[0]


@pytest.mark.parametrize("options", [{}, {"holm": True}])
def test_nothing_is_said_of_tests_that_can_reject(options: dict[str, bool]) -> None:
    assert notes(12, 3, **options) == []
