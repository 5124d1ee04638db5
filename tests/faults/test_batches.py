"""Batches: their records are those of live calls, nothing is sent twice, and no fault is a number."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.cli.main import main
from adjudge.core.record import Failure, Record
from adjudge.errors import BUDGET, DONE, ERROR, FAILURES, STOPPED, USAGE, ModelError, ServerStopError
from adjudge.llm import batch as desk_module
from adjudge.llm import batch_providers as openai_module
from adjudge.llm.batch_providers import Ledger, Limits
from adjudge.store.run_directory import read_run, read_run_info
from tests.durable import watch_names
from tests.faults.batches import BatchServer, Bend, good_line, taking_batches
from tests.faults.conftest import KEY, call, write_set
from tests.faults.dialects import Json
from tests.faults.server import envelope, patient
from tests.faults.test_kill import FORKS

pytestmark = pytest.mark.usefixtures("_quick", "_no_pause")

SIZE = 4  # segments, of two systems each
UNITS = 2 * SIZE
PLAIN = ("--json-schema", "off")  # which batches never try, and live calls do
PRICES = """
[[model]]
names = ["mock", "anthropic/mock"]
as_of = 2026-01-01
prompt = 100
completion = 100
batch = 0.5
"""

Run = Callable[..., int]
Change = Callable[[Json], list[Json | bytes]]


@pytest.fixture(scope="module")
def _batches() -> Iterator[BatchServer]:
    with taking_batches() as server:
        yield server


@pytest.fixture
def server(_batches: BatchServer) -> BatchServer:
    _batches.reset()
    return _batches


@pytest.fixture
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk_module, "pause_before", lambda look: 0.0)


@pytest.fixture
def run(tmp_path: Path, server: BatchServer, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`adjudge run` of a judge that asks twice for each translation; returns the exit code."""
    monkeypatch.setenv("CANARY_KEY", KEY)
    test_set = write_set(tmp_path / "set.jsonl", SIZE)

    def runs(*options: str, out: str = "run", judge: str = "ea-prompt", model: str = "mock") -> int:
        wire = ["--base-url", server.url, "--model", model, "--key-env", "CANARY_KEY", "--timeout", "5"]
        return call("run", judge, str(test_set), "--out", str(tmp_path / out), *wire, *options)

    return runs


def batch(run: Run, *options: str, **more: str) -> int:
    return run("--engine", "batch", *options, **more)


def reasons(folder: Path) -> list[str]:
    return [record.reason for record in read_run(folder).records if isinstance(record, Failure)]


def facts(folder: Path) -> tuple[Any, ...]:
    info = read_run_info(folder)
    counts = {key: info.calls[key] for key in ("asked", "from_store", "attempts", "repaired")}
    return (info.counts, info.failures, counts, info.tokens, str(info.signature))


@pytest.mark.parametrize("model", ["mock", "anthropic/mock"])
def test_batches_bring_the_records_of_live_calls(
    run: Run, server: BatchServer, tmp_path: Path, model: str
) -> None:
    assert run(*PLAIN, out="live", model=model) == DONE
    live = server.requests.copy()
    server.reset()
    assert batch(run, *PLAIN, model=model) == DONE
    assert server.requests == live
    assert len(server.log) == 0
    assert len(server.sizes) == 2, "a wave for each of the two questions of the judge"
    assert (tmp_path / "run/records.jsonl").read_bytes() == (tmp_path / "live/records.jsonl").read_bytes()
    assert facts(tmp_path / "run") == facts(tmp_path / "live")
    assert list((tmp_path / "run/batches").iterdir()) == []
    assert batch(run, *PLAIN, model=model) == DONE, "the same command once more"
    assert len(server.sizes) == 2, "and nothing is asked"


@pytest.mark.parametrize(
    ("judge", "more"),
    [
        ("m-mad", []),
        ("himate", ["--model", "accuracy=anthropic/mock", "--model", "style=builtin/rules"]),
        ("fire", ["--pairs", "adaptive"]),
        ("gemba-da", ["--samples", "2"]),
    ],
)
def test_judges_with_many_stages_are_the_same_in_waves(
    run: Run, server: BatchServer, tmp_path: Path, judge: str, more: list[str]
) -> None:
    write_set(tmp_path / "set.jsonl", 2, "ABCD" if judge == "fire" else "A")
    more = [*PLAIN, *more]
    ended = run(*more, out="live", judge=judge)
    assert ended in {DONE, FAILURES}
    live = set(server.requests)
    server.reset()
    assert batch(run, *more, judge=judge) == ended
    assert set(server.requests) == live
    assert (tmp_path / "run/records.jsonl").read_bytes() == (tmp_path / "live/records.jsonl").read_bytes()
    assert facts(tmp_path / "run")[:2] == facts(tmp_path / "live")[:2]


def test_a_run_goes_from_live_to_batches_and_back(run: Run, server: BatchServer, tmp_path: Path) -> None:
    assert run(out="live") == DONE
    assert run("--budget-tokens", "5000") == BUDGET
    begun = len(server.log) - 2 * UNITS
    assert 0 < begun < 2 * UNITS
    server.reset()
    assert batch(run, "--budget-tokens", "1000000") == DONE
    assert len(server.keys) == len(set(server.keys)) == 2 * UNITS - begun
    assert run("--budget-tokens", "1000000") == DONE
    assert len(server.log) == 0
    assert (tmp_path / "run/records.jsonl").read_bytes() == (tmp_path / "live/records.jsonl").read_bytes()


def every(number: int, change: Change) -> Bend:
    """Change every so manieth line."""

    def bend(lines: list[Json]) -> list[Json | bytes]:
        changed: list[Json | bytes] = []
        for place, line in enumerate(lines):
            changed += change(line) if place % number == 0 else [line]
        return changed

    return bend


def openai_error(code: str, message: str = "no") -> Change:
    error = {"code": code, "message": message}
    return lambda line: [{"id": "x", "custom_id": line["custom_id"], "response": None, "error": error}]


def refused(status: int, message: str, **more: object) -> Change:
    body = {"error": {"message": message, **more}}
    return lambda line: [good_line(line["custom_id"], body, status)]


def result(**said: object) -> Change:
    return lambda line: [{"custom_id": line["custom_id"], "result": said}]


def errored(kind: str, message: str) -> Change:
    return result(type="errored", error={"type": "error", "error": {"type": kind, "message": message}})


OTHER: Json = {"errors": []}
FAULTS: dict[str, tuple[Change, str]] = {
    "missing": (lambda line: [], "missing"),
    "torn": (lambda line: [json.dumps(line).encode()[:-9]], "missing"),
    "no object": (lambda line: [b'["a"]'], "missing"),
    "no response": (lambda line: [line | {"response": None}], "bad_envelope"),
    "expired": (openai_error("batch_expired"), "timeout"),
    "no status": (lambda line: [line | {"response": {"body": {}}}], "bad_envelope"),
    "500": (refused(500, "oops"), "server_error"),
    "429": (refused(429, "Rate limit reached"), "server_error"),
    "too long": (refused(400, "maximum context length is 8192"), "too_long"),
    "filter": (refused(400, "no", code="content_filter"), "refused"),
    "no choices": (lambda line: [good_line(line["custom_id"], {"id": "x"})], "bad_envelope"),
    "null": (lambda line: [good_line(line["custom_id"], None)], "not_json"),
    "nul": (lambda line: [good_line(line["custom_id"], envelope("\0"))], "encoding"),
    "half a pair": (lambda line: [json.dumps(line).encode().replace(b'"mock"', b'"\\ud83d"')], "encoding"),
    "no text": (lambda line: [json.dumps(line).encode().replace(b'"mock"', b'"\xff"')], "encoding"),
    "two answers": (lambda line: [line, good_line(line["custom_id"], OTHER)], "ambiguous"),
    "nan": (lambda line: [json.dumps(line).encode().replace(b"100", b"NaN")], "missing"),
}
ANTHROPIC: dict[str, tuple[Change, str]] = {
    "missing": (lambda line: [], "missing"),
    "errored": (errored("api_error", "oops"), "server_error"),
    "overloaded": (errored("overloaded_error", "Overloaded"), "server_error"),
    "too long": (errored("invalid_request_error", "prompt is too long: 9 tokens"), "too_long"),
    "expired": (result(type="expired"), "timeout"),
    "odd": (result(type="banana"), "bad_envelope"),
    "no message": (result(type="succeeded", message=None), "not_json"),
}

TABLES = {"mock": FAULTS, "anthropic/mock": ANTHROPIC}
SENT = {"too_long": 1, "refused": 1, "encoding": 1, "bad_envelope": 2, "ambiguous": 2}  # others three times


def judge(server: BatchServer, folder: Path, model: str, **options: Any) -> list[Record]:
    """The records of a run by way of the API, which costs less than the command."""
    wire: Any = {"base_url": server.url, "model": model, "timeout": 60.0, **options}
    return list(adjudge.run("ea-prompt", folder / "set.jsonl", out=folder / "run", **wire).records)


def spread(table: Mapping[str, tuple[Change, str]], chosen: dict[str, str]) -> Bend:
    """Give every question a fault of its own, the same one each time."""

    def bend(lines: list[Json]) -> list[Json | bytes]:
        bent: list[Json | bytes] = []
        for line in lines:
            name = chosen.setdefault(line["custom_id"], [*table][len(chosen) % len(table)])
            bent += table[name][0](line)
        return bent

    return bend


@pytest.mark.parametrize("model", TABLES)
def test_a_fault_that_stays_is_a_failure_with_its_reason(
    server: BatchServer, tmp_path: Path, model: str
) -> None:
    table = TABLES[model]
    chosen: dict[str, str] = {}
    write_set(tmp_path / "set.jsonl", len(table) // 2)
    server.bend = spread(table, chosen)
    records = judge(server, tmp_path, model, engine="batch")
    found = [record.reason for record in records if isinstance(record, Failure)]
    assert found == [table[chosen[key]][1] for key in list(dict.fromkeys(server.keys))]
    assert len(found) == len(table) // 2 * 2
    for key, name in chosen.items():
        assert server.keys.count(key) == SENT.get(table[name][1], 3), name


@pytest.mark.parametrize("model", TABLES)
def test_a_fault_that_passes_is_asked_again_in_the_next_wave(
    server: BatchServer, tmp_path: Path, model: str
) -> None:
    table = {name: row for name, row in TABLES[model].items() if SENT.get(row[1]) != 1}
    size = -(-len(table) // 2)
    write_set(tmp_path / "set.jsonl", size)
    bad = spread(table, {})
    server.bend = lambda lines: bad(lines) if len(server.batches) == 1 else list(lines)
    records = judge(server, tmp_path, model, engine="batch")
    assert not any(isinstance(record, Failure) for record in records)
    assert server.sizes == [2 * size] * 3, "all fail once, then both questions are answered"
    shutil.rmtree(tmp_path / "run")
    assert records == judge(server, tmp_path, model), "as a live run would have it"


PASSING = ["503", "reset", "html", "429 soon", "error 200"]


@pytest.mark.parametrize(
    ("model", "places"),
    [
        ("mock", ["POST /v1/files", "GET /v1/batches/", "GET /v1/files"]),
        ("anthropic/mock", ["GET /v1/messages/batches/"]),
    ],
)
def test_what_is_asked_beside_the_questions_is_tried_again(
    server: BatchServer, tmp_path: Path, model: str, places: list[str]
) -> None:
    write_set(tmp_path / "set.jsonl", 1)
    server.trips = {place: list(PASSING) for place in places}
    assert len(judge(server, tmp_path, model, engine="batch")) == 2
    assert not any(server.trips.values()), "all were played"
    assert server.sizes == [2, 2]


@pytest.mark.parametrize("model", TABLES)
@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("401", ServerStopError),
        ("429 quota", ServerStopError),
        ("429 tomorrow", ServerStopError),
        ("400", ModelError),
        ("redirect", ModelError),
    ],
)
def test_a_batch_that_cannot_be_made_stops_the_run_and_is_made_later(
    server: BatchServer, tmp_path: Path, model: str, fault: str, error: type[Exception]
) -> None:
    write_set(tmp_path / "set.jsonl", 1)
    server.trips = {"POST /v1/": [] if model == "mock" else [fault], "POST /v1/batches": [fault]}
    with pytest.raises(error):
        judge(server, tmp_path, model, engine="batch")
    assert server.sizes == []
    server.trips = {}
    assert len(judge(server, tmp_path, model, engine="batch")) == 2
    assert server.sizes == [2, 2]


@pytest.mark.parametrize("model", TABLES)
def test_a_batch_that_may_have_been_taken_is_not_sent_blindly(
    server: BatchServer, tmp_path: Path, model: str
) -> None:
    write_set(tmp_path / "set.jsonl", 1)
    place = "GET /v1/batches" if model == "mock" else "GET /v1/messages/batches"
    server.lose, server.trips = 1, {place: ["405"]}
    with pytest.raises(ServerStopError, match=r"cannot tell whether batch 1 was taken.*status 405"):
        judge(server, tmp_path, model, engine="batch")
    assert server.sizes == [2]
    assert len(judge(server, tmp_path, model, engine="batch")) == 2
    assert server.sizes == [2, 2], "once the list can be had, it is found"


def test_a_server_without_batches_is_asked_whether_it_has_them(server: BatchServer, tmp_path: Path) -> None:
    write_set(tmp_path / "set.jsonl", 1)
    server.trips = {"POST /v1/files": ["404"]}
    with pytest.raises(ServerStopError, match="does this server take batches"):
        judge(server, tmp_path, "mock", engine="batch")


class CrashError(BaseException):
    """The process is gone."""


@pytest.mark.parametrize("model", TABLES)
@pytest.mark.parametrize("step", ["prepared", "submitted", "fetched", "done"])
def test_whatever_a_crash_leaves_undone_is_taken_up(
    server: BatchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, step: str
) -> None:
    write_set(tmp_path / "set.jsonl", 2)
    whole, write = Ledger._write, Ledger._write

    def crash(ledger: Ledger, row: dict[str, object]) -> None:
        if row.get("state") == step:
            raise CrashError
        write(ledger, row)

    monkeypatch.setattr(Ledger, "_write", crash)
    with pytest.raises(CrashError):
        judge(server, tmp_path, model, engine="batch")
    monkeypatch.setattr(Ledger, "_write", whole)
    records = judge(server, tmp_path, model, engine="batch")
    assert len(server.keys) == len(set(server.keys)) == 8, "nothing is sent twice"
    assert not any(isinstance(record, Failure) for record in records)


def test_a_batch_is_let_go_only_once_no_power_cut_can_take_its_answers(
    run: Run, server: BatchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[int] = []
    write = Ledger._write

    def count(ledger: Ledger, row: dict[str, object]) -> None:
        if row.get("state") == "done":  # what is not synced is in the log beside the store
            shutil.copy(tmp_path / "run/calls.sqlite", tmp_path / "left.sqlite")
            with closing(sqlite3.connect(tmp_path / "left.sqlite")) as left:
                kept.append(*left.execute("SELECT count(*) FROM calls").fetchone())
        write(ledger, row)

    monkeypatch.setattr(Ledger, "_write", count)
    assert batch(run) == DONE
    assert kept == [UNITS, 2 * UNITS]


def test_results_are_on_the_disk_before_they_have_their_name(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = watch_names(monkeypatch)
    assert batch(run, *PLAIN) == DONE
    assert all(is_there for _, is_there in named), named
    assert "1.results-0.jsonl" in {name for name, _ in named}


def test_a_result_may_come_twice_and_out_of_order_and_beside_those_of_others(
    run: Run, server: BatchServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(out="live") == DONE
    server.reset()
    strange = good_line("f" * 64, {})
    server.bend = lambda lines: [strange, *reversed(lines), *(line | {"id": "again"} for line in lines)]
    assert batch(run) == DONE
    assert "1 results of no question of ours" in capsys.readouterr().err
    assert (tmp_path / "run/records.jsonl").read_bytes() == (tmp_path / "live/records.jsonl").read_bytes()


def test_results_that_were_cut_are_fetched_again(run: Run, server: BatchServer, tmp_path: Path) -> None:
    server.cut_downloads = 2
    assert batch(run) == DONE
    assert len(server.sizes) == 2, "and not asked again"
    assert server.downloads == 4


def test_results_that_are_counted_and_not_to_be_found_are_not_paid_again(
    run: Run, server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.tell = {"output_file_id": None}
    assert batch(run) == STOPPED
    assert "wanted a file of 8 results, got nothing" in capsys.readouterr().err
    server.tell = {}
    assert batch(run) == DONE
    assert server.sizes == [UNITS] * 2


@pytest.mark.parametrize("model", ["mock", "anthropic/mock"])
def test_a_cancelled_batch_stops_the_run_and_keeps_what_it_brought(
    run: Run, server: BatchServer, tmp_path: Path, model: str
) -> None:
    canceled = result(type="canceled")
    gone: Bend = every(2, canceled if model != "mock" else lambda line: [])
    server.ending, server.bend = "cancelled", gone
    assert batch(run, model=model) == STOPPED
    assert server.sizes == [UNITS]
    server.ending, server.bend = "completed", list
    assert batch(run, model=model) == DONE
    assert sum(server.sizes) == 2 * UNITS + UNITS // 2


@pytest.mark.parametrize(
    ("why", "code"),
    [("invalid_json_line: line 3", ERROR), ("token_limit_exceeded: Enqueued token limit reached", STOPPED)],
)
def test_a_batch_that_is_refused_as_a_whole_stops_the_run_and_is_sent_anew(
    run: Run,
    server: BatchServer,
    why: str,
    code: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server.ending, server.why = "failed", why
    assert batch(run) == code
    assert why in capsys.readouterr().err
    server.ending = "completed"
    assert batch(run) == DONE
    assert server.sizes == [UNITS] * 3


@pytest.mark.parametrize(
    ("change", "code", "model"),
    [
        (refused(401, "no key"), STOPPED, "mock"),
        (refused(400, "no such parameter"), ERROR, "mock"),
        (errored("not_found_error", "model: mock"), STOPPED, "anthropic/mock"),
        (errored("permission_error", "not with this key"), STOPPED, "anthropic/mock"),
        (errored("invalid_request_error", "no such parameter"), ERROR, "anthropic/mock"),
    ],
    ids=["key", "parameter", "model", "permission", "parameter of anthropic"],
)
def test_results_that_no_question_would_better_stop_the_run(
    run: Run, server: BatchServer, change: Change, code: int, model: str
) -> None:
    server.bend = every(1, change)
    assert batch(run, model=model) == code
    server.bend = list
    assert batch(run, model=model) == DONE
    assert server.sizes == [UNITS] * 3


def test_results_at_another_server_are_not_fetched(
    run: Run, server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.tell = {"results_url": "https://other.example/results"}
    assert batch(run, model="anthropic/mock") == ERROR
    assert "the key is not sent there" in capsys.readouterr().err


def test_a_batch_that_is_not_there_is_not_sent_again(
    run: Run, server: BatchServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server.polls = 10**9
    stop_at(monkeypatch, 2)
    assert batch(run) == 130
    made = server.batches.popitem()
    assert batch(run) == STOPPED
    assert "batch openai_0 is not there" in capsys.readouterr().err
    assert server.sizes == []
    assert run() == USAGE, "nor are its calls paid again"
    assert "openai_0" in capsys.readouterr().err
    server.batches = dict([made])
    server.polls = 1
    monkeypatch.setattr(desk_module, "pause_before", lambda look: 0.0)
    assert batch(run) == DONE
    assert server.sizes == [UNITS] * 2


def stop_at(monkeypatch: pytest.MonkeyPatch, look: int) -> None:
    """Ctrl-C at a look at the batches."""

    def pause(now: int) -> float:
        if now == look:
            raise KeyboardInterrupt
        return 0.0

    monkeypatch.setattr(desk_module, "pause_before", pause)


@pytest.mark.parametrize("model", ["mock", "anthropic/mock"])
def test_a_batch_whose_id_never_came_back_is_found(
    run: Run, server: BatchServer, tmp_path: Path, model: str
) -> None:
    server.lose = 2
    assert batch(run, model=model) == DONE
    assert server.sizes == [UNITS] * 2
    assert {row.guessed for row in Ledger(tmp_path / "run").batches.values()} == {True}


@pytest.mark.parametrize("model", ["mock", "anthropic/mock"])
def test_a_batch_that_is_slow_to_be_listed_is_not_sent_twice(
    run: Run, server: BatchServer, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    def pause(_: int) -> float:
        server.hides = False
        return 0.0

    server.lose, server.hides = 1, True
    monkeypatch.setattr(desk_module, "pause_before", pause)
    assert batch(run, model=model) == DONE
    assert server.sizes == [UNITS] * 2


def test_a_batch_of_another_run_is_not_taken_for_ours(run: Run, server: BatchServer, tmp_path: Path) -> None:
    assert batch(run, out="other", judge="gemba-da", model="anthropic/mock") == DONE
    made = dict(server.batches)
    server.drop = 1
    assert batch(run, model="anthropic/mock") == DONE
    assert len(server.batches) == len(made) + 2
    found = next(iter(Ledger(tmp_path / "run").batches.values()))
    assert found.wrong == [*reversed(made)]
    assert reasons(tmp_path / "run") == []


def test_batches_are_cut_to_what_the_provider_takes(
    run: Run, server: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_module.FileBatches, "limits", Limits(3, 10**6))
    assert batch(run) == DONE
    assert server.sizes == [3, 3, 2] * 2
    server.reset()
    monkeypatch.setattr(openai_module.FileBatches, "limits", Limits(100, 9000))
    assert batch(run, out="second") == DONE
    assert len(server.sizes) > 4
    assert all(len(content) <= 9000 for content in server.files.values())


@pytest.mark.parametrize("model", ["mock", "anthropic/mock"])
@pytest.mark.parametrize("moment", ["before its id came back", "while it runs"])
def test_a_killed_client_picks_its_batch_up_again(
    server: BatchServer, tmp_path: Path, model: str, moment: str
) -> None:
    test_set = write_set(tmp_path / "set.jsonl", SIZE)
    wire = ["--base-url", server.url, "--model", model, "--timeout", "60"]
    arguments = ["run", "ea-prompt", str(test_set), *wire]
    assert call(*arguments, "--out", str(tmp_path / "live")) == DONE
    server.reset()
    server.polls, server.holds = 10**9, moment != "while it runs"
    resumed = [*arguments, "--out", str(tmp_path / "run"), "--engine", "batch"]
    process = FORKS.Process(target=main, args=(resumed,))
    process.start()
    assert patient(120, lambda: bool(server.batches) and (server.holds or server.looks > 0))
    process.kill()
    process.join()
    server.polls, server.holds = 1, False
    assert call(*resumed) == DONE
    assert server.sizes == [UNITS] * 2, "what was sent is not sent again"
    assert len(server.keys) == len(set(server.keys))
    assert (tmp_path / "run/records.jsonl").read_bytes() == (tmp_path / "live/records.jsonl").read_bytes()


def test_calls_in_batches_cost_their_share_and_keep_to_the_budget(
    run: Run, server: BatchServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "prices.toml").write_text(PRICES)
    prices = ["--prices", str(tmp_path / "prices.toml")]
    assert run(*prices, out="live") == DONE
    live = read_run_info(tmp_path / "live").price
    assert live is not None
    server.reset()
    assert batch(run, *prices) == DONE
    assert read_run_info(tmp_path / "run").price == pytest.approx(live / 2)
    server.reset()
    assert batch(run, *prices, "--budget", "0.01", out="small") == BUDGET
    assert server.sizes == []
    assert "the budget of 0.01 USD is reached" in capsys.readouterr().err
    assert batch(run, *prices, "--budget", "0.625", out="small") == BUDGET
    assert server.sizes == [2, 2], "a wave of which hardly anything fits is not begun"
    paid = read_run_info(tmp_path / "small").price
    assert paid is not None
    assert paid <= 0.625
    assert batch(run, *prices, "--budget", "50", out="small") == DONE
    assert len(server.keys) == len(set(server.keys)) == 2 * UNITS
    assert read_run_info(tmp_path / "small").price == pytest.approx(live / 2)


def test_a_forecast_has_the_prices_of_batches_and_no_time(tmp_path: Path) -> None:
    test_set = write_set(tmp_path / "set.jsonl", 2)
    live = adjudge.forecast("ea-prompt", test_set, model="openai/gpt-5.4-mini")
    batches = adjudge.forecast("ea-prompt", test_set, model="openai/gpt-5.4-mini", engine="batch")
    assert live.price is not None
    assert batches.price == tuple(part / 2 for part in live.price)
    assert batches.calls == live.calls
    assert batches.seconds is None


@pytest.mark.parametrize(
    ("judge", "model", "said"),
    [
        ("rules", [], "is a metric and asks no model"),
        ("gemba-da", [], "builtin/rules is not on a server"),
        ("gemba-da", ["--model", "gemini/gemini-3"], "gemini takes no batches"),
    ],
)
def test_who_takes_no_batches_is_refused(
    tmp_path: Path,
    judge: str,
    model: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    test_set = write_set(tmp_path / "set.jsonl", 1)
    batches = ["--out", str(tmp_path / "run"), "--engine", "batch"]
    assert call("run", judge, str(test_set), *batches, *model) == USAGE
    assert said in capsys.readouterr().err


def test_the_key_is_in_no_file(run: Run, server: BatchServer, tmp_path: Path) -> None:
    key = KEY.encode()
    server.bend = lambda lines: [json.dumps(line).encode().replace(b"mock", b"mock " + key) for line in lines]
    assert batch(run, "--served-as", "any") == DONE
    assert all(h["Authorization"] == f"Bearer {KEY}" for h in server.headers)
    connection = sqlite3.connect(tmp_path / "run/calls.sqlite")
    assert connection.execute("SELECT count(*) FROM calls").fetchone() == (2 * UNITS,)
    connection.close()
    for path in (tmp_path / "run").rglob("*"):
        assert path.is_dir() or key not in path.read_bytes(), path
