"""Appraise's exports: every submission read, and written back byte for byte."""

from pathlib import Path

import pytest

from adjudge.errors import DataError
from adjudge.formats.appraise import AppraiseFile, AppraiseRow, AppraiseSpan, read_appraise, write_appraise

ROW = 'engdeu0102,set.A,7,TGT,eng,deu,{score},doc#A,False,"{spans}",1711317347.5,1711317350.0\n'
SPANS = (
    '[{""start_i"":0,""end_i"":0,""severity"":""minor"",""error_type"":null},'
    '{""start_i"":""missing"",""end_i"":""missing"",""severity"":""undecided"",'
    '""error_type"":[""Accuracy"",""Omission""]},'
    '{""start_i"":3,""end_i"":9,""severity"":""major""}]'
)


def read(folder: Path, text: str) -> AppraiseFile:
    path = folder / "a.scores.csv"
    path.write_bytes(text.encode())
    return read_appraise(path)


def test_a_row_says_who_marked_what_and_when(tmp_path: Path) -> None:
    (row,) = read(tmp_path, ROW.format(score=87, spans=SPANS)).rows
    assert row == AppraiseRow(
        login="engdeu0102",
        target="set.A",
        item=7,
        kind="TGT",
        languages=("eng", "deu"),
        score=87,
        document="doc#A",
        is_complete=False,
        spans=(
            AppraiseSpan(start=0, end=0, severity="minor"),
            AppraiseSpan(start=None, end=None, severity="undecided", error_type=("Accuracy", "Omission")),
            AppraiseSpan(start=3, end=9, severity="major", is_given=True),
        ),
        start=1711317347.5,
        end=1711317350,
    )
    assert (row.batch, row.is_tutorial, row.is_duplicate) == (2, False, False)
    assert [span.is_missing for span in row.spans] == [False, True, False]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_what_is_read_is_written_byte_for_byte(line_end: str, tmp_path: Path) -> None:
    lines = [ROW.format(score=score, spans=spans) for score, spans in ((87, SPANS), (0, "[]"), (7.5, "[]"))]
    lines[1] = lines[1].replace('"[]"', "[]").replace("doc#A", "döc 😀#A#bad2#duplicate1")
    lines[2] = lines[2].replace('"[]"', "[]").replace("50.0\n", "50.0,12,3456\n")
    text = "".join(lines).replace("\n", line_end)
    found = read(tmp_path, text)
    write_appraise(tmp_path / "b.csv", found)
    assert (tmp_path / "b.csv").read_bytes() == text.encode()
    assert (found.rows[1].is_duplicate, found.rows[2].batch) == (True, 12)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("TGT,", "", "wanted the 12 columns of Appraise, or 14 with its batches; got 11"),
        ("TGT", "REF", "kind of item must be TGT or BAD, got 'REF'"),
        (",7,", ",x,", "item must be a whole number, got 'x'"),
        (",87,", ",nan,", "score must be a plain number, got 'nan'"),
        (",87,", ",,", "score must be a plain number, got ''"),
        ("1711317347.5", "", "start time must be a plain number"),
        ("False", "0", "whether it is a whole document must be False or True"),
        ("[{", "{", "JSON"),
        ('""start_i"":3', '""start_i"":-3', "'start_i' must be a whole number from 0, got -3"),
        ('""start_i"":3', '""start_i"":""missing""', "'start_i' must be a whole number"),
        ('""severity"":""major""', '""severity"":5', "'severity' must be text"),
        ('[""Accuracy', '[5,""Accuracy', "'error_type' must be null or a list of names"),
    ],
)
def test_a_row_that_is_none_is_refused_with_its_line(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    good = ROW.format(score=87, spans=SPANS)
    with pytest.raises(DataError, match="line 2") as caught:
        read(tmp_path, good + good.replace(old, new, 1))
    assert message in str(caught.value)


def test_a_login_without_a_batch_says_how_to_get_one(tmp_path: Path) -> None:
    (row,) = read(tmp_path, ROW.format(score=87, spans="[]").replace("engdeu0102", "somebody")).rows
    with pytest.raises(DataError, match="--batch-info"):
        _ = row.batch


@pytest.mark.realdata
def test_all_exports_of_the_esa_paper_come_back_byte_for_byte(adjudge_data: Path, tmp_path: Path) -> None:
    files = sorted((adjudge_data / "esa").glob("*.scores.csv"))
    assert len(files) == 8
    for file in files:
        write_appraise(tmp_path / file.name, read_appraise(file))
        assert (tmp_path / file.name).read_bytes() == file.read_bytes(), file.name
