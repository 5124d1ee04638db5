"""Every matching rule on cases worked out by hand."""

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.analysis.span_matching import (
    RULES,
    THRESHOLDS,
    Credit,
    Mark,
    common_run,
    exact_match,
    f1_of,
    find_rule,
    is_same_place,
    macro,
    mark_of,
    micro,
    overlap,
    partial_credit,
    partial_match,
    quality,
    shares,
    split_words,
)
from adjudge.core.protocol import Severity
from adjudge.core.record import ErrorSpan, Side
from adjudge.errors import UsageError
from tests.analysis.shapes import major, mark, minor, nowhere, said, source

# Marks in characters and in words, in every script.


WORDS = [
    ("go back to the lab", ["go", "back", "to", "the", "lab"]),
    ("  a\tb\u00a0c\u2028d\r\n", ["a", "b", "c", "d"]),
    ("", []),
    ("Don't, 3.5 %!", ["Don", "'", "t", ",", "3", ".", "5", "%", "!"]),
    ("我爱你。OK吗", ["我", "爱", "你", "。", "OK", "吗"]),
    ("カタカナとひらがな", list("カタカナとひらがな")),
    ("한국어 문장", ["한국어", "문장"]),  # Korean sets spaces
    ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),  # vowel signs belong to their letters
    ("ที่นี่", ["ที่", "นี่"]),
    ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
    ("שלום", ["שלום"]),
    ("e\u0301te\u0301", ["e\u0301te\u0301"]),
    ("👩\u200d👩 ok", ["👩\u200d", "👩", "ok"]),
    ("𠀋𠀌", ["𠀋", "𠀌"]),
]


@pytest.mark.parametrize(("text", "words"), WORDS)
def test_words_are_split_as_scripts_write_them(text: str, words: list[str]) -> None:
    assert [text[a:b] for a, b in split_words(text)] == words


TOUCHED = [
    # start, end of the span in "the old lab", range in words
    (0, 3, 0, 1),
    (1, 2, 0, 1),
    (2, 5, 0, 2),
    (3, 4, 1, 1),  # white space: nothing, before "old"
    (5, 5, 1, 1),
    (0, 11, 0, 3),
    (11, 11, 3, 3),
]


@pytest.mark.parametrize(("start", "end", "first", "after"), TOUCHED)
def test_a_mark_in_words_holds_what_it_touches(start: int, end: int, first: int, after: int) -> None:
    text = "the old lab"
    span = ErrorSpan(severity="minor", start=start, end=end, text=text[start:end])
    found = mark_of(span, "words", split_words(text))
    assert (found.start, found.end) == (first, after)
    assert found.words == tuple(text[start:end].split())
    assert mark_of(span, "characters")[1:3] == (start, end)


def test_a_mark_without_a_place_keeps_its_words() -> None:
    span = ErrorSpan(severity="major", text="no such words", match="unmatched")
    assert mark_of(span, "words")[1:] == (None, None, "major", None, ("no", "such", "words"))
    assert mark_of(span, "words").length == 0


def test_marks_overlap_on_one_side_only() -> None:
    assert overlap(minor(0, 5), minor(3, 9)) == overlap(minor(3, 9), minor(0, 5)) == 2
    assert overlap(minor(0, 5), minor(5, 9)) == 0
    assert overlap(minor(0, 5), source(0, 5)) == 0
    assert overlap(minor(0, 5), nowhere()) == 0
    assert shares(minor(0, 4), minor(2, 10)) == (0.5, 0.25)
    assert shares(minor(2, 2), minor(0, 9)) == (0, 0)


def test_the_same_place_is_the_same_whatever_its_severity() -> None:
    assert is_same_place(minor(0, 5), mark(0, 5, "critical", category="style"))
    assert is_same_place(minor(2, 2), minor(2, 2))
    assert not is_same_place(minor(2, 2), source(2, 2))
    assert not is_same_place(nowhere("a"), nowhere("b"))
    assert shares(nowhere("a"), nowhere("a")) == (1, 1)


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
@given(gold=LISTS, pred=LISTS, data=st.data())
def test_quality_is_in_0_to_1_and_knows_no_order(
    rule: str, settings: dict[str, Any], gold: list[Mark], pred: list[Mark], data: st.DataObject
) -> None:
    credit = RULES[rule].credit(gold, pred, **settings)
    assert 0 <= credit.gold <= credit.gold_most + 1e-9
    assert 0 <= credit.pred <= credit.pred_most + 1e-9
    assert all(-1e-9 <= value <= 1 + 1e-9 for value in quality(credit))
    shuffled = data.draw(st.permutations(gold)), data.draw(st.permutations(pred))
    assert RULES[rule].credit(*shuffled, **settings) == pytest.approx(credit)


@each_rule
@given(gold=LISTS)
def test_gold_against_itself_is_perfect_and_silence_never_wins(
    rule: str, settings: dict[str, Any], gold: list[Mark]
) -> None:
    assert quality(RULES[rule].credit(gold, gold, **settings)) == pytest.approx((1, 1, 1))
    silent = RULES[rule].credit(gold, [], **settings)
    # of marks without characters nothing is wanted
    assert not gold or quality(silent).f1 == 0 or silent.gold_most == 0


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


@given(gold=LISTS, pred=LISTS)
def test_an_exact_match_earns_credit_and_credit_is_a_partial_match(
    gold: list[Mark], pred: list[Mark]
) -> None:
    exact, part, any_ = (RULES[name].credit(gold, pred) for name in ("em", "mpp", "mp"))
    assert quality(exact).f1 <= quality(part).f1 + 1e-9
    assert quality(part).f1 <= quality(any_).f1 + 1e-9


@given(gold=LISTS, pred=LISTS)
def test_credit_for_long_common_runs_falls_with_the_threshold(gold: list[Mark], pred: list[Mark]) -> None:
    earned = [RULES["himate"].credit(gold, pred, threshold=tenth / 10).gold for tenth in range(1, 11)]
    assert earned == sorted(earned, reverse=True)


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


def test_a_hundred_marks_on_one_word_are_no_trouble() -> None:
    gold = [Mark("translation", i % 7, 10 + i % 5, "minor", None) for i in range(100)]
    pred = [Mark("translation", i % 3, 9 + i % 11, "minor", None) for i in range(90)]
    found = quality(partial_credit(gold, pred))
    assert 0.8 < found.f1 < 1


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


Marks = Sequence[Mark]

NOTHING: Marks = ()
EMPTY = minor(4, 4)

SAME_FOR_ALL = [
    # gold, prediction, precision, recall, F1
    (NOTHING, NOTHING, 1, 1, 1),
    ([minor(0, 5)], NOTHING, 1, 0, 0),  # silence
    (NOTHING, [minor(0, 5)], 0, 1, 0),
    ([minor(0, 5)], [minor(0, 5)], 1, 1, 1),
    ([minor(0, 5)], [minor(5, 9)], 0, 0, 0),  # half-open: they touch and share nothing
    ([minor(0, 5)], [source(0, 5)], 0, 0, 0),  # another text
    ([source(0, 5), minor(0, 5)], [minor(0, 5), source(0, 5)], 1, 1, 1),
]


@pytest.mark.parametrize("rule", ["em", "mp", "mpp", "w25", "chars"])
@pytest.mark.parametrize(("gold", "pred", "precision", "recall", "f1"), SAME_FOR_ALL)
def test_rules_that_look_at_places_agree_on_all_and_nothing(
    rule: str, gold: Marks, pred: Marks, precision: float, recall: float, f1: float
) -> None:
    assert quality(find_rule(rule).credit(gold, pred)) == (precision, recall, f1)


EXACT = [
    # gold, prediction, credit, marks of gold, marks predicted
    ([minor(0, 5)], [minor(0, 6)], 0, 1, 1),
    ([minor(0, 5)], [major(0, 5)], 1, 1, 1),
    ([minor(0, 5)], [minor(0, 5), minor(0, 5)], 1, 1, 2),  # what is marked twice counts twice
    ([minor(0, 5), minor(0, 5)], [minor(0, 5), minor(0, 5)], 2, 2, 2),
    ([EMPTY], [EMPTY], 1, 1, 1),
    ([EMPTY], [minor(4, 5)], 0, 1, 1),
    ([nowhere()], [nowhere()], 1, 1, 1),  # something is missing, say both
    ([nowhere("a word")], [nowhere("a word")], 1, 1, 1),
    ([nowhere("a word")], [nowhere("another")], 0, 1, 1),
    ([nowhere()], [minor(0, 5)], 0, 1, 1),
]


@pytest.mark.parametrize(("gold", "pred", "earned", "n_gold", "n_pred"), EXACT)
def test_an_exact_match_is_the_range(
    gold: Marks, pred: Marks, earned: float, n_gold: int, n_pred: int
) -> None:
    assert exact_match(gold, pred) == Credit(earned, n_gold, earned, n_pred)


def test_an_exact_match_prefers_the_partner_of_its_severity() -> None:
    credit = exact_match([major(0, 5), minor(0, 5)], [minor(0, 5), major(0, 5)], penalty=0.5)
    assert credit == Credit(2, 2, 2, 2)
    assert exact_match([major(0, 5)], [minor(0, 5)], penalty=0.25) == Credit(0.75, 1, 0.75, 1)


PARTIAL = [
    ([minor(0, 5)], [minor(4, 20)], 1, 1, 1),
    ([minor(0, 5), minor(10, 15)], [minor(0, 20)], 1, 2, 1),  # one-to-one
    # the first prediction could take either; only with the second one do both find a partner
    ([minor(0, 5), minor(10, 15)], [minor(0, 20), minor(0, 5)], 2, 2, 2),
    ([EMPTY], [EMPTY], 1, 1, 1),
    ([EMPTY], [minor(0, 9)], 0, 1, 1),
    ([nowhere()], [nowhere()], 1, 1, 1),
]


@pytest.mark.parametrize(("gold", "pred", "earned", "n_gold", "n_pred"), PARTIAL)
def test_a_partial_match_overlaps(gold: Marks, pred: Marks, earned: float, n_gold: int, n_pred: int) -> None:
    assert partial_match(gold, pred) == Credit(earned, n_gold, earned, n_pred)


CREDIT = [
    # gold, prediction, gold earns, prediction earns
    ([minor(0, 10)], [minor(5, 15)], 0.5, 0.5),
    ([minor(0, 4)], [minor(0, 16)], 1, 0.25),  # too long
    ([minor(0, 16)], [minor(0, 4)], 0.25, 1),  # too short
    ([minor(0, 2), minor(2, 10)], [minor(0, 10)], 1, 0.8),  # the longer part, not the first
    ([minor(0, 10), minor(20, 30)], [minor(0, 5), minor(25, 30)], 1, 2),
    ([minor(0, 10)], [minor(0, 5), minor(5, 10)], 0.5, 1),  # one-to-one: half is found, not all
    ([minor(0, 10), source(0, 10)], [source(0, 5)], 0.5, 1),
    ([EMPTY, nowhere()], [EMPTY, nowhere()], 2, 2),
    ([EMPTY], [minor(0, 9)], 0, 0),
]


@pytest.mark.parametrize(("gold", "pred", "gold_earns", "pred_earns"), CREDIT)
def test_credit_is_what_the_partner_holds(
    gold: Marks, pred: Marks, gold_earns: float, pred_earns: float
) -> None:
    assert partial_credit(gold, pred) == Credit(gold_earns, len(gold), pred_earns, len(pred))


def test_partial_credit_takes_the_matching_with_the_highest_f1_not_with_the_largest_sum() -> None:
    # with the long gold mark .08 + .8, F1 .08; with the short one .5 + .1, F1 .14
    gold = [minor(0, 100), minor(101, 103)]
    assert partial_credit(gold, [minor(92, 102)]) == Credit(0.5, 2, 0.1, 1)


def test_partial_credit_loses_by_severity_what_the_penalty_says() -> None:
    assert partial_credit([major(0, 10)], [minor(0, 5)], penalty=0.5) == Credit(0.25, 1, 0.5, 1)
    assert partial_credit([major(0, 10)], [minor(0, 5)], penalty=1) == Credit(0, 1, 0, 1)


def test_partial_credit_counts_marks_by_their_weights() -> None:
    weights: dict[Severity, float] = {"minor": 1, "major": 5}
    gold, pred = [major(0, 10), minor(20, 30)], [minor(0, 5), major(20, 30)]
    # both pairs are worth the lower weight, 1; the first holds half of gold and all of the prediction
    assert partial_credit(gold, pred, weights=weights) == Credit(1.5, 6, 2, 6)
    assert partial_credit(gold, gold, weights=weights) == Credit(6, 6, 6, 6)


def test_weights_must_know_every_severity() -> None:
    with pytest.raises(UsageError, match="none for major"):
        partial_credit([major(0, 1)], [], weights={"minor": 1})
    with pytest.raises(UsageError, match="not both"):
        partial_credit([major(0, 1)], [], weights={"major": 1}, penalty=0.5)


RUNS = [
    # gold, prediction, threshold, whether they match
    ("go back to the lab", "back to the lab tomorrow", 0.5, True),  # HiMATE's example: 4 of 5 words
    ("go back to the lab", "back to the lab tomorrow", 0.8, True),
    ("go back to the lab", "back to the lab tomorrow", 0.81, False),
    ("a b c d e f g h i j", "a b c d e f g", 0.7, True),  # 7 of 10 is 0.7, whatever binary fractions say
    ("a b", "b a", 0.5, True),
    ("a b", "b a", 0.6, False),  # a run, not a bag
    ("a x b", "a y b", 0.4, False),
    ("a", "b", 0.1, False),
]


@pytest.mark.parametrize(("gold", "pred", "threshold", "matches"), RUNS)
def test_a_common_run_must_suffice_for_both(gold: str, pred: str, threshold: float, matches: bool) -> None:
    n = int(matches)
    assert common_run([said(gold)], [said(pred)], threshold=threshold) == Credit(n, 1, n, 1)


def test_a_common_run_needs_no_place_and_counts_once() -> None:
    assert common_run([said("the lab")], [nowhere("the lab")]) == Credit(1, 1, 1, 1)
    assert common_run([said("the lab")], [said("the lab")] * 3) == Credit(1, 1, 1, 3)
    assert common_run([mark(0, 3, side="source", words="lab")], [said("lab")]) == Credit(0, 1, 0, 1)
    assert common_run([nowhere()], [nowhere()]) == Credit(1, 1, 1, 1)
    assert common_run([nowhere()], [said("lab")]) == Credit(0, 1, 0, 1)


def test_micro_adds_up_and_macro_rewards_silence() -> None:
    found = [Credit(1, 4, 1, 1), Credit(0, 0, 0, 0), Credit(0, 0, 0, 0)]
    assert micro(found) == (1, 0.25, 0.4)
    assert macro(found) == pytest.approx((1, 0.75, 0.8))
    silent = [Credit(0, 4, 0, 0), *found[1:]]
    assert micro(silent).f1 == 0
    assert macro(silent).f1 == pytest.approx(2 / 3)


def test_rules_have_names_and_thresholds_are_round() -> None:
    assert list(RULES) == ["mpp", "em", "mp", "w25", "himate", "chars"]
    assert THRESHOLDS == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    with pytest.raises(UsageError, match="no matching rule 'nosuch'; there are mpp, em"):
        find_rule("nosuch")
