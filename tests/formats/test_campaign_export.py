"""Submissions as JSON lines: every field comes back, nothing else comes in, and what counts is said."""

import csv
import io
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.record import Annotation, ErrorSpan, Failure, Preference, Record
from adjudge.errors import DataError, UsageError
from adjudge.formats.campaign_export import (
    KINDS,
    SCHEMA,
    CampaignFile,
    Submission,
    campaign_test_set,
    final_records,
    read_campaign_file,
    read_submissions,
    write_campaign_file,
)
from adjudge.formats.convert import write_content
from adjudge.formats.file_content import Content
from adjudge.formats.read import detect, load, read_content
from adjudge.formats.spreadsheet import render_cell
from adjudge.store.json_lines import record_to_json
from tests.formats.campaigns import submission as campaigns_submission
from tests.formats.nasty import annotations, document_names, ids, preferences, ratings, spans, texts

# A campaign between the formats: told by how it begins, converted, and safe in a spreadsheet.


NAMES = {"campaign": "c.jsonl", "appraise": "c.csv", "pearmut": "set_#_en-de.jsonl"}


def sofa(person: str, task: int, system: str, **fields: Any) -> Submission:
    face = ErrorSpan(severity="minor", start=4, end=5, text="😀")
    return campaigns_submission(person, task, system, f"Das 😀 {system}", face, **fields)


CAMPAIGN = CampaignFile(
    name="autumn",
    protocol="esa",
    submissions=(sofa("ann", 1, "A", active=5.0), sofa("ben", 2, "B", active=5.0)),
)
CONTENT = Content(
    test_set=campaign_test_set(CAMPAIGN),
    records=[r for s in CAMPAIGN.submissions for r in s.records],
    campaign=CAMPAIGN,
)


@pytest.mark.parametrize("first", NAMES)
@pytest.mark.parametrize("second", NAMES)
def test_a_campaign_goes_through_any_two_formats_and_keeps_its_judgements(
    first: str, second: str, tmp_path: Path
) -> None:
    content: Content[Record] = CONTENT
    for number, form in enumerate((first, second)):
        path = tmp_path / str(number) / NAMES[form]
        assert not write_content(path, form, content)
        assert detect(path) == form
        if (first, number) == (second, 1) and form == "appraise":  # its own batches are still the right ones
            (tmp_path / "0" / "batches-c.json").rename(tmp_path / "1" / "batches-c.json")
        content = read_content(path, as_campaign=True)
        assert not content.met
    assert content.records == CONTENT.records
    assert content.test_set is not None
    assert content.test_set.segments == CONTENT.test_set.segments  # type: ignore[union-attr]
    assert content.campaign is not None
    assert [(s.person, s.ended) for s in content.campaign.submissions] == [("ann", 15.0), ("ben", 25.0)]


@pytest.mark.parametrize("form", ["campaign", "pearmut"])
def test_a_campaign_is_a_test_set_and_of_one_language_pair_if_asked(form: str, tmp_path: Path) -> None:
    path = tmp_path / NAMES[form]
    write_content(path, form, CONTENT)
    assert load(path).systems == ("A", "B")
    assert read_content(path, lp="eng-deu").records == CONTENT.records
    if form == "campaign":
        with pytest.raises(UsageError, match="has no lp 'en-cs'; it has en-de"):
            read_content(path, lp="en-cs")


def test_batches_that_are_there_are_not_replaced_unless_that_is_wanted(tmp_path: Path) -> None:
    path, batches = tmp_path / NAMES["appraise"], tmp_path / "batches-c.json"
    batches.write_text("mine")
    with pytest.raises(UsageError, match=r"batches-c\.json exists: --force replaces it"):
        write_content(path, "appraise", CONTENT)
    assert (batches.read_text(), path.exists()) == ("mine", False)
    write_content(path, "appraise", CONTENT, force=True)
    assert read_content(path, as_campaign=True).records == CONTENT.records
    kept = batches.read_text()
    write_content(path, "appraise", read_content(path, as_campaign=True), force=True)
    assert batches.read_text() == kept


@pytest.mark.parametrize("form", ["appraise", "pearmut"])
def test_what_other_tools_have_no_words_for_is_counted(form: str, tmp_path: Path) -> None:
    (first,), noted = (
        CAMPAIGN.submissions[0].records,
        ErrorSpan(severity="minor", start=0, end=3, note="Why?"),
    )
    assert isinstance(first, Annotation)
    said = replace(first, rationale="Odd.", spans=(noted,))
    rated = replace(first, protocol="sqm", rating=3.0, spans=())
    preference = Preference(
        lp="en-de", segment="3", systems=("A", "B"), annotator="ann", criterion="style", verdict="B"
    )
    submissions = (
        sofa("ann", 1, "A", records=(said,), kind="again"),
        sofa("ann", 2, "A", records=(rated,), more={"gate": "dropped"}),
        sofa("ann", 3, "A", records=(preference,), edited="Neu"),
    )
    content = replace(CONTENT, campaign=replace(CAMPAIGN, submissions=submissions))
    assert write_content(tmp_path / NAMES[form], form, content) == {
        "preferences": 1,
        "references that people wrote": 1,
        "comments": 1,
        "notes on marks": 1,
        "ratings of another scale, which are read there as of 0 to 100": 1,
        "submissions of a second pass, which count there beside those that they replaced": 1,
        "submissions that the agreement gate dropped, which count there": 1,
    }


@pytest.mark.parametrize("form", ["campaign", "appraise", "pearmut"])
def test_judgements_alone_are_no_campaign(form: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"{form} says who judged what when, and the input has judgements"):
        write_content(tmp_path / "out", form, replace(CONTENT, campaign=None))


def test_a_spreadsheet_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="spreadsheet is written, not read"):
        read_content(tmp_path, "spreadsheet")


def test_an_export_of_appraise_is_no_campaign_without_its_batches(tmp_path: Path) -> None:
    path = tmp_path / NAMES["appraise"]
    write_content(path, "appraise", CONTENT)
    (tmp_path / "batches-c.json").unlink()
    with pytest.raises(UsageError, match=r"the only batches.*json beside it: put it there"):
        read_content(path, as_campaign=True)


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ({"info": {}, "campaign_id": "x", "data": []}, "pearmut-campaign"),
        ({"x_#_en-de": [{"annotation": [], "item": []}]}, "pearmut"),
        ({"segment": "1", "source": 'about "annotation" and "item"'}, "jsonl"),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_file_is_told_by_its_keys(
    value: object, form: str, indent: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(value, indent=indent))
    assert detect(path) == form


# Spreadsheets...


@pytest.mark.parametrize(
    "start", ["=", "+", "-", "@", "\t", "\r", "\n", "\0", "|", "%", "＝", "＋", "－", "＠"]
)
@pytest.mark.parametrize("before", ["", " ", "\u00a0", "\ufeff"])
def test_no_cell_is_run_as_a_formula(start: str, before: str) -> None:
    cell = render_cell(f"{before}{start}cmd|' /C calc'!A0")
    assert cell.startswith("'")
    assert "\0" not in cell
    assert "|" not in cell.replace("\\|", "")


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, ""),
        (-5.5, "-5.5"),
        ("a = b", "a = b"),
        ("\ud83d", "\ufffd"),
        ("a\x1b[31m\tb\n", "a\ufffd[31m\tb\n"),
        ("a|b", "a\\|b"),
        ("😀", "😀"),
    ],
)
def test_plain_cells_stay_what_they_are(value: object, cell: str) -> None:
    assert render_cell(value) == cell


def rows_of(file: CampaignFile, folder: Path) -> list[dict[str, str]]:
    write_content(folder / "s.csv", "spreadsheet", Content(campaign=file, records=[]))
    text = (folder / "s.csv").read_bytes().decode()
    assert text.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(text[1:], newline="")))


def test_a_spreadsheet_has_a_row_for_each_judgement(tmp_path: Path) -> None:
    about: dict[str, Any] = {"lp": "en-de", "segment": "3", "systems": ("A", "B"), "rationale": "@x"}
    preference = Preference(**about, annotator="=eve", criterion="style", verdict="B")
    submissions = (
        CAMPAIGN.submissions[0],
        sofa("=eve", 3, "A", records=(preference,)),
        sofa("zoe", 4, "A", records=(), chosen="B", edited="+49 30"),
    )
    first, second, third = rows_of(replace(CAMPAIGN, submissions=submissions), tmp_path)
    wanted = {"rating": "60.0", "minor": "1", "marked": "😀 (minor)", "started (UTC)": "1970-01-01 00:00:10"}
    assert {key: first[key] for key in wanted} == wanted
    wanted = {"person": "'=eve", "other system": "B", "verdict": "B", "comment": "'@x"}
    assert {key: second[key] for key in wanted} == wanted
    assert (third["system"], third["written"]) == ("B", "'+49 30")


def test_other_exports_stay_raw_and_a_text_that_is_too_long_for_a_cell_is_cut_and_counted(
    tmp_path: Path,
) -> None:
    odd = sofa("=cmd()", 1, "@A", source="+1", edited="x" * 40_000)
    content: Content[Record] = Content(campaign=replace(CAMPAIGN, submissions=(odd,)), records=[])
    write_content(tmp_path / "c.jsonl", "campaign", content)
    assert read_content(tmp_path / "c.jsonl").campaign == content.campaign
    lost = write_content(tmp_path / "s.csv", "spreadsheet", content)
    assert lost == {"ends of texts that are too long for a cell": 1}


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
        document=draw(document_names),
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
        language=draw(st.none() | texts),
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
    about: dict[str, Any] = {"lp": "en-de", "segment": "1", "system": "A", "annotator": "ann", "rating": 80}
    return Annotation(**(about | {"protocol": "esa"} | fields))


def submission(**fields: Any) -> Submission:
    about: dict[str, Any] = {"lp": "en-de", "segment": "1", "protocol": "esa", "kind": "original"}
    about |= {"person": "ann", "source": "A red sofa.", "texts": {"A": "Ein rotes Sofa."}} | fields
    return Submission(**({"records": (annotation(annotator=about["person"]),)} | about))


FAILED = Failure(lp="en-de", segment="1", systems=("A",), annotator="x", protocol="esa", reason="refused")
FILE = CampaignFile(name="autumn", protocol="esa", submissions=(submission(), submission(person="ben")))


def lines_of(file: CampaignFile) -> list[Any]:
    write_campaign_file(Path("c.jsonl"), file)
    return [json.loads(line) for line in Path("c.jsonl").read_text().splitlines()]


def test_the_first_line_names_the_schema_and_the_campaign() -> None:
    assert lines_of(FILE)[0] == {"schema": SCHEMA, "name": "autumn", "protocol": "esa", "settings": {}}
    assert len(lines_of(FILE)) == 3


def test_submissions_are_read_one_at_a_time() -> None:
    write_campaign_file(Path("c.jsonl"), FILE)
    with Path("c.jsonl").open("a") as file:
        file.write("{}\n")
    header, rest = read_submissions(Path("c.jsonl"))
    assert (header.name, header.submissions) == ("autumn", ())
    assert [next(rest), next(rest)] == list(FILE.submissions)
    with pytest.raises(DataError, match=r"submission: 'person' is missing \(c.jsonl line 4\)"):
        next(rest)


def test_submissions_that_stand_nowhere_are_written_as_they_come() -> None:
    omission = ErrorSpan(severity="minor", category="accuracy/omission", match="unplaced")
    file = replace(FILE, submissions=(*FILE.submissions, submission(given={"A": (omission,)})))
    write_campaign_file(Path("c.jsonl"), replace(file, submissions=()), iter(file.submissions))
    assert read_campaign_file(Path("c.jsonl")) == file


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
        (1, {"is_last": 1}, "'is_last' must be true or false, got 1"),
        (1, {"records": {}}, "'records' must be a list"),
        (1, {"records": [{"kind": "guess"}]}, "a record is an object with"),
        (1, {"records": [record_to_json(FAILED)]}, "never a failure"),
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
        read_campaign_file(Path("bad.jsonl"))
    assert f"bad.jsonl line {line + 1}" in str(refused.value)


@pytest.mark.parametrize(
    "text", ["", "[]", '{"a": NaN}', "[" * 100_000, '{"schema": "\\ud800"}', '{"a": 1, "a": 2}', "\udcff"]
)
def test_what_is_no_campaign_is_refused(text: str) -> None:
    Path("bad.jsonl").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError, match=r"bad\.jsonl"):
        read_campaign_file(Path("bad.jsonl"))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        *(({"more": {"x": value}}, "plain JSON") for value in (float("nan"), (1, 2), {1: 2}, object())),
        ({"source": "\ud83d"}, "half a surrogate pair"),
    ],
)
def test_what_json_would_change_is_not_written(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        write_campaign_file(Path("c.jsonl"), replace(FILE, submissions=(submission(**fields),)))
    assert not Path("c.jsonl").exists()


@pytest.mark.parametrize("field", ["started", "ended", "active", "idle"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), True])
def test_a_time_that_is_no_number_is_refused(field: str, value: float) -> None:
    with pytest.raises(DataError, match="must be a finite number of seconds"):
        submission(**{field: value})


# What counts...


def read_of(submissions: list[Submission]) -> tuple[Sequence[Record], Counter[str]]:
    """Records and counts of a file that is read as judgements."""
    write_campaign_file(Path("c.jsonl"), replace(FILE, submissions=tuple(submissions)))
    found = read_content(Path("c.jsonl"))
    return found.records, Counter(found.met)


def test_checks_tutorials_and_earlier_submissions_do_not_count() -> None:
    drawn = [
        submission(kind="tutorial"),
        submission(kind="check", originals={"A": "Ein rotes Sofa."}, texts={"A": "Ein Hund Sofa."}),
        submission(is_last=False),
        submission(records=(annotation(rating=70),)),
        submission(kind="control", person="ben"),
    ]
    counts = {"of kind tutorial": 1, "of kind check": 1, "submitted again": 1}
    for final, met in (final_records(drawn), read_of(drawn)):
        found = [(r.annotator, r.rating) for r in final if isinstance(r, Annotation)]
        assert found == [("ann", 70), ("ben", 80)]
        assert met == {f"submissions {what}": number for what, number in counts.items()}


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
    assert met["judgements replaced by a later pass"] == len(kinds) - len(counting)


def test_a_pair_decided_again_replaces_the_pair_however_its_sides_stood() -> None:
    about: dict[str, Any] = {"lp": "en-de", "segment": "1", "annotator": "x", "verdict": "A"}
    style = Preference(**about, systems=("A", "B"), criterion="style")
    first = submission(records=(style, replace(style, criterion="fluency")))
    again = submission(kind="again", records=(replace(style, systems=("B", "A")),))
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
