"""One session of a run, whoever annotates: its counts, its failures, what it leaves.

`JudgeSession` takes a run up to its last record, or to whatever stops it; `MetricSession` asks nobody. `work`
judges units side by side and `work_in_waves` in waves: all units until they can get no further, then what
they asked, and again. The `Sink` puts what comes out of them back into test-set order, and `Progress` shows
how far the run is. `with_suspicion` flags judgements of texts that look like attacks on the judge.
"""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, closing, contextmanager, suppress
from dataclasses import field, replace
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, cast

from adjudge.analysis.pair_schedules import Standings
from adjudge.checks.attacks import attack_flags
from adjudge.core.frozen import frozen
from adjudge.core.judge import Judge, Metric, Stoppable, failure_of
from adjudge.core.record import Annotation, Failure, Preference, Record
from adjudge.core.scores import RunInfo, failed_fields
from adjudge.core.segment import Subject, read_criteria
from adjudge.core.wording import command, count
from adjudge.errors import AnswerError, DataError, FailureReason, UniformFailureError, warn
from adjudge.judges._samples import Sampled
from adjudge.llm.asking import Asker, Tally, UnitAsk
from adjudge.llm.batch_providers import refuse_open_batches
from adjudge.llm.limits import Load
from adjudge.llm.model_choice import Models
from adjudge.llm.money import Meter
from adjudge.runs.job import Job, remedy_for, roles_of, serves
from adjudge.runs.resume import Entry, Journal, Kept, RunDirectory, basis_of
from adjudge.runs.units import Outcome as Judged
from adjudge.runs.units import Slot, Unit, adapter_of, calls_of, code_of, judge_subject
from adjudge.store.call_file import run_name
from adjudge.store.calls import CallStore, CallTotals, Spent, open_store

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

WINDOW: Final = 65_536  # units that may wait for a slow one before them; about 30 MB of records
_BREATH: Final = 8  # units between two turns of the event loop


class Sink:
    """Takes the records of units in any order, keeps them in test-set order, and counts them."""

    def __init__(self, journal: Journal) -> None:
        self.judged = 0
        self.failures: Counter[str] = Counter()
        self.repaired = 0
        self.identical = 0
        self.inconsistent = 0
        self._next = 0
        self._waiting: dict[int, tuple[str, Entry]] = {}
        self._moved = asyncio.Event()
        self._journal = journal

    @property
    def failed(self) -> int:
        return self.failures.total()

    async def wait_for_room(self, index: int) -> None:
        """Wait while a unit is too far ahead of the slowest one."""
        while index >= self._next + WINDOW:
            self._moved.clear()
            await self._moved.wait()

    def add(self, unit: Unit, entry: Entry) -> None:
        """Take the records of one unit."""
        self.judged += entry.judged
        if entry.failures:
            self.failures.update(entry.failures)
        self.repaired += entry.repaired
        self.identical += entry.identical
        self.inconsistent += entry.inconsistent
        self._waiting[unit.index] = (unit.name, entry)
        while (kept := self._waiting.pop(self._next, None)) is not None:
            self._journal.write(*kept)
            self._next += 1
        self._moved.set()


Judging = Callable[[Unit], Awaitable[Entry | None]]
"""The records of a unit; None where it can get no further before answers come."""


async def work(units: Iterator[Unit], judge: Judging, sink: Sink, *, width: int) -> None:
    """Judge all units, `width` of them at a time.

    The workers draw from one iterator, so that there are never more coroutines than workers, whatever the
    size of the test set.
    """

    async def worker() -> None:
        for unit in units:
            await sink.wait_for_room(unit.index)
            entry = await judge(unit)
            if entry is not None:
                sink.add(unit, entry)
            # What is answered from the store must not starve progress and signals.
            if unit.index % _BREATH == 0:
                await asyncio.sleep(0)

    workers = [asyncio.create_task(worker()) for _ in range(width)]
    try:
        done, _ = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()
    finally:
        for task in workers:
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


_LINE_SECONDS: Final = 60.0


class Progress:
    """Shows units done and failed, calls a second, tokens, price, and the time that is left."""

    def __init__(self, total: int, *, shown: bool) -> None:
        self._total = total
        self._shown = shown
        self._began = self._said = time.monotonic()
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None
        self.seconds = 0.25 if sys.stderr.isatty() else 5.0

    def __enter__(self) -> Self:
        self._began = self._said = time.monotonic()
        if self._shown and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as RichProgress

            columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
            console = Console(stderr=True)
            self._bar = RichProgress(*columns, TimeRemainingColumn(), console=console, transient=True)
            self._bar.start()
            self._task = self._bar.add_task("", total=self._total)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, *, done: int, failed: int, tally: Tally, more: str = "") -> None:
        """Say how far it is, and what more there is to say: the price, how fast the server may be asked."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, description=self._words(failed, tally, more))
        elif self._shown and time.monotonic() - self._said >= _LINE_SECONDS:
            self._said = time.monotonic()
            minutes = (time.monotonic() - self._began) / max(done, 1) * (self._total - done) / 60
            left = f", {minutes:.0f} min left" if done else ""
            sys.stderr.write(f"{done}/{self._total} {self._words(failed, tally, more)}{left}\n")

    def say(self, line: str) -> None:
        """Say something that happened, where anything is shown."""
        if self._bar is not None:
            self._bar.console.print(line, markup=False, highlight=False)
        elif self._shown:
            sys.stderr.write(f"{line}\n")

    def _words(self, failed: int, tally: Tally, more: str) -> str:
        if not (answered := tally.asked + tally.from_store):  # a metric asks nobody
            return ", ".join(part for part in (f"{failed} failed", more) if part)
        calls = f"{answered / max(time.monotonic() - self._began, 1e-3):.1f} calls/s"
        tokens = f"{tally.usage.prompt + tally.usage.completion:,} tokens"
        return ", ".join(part for part in (f"{failed} failed", calls, tokens, more) if part)


@frozen
class Outcome:
    """How a session went."""

    info: RunInfo  # as `run.json` has it now
    tally: Tally = field(default_factory=Tally)  # what this session asked
    seconds: float = 0.0  # how long it took
    notes: tuple[str, ...] = ()  # what the user must know
    examples: Mapping[str, str] = field(default_factory=dict)
    identical: int = 0  # pairs of one text, which are equal and which nobody was asked about
    inconsistent: int = 0  # verdicts that changed with the order


class Session:
    """What judges and metrics have in common: records, counts, progress."""

    def __init__(self, job: Job, directory: RunDirectory, info: RunInfo, journal: Journal) -> None:
        self.job = job
        self.directory = directory
        self.start = info
        self.journal = journal
        self.sink = Sink(journal)
        self.tally = Tally()
        self.began = time.monotonic()
        self.progress = Progress(len(job.plan), shown=job.options.progress)
        self.examples: dict[str, str] = {}

    def info(self, **changes: object) -> RunInfo:
        """`run.json` as it would be now."""
        sink, total = self.sink, len(self.job.plan)
        pending = total - sink.judged - sink.failed
        return replace(
            self.start,
            signature=self.start.signature.with_fields(**failed_fields(sink.judged, sink.failures)),
            counts={"judged": sink.judged, "failed": sink.failed, "pending": pending},
            failures=dict(sorted(sink.failures.items())),
            **changes,  # type: ignore[arg-type]
        )

    def failure(self, unit: Unit, slot: Slot, reason: FailureReason, detail: str) -> Failure:
        """Here alone an error becomes a failure."""
        subject = unit.subject.of(*slot.systems)
        failure = failure_of(self.job.annotator, subject, reason, detail, slot.criterion)
        if reason != "no_translation":  # the notes before the run told of these
            self.examples.setdefault(reason, failure.detail)
        return failure

    def finish(self, info: RunInfo) -> RunInfo:
        """Write the records, then the last `run.json`."""
        self.directory.write(info)  # no digest: who dies below leaves no records that seem changed
        self.journal.finish()
        return self.directory.finish(info)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began


def with_suspicion(judgement: Annotation | Preference, subject: Subject) -> Annotation | Preference:
    """Add `injection_suspect`, and what was found where, if anything was."""
    translations = [subject.segment.translations[name] for name in subject.systems]
    around = [] if subject.reference is None else [subject.reference]
    for segment in subject.context:
        translations_before = (segment.translations.get(name) for name in subject.systems)
        around += [segment.source, *(text for text in translations_before if text is not None)]
    around += [text for term in subject.terms for text in (term.source, term.translation)]
    if isinstance(judgement, Annotation) and judgement.criterion is not None:
        criteria = read_criteria(subject.segment)
        around += [each.text for each in criteria if each.id == judgement.criterion]
    flags = attack_flags(subject.source, translations, around)
    return replace(judgement, flags=(*judgement.flags, *flags)) if flags else judgement


UNIFORM: Final = 20
"""Units that must fail for one reason, and none be judged before, until a run stops by itself."""
_EXAMPLE: Final = 200  # characters of the first failure

_GRACE: Final = 5.0  # seconds for calls in flight when a run is stopped: they are paid
_SILENCE: Final = 1.0  # seconds at most for an answer to no question, which puts others in doubt
_INFO_SECONDS: Final = 10.0
_AHEAD: Final = 256  # units whose stored calls are read at a time


class JudgeSession(Session):
    """Asks one question after the other; `runs/run.py` has the session that asks in batches."""

    meter = Meter({})

    def __init__(
        self, job: Job, directory: RunDirectory, info: RunInfo, journal: Journal, kept: Kept
    ) -> None:
        super().__init__(job, directory, info, journal)
        self.standings = Standings()
        self._kept = kept
        self._over: tuple[int, int] | None = None  # most questions of a unit, and the most that it may have
        # of the first units, the translations that each set of questions was put about
        self._first: dict[frozenset[bytes], tuple[str, ...]] | None = {}
        self._settled: dict[int, Entry] = {}
        self._models: Models | None = None
        self._suspects: frozenset[str] = frozenset()  # units that used an answer that may be another's
        # of the first units, while all of them failed; None as soon as one was judged
        options = job.options
        self._reasons: Counter[FailureReason] | None = (
            None if options.max_failed == 1 or options.reparse or options.engine == "batch" else Counter()
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
                        folder=self.job.out,
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
            seed=self.job.options.seed,
            offline=self.job.options.reparse,
            explains=judge.profile == "recommended",
        )
        asker.adapter = adapter_of(judge)
        asker.seeks_plain = bool(code_of(judge))  # tests hold ours to what they promise
        self.tally = asker.tally
        has_begun = store.knows_run or self.directory.before is not None
        before = self._take_up(models, store) if has_begun else {}
        self._suspects = store.suspect_units() if has_begun else frozenset()
        self.meter = self.job.meter or Meter(self.job.prices, self.job.budget, before)
        models.charge(self.meter)
        self._models = models
        try:
            await self._work(judge, asker, store)
            await asyncio.sleep(min(2 * asker.slowest, _SILENCE))
            if (suspects := store.suspect_units()) > self._suspects:
                self._suspects = suspects
                tally, asker.tally = asker.tally, Tally()
                self.journal.flush()
                self.journal.close()
                basis = basis_of(self.job.annotator)
                self._kept = Kept(self.job.out, basis)
                self.journal = Journal(self.job.out, basis)
                self.sink, self.standings = Sink(self.journal), Standings()
                await self._work(judge, asker, store)
                asker.tally = tally
            info = self.finish(self._info(store.totals()))
        except BaseException:
            await asker.stop(_GRACE)
            with suppress(Exception):
                self.directory.write(self._info(store.totals()))
            raise
        notes = (
            *self._notes(asker, models),
            *(
                f"{judge.name} asked {asked} questions for a unit of work, more than the {most} of its "
                "`calls`: forecasts are too low"
                for asked, most in ([self._over] if self._over else [])
            ),
            *([f"{store.torn} stored calls were damaged and were asked again"] if store.torn else []),
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

    def _take_up(self, models: Models, store: CallStore) -> Mapping[str, Spent]:
        store.count_lost()
        totals, before = store.totals(), self.directory.before
        if before is not None:
            models.leave_schemas(cast("Mapping[str, str]", before.settings.get("json_schema_used", {})))
        asked = 0 if before is None else before.calls.get("asked", 0)
        if totals.asked < asked:
            warn(
                f"call store {self.job.store}: run.json counts {count(asked, 'answered call')} of this run, "
                f"the store has {totals.asked:,}; the store or its -wal file was deleted, damaged or "
                "left behind. What is missing is asked and paid again"
            )
        return {name: spent for name, spent in totals.spent.items() if name in self.job.prices}

    def open(self, models: Models) -> Models:
        """The models, as they are asked."""
        if self.directory.before is not None:
            refuse_open_batches(self.directory.path)
        return models

    async def work_through(self, units: Iterator[Unit], judging: Judging, store: CallStore) -> None:
        await work(self.at_hand(store, units), judging, self.sink, width=self.job.options.concurrency)

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
                self._stop_if_all_fail_alike(unit, entry)
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
            # Records are not kept where others rest on them, or where they are to be read anew.
            if self.job.plan.schedule.kind != "adaptive" and not self.job.options.reparse:
                for unit in block:
                    entry = self._kept.find(unit.index, unit.name)
                    if entry is None or unit.name in self._suspects:
                        continue
                    if store.answered(unit.name) == entry.trail.calls:
                        self._settled[unit.index] = entry
            yield from block

    async def _judge(self, judge: Judge, asker: Asker, unit: Unit) -> Entry:
        ask = asker.for_unit(unit.subject)
        found = await self._outcomes(judge, ask, unit) if unit.is_there else ()
        has_failed = any(isinstance(each, AnswerError) for each in found)
        if self.job.options.retry_failed and has_failed and (refused := ask.refused):
            asker.tally.from_store -= ask.from_store
            asker.forget(refused)
            ask = asker.for_unit(unit.subject)
            found = await self._outcomes(judge, ask, unit)
        if unit.is_there:
            self._look_at(judge, unit, ask.questions)
        outcomes = iter(found)
        records = [
            self.failure(unit, slot, *slot.missing)
            if slot.missing
            else self._record(unit, slot, next(outcomes))
            for slot in unit.slots
        ]
        if isinstance(last := records[-1], Preference):  # the overall verdict is the last, where there is one
            self.standings.add(last)
        return Entry.of(records, ask.trail)

    def _look_at(self, judge: Judge, unit: Unit, questions: Mapping[bytes, int]) -> None:
        asked, most = sum(questions.values()), calls_of(judge, unit.subject).max
        if asked > most and (self._over is None or asked > self._over[0]):
            self._over = asked, most
        if self._first is None or not questions or not self.job.plan.needs_translation:
            return
        texts = tuple(sorted(unit.subject.segment.translations[name] for name in unit.subject.systems))
        if self._first.setdefault(frozenset(questions), texts) != texts:
            warn(
                f"{judge.name}: the question does not depend on the translation; is it shown? (render_texts)"
            )
            self._first = None
        elif len(self._first) >= UNIFORM:
            self._first = None

    def _stop_if_all_fail_alike(self, unit: Unit, entry: Entry) -> None:
        if self._reasons is None or not unit.is_there:
            return
        found = {*entry.failures} - {"missing", "no_translation"}
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
            f"This may help: {remedy.replace('OUT', str(self.job.out))}. Settings other than --concurrency "
            "and --timeout need another --out. The same command tries again; with --max-failed 1 it goes on "
            "although everything fails"
        )

    async def _outcomes(self, judge: Judge, ask: UnitAsk, unit: Unit) -> Sequence[Judged]:
        try:
            return await self.outcomes_of(judge_subject(judge, unit.subject, ask, ask.engine), ask)
        except AnswerError as error:
            failed = error
        except DataError as error:  # a value of the model's that no record of a judge of ours accepts
            failed = AnswerError("schema", str(error))
        finally:
            ask.end()
        return [failed for slot in unit.slots if not slot.missing]

    def _record(self, unit: Unit, slot: Slot, outcome: Judged) -> Record:
        if isinstance(outcome, AnswerError):
            return self.failure(unit, slot, outcome.reason, outcome.detail)
        if unit.name in self._suspects:
            outcome = replace(outcome, flags=(*outcome.flags, "connection_suspect"))
        return with_suspicion(outcome, unit.subject.of(*slot.systems))

    async def _tick(self) -> None:
        written = time.monotonic()
        while True:
            await asyncio.sleep(self.progress.seconds)
            self._show()
            if time.monotonic() - written > _INFO_SECONDS:
                written = time.monotonic()
                self.directory.write(self.info())
                self.journal.flush()

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
        used, load = self.tally.asked + self.tally.from_store, self._load
        schemas = {} if self._models is None else {"json_schema_used": self._models.schemas}
        info = self.info(
            calls={
                "asked": totals.asked,
                "from_store": max(used - totals.asked, 0),
                **({"searched": totals.searched} if totals.searched else {}),
                "attempts": totals.attempts,
                **({"lost": totals.lost} if totals.lost else {}),
                "repaired": self.sink.repaired,
                **({"suspect": len(self._suspects)} if self._suspects else {}),
                **load.counts,
            },
            tokens=totals.usage.counts,
            price=None if self.meter.price is None else float(self.meter.price),
            currency=self.meter.currency,
            settings={**self.start.settings, **schemas},
        )
        if served := self.tally.served_names:
            info = replace(info, signature=info.signature.with_fields(served=",".join(served)))
        return info

    def _notes(self, asker: Asker, models: Models) -> Iterator[str]:
        tally = asker.tally
        for role in asker.models.roles:
            if not serves(role, asker.tally.roles):
                seen = ", ".join(sorted(asker.tally.roles - {""})) or "none"
                known = "" if roles_of(self.job.annotator) else f"; this judge's roles: {seen}"
                yield f"no question came from role {role!r}{known}"
        if self._suspects:
            units = count(len(self._suspects), "unit")
            yield (
                f"{units} of work may rest on another question's answer (connection_suspect): the server, or "
                "a proxy before it, sent more answers than it was asked questions"
            )
        for model in models.all:
            if model.schema.how == "refused":
                yield (
                    f"{model.name}: the server refuses the JSON schema ({model.schema.why}); "
                    "it was asked without, as with --json-schema off"
                )
        for model in models.all:
            if model.remote is not None and model.remote.tools_refused:
                yield (
                    f"{model.name}: the server takes no tools ({model.remote.tools_refused}); "
                    "it was asked in the XML form, as with --set tools=xml"
                )
        if len(prints := sorted(name[1:] for name in tally.served if name.startswith("#"))) > 1:
            yield (
                f"the server named {len(prints)} fingerprints of itself ({', '.join(prints)}): it answers "
                "from several machines, or the model was replaced during the run"
            )
        for name in sorted(tally.without_alternatives):
            yield (
                f"{name}: log-probabilities came without alternatives (the server gives none), so strengths "
                "and confidences of these are plain probabilities; do not compare them with those flagged "
                "renormalised, nor with their thresholds"
            )
        annotator = self.job.annotator
        judge = annotator.judge if isinstance(annotator, Sampled) else annotator
        if tally.with_alternatives and (file := getattr(judge, "plain_threshold", None)) is not None:
            yield (
                f"{file} was measured with plain probabilities, and confidences are now renormalised; "
                f"`{command('calibrate', judge.name)}` measures it anew"
            )
        if tally.unfound:  # it is missing in judgements that count as judged
            reasons = ", ".join(f"{reason} {number}" for reason, number in tally.unfound.items())
            yield (
                f"look-ups that failed: {reasons}; the judge went on without, the same command tries again; "
                f"first: {tally.first_unfound}"
            )
        if tally.unread:
            reasons = ", ".join(f"{reason} {number}" for reason, number in tally.unread.most_common())
            yield f"replies of {asker.models.name} that led to another question, by reason: {reasons}"


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
        found: dict[str, dict[str, float]] = {}
        for lp, systems in self.job.plan.systems.items():
            for system in systems:
                await asyncio.sleep(0)  # a signal may stop it here
                subjects = list(self.job.plan.of_system(lp, system))
                score = metric.corpus_score(subjects) if subjects else None
                if score is not None:
                    found.setdefault(lp, {})[system] = score
        info = self.finish(self.info(price=0.0, corpus_scores=found))
        return Outcome(info=info, seconds=self.seconds, examples=self.examples)

    async def _annotate(self, metric: Metric, block: list[Unit]) -> None:
        subjects = [unit.subject for unit in block if unit.is_there]
        records = await self._records(metric, subjects)
        if len(records) != len(subjects):
            raise DataError(f"{metric.name} was given {len(subjects)} translations and judged {len(records)}")
        judged = iter(records)
        for unit in block:
            (slot,) = unit.slots
            record = self.failure(unit, slot, *slot.missing) if slot.missing else next(judged)
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


_OBJECTS: Final = 50_000  # a few MB; more of them saves no more time

_lock = threading.Lock()
_found: list[tuple[int, int, int]] = []
"""What each session that goes on found set; the first of them is what others had set."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Look for garbage seldom; what was set before comes back when no session goes on any more.

    Whoever has set it to look still less often, or never, keeps that.
    """
    with _lock:
        _found.append(gc.get_threshold())
        first, *others = _found[0]
        if first:
            gc.set_threshold(max(first, _OBJECTS), *others)
    try:
        yield
    finally:
        with _lock:
            before = _found[0]
            _found.pop()
            if not _found:
                gc.set_threshold(*before)


_WAVES_BLOCK: Final = WINDOW
"""Units in one wave at most: so many may wait for the slowest before them."""


async def work_in_waves(
    units: Iterator[Unit],
    at_hand: Callable[[Iterator[Unit]], Iterator[Unit]],
    judge: Judging,  # one unit; gives None where it can get no further before answers come
    sink: Sink,
    *,
    width: int,
    turn: Callable[[], Awaitable[None]],
) -> None:
    """Judge all units; their questions go out together, wave by wave."""
    while left := list(islice(units, _WAVES_BLOCK)):
        while left := await _wave(at_hand(iter(left)), judge, sink, width):
            await turn()


async def _wave(units: Iterator[Unit], judge: Judging, sink: Sink, width: int) -> list[Unit]:
    waiting: list[Unit] = []

    async def judged(unit: Unit) -> Entry | None:
        entry = await judge(unit)
        if entry is None:
            waiting.append(unit)
        return entry

    await work(units, judged, sink, width=width)
    return sorted(waiting, key=lambda unit: unit.index)


T = TypeVar("T")


def run_to_end(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine from synchronous code, be it called from a notebook, which has a loop of its own."""
    has_loop = False
    with suppress(RuntimeError):
        has_loop = asyncio.get_running_loop() is not None
    if not has_loop:
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
