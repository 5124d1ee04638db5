"""Units are worked on side by side, and their records come out in order."""

import asyncio
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from adjudge.core.annotation import Annotation, Failure, Record
from adjudge.data.records import read_records
from adjudge.errors import ServerStopError, StoreError
from adjudge.runs import work as work_module
from adjudge.runs.units import Unit, plan_units
from adjudge.runs.work import Sink, work
from tests.runs.conftest import small_set


def units(count: int) -> Iterator[Unit]:
    return iter(plan_units(small_set(count, systems=["A"]), with_reference=False))


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def annotation(unit: Unit) -> Annotation:
    return Annotation(
        lp="en-de",
        segment=unit.subject.segment.segment,
        system="A",
        annotator="x",
        protocol="metric",
        rating=1.0,
    )


def failure(unit: Unit) -> Failure:
    return Failure(
        lp="en-de",
        segment=unit.subject.segment.segment,
        systems=("A",),
        annotator="x",
        protocol="metric",
        reason="parse",
    )


async def test_records_come_out_in_order_whatever_the_order_of_finishing(tmp_path: Path) -> None:
    async def judge(unit: Unit) -> Sequence[Record]:
        await asyncio.sleep(random.random() / 500)
        return [failure(unit) if unit.index % 3 == 0 else annotation(unit)]

    sink = Sink()
    await work(units(60), judge, sink, width=8)
    sink.write(tmp_path / "records.jsonl")
    sink.close()
    records = read_records(tmp_path / "records.jsonl")
    assert [record.segment for record in records] == [str(n) for n in range(60)]
    assert (sink.judged, sink.failed, dict(sink.failures)) == (40, 20, {"parse": 20})


async def test_never_more_units_are_begun_than_there_are_workers() -> None:
    begun = peak = 0

    async def judge(unit: Unit) -> Sequence[Record]:
        nonlocal begun, peak
        begun += 1
        peak = max(peak, begun)
        await asyncio.sleep(0.001)
        begun -= 1
        return [annotation(unit)]

    sink = Sink()
    await work(units(50), judge, sink, width=7)
    sink.close()
    assert peak == 7


async def test_a_slow_unit_holds_back_those_far_ahead_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_module, "WINDOW", 5)
    release = asyncio.Event()
    begun: list[int] = []

    async def judge(unit: Unit) -> Sequence[Record]:
        begun.append(unit.index)
        if unit.index == 0:
            await release.wait()
        return [annotation(unit)]

    sink = Sink()
    working = asyncio.create_task(work(units(40), judge, sink, width=3))
    for _ in range(50):
        await asyncio.sleep(0)
    assert max(begun) < 5
    release.set()
    await working
    sink.close()
    assert sorted(begun) == list(range(40))


async def test_the_first_error_stops_the_others() -> None:
    async def judge(unit: Unit) -> Sequence[Record]:
        if unit.index == 5:
            raise ServerStopError("quota")
        await asyncio.sleep(0.001 if unit.index < 5 else 60)
        return [annotation(unit)]

    sink = Sink()
    async with asyncio.timeout(1):
        with pytest.raises(ServerStopError):
            await work(units(40), judge, sink, width=4)
    sink.close()
    assert sink.judged < 10


async def test_nothing_stands_under_the_final_name_before_everything_is_there(tmp_path: Path) -> None:
    sink = Sink()

    async def judge(unit: Unit) -> Sequence[Record]:
        assert not names(tmp_path)
        return [annotation(unit)]

    await work(units(5), judge, sink, width=2)
    sink.write(tmp_path / "records.jsonl")
    sink.close()
    assert names(tmp_path) == ["records.jsonl"]


async def test_records_that_find_no_room_stop_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = Sink()

    def full(lines: object) -> None:
        raise OSError(28, "No space left on device")

    for what in ("seek", "write"):
        monkeypatch.setattr(sink._spool, what, full)
    unit = next(units(1))
    with pytest.raises(StoreError, match="No space left on device; make room"):
        sink.add(0, [annotation(unit)])
    with pytest.raises(StoreError, match="No space left on device; make room"):
        sink.write(tmp_path / "records.jsonl")
    assert names(tmp_path) == []
    sink.close()
