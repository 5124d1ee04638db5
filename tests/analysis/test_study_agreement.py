"""Whether annotators agree on a segment: by every two of them, over its systems."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.analysis.study_agreement import pair_agreements, segment_agreements
from adjudge.core.record import Annotation
from adjudge.errors import UsageError
from tests.analysis.records import rated


def ratings(*of_annotators: list[float | None], segment: str = "1") -> list[Annotation]:
    return [
        rated(f"S{place}", segment, rating, annotator=f"annotator {number}", protocol="sqm", lp="zh-en")
        for number, row in enumerate(of_annotators)
        for place, rating in enumerate(row)
        if rating is not None
    ]


@pytest.mark.parametrize(
    ("rows", "lowest", "passes", "pairs", "undefined"),
    [
        (([0, 1, 2], [0, 1, 2]), 1.0, True, 1, 0),
        (([0, 1, 2], [2, 3, 4]), 1.0, True, 1, 0),  # level plays no part, only how systems compare
        (([0, 1, 2], [2, 1, 0]), -1.0, False, 1, 0),
        (([0, 4, 2, 2], [0, 4, 2, 3]), 0.9561829, True, 1, 0),
        (([0, 1, 2, 3], [0, 1, 2, 3], [3, 2, 1, 0]), -1.0, False, 3, 0),
        (([4, 4, 4], [4, 4, 4]), 1.0, True, 1, 1),
        (([4, 4, 4], [2, 2, 2]), None, False, 1, 1),
        (([4, 4, 4], [4, 3, 4]), None, False, 1, 1),
        (([0, 1, 2], [4, 4, 4], [0, 1, 2]), 1.0, False, 3, 2),
        (([0, 1, 2],), None, None, 0, 0),
        (([0, 1, None], [None, 1, 2]), None, None, 0, 0),
        (([0, 1, None], [0, 1, 2]), 1.0, True, 1, 0),
        ((), None, None, 0, 0),
    ],
)
def test_every_two_annotators_of_a_segment_must_agree(
    rows: tuple[list[float | None], ...],
    lowest: float | None,
    passes: bool | None,
    pairs: int,
    undefined: int,
) -> None:
    found = segment_agreements(ratings(*rows), least_shared=2)
    if not rows:
        assert found == []
        return
    (one,) = found
    assert one.lowest == (None if lowest is None else pytest.approx(lowest))
    assert (one.passes, one.pairs, one.undefined, one.annotators) == (passes, pairs, undefined, len(rows))


def test_the_threshold_itself_passes() -> None:
    one = segment_agreements(ratings([0, 1, 2], [0, 2, 1]), threshold=0.5, least_shared=3)[0]
    assert one.lowest == pytest.approx(0.5)
    assert one.passes
    with pytest.raises(UsageError, match="a correlation lies in -1 to 1"):
        segment_agreements([], threshold=1.5)
    with pytest.raises(UsageError, match="two systems or more"):
        segment_agreements([], least_shared=1)


@pytest.mark.parametrize(("systems", "pairs"), [(2, 0), (4, 0), (5, 1), (6, 1)])
def test_few_shared_systems_decide_nothing(systems: int, pairs: int) -> None:
    row: list[float | None] = [place / 2 for place in range(systems)]
    (one,) = segment_agreements(ratings(row, row[::-1]))
    assert (one.pairs, one.passes) == (pairs, False if pairs else None)


@given(st.lists(st.integers(0, 4), min_size=2, max_size=10, unique=False))
def test_an_annotator_agrees_with_who_rates_the_same(row: list[float | None]) -> None:
    (one,) = segment_agreements(ratings(row, row), least_shared=2)
    assert one.lowest == pytest.approx(1.0)
    assert one.passes


def test_every_two_annotators_are_compared_by_sums_over_what_both_rated_whole() -> None:
    """RATE, equation 1 by hand: sums over two segments; a third one lacks systems of one person."""
    segments: list[tuple[list[float | None], list[float | None]]] = [
        ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0]),
        ([0, 2, 1, 3, 4], [1, 3, 2, 4, 4]),
        ([1, 1, 2, 3, 4], [0, 0]),
    ]
    records = [
        annotation for place, rows in enumerate(segments) for annotation in ratings(*rows, segment=str(place))
    ]
    (found,) = pair_agreements(records)
    first, second = np.array([0, 3, 3, 6, 8]), np.array([5, 6, 4, 5, 4])
    assert found.over_systems.value == pytest.approx(np.corrcoef(first, second)[0, 1])
    each = [-1.0, np.corrcoef([0, 2, 1, 3, 4], [1, 3, 2, 4, 4])[0, 1]]
    assert found.within_segments.value == pytest.approx(np.mean(each))
    assert (found.over_systems.n, found.within_segments.n) == (5, 2)
    assert (found.summed, found.partial, found.undefined) == (2, 1, 1)


def test_who_shares_few_systems_or_rates_all_alike_has_no_correlation() -> None:
    (few,) = pair_agreements(ratings([4, 3], [1, 0]))
    assert (few.over_systems.value, few.over_systems.reason) == (None, "fewer than 5 systems")
    assert few.within_segments.value is None
    (same,) = pair_agreements(ratings([2] * 5, [2] * 5))
    assert same.over_systems.value is same.within_segments.value is None
    (holes,) = pair_agreements(ratings([1, 2, 3, 4, None], [None, 2, 3, 4, 1]))
    assert holes.over_systems.reason == "no segment has ratings of all systems by both"
    assert (holes.summed, holes.partial) == (0, 1)
    assert not pair_agreements(ratings([1, 2, 3, 4, 0]))
