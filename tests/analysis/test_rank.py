import itertools
import json
import random
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t, ttest_1samp

from adjudge import examples
from adjudge.analysis.agreement import consistency
from adjudge.analysis.compare import compare
from adjudge.analysis.rank import Method, RankedSystem, Ranking, rank
from adjudge.analysis.score import score, with_intervals
from adjudge.analysis.segment_scores import score_matrix, score_records
from adjudge.core.record import Annotation, Failure, Preference, Record, Verdict
from adjudge.core.scores import Interval, Run, RunInfo, Scores, Signature
from adjudge.core.segment import TestSet
from adjudge.errors import DataError, UsageError
from adjudge.stats.bounds import Totals, bounds_of_difference
from adjudge.stats.paired import Test, holm
from adjudge.store.run_directory import read_records
from tests.analysis.records import failed, preferred, rated

PAIRWISE: list[Method] = [m for m in get_args(Method) if "mean" not in m]


def ranked(records: Sequence[Record], method: Method = "copeland", **options: Any) -> Ranking:
    return rank(score_records(records), method=method, **options)


def wins(*games: str, repeat: int = 1) -> list[Preference]:
    """Preferences, each in a segment of its own: "ab" for a over b, "a=b" for a tie."""
    return [
        preferred(game[0], game[-1], "E" if "=" in game else "A", segment=str(i))
        for i, game in enumerate(games * repeat)
    ]


def order(ranking: Ranking) -> list[tuple[str, int | None]]:
    return [(s.system, s.cluster) for s in ranking.systems]


@pytest.mark.parametrize("method", PAIRWISE)
def test_the_planted_quality_of_the_examples_is_the_ranking(method: Method) -> None:
    records = read_records(examples.path("gold.pairwise.jsonl"))
    found = rank(score_records(records, criterion="overall"), method=method)
    assert order(found) == [("Alder", 1), ("Birch", 2), ("Cedar", 3), ("Dogwood", 4)]
    assert {s.n for s in found.systems} == {72}
    assert not any("comparisons count" in note for note in found.notes)  # the design is balanced


def compared(
    names: Sequence[str], segments: int, lacking: Mapping[str, int], seed: int, lp: str = "en-de"
) -> list[Record]:
    """Every two systems on every segment; a system did not translate the first so many segments."""
    draws = random.Random(seed)
    verdicts: list[Verdict] = ["A", "A", "B", "E"]
    return [
        failed(a, b, segment=str(n), protocol="pairwise", lp=lp, criterion="overall", reason="no_translation")
        if n < max(lacking.get(a, 0), lacking.get(b, 0))
        else preferred(a, b, draws.choice(verdicts), segment=str(n), lp=lp)
        for n in range(segments)
        for a, b in combinations(names, 2)
    ]


@pytest.mark.parametrize("method", PAIRWISE)
@pytest.mark.parametrize(("names", "lp"), [("ABCD", "en-de"), (("Ahorn", "बर्च", "雪松", "сосна"), "ja-zh")])
def test_all_that_was_compared_counts_whatever_a_third_lacks(
    method: Method, names: Sequence[str], lp: str
) -> None:
    records = compared(names, 40, {names[3]: 30}, seed=1, lp=lp)
    found = ranked(records, method, resamples=50)
    assert "; 150 comparisons in 40 segments" in found.method
    assert {s.system: (s.n, s.untranslated) for s in found.systems} == {
        **dict.fromkeys(names[:3], (90, 0)),
        names[3]: (30, 30),
    }
    assert "150 comparisons count, 10 to 40 of each two systems." in found.notes
    given = [record for record in records if isinstance(record, Preference)]
    same = ranked(given, method, resamples=50)
    assert [(s.system, s.score, s.interval) for s in same.systems] == [
        (s.system, s.score, s.interval) for s in found.systems
    ]
    assert same.p_values == found.p_values


@pytest.mark.parametrize("method", PAIRWISE)
@settings(max_examples=15, deadline=None)
@given(
    lacking=st.lists(st.integers(0, 11), min_size=3, max_size=5), seed=st.integers(0, 10**6), data=st.data()
)
def test_an_unbalanced_design_is_ranked_whole(
    method: Method, lacking: list[int], seed: int, data: st.DataObject
) -> None:
    names = data.draw(st.permutations(["Ahorn", "bříza", "雪松", "сосна", "देवदार"][: len(lacking)]))
    records = compared(names, 12, dict(zip(names, lacking, strict=True)), seed)
    given = Counter(frozenset(r.systems) for r in records if isinstance(r, Preference))
    found = ranked(records, method, resamples=20)
    assert f"; {given.total()} comparisons in " in found.method
    played = [given[frozenset(pair)] for pair in combinations(names, 2)]
    told = f"{given.total()} comparisons count, {min(played)} to {max(played)} of each two systems."
    assert (told in found.notes) == (min(played) < max(played))


@pytest.mark.parametrize("method", PAIRWISE)
def test_scores_of_what_two_systems_translated_are_compared_whatever_a_third_lacks(method: Method) -> None:
    records: list[Record] = [
        failed("C", segment=str(n), reason="no_translation")
        if n < 9 and name == "C"
        else rated(name, str(n), 7 * n % 5)
        for n in range(12)
        for name in "ABC"
    ]
    found = ranked(records, method, resamples=20)
    assert "; 18 comparisons in 12 segments" in found.method
    assert "18 comparisons count, 3 to 12 of each two systems." in found.notes


def test_equal_systems_of_an_unbalanced_design_are_found_different_about_as_often_as_alpha_says() -> None:
    """Each segment has one pair of six equal systems, as FiRE's benchmark has."""
    found: list[bool] = []
    verdicts: list[Verdict] = ["A", "A", "A", "A", "B", "B", "B", "B", "E"]
    for seed in range(40):
        draws = random.Random(seed)
        pairs = [draws.sample("ABCDEF", 2) for _ in range(200)]
        records = [preferred(a, b, draws.choice(verdicts), segment=str(n)) for n, (a, b) in enumerate(pairs)]
        p_values = ranked(records, resamples=200, seed=seed).p_values
        found += [p < 0.05 for row in p_values for p in row if p is not None]
    assert len(found) == 40 * 15
    assert 0.025 < statistics.mean(found) < 0.075


@pytest.mark.parametrize("method", ["bradley-terry", "davidson"])
def test_bradley_terry_knows_that_a_win_over_a_strong_system_is_worth_more(method: Method) -> None:
    """x and y both won one of two; x against the best, y against the worst."""
    records = wins("xs", "sx", "yw", "wy", "sw", "sw", "sw", "ws", "y=w", "x=s")
    found = {s.system: s.score or 0 for s in ranked(records, method).systems}
    assert found["x"] > found["y"]
    copeland = {s.system: s.score for s in ranked(records).systems}
    assert copeland["x"] == copeland["y"] == 0.5


def test_systems_that_nothing_connects_have_no_common_strengths() -> None:
    records = wins("ab", "ba", "cd", "dc")
    wanted = r"none connects \(a, b\) with \(c, d\)"
    for method in ("bradley-terry", "davidson"):
        with pytest.raises(DataError, match=wanted):
            ranked(records, method)
    found = ranked(records)
    assert any(note.startswith("No comparison connects (a, b) with (c, d): their") for note in found.notes)


@pytest.mark.parametrize("method", ["bradley-terry", "davidson"])
def test_who_never_lost_has_no_strength_and_all_expected_points(method: Method) -> None:
    found = ranked(wins("ab", "ac", "bc", "cb", "b=c", repeat=8), method)
    assert [(s.score, s.strength) for s in found.systems] == [(1, None), (0.25, None), (0.25, None)]
    assert order(found) == [("a", 1), ("b", 2), ("c", 2)]
    assert "in a > (b, c). Scores are what they tend to" in found.notes[-1]


def test_wins_of_one_side_and_ties_leave_davidson_alone_without_strengths() -> None:
    records = wins("ab", "a=b", repeat=10)
    assert ranked(records, "bradley-terry").systems[0].strength is not None
    found = ranked(records, "davidson")
    assert found.systems[0].strength is None
    assert found.systems[0].score == pytest.approx(0.75, abs=1e-3)
    assert found.notes[-1].startswith("Wins and ties leave Davidson's strengths without bounds")


@pytest.mark.parametrize("method", PAIRWISE)
def test_ties_everywhere_are_one_cluster_of_halves(method: Method) -> None:
    found = ranked(wins("a=b", "b=c", "a=c", repeat=9), method)
    assert [(s.system, s.score, s.cluster) for s in found.systems] == [(s, 0.5, 1) for s in "abc"]
    assert {s.interval for s in found.systems} == {Interval(0.5, 0.5)}


def test_a_cycle_is_listed_and_told() -> None:
    found = ranked(wins("ab", "ab", "ba", "bc", "ca"))
    (cycle,) = found.cycles
    assert cycle.systems == ("a", "b", "c")
    assert "a takes 66.7% of the points from b, b takes 100.0% of the points from c, c" in found.notes[-1]


@pytest.mark.parametrize("method", PAIRWISE)
def test_failures_are_counted_and_are_no_comparison(method: Method) -> None:
    lost = [failed("a", b, segment="9", protocol="pairwise", criterion="overall") for b in ("b", "z")]
    found = ranked([*wins("ab", "ba", "ab"), *lost], method)
    assert [(s.system, s.n, s.failed) for s in found.systems] == [("a", 3, 2), ("b", 3, 1), ("z", 0, 1)]
    assert found.systems[-1].score is None


@pytest.mark.parametrize("method", PAIRWISE)
def test_where_all_failed_nothing_is_ranked(method: Method) -> None:
    found = ranked([failed("a", "b", segment="1", protocol="pairwise", criterion="overall")], method)
    assert (found.method, {s.score for s in found.systems}) == ("nothing was compared", {None})


@pytest.mark.parametrize("method", PAIRWISE)
def test_one_system_cannot_be_compared(method: Method) -> None:
    with pytest.raises(DataError, match=f"{method} compares systems, and there is one only, a; take .* mean"):
        ranked([rated("a", str(n), n) for n in range(3)], method)


@pytest.mark.parametrize("method", PAIRWISE)
def test_one_segment_has_scores_and_no_intervals(method: Method) -> None:
    found = ranked([rated(system, "1", ord(system) - 90) for system in "abc"], method)
    assert [(s.system, s.cluster, s.interval) for s in found.systems] == [(s, 1, None) for s in "cba"]
    assert any("no intervals: one of the segments alone" in note for note in found.notes)


@pytest.mark.parametrize("method", PAIRWISE)
def test_too_few_segments_make_no_clusters(method: Method) -> None:
    found = ranked(wins("ab", "ab"), method)
    assert order(found) == [("a", 1), ("b", 1)]
    assert any("test: 2, and 6 are needed. p cannot be below 0.5" in note for note in found.notes)


@pytest.mark.parametrize("method", ["bradley-terry", "davidson"])
def test_p_values_of_a_model_count_one_draw_more(method: Method) -> None:
    found = ranked(wins(*["ab"] * 12, *["ba"] * 9), method, resamples=99)
    hundredths = [100 * p for row in found.p_values for p in row if p is not None]
    assert hundredths == pytest.approx([round(p) for p in hundredths], abs=1e-9)
    assert any(1 < p < 100 for p in hundredths)


@pytest.mark.parametrize("method", PAIRWISE)
def test_segments_of_a_document_are_drawn_together(method: Method) -> None:
    records = [replace(p, document=str(i // 10)) for i, p in enumerate(wins("ab", "ab", "ba", repeat=20))]
    for unit, options in (("60 segments", {"by_document": False}), ("6 documents", {})):
        assert f"60 comparisons in {unit}" in ranked(records, method, **options).method
    with pytest.raises(UsageError, match="records name none"):
        ranked(wins("ab"), method, by_document=True)


def test_pairs_are_made_of_scores_within_epsilon() -> None:
    records = [rated(s, str(i), value + i) for i in range(6) for s, value in (("a", 9), ("b", 8), ("c", 5))]
    close = ranked(records, "davidson", epsilon=1)
    assert [(s.system, s.score) for s in close.systems] == [("a", 0.75), ("b", 0.75), ("c", 0)]
    assert close.method.endswith("pairs of segment scores, ties within 1")
    assert ranked(records).method.endswith("pairs of segment scores, ties of equal scores")
    assert [s.score for s in ranked(records).systems] == [1, 0.5, 0]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"method": "elo"}, "'mean', 'item-mean', 'copeland', 'bradley-terry' or 'davidson'; got 'elo'"),
        ({"method": "davidson", "test": "wilcoxon"}, "davidson has a test of its own"),
        ({"method": "copeland", "epsilon": 1}, "preferences state their own ties"),
        ({"method": "copeland", "epsilon": -1}, "epsilon must be greater than or equal to 0; got -1"),
        ({"method": "mean", "epsilon": 1}, "the method mean compares none"),
        ({"method": "item-mean", "epsilon": 1}, "the method item-mean compares none"),
        ({"method": "item-mean", "test": "wilcoxon"}, "item-mean has a test of its own"),
        ({"method": "item-mean", "by_document": True}, "draws segments, as WMT26 does"),
        ({"consistency": 0.5, "gold": "mqm"}, "--consistency is for people's ratings"),
        ({"alpha": 0}, "alpha must be greater than 0; got 0"),
        ({"alpha": 5}, "alpha must be less than 1; got 5"),
        ({"resamples": 0}, "resamples must be greater than or equal to 1"),
        ({"seed": -1}, "seed must be greater than or equal to 0"),
        ({"test": "t-test"}, "test must be 'permutation', 'wilcoxon' or 'rank-sum'; got 't-test'"),
    ],
)
def test_wrong_settings_are_errors(options: dict[str, Any], wanted: str) -> None:
    with pytest.raises(UsageError, match=wanted):
        rank(score_records(wins("ab")), **options)


def test_what_one_language_pair_leaves_open_is_said_of_it() -> None:
    records = [*wins("ab", "ba"), *(replace(r, lp="zh-en") for r in wins("ab"))]
    found = ranked(records, "bradley-terry")
    assert found.systems[0].strength is not None
    assert found.lps["zh-en"].systems[0].strength is None
    assert any(note.startswith("zh-en: Some strengths have no bound") for note in found.notes)


verdict = st.sampled_from(["A", "B", "E", "failed"])
games = st.lists(st.tuples(st.sampled_from([*combinations("abcd", 2)]), verdict), min_size=1, max_size=25)


@settings(max_examples=60)
@given(games)
def test_copeland_is_what_its_formula_says(played: list[tuple[tuple[str, str], str]]) -> None:
    records = [
        failed(*pair, segment=str(i), protocol="pairwise", criterion="overall")
        if verdict == "failed"
        else preferred(*pair, verdict, segment=str(i))  # type: ignore[arg-type]
        for i, (pair, verdict) in enumerate(played)
    ]
    for row in ranked(records, resamples=20).systems:
        own = [r for r in records if not isinstance(r, Failure) and row.system in r.systems]
        won = sum(0.5 if r.verdict == "E" else r.systems["AB".index(r.verdict)] == row.system for r in own)
        assert row.n == len(own)
        assert row.score == (pytest.approx(won / len(own)) if own else None)


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=12))
def test_bradley_terry_keeps_the_order_of_points_of_a_balanced_design(table: list[list[int]]) -> None:
    records = [rated("abc"[s], str(i), value) for i, row in enumerate(table) for s, value in enumerate(row)]
    copeland = {s.system: s.score or 0.0 for s in ranked(records, resamples=5).systems}
    fitted = {s.system: s.score or 0.0 for s in ranked(records, "bradley-terry", resamples=5).systems}
    for a, b in combinations("abc", 2):
        if copeland[a] > copeland[b]:
            assert fitted[a] >= fitted[b]


def table(**columns: Sequence[float | None]) -> Scores:
    """Scores of systems over segments 0, 1, ...; None is a failure."""
    return score_records(records(columns))


def records(columns: Mapping[str, Sequence[float | None]], lp: str = "en-de") -> list[Record]:
    return [
        failed(system, segment=str(i), lp=lp) if value is None else rated(system, str(i), value, lp=lp)
        for system, values in columns.items()
        for i, value in enumerate(values)
    ]


BETTER = [80.0 + i % 5 for i in range(40)]
WORSE = [60.0 + i % 7 for i in range(40)]


@pytest.mark.parametrize("test", get_args(Test))
def test_systems_are_ranked_best_first_in_clusters(test: Test) -> None:
    ranking = rank(table(low=WORSE, high=BETTER, same=BETTER[::-1]), test=test)
    assert order(ranking) == [("high", 1), ("same", 1), ("low", 2)]
    assert [s.score for s in ranking.systems] == [82, 82, pytest.approx(62.875)]
    assert {(s.n, s.failed) for s in ranking.systems} == {(40, 0)}
    for s in ranking.systems:
        low, high = s.interval or (0, 0)
        assert low < (s.score or 0) < high
    assert ranking.notes == ()


def test_the_method_is_said() -> None:
    ranking = rank(table(a=BETTER, b=WORSE), seed=7, resamples=200, alpha=0.01)
    assert ranking.method == (
        "mean over 40 common segments; 95 % intervals by Student's t with Hall's correction for skew over 40 "
        "segments; ranks by two-sided, clusters by one-sided paired permutation test of every pair, 200 sign "
        "flips of 40 segments, p < 0.01, not corrected for the number of pairs; seed 7"
    )
    by_sums = rank(table(a=[1], b=[2]), test="rank-sum").method
    assert "one-sided Wilcoxon rank-sum test of every pair over 1 segment, p < 0.05" in by_sums
    assert "all sign flips of 2 segments" in rank(table(a=[1, 2], b=[2, 3])).method


def test_only_segments_that_all_systems_have_are_compared() -> None:
    ranking = rank(table(a=[100, 0, 50, None], b=[None, 10, 20, 30], c=[0, 5, None, 0]))
    assert [(s.system, s.score) for s in ranking.systems] == [("b", 10), ("c", 5), ("a", 0)]
    assert {(s.n, s.failed) for s in ranking.systems} == {(1, 1)}
    assert "3 of 12 judgements failed; they have no score and are in no mean." in ranking.notes
    assert "3 of 4 segments are not judged for every system, and left out." in ranking.notes
    assert not any("adjudge rank" in note for note in ranking.notes)


def test_no_common_segment_is_an_error_that_names_the_systems() -> None:
    with pytest.raises(DataError, match="every one of a, b: `adjudge rank --method copeland` compares"):
        rank(table(a=[1, None], b=[None, 1]))


def test_a_system_of_which_nothing_was_judged_is_last_and_drops_nothing() -> None:
    ranking = rank(table(a=[None] * 40, b=WORSE, c=BETTER))
    assert order(ranking) == [("c", 1), ("b", 2), ("a", None)]
    last = RankedSystem(system="a", score=None, interval=None, cluster=None, n=0, failed=40)
    assert ranking.systems[2] == last
    assert not any("dropped" in note for note in ranking.notes)


def test_where_all_failed_nothing_is_ranked_in_rank() -> None:
    ranking = rank(table(a=[None, None], b=[None, None]))
    assert [(s.system, s.score, s.failed) for s in ranking.systems] == [("a", None, 2), ("b", None, 2)]
    assert order(ranking) == [("a", None), ("b", None)]
    assert ranking.method == "nothing was judged, so that there is nothing to rank"


@pytest.mark.parametrize("test", get_args(Test))
@pytest.mark.parametrize("n", [1, 3, 30])
def test_constant_scores_share_a_cluster_and_have_intervals_of_a_point(test: Test, n: int) -> None:
    ranking = rank(table(b=[0.1] * n, a=[0.1] * n), test=test)
    assert order(ranking) == [("a", 1), ("b", 1)]
    assert {s.interval for s in ranking.systems} == ({Interval(0.1, 0.1)} if n > 1 else {None})
    assert any("no intervals: one of the segments" in note for note in ranking.notes) == (n == 1)


@pytest.mark.parametrize("test", get_args(Test))
@pytest.mark.parametrize("unit", [1e-13, 1e-3])
def test_the_unit_of_scores_moves_no_cluster(test: Test, unit: float) -> None:
    ranking = rank(table(low=[unit * x for x in WORSE], high=[unit * x for x in BETTER]), test=test)
    assert order(ranking) == [("high", 1), ("low", 2)]


def test_one_system_is_a_ranking_of_one() -> None:
    ranking = rank(table(a=[1, 2, 3]))
    assert order(ranking) == [("a", 1)]
    assert ranking.notes == ("There is one system only, a: nothing is ranked.",)


def test_too_little_data_for_any_cluster_is_said() -> None:
    (note,) = rank(table(a=[9] * 4, b=[1] * 4)).notes
    assert note.startswith("Too few segments to test: 4, and 6 are needed. p cannot be below 0.125, so that")
    five = rank(table(a=[9] * 5, b=[1] * 5))
    assert order(five) == [("a", 1), ("b", 2)]  # by one-sided tests, as WMT's
    assert [(row.best, row.worst) for row in five.systems] == [(1, 2), (1, 2)]
    assert "below 0.0625" in five.notes[0]
    six = rank(table(a=[9] * 6, b=[1] * 6))
    assert [(row.best, row.worst) for row in six.systems] == [(1, 1), (2, 2)]
    assert six.notes == ()
    assert "below 0.2" in rank(table(a=BETTER, b=WORSE), resamples=9).notes[0]


def test_documents_are_drawn_and_flipped_whole() -> None:
    def of_documents(system: str, base: float) -> list[Annotation]:
        return [
            rated(system, f"{d}-{i}", base + d % 2, document=f"doc{d}") for d in range(4) for i in range(20)
        ]

    scores = score_records(of_documents("a", 50) + of_documents("b", 40))
    by_segment = rank(scores, by_document=False)
    assert order(by_segment) == [("a", 1), ("b", 2)]
    assert any("take segments for independent" in note for note in by_segment.notes)
    by_document = rank(scores)
    assert by_document.p_values[0][1] == 0.125  # differences are all alike: no bounds, all sign flips alone
    assert by_document == rank(scores, by_document=True)
    assert "Hall's correction for skew over 4 documents" in by_document.method
    assert any("only 4 documents" in note for note in by_document.notes)
    narrow, wide = (np.ptp(found.systems[0].interval or (0, 0)) for found in (by_segment, by_document))
    assert 0 < narrow < wide


def test_few_documents_are_tested_by_student_s_t() -> None:
    """Four documents with differences 1, 2, 3 and 2; `scipy.stats.ttest_1samp` of them gives the same p."""
    places = [(s, d, gap, i) for s in "ab" for d, gap in enumerate((1, 2, 3, 2)) for i in range(5)]
    found = [rated(s, f"{d}-{i}", 50 + gap * (s == "a") + d, document=str(d)) for s, d, gap, i in places]
    ranking = rank(score_records(found))
    assert "one-sided Student's t with Hall's correction for skew of every pair over 4 doc" in ranking.method
    assert ranking.p_values[0][1] == pytest.approx(float(ttest_1samp([1, 2, 3, 2], 0).pvalue))
    assert compare(score_records(found), systems=("a", "b")).whole.difference.p == ranking.p_values[0][1]
    _, high = t.interval(0.95, 3, 53.5, np.std([51, 53, 55, 55], ddof=1) / 2)
    assert (ranking.systems[0].interval or (0, 0))[1] == pytest.approx(high)  # the lower end follows the skew


def test_many_documents_are_flipped_as_wholes() -> None:
    rng = np.random.default_rng(1)
    found = [
        rated(s, f"{d}-{i}", float(np.clip(60 + effect + rng.normal(0, 1), 0, 100)), document=str(d))
        for s in "ab"
        for d, effect in enumerate(rng.normal(0, 9, 30))
        for i in range(4)
    ]
    ranking = rank(score_records(found))
    assert "1000 sign flips of 30 documents" in ranking.method
    assert not any("documents" in note for note in ranking.notes)


def graded(documents: int, *, step: float = 1.2, systems: str = "abcde", seed: int = 1) -> Scores:
    """Systems each a step worse than the one before, in documents of two segments."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(0, 4, documents)
    return score_records(
        rated(s, f"{d}-{i}", 60 - step * place + hard[d] + rng.normal(0, 3), document=str(d))
        for place, s in enumerate(systems)
        for d in range(documents)
        for i in range(2)
    )


def test_holm_takes_every_pair_for_one_of_many() -> None:
    """p-values are Holm's of the uncorrected ones, and ranges of ranks follow from them."""
    scores = graded(60)
    ranking = rank(scores, holm=True, test="wilcoxon")
    pairs = np.triu_indices(5, 1)
    alone, corrected = (
        np.array(found.p_values, dtype=float)[pairs] for found in (rank(scores, test="wilcoxon"), ranking)
    )
    assert corrected == pytest.approx(holm(alone))
    assert (corrected > alone).any()
    names = [row.system for row in ranking.systems]
    for i, row in enumerate(ranking.systems):
        better = [names[j] for j, p in enumerate(ranking.p_values[i]) if p is not None and p < 0.05]
        assert list(row.better_than) == better
        assert row.worst == 5 - len(better)
    assert "corrected for the number of pairs (Holm), so that all ranges" in ranking.method
    assert "not corrected" not in ranking.method


def test_holm_flips_as_often_as_so_many_pairs_need_and_follows_the_skew() -> None:
    ranking = rank(graded(60), holm=True)
    assert "2000 sign flips of 60 documents" in ranking.method
    assert "(Holm) and the skew, so that all ranges of ranks hold at once with 95 %" in ranking.method
    matrix = score_matrix(graded(60).segments)
    totals = matrix.totals(by_document=True)
    for a, b in itertools.combinations(range(5), 2):
        least = bounds_of_difference(Totals(sums=totals.sums[:, [a, b]], sizes=totals.sizes[:, [a, b]])).p
        names = [row.system for row in ranking.systems]
        found = ranking.p_values[names.index("abcde"[a])][names.index("abcde"[b])]
        assert found is None or found >= least
    assert ranking.systems[0].better_than


def test_few_documents_say_nothing_of_many_pairs_and_a_note_says_why() -> None:
    ranking = rank(graded(4, step=9), holm=True)
    assert {(row.best, row.worst, row.better_than) for row in ranking.systems} == {(1, 5, ())}
    assert any("documents to test: 4, and 9 are needed. p cannot be below 1," in n for n in ranking.notes)
    assert "all sign flips of 4 documents" in ranking.method


@pytest.mark.parametrize("method", ["item-mean", "copeland", "bradley-terry", "davidson"])
def test_holm_corrects_whatever_the_method_tests(method: Method) -> None:
    scores = graded(20, step=0.4, systems="abc")
    alone, corrected = (
        rank(scores, method=method, holm=is_corrected, resamples=600) for is_corrected in (False, True)
    )
    pairs = np.triu_indices(3, 1)
    plain, made = (np.array(found.p_values, dtype=float)[pairs] for found in (alone, corrected))
    if method == "copeland":  # at least those of the bounds
        assert (made >= holm(plain) - 1e-12).all()
    else:
        assert made == pytest.approx(holm(plain))
    assert [row.interval for row in corrected.systems] == [row.interval for row in alone.systems]


def test_ranks_are_those_that_the_tests_of_pairs_allow() -> None:
    """Neighbours do not differ, others do: WMT's rule makes one cluster of systems that are not equal."""
    rng = np.random.default_rng(1)
    columns = {name: rng.normal(60 - 1.2 * place, 6, 60).tolist() for place, name in enumerate("abcde")}
    ranking = rank(table(**columns))
    names = [row.system for row in ranking.systems]
    for i, row in enumerate(ranking.systems):
        better = {names[j] for j, p in enumerate(ranking.p_values[i]) if p is not None and p < 0.05}
        assert set(row.better_than) == better
        worse = sum(row.system in other.better_than for other in ranking.systems)
        assert (row.best, row.worst) == (1 + worse, 5 - len(better))
    assert {row.cluster for row in ranking.systems} == {1}
    assert names[-1] in ranking.systems[0].better_than


def test_a_segment_without_document_is_one_of_its_own() -> None:
    mixed = [rated(s, str(i), i, document="d" if i < 2 else "") for s in "ab" for i in range(5)]
    assert "every pair over 4 documents" in rank(score_records(mixed), by_document=True).method
    assert "over 5 segments" in rank(score_records(mixed)).method  # one document alone
    with pytest.raises(UsageError, match="records name none"):
        rank(table(a=[1], b=[2]), by_document=True)


def test_a_seed_repeats_a_ranking() -> None:
    scores = graded(40, systems="ab", step=0.5)
    assert rank(scores, seed=3) == rank(scores, seed=3)
    assert rank(scores, seed=3).p_values != rank(scores, seed=4).p_values
    assert rank(scores, seed=3).systems[0].interval == rank(scores, seed=4).systems[0].interval


@settings(max_examples=25, deadline=None)
@given(st.permutations("abcd"), st.sampled_from(get_args(Test)))
def test_the_order_of_systems_in_the_records_does_not_matter(names: list[str], test: Test) -> None:
    columns = {n: [float((ord(n) * i * i) % 11) for i in range(20)] for n in "abcd"}
    given_order = rank(table(**{n: list(columns[n]) for n in names}), test=test, resamples=100)
    assert given_order == rank(table(**{n: list(columns[n]) for n in "abcd"}), test=test, resamples=100)


def test_a_ranking_has_the_means_that_score_has_to_the_last_bit() -> None:
    rng = random.Random(5)
    scores = table(**{n: [rng.random() * 100 for _ in range(50)] for n in "abc"})
    assert {s.system: s.score for s in rank(scores).systems} == {s.system: s.score for s in scores.systems}


def test_win_rates_are_ranked_over_comparisons() -> None:
    won = [preferred("a", "b", "A", str(i)) for i in range(30)]
    more = [preferred("a", "c", "E", "0"), preferred("c", "b", "A", "0")]
    assert order(rank(score_records(won))) == [("a", 1), ("b", 2)]
    ranking = rank(score_records(won + more))
    assert [(s.system, s.score, s.n) for s in ranking.systems] == [
        ("a", 0.75, 1),
        ("c", 0.75, 1),
        ("b", 0, 1),
    ]
    assert any(note.startswith("29 of 30 segments") for note in ranking.notes)


def test_a_corpus_score_is_not_ranked_but_the_mean_of_its_segments() -> None:
    metric = [rated(s, str(i), v + i, protocol="metric") for s, v in (("a", 10), ("b", 20)) for i in range(3)]
    info = RunInfo(
        signature=Signature("bleu", {"version": "1"}),
        kind="metric",
        annotator="ann",
        protocol="metric",
        corpus_scores={"en-de": {"a": 99, "b": 1}},
    )
    scores = score_records(Run(info=info, test_set=TestSet(name="t", segments=()), records=tuple(metric)))
    ranking = rank(scores)
    assert [(s.system, s.score) for s in ranking.systems] == [("b", 21), ("a", 11)]
    assert ranking.signature.fields["level"] == "mean"
    assert any("means of segment scores" in note for note in ranking.notes)
    assert all(s.interval is None for s in with_intervals(scores).systems)


def test_language_pairs_are_ranked_apart_and_together() -> None:
    one, two = {"a": BETTER, "b": WORSE}, {"a": WORSE, "b": BETTER}
    scores = score_records(records(one) + records(two, "zh-en"))
    ranking = rank(scores)
    assert {lp: order(part) for lp, part in ranking.lps.items()} == {
        "en-de": [("a", 1), ("b", 2)],
        "zh-en": [("b", 1), ("a", 2)],
    }
    assert order(ranking) == [("a", 1), ("b", 1)]
    assert ranking.lps["zh-en"] == rank(scores.lps["zh-en"])


@pytest.mark.parametrize("method", get_args(Method))
def test_what_is_pooled_is_said(method: Method) -> None:
    several = [rated(s, str(i), 50 + i, annotator=who) for s in "ab" for i in range(4) for who in ("x", "y")]
    ranking = rank(score_records([*several, *records({"a": [1, 2], "b": [2, 1]}, "zh-en")]), method=method)
    assert ranking.method.endswith("; en-de, zh-en pooled")
    assert not ranking.lps["en-de"].method.endswith("pooled")
    assert ("pairs of means over 2 annotators" in ranking.lps["en-de"].method) == (
        method not in {"mean", "item-mean"}
    )
    assert "annotators" not in ranking.lps["zh-en"].method


@pytest.mark.parametrize(
    ("judged", "said"), [("en-de", "nothing was judged but en-de"), ("", "zh-en pooled")]
)
def test_what_failed_in_a_whole_language_pair_is_not_said_to_be_pooled(judged: str, said: str) -> None:
    places = [(s, str(i), lp) for s in "ab" for i in range(4) for lp in ("en-de", "zh-en")]
    found = [rated(s, i, 50, lp=lp) if lp == judged else failed(s, segment=i, lp=lp) for s, i, lp in places]
    assert rank(score_records(found)).method.endswith(said)


def test_language_pairs_with_other_systems_are_ranked_apart_only() -> None:
    scores = score_records(records({"a": [1, 2], "b": [3, None]}) + records({"a": [5], "c": [6]}, "zh-en"))
    ranking = rank(scores)
    assert ranking.systems == ()
    assert order(ranking.lps["zh-en"]) == [("c", 1), ("a", 1)]
    assert "en-de: 1 of 2 segments is not judged for every system, and left out." in ranking.notes
    assert any("do not have the same systems" in note for note in ranking.notes)
    assert not any("`adjudge rank`" in note for note in ranking.notes)


def test_a_language_pair_and_weights_are_chosen_of_records_as_the_command_does() -> None:
    gold = examples.path("gold.mqm.jsonl")
    found = rank(gold, lp="en→de", weights="gemba", resamples=20)
    chosen = score_records(read_records(gold), lp="en-de", weights="gemba")
    assert order(found) == order(rank(chosen, resamples=20))
    assert found.signature.fields["weights"] == "gemba"


def test_marked_errors_are_ranked_on_a_criterion() -> None:
    asked: dict[str, Any] = {"lp": "en-de", "criterion": "style", "method": "copeland"}
    found = rank(examples.path("gold.mqm.jsonl"), resamples=20, **asked)
    assert found.signature.fields["criterion"] == "style"
    assert "Preferences on style are made of errors, each annotator's on their own." in found.notes


@pytest.mark.parametrize("choice", ["weights", "lp", "criterion"])
def test_nothing_can_be_chosen_of_scores_that_are_made(choice: str) -> None:
    with pytest.raises(UsageError, match=rf"scores already: .* score\({choice}=\.\.\.\)"):
        rank(table(a=[1]), **{choice: "en-de"})  # type: ignore[arg-type]


def test_scores_get_intervals_over_what_each_system_was_judged_on() -> None:
    scores = with_intervals(table(a=[1, 3, None], b=[5, None, None], c=[None, None, None]))
    a, b, c = scores.systems
    assert a.interval == pytest.approx((0, 2 + t.ppf(0.975, 1)))
    assert (b.score, b.interval) == (5, None)
    assert (c.score, c.interval) == (None, None)
    assert "b has no interval: one of the segments alone says nothing of others." in scores.interval_notes


def test_one_segment_has_no_interval_and_a_note_says_so() -> None:
    for n in (1, 2):
        found = with_intervals(table(a=list(range(n))))
        assert (found.systems[0].interval is None) == (n == 1)
        assert any("no intervals: one of the segments" in s for s in found.interval_notes) == (n == 1)


def test_an_interval_of_win_rates_holds_the_win_rate_of_unequal_comparisons() -> None:
    many = [preferred("a", b, "A", "1") for b in "bcde"]
    scores = with_intervals(score_records([*many, preferred("a", "b", "B", "2")]))
    a = next(s for s in scores.systems if s.system == "a")
    assert (a.score, a.interval) == (0.8, Interval(0, 1))


def documented(documents: Sequence[int], seed: int, lp: str = "en-de", systems: str = "ab") -> list[Record]:
    """Ratings of systems in documents of these lengths, whose segments have much in common."""
    rng = random.Random(seed)
    return [
        rated(s, f"{d}-{i}", base + rng.random(), document=str(d), lp=lp)
        for d, length in enumerate(documents)
        for base in [rng.uniform(20, 80)]
        for i in range(length)
        for s in systems
    ]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=2, max_size=14), st.integers(0, 99))
def test_intervals_of_score_are_those_of_rank(lengths: list[int], seed: int) -> None:
    """Documents are drawn where two are known, and where all systems have all segments nothing differs."""
    scores = score_records(documented(lengths, seed))
    for by_document in (None, True, False):
        ranking = rank(scores, by_document=by_document)
        own = {s.system: s.interval for s in with_intervals(scores, by_document=by_document).systems}
        assert all(own[s.system] == pytest.approx(s.interval) for s in ranking.systems)
    drawn = with_intervals(scores).interval_notes
    assert drawn[0].endswith(f"t with Hall's correction for skew over {len(lengths)} documents.")
    assert any("intervals are wide" in note for note in drawn) == (len(lengths) < 10)
    by_segment = with_intervals(scores, by_document=False).interval_notes
    assert "segments" in by_segment[0]
    assert "take segments for independent" in by_segment[1]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=3, max_size=8), st.data())
def test_each_system_is_drawn_over_its_judged_documents(lengths: list[int], data: st.DataObject) -> None:
    kept = [r for r in documented(lengths, 1) if r.systems[0] == "a" or data.draw(st.booleans())]
    scores = with_intervals(score_records(kept))
    for row in scores.systems:
        own = [r for r in kept if r.systems[0] == row.system]
        units = len({r.document for r in own})
        alone = with_intervals(score_records(own), by_document=True).systems[0]
        assert row.interval == (alone.interval and pytest.approx(alone.interval))
        assert (row.interval is None) == (units < 2)


def test_an_interval_ends_where_the_scale_does() -> None:
    ends = [rated("a", str(d), 100.0 * d, document=str(d)) for d in (0, 1)]
    scores = replace(score_records(ends), range=(0.0, 100.0))
    assert with_intervals(scores).systems[0].interval == Interval(0, 100)


def test_win_rates_draw_documents_as_rank_does() -> None:
    verdicts: tuple[Verdict, ...] = ("A", "B", "E")
    won = [
        replace(preferred("a", "b", verdicts[(d + i) % 3], f"{d}-{i}"), document=str(d))
        for d in range(12)
        for i in range(1 + d % 3)
    ]
    scores = score_records(won)
    own = {s.system: s.interval for s in with_intervals(scores).systems}
    assert own == {s.system: s.interval for s in rank(scores).systems}
    (note,) = with_intervals(scores).interval_notes
    assert note == "95 % intervals: Student's t with Hall's correction for skew over 12 documents."


def test_every_language_pair_and_all_together_draw_their_own_documents() -> None:
    pooled = with_intervals(score_records(documented([2] * 11, 1) + documented([2] * 12, 2, "zh-en")))
    assert pooled.interval_notes == tuple(
        f"{where}95 % intervals: Student's t with Hall's correction for skew over {n} documents."
        for where, n in (("", 23), ("en-de: ", 11), ("zh-en: ", 12))
    )
    ranked = rank(pooled)
    assert [s.interval for s in ranked.systems] == [
        s.interval for s in sorted(pooled.systems, key=lambda s: -(s.score or 0))
    ]
    bare = [replace(r, document="") for r in documented([3], 2, "zh-en")]
    mixed = score_records(documented([2] * 11, 1) + bare)
    found = with_intervals(mixed)
    assert "skew over 3 segments" in found.lps["zh-en"].interval_notes[0]
    with pytest.raises(UsageError, match="records name none"):
        with_intervals(mixed, by_document=True)


def test_score_gives_intervals_and_a_ranking_of_it_does_not_repeat_what_they_say() -> None:
    scores = score(documented([2] * 4, 3))
    assert all(s.interval for s in scores.systems)
    assert with_intervals(scores) == scores
    assert not set(scores.interval_notes) & set(rank(scores).notes)
    assert score(documented([2] * 4, 3), by_document=False).systems != scores.systems


def human_scores(folder: Path, name: str) -> dict[tuple[str, str], float]:
    """System and line, counted from 0, to score."""
    found: dict[tuple[str, str], float] = {}
    position: Counter[str] = Counter()
    for line in (folder / "wmt23" / "human-scores" / name).read_text(encoding="utf-8").split("\n"):
        system, _, value = line.partition("\t")
        if value not in {"", "None"}:
            found[system, str(position[system])] = float(value)
        position[system] += 1
    return found


def as_records(found: Mapping[tuple[str, str], float]) -> list[Record]:
    return [rated(system, line, value, protocol="metric") for (system, line), value in found.items()]


@pytest.mark.realdata
@pytest.mark.parametrize("test", get_args(Test))
def test_wmt23_s_systems_are_ranked_as_published(adjudge_data: Path, test: Test) -> None:
    published = {s: value for (s, _), value in human_scores(adjudge_data, "en-de.mqm.sys.score").items()}
    ranking = rank(score_records(as_records(human_scores(adjudge_data, "en-de.mqm.seg.score"))), test=test)
    assert {s.system: s.score for s in ranking.systems} == published
    assert [s.system for s in ranking.systems] == sorted(published, key=lambda s: -published[s])
    assert {s.n for s in ranking.systems} == {460}


@pytest.mark.realdata
def test_the_clusters_of_the_esa_paper_s_figure_4_come_out(adjudge_data: Path) -> None:
    batches = json.loads((adjudge_data / "esa" / "batches_wmt23_en-de_esa.json").read_text(encoding="utf-8"))
    items = [item for batch in batches for item in batch["items"] if item["itemType"] == "TGT"]
    lines = {
        i["_item"].split(" | ")[1] for i in items if "_item" in i and "#duplicate" not in i["documentID"]
    }
    mqm, da_sqm = (human_scores(adjudge_data, f"en-de.{name}.seg.score") for name in ("mqm", "da-sqm"))
    common = [key for key in mqm if key in da_sqm and key[1] in lines]
    assert len(common) == 2028
    sizes = []
    for found in (mqm, da_sqm):
        ranking = rank(score_records(as_records({key: found[key] for key in common})), test="rank-sum")
        clusters = Counter(s.cluster for s in ranking.systems)
        sizes.append(list(clusters.values()))
    assert sizes == [[1, 11, 1], [2, 7, 4]]


def _dynamic(seed: int = 0, *, careless: bool = True) -> list[Record]:
    """Three of five systems on each of sixty segments, twenty documents, four people; d rates at random."""
    rng = np.random.default_rng(seed)
    quality = {"A": 90, "B": 80, "C": 70, "D": 60, "E": 50}
    found: list[Record] = []
    for number in range(60):
        person = "abcd"[number // 3 % 4]
        for system in rng.choice(list(quality), 3, replace=False).tolist():
            rating = quality[system] + rng.normal(0, 4)
            if person == "d" and careless:
                rating = rng.uniform(0, 100)
            shown = float(np.clip(rating, 0, 100))
            found.append(rated(system, str(number), shown, annotator=person, document=f"doc{number // 3}"))
    return found


def test_systems_are_ranked_by_what_each_was_judged_on() -> None:
    records = _dynamic(careless=False)
    with pytest.raises(DataError, match="no segment of en-de is judged for every one"):
        rank(records)
    found = rank(records, method="item-mean")
    means = {s: [r.rating for r in records if isinstance(r, Annotation) and r.system == s] for s in "ABCDE"}
    assert [row.system for row in found.systems] == list("ABCDE")
    assert [row.score for row in found.systems] == pytest.approx([np.mean(means[s]) for s in "ABCDE"])  # type: ignore[arg-type]
    assert [row.n for row in found.systems] == [len(means[s]) for s in "ABCDE"]
    assert [row.cluster for row in found.systems] == [1, 2, 3, 4, 5]
    assert any("takes the better of two tests" in note for note in found.notes)


def test_the_p_values_of_item_means_are_those_of_two_bootstraps() -> None:
    from scipy.stats import bootstrap

    rng = np.random.default_rng(3)
    scores = {"A": rng.normal(61, 10, 40), "B": rng.normal(60, 10, 40)}
    records = [
        rated(s, str(n), float(scores[s][n]))
        for s, kept in (("A", range(30)), ("B", range(10, 40)))
        for n in kept
    ]
    table = rank(records, method="item-mean", resamples=20_000).p_values
    draws = [
        bootstrap(data, statistic, n_resamples=20_000, method="percentile", rng=1).bootstrap_distribution
        for data, statistic in (
            ((scores["A"][10:30] - scores["B"][10:30],), np.mean),
            ((scores["A"][:30], scores["B"][10:]), lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis)),
        )
    ]
    expected = min(float((d <= 0).mean()) for d in draws)
    assert table[0][1] == pytest.approx(min(1.0, 2 * expected), abs=0.02)


def test_p_values_of_item_means_count_one_draw_more_and_failures_all() -> None:
    records = [rated(s, str(n), base + n) for s, base in (("A", 80), ("B", 10)) for n in range(8)]
    lost = [failed("B", segment=str(n)) for n in (8, 9)]
    found = rank([*records, *lost], method="item-mean", resamples=99)
    assert found.p_values[0][1] == 2 * 0.01  # two-sided
    assert [(row.system, row.n, row.failed) for row in found.systems] == [("A", 8, 0), ("B", 8, 2)]


def test_people_whose_ratings_do_not_fit_are_left_out_and_named() -> None:
    records = _dynamic()
    fits = consistency(records)
    assert min(fits, key=lambda who: fits[who]) == ("en-de", "d")
    assert fits["en-de", "d"] == pytest.approx(_by_hand(records, "d"), abs=1e-12)
    found = rank(records, method="item-mean", consistency=0.75)
    kept = [r for r in records if r.annotator != "d"]
    assert [s.score for s in found.systems] == [s.score for s in rank(kept, method="item-mean").systems]
    assert any("1 of 4 annotators are left out" in note and "d (en-de, " in note for note in found.notes)
    assert found.signature.fields["consistency"] == "0.75"
    assert rank(records[:9], method="item-mean", consistency=0.75).notes[0].startswith("0 of 1 annotators")


@pytest.mark.parametrize(("number", "known"), [(10, []), (11, [("en-de", "ann")])])
def test_ten_ratings_of_a_system_say_nothing_of_who_rated(number: int, known: list[tuple[str, str]]) -> None:
    assert list(consistency([rated(s, str(n), 50 + n % 3) for s in "AB" for n in range(number)])) == known


def _by_hand(records: list[Record], person: str) -> float:
    """The organisers' rule, written out with Python's statistics."""
    said = [r for r in records if isinstance(r, Annotation)]
    everybody = {s: [r.rating or 0.0 for r in said if r.system == s] for s in "ABCDE"}
    values = []
    for a, b in itertools.combinations([r for r in said if r.annotator == person], 2):
        if a.segment == b.segment:
            one, other = everybody[a.system], everybody[b.system]
            mu = statistics.mean(one) - statistics.mean(other)
            var = statistics.variance(one) + statistics.variance(other)
            off = (a.rating or 0.0) - (b.rating or 0.0) - mu
            values.append(2 ** -(off**2 / (2 * var + 1e-6)))
    return statistics.mean(values)
