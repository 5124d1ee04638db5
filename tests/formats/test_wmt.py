"""WMT25's general task as JSON lines: a line a segment, with what people said of its translations."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.core.record import Annotation, ErrorSpan, Failure
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, UsageError
from adjudge.formats.convert import write_content
from adjudge.formats.file_content import Content
from adjudge.formats.read import load, read_content
from adjudge.formats.wmt import MARKS, TEXTS, read_wmt25, read_wmt25_jsonl, write_wmt25
from tests.cli.calling import Asked

# WMT25's table: texts, what is marked in them, and the way back.


SEGMENT = ["doc", "7", "en", "cs_CZ", "official"]
CLEAN = ("-1", "-1", "no-error")


def table(folder: Path, *rows: list[str], heading: tuple[str, ...] = (*TEXTS, *MARKS)) -> Path:
    path = folder / "gold.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in [list(heading), *rows]))
    return path


def row(system: str, text: str, *marks: str, reference: str = "NaN", source: str = "Hi 😀") -> list[str]:
    return [*SEGMENT, system, source, text, reference, "news", "ESA", *marks]


def test_a_row_is_a_translation_with_what_is_marked_in_it(tmp_path: Path) -> None:
    path = table(
        tmp_path,
        row("A", "Ahoj 😀 ty", "0 5 missing", "4 6 missing", "major minor critical"),
        row("B", "Ahoj", *CLEAN),
        row("C", "", "", "", ""),
    )
    found = read_wmt25(path)
    assert found.test_set.segments == (
        Segment(
            segment="7",
            lp="en-cs_CZ",
            source="Hi 😀",
            translations={"A": "Ahoj 😀 ty", "B": "Ahoj", "C": ""},
            document="doc",
            domain="news",
            meta={"set_id": "official", "method": "ESA"},
        ),
    )
    about: dict[str, Any] = {"lp": "en-cs_CZ", "segment": "7", "annotator": "gold", "document": "doc"}
    about["protocol"] = "mqm"
    assert found.records == (
        Annotation(
            **about,
            system="A",
            spans=(
                ErrorSpan(severity="major", start=0, end=4, text="Ahoj"),
                ErrorSpan(severity="minor", start=5, end=6, text="😀"),
                ErrorSpan(severity="critical", category="accuracy/omission", match="unplaced"),
            ),
        ),
        Annotation(**about, system="B"),
    )
    assert not found.met


def test_odd_marks_keep_what_they_say(tmp_path: Path) -> None:
    marks = ("0 2 0 4", "4 9 0 4", "undecided minor major minor")
    found = read_wmt25(table(tmp_path, row("A", "Ahoj", *marks)))
    assert found.records is not None
    assert [(s.severity, s.note, s.start, s.end, s.text, s.match) for s in found.records[0].spans] == [
        ("neutral", "undecided", 0, 4, "Ahoj", "exact"),
        ("minor", "", None, None, "", "unplaced"),
        ("major", "", 0, 0, "", "exact"),
        ("minor", "", 4, 4, "", "exact"),
    ]
    assert found.met == {"marks beyond the translation, without a place": 1}


def test_texts_alone_are_a_test_set_and_other_columns_are_named(tmp_path: Path) -> None:
    path = table(tmp_path, [*row("A", "Ahoj", reference="Čau"), "93"], heading=(*TEXTS, "overall"))
    assert load(path).segments[0].references == {"ref": "Čau"}
    content = read_content(path)
    assert not content.records
    assert content.met == {"columns that are not read: overall": 1}


def test_one_language_pair_may_be_kept(tmp_path: Path) -> None:
    other = row("A", "Hallo", *CLEAN)
    other[3] = "de_DE"
    path = table(tmp_path, row("A", "Ahoj", *CLEAN), other)
    assert read_wmt25(path).test_set.lps == ("en-cs_CZ", "en-de_DE")
    found = read_content(path, lp="en-de_DE")
    assert found.test_set is not None
    assert [r.lp for r in found.records or ()] == list(found.test_set.lps) == ["en-de_DE"]
    with pytest.raises(UsageError, match="has no lp 'en-fr'"):
        read_content(path, lp="en-fr")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([row("A", "x", "0", "1", "awful")], "minor, major, critical or undecided, got 'awful'"),
        ([row("A", "x", "0 0", "1", "minor")], "2 starts, 1 ends and 1 types"),
        ([row("A", "x", "-1", "1", "minor")], "a place is two numbers, or missing twice, got -1 and 1"),
        ([row("A", "x", "missing", "1", "minor")], "got missing and 1"),
        ([row("A", "x", *CLEAN), row("A", "y", *CLEAN)], "segment '7' of en-cs_CZ by 'A' is there twice"),
        ([row("A", "x", *CLEAN), row("B", "y", *CLEAN, source="?")], "is not the same in two rows"),
        ([row("A", "x")], "wanted 14 columns, got 11"),
        ([row("A", '"x', *CLEAN)], "not a table by tabs"),
    ],
)
def test_what_is_no_such_row_is_refused_with_its_line(
    tmp_path: Path, rows: list[list[str]], message: str
) -> None:
    with pytest.raises(DataError, match=message) as refused:
        read_wmt25(table(tmp_path, *rows))
    assert refused.value.line in {2, 3}


def test_a_table_without_texts_and_scores_is_refused(tmp_path: Path) -> None:
    path = table(tmp_path, heading=(*TEXTS[:6], "domain_name", "method"))
    with pytest.raises(DataError, match="without the columns source_segment, hypothesis_segment"):
        read_content(path)


# Out...


def test_what_was_read_is_written_as_it_was(tmp_path: Path) -> None:
    path = table(
        tmp_path,
        row("A", "Ahoj 😀 ty", "0 5 missing 0", "4 6 missing 2", "major minor critical undecided"),
        row("B", "Ahoj", *CLEAN),
        row("C", "Nic", "", "", ""),
    )
    found = read_wmt25(path)
    lost = write_wmt25(tmp_path / "out.tsv", found.records or (), found.test_set)
    assert (tmp_path / "out.tsv").read_text() == path.read_text()
    assert lost == {"translations that nobody judged, their cells are empty": 1}


def test_texts_with_tabs_lines_and_quotes_come_back(tmp_path: Path) -> None:
    odd = 'a\tb\n"c" \\n'
    segment = Segment(segment="1", lp="en-de", source=odd, translations={"x": odd}, references={"ref": odd})
    texts = TestSet(name="out", segments=(segment,))
    judged = Annotation(lp="en-de", segment="1", system="x", annotator="a", protocol="esa", rating=1.0)
    write_content(tmp_path / "out.tsv", "wmt25", Content(test_set=texts, records=[judged]))
    (found,) = load(tmp_path / "out.tsv").segments
    assert found == replace(texts.segments[0], meta={"set_id": "official"})


def test_what_has_no_place_in_the_table_is_counted(tmp_path: Path) -> None:
    segment = Segment(segment="1", lp="en-de", source="a", translations={"x": "b"}, meta={"note": 1})
    texts = TestSet(name="t", segments=(replace(segment, references={"r": "c", "s": "d"}),))
    about: dict[str, Any] = {"lp": "en-de", "segment": "1", "annotator": "j"}
    spans = (
        ErrorSpan(severity="minor", start=0, end=1, text="b", category="style"),
        ErrorSpan(severity="neutral", start=0, end=1, text="b"),
        ErrorSpan(severity="minor", start=0, end=1, text="a", side="source"),
        ErrorSpan(severity="major", text="c", match="unmatched"),
    )
    said = Annotation(**about, system="x", protocol="esa", rating=5, spans=spans)
    failed = Failure(**about, systems=("x",), protocol="esa", reason="empty")
    assert write_wmt25(tmp_path / "o.tsv", [said, failed], texts) == {
        "ratings": 1,
        "categories of errors": 1,
        "neutral marks": 1,
        "errors of the source": 1,
        "errors without a place": 1,
        "failures": 1,
        "further references": 1,
        "segments whose meta": 1,
    }
    with pytest.raises(UsageError, match="by one annotator, got 'j' and 'k': add --annotator"):
        write_wmt25(tmp_path / "o.tsv", [said, replace(said, segment="2", annotator="k")], texts)
    with pytest.raises(UsageError, match=r"judged twice.*; the table holds one"):
        write_wmt25(tmp_path / "o.tsv", [said, replace(said, rating=6)], texts)
    with pytest.raises(DataError, match="judge segment '2' of en-de by 'x', which is not there"):
        write_wmt25(tmp_path / "o.tsv", [replace(said, segment="2")], texts)


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


def rows(path: Path, *lines: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), "utf-8")
    return path


@pytest.fixture
def humeval(tmp_path: Path) -> Path:
    scores = {
        "A": said(30, mark(17, 27, "major"), mark("missing", "missing"))
        | said(60, mark(18, 18), annotator="q", times=2),
        "refA": said(90) | said(95, times=2),
    }
    return rows(
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
    records = [r for r in read_content(humeval, lp="cs-de_DE").records if isinstance(r, Annotation)]
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
    file = read_wmt25_jsonl(rows(tmp_path / "c.jsonl", line(scores={"A": listed})))
    assert file.records is not None
    assert [(r.annotator, r.rating, [s.text for s in r.spans]) for r in file.records] == [
        ("p", 90, ["Ina"]),
        ("q", 80, []),
    ]


def test_what_has_no_place_or_no_rating_is_counted(tmp_path: Path) -> None:
    scores = {"A": said(50, mark(900, 910), mark(40, 900, "undecided")), "B": said(None)}
    file = read_wmt25_jsonl(rows(tmp_path / "x.jsonl", line(scores=scores)))
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
        ({"doc_id": "qq-de_#_news_#_d_#_1"}, "no language has the code 'qq'"),
        ({"scores": {"C": said(5)}}, "'C' has scores and no translation"),
        ({"scores": {"A": said(101)}}, "101"),
        ({"scores": {"A": 7}}, "an object, or a list of them; got 7"),
        ({"scores": {"A": said(5, mark(1, 2, "grave"))}}, "a severity must be"),
        ({"scores": {"A": said(5, mark(1, "2"))}}, "a place is two whole numbers"),
        ({"scores": {"A": said(5, mark(True, 2))}}, "a place is two whole numbers"),
    ],
)
def test_what_is_none_is_refused_with_its_line(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    path = rows(tmp_path / "x.jsonl", line(1), line(2, **fields))
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


# Scores, systems' documents, challenge sets and WMT26's evaluation task...


SCORE_HEADING = (
    "doc_id\tsegment_id\tsource_lang\ttarget_lang\tset_id\tsystem_id\tdomain_name\tmethod\toverall"
)


def score_table(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "MetricX-25.tsv"
    path.write_text("\n".join((SCORE_HEADING, *lines, "")), "utf-8")
    return path


def test_a_table_of_scores_is_read_and_a_missing_score_is_counted(tmp_path: Path) -> None:
    line = "d\t{}\ten\tja_JP\tofficial\t{}\tnews\tESA\t{}"
    path = score_table(
        tmp_path, *(line.format(*cells) for cells in ((1, "A", "-1.5"), (2, "A", "NaN"), (1, "B", 3)))
    )
    content = read_content(path)
    assert content.records is not None
    told = [(r.lp, r.segment, r.system, r.annotator, r.rating) for r in content.records]  # type: ignore[union-attr]
    assert told == [("en-ja_JP", "1", "A", "MetricX-25", -1.5), ("en-ja_JP", "1", "B", "MetricX-25", 3.0)]
    assert content.met == {"translations without a score, left out": 1}


@pytest.mark.parametrize(
    ("last", "message"),
    [
        ("1\ten\tde\to\tA\tnews\tESA\t7", "scored twice"),
        ("2\ten\tde\to\tA\tnews\tESA\tgood", "a plain finite number"),
        ("2\ten\tde\to\tA\tnews\tESA\tinf", "a plain finite number"),
    ],
)
def test_a_row_that_is_no_score_is_refused_with_its_line(tmp_path: Path, last: str, message: str) -> None:
    path = score_table(tmp_path, "d\t1\ten\tde\to\tA\tnews\tESA\t5", f"d\t{last}")
    with pytest.raises(DataError, match=message) as refused:
        read_content(path)
    assert refused.value.line == 3


def document_scores(folder: Path, system: str, **metrics: object) -> Path:
    said = {"language_pair": "en-is_IS", "domain": "news", "document_id": "d", "metric_scores": metrics}
    return rows(folder / f"{system}.jsonl", said)


def test_scores_by_document_are_of_paragraphs_and_of_the_whole_name_of_a_system(tmp_path: Path) -> None:
    document_scores(tmp_path / "scores", "GPT-4.1", X=[0.5, None], Y=[60, 70])
    document_scores(tmp_path / "scores", "AMI", X=[0.25, 0.5], Y=[50, 60, 70])
    content = read_content(tmp_path / "scores")
    assert content.records is not None
    told = {(r.system, r.annotator, r.segment): r.rating for r in content.records}  # type: ignore[union-attr]
    assert told["GPT-4.1", "Y", "en-is_IS_#_news_#_d_#_2"] == 70
    assert ("GPT-4.1", "X", "en-is_IS_#_news_#_d_#_2") not in told
    assert content.met == {
        "translations without a score, left out": 1,
        "documents whose metrics score other numbers of paragraphs": 1,
    }
    with pytest.raises(DataError, match=r"scores of 2 metrics \(X, Y\), whose mean says nothing"):
        adjudge.score(tmp_path / "scores" / "AMI.jsonl")


def systems_folder(tmp_path: Path) -> Path:
    name = "WMT26_###_news_###_eng_Latn_###_isl_Latn_###_d"
    source = {"doc_id": name, "src_text": "<p>One.</p>\n<p>Two.</p>", "evaluation_instruction": "Keep names."}
    plain = {
        "doc_id": "en-is_IS_#_social_#_e",
        "src_text": "One line.\nThe same.\n\nAnother.",
        "refs": {"refA": {"ref": "A\n\nB"}},
    }
    rows(tmp_path / "wmt26-genmt.jsonl", source, plain)
    told = (
        {"doc_id": name, "hypothesis": "<p>Einn.</p>\n<p>Tveir.</p>"},
        {"doc_id": plain["doc_id"], "hypothesis": "x\n\ny"},
    )
    rows(tmp_path / "systems" / "A-1.5.jsonl", *told)
    rows(
        tmp_path / "systems" / "B.jsonl",
        {"doc_id": name, "hypothesis": "<p>Allt saman.</p>"},
        {"doc_id": "other", "hypothesis": ""},
    )
    return tmp_path / "systems"


def test_documents_of_systems_are_cut_into_the_paragraphs_of_their_sources(tmp_path: Path) -> None:
    content = read_content(folder := systems_folder(tmp_path))
    assert content.test_set is not None
    first, second, third, fourth = content.test_set
    assert (first.source, second.source, third.source) == ("One.", "Two.", "One line.\nThe same.")
    assert [dict(s.translations) for s in (first, second)] == [{"A-1.5": "Einn."}, {"A-1.5": "Tveir."}]
    assert first.meta == {"instruction": "Keep names."}
    assert (fourth.translations["A-1.5"], fourth.references) == ("y", {"refA": "B"})
    assert (first.segment, fourth.segment) == (f"{first.document}_###_1", "en-is_IS_#_social_#_e_#_2")
    assert content.met == {
        "documents of B with another number of paragraphs than the source, left out": 1,
        "documents of B that the sources do not have": 1,
    }
    (tmp_path / "wmt26-genmt.jsonl").unlink()
    with pytest.raises(DataError, match="put the test set"):
        load(folder)


def test_a_challenge_set_is_line_aligned(tmp_path: Path) -> None:
    for kind, text in {
        "src": "a\nb\n",
        "hyp-1": "x\ny\n",
        "hyp-2": "u\nv\n",
        "meta": "news\td\tnegation\nnews\td\tnames\n",
    }.items():
        (tmp_path / f"set.en-zh.{kind}.txt").write_text(text, "utf-8")
    first, second = load(tmp_path, "en-zh")
    assert (first.segment, first.translations) == ("1", {"hyp-1": "x", "hyp-2": "u"})
    assert (second.domain, second.document, second.meta) == ("news", "d", {"meta3": "names"})
    with pytest.raises(UsageError, match="has no lp 'en-de'; it has en-zh"):
        load(tmp_path, "en-de")
    (tmp_path / "set.en-zh.hyp-2.txt").write_text("u\n", "utf-8")
    with pytest.raises(DataError, match="1 lines, and "):
        load(tmp_path)


ITEM = "official_###_eng_Latn_###_isl_Latn_###_news_###_d_###_1"


def evaluation_set(tmp_path: Path) -> Path:
    hyps = {"A": "Einn kottur.", "B": ""}
    return rows(
        tmp_path / "mteval-test26.jsonl",
        {"item_id": ITEM, "src": "One cat.", "ref": {"text": "Einn köttur.", "type": "human"}, "hyps": hyps},
    )


def test_the_evaluation_task_of_wmt26_is_read_judged_and_written(tmp_path: Path) -> None:
    test_set = load(evaluation_set(tmp_path))
    assert (test_set.segments[0].references, test_set.segments[0].document) == ({"ref": "Einn köttur."}, "d")
    errors = [{"start": 5, "end": 11, "severity": "minor", "category": "spelling"}]
    task1 = {"A": {"errors": errors, "omission": "major", "instruction_fault": "minor"}, "B": {"errors": []}}
    path = rows(
        tmp_path / "me.jsonl", {"item_id": ITEM, "task1_pred": task1, "task2_pred": {"A": 70, "B": 0}}
    )
    content = read_content(path, test_set=test_set)
    assert content.records is not None
    first, second = content.records
    assert isinstance(first, Annotation)
    assert [(s.start, s.end, s.category, s.severity) for s in first.spans] == [
        (5, 11, None, "minor"),
        (None, None, "accuracy/omission", "major"),
        (None, None, "instruction fault", "minor"),
    ]
    assert (first.rating, second.rating) == (70, 0)  # type: ignore[union-attr]
    for task in ("1", "2", "3"):
        left_out = write_content(tmp_path / f"task{task}.jsonl", f"wmt26-task{task}", content)
        assert not left_out
    assert json.loads((tmp_path / "task1.jsonl").read_text("utf-8")) == {
        "item_id": ITEM,
        "task1_pred": {**task1, "B": {"errors": [], "omission": None, "instruction_fault": None}},
    }
    assert json.loads((tmp_path / "task2.jsonl").read_text("utf-8"))["task2_pred"] == {"A": 70, "B": 0}
    assert json.loads((tmp_path / "task3.jsonl").read_text("utf-8"))["task3_pred"] == {"A": False, "B": False}
    assert isinstance(second, Annotation)
    clean = [replace(second, rating=rating) for rating in (84.0, 85.0)]
    for record, free in zip(clean, (False, True), strict=True):
        path = tmp_path / f"free-{free}.jsonl"
        write_content(path, "wmt26-task3", replace(content, records=[record]))
        assert json.loads(path.read_text())["task3_pred"] == {"B": free}


def test_only_items_of_wmt26_can_be_predicted(tmp_path: Path) -> None:
    segment = Segment(segment="1", lp="en-de", source="x", translations={"A": "y"})
    told = Annotation(lp="en-de", segment="1", system="A", annotator="me", protocol="esa", rating=1)
    content = Content(test_set=TestSet(name="t", segments=(segment,)), records=[told])
    with pytest.raises(UsageError, match="no item of WMT26"):
        write_content(tmp_path / "out.jsonl", "wmt26-task2", content)


@pytest.mark.realdata
def test_published_scores_of_wmt25_are_read_without_loss(adjudge_data: Path) -> None:
    folder = adjudge_data / "wmt25"
    content = read_content(folder / "automatic_scores", lp="en-is_IS")
    assert content.records is not None
    assert "GPT-4.1" in {r.system for r in content.records}  # type: ignore[union-attr]
    assert len({r.annotator for r in content.records}) == 5
    table_of = read_content(folder / "mteval" / "scored" / "segments.tsv")
    assert len(table_of.records or ()) == 25_816
    challenge = load(folder / "mteval" / "submitted" / "SSA-MTE", "en-amh")
    returned = read_content(folder / "mteval" / "returned" / "SSA-MTE" / "MetricX-25.tsv", lp="en-amh")
    assert {r.segment for r in returned.records or ()} == {s.segment for s in challenge}
