"""A power cut and damage to the log cost at most what was answered last: 100 answers, or one second.

Between two checkpoints SQLite writes to the log alone, and a checkpoint ends with the database file
synchronised. A copy of that file without its log is thus just what a power cut leaves at worst.
"""

import asyncio
import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from adjudge.core.ask import Message, Quoted, Reply, Sampling
from adjudge.core.segment import Segment, TestSet
from adjudge.llm.model import Request
from adjudge.runs.engines import run
from adjudge.store import call_file
from adjudge.store.call_file import CallWriter, StoredRequest, run_name
from adjudge.store.calls import CallStore
from tests.runs.conftest import Rater, Scripted

RUN = run_name("secret")


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


async def save(store: CallStore, numbers: range) -> None:
    message = Message("user", ("Judge ", Quoted("translation", "Guten Morgen " * 20), "!"))
    request = StoredRequest(model={"model": "gpt-x"}, messages=(message,), sampling=Sampling())
    await asyncio.gather(*(store.save(key(n), request, Reply(text=f"yes {n}")) for n in numbers))


def left_in(path: Path, count: int) -> int:
    with closing(CallStore(path, RUN)) as store:
        (verdict,) = store._connection.execute("PRAGMA integrity_check").fetchone()
        assert verdict == "ok"
        return sum(store.find(key(n)) is not None for n in range(count))


async def left_after_a_cut(store: CallStore, count: int) -> int:
    """How many of the first answers the file holds without its log."""
    cut = store.path.with_name("cut.sqlite")
    cut.unlink(missing_ok=True)
    await asyncio.to_thread(shutil.copy, store.path, cut)
    return left_in(cut, count)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CallStore]:
    with closing(CallStore(tmp_path / "calls.sqlite", RUN)) as store:
        yield store


async def test_a_power_cut_takes_less_than_a_hundred_answers(
    store: CallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_file, "_SYNC_SECONDS", 3600.0)
    lost = []
    for done in range(0, 400, 20):
        await save(store, range(done, done + 20))
        lost.append(done + 20 - await left_after_a_cut(store, done + 20))
    assert max(lost) < 100
    assert min(lost) == 0
    assert max(lost) > 0, "what is not synchronised is in the log alone"


async def test_one_second_after_an_answer_no_power_cut_takes_it(
    store: CallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_file, "_SYNC_SECONDS", 0.01)
    synced, sync = threading.Event(), CallWriter._sync

    def told(self: CallWriter) -> None:
        sync(self)
        synced.set()

    monkeypatch.setattr(CallWriter, "_sync", told)
    await save(store, range(3))
    assert await asyncio.to_thread(synced.wait, 30)
    assert await left_after_a_cut(store, 3) == 3


@pytest.mark.parametrize("part", [0.0, 0.001, 0.3, 0.9])
async def test_a_damaged_byte_in_the_log_costs_less_than_a_hundred_answers(
    part: float, tmp_path: Path, store: CallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_file, "_SYNC_SECONDS", 3600.0)
    for done in range(0, 380, 20):
        await save(store, range(done, done + 20))
    for name in ("calls.sqlite", "calls.sqlite-wal"):
        await asyncio.to_thread(shutil.copy, tmp_path / name, tmp_path / f"cut-{name}")
    log = tmp_path / "cut-calls.sqlite-wal"
    content = bytearray(log.read_bytes())
    assert content
    content[int(part * len(content))] ^= 0xFF
    log.write_bytes(content)
    assert left_in(tmp_path / "cut-calls.sqlite", 380) > 280


async def test_a_reader_of_the_log_holds_nothing_up_and_is_waited_for_next_time(
    store: CallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_file, "_SYNC_WAIT", 1)
    await save(store, range(3))
    with closing(sqlite3.connect(store.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM calls").fetchone() == (3,)
        await save(store, range(3, 6))
        store.sync()
        reader.execute("COMMIT")
    store.sync()
    assert await left_after_a_cut(store, 6) == 6


async def test_answers_that_keep_coming_put_nothing_off(
    store: CallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_file, "_SYNC_SECONDS", 0.2)
    for number in range(20):
        await save(store, range(number, number + 1))
        await asyncio.sleep(0.05)
    assert await left_after_a_cut(store, 20)


async def test_what_a_reader_keeps_in_the_log_is_synchronised_there(
    store: CallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    synchronised: list[int] = []
    monkeypatch.setattr(call_file, "_SYNC_WAIT", 1)
    monkeypatch.setattr(os, "fsync", lambda file: synchronised.append(os.fstat(file).st_ino))
    with closing(sqlite3.connect(store.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM calls").fetchone()
        await save(store, range(3))
        store.sync()
        log = store.path.with_name("calls.sqlite-wal").stat()
    assert log.st_size
    assert set(synchronised) == {log.st_ino}


def test_a_run_that_a_power_cut_ends_pays_at_most_the_last_hundred_answers_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run directory is copied in the middle, without the log: what resumes there asks the rest."""
    monkeypatch.setattr(call_file, "_SYNC_SECONDS", 3600.0)
    out, cut = tmp_path / "run", tmp_path / "cut"
    writing, sync = threading.Lock(), CallWriter._sync

    def locked(self: CallWriter) -> None:
        with writing:
            sync(self)

    monkeypatch.setattr(CallWriter, "_sync", locked)

    class Cut(Scripted):
        async def reply(self, request: Request) -> Reply:
            if len(self.requests) == 290:
                with writing:
                    shutil.copytree(out, cut, ignore=shutil.ignore_patterns("*-wal", "*-shm", ".lock"))
            return await super().reply(request)

    model = Cut()
    monkeypatch.setattr("adjudge.llm.embedded_rules.RulesModel", lambda: model)
    segments = tuple(
        Segment(segment=str(n), lp="en-de", source="s", translations={"A": f"{n}" + "a" * (n % 90)})
        for n in range(400)
    )
    test_set, width = TestSet(name="cut", segments=segments), 5
    whole = run(Rater(), test_set, out=out, concurrency=width)
    model.requests.clear()
    resumed = run(Rater(), test_set, out=cut, concurrency=width, ask_again=True)
    paid_again = len(model.requests) - (400 - 290)
    assert 0 < paid_again <= 100 + width
    assert resumed.records == whole.records
