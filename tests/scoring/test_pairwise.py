"""Comparisons that were left undecided are neither wins nor ties."""

from dataclasses import replace

import numpy as np
import pytest

from adjudge.analysis.bias import bias
from adjudge.analysis.preferences import tabulate
from adjudge.analysis.rank import Method, rank
from adjudge.analysis.segment_scores import score_records
from adjudge.core.record import UNDECIDED, Preference
from adjudge.errors import DataError
from adjudge.reports.segments import count_verdicts
from tests.scoring.records import preferred


def undecided(a: str, b: str, segment: str) -> Preference:
    flags = ("position_inconsistent", UNDECIDED)
    return replace(preferred(a, b, "E", segment), orders=("A", "B"), flags=flags)


RECORDS = [preferred("a", "b", "A", "1"), preferred("a", "b", "E", "2"), undecided("a", "b", "3")]


def test_an_undecided_comparison_earns_nobody_a_point_and_is_counted() -> None:
    found = score_records(RECORDS)
    assert {s.system: (s.score, s.n, s.failed) for s in found.systems} == {
        "a": (0.75, 2, 0),
        "b": (0.25, 2, 0),
    }
    assert found.notes == (
        "1 comparison is undecided, as the verdict changed with the order: neither wins nor ties, left out.",
    )
    assert found.signature.fields["failed"] == "0/2"


@pytest.mark.parametrize("method", ["mean", "copeland", "davidson"])
def test_a_ranking_leaves_it_out_and_says_so(method: Method) -> None:
    found = rank(RECORDS, method=method, resamples=10)
    assert [(s.system, s.n) for s in found.systems] == [("a", 2), ("b", 2)]
    assert any("1 comparison is undecided" in note for note in found.notes)


def test_its_label_is_missing_and_its_position_bias_is_not() -> None:
    table = tabulate(RECORDS, "overall")
    np.testing.assert_array_equal(table.labels, [[1], [0], [np.nan]])
    assert table.undecided == {"ann": 1}
    (row,) = bias(RECORDS, resamples=0).rows
    assert (row.n, row.undecided) == (2, 1)
    assert row.position is not None
    assert (row.position.n, row.position.consistency.value) == (1, 0.0)
    (counts,) = count_verdicts(RECORDS)
    assert (counts.a, counts.b, counts.equal, counts.undecided) == (1, 0, 1, 1)


def test_nothing_but_undecided_comparisons_is_nothing_to_score() -> None:
    with pytest.raises(DataError, match="every comparison is undecided"):
        score_records([undecided("a", "b", "1")])


def test_an_undecided_comparison_has_no_winner() -> None:
    with pytest.raises(DataError, match="position_undecided has verdict E, got A"):
        replace(undecided("a", "b", "1"), verdict="A")
