"""What must hold of every matching rule, whatever is marked."""

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.analysis import span_matching
from adjudge.analysis.span_matching import RULES, Mark, f1_of, partial_credit, quality, shares
from adjudge.core.record import Side
from adjudge.core.typology import Severity

SIDES: tuple[Side, ...] = ("translation", "source")
SEVERITIES: tuple[Severity, ...] = ("minor", "major", "critical")
TEXT = "abcdefghijklmnop"


@st.composite
def marks(draw: st.DrawFn) -> Mark:
    side, severity = draw(st.sampled_from(SIDES)), draw(st.sampled_from(SEVERITIES))
    if draw(st.integers(0, 9)) == 0:
        return Mark(side, None, None, severity, None, draw(st.sampled_from([(), ("x",)])))
    start = draw(st.integers(0, 12))
    end = min(len(TEXT), start + draw(st.integers(0, 8)))
    return Mark(side, start, end, severity, None, tuple(TEXT[start:end]))


LISTS = st.lists(marks(), max_size=5)
SETTINGS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in RULES),
    ("mpp", {"penalty": 0.3}),
    ("mpp", {"weights": {"minor": 1, "major": 5, "critical": 25}}),
    ("em", {"penalty": 1}),
    ("mp", {"penalty": 0.5}),
    ("himate", {"threshold": 0.1}),
    ("himate", {"threshold": 1.0}),
]
each_rule = pytest.mark.parametrize(("rule", "settings"), SETTINGS)


@each_rule
@given(gold=LISTS, pred=LISTS)
def test_quality_lies_in_0_to_1(
    rule: str, settings: dict[str, Any], gold: list[Mark], pred: list[Mark]
) -> None:
    credit = RULES[rule].credit(gold, pred, **settings)
    assert 0 <= credit.gold <= credit.gold_most + 1e-9
    assert 0 <= credit.pred <= credit.pred_most + 1e-9
    assert all(-1e-9 <= value <= 1 + 1e-9 for value in quality(credit))


@each_rule
@given(gold=LISTS)
def test_gold_against_itself_is_perfect(rule: str, settings: dict[str, Any], gold: list[Mark]) -> None:
    assert quality(RULES[rule].credit(gold, gold, **settings)) == pytest.approx((1, 1, 1))


@each_rule
@given(gold=LISTS, pred=LISTS)
def test_precision_and_recall_change_places_with_the_roles(
    rule: str, settings: dict[str, Any], gold: list[Mark], pred: list[Mark]
) -> None:
    one = quality(RULES[rule].credit(gold, pred, **settings))
    other = quality(RULES[rule].credit(pred, gold, **settings))
    assert one.f1 == pytest.approx(other.f1)
    # of two matchings with one F1 mpp takes that with the higher precision, whoever predicts
    assert sorted(one[:2]) == pytest.approx(sorted(other[:2]))
    if rule != "mpp":
        assert one[:2] == pytest.approx((other.recall, other.precision))


@each_rule
@given(gold=LISTS, pred=LISTS, data=st.data())
def test_the_order_of_marks_is_of_no_account(
    rule: str, settings: dict[str, Any], gold: list[Mark], pred: list[Mark], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(gold)), data.draw(st.permutations(pred))
    assert RULES[rule].credit(*shuffled, **settings) == pytest.approx(
        RULES[rule].credit(gold, pred, **settings)
    )


@each_rule
@given(gold=LISTS.filter(bool))
def test_silence_never_wins(rule: str, settings: dict[str, Any], gold: list[Mark]) -> None:
    credit = RULES[rule].credit(gold, [], **settings)
    assert quality(credit).f1 == 0 or credit.gold_most == 0  # of marks without characters nothing is wanted


@given(gold=LISTS, pred=LISTS)
def test_an_exact_match_is_partly_credited_and_a_credit_is_a_partial_match(
    gold: list[Mark], pred: list[Mark]
) -> None:
    exact, part, any_ = (RULES[name].credit(gold, pred) for name in ("em", "mpp", "mp"))
    assert quality(exact).f1 <= quality(part).f1 + 1e-9
    assert quality(part).f1 <= quality(any_).f1 + 1e-9


@given(gold=LISTS, pred=LISTS)
def test_credit_for_long_common_runs_falls_with_the_threshold(gold: list[Mark], pred: list[Mark]) -> None:
    earned = [RULES["himate"].credit(gold, pred, threshold=tenth / 10).gold for tenth in range(1, 11)]
    assert earned == sorted(earned, reverse=True)


# The best matching...


def slow_best_f1(gold: Sequence[Mark], pred: Sequence[Mark]) -> float:
    """Highest F1 over every one-to-one matching, by trying each."""
    if len(gold) > len(pred):
        gold, pred = pred, gold  # F1 is the same
    if not gold:
        return float(not pred)
    best = 0.0
    for order in permutations(range(len(pred)), len(gold)):
        each = [shares(g, pred[p]) for g, p in zip(gold, order, strict=True)]
        recall, precision = sum(s[0] for s in each) / len(gold), sum(s[1] for s in each) / len(pred)
        best = max(best, f1_of(precision, recall))
    return best


@given(gold=LISTS, pred=LISTS)
def test_partial_credit_finds_the_highest_f1_of_all_matchings(gold: list[Mark], pred: list[Mark]) -> None:
    assert quality(partial_credit(gold, pred)).f1 == pytest.approx(slow_best_f1(gold, pred))


@given(gold=LISTS, pred=LISTS)
def test_very_many_marks_on_one_place_are_matched_nearly_as_well(gold: list[Mark], pred: list[Mark]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(span_matching, "_MOST_SUMS", 1)
        found = quality(partial_credit(gold, pred))
    best = slow_best_f1(gold, pred)
    assert best / 2 - 1e-9 <= found.f1 <= best + 1e-9


def test_a_hundred_marks_on_one_word_are_no_trouble() -> None:
    gold = [Mark("translation", i % 7, 10 + i % 5, "minor", None) for i in range(100)]
    pred = [Mark("translation", i % 3, 9 + i % 11, "minor", None) for i in range(90)]
    found = quality(partial_credit(gold, pred))
    assert 0.8 < found.f1 < 1


# Characters...


def severities_at(marks_: Sequence[Mark], side: Side, place: int, empty: int) -> list[str]:
    """Severity of each mark on one character."""
    return [
        "minor" if m.severity == "minor" else "major"
        for m in marks_
        if m.side == side and m.start is not None and m.start <= place < m.start + (m.length or empty)
    ]


@given(gold=LISTS, pred=LISTS)
def test_wmt25_is_what_is_left_after_striking_out_pairs(gold: list[Mark], pred: list[Mark]) -> None:
    earned, most, predicted = 0.0, 0, 0
    for side in SIDES:
        for place in range(len(TEXT)):
            one, other = (severities_at(m, side, place, 0) for m in (gold, pred))
            most, predicted = most + len(one), predicted + len(other)
            for severity in list(one):  # strike out what both have with one severity
                if severity in other:
                    one.remove(severity)
                    other.remove(severity)
                    earned += 1
            earned += 0.5 * min(len(one), len(other))
    assert RULES["w25"].credit(gold, pred) == (earned, most, earned, predicted)


@given(gold=LISTS, pred=LISTS)
def test_wmt23_looks_at_each_character_once(gold: list[Mark], pred: list[Mark]) -> None:
    earned, most, predicted = 0.0, 0, 0
    for side in SIDES:
        for place in range(len(TEXT) + 1):
            one, other = (set(severities_at(m, side, place, 1)) for m in (gold, pred))
            most, predicted = most + bool(one), predicted + bool(other)
            if one and other:
                earned += 1 if one & other else 0.5
    assert RULES["chars"].credit(gold, pred) == (earned, most, earned, predicted)
