"""The engine that has Ray judge, on a stand-in for Ray: equal to a local run, whoever dies on the way."""

import asyncio
import importlib
import pickle
import resource
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.scores import Run
from adjudge.errors import AdjudgeError, BudgetError, DataError, ServerStopError, StoreError, UsageError
from adjudge.judges import JUDGES
from adjudge.llm.money import Budget
from adjudge.runs import ray as engine
from adjudge.runs import resume, session
from adjudge.runs.engines import run
from adjudge.runs.ray import RAISED, Recipe, Share, Stopped, recipe_of, shares_of
from adjudge.runs.resume import RunDirectory
from adjudge.runs.units import load_annotator
from adjudge.store import call_file
from adjudge.store.call_file import run_name
from adjudge.store.calls import CallReader, CallStore
from adjudge.store.run_directory import read_answer_keys, read_run_info
from tests.faults.server import Server, running
from tests.runs.conftest import Lengths, Rater, Scripted, platform_set, small_set
from tests.runs.fake_ray import FakeRay

pytestmark = pytest.mark.usefixtures("ray")

IMPORT_RAY = engine.import_ray  # before any test puts another in its place
SET = small_set(20, lps=["en-de", "en-zh"])
CALLS = len(SET) * 2


def bodies(out: Path) -> bytes:
    return (out / "records.jsonl").read_bytes()


def facts(done: Run) -> tuple[object, ...]:
    return done.info.calls, done.info.counts, done.info.failures, done.info.price


def to(server: Server) -> dict[str, Any]:
    return {"model": "mock", "base_url": server.url}


def judged(server: Server, out: Path, size: int = 40, engine: Any = "ray", **options: Any) -> Run:
    """A judge asks a server, once for each translation, on Ray with four calls at a time."""
    if engine == "ray":
        options = {"engine": engine, "concurrency": 4, **options}
    return run("gemba-mqm", platform_set(size), out=out, **to(server), **options)


def test_a_run_on_ray_is_a_local_run(tmp_path: Path, model: Scripted) -> None:
    model.texts["Satz 3 von A in en-de"] = "what?"
    whole = run(Rater(), SET, out=tmp_path / "local", context=1)
    asked = len(model.requests)
    found = run(Rater(), SET, out=tmp_path / "ray", context=1, engine="ray")
    assert len(model.requests) == 2 * asked
    assert bodies(tmp_path / "ray") == bodies(tmp_path / "local")
    assert facts(found) == facts(whole)
    assert found.info.signature == whole.info.signature
    assert '"ray"' not in (tmp_path / "ray" / "run.json").read_text(), "no record depends on the engine"
    names = [{path.name for path in (tmp_path / name).iterdir()} for name in ("ray", "local")]
    assert names[0] == names[1] - {".records.jsonl.marks"}, "what is merged has no marks, and needs none"
    run(Rater(), SET, out=tmp_path / "ray", context=1, engine="ray")
    run(Rater(), SET, out=tmp_path / "ray", context=1)
    assert len(model.requests) == 2 * asked, "neither engine asks again what the other has asked"
    assert bodies(tmp_path / "ray") == bodies(tmp_path / "local")


@pytest.mark.parametrize("judge", ["fire", "rate"])
def test_pairs_and_sources_are_judged_on_ray_too(tmp_path: Path, judge: str) -> None:
    for name in ("local", "ray"):
        run(judge, platform_set(36), out=tmp_path / name, engine=name)
    assert bodies(tmp_path / "ray") == bodies(tmp_path / "local")


def test_a_worker_that_dies_has_a_successor_that_pays_nothing_again(
    tmp_path: Path, server: Server, ray: FakeRay
) -> None:
    deaths: list[Any] = []

    def dies(thing: Any, method: str) -> bool:
        is_next = method == "judge" and len(deaths) < 2
        deaths.extend([thing] * is_next)
        return is_next

    ray.dies = dies
    judged(server, tmp_path / "local", engine="local")
    questions = dict(server.requests)
    server.fails(None)
    server.delay = 0.004
    found = judged(server, tmp_path / "ray")
    server.delay = 0.0
    assert deaths
    assert bodies(tmp_path / "ray") == bodies(tmp_path / "local")
    assert set(server.requests) == set(questions)
    assert found.info.calls["asked"] == len(questions)
    assert sum(server.requests.values()) <= len(questions) + 8 * len(deaths), "but what was under way"


def test_a_shard_over_which_every_worker_dies_stops_the_run(
    tmp_path: Path, model: Scripted, ray: FakeRay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_GRACE", 0.01)
    ray.dies = lambda thing, method: method == "judge"
    model.reply = hanging  # type: ignore[method-assign]
    with pytest.raises(AdjudgeError, match="3 workers died over it, of memory perhaps; what was answered is"):
        run(Rater(), SET, out=tmp_path / "ray", engine="ray")


async def hanging(request: object) -> Any:
    await asyncio.sleep(60)


def test_what_stops_one_worker_stops_the_run_and_it_goes_on_from_there(
    tmp_path: Path, server: Server
) -> None:
    server.fails(*[None] * 30, "429 quota")
    with pytest.raises(ServerStopError, match="You exceeded"):
        judged(server, tmp_path / "ray")
    info = read_run_info(tmp_path / "ray")
    assert sum(info.counts.values()) == 80
    assert info.counts["pending"] > 0
    assert info.counts["judged"] >= 20, "what shards have judged is counted, though none is finished"
    answered = set(list(server.requests)[:26])
    server.fails(None)
    judged(server, tmp_path / "ray")
    assert not answered & set(server.requests), "what was answered is not asked again"
    server.fails(None)
    judged(server, tmp_path / "local", engine="local")
    assert bodies(tmp_path / "ray") == bodies(tmp_path / "local")


@given(
    st.integers(1, 100).flatmap(lambda n: st.tuples(st.just(n), st.integers(n, 5000))),
    st.none() | st.decimals(0, 1000, places=4),
    st.none() | st.integers(0, 10**7),
)
def test_shares_are_equal_and_their_sum_is_never_more_than_the_whole(
    of: tuple[int, int], amount: Decimal | None, tokens: int | None
) -> None:
    workers, concurrency = of
    shares = shares_of(concurrency, Budget(amount=amount, tokens=tokens), workers)
    assert sum(share.calls for share in shares) == concurrency
    assert min(share.calls for share in shares) == concurrency // workers >= 1
    assert max(share.calls for share in shares) - concurrency // workers <= 1
    assert sum(share.part for share in shares) == pytest.approx(1)
    assert len({share.budget for share in shares}) == 1
    each = shares[0].budget
    assert each.amount is None if amount is None else amount - workers * (each.amount or 0) < Decimal("1e-6")
    assert each.amount is None or workers * each.amount <= (amount or 0)
    assert each.tokens is None if tokens is None else 0 <= tokens - workers * (each.tokens or 0) < workers


def test_a_worker_keeps_within_its_share_of_calls_and_of_what_headers_allow(
    tmp_path: Path, server: Server, ray: FakeRay
) -> None:
    judged(server, tmp_path, concurrency=5)
    limits = [(actor._thing, limit) for actor in ray.actors for limit in actor._thing._limits]
    assert [(limit.cap, worker._share.part) for worker, limit in limits] == [(3, 0.6), (2, 0.4)]
    assert {limit.limiter.part for _, limit in limits} <= {0.6, 0.4}, "here one limiter is both workers'"
    assert all(worker._job.options.concurrency == limit.cap for worker, limit in limits)


def test_there_are_no_more_workers_than_calls_at_a_time(tmp_path: Path, server: Server, ray: FakeRay) -> None:
    ray.cpus = 8
    judged(server, tmp_path, 300, concurrency=3)
    assert [actor._thing._share.calls for actor in ray.actors] == [1, 1, 1]


SPENT = 120  # tokens of a call, which may cost some 6,000


def test_a_budget_holds_for_all_workers_together_and_over_sessions(tmp_path: Path, server: Server) -> None:
    local = judged(server, tmp_path / "local", 200, engine="local")
    server.fails(None)
    paid = 0
    for budget in (20_000, 40_000):
        with pytest.raises(BudgetError) as stopped:
            judged(server, tmp_path / "ray", 200, budget_tokens=budget)
        asked = sum(server.requests.values())
        assert paid < asked * SPENT <= budget
        paid = asked * SPENT
        assert f"the budget is reached: {paid:,} of {budget:,} tokens are paid, and no worker's" in str(
            stopped.value
        )
        info = read_run_info(tmp_path / "ray")
        assert info.calls["asked"] == info.calls["attempts"] == asked
        assert asked - 4 <= info.counts["judged"] <= asked, "but for answers that came while it stopped"
        assert sum(info.counts.values()) == 400
        assert info.tokens["prompt"] + info.tokens["completion"] == paid
    found = judged(server, tmp_path / "ray", 200, engine="local", budget_tokens=100_000)
    assert max(server.requests.values()) == 1, "whichever engine goes on"
    assert (found.info.tokens, found.info.calls["asked"]) == (local.info.tokens, local.info.calls["asked"])
    assert bodies(tmp_path / "ray") == bodies(tmp_path / "local")


def test_who_has_something_left_goes_on_where_another_has_used_its_share_up(
    tmp_path: Path, server: Server, ray: FakeRay, monkeypatch: pytest.MonkeyPatch
) -> None:
    def uneven(*_: object) -> list[Share]:
        return [Share(2, 0.5, Budget(tokens=12_000)), Share(2, 0.5, Budget(tokens=60_000))]

    monkeypatch.setattr(engine, "shares_of", uneven)
    server.delay = 0.002
    found = judged(server, tmp_path, 100, budget_tokens=72_000)
    assert found.info.counts == {"judged": 200, "failed": 0, "pending": 0}
    assert found.info.calls["asked"] == len(server.requests) == 200
    poor, rich = (actor._thing._meter.paid[1] for actor in ray.actors)
    assert 0 < poor <= 12_000 < rich, "else it shows nothing"
    assert poor + rich == 200 * SPENT


def test_a_successor_that_finds_no_room_keeps_nobody_waiting(
    tmp_path: Path, server: Server, ray: FakeRay, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def begins(worker: engine.Worker) -> Stopped | None:
        if len(ray.actors) > 2:
            await asyncio.sleep(600)
        return await begin(worker)

    begin = engine.Worker.begin
    monkeypatch.setattr(engine.Worker, "begin", begins)
    monkeypatch.setattr(engine, "_GRACE", 0.1)
    ray.dies = lambda thing, method: method == "judge" and thing is ray.actors[0]._thing
    server.delay = 0.004
    found = judged(server, tmp_path, 100)
    assert len(ray.actors) == 3
    assert found.info.counts["judged"] == 200


@pytest.mark.parametrize("is_known", [True, False])
def test_a_successor_has_what_the_dead_has_left_of_its_share(
    tmp_path: Path, server: Server, ray: FakeRay, monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    async def dying() -> None:
        while ray.actors[0]._thing._meter.paid[1] < 10 * SPENT:  # noqa: ASYNC110 (a meter tells nobody)
            await asyncio.sleep(0)
        ray.actors[0].kill()

    killing: list[asyncio.Task[None]] = []

    def watches(thing: Any, method: str) -> bool:
        if method == "judge" and thing is ray.actors[0]._thing and not killing:
            killing.append(asyncio.create_task(dying()))
        return False

    def unknown(self: CallStore) -> None:
        if len(ray.actors) == 2 and ray.actors[0].is_dead:
            raise StoreError("a disk is away")
        counted(self)

    counted = CallStore.count_lost
    if not is_known:
        monkeypatch.setattr(CallStore, "count_lost", unknown)
    ray.dies = watches
    server.delay = 0.004
    found = judged(server, tmp_path, 200, budget_tokens=160_000)
    dead, _, successor = (actor._thing for actor in ray.actors)
    left = successor._share.budget.tokens
    assert dead._meter.paid[1] >= 10 * SPENT, "else it shows nothing"
    assert left <= 80_000 - dead._meter.paid[1] if is_known else left == 0
    assert not is_known or left > 80_000 - 10 * SPENT - 4 * 9_000, "but for calls that were under way"
    assert found.info.counts["judged"] == 400
    assert sum(server.requests.values()) * SPENT <= 160_000


def test_the_node_of_each_worker_may_have_its_own_server(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """127.0.0.1 is another machine on each node; here it is another port."""
    local = run("gemba-mqm", platform_set(40), out=tmp_path / "local", **to(server))
    server.fails(None)
    with running() as other:
        nodes = iter([server, other])

        def on_a_node(recipe: Recipe, share: Share) -> engine.Worker:
            options = replace(recipe.options, base_url=next(nodes).url)
            return worker(replace(recipe, options=options), share)

        worker = engine.Worker
        monkeypatch.setattr(engine, "Worker", on_a_node)
        server.delay = other.delay = 0.002
        found = run("gemba-mqm", platform_set(40), out=tmp_path / "ray", engine="ray", **to(server))
        assert 0 < len(other.requests) < 80
        assert len(server.requests) + len(other.requests) == 80
        assert not server.requests.keys() & other.requests.keys()
    assert bodies(tmp_path / "ray") == bodies(tmp_path / "local")
    assert found.info.signature == local.info.signature
    assert found.info.settings["base_url"] == server.url


def test_what_cannot_be_run_on_ray_is_refused(tmp_path: Path, model: Scripted) -> None:
    for annotator, options, said in [
        (Lengths(), {}, "--engine ray: lengths is a metric"),
        ("fire", {"pairs": "adaptive"}, "--engine ray: --pairs adaptive"),
        (Rater(), {"workers": 3}, "--workers 3: the cluster has 2 CPUs"),
    ]:
        with pytest.raises(UsageError, match=said):
            run(annotator, SET, out=tmp_path / "ray", engine="ray", **options)  # type: ignore[arg-type]
    assert model.requests == []


def stopped_before_it_is_joined(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave a run whose shards are all judged."""
    join = engine._join
    monkeypatch.setattr(engine, "_join", stopping)
    with pytest.raises(KeyboardInterrupt):
        run(Rater(), SET, out=out, engine="ray")
    monkeypatch.setattr(engine, "_join", join)
    assert len(list((out / "shards").iterdir())) == SHARDS


def stopping(*_: object) -> Any:
    raise KeyboardInterrupt


SHARDS = 4


def test_a_local_run_takes_all_in_that_ray_has_left(
    tmp_path: Path, model: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(Rater(), SET, out=tmp_path / "whole")
    asked = len(model.requests)
    stopped_before_it_is_joined(tmp_path / "ray", monkeypatch)
    again = run(Rater(), SET, out=tmp_path / "ray")
    assert len(model.requests) == 2 * asked, "what shards asked was not asked again"
    assert bodies(tmp_path / "ray") == bodies(tmp_path / "whole")
    assert again.info.calls == whole.info.calls
    assert not (tmp_path / "ray" / "shards").exists()


def test_ray_asks_nothing_that_a_local_run_knows_and_mends_what_is_damaged(
    tmp_path: Path, model: Scripted
) -> None:
    run(Rater(), SET, out=tmp_path)
    asked = len(model.requests)
    found = run(Rater(), SET, out=tmp_path, engine="ray")
    assert (len(model.requests), found.info.calls["asked"]) == (asked, asked)
    with closing(sqlite3.connect(tmp_path / "calls.sqlite")) as store:
        store.execute("UPDATE calls SET checksum = checksum + 1 WHERE id = 5")
        store.commit()
    for engine_name in ("ray", "local"):
        run(Rater(), SET, out=tmp_path, engine=engine_name)
        assert len(model.requests) == asked + 1, "the store is whole again"


@pytest.mark.parametrize("step", ["joined_lines", "take_calls", "_summed", "remove_shards", "rmtree"])
@pytest.mark.parametrize("then", ["ray", "local"])
def test_shards_whose_joining_was_interrupted_are_joined_again(
    tmp_path: Path, model: Scripted, monkeypatch: pytest.MonkeyPatch, step: str, then: Any
) -> None:
    whole = run(Rater(), SET, out=tmp_path / "whole")
    place = {"rmtree": shutil, "take_calls": resume}.get(step, engine)
    real, calls = getattr(place, step), 0

    def breaking(*arguments: object, **named: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 2 or step not in {"take_calls", "rmtree"}:
            raise KeyboardInterrupt
        return real(*arguments, **named)

    monkeypatch.setattr(place, step, breaking)
    with pytest.raises(KeyboardInterrupt):
        run(Rater(), SET, out=tmp_path / "ray", engine="ray")
    monkeypatch.setattr(place, step, real)
    found = run(Rater(), SET, out=tmp_path / "ray", engine=then)
    assert len(model.requests) == 2 * CALLS
    assert facts(found) == facts(whole)
    assert bodies(tmp_path / "ray") == bodies(tmp_path / "whole")
    assert {path.name for path in (tmp_path / "ray").iterdir()} <= {
        path.name for path in (tmp_path / "whole").iterdir()
    }
    with closing(sqlite3.connect(tmp_path / "ray" / "calls.sqlite")) as store:
        assert store.execute("SELECT count(*) FROM attempts").fetchone()[0] == found.info.calls["attempts"]


def test_conversations_are_found_whatever_dictionaries_packed_them(
    tmp_path: Path, model: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("_SAMPLES", 40), ("_BATCH", 8), ("_DICTIONARY_BYTES", 512)):
        monkeypatch.setattr(call_file, name, size)
    info = run(Rater(), small_set(60), out=tmp_path, engine="ray").info
    with closing(CallReader(tmp_path / "calls.sqlite")) as reader:
        units = reader.units(run_name(info.secret))
        talks = [reader.conversation(run_name(info.secret), unit) for unit in units]
    assert len(units) == 120
    assert all(talk[0].reply is not None and talk[0].request is not None for talk in talks)
    with closing(sqlite3.connect(tmp_path / "calls.sqlite")) as store:
        assert store.execute("SELECT count(DISTINCT codec) FROM calls").fetchone()[0] > 2, (
            "else it shows nothing"
        )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"seed": 7}, r"holds another run: seed was 0, now 7\. Choose another --out"),
        ({"context": 1}, "context was 0, now 1"),
        ({"test_set": small_set(4)}, "test set was"),
        ({"judge": "gemba-da"}, r"annotator was rater, now gemba-da"),
    ],
)
def test_a_directory_with_shards_takes_no_other_run(
    options: dict[str, Any], said: str, tmp_path: Path, model: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_before_it_is_joined(tmp_path, monkeypatch)
    for then in ("ray", "local"):
        wanted = {"judge": Rater(), "test_set": SET, "engine": then, **options}
        with pytest.raises(UsageError, match=said):
            run(wanted.pop("judge"), wanted.pop("test_set"), out=tmp_path, **wanted)
    assert len(model.requests) == CALLS
    assert len(list((tmp_path / "shards").iterdir())) == SHARDS


def test_one_at_a_time_works_on_a_directory(
    tmp_path: Path, model: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_before_it_is_joined(tmp_path, monkeypatch)
    monkeypatch.setattr(engine, "_PATIENCE", 0.01)
    for folder, then in [
        (tmp_path, "ray"),
        (tmp_path, "local"),
        (tmp_path / "shards" / "2-of-4", "ray"),
        (tmp_path / "shards" / "2-of-4", "local"),
    ]:
        with (
            closing(RunDirectory(folder)),
            pytest.raises(StoreError, match="another process is working on it"),
        ):
            run(Rater(), SET, out=tmp_path, engine=then)  # type: ignore[arg-type]
    run(Rater(), SET, out=tmp_path, engine="ray")


def test_an_answer_that_a_shard_has_lost_is_not_paid_again(
    tmp_path: Path, model: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_before_it_is_joined(tmp_path, monkeypatch)
    store = tmp_path / "shards" / "1-of-4" / "calls.sqlite"
    kept = store.read_bytes()
    store.unlink()
    with pytest.raises(UsageError, match="does not hold"):
        run(Rater(), SET, out=tmp_path, engine="ray")
    store.write_bytes(kept)
    found = run(Rater(), SET, out=tmp_path, engine="ray")
    assert found.info.calls["asked"] == len({*read_answer_keys(tmp_path)}) == len(model.requests) == CALLS
    (tmp_path / "calls.sqlite").unlink()
    with pytest.raises(UsageError, match="does not hold"):
        run(Rater(), SET, out=tmp_path, engine="ray")


def test_there_may_be_more_shards_than_files_may_be_open(
    tmp_path: Path, model: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "shards_for", lambda units, workers: 40)
    join = engine._join

    def narrow(*arguments: Any) -> Any:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (len(list(Path("/proc/self/fd").iterdir())) + 20, hard))
        try:
            return join(*arguments)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    monkeypatch.setattr(engine, "_join", narrow)
    assert run(Rater(), small_set(30), out=tmp_path, engine="ray").info.counts["judged"] == 60


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda lines: [*lines, lines[0]], "not this shard's"),
        (lambda lines: [*lines[2:], *lines[:2]], "not this shard's"),
        (lambda lines: [*lines[:-1], lines[-1][:20]], "not a record"),
    ],
    ids=["foreign", "swapped", "cut"],
)
def test_records_that_were_tampered_with_are_not_joined(
    tmp_path: Path,
    model: Scripted,
    ray: FakeRay,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[list[bytes]], list[bytes]],
    said: str,
) -> None:
    stopped_before_it_is_joined(tmp_path, monkeypatch)
    files = sorted(tmp_path.glob("shards/*/records.jsonl"))
    assert b"".join(engine.joined_lines(SET, files)).count(b"\n") == CALLS
    files[0].write_bytes(b"".join(spoil(files[0].read_bytes().splitlines(keepends=True))))
    with pytest.raises(DataError, match=said):
        list(engine.joined_lines(SET, files))


def test_without_ray_it_is_said_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(UsageError, match=r"not installed: pip install 'adjudge\[ray\]'"):
        IMPORT_RAY()


def test_a_cluster_is_started_and_ended_here_or_the_one_that_is_named_is_used(
    tmp_path: Path, model: Scripted, ray: FakeRay, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray.has_begun = False
    monkeypatch.setenv("RAY_ADDRESS", "nowhere:6379")
    with pytest.raises(UsageError, match="no Ray cluster answers at RAY_ADDRESS=nowhere:6379: nobody there"):
        run(Rater(), SET, out=tmp_path / "a", engine="ray")
    monkeypatch.setenv("RAY_ADDRESS", "head:6379")
    run(Rater(), SET, out=tmp_path / "a", engine="ray")
    monkeypatch.delenv("RAY_ADDRESS")
    run(Rater(), SET, out=tmp_path / "b", engine="ray")
    assert [options["address"] for options in ray.inits] == ["nowhere:6379", "head:6379", "local"]
    assert not ray.has_begun


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda recipe: replace(recipe, options=replace(recipe.options, seed=5)),
            "set-up differs from that of the driver: seed was 0, now 5",
        ),
        (
            lambda recipe: replace(recipe, out=recipe.out / "nowhere"),
            "--out must be on a file system that all nodes see",
        ),
    ],
    ids=["another seed", "another disk"],
)
@pytest.mark.usefixtures("model")
def test_a_worker_that_would_judge_otherwise_or_sees_another_disk_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Recipe], Recipe], said: str
) -> None:
    monkeypatch.setattr(engine, "recipe_of", lambda *arguments: change(recipe_of(*arguments)))
    with pytest.raises(UsageError, match=said):
        run(Rater(), SET, out=tmp_path / "ray", engine="ray")


def test_every_judge_can_be_sent_to_a_worker() -> None:
    judges = [load_annotator(name) for name in JUDGES]
    assert [judge for judge in judges if pickle.loads(pickle.dumps(judge)) != judge] == []  # noqa: S301 (ours)


def test_errors_come_back_as_what_they_were() -> None:
    for error in RAISED:
        assert type(Stopped.of(error("why")).error()) is error
    assert str(Stopped.of(UsageError("why")).error()) == "why"
    assert type(Stopped.of(ValueError("why")).error()) is AdjudgeError


@pytest.mark.parametrize(
    ("units", "workers", "shards"), [(1, 8, 1), (40, 2, 2), (640, 8, 16), (10_000, 2, 20), (10**6, 64, 1954)]
)
def test_a_shard_has_some_five_hundred_units_or_every_worker_two(
    units: int, workers: int, shards: int
) -> None:
    assert engine.shards_for(units, workers) == shards
