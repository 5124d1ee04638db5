"""Every matching rule on cases worked out by hand."""

from collections.abc import Sequence

import pytest

from adjudge.analysis.span_matching import (
    RULES,
    THRESHOLDS,
    Credit,
    Mark,
    common_run,
    exact_match,
    find_rule,
    macro,
    micro,
    partial_credit,
    partial_match,
    quality,
    wmt23_characters,
    wmt25_characters,
)
from adjudge.core.typology import Severity
from adjudge.errors import UsageError
from tests.meta.spans.shapes import major, mark, minor, nowhere, said, source

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
def test_an_exact_match_is_the_very_same_range(
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
def test_a_partial_match_is_any_overlap(
    gold: Marks, pred: Marks, earned: float, n_gold: int, n_pred: int
) -> None:
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
def test_partial_credit_is_the_part_that_the_partner_holds(
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


WMT25 = [
    # gold, prediction, earned, characters of gold, characters predicted
    ([major(0, 4)], [minor(2, 6)], 1, 4, 4),  # two characters of the other severity
    ([major(0, 4)], [mark(2, 6, "critical")], 2, 4, 4),  # critical is major
    ([minor(0, 4), minor(2, 6)], [minor(0, 6)], 6, 8, 6),  # characters 2 and 3 are marked twice
    ([minor(0, 4), major(0, 4)], [minor(0, 4), minor(0, 4)], 6, 8, 8),  # 4 right, 4 half right
    ([nowhere(), EMPTY], [nowhere(), EMPTY], 0, 0, 0),  # no characters
]


@pytest.mark.parametrize(("gold", "pred", "earned", "n_gold", "n_pred"), WMT25)
def test_wmt25_counts_characters_as_often_as_they_are_marked(
    gold: Marks, pred: Marks, earned: float, n_gold: int, n_pred: int
) -> None:
    assert wmt25_characters(gold, pred) == Credit(earned, n_gold, earned, n_pred)


WMT23 = [
    ([major(0, 4)], [minor(2, 6)], 1, 4, 4),
    ([minor(0, 4), minor(2, 6)], [minor(0, 6)], 6, 6, 6),  # marked is marked
    ([minor(0, 4), major(0, 4)], [minor(0, 4)], 4, 4, 4),  # one severity of both is enough
    ([EMPTY], [EMPTY], 1, 1, 1),  # the character at the place
    ([EMPTY], [minor(4, 6)], 1, 1, 2),
    ([nowhere()], [nowhere()], 0, 0, 0),
]


@pytest.mark.parametrize(("gold", "pred", "earned", "n_gold", "n_pred"), WMT23)
def test_wmt23_counts_characters_once(
    gold: Marks, pred: Marks, earned: float, n_gold: int, n_pred: int
) -> None:
    assert wmt23_characters(gold, pred) == Credit(earned, n_gold, earned, n_pred)


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
def test_a_common_run_must_be_long_enough_for_both(
    gold: str, pred: str, threshold: float, matches: bool
) -> None:
    n = int(matches)
    assert common_run([said(gold)], [said(pred)], threshold=threshold) == Credit(n, 1, n, 1)


def test_a_common_run_needs_no_place_and_counts_once() -> None:
    assert common_run([said("the lab")], [nowhere("the lab")]) == Credit(1, 1, 1, 1)
    assert common_run([said("the lab")], [said("the lab")] * 3) == Credit(1, 1, 1, 3)
    assert common_run([mark(0, 3, side="source", words="lab")], [said("lab")]) == Credit(0, 1, 0, 1)
    assert common_run([nowhere()], [nowhere()]) == Credit(1, 1, 1, 1)
    assert common_run([nowhere()], [said("lab")]) == Credit(0, 1, 0, 1)


# Averages...


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
