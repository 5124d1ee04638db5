"""WMT25's general task as JSON lines: a line a segment, with what people said of its translations."""

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.core.record import ErrorSpan
from adjudge.errors import DataError
from adjudge.formats.wmt import read_wmt25_jsonl
from tests.cli.calling import Asked

TARGET = "Ina bewertet: \U0001f600 Die Jägerin hat daneben gefeuert!"


def line(number: int = 0, lp: str = "cs-de_DE", **fields: Any) -> dict[str, Any]:
    return {
        "scores": {},
        "src_text": "Ina hodnotí.",
        "tgt_text": {"refA": "Ina bewertet.", "A": TARGET, "B": "Ina\n\nwertet."},
        "doc_id": f"{lp}_#_news_#_blesk.cz.11_#_{number}",
        **fields,
    }


def said(human: object, *errors: dict[str, Any], annotator: str = "p", times: int = 1) -> dict[str, Any]:
    return {f"human{times}": human, f"errors{times}": list(errors), f"annotator{times}": annotator}


def mark(start: object, end: object, severity: object = "minor") -> dict[str, Any]:
    return {"start_i": start, "end_i": end, "severity": severity}


def write(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in lines))
    return path


@pytest.fixture
def humeval(tmp_path: Path) -> Path:
    scores = {
        "A": said(30, mark(17, 27, "major"), mark("missing", "missing"))
        | said(60, mark(18, 18), annotator="q", times=2),
        "refA": said(90) | said(95, times=2),
    }
    return write(
        tmp_path / "wmt25-genmt-humeval.jsonl",
        line(scores=scores, video="assets/1.mp4"),
        line(1),
        line(0, lp="en-uk_UA", scores={"B": said(70, annotator="r")}),
    )


def test_texts_have_their_documents_domains_and_references(humeval: Path) -> None:
    first, second, other = read_wmt25_jsonl(humeval).test_set
    assert (first.lp, first.document, first.domain) == ("cs-de_DE", "blesk.cz.11", "news")
    assert first.references == {"refA": "Ina bewertet."}
    assert list(first.translations) == ["refA", "A", "B"]
    assert first.meta == {"video": "assets/1.mp4"}
    assert (second.segment, other.lp) == ("cs-de_DE_#_news_#_blesk.cz.11_#_1", "en-uk_UA")


def test_places_are_utf16_units_with_an_inclusive_end(humeval: Path) -> None:
    records = read_wmt25_jsonl(humeval, "cs-de_DE").records
    assert records is not None
    assert [(r.system, r.annotator, r.rating) for r in records] == [
        ("A", "p", 30),
        ("A", "q", 60),
        ("refA", "p", 90),
        ("refA", "p:2", 95),
    ]
    assert records[0].spans == (
        ErrorSpan(severity="major", start=16, end=27, text="Die Jägerin"),
        ErrorSpan(severity="minor", category="accuracy/omission", match="unplaced"),
    )
    assert records[1].spans[0].text == "i"
    assert {r.protocol for r in records} == {"esa"}


def test_control_tasks_are_lists(tmp_path: Path) -> None:
    listed = [{"human": 90, "annotator": "p", "errors": [mark(0, 2)]}, {"human": 80, "annotator": "q"}]
    file = read_wmt25_jsonl(write(tmp_path / "c.jsonl", line(scores={"A": listed})))
    assert file.records is not None
    assert [(r.annotator, r.rating, [s.text for s in r.spans]) for r in file.records] == [
        ("p", 90, ["Ina"]),
        ("q", 80, []),
    ]


def test_what_has_no_place_or_no_rating_is_counted(tmp_path: Path) -> None:
    scores = {
        "A": said(50, mark(900, 910), mark(40, 900, "undecided")),
        "B": said(None),
    }
    file = read_wmt25_jsonl(write(tmp_path / "x.jsonl", line(scores=scores)))
    assert file.records is not None
    (only,) = file.records
    assert only.flags == ("span_bad_offsets", "span_clipped")
    assert [(s.severity, s.note, s.match) for s in only.spans] == [
        ("minor", "", "unplaced"),
        ("neutral", "undecided", "exact"),
    ]
    assert dict(file.met) == {
        "marks beyond the translation, without a place": 1,
        "judgements without a rating, left out": 1,
    }


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"doc_id": "cs-de_DE"}, "'doc_id' is LP_#_DOMAIN_#_DOCUMENT_#_NUMBER"),
        ({"scores": {"C": said(5)}}, "'C' has scores and no translation"),
        ({"scores": {"A": said(101)}}, "101"),
        ({"scores": {"A": 7}}, "an object, or a list of them; got 7"),
        ({"scores": {"A": said(5, mark(1, 2, "grave"))}}, "a severity must be"),
        ({"scores": {"A": said(5, mark(1, "2"))}}, "a place is two whole numbers"),
        ({"scores": {"A": said(5, mark(True, 2))}}, "a place is two whole numbers"),
    ],
)
def test_what_is_none_is_refused_with_its_line(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    path = write(tmp_path / "x.jsonl", line(1), line(2, **fields))
    with pytest.raises(DataError, match=message) as caught:
        read_wmt25_jsonl(path)
    assert "line 2" in str(caught.value)


def test_it_is_scored_and_is_the_gold_of_its_own_texts(
    humeval: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scored = Asked(capsys, "score", humeval, "--lp", "cs-de_DE", "--format", "json").json
    assert scored["systems"]["A"]["score"] == 45
    out = tmp_path / "run"
    assert Asked(capsys, "run", "chrf", humeval, "--lp", "cs-de_DE", "--out", out).code == 0
    asked = Asked(capsys, "meta", humeval, "--lp", "cs-de_DE", "--scores", out, "--include-human")
    assert asked.code == 0, asked.err
