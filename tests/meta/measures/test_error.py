import math

import numpy as np
import pytest
from hypothesis import given

from adjudge.errors import UsageError
from adjudge.stats.judged import Floats
from adjudge.stats.measures import Scale, mae, mse
from tests.meta.measures.scores import groups, score_pairs

RANGES = {"gold_range": (-25.0, 0.0), "metric_range": (0.0, 100.0)}


@given(score_pairs())
def test_errors_are_of_scores_from_0_to_1(scores: tuple[Floats, Floats]) -> None:
    (both,) = groups(*scores, "none")
    found = [f(*scores, scale="minmax") for f in (mae, mse)]
    lows, highs = ([f(side) for side in zip(*both, strict=True)] for f in (min, max))
    if not both or lows[0] == highs[0] or lows[1] == highs[1]:
        assert [f.value for f in found] == [None, None]
        assert found[0].reason
        return
    gaps = [abs((g - lows[0]) / (highs[0] - lows[0]) - (m - lows[1]) / (highs[1] - lows[1])) for g, m in both]
    assert found[0].value == pytest.approx(sum(gaps) / len(gaps), abs=1e-12)
    assert found[1].value == pytest.approx(sum(gap * gap for gap in gaps) / len(gaps), abs=1e-12)
    assert [f.n for f in found] == [len(both)] * 2


def test_the_protocol_s_range_is_the_scale() -> None:
    gold, metric = np.array([[-25.0, 0.0, -5.0, math.nan]]), np.array([[0.0, 50.0, 80.0, 3.0]])
    found = mae(gold, metric, scale="range", **RANGES)
    assert found.value == pytest.approx(0.5 / 3)
    assert (found.n, found.note) == (3, "")
    assert mse(gold, metric, scale="range", **RANGES).value == pytest.approx(0.25 / 3)


def test_a_score_outside_of_its_range_is_told() -> None:
    found = mae(np.array([[-1.0, 10.0]]), np.array([[1.0, 2.0]]), scale="range", **RANGES)
    assert found.note == "gold scores outside of their range, -25 to 0: 1"


@pytest.mark.parametrize(
    ("scale", "ranges", "reason"),
    [
        ("range", {}, "gold scores have no range with two ends"),
        ("range", RANGES | {"metric_range": (-math.inf, 0.0)}, "metric scores have no range with two ends"),
        ("minmax", {}, "every gold score is 3, so there is no lowest and highest"),
    ],
)
def test_what_cannot_be_scaled_says_why(
    scale: Scale, ranges: dict[str, tuple[float, float]], reason: str
) -> None:
    found = mae(np.array([[3.0, 3.0]]), np.array([[1.0, 2.0]]), scale=scale, **ranges)
    assert found.value is None
    assert found.reason.startswith(reason)


def test_another_scale_is_refused() -> None:
    with pytest.raises(UsageError, match="by minmax or range, got 'z'"):
        mae(np.zeros(2), np.zeros(2), scale="z")  # type: ignore[arg-type]
