"""`run`: a judge or a metric over a test set, into a run directory.

Resuming is doing it again: judges are deterministic given their answers, so a run that is started anew walks
through its store and asks only what is missing. `carry_out` hands a job to the engine that it names: this
process (`execute`), batches of a provider (`execute_in_batches`), or Ray. The records of all engines are
equal.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, cast

from adjudge.core.record import Failure
from adjudge.core.scores import Run
from adjudge.core.segment import TestSet
from adjudge.core.verb import takes
from adjudge.core.wording import count, has_too_many_failures, of_all
from adjudge.errors import FailedWarning, FailureReason, UsageError, warn
from adjudge.llm.asking import UnitAsk
from adjudge.llm.batch import Desk, check_batches, open_desk
from adjudge.llm.model import NotYetError
from adjudge.llm.model_choice import Models
from adjudge.llm.money import render_price
from adjudge.runs.job import Job, RunSettings, prepare, remedy_for
from adjudge.runs.resume import (
    Entry,
    Journal,
    Kept,
    RunDirectory,
    basis_of,
    differences,
    find_lost,
    keep_answers,
)
from adjudge.runs.session import (
    JudgeSession,
    Judging,
    MetricSession,
    Outcome,
    rare_collections,
    run_to_end,
    work_in_waves,
)
from adjudge.runs.shards import keep_whole, refuse_strangers, take_in
from adjudge.runs.units import Annotator, Part, Unit, adapter_of, is_judge, is_metric
from adjudge.runs.units import Outcome as Judged
from adjudge.store.call_file import run_name
from adjudge.store.calls import CallStore
from adjudge.store.run_directory import INFO, SHARDS, is_finished, read_run, read_run_info

__all__ = ["ENGINES", "arun", "carry_out", "execute", "run", "run_to_end", "settle_lost"]


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
    if (done := _only_read(job)) is not None:
        return done
    if isinstance(job.plan, Part):
        whole = job.out.parent.parent
        keep_whole(job.plan, whole)
        refuse_strangers(whole, job.info(), job.plan.shard)
        if job.base is not None and (whole / INFO).is_file():
            await refuse_lost(job, whole, [job.base])
    elif (job.out / SHARDS).is_dir():
        refuse_strangers(job.out, job.info())
    engine: Engine = getattr(importlib.import_module(module), function)
    return await engine(job)


def _only_read(job: Job) -> Outcome | None:
    """How a run stands that is finished and lies where nothing can be written; None for any other.

    Raises:
        UsageError: something is to be done in it, or it was made with other settings.
    """
    if not (job.out / INFO).is_file() or os.access(job.out, os.W_OK):
        return None
    info = read_run_info(job.out)
    if not is_finished(job.out, info):
        return None  # who writes it says what is wrong
    if found := differences(info, job.info()):
        raise UsageError(
            f"{job.out} holds another run: {'; '.join(found)}. Choose another --out, or the same settings"
        )
    asked = {"--retry-failed": job.options.retry_failed, "--reparse": job.options.reparse}
    if wanted := [name for name, is_given in asked.items() if is_given]:
        raise UsageError(f"{wanted[0]}: {job.out} cannot be written; copy it to where you may write")
    return Outcome(info=info, notes=(f"{job.out} cannot be written: its records stay as they are",))


async def refuse_lost(job: Job, folder: Path, stores: Sequence[Path]) -> frozenset[bytes]:
    """Stop before anything is asked and paid a second time, unless `--ask-again` allows it.

    Args:
        job: what is to be run.
        folder: run directory whose records are looked at.
        stores: call stores that should hold what they rest on; the first is that of this run.

    Returns:
        Keys of what is lost, and may be asked for again.

    Raises:
        UsageError: answers are lost; says how many calls they were, and what they would cost.
    """
    lost = find_lost(folder, stores)
    if not lost or job.options.ask_again or job.options.reparse:
        return lost
    from adjudge.runs.forecast import forecast_job  # few runs need it

    found = await forecast_job(job)
    if not found.calls.typical:  # another version asks otherwise, or the answers stand under other runs
        return lost
    share = min(len(lost) / found.calls.typical, 1)
    cost = ""
    if job.prices:
        price = None if found.price is None else float(found.price[1]) * share
        cost = f", about {render_price(price, found.currency)}" if price is not None else ", price unknown"
    raise UsageError(
        f"the records in {folder} rest on {count(len(lost), 'answer')} that the call store {stores[0]} does "
        "not hold: the store was deleted, emptied, cut, or left behind with its -wal file. To ask again: "
        f"{count(len(lost), 'call')}{cost}. Put the store back, or say where it is with --store; "
        "--ask-again (in Python ask_again=True) asks and pays again"
    )


@takes(RunSettings)
def run(judge: Annotator | str, test_set: TestSet | Path | str | None, settings: RunSettings) -> Run:
    """Judge a test set; where it was stopped, it goes on.

    Args:
        judge: judge or metric, also a function under `@adjudge.metric`, or the name of one.
        test_set: as `adjudge.load` reads it, or what it reads it from; None with `source` and `translation`.
        settings: the options of `adjudge run`, by the same names. Without `out` the run is made in memory and
            nothing of it is left on disk; a model that a server answers for needs `out`, or `store`.

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
    return _warned(*run_to_end(_finished(judge, test_set, settings)))


@takes(RunSettings)
async def arun(judge: Annotator | str, test_set: TestSet | Path | str | None, settings: RunSettings) -> Run:
    """Judge a test set, in an event loop of yours; see `run`."""
    return _warned(*await _finished(judge, test_set, settings))


async def _finished(
    judge: Annotator | str, test_set: TestSet | Path | str | None, settings: RunSettings
) -> tuple[Job, Run]:
    if settings.dry_run:
        raise UsageError("a run asks its model: call adjudge.forecast for what it would ask")
    with ExitStack() as rest:
        is_kept = settings.out is not None
        if not is_kept:
            folder = rest.enter_context(tempfile.TemporaryDirectory(prefix="adjudge-"))
            settings = replace(settings, out=Path(folder, "run"))
        job = prepare.by(judge, test_set, settings)
        if not is_kept:
            _refuse_to_forget(job)
        await carry_out(job)
        return job, read_run(job.out, like=job.plan.test_set)


_OF_FOLDER: Final = ("retry_failed", "reparse", "ask_again", "shard")


def _refuse_to_forget(job: Job) -> None:
    """Refuse a run in memory whose answers cost something, or whose settings are about a run directory.

    Raises:
        UsageError: it needs `out`.
    """
    if given := [name for name in _OF_FOLDER if getattr(job.options, name)]:
        raise UsageError(f"{given[0]} needs a run directory: add out=...")
    if job.models is not None and job.models.is_paid and job.options.store is None:
        raise UsageError(
            f"answers of {job.models.name} cost money or time, and would be lost with the run: give out=..., "
            "a directory for the run, or store=..., a file for the answers alone"
        )


_REASONS: Final = 3  # that a warning names
_EXAMPLE: Final = 200  # characters of the first failure


def _warned(job: Job, done: Run) -> Run:
    """The run, with a warning where more failed than may."""
    info, allowed = done.info, job.options.max_failed
    if has_too_many_failures(info.failed, info.counts["judged"], allowed):
        failures = Counter(info.failures)
        del failures["no_translation"]
        ordered = failures.most_common()
        reasons = [f"{reason} {amount:,}" for reason, amount in ordered[:_REASONS]]
        reasons += ["..."] if len(ordered) > _REASONS else []
        failed = of_all(info.failed, info.failed + info.counts["judged"], "judgement")
        reason = cast("FailureReason", ordered[0][0])
        example = next((r.detail for r in done.records if isinstance(r, Failure) and r.reason == reason), "")
        warn(
            f"{failed} failed, more than max_failed={allowed} allows: {', '.join(reasons)}; "
            f"first {reason}: {' '.join(example.split())[:_EXAMPLE]}. "
            f"This may help: {remedy_for(job.annotator, reason)}. "
            + (
                f"{job.out} keeps everything; retry_failed=True asks again what failed"
                if job.out.exists()
                else "The records of the run say which they are"
            ),
            FailedWarning,
        )
    return done


async def execute(job: Job, session: type[JudgeSession] | None = None) -> Outcome:
    """Run a job to its end.

    Args:
        job: ready to go.
        session: of a judge, where it is not the usual one.

    Raises:
        AdjudgeError: something stopped it; what was answered is stored, the same job goes on from there.
    """
    if is_judge(job.annotator) and (adapter := adapter_of(job.annotator)) is not None:
        from adjudge.runs.conversation import check_adapter

        subjects = islice((unit.subject for unit in job.plan if unit.is_there), _REHEARSED)
        await check_adapter(job.annotator, adapter, subjects)
    with rare_collections(), closing(RunDirectory(job.out)) as directory:
        info = directory.open(job.info(), job.plan.test_set)
        take_in(job.out, job.store, run_name(info.secret))
        if is_judge(job.annotator):
            await settle_lost(job, directory)
        basis = basis_of(job.annotator)
        with closing(Kept(job.out, basis)) as kept, closing(Journal(job.out, basis)) as journal:
            if is_judge(job.annotator) and job.models is not None:
                asking = (session or JudgeSession)(job, directory, info, journal, kept)
                return await asking.run(job.annotator, job.models)
            if is_metric(job.annotator):
                return await MetricSession(job, directory, info, journal).run(job.annotator)
            raise UsageError(f"{job.annotator.name} is a judge and has no model to ask")


_REHEARSED: Final = 3  # translations about which a judge is heard before it is asked in somebody else's words


async def settle_lost(job: Job, directory: RunDirectory) -> None:
    """Stop where answers are lost; where they may be asked for again, they are not missed any more.

    A new run has lost none.

    Raises:
        UsageError: see `refuse_lost`.
    """
    if directory.before is None:
        return
    stores = [job.store] if job.base is None else [job.store, job.base]
    lost = await refuse_lost(job, directory.path, stores)
    if not job.options.reparse:
        keep_answers(directory.path, lost)


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
