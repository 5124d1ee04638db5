from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge import examples
from adjudge.analysis.rank import METHODS, Method, Ranking, rank
from adjudge.analysis.segment_scores import score_records
from adjudge.core.record import Failure, Preference, Record, Verdict
from adjudge.core.scores import Interval
from adjudge.errors import DataError, UsageError
from adjudge.store.json_lines import read_records
from tests.scoring.records import failed, preferred, rated

PAIRWISE: list[Method] = [m for m in METHODS if m != "mean"]


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


def test_copeland_is_points_by_comparisons_where_pairs_are_compared_unequally_often() -> None:
    found = ranked(wins("ab", "ab", "ba", "a=c", "cb"))
    assert [(s.system, s.score, s.n) for s in found.systems] == [
        ("c", 0.75, 2),
        ("a", 0.625, 4),
        ("b", 0.25, 4),
    ]


def test_no_comparison_is_dropped_for_what_its_segment_lacks() -> None:
    records = wins("ab", "bc", "ca", "ab")
    with pytest.raises(DataError, match="judged for every one"):
        rank(score_records(records))
    assert sum(s.n for s in ranked(records).systems) == 8


@pytest.mark.parametrize("method", ["bradley-terry", "davidson"])
def test_bradley_terry_knows_that_a_win_over_a_strong_system_is_worth_more(method: Method) -> None:
    """x and y both won one of two; x against the best, y against the worst."""
    records = wins("xs", "sx", "yw", "wy", "sw", "sw", "sw", "ws", "y=w", "x=s")
    found = {s.system: s for s in ranked(records, method).systems}
    assert found["x"].score is not None
    assert found["y"].score is not None
    assert found["x"].score > found["y"].score
    copeland = {s.system: s.score for s in ranked(records).systems}
    assert copeland["x"] == copeland["y"] == 0.5


def test_systems_that_nothing_connects_have_no_common_strengths() -> None:
    records = wins("ab", "ba", "cd", "dc")
    wanted = r"none connects \(a, b\) with \(c, d\)"
    for method in ("bradley-terry", "davidson"):
        with pytest.raises(DataError, match=wanted):
            ranked(records, method)
    found = ranked(records)
    assert (
        "No comparison connects (a, b) with (c, d): their scores rest on different opponents." in found.notes
    )


@pytest.mark.parametrize("method", ["bradley-terry", "davidson"])
def test_who_never_lost_has_no_strength_and_all_expected_points(method: Method) -> None:
    found = ranked(wins("ab", "ac", "bc", "cb", "b=c", repeat=8), method)
    assert [(s.system, s.score, s.strength) for s in found.systems] == [
        ("a", 1, None),
        ("b", 0.25, None),
        ("c", 0.25, None),
    ]
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
    assert [(s.system, s.score, s.cluster) for s in found.systems] == [
        ("a", 0.5, 1),
        ("b", 0.5, 1),
        ("c", 0.5, 1),
    ]
    assert {s.interval for s in found.systems} == {Interval(0.5, 0.5)}


def test_a_cycle_is_listed_and_told() -> None:
    found = ranked(wins("ab", "ab", "ba", "bc", "ca"))
    (cycle,) = found.cycles
    assert cycle.systems == ("a", "b", "c")
    assert found.notes[-1] == (
        "Preferences go round: a takes 66.7% of the points from b, b takes 100.0% of the points from c, "
        "c takes 100.0% of the points from a."
    )


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
    assert any(
        note.startswith("Too few segments or resamples: p cannot be below 0.5") for note in found.notes
    )


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
        ({"method": "elo"}, "method must be one of mean, copeland, bradley-terry, davidson; got 'elo'"),
        ({"method": "davidson", "test": "wilcoxon"}, "davidson is tested by its own bootstrap"),
        ({"method": "copeland", "epsilon": 1}, "these are preferences"),
        ({"method": "copeland", "epsilon": -1}, "epsilon must be 0 or more, got -1"),
        ({"method": "mean", "epsilon": 1}, "the method mean compares none"),
    ],
)
def test_wrong_settings_are_errors(options: dict[str, Any], wanted: str) -> None:
    with pytest.raises(UsageError, match=wanted):
        rank(score_records(wins("ab")), **options)


def test_several_language_pairs_are_ranked_each_on_its_own() -> None:
    records = wins("ab", "ab", "ba")
    found = ranked([*records, *(replace(r, lp="zh-en") for r in records)])
    assert {lp: [s.n for s in part.systems] for lp, part in found.lps.items()} == {
        "en-de": [3, 3],
        "zh-en": [3, 3],
    }
    assert [s.n for s in found.systems] == [6, 6]


def test_what_one_language_pair_leaves_open_is_said_of_it() -> None:
    records = [*wins("ab", "ba"), *(replace(r, lp="zh-en") for r in wins("ab"))]
    found = ranked(records, "bradley-terry")
    assert found.systems[0].strength is not None
    assert found.lps["zh-en"].systems[0].strength is None
    assert any(note.startswith("zh-en: Some strengths have no bound") for note in found.notes)


verdict = st.sampled_from(["A", "B", "E", "failed"])
games = st.lists(st.tuples(st.sampled_from(list(combinations("abcd", 2))), verdict), min_size=1, max_size=25)


@settings(max_examples=60)
@given(games)
def test_copeland_is_what_its_formula_says(played: list[tuple[tuple[str, str], str]]) -> None:
    records = [
        failed(*pair, segment=str(i), protocol="pairwise", criterion="overall")
        if verdict == "failed"
        else preferred(*pair, to_verdict(verdict), segment=str(i))
        for i, (pair, verdict) in enumerate(played)
    ]
    for row in ranked(records, resamples=20).systems:
        own = [r for r in records if not isinstance(r, Failure) and row.system in r.systems]
        won = sum(0.5 if r.verdict == "E" else r.systems["AB".index(r.verdict)] == row.system for r in own)
        assert row.n == len(own)
        assert row.score == (pytest.approx(won / len(own)) if own else None)


def to_verdict(text: str) -> Verdict:
    found: dict[str, Verdict] = {"A": "A", "B": "B", "E": "E"}
    return found[text]


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=12))
def test_bradley_terry_keeps_the_order_of_points_where_every_pair_is_compared_equally_often(
    table: list[list[int]],
) -> None:
    records = [rated("abc"[s], str(i), value) for i, row in enumerate(table) for s, value in enumerate(row)]
    copeland = {s.system: s.score or 0.0 for s in ranked(records, resamples=5).systems}
    fitted = {s.system: s.score or 0.0 for s in ranked(records, "bradley-terry", resamples=5).systems}
    for a, b in combinations("abc", 2):
        if copeland[a] > copeland[b]:
            assert fitted[a] >= fitted[b]
