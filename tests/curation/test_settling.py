"""Ratings of segments on which people agree are kept; what nothing can be said of is counted, never kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.record import Annotation, Preference, Verdict
from adjudge.curation.settling import gate_ratings, settle
from adjudge.errors import DataError, UsageError

# People's verdicts become gold by majority; what FiRE counts of them is counted as FiRE does.


def said(*pairs: str, criterion: str = "overall") -> list[Preference]:
    """Verdicts of persons 1, 2, 3 on pair after pair, such as `AAB`; `-` gives none."""
    return [
        Preference(
            lp="en-zh",
            segment=str(number),
            systems=("X", "Y"),
            annotator=f"p{person}",
            criterion=criterion,
            verdict=verdict,  # type: ignore[arg-type]
        )
        for number, verdicts in enumerate(pairs)
        for person, verdict in enumerate(verdicts, start=1)
        if verdict != "-"
    ]


def test_each_pair_is_ranked_or_tied_and_easy_or_hard() -> None:
    (found,) = settle(said("AAA", "AAB", "EEE", "EEB", "BBE", "ABE"))
    assert (found.judged, found.split, found.kept) == (6, 1, 5)
    assert (found.ranked, found.tied, found.easy, found.hard) == (3, 2, 2, 3)
    assert [(p.verdict, *p.flags) for p in found.gold] == [
        ("A", "easy"),
        ("A", "hard"),
        ("E", "easy"),
        ("E", "hard"),
        ("B", "hard"),
    ]


def test_kappa_counts_the_pairs_that_are_dropped_after_it() -> None:
    pairs = ["AAA", "BBB", "EEE", "AAB"]
    (without,), (with_split,) = settle(said(*pairs)), settle(said(*pairs, "ABE"))
    assert with_split.kappa.n == 5
    assert without.kappa.n == 4
    assert with_split.kappa.value is not None
    assert without.kappa.value is not None
    assert with_split.kappa.value < without.kappa.value
    assert with_split.gold == without.gold


def test_kappa_by_hand() -> None:
    # shares of agreeing pairs 1, 1/3, 0; A 4/9, B 3/9, E 2/9
    (found,) = settle(said("AAA", "BBE", "ABE"))
    by_chance = (16 + 9 + 4) / 81
    assert found.kappa.value == pytest.approx(((1 + 1 / 3 + 0) / 3 - by_chance) / (1 - by_chance))


def test_a_pair_with_one_verdict_is_left_out_and_counted() -> None:
    (found,) = settle(said("A--", "AA-", "AB-"))
    assert (found.alone, found.judged, found.split, found.kept) == (1, 2, 1, 1)


def test_sides_are_turned_before_verdicts_are_counted() -> None:
    turned = Preference(
        lp="en-zh", segment="0", systems=("Y", "X"), annotator="p3", criterion="overall", verdict="B"
    )
    (found,) = settle([*said("AA-"), turned])
    assert [(p.systems, p.verdict, p.flags) for p in found.gold] == [(("X", "Y"), "A", ("easy",))]


def test_criteria_stand_apart() -> None:
    found = settle([*said("AAA", criterion="fluency"), *said("EEE", "EEE", criterion="style")])
    assert [(f.criterion, f.ranked, f.tied) for f in found] == [("fluency", 1, 0), ("style", 0, 2)]


verdicts = st.lists(st.text(alphabet="ABE-", min_size=3, max_size=3), min_size=1, max_size=30)


@given(verdicts)
def test_every_pair_is_counted_once(pairs: list[str]) -> None:
    records = said(*pairs)
    if not records:
        return
    (found,) = settle(records)
    assert found.ranked + found.tied == found.easy + found.hard == found.kept
    assert found.kept + found.split == found.judged
    assert found.judged + found.alone == sum(pair != "---" for pair in pairs)


@given(verdicts)
def test_the_majority_is_a_verdict_that_more_people_gave_than_any_other(pairs: list[str]) -> None:
    records = said(*pairs)
    gold = {p.segment: p.verdict for f in (settle(records) if records else ()) for p in f.gold}
    for number, pair in enumerate(pairs):
        given_ = [verdict for verdict in pair if verdict != "-"]
        counts: dict[Verdict, int] = {v: given_.count(v) for v in ("A", "B", "E")}
        leaders = [v for v, n in counts.items() if n == max(counts.values())]
        wanted = leaders[0] if len(leaders) == 1 and len(given_) >= 2 else None
        assert gold.get(str(number)) == wanted


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
    (found,), kept = gate_ratings(rated(agreeing, split, alike, alone), least_shared=3)
    assert (found.segments, found.passed, found.failed, found.unjudged) == (4, 1, 2, 1)
    assert found.undefined == 1
    assert found.failed_share == pytest.approx(2 / 3)
    assert kept == rated(agreeing)


@pytest.mark.parametrize(("threshold", "passes"), [(0.98, True), (0.985, False), (-1.0, True)])
def test_the_threshold_is_the_smallest_correlation_that_passes(threshold: float, passes: bool) -> None:
    (found,), _ = gate_ratings(rated(([0.0, 2, 4], [1.0, 2, 4])), threshold, least_shared=3)  # r = 0.9820
    assert found.passed == passes


def test_language_pairs_are_counted_apart() -> None:
    records = rated(([0.0, 4], [0.0, 4])) + rated(([0.0, 4], [4.0, 0]), lp="en-zh")
    found, _ = gate_ratings(records, least_shared=2)
    assert [(each.lp, each.passed, each.failed) for each in found] == [("zh-en", 1, 0), ("en-zh", 0, 1)]


def test_nothing_to_settle_nothing_rated_and_no_correlation_are_refused() -> None:
    with pytest.raises(DataError, match="no preference"):
        settle([])
    with pytest.raises(DataError, match="no rating"):
        gate_ratings([])
    with pytest.raises(UsageError, match="threshold"):
        gate_ratings(rated(([0.0, 4], [0.0, 4])), 1.5)
