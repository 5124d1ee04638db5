import numpy as np
import pytest

from adjudge.analysis.segment_scores import score_records
from adjudge.campaigns.planning import disagreement
from adjudge.core.scores import Scores
from adjudge.errors import DataError, UsageError
from tests.scoring.records import failed, rated


def scores(*values: float, scale: float = 1.0) -> Scores:
    records = [rated("x", str(n), value * scale, protocol="metric") for n, value in enumerate(values)]
    return score_records([*records, failed("x", segment="failed", protocol="metric")])


def test_priorities_are_the_spread_of_z_scores_whatever_the_scales() -> None:
    found = disagreement([scores(1, 2, 3), scores(1, 2, 3, scale=100), scores(3, 2, 1)])
    step = 1 / np.std([1, 2, 3])
    assert found == pytest.approx({
        ("en-de", "0", "x"): np.std([-step, -step, step]),
        ("en-de", "1", "x"): 0.0,
        ("en-de", "2", "x"): np.std([step, step, -step]),
    })  # fmt: skip


def test_a_metric_that_says_the_same_of_all_is_in_the_middle() -> None:
    found = disagreement([scores(1, 3), scores(5, 5)])
    assert found["en-de", "0", "x"] == pytest.approx(0.5)


def test_one_metric_cannot_disagree() -> None:
    with pytest.raises(UsageError, match="needs the scores of two metrics or judges, got 1"):
        disagreement([scores(1, 2)])


def test_metrics_of_other_translations_are_refused() -> None:
    other = score_records([rated("y", "0", 1.0, protocol="metric")])
    with pytest.raises(DataError, match="are they of one test set"):
        disagreement([scores(1, 2), other])
