"""Judgements alone as a spreadsheet: whoever judged, one a row, beside the texts that they are about."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge.core.record import Annotation, ErrorSpan, Failure, Preference, Record
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import UsageError
from adjudge.formats.convert import write_content
from adjudge.formats.file_content import Content
from adjudge.store.json_lines import write_records, write_test_set
from tests.cli.calling import call

TEXTS = TestSet(
    name="menu",
    segments=(
        Segment(
            segment="a", lp="en-de", source="=Open", translations={"x": "Öffne", "y": "Auf"}, document="d"
        ),
    ),
)
ABOUT: dict[str, Any] = {"lp": "en-de", "segment": "a", "annotator": "judge", "document": "d"}
FOUND = Annotation(
    **ABOUT,
    system="x",
    protocol="esa",
    rating=70,
    spans=(
        ErrorSpan(severity="major", start=0, end=3, text="Öff", category="accuracy/mistranslation"),
        ErrorSpan(severity="minor", text="ne", match="unmatched"),
    ),
    flags=("repaired", "span_unmatched"),
    rationale="too short",
)
PLACE = ABOUT | {"source": "'=Open"}
BETTER = Preference(**ABOUT, systems=("y", "x"), criterion="fluency", verdict="A", rationale="shorter")


def rows_of(folder: Path, *records: Record, test_set: TestSet | None = TEXTS) -> list[dict[str, str]]:
    path = folder / "out.csv"
    assert not write_content(path, "spreadsheet", Content(test_set=test_set, records=records), force=True)
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def filled(row: dict[str, str]) -> dict[str, str]:
    assert not (row.keys() & {None})
    return {key: cell for key, cell in row.items() if cell}


def test_a_judgement_says_who_found_what_in_which_text(tmp_path: Path) -> None:
    (row,) = rows_of(tmp_path, FOUND)
    assert filled(row) == PLACE | {
        "protocol": "esa",
        "system": "x",
        "rating": "70",
        "errors": "2",
        "minor": "1",
        "major": "1",
        "critical": "0",
        "marked": "Öff (accuracy/mistranslation); ne (minor)",
        "comment": "too short",
        "flags": "repaired span_unmatched",
        "translation": "Öffne",
    }


def test_the_reason_of_each_error_is_in_the_comment(tmp_path: Path) -> None:
    spans = (
        ErrorSpan(severity="major", start=0, end=3, text="Öff", note="means something else"),
        ErrorSpan(severity="minor", text="", match="unplaced", note="=no object"),
        ErrorSpan(severity="minor", text="ne", match="unmatched"),
    )
    reasons = "Öff: means something else; [missing]: =no object"
    rows = rows_of(tmp_path, replace(FOUND, spans=spans), replace(FOUND, spans=spans, rationale=None))
    assert [row["comment"] for row in rows] == [f"too short; {reasons}", reasons]


def test_a_preference_has_both_translations_in_its_own_order(tmp_path: Path) -> None:
    (row,) = rows_of(tmp_path, BETTER)
    assert filled(row) == PLACE | {
        "protocol": "pairwise",
        "system": "y",
        "other system": "x",
        "criterion": "fluency",
        "verdict": "A",
        "comment": "shorter",
        "translation": "Auf",
        "other translation": "Öffne",
    }
    (undecided,) = rows_of(tmp_path, replace(BETTER, verdict="E", flags=("position_undecided",)))
    assert (undecided["verdict"], undecided["flags"]) == ("", "position_undecided")


@pytest.mark.parametrize("systems", [("x",), ("x", "y")])
def test_what_failed_is_a_row_with_its_reason_and_no_number(tmp_path: Path, systems: tuple[str, ...]) -> None:
    failed = Failure(**ABOUT, systems=systems, protocol="esa", reason="empty", detail="nothing came")
    (row,) = rows_of(tmp_path, failed)
    assert (row["failed"], row["comment"], row["rating"], row["errors"]) == ("empty", "nothing came", "", "")
    assert (row["system"], row["other system"]) == (*systems, "")[:2]
    assert (row["translation"], row["other translation"]) == ("Öffne", "Auf" if len(systems) > 1 else "")


def test_errors_that_were_counted_and_not_marked_are_in_it_also_without_texts(tmp_path: Path) -> None:
    counted = Annotation(**ABOUT, system="x", protocol="mqm", counts={"minor": 3, "critical": 1})
    (row,) = rows_of(tmp_path, counted, test_set=None)
    assert [row[key] for key in ("errors", "minor", "major", "critical")] == ["4", "3", "0", "1"]
    assert (row["system"], row["source"], row["translation"]) == ("x", "", "")


def test_a_test_set_without_judgements_is_no_spreadsheet(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="spreadsheet holds records, and the input is a test set without"):
        write_content(tmp_path / "out.csv", "spreadsheet", Content(test_set=TEXTS))


def test_records_become_a_spreadsheet_on_the_command_line(tmp_path: Path) -> None:
    write_records(tmp_path / "r.jsonl", [FOUND, BETTER])
    write_test_set(tmp_path / "t.jsonl", TEXTS)
    paths = [tmp_path / name for name in ("r.jsonl", "o.csv", "t.jsonl")]
    assert call("convert", *paths[:2], "--to", "spreadsheet", "--test-set", paths[2]) == 0
    with (tmp_path / "o.csv").open(encoding="utf-8-sig", newline="") as file:
        assert [row["translation"] for row in csv.DictReader(file)] == ["Öffne", "Auf"]
