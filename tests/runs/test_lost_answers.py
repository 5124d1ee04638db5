"""Answers that the call store has lost are not paid again before somebody says so."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import adjudge
from adjudge.core.ask import Reply
from adjudge.core.scores import Run
from adjudge.errors import AnswerError, DataWarning, ServerStopError, StoreError, UsageError
from adjudge.llm import embedded_rules
from adjudge.llm.model import Request
from adjudge.runs.engines import run
from adjudge.store.call_file import KILLED, Attempt
from adjudge.store.calls import CallStore, lacking
from adjudge.store.run_directory import ANSWERS, read_answer_keys, read_run, read_run_info
from tests.runs.conftest import RULES, Rater, Scripted, Stopping, small_set

OLDER = Path(__file__).parent / "older"
SIZE = 12  # translations of `small_set`
PAID = "ignore:call store .* run.json counts:adjudge.errors.DataWarning"
MARKS = ".records.jsonl.marks"
LOST = r"rest on 12 answers that the call store .* does not hold.*: 12 calls"


def delete(store: Path) -> None:
    store.unlink()


def empty(store: Path) -> None:
    store.write_bytes(b"")


def forget(store: Path) -> None:
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("DELETE FROM calls")


def forget_all(store: Path) -> None:
    with closing(sqlite3.connect(store)) as connection, connection:
        for table in ("calls", "attempts", "uses"):
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 (names of ours)


HOW = [delete, empty, forget, forget_all]


def stored(out: Path) -> int:
    """How many answers the store of a run has."""
    path = out / "calls.sqlite"
    return len({*read_answer_keys(out)}) - len(lacking(path, read_answer_keys(out))) if path.exists() else 0


def rate(out: Path, **options: Any) -> Run:
    return run(Rater(), small_set(), out=out, **options)


@pytest.mark.filterwarnings(PAID)
@pytest.mark.parametrize("lose", HOW)
@pytest.mark.parametrize("more", ["", "marks", "records"])
def test_a_finished_run_that_lost_its_store_stops_until_it_may_ask_again(
    tmp_path: Path, model: Scripted, lose: Callable[[Path], None], more: str
) -> None:
    done, out = rate(tmp_path / "run"), tmp_path / "run"
    if more:
        (out / {"marks": MARKS, "records": "records.jsonl"}[more]).unlink()
    lose(out / "calls.sqlite")
    for _ in range(2):
        with pytest.raises(UsageError, match=LOST):
            rate(out)
    assert stored(out) == 0, "nothing was asked"
    if more != "records":
        assert read_run(out).records == done.records, "the records are read without the store"
    again = rate(out, ask_again=True)
    assert (again.records, stored(out)) == (done.records, SIZE)
    assert rate(out).info.calls == again.info.calls, "what was asked again is there"


def test_a_store_that_was_cut_stops_the_run(tmp_path: Path, model: Scripted) -> None:
    rate(tmp_path / "run")
    store = tmp_path / "run/calls.sqlite"
    whole = store.read_bytes()
    for kept in (len(whole) * 2 // 3, 5000, 50):
        store.write_bytes(whole[:kept])
        with pytest.raises((UsageError, StoreError)):
            rate(tmp_path / "run")
    store.write_bytes(whole)
    assert rate(tmp_path / "run").info.calls["asked"] == SIZE


@given(lost=st.sets(st.integers(1, 2 * SIZE), min_size=1))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_lost_is_counted_call_by_call(tmp_path: Path, model: Scripted, lost: set[int]) -> None:
    whole, out = tmp_path / "whole", tmp_path / "run"
    if not whole.exists():
        run(Rater(questions=2), small_set(), out=whole)
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(whole, out)
    with closing(sqlite3.connect(out / "calls.sqlite")) as connection, connection:
        connection.executemany("DELETE FROM calls WHERE id = ?", [(number,) for number in lost])
    with pytest.raises(UsageError, match=rf"rest on {len(lost)} answers? "):
        run(Rater(questions=2), small_set(), out=out)
    again = run(Rater(questions=2), small_set(), out=out, ask_again=True)
    assert again.records == read_run(whole).records
    assert again.info.calls["asked"] == 2 * SIZE + len(lost)


def test_a_run_that_was_stopped_and_lost_its_store_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_rules, "RulesModel", lambda: Stopping(5))
    with pytest.raises(ServerStopError):
        adjudge.run("gemba-mqm", small_set(), out=tmp_path / "run", model="builtin/rules", concurrency=1)
    delete(tmp_path / "run/calls.sqlite")
    monkeypatch.setattr(embedded_rules, "RulesModel", lambda: RULES)
    with pytest.raises(UsageError, match=r"rest on 5 answers .*: 5 calls"):
        adjudge.run("gemba-mqm", small_set(), out=tmp_path / "run", model="builtin/rules")
    with pytest.warns(DataWarning, match="counts 5 answered calls of this run, the store has 0"):
        adjudge.run("gemba-mqm", small_set(), out=tmp_path / "run", model="builtin/rules", ask_again=True)


class Mumbling(Scripted):
    """Says of one translation nothing that can be read, and of another nothing at all."""

    async def reply(self, request: Request) -> Reply:
        said = await super().reply(request)
        text = request.about.subject.translation
        if text == "Satz 2 von A in en-de":
            raise AnswerError("timeout", "late")
        return Reply(text="hm", model=self.name) if text == "Satz 1 von A in en-de" else said


def test_answers_that_failed_were_paid_too_and_failures_without_an_answer_are_asked_as_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mumbling = Mumbling()
    monkeypatch.setattr(embedded_rules, "RulesModel", lambda: mumbling)
    assert rate(tmp_path / "run", max_failed=1).info.failures == {"range": 1, "timeout": 1}
    asked = len(mumbling.requests)
    assert asked == SIZE + 1  # the one that could not be read was asked twice
    assert rate(tmp_path / "run").info.failures == {"range": 1, "timeout": 1}
    assert len(mumbling.requests) == asked + 1, "the one that brought nothing"
    delete(tmp_path / "run/calls.sqlite")
    for options in ({}, {"retry_failed": True}):
        with pytest.raises(UsageError, match=r"rest on 12 answers"):
            rate(tmp_path / "run", **options)


def test_answers_of_a_shared_store_count_for_each_run_that_used_them(tmp_path: Path, model: Scripted) -> None:
    store = tmp_path / "shared.sqlite"
    for name in "ab":
        rate(tmp_path / name, store=store)
    shutil.copy(store, tmp_path / "copy.sqlite")
    for lost in (store, tmp_path / "elsewhere.sqlite"):
        store.unlink(missing_ok=True)
        for name in "ab":
            with pytest.raises(UsageError, match=LOST):
                rate(tmp_path / name, store=lost)
    assert rate(tmp_path / "b", store=tmp_path / "copy.sqlite").info.calls["attempts"] == 0


@pytest.mark.filterwarnings(PAID)
def test_reparse_asks_nothing_and_gives_nothing_up(tmp_path: Path, model: Scripted) -> None:
    rate(tmp_path / "run")
    keys = {*read_answer_keys(tmp_path / "run")}
    assert len(keys) == SIZE
    delete(tmp_path / "run/calls.sqlite")
    asked = len(model.requests)
    assert rate(tmp_path / "run", reparse=True, max_failed=1).info.failures == {"missing": SIZE}
    assert len(model.requests) == asked
    assert {*read_answer_keys(tmp_path / "run")} == keys
    with pytest.raises(UsageError, match="--ask-again and --reparse exclude each other"):
        rate(tmp_path / "run", reparse=True, ask_again=True)


def test_a_key_that_was_cut_is_none(tmp_path: Path, model: Scripted) -> None:
    rate(tmp_path / "run")
    file = tmp_path / "run" / ANSWERS
    whole = file.read_bytes()
    file.write_bytes(whole + b"cut")
    rate(tmp_path / "run")
    assert file.read_bytes() == whole


def test_a_finished_run_that_cannot_be_written_is_read(
    tmp_path: Path, model: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = rate(tmp_path / "run")
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    access = os.access
    refused = (tmp_path / "run", os.W_OK)
    monkeypatch.setattr(os, "access", lambda *asked: asked != refused and access(*asked))
    assert rate(tmp_path / "run").records == done.records
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before
    for option in ("retry_failed", "reparse"):
        with pytest.raises(UsageError, match="cannot be written"):
            rate(tmp_path / "run", **{option: True})
    with pytest.raises(UsageError, match="holds another run"):
        run(Rater(questions=2), small_set(), out=tmp_path / "run")


async def test_what_was_in_flight_is_counted_once_and_of_its_own_run_alone(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    flights = [
        Attempt(bytes([number]) * 32, "2026-11-25T00:00:00Z", 0.0, "connection", KILLED, model="p/m")
        for number in range(4)
    ]
    first, other = (CallStore(path, name, is_shared=True) for name in ("first", "other"))
    for flight in flights:
        await first.depart(flight)
    await other.depart(flights[0])
    first.note(flights[0])
    first.release(flights[1].key)
    await first.depart(flights[0])  # the same call, a second time
    await first.depart(Attempt(bytes([9]) * 32, "2026-11-25T00:00:00Z", 0.0, model="p/m"))
    first.close()  # the process ends, whatever it has in flight
    with closing(CallStore(path, "first", is_shared=True)) as again:
        assert again.totals().attempts == 1
        again.count_lost()
        again.count_lost()
        totals = again.totals()
        assert (totals.attempts, totals.lost, totals.asked) == (5, 5, 0)
    other.count_lost()
    assert other.totals().attempts == 1
    other.close()


def test_run_info_of_a_run_that_was_never_killed_says_nothing_of_it(tmp_path: Path, model: Scripted) -> None:
    rate(tmp_path / "run")
    assert "lost" not in read_run_info(tmp_path / "run").calls
