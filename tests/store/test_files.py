"""Bytes to text and back: strictly, and whole or not at all."""

import gzip
import io
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import DataError, DataWarning, FolderWarning
from adjudge.store.files import (
    make_folder,
    make_parents,
    read_json,
    read_json_lines,
    read_lines,
    read_text,
    render_json_line,
    write_lines,
    write_text,
)
from tests.durable import watch_names
from tests.formats.nasty import one_line


def write(folder: Path, raw: bytes) -> Path:
    path = folder / "file.txt"
    path.write_bytes(raw)
    return path


def test_a_byte_that_is_not_utf8_is_named_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, b"one\ntwo \xfc\n")
    with pytest.raises(DataError, match=r"not UTF-8: byte 5 of the line is 0xfc.*file\.txt line 2"):
        read_text(path)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"caf\xe9\n", "convert the file with iconv"),
        ("ä".encode("utf-16"), "convert the file with iconv"),
        (b"\x7fELF\2\1\0\xff", "it holds NUL bytes and is no text"),
        (b"\x89PNG\r\n\x1a\n\0\0", "it holds NUL bytes and is no text"),
        *((raw, "not UTF-8") for raw in (b"\xed\xa0\x80", b"\xc0\xaf", b"\xff\xfea\x00")),
    ],
)
def test_what_is_not_utf8_is_refused_with_what_can_be_done(tmp_path: Path, raw: bytes, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read_text(write(tmp_path, raw))


@pytest.mark.parametrize(
    ("raw", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a\nb\n", ["a", "b"]),
        (b"a\nb", ["a", "b"]),
        (b"a\n\nb\n\n", ["a", "", "b", ""]),
        (b"a\rb\nc\n", ["a\rb", "c"]),
        (b"a\r\nb\n", ["a\r", "b"]),
        ("a\u2028b\x85c\x0bd\x0c\x1ce\n".encode(), ["a\u2028b\x85c\x0bd\x0c\x1ce"]),
    ],
)
def test_lines_end_at_line_feeds_and_nowhere_else(tmp_path: Path, raw: bytes, lines: list[str]) -> None:
    assert read_lines(write(tmp_path, raw)) == lines


@pytest.mark.parametrize("raw", [b"a\r\n\r\nb\r\n", b"a\r\n\r\nb"])
def test_windows_line_ends_throughout_are_read_with_a_warning(tmp_path: Path, raw: bytes) -> None:
    with pytest.warns(DataWarning, match="Windows line ends"):
        assert read_lines(write(tmp_path, raw)) == ["a", "", "b"]


def test_a_byte_order_mark_is_taken_off_with_a_warning(tmp_path: Path) -> None:
    path = write(tmp_path, "\ufeffa\n".encode())
    with pytest.warns(DataWarning, match="byte-order mark"):
        assert read_lines(path) == ["a"]
    assert read_lines(path, keep_mark=True) == ["\ufeffa"]


@given(lines=st.lists(one_line))
def test_lines_come_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    path = tmp_path_factory.mktemp("lines") / "file.txt"
    write_lines(path, lines)
    if not (lines and all(line.endswith("\r") for line in lines)):
        assert read_lines(path, keep_mark=True) == lines


def test_gzip_is_unpacked_and_packed_without_a_time(tmp_path: Path) -> None:
    path = tmp_path / "file.txt.gz"
    write_lines(path, ["a", "b"])
    assert gzip.decompress(path.read_bytes()) == b"a\nb\n"
    assert read_lines(path) == ["a", "b"]
    before = path.read_bytes()
    write_lines(path, ["a", "b"])
    assert path.read_bytes() == before


def test_a_dash_is_standard_input_and_output(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\nb\n")))
    assert read_lines(Path("-")) == ["a", "b"]
    write_lines(Path("-"), ["ä"])
    assert capfdbinary.readouterr().out == "ä\n".encode()


def test_a_file_that_cannot_be_read_is_an_error_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "file.txt.gz").write_bytes(gzip.compress(b"a" * 1000)[:-10])
    wanted = {"missing.txt": "cannot read", ".": "cannot read", "file.txt.gz": "damaged gzip"}
    for name, message in wanted.items():
        with pytest.raises(DataError, match=message) as refused:
            read_text(tmp_path / name)
        assert str(tmp_path / name) in str(refused.value)


# Writing...


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = write(tmp_path, b"old")

    def parts() -> Iterator[str]:
        yield "new"
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_text(path, parts())
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file.txt"]  # noqa: PTH208


@pytest.mark.parametrize("name", ["file.txt", "file.gz"])
def test_a_file_is_on_the_disk_before_it_takes_the_place_of_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    named = watch_names(monkeypatch)
    for text in ("old", "new"):
        write_text(tmp_path / name, [text, "\n"])
    assert named == [(name, True)] * 2


def test_half_a_surrogate_pair_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="half a surrogate pair"):
        write_text(tmp_path / "file.txt", ["a", "\ud800"])
    assert not list(tmp_path.iterdir())


def test_a_file_gets_the_permissions_that_any_new_file_gets(tmp_path: Path) -> None:
    write_text(tmp_path / "ours", ["a"])
    (tmp_path / "plain").touch()
    assert stat.S_IMODE((tmp_path / "ours").stat().st_mode) == stat.S_IMODE(
        (tmp_path / "plain").stat().st_mode
    )


def test_a_place_where_nothing_can_be_written_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, b"")
    with pytest.raises(DataError, match="cannot write"):
        write_text(tmp_path / "file.txt" / "inside", ["x"])


# JSON...


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "at column 2"),
        ("[NaN]", "NaN is no number"),
        ("-Infinity", "-Infinity is no number"),
        ("1e999", "too large"),
        ('{"a": 1, "a": 2}', "'a' stands twice"),
        ('{"x": {"a": 1, "a": 1}}', "'a' stands twice"),
        ('"\\ud800"', "half a surrogate pair"),
        ('{"\\udfff": 1}', "half a surrogate pair"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5000, "not JSON: a number of 5,000 digits is too large"),
        ("{} {}", "Extra data"),
        ("{'a': 1}", "not JSON"),
        ("", "not JSON"),
    ],
)
def test_json_is_what_the_standard_says_and_nothing_else(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_json(text, path=Path("f.jsonl"), line=7)
    assert "(f.jsonl line 7)" in str(caught.value)


def test_json_lines_are_numbered_and_blank_ones_skipped(tmp_path: Path) -> None:
    path = write(tmp_path, '{"a": 1}\n\n \t\r\n["\u2028"]'.encode())
    assert list(read_json_lines(path)) == [(1, {"a": 1}), (4, ["\u2028"])]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"a":1,"a":1}', "stands twice"),
        (b'{"a":{"b":1,"b":1}}', "stands twice"),
        (b'{"a": 1, "a": 1}', "stands twice"),
        (b"[1e999]", "too large"),
        (b"[NaN]", "no number"),
        (b'"\\ud800"', "half a surrogate pair"),
        (b'"\xed\xa0\x80"', "not UTF-8: byte 2 of the line is 0xed"),
        (b"[" * 100_000, "nested too deeply"),
        (b"{} {}", "Extra data"),
    ],
)
def test_json_lines_are_strict_and_named_by_their_line(tmp_path: Path, line: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        list(read_json_lines(write(tmp_path, b'{"a":1}\n' + line + b"\n")))
    assert "file.txt line 2" in str(caught.value)


@pytest.mark.parametrize("value", [10**30, -(2**70), 2**64, 1.5, "\u2028\x85", {"b": [1e300], "a": None}])
def test_a_json_line_comes_back_as_it_was_written(tmp_path: Path, value: object) -> None:
    assert read_json('"\\ud83d\\ude00"', path=Path("f")) == "😀", (
        "a surrogate pair of escapes is one character"
    )
    path = write(tmp_path, render_json_line(value) * 2)
    assert list(read_json_lines(path)) == [(1, value), (2, value)]
    assert [type(found) for _, found in read_json_lines(path)] == [type(value)] * 2


def test_blanks_in_a_json_line_are_text_in_texts_and_nothing_elsewhere(tmp_path: Path) -> None:
    path = write(tmp_path, b' {"a b":\t"c  d",\r "ab" : [ 1 ] }\n')
    assert list(read_json_lines(path)) == [(1, {"a b": "c  d", "ab": [1]})]


def test_json_lines_may_be_packed_and_begin_with_a_mark(tmp_path: Path) -> None:
    path = write(tmp_path, gzip.compress("\ufeff[1]\n[2]".encode()))
    with pytest.warns(DataWarning, match="byte-order mark"):
        assert list(read_json_lines(path)) == [(1, [1]), (2, [2])]


def test_json_lines_may_come_through_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"[1]\n[2]\n",))
    writer.start()
    assert list(read_json_lines(pipe)) == [(1, [1]), (2, [2])]
    writer.join()


def test_a_reader_that_has_gone_is_no_fault_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb", buffering=0) as gone:
        monkeypatch.setattr("sys.stdout", SimpleNamespace(buffer=gone))
        with pytest.raises(BrokenPipeError):
            write_text(Path("-"), ["a line\n"])


def test_folders_that_are_missing_are_made_and_the_topmost_is_named_once(tmp_path: Path) -> None:
    path = tmp_path / "rusn" / "more" / "first"
    with pytest.warns(FolderWarning) as caught:
        make_parents(path)
    assert [str(w.message) for w in caught] == [f"new folder {tmp_path / 'rusn'}, for {path}"]
    assert caught[0].filename == __file__
    assert path.parent.is_dir()
    assert not path.exists()


@pytest.mark.parametrize("name", ["first", "there/first", "there/../first", "../first"])
@pytest.mark.filterwarnings("error::adjudge.errors.FolderWarning")
def test_nothing_is_said_of_a_folder_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "here" / "there").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    make_folder(Path(name))
    make_folder(Path(name))
    write_text(Path(name) / "file.txt", ["text"])
    assert (Path(name) / "file.txt").read_text() == "text"


def test_a_file_names_the_folder_above_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.warns(FolderWarning, match=r"^new folder a, for a/b/file\.txt$"):
        write_text(Path("a/b/file.txt"), ["text"])
    assert Path("a/b/file.txt").read_text() == "text"


@pytest.mark.filterwarnings("error::adjudge.errors.FolderWarning")
def test_a_folder_that_cannot_be_made_is_not_called_new(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        make_parents(tmp_path / "file" / "folder" / "first")
