"""Ratings of segments on which people agree are kept; what nothing can be said of is counted, never kept."""

import pytest

from adjudge.core.record import Annotation
from adjudge.curation.settling import gate_ratings
from adjudge.errors import DataError, UsageError


def rated(*segments: tuple[list[float], ...], lp: str = "zh-en") -> list[Annotation]:
    """Segment after segment, each person's ratings of systems A, B, C, ..."""
    return [
        Annotation(
            lp=lp, segment=str(number), system=system, annotator=f"p{person}", protocol="sqm", rating=rating
        )
        for number, people in enumerate(segments)
        for person, ratings in enumerate(people)
        for system, rating in zip("ABCD", ratings, strict=False)
    ]


def test_a_segment_passes_where_every_two_people_agree() -> None:
    agreeing = ([0.0, 2, 4], [1.0, 2, 4])
    split = ([0.0, 2, 4], [0.0, 2, 4], [4.0, 2, 0])
    alike = ([2.0, 2, 2], [0.0, 1, 4])
    alone = ([0.0, 2, 4],)
    (found,), kept = gate_ratings(rated(agreeing, split, alike, alone))
    assert (found.segments, found.passed, found.failed, found.unjudged) == (4, 1, 2, 1)
    assert found.undefined == 1
    assert found.failed_share == pytest.approx(2 / 3)
    assert kept == rated(agreeing)


@pytest.mark.parametrize(("threshold", "passes"), [(0.98, True), (0.985, False), (-1.0, True)])
def test_the_threshold_is_the_smallest_correlation_that_passes(threshold: float, passes: bool) -> None:
    (found,), _ = gate_ratings(rated(([0.0, 2, 4], [1.0, 2, 4])), threshold)  # r = 0.9820
    assert found.passed == passes


def test_language_pairs_are_counted_apart() -> None:
    records = rated(([0.0, 4], [0.0, 4])) + rated(([0.0, 4], [4.0, 0]), lp="en-zh")
    found, _ = gate_ratings(records)
    assert [(each.lp, each.passed, each.failed) for each in found] == [("zh-en", 1, 0), ("en-zh", 0, 1)]


def test_nothing_rated_and_no_correlation_are_refused() -> None:
    with pytest.raises(DataError, match="no rating"):
        gate_ratings([])
    with pytest.raises(UsageError, match="threshold"):
        gate_ratings(rated(([0.0, 4], [0.0, 4])), 1.5)
