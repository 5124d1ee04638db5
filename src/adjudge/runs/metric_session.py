"""One session of a metric, which asks nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import islice
from typing import Final

from adjudge.core.annotation import Failure, Record
from adjudge.core.judge import Metric, Stoppable
from adjudge.core.segment import Subject
from adjudge.errors import DataError
from adjudge.runs.journal import Entry
from adjudge.runs.session import Outcome, Session
from adjudge.runs.units import Unit

__all__ = ["MetricSession"]

_BLOCK: Final = 32  # translations that a metric gets at a time; between blocks it can be stopped


class MetricSession(Session):
    """Asks nobody."""

    async def run(self, metric: Metric) -> Outcome:
        """Score every unit, block by block."""
        size = metric.block if isinstance(metric, Stoppable) else _BLOCK
        with self.progress:
            units = iter(self.job.plan)
            while block := list(islice(units, size)):
                await self._annotate(metric, block)
                done = self.sink.judged + self.sink.failed
                self.progress.show(done=done, failed=self.sink.failed, tally=self.tally)
                await asyncio.sleep(0)
        info = self.finish(self.info(price=0.0, corpus_scores=await self._corpus_scores(metric)))
        return Outcome(info=info, seconds=self.seconds, examples=self.examples)

    async def _annotate(self, metric: Metric, block: list[Unit]) -> None:
        subjects = [unit.subject for unit in block if unit.is_there]
        records = await self._records(metric, subjects)
        if len(records) != len(subjects):
            raise DataError(f"{metric.name} was given {len(subjects)} translations and judged {len(records)}")
        judged = iter(records)
        for unit in block:
            (slot,) = unit.slots
            record = self.failure(unit, slot, "missing", slot.missing) if slot.missing else next(judged)
            self.sink.add(unit, Entry.of([record]))
            if isinstance(record, Failure) and not slot.missing:
                self.examples.setdefault(record.reason, record.detail)

    async def _records(self, metric: Metric, subjects: list[Subject]) -> Sequence[Record]:
        if not isinstance(metric, Stoppable):
            return metric.annotate(subjects)
        try:
            return await asyncio.to_thread(metric.annotate, subjects)
        finally:  # a thread cannot be cancelled, what it waits for can be ended
            metric.stop()

    async def _corpus_scores(self, metric: Metric) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        for lp, systems in self.job.plan.systems.items():
            for system in systems:
                await asyncio.sleep(0)  # a signal may stop it here
                subjects = list(self.job.plan.of_system(lp, system))
                score = metric.corpus_score(subjects) if subjects else None
                if score is not None:
                    found.setdefault(lp, {})[system] = score
        return found
