"""Appraise's exports: every submission read, and written back byte for byte."""

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.core.record import Annotation
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, UsageError
from adjudge.formats.appraise import (
    ITEMS,
    AppraiseFile,
    AppraiseRow,
    AppraiseSpan,
    batches_test_set,
    find_batches,
    read_appraise,
    read_appraise_records,
    read_batches,
    read_span,
    render_columns,
    write_batches,
)
from adjudge.formats.read import detect, load, read_content
from adjudge.formats.text import write_csv
from tests.formats.campaigns import ITEM, TASK, row

ROW = 'engdeu0102,set.A,7,TGT,eng,deu,{score},doc#A,False,"{spans}",1711317347.5,1711317350.0\n'
SPANS = (
    '[{""start_i"":0,""end_i"":0,""severity"":""minor"",""error_type"":null},'
    '{""start_i"":""missing"",""end_i"":""missing"",""severity"":""undecided"",'
    '""error_type"":[""Accuracy"",""Omission""]},'
    '{""start_i"":3,""end_i"":9,""severity"":""major""}]'
)


def read(folder: Path, text: str) -> AppraiseFile:
    path = folder / "a.scores.csv"
    path.write_bytes(text.encode())
    return read_appraise(path)


def test_a_row_says_who_marked_what_and_when(tmp_path: Path) -> None:
    (row,) = read(tmp_path, ROW.format(score=87, spans=SPANS)).rows
    assert row == AppraiseRow(
        login="engdeu0102",
        target="set.A",
        item=7,
        kind="TGT",
        languages=("eng", "deu"),
        score=87,
        document="doc#A",
        is_complete=False,
        spans=(
            AppraiseSpan(start=0, end=0, severity="minor"),
            AppraiseSpan(start=None, end=None, severity="undecided", error_type=("Accuracy", "Omission")),
            AppraiseSpan(start=3, end=9, severity="major", is_given=True),
        ),
        start=1711317347.5,
        end=1711317350,
    )
    assert (row.batch, row.is_tutorial, row.is_duplicate) == (2, False, False)
    assert [span.is_missing for span in row.spans] == [False, True, False]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_what_is_read_is_written_byte_for_byte(line_end: str, tmp_path: Path) -> None:
    lines = [ROW.format(score=score, spans=spans) for score, spans in ((87, SPANS), (0, "[]"), (7.5, "[]"))]
    lines[1] = lines[1].replace('"[]"', "[]").replace("doc#A", "döc 😀#A#bad2#duplicate1")
    lines[2] = lines[2].replace('"[]"', "[]").replace("50.0\n", "50.0,12,3456\n")
    text = "".join(lines).replace("\n", line_end)
    found = read(tmp_path, text)
    write_csv(tmp_path / "b.csv", map(render_columns, found.rows), line_end=found.line_end)
    assert (tmp_path / "b.csv").read_bytes() == text.encode()
    assert (found.rows[1].is_duplicate, found.rows[2].batch) == (True, 12)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("TGT,", "", "wanted the 12 columns of Appraise, or 14 with its batches; got 11"),
        ("TGT", "REF", "kind of item must be TGT or BAD, got 'REF'"),
        (",7,", ",x,", "item must be a whole number, got 'x'"),
        (",87,", ",nan,", "score must be a plain number, got 'nan'"),
        (",87,", ",,", "score must be a plain number, got ''"),
        ("1711317347.5", "", "start time must be a plain number"),
        ("False", "0", "whether it is a whole document must be False or True"),
        ("[{", "{", "JSON"),
        ('""start_i"":3', '""start_i"":-3', "'start_i' must be a whole number from 0, got -3"),
        ('""start_i"":3', '""start_i"":""missing""', "'start_i' must be a whole number"),
        ('""severity"":""major""', '""severity"":5', "'severity' must be text"),
        ('[""Accuracy', '[5,""Accuracy', "'error_type' must be null or a list of names"),
    ],
)
def test_a_row_that_is_none_is_refused_with_its_line(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    good = ROW.format(score=87, spans=SPANS)
    with pytest.raises(DataError, match="line 2") as caught:
        read(tmp_path, good + good.replace(old, new, 1))
    assert message in str(caught.value)


def test_a_login_without_a_batch_says_how_to_get_one(tmp_path: Path) -> None:
    (row,) = read(tmp_path, ROW.format(score=87, spans="[]").replace("engdeu0102", "somebody")).rows
    with pytest.raises(DataError, match="--batch-info"):
        _ = row.batch


@pytest.mark.realdata
def test_all_exports_of_the_esa_paper_come_back_byte_for_byte(adjudge_data: Path, tmp_path: Path) -> None:
    files = sorted((adjudge_data / "esa").glob("*.scores.csv"))
    assert len(files) == 8
    for file in files:
        found = read_appraise(file)
        write_csv(tmp_path / file.name, map(render_columns, found.rows), line_end=found.line_end)
        assert (tmp_path / file.name).read_bytes() == file.read_bytes(), file.name


# Appraise's campaigns as annotations: places in code points, and one judgement a person and item.


MARKED_UP = {**ITEM, "sourceText": "A <b>source</b>"}
TUTORIAL = {
    **MARKED_UP,
    "documentID": "tutorial1",
    "targetID": "tutorial1",
    "itemID": 3,
    "mqm": {"payload": []},
}
COPY = {**MARKED_UP, "documentID": "doc#A#bad1", "itemType": "BAD", "targetText": "a b", "speaker": "anna"}


def write(folder: Path, *items: dict[str, Any]) -> Path:
    path = folder / "batches.json"
    tutorial = {key: value for key, value in TUTORIAL.items() if key != "_item"}
    path.write_text(json.dumps([{"items": [*items, tutorial], "task": TASK}]))
    return path


def export(folder: Path, *rows: str) -> Path:
    path = folder / "scores.csv"
    path.write_text("".join(rows))
    return path


def test_batches_come_back_with_every_key(tmp_path: Path) -> None:
    path = write(tmp_path, MARKED_UP, COPY)
    write_batches(tmp_path / "again.json", read_batches(path))
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads(path.read_text())


def test_a_test_set_of_batches_has_no_tutorials_and_no_damaged_texts(tmp_path: Path) -> None:
    (segment,) = batches_test_set(read_batches(write(tmp_path, MARKED_UP, COPY)), "set")
    assert (segment.segment, segment.lp, segment.document) == ("5", "en-de", "doc")
    assert segment.translations == {"A": " a😀c "}
    assert segment.meta == {ITEMS: {"A": [[2, 1, "doc#A"]]}}


def test_a_document_without_lines_may_go_on_in_the_next_batch(tmp_path: Path) -> None:
    def shown(number: int, system: str) -> dict[str, Any]:
        text = {"sourceText": f"s{number % 10}", "targetText": f"{system}{number % 10}", "_item": ""}
        return {
            **MARKED_UP,
            **text,
            "documentID": f"doc#{system}",
            "targetID": f"set.{system}",
            "itemID": number,
        }

    first = [shown(1, "A"), shown(2, "A"), shown(11, "B")]
    second = [shown(3, "A"), shown(12, "B"), shown(13, "B")]
    path = tmp_path / "batches.json"
    tasks = [{"items": first, "task": TASK}, {"items": second, "task": {**TASK, "batchNo": 3}}]
    path.write_text(json.dumps(tasks))
    found = batches_test_set(read_batches(path), "set")
    assert [(s.segment, s.source, dict(s.translations)) for s in found] == [
        (f"doc:{n}", f"s{n}", {"A": f"A{n}", "B": f"B{n}"}) for n in (1, 2, 3)
    ]
    judged = export(
        tmp_path,
        row(batch="03", item=3, document="doc#A"),
        row(batch="03", item=13, document="doc#B").replace("set.A", "set.B"),
    )
    for as_campaign in (False, True):
        records = read_content(judged, as_campaign=as_campaign).records or ()
        assert [(r.segment, r.systems) for r in records] == [("doc:3", ("A",)), ("doc:3", ("B",))]


@pytest.mark.parametrize("place", ["", None])
def test_a_sentence_that_stands_twice_in_a_document_is_two_segments(
    place: str | None, tmp_path: Path
) -> None:
    items = [{**MARKED_UP, "_item": place, "itemID": n, "targetText": f"t{n}"} for n in (1, 2)]
    found = batches_test_set(read_batches(write(tmp_path, *items)), "set")
    assert [(s.segment, s.translations["A"]) for s in found] == [("doc:1", "t1"), ("doc:2", "t2")]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"itemType": "REF"}, "got 1 and 'REF'"),
        ({"itemID": "1"}, "'itemID' must be a whole number"),
        ({"targetText": None}, "'targetText' must be text"),
    ],
)
def test_an_item_that_is_none_is_refused_with_its_place(
    change: dict[str, object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match="item 1 of batch 1") as caught:
        read_batches(write(tmp_path, {**MARKED_UP, **change}))
    assert message in str(caught.value)


def test_the_same_item_twice_or_with_two_texts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="stands in it twice"):
        read_batches(write(tmp_path, MARKED_UP, MARKED_UP))
    other = {**MARKED_UP, "itemID": 2, "targetText": "other"}
    with pytest.raises(DataError, match="item 2 of batch 2 shows segment 5 with another text"):
        batches_test_set(read_batches(write(tmp_path, MARKED_UP, other)), "set")


def test_the_last_submission_counts_and_what_is_no_judgement_is_counted(tmp_path: Path) -> None:
    write(tmp_path, MARKED_UP, COPY)
    path = export(
        tmp_path,
        row(score=1, end=30.0),
        row(score=2, end=40.0),
        row(score=3, end=20.0),
        row(score=4, kind="BAD", document="doc#A#bad1"),
        row(score=5, document="tutorial1", item=3),
    )
    found = read_content(path)
    assert [r.rating for r in found.records or () if isinstance(r, Annotation)] == [2]
    assert found.met == {
        "rows of tutorials, left out": 1,
        "rows of damaged translations, left out": 1,
        "earlier submissions of an item, left out": 2,
    }


def test_a_filler_stays_in_the_records_with_its_flag(tmp_path: Path) -> None:
    filler = "doc#A#duplicate1"
    write(tmp_path, MARKED_UP, {**MARKED_UP, "documentID": filler, "itemID": 2})
    found = read_content(export(tmp_path, row(score=1, item=2, document=filler), row(score=2)))
    judged = [r for r in found.records or () if isinstance(r, Annotation)]
    assert [(r.segment, r.rating, r.flags) for r in judged] == [("5", 1, ("duplicate",)), ("5", 2, ())]
    assert found.met == {}


def test_texts_that_do_not_say_which_item_is_which_leave_it_to_the_batches_beside(tmp_path: Path) -> None:
    write(tmp_path, MARKED_UP)
    path = export(tmp_path, row())
    texts = TestSet(name="t", segments=(Segment(segment="5", lp="en-de", source="x"),))
    assert [r.segment for r in read_content(path, test_set=texts).records or ()] == ["5"]
    (tmp_path / "batches.json").unlink()
    with pytest.raises(DataError, match="give the campaign's batches"):
        read_content(path, test_set=texts)


@pytest.mark.parametrize(
    ("asked", "judgement", "category"),
    [
        ('[""Accuracy"",""Addition""]', ("mqm", None), "accuracy/addition"),
        ("null", ("esa", 0), None),
    ],
)
def test_a_campaign_whose_scores_are_all_zero_is_mqm_unless_its_marks_were_asked_for_no_type(
    asked: str, judgement: tuple[str, int | None], category: str | None, tmp_path: Path
) -> None:
    spans = f'"[{{""start_i"":1,""end_i"":2,""severity"":""major"",""error_type"":{asked}}}]"'
    write(tmp_path, MARKED_UP)
    (record,) = read_content(export(tmp_path, row(score=0, spans=spans))).records or ()
    assert isinstance(record, Annotation)
    assert (record.protocol, record.rating) == judgement
    assert (record.annotator, record.segment) == ("engdeu0102", "5")
    (span,) = record.spans
    assert (span.start, span.end, span.text, span.category) == (2, 3, "😀", category)


@pytest.mark.parametrize(
    ("start", "end", "text", "place", "odd"),
    [
        (0, 0, "abc", (0, 1), ""),
        (1, 2, "abc", (1, 3), ""),
        (0, 0, "  abc ", (2, 3), ""),
        (1, 2, "a😀c", (1, 2), ""),
        (2, 3, "a😀c", (1, 3), ""),  # from within the emoji
        (3, 3, "a😀c", (2, 3), ""),
        (1, 5, "abc", (1, 3), "span_clipped"),
        (3, 5, "abc", (None, None), "span_bad_offsets"),
        (2, 1, "abc", (None, None), "span_bad_offsets"),
        (None, None, "abc", (None, None), ""),
        (0, 1, "\ufeff ab", (2, 4), ""),  # JavaScript trims a byte-order mark
        (1, 1, "\x85a", (1, 2), ""),  # and no U+0085
        (2, 4, "a😀\nc\u2028d", (1, 4), ""),
        (0, 0, "ש\u05c1לום", (0, 1), ""),
        (2, 2, "a<br>b", (5, 6), ""),  # shown as the end of a line: one unit
        (1, 2, "a<BR />😀b", (1, 8), ""),
        (4, 9, "a<br/>😀b", (7, 8), "span_clipped"),
        (1, 1, "<b>", (1, 2), ""),
    ],
)
def test_inclusive_units_become_half_open_code_points(
    start: int | None, end: int | None, text: str, place: tuple[int | None, int | None], odd: str
) -> None:
    span, found = read_span(AppraiseSpan(start=start, end=end, severity="minor"), text)
    assert ((span.start, span.end), found) == (place, odd)
    assert span.text == ("" if span.start is None else text[span.start : span.end])


def test_a_mark_being_removed_costs_nothing_and_an_omission_has_no_place() -> None:
    span, _ = read_span(AppraiseSpan(start=0, end=0, severity="undecided"), "abc")
    assert (span.severity, span.note) == ("neutral", "undecided")
    with pytest.raises(DataError, match="severity must be"):
        read_span(AppraiseSpan(start=0, end=0, severity="grave"), "abc")
    span, _ = read_span(AppraiseSpan(start=None, end=None, severity="major"), "abc")
    assert (span.match, span.category) == ("unplaced", "accuracy/omission")


def test_what_no_batch_shows_is_refused(tmp_path: Path) -> None:
    path = export(tmp_path, row(item=9))
    with pytest.raises(UsageError, match="--test-set"):
        read_content(path)
    write(tmp_path, MARKED_UP)
    with pytest.raises(DataError, match="no batch shows item 9 of batch 2, document 'doc#A'"):
        read_content(path)
    path = export(tmp_path, row().replace("set.A", "set.B"))
    with pytest.raises(DataError, match=r"no batch shows item 1 of batch 2, document .doc#A., by .set\.B."):
        read_content(path)


def test_batches_of_one_number_that_show_one_item_twice_are_refused(tmp_path: Path) -> None:
    first = write(tmp_path, MARKED_UP).read_text()
    second = write(tmp_path, {**MARKED_UP, "_item": "A | 7 | doc", "targetText": "other"}).read_text()
    (tmp_path / "batches.json").write_text(json.dumps([*json.loads(first), *json.loads(second)]))
    path, message = export(tmp_path, row()), "item 1 of batch 2, document 'doc#A', is shown by two batches"
    for as_campaign in (False, True):
        with pytest.raises(DataError, match=message):
            read_content(path, as_campaign=as_campaign)


@pytest.mark.realdata
def test_the_campaigns_of_the_esa_paper_are_read_whole(adjudge_data: Path) -> None:
    folder = adjudge_data / "esa"
    batches = read_batches(folder / "batches_wmt23_en-de_esa.json")
    assert (len(batches), sum(len(batch.items) for batch in batches)) == (33, 3300)
    for file in sorted(folder.glob("*.scores.csv")):
        texts = find_batches(file)
        assert texts is not None
        found = read_appraise_records(file, texts)
        translations = {(r.system, r.segment) for r in found.records}
        assert len(translations) == (2691 if "0521rc6" not in file.name else len(translations))
        people = [s for r in found.records for s in r.spans if "GEMBA" not in file.name and s.text]
        assert all(s.match == "exact" for s in people)
        assert ("spans with the flag span_clipped" in found.met) == ("GEMBA" in file.name)


def test_exports_and_batches_are_told_by_how_they_begin(tmp_path: Path) -> None:
    batches = write(tmp_path, MARKED_UP)
    path = export(tmp_path, row())
    assert (detect(batches), detect(path)) == ("appraise-batches", "appraise")
    assert load(batches, "eng-deu").lps == ("en-de",)
    texts = load(batches)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    moved = path.rename(elsewhere / "scores.csv")
    (record,) = read_content(moved, test_set=texts).records or ()
    assert (record.lp, record.document) == ("en-de", "doc")
