"""`--engine ray`: the shards of a run are judged by the workers of a Ray cluster, or of this machine.

Ray starts processes and carries messages. A `Worker` is made of a `Recipe` in a process of its own, is fed
with numbers of shards, and runs the engine of a local run on blocks of units, never one task a call. It keeps
within its `Share` of calls at a time, of rate limits and of the budget, which is fixed when the run starts.
The `Fleet` is the driver's side: it feeds workers until all shards are judged, whichever workers die. Ray is
imported here and nowhere else.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import signal
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field, replace
from decimal import ROUND_DOWN, Decimal
from pathlib import Path
from typing import Any, Final

import orjson

from adjudge.core.ask import Usage
from adjudge.core.frozen import frozen
from adjudge.core.scores import RunInfo, failed_fields
from adjudge.core.segment import TestSet
from adjudge.errors import (
    AdjudgeError,
    BudgetError,
    DataError,
    ModelError,
    ServerAwayError,
    ServerStopError,
    StoreError,
    UniformFailureError,
    UsageError,
)
from adjudge.llm.batch_providers import refuse_open_batches
from adjudge.llm.limits import Load, join, load_of
from adjudge.llm.model_choice import chosen_outside
from adjudge.llm.money import Budget, Meter, render_price
from adjudge.llm.providers import Endpoint
from adjudge.llm.remote import RemoteModel
from adjudge.runs.job import RESOLVED, Job, RunSettings, open_again, prepare
from adjudge.runs.resume import RunDirectory, differences, remove_shards, shards_in, take_in
from adjudge.runs.run import execute as run_execute
from adjudge.runs.run import settle_lost
from adjudge.runs.session import Outcome, Progress
from adjudge.runs.units import Annotator, Plan, is_metric, shard_of, split
from adjudge.store.call_file import STORE, run_name
from adjudge.store.calls import CallStore, CallTotals, Spent
from adjudge.store.files import write_bytes
from adjudge.store.json_lines import read_test_set
from adjudge.store.run_directory import INFO, RECORDS, SHARDS, TEST_SET, read_run_info

_PATIENCE: Final = 30.0  # seconds in which whoever held a shard before lets it go
_LOOK: Final = 0.2
_STEP: Final = Decimal("1e-9")  # of an amount, so that sums come out even
RAISED: Final = (
    *(UsageError, DataError, ModelError, BudgetError, StoreError),
    *(ServerStopError, ServerAwayError, UniformFailureError),
)
"""What stops a run, and is told apart by who started it."""


@frozen
class Recipe:
    """What a worker makes its job of. No key is in it: that must be where the worker is."""

    annotator: Annotator
    options: RunSettings
    info: RunInfo  # of the whole run, as the driver opened it
    out: Path  # directory of the whole run
    folder: Path
    shards: int  # into how many the run is split


@dataclass(frozen=True)
class Share:
    """What a worker may do of what all may do together; when it dies, its successor takes the rest."""

    calls: int  # at a time with each server
    part: float  # of what a server's headers allow
    budget: Budget  # that it may pay


def shares_of(concurrency: int, left: Budget, workers: int) -> list[Share]:
    """Divide calls at a time and what is left of a budget, so that no sum exceeds the whole.

    `concurrency`: calls at a time; at least one for each worker. `workers`: so many share.
    """
    amount = None if left.amount is None else (left.amount / workers).quantize(_STEP, ROUND_DOWN)
    budget = Budget(amount=amount, tokens=None if left.tokens is None else left.tokens // workers)
    each, rest = divmod(concurrency, workers)
    calls = [each + (place < rest) for place in range(workers)]
    return [Share(of_them, of_them / concurrency, budget) for of_them in calls]


Paid = tuple[Decimal, int]
"""An amount, and tokens."""


def less(budget: Budget, paid: Paid) -> Budget:
    return Budget(
        amount=None if budget.amount is None else max(budget.amount - paid[0], Decimal()),
        tokens=None if budget.tokens is None else max(budget.tokens - paid[1], 0),
    )


@dataclass(frozen=True)
class Stopped:
    """Why a worker stopped; exceptions themselves would lose their arguments on the way."""

    kind: str  # name of the exception
    words: str

    @classmethod
    def of(cls, error: BaseException) -> Stopped:
        return cls(type(error).__name__, str(error) or type(error).__name__)

    def error(self) -> AdjudgeError:
        """The exception again; one that no caller tells from others is a plain one."""
        kind = next((kind for kind in RAISED if kind.__name__ == self.kind), AdjudgeError)
        return kind(self.words)


def recipe_of(job: Job, info: RunInfo, shards: int) -> Recipe:
    """The recipe of a job that is split into so many shards."""
    names = list(job.options.model)
    if all("=" in name.partition("/")[0] for name in names):  # none is for every role: say who that is here
        names += filter(None, [chosen_outside()])
    options = job.options.without("engine", "workers", "progress", "dry_run", *RESOLVED)
    return Recipe(
        annotator=job.annotator,
        options=replace(options, model=names, out=job.out.absolute(), origin=job.origin),
        info=info,
        out=job.out.absolute(),
        folder=Path.cwd(),
        shards=shards,
    )


class Worker:
    """See the module."""

    def __init__(self, recipe: Recipe, share: Share) -> None:
        self._recipe = recipe
        self._share = share
        self._tasks: set[asyncio.Task[Outcome]] = set()

    async def begin(self) -> Stopped | None:
        """Make the job, and see that it is the driver's."""
        try:
            with suppress(OSError):  # then a path that is relative leads nowhere, and that is said
                os.chdir(self._recipe.folder)
            self._job = await asyncio.to_thread(self._prepare)
            self._parts = split(self._job.plan, self._recipe.shards)
        except AdjudgeError as error:
            stopped = Stopped.of(error)
            return replace(stopped, words=f"on {socket.gethostname()}: {stopped.words}")
        budget = self._share.budget
        self._meter = Meter(self._job.prices, budget) if budget.is_set else None
        # Its own part in each limiter, so that what that learns of a server outlives a shard.
        self._limits = [join(one.limited_as, one.concurrency, one.patience) for one in self._endpoints()]
        for limit in self._limits:
            limit.limiter.part = self._share.part
        return None

    def _endpoints(self) -> Iterator[Endpoint]:
        models = self._job.models
        for model in () if models is None else models.all:
            if isinstance(model.remote, RemoteModel):
                yield model.remote.endpoint
        if models is not None and models.search is not None and isinstance(models.search.remote, RemoteModel):
            engine = models.search.remote.endpoint
            yield replace(engine, concurrency=max(int(engine.concurrency * self._share.part), 1))

    def _prepare(self) -> Job:
        recipe = self._recipe
        if not (recipe.out / INFO).is_file() or read_run_info(recipe.out).secret != recipe.info.secret:
            raise UsageError(
                f"{recipe.out} is not the run directory that the driver has; --out must be on a file system "
                "that all nodes see"
            )
        test_set = replace(read_test_set(recipe.out / TEST_SET), name=str(recipe.info.test_set["name"]))
        options = replace(recipe.options, concurrency=self._share.calls)
        job = prepare.by(recipe.annotator, test_set, options)
        info = job.info()
        found = differences(recipe.info, info)
        if not recipe.info.signature.is_comparable_with(info.signature) or found:
            what = "; ".join(found) or f"signature {info.signature}, the driver's {recipe.info.signature}"
            raise UsageError(f"this worker's set-up differs from that of the driver: {what}")
        return job

    async def judge(self, number: int) -> Outcome | Stopped:
        """Judge one shard to its end; beside others, if need be."""
        task = asyncio.create_task(self._judge(number))
        self._tasks.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            return Stopped("AdjudgeError", "stopped")
        except Exception as error:  # noqa: BLE001 (whatever it is, the driver must hear of it)
            return Stopped.of(error)
        finally:
            self._tasks.discard(task)

    async def _judge(self, number: int) -> Outcome:
        job = job_of(
            self._job, self._parts[number - 1], shard_folder(self._job.out, number, len(self._parts))
        )
        await _wait_until_free(job.out)
        return await run_execute(replace(job, models=open_again(job), meter=self._meter))

    async def load(self) -> Load:
        return load_of(limit.limiter for limit in self._limits)

    async def stop(self) -> None:
        """Send nothing more; what is under way may come in."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)


def shard_folder(out: Path, number: int, of: int) -> Path:
    """Run directory of one of so many shards; their names sort as their numbers do."""
    return out / SHARDS / f"{number:0{len(str(of))}}-of-{of}"


def job_of(job: Job, part: Plan, out: Path) -> Job:
    """The job of a part; what the store of the whole run knows is not asked for again."""
    settings = {**job.settings, "store": STORE}
    return replace(job, plan=part, out=out, store=out / STORE, base=job.store, settings=settings)


async def _wait_until_free(folder: Path) -> None:
    until = asyncio.get_running_loop().time() + _PATIENCE
    while True:
        try:
            with closing(RunDirectory(folder)):
                return
        except StoreError:
            if asyncio.get_running_loop().time() > until:
                raise
        await asyncio.sleep(_LOOK)


_AT_ONCE: Final = 2  # shards that a worker judges at a time, so that the end of one is no idle time
_LIVES: Final = 3  # deaths of workers over one shard, after which it is the shard's doing
_GRACE: Final = 10.0  # seconds for answers that are under way when a run is stopped


@dataclass
class Fleet:
    """Workers, and what they have still to do."""

    ray: Any
    recipe: Recipe
    shares: list[Share]
    paid_in: Callable[[Path], Paid]  # what the sessions in the directory of a shard have paid
    on_done: Callable[[Outcome], None]
    outcomes: dict[int, Outcome] = field(default_factory=dict)  # of the shards that are done, by number

    def __post_init__(self) -> None:
        self._left = deque(range(1, self.recipe.shards + 1))
        self._deaths: Counter[int] = Counter()
        self._workers: dict[int, Any] = {}
        # by worker, the shards that its process was given, and what these had paid before
        self._given: list[dict[int, Paid]] = [{} for _ in self.shares]
        self._used_up: set[int] = set()
        self._news = asyncio.Event()
        self.loads: dict[int, Load] = {}

    async def run(self) -> None:
        """Judge all shards; those are left that no worker's share of the budget allows."""
        lanes = [asyncio.create_task(self._serve(place)) for place in range(len(self.shares))]
        try:
            await self._wait(lanes)
        except self.ray.exceptions.RayError as error:
            raise AdjudgeError(
                f"Ray failed; what was answered is stored, the same command goes on. Ray says: {error}"
            ) from error
        finally:
            await self.stop(lanes)

    async def _wait(self, lanes: Iterable[asyncio.Task[None]]) -> None:
        """Wait for all; but once all is judged, not for a successor that finds no room in the cluster."""
        going = {*lanes}
        while going:
            patience = None if len(self.outcomes) < self.recipe.shards else _GRACE
            done, going = await asyncio.wait(going, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            for lane in done:
                lane.result()
            if not done:
                return

    def _may_go_on(self, place: int) -> bool:
        return len(self.outcomes) < self.recipe.shards and place not in self._used_up

    async def _serve(self, place: int) -> None:
        while self._may_go_on(place):
            actor = self.ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(Worker)
            worker = self._workers[place] = actor.remote(self.recipe, self.shares[place])
            try:
                if (stopped := await worker.begin.remote()) is not None:
                    raise stopped.error()
                feeds = [asyncio.create_task(self._feed(place, worker)) for _ in range(_AT_ONCE)]
                try:
                    await asyncio.gather(*feeds)
                finally:
                    for feed in feeds:
                        feed.cancel()
                    await asyncio.gather(*feeds, return_exceptions=True)
                self.loads[place] = await worker.load.remote()
                if place in self._used_up:
                    self.ray.kill(worker)  # its room may be what a successor of another waits for
            except self.ray.exceptions.RayActorError:
                self.ray.kill(worker)  # it may only be out of reach
                await self._bury(place)

    async def _feed(self, place: int, worker: Any) -> None:  # noqa: ANN401 (the same)
        while (number := await self._next(place)) is not None:
            self._given[place][number] = self._paid(number)
            try:
                outcome = await worker.judge.remote(number)
            except self.ray.exceptions.RayActorError as error:
                self._count_death(number, error)
                raise
            if not isinstance(outcome, Stopped):
                self.outcomes[number] = outcome
                self.on_done(outcome)
            elif outcome.kind == BudgetError.__name__:  # whoever has something left goes on with it
                self._used_up.add(place)
                del self._given[place][number]
                self._left.appendleft(number)
            else:
                raise outcome.error()
            self._tell()

    async def _next(self, place: int) -> int | None:
        """The next shard for a worker; waits while others may still give one back."""
        while self._may_go_on(place):
            if self._left:
                return self._left.popleft()
            await self._news.wait()
        return None

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _paid(self, number: int) -> Paid:
        folder = shard_folder(self.recipe.out, number, self.recipe.shards)
        return self.paid_in(folder) if self.shares[0].budget.is_set else (Decimal(), 0)

    async def _bury(self, place: int) -> None:
        given, self._given[place] = self._given[place], {}
        try:
            for number, before in given.items() if self.shares[place].budget.is_set else ():
                await _wait_until_free(shard_folder(self.recipe.out, number, self.recipe.shards))
                now = self._paid(number)
                paid = now[0] - before[0], now[1] - before[1]
                self.shares[place] = replace(self.shares[place], budget=less(self.shares[place].budget, paid))
        except AdjudgeError:  # nobody can say what was paid: it may be all
            budget = self.shares[place].budget
            nothing = less(budget, (budget.amount or Decimal(), budget.tokens or 0))
            self.shares[place] = replace(self.shares[place], budget=nothing)
        self._left.extendleft(number for number in given if number not in self.outcomes)
        self._tell()

    def _count_death(self, number: int, error: Exception) -> None:
        self._deaths[number] += 1
        if self._deaths[number] >= _LIVES:
            raise AdjudgeError(
                f"shard {number} of {self.recipe.shards}: {_LIVES} workers died over it, of memory perhaps; "
                f"what was answered is stored, the same command goes on. Ray says: {error}"
            ) from error

    async def stop(self, lanes: Sequence[asyncio.Task[None]]) -> None:
        """End all workers; answers that are under way may come in."""
        for lane in lanes:
            lane.cancel()
        stopping = [worker.stop.remote() for worker in self._workers.values()]
        with suppress(Exception):
            async with asyncio.timeout(_GRACE):
                await asyncio.gather(*stopping, return_exceptions=True)
        for worker in self._workers.values():
            self.ray.kill(worker)
        await asyncio.gather(*lanes, return_exceptions=True)


BLOCK: Final = 512  # units of a shard, more or less: a hash says which segments it gets
_SMALL: Final = 16  # units of a shard at least where that lets every worker have some
_OBJECTS: Final = 100 << 20  # bytes of shared memory of a cluster of our own, which holds no data
_QUIET: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nobody is told of a run
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS": "0",
}


def import_ray() -> Any:  # noqa: ANN401 (a module is of no type that a caller could be given)
    """Import Ray, which is told to keep quiet."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise UsageError(
            "--engine ray needs Ray, which is not installed: pip install 'adjudge[ray]'"
        ) from error


def shards_for(units: int, workers: int) -> int:
    """Into how many shards a run is split: blocks of some 512 units, smaller ones where there are few."""
    return max(-(-units // BLOCK), min(2 * workers, units // _SMALL), 1)


async def execute(job: Job) -> Outcome:
    """Run a job to its end on a Ray cluster; see `runs.engines.carry_out`."""
    if is_metric(job.annotator):
        raise UsageError(
            f"--engine ray: {job.annotator.name} is a metric, asks no model and scores all at once"
        )
    if job.plan.schedule.kind == "adaptive":
        raise UsageError("--engine ray: --pairs adaptive chooses by what was judged before, in one run")
    ray = import_ray()
    began = time.monotonic()
    with closing(RunDirectory(job.out)) as directory:
        info = directory.open(job.info(), job.plan.test_set)
        await settle_lost(job, directory)
        refuse_open_batches(job.out)
        try:
            async with _cluster(ray):
                fleet = await _run(ray, job, info, directory)
        except BaseException:
            with suppress(Exception):
                if parts := [*map(read_run_info, shards_in(job.out))]:
                    directory.write(_summed(job, info, parts, _totals(job), {}))
            raise
        shown = [fleet.outcomes[number] for number in sorted(fleet.outcomes)]
        info = _join(
            job,
            directory,
            info,
            [outcome.info for outcome in shown],
            sum(fleet.loads.values(), Load()).counts,
        )
    return _outcome(info, shown, time.monotonic() - began)


@asynccontextmanager
async def _cluster(ray: Any) -> AsyncIterator[None]:  # noqa: ANN401 (a module)
    if ray.is_initialized():
        yield
        return
    await asyncio.to_thread(_connect, ray)
    if threading.current_thread() is threading.main_thread():
        # Restore the previous signal handlers: Ray's own would write a trace of addresses first.
        for number in (signal.SIGTERM, signal.SIGINT):
            if callable(listener := signal.getsignal(number)):
                signal.signal(number, listener)
    try:
        yield
    finally:
        await asyncio.to_thread(ray.shutdown)


def _connect(ray: Any) -> None:  # noqa: ANN401 (a module)
    quiet = {"log_to_driver": False, "logging_level": "ERROR", "namespace": "adjudge"}
    if not (address := os.environ.get("RAY_ADDRESS")):
        ray.init(address="local", include_dashboard=False, object_store_memory=_OBJECTS, **quiet)
        return
    try:
        ray.init(address=address, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise UsageError(
            f"no Ray cluster answers at RAY_ADDRESS={address}: {error}; without it one is started here"
        ) from error


async def _run(ray: Any, job: Job, info: RunInfo, directory: RunDirectory) -> Fleet:  # noqa: ANN401 (a module)
    workers = _workers(job, int(ray.cluster_resources().get("CPU", 1)))
    begun = shards_in(job.out)
    shards = int(begun[0].name.rpartition("-")[2]) if begun else shards_for(len(job.plan), workers)
    (job.out / SHARDS).mkdir(exist_ok=True)
    paid = _meter(job, _totals(job)).paid if job.budget.is_set else (Decimal(), 0)
    shares = shares_of(job.options.concurrency, less(job.budget, paid), min(workers, shards))
    total, count = len(job.plan), {"judged": 0, "failed": 0}
    with Progress(total, shown=job.options.progress) as progress:

        def note(outcome: Outcome) -> None:
            for name in count:
                count[name] += outcome.info.counts.get(name, 0)
            done = sum(count.values())
            directory.write(replace(info, counts={**count, "pending": total - done}))
            progress.show(done=done, failed=count["failed"], tally=outcome.tally)

        def paid_in(folder: Path) -> Paid:
            return _meter(job, _asked_in(folder, folder / STORE)).paid

        fleet = Fleet(ray, recipe_of(job, info, shards), shares, paid_in, note)
        await fleet.run()
    if len(fleet.outcomes) < shards:
        raise _used_up(job)
    return fleet


def _workers(job: Job, cpus: int) -> int:
    wanted = job.options.workers
    if wanted is not None and wanted > cpus:
        raise UsageError(f"--workers {wanted}: the cluster has {cpus} CPUs, one for each worker")
    # A worker that may not have one call at a time has nothing to do.
    return min(wanted or cpus, job.options.concurrency)


def _used_up(job: Job) -> BudgetError:
    meter, limit = _meter(job, _totals(job)), job.budget
    paid, options = [], []
    if limit.amount is not None:
        paid.append(" of ".join(render_price(each, meter.currency) for each in (meter.paid[0], limit.amount)))
        options.append("--budget")
    if limit.tokens is not None:
        paid.append(f"{meter.paid[1]:,} of {limit.tokens:,} tokens")
        options.append("--budget-tokens")
    return BudgetError(
        f"the budget is reached: {' and '.join(paid)} are paid, and no worker's share of what was left has "
        "room for one more call. What was answered is stored; the same command divides the rest anew, "
        f"--workers 1 gives all of it to one worker, and a higher {' or '.join(options)} goes further"
    )


def _asked_in(folder: Path, store: Path) -> CallTotals:
    if not (store.is_file() and (folder / INFO).is_file()):
        return CallTotals()
    with closing(CallStore(store, run_name(read_run_info(folder).secret))) as opened:
        opened.count_lost()
        return opened.totals()


def _totals(job: Job) -> CallTotals:
    found = [_asked_in(job.out, job.store), *(_asked_in(path, path / STORE) for path in shards_in(job.out))]
    spent: dict[str, Spent] = {}
    for name, one in ((name, one) for totals in found for name, one in totals.spent.items()):
        both = spent.get(name, Spent())
        spent[name] = Spent(both.usage + one.usage, both.unsure + one.unsure, both.uncounted + one.uncounted)
    return CallTotals(
        asked=sum(one.asked for one in found),
        searched=sum(one.searched for one in found),
        attempts=sum(one.attempts for one in found),
        lost=sum(one.lost for one in found),
        usage=sum((one.usage for one in found), Usage()),
        spent=spent,
    )


def _meter(job: Job, totals: CallTotals) -> Meter:
    return Meter(job.prices, job.budget, {k: v for k, v in totals.spent.items() if k in job.prices})


def _join(
    job: Job, directory: RunDirectory, info: RunInfo, parts: Sequence[RunInfo], load: Mapping[str, int]
) -> RunInfo:
    folders = [shard_folder(job.out, number, len(parts)) for number in range(1, len(parts) + 1)]
    lines = joined_lines(job.plan.test_set, [folder / RECORDS for folder in folders])
    write_bytes(job.out / RECORDS, lines)
    take_in(job.out, job.store, run_name(info.secret))
    info = _summed(job, info, parts, _asked_in(job.out, job.store), load)
    info = directory.finish(info)
    remove_shards(job.out)
    return info


def _summed(
    job: Job, info: RunInfo, parts: Sequence[RunInfo], totals: CallTotals, load: Mapping[str, int]
) -> RunInfo:
    meter = _meter(job, totals)
    judged, failed = (sum(part.counts.get(state, 0) for part in parts) for state in ("judged", "failed"))
    failures = dict(sorted(_sum(part.failures for part in parts).items()))
    calls = _sum(part.calls for part in parts)
    used = calls.get("asked", 0) + calls.get("from_store", 0)
    calls |= {"asked": totals.asked, "attempts": totals.attempts, "from_store": max(used - totals.asked, 0)}
    if totals.lost:
        calls["lost"] = totals.lost
    said = (part.signature.fields.get("served", "").split(",") for part in parts)
    served = sorted({name for names in said for name in names if name})
    fields = failed_fields(judged, failures) | ({"served": ",".join(served)} if served else {})
    return replace(
        info,
        signature=info.signature.with_fields(**fields),
        counts={"judged": judged, "failed": failed, "pending": sum(info.counts.values()) - judged - failed},
        failures=failures,
        calls={**calls, **load},
        tokens=totals.usage.counts,
        price=None if meter.price is None else float(meter.price),
        currency=meter.currency,
    )


def _sum(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


def joined_lines(test_set: TestSet, files: Sequence[Path]) -> Iterator[bytes]:
    """Every line of every shard, in the order of the test set.

    `files`: records of every shard by its number, each in the order of the test set.
    """
    ahead = [_Lines(file) for file in files]
    for segment in test_set:
        yield from ahead[shard_of(segment, len(ahead))].of((segment.lp, segment.segment))
    for lines in ahead:
        lines.check_end()


class _Lines:
    """The lines of one file of records, one segment after the other.

    The file is opened for each, since there may be more shards than a process may have files open.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._place = 0
        self._number = 1

    def of(self, key: tuple[str, str]) -> list[bytes]:
        found = []
        with self._path.open("rb") as file:
            file.seek(self._place)
            while (line := file.readline()) and self._key(line) == key:
                found.append(line)
                self._place += len(line)
                self._number += 1
        return found

    def _key(self, line: bytes) -> tuple[object, object]:
        try:
            value = orjson.loads(line)
            return value["lp"], value["segment"]
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise DataError("not a record", path=self._path, line=self._number) from error

    def check_end(self) -> None:
        if self._place < self._path.stat().st_size:
            message = "a record of a segment that is not this shard's, or that is not in order"
            raise DataError(message, path=self._path, line=self._number)


def _outcome(info: RunInfo, parts: Sequence[Outcome], seconds: float) -> Outcome:
    tally = parts[0].tally
    examples: dict[str, str] = {}
    for part in parts:
        examples = {**part.examples, **examples}
    for part in parts[1:]:
        tally.merge(part.tally)
    everywhere = set(parts[0].notes).intersection(*(part.notes for part in parts))
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return Outcome(
        info=info,
        tally=tally,
        seconds=seconds,
        # a role that one shard had no question from may have had some in another
        notes=tuple(n for n in notes if n in everywhere or not n.startswith("no question")),
        examples=examples,
        identical=sum(part.identical for part in parts),
        inconsistent=sum(part.inconsistent for part in parts),
    )
