import itertools
import math
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import adjudge
from adjudge import examples
from adjudge.analysis.compare import (
    CompareSettings,
    PairedTest,
    compare_scores,
    difference,
    effect,
)
from adjudge.analysis.score import scored as read_and_score
from adjudge.analysis.segment_scores import score_records
from adjudge.core.record import Record
from adjudge.core.scores import Scores
from adjudge.core.verb import OneAnnotator
from adjudge.errors import DataError, UsageError
from adjudge.stats.bounds import Totals
from adjudge.stats.paired import holm
from adjudge.store.json_lines import write_records
from tests.analysis.folders import write_own, write_ratings
from tests.analysis.records import failed, rated


def totals(first: list[float], second: list[float]) -> Totals:
    sums = np.array([first, second], dtype=float).T
    return Totals(sums=sums, sizes=np.ones_like(sums))


@pytest.mark.parametrize("test", get_args(PairedTest))
def test_the_unit_of_scores_moves_neither_p_nor_effect(test: PairedTest) -> None:
    sums = np.random.default_rng(3).integers(-9, 12, size=(40, 2)).astype(float) + np.array([2, 0])
    whole, tiny = (
        difference(Totals(sums=unit * sums, sizes=np.ones_like(sums)), test=test, resamples=200)
        for unit in (1.0, 1e-14)
    )
    assert tiny.p == whole.p < 1
    assert (tiny.effect.wins, tiny.effect.ties) == (whole.effect.wins, whole.effect.ties)
    assert tiny.effect.cliff == whole.effect.cliff


def test_a_difference_is_the_first_mean_less_the_second() -> None:
    found: Any = difference(totals([3, 4, 5, 6], [1, 2, 2, 2]))
    assert (found.first, found.second, found.value, found.units) == (4.5, 1.75, 2.75, 4)
    assert (0 < found.interval.low < 1.5, 4 < found.interval.high < 10) == (True, True)
    assert 2 / 16 <= found.p < 0.2


@pytest.mark.parametrize("test", get_args(PairedTest))
def test_exchanging_the_two_turns_the_sign_and_nothing_else(test: str) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.3, 1, 40).tolist(), rng.normal(0, 1, 40).tolist()
    one, other = (difference(totals(*pair), test=test) for pair in ((a, b), (b, a)))  # type: ignore[arg-type]
    assert one.value == pytest.approx(-other.value)
    assert one.p == pytest.approx(other.p)
    assert one.interval is not None
    assert other.interval is not None
    assert one.interval.low == pytest.approx(-other.interval.high)
    assert one.effect.d_z == pytest.approx(-(other.effect.d_z or 0))
    assert one.effect.superiority == pytest.approx(1 - other.effect.superiority)
    assert one.effect.cliff == pytest.approx(-other.effect.cliff)
    assert (one.effect.wins, one.effect.losses) == (other.effect.losses, other.effect.wins)


@pytest.mark.parametrize("test", get_args(PairedTest))
def test_two_equal_systems_do_not_differ(test: str) -> None:
    found = difference(totals([1, 2, 3] * 9, [1, 2, 3] * 9), test=test)  # type: ignore[arg-type]
    assert (found.value, found.p, found.effect.d_z, found.effect.superiority) == (0, 1, None, 0.5)
    assert found.interval == (0, 0)


def test_all_tests_agree_on_a_plain_case() -> None:
    gaps = np.random.default_rng(1).normal(0.4, 1, 100)
    reference = stats.ttest_1samp(gaps, 0).pvalue
    for test in get_args(PairedTest):
        found = difference(totals(gaps.tolist(), [0.0] * 100), test=test, resamples=20_000)
        assert found.p == pytest.approx(reference, abs=0.002)


def test_no_p_value_is_below_what_so_many_draws_can_show() -> None:
    rng = np.random.default_rng(1)
    apart = totals((9 + rng.normal(size=120)).tolist(), rng.normal(size=120).tolist())
    assert [difference(apart, test=test, resamples=99).p for test in get_args(PairedTest)[:2]] == [0.01, 0.01]


def test_units_count_as_much_as_they_hold() -> None:
    sums = np.array([[10.0, 8.0], [1.0, 0.0]])
    found = difference(Totals(sums=sums, sizes=np.array([[10.0, 10.0], [1.0, 1.0]])))
    assert found.first == pytest.approx(1)
    assert found.second == pytest.approx(8 / 11)
    assert found.effect.wins == 2


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12))
def test_effects_are_counted_pair_by_pair(scores: list[tuple[int, int]]) -> None:
    found = effect(np.array(scores, dtype=float))
    first, second = zip(*scores, strict=True)
    every = [np.sign(a - b) for a, b in itertools.product(first, second)]
    assert found.cliff == pytest.approx(np.mean(every))
    gaps = np.array(first) - np.array(second)
    assert found.superiority == pytest.approx(np.mean((gaps > 0) + (gaps == 0) / 2))
    assert found.wins + found.ties + found.losses == len(scores)
    if len(scores) > 1 and np.ptp(gaps):
        assert found.d_z == pytest.approx(gaps.mean() / gaps.std(ddof=1))
    else:
        assert found.d_z is None


def test_rounding_noise_is_a_tie() -> None:
    found = effect(np.array([[0.1 + 0.2, 0.3], [1.0, 1.0]]))
    assert (found.ties, found.d_z) == (2, None)
    assert not math.isnan(found.cliff)


RNG = np.random.default_rng(0)


def ratings(system: str, values: list[float], lp: str = "en-de", annotator: str = "ann") -> list[Record]:
    return [
        rated(system, str(n), value, lp=lp, annotator=annotator, document=f"d{n // 4}")
        for n, value in enumerate(values)
    ]


def measured(system: str, values: list[float]) -> list[Record]:
    return [rated(system, str(n), value, protocol="metric") for n, value in enumerate(values)]


def scored(*records: list[Record]) -> Scores:
    return score_records([record for each in records for record in each])


A, B = [80.0, 70, 90, 60, 85, 75, 95, 65, 88, 72, 91, 66], [60.0] * 12
BOTH = scored(ratings("a", A), ratings("b", B))


def test_two_systems_of_one_annotator_are_compared_by_name() -> None:
    both = scored(ratings("a", A), ratings("b", B), ratings("c", B))
    found = compare_scores(both, both, ("a", "b"))
    assert (found.first.name, found.second.name, found.whole.n) == ("a", "b", 12)
    assert found.whole.difference.value == pytest.approx(np.mean(A) - 60)
    assert found.strata == ()
    wanted = "95 % interval and two-sided p: Student's t with Hall's correction for skew over documents"
    assert found.method == wanted


def test_two_runs_of_one_system_each_are_compared_whatever_their_names() -> None:
    found = compare_scores(scored(ratings("new", A)), scored(ratings("old", B)))
    assert (found.first.name, found.second.name) == ("new", "old")
    assert found.whole.difference.value > 0


def test_of_several_systems_those_in_common_count_segment_by_segment() -> None:
    first = scored(ratings("a", A), ratings("b", B), ratings("x", B))
    second = scored(ratings("a", B), ratings("b", B))
    found = compare_scores(first, second)
    assert found.whole.n == 12
    assert found.whole.difference.value == pytest.approx((np.mean(A) - 60) / 2)
    assert "Each segment's score is the mean over the 2 systems that both have." in found.notes
    with pytest.raises(UsageError, match=r"no system is in both: the first has a, the second b, c"):
        compare_scores(scored(ratings("a", A)), scored(ratings("b", B), ratings("c", B)))


def test_what_either_lacks_is_left_out_and_said() -> None:
    first = scored(ratings("a", A), [failed("a", segment="12")], ratings("b", [1.0] * 13))
    found = compare_scores(first, first, ("a", "b"))
    assert (found.whole.n, found.first.n, found.first.failed, found.second.failed) == (12, 12, 1, 0)
    assert "1 of 13 segments is not judged in both, and left out." in found.notes
    assert any("1 of 26 judgements failed" in note for note in found.notes)
    apart = score_records([rated("a", "1", 3.0)]), score_records([rated("b", "2", 3.0)])
    with pytest.raises(DataError, match="no segment is judged in both"):
        compare_scores(*apart)


def test_failures_of_all_systems_and_language_pairs_are_counted() -> None:
    lost = [failed(system, segment=str(n)) for system, n in (("a", 12), ("a", 13), ("b", 12))]
    first = scored(
        ratings("a", A),
        ratings("b", B),
        ratings("a", A, "en-cs"),
        ratings("b", B, "en-cs"),
        [*lost, failed("b", segment="12", lp="en-cs")],
    )
    found = compare_scores(first, scored(ratings("a", B), ratings("b", B)))
    assert (found.first.failed, found.second.failed) == (4, 0)


def test_signatures_that_differ_are_said() -> None:
    found = compare_scores(scored(ratings("a", A)), scored(ratings("b", B, annotator="other")))
    assert any(note.startswith("The signatures differ") for note in found.notes)


def test_language_pairs_and_domains_are_strata() -> None:
    both = scored(ratings("a", A), ratings("b", B), ratings("a", B, "zh-en"), ratings("b", B, "zh-en"))
    domains = {("en-de", str(n)): "news" for n in range(10)} | {("zh-en", "0"): "chat"}
    found = compare_scores(both, both, ("a", "b"), domains=domains, settings=CompareSettings(holm=True))
    assert [(s.kind, s.name, s.n) for s in found.strata] == [
        ("lp", "en-de", 12),
        ("lp", "zh-en", 12),
        ("domain", "news", 10),
    ]
    assert [s.p_holm for s in found.strata] == holm(np.array([s.difference.p for s in found.strata])).tolist()
    assert found.whole.p_holm is None
    assert any("chat" in note and "fewer than 10" in note for note in found.notes)


def test_one_segment_has_a_difference_and_no_interval() -> None:
    both = scored(ratings("a", A[:1]), ratings("b", B[:1]))
    found = compare_scores(both, both, ("a", "b"))
    assert (found.whole.difference.value, found.whole.difference.interval) == (20, None)
    assert found.whole.difference.p == 1
    assert any("no intervals: one of the segments alone" in note for note in found.notes)


def test_the_least_p_value_of_few_resamples_is_said() -> None:
    both = scored(ratings("a", A * 2), ratings("b", B * 2))
    found = compare_scores(both, both, ("a", "b"), settings=CompareSettings(resamples=9, by_document=False))
    assert "Too few resamples to test 24 segments. p cannot be below 0.1." in found.notes


@pytest.mark.parametrize("by_document", [None, True])
def test_documents_are_drawn_whole_where_they_are_known(by_document: bool | None) -> None:
    found = compare_scores(BOTH, BOTH, ("a", "b"), settings=CompareSettings(by_document=by_document))
    assert (found.whole.difference.units, found.whole.n) == (3, 12)
    assert any(note.startswith("Documents are the unit: 12 segments of 3 documents") for note in found.notes)
    means = np.array(A).reshape(3, 4).mean(axis=1) - 60
    assert found.whole.difference.p == pytest.approx(float(stats.ttest_1samp(means, 0).pvalue), rel=0.1)
    assert any(note.startswith("There are only 3 documents") for note in found.notes)
    bare = score_records([rated(s, str(n), n) for s in "ab" for n in range(5)])
    with pytest.raises(UsageError, match="needs documents"):
        compare_scores(bare, bare, ("a", "b"), settings=CompareSettings(by_document=True))


def test_segments_are_drawn_where_asked_for_and_where_no_documents_are_known() -> None:
    known, bare = scored(ratings("a", A), ratings("b", B)), scored(measured("a", A), measured("b", B))
    asked = compare_scores(known, known, ("a", "b"), settings=CompareSettings(by_document=False))
    unknown = compare_scores(bare, bare, ("a", "b"))
    assert asked.whole.difference == unknown.whole.difference
    assert (asked.whole.difference.units, asked.whole.difference.effective) == (12, 12)
    assert not any("Documents" in note for note in (*asked.notes, *unknown.notes))


@pytest.mark.realdata
def test_documents_of_wmt23_widen_the_interval(adjudge_data: Path) -> None:
    scores, *_ = read_and_score(adjudge_data / "wmt23", OneAnnotator(lp="zh-en", gold="mqm"))
    documents, segments = (
        compare_scores(scores, scores, ("HW-TSC", "ONLINE-B"), settings=CompareSettings(by_document=by))
        for by in (None, False)
    )
    widths = [
        found.whole.difference.interval.high - found.whole.difference.interval.low  # type: ignore[union-attr]
        for found in (documents, segments)
    ]
    assert widths[0] > 1.15 * widths[1]
    assert documents.whole.difference.units == 179
    assert 400 < documents.whole.difference.effective < 900


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        (("a", "z"), "there is no system 'z'; there are a, b"),
        (("a", "a"), "'a' would be compared with itself"),
        (("a",), "two systems are compared, got 1: a"),
    ],
)
def test_a_system_that_cannot_be_meant_is_refused(systems: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare_scores(BOTH, BOTH, systems)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"test": "t"}, "test must be 'permutation'"),
        ({"resamples": 0}, "resamples"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_a_setting_out_of_range_is_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        CompareSettings(**settings)  # type: ignore[arg-type]


def test_the_api_takes_paths(tmp_path: Path) -> None:
    write_records(tmp_path / "a.jsonl", ratings("a", A))
    write_records(tmp_path / "b.jsonl", ratings("b", B))
    found = adjudge.compare(tmp_path / "a.jsonl", str(tmp_path / "b.jsonl"), test="wilcoxon")
    assert found.whole.difference.value == pytest.approx(np.mean(A) - 60)
    with pytest.raises(UsageError, match="two systems of one run are compared by name"):
        adjudge.compare(tmp_path / "a.jsonl")


@pytest.mark.realdata
def test_systems_of_wmt23_differ_as_their_mqm_scores_do(adjudge_data: Path) -> None:
    scores, domains, _ = read_and_score(adjudge_data / "wmt23", OneAnnotator(lp="en-de", gold="mqm"))
    found = compare_scores(scores, scores, ("GPT4-5shot", "AIRC"), domains=domains)
    assert found.whole.n == 460
    assert found.whole.difference.value == pytest.approx(14.23 - 3.72, abs=0.05)
    assert found.whole.difference.p < 0.01
    assert [s.name for s in found.strata] == ["news", "social", "speech", "user_review"]
    scores, *_ = read_and_score(adjudge_data / "wmt23", OneAnnotator(lp="en-de", metric="BLEU-refA"))
    assert any("no means of its segment scores" in note for note in scores.notes)


@pytest.mark.parametrize("size", [1e101, 1e160, 1e300])
def test_scores_whose_squares_are_no_numbers_are_refused(size: float) -> None:
    large = scored(measured("a", [size * value for value in A]), measured("b", [size] * 12))
    wanted = r"between -1e\+100 and 1e\+100 can be compared, got .* on en-de segment 0: divide"
    with pytest.raises(DataError, match=wanted):
        compare_scores(large, large, ("a", "b"))
    with pytest.raises(DataError, match=wanted):
        adjudge.rank(large)


def test_large_scores_have_the_p_values_of_small_ones() -> None:
    own, other = RNG.normal(0.1, 1, 40).tolist(), RNG.normal(0, 1, 40).tolist()
    found = []
    for size in (1.0, 1e95):
        both = scored(measured("a", [size * v for v in own]), measured("b", [size * v for v in other]))
        whole = compare_scores(both, both, ("a", "b")).whole.difference
        found.append([whole.p, whole.effect.d_z, whole.effect.superiority, whole.effect.cliff])
    assert found[1] == pytest.approx(found[0])


def test_a_path_is_compared_on_one_language_pair(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    write_records(
        path, [*ratings("a", A), *ratings("b", B), *ratings("a", B, "de-en"), *ratings("b", A, "de-en")]
    )
    found = adjudge.compare(path, systems=("a", "b"), lp="de-en")
    assert found.whole.n == 12
    assert found.whole.difference.value == pytest.approx(60 - np.mean(A))
    with pytest.raises(UsageError, match=r"input holds scores already"):
        adjudge.compare(scored(ratings("a", A), ratings("b", B)), systems=("a", "b"), lp="en-de")


def test_a_test_set_is_compared_by_one_gold(tmp_path: Path) -> None:
    demo = Path(str(examples.path("test_set.jsonl")))
    gold = str(examples.path("gold.mqm.jsonl"))
    found = adjudge.compare(demo, systems=("Alder", "Cedar"), lp="en-de", gold=gold)
    assert (found.whole.n, found.first.name) == (16, "Alder")
    for wrong in ({"second": demo, "gold": gold}, {"gold": gold, "metric": gold}):
        with pytest.raises(UsageError, match=r"gold or metric is of one test set|come from one annotator"):
            adjudge.compare(demo, systems=("Alder", "Cedar"), lp="en-de", **wrong)


def test_what_the_gold_of_a_test_set_failed_to_judge_is_counted(tmp_path: Path) -> None:
    texts = write_own(tmp_path / "own.jsonl")
    ratings_of: dict[str, list[float | None]] = {
        "A": [90.0, None, 20, None],
        "B": [80.0, 70, None, 60],
        "C": [10.0] * 4,
    }
    gold = str(write_ratings(tmp_path / "people.jsonl", ratings_of))
    found = adjudge.compare(texts, systems=("A", "B"), gold=gold)
    assert (found.first.failed, found.second.failed) == (2, 1)
    ranking = adjudge.rank(texts, gold=gold, method="item-mean")
    assert {row.system: row.failed for row in ranking.systems} == {"A": 2, "B": 1, "C": 0}
