"""Folders in the layout of mt-metrics-eval, with their traps."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from adjudge.core.segment import (
    Segment,
    TestSet,
)
from adjudge.errors import DataError, UsageError
from adjudge.formats.mtme import (
    NO_TRANSLATION,
    ScoreFile,
    find_lps,
    find_score_files,
    is_mtme_folder,
    read_mtme,
    write_mtme,
)
from adjudge.formats.read import load
from tests.data.nasty import drawn_test_sets, one_line


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
    outputs = {"system-outputs/en-de/A.1.txt": f"\n{NO_TRANSLATION}\n"}
    first, second = read_mtme(put(tmp_path, SMALL | outputs))
    assert first.translations["A.1"] == ""
    assert "A.1" not in second.translations


def test_a_folder_with_several_language_pairs_asks_for_one(tmp_path: Path) -> None:
    path = put(tmp_path, SMALL | {"sources/en-cs_CZ.txt": "a\n"})
    assert find_lps(path) == {"en-cs_CZ": "en-cs_CZ", "en-de": "en-de"}
    with pytest.raises(UsageError, match="has 2 language pairs: add --lp, one of en-cs_CZ, en-de"):
        read_mtme(path)
    with pytest.raises(UsageError, match="has no language pair 'en-fr'; it has en-cs_CZ, en-de"):
        read_mtme(path, "en-fr")
    assert read_mtme(path, "en-cs_CZ").segments[0].source == "a"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"system-outputs/en-de/B.txt": "x\n"}, r"B\.txt has 1 line, .*sources/en-de\.txt has 2"),
        ({"references/en-de.refB.txt": "x\ny\nz\n"}, r"refB\.txt has 3 lines, .* has 2"),
        ({"documents/en-de.docs": "news\tdoc1\n"}, r"en-de\.docs has 1 lines, .* has 2"),
        ({"documents/en-de.docs": "doc1\ndoc1\n"}, r"wanted DOMAIN<TAB>DOCUMENT, got 'doc1'.*line 1"),
        ({"documents/en-de.docs": "a\tb\tc\na\tb\n"}, "wanted DOMAIN<TAB>DOCUMENT"),
    ],
)
def test_files_that_do_not_fit_each_other_are_refused(
    tmp_path: Path, files: dict[str, str], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read_mtme(put(tmp_path, SMALL | files))


def test_a_torn_document_is_refused(tmp_path: Path) -> None:
    files = {"sources/en-de.txt": "a\nb\nc\n", "documents/en-de.docs": "n\td1\nn\td2\nn\td1\n"}
    with pytest.raises(DataError, match="segments of document 'd1' do not stand together"):
        read_mtme(put(tmp_path, files))


def test_documents_may_be_missing_or_separated_by_a_blank(tmp_path: Path) -> None:
    (segment,) = read_mtme(put(tmp_path, {"sources/en-de.txt": "a\n"}))
    assert (segment.document, segment.domain) == ("", "")
    (segment,) = read_mtme(put(tmp_path, {"documents/en-de.docs": "news doc 1\n"}))
    assert (segment.document, segment.domain) == ("doc 1", "news")


def test_a_byte_order_mark_is_text_since_offsets_count_it(tmp_path: Path) -> None:
    path = put(tmp_path, SMALL | {"system-outputs/en-de/B.txt": "\ufeffHallo\nAde\n"})
    assert read_mtme(path).segments[0].translations["B"] == "\ufeffHallo"


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
    ("segment", "message"),
    [
        ({"source": "a\nb"}, "line end inside a segment"),
        ({"translations": {"A": NO_TRANSLATION}}, "means a missing translation"),
        ({"translations": {"a/b": "x"}}, "cannot be the name of a file"),
        ({"references": {"ref-A": "x"}}, "no '.' and no '-', got 'ref-A'"),
        ({"references": {"src": "x"}}, "got 'src'"),
        ({"document": "a\tb"}, "a tab in domain or document"),
    ],
)
def test_what_the_layout_cannot_hold_is_refused_before_anything_is_written(
    tmp_path: Path, segment: dict[str, Any], message: str
) -> None:
    values: dict[str, Any] = {"segment": "1", "lp": "en-de", "source": "a"} | segment
    with pytest.raises(DataError, match=re.escape(message) if "'.'" in message else message):
        write_mtme(tmp_path, TestSet(name="t", segments=(Segment(**values),)))
    assert not list(tmp_path.iterdir())


def test_a_torn_document_is_not_written(tmp_path: Path) -> None:
    segments = tuple(
        Segment(segment=str(n), lp="en-de", source="a", document=d) for n, d in enumerate(("x", "y", "x"))
    )
    with pytest.raises(DataError, match="do not stand together"):
        write_mtme(tmp_path, TestSet(name="t", segments=segments))


# Scores...


def test_score_files_are_found_with_name_reference_and_level(tmp_path: Path) -> None:
    names = [
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
    assert [file.path.relative_to(path).as_posix() for file in found] == [*names[:3], *sorted(names[3:])]
    assert {file[1:] for file in found} == {
        ("gold", "mqm", "", "seg"),
        ("gold", "mqm", "", "sys"),
        ("gold", "wmt-z.v2", "", "domain"),
        ("metric", "COMET-22", "refA", "seg"),
        ("metric", "Kiwi", "src", "doc"),
        ("metric", "multi", "refA.refB", "seg"),
        ("metric", "bare", "", "seg"),
    }


def test_the_scores_of_ment_have_no_name(tmp_path: Path) -> None:
    path = put(tmp_path, SMALL | {"human-scores/en-de.seg.score": ""})
    (file,) = find_score_files(path, "en-de")
    assert file == ScoreFile(path / "human-scores" / "en-de.seg.score", "gold", "", "", "seg")
