import inspect
import math

import numpy as np
import pytest
from hypothesis import given

from adjudge.errors import UsageError
from adjudge.stats.correlation import kendall_b, pearson, spearman
from adjudge.stats.judged import AVERAGES, Floats, Result
from adjudge.stats.measures import MEASURES, Measure, Scale, mae, mse
from tests.stats.scores import groups, score_pairs

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


GOLD = np.array([[1.0, 2.0, 5.0], [3.0, 1.0, 7.0]])


@pytest.mark.parametrize("function", [pearson, spearman, kendall_b])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_perfect_agreement_has_a_p_value_too(function: object, sign: float) -> None:
    assert callable(function)
    found: Result = function(GOLD, sign * GOLD)
    assert found.value == pytest.approx(sign)
    assert found.p == pytest.approx(0, abs=0.06)


measures = pytest.mark.parametrize("measure", MEASURES.values(), ids=list(MEASURES))


@measures
def test_a_function_takes_what_its_measure_says(measure: Measure) -> None:
    first, second, *rest = inspect.signature(measure.function).parameters
    assert (first, second) == ("gold", "metric")
    assert set(measure.options) <= set(rest)
    assert ("average" in rest) == bool(measure.averages) or measure.takes == "systems"
    assert measure.average is None or measure.average in measure.averages


@measures
@pytest.mark.parametrize("average", AVERAGES)
def test_a_metric_that_is_gold_gets_the_best_value(measure: Measure, average: str) -> None:
    gold = np.add.outer(np.arange(8), np.arange(16)) % 8 * 30.0  # every value as often in every row
    scores = gold[:, 0] if measure.takes == "systems" else gold
    options = {"average": average} if measure.averages else {}
    if "scale" in measure.options:
        options["scale"] = "minmax"
    found = measure.function(scores, scores, **options)
    assert found.value == pytest.approx(measure.range[measure.higher_is_better])


@measures
def test_a_measure_says_what_it_computes_and_whose_it_is(measure: Measure) -> None:
    text = inspect.getdoc(measure.function) or ""
    assert " = " in text or "Pearson's r of the ranks" in text, "the formula"
    assert measure.source.split(" ")[0] in text or "as `mae`" in text, "the paper"
    for word in ("tie", "issing"):
        assert word in text.lower() or "as `" in text, f"the rule for {word}"


@pytest.mark.parametrize("name", [m.name for m in MEASURES.values() if m.takes == "systems"])
def test_measures_of_systems_take_no_segments(name: str) -> None:
    with pytest.raises(UsageError, match="takes one score a system, got an array of shape"):
        MEASURES[name].function(np.ones((3, 4)), np.ones((3, 4)))


@pytest.mark.parametrize("name", MEASURES)
def test_what_is_no_number_is_said(name: str) -> None:
    with pytest.raises(UsageError, match="gold scores are an array of numbers"):
        MEASURES[name].function(["a", "b"], ["1", "2"])
