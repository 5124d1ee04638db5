"""Ask models in batches: providers answer within a day, for less money.

A run then works in waves. `BatchModel` answers what earlier batches have brought and collects every other
question in its `Spool`, a file. Between two waves the `Desk` makes batches of the collected questions, sends
them, waits for them and fetches their results. What is known of a batch stands in its `Batch`.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import orjson

from adjudge.core.ask import Reply, Usage
from adjudge.core.wording import count
from adjudge.errors import (
    AdjudgeError,
    AnswerError,
    BudgetError,
    ModelError,
    ServerAwayError,
    ServerStopError,
    StoreError,
    UsageError,
)
from adjudge.llm.batch_providers import (
    EXPIRED,
    Batch,
    BatchDialect,
    BatchWire,
    Ledger,
    Place,
    Status,
    UnsureError,
    key_in,
    open_batch_dialect,
    read_key,
)
from adjudge.llm.dialect import object_of, read_json_body, refuse_duplicate_keys
from adjudge.llm.faults import Fault, retried
from adjudge.llm.model import NotYetError, Request
from adjudge.llm.model_choice import Models, OpenModel
from adjudge.llm.money import NOTHING, Meter, batch_name, most_of
from adjudge.llm.providers import PROVIDERS, Endpoint
from adjudge.llm.remote import RemoteModel, now


class _Row(NamedTuple):
    start: int
    length: int
    prompt: int
    completion: int

    @property
    def most(self) -> Usage:
        return Usage(prompt=self.prompt, completion=self.completion)


class Spool:
    """Questions that were not sent yet, each once."""

    def __init__(self, folder: Path, dialect: BatchDialect) -> None:
        self._folder = folder
        self._dialect = dialect
        self._opened: IO[bytes] | None = None
        self._rows: dict[bytes, _Row] = {}
        self._end = 0

    def __contains__(self, key: bytes) -> bool:
        return key in self._rows

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, key: bytes, line: bytes, most: Usage) -> None:
        """Take one question as it will be sent, and what it may cost at most."""
        try:
            self._file.seek(self._end)
            self._file.write(line)
        except OSError as error:
            raise _no_room(error) from error
        self._rows[key] = _Row(self._end, len(line), most.prompt, most.completion)
        self._end += len(line)

    def cut(self, fits: Callable[[Usage], bool]) -> Iterator[tuple[list[bytes], Usage]]:
        """The keys of each batch and what it may cost, as far as `fits` lets all of them so far."""
        limits, frame = self._dialect.limits, self._dialect.frame
        keys: list[bytes] = []
        size, most, before = 0, NOTHING, NOTHING
        for key, row in self._rows.items():
            if not fits(before + most + row.most):
                break
            size += row.length + len(frame.between)
            if keys and (len(keys) == limits.requests or size + len(frame.head + frame.tail) > limits.size):
                yield keys, most
                keys, size, most, before = [], row.length + len(frame.between), NOTHING, before + most
            keys.append(key)
            most += row.most
        if keys:
            yield keys, most

    def most_of(self, number: int) -> Usage:
        """What the first so many questions may cost at most."""
        return sum((row.most for row in itertools.islice(self._rows.values(), number)), NOTHING)

    def write(self, keys: Iterable[bytes], path: Path) -> None:
        """Write some questions as one batch; it is on the disk afterwards."""
        frame = self._dialect.frame
        try:
            with path.open("wb") as out:
                out.write(frame.head)
                for number, row in enumerate(map(self._rows.__getitem__, keys)):
                    self._file.seek(row.start)
                    out.write((frame.between if number else b"") + self._file.read(row.length))
                out.write(frame.tail)
                out.flush()
                os.fsync(out.fileno())  # which keys are out is known by this file alone
        except OSError as error:
            raise _no_room(error) from error

    def clear(self) -> None:
        """Forget what was sent, and what is asked for again by whoever needs it."""
        if self._rows:
            self._rows.clear()
            self._end = 0
            self._file.truncate(0)

    def close(self) -> None:
        if self._opened is not None:
            with suppress(OSError):
                self._opened.close()

    @property
    def _file(self) -> IO[bytes]:
        if self._opened is None:
            self._opened = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 (as long as the run)
        return self._opened


def _no_room(error: OSError) -> StoreError:
    return StoreError(f"cannot keep the questions of a batch: {error.strerror}; make room and run it again")


_LONGEST: Final = 8 << 20  # bytes of a line: a body, what stands around it, and alternatives of its tokens


def find_results(batch: Batch, paths: Iterable[Path]) -> Counter[str]:
    """Find the results of a batch in its files; the lines stay there.

    How much else stands in them, by what it is.
    """
    odd = Counter[str]()
    for path in paths:
        start = 0
        with path.open("rb") as file:
            while line := file.readline():
                if line.strip():
                    _place(batch.calls, line, Place(path, start, len(line)), odd)
                start += len(line)
    return odd


def _place(calls: dict[bytes, Place | Fault | None], line: bytes, place: Place, odd: Counter[str]) -> None:
    try:
        value = _object(line)
    except AnswerError as error:
        odd["lines that cannot be read"] += 1
        if error.reason == "encoding" and (key := key_in(line)) in calls and calls[key] is None:
            calls[key] = retried(error.reason, error.detail)
        return
    key = read_key(value)
    if key not in calls:
        odd["results of no question of ours"] += 1
        return
    before = calls[key]
    if before is None:
        calls[key] = place
    elif isinstance(before, Fault) or _result_parts(_object(before.line)) != _result_parts(value):
        odd["questions with two results"] += 1
        calls[key] = retried("ambiguous", "the batch brought two different results")


def _object(line: bytes) -> dict[str, Any]:
    if len(line) > _LONGEST:
        raise AnswerError("oversize", f"a line of results is longer than {_LONGEST} bytes")
    return object_of(read_json_body(line), "a line of results that is an object")


def _result_parts(value: dict[str, Any]) -> list[object]:
    response = value.get("response")
    if isinstance(response, dict):
        return [response.get("status_code"), response.get("body"), value.get("error")]
    return [value.get("result"), value.get("error")]


_TIMES: Final = 3  # that a question is sent in all, where its fault says nothing else


class BatchModel(RemoteModel):
    """One model of one provider, asked in batches."""

    wire: BatchWire

    def __init__(self, endpoint: Endpoint, name: str, ledger: Ledger) -> None:
        super().__init__(endpoint, BatchWire(endpoint, name))
        self.name = name
        self.dialect = open_batch_dialect(endpoint.provider.batch)
        self.spool = Spool(ledger.path.parent, self.dialect)
        self.stopped: AdjudgeError | None = None
        """Why no further batch shall be sent."""
        self._ledger = ledger
        self._times: Counter[bytes] = Counter()
        self._failed: dict[bytes, Fault] = {}

    async def close(self) -> None:
        self.spool.close()
        await super().close()

    async def reply(self, request: Request) -> Reply:
        """Answer one request; see `llm.model.Model`."""
        key = request.key
        if (batch := self._ledger.batch_of(key)) is not None:
            if (came := batch.calls[key]) is None:
                raise NotYetError
            del batch.calls[key]
            outcome = self._read(came, request)
            if isinstance(outcome, Reply):
                return outcome
            self._take(key, outcome)
        if key in self._failed:
            fault = self._failed[key]
            raise AnswerError(fault.reason, fault.detail)
        if key not in self.spool and self.stopped is None:
            line = orjson.dumps(self.dialect.line(key, self.wire.dialect.payload(request)))
            self.spool.add(key, line, most_of(request))
        raise NotYetError

    def _read(self, came: Place | Fault, request: Request) -> Reply | Fault:
        """The result as a live call would have had it, counted and, where it is a fault, written down."""
        said: object = came
        if isinstance(came, Place):
            try:
                if self.wire.reads_objects(request):
                    refuse_duplicate_keys(came.line)
                said = self.dialect.read(_object(came.line))
            except AnswerError as error:
                said = retried(error.reason, error.detail)
        outcome = said if isinstance(said, Fault) else self.wire.read(orjson.dumps(said), request)
        unsure = self.account.settle(request, None, outcome)
        if isinstance(outcome, Reply):
            self._refusals.clear()
            return outcome
        fault = replace(outcome, detail=self.wire.redactor.error(outcome.detail))
        self._write_fault(request, fault, now(), 0.0, unsure)
        return fault

    def _take(self, key: bytes, fault: Fault) -> None:
        self._times[key] += 1
        if fault.consequence == "stop":
            self.stopped = ServerStopError(f"{self.name}: {fault.detail}")
        elif fault.consequence == "setting":
            self._refusals[fault.detail] += 1
            if self._refusals[fault.detail] >= self.endpoint.patience.settings:
                self.stopped = ModelError(f"{self.name} refuses every call: {fault.detail}")
            self._failed[key] = fault
        elif fault.consequence == "fail" or self._times[key] >= (fault.tries or _TIMES):
            self._failed[key] = fault


_TRIES: Final = 3  # to send a batch, or to fetch whole results
_LONGEST_PAUSE: Final = 60.0
_SETTLED: Final = 8  # looks after which a batch that got there is in the list: half a minute
_FEWEST: Final = 4  # at least one in so many calls must fit the budget: no day is spent on a handful
_LINE: Final = 1 << 20  # bytes that a result may have
_LATER: Final = re.compile(r"token_limit|enqueued|quota|billing|rate_?limit", re.IGNORECASE)
_MISSING: Final = Fault(consequence="retry", reason="missing", detail="the batch brought no result for it")


def pause_before(look: int) -> float:
    """Seconds before the provider is asked again how its batches stand, the first time being 0."""
    return min(1.5**look, _LONGEST_PAUSE)


class Desk:
    """The batches of one session."""

    def __init__(self, models: Mapping[str, BatchModel], ledger: Ledger, token: str) -> None:
        self._models = models
        self._ledger = ledger
        self._token = token
        self._meter = Meter({})
        self._say: Callable[[str], None] = lambda _: None
        self._sync: Callable[[], None] = lambda: None
        self.is_open = False
        self.wave = 0

    @property
    def words(self) -> str:
        """How it stands, for a line of progress."""
        out = self._ledger.open if self.is_open else []
        if not out:
            return ""
        sent, done = (sum(numbers) for numbers in zip(*((b.count, b.done) for b in out), strict=True))
        return f"wave {self.wave}: {sent:,} submitted, {done:,} done"

    def begin(self, meter: Meter, say: Callable[[str], None], sync: Callable[[], None]) -> None:
        """Take up what an earlier session has sent."""
        self._meter, self._say, self._sync, self.is_open = meter, say, sync, True
        for batch in self._ledger.open:
            self._watch(batch, self._ledger.keys(batch))
            if batch.state == "fetched":
                self._index(batch)
            say(
                f"taking up {count(batch.count, 'call')} in batch {batch.id or batch.number} of {batch.model}"
            )

    async def turn(self) -> None:
        """End a wave: send what it asked, and wait for it."""
        self.end()
        for batch in self._ledger.open:
            if batch.state == "prepared":
                await self._send(batch, is_new=False)
        refusals = [await self._submit(model) for model in self._models.values()]
        if not self._ledger.open:
            raise next(filter(None, refusals))
        self.wave += 1
        await self._wait()

    def end(self) -> None:
        """Let go of batches whose results were read: their answers are in the call store."""
        if read := [batch for batch in self._ledger.open if batch.state == "fetched"]:
            self._sync()
        for batch in read:
            self._meter.free(batch.hold)
            self._ledger.finish(batch)
        for model in self._models.values():
            if model.stopped is not None:
                raise model.stopped

    # Out...

    async def _submit(self, model: BatchModel) -> BudgetError | None:
        spool, billed = model.spool, model.account.model
        least = -(-len(spool) // _FEWEST)
        chunks = list(spool.cut(lambda most: self._meter.fits(billed, most)))
        refusal = None
        if sum(len(keys) for keys, _ in chunks) < least:
            refusal = self._meter.refusal(billed, spool.most_of(least), "the smallest batch worth a wave")
            chunks = []
        for keys, most in chunks:
            batch = self._ledger.next(model.name, len(keys), most)
            batch.token = f"{self._token}-{batch.number}"
            spool.write(keys, self._ledger.requests(batch))
            self._ledger.prepare(batch)
            self._watch(batch, keys)
            await self._send(batch, is_new=True)
        spool.clear()
        return refusal

    def _watch(self, batch: Batch, keys: Iterable[bytes]) -> None:
        batch.calls = dict.fromkeys(keys)
        most = Usage(prompt=batch.prompt, completion=batch.completion)
        batch.hold = self._meter.hold(self._models[batch.model].account.model, most)

    async def _send(self, batch: Batch, *, is_new: bool) -> None:
        """Send a batch, unless it may have got there already and does turn up."""
        model, why = self._models[batch.model], ""
        for _ in range(_TRIES):
            found = "" if is_new else await self._find(model, batch)
            is_new = False
            try:
                id_ = found or await model.dialect.submit(
                    model.wire, self._ledger.requests(batch), batch.token
                )
            except (UnsureError, AnswerError) as error:
                why = str(error)
                await asyncio.sleep(pause_before(_SETTLED))
                continue
            self._ledger.mark(batch, id=id_, state="submitted", guessed=bool(found))
            self._say(f"wave {self.wave + 1}: {count(batch.count, 'call')} in batch {id_} of {batch.model}")
            return
        model.wire.away(why)

    async def _find(self, model: BatchModel, batch: Batch) -> str:
        try:
            return await model.dialect.find(model.wire, batch, self._ledger.ids)
        except (AnswerError, ModelError) as error:
            raise ServerStopError(
                f"cannot tell whether batch {batch.number} was taken, as the list of batches cannot be had: "
                f"{error}. If it was not, delete {self._ledger.path}; if it was, its calls are paid again"
            ) from error

    # And back...

    async def _wait(self) -> None:
        for look in itertools.count():
            for batch in self._ledger.out:
                if batch.state == "prepared":  # what was found was another's
                    await self._send(batch, is_new=False)
                status = await self._status(batch)
                batch.done = status.done
                if status.state != "running":
                    await self._fetch(batch, status)
            if not self._ledger.out:
                return
            await asyncio.sleep(pause_before(look))

    async def _status(self, batch: Batch) -> Status:
        model, why = self._models[batch.model], ""
        for _ in range(_TRIES):
            try:
                return await model.dialect.status(model.wire, batch.id)
            except AnswerError as error:
                why = str(error)
            except ServerStopError as error:
                if "status 404" not in str(error):
                    raise
                raise ServerStopError(
                    f"{error}: batch {batch.id} is not there; is this the key that it was sent with? "
                    f"Without {self._ledger.path} its calls are sent and paid again"
                ) from error
        raise ServerAwayError(f"{model.name}: batch {batch.id}: {why}; the same command goes on later")

    async def _fetch(self, batch: Batch, status: Status) -> None:
        model = self._models[batch.model]
        if status.state == "failed":
            self._ledger.finish(batch)
            later = ServerAwayError if _LATER.search(status.why) else ModelError
            raise later(f"{model.name} refused batch {batch.id}: {model.wire.redactor.error(status.why)}")
        for number, (url, least) in enumerate(status.results):
            path = self._ledger.results(batch, number)
            for _ in range(_TRIES):
                await model.wire.download(url, path, batch.count * _LINE)
                with path.open("rb") as file:
                    if sum(bool(line.strip()) for line in file) >= least:
                        break
        self._ledger.mark(batch, state="fetched", ending=status.state)
        self._index(batch)

    def _index(self, batch: Batch) -> None:
        model, odd = self._models[batch.model], find_results(batch, self._ledger.all_results(batch))
        if batch.guessed and not any(batch.calls.values()):
            wrong = [*batch.wrong, batch.id]
            self._ledger.mark(batch, id="", state="prepared", guessed=False, wrong=wrong)
            return
        if batch.ending == "cancelled":
            model.stopped = ServerStopError(
                f"{model.name}: batch {batch.id} was cancelled; the same command sends what it left over"
            )
        else:
            fault = EXPIRED if batch.ending == "expired" else _MISSING
            batch.calls = {key: came or fault for key, came in batch.calls.items()}
        if odd:
            self._say(f"batch {batch.id}: {', '.join(f'{number} {what}' for what, number in odd.items())}")


_OPTION: Final = "--engine batch"


def check_batches(models: Models) -> None:
    """Refuse models that cannot be asked in batches, and those that need not be."""
    rows = [model.remote.endpoint.provider for model in models.all if model.remote is not None]
    if not rows:
        raise UsageError(f"{_OPTION}: {models.name} is not on a server; leave the option out")
    for row in rows:
        if not row.batch:
            known = ", ".join(row.name for row in PROVIDERS.values() if row.batch)
            raise UsageError(
                f"{_OPTION}: {row.name} takes no batches that we know of; "
                f"{known} do, and servers at --base-url that speak as OpenAI does"
            )


def open_desk(models: Models, folder: Path, token: str) -> tuple[Models, Desk]:
    """The same models, asked in batches, and the desk that sends and fetches these."""
    ledger, batched = Ledger(folder), dict[str, BatchModel]()

    def opened(model: OpenModel) -> OpenModel:
        if model.remote is None:
            return model
        if model.name not in batched:
            batched[model.name] = BatchModel(model.remote.endpoint, model.name, ledger)
        one = batched[model.name]
        return replace(model, model=one, remote=one, billed_as=batch_name(model.name))

    roles = {role: opened(model) for role, model in models.roles.items()}
    return replace(models, default=opened(models.default), roles=roles), Desk(batched, ledger, token)
