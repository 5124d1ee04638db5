"""Agreement of a judge with itself."""

from dataclasses import replace

import pytest

from adjudge.analysis.bias import bias
from adjudge.reports.result_tables import bias_table
from tests.scoring.records import preferred


def test_it_is_the_share_of_pairs_of_samples_that_agree() -> None:
    records = [
        replace(preferred("a", "b", "A", "1"), samples=("A", "A", "B")),  # one of three pairs
        replace(preferred("a", "b", "A", "2"), samples=("A", "A", "A")),  # all
        preferred("a", "b", "A", "3"),
    ]
    found = bias(records, resamples=0)
    (row,) = found.rows
    assert row.repeat is not None
    assert row.repeat.value == pytest.approx((1 / 3 + 1) / 2)
    assert row.repeat.n == 2
    assert ["ann", "overall", "chance", "same verdict in two samples"] in [
        cells[:4] for cells in bias_table(found, exact=False).rows
    ]


def test_what_was_asked_once_has_none() -> None:
    (row,) = bias([preferred("a", "b", "A", "1")], resamples=0).rows
    assert row.repeat is None
