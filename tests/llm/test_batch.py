"""What batches leave on disk: the ledger of their steps, the questions that wait, the results that came."""

import os
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.ask import Usage
from adjudge.errors import StoreError, UsageError
from adjudge.llm.batch import Desk, Spool, find_results, open_desk
from adjudge.llm.batch_providers import (
    LEDGER,
    Batch,
    FileBatches,
    Frame,
    Ledger,
    Limits,
    Place,
    refuse_open_batches,
)
from adjudge.llm.model_choice import open_models
from adjudge.llm.providers import Connection
from tests.open_files import files_open_in

KEYS = [bytes([number]) * 32 for number in range(4)]
QUOTING = {"text": f'"custom_id":"{KEYS[3].hex()}"'}


def prepared(folder: Path) -> Ledger:
    """A ledger with one batch of three questions, the texts of which look like ids."""
    dialect = FileBatches()
    ledger, spool = Ledger(folder), Spool(folder, dialect)
    for key in KEYS[:3]:
        spool.add(key, orjson.dumps(dialect.line(key, QUOTING)), Usage(prompt=1))
    ((keys, most),) = spool.cut(lambda most: True)
    batch = ledger.next("m", len(keys), most)
    spool.write(keys, ledger.requests(batch))
    spool.close()
    ledger.prepare(batch)
    return ledger


def test_a_step_that_was_cut_was_never_taken(tmp_path: Path) -> None:
    ledger = prepared(tmp_path)
    ledger.mark(ledger.batches[1], id="batch_1", state="submitted")
    content = (tmp_path / LEDGER).read_bytes()
    (tmp_path / LEDGER).write_bytes(content[:-5])
    again = Ledger(tmp_path)
    assert again.batches[1].state == "prepared"
    again.mark(again.batches[1], id="batch_2", state="submitted")
    assert Ledger(tmp_path).batches[1].id == "batch_2"


@pytest.mark.parametrize("line", [b"{", b'{"state": "done"}', b'{"number": 1, "colour": 2}', b"[1]"])
def test_a_damaged_ledger_is_not_read_as_another(line: bytes, tmp_path: Path) -> None:
    (tmp_path / LEDGER).write_bytes(line + b"\n")
    with pytest.raises(StoreError, match=r"batches\.jsonl is damaged"):
        Ledger(tmp_path)


def test_requests_that_are_gone_are_not_taken_for_none(tmp_path: Path) -> None:
    ledger = prepared(tmp_path)
    ledger.requests(ledger.batches[1]).unlink()
    with pytest.raises(StoreError, match=r"1\.requests\.jsonl cannot be read.*are sent and paid again"):
        ledger.keys(ledger.batches[1])


@pytest.mark.parametrize("kept", [0, 200])
def test_requests_that_were_cut_are_not_taken_for_all(tmp_path: Path, kept: int) -> None:
    ledger = prepared(tmp_path)
    path = ledger.requests(ledger.batches[1])
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(StoreError, match=rf"{path.name} is damaged: {kept // 200} of 3 .*paid again"):
        ledger.keys(ledger.batches[1])


def test_what_is_to_be_sent_is_on_the_disk_before_the_ledger_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    monkeypatch.setattr(
        os, "fsync", lambda file: synced.append(Path(f"/proc/self/fd/{file}").readlink().name)
    )
    prepared(tmp_path)
    assert synced == ["1.requests.jsonl", LEDGER]


def test_live_calls_are_refused_as_long_as_a_batch_is_out(tmp_path: Path) -> None:
    refuse_open_batches(tmp_path)
    ledger = prepared(tmp_path)
    with pytest.raises(UsageError, match="one that may not have got there"):
        refuse_open_batches(tmp_path)
    ledger.mark(ledger.batches[1], id="batch_7", state="submitted")
    with pytest.raises(UsageError, match=r"\(batch_7\): fetch them with --engine batch"):
        refuse_open_batches(tmp_path)
    ledger.finish(ledger.batches[1])
    refuse_open_batches(tmp_path)
    assert list((tmp_path / "batches").iterdir()) == []


def test_a_desk_that_cannot_be_opened_holds_no_file(tmp_path: Path) -> None:
    models = open_models(["m"], Connection(base_url="http://localhost"))
    (tmp_path / LEDGER).write_bytes(b"{\n")
    with pytest.raises(StoreError, match="damaged") as refused:
        open_desk(models, tmp_path, "token")
    assert refused.tb is not None, "which keeps what was opened until then"
    assert files_open_in(tmp_path) == []


@given(
    lengths=st.lists(st.integers(1, 40), max_size=30),
    requests=st.integers(1, 7),
    size=st.integers(45, 200),
    money=st.integers(0, 40),
)
def test_every_question_goes_out_once_in_batches_that_keep_to_the_limits(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], requests: int, size: int, money: int
) -> None:
    folder, dialect = tmp_path_factory.getbasetemp(), FileBatches()
    dialect.limits, dialect.frame = Limits(requests, size), Frame(b"[", b",", b"]")
    spool = Spool(folder, dialect)
    for number, length in enumerate(lengths):
        spool.add(bytes([number]), bytes([number + 65]) * length, Usage(prompt=1))
    batches = list(spool.cut(lambda most: most.prompt <= money))
    assert [key for keys, _ in batches for key in keys] == [
        bytes([n]) for n in range(min(len(lengths), money))
    ]
    for keys, most in batches:
        spool.write(keys, folder / "sent")
        sent = (folder / "sent").read_bytes()
        assert len(sent) <= size
        assert 0 < len(keys) == most.prompt <= requests
        assert sent == b"[" + b",".join(bytes([k[0] + 65]) * lengths[k[0]] for k in keys) + b"]"
    spool.close()


def test_results_are_found_by_key_wherever_they_stand(tmp_path: Path) -> None:
    batch, file = Batch(number=1, model="m", count=4), tmp_path / "results"
    lines = [{"custom_id": key.hex(), "response": {"status_code": 200, "body": key.hex()}} for key in KEYS]
    bad = [b"{", b"null", b'"x"', b'{"custom_id": 3}', b'{"custom_id": "ABC"}']
    file.write_bytes(b"\n\n".join([*map(orjson.dumps, lines[::-1]), *bad]))
    batch.calls = dict.fromkeys([*KEYS[:3], bytes([9]) * 32])
    odd = find_results(batch, [file])
    assert odd == {"results of no question of ours": 3, "lines that cannot be read": 3}
    assert {key for key, came in batch.calls.items() if came is None} == {bytes([9]) * 32}
    came = batch.calls[KEYS[1]]
    assert isinstance(came, Place)
    assert FileBatches().read(orjson.loads(came.line)) == KEYS[1].hex()


def test_progress_says_wave_submitted_and_done(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    desk = Desk({}, ledger, "token")
    desk.is_open = True
    assert desk.words == ""
    ledger.batches[1] = Batch(number=1, model="m", count=1200, state="submitted")
    ledger.batches[1].done = 300
    desk.wave = 2
    assert desk.words == "wave 2: 1,200 submitted, 300 done"
