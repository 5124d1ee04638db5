"""Line-aligned text: files that are equally long, and what they cannot hold."""

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, DataWarning, UsageError
from adjudge.formats.read import load, load_lines
from adjudge.formats.text import check_file_name, write_text_folder
from tests.formats.nasty import drawn_test_sets, one_line


def write(folder: Path, **files: str) -> dict[str, str]:
    for name, text in files.items():
        (folder / f"{name}.txt").write_bytes(text.encode())
    return {name: str(folder / f"{name}.txt") for name in files}


def test_two_files_suffice(tmp_path: Path) -> None:
    paths = write(tmp_path, src="Hello.\nYes.\n", sys="Hallo.\nJa.\n")
    test_set = load_lines(paths["src"], [paths["sys"]], [], lp="eng-deu")
    assert test_set.name == "src"
    assert test_set.segments == (
        Segment(segment="1", lp="en-de", source="Hello.", translations={"sys": "Hallo."}),
        Segment(segment="2", lp="en-de", source="Yes.", translations={"sys": "Ja."}),
    )


def test_empty_lines_are_counted_file_by_file_and_are_texts(tmp_path: Path) -> None:
    paths = write(tmp_path, src="a\n\nc\n", sys="\nb\n \n", ref="a\nb\nc\n")
    with pytest.warns(DataWarning) as caught:
        test_set = load_lines(paths["src"], [paths["sys"]], [paths["ref"]], lp="en-de")
    assert [str(each.message) for each in caught] == [
        f"{paths['src']}: empty lines: 1 of 3",
        f"{paths['sys']}: empty lines: 2 of 3",
    ]
    assert [(s.source, s.translations["sys"]) for s in test_set] == [("a", ""), ("", "b"), ("c", " ")]


def test_files_have_names_of_their_own_or_given_ones(tmp_path: Path) -> None:
    paths = write(tmp_path, src="a\n", one="b\n", two="c\n", ref="d\n", **{"lr=3": "e\n"})
    systems = [paths["one"], f"best={paths['two']}", paths["lr=3"]]
    (segment,) = load_lines(paths["src"], systems, [f"refA={paths['ref']}"], "en-de")
    assert segment.translations == {"one": "b", "best": "c", "lr=3": "e"}
    assert segment.references == {"refA": "d"}


@pytest.mark.parametrize(("texts", "lines"), [("c\nd\n\n", "3 lines"), ("c\n", "1 line")])
def test_files_of_unequal_length_are_refused_with_both_counts(tmp_path: Path, texts: str, lines: str) -> None:
    paths = write(tmp_path, src="a\nb\n", sys=texts)
    message = f"{re.escape(paths['sys'])} has {lines}, {re.escape(paths['src'])} has 2"
    with pytest.raises(DataError, match=f"{message}.*`adjudge align`"):
        load_lines(paths["src"], [paths["sys"]], [], lp="en-de")


def test_lines_end_at_line_feeds_alone_the_last_one_also_without(tmp_path: Path) -> None:
    paths = write(tmp_path, src="a\u2028b\x85c\rd\ne", sys="x\ny\n")
    sources = [segment.source for segment in load_lines(paths["src"], [paths["sys"]], [], lp="en-de")]
    assert sources == ["a\u2028b\x85c\rd", "e"]


def test_a_windows_file_beside_a_unix_one_is_read_with_a_warning(tmp_path: Path) -> None:
    paths = write(tmp_path, src="a\nb\n", sys="x\r\ny\r\n")
    with pytest.warns(DataWarning, match=r"sys\.txt has Windows line ends"):
        test_set = load_lines(paths["src"], [paths["sys"]], [], lp="en-de")
    assert [s.translations["sys"] for s in test_set] == ["x", "y"]


def test_the_source_may_come_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = write(tmp_path, sys="x\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\n")))
    assert load_lines("-", [paths["sys"]], [], lp="en-de").segments[0].source == "a"
    with pytest.raises(UsageError, match="only one file"):
        load_lines("-", ["-"], [], lp="en-de")


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    paths = write(tmp_path, src="a\n", sys="b\n")
    with pytest.raises(UsageError, match="two files of translation 'sys'"):
        load_lines(paths["src"], [paths["sys"], f"sys={paths['src']}"], [], lp="en-de")


def test_text_does_not_say_its_language_pair(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="add --lp"):
        load_lines("src.txt", [], [], lp=None)
    write(tmp_path, source="a\n")
    with pytest.raises(UsageError, match="add --lp"):
        load(tmp_path)


def test_an_empty_source_is_no_test_set(tmp_path: Path) -> None:
    paths = write(tmp_path, src="")
    with pytest.raises(DataError, match="the source has no line"):
        load_lines(paths["src"], [], [], lp="en-de")


# The folder form...


@pytest.mark.filterwarnings("ignore:.*empty lines")
@given(test_set=drawn_test_sets(text=one_line, segment_ids=None, complete=True, lps=("en-de",)))
def test_a_folder_of_text_comes_back_as_it_was_written_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, test_set: TestSet
) -> None:
    path = tmp_path_factory.mktemp("text")
    try:
        write_text_folder(path, test_set)
    except DataError as error:
        assert re.search("byte-order mark|Windows line ends", str(error))  # noqa: PT017
        return
    back = load(path, lp="en-de")
    assert [(s.source, s.translations, s.references) for s in back] == [
        (s.source, s.translations, s.references) for s in test_set
    ]


def one(**fields: object) -> TestSet:
    return TestSet(name="t", segments=(Segment(**{"segment": "1", "lp": "en-de", "source": "a"} | fields),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("test_set", "message"),
    [
        (one(source="a\nb"), r"cannot hold a line end inside a segment.*source\.txt line 1"),
        (one(translations={"A": "a\nb"}), r"translations/A\.txt line 1"),
        (one(source="\ufeffa"), "byte-order mark and drops it; take it out of the text, or write JSONL"),
        (one(source="a\r"), "Windows line ends"),
        (one(translations={"../A": "x"}), "cannot be the name of a file"),
        (one(references={".hidden": "x"}), "cannot be the name of a file"),
    ],
)
def test_what_text_cannot_hold_is_refused_before_anything_is_written(
    tmp_path: Path, test_set: TestSet, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        write_text_folder(tmp_path, test_set)
    assert not list(tmp_path.iterdir())


def test_a_missing_translation_is_an_empty_line_and_a_missing_reference_is_refused(tmp_path: Path) -> None:
    segments = tuple(
        Segment(segment=str(n), lp="en-de", source="a", translations={"A": "x"} if n else {})
        for n in range(3)
    )
    left_out = write_text_folder(tmp_path, TestSet(name="t", segments=segments))
    assert left_out["missing translations became empty texts"] == 1
    with pytest.warns(DataWarning, match="empty lines: 1 of 3"):
        back = load(tmp_path, lp="en-de")
    assert [s.has_translation("A") for s in back] == [False, True, True]
    without = tuple(replace(s, references={"R": "y"} if n else {}) for n, s in enumerate(segments))
    with pytest.raises(DataError, match="reference R lacks 1 of 3 segments, the first is '0'"):
        write_text_folder(tmp_path / "new", TestSet(name="t", segments=without))


def test_several_language_pairs_are_refused_by_name(tmp_path: Path) -> None:
    segments = tuple(Segment(segment="1", lp=lp, source="a") for lp in ("en-de", "en-cs"))
    with pytest.raises(UsageError, match="choose one language pair with --lp: en-de, en-cs"):
        write_text_folder(tmp_path, TestSet(name="t", segments=segments))


def test_what_got_lost_is_counted(tmp_path: Path) -> None:
    lost = write_text_folder(tmp_path, one(segment="x", document="d", meta={"a": 1}))
    assert lost == {
        "segment ids became line numbers": 1,
        "segments lost document or domain": 1,
        "segments lost what stood in meta": 1,
    }


@pytest.mark.parametrize("name", ["", ".", "..", ".x", "a/b", "a\\b", "a\0", "a\nb", "x" * 201])
def test_names_that_would_leave_the_folder_or_break_it_are_refused(name: str) -> None:
    with pytest.raises(DataError, match="cannot be the name of a file"):
        check_file_name(name)


@pytest.mark.parametrize("name", ["GPT4-5shot", "Online-A.1574", "система", "a b", "x" * 200])
def test_any_other_name_is_a_file_name(name: str) -> None:
    assert check_file_name(name) == name


@pytest.mark.parametrize(
    ("beside", "named"),
    [
        (["a.txt"], "beside source.txt: a.txt$"),
        (["d.txt", "c.txt", "b.txt", "a.txt"], r"source.txt: a.txt, b.txt, c.txt, \.\.\.$"),
    ],
)
def test_of_files_beside_the_source_of_a_folder_it_is_said_where_systems_belong(
    beside: list[str], named: str, tmp_path: Path
) -> None:
    for name in ("source.txt", *beside):
        (tmp_path / name).write_text("a\n")
    with pytest.warns(DataWarning, match=named) as told:
        assert load(tmp_path, "en-de").systems == ()
    assert str(tmp_path / "translations") in str(told[0].message)
