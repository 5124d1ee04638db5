"""Several runs on one store: each question is paid once, whoever asks it and whenever."""

import asyncio
import os
import platform
import sqlite3
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from adjudge.core.ask import Message, Quoted, Reply, Sampling
from adjudge.errors import AnswerError, DataWarning
from adjudge.llm.model import Request
from adjudge.runs.engines import arun, run
from adjudge.store import call_file, calls
from adjudge.store.call_file import StoredRequest
from adjudge.store.calls import CallStore
from tests.runs.conftest import Rater, Scripted, small_set

KEY = bytes(32)
ASKED = StoredRequest(
    model={"model": "m"},
    messages=(Message("user", ("Judge ", Quoted("translation", "a"))),),
    sampling=Sampling(),
)


class Slow(Scripted):
    """A model that lets other runs have their turn before it answers."""

    async def reply(self, request: Request) -> Reply:
        found = await super().reply(request)
        await asyncio.sleep(0.01)
        return found


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    model = Slow()
    monkeypatch.setattr("adjudge.llm.embedded_rules.RulesModel", lambda: model)
    monkeypatch.setattr(calls, "_LOOK_SECONDS", 0.01)
    return model


async def test_two_runs_at_once_on_one_store_pay_each_question_once(tmp_path: Path, slow: Slow) -> None:
    store = tmp_path / "shared.sqlite"
    outs = (tmp_path / "a", tmp_path / "b", tmp_path / "c")
    done = await asyncio.gather(*(arun(Rater(), small_set(20), out=out, store=store) for out in outs))
    asked = Counter(request.about.subject.translation for request in slow.requests)
    assert set(asked.values()) == {1}
    assert len(asked) == 40
    assert done[0].records == done[1].records == done[2].records
    assert [sum(each.info.calls[what] for each in done) for what in ("asked", "from_store")] == [40, 80]
    assert done[0].info.settings["store"] == "../shared.sqlite"
    assert not (outs[0] / "calls.sqlite").exists()
    with closing(sqlite3.connect(store)) as connection:
        assert connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM askers").fetchone() == (0,)


async def test_a_question_that_failed_elsewhere_is_asked_here(tmp_path: Path, slow: Slow) -> None:
    path = tmp_path / "shared.sqlite"
    with (
        closing(CallStore(path, "one", is_shared=True)) as one,
        closing(CallStore(path, "two", is_shared=True)) as two,
    ):
        assert await one.claim(KEY) is None
        waiting = asyncio.create_task(two.claim(KEY))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        one.release(KEY)
        assert await waiting is None, "now the other one is to ask"
        again = asyncio.create_task(one.claim(KEY))
        await two.save(KEY, ASKED, Reply(text="yes"))
        assert await again == Reply(text="yes")
        assert await one.claim(KEY) == Reply(text="yes")
        assert await one.claim(KEY, anew=True) is None


async def test_the_claim_of_a_process_that_died_is_taken_over_at_once(tmp_path: Path, slow: Slow) -> None:
    path = tmp_path / "shared.sqlite"
    ended = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await ended.wait()
    with closing(CallStore(path, "one", is_shared=True)) as store:
        with closing(sqlite3.connect(path)) as connection, connection:
            host = platform.node()
            connection.execute("INSERT INTO askers VALUES ('gone', ?, ?, 0)", (host, ended.pid))
            connection.execute("INSERT INTO claims VALUES (?, 'gone')", (KEY,))
        assert await store.claim(KEY) is None


async def test_the_claim_of_a_machine_that_is_silent_is_taken_over_later(
    tmp_path: Path, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "shared.sqlite"
    with closing(CallStore(path, "one", is_shared=True)) as store:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("INSERT INTO askers VALUES ('far', 'elsewhere', ?, 0)", (os.getpid(),))
            connection.execute("INSERT INTO claims VALUES (?, 'far')", (KEY,))
        waiting = asyncio.create_task(store.claim(KEY))
        await asyncio.sleep(0.05)
        assert not waiting.done(), "it may be asking"
        monkeypatch.setattr(call_file, "_DEAD_SECONDS", 0.0)
        assert await waiting is None


async def test_a_question_that_failed_is_free_for_others_while_its_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow: Slow
) -> None:
    others, ended = Slow.reply, asyncio.Event()

    async def reply(self: Slow, request: Request) -> Reply:
        found = await others(self, request)
        if len(self.requests) == 1:
            raise AnswerError("timeout", "too late")
        if request.about.subject.system == "B":
            await ended.wait()
        return found

    monkeypatch.setattr(Slow, "reply", reply)
    store = tmp_path / "shared.sqlite"
    first = asyncio.create_task(arun(Rater(), small_set(1), out=tmp_path / "a", store=store, concurrency=1))
    while len(slow.requests) < 2:  # noqa: ASYNC110 (no event tells)
        await asyncio.sleep(0.01)
    try:
        async with asyncio.timeout(20):
            found = await arun(Rater(), small_set(1, systems=("A",)), out=tmp_path / "b", store=store)
    finally:
        ended.set()
        await first
    assert found.info.counts == {"judged": 1, "failed": 0, "pending": 0}


def test_the_store_of_a_run_directory_needs_no_claims(tmp_path: Path, model: Scripted) -> None:
    run(Rater(), small_set(2), out=tmp_path / "run")
    with closing(sqlite3.connect(tmp_path / "run" / "calls.sqlite")) as connection:
        tables = {
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
    assert not tables & {"claims", "askers"}


@pytest.mark.parametrize("content", ["nothing", "a header"])
def test_an_empty_store_is_a_new_store(content: str, tmp_path: Path, model: Scripted) -> None:
    import adjudge
    from adjudge.store.calls import CallReader

    out = tmp_path / "run"
    run(Rater(), small_set(3), out=out)
    store = out / "calls.sqlite"
    store.unlink()
    store.touch()
    if content == "a header":
        with closing(sqlite3.connect(store)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
        assert store.stat().st_size
    with closing(CallReader(store)) as reader:
        assert reader.models() == []
        assert reader.conversation("x", "y") == []
        assert reader.seconds() is None
    assert adjudge.forecast(Rater(), small_set(3), out=out).calls.typical == 6
    with pytest.warns(DataWarning, match=r"run.json counts 6 answered calls of this run, the store has 0"):
        again = run(Rater(), small_set(3), out=out, ask_again=True)
    assert again.info.counts["judged"] == 6


def test_a_store_that_lost_a_part_is_said_and_a_whole_one_is_not(
    tmp_path: Path, model: Scripted, recwarn: pytest.WarningsRecorder
) -> None:
    out = tmp_path / "run"
    run(Rater(), small_set(3), out=out)
    run(Rater(), small_set(3), out=out)
    assert not [w for w in recwarn if issubclass(w.category, DataWarning)]
    with closing(sqlite3.connect(out / "calls.sqlite")) as connection, connection:
        connection.execute("DELETE FROM attempts WHERE id > 4")
        connection.execute("DELETE FROM calls WHERE id > 4")
    with pytest.warns(DataWarning, match="run.json counts 6 answered calls of this run, the store has 4"):
        run(Rater(), small_set(3), out=out, ask_again=True)
