"""`--engine ray`: the shards of a run are judged by the workers of a Ray cluster, or of this machine.

Ray starts processes and carries messages; every worker runs the engine of a local run on blocks of units,
never one task a call. Ray is imported here and nowhere else.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import secrets
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from adjudge.core.run import RunInfo
from adjudge.data.call_rows import run_name
from adjudge.data.calls import CallStore, CallTotals
from adjudge.data.run_dir import INFO, read_run_info
from adjudge.errors import UsageError
from adjudge.llm.batch.ledger import refuse_open_batches
from adjudge.llm.budget import Meter
from adjudge.runs.job import Job
from adjudge.runs.progress import Progress
from adjudge.runs.record import RunDirectory
from adjudge.runs.scale.fleet import Fleet, RayBroker
from adjudge.runs.scale.found import find_shards
from adjudge.runs.scale.merge import join, so_far
from adjudge.runs.scale.shards import Part, refuse_to_split
from adjudge.runs.scale.worker import recipe_of
from adjudge.runs.session import Outcome

__all__ = ["BLOCK", "execute", "import_ray", "shards_for"]

BLOCK: Final = 512  # units of a shard, more or less: a hash says which segments it gets
_SMALL: Final = 16  # units of a shard at least where that lets every worker have some
_OBJECTS: Final = 100 << 20  # bytes of shared memory of a cluster of our own, which holds no data
_QUIET: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nobody is told of a run
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS": "0",
}


def import_ray() -> Any:  # noqa: ANN401 (a module is of no type that a caller could be given)
    """Import Ray, which is told to keep quiet.

    Raises:
        UsageError: it is not installed; says what installs it.
    """
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise UsageError(
            "--engine ray needs Ray, which is not installed: pip install 'adjudge[ray]'. "
            "--shard splits a run without it"
        ) from error


def shards_for(units: int, workers: int) -> int:
    """Into how many shards a run is split: blocks of some 512 units, smaller ones where there are few."""
    blocks = -(-units // BLOCK)
    return max(blocks, min(2 * workers, units // _SMALL), 1)


async def execute(job: Job) -> Outcome:
    """Run a job to its end on a Ray cluster; see `runs.engines.carry_out`.

    Raises:
        UsageError: Ray is not installed, or the run cannot be split.
        AdjudgeError: something stopped it; what was answered is stored, the same job goes on from there.
    """
    refuse_to_split(job, "--engine ray")
    if isinstance(job.plan, Part):
        raise UsageError("--engine ray splits a run by itself: leave --shard out")
    ray = import_ray()
    began = time.monotonic()
    with closing(RunDirectory(job.out)) as directory:
        info = directory.open(job.info(), job.plan.test_set)
        refuse_open_batches(job.out)
        try:
            async with _cluster(ray):
                fleet = await _run(ray, job, info, directory)
        except BaseException:
            with suppress(Exception):
                directory.write(so_far(job.out, info))
            raise
        shown = [fleet.outcomes[number] for number in sorted(fleet.outcomes)]
        info = join(
            directory,
            info,
            job.plan.test_set,
            lambda totals: _price(job, totals),
            load=_load(fleet.loads.values()),
        )
    return _outcome(info, shown, time.monotonic() - began)


@asynccontextmanager
async def _cluster(ray: Any) -> AsyncIterator[None]:  # noqa: ANN401 (a module)
    """Be connected to the cluster that the environment names, or to one of this machine's own."""
    if ray.is_initialized():
        yield
        return
    await asyncio.to_thread(_connect, ray)
    _take_signals_back()
    try:
        yield
    finally:
        await asyncio.to_thread(ray.shutdown)


def _take_signals_back() -> None:
    """Let who listened to signals listen on: Ray's own listener would write a trace of addresses first."""
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            if callable(listener := signal.getsignal(number)):
                signal.signal(number, listener)


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
    begun = find_shards(job.out)
    shards = begun[0][0].of if begun else shards_for(len(job.plan), workers)
    names = tuple(f"worker-{number}" for number in range(1, min(workers, shards) + 1))
    broker = (
        ray.remote(num_cpus=0, max_restarts=0)(RayBroker)
        .options(name=f"broker-{run_name(info.secret)[:12]}-{secrets.token_hex(4)}")
        .remote(job.width, job.budget, _paid(job, info), names)
    )
    total, count = len(job.plan), {"judged": 0, "failed": 0}
    with Progress(total, shown=job.progress) as progress:

        def note(outcome: Outcome) -> None:
            for name in count:
                count[name] += outcome.info.counts.get(name, 0)
            done = sum(count.values())
            directory.write(replace(info, counts={**count, "pending": total - done}))
            progress.show(done=done, failed=count["failed"], tally=outcome.tally)

        fleet = Fleet(ray, recipe_of(job, info, shards), names, broker, note)
        try:
            await fleet.run()
        finally:
            ray.kill(broker)
    return fleet


def _workers(job: Job, cpus: int) -> int:
    wanted = job.options.get("workers")
    if wanted is not None and wanted > cpus:
        raise UsageError(f"--workers {wanted}: the cluster has {cpus} CPUs, one for each worker")
    return min(wanted or cpus, job.width)  # a worker that may not have one call at a time has nothing to do


def _paid(job: Job, info: RunInfo) -> tuple[Decimal, int]:
    """What earlier sessions have paid: of the whole run, and of shards that are not merged."""
    stores = [(job.store, run_name(info.secret))] if job.store.is_file() else []
    begun = [path for _, path in find_shards(job.out) if (path / INFO).is_file()]
    stores += [(path / "calls.sqlite", run_name(read_run_info(path).secret)) for path in begun]
    amount, tokens = Decimal(), 0
    for path, run in stores if job.budget.is_set else []:
        with closing(CallStore(path, run)) as store:
            meter = Meter(job.prices, job.budget, store.totals().spent)
            amount, tokens = amount + meter.paid[0], tokens + meter.paid[1]
    return amount, tokens


def _price(job: Job, totals: CallTotals) -> float | None:
    spent = {name: spent for name, spent in totals.spent.items() if name in job.prices}
    price = Meter(job.prices, job.budget, spent).price
    return None if price is None else float(price)


def _load(loads: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Calls at a time and refusals of all workers together; waiting was for all at once."""
    found = [load for load in loads if load]
    if not found:
        return {}
    total = {name: sum(load[name] for load in found) for name in ("concurrency", "refused")}
    return {**total, "waited": max(load["waited"] for load in found)}


def _outcome(info: RunInfo, parts: Sequence[Outcome], seconds: float) -> Outcome:
    """How the session went, of how its shards went."""
    tally = parts[0].tally
    examples: dict[str, str] = {}
    for part in parts:
        examples = {**part.examples, **examples}
    for part in parts[1:]:
        other = part.tally
        tally.asked += other.asked
        tally.from_store += other.from_store
        tally.usage += other.usage
        tally.served |= other.served
        tally.masked += other.masked
        tally.roles |= other.roles
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
