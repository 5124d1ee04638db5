"""Attention checks: damaged copies beside their originals."""

import pytest

from adjudge.analysis.study_people import (
    Check,
    attention,
    check_section,
    checks_of,
    damaged_range,
    exact_damage,
)
from adjudge.analysis.study_pieces import Mark, pieces_of
from adjudge.errors import UsageError
from adjudge.stats.bootstrap import Draws
from tests.meta.campaign.campaigns import span, work


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


def test_without_checks_nothing_is_claimed() -> None:
    section = check_section(pieces_of([work("ann", "A", "1", 90)]), Draws())
    assert section.numbers == ()
    assert section.notes == ("There is no attention check.",)
