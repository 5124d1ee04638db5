import itertools
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge import examples
from adjudge.analysis.preferences import (
    TieCalibration,
    calibrate_ties,
    preferences_from_annotations,
    tabulate,
)
from adjudge.core.record import Annotation, Failure, Preference, Record, Verdict
from adjudge.errors import DataError, DataWarning, UsageError
from adjudge.store.run_directory import read_records
from tests.analysis.records import error, failed, mqm, preferred, rated


def test_verdicts_are_arranged_whichever_way_round_the_pair_was() -> None:
    records = [
        preferred("a", "b", "A"),
        preferred("b", "a", "A", annotator="other"),
        preferred("a", "b", "E", "2", annotator="other"),
    ]
    found = tabulate(records, "overall")
    assert found.annotators == ("ann", "other")
    assert [u[:4] for u in found.units] == [("en-de", "1", "a", "b"), ("en-de", "2", "a", "b")]
    np.testing.assert_array_equal(found.labels, [[1, -1], [np.nan, 0]])
    assert not np.signbit(found.labels[1, 1])
    assert found.segments == [0, 1]


def test_failures_are_counted_and_other_criteria_left_out() -> None:
    records: list[Record] = [
        preferred("a", "b", "A", criterion="style"),
        failed("a", "b", segment="1", protocol="pairwise", criterion="overall"),
        failed("a", "c", segment="1", protocol="pairwise"),
        failed("a", "b", segment="1", protocol="pairwise", criterion="style"),
        rated("a", "1", 3),
    ]
    found = tabulate(records, "overall")
    assert (found.units, found.failed) == ((), {"ann": 2})
    assert found.failed_of == {"a": 2, "b": 1, "c": 1}
    assert found.systems == ("a", "b", "c")


def test_a_pair_compared_twice_by_one_annotator_is_an_error() -> None:
    with pytest.raises(DataError, match="'ann' compared b and a twice on segment '1' of en-de for overall"):
        tabulate([preferred("a", "b", "A"), preferred("b", "a", "B")], "overall")


def test_a_segment_without_a_document_is_a_document_of_its_own() -> None:
    records = [
        replace(preferred("a", "b", "A", "1"), document="d"),
        replace(preferred("a", "b", "A", "2"), document="d"),
        preferred("a", "b", "A", "3"),
        preferred("a", "b", "A", "4"),
    ]
    assert tabulate(records, "overall").documents == [0, 0, 1, 2]


def verdicts(records: Iterable[Record]) -> dict[tuple[str, ...], Verdict]:
    return {
        (r.lp, r.segment, *r.systems, r.criterion): r.verdict for r in records if isinstance(r, Preference)
    }


def test_a_document_that_one_annotator_names_is_that_of_all() -> None:
    named = replace(preferred("a", "b", "A"), document="d")
    alike = replace(preferred("a", "b", "A", "2"), document="d")
    for first, second in itertools.permutations([named, preferred("b", "a", "A", annotator="other")]):
        assert tabulate([first, second, alike], "overall").documents == [0, 0]


def test_rounding_noise_prefers_nothing() -> None:
    noisy = [rated("a", "1", 0.1 + 0.2), rated("b", "1", 0.3)]
    assert [p.verdict for p in preferences_from_annotations(noisy) if isinstance(p, Preference)] == ["E"]


def test_each_annotator_has_preferences_of_its_own() -> None:
    records = [rated("a", "1", 1, annotator=n) for n in "xy"] + [rated("b", "1", 2, annotator="x")]
    assert [p.annotator for p in preferences_from_annotations(records)] == ["x"]


def test_a_pair_of_which_both_judgements_failed_is_one_failure() -> None:
    both: list[Record] = [failed("b", segment="1"), failed("a", segment="1"), rated("c", "1", 3)]
    found = [p for p in preferences_from_annotations(both) if isinstance(p, Failure)]
    assert sorted(p.systems for p in found) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert {(p.reason, p.criterion) for p in found} == {("refused", "overall")}


def test_the_planted_errors_of_the_examples_give_their_preferences_on_each_criterion() -> None:
    """Overall is a majority in the examples and a sum for errors in FiRE, so only the criteria compare."""
    gold = verdicts(read_records(examples.path("gold.pairwise.jsonl")))
    found = verdicts(
        preferences_from_annotations(read_records(examples.path("gold.mqm.jsonl")), by_criterion=True)
    )
    wanted = {key: verdict for key, verdict in gold.items() if key[-1] != "overall"}
    assert len(wanted) == 432
    assert {key: found[key] for key in wanted} == wanted


def test_overall_of_criteria_is_the_sum_of_their_scores() -> None:
    records = [
        mqm("a", "1", error("major", "accuracy"), error("minor", "style"), error("major", "other")),
        mqm("b", "1", error("minor", "fluency"), error("minor", "locale convention")),
    ]
    found = preferences_from_annotations(records, by_criterion=True)
    assert [(p.criterion, p.verdict) for p in found if isinstance(p, Preference)] == [
        ("faithfulness", "B"),
        ("fluency", "A"),
        ("style", "B"),
        ("overall", "B"),
    ]


@pytest.mark.parametrize(
    ("records", "options", "wanted"),
    [
        ([preferred("a", "b", "A")], {}, "preferences already"),
        ([rated("a", "1", 1)], {"by_criterion": True}, "protocol da-sqm has none"),
        ([rated("a", "1", 1)], {"epsilon": -1}, "epsilon must be 0 or more, got -1"),
        ([rated("a", "1", 1)], {"epsilon": float("nan")}, "epsilon must be 0 or more"),
    ],
)
def test_what_gives_no_preferences_is_an_error(
    records: list[Record], options: dict[str, float], wanted: str
) -> None:
    with pytest.raises((DataError, UsageError), match=wanted):
        preferences_from_annotations(records, **options)  # type: ignore[arg-type]


def test_an_error_of_an_unknown_core_type_is_refused_and_not_left_out() -> None:
    records = [mqm("a", "1", error("major", label="Weird")), mqm("b", "1")]
    with pytest.raises(DataError, match=r"'Weird' belongs to no criterion .* a segment 1 of en-de, by ann"):
        preferences_from_annotations(records, by_criterion=True)


def test_an_error_of_an_unknown_subtype_counts_on_the_criterion_of_its_core_type() -> None:
    records = [mqm("a", "1", error("major", label="Fluency/Display")), mqm("b", "1")]
    found = preferences_from_annotations(records, by_criterion=True)
    assert {p.criterion: p.verdict for p in found if isinstance(p, Preference)} == {
        "faithfulness": "E",
        "fluency": "B",
        "style": "E",
        "overall": "B",
    }


@given(st.lists(st.integers(0, 3), min_size=2, max_size=5), st.sampled_from([0.0, 1.0]))
def test_a_pair_is_what_the_definition_says(ratings: list[int], epsilon: float) -> None:
    records: list[Annotation] = [rated(chr(97 + i), "1", value) for i, value in enumerate(ratings)]
    found = preferences_from_annotations(records, epsilon=epsilon)
    assert len(found) == len(ratings) * (len(ratings) - 1) // 2
    for p in found:
        assert isinstance(p, Preference)
        a, b = (ratings[ord(system) - 97] for system in p.systems)
        assert p.verdict == ("E" if abs(a - b) <= epsilon else "A" if a > b else "B")


def measured(segment: int, verdict: Verdict, strength: float) -> Preference:
    return replace(preferred("a", "b", verdict, str(segment)), strength=strength)


SAID: tuple[Verdict, ...] = ("E", "E", "A", "B", "A")
TURNED: dict[Verdict, Verdict] = {"A": "B", "B": "A", "E": "E"}
GOLD = [preferred("a", "b", verdict, str(n), annotator="p") for n, verdict in enumerate(SAID)]
JUDGE = [
    measured(0, "A", 0.2),
    measured(1, "B", -0.3),
    measured(2, "A", 0.6),
    measured(3, "B", -0.9),
    measured(4, "B", -0.3),
]


def only(judge: list[Preference], gold: list[Preference] = GOLD) -> TieCalibration:
    (found,) = calibrate_ties(judge, gold)
    return found


def test_it_is_the_lowest_under_which_ranked_and_tied_pairs_agree_best() -> None:
    found = only(JUDGE)
    assert (found.threshold, found.n, found.tied, found.split) == (0.3, 5, 2, 0)
    assert found.before == (2 / 5, 2 / 3, 0.0, 0)
    assert found.after == (4 / 5, 2 / 3, 1.0, 3)


def test_many_ties_of_gold_do_not_make_everything_a_tie() -> None:
    """Nine of ten pairs are tied: all ties would agree on 90 %, and rank nothing."""
    gold = [preferred("a", "b", "E" if n % 10 else "A", str(n), annotator="p") for n in range(100)]
    judge = [measured(n, "A", (0.9 if n % 10 == 0 else 0.1 + n / 1000)) for n in range(100)]
    found = only(judge, gold)
    assert (found.after.ranked, found.after.tied) == (1.0, 1.0)
    assert found.held_out > 0.95


def test_a_criterion_without_a_threshold_is_said_and_left_out() -> None:
    gold = [preferred("a", "b", "E" if n % 2 else "A", str(n), annotator="p") for n in range(40)]
    judge = [measured(n, "B", 0.1 + (n * 7 % 40) / 100) for n in range(40)]
    with pytest.raises(DataError, match="call every pair a tie"):
        calibrate_ties(judge, gold)
    other = [replace(p, criterion="style") for p in judge]
    with pytest.warns(DataWarning, match="on style no threshold agrees better"):
        (found,) = calibrate_ties([*JUDGE, *other], [*GOLD, *(replace(g, criterion="style") for g in gold)])
    assert found.criterion == JUDGE[0].criterion
    with pytest.raises(DataError, match="gold has no verdicts on pairs"):
        calibrate_ties(JUDGE, [])


def test_each_criterion_has_a_threshold_of_its_own() -> None:
    other = [
        replace(p, criterion="style", strength=None if p.strength is None else p.strength / 2) for p in JUDGE
    ]
    found = calibrate_ties([*JUDGE, *other], [*GOLD, *(replace(g, criterion="style") for g in GOLD)])
    assert [(one.criterion, one.threshold) for one in found] == [(JUDGE[0].criterion, 0.3), ("style", 0.15)]


def test_the_pair_may_be_named_the_other_way_round() -> None:
    turned = [replace(g, systems=("b", "a"), verdict=TURNED[g.verdict]) for g in GOLD]
    assert calibrate_ties(JUDGE, turned) == calibrate_ties(JUDGE, GOLD)


@pytest.mark.parametrize(("judge", "missing"), [(JUDGE[2:4], "tied"), (JUDGE[:2], "ranked")])
def test_gold_must_have_both_kinds_of_pairs(judge: list[Preference], missing: str) -> None:
    with pytest.raises(DataError, match=f"gold has no {missing} pair"):
        calibrate_ties(judge, GOLD)


def test_equally_strong_verdicts_are_ties_together_or_not_at_all() -> None:
    judge = [measured(0, "A", 0.4), measured(2, "A", 0.4), measured(4, "A", 0.4), measured(1, "E", 0.0)]
    assert only(judge).threshold == 0.0


def test_of_several_people_the_majority_counts_and_a_pair_without_one_is_left_out() -> None:
    others = [preferred("a", "b", "B", "2", annotator="q"), preferred("a", "b", "A", "4", annotator="q")]
    found = only(JUDGE, [*GOLD, *others])
    assert (found.n, found.tied, found.split) == (4, 2, 1)


def test_strengths_of_two_kinds_are_told(recwarn: pytest.WarningsRecorder) -> None:
    calibrate_ties([replace(p, flags=("renormalised",)) for p in JUDGE], GOLD)
    assert not recwarn.list
    with pytest.warns(DataWarning, match="some strengths are renormalised and some plain"):
        calibrate_ties([replace(JUDGE[0], flags=("renormalised",)), *JUDGE[1:]], GOLD)


def test_without_strengths_there_is_nothing_to_calibrate() -> None:
    with pytest.raises(DataError, match="--samples, or --strength logprob"):
        calibrate_ties(GOLD, GOLD)
