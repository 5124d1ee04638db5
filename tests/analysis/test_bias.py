"""Agreement of a judge with itself."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.analysis.bias import (
    Families,
    bias,
    length_bias,
    position_bias,
    read_families,
)
from adjudge.core.record import Failure, Preference, Verdict
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, UsageError
from adjudge.formats.read import Judgements
from adjudge.reports.result_tables import bias_table
from adjudge.stats.bootstrap import Draws
from adjudge.store.json_lines import write_records
from tests.analysis.records import failed, preferred, rated

OWN = Families(systems={"mine": "x", "theirs": "y"}, annotators={"judge": "x", "other": "y"})


def verdicts(annotator: str, text: str, pair: tuple[str, str] = ("mine", "theirs")) -> list[Preference]:
    return [
        preferred(*pair, verdict, str(i), annotator=annotator)  # type: ignore[arg-type]
        for i, verdict in enumerate(text)
    ]


def found(
    judged: list[Preference], gold: list[Preference] | None = None, families: Families | None = OWN
) -> Any:
    return bias(judged, gold=gold, families=families, resamples=0)


def test_a_judge_that_favours_its_family_goes_beyond_gold_and_other_judges() -> None:
    judged = [*verdicts("judge", "AAAE"), *verdicts("other", "ABBE")]
    mine, other = found(judged, verdicts("people", "ABEE")).rows
    assert mine.family.systems == ("mine",)
    assert mine.family.own.value == 3.5 / 4
    assert (mine.family.gold.value, mine.family.beyond_gold.value) == (0.5, 0.375)
    assert (mine.family.others.value, mine.family.beyond_others.value) == (0.375, 0.5)
    assert other.family.own.value == 2.5 / 4  # of "theirs"


def test_pairs_of_two_of_the_family_or_of_none_do_not_count() -> None:
    families = Families(systems={"mine": "x", "mine2": "x"}, annotators={"judge": "x"})
    judged = [
        *verdicts("judge", "A"),
        *verdicts("judge", "B", ("mine", "mine2")),
        *verdicts("judge", "B", ("foo", "theirs")),
    ]
    (row,) = found(judged, families=families).rows
    assert (row.family.own.value, row.family.own.n, row.n) == (1, 1, 3)
    assert (row.family.gold, row.family.others) == (None, None)


def test_a_judge_of_the_same_family_is_none_of_the_others() -> None:
    families = Families(systems=OWN.systems, annotators={**OWN.annotators, "sister": "x"})
    judged = [*verdicts("judge", "AAAE"), *verdicts("other", "ABBE"), *verdicts("sister", "AAAA")]
    mine: Any = found(judged, families=families).rows[0].family
    assert mine.others.value == 0.375


def test_an_annotator_without_a_family_has_no_such_bias() -> None:
    (row,) = found(verdicts("nobody", "AAB")).rows
    assert row.family is None


def test_the_longer_wins_beyond_gold() -> None:
    own, gold = np.array([1.0, 1, 0, -1, np.nan, 1]), np.array([1.0, -1, 0, 1, 1, np.nan])
    differences = np.array([5.0, 2, 9, -4, 3, 0])  # the last pair is equally long
    result: Any = length_bias(own, gold, differences, Draws())
    assert (result.longer.value, result.longer.n) == (3.5 / 4, 4)
    assert (result.gold.value, result.beyond_gold.value) == (1.5 / 4, 0.5)


def test_lengths_are_code_points_of_the_texts() -> None:
    segment = Segment(segment="0", lp="en-de", source="s", translations={"a": "𝒳", "b": "ab"})  # one and two
    texts = TestSet(name="t", segments=(segment,))
    source = Judgements(name="run", records=(preferred("a", "b", "B", "0"),), test_set=texts)
    (row,) = bias(source).rows
    assert row.length is not None
    assert row.length.longer.value == 1


def test_scores_become_pairs_and_have_no_position() -> None:
    judged = [rated("mine", "1", 70), rated("theirs", "1", 60)]
    (row,) = bias(judged, resamples=0).rows
    assert (row.criterion, row.n, row.position) == ("overall", 1, None)


def test_each_criterion_is_a_row_and_failures_are_counted() -> None:
    judged: list[Preference | Failure] = [
        preferred("a", "b", "A", criterion="style"),
        preferred("a", "b", "A", criterion="fluency"),
        failed("a", "b", segment="2", protocol="pairwise", criterion="fluency"),
    ]
    result = bias(judged, resamples=0)
    assert [(r.criterion, r.n, r.failed) for r in result.rows] == [("style", 1, 0), ("fluency", 1, 1)]
    assert "1 of 3 comparisons failed; it has no verdict and is in no number." in result.notes


def test_the_notes_say_what_is_missing() -> None:
    notes = found(verdicts("judge", "AB")).notes
    assert notes == (
        "2 verdicts were not asked in both orders; they say nothing of position.",
        "There are no texts, so nothing is said of length: give runs, or --test-set.",
        "There is no gold: what looks like a bias may be quality.",
        "The families name annotators that nothing is known of: other.",
    )


def test_two_runs_of_one_judge_are_told_apart_by_their_names(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_records(tmp_path / f"{name}.jsonl", verdicts("judge", "AB"))
    result = bias([tmp_path / "one.jsonl", tmp_path / "two.jsonl"], resamples=0)
    assert [r.annotator for r in result.rows] == [f"{tmp_path}/{name}.jsonl:judge" for name in ("one", "two")]
    with pytest.raises(UsageError, match="is given twice: give each run and each file once"):
        bias([tmp_path / "one.jsonl", tmp_path / "one.jsonl"])


def test_what_holds_nothing_is_an_error() -> None:
    with pytest.raises(UsageError, match="at least one run"):
        bias([])
    with pytest.raises(UsageError, match="run 1 has no lp 'he-en'; it has en-de"):
        bias(verdicts("judge", "A"), lp="he-en")
    with pytest.raises(DataError, match="run 1 holds preferences and annotations"):
        bias([*verdicts("judge", "A"), rated("a", "1", 3)])  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["families.toml", "families.json"])
def test_families_are_read_from_toml_and_json(name: str, tmp_path: Path) -> None:
    text = '[systems]\n"GPT 4" = "gpt"\n[annotators]\nfire = "gpt"\n'
    if name.endswith("json"):
        text = '{"systems": {"GPT 4": "gpt"}, "annotators": {"fire": "gpt"}}'
    (tmp_path / name).write_text(text)
    assert read_families(tmp_path / name) == ({"GPT 4": "gpt"}, {"fire": "gpt"})


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[systems", "not TOML"),
        ("[system]\na='b'", "unknown key 'system'; known are annotators, systems"),
        ("[systems]\na=1", "'systems' must hold texts, got 1 for 'a'"),
    ],
)
def test_a_file_that_names_no_families_is_an_error(text: str, wanted: str, tmp_path: Path) -> None:
    (tmp_path / "f.toml").write_text(text)
    with pytest.raises(DataError, match=wanted):
        read_families(tmp_path / "f.toml")


def test_gold_of_one_language_pair_is_enough() -> None:
    judged = verdicts("judge", "AB")
    both = [*judged, *(replace(p, lp="zh-en") for p in judged)]
    (row,) = bias(both, gold=verdicts("people", "AA"), lp="en-de", families=OWN, resamples=0).rows
    assert row.n == 2


def test_gold_of_other_translations_is_refused() -> None:
    with pytest.raises(DataError, match=r"run 1 and gold \(gold\) compare no translations in common"):
        found(verdicts("judge", "AB"), verdicts("people", "AB", ("mine", "neither")))


def test_scores_are_not_blamed_for_having_no_order() -> None:
    scores = [rated(system, "1", rating, annotator="judge") for system, rating in (("a", 1), ("b", 2))]
    notes = " ".join(bias(scores, resamples=0).notes)
    assert "Verdicts made of scores have no order; nothing is said of their position." in notes
    assert "both orders" not in notes
    assert "1 verdict was not asked in both orders" in " ".join(found(verdicts("judge", "A")).notes)


NONE = Draws()
Orders = tuple[Verdict, Verdict]
FIRST: Orders = ("A", "B")
SAME: Orders = ("A", "A")


def asked(*orders: Orders) -> list[Preference]:
    return [replace(preferred("a", "b", "E", str(i)), orders=pair) for i, pair in enumerate(orders)]


def test_what_was_asked_once_says_nothing() -> None:
    found = position_bias([preferred("a", "b", "A"), *asked(("A", "A"))], NONE)
    assert found.n == 1
    nothing = position_bias([preferred("a", "b", "A")], Draws(resamples=10))
    assert nothing.n == 0
    assert {nothing.consistency.value, nothing.first.value, nothing.lean.value, nothing.lean.p} == {None}
    assert nothing.tie.reason == "nothing was asked in both orders"


verdict: st.SearchStrategy[Verdict] = st.sampled_from(["A", "B", "E"])


@given(st.lists(st.tuples(verdict, verdict), min_size=1, max_size=20))
def test_consistency_and_fairness_equal_their_definitions(orders: list[tuple[Verdict, Verdict]]) -> None:
    found = position_bias(asked(*orders), NONE)
    n = len(orders)
    swapped = {"A": "B", "B": "A", "E": "E"}
    shown = [choice for one, two in orders for choice in (one, swapped[two])]  # as the judge answered
    assert found.consistency.value == pytest.approx(sum(one == two for one, two in orders) / n)
    for result, choice in ((found.first, "A"), (found.second, "B"), (found.tie, "E")):
        assert result.value == pytest.approx(shown.count(choice) / (2 * n))
    primacy, recency = orders.count(("A", "B")), orders.count(("B", "A"))
    assert found.lean.value == pytest.approx((primacy - recency) / n)


def test_the_pairs_of_a_segment_are_drawn_together() -> None:
    apart = asked(*[FIRST, SAME] * 10)
    together = [replace(p, segment=str(int(p.segment) // 10), systems=("a", f"b{p.segment}")) for p in apart]
    wide, narrow = (position_bias(p, Draws(resamples=200)).consistency.interval for p in (apart, together))
    assert wide is not None
    assert narrow is not None
    assert narrow.high - narrow.low == 0  # both segments have half of each
    assert wide.low < 0.5 < wide.high


def test_the_p_of_a_lean_counts_segments_as_its_interval_does() -> None:
    """Sixty comparisons of three segments, all won by the first place: three draws of a coin, not sixty."""
    alone = asked(*[FIRST] * 60)
    together = [replace(p, segment=str(int(p.segment) % 3), systems=("a", f"b{p.segment}")) for p in alone]
    found = position_bias(together, NONE)
    assert found.lean.p == pytest.approx(2 / 2**3)
    assert position_bias(alone, NONE).lean.p == pytest.approx(2 / 2**60)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=7))
def test_the_p_of_a_lean_is_that_of_all_sign_vectors(sums: list[int]) -> None:
    orders = [
        replace(preferred("a", f"b{k}", "E", str(i)), orders=FIRST if total > 0 else FIRST[::-1])
        for i, total in enumerate(sums)
        for k in range(abs(total))
    ]
    if not orders:
        return
    signs = np.array(list(product((1, -1), repeat=len(sums))))
    wanted = np.mean(np.abs(signs @ np.array(sums)) >= abs(sum(sums)))
    assert position_bias(orders, NONE).lean.p == pytest.approx(wanted)


def test_it_is_the_share_of_pairs_of_samples_that_agree() -> None:
    records = [
        replace(preferred("a", "b", "A", "1"), samples=("A", "A", "B")),  # one of three pairs
        replace(preferred("a", "b", "A", "2"), samples=("A", "A", "A")),  # all
        preferred("a", "b", "A", "3"),
    ]
    found = bias(records, resamples=0)
    (row,) = found.rows
    assert row.repeat is not None
    assert row.repeat.value == pytest.approx((1 / 3 + 1) / 2)
    assert row.repeat.n == 2
    assert bias(records[2:], resamples=0).rows[0].repeat is None
    assert ["ann", "overall", "chance", "same verdict in two samples"] in [
        cells[:4] for cells in bias_table(found, exact=False).rows
    ]
