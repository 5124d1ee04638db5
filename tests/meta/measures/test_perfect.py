"""Measures of a metric that is gold itself."""

import numpy as np
import pytest

from adjudge.stats.correlation import kendall_b, pearson, spearman
from adjudge.stats.judged import Result

GOLD = np.array([[1.0, 2.0, 5.0], [3.0, 1.0, 7.0]])


@pytest.mark.parametrize("function", [pearson, spearman, kendall_b])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_perfect_agreement_has_a_p_value_too(function: object, sign: float) -> None:
    assert callable(function)
    found: Result = function(GOLD, sign * GOLD)
    assert found.value == pytest.approx(sign)
    assert found.p == pytest.approx(0, abs=0.06)
