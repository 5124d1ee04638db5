import inspect

import numpy as np
import pytest

from adjudge.errors import UsageError
from adjudge.stats.judged import AVERAGES
from adjudge.stats.measures import MEASURES, Measure

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
