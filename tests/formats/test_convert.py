"""Between every two formats that hold the same thing: without loss, or with a count."""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given

from adjudge import examples, load, run, score
from adjudge.core.record import Annotation, ErrorSpan, Failure, Record
from adjudge.core.scores import RunInfo, Scores, Signature
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, UsageError
from adjudge.formats.convert import write_content
from adjudge.formats.file_content import Content
from adjudge.formats.read import read_content
from adjudge.formats.registry import FORMATS, find_format
from adjudge.store.json_lines import write_records, write_test_set
from adjudge.store.run_directory import write_run_info
from tests.formats.nasty import drawn_test_sets, texts

pytestmark = pytest.mark.filterwarnings("ignore:.*empty lines")  # B translates every segment with nothing

NAMES = {
    "jsonl": "set.jsonl",
    "records": "records.jsonl",
    "mqm-tsv": "mqm.tsv",
    "mtme-ratings": "en-de.mqm.seg.rating",
    "mtme-scores": "en-de.mqm.seg.score",
}
TEXTS = [f.name for f in FORMATS if f.holds == "test set" and f.writes and not f.is_marked_up]
JUDGEMENTS = [form.name for form in FORMATS if form.has_records and form.writes]

SET = TestSet(
    name="set",
    segments=tuple(
        Segment(
            segment=str(n + 1),
            lp="en-de",
            source=f"Hello 😀 {n}\u2028",
            translations={"A": f"Hallo 😀\r{n}", "B": ""},
            references={"ref": "مرحبا "},
        )
        for n in range(3)
    ),
)
SPANS = (
    ErrorSpan(start=6, end=7, text="😀", severity="major", category="accuracy/mistranslation"),
    ErrorSpan(start=0, end=5, text="Hello", severity="minor", category="source error", side="source"),
)
MARKED: list[Record] = [
    Annotation(lp="en-de", segment="1", system="A", annotator="mqm", protocol="mqm", spans=SPANS),
    Annotation(lp="en-de", segment="2", system="A", annotator="mqm", protocol="mqm"),
    Annotation(lp="en-de", segment="3", system="B", annotator="mqm", protocol="mqm"),
]
RATED: list[Record] = [
    Annotation(lp="en-de", segment="1", system="A", annotator="mqm", protocol="metric", rating=0.1 + 0.2),
    Annotation(lp="en-de", segment="3", system="A", annotator="mqm", protocol="metric", rating=-25),
]


@pytest.mark.parametrize(("first", "second"), list(product(TEXTS, repeat=2)))
def test_a_test_set_goes_through_any_two_formats_without_loss(
    tmp_path: Path, first: str, second: str
) -> None:
    content: Content[Record] = Content(test_set=SET)
    for number, form in enumerate((first, second)):
        path = tmp_path / str(number) / NAMES.get(form, "folder")
        assert not write_content(path, form, content)
        content = read_content(path, lp="en-de")
    assert content.test_set is not None
    assert content.test_set.segments == SET.segments


@pytest.mark.parametrize(
    ("first", "second", "records"),
    [
        *((a, b, MARKED) for a, b in product(("records", "mqm-tsv", "mtme-ratings"), repeat=2)),
        *((a, b, RATED) for a, b in product(("records", "mqm-tsv", "mtme-scores"), repeat=2)),
    ],
)
def test_judgements_go_through_any_two_formats_that_hold_them(
    tmp_path: Path, first: str, second: str, records: list[Record]
) -> None:
    content = Content(test_set=SET, records=records)
    for number, form in enumerate((first, second)):
        path = tmp_path / str(number) / NAMES[form]
        write_content(path, form, content)
        content = read_content(path, lp="en-de", test_set=SET)
    assert content.records is not None
    assert list(content.records) == records


@given(test_set=drawn_test_sets(text=texts))
def test_whatever_a_format_does_not_refuse_or_count_comes_back(
    tmp_path_factory: pytest.TempPathFactory, test_set: TestSet
) -> None:
    one = TestSet(name="t", segments=test_set.select(lp=test_set.lps[0]).segments)
    for form in TEXTS:
        path = tmp_path_factory.mktemp("any") / NAMES.get(form, "folder")
        try:
            lost = write_content(path, form, Content(test_set=one))
        except DataError:
            assert not path.exists()
            continue
        back = read_content(path, form, lp=one.lps[0]).test_set
        assert back is not None
        if not lost:
            assert _without_reference_names(back) == _without_reference_names(one)


def _without_reference_names(test_set: TestSet) -> list[Segment]:
    return [
        replace(s, references={str(n): text for n, text in enumerate(s.references.values())})
        for s in test_set
    ]


def test_the_formats_are_all_read_or_written_and_have_names_of_their_own() -> None:
    assert len({form.name for form in FORMATS}) == len(FORMATS)
    assert all((form.reads or form.writes) and form.title for form in FORMATS)
    assert {*TEXTS, *JUDGEMENTS, "xliff"} == {form.name for form in FORMATS if form.writes}
    with pytest.raises(UsageError, match="no format 'sdlxliff'; there are run, ment"):
        find_format("sdlxliff")


def test_a_run_holds_texts_and_judgements(tmp_path: Path) -> None:
    info = RunInfo(signature=Signature("j", {}), kind="judge", annotator="j", protocol="mqm")
    write_run_info(tmp_path, info)
    write_test_set(tmp_path / "test_set.jsonl", SET)
    write_records(tmp_path / "records.jsonl", [*MARKED, replace(MARKED[0], lp="en-cs")])
    content = read_content(tmp_path, lp="en-de")
    assert list(content.records or ()) == MARKED
    assert not write_content(tmp_path / "out.jsonl", "records", replace(content, test_set=None))
    with pytest.raises(UsageError, match="run is read, not written"):
        write_content(tmp_path / "out", "run", content)


@pytest.mark.parametrize(
    ("form", "content", "message"),
    [
        ("records", Content(test_set=SET), "records holds records, and the input is a test set"),
        ("jsonl", Content(records=MARKED), "jsonl needs the texts .* --test-set"),
        ("mtme-ratings", Content(records=MARKED), "mtme-ratings needs the texts .* --test-set"),
        ("mqm-tsv", Content(records=MARKED), "mqm-tsv needs the texts .* --test-set"),
    ],
)
def test_content_that_lacks_what_a_format_holds_is_refused(
    tmp_path: Path, form: str, content: Content[Record], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        write_content(tmp_path / "out", form, content)


def test_lines_without_ids_need_the_texts_that_they_are_about(tmp_path: Path) -> None:
    path = tmp_path / NAMES["mtme-ratings"]
    path.write_text("A\tNone\n")
    with pytest.raises(UsageError, match="lines without ids: say what they are about with --test-set"):
        read_content(path)


FAILURE = Failure(lp="en-de", segment="1", systems=("A",), annotator="mqm", protocol="mqm", reason="empty")


@pytest.mark.parametrize(
    ("form", "records", "lost"),
    [
        ("jsonl", MARKED, {"judgements": 3}),
        ("records", MARKED, {"texts": 3}),
        ("mqm-tsv", MARKED, {"translations that nobody judged": 3, "texts of references": 3}),
        ("mtme-ratings", [*MARKED[1:], FAILURE], {"failures": 1}),
    ],
)
def test_what_a_format_has_no_place_for_is_counted(
    tmp_path: Path, form: str, records: list[Record], lost: dict[str, int]
) -> None:
    path = tmp_path / NAMES[form]
    assert write_content(path, form, Content(test_set=SET, records=records)) == lost


# What is there already...


@pytest.mark.parametrize("form", TEXTS)
def test_nothing_is_replaced_without_being_asked_to(tmp_path: Path, form: str) -> None:
    path = tmp_path / "out"
    write_content(path, form, Content(test_set=SET))
    fewer: Content[Record] = Content(
        test_set=TestSet(name="t", segments=(replace(SET.segments[0], translations={"A": "x"}),))
    )
    with pytest.raises(UsageError, match="out exists: --force replaces it"):
        write_content(path, form, fewer)
    assert read_content(path, lp="en-de").test_set == replace(SET, name=path.name)
    write_content(path, form, fewer, force=True)
    assert read_content(path, lp="en-de").test_set == replace(fewer.test_set or SET, name=path.name)
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_holds_anything_else_is_never_replaced(tmp_path: Path) -> None:
    (path := tmp_path / "out").mkdir()
    write_content(path, "mtme", Content(test_set=SET))  # an empty folder is written into
    assert (path / "sources" / "en-de.txt").exists()
    (path / "human-scores").mkdir()
    with pytest.raises(UsageError, match="also holds 'human-scores', which is no part of mtme"):
        write_content(path, "mtme", Content(test_set=SET), force=True)


@pytest.mark.parametrize(("make", "form"), [(Path.mkdir, "jsonl"), (Path.touch, "mtme")])
def test_a_folder_is_not_replaced_by_a_file_nor_a_file_by_a_folder(
    tmp_path: Path, make: Callable[[Path], None], form: str
) -> None:
    make(tmp_path / "out")
    with pytest.raises(UsageError, match="choose another name"):
        write_content(tmp_path / "out", form, Content(test_set=SET), force=True)


def test_a_refused_folder_leaves_the_old_one_and_is_named_by_its_own_name(tmp_path: Path) -> None:
    path = tmp_path / "out"
    write_content(path, "text", Content(test_set=SET))
    broken = TestSet(name="t", segments=(Segment(segment="1", lp="en-de", source="a\nb"),))
    with pytest.raises(DataError, match=re.escape(f"({path}/source.txt line 1)")):
        write_content(path, "text", Content(test_set=broken), force=True)
    assert read_content(path, lp="en-de").test_set == replace(SET, name="out")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("judge", ["himate", "m-mad", "gemba-mqm"])
def test_a_file_of_a_run_is_scored_by_the_weights_of_its_judge(tmp_path: Path, judge: str) -> None:
    texts = load(examples.path("test_set.jsonl"), "en-de")
    made = run(judge, texts, model="builtin/rules", out=tmp_path / "run")
    own = score(tmp_path / "run")
    assert own.weights is not None
    content = read_content(tmp_path / "run")
    for form, name in {"records": "records.jsonl", "parquet": "records.parquet"}.items():
        assert not [what for what in write_content(tmp_path / name, form, content) if "weights" in what]
        assert _same(score(tmp_path / name), own)
    assert _same(score(tmp_path / "run" / "records.jsonl"), own)
    marked = sum(isinstance(record, Annotation) for record in made.records)
    told = write_content(tmp_path / "marks.tsv", "mqm-tsv", content)
    name = own.weights.name
    assert told[
        f"annotations whose errors the run scores by {name}: score this file with --weights {name}"
    ] == (marked)


def _same(found: Scores, wanted: Scores) -> bool:
    return found.weights == wanted.weights and found.segments == wanted.segments


def test_records_of_different_weights_are_not_scored_together() -> None:
    one, two, three = (r for r in MARKED if isinstance(r, Annotation))
    mixed = [one, replace(two, weights="gemba"), replace(three, weights="gemba")]
    with pytest.raises(UsageError, match="different weights, gemba and mqm-google: choose with --weights"):
        score(mixed)
    assert score(mixed, weights="himate").signature.fields["weights"] == "himate"
