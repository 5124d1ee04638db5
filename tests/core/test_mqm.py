import math
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.analysis.segment_scores import esa_score
from adjudge.core.mqm import (
    WEIGHTS,
    Weights,
    find_weights,
    mqm_range,
    mqm_score,
    read_weights,
    unknown_categories_note,
)
from adjudge.core.protocol import CATEGORIES, SEVERITIES, Severity
from adjudge.core.record import ErrorSpan
from adjudge.errors import DataError, UsageError
from tests.analysis.records import error, mqm, rated

MINOR, MAJOR, CRITICAL, NEUTRAL = (error(s) for s in ("minor", "major", "critical", "neutral"))
COMMA = error("minor", "fluency/punctuation")
GONE = error("major", "non-translation")

TABLE = [
    # weights, errors, score
    ("mqm-google", [], 0.0),
    ("mqm-google", [MINOR], -1.0),
    ("mqm-google", [MAJOR, MINOR, MINOR], -7.0),
    ("mqm-google", [CRITICAL, COMMA, COMMA], -25.2),
    ("mqm-google", [GONE], -25.0),
    ("mqm-google", [error("major", "source error"), NEUTRAL], 0.0),
    ("mqm-google", [CRITICAL] * 3, -75.0),
    ("mqm-google", [COMMA], -0.1),
    ("mqm-google", [error("major", "fluency/punctuation")], -5.0),
    ("gemba", [COMMA], -1.0),
    ("gemba", [MINOR] * 7, -5.0),  # the first five only
    ("gemba", [MINOR] * 5 + [MAJOR], -9.0),  # the major one stands first
    ("gemba", [MINOR, MAJOR, CRITICAL], -25.0),  # 31 points, capped
    ("gemba", [NEUTRAL] * 5 + [MINOR], -1.0),
    ("himate", [MAJOR, COMMA], -5.1),
    ("himate", [GONE], -5.0),
    ("m-mad", [GONE], -25.0),
    ("m-mad", [COMMA], -1.0),
    ("m-mad-published", [COMMA], -0.1),
    ("m-mad", [MAJOR] * 6, -30.0),  # no cap
    ("esa-spans", [MAJOR, MINOR], -6.0),
]


@pytest.mark.parametrize(("weights", "errors", "score"), TABLE)
def test_the_score_is_minus_the_points_of_the_errors(
    weights: str, errors: list[ErrorSpan], score: float
) -> None:
    assert mqm_score(mqm("a", "1", *errors), find_weights(weights)) == pytest.approx(score, abs=1e-12)


def test_a_clean_translation_scores_zero_and_not_minus_zero() -> None:
    assert math.copysign(1, mqm_score(mqm("a", "1"), find_weights("mqm-google"))) == 1


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(SEVERITIES),
            st.sampled_from([None, "style", "terminology", "accuracy/omission", "non-translation"]),
        ),
        max_size=6,
    ),
    st.integers(1, 4),
    st.randoms(),
)
def test_the_errors_that_count_are_the_costliest_in_whichever_order(
    errors: list[tuple[Severity, str | None]], first: int, rng: random.Random
) -> None:
    weights = Weights(
        name="few",
        source="",
        rules={
            "critical": 7,
            "major": 5,
            "minor": 1,
            "neutral": 0,
            "minor/style": 0.1,
            "*/non-translation": 25,
        },
        multipliers={"terminology": 8, "accuracy": 0.5},
        first=first,
    )
    spans = [error(*each) for each in errors]
    costs = sorted((weights.points_of(span) for span in spans), reverse=True)
    found = mqm_score(mqm("a", "1", *spans), weights)
    assert found == pytest.approx(-sum(costs[:first]))
    rng.shuffle(spans)
    assert mqm_score(mqm("a", "1", *spans), weights) == found


def test_a_rule_of_a_subtype_wins_over_one_of_its_core_type() -> None:
    rules = {"minor": 1, "minor/accuracy": 2, "*/accuracy/omission": 3}
    weights = Weights(name="mine", source="", rules=rules)
    assert weights.points("minor", "accuracy/omission") == 3
    assert weights.points("minor", "accuracy/addition") == 2
    assert weights.points("minor", "style") == 1


@pytest.mark.parametrize(
    ("counts", "score"), [({"major": 2, "minor": 3}, -13.0), ({"major": 0, "minor": 0}, 0.0), ({}, -5.0)]
)
def test_what_the_annotator_counted_is_scored_instead_of_what_it_listed(
    counts: dict[Severity, int], score: float
) -> None:
    listed = replace(mqm("a", "1", MAJOR), counts=counts)
    assert mqm_score(listed, find_weights("ea-prompt")) == score


def test_errors_on_the_source_and_errors_found_nowhere_count_too() -> None:
    omission = ErrorSpan(severity="major", category="accuracy/omission", side="source", start=0, end=4)
    lost = ErrorSpan(severity="minor", match="unmatched", text="not there")
    assert mqm_score(mqm("a", "1", omission, lost), find_weights("mqm-google")) == -6.0


def test_an_error_without_a_rule_is_refused() -> None:
    with pytest.raises(UsageError, match="'himate' have no rule for a critical error"):
        mqm_score(mqm("a", "1", CRITICAL), find_weights("himate"))


@pytest.mark.parametrize(
    ("weights", "severity", "score"),
    [
        ("mqm-google", "critical", -25.0),
        ("mqm-google", "major", -5.0),
        ("mqm-google", "minor", -1.0),
        ("mqm-google", "neutral", 0.0),
        ("gemba", "major", -5.0),
        ("himate", "minor", -1.0),
        ("m-mad", "major", -5.0),
        ("ea-prompt-published", "major", -6.0),
        ("esa-spans", "critical", -5.0),
    ],
)
@pytest.mark.parametrize("label", ["Fluency/Display", "Style/Archaic or obscure word choice", "Nonsense"])
def test_an_error_of_an_unknown_category_costs_what_its_severity_costs(
    label: str, weights: str, severity: Severity, score: float
) -> None:
    assert mqm_score(mqm("a", "1", error(severity, label=label)), find_weights(weights)) == score


def test_errors_of_unknown_categories_are_counted_and_named() -> None:
    display, nonsense = error("minor", label="Fluency/Display"), error("major", label="Nonsense")
    known = error("minor", "source error", label="Source issue")
    records = [mqm("a", "1", display, known, MINOR), mqm("b", "1", display, nonsense)]
    (note,) = unknown_categories_note(records, WEIGHTS["mqm-google"])
    assert note.startswith(
        "3 errors have categories that adjudge does not know ('Fluency/Display' 2, 'Nonsense' 1)"
    )
    assert note.endswith(": each costs what its severity costs.")
    (note,) = unknown_categories_note([mqm("a", "1", nonsense)], WEIGHTS["mqm-google"])
    assert note.startswith("1 error has a category that adjudge does not know ('Nonsense' 1)")
    many = [mqm("a", str(n), error("minor", label=f"Odd {n}")) for n in range(7)]
    assert "'Odd 4' 1 and 2 other categories)" in unknown_categories_note(many, WEIGHTS["mqm-google"])[0]
    assert unknown_categories_note([mqm("a", "1", known, MINOR)], WEIGHTS["mqm-google"]) == []
    assert (
        unknown_categories_note(
            [replace(mqm("a", "1", nonsense), counts={"major": 1})], WEIGHTS["mqm-google"]
        )
        == []
    )


def test_a_raw_label_beside_a_known_category_is_only_kept() -> None:
    known = error("minor", "source error", label="Source issue")
    assert mqm_score(mqm("a", "1", known), find_weights("mqm-google")) == 0.0


errors = st.builds(
    error,
    st.sampled_from(["neutral", "minor", "major"]),
    st.sampled_from([None, *CATEGORIES]),
)


@given(
    st.lists(errors, max_size=12),
    errors,
    st.sampled_from(["mqm-google", "himate", "m-mad", "esa-spans"]),
)
def test_one_more_error_never_raises_a_score(found: list[ErrorSpan], more: ErrorSpan, name: str) -> None:
    weights = find_weights(name)
    before = mqm_score(mqm("a", "1", *found), weights)
    assert mqm_score(mqm("a", "1", *found, more), weights) <= before <= 0


@given(st.lists(errors, max_size=12), st.sampled_from(["mqm-google", "gemba"]))
def test_a_score_stays_within_its_range(found: list[ErrorSpan], name: str) -> None:
    low, high = mqm_range(find_weights(name))
    assert low <= mqm_score(mqm("a", "1", *found), find_weights(name)) <= high


def test_the_range_ends_at_the_cap() -> None:
    assert mqm_range(find_weights("gemba")) == (-25, 0)
    assert mqm_range(find_weights("mqm-google")) == (-math.inf, 0)


def test_esa_is_its_rating_or_with_weights_its_spans() -> None:
    esa = replace(rated("a", "1", 83, protocol="esa"), spans=(MAJOR, MINOR, MINOR))
    assert esa_score(esa) == 83
    assert esa_score(esa, find_weights("esa-spans")) == -7


def test_esa_without_a_rating_has_no_score() -> None:
    with pytest.raises(DataError, match="has no rating"):
        esa_score(mqm("a", "1", MAJOR))


# Weights from a file.


FILE = """
first = 3
cap = 40

[points]
critical = 25
major = 5
minor = 1
neutral = 0
"minor/fluency/punctuation" = 0.1
"*/omission" = 10
"Major/Legal" = 7

[multipliers]
terminology = 2
"Brand voice" = 1.5
"accuracy/mistranslation" = 3
accuracy = 4
"""

LABELLED = [
    ([MINOR, MAJOR], -6.0),
    ([COMMA], -0.1),
    ([error("minor", "accuracy/omission")], -10.0),  # a rule of the category, whatever its severity
    ([error("major", "terminology/inconsistent use")], -10.0),  # twice, by its core type
    ([error("minor", "accuracy/mistranslation")], -3.0),  # the subtype's own multiplier
    ([error("minor", "accuracy/addition")], -4.0),
    ([error("minor", label="brand  Voice")], -1.5),
    ([error("major", label="Legal")], -7.0),
    ([error("minor", label="Legal")], -1.0),  # no rule for minor ones
    ([error("minor", label="Odd")], -1.0),
    ([MINOR] * 5, -3.0),  # the first three
    ([CRITICAL, CRITICAL], -40.0),  # the cap
]


@pytest.fixture
def scorecard(tmp_path: Path) -> Path:
    path = tmp_path / "card.toml"
    path.write_text(FILE)
    return path


@pytest.mark.parametrize(("errors", "score"), LABELLED)
def test_a_file_of_weights_scores_by_its_points_multipliers_and_limits(
    scorecard: Path, errors: list[ErrorSpan], score: float
) -> None:
    assert mqm_score(mqm("a", "1", *errors), find_weights(str(scorecard))) == score


def test_a_category_of_a_file_is_known_to_its_note(scorecard: Path) -> None:
    records = [mqm("a", "1", error("minor", label="Legal"), error("minor", label="Odd"))]
    (note,) = unknown_categories_note(records, read_weights(scorecard))
    assert "'Odd' 1" in note
    assert "Legal" not in note


def test_the_name_of_a_file_tells_what_it_says(scorecard: Path) -> None:
    first = read_weights(scorecard).name
    assert first.startswith("card@")
    scorecard.write_text("# a comment\n" + FILE)
    assert read_weights(scorecard).name == first
    scorecard.write_text(FILE.replace("major = 5", "major = 6"))
    assert read_weights(scorecard).name != first


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x", "Expected '='"),
        ("first = 3", "points: Field required"),
        ("[points]\nmjor = 1", "'mjor' begins with none of neutral"),
        ("[points]\n'*' = 1", "'\\*' begins with none of"),
        ("[points]\nmajor = -1", "points.major: Input should be greater"),
        ("[points]\nmajor = nan", "points.major"),
        ("[points]\nmajor = 5\n[pass]\npoints = 1", "pass: Unexpected"),
        ("[points]\nmajor = 5\n[passing]\nwords = 9", "passing.points: Field required"),
        ("[points]\nmajor = 5\n[passing]\npoints = 1\nwords = 0", "passing.words"),
        ("[points]\nmajor = 5\n[passing]\npoints = 1\nword = 5", "passing.word: Unexpected"),
    ],
)
def test_a_file_that_is_no_weights_says_where(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=told):
        find_weights(str(path))


def test_an_error_without_a_rule_in_a_file_is_never_free(tmp_path: Path) -> None:
    path = tmp_path / "few.toml"
    path.write_text("[points]\nmajor = 5\n")
    with pytest.raises(UsageError, match="no rule for a minor error; add it to their file: minor = "):
        mqm_score(mqm("a", "1", MINOR), find_weights(str(path)))
    with pytest.raises(UsageError, match="there is no file of weights"):
        find_weights(str(tmp_path / "none.toml"))


SPELLED = [
    ("points", "*/omission", "*/Accuracy/Omission"),
    ("points", "*/accuracy/omission", "*/Accuracy / Omission"),
    ("points", "Major", "major"),
    ("points", "major/Brand voice", "Major/brand  VOICE"),
    ("multipliers", "Terminology", "terminology"),
    ("multipliers", "omission", "Accuracy/Omission"),
    ("multipliers", "Brand voice", "brand voice"),
]


@pytest.mark.parametrize(("table", "one", "other"), SPELLED)
@pytest.mark.parametrize("values", [(1, 2), (2, 1), (3, 3)])
def test_two_spellings_of_one_rule_are_refused_in_either_order(
    tmp_path: Path, table: str, one: str, other: str, values: tuple[int, int]
) -> None:
    path = tmp_path / "card.toml"
    lines = {"points": ["minor = 1"], "multipliers": []}
    lines[table] += [f'"{key}" = {value}' for key, value in zip((one, other), values, strict=True)]
    path.write_text("".join(f"[{name}]\n" + "\n".join(rows) + "\n" for name, rows in lines.items()))
    with pytest.raises(UsageError, match=rf"{table}: '{re.escape(one)}' and '{re.escape(other)}' are both"):
        read_weights(path)
