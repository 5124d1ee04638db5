import math

import numpy as np
import pytest

from adjudge.stats.paired import holm, significance_ranks


def test_holm_steps_down_and_never_falls() -> None:
    assert holm(np.array([0.04, 0.01, 0.03])).tolist() == pytest.approx([0.06, 0.03, 0.06])
    assert holm(np.array([0.5, 0.9])).tolist() == [1, 1]


def test_what_was_not_tested_does_not_count() -> None:
    found = holm(np.array([[0.01, math.nan], [math.nan, 0.04]]))
    assert found[0, 0] == pytest.approx(0.02)
    assert math.isnan(found[0, 1])
    assert found[1, 1] == pytest.approx(0.04)


def test_a_rank_opens_where_any_metric_of_the_rank_above_is_better() -> None:
    p = np.ones((4, 4))
    p[0, 2] = 0.05  # the third is worse than the first, and not worse than the second
    assert significance_ranks([0.9, 0.8, 0.7, 0.6], p, 0.05) == [1, 1, 2, 2]
    assert significance_ranks([0.9, 0.8, 0.7, 0.6], p, 0.04) == [1, 1, 1, 1]


def test_ranks_stand_in_the_order_of_the_table_and_no_value_has_none() -> None:
    p = np.full((3, 3), 0.001)
    p[1, 2] = math.nan
    assert significance_ranks([0.1, None, 0.9], p, 0.05) == [2, None, 1]
