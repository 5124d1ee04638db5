"""Folders in the layout of mt-metrics-eval, with their traps."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from adjudge.core.record import Annotation, ErrorSpan, Failure, Preference, Record
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, DataWarning, UsageError
from adjudge.formats.mtme import (
    NO_TRANSLATION,
    find_lps,
    find_score_files,
    find_test_set,
    is_mtme_folder,
    rater_name,
    read_mtme,
    read_ratings,
    read_score_records,
    write_mtme,
    write_ratings,
    write_score_records,
)
from adjudge.formats.read import load
from tests.formats.nasty import drawn_test_sets, one_line


def put(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder


SMALL = {
    "sources/en-de.txt": "Hello.\nBye. \n",
    "documents/en-de.docs": "news\tdoc1\nnews\tdoc1\n",
    "references/en-de.refA.txt": "Hallo.\nAde.\n",
    "system-outputs/en-de/A.1.txt": f"Hallo!\n{NO_TRANSLATION}\n",
    "system-outputs/en-de/refA.txt": "Hallo.\nAde.\n",
}


TORN = {
    **dict.fromkeys(SMALL, "a\nb\nc\n"),
    "documents/en-de.docs": "n\td1\nn\td2\nn\td1\n",
}


def test_a_folder_is_read_with_line_numbers_as_ids(tmp_path: Path) -> None:
    test_set = read_mtme(put(tmp_path / "wmt99", SMALL))
    assert test_set.name == "wmt99"
    shared: dict[str, Any] = {"lp": "en-de", "document": "doc1", "domain": "news"}
    assert test_set.segments == (
        Segment(
            segment="1",
            source="Hello.",
            translations={"A.1": "Hallo!", "refA": "Hallo."},
            references={"refA": "Hallo."},
            **shared,
        ),
        Segment(
            segment="2", source="Bye. ", translations={"refA": "Ade."}, references={"refA": "Ade."}, **shared
        ),
    )
    assert load(tmp_path / "wmt99", "eng/deu") == test_set


def test_a_system_without_an_output_is_absent_and_an_empty_output_is_empty(tmp_path: Path) -> None:
    outputs = {"A.1": f"\n{NO_TRANSLATION}\n", "B": "\ufeffHallo\nAde\n"}
    first, second = read_mtme(
        put(tmp_path, SMALL | {f"system-outputs/en-de/{k}.txt": v for k, v in outputs.items()})
    )
    assert first.translations["A.1"] == ""
    assert "A.1" not in second.translations
    assert first.translations["B"] == "\ufeffHallo", "a byte-order mark is text, since offsets count it"


def test_a_folder_with_several_language_pairs_asks_for_one(tmp_path: Path) -> None:
    path = put(tmp_path, SMALL | {"sources/en-cs_CZ.txt": "a\n"})
    assert find_lps(path) == {"en-cs_CZ": "en-cs_CZ", "en-de": "en-de"}
    with pytest.raises(UsageError, match="has 2 language pairs: add --lp, one of en-cs_CZ, en-de"):
        read_mtme(path)
    with pytest.raises(UsageError, match="has no lp 'en-fr'; it has en-cs_CZ, en-de"):
        read_mtme(path, "en-fr")
    assert read_mtme(path, "en-cs_CZ").segments[0].source == "a"


def test_a_folder_of_two_language_pairs_comes_back_pair_by_pair(tmp_path: Path) -> None:
    both = tuple(
        Segment(segment=str(n), lp=lp, source=f"{lp} {n}", translations={f"{lp}.A": f"{n}"}, document=f"d{n}")
        for n in (1, 2)
        for lp in ("en-de", "en-cs_CZ")
    )
    write_mtme(tmp_path, TestSet(name="two", segments=both))
    for lp in ("en-de", "en-cs_CZ"):
        assert load(tmp_path, lp).segments == tuple(s for s in both if s.lp == lp)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"system-outputs/en-de/B.txt": "x\n"}, r"B\.txt has 1 line, .*sources/en-de\.txt has 2"),
        ({"references/en-de.refB.txt": "x\ny\nz\n"}, r"refB\.txt has 3 lines, .* has 2"),
        ({"documents/en-de.docs": "news\tdoc1\n"}, r"en-de\.docs has 1 lines, .* has 2"),
        ({"documents/en-de.docs": "doc1\ndoc1\n"}, r"wanted DOMAIN<TAB>DOCUMENT, got 'doc1'.*line 1"),
        ({"documents/en-de.docs": "a\tb\tc\na\tb\n"}, "wanted DOMAIN<TAB>DOCUMENT"),
        (TORN, "segments of document 'd1' do not stand together"),
    ],
)
def test_files_that_do_not_fit_each_other_are_refused(
    tmp_path: Path, files: dict[str, str], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read_mtme(put(tmp_path, SMALL | files))


def test_documents_may_be_missing_or_separated_by_a_blank(tmp_path: Path) -> None:
    (segment,) = read_mtme(put(tmp_path, {"sources/en-de.txt": "a\n"}))
    assert (segment.document, segment.domain) == ("", "")
    (segment,) = read_mtme(put(tmp_path, {"documents/en-de.docs": "news doc 1\n"}))
    assert (segment.document, segment.domain) == ("doc 1", "news")


def test_another_folder_is_not_in_this_layout(tmp_path: Path) -> None:
    assert not is_mtme_folder(tmp_path)
    with pytest.raises(DataError, match=r"no sources/LP\.txt"):
        read_mtme(tmp_path)


# Writing...


@given(test_set=drawn_test_sets(text=one_line, segment_ids=None))
def test_a_folder_comes_back_as_it_was_written_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, test_set: TestSet
) -> None:
    path = tmp_path_factory.mktemp("mtme")
    try:
        lost = write_mtme(path, test_set)
    except DataError as error:
        reasons = "Windows line ends|means a missing|a tab in domain|a line end inside"
        assert re.search(reasons, str(error))  # noqa: PT017
        return
    assert not lost
    for lp in test_set.lps:
        wanted = test_set.select(lp=lp)
        back = read_mtme(path, lp)
        assert [{**vars(s)} for s in back] == [{**vars(s)} for s in wanted]


def test_what_the_layout_has_no_place_for_is_counted(tmp_path: Path) -> None:
    segments = (
        Segment(segment="1", lp="en-de", source="a", meta={"x": 1}),
        Segment(segment="b", lp="en-de", source="a"),
    )
    lost = write_mtme(tmp_path, TestSet(name="t", segments=segments))
    assert lost == {"segment ids became line numbers": 1, "segments lost what stood in meta": 1}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([{"source": "a\nb"}], "line end inside a segment"),
        ([{"translations": {"A": NO_TRANSLATION}}], "means a missing translation"),
        ([{"translations": {"a/b": "x"}}], "cannot be the name of a file"),
        ([{"references": {"ref-A": "x"}}], "no '.' and no '-', got 'ref-A'"),
        ([{"references": {"src": "x"}}], "got 'src'"),
        ([{"document": "a\tb"}], "a tab in domain or document"),
        ([{"document": name} for name in "xyx"], "do not stand together"),
    ],
)
def test_what_the_layout_cannot_hold_is_refused_before_anything_is_written(
    tmp_path: Path, changes: list[dict[str, Any]], message: str
) -> None:
    segments = tuple(
        Segment(**{"segment": str(n), "lp": "en-de", "source": "a", **change})
        for n, change in enumerate(changes, start=1)
    )
    with pytest.raises(DataError, match=re.escape(message)):
        write_mtme(tmp_path, TestSet(name="t", segments=segments))
    assert not list(tmp_path.iterdir())


# Scores...


def test_score_files_are_found_with_name_reference_and_level(tmp_path: Path) -> None:
    names = [
        "human-scores/en-de.seg.score",
        "human-scores/en-de.mqm.seg.score",
        "human-scores/en-de.mqm.sys.score",
        "human-scores/en-de.wmt-z.v2.domain.score",
        "metric-scores/en-de/COMET-22-refA.seg.score",
        "metric-scores/en-de/Kiwi-src.doc.score",
        "metric-scores/en-de/multi-refA.refB.seg.score",
        "metric-scores/en-de/bare.seg.score",
    ]
    others = [
        "human-scores/en-cs.mqm.seg.score",
        "human-scores/en-de.mqm.seg.rating",
        "metric-scores/en-de/notes",
    ]
    path = put(tmp_path, SMALL | dict.fromkeys([*names, *others], ""))
    found = find_score_files(path, "en-de")
    assert [file.path.relative_to(path).as_posix() for file in found] == [
        *sorted(names[:4]),
        *sorted(names[4:]),
    ]
    assert {file[1:] for file in found} == {
        ("gold", "", "", "seg"),
        ("gold", "mqm", "", "seg"),
        ("gold", "mqm", "", "sys"),
        ("gold", "wmt-z.v2", "", "domain"),
        ("metric", "COMET-22", "refA", "seg"),
        ("metric", "Kiwi", "src", "doc"),
        ("metric", "multi", "refA.refB", "seg"),
        ("metric", "bare", "", "seg"),
    }


# Error spans and ratings of mt-metrics-eval.


SET = TestSet(
    name="t",
    segments=tuple(
        Segment(
            segment=name,
            lp="en-de",
            source="Hello 😀 world",
            translations={"A": "Hallo 😀 Welt", "B": ""},
            document="d",
        )
        for name in ("x", "y")
    ),
)
ERROR: dict[str, Any] = {
    "start": 6,
    "end": 7,
    "category": "accuracy/mistranslation",
    "severity": "major",
    "score": 5,
    "is_source_error": False,
}


def write(folder: Path, *lines: str, name: str = "en-de.mqm.rater1.seg.rating") -> Path:
    path = folder / name
    path.write_text("".join(line + "\n" for line in lines))
    return path


def rating(*errors: dict[str, Any]) -> str:
    return json.dumps({"errors": errors})


NO_PLACE = {"start": None, "end": None, "text": "", "match": "unplaced"}
WEIGHTS = "errors whose stated score is not that of mqm-google weights"


@pytest.mark.parametrize(
    ("change", "wanted", "flags", "met"),
    [
        ({"start": 8, "end": 13, "is_source_error": True}, {"side": "source", "text": "world"}, (), ""),
        (
            {"category": "style/unnatural or awkward", "severity": "minor", "score": 1},
            {"category": "style/awkward", "label": "style/unnatural or awkward"},
            (),
            "",
        ),
        (
            {"category": "accuracy/vibes"},
            {"category": None, "label": "accuracy/vibes"},
            ("category_unknown",),
            "categories that no year has, kept as label",
        ),
        *(
            (
                {"start": start, "end": end},
                {**NO_PLACE, "note": f"offsets {start} to {end}"},
                ("span_bad_offsets",),
                "errors whose offsets are no place in their text",
            )
            for start, end in ((-1, 5), (5, 4), (0, 99))
        ),
        (
            {"start": 5, "end": 5},
            {"start": 5, "end": 5, "text": ""},
            ("span_empty",),
            "errors recorded without marked words (start is end), which count all the same",
        ),
        ({"score": 25}, {"severity": "major"}, (), WEIGHTS),
        ({"category": "source issue", "score": 0}, {"severity": "major"}, (), ""),
    ],
)
def test_what_an_error_says_is_kept_flagged_or_counted(
    tmp_path: Path, change: dict[str, Any], wanted: dict[str, Any], flags: tuple[str, ...], met: str
) -> None:
    file = read_ratings(write(tmp_path, f"A\t{rating(ERROR | change)}", "A\tNone"), SET)
    (record,) = file.records
    (span,) = record.spans
    assert {key: getattr(span, key) for key in wanted} == wanted
    assert record.flags == flags
    assert file.met == ({met: 1} if met else {})


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    path = write(tmp_path, "\ufeffB\tNone", "B\tNone", f"A\t{rating()}", "A\tNone")
    with pytest.warns(DataWarning, match=r"starts with U\+FEFF"):
        assert [record.system for record in read_ratings(path, SET).records] == ["A"]


def test_a_line_is_a_judgement_and_none_is_no_judgement(tmp_path: Path) -> None:
    path = write(tmp_path, "B\tNone", f"B\t{rating()}\tannotator7", f"A\t{rating(ERROR)}", "A\tNone")
    file = read_ratings(path, SET)
    shared: dict[str, Any] = {"lp": "en-de", "protocol": "mqm", "document": "d"}
    assert file.records == (
        Annotation(segment="y", system="B", annotator="annotator7", **shared),
        Annotation(
            segment="x",
            system="A",
            annotator="mqm.rater1",
            spans=(
                ErrorSpan(start=6, end=7, text="😀", category="accuracy/mistranslation", severity="major"),
            ),
            **shared,
        ),
    )
    assert not file.met


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"severity": "Schwer"}, "unknown severity 'Schwer'"),
        ({"severity": None}, "'severity' must be text"),
        ({"start": 1.5}, "'start' and 'end' must be whole numbers"),
        ({"end": None}, "must be whole numbers"),
        ({"score": "5"}, "'score' must be a number"),
        ({"surprise": 1}, "unknown key 'surprise'"),
    ],
)
def test_an_error_that_is_none_is_refused_with_its_line(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=rf"{message}.*line 1\)"):
        read_ratings(write(tmp_path, f"A\t{rating(ERROR | change)}", "A\tNone"), SET)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["A\tNone"], "'A' has 1 lines, there are 2 segments"),
        (["A\tNone"] * 3, "'A' has more lines than the 2 segments.*line 3"),
        (["A None", "A None"], "wanted 2 or 3 columns, got 1.*line 1"),
        (["A\tnone", "A\tNone"], "not JSON.*line 1"),
        (['A\t{"errors": null}', "A\tNone"], "'errors' must be a list"),
        (["A\t[]", "A\tNone"], "must be a JSON object"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(tmp_path: Path, lines: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_ratings(write(tmp_path, *lines), SET)


def test_spans_of_a_system_whose_text_is_not_there_have_offsets_and_no_text(tmp_path: Path) -> None:
    file = read_ratings(write(tmp_path, f"Z\t{rating(ERROR | {'end': 400})}", "Z\tNone"), SET)
    assert (file.records[0].spans[0].end, file.records[0].spans[0].text) == (400, "")
    assert file.met == {"systems whose translations are not there, so that spans have no text": 1}


def test_a_file_in_a_folder_finds_its_test_set(tmp_path: Path) -> None:
    put(tmp_path, {"sources/en-de.txt": "a\nb\n", "human-scores/x": "", "metric-scores/en-de/x": ""})
    metric = "COMET-refA.seg.score"
    for name in ("human-scores/en-de.mqm.rater1.seg.rating", f"metric-scores/en-de/{metric}"):
        found = find_test_set(tmp_path / name)
        assert found is not None
        assert (found.lps, len(found)) == (("en-de",), 2)
    for name in ("en-de.mqm.seg.rating", f"metric-scores/en-cs/{metric}", f"metric-scores/en-de.{metric}"):
        assert find_test_set(tmp_path / name) is None


@pytest.mark.parametrize(
    ("name", "rater"),
    [
        ("zh-en.mqm.rater1.seg.rating", "mqm.rater1"),
        ("zh-en.mqm.seg.rating", "mqm"),
        ("mine.seg.rating", "mine"),
        ("zh-en.mqm.rater1.seg.rating.gz", "mqm.rater1"),
    ],
)
def test_the_rater_is_what_the_name_says_beside_the_language_pair(name: str, rater: str) -> None:
    assert rater_name(Path(name)) == rater


# Writing...

JUDGED = Annotation(
    lp="en-de",
    segment="x",
    system="A",
    annotator="mqm",
    protocol="mqm",
    document="d",
    spans=(
        ErrorSpan(start=6, end=7, text="😀", category="fluency/punctuation", severity="minor"),
        ErrorSpan(start=0, end=5, text="Hello", side="source", category="source error", severity="major"),
        ErrorSpan(category="non-translation", label="non-translation!", severity="major", match="unplaced"),
    ),
    flags=("span_bad_offsets",),
)


def test_annotations_come_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "en-de.mqm.seg.rating"
    records = [JUDGED, replace(JUDGED, segment="y", annotator="other", spans=(), flags=())]
    assert write_ratings(path, records, SET) == {"places of errors, written as -1": 1}
    lines = path.read_text().splitlines()
    assert [line.partition("\t")[0] for line in lines] == ["A", "A", "B", "B"]
    assert [e["score"] for e in json.loads(lines[0].split("\t")[1])["errors"]] == [0.1, 0, 25]
    assert lines[1].endswith("\tother")
    assert lines[2] == "B\tNone"
    assert read_ratings(path, SET).records == tuple(records)


def test_what_the_format_cannot_hold_is_counted(tmp_path: Path) -> None:
    shared: dict[str, Any] = {"lp": "en-de", "segment": "y", "annotator": "mqm", "protocol": "mqm"}
    records: list[Record] = [
        replace(JUDGED, spans=(replace(JUDGED.spans[0], note="why"),), rationale="r", counts={"major": 1}),
        Failure(systems=("A",), reason="empty", **shared),
        Preference(systems=("A", "B"), criterion="c", verdict="A", **{**shared, "protocol": "pairwise"}),
        replace(JUDGED, lp="en-cs"),
    ]
    assert write_ratings(tmp_path / "f.seg.rating", records, SET) == {
        "notes on errors": 1,
        "rationales": 1,
        "counts of errors": 1,
        "failures": 1,
        "preferences": 1,
        "records of other language pairs": 1,
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"segment": "z"}, "no segment 'z'"),
        *(
            ({"system": name}, f"no white space in its name, got {name!r}")
            for name in ("A\nB", "A B", "A\tB", "\ufeffA")
        ),
        ({"annotator": "a\tb"}, "in the annotator's name"),
    ],
)
def test_what_no_reader_would_get_back_is_refused(
    tmp_path: Path, change: dict[str, str], message: str
) -> None:
    with pytest.raises(DataError, match=re.escape(message)):
        write_ratings(tmp_path / "f.seg.rating", [replace(JUDGED, **change)], SET)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"judged twice.*--annotator"):
        write_ratings(tmp_path / "f.seg.rating", [JUDGED, replace(JUDGED, annotator="b")], SET)
    assert not (tmp_path / "f.seg.rating").exists()


# Segment scores as ratings...


def test_scores_are_ratings_and_come_back(tmp_path: Path) -> None:
    path = tmp_path / "en-de.da-sqm.seg.score"
    path.write_text("A\t67.5\nA\tNone\nB\t0\nB\t100\n")
    records = read_score_records(path, SET, "da-sqm")
    assert [(r.system, r.segment, r.rating, r.annotator, r.document) for r in records] == [
        ("A", "x", 67.5, "da-sqm", "d"),
        ("B", "x", 0, "da-sqm", "d"),
        ("B", "y", 100, "da-sqm", "d"),
    ]
    assert not write_score_records(tmp_path / "again.seg.score", records, SET)
    assert (tmp_path / "again.seg.score").read_text() == "A\t67.5\nA\tNone\nB\t0.0\nB\t100.0\n"


def test_averages_of_mqm_name_their_segments(tmp_path: Path) -> None:
    path = tmp_path / "en-de.mqm.avg_seg_scores.tsv"
    lines = ["system mqm_avg_score seg_id", "A\tNone x", "A\t-1.5 y", "A\tNone gone", "B\t0 x", "B\tNone y"]
    path.write_text("\n".join([*lines, "B\tNone gone", ""]))
    records = read_score_records(path, SET)
    found = [(r.system, r.segment, r.rating, r.annotator) for r in records]
    assert found == [("A", "y", -1.5, "mqm"), ("B", "x", 0, "mqm")]
    path.write_text("\n".join([*lines, "B\t-1 gone", ""]))
    with pytest.raises(DataError, match="no segment 'gone', which was rated for 'B'"):
        read_score_records(path, SET)


def test_a_score_outside_the_scale_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "en-de.da-sqm.seg.score"
    path.write_text("A\t-1\nA\tNone\n")
    with pytest.raises(DataError, match="lies in 0 to 100, got -1"):
        read_score_records(path, SET, "da-sqm")
    assert read_score_records(path, SET)[0].rating == -1


def test_ratings_that_a_score_file_cannot_hold_are_refused_or_counted(tmp_path: Path) -> None:
    path = tmp_path / "f.seg.score"
    rated = replace(JUDGED, protocol="esa", rating=50.0, rationale="r")
    assert write_score_records(path, [rated], SET) == {"errors": 3, "rationales": 1}
    with pytest.raises(DataError, match="has no rating by 'mqm'; `adjudge score RUN --score-files DIR`"):
        write_score_records(path, [JUDGED], SET)
    with pytest.raises(UsageError, match="judged twice"):
        write_score_records(path, [rated, replace(rated, annotator="b")], SET)
    with pytest.raises(DataError, match="no segment 'z'"):
        write_score_records(path, [replace(rated, segment="z")], SET)
