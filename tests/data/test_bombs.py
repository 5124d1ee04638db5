"""What is made to fill memory or time is refused before it does, in every format of campaigns."""

import gzip
import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from adjudge.errors import DataError
from adjudge.formats.appraise import read_appraise, read_batches
from adjudge.formats.campaign_export import read_campaign_file
from adjudge.formats.mqm_tsv import read_mqm_tsv
from adjudge.formats.pearmut import read_pearmut, read_pearmut_submissions
from adjudge.formats.po import read_po
from adjudge.formats.read import detect
from adjudge.formats.score_file import read_score_file
from adjudge.formats.table import read_xlsx
from adjudge.formats.xml_text import read_xml
from adjudge.store import files
from adjudge.store.files import read_bytes, read_json_lines, read_lines
from adjudge.store.json_lines import read_test_set

MEGABYTE = 1 << 20
READERS: list[Callable[[Path], object]] = [
    *(read_campaign_file, read_pearmut_submissions, read_test_set),
    *(read_pearmut, read_batches, read_appraise),
]
LINES: list[Callable[[Path], object]] = [*READERS[:3], read_appraise, read_mqm_tsv, read_lines]

AT_ONCE: list[Callable[[Path], object]] = [*READERS[3:5], read_score_file, read_xml, read_xlsx, read_po]


@pytest.fixture
def _little_memory() -> Iterator[None]:
    """No more than 64 MB at once, whatever the file."""
    tracemalloc.start()
    yield
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 64 * MEGABYTE


def packed(path: Path, part: bytes, megabytes: int) -> Path:
    with gzip.open(path, "wb") as file:
        for _ in range(megabytes):
            file.write(part * (MEGABYTE // len(part)))
    return path


@pytest.mark.usefixtures("_little_memory")
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_a_gzip_bomb_is_refused_while_it_unpacks(reader: Callable[[Path], object], tmp_path: Path) -> None:
    path = packed(tmp_path / "bomb.jsonl.gz", b"\0", 300)
    assert path.stat().st_size < MEGABYTE
    with pytest.raises(DataError, match="unpacks to more than 200 times its size"):
        reader(path)


@pytest.mark.usefixtures("_little_memory")
@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
def test_what_a_file_is_is_told_by_its_beginning(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name.endswith(".gz"):
        packed(path, b"\0", 300)
    else:
        with path.open("wb") as file:
            file.truncate(1024 * MEGABYTE)
    assert detect(path) == "jsonl"


def test_dull_text_is_no_bomb(tmp_path: Path) -> None:
    path = tmp_path / "dull.gz"
    text = b"".join(b"Line %d of a text.\n" % number for number in range(900_000))
    path.write_bytes(gzip.compress(text))
    assert len(read_bytes(path)) == len(text) > 16 * MEGABYTE


@pytest.mark.usefixtures("_little_memory")
@pytest.mark.parametrize("reader", LINES, ids=lambda reader: reader.__name__)
def test_a_line_without_an_end_is_refused(reader: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.truncate(1024 * MEGABYTE)  # sparse: no disk is filled
    with pytest.raises(DataError, match=r"a line of 16 MB or more, which is no record .*line 1"):
        reader(path)


@pytest.mark.usefixtures("_little_memory")
@pytest.mark.parametrize("reader", AT_ONCE, ids=lambda reader: reader.__name__)
def test_of_a_gigabyte_that_would_be_read_at_once_nothing_is(
    reader: Callable[[Path], object], tmp_path: Path
) -> None:
    path = tmp_path / "large.seg.score"
    with path.open("wb") as file:
        file.truncate(1024 * MEGABYTE)
    with pytest.raises(DataError, match="more than 256 MB, which would be read at once: split the file"):
        reader(path)


@pytest.mark.parametrize("reader", AT_ONCE, ids=lambda reader: reader.__name__)
def test_what_does_not_end_is_read_up_to_there(
    reader: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_LARGEST", MEGABYTE)
    (path := tmp_path / "endless.seg.score").symlink_to("/dev/zero")
    with pytest.raises(DataError, match="more than 1 MB, which would be read at once"):
        reader(path)
    dull = b"".join(b"A\t%d\n" % number for number in range(300_000))
    path.unlink()
    path.write_bytes(gzip.compress(dull))
    with pytest.raises(DataError, match="more than 1 MB, which would be read at once"):
        reader(path)


@pytest.mark.parametrize("reader", READERS[:5], ids=lambda reader: reader.__name__)
@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"a": ' + "9" * 5000 + "}",
        '["\\ud800"]',
        '{"a": NaN}',
        '{"a":1,"a":2}',
    ],
    ids=["lists", "objects", "number", "surrogate", "nan", "twice"],
)
def test_json_that_no_program_writes_is_refused(
    reader: Callable[[Path], object], text: str, tmp_path: Path
) -> None:
    path = tmp_path / ("x.jsonl" if reader in READERS[:3] else "x.json")
    path.write_text(text)
    with pytest.raises(DataError, match=path.name):
        reader(path)


def test_a_cell_of_a_table_has_an_end_too(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b," + "x" * MEGABYTE)
    with pytest.raises(DataError, match="not CSV: field larger"):
        read_appraise(path)
    deep = "[" * 50_000
    path.write_text(f"a,b.c,1,TGT,eng,deu,5,d#c,False,{deep},1.0,2.0\n")
    with pytest.raises(DataError, match="nested too deeply"):
        read_appraise(path)


def test_lines_of_usual_length_are_read_from_gzip_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(json.dumps({"n": n}).encode() + b"\n" for n in range(1000))))
    assert [value for _, value in read_json_lines(path)] == [{"n": n} for n in range(1000)]
