"""`run`: a judge or a metric over a test set, into a run directory.

Resuming is doing it again: judges are deterministic given their answers, so a run that is started anew walks
through its store and asks only what is missing.
"""

from __future__ import annotations

import asyncio
import importlib
import signal
import threading
import warnings
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from adjudge.core.scores import Run
from adjudge.core.segment import TestSet
from adjudge.core.verb import takes
from adjudge.core.wording import has_too_many_failures, of_all
from adjudge.errors import FailedWarning, FailureReason, UsageError
from adjudge.llm.asking import UnitAsk
from adjudge.llm.batch import Desk, check_batches, open_desk
from adjudge.llm.model import NotYetError
from adjudge.llm.model_choice import Models
from adjudge.runs.job import Job, RunSettings, prepare, remedy_for
from adjudge.runs.resume import Entry, Journal, Kept, RunDirectory, basis_of
from adjudge.runs.session import (
    JudgeSession,
    Judging,
    MetricSession,
    Outcome,
    rare_collections,
    work_in_waves,
)
from adjudge.runs.shards import Part, keep_whole, refuse_strangers, take_in
from adjudge.runs.units import Annotator, Unit, is_judge, is_metric
from adjudge.runs.units import Outcome as Judged
from adjudge.store.call_file import run_name
from adjudge.store.calls import CallStore
from adjudge.store.run_directory import read_run

__all__ = ["ENGINES", "arun", "carry_out", "execute", "run", "run_to_end"]


# Who carries a job out: this process, or another engine. Each equals a local run, record for record.


Engine = Callable[[Job], Awaitable[Outcome]]

ENGINES: Final[Mapping[str, str]] = {
    "local": "adjudge.runs.run:execute",
    "ray": "adjudge.runs.ray:execute",
    "batch": "adjudge.runs.run:execute_in_batches",
}
"""Name to "module:function" of an `Engine`; it is imported when it is called for."""


async def carry_out(job: Job) -> Outcome:
    """Run a job to its end, with the engine that it names.

    Raises:
        AdjudgeError: something stopped it; what was answered is stored, the same job goes on from there.
    """
    module, _, function = ENGINES[job.options.engine].partition(":")
    if isinstance(job.plan, Part):
        whole = job.out.parent.parent
        keep_whole(job.plan, whole)
        refuse_strangers(whole, job.info(), job.plan.shard)
    else:
        refuse_strangers(job.out, job.info())
    engine: Engine = getattr(importlib.import_module(module), function)
    return await engine(job)


T = TypeVar("T")


@takes(RunSettings)
def run(judge: Annotator | str, test_set: TestSet | Path | str | None, settings: RunSettings) -> Run:
    """Judge a test set; where it was stopped, it goes on.

    Args:
        judge: judge or metric, or the name of one.
        test_set: as `adjudge.load` reads it, or what it reads it from; None with `source` and `translation`.
        settings: the options of `adjudge run`, by the same names.

    Returns:
        The finished run. Its records hold a `Failure` for each judgement that was not obtained.

    Raises:
        TypeError: a keyword that there is not; names the nearest.
        UsageError: the call itself is wrong, or `out` holds a run with other settings.
        ServerStopError: quota or key; the same call goes on later.
        AdjudgeError: anything else that stops it.

    Warns:
        FailedWarning: a larger share of judgements failed than `max_failed`; the run directory is whole.
    """
    return _warned(*run_to_end(_finished(judge, test_set, settings)), level=4)


@takes(RunSettings)
async def arun(judge: Annotator | str, test_set: TestSet | Path | str | None, settings: RunSettings) -> Run:
    """Judge a test set, in an event loop of yours; see `run`."""
    return _warned(*await _finished(judge, test_set, settings), level=3)


async def _finished(
    judge: Annotator | str, test_set: TestSet | Path | str | None, settings: RunSettings
) -> tuple[Job, Run]:
    if settings.dry_run:
        raise UsageError("a run asks its model: call adjudge.forecast for what it would ask")
    job = prepare.by(judge, test_set, settings)
    await carry_out(job)
    return job, read_run(job.out, like=job.plan.test_set)


_REASONS: Final = 3  # that a warning names


def _warned(job: Job, done: Run, *, level: int) -> Run:
    """The run, with a warning where more failed than may; so many calls up is where the user's program is."""
    info, allowed = done.info, job.options.max_failed
    if has_too_many_failures(info.failed, info.counts["judged"], allowed):
        ordered = Counter({why: n for why, n in info.failures.items() if why != "no_translation"}).most_common()
        reasons = [f"{reason} {amount:,}" for reason, amount in ordered[:_REASONS]]
        reasons += ["..."] if len(ordered) > _REASONS else []
        failed = of_all(info.failed, info.failed + info.counts["judged"], "judgement")
        warnings.warn(
            f"{failed} failed, more than max_failed={allowed} allows: {', '.join(reasons)}. This may help: "
            f"{remedy_for(job.annotator, cast('FailureReason', ordered[0][0]))}. {job.out} keeps everything; "
            "retry_failed=True asks again what failed",
            FailedWarning,
            stacklevel=level,
        )
    return done


def run_to_end(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine from synchronous code, be it called from a notebook, which has a loop of its own.

    Raises:
        KeyboardInterrupt: Ctrl-C or SIGTERM, after everything was put away.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(coroutine)
    done: list[Callable[[], T]] = []
    thread = threading.Thread(target=lambda: done.append(_outcome(coroutine)), name="run")
    thread.start()
    thread.join()
    return done[0]()


def _outcome(coroutine: Coroutine[Any, Any, T]) -> Callable[[], T]:
    try:
        value = asyncio.run(coroutine)
    except BaseException as error:  # noqa: BLE001 (raised again in the thread that waits)
        raised = error

        def fail() -> T:
            raise raised

        return fail
    return lambda: value


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    async def stoppable() -> T:
        task = asyncio.current_task()
        if task is not None and threading.current_thread() is threading.main_thread():
            with suppress(NotImplementedError):  # Windows has no such signal
                asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await coroutine

    try:
        return asyncio.run(stoppable())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


# The engine that judges in this process.


async def execute(job: Job, session: type[JudgeSession] | None = None) -> Outcome:
    """Run a job to its end.

    Args:
        job: ready to go.
        session: of a judge, where it is not the usual one.

    Raises:
        AdjudgeError: something stopped it; what was answered is stored, the same job goes on from there.
    """
    with rare_collections(), closing(RunDirectory(job.out)) as directory:
        info = directory.open(job.info(), job.plan.test_set)
        take_in(job.out, job.store, run_name(info.secret))
        basis = basis_of(job.annotator)
        with closing(Kept(job.out, basis)) as kept, closing(Journal(job.out, basis)) as journal:
            if is_judge(job.annotator) and job.models is not None:
                asking = (session or JudgeSession)(job, directory, info, journal, kept)
                return await asking.run(job.annotator, job.models)
            if is_metric(job.annotator):
                return await MetricSession(job, directory, info, journal).run(job.annotator)
            raise UsageError(f"{job.annotator.name} is a judge and has no model to ask")


# `--engine batch`: questions go to the provider in batches, and the records equal those of a local run.


async def execute_in_batches(job: Job) -> Outcome:
    """Run a job to its end; see `runs.run.execute`.

    Raises:
        UsageError: nobody is asked, or a model that takes no batches.
        AdjudgeError: something stopped it; the same job goes on from what is stored, and from what is out.
    """
    if job.models is None:
        raise UsageError(f"--engine batch: {job.annotator.name} is a metric and asks no model")
    check_batches(job.models)
    return await execute(job, BatchSession)


class BatchSession(JudgeSession):
    """Asks in batches."""

    desk: Desk

    def open(self, models: Models) -> Models:
        """The models, asked in batches; what an earlier session has sent is taken up."""
        models, self.desk = open_desk(models, self.directory.path, run_name(self.start.secret))
        return models

    async def work_through(self, units: Iterator[Unit], judging: Judging, store: CallStore) -> None:
        """Judge some units wave by wave."""
        if not self.desk.is_open:
            self.desk.begin(self.meter, self.progress.say, store.sync)

        async def judged(unit: Unit) -> Entry | None:
            try:
                return await judging(unit)
            except NotYetError:
                return None

        def at_hand(some: Iterator[Unit]) -> Iterator[Unit]:
            return self.at_hand(store, some)

        await work_in_waves(
            units, at_hand, judged, self.sink, width=self.job.options.concurrency, turn=self.desk.turn
        )
        self.desk.end()

    async def outcomes_of(
        self, judging: Coroutine[Any, Any, Sequence[Judged]], ask: UnitAsk
    ) -> Sequence[Judged]:
        """What a judge gives for one unit.

        Raises:
            NotYetError: it waits for answers that are on their way.
        """
        return await ask.as_far_as_possible(judging)

    @property
    def words(self) -> str:
        """How the batches stand."""
        return self.desk.words
