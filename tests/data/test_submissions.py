"""Submissions as JSON lines: every field comes back, nothing else comes in, and what counts is said."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.record import Annotation, ErrorSpan, Failure, Preference
from adjudge.errors import DataError
from adjudge.formats.campaign_export import (
    KINDS,
    SCHEMA,
    CampaignFile,
    Submission,
    campaign_test_set,
    final_records,
    read_campaign_file,
    read_submissions,
    submission_from_json,
    submission_to_json,
    write_campaign_file,
)
from tests.data.nasty import annotations, ids, preferences, ratings, spans, texts

times = st.floats(0, 2e9).map(lambda seconds: round(seconds, 3))
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)


@st.composite
def drawn_submissions(draw: st.DrawFn) -> Submission:
    started, ended = sorted((draw(times), draw(times)))
    judgements = st.one_of(annotations, preferences, ratings)
    return Submission(
        person=draw(ids),
        protocol=draw(ids),
        kind=draw(st.sampled_from(KINDS)),
        lp="en-de",
        segment=draw(ids),
        document=draw(texts),
        task=draw(st.integers(0, 9)),
        item=draw(st.integers(0, 9)),
        place=draw(st.integers(0, 9)),
        batch=draw(st.none() | st.integers(0, 9)),
        records=tuple(draw(st.lists(judgements, max_size=2))),
        texts=draw(st.dictionaries(ids, texts, max_size=2)),
        source=draw(texts),
        originals=draw(st.dictionaries(ids, texts, max_size=2)),
        given=draw(st.dictionaries(ids, st.lists(spans, max_size=2).map(tuple), max_size=2)),
        chosen=draw(st.none() | ids),
        edited=draw(st.none() | texts),
        started=started,
        ended=ended,
        active=draw(st.none() | times),
        idle=draw(times),
        revision=draw(st.integers(0, 9)),
        is_last=draw(st.booleans()),
        more=draw(st.dictionaries(texts, plain, max_size=2)),
    )


@given(st.lists(drawn_submissions(), max_size=3), texts, texts, st.dictionaries(texts, plain, max_size=2))
def test_what_is_written_is_read_back_equal(
    drawn: list[Submission], name: str, protocol: str, settings: dict[str, Any]
) -> None:
    file = CampaignFile(name=name, protocol=protocol, submissions=tuple(drawn), settings=settings)
    path = Path("campaign.jsonl")
    write_campaign_file(path, file)
    try:
        assert read_campaign_file(path) == file
        before = path.read_bytes()
        write_campaign_file(path, read_campaign_file(path))
        assert path.read_bytes() == before
    finally:
        path.unlink()


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def annotation(**fields: Any) -> Annotation:
    shared: dict[str, Any] = {"lp": "en-de", "segment": "1", "system": "A", "annotator": "ann"}
    return Annotation(**{**shared, "protocol": "esa", "rating": 80, **fields})


def submission(**fields: Any) -> Submission:
    record = annotation(annotator=fields.get("person", "ann"))
    shared: dict[str, Any] = {
        "person": "ann",
        "protocol": "esa",
        "kind": "original",
        "lp": "en-de",
        "segment": "1",
        "source": "A red sofa.",
        "texts": {"A": "Ein rotes Sofa."},
        "records": (record,),
    }
    return Submission(**{**shared, **fields})


FILE = CampaignFile(name="autumn", protocol="esa", submissions=(submission(), submission(person="ben")))


def lines_of(file: CampaignFile) -> list[Any]:
    write_campaign_file("c.jsonl", file)
    return [json.loads(line) for line in Path("c.jsonl").read_text().splitlines()]


def test_the_first_line_names_the_schema_and_the_campaign() -> None:
    assert lines_of(FILE)[0] == {"schema": SCHEMA, "name": "autumn", "protocol": "esa", "settings": {}}
    assert len(lines_of(FILE)) == 3


def test_submissions_are_read_one_at_a_time() -> None:
    write_campaign_file("c.jsonl", FILE)
    with Path("c.jsonl").open("a") as file:
        file.write("{}\n")
    header, rest = read_submissions("c.jsonl")
    assert (header.name, header.submissions) == ("autumn", ())
    assert [next(rest), next(rest)] == list(FILE.submissions)
    with pytest.raises(DataError, match=r"submission: 'person' is missing \(c.jsonl line 4\)"):
        next(rest)


def test_submissions_that_stand_nowhere_are_written_as_they_come() -> None:
    write_campaign_file("c.jsonl", replace(FILE, submissions=()), iter(FILE.submissions))
    assert read_campaign_file("c.jsonl") == FILE


@pytest.mark.parametrize(
    ("line", "change", "message"),
    [
        (0, {"schema": "adjudge-campaign/2"}, "got 'adjudge-campaign/2'; a newer adjudge may read it"),
        (0, {"schema": "other"}, "has the schema 'adjudge-campaign/1', got 'other' "),
        (0, {"colour": 1}, "campaign: unknown key 'colour'"),
        (0, {"settings": []}, "'settings' must be an object"),
        (1, {"colour": 1}, "submission: unknown key 'colour'"),
        (1, {"kind": "guess"}, "kind must be one of original, check"),
        (1, {"place": -1}, "'place' must be a whole number from 0, got -1"),
        (1, {"place": True}, "'place' must be a whole number from 0, got True"),
        (1, {"is_last": 1}, "'is_last' true or false, got .* and 1"),
        (1, {"records": {}}, "'records' must be a list"),
        (1, {"records": [{"kind": "guess"}]}, "a record is an object with"),
        (1, {"texts": {"A": None}}, "'texts' must hold texts, got None"),
        (1, {"given": {"A": {}}}, "'given' must hold lists of spans"),
        (1, {"given": {"A": [{"severity": "odd"}]}}, "severity must be one of"),
        (1, {"started": 5, "ended": 4}, "cannot end .4. before it starts"),
        (1, {"started": "5"}, "'started' must be a number"),
        (1, {"more": [1]}, "'more' must be an object"),
    ],
)
def test_a_line_that_is_none_is_refused_with_its_number(
    line: int, change: dict[str, Any], message: str
) -> None:
    lines = lines_of(FILE)
    lines[line] |= change
    Path("bad.jsonl").write_text("".join(json.dumps(value) + "\n" for value in lines))
    with pytest.raises(DataError, match=message) as refused:
        read_campaign_file("bad.jsonl")
    assert f"bad.jsonl line {line + 1}" in str(refused.value)


def test_a_failure_is_no_submission() -> None:
    value = submission_to_json(submission())
    failure = Failure(
        lp="en-de", segment="1", systems=("A",), annotator="x", protocol="esa", reason="refused"
    )
    from adjudge.store.json_lines import record_to_json

    with pytest.raises(DataError, match="never a failure"):
        submission_from_json({**value, "records": [record_to_json(failure)]})


@pytest.mark.parametrize(
    "text", ["", "[]", '{"a": NaN}', "[" * 100_000, '{"schema": "\\ud800"}', '{"a": 1, "a": 2}', "\udcff"]
)
def test_what_is_no_campaign_is_refused(text: str) -> None:
    Path("bad.jsonl").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError, match=r"bad\.jsonl"):
        read_campaign_file("bad.jsonl")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), (1, 2), {1: 2}, object()])
def test_what_json_would_change_is_not_written(value: object) -> None:
    with pytest.raises(DataError, match="must be plain JSON"):
        write_campaign_file("c.jsonl", replace(FILE, submissions=(submission(more={"x": value}),)))
    assert not Path("c.jsonl").exists()


def test_half_a_surrogate_pair_is_not_written() -> None:
    with pytest.raises(DataError, match="half a surrogate pair"):
        write_campaign_file("c.jsonl", replace(FILE, submissions=(submission(source="\ud83d"),)))
    assert not Path("c.jsonl").exists()


@pytest.mark.parametrize("field", ["started", "ended", "active", "idle"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), True])
def test_a_time_that_is_no_number_is_refused(field: str, value: float) -> None:
    with pytest.raises(DataError, match="must be a finite number of seconds"):
        submission(**{field: value})


# What counts...


def test_checks_tutorials_and_earlier_submissions_do_not_count() -> None:
    drawn = [
        submission(kind="tutorial"),
        submission(kind="check", originals={"A": "Ein rotes Sofa."}, texts={"A": "Ein Hund Sofa."}),
        submission(is_last=False),
        submission(records=(annotation(rating=70),)),
        submission(kind="control", person="ben"),
    ]
    final, met = final_records(drawn)
    assert [(r.annotator, r.rating) for r in final if isinstance(r, Annotation)] == [("ann", 70), ("ben", 80)]
    assert met == Counter({
        "submissions of kind tutorial": 1,
        "submissions of kind check": 1,
        "submissions that were submitted again": 1,
    })  # fmt: skip


@pytest.mark.parametrize(
    ("kinds", "counting"),
    [
        (("original", "original"), (0, 1)),
        (("original", "again"), (1,)),
        (("again", "original", "adjudication"), (2,)),
        (("adjudication", "again"), (0,)),
    ],
)
def test_a_later_pass_replaces_an_earlier_one(kinds: Any, counting: tuple[int, ...]) -> None:
    drawn = [submission(kind=kind, person=str(place)) for place, kind in enumerate(kinds)]
    other = submission(person="other", records=(annotation(segment="2"),))
    final, met = final_records([*drawn, other])
    assert [r.annotator for r in final] == [*map(str, counting), "ann"]
    assert met["judgements that a later pass replaced"] == len(kinds) - len(counting)


def test_a_pair_decided_again_replaces_the_pair_however_its_sides_stood() -> None:
    def preference(a: str, b: str, criterion: str) -> Preference:
        return Preference(
            lp="en-de", segment="1", systems=(a, b), annotator="x", criterion=criterion, verdict="A"
        )

    first = submission(records=(preference("A", "B", "style"), preference("A", "B", "fluency")))
    again = submission(kind="again", records=(preference("B", "A", "style"),))
    final, _ = final_records([first, again])
    assert [(r.systems, r.criterion) for r in final if isinstance(r, Preference)] == [
        (("A", "B"), "fluency"),
        (("B", "A"), "style"),
    ]


def test_the_texts_of_a_campaign_are_a_test_set_without_what_was_damaged() -> None:
    check = {"kind": "check", "texts": {"B": "Ein Hund Sofa."}, "originals": {"B": "Ein Sofa."}}
    drawn = (
        submission(task=2, document="d"),
        submission(task=1, document="d", **check),
        submission(task=3, segment="t", kind="tutorial"),
        submission(task=4, document="d", edited="Ein Sofa, rot.", person="eve"),
    )
    (segment,) = campaign_test_set(replace(FILE, submissions=drawn)).segments
    assert (segment.source, segment.document) == ("A red sofa.", "d")
    assert segment.translations == {
        "A": "Ein rotes Sofa.",
        "B": "Ein Sofa.",
        "post-edit:eve": "Ein Sofa, rot.",
    }


@pytest.mark.parametrize("change", [{"source": "Another."}, {"texts": {"A": "Anders."}}])
def test_a_segment_with_two_texts_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(
        DataError, match=r"segment .1. of en-de was shown with two texts as its .*: .ben. saw"
    ):
        campaign_test_set(
            replace(FILE, submissions=(submission(), submission(person="ben", task=1, **change)))
        )


def test_a_span_without_a_place_comes_back() -> None:
    span = ErrorSpan(severity="minor", category="accuracy/omission", match="unplaced")
    file = replace(FILE, submissions=(submission(given={"A": (span,)}),))
    write_campaign_file("c.jsonl", file)
    assert read_campaign_file("c.jsonl") == file
