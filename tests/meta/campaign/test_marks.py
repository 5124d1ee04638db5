"""How much of one annotation's errors another one has: the ESA paper's tables 3 and 5 in small."""

import math

import pytest

from adjudge.analysis.study_pieces import (
    Mark,
    covered_share,
    marks_of,
    pooled_share,
    repeated_share,
    starts_or_ends_within,
    touches,
)
from adjudge.core.record import ErrorSpan
from adjudge.errors import UsageError

NOWHERE = Mark(None, None)


@pytest.mark.parametrize(
    ("one", "other", "touch", "within"),
    [
        (Mark(2, 4), Mark(4, 6), True, True),
        (Mark(2, 3), Mark(4, 6), False, False),
        (Mark(2, 8), Mark(4, 6), True, False),  # strictly around the other one
        (Mark(4, 6), Mark(2, 8), True, True),
        (NOWHERE, Mark(0, 9), False, False),
        (NOWHERE, NOWHERE, False, True),
    ],
)
def test_marks_that_meet(one: Mark, other: Mark, touch: bool, within: bool) -> None:
    assert touches(one, other) == touches(other, one) == touch
    assert starts_or_ends_within(one, other) == within


def test_half_open_spans_become_inclusive_marks() -> None:
    spans = (
        ErrorSpan(start=2, end=5, severity="major", category="accuracy/addition"),
        ErrorSpan(start=2, end=5, severity="minor", side="source"),
        ErrorSpan(severity="minor", match="unplaced"),
        ErrorSpan(start=3, end=3, severity="minor"),
    )
    first, *others = marks_of(spans)
    assert first == Mark(2, 4, "major", "accuracy", "addition")
    assert all(mark.first is mark.last is None for mark in others)


def test_a_translation_without_marks_is_covered_whole_and_counts_nothing_when_pooled() -> None:
    by = [[Mark(0, 3)], [], []]
    marked = [[Mark(3, 5), Mark(3, 5), Mark(7, 8), NOWHERE], [Mark(1, 1)], []]
    assert covered_share(by, marked) == pytest.approx((1 / 2 + 0 + 1) / 3)
    assert pooled_share(by, marked) == pytest.approx(1 / 3)
    assert math.isnan(pooled_share(by, [[], [], []]))
    with pytest.raises(UsageError):
        covered_share([], [])


def test_every_mark_counts_that_meets_one_alike() -> None:
    ones = [[Mark(0, 3, "major", "style", "awkward"), Mark(9, 9, "minor", "accuracy", "addition")], []]
    others = [[Mark(3, 5, "major", "style", "other"), Mark(0, 0, "minor", "style", "awkward")], [Mark(9, 9)]]
    shares = {
        "any": 0.5,
        "severity": 0.5,
        "category": 0.5,
        "severity and category": 0.5,
        "severity and subcategory": 0,
    }
    for same, share in shares.items():
        assert repeated_share(ones, others, same) == share, same
    assert math.isnan(repeated_share([[]], [[Mark(0, 1)]]))
