"""Pairs are drawn evenly over systems and sources, none of one text, weak systems more rarely."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.segment import Segment, TestSet
from adjudge.curation.drawing import draw_pairs
from adjudge.errors import UsageError


def made(size: int, systems: str = "ABCDEF", same: tuple[str, ...] = (), absent: str = "") -> TestSet:
    """Sources translated by every system; those in `same` give one text, `absent` lacks every other."""
    segments = [
        Segment(
            segment=str(number),
            lp="en-zh",
            source=f"source {number}",
            translations={
                name: f"text {number}" + ("" if name in same else f" of {name}")
                for name in systems
                if name != absent or number % 2
            },
        )
        for number in range(size)
    ]
    return TestSet(name="made", segments=tuple(segments))


def test_all_pairs_of_six_systems_are_fifteen_a_source() -> None:
    sample = draw_pairs(made(4))
    assert len(sample.pairs) == 60
    assert {c.systems: c.drawn for c in sample.compositions} == dict.fromkeys(
        [(a, b) for a in "ABCDEF" for b in "ABCDEF" if a < b], 4
    )
    assert sample.sources == {"en-zh": {15: 4}}


def test_identical_texts_are_dropped_and_counted() -> None:
    sample = draw_pairs(made(4, "ABC", same=("A", "B")))
    assert [(c.systems, c.there, c.identical, c.drawn) for c in sample.compositions] == [
        (("A", "B"), 4, 4, 0),
        (("A", "C"), 4, 0, 4),
        (("B", "C"), 4, 0, 4),
    ]


def test_texts_that_differ_in_white_space_alone_are_one_text() -> None:
    segment = Segment(
        segment="1", lp="en-de", source="x", translations={"A": "a b", "B": " a\u2003b\n", "C": "c"}
    )
    sample = draw_pairs(TestSet(name="t", segments=(segment,)))
    assert [pair.systems for pair in sample.pairs] == [("A", "C"), ("B", "C")]


def test_a_translation_that_is_absent_makes_no_pair() -> None:
    sample = draw_pairs(made(4, "AB", absent="B"))
    assert [pair.segment for pair in sample.pairs] == ["1", "3"]


def test_a_missing_translation_makes_no_pair() -> None:
    segment = Segment(segment="1", lp="en-de", source="x", translations={"A": "", "B": "b", "C": "c"})
    sample = draw_pairs(TestSet(name="t", segments=(segment,)))
    assert [pair.systems for pair in sample.pairs] == [("B", "C")]


@given(size=st.integers(1, 30), number=st.integers(1, 500), seed=st.integers(0, 5))
def test_a_sample_is_even_over_systems(size: int, number: int, seed: int) -> None:
    sample = draw_pairs(made(size), pairs=number, seed=seed)
    assert len(sample.pairs) == min(number, 15 * size)
    assert len({(pair.segment, pair.systems) for pair in sample.pairs}) == len(sample.pairs)
    drawn = [c.drawn for c in sample.compositions]
    assert max(drawn) - min(drawn) <= 1
    assert sum(sample.sources["en-zh"].values()) == size


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("size", "number"), [(30, 225), (100, 400), (100, 750), (120, 1580)])
def test_a_sample_is_even_over_sources_as_far_as_systems_allow(size: int, number: int, seed: int) -> None:
    by_source = draw_pairs(made(size), pairs=number, seed=seed).sources["en-zh"]
    assert max(by_source) - min(by_source) <= 2


@pytest.mark.parametrize(("number", "factor"), [(None, 3), (None, 1), (300, 3), (600, 2)])
def test_pairs_of_a_thinned_system_come_up_as_much_more_rarely(number: int | None, factor: int) -> None:
    sample = draw_pairs(made(60), pairs=number, thin={"F": factor}, seed=1)
    weak = [c.drawn for c in sample.compositions if "F" in c.systems]
    strong = [c.drawn for c in sample.compositions if "F" not in c.systems]
    assert max(weak) - min(weak) <= 1
    assert max(strong) - min(strong) <= 1
    assert sum(weak) / len(weak) == pytest.approx(sum(strong) / len(strong) / factor, abs=1)


def test_a_seed_decides_and_another_one_draws_other_pairs() -> None:
    one, again, other = (draw_pairs(made(40), pairs=100, seed=seed).pairs for seed in (3, 3, 4))
    assert one == again
    assert one != other
    assert Counter(pair.lp for pair in one) == {"en-zh": 100}


@pytest.mark.parametrize(
    ("number", "thin", "said"),
    [
        (0, {}, "must be greater than or equal to 1"),
        (1, {"Z": 2.0}, "has no system 'Z'"),
        (1, {"A": 0.5}, "1 or more"),
        (1, {"A": float("nan")}, "1 or more"),
    ],
)
def test_what_cannot_be_drawn_is_refused(number: int, thin: dict[str, float], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        draw_pairs(made(3), pairs=number, thin=thin)


def test_one_text_everywhere_leaves_nothing_to_compare() -> None:
    with pytest.raises(UsageError, match="no two translations"):
        draw_pairs(made(3, "AB", same=("A", "B")))
