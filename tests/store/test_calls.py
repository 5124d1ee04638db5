"""The call store keeps every answered call, whatever ends the process, and says what is damaged."""

import asyncio
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.ask import Message, Quoted, Reply, Sampling, TokenLogprob, Usage
from adjudge.errors import StoreError
from adjudge.store import call_file
from adjudge.store.call_file import (
    Attempt,
    StoredRequest,
    Use,
    reply_from_json,
    reply_to_json,
    request_from_json,
    request_to_json,
    run_name,
    unit_name,
)
from adjudge.store.calls import CallReader, CallStore, CallTotals, open_store
from tests.open_files import files_open_in

RUN = run_name("secret")
MODEL = {"endpoint": "openai", "model": "gpt-x"}
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def key(number: int = 0) -> bytes:
    return number.to_bytes(32, "big")


def asked(text: str = "Guten Morgen") -> StoredRequest:
    messages = (Message("user", ("Judge ", Quoted("translation", text), "!")),)
    return StoredRequest(model=MODEL, messages=messages, sampling=Sampling())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[CallStore]:
    store = CallStore(path, RUN)
    yield store
    with suppress(StoreError):
        store.close()


async def fill(store: CallStore, calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Save calls, of which the first 10 become a dictionary for those after them."""
    monkeypatch.setattr(call_file, "_SAMPLES", 20)
    for number in range(calls):
        await store.save(key(number), asked("word " * number), Reply(text="yes " * number))


def change(path: Path, statement: str) -> None:
    """Change what the file of a store holds."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)


# What is kept...


@given(TEXT, TEXT, st.floats(0, 2), st.integers(0, 2**40), st.booleans())
def test_a_request_comes_back_as_it_was(
    words: str, text: str, temperature: float, tokens: int, logprobs: bool
) -> None:
    request = StoredRequest(
        model=MODEL,
        messages=(Message("system", (words,)), Message("user", (words, Quoted("source", text)))),
        sampling=Sampling(temperature=temperature, max_tokens=tokens, logprobs=logprobs),
        schema={"type": "object", "properties": {"a": [1, None]}},
        sample=(3, 1),
    )
    assert request_from_json(request_to_json(request)) == request


@given(TEXT, TEXT, st.floats(max_value=0, allow_infinity=False, allow_nan=False))
def test_a_reply_comes_back_as_it_was(text: str, thought: str, logprob: float) -> None:
    reply = Reply(
        text=text,
        model="gpt-x-2026",
        finish="length",
        usage=Usage(prompt=1, completion=2, cached=3, reasoning=4),
        reasoning=thought,
        logprobs=(TokenLogprob(text, logprob), TokenLogprob("yes", -0.5, (("yes", -0.5), ("no", -1.0)))),
        is_held=True,
    )
    assert reply_from_json(reply_to_json(reply)) == reply
    assert reply_from_json(reply_to_json(Reply(text=text))) == Reply(text=text)


async def test_what_was_saved_is_found_also_by_the_next_process(path: Path, store: CallStore) -> None:
    assert store.find(key()) is None
    assert await store.save(key(), asked(), Reply(text="yes")) == Reply(text="yes")
    assert store.find(key()) == Reply(text="yes")
    store.close()
    with closing(CallReader(path)) as reader:
        assert reader.find(key()) == Reply(text="yes")
        assert list(reader.answered(10)) == [(asked(), Reply(text="yes"))]
        assert reader.models() == [MODEL]


async def test_the_answer_that_came_first_counts_for_everybody(path: Path, store: CallStore) -> None:
    other = CallStore(path, run_name("other"))
    await store.save(key(), asked(), Reply(text="first"))
    assert await other.save(key(), asked(), Reply(text="second")) == Reply(text="first")
    other.close()


async def test_many_calls_at_once_are_all_kept(path: Path, store: CallStore) -> None:
    texts = [f"{number} " + "the same prompt for all of them " * 20 for number in range(1500)]
    await asyncio.gather(*(store.save(key(n), asked(t), Reply(text=t)) for n, t in enumerate(texts)))
    assert [store.find(key(n)) for n in range(1500)] == [Reply(text=t) for t in texts]
    store.close()
    with sqlite3.connect(path) as connection:
        codecs = dict(connection.execute("SELECT codec, count(*) FROM calls GROUP BY codec"))
        bytes_ = dict(connection.execute("SELECT codec, avg(length(request)) FROM calls GROUP BY codec"))
    connection.close()
    assert codecs.keys() == {0, 1}, "a dictionary is made once there are samples"
    assert bytes_[1] < bytes_[0]


async def test_no_more_is_committed_together_than_a_batch_holds(
    store: CallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    commit = call_file.CallWriter._commit

    def counted(self: call_file.CallWriter, batch: list[call_file.Item]) -> None:
        sizes.append(len(batch))
        commit(self, batch)

    monkeypatch.setattr(call_file.CallWriter, "_commit", counted)
    await asyncio.gather(*(store.save(key(n), asked(), Reply(text=str(n))) for n in range(600)))
    assert sum(sizes) == 600
    assert max(sizes) <= 256


def test_what_a_loop_that_ended_left_is_written_with_what_comes_next(store: CallStore) -> None:
    ended = asyncio.new_event_loop()
    ended.call_soon(lambda: store.note(Attempt(key(0), "2026-01-01T00:00:00", 0.5, "timeout", "late")))
    ended.call_soon(ended.stop)
    ended.run_forever()
    ended.close()
    saved = store.save(key(1), asked(), Reply(text="yes"))
    assert asyncio.run(asyncio.wait_for(saved, 10)) == Reply(text="yes")
    assert store.totals().attempts == 1


async def test_a_store_with_a_dictionary_is_read_and_written_on(
    path: Path, store: CallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(store, 20, monkeypatch)
    store.close()
    again = CallStore(path, RUN)
    await again.save(key(99), asked("more"), Reply(text="more"))
    assert again.find(key(99)) == Reply(text="more")
    assert again.find(key(19)) == Reply(text="yes " * 19)
    again.close()


# Attempts and uses...


async def test_paid_and_failed_attempts_are_counted_over_all_sessions(path: Path) -> None:
    totals = CallTotals()
    for session in range(2):
        store = CallStore(path, RUN)
        store.note(Attempt(key(session), "2026-01-01T00:00:00", 0.5, "timeout", "late"))
        store.note(Attempt(key(session), "2026-01-01T00:00:01", 0.5, usage=Usage(prompt=10, completion=2)))
        await store.save(key(session), asked(), Reply(text="yes"))
        totals = store.totals()
        store.close()
    assert (totals.asked, totals.attempts) == (2, 4)
    assert totals.usage == Usage(prompt=20, completion=4)


async def test_the_time_of_a_call_is_that_of_a_model_which_somebody_waited_for(
    path: Path, store: CallStore
) -> None:
    seen = [("openai/m", 2.0), ("openai/m", 4.0), ("openai/m (batch)", 0.0), ("search/w", 0.1)]
    for model, seconds in seen:
        store.note(Attempt(key(), "2026-01-01T00:00:00", seconds, model=model))
    store.close()
    with closing(CallReader(path)) as reader:
        assert reader.seconds() == 3.0


async def test_a_conversation_needs_nothing_but_the_store(path: Path, store: CallStore) -> None:
    unit = unit_name("en-de", "1", ("A",))
    assert unit_name("en-de", "a", ("b/c",)) != unit_name("en-de", "a/b", ("c",))
    store.note(Attempt(key(1), "2026-01-01T00:00:00", 0.5, "timeout", "late", 408))
    await store.save(key(0), asked("one"), Reply(text="?"))
    await store.save(key(1), asked("two"), Reply(text="yes"))
    uses = [
        Use(key(0), "errors", "core", "parse", "no JSON"),
        Use(key(1), "errors", "core"),
        Use(key(2), "x", ""),
    ]
    store.save_uses(unit, uses)
    store.close()
    with closing(CallReader(path)) as reader:
        first, second, third = reader.conversation(RUN, unit)
        assert (first.use, first.request, first.reply) == (uses[0], asked("one"), Reply(text="?"))
        assert [(a.reason, a.detail, a.status) for a in second.failed] == [("timeout", "late", 408)]
        assert (third.use, third.request, third.reply) == (uses[2], None, None)
        assert reader.units(RUN) == {unit: 3}
        assert reader.units(run_name("other")) == {}


async def test_uses_written_again_replace_the_old_ones(path: Path, store: CallStore) -> None:
    store.save_uses("u", [Use(key(0), "a", ""), Use(key(1), "a", "")])
    store.save_uses("u", [Use(key(2), "b", "")])
    store.totals()
    store.save_uses("u", [Use(key(2), "b", "")])
    store.close()
    with closing(CallReader(path)) as reader:
        assert [exchange.use.key for exchange in reader.conversation(RUN, "u")] == [key(2)]


async def test_what_was_read_ahead_is_what_the_store_says(path: Path, store: CallStore) -> None:
    for number in range(3):
        await store.save(key(number), asked(), Reply(text=str(number)))
    store.save_uses("u", [Use(key(0), "a", ""), Use(key(1), "a", "x"), Use(key(9), "b", "")])
    store.close()
    again = CallStore(path, RUN)
    again.read_ahead(["u", "no such unit"])
    await again.save(key(9), asked(), Reply(text="9"))
    assert [again.find(key(n)) for n in (0, 1, 2, 9)] == [Reply(text=str(n)) for n in (0, 1, 2, 9)]
    again.save_uses("u", [Use(key(2), "c", "")])
    again.save_uses("no such unit", [Use(key(1), "a", "")])
    again.close()
    with closing(CallReader(path)) as reader:
        assert [e.use.key for e in reader.conversation(RUN, "u")] == [key(2)]
        assert [e.use.key for e in reader.conversation(RUN, "no such unit")] == [key(1)]


# Damage...


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize(
    "damage",
    [
        "reply = zeroblob(length(reply))",
        "request = substr(request, 1, 3)",
        "codec = 7",
        "checksum = 0",
        "reply = 'text'",
        "codec = 'x'",
    ],
)
async def test_a_torn_row_is_missing_and_counted_and_mended_by_the_next_answer(
    path: Path, store: CallStore, damage: str, ahead: bool
) -> None:
    await store.save(key(), asked(), Reply(text="yes"))
    store.save_uses("u", [Use(key(), "a", "")])
    store.totals()
    change(path, f"UPDATE calls SET {damage}")  # noqa: S608 (our own words)
    if ahead:
        store.read_ahead(["u"])
    assert store.find(key()) is None
    assert store.torn == 1
    assert await store.save(key(), asked(), Reply(text="again")) == Reply(text="again")
    assert store.find(key()) == Reply(text="again")


async def test_a_dictionary_that_is_gone_makes_its_rows_missing(
    path: Path, store: CallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(store, 30, monkeypatch)
    store.close()
    change(path, "DELETE FROM dictionaries")
    with closing(CallReader(path)) as reader:
        assert reader.find(key(0)) is not None
        assert reader.find(key(29)) is None


async def test_a_damaged_dictionary_is_not_written_with(
    path: Path, store: CallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(store, 30, monkeypatch)
    store.close()
    change(path, "UPDATE dictionaries SET content = CAST(substr(content, 1, 20) AS BLOB)")
    again = CallStore(path, RUN)
    assert again.find(key(0)) is not None
    assert again.find(key(29)) is None
    for number in range(29, 60):
        await again.save(key(number), asked("word " * number), Reply(text="more"))
    again.close()
    with closing(CallReader(path)) as reader:
        assert [reader.find(key(number)) for number in range(29, 60)] == [Reply(text="more")] * 31


@pytest.mark.parametrize("content", [b"no database at all, but long enough to look at" * 40, b"short"])
def test_a_file_that_is_no_store_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreError, match=path.name):
        CallStore(path, RUN)
    with pytest.raises(StoreError, match=path.name):
        CallReader(path)
    assert path.read_bytes() == content


def test_folders_on_the_way_to_a_store_are_made(tmp_path: Path) -> None:
    store = CallStore(tmp_path / "new" / "folder" / "calls.sqlite", RUN)
    assert store.find(key()) is None
    store.close()
    (tmp_path / "file").write_text("a file")
    with pytest.raises(StoreError, match="cannot make the folder"):
        CallStore(tmp_path / "file" / "calls.sqlite", RUN)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DROP TABLE runs", "calls.sqlite: no such table: runs"),
        ("DROP TABLE dictionaries", "calls.sqlite: no such table: dictionaries"),
        ("PRAGMA user_version = 99", "version"),
    ],
)
def test_a_store_of_another_shape_is_refused_and_let_go(
    path: Path, store: CallStore, statement: str, message: str
) -> None:
    store.close()
    change(path, statement)
    with pytest.raises(StoreError, match=message):
        CallStore(path, RUN)
    theirs = path.with_name("theirs.sqlite")
    change(theirs, "CREATE TABLE theirs (x)")
    with pytest.raises(StoreError, match="no call store"):
        CallStore(theirs, RUN)
    assert files_open_in(path.parent) == []


@pytest.mark.parametrize("refused", ["calls.sqlite", "base.sqlite"])
def test_two_stores_are_let_go_where_one_of_them_is_refused(tmp_path: Path, refused: str) -> None:
    for name in ("calls.sqlite", "base.sqlite"):
        CallStore(tmp_path / name, RUN).close()
    (tmp_path / refused).write_bytes(b"a letter")
    with pytest.raises(StoreError, match=refused):
        open_store(tmp_path / "calls.sqlite", RUN, tmp_path / "base.sqlite")
    assert files_open_in(tmp_path) == []


def test_a_store_on_top_of_another_holds_more_than_what_a_session_asked(tmp_path: Path) -> None:
    CallStore(tmp_path / "base.sqlite", RUN).close()
    with closing(open_store(tmp_path / "calls.sqlite", RUN, tmp_path / "base.sqlite")) as store:
        assert not store.began_empty


async def test_a_new_store_looks_into_its_file_for_what_may_be_there_alone(store: CallStore) -> None:
    looks: list[str] = []
    store._connection.set_trace_callback(looks.append)
    found = [bytes([number]) * 32 for number in range(3)]
    for one in found[:2]:
        assert store.find(one) is None
        await store.save(one, asked(), Reply(text="yes"))
    assert not looks
    assert [store.find(one) for one in found] == [Reply(text="yes"), Reply(text="yes"), None]
    assert len(looks) == 2


@pytest.mark.parametrize("is_synced", [True, False])
async def test_where_nothing_can_be_written_a_store_is_read_whole_or_not_at_all(
    path: Path, store: CallStore, is_synced: bool
) -> None:
    await store.save(key(0), asked(), Reply(text="yes"))
    store.sync()
    if not is_synced:
        await store.save(key(1), asked(), Reply(text="yes"))
    there = path.parent / "there"
    there.mkdir()
    for name in ("calls.sqlite", *([] if is_synced else ["calls.sqlite-wal"])):
        await asyncio.to_thread(shutil.copy, path.with_name(name), there)
    (there / "calls.sqlite-shm").symlink_to("nowhere")  # where SQLite would write
    if is_synced:
        with closing(CallReader(there / path.name)) as reader:
            assert reader.find(key(0)) == Reply(text="yes")
        return
    with pytest.raises(StoreError, match=r"calls\.sqlite-wal beside it.*where SQLite may write"):
        CallReader(there / path.name)
    assert files_open_in(there) == []


def test_a_store_that_is_not_there_cannot_be_read(path: Path) -> None:
    with pytest.raises(StoreError, match="no call store"):
        CallReader(path)
    assert not path.exists()


# A disk that is full, or cannot be written...


async def test_a_full_disk_stops_with_a_clear_word_and_loses_nothing(path: Path, store: CallStore) -> None:
    await store.save(key(0), asked(), Reply(text="yes"))
    limit = store._writer._connection.execute("PRAGMA page_count").fetchone()[0]
    store._writer._connection.execute(f"PRAGMA max_page_count = {limit}")
    long = Reply(text=str(list(range(100_000))))
    with pytest.raises(StoreError, match="full; make room"):
        await store.save(key(1), asked(), long)
    with pytest.raises(StoreError):
        store.note(Attempt(key(1), "", 0.0))
    with pytest.raises(StoreError):
        store.close()
    again = CallStore(path, RUN)
    assert again.find(key(0)) == Reply(text="yes")
    await again.save(key(500), asked(), Reply(text="yes"))
    again.close()


async def test_a_store_that_cannot_be_written_says_so(path: Path, store: CallStore) -> None:
    store._writer._connection.execute("PRAGMA query_only = ON")
    with pytest.raises(StoreError, match="readonly database; it must be writable"):
        await store.save(key(0), asked(), Reply(text="yes"))
    with pytest.raises(StoreError):
        store.close()


async def test_whatever_goes_wrong_while_writing_reaches_whoever_waits(path: Path, store: CallStore) -> None:
    with pytest.raises(StoreError, match="TypeError"):
        await store.save(key(0), asked(), Reply(text=object()))  # type: ignore[arg-type]
    with pytest.raises(StoreError):
        store.close()


async def test_an_answer_whose_asker_is_gone_is_kept_all_the_same(path: Path, store: CallStore) -> None:
    waiting = asyncio.create_task(store.save(key(0), asked(), Reply(text="yes")))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    store.totals()
    await asyncio.sleep(0)
    assert store.find(key(0)) == Reply(text="yes")


async def test_what_is_synced_is_in_no_log_that_a_power_cut_could_take(path: Path, store: CallStore) -> None:
    await store.save(key(0), asked(), Reply(text="yes"))
    store.note(Attempt(key(0), "2026-01-01T00:00:00", 0.5))
    store.sync()
    left = path.with_name("left.sqlite")
    await asyncio.to_thread(shutil.copy, path, left)
    reader = CallReader(left)
    assert reader.find(key(0)) == Reply(text="yes")
    assert reader.seconds() == 0.5
    reader.close()


def test_a_killed_process_loses_no_answer_that_it_was_told_is_kept(path: Path) -> None:
    program = textwrap.dedent(
        f"""
        import asyncio, os, sys
        sys.path.insert(0, {str(Path.cwd())!r})
        from pathlib import Path
        from adjudge.core.ask import Reply
        from adjudge.store.calls import CallStore
        from tests.store.test_calls import RUN, asked, key

        async def main():
            store = CallStore(Path({str(path)!r}), RUN)
            for number in range(100_000):
                await store.save(key(number), asked(str(number)), Reply(text=str(number)))
                os.write(1, f"{{number}}\\n".encode())

        asyncio.run(main())
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert process.stdout is not None
    for _ in range(300):
        process.stdout.readline()
    process.kill()
    told = 300 + len(process.stdout.read().splitlines())
    process.stdout.close()
    process.wait()
    with closing(CallReader(path)) as reader:
        assert all(reader.find(key(n)) == Reply(text=str(n)) for n in range(told))
