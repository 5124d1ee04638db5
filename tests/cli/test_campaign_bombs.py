"""Files that are made to fill memory or time end `campaign import` and `campaign new` with one clear line."""

import gzip
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from adjudge.cli.main import main

MEGABYTE = 1 << 20
MOST = 160  # MB that a command may take besides what the commands themselves take
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
XML = """<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 {}>{}]><{} version="1.2"><file><body><trans-unit>
<source>&l9;</source><target>x</target></trans-unit></body></file></{}>"""
RUN = """
import contextlib, io, json, resource, sys
from adjudge.cli.main import main

def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

found = {}
for command in (["--version"], *json.load(sys.stdin)):
    said, before = io.StringIO(), most()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            main(command)
        except SystemExit as left:
            found[" ".join(command)] = [left.code, said.getvalue(), most() - before]
print(json.dumps(found))
"""


def sparse(path: Path, start: bytes = b"") -> None:
    """A gigabyte without a line end, of which no disk is filled."""
    with path.open("wb") as file:
        file.write(start)
        file.truncate(1024 * MEGABYTE)


def bombs(folder: Path) -> dict[str, str]:
    """Name of each file to what is said of it."""
    (folder / "zeros.jsonl.gz").write_bytes(gzip.compress(b"\0" * MEGABYTE) * 1024)
    (folder / "lists.jsonl").write_bytes(b'{"segment": ' + b"[" * 1_000_000)
    name = b'{"schema": "adjudge-campaign/1", "name": '
    (folder / "objects.jsonl").write_bytes(name + b'{"a": ' * 200_000)
    (folder / "annotations.json").write_bytes(b'{"annotation": ' + b"[" * 500_000 + b', "item": []')
    sparse(folder / "line.jsonl")
    sparse(folder / "line.csv", b"source,target\n")
    (folder / "columns.csv").write_bytes(b"source" + b",x" * 1_000_000 + b"\n")
    (folder / "cells.csv").write_bytes(b"source,A\n" + b"x" + b",y" * 1_000_000 + b"\n")
    rater = b"system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity"
    (folder / "columns.tsv").write_bytes(rater + b"\tx" * 1_000_000 + b"\n" + b"x\t" * 9 + b"\n")
    for root in ("xliff", "tmx"):
        (folder / f"laughs.{root}").write_text(XML.format('"l"', LAUGHS, root, root))
        (folder / f"file.{root}").write_text(XML.format("SYSTEM 'file:///etc/passwd'", LAUGHS, root, root))
    with zipfile.ZipFile(folder / "sheet.xlsx", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        packed.writestr("xl/workbook.xml", "<workbook/>")
        with packed.open("xl/worksheets/sheet1.xml", "w") as sheet:
            for _ in range(400):
                sheet.write(b" " * MEGABYTE)
    packed_once = "unpacks to more than 200 times its size"
    declares = "a document type that declares something, such as entities, is not read"
    deep, long = "nested too deeply", "a line of 16 MB or more, which is no record"
    return {
        "zeros.jsonl.gz": packed_once,
        **dict.fromkeys(("lists.jsonl", "objects.jsonl", "annotations.json"), deep),
        **dict.fromkeys(("line.jsonl", "line.csv"), long),
        "columns.csv": "a table of 1,000,001 columns; 16,384 are read",
        "cells.csv": "row 1 has 1000001 cells, the heading 2",
        "columns.tsv": "severity must be neutral, minor, major, critical or No-error",
        **dict.fromkeys(("laughs.xliff", "laughs.tmx", "file.xliff", "file.tmx"), declares),
        "sheet.xlsx": "unpacks to 400 MB",
    }


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units elsewhere")
def test_no_bomb_fills_memory_or_time_whatever_command_opens_it(tmp_path: Path) -> None:
    said = bombs(tmp_path)
    ways = (["campaign", "import", "out", "--lp", "en-de"], ["campaign", "new", "out", "--lp", "en-de"])
    commands = {" ".join(one := [*way, name]): (one, name) for name in said for way in ways}
    ran = subprocess.run(  # a process of its own: what it takes is what the commands take
        [sys.executable, "-c", RUN],
        input=json.dumps([one for one, _ in commands.values()]),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "200"},
        timeout=100,
        check=True,
    )
    found = json.loads(ran.stdout)
    for command, (_, name) in commands.items():
        code, words, more = found[command]
        assert code == 1, (command, words)
        assert words.count("\n") == 1, (command, words)
        assert name in words
        assert said[name] in words, (command, words)
        assert more < MOST, (command, more)
    assert not (tmp_path / "out").exists()
    assert not [one for one in tmp_path.iterdir() if one.name.startswith(".")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("batches.json", "[]"),
        ("mine.csv", "anna,sys,1,TGT,en,de,1,doc#a,False,[],1,1,1,1\n"),  # and no batches beside it
        ("empty.jsonl", ""),
        ("texts.csv", "source,A\nOne.,Eins.\n"),  # nobody judged anything
        ("scores.csv", "name,score\nanna,3\n"),
        ("nul.jsonl", "\0"),
    ],
)
def test_an_import_that_is_refused_leaves_no_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(SystemExit) as left:
        main(["campaign", "import", str(tmp_path / "out"), str(tmp_path / name), "--lp", "en-de"])
    assert left.value.code in {1, 2}
    said = capsys.readouterr().err
    assert name in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()
