"""A table of texts, whatever file it stands in: a heading, then one segment a row.

The columns `source`, `reference`, `document`, `id`, `domain` and `lp` are known by several names in any case;
those of notes and states go to `meta`; every other column holds the translations of the system that its
heading names. An empty cell is a text that is not there.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from adjudge.core.language import canonical_lp
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, DataWarning, UsageError

__all__ = ["has_source", "read_table"]

_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "source": ("source", "src", "source text", "source segment"),
    "reference": ("reference", "ref", "reference text", "reference translation"),
    "document": ("document", "doc", "document id", "doc id", "docid", "file"),
    "id": ("id", "segment", "segment id", "seg id", "segid", "key"),
    "domain": ("domain",),
    "lp": ("lp", "language pair", "langs"),
    "meta": ("note", "notes", "comment", "comments", "status", "state", "context"),
}
_WIDEST: Final = 16_384  # columns, as many as a spreadsheet has
_KINDS: Final = {word: kind for kind, words in _WORDS.items() for word in words}


def has_source(heading: Sequence[str]) -> bool:
    """Whether a row is the heading of such a table."""
    return any(_kind(cell) == "source" for cell in heading)


def _kind(cell: str) -> str:
    """What a column holds: a word of `_WORDS`, or "system"."""
    word = " ".join(cell.replace("_", " ").lower().split())
    if word.startswith(("reference ", "reference:", "ref:")):
        return "reference"
    return _KINDS.get(word, "system")


def read_table(rows: Iterable[Sequence[str]], path: Path, lp: str | None) -> TestSet:
    """Read a test set.

    Args:
        rows: cells, the heading first; rows of empty cells are skipped.
        path: where they stand, for errors; its stem is the test set's name.
        lp: language pair of rows that do not name theirs; keeps those of that pair only.

    Raises:
        DataError: no heading with a source, two columns of one name, no rows, or an id twice.
        UsageError: no language pair.
    """
    lines = iter(rows)
    heading = [cell.strip() for cell in next(lines, [])]
    if len(heading) > _WIDEST:
        raise DataError(f"a table of {len(heading):,} columns; {_WIDEST:,} are read", path=path)
    if not has_source(heading):
        raise DataError(f"a column 'source' was wanted, the heading has {', '.join(heading)!r}", path=path)
    _check_heading(heading, path)
    segments, empty = [], 0
    for number, row in enumerate(lines, start=1):
        if any(row):
            if len(row) > len(heading) and any(row[len(heading) :]):
                raise DataError(f"row {number} has {len(row)} cells, the heading {len(heading)}", path=path)
            segment = _read_row(dict(zip(heading, row, strict=False)), str(number), lp, path)
            segments.append(segment)
            empty += sum(_kind(name) == "system" for name in heading if name) - len(segment.translations)
    if empty:
        message = f"{path}: {empty} empty cells are read as translations that are not there"
        warnings.warn(message, DataWarning, 2)
    if not segments:
        raise DataError("the table has no row", path=path)
    try:
        test_set = TestSet(name=path.name.removesuffix(".gz").rpartition(".")[0], segments=tuple(segments))
    except DataError as error:
        raise DataError(str(error), path=path) from error
    return test_set if lp is None else test_set.select(lp=canonical_lp(lp))


def _check_heading(heading: Sequence[str], path: Path) -> None:
    """Refuse headings of which one column would hide another."""
    names = [name for name in heading if name]
    kinds = [kind for name in names if (kind := _kind(name)) not in {"system", "reference", "meta"}]
    counted = (*Counter(names).items(), *Counter(kinds).items())
    twice = next((word for word, count in counted if count > 1), None)
    if twice is not None:
        raise DataError(f"two columns are {twice!r}: rename or take out one", path=path)


def _read_row(row: Mapping[str, str], number: str, lp: str | None, path: Path) -> Segment:
    found = {kind: {n: text for n, text in row.items() if n and text and _kind(n) == kind} for kind in
             (*_WORDS, "system")}  # fmt: skip
    one = {kind: next(iter(texts.values()), "") for kind, texts in found.items()}
    pair = one["lp"] or lp
    if pair is None:
        raise UsageError(f"{path} does not say its language pair: add --lp, such as --lp en-de")
    return Segment(
        segment=one["id"] or number,
        lp=canonical_lp(pair),
        source=one["source"],
        translations=found["system"],
        references=found["reference"],
        document=one["document"],
        domain=one["domain"],
        meta=dict(found["meta"]),
    )
