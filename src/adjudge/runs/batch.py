"""`--engine batch`: questions go to the provider in batches, and the records equal those of a local run.

Every unit of work gets as far as there are answers. What all of them ask then is a wave; it goes out as one
batch or a few, and what comes back stands in the call store under the keys that live calls have. With it the
units are judged again, and get further.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterator, Sequence
from typing import Any

from adjudge.data.call_rows import run_name
from adjudge.data.calls import CallStore
from adjudge.errors import UsageError
from adjudge.llm.ask import UnitAsk
from adjudge.llm.batch.desk import Desk
from adjudge.llm.batch.opening import check_batches, open_desk
from adjudge.llm.model import NotYetError
from adjudge.llm.models import Models
from adjudge.runs.job import Job
from adjudge.runs.journal import Entry
from adjudge.runs.judge_session import JudgeSession
from adjudge.runs.judging import Outcome as Judged
from adjudge.runs.local import execute as execute_locally
from adjudge.runs.session import Outcome
from adjudge.runs.units import Unit
from adjudge.runs.waves import work_in_waves
from adjudge.runs.work import Judging

__all__ = ["BatchSession", "execute"]


async def execute(job: Job) -> Outcome:
    """Run a job to its end; see `runs.local.execute`.

    Raises:
        UsageError: nobody is asked, or a model that takes no batches.
        AdjudgeError: something stopped it; the same job goes on from what is stored, and from what is out.
    """
    if job.models is None:
        raise UsageError(f"--engine batch: {job.annotator.name} is a metric and asks no model")
    check_batches(job.models)
    return await execute_locally(job, BatchSession)


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

        await work_in_waves(units, at_hand, judged, self.sink, width=self.job.width, turn=self.desk.turn)
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
