"""PO of gettext: messages and their translations, which are by the system `target`.

A message with plurals is a segment for each of its forms. Fuzzy and obsolete messages are no translations of
anything: they are left out, and a warning says how many.
"""

from __future__ import annotations

import io
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, warn
from adjudge.formats.text import as_holes
from adjudge.formats.xliff import SYSTEM, lp_of
from adjudge.store.files import import_extra, read_bytes

__all__ = ["read_po"]

_CHARSET: Final = re.compile(rb"Content-Type:[^\n]*?charset=([\w.:-]+)", re.IGNORECASE)
_UNSAID: Final = "charset"  # what a template has where the character set will stand
_LINE: Final = re.compile(r"""(?:#.*|(?:msg[^\s"]+\s+)?"(?:[^"\\]|\\.)*+")?""", re.DOTALL)


def read_po(path: Path, lp: str | None = None) -> TestSet:
    """Read a test set.

    Args:
        path: the file; its stem is the test set's name.
        lp: language pair; a PO file says its source language in `X-Source-Language` at most.

    Raises:
        DataError: it is no PO file, or has no message that counts.
        UsageError: the language pair is not known; or polib is not installed.
    """
    entries = _parse(path)
    header = entries.metadata
    pair = lp_of(header.get("X-Source-Language"), header.get("Language"), None, path) if lp is None else None
    pair = lp_of(None, None, lp, path) if pair is None else pair
    left_out = Counter(kind for entry in entries if (kind := _kind(entry)))
    segments = [
        segment
        for number, entry in enumerate((e for e in entries if not _kind(e)), start=1)
        for segment in _read_entry(entry, str(number), pair)
    ]
    if left_out:
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(left_out.items()))
        warn(f"{path}: {counts} messages are left out")
    if not segments:
        raise DataError("the file has no message that is neither fuzzy nor obsolete", path=path)
    return TestSet(
        name=path.name.removesuffix(".gz").rpartition(".")[0], segments=as_holes(segments, [SYSTEM])
    )


def _parse(path: Path) -> Any:  # noqa: ANN401 (polib has no types)
    polib = import_extra("polib")
    raw = read_bytes(path)
    if not raw:
        raise DataError("the file is empty", path=path)
    found = _CHARSET.search(raw)
    charset = found[1].decode() if found and found[1].lower() != _UNSAID.encode() else "utf-8"
    try:
        text = raw.decode(charset)
    except (LookupError, UnicodeDecodeError) as error:
        raise DataError(f"not {charset}, which its header names", path=path) from error
    _check_quotes(text.removeprefix("\ufeff"), path)
    with tempfile.TemporaryDirectory() as folder:  # polib splits a text, unlike a file, at U+2028, too
        copy = Path(folder) / "messages.po"
        copy.write_bytes(raw)
        try:
            return polib.pofile(str(copy), encoding=charset)
        except (OSError, ValueError, IndexError) as error:
            what = str(error).replace(str(copy), "").strip()
            raise DataError(f"not PO: {what or 'damaged'}", path=path) from error


def _check_quotes(text: str, path: Path) -> None:
    """Refuse a text that is not closed; polib takes its last letter for the quote."""
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):
        if not _LINE.fullmatch(line.strip()):
            raise DataError("not PO: a text must stand between quotes", path=path, line=number)


def _kind(entry: Any) -> str:  # noqa: ANN401 (the same)
    """Why a message does not count; empty where it does."""
    return "obsolete" if entry.obsolete else "fuzzy" if "fuzzy" in entry.flags else ""


def _read_entry(entry: Any, number: str, lp: str) -> Iterator[Segment]:  # noqa: ANN401 (the same)
    """The segments of one message; an empty translation of a text is none, as gettext has it."""
    meta = {
        key: value
        for key, value in (
            ("context", entry.msgctxt),
            ("notes", [note for note in (entry.comment, entry.tcomment) if note]),
            ("places", [":".join(filter(None, place)) for place in entry.occurrences]),
            ("flags", list(entry.flags)),
        )
        if value
    }
    forms = {int(form): text for form, text in entry.msgstr_plural.items()} or {0: entry.msgstr}
    for form, text in sorted(forms.items()):
        is_plural = bool(entry.msgid_plural)
        is_singular_form = form == 0 and len(forms) > 1
        source = entry.msgid_plural if is_plural and not is_singular_form else entry.msgid
        yield Segment(
            segment=f"{number}[{form}]" if is_plural else number,
            lp=lp,
            source=source,
            translations={SYSTEM: text} if text or not source.strip() else {},
            meta=meta,
        )
