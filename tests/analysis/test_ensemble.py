from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import zscore

from adjudge.analysis.ensemble import (
    NO_MAJORITY,
    Combined,
    EnsembleSettings,
    combine_scores,
    combine_verdicts,
    fold_of_each,
    learned_weights,
    places_of,
    rank_shares,
    scored,
    voted,
    z_scores,
)
from adjudge.analysis.segment_scores import score_records
from adjudge.core.record import UNDECIDED, Annotation, Failure, Preference, Record
from adjudge.errors import DataError, UsageError
from tests.analysis.records import error, failed, mqm, preferred, rated

RANKS = EnsembleSettings(by="ranks")
Z = EnsembleSettings(by="z-scores")


def numbers(combined: Combined) -> dict[tuple[str, str], float | None]:
    return {
        (r.system, r.segment) if isinstance(r, Annotation) else (r.systems[0], r.segment): (
            r.rating if isinstance(r, Annotation) else None
        )
        for r in combined.records
        if not isinstance(r, Preference)
    }


def verdicts(combined: Combined) -> dict[tuple[str, ...], tuple[str, tuple[str, ...]]]:
    return {
        (*r.systems, r.criterion): (r.verdict, r.flags) for r in combined.records if isinstance(r, Preference)
    }


def made(values: dict[str, list[float]], lp: str = "en-de") -> list[Record]:
    """Ratings by system, a segment each; two segments are one document."""
    return [
        rated(system, str(n), value, protocol="metric", lp=lp, document=f"d{n // 2}")
        for system, row in values.items()
        for n, value in enumerate(row)
    ]


def noisy(seed: int, segments: int = 12) -> list[Record]:
    rng = np.random.default_rng(seed)
    rows = np.linspace(-1, 1, segments) + rng.normal(size=(3, segments))
    return made({s: row.tolist() for s, row in zip("abc", rows, strict=True)})


def test_ranks_and_z_scores_are_averaged() -> None:
    members = [
        scored("one", made({"a": [3.0, 1.0], "b": [2.0, 0.0]})),
        scored("two", made({"a": [90.0, 10.0], "b": [10.0, 10.0]})),
    ]
    ranks = numbers(combine_scores(members, RANKS))
    assert ranks == {("a", "0"): 7 / 8, ("a", "1"): 3 / 8, ("b", "0"): 4 / 8, ("b", "1"): 2 / 8}
    z = numbers(combine_scores(members, Z))
    assert z["a", "0"] == pytest.approx((1.5 / np.sqrt(1.25) + 60 / np.sqrt(1200)) / 2)


def test_within_a_segment_only_its_systems_are_compared() -> None:
    members = [scored(name, made({"a": [3.0, 100.0], "b": [2.0, 0.0]})) for name in ("one", "two")]
    found = numbers(combine_scores(members, EnsembleSettings(by="ranks", within="segment")))
    assert found == {("a", "0"): 0.75, ("a", "1"): 0.75, ("b", "0"): 0.25, ("b", "1"): 0.25}


def test_marked_errors_are_scored_by_their_weights() -> None:
    marked = [
        mqm("a", "0", error("major", "accuracy")),
        mqm("b", "0"),
        mqm("c", "0", error("minor", "style")),
    ]
    found = numbers(combine_scores([scored("m", marked), scored("n", marked)], RANKS))
    assert found == {("a", "0"): 1 / 6, ("b", "0"): 5 / 6, ("c", "0"): 3 / 6}


def test_language_pairs_never_meet() -> None:
    near, far = made({"a": [1.0, 2.0]}), made({"a": [101.0, 102.0]}, lp="zh-en")
    found = combine_scores([scored("m", near + far), scored("n", near + far)], RANKS)
    assert [r.rating for r in found.records if isinstance(r, Annotation)] == [0.25, 0.75, 0.25, 0.75]


@pytest.mark.parametrize("by", ["ranks", "z-scores", "learned"])
def test_what_one_member_failed_on_is_a_failure_and_moves_no_scale(by: str) -> None:
    settings = EnsembleSettings(by=by, folds=3)  # type: ignore[arg-type]
    whole, lost = noisy(1), [r for r in noisy(2) if r != noisy(2)[5]]
    gold = scored("gold", noisy(3)) if by == "learned" else None
    gone = failed("a", segment="5", protocol="metric")
    found = combine_scores([scored("one", whole), scored("two", [*lost, gone])], settings, gold)
    without = [r for r in whole if (r.segment, getattr(r, "system", "")) != ("5", "a")]
    alone = combine_scores([scored("one", without), scored("two", lost)], settings, gold)
    assert numbers(found) == numbers(alone) | {("a", "5"): None}
    (failure,) = [r for r in found.records if isinstance(r, Failure)]
    assert (failure.annotator, failure.protocol, failure.reason, failure.detail) == (
        "ensemble", "metric", "refused", "two: ",
    )  # fmt: skip
    assert failure.document == "d2"
    assert {s.system: s.failed for s in score_records(found.records).systems} == {"a": 1, "b": 0, "c": 0}


def test_where_everything_failed_nothing_has_a_number() -> None:
    gone = [failed("a", segment=str(n), protocol="metric") for n in range(2)]
    found = combine_scores([scored("one", made({"a": [1.0, 2.0]})), scored("two", gone)], Z)
    assert all(isinstance(r, Failure) for r in found.records)
    assert len(found.records) == 2


def test_what_a_member_was_not_asked_for_is_left_out_and_said() -> None:
    members = [scored("one", made({"a": [1.0, 2.0, 3.0]})), scored("two", made({"a": [1.0, 2.0]}))]
    found = combine_scores(members, RANKS)
    assert numbers(found) == {("a", "0"): 0.25, ("a", "1"): 0.75}
    assert found.notes == ("one: 1 judgement is left out, which not all members were asked for.",)
    with pytest.raises(DataError, match="no translation was judged by all of one, two"):
        combine_scores([members[0], scored("two", made({"z": [1.0]}))], RANKS)


def test_a_member_that_tells_nothing_apart_is_named() -> None:
    found = combine_scores([scored("flat", made({"a": [5.0, 5.0]})), scored("m", made({"a": [1.0, 2.0]}))], Z)
    assert found.notes == ("flat gives all of en-de the same score, and so adds nothing.",)
    assert numbers(found) == {("a", "0"): -0.5, ("a", "1"): 0.5}


def test_flags_of_texts_that_speak_to_the_judge_are_kept() -> None:
    flags = ("injection_suspect", "asks_for_score@translation", "repaired")
    one = [replace(r, flags=flags) if isinstance(r, Annotation) else r for r in made({"a": [1.0]})]
    (record,) = combine_scores([scored("one", one), scored("two", made({"a": [1.0]}))], Z).records
    assert isinstance(record, Annotation)
    assert record.flags == flags[:2]


# Learned weights...


def learn(gold: Iterable[Record], **settings: object) -> Combined:
    members = [scored("one", noisy(1)), scored("two", noisy(2))]
    chosen = EnsembleSettings(**{"by": "learned", "folds": 3, **settings})  # type: ignore[arg-type]
    return combine_scores(members, chosen, scored("gold", gold))


def test_no_gold_of_a_document_has_a_part_in_its_own_score() -> None:
    gold = noisy(3)
    turned = [
        replace(r, rating=-7 * (r.rating or 0)) if isinstance(r, Annotation) and r.document == "d2" else r
        for r in gold
    ]
    before, after = numbers(learn(gold)), numbers(learn(turned))
    assert all(before[key] == after[key] for key in before if key[1] in {"4", "5"})
    assert any(before[key] != after[key] for key in before)


def test_learned_weights_are_told_by_language_pair_and_fold() -> None:
    found = learn(noisy(1))
    assert found.weights["en-de"]["one"] == pytest.approx((1.0, 1.0, 1.0))
    assert found.weights["en-de"]["two"] == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)


def test_gold_may_have_gaps_and_its_failures_teach_nothing() -> None:
    gold = noisy(3)[:-6]
    found = learn([*gold, failed("c", segment="11", protocol="metric")])
    assert numbers(found).keys() == numbers(learn(noisy(3))).keys()
    assert None not in numbers(found).values()
    assert numbers(found) == numbers(learn(gold))


def test_folds_of_documents_need_documents() -> None:
    bare = [replace(r, document="") for r in noisy(1)]
    members, gold = [scored("one", bare), scored("two", bare)], scored("gold", bare)
    with pytest.raises(UsageError, match="--fold-by segment"):
        combine_scores(members, EnsembleSettings(by="learned", folds=3), gold)
    combine_scores(members, EnsembleSettings(by="learned", folds=3, fold_by="segment"), gold)


def test_gold_is_for_learning_and_learning_needs_gold() -> None:
    members = [scored("one", noisy(1)), scored("two", noisy(2))]
    for settings, gold in ((Z, members[0]), (EnsembleSettings(by="learned"), None)):
        with pytest.raises(UsageError, match="give both gold and `learned`"):
            combine_scores(members, settings, gold)
    with pytest.raises(UsageError, match="within must be 'lp' or 'segment'"):
        EnsembleSettings(within="document")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="folds must be greater than or equal to 2; got 1"):
        EnsembleSettings(folds=1)
    with pytest.raises(DataError, match="gold judges nothing of en-de"):
        learn(made({"a": [1.0]}, lp="zh-en"))


# Majorities...


@pytest.mark.parametrize(
    ("votes", "verdict", "flags"),
    [
        ("AAB", "A", ()),
        ("ABB", "B", ()),
        ("EEA", "E", ()),
        ("ABE", "E", (NO_MAJORITY,)),
        ("AB", "E", (NO_MAJORITY,)),
        ("AE", "E", (NO_MAJORITY,)),
        ("AABB", "E", (NO_MAJORITY,)),
        ("AAEEB", "E", (NO_MAJORITY,)),
        ("AAA", "A", ()),
        ("A-", "A", ()),
        ("AB-", "E", (NO_MAJORITY,)),
        ("E--", "E", ()),
        ("--", "E", (UNDECIDED,)),
    ],
)
def test_the_verdict_of_most_members_stands(votes: str, verdict: str, flags: tuple[str, ...]) -> None:
    """A dash is a verdict that changed with the order."""
    members = [
        voted(
            str(n),
            [
                replace(preferred("x", "y", "E"), flags=(UNDECIDED,))
                if vote == "-"
                else preferred("x", "y", vote)  # type: ignore[arg-type]
            ],
        )
        for n, vote in enumerate(votes)
    ]
    assert verdicts(combine_verdicts(members)) == {("x", "y", "overall"): (verdict, flags)}


def test_pairs_are_turned_to_one_order() -> None:
    found = combine_verdicts([voted("m", [preferred("y", "x", "A")]), voted("n", [preferred("x", "y", "B")])])
    assert verdicts(found) == {("x", "y", "overall"): ("B", ())}


def test_scores_vote_too_for_the_better_one() -> None:
    judged = [rated("x", "1", 80), rated("y", "1", 70)]
    judge = voted("judge", [preferred("x", "y", "A"), preferred("x", "y", "B", criterion="fluency")])
    found = combine_verdicts([judge, voted("scores", judged)])
    assert verdicts(found) == {("x", "y", "overall"): ("A", ())}
    assert found.notes == ("judge: 1 judgement is left out, which not all members were asked for.",)
    assert voted("scores", judged, tie=10).outcomes == {("en-de", "1", "x", "y", "overall"): "E"}


def test_several_people_have_one_vote_by_their_mean_and_preferences_need_one_annotator() -> None:
    people = [rated("x", "1", value, annotator=who) for who, value in (("p", 90), ("q", 40))]
    assert voted("people", [*people, rated("y", "1", 60, annotator="p")]).outcomes == {
        ("en-de", "1", "x", "y", "overall"): "A"
    }
    with pytest.raises(DataError, match="a member has one vote"):
        voted("people", [preferred("x", "y", "A", annotator=who) for who in "pq"])
    with pytest.raises(DataError, match="compares x and y twice"):
        voted("m", [preferred("x", "y", "A"), preferred("y", "x", "A")])
    with pytest.raises(DataError, match="holds preferences, which have no scores"):
        scored("m", [preferred("x", "y", "A")])


def test_a_failed_vote_is_a_failure_and_never_a_tie() -> None:
    one = [preferred("x", "y", "A"), preferred("x", "y", "A", criterion="style")]
    for lost, kept in (("style", {("x", "y", "overall"): ("A", ())}), (None, {})):
        other: list[Record] = [failed("y", "x", segment="1", protocol="pairwise", criterion=lost)]
        if lost is not None:
            other.append(preferred("x", "y", "A"))
        found = combine_verdicts([voted("m", one), voted("n", other)])
        assert verdicts(found) == kept
        lasting = [r for r in found.records if isinstance(r, Failure)]
        assert {(r.systems, r.protocol, r.detail) for r in lasting} == {(("x", "y"), "pairwise", "n: ")}


def test_a_failed_score_fails_its_pairs() -> None:
    judged: list[Record] = [rated("x", "1", 80), failed("y", segment="1"), rated("z", "1", 1)]
    found = combine_verdicts([voted("m", judged), voted("n", [rated(s, "1", 5) for s in "xyz"])])
    assert verdicts(found) == {("x", "z", "overall"): ("E", (NO_MAJORITY,))}
    assert sum(isinstance(r, Failure) for r in found.records) == 2


WHOLE = st.integers(-50, 50).map(float)


def test_ranks_are_shares_from_worst_to_best_and_ties_have_their_mean() -> None:
    scores = np.array([[3.0, 1.0, 2.0, 2.0], [0.3, 0.0, 0.1 + 0.2, -1.0]])
    found = rank_shares(scores, [np.arange(4)])
    assert found.tolist() == [[7 / 8, 1 / 8, 4 / 8, 4 / 8], [6 / 8, 3 / 8, 6 / 8, 1 / 8]]


@given(arrays(float, (2, 9), elements=WHOLE))
def test_z_scores_are_scipys(scores: np.ndarray) -> None:
    found = z_scores(scores, [np.arange(9)])
    for ours, row in zip(found, scores, strict=True):
        assert ours == pytest.approx(zscore(row) if np.ptp(row) else np.zeros(9), abs=1e-9)


def test_groups_are_scaled_on_their_own() -> None:
    scores = np.array([[1.0, 10.0, 3.0, 30.0]])
    groups = places_of(["x", "y", "x", "y"])
    assert z_scores(scores, groups).tolist() == [[-1, -1, 1, 1]]
    assert rank_shares(scores, groups).tolist() == [[0.25, 0.25, 0.75, 0.75]]


def test_equal_scores_have_no_deviation_and_gaps_stay() -> None:
    scores = np.array([[0.1 + 0.2, 0.3, np.nan], [np.nan, np.nan, np.nan]])
    found = z_scores(scores, [np.arange(3)])
    assert found[0, :2].tolist() == [0, 0]
    assert np.isnan(found[0, 2])
    assert np.isnan(found[1]).all()


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(2, 5), st.integers(0, 3))
def test_units_stay_whole_and_folds_are_even(units: list[int], folds: int, seed: int) -> None:
    if len(set(units)) < folds:
        with pytest.raises(DataError, match="as many units"):
            fold_of_each(units, folds, seed)
        return
    found = fold_of_each(units, folds, seed)
    of = {unit: {int(f) for u, f in zip(units, found, strict=True) if u == unit} for unit in units}
    assert all(len(own) == 1 for own in of.values())
    sizes = [sum(own == {fold} for own in of.values()) for fold in range(folds)]
    assert max(sizes) - min(sizes) <= 1
    assert found.tolist() == fold_of_each(units, folds, seed).tolist()


def test_the_seed_deals_otherwise() -> None:
    assert len({tuple(fold_of_each(range(30), 3, seed).tolist()) for seed in range(4)}) == 4


def test_weights_that_made_gold_are_found() -> None:
    scores = z_scores(np.random.default_rng(1).normal(size=(3, 300)), [np.arange(300)])
    gold = np.array([0.7, 0.0, 0.3]) @ scores * 12 - 5
    gold[::7] = np.nan
    found = learned_weights(scores, gold, np.arange(300) % 4)
    assert found == pytest.approx(np.tile([0.7, 0.0, 0.3], (4, 1)), abs=1e-9)


def test_a_member_that_gold_contradicts_gets_nothing() -> None:
    scores = np.random.default_rng(1).normal(size=(2, 200))
    found = learned_weights(scores, scores[0] - scores[1], np.arange(200) % 2)
    assert found.tolist() == [[1, 0], [1, 0]]


def test_weights_of_a_fold_do_not_know_its_gold() -> None:
    rng = np.random.default_rng(2)
    scores, gold, folds = rng.normal(size=(2, 60)), rng.normal(size=60), np.arange(60) % 3
    gold += scores.sum(axis=0)
    changed = np.where(folds == 1, rng.normal(size=60) * 9, gold)
    before, after = learned_weights(scores, gold, folds), learned_weights(scores, changed, folds)
    assert before[1].tolist() == after[1].tolist()
    assert before[0].tolist() != after[0].tolist()


def test_what_cannot_be_learned_is_said() -> None:
    scores, folds = np.array([[1.0, 2.0, 3.0, 4.0]]), np.array([0, 0, 1, 1])
    with pytest.raises(DataError, match="gold has no judgement outside fold 1"):
        learned_weights(scores, np.array([1.0, 2.0, np.nan, np.nan]), folds)
    with pytest.raises(DataError, match="no member agrees with gold outside fold 1"):
        learned_weights(scores, -scores[0], folds)
