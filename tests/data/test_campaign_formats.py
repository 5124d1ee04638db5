"""A campaign between the formats: told by how it begins, converted, and safe in a spreadsheet."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge.core.record import Annotation, ErrorSpan, Preference
from adjudge.errors import UsageError
from adjudge.formats.campaign_export import CampaignFile, Submission, campaign_test_set
from adjudge.formats.convert import Content, read_content, write_content
from adjudge.formats.read import detect, load
from adjudge.formats.spreadsheet import render_cell
from tests.data.campaigns import submission

NAMES = {"campaign": "c.jsonl", "appraise": "c.csv", "pearmut": "set_#_en-de.jsonl"}


def sofa(person: str, task: int, system: str, **fields: Any) -> Submission:
    face = ErrorSpan(severity="minor", start=4, end=5, text="😀")
    return submission(person, task, system, f"Das 😀 {system}", face, **fields)


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
    content = CONTENT
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
        with pytest.raises(UsageError, match="has no submission of lp 'en-cs'; it has en-de"):
            read_content(path, lp="en-cs")


def test_records_of_a_campaign_are_what_counts(tmp_path: Path) -> None:
    again = sofa("ann", 1, "A", is_last=False)
    check = sofa("ann", 3, "A", kind="check", originals={"A": "Das 😀 A"}, texts={"A": "Das Hund A"})
    file = replace(CAMPAIGN, submissions=(again, check, *CAMPAIGN.submissions))
    write_content(tmp_path / "c.jsonl", "campaign", Content(campaign=file, records=[]))
    found = read_content(tmp_path / "c.jsonl")
    assert found.records == CONTENT.records
    assert found.met == {"submissions of kind check": 1, "submissions that were submitted again": 1}


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
        (0, "0"),
        ("a = b", "a = b"),
        ("", ""),
        ("\ud83d", "\ufffd"),
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
    preference = Preference(
        lp="en-de",
        segment="3",
        systems=("A", "B"),
        annotator="=eve",
        criterion="style",
        verdict="B",
        rationale="@x",
    )
    file = replace(
        CAMPAIGN,
        submissions=(
            CAMPAIGN.submissions[0],
            sofa("=eve", 3, "A", records=(preference,)),
            sofa("zoe", 4, "A", records=(), chosen="B", edited="+49 30"),
        ),
    )
    first, second, third = rows_of(file, tmp_path)
    assert (first["rating"], first["minor"], first["marked"], first["started (UTC)"]) == (
        *("60.0", "1"),
        *("😀 (minor)", "1970-01-01 00:00:10"),
    )
    assert (second["person"], second["other system"], second["verdict"], second["comment"]) == (
        *("'=eve", "B"),
        *("B", "'@x"),
    )
    assert (third["system"], third["written"]) == ("B", "'+49 30")


def test_other_exports_stay_raw(tmp_path: Path) -> None:
    file = replace(CAMPAIGN, submissions=(sofa("=cmd()", 1, "@A", source="+1"),))
    write_content(tmp_path / "c.jsonl", "campaign", Content(campaign=file, records=[]))
    assert read_content(tmp_path / "c.jsonl").campaign == file


def test_a_text_that_is_too_long_for_a_cell_is_cut_and_counted(tmp_path: Path) -> None:
    file = replace(CAMPAIGN, submissions=(sofa("zoe", 4, "A", records=(), edited="x" * 40_000),))
    lost = write_content(tmp_path / "s.csv", "spreadsheet", Content(campaign=file, records=[]))
    assert lost == {"ends of texts that are too long for a cell": 1}
