"""Units are worked on side by side, and their records come out in order."""

import asyncio
import gc
import os
import pty
import random
import re
import select
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from adjudge.core.ask import Usage
from adjudge.core.record import Annotation, Failure
from adjudge.errors import ServerStopError, StoreError
from adjudge.llm.asking import Tally
from adjudge.runs import session
from adjudge.runs.resume import Entry, Journal
from adjudge.runs.session import Progress, Sink, rare_collections, work
from adjudge.runs.units import Unit, plan_units
from adjudge.store.run_directory import read_records
from tests.runs.conftest import small_set

# A run looks for garbage seldom, and leaves the collector as it was.


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_a_run_looks_seldom_and_then_as_before_even_if_it_stops() -> None:
    with suppress(RuntimeError), rare_collections():
        assert gc.get_threshold() == (50_000, 10, 10)
        raise RuntimeError
    assert gc.get_threshold() == (700, 10, 10)


def test_of_runs_that_overlap_the_last_brings_back_what_was_before_the_first() -> None:
    one, other = rare_collections(), rare_collections()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert gc.get_threshold()[0] == 50_000
    other.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("chosen", [0, 100_000])
def test_who_looks_less_often_or_never_keeps_that(chosen: int) -> None:
    gc.set_threshold(chosen, 10, 10)
    with rare_collections():
        assert gc.get_threshold()[0] == chosen
    assert gc.get_threshold()[0] == chosen


# How far a run is: a line a minute, a bar on a terminal, or nothing.


COUNTED = Tally(asked=30, from_store=10, usage=Usage(prompt=1200, completion=34))


@pytest.mark.parametrize(
    ("shown", "tally", "line"),
    [
        (True, COUNTED, r"10/100 1 failed, [\d.]+ calls/s, 1,234 tokens, \d+ min left\n"),
        (True, Tally(), r"10/100 1 failed, \d+ min left\n"),
        (False, COUNTED, ""),
    ],
    ids=["a judge", "a metric", "nobody asked for it"],
)
def test_elsewhere_a_line_is_said_once_a_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], shown: bool, tally: Tally, line: str
) -> None:
    with Progress(100, shown=shown) as progress:
        progress.show(done=10, failed=1, tally=tally)
        assert capsys.readouterr().err == ""
        monkeypatch.setattr(session, "_LINE_SECONDS", 0.0)
        progress.show(done=10, failed=1, tally=tally)
    assert re.fullmatch(line, capsys.readouterr().err)


def test_on_a_terminal_there_is_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    master, slave = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    with os.fdopen(slave, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with Progress(100, shown=True) as shown:
            shown.show(done=10, failed=1, tally=COUNTED)
        monkeypatch.undo()
        said = ""
        while "1 failed" not in said and select.select([master], [], [], 5.0)[0]:  # it comes in pieces
            said += os.read(master, 65536).decode(errors="replace")
    os.close(master)
    assert "10/100" in said
    assert "1 failed" in said


def units(count: int) -> Iterator[Unit]:
    return iter(plan_units(small_set(count, systems=["A"]), with_reference=False))


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def about(unit: Unit) -> dict[str, Any]:
    segment = unit.subject.segment.segment
    return {"lp": "en-de", "segment": segment, "annotator": "x", "protocol": "metric"}


def judged(unit: Unit) -> Entry:
    return Entry.of([Annotation(system="A", rating=1.0, **about(unit))])


def failed(unit: Unit) -> Entry:
    return Entry.of([Failure(systems=("A",), reason="parse", **about(unit))])


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal(tmp_path, b"")) as journal:
        yield journal


@pytest.fixture
def sink(journal: Journal) -> Sink:
    return Sink(journal)


async def test_records_come_out_in_order_whatever_the_order_of_finishing(
    tmp_path: Path, journal: Journal, sink: Sink
) -> None:
    async def judge(unit: Unit) -> Entry:
        await asyncio.sleep(random.random() / 500)
        return failed(unit) if unit.index % 3 == 0 else judged(unit)

    await work(units(60), judge, sink, width=8)
    journal.finish()
    records = read_records(tmp_path / "records.jsonl")
    assert [record.segment for record in records] == [str(n) for n in range(60)]
    assert (sink.judged, sink.failed, dict(sink.failures)) == (40, 20, {"parse": 20})


async def test_never_more_units_are_begun_than_there_are_workers(sink: Sink) -> None:
    begun = peak = 0

    async def judge(unit: Unit) -> Entry:
        nonlocal begun, peak
        begun += 1
        peak = max(peak, begun)
        await asyncio.sleep(0.001)
        begun -= 1
        return judged(unit)

    await work(units(50), judge, sink, width=7)
    assert peak == 7


async def test_a_slow_unit_holds_back_those_far_ahead_of_it(
    sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "WINDOW", 5)
    release = asyncio.Event()
    begun: list[int] = []

    async def judge(unit: Unit) -> Entry:
        begun.append(unit.index)
        if unit.index == 0:
            await release.wait()
        return judged(unit)

    working = asyncio.create_task(work(units(40), judge, sink, width=3))
    for _ in range(50):
        await asyncio.sleep(0)
    assert max(begun) < 5
    release.set()
    await working
    assert sorted(begun) == list(range(40))


async def test_the_first_error_stops_the_others(sink: Sink) -> None:
    async def judge(unit: Unit) -> Entry:
        if unit.index == 5:
            raise ServerStopError("quota")
        await asyncio.sleep(0.001 if unit.index < 5 else 600)
        return judged(unit)

    async with asyncio.timeout(60):
        with pytest.raises(ServerStopError):
            await work(units(40), judge, sink, width=4)
    assert sink.judged < 10


async def test_nothing_stands_under_the_final_name_before_everything_is_there(
    tmp_path: Path, journal: Journal, sink: Sink
) -> None:
    async def judge(unit: Unit) -> Entry:
        assert not {"records.jsonl", ".records.jsonl.marks"} & {*names(tmp_path)}
        return judged(unit)

    await work(units(5), judge, sink, width=2)
    journal.finish()
    assert sorted(names(tmp_path)) == [".records.jsonl.marks", "records.jsonl"]


async def test_records_that_find_no_room_stop_the_run(
    tmp_path: Path, journal: Journal, sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(lines: object) -> None:
        raise OSError(28, "No space left on device")

    unit = next(units(1))
    with monkeypatch.context() as patch:
        patch.setattr(journal, "_records", SimpleNamespace(write=full))
        with pytest.raises(StoreError, match="No space left on device; make room"):
            sink.add(unit, judged(unit))
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left on device; make room"):
        journal.finish()
    assert "records.jsonl" not in names(tmp_path)
