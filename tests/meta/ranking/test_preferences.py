from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge import examples
from adjudge.analysis.preferences import preferences_from_annotations
from adjudge.core.record import Annotation, Failure, Preference, Record, Verdict
from adjudge.errors import DataError, UsageError
from adjudge.store.json_lines import read_records
from tests.scoring.records import error, failed, mqm, preferred, rated


def verdicts(records: Iterable[Record]) -> dict[tuple[str, ...], Verdict]:
    return {
        (r.lp, r.segment, *r.systems, r.criterion): r.verdict for r in records if isinstance(r, Preference)
    }


def test_higher_scores_are_preferred_and_equal_ones_tie() -> None:
    found = preferences_from_annotations([rated("c", "1", 50), rated("a", "1", 80), rated("b", "1", 80)])
    assert [(p.systems, p.verdict) for p in found if isinstance(p, Preference)] == [
        (("a", "b"), "E"),
        (("a", "c"), "A"),
        (("b", "c"), "A"),
    ]


@pytest.mark.parametrize(("epsilon", "verdict"), [(0, "B"), (4.9, "B"), (5, "E"), (6, "E")])
def test_scores_that_differ_by_epsilon_tie(epsilon: float, verdict: Verdict) -> None:
    records = [rated("a", "1", 70), rated("b", "1", 75)]
    (found,) = preferences_from_annotations(records, epsilon=epsilon)
    assert isinstance(found, Preference)
    assert found.verdict == verdict


def test_rounding_noise_prefers_nothing() -> None:
    noisy = [rated("a", "1", 0.1 + 0.2), rated("b", "1", 0.3)]
    assert [p.verdict for p in preferences_from_annotations(noisy) if isinstance(p, Preference)] == ["E"]


def test_each_annotator_has_preferences_of_its_own() -> None:
    records = [rated("a", "1", 1, annotator=n) for n in "xy"] + [rated("b", "1", 2, annotator="x")]
    assert [p.annotator for p in preferences_from_annotations(records)] == ["x"]


def test_a_pair_with_a_failure_is_a_failure_of_its_reason() -> None:
    (found,) = preferences_from_annotations([rated("b", "1", 3), failed("a", segment="1")])
    assert isinstance(found, Failure)
    assert (found.systems, found.reason, found.criterion) == (("a", "b"), "refused", "overall")


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
