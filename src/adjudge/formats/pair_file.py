"""Pairs that are to be compared, as JSON lines: `{"lp", "document", "segment", "systems": [A, B]}`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from adjudge.core.language import canonical_lp
from adjudge.errors import UsageError
from adjudge.store.files import read_fields, read_json_lines, render_json_line, write_bytes

__all__ = ["ListedPair", "read_pairs", "write_pairs"]

_KEYS: Final = frozenset({"lp", "document", "segment", "systems"})


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedPair:
    """Two translations of one source.

    Args:
        lp: language pair.
        segment: id.
        document: id.
        systems: whose translations they are.
    """

    lp: str
    segment: str
    document: str
    systems: tuple[str, str]


def read_pairs(path: Path) -> list[ListedPair]:
    """Read the pairs of a file, in its order.

    Raises:
        DataError: a line is no pair, or stands there twice, in whichever order.
    """
    found: dict[tuple[str, str, frozenset[str]], ListedPair] = {}
    for line, value in read_json_lines(path):
        fields = read_fields(value, _KEYS, "pair", path, line)
        systems = fields.values.get("systems")
        if not isinstance(systems, list) or len({name for name in systems if isinstance(name, str)}) != 2:
            fields.fail(f"'systems' must be two different names, got {systems!r}")
        try:
            lp = canonical_lp(fields.text("lp"))
        except UsageError as error:
            fields.fail(str(error))
        first, second = systems
        pair = ListedPair(
            lp=lp,
            segment=fields.text("segment"),
            document=fields.text("document", ""),
            systems=(first, second),
        )
        if found.setdefault((lp, pair.segment, frozenset(systems)), pair) is not pair:
            fields.fail(f"{first} and {second} are compared twice on segment {pair.segment!r}")
    return list(found.values())


def write_pairs(path: Path, pairs: Iterable[ListedPair]) -> None:
    """Write one pair a line; the file appears whole or not at all."""
    write_bytes(path, (render_json_line(_to_json(pair)) for pair in pairs))


def _to_json(pair: ListedPair) -> dict[str, object]:
    return {
        "lp": pair.lp,
        "document": pair.document,
        "segment": pair.segment,
        "systems": list(pair.systems),
    }
