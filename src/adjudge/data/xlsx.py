"""A table of texts as an Excel workbook; `tables` says what its columns are.

The first sheet is read. A formula is the text of the formula, never its result; numbers and dates are written
out. A workbook is a zip archive of XML, and so is checked before it is opened.
"""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from datetime import date, time
from itertools import islice
from pathlib import Path
from typing import Any, Final

from adjudge.core.segment import TestSet
from adjudge.data.extras import import_extra
from adjudge.data.files import read_bytes
from adjudge.data.tables import read_table
from adjudge.errors import DataError, DataWarning

__all__ = ["read_xlsx"]

_LARGEST: Final = 256 << 20  # bytes of all its files, unpacked
_HARMLESS: Final = 16 << 20
_MOST_PACKED: Final = 200
_MOST_FILES: Final = 10_000
_PART: Final = 1 << 20
_MOST_ROWS: Final = 1 << 20  # of any sheet
_MOST_COLUMNS: Final = 500
_TYPE: Final = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_ESCAPED: Final = re.compile("(?:_x[0-9A-Fa-f]{4}_)+")


def read_xlsx(path: Path, lp: str | None = None) -> TestSet:
    """Read a test set.

    Raises:
        DataError: it is no workbook, is made to fill memory, or holds no such table.
        UsageError: no language pair; or openpyxl is not installed.
    """
    openpyxl = import_extra("openpyxl")
    raw = read_bytes(path)
    if not raw:
        raise DataError("the file is empty", path=path)
    _check_archive(raw, path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of styles and of features that no text needs
            book = openpyxl.load_workbook(io.BytesIO(raw), read_only=True, keep_links=False)
            sheets = book.worksheets
            rows = list(islice(_rows(sheets[0]), _MOST_ROWS)) if sheets else []
    except Exception as error:  # openpyxl raises whatever a damaged part makes it meet
        raise DataError(f"not an Excel workbook: {type(error).__name__}: {error}", path=path) from error
    if len(sheets) > 1:
        others = ", ".join(sheet.title for sheet in sheets[1:])
        warnings.warn(f"{path}: only the first sheet is read, not {others}", DataWarning, 2)
    return read_table(rows, path, lp)


def _check_archive(raw: bytes, path: Path) -> None:
    """Refuse an archive that unpacks to far more than it is, or that declares entities."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            files = archive.infolist()
            size = sum(file.file_size for file in files)
            is_bomb = size > _HARMLESS and size > _MOST_PACKED * len(raw)
            if is_bomb or size > _LARGEST or len(files) > _MOST_FILES:
                raise DataError(
                    f"a workbook of {len(raw)} bytes unpacks to {size >> 20} MB in {len(files)} files",
                    path=path,
                )
            for file in files:
                _check_part(archive, file, path)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise DataError(f"not an Excel workbook: {error}", path=path) from error


def _check_part(archive: zipfile.ZipFile, file: zipfile.ZipInfo, path: Path) -> None:
    """Refuse XML with a document type, which no workbook has."""
    if not file.filename.lower().endswith((".xml", ".rels", ".vml")):
        return
    before = b""
    with archive.open(file) as part:  # never gives more than the archive said
        while chunk := part.read(_PART):
            if _TYPE.search((before + chunk).replace(b"\0", b"")):
                raise DataError(f"{file.filename} in the workbook has a document type", path=path)
            before = chunk[-32:]


def _rows(sheet: Any) -> Iterator[list[str]]:  # noqa: ANN401 (openpyxl has no types)
    """Rows of texts; what the file says of its own size is not believed."""
    sheet.reset_dimensions()
    for row in sheet.iter_rows(max_col=_MOST_COLUMNS, values_only=True):
        if row.count(None) == len(row):  # a sheet may have a million of them
            yield []
            continue
        cells = [_text(value) for value in row]
        while cells and not cells[-1]:
            cells.pop()
        yield cells


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return _ESCAPED.sub(_unescape, str(value))


def _unescape(found: re.Match[str]) -> str:
    """Characters that the format writes as `_x000D_`, in UTF-16; `_x005F_` is an underline."""
    units = bytes.fromhex(found[0].replace("_x", "").replace("_", ""))
    return units.decode("utf-16-be", "replace")
