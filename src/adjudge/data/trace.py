"""What a run directory and its store tell of each unit of work: its state, and the conversation behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, groupby
from pathlib import Path

import orjson

from adjudge.core.annotation import Annotation, Preference, Record
from adjudge.core.run import RunInfo
from adjudge.core.segment import Segment
from adjudge.data.call_rows import Exchange, run_name, unit_name
from adjudge.data.calls import CallReader, find_store
from adjudge.data.conversations import without_systems
from adjudge.data.jsonl import read_test_set
from adjudge.data.records import read_records
from adjudge.data.run_dir import RECORDS, TEST_SET, read_run_info

__all__ = ["Trace", "TracedUnit"]


@dataclass(frozen=True, kw_only=True)
class TracedUnit:
    """One judgement of a run.

    Args:
        segment: what was judged.
        systems: whose translations.
        unit: name of the unit of work that it came of; one may give the judgements of several systems.
        state: judged, failed or pending.
        reason: of a failure.
        detail: of a failure.
        calls: how many questions its unit asked, for all of its systems.
    """

    segment: Segment
    systems: tuple[str, ...]
    unit: str
    state: str
    reason: str = ""
    detail: str = ""
    calls: int = 0


class Trace:
    """A run directory, read for its conversations."""

    def __init__(self, path: Path) -> None:
        """Open it.

        Raises:
            DataError: it is no run directory.
            StoreError: its call store cannot be read.
        """
        self.path = path
        self.info: RunInfo = read_run_info(path)
        self.segments = {(s.lp, s.segment): s for s in read_test_set(path / TEST_SET)}
        self._reader = CallReader(find_store(path)) if self.info.kind == "judge" else None
        self._run = run_name(self.info.secret)

    def close(self) -> None:
        """Close its store."""
        if self._reader is not None:
            self._reader.close()

    def units(self) -> Iterator[TracedUnit]:
        """Every unit of work in test-set order; all are pending while the run is not finished.

        A pair of which one criterion failed has failed.
        """
        calls = {} if self._reader is None else self._reader.units(self._run)
        records = self.path / RECORDS
        found = map(_state, read_records(records)) if records.is_file() else self._pending()
        wider = _by_system(calls)
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
        for (lp, segment), judged in self.segments.items():
            present = [name for name in names if name in judged.translations]
            yield from ((lp, segment, systems, None) for systems in combinations(present, size))


def _whole(found: Iterable[_State]) -> Iterator[_State]:
    """Each unit once; of the judgements of one unit a failure counts, for it is what a reader looks for."""
    for (lp, segment, systems), states in groupby(found, key=lambda state: state[:3]):
        ends = [end for *_, end in states]
        yield lp, segment, systems, next((end for end in ends if end is not None and end.reason), ends[0])


def _by_system(units: Iterable[str]) -> dict[tuple[str, ...], str]:
    """Units that judge several systems at once, by lp, segment and system."""
    found: dict[tuple[str, ...], str] = {}
    for unit in units:
        lp, segment, *systems = orjson.loads(unit)
        found |= {(lp, segment, system): unit for system in systems if len(systems) > 1}
    return found


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
