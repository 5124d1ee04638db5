"""The engines `local`, which runs a job in this process, and `batch`, which asks in batches of a provider.

Resuming is doing it again: judges are deterministic given their answers, so a run that is started anew walks
through its store and asks only what is missing.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, Final

from adjudge.core.wording import count
from adjudge.errors import UsageError
from adjudge.llm.asking import UnitAsk
from adjudge.llm.batch import Desk, check_batches, open_desk
from adjudge.llm.model import NotYetError
from adjudge.llm.model_choice import Models
from adjudge.llm.money import render_price
from adjudge.runs.job import Job
from adjudge.runs.resume import (
    Entry,
    Journal,
    Kept,
    RunDirectory,
    basis_of,
    find_lost,
    keep_answers,
    remove_shards,
    take_in,
)
from adjudge.runs.session import (
    JudgeSession,
    Judging,
    MetricSession,
    Outcome,
    rare_collections,
    work_in_waves,
)
from adjudge.runs.units import Outcome as Judged
from adjudge.runs.units import Unit, adapter_of, is_judge, is_metric
from adjudge.store.call_file import run_name
from adjudge.store.calls import CallStore


async def refuse_lost(job: Job, folder: Path, stores: Sequence[Path]) -> frozenset[bytes]:
    """Stop before anything is asked and paid a second time, unless `--ask-again` allows it.

    Keys of what is lost, and may be asked for again.
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


async def execute(job: Job, session: type[JudgeSession] | None = None) -> Outcome:
    """Run a job to its end."""
    if is_judge(job.annotator) and (adapter := adapter_of(job.annotator)) is not None:
        from adjudge.runs.conversation import check_adapter

        subjects = islice((unit.subject for unit in job.plan if unit.is_there), _REHEARSED)
        await check_adapter(job.annotator, adapter, subjects)
    with rare_collections(), closing(RunDirectory(job.out)) as directory:
        info = directory.open(job.info(), job.plan.test_set)
        take_in(job.out, job.store, run_name(info.secret))
        remove_shards(job.out)
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
    """
    if directory.before is None:
        return
    stores = [job.store] if job.base is None else [job.store, job.base]
    lost = await refuse_lost(job, directory.path, stores)
    if not job.options.reparse:
        keep_answers(directory.path, lost)


async def execute_in_batches(job: Job) -> Outcome:
    """Run a job to its end; see `runs.run.execute`."""
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
        return await ask.as_far_as_possible(judging)

    @property
    def words(self) -> str:
        return self.desk.words
