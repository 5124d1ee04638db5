"""Conversations of a run, one at a time and by what was judged: nothing else of the run is read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Final

import orjson

from adjudge.core.ask import Usage
from adjudge.core.run import RunInfo
from adjudge.data.call_rows import Attempt, Exchange, run_name, unit_name
from adjudge.data.calls import CallReader, find_store
from adjudge.data.run_dir import read_run_info

__all__ = ["Conversations", "without_systems"]

_LAST: Final = "\U0010ffff"  # stands behind every other character in SQLite's order


class Conversations:
    """The conversations of a run directory. Its store is opened for each anew, so that threads may ask."""

    def __init__(self, path: Path) -> None:
        """Find its store.

        Raises:
            DataError: it is no run directory.
            StoreError: it is the run of a judge, and its call store is not there or cannot be read.
        """
        self.info: RunInfo = read_run_info(path)
        self._store = find_store(path)
        self._run = run_name(self.info.secret)
        if self.info.kind == "judge":
            CallReader(self._store).close()

    def find(self, lp: str, segment: str, systems: tuple[str, ...]) -> list[tuple[Exchange, Attempt | None]]:
        """Questions and answers behind a judgement, in the order asked, each with the attempt that got it.

        Of a unit that judged several systems, those about the others are left out.

        Args:
            lp: of the segment.
            segment: its id.
            systems: whose translations were judged.

        Raises:
            StoreError: the store cannot be read any more.
        """
        if self.info.kind != "judge":
            return []
        reader = _Reader(self._store)
        try:
            unit = self._unit(reader, lp, segment, systems)
            exchanges = [] if unit is None else reader.conversation(self._run, unit)
            others = set() if unit is None else set(orjson.loads(unit)[2:]) - set(systems)
            kept = list(without_systems(others, exchanges))
            answered = reader.answered_attempts({exchange.use.key for exchange in kept})
        finally:
            reader.close()
        return [(exchange, answered.get(exchange.use.key)) for exchange in kept]

    def _unit(self, reader: _Reader, lp: str, segment: str, systems: tuple[str, ...]) -> str | None:
        """The unit of work of just these systems, or else one that judged others with them."""
        units = reader.units_of(self._run, lp, segment)
        if (own := unit_name(lp, segment, systems)) in units:
            return own
        return next((unit for unit in units if set(systems) <= set(orjson.loads(unit)[2:])), None)


class _Reader(CallReader):
    """A reader of stores that looks for what one judgement needs."""

    def units_of(self, run: str, lp: str, segment: str) -> list[str]:
        """Units of work of one segment."""
        start = orjson.dumps([lp, segment]).decode()[:-1] + ","
        rows = self._select(
            "SELECT DISTINCT unit FROM uses WHERE run = (SELECT id FROM runs WHERE name = ?) "
            "AND unit >= ? AND unit < ?",
            run,
            start,
            start + _LAST,
        )
        return [unit for (unit,) in rows]

    def answered_attempts(self, keys: Collection[bytes]) -> dict[bytes, Attempt]:
        """The attempt that answered each call. One pass over all attempts: answered ones have no index."""
        marks = ",".join("?" * len(keys))
        query = (
            "SELECT key, time, seconds, status, model, prompt, completion, cached, reasoning "  # noqa: S608 (only ?)
            f"FROM attempts WHERE reason = '' AND key IN ({marks}) ORDER BY id DESC"
        )
        rows = self._select(query, *keys)
        return {
            key: Attempt(key, time, seconds, status=status, model=model, usage=_usage(*tokens))
            for key, time, seconds, status, model, *tokens in rows
        }


def _usage(prompt: int, completion: int, cached: int, reasoning: int) -> Usage:
    return Usage(prompt=prompt, completion=completion, cached=cached, reasoning=reasoning)


def without_systems(others: set[str], exchanges: Iterable[Exchange]) -> Iterator[Exchange]:
    """Exchanges that are not of these systems: `SYSTEM: stage` says whose one is, and those after it."""
    is_theirs = False
    for exchange in exchanges:
        name, colon, _ = exchange.use.stage.rpartition(": ")
        is_theirs = name in others if colon else is_theirs
        if not is_theirs:
            yield exchange
