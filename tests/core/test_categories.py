import csv
import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.mqm import WEIGHTS, find_weights
from adjudge.core.protocol import CATEGORIES, SEVERITIES, SUBTYPES, Severity, find_category, find_severity
from adjudge.errors import DataError, UsageError


def test_himate_has_nineteen_subtypes_of_five_core_types() -> None:
    assert len(SUBTYPES) == 19
    assert {name.split("/")[0] for name in SUBTYPES} == {
        "accuracy",
        "terminology",
        "fluency",
        "style",
        "locale convention",
    }


@pytest.mark.parametrize("name", CATEGORIES)
def test_a_canonical_category_is_its_own_spelling(name: str) -> None:
    assert find_category(name) == name


@pytest.mark.parametrize(
    ("label", "category"),
    [
        ("Accuracy/Omission", "accuracy/omission"),
        ("  accuracy /  Omission ", "accuracy/omission"),
        ("Omission", "accuracy/omission"),
        ("Accuracy/Omission (Translation 2)", "accuracy/omission"),
        ("accuracy/source language fragment", "accuracy/untranslated text"),
        ("Accuracy/Untranslated text", "accuracy/untranslated text"),
        ("Accuracy/Creative Reinterpretation", "accuracy/creative reinterpretation"),
        ("Accuracy/Gender Mismatch", "accuracy/gender mismatch"),
        ("Fluency/Text-Breaking", "fluency/text-breaking"),
        ("Style/Awkward", "style/awkward"),
        ("style/unnatural or awkward", "style/awkward"),
        ("style/bad sentence structure", "style/awkward"),
        ("Terminology/Inconsistent use of terminology", "terminology/inconsistent use"),
        ("terminology/inconsistent", "terminology/inconsistent use"),
        ("Locale convention/Name format", "locale convention/name"),
        ("Source error/-", "source error"),
        ("source issue", "source error"),
        ("Non-translation!", "non-translation"),
        ("Other", "other"),
        ("Linguistic conventions/Punctuation", "fluency/punctuation"),
        ("Terminology/Wrong term", "terminology/inappropriate for context"),
        ("Design and markup/Truncation/text expansion", "other"),
        ("Style/Language register", "fluency/register"),
    ],
)
def test_every_year_s_spelling_maps_to_one_category(label: str, category: str) -> None:
    assert find_category(label) == category


@pytest.mark.parametrize("label", ["No-error", "no-error", "HOTW-test", "", "/", "Accuracy/Schwer", "Found"])
def test_what_is_no_error_category_has_none(label: str) -> None:
    assert find_category(label) is None


@pytest.mark.parametrize(
    ("label", "severity"),
    [("Major", "major"), ("minor ", "minor"), (" CRITICAL", "critical"), ("Neutral", "neutral")],
)
def test_a_severity_is_known_in_any_capitals(label: str, severity: str) -> None:
    assert find_severity(label) == severity


@pytest.mark.parametrize("label", ["Schwer", "", "No-error", "undecided", "maj"])
def test_an_unknown_severity_has_no_name(label: str) -> None:
    assert find_severity(label) is None


@given(st.sampled_from(SEVERITIES), st.sampled_from([None, *CATEGORIES]), st.sampled_from(list(WEIGHTS)))
def test_every_error_has_a_price_or_is_refused(severity: Severity, category: str | None, name: str) -> None:
    try:
        assert WEIGHTS[name].points(severity, category) >= 0
    except UsageError as error:
        assert name in str(error)  # noqa: PT017 (either outcome is right; a wrong sentence is not)


@pytest.mark.parametrize(
    ("weights", "severity", "category", "points"),
    [
        ("mqm-google", "critical", "accuracy/mistranslation", 25),
        ("mqm-google", "major", "fluency/punctuation", 5),
        ("mqm-google", "minor", "fluency/punctuation", 0.1),
        ("mqm-google", "minor", "fluency", 1),
        ("mqm-google", "minor", None, 1),
        ("mqm-google", "major", "non-translation", 25),
        ("mqm-google", "minor", "non-translation", 25),
        ("mqm-google", "major", "source error", 0),
        ("mqm-google", "major", "accuracy/creative reinterpretation", 0),
        ("mqm-google", "neutral", "style/awkward", 0),
        ("mqm-google-2021", "major", "source error", 5),
        ("gemba", "minor", "fluency/punctuation", 1),
        ("gemba", "critical", None, 25),
        ("himate", "minor", "fluency/punctuation", 0.1),
        ("himate", "major", "non-translation", 5),
        ("m-mad", "minor", "fluency/punctuation", 1),
        ("m-mad-published", "minor", "fluency/punctuation", 0.1),
        ("m-mad", "major", "non-translation", 25),
        ("ea-prompt", "major", None, 5),
        ("ea-prompt-published", "major", None, 6),
        ("esa-spans", "critical", None, 5),
    ],
)
def test_weights_are_those_of_their_papers(
    weights: str, severity: Severity, category: str | None, points: float
) -> None:
    assert find_weights(weights).points(severity, category) == points


@pytest.mark.parametrize(
    ("weights", "severity"), [("himate", "critical"), ("m-mad", "critical"), ("ea-prompt", "neutral")]
)
def test_an_error_that_weights_do_not_know_is_never_free(weights: str, severity: Severity) -> None:
    with pytest.raises(UsageError, match=f"no rule for a {severity} error"):
        find_weights(weights).points(severity, None)


@pytest.mark.parametrize("severity", ["Critical", "Major ", "Schwer", ""])
def test_a_severity_that_does_not_exist_is_never_free(severity: Severity) -> None:
    with pytest.raises(UsageError, match="no rule"):
        find_weights("mqm-google").points(severity, "accuracy")


def test_a_category_that_does_not_exist_is_refused() -> None:
    with pytest.raises(DataError, match="got 'accuracy/nonsense'"):
        find_weights("mqm-google").points("minor", "accuracy/nonsense")


def test_unknown_weights_name_those_that_exist() -> None:
    with pytest.raises(UsageError, match=r"mqm-google.*esa-spans"):
        find_weights("mqm")


# Real data...


def rating_errors(folder: Path) -> Iterator[dict[str, object]]:
    for path in sorted((folder / "wmt23" / "human-scores").glob("*.seg.rating")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            _, _, rest = line.partition("\t")
            if rest and rest != "None":
                yield from json.loads(rest)["errors"]


@pytest.mark.realdata
def test_mqm_google_gives_every_error_of_wmt23_the_points_that_wmt_gave(adjudge_data: Path) -> None:
    weights = find_weights("mqm-google")
    errors = list(rating_errors(adjudge_data))
    for found in errors:
        severity, category = find_severity(str(found["severity"])), find_category(str(found["category"]))
        assert severity is not None, found
        assert category is not None, found
        assert weights.points(severity, category) == found["score"], found
    assert len(errors) > 30_000


def labels(folder: Path) -> Iterator[tuple[str, str]]:
    """Category and severity of every error in the MQM TSV and Appraise files."""
    for path in (folder / "mqm-tsv").glob("*.tsv"):
        with path.open(encoding="utf-8", newline="\n") as lines:
            head = next(lines).rstrip("\n").split("\t")
            if "category" in head:
                for line in lines:
                    cells = line.rstrip("\r\n").split("\t")
                    yield cells[head.index("category")], cells[head.index("severity")]
    for path in (folder / "esa").glob("*.scores.csv"):
        with path.open(encoding="utf-8-sig", newline="") as lines:
            spans = itertools.chain.from_iterable(json.loads(row[9]) for row in csv.reader(lines))
            for span in spans:
                yield "/".join(span.get("error_type") or ["Other"]), span["severity"]


@pytest.mark.realdata
def test_every_label_of_the_public_files_is_known_or_says_that_there_is_no_error(adjudge_data: Path) -> None:
    found = set(labels(adjudge_data))
    assert len(found) > 50
    assert {category for category, _ in found if find_category(category) is None} == {"No-error"}
    assert {severity for _, severity in found if find_severity(severity) is None} == {"No-error", "undecided"}
