"""The rows of the viewer: every segment of a page in a database that has no name and ends with the process.

What the script of a page does in the reader's browser (`find.js`), this does for pages of any size: the same
filters and orders, answered by a few segments at a time. SQLite keeps at most 64 MB of it in memory, the rest
in a file that no other process can open.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from threading import Lock
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from adjudge.core.segment import Segment
from adjudge.report.segments import to_script_json

__all__ = ["Rows", "Wanted"]

Json = dict[str, Any]
_Condition = tuple[str, tuple[object, ...]]

_KEPT: Final = 8  # answers whose rows are kept, so that the next page of one costs nothing
_BATCH: Final = 500
_MEMORY: Final = 64_000  # kB
_LARGEST: Final = 1_000_000_000

_TABLES: Final = """
CREATE TABLE segment (row INTEGER PRIMARY KEY, lp BLOB, id BLOB, domain BLOB);
CREATE TABLE content (row INTEGER PRIMARY KEY, content BLOB, words BLOB);
CREATE TABLE text (row INTEGER, system INTEGER, spread REAL);
CREATE TABLE said (row INTEGER, "by" INTEGER, system INTEGER, other INTEGER, score REAL, failed INTEGER);
CREATE TABLE error (row INTEGER, "by" INTEGER, system INTEGER, severity BLOB, category BLOB, core BLOB);
"""


_SCORES: Final = (
    'SELECT row, avg(score) AS value FROM said WHERE "by" = ? AND system = coalesce(?, system) GROUP BY row'
)
_SPREADS: Final = "SELECT row, max(spread) AS value FROM text WHERE system = coalesce(?, system) GROUP BY row"
_ORDERS: Final[Mapping[str, tuple[str, str]]] = {
    "low": (_SCORES, "own.value IS NULL, own.value, segment.row"),
    "high": (_SCORES, "own.value IS NULL, own.value DESC, segment.row"),
    "spread": (_SPREADS, "coalesce(own.value, 0) DESC, segment.row"),
}
"""What segments are ordered by, and how; what has no score comes last."""


class Wanted(BaseModel):
    """What a reader looks for; the fields of the page's form, by the same names.

    Args:
        segment: id of a single one.
        lp: language pair.
        domain: its position among those of the page.
        system: its position; then only what was said of it counts.
        annotator: their position; then only what they said counts.
        severity: of an error.
        category: of an error, or the core type of it.
        failures: whether a judgement must have failed.
        disagreement: whether annotators must disagree.
        search: words that must stand somewhere, in any case.
        order: by score of annotator `by`, or by disagreement; else as in the test set.
        by: whose scores order.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    segment: str = ""
    lp: str = ""
    domain: int | None = Field(None, ge=0, le=_LARGEST)
    system: int | None = Field(None, ge=0, le=_LARGEST)
    annotator: int | None = Field(None, ge=0, le=_LARGEST)
    severity: str = ""
    category: str = ""
    failures: Literal["", "on"] = ""
    disagreement: Literal["", "on"] = ""
    search: str = Field("", max_length=1000)
    order: Literal["", "low", "high", "spread"] = ""
    by: int = Field(0, ge=0, le=_LARGEST)


class Rows:
    """Segments as the script of a page reads them, found by what a reader wants."""

    def __init__(self, segments: Iterable[Json], facts: Mapping[str, Any]) -> None:
        """Take them in, one at a time.

        Args:
            segments: of `Page.iter_segments`.
            facts: of the same page.
        """
        self._domains: Sequence[str] = facts["domains"]
        self._apart: float = facts["apart"]
        self._lock = Lock()
        self._answers: OrderedDict[Wanted, array[int]] = OrderedDict()
        self._connection = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        for setting in (f"cache_size = -{_MEMORY}", "journal_mode = OFF", "synchronous = OFF"):
            self._connection.execute(f"PRAGMA {setting}")
        self._connection.executescript(_TABLES)
        self._connection.execute("BEGIN")
        numbered = enumerate(segments)
        while batch := list(islice(numbered, _BATCH)):
            self._add(batch)
        self._connection.execute("CREATE INDEX segment_id ON segment (id)")
        self._connection.execute("COMMIT")
        (self.total,) = self._connection.execute("SELECT count(*) FROM segment").fetchone()

    def _add(self, batch: Sequence[tuple[int, Json]]) -> None:
        add = self._connection.executemany
        own = [(row, _bytes(s["lp"]), _bytes(s["id"]), _bytes(s.get("domain", ""))) for row, s in batch]
        add("INSERT INTO segment VALUES (?, ?, ?, ?)", own)
        content = [(row, to_script_json({**s, "row": row}).encode(), _words(s)) for row, s in batch]
        add("INSERT INTO content VALUES (?, ?, ?)", content)
        add("INSERT INTO text VALUES (?, ?, ?)", (each for row, s in batch for each in _texts(row, s)))
        add(
            "INSERT INTO said VALUES (?, ?, ?, ?, ?, ?)", (each for row, s in batch for each in _said(row, s))
        )
        add(
            "INSERT INTO error VALUES (?, ?, ?, ?, ?, ?)",
            (each for row, s in batch for each in _errors(row, s)),
        )

    def close(self) -> None:
        """Let go of them."""
        self._connection.close()

    def find(self, wanted: Wanted, start: int, amount: int) -> tuple[int, list[bytes]]:
        """Find segments.

        Args:
            wanted: what they must have, and their order.
            start: how many of them to leave out.
            amount: how many to give at most.

        Returns:
            How many match, and some of them as JSON.
        """
        with self._lock:
            rows = self._found(wanted)
            query = "SELECT content FROM content WHERE row = ?"
            shown = [
                self._connection.execute(query, (row,)).fetchone()[0] for row in rows[start : start + amount]
            ]
        return len(rows), shown

    def segment(self, row: int) -> Segment | None:
        """Language pair, id and source of a segment; None where there is none of that number."""
        with self._lock:
            query = "SELECT content FROM content WHERE row = ?"
            found = self._connection.execute(query, (row,)).fetchone()
        if found is None:
            return None
        content = json.loads(found[0])  # orjson refuses the half of a surrogate pair
        return Segment(segment=content["id"], lp=content["lp"], source=content["source"], translations={})

    def _found(self, wanted: Wanted) -> array[int]:
        if wanted in self._answers:
            self._answers.move_to_end(wanted)
            return self._answers[wanted]
        conditions = list(self._conditions(wanted))
        where = " AND ".join(["TRUE", *(condition for condition, _ in conditions)])
        values = [value for _, own in conditions for value in own]
        query = f"SELECT segment.row FROM segment WHERE {where} ORDER BY segment.row"  # noqa: S608 (ours alone)
        if wanted.order:
            source, order = _ORDERS[wanted.order]
            values[:0] = [wanted.system] if wanted.order == "spread" else [wanted.by, wanted.system]
            join = f"segment LEFT JOIN ({source}) AS own ON own.row = segment.row"
            query = f"SELECT segment.row FROM {join} WHERE {where} ORDER BY {order}"  # noqa: S608 (ours alone)
        rows = array("q", (row for (row,) in self._connection.execute(query, values)))
        self._answers[wanted] = rows
        if len(self._answers) > _KEPT:
            self._answers.popitem(last=False)
        return rows

    def _conditions(self, wanted: Wanted) -> Iterator[_Condition]:
        """Each condition with its values; no text of a reader is ever part of one."""
        if wanted.segment:
            yield "id = ?", (_bytes(wanted.segment),)
        if wanted.lp:
            yield "lp = ?", (_bytes(wanted.lp),)
        if wanted.domain is not None:
            named = self._domains[wanted.domain : wanted.domain + 1]
            yield "domain = ?", (_bytes(named[0]) if named else None,)
        system = (wanted.system,)
        if wanted.disagreement:
            yield _in("text", "spread >= ? AND system = coalesce(?, system)"), (self._apart, *system)
        if wanted.system is not None:
            yield _in("text", "system = ?"), system
        about = 'coalesce(? IN (system, other), TRUE) AND "by" = coalesce(?, "by")'
        own = (*system, wanted.annotator)
        if wanted.annotator is not None:
            yield _in("said", about), own
        if wanted.failures:
            yield _in("said", f"failed AND {about}"), own
        if wanted.severity or wanted.category:
            what = (*map(_bytes, (wanted.severity, wanted.severity, *[wanted.category] * 3)),)
            marked = "(severity = ? OR ? = x'') AND (category = ? OR core = ? OR ? = x'')"
            both = 'system = coalesce(?, system) AND "by" = coalesce(?, "by")'
            yield _in("error", f"{marked} AND {both}"), (*what, *system, wanted.annotator)
        if words := wanted.search.strip().lower():
            yield _in("content", "instr(words, ?) > 0"), (_bytes(words),)


def _in(table: str, condition: str) -> str:
    return f"segment.row IN (SELECT row FROM {table} WHERE {condition})"  # noqa: S608 (ours alone)


def _bytes(text: str) -> bytes:
    """UTF-8, halves of surrogate pairs included: a text may be anything."""
    return text.encode("utf-8", "surrogatepass")


def _texts(row: int, segment: Json) -> Iterator[tuple[object, ...]]:
    spread = segment.get("spread") or [0.0] * len(segment["texts"])
    for system, text in enumerate(segment["texts"]):
        if text is not None:
            yield row, system, spread[system]


def _said(row: int, segment: Json) -> Iterator[tuple[object, ...]]:
    for said in segment.get("said", ()):
        one, other = said.get("pair") or (said["of"], said["of"])
        yield row, said["by"], one, other, said.get("score"), "failed" in said


def _errors(row: int, segment: Json) -> Iterator[tuple[object, ...]]:
    for said in segment.get("said", ()):
        for error in said.get("errors", ()):
            category = error.get("category", "")
            core = category.split("/", 1)[0] if "/" in category else ""
            yield row, said["by"], said["of"], *map(_bytes, (error["severity"], category, core))


def _words(segment: Json) -> bytes:
    """All that a search looks through, as `wordsOf` of find.js has it."""
    words = [segment["id"], segment.get("document"), segment["source"], *segment["texts"]]
    words += segment.get("references", {}).values()
    for said in segment.get("said", ()):
        words += [said.get("rationale"), said.get("detail")]
        words += [error.get(name) for error in said.get("errors", ()) for name in ("note", "quote")]
    return _bytes("\n".join(filter(None, words)).lower())
