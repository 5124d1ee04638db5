"""Time of a segment, and how much faster people become."""

import numpy as np
import pytest

from adjudge.analysis.study_people import (
    Check,
    attention,
    check_section,
    checks_of,
    damaged_range,
    exact_damage,
    learned_speed_up,
    median_seconds,
    progress_curve,
    seconds_between_starts,
)
from adjudge.analysis.study_pieces import Mark, pieces_of
from adjudge.errors import UsageError
from adjudge.stats.bootstrap import Draws
from tests.analysis.study_campaigns import span, work

# Attention checks: damaged copies beside their originals.


@pytest.mark.parametrize(
    ("original", "damaged", "where", "exact"),
    [
        ("the blue sofa", "the fast sofa", (4, 8), (4, 7)),
        ("a cat", "a dog", (2, 5), (2, 4)),
        ("aXb", "ab", (1, 1), (0, 1)),
        ("😀 x", "😀 yy", (2, 4), (2, 3)),
    ],
)
def test_the_damage_lies_between_what_both_texts_share(
    original: str, damaged: str, where: tuple[int, int], exact: tuple[int, int]
) -> None:
    assert damaged_range(original, damaged) == where
    assert exact_damage(where) == exact


def test_a_check_asks_for_a_lower_score_more_marks_and_a_mark_of_the_damage() -> None:
    checks = [
        Check(original=90, damaged=40, original_marks=0, marks=[Mark(3, 5)], damage=(5, 9)),
        Check(original=70, damaged=70, original_marks=1, marks=[Mark(9, 9)], damage=(5, 9)),
    ]
    found = attention(checks)
    assert {name: result.value for name, result in found.items()} == {
        "share with a lower score": 0.5,
        "share with more marks": 0.5,
        "share with the damage marked": 1,
        "share with the damage marked exactly": 0.5,
        "score of the original": 80,
        "score of the copy": 55,
        "drop of the score": 25,
        "marks in the original": 0.5,
        "marks in the copy": 1,
    }
    assert found["share with a lower score"].interval == pytest.approx((0.0945, 0.9055), abs=1e-4)
    assert found["drop of the score"].p == 1.0
    with pytest.raises(UsageError):
        attention([])


def test_a_copy_meets_the_original_of_the_same_person_and_others_are_counted() -> None:
    pieces = pieces_of(
        [
            work("ann", "A", "1", 90),
            work("ann", "A", "1", 30, (span(4, 12),), kind="check", at=100),
            work("ben", "A", "1", 40, kind="check"),
        ]
    )
    (check,), alone = checks_of(pieces)
    assert (check.original, check.damaged, check.damage, check.person, alone) == (90, 30, (4, 11), "ann", 1)
    section = check_section(pieces, Draws())
    assert "same person: 1." in section.notes[0]
    shares = [n for n in section.numbers if n.measure == "share with the damage marked"]
    assert [(n.of, n.definition, n.result.value) for n in shares] == [
        ("all", "paper", 1.0),
        ("all", "mended", 1.0),
        ("ann", "paper", 1.0),
        ("ann", "mended", 1.0),
    ]


def test_of_several_judgements_of_an_original_the_last_one_counts_wherever_it_stands() -> None:
    copy = work("ann", "A", "1", 30, (span(4, 12),), kind="check", at=100)
    first, last = work("ann", "A", "1", 90), work("ann", "A", "1", 70, at=50)
    for order in ([first, last, copy], [last, copy, first]):
        ((check,), _) = checks_of(pieces_of(order))
        assert check.original == 70


def test_without_checks_nothing_is_claimed() -> None:
    section = check_section(pieces_of([work("ann", "A", "1", 90)]), Draws())
    assert section.numbers == ()
    assert section.notes == ("There is no attention check.",)


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
