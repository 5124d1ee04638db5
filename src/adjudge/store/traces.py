"""What a run directory and its store tell of each unit of work: its state, and the conversation behind it.

`Conversations` reads one conversation at a time, by what was judged, and nothing else of the run. `Trace`
lists the judgements of a run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import combinations, groupby
from pathlib import Path
from typing import Final

import orjson

from adjudge.core.frozen import frozen
from adjudge.core.protocol import find_protocol
from adjudge.core.record import Annotation, Preference, Record
from adjudge.core.scores import RunInfo
from adjudge.core.segment import Segment, read_criteria
from adjudge.store.call_file import Attempt, Exchange, run_name, unit_name, usage_of
from adjudge.store.calls import CallReader, find_store
from adjudge.store.json_lines import read_test_set
from adjudge.store.run_directory import RECORDS, TEST_SET, read_records, read_run_info

_LAST: Final = "\U0010ffff"  # stands behind every other character in SQLite's order


class Conversations:
    """The conversations of a run directory. Its store is opened for each anew, so that threads may ask."""

    def __init__(self, path: Path) -> None:
        self.info: RunInfo = read_run_info(path)
        self._store = find_store(path)
        self._run = run_name(self.info.secret)
        if self.info.kind == "judge":
            CallReader(self._store).close()

    def find(self, lp: str, segment: str, systems: tuple[str, ...]) -> list[tuple[Exchange, Attempt | None]]:
        """Questions and answers behind a judgement, in the order asked, each with the attempt that got it.

        Of a unit that judged several systems, those about the others are left out.
        """
        if self.info.kind != "judge":
            return []
        with closing(_Reader(self._store)) as reader:
            units = reader.units_of(self._run, lp, segment)
            unit = (  # of just these systems, or else one that judged others with them
                own
                if (own := unit_name(lp, segment, systems)) in units
                else next((unit for unit in units if set(systems) <= set(orjson.loads(unit)[2:])), None)
            )
            exchanges = [] if unit is None else reader.conversation(self._run, unit)
            others = set() if unit is None else set(orjson.loads(unit)[2:]) - set(systems)
            kept = list(without_systems(others, exchanges))
            answered = reader.answered_attempts({exchange.use.key for exchange in kept})
        return [(exchange, answered.get(exchange.use.key)) for exchange in kept]


class _Reader(CallReader):
    """A reader of stores that looks for what one judgement needs."""

    def units_of(self, run: str, lp: str, segment: str) -> list[str]:
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
        marks = ",".join("?" * len(keys))
        query = (
            "SELECT key, time, seconds, status, model, prompt, completion, cached, reasoning "  # noqa: S608 (only ?)
            f"FROM attempts WHERE reason = '' AND key IN ({marks}) ORDER BY id DESC"
        )
        rows = self._select(query, *keys)
        return {
            key: Attempt(key, time, seconds, status=status, model=model, usage=usage_of(*tokens))
            for key, time, seconds, status, model, *tokens in rows
        }


def without_systems(others: set[str], exchanges: Iterable[Exchange]) -> Iterator[Exchange]:
    """Exchanges that are not of these systems: `SYSTEM: stage` says whose one is, and those after it."""
    is_theirs = False
    for exchange in exchanges:
        name, colon, _ = exchange.use.stage.rpartition(": ")
        is_theirs = name in others if colon else is_theirs
        if not is_theirs:
            yield exchange


@frozen
class TracedUnit:
    """One judgement of a run."""

    segment: Segment
    systems: tuple[str, ...]
    unit: str  # name of the unit of work that it came of; one may give the judgements of several systems
    state: str  # judged, failed or pending
    reason: str = ""
    detail: str = ""
    calls: int = 0  # how many questions its unit asked, for all of its systems


class Trace:
    """A run directory, read for its conversations."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.info: RunInfo = read_run_info(path)
        self.segments = {(s.lp, s.segment): s for s in read_test_set(path / TEST_SET)}
        self._reader = CallReader(find_store(path)) if self.info.kind == "judge" else None
        self._run = run_name(self.info.secret)

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()

    def units(self) -> Iterator[TracedUnit]:
        """Every unit of work in test-set order; all are pending while the run is not finished.

        A pair of which one criterion failed has failed.
        """
        calls = {} if self._reader is None else self._reader.units(self._run)
        records = self.path / RECORDS
        found = map(_state, read_records(records)) if records.is_file() else self._pending()
        wider: dict[tuple[str, ...], str] = {}
        for name in calls:
            lp, segment, *systems = orjson.loads(name)
            wider |= {(lp, segment, system): name for system in systems if len(systems) > 1}
        for lp, segment, systems, failure in _whole(found):
            name = unit_name(lp, segment, systems)
            if (lp, segment) not in self.segments:
                continue
            unit = name if name in calls else wider.get((lp, segment, *systems), name)
            yield TracedUnit(
                segment=self.segments[lp, segment],
                systems=systems,
                unit=unit,
                state="pending" if failure is None else "failed" if failure.reason else "judged",
                reason="" if failure is None else failure.reason,
                detail="" if failure is None else failure.detail,
                calls=calls.get(unit, 0),
            )

    def conversation(self, unit: TracedUnit) -> list[Exchange]:
        """Questions and answers behind a judgement, in the order asked; none where a metric judged.

        Of a unit that judged several systems, those about the others are left out.
        """
        if self._reader is None:
            return []
        exchanges = self._reader.conversation(self._run, unit.unit)
        _, _, *systems = orjson.loads(unit.unit)
        others = set(systems) - set(unit.systems)
        return list(without_systems(others, exchanges)) if others else exchanges

    def _pending(self) -> Iterator[_State]:
        systems = self.info.test_set.get("systems", [])
        names = [str(name) for name in systems] if isinstance(systems, list) else []
        size = 2 if self.info.protocol == "pairwise" else 1
        by_criteria = find_protocol(self.info.protocol).has_criteria
        for (lp, segment), judged in self.segments.items():
            if by_criteria and not read_criteria(judged):
                continue
            present = [name for name in names if name in judged.translations]
            yield from ((lp, segment, systems, None) for systems in combinations(present, size))


def _whole(found: Iterable[_State]) -> Iterator[_State]:
    """Each unit once; of the judgements of one unit a failure counts, for it is what a reader looks for."""
    for (lp, segment, systems), states in groupby(found, key=lambda state: state[:3]):
        ends = [end for *_, end in states]
        yield lp, segment, systems, next((end for end in ends if end is not None and end.reason), ends[0])


@dataclass(frozen=True)
class _End:
    """How a unit ended; without a reason it was judged."""

    reason: str = ""
    detail: str = ""


_State = tuple[str, str, tuple[str, ...], _End | None]


def _state(record: Record) -> _State:
    if isinstance(record, Annotation):
        return record.lp, record.segment, (record.system,), _End()
    if isinstance(record, Preference):
        return record.lp, record.segment, record.systems, _End()
    return record.lp, record.segment, record.systems, _End(record.reason, record.detail)
