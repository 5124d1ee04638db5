"""What is made to fill memory or time is refused before it does, in every format of campaigns."""

import gzip
import io
import json
import os
import sys
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import openpyxl
import pytest
from lxml import etree

from adjudge.errors import DataError, UsageError
from adjudge.formats import tabular
from adjudge.formats.appraise import read_appraise, read_batches
from adjudge.formats.campaign_export import read_campaign_file
from adjudge.formats.mqm_tsv import read_mqm_tsv
from adjudge.formats.pearmut import read_pearmut, read_pearmut_submissions
from adjudge.formats.read import detect, load
from adjudge.formats.score_file import read_score_file
from adjudge.formats.tabular import read_po, read_xlsx
from adjudge.formats.xml_text import plain_text, read_xml, root_name
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


def sparse(path: Path, begin: bytes = b"") -> None:
    """A file of a gigabyte of NUL bytes, which fills no disk."""
    path.write_bytes(begin)
    os.truncate(path, 1024 * MEGABYTE)


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
        packed(path, b"{", 300)
    else:
        sparse(path, b"{")
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
    sparse(path)
    with pytest.raises(DataError, match=r"a line of 16 MB or more, which is no record .*line 1"):
        reader(path)


@pytest.mark.usefixtures("_little_memory")
@pytest.mark.parametrize("reader", AT_ONCE, ids=lambda reader: reader.__name__)
def test_of_a_gigabyte_that_would_be_read_at_once_nothing_is(
    reader: Callable[[Path], object], tmp_path: Path
) -> None:
    path = tmp_path / "large.seg.score"
    sparse(path)
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
def test_json_that_no_program_writes_is_refused(reader: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / ("x.jsonl" if reader in READERS[:3] else "x.json")
    deep, long = ("[" * 100_000, '{"a":' * 100_000), '{"a": ' + "9" * 5000 + "}"
    for text in (*deep, long, '["\\ud800"]', '{"a": NaN}', '{"a":1,"a":2}'):
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


# Files that were made to harm who reads them, and an installation without the extra `l10n`.


UNIT = "<trans-unit id='1'><source>{}</source></trans-unit>"
BODY = "<xliff version='1.2'><file source-language='en' target-language='de'><body>{}</body></file></xliff>"
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))

DECLARED = {
    "laughs": f'<!DOCTYPE x [<!ENTITY l0 "ha">{LAUGHS}]>' + BODY.format(UNIT.format("&l9;")),
    "file": '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>' + BODY.format(UNIT.format("&e;")),
    "quoted": '<!DOCTYPE x SYSTEM "a>[" [<!ENTITY e "b">]>' + BODY.format(UNIT.format("&e;")),
    "parameter": '<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x">%p;]>'
    + BODY.format(UNIT.format("a")),
    "far": f'<!-- {"x" * 100_000} --><!DOCTYPE x [<!ENTITY e "b">]>' + BODY.format(UNIT.format("a")),
    "comment": '<!-- <x> --><?pi <!-- ?>\n<!DOCTYPE x [<!ENTITY e "b">]>' + BODY.format(UNIT.format("a")),
}


@pytest.mark.parametrize("name", DECLARED)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-8-sig"])
def test_a_document_type_that_declares_anything_is_refused(tmp_path: Path, name: str, encoding: str) -> None:
    path = tmp_path / "x.xlf"
    path.write_bytes(DECLARED[name].encode(encoding))
    with pytest.raises(DataError, match="a document type that declares something"):
        load(path, form="xliff")


def test_the_root_behind_much_else_is_found(tmp_path: Path) -> None:
    for size in (10, 65_530, 65_536, 200_000):
        (path := tmp_path / "x.xlf").write_text(f"<!--{'x' * size}-->" + BODY.format(UNIT.format("a")))
        assert root_name(path.read_bytes()) == "xliff"
        assert len(load(path)) == 1


def test_entities_hidden_by_an_odd_encoding_are_refused_as_well(tmp_path: Path) -> None:
    path = tmp_path / "x.xlf"
    head = '<?xml version="1.0" encoding="cp037"?>'
    path.write_bytes((head + DECLARED["file"]).encode("cp037"))
    with pytest.raises(DataError, match=r"entities|not XML"):
        load(path, form="xliff")


def test_no_file_of_this_machine_is_read_for_an_entity_that_nobody_declared(tmp_path: Path) -> None:
    (tmp_path / "x.dtd").write_text('<!ENTITY e "stolen">')
    path = tmp_path / "x.xlf"
    path.write_text(f'<!DOCTYPE xliff SYSTEM "{tmp_path}/x.dtd">' + BODY.format(UNIT.format("&e;")))
    with pytest.raises(DataError, match=r"entities are not read|not XML"):
        load(path)


@pytest.mark.parametrize(
    "inside", ["<g>" * 100_000, "x" * (11 << 20)], ids=["nested too deeply", "a text of 11 MB"]
)
def test_a_tree_that_no_tool_writes_is_refused(tmp_path: Path, inside: str) -> None:
    path = tmp_path / "x.xlf"
    path.write_text(BODY.format(UNIT.format(inside)))
    with pytest.raises(DataError, match="not XML"):
        load(path)


def test_many_comments_without_an_end_cost_no_time_to_look_through(tmp_path: Path) -> None:
    path = tmp_path / "x.xlf"
    path.write_text("<!---->" * 20_000 + "<!--" * 20_000)
    with pytest.raises(DataError, match="not XML"):
        load(path, form="xliff")


# Workbooks...


def workbook() -> dict[str, bytes]:
    book, file = openpyxl.Workbook(), io.BytesIO()
    for row in (["source", "A"], ["a", "b"]):
        book.worksheets[0].append(row)
    book.save(file)
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def untrusted_files_packed(folder: Path, parts: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(folder / "x.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return folder / "x.xlsx"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"xl/media/image1.png": b"\0" * (64 << 20)}, "unpacks to 64 MB"),
        ({f"x/{n}": b"" for n in range(10_001)}, r"in 100\d\d files"),
    ],
    ids=["large", "many files"],
)
def test_a_workbook_that_unpacks_to_far_more_than_it_is_is_refused(
    tmp_path: Path, more: dict[str, bytes], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        load(untrusted_files_packed(tmp_path, workbook() | more), "en-de")


@pytest.mark.parametrize("name", ["xl/sharedStrings.xml", "xl/workbook.xml", "xl/worksheets/sheet1.xml"])
def test_a_workbook_with_a_document_type_is_refused(tmp_path: Path, name: str) -> None:
    parts = workbook()
    doctype = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
    parts[name] = doctype + parts.get(name, b"<sst/>").partition(b"?>")[2]
    with pytest.raises(DataError, match="in the workbook has a document type"):
        load(untrusted_files_packed(tmp_path, parts), "en-de")


def test_a_cell_far_out_makes_no_rows_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabular, "_MOST_ROWS", 10_000)
    parts = workbook()
    far = b'<row r="999999999"><c r="XFD999999999" t="str"><v>x</v></c></row></sheetData>'
    parts["xl/worksheets/sheet1.xml"] = parts["xl/worksheets/sheet1.xml"].replace(b"</sheetData>", far)
    with pytest.raises(DataError, match="a cell is below row 10,000"):
        load(untrusted_files_packed(tmp_path, parts), "en-de")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"PK\x03\x04broken", "a zip archive that is no workbook"),
        (b"PK\x03\x04xl/broken", "not an Excel workbook"),
        (b"source,A\n", "the table has no row"),
    ],
)
def test_what_is_no_workbook_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "x.xlsx").write_bytes(content)
    with pytest.raises(DataError, match=message):
        load(tmp_path / "x.xlsx", "en-de")


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"XFD3": "z"}, "row 3 reaches column 16,384, and 500 are read"),
        ({"SG1": "z"}, "row 1 reaches column 501, and 500 are read"),
        ({"A10004": "z"}, "row 10,004 comes after 10,001 empty rows"),
    ],
)
def test_a_cell_far_from_its_table_is_refused_and_not_left_out(
    tmp_path: Path, cells: dict[str, str], message: str
) -> None:
    book = openpyxl.Workbook()
    for place, text in ({"A1": "source", "B1": "A", "A2": "x", "B2": "y"} | cells).items():
        book.active[place] = text
    book.save(tmp_path / "x.xlsx")
    with pytest.raises(DataError, match=message):
        load(tmp_path / "x.xlsx", "en-de")


def test_rows_that_are_only_formatted_end_a_table_but_not_as_wide_as_a_sheet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = openpyxl.Workbook()
    for row in (("source", "A"), ("x", "y"), *([(None, None)] * 20), ("last", "z")):
        book.active.append(row)
    for number in range(30, 40):
        book.active.cell(number, 600).font = openpyxl.styles.Font(bold=True)
    book.save(tmp_path / "x.xlsx")
    assert [s.segment for s in load(tmp_path / "x.xlsx", "en-de")] == ["1", "22"]
    monkeypatch.setattr(tabular, "_MOST_WIDE", 9)
    with pytest.raises(DataError, match="row 39 reaches column 600"):
        load(tmp_path / "x.xlsx", "en-de")


# Work that grows with a file, and no faster: calls of functions are counted, and no time is measured.


def calls_in(do: Callable[[], object]) -> int:
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(note)
    try:
        do()
    finally:
        sys.setprofile(None)
    return count


def test_tags_within_tags_cost_no_more_than_tags_side_by_side() -> None:
    def read(inside: str) -> int:
        element = etree.fromstring(f"<source>{inside}</source>")
        return calls_in(lambda: plain_text(element))

    deep, flat = read("<g>a" * 200 + "b</g>" * 200), read("<g>a</g>b" * 200)
    assert deep <= 1.1 * flat


def test_blank_lines_of_a_file_of_records_are_passed_over(tmp_path: Path) -> None:
    counts = []
    for lines in (10, 1010):
        (tmp_path / "x.jsonl").write_bytes(b"\n" * lines + b" \t\r\n" + b'{"a": 1}\n')
        counts.append(calls_in(lambda: list(read_json_lines(tmp_path / "x.jsonl"))))
        assert list(read_json_lines(tmp_path / "x.jsonl")) == [(lines + 2, {"a": 1})]
    assert counts[1] - counts[0] <= 1000 * 5  # a line is read, and is blank


@pytest.mark.parametrize("rest", ["\n", "a\tb\n", "a\n"])
def test_an_open_quotation_mark_makes_a_table_no_heavier(tmp_path: Path, rest: str) -> None:
    head = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    size = 1 << 18
    (tmp_path / "x.tsv").write_text(f'{head}A\td\td\t1\tr\t"{rest * (size // len(rest))}', "utf-8")
    tracemalloc.start()
    with pytest.raises(DataError, match="fits no known layout"):
        read_mqm_tsv(tmp_path / "x.tsv")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 50 * size  # each line is an object, and no list of cells


# Without the extra...


@pytest.mark.parametrize(
    ("name", "library"),
    [("x.xlf", "lxml"), ("x.tmx", "lxml"), ("x.po", "polib"), ("x.xlsx", "openpyxl")],
)
def test_what_is_not_installed_is_named_with_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, library: str
) -> None:
    for module in [m for m in sys.modules if m.partition(".")[0] == library] + [library]:
        monkeypatch.setitem(sys.modules, module, None)
    path = tmp_path / name
    path.write_text({"x.xlf": "<xliff/>", "x.tmx": "<tmx/>", "x.xlsx": "PK\x03\x04xl/"}.get(name, ""))
    with pytest.raises(
        UsageError, match=rf"{library}, which is not installed: pip install 'adjudge\[l10n\]'"
    ):
        load(path, "en-de")
