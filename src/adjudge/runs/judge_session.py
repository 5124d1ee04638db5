"""One session of a judge: from taking a run up to its last record, or to whatever stops it."""

from __future__ import annotations

import asyncio
import time
import warnings
from collections import Counter
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, closing, suppress
from dataclasses import replace
from itertools import islice
from typing import Any, Final, cast

from adjudge.core.annotation import Preference, Record
from adjudge.core.judge import Judge
from adjudge.core.run import RunInfo
from adjudge.core.wording import count
from adjudge.data.call_layers import open_store
from adjudge.data.call_rows import run_name
from adjudge.data.calls import CallStore, CallTotals
from adjudge.errors import AnswerError, DataError, DataWarning, FailureReason, UniformFailureError
from adjudge.llm.ask import Asker, UnitAsk
from adjudge.llm.batch.ledger import refuse_open_batches
from adjudge.llm.budget import Meter
from adjudge.llm.credentials import KEY_MARK
from adjudge.llm.limits import Load
from adjudge.llm.models import Models
from adjudge.llm.tally import Tally
from adjudge.meta.ranking.schedules import Standings
from adjudge.runs.advice import remedy_for, roles_of, serves
from adjudge.runs.job import Job
from adjudge.runs.journal import Entry, Journal, Kept
from adjudge.runs.judging import Outcome as Judged
from adjudge.runs.judging import judge_subject
from adjudge.runs.record import RunDirectory
from adjudge.runs.session import Outcome, Session
from adjudge.runs.suspicion import with_suspicion
from adjudge.runs.units import Slot, Unit
from adjudge.runs.work import Judging, work

__all__ = ["UNIFORM", "JudgeSession"]

UNIFORM: Final = 20
"""Units that must fail for one reason, and none be judged before, until a run stops by itself."""
_EXAMPLE: Final = 200  # characters of the first failure

_GRACE: Final = 5.0  # seconds for calls in flight when a run is stopped: they are paid
_INFO_SECONDS: Final = 10.0
_AHEAD: Final = 256  # units whose stored calls are read at a time


class JudgeSession(Session):
    """Asks one question after the other; `runs/batch.py` has the session that asks in batches."""

    meter = Meter({})

    def __init__(
        self, job: Job, directory: RunDirectory, info: RunInfo, journal: Journal, kept: Kept
    ) -> None:
        super().__init__(job, directory, info, journal)
        self.standings = Standings()
        self._kept = kept
        self._settled: dict[int, Entry] = {}
        self._models: Models | None = None
        # of the first units, while all of them failed; None as soon as one was judged
        self._reasons: Counter[FailureReason] | None = (
            None if job.may_all_fail or job.offline or job.engine == "batch" else Counter()
        )

    async def run(self, judge: Judge, models: Models) -> Outcome:
        """Judge every unit."""
        async with AsyncExitStack() as opened:
            store = opened.enter_context(
                closing(
                    open_store(
                        self.job.store,
                        run_name(self.start.secret),
                        self.job.base,
                        # its own folder is locked: nobody else writes a store in there
                        is_shared=self.job.store.resolve().parent != self.job.out.resolve(),
                    )
                )
            )
            models = self.open(models)
            opened.push_async_callback(models.close)
            return await self._run(judge, models, store)

    async def _run(self, judge: Judge, models: Models, store: CallStore) -> Outcome:
        asker = Asker(
            models,
            store,
            secret=bytes.fromhex(self.start.secret),
            seed=self.job.seed,
            offline=self.job.offline,
            explains=judge.profile == "recommended",
        )
        self.tally = asker.tally
        totals = store.totals()
        self._warn_of_lost(totals)
        before = {name: spent for name, spent in totals.spent.items() if name in self.job.prices}
        self.meter = self.job.open_meter(self.job.prices, self.job.budget, before)
        models.charge(self.meter)
        self._models = models
        if (earlier := self.directory.before) is not None:
            models.leave_schemas(cast("Mapping[str, str]", earlier.settings.get("json_schema_used", {})))
        try:
            await self._work(judge, asker, store)
            info = self.finish(self._info(store.totals()))
        except BaseException:
            await asker.stop(_GRACE)
            with suppress(Exception):
                self.directory.write(self._info(store.totals()))
            raise
        notes = (
            *self._notes(asker),
            *_refused_schemas(models),
            *_unfound(asker.tally),
            *_masked(asker.tally),
            *_torn(store.torn),
        )
        return Outcome(
            info=info,
            tally=asker.tally,
            seconds=self.seconds,
            notes=notes,
            examples=self.examples,
            identical=self.sink.identical,
            inconsistent=self.sink.inconsistent,
        )

    def _warn_of_lost(self, totals: CallTotals) -> None:
        """Warn of a store that holds fewer calls than earlier sessions have paid for."""
        before = self.directory.before
        asked = 0 if before is None else before.calls.get("asked", 0)
        if totals.asked < asked:
            warnings.warn(
                f"call store {self.job.store}: run.json counts {count(asked, 'answered call')} of this run, "
                f"the store has {totals.asked:,}; the store or its -wal file was deleted, damaged or "
                "left behind. What is missing is asked and paid again",
                DataWarning,
                stacklevel=2,
            )

    def open(self, models: Models) -> Models:
        """The models, as they are asked.

        Raises:
            UsageError: some calls may be in a batch, and would be paid twice.
        """
        refuse_open_batches(self.directory.path)
        return models

    async def work_through(self, units: Iterator[Unit], judging: Judging, store: CallStore) -> None:
        """Judge some units to their end."""
        await work(self.at_hand(store, units), judging, self.sink, width=self.job.width)

    async def outcomes_of(
        self,
        judging: Coroutine[Any, Any, Sequence[Judged]],
        ask: UnitAsk,  # noqa: ARG002 (a session that asks in batches needs it)
    ) -> Sequence[Judged]:
        """What a judge gives for one unit, whose questions `ask` puts."""
        return await judging

    @property
    def words(self) -> str:
        """What more there is to say of how far it is."""
        return ""

    async def _work(self, judge: Judge, asker: Asker, store: CallStore) -> None:
        async def judged(unit: Unit) -> Entry:
            if (entry := self._settled.pop(unit.index, None)) is None:
                entry = await self._judge(judge, asker, unit)
                self._watch(unit, entry)
                return entry
            self._reasons = None
            asker.tally.from_store += entry.trail.answered
            asker.tally.add_trail(entry.trail)
            return entry

        ticking = asyncio.create_task(self._tick())
        try:
            with self.progress:
                for units in self.job.plan.rounds(self.standings):
                    await self.work_through(units, judged, store)
                self._show()
        finally:
            self._kept.close()
            ticking.cancel()
            await asyncio.gather(ticking, return_exceptions=True)

    def at_hand(self, store: CallStore, units: Iterator[Unit]) -> Iterator[Unit]:
        """Every unit, with what it used in an earlier session at hand, and records that still hold."""
        while block := list(islice(units, _AHEAD)):
            store.read_ahead([unit.name for unit in block])
            if self._may_keep:
                for unit in block:
                    entry = self._kept.find(unit.index, unit.name)
                    if entry is not None and store.answered(unit.name) == entry.trail.calls:
                        self._settled[unit.index] = entry
                        is_masked = KEY_MARK.encode() in entry.lines and KEY_MARK not in str(unit.subject)
                        self.tally.masked += is_masked
            yield from block

    @property
    def _may_keep(self) -> bool:
        """Whether records may be kept: not where others rest on them, or where they are to be read anew."""
        return self.job.plan.schedule.kind != "adaptive" and not self.job.offline

    async def _judge(self, judge: Judge, asker: Asker, unit: Unit) -> Entry:
        """One record for every slot: a judgement, or the failure that stands in its place."""
        ask = asker.for_unit(unit.subject)
        found = await self._outcomes(judge, ask, unit) if unit.is_there else ()
        has_failed = any(isinstance(each, AnswerError) for each in found)
        if self.job.retry_failed and has_failed and (refused := ask.refused):
            asker.tally.from_store -= ask.from_store
            asker.forget(refused)
            ask = asker.for_unit(unit.subject)
            found = await self._outcomes(judge, ask, unit)
        wanted = sum(not slot.missing for slot in unit.slots)
        if len(found) != wanted:
            raise DataError(f"{judge.name} owes {wanted} judgements of {unit.subject.key}, gave {len(found)}")
        outcomes = iter(found)
        records = [
            self.failure(unit, slot, "missing", slot.missing)
            if slot.missing
            else self._record(unit, slot, next(outcomes))
            for slot in unit.slots
        ]
        if isinstance(last := records[-1], Preference):  # the overall verdict is the last, where there is one
            self.standings.add(last)
        return Entry.of(records, ask.trail)

    def _watch(self, unit: Unit, entry: Entry) -> None:
        """Stop a run whose first units all fail for one and the same reason.

        Raises:
            UniformFailureError: they do; says what to change.
        """
        if self._reasons is None or not unit.is_there:
            return
        found = {reason for reason in entry.failures if reason != "missing"}
        if entry.judged or len(found) != 1 or not found >= {*self._reasons}:
            self._reasons = None
            return
        reason = cast("FailureReason", found.pop())
        self._reasons[reason] += 1
        done = self.sink.judged + self.sink.failed + len(entry.failures)
        if self._reasons[reason] < UNIFORM or done >= len(self.job.plan):
            return
        example = " ".join(self.examples[reason].split())[:_EXAMPLE]
        remedy = remedy_for(self.job.annotator, reason)
        raise UniformFailureError(
            f"the first {UNIFORM} units all failed for one reason, {reason}: {example}. "
            f"This may help: {remedy}. Other settings need another --out; "
            "with --max-failed 1 the same command goes on although everything fails"
        )

    async def _outcomes(self, judge: Judge, ask: UnitAsk, unit: Unit) -> Sequence[Judged]:
        try:
            return await self.outcomes_of(judge_subject(judge, unit.subject, ask, ask.engine), ask)
        except AnswerError as error:
            failed = error
        except DataError as error:  # a value of the model's that no record accepts
            failed = AnswerError("schema", str(error))
        finally:
            ask.end()
        return [failed for slot in unit.slots if not slot.missing]

    def _record(self, unit: Unit, slot: Slot, outcome: Judged) -> Record:
        if isinstance(outcome, AnswerError):
            return self.failure(unit, slot, outcome.reason, outcome.detail)
        return with_suspicion(outcome, unit.subject.of(*slot.systems))

    async def _tick(self) -> None:
        written = time.monotonic()
        while True:
            await asyncio.sleep(self.progress.seconds)
            self._show()
            if time.monotonic() - written > _INFO_SECONDS:
                written = time.monotonic()
                self.directory.write(self.info())

    def _show(self) -> None:
        done = self.sink.judged + self.sink.failed
        price = self.meter.words if self.job.prices else ""
        load = str(self._load) if self._load.concurrency else ""
        more = ", ".join(part for part in (price, load, self.words) if part)
        self.progress.show(done=done, failed=self.sink.failed, tally=self.tally, more=more)

    @property
    def _load(self) -> Load:
        return Load() if self.job.models is None else self.job.models.load

    def _info(self, totals: CallTotals) -> RunInfo:
        used, usage, load = self.tally.asked + self.tally.from_store, totals.usage, self._load
        schemas = {} if self._models is None else {"json_schema_used": self._models.schemas}
        info = self.info(
            calls={
                "asked": totals.asked,
                "from_store": max(used - totals.asked, 0),
                **({"searched": totals.searched} if totals.searched else {}),
                "attempts": totals.attempts,
                "repaired": self.sink.repaired,
                **(load.counts if load.concurrency else {}),
            },
            tokens={
                "prompt": usage.prompt,
                "cached": usage.cached,
                "completion": usage.completion,
                "reasoning": usage.reasoning,
            },
            price=None if self.meter.price is None else float(self.meter.price),
            currency=self.meter.currency,
            settings={**self.start.settings, **schemas},
        )
        if served := sorted(self.tally.served):
            info = replace(info, signature=info.signature.with_fields(served=",".join(served)))
        return info

    def _notes(self, asker: Asker) -> Iterator[str]:
        for role in asker.models.roles:
            if not serves(role, asker.tally.roles):
                seen = ", ".join(sorted(asker.tally.roles - {""})) or "none"
                known = "" if roles_of(self.job.annotator) else f"; this judge's roles: {seen}"
                yield f"no question came from role {role!r}{known}"


def _refused_schemas(models: Models) -> Iterator[str]:
    """Servers that hold no answer to a JSON schema."""
    for model in models.all:
        if model.schema.how == "refused":
            yield (
                f"{model.name}: the server refuses the JSON schema ({model.schema.why}); "
                "it was asked without, as with --json-schema off"
            )


def _unfound(tally: Tally) -> Iterator[str]:
    """What was not found out is missing in judgements that count as judged."""
    if tally.unfound:
        reasons = ", ".join(f"{reason} {number}" for reason, number in tally.unfound.items())
        yield (
            f"look-ups that failed: {reasons}; the judge went on without, the same command tries again; "
            f"first: {tally.first_unfound}"
        )


def _masked(tally: Tally) -> Iterator[str]:
    """Answers that an earlier version spoiled: it took every `test` for a key where the key was `test`."""
    if tally.masked:
        yield (
            f"{tally.masked} stored answers hold [key] where their question does not: a placeholder such as "
            "'test' was taken for a key when they were stored, and parts of words with it; do not trust "
            "these judgements, run again with another --out and without this --store"
        )


def _torn(count: int) -> list[str]:
    return [f"{count} stored calls were damaged and were asked again"] if count else []
