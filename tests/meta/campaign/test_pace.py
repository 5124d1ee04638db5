"""Time of a segment, and how much faster people become."""

import numpy as np
import pytest

from adjudge.analysis.study_people import (
    learned_speed_up,
    median_seconds,
    progress_curve,
    seconds_between_starts,
)
from adjudge.errors import UsageError


def test_time_runs_from_start_to_start_within_a_login() -> None:
    seconds = seconds_between_starts(["a", "b", "a", "b", "a"], np.array([10.0, 11, 15, 31, 45]))
    assert seconds.tolist() == [0, 0, 5, 20, 30]


def test_slow_and_busy_people_sway_the_median_and_not_the_mean_of_medians() -> None:
    seconds = np.array([10.0, 10, 10, 50])
    assert median_seconds(["a", "a", "a", "b"], seconds) == (10, 30)
    with pytest.raises(UsageError):
        median_seconds([], np.array([]))


def test_a_curve_has_no_breaks_and_pools_what_falls_into_a_bin() -> None:
    steady = np.full(40, 20.0)
    with_break = steady.copy()
    with_break[7] = 9000
    assert progress_curve([with_break], bins=10).tolist() == pytest.approx([20] * 10)
    slow = np.full(66, 80.0)  # smoothed to 52 values, where the other person has 26
    assert progress_curve([steady, slow], bins=2).tolist() == pytest.approx([60, 60])
    assert len(progress_curve([np.full(14, 5.0)])) == 0


def test_who_saves_a_second_with_every_segment_saves_it_with_every_hundredth() -> None:
    seconds = np.arange(214.0, 100, -1)  # 114 segments, smoothed to 100
    found = learned_speed_up([seconds])
    assert found.start == pytest.approx(200)  # bins 6 to 10: 202 to 198
    assert found.end == pytest.approx(115)
    assert found.saved == pytest.approx(0.85)
    with pytest.raises(UsageError, match="more segments"):
        learned_speed_up([np.ones(20)])
