"""Whether annotators agree on a segment: by every two of them, over its systems."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.analysis.study_agreement import segment_agreements
from adjudge.core.record import Annotation
from adjudge.errors import UsageError


def ratings(*of_annotators: list[float | None], segment: str = "1") -> list[Annotation]:
    return [
        Annotation(
            lp="zh-en",
            segment=segment,
            system=f"S{place}",
            annotator=f"annotator {number}",
            protocol="sqm",
            rating=rating,
        )
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


@pytest.mark.parametrize(("systems", "pairs"), [(2, 0), (4, 0), (5, 1), (6, 1)])
def test_few_shared_systems_decide_nothing(systems: int, pairs: int) -> None:
    row: list[float | None] = [place / 2 for place in range(systems)]
    (one,) = segment_agreements(ratings(row, row[::-1]))
    assert (one.pairs, one.passes) == (pairs, False if pairs else None)


def test_one_shared_system_is_not_enough_for_a_correlation() -> None:
    with pytest.raises(UsageError, match="two systems or more"):
        segment_agreements([], least_shared=1)


@given(st.lists(st.integers(0, 4), min_size=2, max_size=10, unique=False))
def test_an_annotator_agrees_with_who_rates_the_same(row: list[float | None]) -> None:
    (one,) = segment_agreements(ratings(row, row), least_shared=2)
    assert one.lowest == pytest.approx(1.0)
    assert one.passes
